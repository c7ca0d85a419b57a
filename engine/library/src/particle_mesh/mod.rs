//! How does PHEW run on particles without a mesh?
//!
//! In the flow: particle input → **particle mesh** → partition → segmentation (`phew`). A mesh is refined
//! where particles are dense, their masses are deposited on it, and the leaves above the density threshold
//! become test cells. `kernels/src/particle_mesh/mod.rs` defines the mesh;
//! `engine/library/src/particle_mesh/README.md` explains what crosses ranks.
//!
//! | file | content |
//! |---|---|
//! | `plan` | which particles, and the levels |
//! | `roots` | particles to the owners of their roots, sorted by root |
//! | `split` | which cells are split |
//! | `density` | the leaves above the threshold, with their densities |
//! | `field` | from test cells to the part of each rank |
//! | `snapshot` | the particles as a snapshot, for later stages |
//!
//! This folder does not know peaks, clumps or gas: all particles are point masses.
//!
//! Invariants: leaves at or below the threshold do not outlive their root, unless all leaves are kept for
//! maps; the result depends neither on ranks and threads nor on the level of the roots.

mod density;
mod field;
mod plan;
mod roots;
mod snapshot;
mod split;

use crate::partition::Weights;
pub use plan::ParticleMeshConfig;
pub use snapshot::ParticleSnapshot;

use crate::error::RunError;
use crate::executor::Executor;
use crate::particles::{
    BoxParticles, BoxPlan, DensityUnit, FurtherColumns, Masses, no_particles, threshold_unit,
};
use crate::partition::LocalField;
use crate::projection::RootLeaves;
use crate::stage::Stage;
use inselberg_comm::{Comm, Reduce};
use inselberg_io::particles::{ParticleInput, Positions};
use inselberg_kernels::fof::record::Real;
use inselberg_kernels::particle_mesh::Shape;
use plan::RootDeposits;

/// A mesh from particles.
#[derive(Debug)]
pub struct ParticleMesh {
    /// The leaves above the threshold.
    pub part: LocalField,
    /// Number of leaves of all ranks, above the threshold or not.
    pub n_leaves: u64,
    /// The greatest density of any leaf.
    pub densest: f64,
    /// The mean density that is the unit of the threshold, in code units.
    pub mean_density: f64,
    /// Which mean density that is.
    pub unit: DensityUnit,
    /// The mass of each particle, if all have the same.
    pub particle_mass: Option<f64>,
    /// The levels and the rule by which cells were split.
    pub shape: Shape,
    /// All leaves of the roots of this rank, where they are kept.
    pub leaves: Option<RootLeaves>,
}

/// What a mesh is used for.
#[derive(Debug, Clone, Copy, Default)]
pub struct MeshUse {
    /// Leaves denser than this are test cells, in units of [`ParticleMesh::mean_density`].
    pub threshold: f64,
    /// What is divided evenly among ranks.
    pub weights: Weights,
    /// Whether all leaves are kept for maps. Costs 8 bytes per leaf.
    pub keep_leaves: bool,
}

/// Collective: the leaves denser than the threshold, of the mesh made from the particles of an input. The
/// deposit conserves mass.
///
/// Each rank reads a range of every species. Leaves and densities are the same bit for bit for any number of
/// ranks and threads, and equal those of the whole mesh. Costs about 40 bytes per particle and 30 bytes per
/// test cell.
///
/// # Errors
/// When the input cannot be read, has positions or masses that are not valid, or does not suit `config`; when
/// another rank fails.
pub fn grow(
    input: &dyn ParticleInput,
    config: &ParticleMeshConfig,
    purpose: MeshUse,
    comm: &Comm,
    executor: &Executor,
) -> Result<ParticleMesh, RunError> {
    let MeshUse { threshold, weights, keep_leaves } = purpose;
    let plan = BoxPlan::new(input.about(), &config.kinds, config.side)?;
    let loaded = BoxParticles::read(input, &plan, FurtherColumns::default(), comm, executor.observer())?;
    let n = comm.all_reduce_counts(&[loaded.position.len() as u64], Reduce::Sum)?[0];
    if n == 0 {
        return Err(no_particles(input.about()).into());
    }
    let mass = loaded.mass.range(loaded.position.len(), comm)?;
    let (mean_density, unit) = threshold_unit(input.about(), mass.all / plan.side.powi(3));
    let deposits = RootDeposits {
        shape: plan::shape(config, &plan, n, comm.n_ranks())?,
        side: plan.side,
        threshold: threshold * mean_density,
        heaviest: mass.heaviest,
        n,
        keep_leaves,
    };
    let particle_mass = (mass.heaviest == mass.lightest).then_some(mass.heaviest);
    let masses = particle_mass.map_or(loaded.mass, Masses::Same);
    let made = match loaded.position {
        Positions::Single(position) => deposits.mesh_of(position, masses, weights, comm, executor)?,
        Positions::Double(position) => deposits.mesh_of(position, masses, weights, comm, executor)?,
    };
    let MadeMesh { part, n_leaves, densest, leaves } = made;
    let shape = deposits.shape;
    Ok(ParticleMesh { part, n_leaves, densest, mean_density, unit, particle_mass, shape, leaves })
}

