//! Haloes that all ranks work on together, because they are large ([protocol](README.md)).
//!
//! | step | file |
//! |---|---|
//! | members to slices, one per rank, in the order of keys | `members` |
//! | clump by clump from the deepest up: large ones by all ranks | this one |
//! | small ones whole on one rank | `whole_clumps` |
//!
//! The numerical part is in `inselberg_kernels::bound`: it does the same for a slice as for a whole halo, with the same bits.

mod members;
mod whole_clumps;

use crate::bound::candidates::ClumpParticle;
use crate::bound::error::BoundError;
use crate::bound::frame::HaloFrame;
use crate::bound::method::SlicedClump;
use crate::bound::rank_slices::RankSlices;
use crate::bound::rows::HaloClump;
use crate::bound::unbind::{BoundClump, BoundHaloes, BoundParticle, BoundPiece, ShellCentre, Unbinder};
use crate::bound::workers::SpanningHalo;
use crate::exchange::bundle::{SendBuffers, all_records};
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::bound::HaloMembers;
use inselberg_kernels::bound::properties::{BoundProperties, bound_properties_of_slices};
use inselberg_kernels::bound::shrinking_sphere::shrinking_sphere_of_slices;
use inselberg_kernels::bound::slices::{Slices, SortOrder, ordered_bits};
use inselberg_kernels::bound::unbind::clump_members::ClumpMember;
use inselberg_kernels::bound::unbind::hierarchy::{InclusiveMass, UnboundClump, children_first};
use inselberg_kernels::bound::unbind::{BoundMembers, UnbindReport, UnbindScratch};
use members::SlicedHalo;

/// What is found about a clump, for the rank that has the rows of its halo.
struct SpanningRow {
    number: ClumpMass,
    row: BoundClump,
    values: Vec<f64>,
}

/// The number of a clump in its halo, and the mass of its bound members.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct ClumpMass {
    clump: u64,
    mass: f64,
}

/// Some bound members of a clump, from the most bound one on.
struct ClumpPiece {
    clump: u32,
    /// Number of the first one among the bound members of the clump.
    first: u64,
    particles: Vec<BoundParticle>,
}

/// A bound member on its way to its place by energy.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct RankedMember {
    energy: f64,
    potential: f64,
    place: u64,
    id: u64,
    particle_type: u64,
}

/// The clumps of a halo while they are unbound.
struct SpanningClumps<'a> {
    unbinder: &'a Unbinder<'a>,
    clumps: &'a [HaloClump],
    /// The clump that each merges into.
    parent: Vec<Option<u32>>,
    /// The centre of the shells of each.
    centres: Vec<[f64; 3]>,
    frame: HaloFrame,
    /// Clumps with shorter lists go whole to one rank.
    limit: u64,
    rows: Vec<SpanningRow>,
    pieces: Vec<ClumpPiece>,
}

const MASSES: usize = 0;
const ROWS: usize = 1;
const VALUES: usize = 2;

/// Collective: unbinds a halo by all ranks. The rows of its clumps come to its home rank, its members stay in pieces. Clumps
/// with fewer than `limit` listed members go whole to one rank.
///
/// # Errors
/// When a particle has a value that is not allowed, or shares its identity; when another rank fails.
pub fn unbind_spanning(
    halo: SpanningHalo<ClumpParticle>,
    limit: u64,
    unbinder: &Unbinder,
    comm: &Comm,
    to: &mut BoundHaloes,
) -> Result<(), BoundError> {
    let slices = RankSlices { comm };
    let clumps = halo.clumps.as_slice();
    let frame = HaloFrame { space: unbinder.space, peak: clumps[0].peak };
    let sliced = SlicedHalo::new(halo.members, &frame, unbinder, &slices)?;
    let place = |id: u64| clumps.binary_search_by_key(&id, |clump| clump.id).unwrap_or(0);
    let parent = clumps.iter().map(|clump| (clump.id != clump.halo).then(|| place(clump.parent) as u32));
    let parent: Vec<Option<u32>> = parent.collect();
    let centres = match unbinder.method.has_shells() && unbinder.shell_centre == ShellCentre::ShrinkingSphere
    {
        true => vec![shrinking_sphere_of_slices(&sliced.members, &slices)?; clumps.len()],
        false => clumps.iter().map(|clump| frame.relative(unbinder.method.centre(clump))).collect(),
    };
    let (rows, pieces) = (Vec::new(), Vec::new());
    let mut work = SpanningClumps { unbinder, clumps, parent, centres, frame, limit, rows, pieces };
    // The particles of a clump that is not listed belong to the main clump.
    let mut lists: Vec<Vec<ClumpMember>> = vec![Vec::new(); clumps.len()];
    for (member, clump) in (0..).zip(&sliced.clump) {
        lists[place(*clump)].push(ClumpMember::candidate(member));
    }
    work.unbind(lists, &sliced, &slices)?;
    drop(sliced);
    work.bring_home(halo.home, comm, to)
}

