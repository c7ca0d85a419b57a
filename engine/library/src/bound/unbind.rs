//! Unbinding of whole haloes, each by one task, and the properties of their bound members.

use crate::bound::candidates::ClumpParticle;
use crate::bound::columns::BoundColumn;
use crate::bound::frame::HaloFrame;
use crate::bound::method::UnbindMethod;
use crate::bound::request::{CentralChoice, SpanRules};
use crate::bound::rows::HaloClump;
use crate::bound::spheres::SphereCentre;
use crate::bound::workers::HaloWork;
use crate::thread_loops::ThreadLoops;
use bytemuck::{Pod, Zeroable};
use inselberg_kernels::bound::properties::{BoundProperties, bound_properties_of_slices};
use inselberg_kernels::bound::shrinking_sphere::shrinking_sphere_of_slices;
use inselberg_kernels::bound::unbind::hierarchy::{
    BoundHierarchy, ClumpTree, NO_CLUMP, PeaklessClumps, heaviest, turned,
};
use inselberg_kernels::bound::unbind::{Candidates, UnbindCall, UnbindScratch, Unbinding, unbind_slices};
use inselberg_kernels::bound::{Gravity, HaloMembers, MemberColumns, MemberError};
use inselberg_kernels::loops::values;
use inselberg_kernels::props::combine::SizedBox;
use rayon::prelude::*;

/// The bound members of a clump. Numbers and masses are 0 if too few particles are bound. In code units.
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct BoundClump {
    /// Identifier of the clump.
    pub id: u64,
    /// Identifier of its halo.
    pub halo: u64,
    /// Number of bound particles.
    pub n_bound: u64,
    /// The same, with those of the clumps in it.
    pub n_bound_inclusive: u64,
    /// Mass of the bound particles, with those of the clumps in it; for a halo, of all its bound particles.
    pub mass_inclusive: f64,
    /// Identity of the particle with the lowest potential.
    pub most_bound_id: u64,
    /// Its type.
    pub most_bound_type: u64,
    /// Its position.
    pub centre: [f64; 3],
    /// Row of the first bound particle in the table of members, once rows are numbered.
    pub first_member: u64,
    /// Number of passes.
    pub passes: u64,
    /// 1 if a last full computation found all members bound, and no member outside clearly bound.
    pub is_converged: u64,
    /// 1 for the central clump of its halo.
    pub is_central: u64,
}

/// A bound particle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundParticle {
    /// Identifier of its clump.
    pub clump: u64,
    /// Identity among the members of its type.
    pub id: u64,
    /// Type.
    pub particle_type: u8,
    /// Energy per mass.
    pub energy: f64,
    /// Potential.
    pub potential: f64,
}

/// The bound particles of all haloes of this rank.
#[derive(Debug, Default)]
pub struct BoundHaloes {
    /// By halo and identifier.
    pub clumps: Vec<BoundClump>,
    /// The chosen properties of each clump, one after the other.
    pub values: Vec<f64>,
    /// The bound members of each halo as a whole, in any clump.
    pub haloes: Vec<BoundClump>,
    /// The chosen properties of each halo.
    pub halo_values: Vec<f64>,
    /// The particles of haloes that are whole on this rank, in the order of the clumps, the most bound of
    /// each first.
    pub particles: Vec<BoundParticle>,
    /// The haloes of any rank that span ranks, ascending.
    pub spanning: Vec<u64>,
    /// Bound particles of these haloes.
    pub pieces: Vec<BoundPiece>,
}

/// Some bound particles of a clump whose halo spans ranks, by falling binding energy.
#[derive(Debug)]
pub struct BoundPiece {
    /// Identifier of the clump.
    pub clump: u64,
    /// Number of the first one among the bound particles of the clump.
    pub first: u64,
    /// The particles.
    pub particles: Vec<BoundParticle>,
}

impl BoundHaloes {
    /// Puts clumps, haloes and their values in the order of haloes and identifiers, `n_values` per row.
    pub fn sort(&mut self, n_values: usize) {
        sort_rows(&mut self.clumps, &mut self.values, n_values);
        sort_rows(&mut self.haloes, &mut self.halo_values, n_values);
    }

