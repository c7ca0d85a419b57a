//! How does PHEW run on particles and their neighbours, without any mesh?
//!
//! In the flow: particle input → **graph** → segmentation (`phew::particle_graph`).
//! `kernels/src/graph/mod.rs` defines neighbours, links and densities; `README.md` in this folder explains
//! what crosses ranks.
//!
//! | file | content |
//! |---|---|
//! | `particles` | the particles that a rank owns, in the order of their keys |
//! | `ghosts` | the particles of other ranks near enough to be neighbours |
//! | `neighbours` | neighbours and densities of the own particles |
//! | `links` | test particles, and the links between those of different ranks |
//!
//! This folder does not know peaks and clumps.
//!
//! Invariants: each particle has one owner, and the owner knows all its links. The result depends neither on
//! ranks nor on threads.

mod ghosts;
mod links;
mod neighbours;
mod particles;

pub use links::{LinkGraph, LinkRun};
pub use particles::{GraphParticle, OwnParticles, below_one};

use crate::error::{ParticleGraphError, RunError};
use crate::executor::Executor;
use crate::particle_mesh::ParticleMeshConfig;
use crate::particles::{BoxParticles, BoxPlan, DensityUnit, FurtherColumns, no_particles, threshold_unit};
use crate::stage::Stage;
use inselberg_comm::{Comm, Reduce};
use inselberg_io::particles::{ParticleHeader, ParticleInput};
use inselberg_kernels::graph::MOST_NEIGHBOURS;

/// The quantity whose peaks are found, and the least value of a test particle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GraphField {
    /// Density in code units. The threshold is in units of [`GraphUnits::threshold`]. Peaks are the densest
    /// places.
    Density {
        /// Denser particles are test particles.
        threshold: f64,
    },
    /// Mean density over density: volume per mass, where 1 is the mean. Peaks are the emptiest places.
    SpecificVolume {
        /// Particles with more are test particles. 0: all are.
        threshold: f64,
    },
}

impl GraphField {
    /// The value of a particle with this density.
    pub fn value(self, density: f64, mean_density: f64) -> f64 {
        match self {
            Self::Density { .. } => density,
            Self::SpecificVolume { .. } => mean_density / density,
        }
    }

    /// The threshold as a value.
    pub fn threshold(self, units: &GraphUnits) -> f64 {
        match self {
            Self::Density { threshold } => threshold * units.threshold,
            Self::SpecificVolume { threshold } => threshold,
        }
    }
}

/// Where the densities of particles come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GraphDensity {
    /// From the masses of the neighbours.
    #[default]
    Neighbours,
    /// From the input, as codes of SPH store them for gas.
    Given,
}

/// Which particles make the graph, and how many neighbours each has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParticleGraphConfig {
    /// Number of neighbours of each particle: 1 to [`MOST_NEIGHBOURS`].
    pub neighbours: usize,
    /// Where densities come from.
    pub density: GraphDensity,
    /// Which particles of an input are used, and the mesh that pictures are drawn on.
    pub mesh: ParticleMeshConfig,
}

impl ParticleGraphConfig {
    /// How catalogues describe the densities.
    pub(crate) fn kernel(&self) -> &'static str {
        match self.density {
            GraphDensity::Neighbours => "cubic spline",
            GraphDensity::Given => "given by the input",
        }
    }
}

/// The particles of a rank and their links.
#[derive(Debug)]
pub struct ParticleGraph {
    /// All particles that this rank owns.
    pub own: OwnParticles,
    /// The own test particles and the ghosts that they are linked to.
    pub tests: LinkGraph,
    /// Number of particles on all ranks.
    pub n: u64,
    /// The greatest value of any particle.
    pub greatest: f64,
}

/// Collective: the graph of those particles of an input whose value of `field` is above its threshold.
///
/// Each rank reads a range of every species. Links and densities are the same bit for bit for any number of
/// ranks and threads. Costs about 100 bytes per particle, and 4 bytes per neighbour of each test particle.
///
/// # Errors
/// When the input cannot be read, has positions or masses that are not valid, or does not suit `config`; when
/// as many particles as a particle has neighbours share its place; when a particle without density has no
/// specific volume; when another rank fails.
pub fn build(
    input: &dyn ParticleInput,
    config: &ParticleGraphConfig,
    field: GraphField,
    comm: &Comm,
    executor: &Executor,
) -> Result<ParticleGraph, RunError> {
    let observer = executor.observer();
    let plan = BoxPlan::new(input.about(), &config.mesh.kinds, config.mesh.side)?;
    let is_given = config.density == GraphDensity::Given;
    check_densities(input.about(), &plan, is_given)?;
    let further = FurtherColumns { ids: true, densities: is_given };
    let loaded = BoxParticles::read(input, &plan, further, comm, observer)?;
    let n_read = loaded.position.len();
    let n = comm.all_reduce_counts(&[n_read as u64], Reduce::Sum)?[0];
    let k = config.neighbours;
    match n {
        0 => return Err(no_particles(input.about()).into()),
        n if k == 0 || k > MOST_NEIGHBOURS || k as u64 >= n => {
            return Err(ParticleGraphError::Neighbours { k, n }.into());
        }
        _ => {}
    }
    let mass = loaded.mass.range(n_read, comm)?;
    let mean_density = mass.all / plan.side.powi(3);
    let (threshold, of_threshold) = threshold_unit(input.about(), mean_density);
    let (side, heaviest) = (plan.side, mass.heaviest);
    let units = GraphUnits { side, heaviest, mean_density, threshold, of_threshold };
    let own = Stage::run("domains", n_read as u64, comm, observer, || {
        OwnParticles::new(loaded, units, plan.periodic, comm)
    })?;
    let n_own = own.particles.len() as u64;
    let near = Stage::run("ghosts", n_own, comm, observer, || ghosts::find(&own, k, comm, executor))?;
    let dense = Stage::run("neighbours", n_own, comm, observer, || {
        neighbours::find(&own, &near, k, config.density, field, comm, executor)
    })?;
    let greatest = comm.all_max(&[dense.greatest])?[0];
    let tests = Stage::run("links", n_own, comm, observer, || links::find(&own, &near, dense, k, comm))?;
    Ok(ParticleGraph { own, tests, n, greatest })
}

/// Checks that all species that take part have densities, if these are wanted.
fn check_densities(
    about: &ParticleHeader,
    plan: &BoxPlan,
    is_wanted: bool,
) -> Result<(), ParticleGraphError> {
    let used = plan.taken.species(about).into_iter();
    match used.filter(|species| species.n > 0).find(|species| is_wanted && !species.has_densities) {
        Some(species) => Err(ParticleGraphError::NoDensities { species: species.name.clone() }),
        None => Ok(()),
    }
}

/// Units of the graph: positions are in sides of the box, masses in those of the heaviest particle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GraphUnits {
    /// Side of the box in code units.
    pub side: f64,
    /// Mass of the heaviest particle in code units.
    pub heaviest: f64,
    /// Mean density of the particles in code units.
    pub mean_density: f64,
    /// The unit of density thresholds in code units.
    pub threshold: f64,
    /// Which density that is.
    pub of_threshold: DensityUnit,
}

impl GraphUnits {
    /// Density in code units per unit of the graph.
    pub fn density(&self) -> f64 {
        self.heaviest / self.side.powi(3)
    }
}
