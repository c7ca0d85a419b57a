//! Large haloes that all ranks process together ([protocol](README.md)).
//!
//! | step | file |
//! |---|---|
//! | members to slices, one per rank, in the order of keys | `members` |
//! | clump by clump from the deepest up: large ones by all ranks | this one |
//! | small ones whole on one rank | `whole_clumps` |
//!
//! The numerical part is in `inselberg_kernels::bound`: it does the same for a slice as for a whole halo,
//! with the same bits.

mod members;
mod whole_clumps;

use crate::bound::candidates::ClumpParticle;
use crate::bound::error::BoundError;
use crate::bound::frame::HaloFrame;
use crate::bound::method::SlicedClump;
use crate::bound::rank_slices::RankSlices;
use crate::bound::rows::HaloClump;
use crate::bound::unbind::{BoundClump, BoundHaloes, BoundParticle, BoundPiece, Unbinder, root_of};
use crate::bound::workers::SpanningHalo;
use crate::exchange::bundle::{SendBuffers, all_records};
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::bound::HaloMembers;
use inselberg_kernels::bound::properties::{BoundProperties, bound_properties_of_slices};
use inselberg_kernels::bound::shrinking_sphere::shrinking_sphere_of_slices;
use inselberg_kernels::bound::slices::{Slices, SortOrder, ordered_bits};
use inselberg_kernels::bound::unbind::clump_members::ClumpMember;
use inselberg_kernels::bound::unbind::hierarchy::{InclusiveMass, NO_CLUMP, UnboundClump, Waves, turned};
use inselberg_kernels::bound::unbind::{
    BoundMembers, Candidates, UnbindCall, UnbindReport, UnbindScratch, Unbinding, unbind_slices,
};
use members::SlicedHalo;

/// The result for a clump, for the rank that has the rows of its halo.
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

/// In place of the number of a clump: the halo as a whole. Greater than all of them.
const WHOLE_HALO: u32 = u32::MAX;

/// Members of this slice, once clumps are unbound.
struct KeptMembers {
    /// The members that are bound to each clump.
    of_clump: Vec<Vec<ClumpMember>>,
    /// The unbound members.
    unbound: Vec<ClumpMember>,
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
    /// The clump to which each one passes the members that it loses.
    parent: Vec<Option<u32>>,
    /// Which clumps have no peak; empty if all have one.
    is_peakless: Vec<bool>,
    /// The members of this slice that are bound to the halo as a whole, if it was unbound as one.
    whole: Option<BoundMembers>,
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

/// Collective: unbinds a halo by all ranks. The rows of its clumps come to its home rank, its members stay in
/// pieces. Clumps with fewer than `limit` listed members go whole to one rank.
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
    let is_peakless = HaloClump::peakless(clumps);
    let sliced = SlicedHalo::new(halo.members, &frame, unbinder, &slices)?;
    let place = |id: u64| clumps.binary_search_by_key(&id, |clump| clump.id).unwrap_or(0);
    let parent = unbinder.parents(clumps);
    let shrunk = match unbinder.shrinks_spheres() {
        true => Some(shrinking_sphere_of_slices(&sliced.members, &slices)?),
        false => None,
    };
    let centres = unbinder.shell_centres(clumps, &frame, shrunk);
    let (whole, rows, pieces) = (None, Vec::new(), Vec::new());
    let mut work =
        SpanningClumps { unbinder, clumps, parent, is_peakless, whole, centres, frame, limit, rows, pieces };
    // The particles of a clump that is not listed belong to the main clump.
    let mut lists: Vec<Vec<ClumpMember>> = vec![Vec::new(); clumps.len()];
    for (member, clump) in (0..).zip(&sliced.clump) {
        lists[place(*clump)].push(sliced.members.listed(member));
    }
    work.unbind_halo(&sliced, &slices)?;
    let kept = work.unbind(lists, &sliced, &slices)?;
    let central = work.settle_central(kept, &sliced, &slices)?;
    drop(sliced);
    work.bring_home(halo.home, central, comm, to)
}

