//! Unbinding of whole haloes, each by one task, and the properties of what is bound.

use crate::bound::candidates::ClumpParticle;
use crate::bound::columns::BoundColumn;
use crate::bound::frame::HaloFrame;
use crate::bound::method::UnbindMethod;
use crate::bound::request::SpanRules;
use crate::bound::rows::HaloClump;
use crate::bound::spheres::SphereCentre;
use crate::bound::workers::HaloWork;
use bytemuck::{Pod, Zeroable};
use inselberg_kernels::bound::properties::{BoundProperties, bound_properties};
use inselberg_kernels::bound::shrinking_sphere::shrinking_sphere;
use inselberg_kernels::bound::unbind::hierarchy::ClumpTree;
use inselberg_kernels::bound::unbind::{UnbindScratch, Unbinding};
use inselberg_kernels::bound::{Gravity, HaloMembers, MemberColumns, MemberError};
use inselberg_kernels::props::combine::SizedBox;
use rayon::prelude::*;

/// What gravity holds in a clump. Numbers and masses are 0 where too few particles are bound. In code units.
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
    /// Mass of the bound particles, with those of the clumps in it.
    pub mass_inclusive: f64,
    /// Identity of the most bound particle.
    pub most_bound_id: u64,
    /// Its type.
    pub most_bound_type: u64,
    /// Its position.
    pub centre: [f64; 3],
    /// Row of the first bound particle in the table of members, once rows are numbered.
    pub first_member: u64,
    /// Number of passes.
    pub passes: u64,
    /// 1 if a last full computation found all bound.
    pub is_converged: u64,
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
    /// Those of haloes that are whole here, in the order of the clumps, from the most bound particle of each on.
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
    /// Puts clumps and their values in the order of haloes and identifiers, `n_values` per clump.
    pub fn sort(&mut self, n_values: usize) {
        let mut order: Vec<usize> = (0..self.clumps.len()).collect();
        order.sort_unstable_by_key(|i| (self.clumps[*i].halo, self.clumps[*i].id));
        self.clumps = order.iter().map(|i| self.clumps[*i]).collect();
        let values = |i: &usize| self.values[i * n_values..(i + 1) * n_values].iter().copied();
        self.values = order.iter().flat_map(values).collect();
    }

    /// The centre of each halo, in the order of the haloes.
    pub fn centres(&self) -> Vec<SphereCentre> {
        let mains = self.clumps.iter().filter(|clump| clump.id == clump.halo);
        mains.map(|main| SphereCentre { centre: main.centre, mass: main.centre_mass() }).collect()
    }
}

impl BoundClump {
    /// The mass about its centre; 0 if it has no centre.
    fn centre_mass(&self) -> f64 {
        if self.n_bound == 0 { 0.0 } else { self.mass_inclusive }
    }
}

/// About which point particles make shells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellCentre {
    /// The peak of their clump.
    Peak,
    /// The centre of a shrinking sphere, where the reference point of a halo need not be dense.
    ShrinkingSphere,
}

/// How haloes are unbound, and which properties are found.
pub struct Unbinder<'a> {
    /// The box.
    pub space: SizedBox,
    /// Gravity and expansion in code units.
    pub gravity: Gravity,
    /// By which rules.
    pub method: UnbindMethod,
    /// The centre of the shells, for potentials of shells.
    pub shell_centre: ShellCentre,
    /// The properties.
    pub columns: &'a [&'a BoundColumn],
    /// Whether particles of one type and halo may share an identity.
    pub allow_duplicate_ids: bool,
    /// Which haloes span ranks.
    pub spanning: SpanRules,
}

impl Unbinder<'_> {
    /// Appends the chosen properties of a clump; 0 throughout where nothing is bound.
    pub fn append_values(&self, properties: Option<&BoundProperties>, frame: &HaloFrame, to: &mut Vec<f64>) {
        match properties {
            Some(properties) => {
                let in_box = |place| frame.in_box(place);
                self.columns.iter().for_each(|column| column.append(properties, in_box, to));
            }
            None => {
                to.extend(self.columns.iter().flat_map(|column| std::iter::repeat_n(0.0, column.n_parts())))
            }
        }
    }

    /// Local: unbinds every halo, in parallel. `advance` is told the number of particles of each halo that is done.
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
            all.particles.append(&mut halo.particles);
        }
        Ok(all)
    }
}

/// A halo with its clumps, the main one first.
struct HaloTask<'a> {
    clumps: &'a [HaloClump],
    particles: &'a [ClumpParticle],
    unbinder: &'a Unbinder<'a>,
}

