//! The whole procedure: from particles to a catalogue of voids.

use super::config::VoidParams;
use super::rows::VoidCut;
use super::tables::{VoidTables, attributes, name_labels};
use super::walls::{WallInput, densities};
use crate::error::RunError;
use crate::executor::Executor;
use crate::graph::ParticleGraphConfig;
use crate::particle_mesh::{MeshUse, ParticleSnapshot, grow};
use crate::phew::from_peaks::Segmented;
use crate::phew::particle_graph::SegmentedGraph;
use crate::phew::peaks::Peaks;
use crate::phew::tables::{PatchIds, particles_table};
use crate::projection::RootLeaves;
use crate::stage::Stage;
use crate::tables::run_attributes;
use inselberg_comm::{Comm, Reduce};
use inselberg_io::catalogue::CataloguePart;

/// The results of a run.
#[derive(Debug)]
pub struct VoidOutcome {
    /// The part of the catalogue on this rank; one rank alone has all of it.
    pub catalogue: CataloguePart,
    /// The zones before noise is removed, with their merge tree.
    pub peaks: Peaks,
    /// All leaves of a mesh of the particles, where they are kept.
    pub leaves: Option<RootLeaves>,
}

/// The voids among particles.
///
/// Collective. The catalogue is the same bit for bit for any number of ranks and threads. Takes about 500
/// bytes per particle with 32 neighbours.
///
/// # Errors
/// As [`build`](crate::graph::build); when the thresholds contradict each other, or another rank fails.
pub fn run_voids(
    snapshot: &ParticleSnapshot,
    graph: &ParticleGraphConfig,
    params: &VoidParams,
    comm: &Comm,
    executor: &Executor,
) -> Result<VoidOutcome, RunError> {
    params.check()?;
    let segmented = SegmentedGraph::new(snapshot, graph, params.field(), comm, executor)?;
    let (n_tests, mean_density) = (segmented.n_tests(), segmented.own.units.mean_density);
    let observer = executor.observer();
    let cut = Stage::run("hierarchy", n_tests, comm, observer, || {
        VoidCut::new(&segmented.peaks, &params.thresholds(), comm)
    })?;
    let ids = PatchIds::new(&segmented.known, &cut.found, comm)?;
    let walls = Stage::run("walls", n_tests, comm, observer, || {
        densities(&WallInput { graph: &segmented, ids: &ids }, &cut.found, comm)
    })?;
    let _tables = Stage::begin("tables", 0, comm, observer);
    let tables = VoidTables { cut: &cut, walls: Some(&walls), mean_density };
    let mut catalogue = CataloguePart { attributes: Vec::new(), tables: tables.parts(comm)? };
    let counts = [n_tests, cut.rows.zones.len() as u64, cut.rows.voids.len() as u64];
    let sums = comm.all_reduce_counts(&counts, Reduce::Sum)?;
    catalogue.attributes = attributes(snapshot, graph, params, mean_density);
    catalogue.attributes.extend(super::tables::totals(
        segmented.n,
        [sums[0], sums[1], sums[2]],
        segmented.peaks.n_global,
        cut.found.max_level,
    ));
    catalogue.attributes.extend(super::tables::integers(run_attributes(comm)?));
    if params.with_particles {
        let mut particles = particles_table(snapshot, &segmented.places(), &ids, comm)?;
        name_labels(&mut particles.table);
        catalogue.tables.push(particles);
    }
    let (peaks, _) = segmented.into_peaks();
    let leaves = match params.keep_density {
        true => {
            let purpose = MeshUse { keep_leaves: true, ..MeshUse::default() };
            grow(snapshot.input(), &graph.mesh, purpose, comm, executor)?.leaves
        }
        false => None,
    };
    Ok(VoidOutcome { catalogue, peaks, leaves })
}