/// Collective: the mean density of the particles that make a mesh, in code units. Reads them.
///
/// # Errors
/// As [`grow`].
pub(crate) fn mean_density(
    input: &dyn ParticleInput,
    config: &ParticleMeshConfig,
    comm: &Comm,
    executor: &Executor,
) -> Result<f64, RunError> {
    let plan = BoxPlan::new(input.about(), &config.kinds, config.side)?;
    let loaded = BoxParticles::read(input, &plan, FurtherColumns::default(), comm, executor.observer())?;
    let n = comm.all_reduce_counts(&[loaded.position.len() as u64], Reduce::Sum)?[0];
    if n == 0 {
        return Err(no_particles(input.about()).into());
    }
    let mass = loaded.mass.range(loaded.position.len(), comm)?;
    Ok(mass.all / plan.side.powi(3))
}

/// The mesh of all roots.
struct MadeMesh {
    part: LocalField,
    n_leaves: u64,
    densest: f64,
    leaves: Option<RootLeaves>,
}

impl RootDeposits {
    /// Collective: the part of this rank, the number of leaves, and the greatest density.
    fn mesh_of<T: Real>(
        &self,
        position: Vec<[T; 3]>,
        mass: Masses,
        weights: Weights,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<MadeMesh, RunError> {
        let n = position.len() as u64;
        let observer = executor.observer();
        let mut found = if comm.n_ranks() == 1 {
            let roots = Stage::run("domains", n, comm, observer, || {
                roots::gather(self, position, mass, None, comm.rank())
            })?;
            self.test_cells(roots, comm, executor)?
        } else {
            let roots = Stage::run("domains", n, comm, observer, || {
                let (position, mass, owners) = roots::migrate(self, position, mass, comm)?;
                let unit = RootDeposits { side: 1.0, ..*self };
                roots::gather(&unit, position, mass, Some(owners), comm.rank())
            })?;
            self.test_cells(roots, comm, executor)?
        };
        let (n_leaves, densest) = (found.n_leaves, found.densest);
        let leaves = self.keep_leaves.then(|| RootLeaves {
            domain: self.shape.domain,
            level_min: self.shape.level_min,
            roots: std::mem::take(&mut found.all),
        });
        let part = field::part(self, found, weights, comm, executor)?;
        let n_leaves = comm.all_reduce_counts(&[n_leaves], Reduce::Sum)?[0];
        Ok(MadeMesh { part, n_leaves, densest: comm.all_max(&[densest])?[0], leaves })
    }

    /// Collective: the test cells of the roots of this rank.
    fn test_cells<T: Real>(
        &self,
        mut roots: roots::Roots<T>,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<density::MeshTestCells, RunError> {
        let (n, observer) = (roots.position.len() as u64, executor.observer());
        let mesh =
            Stage::run("mesh", n, comm, observer, || split::split(&self.shape, &mut roots, comm, executor))?;
        Ok(Stage::run("density", n, comm, observer, || {
            density::deposit(self, &roots, &mesh, comm, executor)
        })?)
    }
}