    /// The centre of each halo, in the order of the haloes.
    pub fn centres(&self) -> Vec<SphereCentre> {
        // The sum of no masses has no centre.
        self.haloes
            .iter()
            .map(|halo| SphereCentre { centre: halo.centre, mass: halo.mass_inclusive })
            .collect()
    }
}

/// Puts rows and their values in the order of haloes and identifiers.
fn sort_rows(rows: &mut Vec<BoundClump>, all_values: &mut Vec<f64>, n_values: usize) {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_unstable_by_key(|i| (rows[*i].halo, rows[*i].id));
    *rows = order.iter().map(|i| rows[*i]).collect();
    let values = |i: &usize| all_values[i * n_values..(i + 1) * n_values].iter().copied();
    *all_values = order.iter().flat_map(values).collect();
}

/// The centre of the shells of particles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellCentre {
    /// The peak of their clump.
    Peak,
    /// The centre of a shrinking sphere, if the reference point of a halo need not be dense.
    ShrinkingSphere,
}

/// How haloes are unbound, and which properties are computed.
pub struct Unbinder<'a> {
    /// The box.
    pub space: SizedBox,
    /// Gravity and expansion in code units.
    pub gravity: Gravity,
    /// The rules.
    pub method: UnbindMethod,
    /// Which clump of a halo is its central.
    pub central: CentralChoice,
    /// The centre of the shells, for potentials of shells.
    pub shell_centre: ShellCentre,
    /// The properties.
    pub columns: &'a [&'a BoundColumn],
    /// Whether particles of one type and halo may share an identity.
    pub allow_duplicate_ids: bool,
    /// Which haloes span ranks.
    pub spanning: SpanRules,
    /// Whether tracks claim particles.
    pub has_tracks: bool,
}

impl Unbinder<'_> {
    /// The clump to which each clump of a halo passes the members that it loses; `None` for the first
    /// central. `clumps` has the main one first.
    pub fn parents(&self, clumps: &[HaloClump]) -> Vec<Option<u32>> {
        let parent_of = |clump: &HaloClump| (clump.id != clump.halo).then(|| place_of(clumps, clump.parent));
        let by_density: Vec<Option<u32>> = clumps.iter().map(parent_of).collect();
        let masses: Vec<f64> = clumps.iter().map(|clump| clump.mass).collect();
        match heaviest(&masses).filter(|_| self.follows_mass()) {
            Some(central) => turned(&by_density, central),
            None => by_density,
        }
    }

    /// Whether the heaviest clump of a halo is its central. With RAMSES's rules, it is not.
    pub fn follows_mass(&self) -> bool {
        self.central == CentralChoice::Heaviest && self.method.energy_rules().is_some()
    }

    /// The central clump once all are unbound, from the bound mass of each.
    pub fn central(&self, parents: &[Option<u32>], bound_mass: &[f64]) -> u32 {
        let root = root_of(parents) as u32;
        heaviest(bound_mass).filter(|_| self.follows_mass()).unwrap_or(root)
    }

    /// Whether shells are about a shrinking sphere.
    pub fn shrinks_spheres(&self) -> bool {
        self.method.has_shells() && self.shell_centre == ShellCentre::ShrinkingSphere
    }

    /// The centre of the shells of each clump: `shrunk` is that of the shrinking sphere of its halo, if it is
    /// wanted. Clumps without a peak lie elsewhere.
    pub fn shell_centres(
        &self,
        clumps: &[HaloClump],
        frame: &HaloFrame,
        shrunk: Option<[f64; 3]>,
    ) -> Vec<[f64; 3]> {
        let centre = |clump: &HaloClump| {
            let of_halo = shrunk.filter(|_| clump.is_peakless == 0);
            of_halo.unwrap_or_else(|| frame.relative(self.method.centre(clump)))
        };
        clumps.iter().map(centre).collect()
    }

    /// Appends the chosen properties of a clump; all are 0 if nothing is bound.
    pub fn append_values(&self, properties: Option<&BoundProperties>, frame: &HaloFrame, to: &mut Vec<f64>) {
        match properties {
            Some(properties) => {
                let in_box = |relative| frame.in_box(relative);
                self.columns.iter().for_each(|column| column.append(properties, in_box, to));
            }
            None => {
                to.extend(self.columns.iter().flat_map(|column| std::iter::repeat_n(0.0, column.n_parts())))
            }
        }
    }

    /// Local: unbinds every halo, in parallel. `advance` is called with the number of particles of each
    /// finished halo.
    ///
    /// # Errors
    /// When a particle has a value that is not allowed.
    pub fn unbind(
        &self,
        work: &HaloWork<ClumpParticle>,
        advance: impl Fn(usize) + Sync,
    ) -> Result<BoundHaloes, MemberError> {
        let one = |scratch: &mut UnbindScratch, clumps: &[HaloClump]| {
            let particles = work.members_of(clumps[0].halo);
            let bound = HaloTask { clumps, particles, unbinder: self }.unbind(scratch);
            advance(particles.len());
            bound
        };
        // Haloes differ in size by orders of magnitude, so each is a task.
        let found = work.haloes().into_par_iter().with_max_len(1).map_init(UnbindScratch::default, one);
        let found: Vec<BoundHaloes> = found.collect::<Result<_, _>>()?;
        let mut all = BoundHaloes::default();
        for mut halo in found {
            all.clumps.append(&mut halo.clumps);
            all.values.append(&mut halo.values);
            all.haloes.append(&mut halo.haloes);
            all.halo_values.append(&mut halo.halo_values);
            all.particles.append(&mut halo.particles);
        }
        Ok(all)
    }
}

