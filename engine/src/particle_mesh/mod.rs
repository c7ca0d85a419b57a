//! Particles in, the test cells of a mesh that follows them out: how does PHEW run on any particles?
//!
//! What the mesh is, and why roots can be worked on one by one, is said in `kernels/src/grow/mod.rs`; what crosses
//! ranks in `engine/src/grow/README.md`.
//!
//! | file | what is in it |
//! |---|---|
//! | `plan` | which particles, in which box, and the levels |
//! | `load` | the rows that a rank reads, looked at one by one |
//! | `roots` | particles with the owners of their roots, root by root |
//! | `split` | which cells are split |
//! | `density` | the leaves above the threshold with their densities |
//! | `field` | from these to what a rank works on |
//! | `snapshot` | the particles as later stages ask for them |
//!
//! Architecture invariants: leaves at or below the threshold are forgotten root by root; what is found depends
//! neither on ranks and threads nor on the level of the roots.

mod density;
mod field;
mod load;
mod plan;
mod roots;
mod snapshot;
mod split;

use crate::error::ParticleMeshError;
pub use snapshot::ParticleSnapshot;

use crate::error::RunError;
use crate::executor::Executor;
use crate::fof::Masses;
use crate::partition::LocalField;
use crate::stage::Stage;
use inselberg_comm::{Comm, Reduce};
use inselberg_io::particles::{N_KINDS, ParticleInput, Positions};
use inselberg_kernels::fof::record::Real;
use inselberg_kernels::particle_mesh::Shape;
use plan::MeshPlan;

/// What mesh is made of which particles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParticleMeshConfig {
    /// Cells with more particles are split; at least 1.
    pub m_refine: u64,
    /// All cells above this level are split: 2 to 12, and at most `level_max`. `None`: the level that has as many cells as there are
    /// particles, or the next coarser one.
    pub level_min: Option<u8>,
    /// The level of the finest leaves: 2 to 20.
    pub level_max: u8,
    /// Kinds of particles.
    pub kinds: [bool; N_KINDS],
    /// The side of the box of a plain array.
    pub side: Option<f64>,
    /// The level of the parts that tasks work on; `None`: chosen. Changes no result.
    pub root_level: Option<u8>,
}

/// A mesh from particles.
#[derive(Debug)]
pub struct ParticleMesh {
    /// The leaves above the threshold.
    pub part: LocalField,
    /// Leaves of all ranks, those at or below the threshold among them.
    pub n_leaves: u64,
    /// The greatest density of any of them.
    pub densest: f64,
    /// The mean density in the box: what the threshold is in units of.
    pub mean_density: f64,
    /// Where cells were split.
    pub shape: Shape,
}

/// What all roots have in common.
#[derive(Debug, Clone, Copy)]
struct RootDeposits {
    shape: Shape,
    /// Side of the box.
    side: f64,
    /// In code units.
    threshold: f64,
    /// The greatest mass.
    heaviest: f64,
    /// Particles of all ranks.
    n: u64,
}

/// The leaves denser than `threshold` mean densities of the mesh that the particles of an input make, with
/// every gram kept.
///
/// Collective; uses the crew, and the current rayon pool. Each rank reads its stretch of every species. The leaves and
/// their densities are the same bit for bit for any number of ranks and threads, and those that the whole mesh would have.
/// Costs about 40 bytes a particle and 30 a test cell.
///
/// # Errors
/// When the input cannot be read, holds positions or masses that are none, or what was asked for does not suit
/// it, and when another rank fails.
pub fn grow(
    input: &dyn ParticleInput,
    config: &ParticleMeshConfig,
    threshold: f64,
    comm: &Comm,
    executor: &Executor,
) -> Result<ParticleMesh, RunError> {
    let plan = MeshPlan::new(input.about(), config)?;
    let loaded = load::load(input, &plan, comm, executor.observer())?;
    let n = comm.all_reduce_counts(&[loaded.position.len() as u64], Reduce::Sum)?[0];
    if n == 0 {
        return Err(plan::no_particles(input.about()).into());
    }
    let mass = load::weigh(&loaded.mass, loaded.position.len(), comm)?;
    if mass.all == 0.0 {
        return Err(ParticleMeshError::NoMass { n }.into());
    }
    let mean_density = mass.all / plan.side.powi(3);
    let lay = RootDeposits {
        shape: plan::shape(config, &plan, n, comm.n_ranks())?,
        side: plan.side,
        threshold: threshold * mean_density,
        heaviest: mass.heaviest,
        n,
    };
    let masses = if mass.heaviest == mass.lightest { Masses::Same(mass.heaviest) } else { loaded.mass };
    let (part, n_leaves, densest) = match loaded.position {
        Positions::Single(position) => lay.settle(position, masses, comm, executor)?,
        Positions::Double(position) => lay.settle(position, masses, comm, executor)?,
    };
    Ok(ParticleMesh { part, n_leaves, densest, mean_density, shape: lay.shape })
}

impl RootDeposits {
    /// Collective: particles to roots, roots to split cells, these to test cells.
    fn settle<T: Real>(
        &self,
        position: Vec<[T; 3]>,
        mass: Masses,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<(LocalField, u64, f64), RunError> {
        let n = position.len() as u64;
        let observer = executor.observer();
        let found = if comm.n_ranks() == 1 {
            let roots = Stage::run("particles", n, comm, observer, || {
                roots::gather(self, position, mass, None, comm.rank())
            })?;
            self.of_roots(roots, comm, executor)?
        } else {
            let roots = Stage::run("particles", n, comm, observer, || {
                let (position, mass, owners) = roots::migrate(self, position, mass, comm)?;
                let unit = RootDeposits { side: 1.0, ..*self };
                roots::gather(&unit, position, mass, Some(owners), comm.rank())
            })?;
            self.of_roots(roots, comm, executor)?
        };
        let (n_leaves, densest) = (found.n_leaves, found.densest);
        let part = field::part(self, found, comm, executor)?;
        let n_leaves = comm.all_reduce_counts(&[n_leaves], Reduce::Sum)?[0];
        Ok((part, n_leaves, comm.all_max(&[densest])?[0]))
    }

    fn of_roots<T: Real>(
        &self,
        mut roots: roots::Roots<T>,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<density::MeshTestCells, RunError> {
        let (n, observer) = (roots.position.len() as u64, executor.observer());
        let mesh =
            Stage::run("mesh", n, comm, observer, || split::split(&self.shape, &mut roots, comm, executor))?;
        Ok(Stage::run("density", n, comm, observer, || density::lay(self, &roots, &mesh, comm, executor))?)
    }
}