impl HaloTask<'_> {
    fn unbind(&self, scratch: &mut UnbindScratch) -> Result<BoundHaloes, MemberError> {
        let gravity = &self.unbinder.gravity;
        let method = &self.unbinder.method;
        let members = HaloMembers::in_blocks(self.member_columns(), self.unbinder.spanning.block)?;
        let place = |id: u64| self.clumps.binary_search_by_key(&id, |clump| clump.id).unwrap_or(0);
        // The particles of a clump that is not listed belong to the main clump.
        let clump_of: Vec<u32> =
            members.entries().iter().map(|i| place(self.particles[*i as usize].clump) as u32).collect();
        let parent: Vec<Option<u32>> = self
            .clumps
            .iter()
            .map(|clump| (clump.id != clump.halo).then(|| place(clump.parent) as u32))
            .collect();
        let centre = self.shell_centres(&members);
        let tree = ClumpTree { clump_of: &clump_of, parent: &parent, centre: &centre };
        let found = method.unbind(&members, &tree, self.clumps, gravity, scratch);
        let found = found.expect("a tree of its own clumps");
        let inclusive = found.inclusive(&members, &tree).expect("the same tree");
        let mut bound = BoundHaloes::default();
        for (i, clump) in self.clumps.iter().enumerate() {
            let own = &found.clumps[i];
            let first = bound.particles.len();
            self.append_particles(&members, own, clump.id, &mut bound.particles);
            let most_bound = bound.particles.get(first);
            let properties = bound_properties(&members, &own.bound, gravity);
            self.unbinder.append_values(properties.as_ref(), &self.frame(), &mut bound.values);
            bound.clumps.push(BoundClump {
                id: clump.id,
                halo: clump.halo,
                n_bound: own.bound.len() as u64,
                n_bound_inclusive: inclusive[i].number,
                // The sum of no masses is -0.
                mass_inclusive: inclusive[i].mass + 0.0,
                most_bound_id: most_bound.map_or(0, |particle| particle.id),
                most_bound_type: most_bound.map_or(0, |particle| particle.particle_type.into()),
                centre: properties.map_or([0.0; 3], |properties| self.in_box(properties.halo_centre)),
                first_member: 0,
                passes: own.report.passes.into(),
                is_converged: own.report.converged.into(),
            });
        }
        Ok(bound)
    }

    /// The centre of the shells of each clump.
    fn shell_centres(&self, members: &HaloMembers) -> Vec<[f64; 3]> {
        let Unbinder { method, shell_centre, .. } = self.unbinder;
        if method.has_shells() && *shell_centre == ShellCentre::ShrinkingSphere {
            return vec![shrinking_sphere(members); self.clumps.len()];
        }
        self.clumps.iter().map(|clump| self.relative_to_peak(method.centre(clump))).collect()
    }

    /// Appends the bound particles of a clump, from the most bound one on.
    fn append_particles(
        &self,
        members: &HaloMembers,
        found: &Unbinding,
        clump: u64,
        to: &mut Vec<BoundParticle>,
    ) {
        let bound_particle = |place: &u32| {
            let at = *place as usize;
            let particle = &self.particles[members.entries()[found.bound.member[at] as usize] as usize];
            BoundParticle {
                clump,
                id: particle.id,
                particle_type: particle.particle_type as u8,
                energy: found.bound.energy[at],
                potential: found.bound.potential[at],
            }
        };
        to.extend(found.bound.ranked(members).iter().map(bound_particle));
    }

    /// The members with positions from the main peak on. Their places are their identifiers: places are unique, and in the order
    /// of types and identities.
    fn member_columns(&self) -> MemberColumns {
        let particles = self.particles;
        let internal_energy = match self.unbinder.method.is_thermal() {
            true => particles.iter().map(|particle| particle.internal_energy).collect(),
            false => Vec::new(),
        };
        MemberColumns {
            position: particles.iter().map(|particle| self.relative_to_peak(particle.position)).collect(),
            velocity: particles.iter().map(|particle| particle.velocity).collect(),
            mass: particles.iter().map(|particle| particle.mass).collect(),
            softening: particles.iter().map(|particle| particle.softening).collect(),
            particle_type: particles.iter().map(|particle| particle.particle_type as u8).collect(),
            internal_energy,
            id: (0..particles.len() as u64).collect(),
        }
    }

    /// The shortest vector from the main peak, over the periodic images.
    fn relative_to_peak(&self, position: [f64; 3]) -> [f64; 3] {
        self.frame().relative(position)
    }

    /// A place relative to the main peak as one in the box.
    fn in_box(&self, place: [f64; 3]) -> [f64; 3] {
        self.frame().in_box(place)
    }

    fn frame(&self) -> HaloFrame {
        HaloFrame { space: self.unbinder.space, peak: self.clumps[0].peak }
    }
}