/// The place of a clump among those of a halo, which ascend by identifier. A clump that is not listed counts
/// as the main clump, which is the first.
fn place_of(clumps: &[HaloClump], id: u64) -> u32 {
    clumps.binary_search_by_key(&id, |clump| clump.id).unwrap_or(0) as u32
}

/// The clump that merges into no other one.
pub fn root_of(parents: &[Option<u32>]) -> usize {
    parents.iter().position(Option::is_none).expect("a tree has a root")
}

/// A halo with its clumps, the main one first.
struct HaloTask<'a> {
    clumps: &'a [HaloClump],
    particles: &'a [ClumpParticle],
    unbinder: &'a Unbinder<'a>,
}

impl HaloTask<'_> {
    /// Unbinds the halo as a whole, then each of its clumps. Returns the rows of both.
    ///
    /// ```text
    /// particles --> members --------+--> whole halo --+--> row of the halo
    /// clumps -----> parents, centres +      |
    ///                                +--> tree --> bound members of each clump --> rows of clumps
    /// ```
    fn unbind(&self, scratch: &mut UnbindScratch) -> Result<BoundHaloes, MemberError> {
        let members =
            HaloMembers::in_blocks(self.member_columns(), self.unbinder.spanning.block, &ThreadLoops)?;
        let parent = self.unbinder.parents(self.clumps);
        let centres = self.shell_centres(&members);
        let whole = self.unbind_whole(&members, centres[root_of(&parent)], scratch);

        let is_peakless = HaloClump::peakless(self.clumps);
        let tree = ClumpTree {
            clump_of: &self.clump_of_members(&members),
            parent: &parent,
            centre: &centres,
            whole: whole.as_ref().map(|whole| &whole.bound),
            peakless: PeaklessClumps {
                is_peakless: &is_peakless,
                patch_of: &self.patch_of_members(&members),
            },
        };
        let found = self.unbind_clumps(&members, &tree, scratch);

        let mut rows = BoundHaloes::default();
        self.append_clumps(&members, &tree, &found, &mut rows);
        self.append_halo(&members, whole.as_ref(), &mut rows);
        Ok(rows)
    }

    /// The place of the clump of each member.
    fn clump_of_members(&self, members: &HaloMembers) -> Vec<u32> {
        let clump_of = |entry: u32| place_of(self.clumps, self.particles[entry as usize].clump);
        values(&ThreadLoops, members.len(), |i| clump_of(members.entries()[i]))
    }

    /// The place of the clump in whose patch each member lies; empty without tracks.
    fn patch_of_members(&self, members: &HaloMembers) -> Vec<u32> {
        let patch_of = |entry: u32| match self.particles[entry as usize].patch {
            0 => NO_CLUMP,
            patch => place_of(self.clumps, patch),
        };
        let n = if self.unbinder.has_tracks { members.len() } else { 0 };
        values(&ThreadLoops, n, |i| patch_of(members.entries()[i]))
    }

    /// Unbinds each clump. If the heaviest one is not the root of the tree, it also gets the unbound members.
    fn unbind_clumps(
        &self,
        members: &HaloMembers,
        tree: &ClumpTree,
        scratch: &mut UnbindScratch,
    ) -> BoundHierarchy {
        let Unbinder { gravity, method, .. } = self.unbinder;
        let found = method.unbind(members, tree, self.clumps, gravity, scratch);
        let mut found = found.expect("a tree of its own clumps");
        if let Some(rules) = method.energy_rules().filter(|_| self.unbinder.follows_mass())
            && let Some(heir) = found.heir(members, tree, &ThreadLoops)
        {
            let call = UnbindCall { gravity, rules, slices: &ThreadLoops };
            let Ok(()) = found.unbind_heir(members, heir, tree, &call, scratch);
        }
        found
    }

    /// Appends the rows of clumps and their bound particles.
    fn append_clumps(
        &self,
        members: &HaloMembers,
        tree: &ClumpTree,
        found: &BoundHierarchy,
        to: &mut BoundHaloes,
    ) {
        let masses = found.masses(members, &ThreadLoops);
        let central = self.unbinder.central(tree.parent, &masses);
        let inclusive = found.inclusive(members, &turned(tree.parent, central), &ThreadLoops);
        let inclusive = inclusive.expect("the same tree");
        for (i, clump) in self.clumps.iter().enumerate() {
            let own = &found.clumps[i];
            self.append_particles(members, own, clump.id, &mut to.particles);
            let row = self.row(members, own, clump, &mut to.values);
            to.clumps.push(BoundClump {
                n_bound_inclusive: inclusive[i].number,
                // The sum of no masses is -0.
                mass_inclusive: inclusive[i].mass + 0.0,
                is_central: u64::from(i as u32 == central),
                ..row
            });
        }
    }

    /// Unbinds the halo as a whole, with the members of all its clumps as candidates. `None` if it has only
    /// one clump, or the rules have no such step. `peak` is the centre of the shells of its root.
    fn unbind_whole(
        &self,
        members: &HaloMembers,
        peak: [f64; 3],
        scratch: &mut UnbindScratch,
    ) -> Option<Unbinding> {
        let rules = self.unbinder.method.energy_rules().filter(|_| self.clumps.len() > 1)?;
        let all = members.all();
        let candidates =
            Candidates { list: &all, handed: &[], whole: None, peak, is_within: false, is_claimed: false };
        let call = UnbindCall { gravity: &self.unbinder.gravity, rules, slices: &ThreadLoops };
        let Ok(found) = unbind_slices(members, &candidates, &call, scratch);
        Some(found)
    }

    /// Appends the row of the halo as a whole, or that of its central clump if the halo was not unbound as a
    /// whole.
    fn append_halo(&self, members: &HaloMembers, whole: Option<&Unbinding>, to: &mut BoundHaloes) {
        let main = &self.clumps[0];
        let row = match whole {
            Some(whole) => {
                let row = self.row(members, whole, main, &mut to.halo_values);
                let Ok(mass) = whole.bound.mass(members, &ThreadLoops);
                BoundClump { n_bound_inclusive: row.n_bound, mass_inclusive: mass + 0.0, ..row }
            }
            None => {
                let first = to.clumps.len() - self.clumps.len();
                let is_central = |clump: &BoundClump| clump.is_central > 0;
                let central = first + to.clumps[first..].iter().position(is_central).expect("a central");
                let n_values = to.values.len() / to.clumps.len();
                to.halo_values.extend_from_slice(&to.values[central * n_values..(central + 1) * n_values]);
                to.clumps[central]
            }
        };
        to.haloes.push(BoundClump { id: main.id, ..row });
    }

    /// The row of the bound members, without those of other clumps. Appends their properties.
    fn row(
        &self,
        members: &HaloMembers,
        found: &Unbinding,
        clump: &HaloClump,
        values: &mut Vec<f64>,
    ) -> BoundClump {
        let Ok(properties) =
            bound_properties_of_slices(members, &found.bound, &self.unbinder.gravity, &ThreadLoops);
        self.unbinder.append_values(properties.as_ref(), &self.frame(), values);
        let deepest = found.bound.deepest(members).map(|place| found.bound.member[place] as usize);
        let deepest = deepest.map(|member| &self.particles[members.entries()[member] as usize]);
        BoundClump {
            id: clump.id,
            halo: clump.halo,
            n_bound: found.bound.len() as u64,
            most_bound_id: deepest.map_or(0, |particle| particle.id),
            most_bound_type: deepest.map_or(0, |particle| particle.particle_type.into()),
            centre: properties.map_or([0.0; 3], |properties| self.in_box(properties.halo_centre)),
            passes: found.report.passes.into(),
            is_converged: found.report.converged.into(),
            ..BoundClump::default()
        }
    }

    /// The centre of the shells of each clump.
    fn shell_centres(&self, members: &HaloMembers) -> Vec<[f64; 3]> {
        let shrunk = self.unbinder.shrinks_spheres().then(|| {
            let Ok(centre) = shrinking_sphere_of_slices(members, &ThreadLoops);
            centre
        });
        self.unbinder.shell_centres(self.clumps, &self.frame(), shrunk)
    }

    /// Appends the bound particles of a clump, the most bound first.
    fn append_particles(
        &self,
        members: &HaloMembers,
        found: &Unbinding,
        clump: u64,
        to: &mut Vec<BoundParticle>,
    ) {
        let bound_particle = |at: usize| {
            let particle = &self.particles[members.entries()[found.bound.member[at] as usize] as usize];
            BoundParticle {
                clump,
                id: particle.id,
                particle_type: particle.particle_type as u8,
                energy: found.bound.energy[at],
                potential: found.bound.potential[at],
            }
        };
        let ranked = found.bound.ranked(members, &ThreadLoops);
        to.append(&mut values(&ThreadLoops, ranked.len(), |i| bound_particle(ranked[i] as usize)));
    }

    /// The members, with positions relative to the main peak. Their identifiers are their places among the
    /// particles of the halo, which are unique and in the order of types and identities.
    fn member_columns(&self) -> MemberColumns {
        let (particles, n) = (self.particles, self.particles.len());
        let n_heated = if self.unbinder.method.is_thermal() { n } else { 0 };
        let n_ranked = if self.unbinder.has_tracks { n } else { 0 };
        MemberColumns {
            position: values(&ThreadLoops, n, |i| self.relative_to_peak(particles[i].position)),
            velocity: values(&ThreadLoops, n, |i| particles[i].velocity),
            mass: values(&ThreadLoops, n, |i| particles[i].mass),
            softening: values(&ThreadLoops, n, |i| particles[i].softening),
            particle_type: values(&ThreadLoops, n, |i| particles[i].particle_type as u8),
            internal_energy: values(&ThreadLoops, n_heated, |i| particles[i].internal_energy),
            id: values(&ThreadLoops, n, |i| i as u64),
            former_rank: values(&ThreadLoops, n_ranked, |i| particles[i].former_rank),
        }
    }

    /// The shortest vector from the main peak, over the periodic images.
    fn relative_to_peak(&self, position: [f64; 3]) -> [f64; 3] {
        self.frame().relative(position)
    }

    /// Turns a position relative to the main peak into one in the box.
    fn in_box(&self, relative: [f64; 3]) -> [f64; 3] {
        self.frame().in_box(relative)
    }

    fn frame(&self) -> HaloFrame {
        HaloFrame { space: self.unbinder.space, peak: self.clumps[0].peak }
    }
}