impl SpanningClumps<'_> {
    /// Collective: unbinds all clumps, those without clumps in them first. `lists` has the members of this
    /// slice in each. Returns the bound members of each clump, and the unbound members.
    fn unbind(
        &mut self,
        mut lists: Vec<Vec<ClumpMember>>,
        halo: &SlicedHalo,
        slices: &RankSlices,
    ) -> Result<KeptMembers, CommError> {
        let mut kept = KeptMembers { of_clump: vec![Vec::new(); lists.len()], unbound: Vec::new() };
        let (parent, is_peakless) = (self.parent.clone(), self.is_peakless.clone());
        let waves = Waves::new(&parent, &is_peakless).expect("a tree of its own clumps");
        for wave in waves.clumps() {
            let counts: Vec<u64> = wave.iter().map(|clump| lists[*clump as usize].len() as u64).collect();
            let counts = slices.add(&counts)?;
            for clump in &wave {
                lists[*clump as usize].sort_unstable_by_key(|listed| listed.member);
            }
            let of_wave = wave.iter().copied().zip(counts);
            let (some, none): (Vec<_>, Vec<_>) = of_wave.partition(|(_, n)| *n > 0);
            if slices.here() == 0 {
                let rows: Vec<SpanningRow> = none.iter().map(|(clump, _)| self.empty_row(*clump)).collect();
                self.rows.extend(rows);
            }
            for (clump, listed) in self.unbind_some(&some, &lists, halo, slices)? {
                match waves.next(clump, listed, self.patch_of(listed.member, halo)) {
                    Some((next, listed)) => lists[next as usize].push(listed),
                    None => kept.unbound.push(listed),
                }
                kept.of_clump[clump as usize].push(listed);
            }
            for (clump, _) in some {
                let lost = &mut kept.of_clump[clump as usize];
                lost.sort_unstable_by_key(|listed| listed.member);
                let is_lost =
                    |member: u32| lost.binary_search_by_key(&member, |listed| listed.member).is_ok();
                let mut list = std::mem::take(&mut lists[clump as usize]);
                list.retain(|listed| !is_lost(listed.member));
                kept.of_clump[clump as usize] = list;
            }
        }
        Ok(kept)
    }

    /// The place of the clump in whose patch a member lies.
    fn patch_of(&self, member: u32, halo: &SlicedHalo) -> u32 {
        match halo.patch[member as usize] {
            0 => NO_CLUMP,
            patch => self.clumps.binary_search_by_key(&patch, |clump| clump.id).unwrap_or(0) as u32,
        }
    }

    /// Collective: unbinds these clumps, with these numbers of members in all slices: large ones by all
    /// ranks. Returns the members that each one passes up in this slice.
    fn unbind_some(
        &mut self,
        clumps: &[(u32, u64)],
        lists: &[Vec<ClumpMember>],
        halo: &SlicedHalo,
        slices: &RankSlices,
    ) -> Result<Vec<(u32, ClumpMember)>, CommError> {
        let (large, small): (Vec<_>, Vec<_>) =
            clumps.iter().partition(|(clump, n)| *n >= self.limit || self.begins_with_halo(*clump));
        let mut handed = match small.is_empty() {
            true => Vec::new(),
            false => self.unbind_whole(&small, lists, halo, slices)?,
        };
        for (clump, _) in large {
            let of_clump = self.unbind_over(clump, &lists[clump as usize], halo, slices)?;
            handed.extend(of_clump.into_iter().map(|listed| (clump, listed)));
        }
        Ok(handed)
    }

    /// Whether a clump begins with what is bound to the halo as a whole, which is in slices.
    fn begins_with_halo(&self, clump: u32) -> bool {
        self.parent[clump as usize].is_none() && self.whole.is_some()
    }

    /// Collective: finds the central clump. If it is not the root of the tree, it gets the unbound members as
    /// further candidates.
    fn settle_central(
        &mut self,
        mut kept: KeptMembers,
        halo: &SlicedHalo,
        slices: &RankSlices,
    ) -> Result<u32, CommError> {
        let central = self.unbinder.central(&self.parent, &self.masses(slices)?);
        let n_unbound = slices.add(&[kept.unbound.len() as u64])?[0];
        if self.parent[central as usize].is_none() || n_unbound == 0 {
            return Ok(central);
        }
        self.parent = turned(&self.parent, central);
        self.rows.retain(|row| row.number.clump != u64::from(central));
        self.pieces.retain(|piece| piece.clump != central);
        let list = &mut kept.of_clump[central as usize];
        list.append(&mut kept.unbound);
        list.sort_unstable_by_key(|listed| listed.member);
        let number = slices.add(&[list.len() as u64])?[0];
        self.unbind_some(&[(central, number)], &kept.of_clump, halo, slices)?;
        let central = self.unbinder.central(&self.parent, &self.masses(slices)?);
        Ok(central)
    }

    /// Collective: the mass that is bound to each clump. One gathering.
    fn masses(&self, slices: &RankSlices) -> Result<Vec<f64>, CommError> {
        let numbers = self.rows.iter().map(|row| row.number);
        let own: Vec<ClumpMass> = numbers.filter(|number| number.clump != u64::from(WHOLE_HALO)).collect();
        let mut masses = vec![0.0; self.clumps.len()];
        for ClumpMass { clump, mass } in slices.gather(&own)?.into_iter().flatten() {
            masses[clump as usize] = mass;
        }
        Ok(masses)
    }

    /// Collective: unbinds the halo as a whole, if it has several clumps. Its candidates are those of all.
    fn unbind_halo(&mut self, halo: &SlicedHalo, slices: &RankSlices) -> Result<(), CommError> {
        let Some(rules) = self.unbinder.method.energy_rules().filter(|_| self.clumps.len() > 1) else {
            return Ok(());
        };
        let (members, gravity, all) = (&halo.members, &self.unbinder.gravity, halo.members.all());
        let peak = self.centres[root_of(&self.parent)];
        let candidates =
            Candidates { list: &all, handed: &[], whole: None, peak, is_within: false, is_claimed: false };
        let call = UnbindCall { gravity, rules, slices };
        let found = unbind_slices(members, &candidates, &call, &mut UnbindScratch::default())?;
        let row = self.row_of_slices(WHOLE_HALO, &found, halo, slices)?;
        self.rows.extend(row);
        self.whole = Some(found.bound);
        Ok(())
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
        let is_within = self.parent[clump as usize].is_some();
        let whole = self.whole.as_ref().filter(|_| self.begins_with_halo(clump));
        let is_peakless = self.clumps[clump as usize].is_peakless > 0;
        let of = SlicedClump { clump: of, whole, centre, is_within, is_peakless, gravity, slices };
        method.unbind_clump(members, list, &of, scratch)
    }

    /// Collective: unbinds one clump by all ranks. Returns the members that it passes up in this slice.
    fn unbind_over(
        &mut self,
        clump: u32,
        list: &[ClumpMember],
        halo: &SlicedHalo,
        slices: &RankSlices,
    ) -> Result<Vec<ClumpMember>, CommError> {
        let members = &halo.members;
        let UnboundClump { found, handed } =
            self.unbind_clump(clump, members, list, slices, &mut UnbindScratch::default())?;
        let piece = self.ranked(clump, &found.bound, halo, slices)?;
        self.pieces.push(piece);
        let row = self.row_of_slices(clump, &found, halo, slices)?;
        self.rows.extend(row);
        Ok(handed)
    }

    /// Collective: the row of the bound members of all slices, on one of them.
    fn row_of_slices(
        &self,
        clump: u32,
        found: &Unbinding,
        halo: &SlicedHalo,
        slices: &RankSlices,
    ) -> Result<Option<SpanningRow>, CommError> {
        let (members, bound) = (&halo.members, &found.bound);
        let properties = bound_properties_of_slices(members, bound, &self.unbinder.gravity, slices)?;
        let mass = bound.mass(members, slices)?;
        let n_bound = slices.add(&[bound.len() as u64])?[0];
        let deepest = bound.deepest(members).map(|place| {
            let (member, depth) = (bound.member[place] as usize, ordered_bits(bound.potential[place]));
            let columns = members.columns();
            [depth, columns.id[member], halo.id[member], columns.particle_type[member].into()]
        });
        let own: Vec<[u64; 4]> = deepest.into_iter().collect();
        let deepest = slices.gather(&own)?.into_iter().flatten().min();
        let deepest = deepest.map(|[_, _, id, particle_type]| (id, particle_type as u8));
        // All ranks know the row; one is enough.
        let is_here = slices.here() == 0;
        let row = || self.row(clump, n_bound, mass, deepest, &found.report, properties.as_ref());
        Ok(is_here.then(row))
    }

    /// Collective: the bound members of a clump by energy, some in each slice.
    fn ranked(
        &self,
        clump: u32,
        bound: &BoundMembers,
        halo: &SlicedHalo,
        slices: &RankSlices,
    ) -> Result<ClumpPiece, CommError> {
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
        Ok(ClumpPiece { clump, first: sorted.first, particles })
    }

    /// The row of a clump without members.
    fn empty_row(&self, clump: u32) -> SpanningRow {
        self.row(clump, 0, 0.0, None, &UnbindReport::default(), None)
    }

    /// The row of a clump, without the clumps below it. `deepest` has identity and type of its centre.
    fn row(
        &self,
        clump: u32,
        n_bound: u64,
        mass: f64,
        deepest: Option<(u64, u8)>,
        report: &UnbindReport,
        properties: Option<&BoundProperties>,
    ) -> SpanningRow {
        // A halo has the identifier of its main clump.
        let HaloClump { id, halo, .. } = self.clumps[if clump == WHOLE_HALO { 0 } else { clump as usize }];
        let mut values = Vec::new();
        self.unbinder.append_values(properties, &self.frame, &mut values);
        let row = BoundClump {
            id,
            halo,
            n_bound,
            most_bound_id: deepest.map_or(0, |(id, _)| id),
            most_bound_type: deepest.map_or(0, |(_, particle_type)| particle_type.into()),
            centre: properties.map_or([0.0; 3], |properties| self.frame.in_box(properties.halo_centre)),
            passes: report.passes.into(),
            is_converged: report.converged.into(),
            ..BoundClump::default()
        };
        SpanningRow { number: ClumpMass { clump: clump.into(), mass }, row, values }
    }

    /// Collective: sends rows to the home of the halo. Pieces stay.
    fn bring_home(
        self,
        home: Rank,
        central: u32,
        comm: &Comm,
        to: &mut BoundHaloes,
    ) -> Result<(), BoundError> {
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
        if all.is_empty() {
            return Ok(());
        }
        let whole = all.pop_if(|(number, ..)| number.clump == u64::from(WHOLE_HALO));
        let own = all.iter().map(|(number, row, _)| InclusiveMass { mass: number.mass, number: row.n_bound });
        let inclusive = InclusiveMass::over(own.collect(), &turned(&self.parent, central));
        let inclusive = inclusive.expect("a tree of its own clumps");
        for ((number, row, values), InclusiveMass { mass, number: n_bound_inclusive }) in
            all.iter().zip(inclusive)
        {
            let (mass_inclusive, is_central) = (mass + 0.0, u64::from(number.clump == u64::from(central)));
            let row = BoundClump { n_bound_inclusive, mass_inclusive, is_central, ..*row };
            to.clumps.push(row);
            to.values.extend_from_slice(values);
            if whole.is_none() && is_central > 0 {
                to.haloes.push(BoundClump { id: row.halo, ..row });
                to.halo_values.extend_from_slice(values);
            }
        }
        if let Some((ClumpMass { mass, .. }, row, values)) = whole {
            to.haloes.push(BoundClump { n_bound_inclusive: row.n_bound, mass_inclusive: mass + 0.0, ..row });
            to.halo_values.extend_from_slice(values);
        }
        Ok(())
    }
}