impl SpanningClumps<'_> {
    /// Collective: unbinds all clumps, those without clumps in them first. `lists` has the members of this slice in each.
    fn unbind(
        &mut self,
        mut lists: Vec<Vec<ClumpMember>>,
        halo: &SlicedHalo,
        slices: &RankSlices,
    ) -> Result<(), CommError> {
        for wave in self.waves() {
            let counts: Vec<u64> = wave.iter().map(|clump| lists[*clump as usize].len() as u64).collect();
            let counts = slices.add(&counts)?;
            for clump in &wave {
                lists[*clump as usize].sort_unstable_by_key(|listed| listed.member);
            }
            let of_wave = wave.iter().copied().zip(counts);
            let (some, none): (Vec<_>, Vec<_>) = of_wave.partition(|(_, n)| *n > 0);
            if slices.here() == 0 {
                let row =
                    |(clump, _): &(u32, u64)| self.row(*clump, 0, 0.0, None, &UnbindReport::default(), None);
                let rows: Vec<SpanningRow> = none.iter().map(row).collect();
                self.rows.extend(rows);
            }
            let (large, small): (Vec<_>, Vec<_>) = some.into_iter().partition(|(_, n)| *n >= self.limit);
            let mut handed = match small.is_empty() {
                true => Vec::new(),
                false => self.unbind_whole(&small, &lists, halo, slices)?,
            };
            for (clump, _) in small {
                lists[clump as usize] = Vec::new();
            }
            for (clump, _) in large {
                let list = std::mem::take(&mut lists[clump as usize]);
                let of_clump = self.unbind_over(clump, &list, halo, slices)?;
                handed.extend(of_clump.into_iter().map(|listed| (clump, listed)));
            }
            for (clump, listed) in handed {
                if let Some(parent) = self.parent[clump as usize] {
                    lists[parent as usize].push(listed);
                }
            }
        }
        Ok(())
    }

    /// The clumps by the number of levels of clumps in them.
    fn waves(&self) -> Vec<Vec<u32>> {
        let order = children_first(&self.parent).expect("a tree of its own clumps");
        let mut height = vec![0; self.parent.len()];
        for clump in order {
            if let Some(parent) = self.parent[clump as usize] {
                height[parent as usize] = height[parent as usize].max(height[clump as usize] + 1);
            }
        }
        let mut waves = vec![Vec::new(); height.iter().max().map_or(0, |highest| highest + 1)];
        (0..).zip(&height).for_each(|(clump, height): (u32, &usize)| waves[*height].push(clump));
        waves
    }

    /// Unbinds one clump, whose members are listed, by its rules.
    fn unbind_clump<S: Slices>(
        &self,
        clump: u32,
        members: &HaloMembers,
        list: &[ClumpMember],
        slices: &S,
        scratch: &mut UnbindScratch,
    ) -> Result<UnboundClump, S::Error> {
        let Unbinder { method, gravity, .. } = self.unbinder;
        let (of, centre) = (&self.clumps[clump as usize], self.centres[clump as usize]);
        method.unbind_clump(members, list, &SlicedClump { clump: of, centre, gravity, slices }, scratch)
    }

    /// Collective: unbinds one clump by all ranks. Gives what it hands up in this slice.
    fn unbind_over(
        &mut self,
        clump: u32,
        list: &[ClumpMember],
        halo: &SlicedHalo,
        slices: &RankSlices,
    ) -> Result<Vec<ClumpMember>, CommError> {
        let (members, gravity) = (&halo.members, &self.unbinder.gravity);
        let UnboundClump { found, handed } =
            self.unbind_clump(clump, members, list, slices, &mut UnbindScratch::default())?;
        let properties = bound_properties_of_slices(members, &found.bound, gravity, slices)?;
        let mass = found.bound.mass(members, slices)?;
        let (piece, n_bound) = self.ranked(clump, &found.bound, halo, slices)?;
        let own = piece.particles.first().filter(|_| piece.first == 0);
        let own: Vec<[u64; 2]> =
            own.map(|first| [first.id, first.particle_type.into()]).into_iter().collect();
        let most_bound = slices.gather(&own)?.into_iter().flatten().next();
        let most_bound = most_bound.map(|[id, particle_type]| (id, particle_type as u8));
        self.pieces.push(piece);
        // All ranks know the row; one is enough.
        if slices.here() == 0 {
            let row = self.row(clump, n_bound, mass, most_bound, &found.report, properties.as_ref());
            self.rows.push(row);
        }
        Ok(handed)
    }

    /// Collective: the bound members of a clump by energy, some in each slice, and the number of all.
    fn ranked(
        &self,
        clump: u32,
        bound: &BoundMembers,
        halo: &SlicedHalo,
        slices: &RankSlices,
    ) -> Result<(ClumpPiece, u64), CommError> {
        let columns = halo.members.columns();
        let member = |(place, member): (usize, &u32)| RankedMember {
            energy: bound.energy[place],
            potential: bound.potential[place],
            place: columns.id[*member as usize],
            id: halo.id[*member as usize],
            particle_type: columns.particle_type[*member as usize].into(),
        };
        let own: Vec<RankedMember> = bound.member.iter().enumerate().map(member).collect();
        let key = |member: &RankedMember| [ordered_bits(member.energy), member.place];
        let block = self.unbinder.spanning.block;
        let order = SortOrder { primary: &key, order: &|a, b| key(a).cmp(&key(b)), block };
        let sorted = order.sort(slices, own)?;
        let particle = |member: &RankedMember| BoundParticle {
            clump: self.clumps[clump as usize].id,
            id: member.id,
            particle_type: member.particle_type as u8,
            energy: member.energy,
            potential: member.potential,
        };
        let particles = sorted.records.iter().map(particle).collect();
        Ok((ClumpPiece { clump, first: sorted.first, particles }, sorted.total))
    }

    /// The row of a clump, without what is in the clumps below it.
    fn row(
        &self,
        clump: u32,
        n_bound: u64,
        mass: f64,
        most_bound: Option<(u64, u8)>,
        report: &UnbindReport,
        properties: Option<&BoundProperties>,
    ) -> SpanningRow {
        let HaloClump { id, halo, .. } = self.clumps[clump as usize];
        let mut values = Vec::new();
        self.unbinder.append_values(properties, &self.frame, &mut values);
        let row = BoundClump {
            id,
            halo,
            n_bound,
            most_bound_id: most_bound.map_or(0, |(id, _)| id),
            most_bound_type: most_bound.map_or(0, |(_, particle_type)| particle_type.into()),
            centre: properties.map_or([0.0; 3], |properties| self.frame.in_box(properties.halo_centre)),
            passes: report.passes.into(),
            is_converged: report.converged.into(),
            ..BoundClump::default()
        };
        SpanningRow { number: ClumpMass { clump: clump.into(), mass }, row, values }
    }

    /// Collective: sends rows to the home of the halo. Pieces stay.
    fn bring_home(self, home: Rank, comm: &Comm, to: &mut BoundHaloes) -> Result<(), BoundError> {
        let mut buffers = SendBuffers::<3>::default();
        for SpanningRow { number, row, values } in &self.rows {
            buffers.put(home, MASSES, &[*number]);
            buffers.put(home, ROWS, &[*row]);
            buffers.put(home, VALUES, values);
        }
        let received = buffers.exchange(comm)?;
        for ClumpPiece { clump, first, particles } in self.pieces {
            to.pieces.push(BoundPiece { clump: self.clumps[clump as usize].id, first, particles });
        }
        let masses = received.iter().flat_map(|bundle| bundle.each::<ClumpMass>(MASSES));
        let rows = received.iter().flat_map(|bundle| bundle.each::<BoundClump>(ROWS));
        let n_values: usize = self.unbinder.columns.iter().map(|column| column.n_parts()).sum();
        let values: Vec<f64> = all_records(&received, VALUES);
        let mut all: Vec<(ClumpMass, BoundClump, &[f64])> =
            masses.zip(rows).zip(values.chunks_exact(n_values)).map(|((m, row), v)| (m, row, v)).collect();
        all.sort_unstable_by_key(|(number, ..)| number.clump);
        let own = all.iter().map(|(number, row, _)| InclusiveMass { mass: number.mass, number: row.n_bound });
        let own: Vec<InclusiveMass> = own.collect();
        if own.is_empty() {
            return Ok(());
        }
        let inclusive = InclusiveMass::over(own, &self.parent).expect("a tree of its own clumps");
        for ((_, row, values), InclusiveMass { mass, number }) in all.into_iter().zip(inclusive) {
            to.clumps.push(BoundClump { n_bound_inclusive: number, mass_inclusive: mass + 0.0, ..row });
            to.values.extend_from_slice(values);
        }
        Ok(())
    }
}
