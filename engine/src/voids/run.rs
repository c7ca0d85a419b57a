//! The whole procedure: from particles to a catalogue of voids.

use super::config::VoidParams;
use super::rows::rows;
use super::tables::{VoidTables, attributes, name_labels};
use super::walls::{WallInput, densities};
use crate::bound::CentralChoice;
use crate::error::RunError;
use crate::executor::Executor;
use crate::graph::{ParticleGraph, ParticleGraphConfig, build};
use crate::particle_mesh::{MeshUse, ParticleSnapshot, grow};
use crate::phew::Rules;
use crate::phew::hierarchy::structures;
use crate::phew::member_places::{GraphPlaces, MemberPlaces};
use crate::phew::particle_graph::{GraphSegmentation, segment};
use crate::phew::peaks::Peaks;
use crate::phew::tables::{PatchIds, particles_table};
use crate::projection::RootLeaves;
use crate::stage::Stage;
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
/// Collective. The catalogue is the same bit for bit for any number of ranks and threads. Takes about 500 bytes per particle with
/// 32 neighbours.
///
/// # Errors
/// As [`build`]; when the thresholds contradict each other, or another rank fails.
pub fn run_voids(
    snapshot: &ParticleSnapshot,
    graph: &ParticleGraphConfig,
    params: &VoidParams,
    comm: &Comm,
    executor: &Executor,
) -> Result<VoidOutcome, RunError> {
    params.check()?;
    let ParticleGraph { own, tests, n, .. } = build(snapshot.input(), graph, params.field(), comm, executor)?;
    let (thresholds, mean_density) = (params.thresholds(), own.units.mean_density);
    let GraphSegmentation { labels, known, peaks, .. } = segment(&own, &tests, comm, executor)?;
    let n_tests: u64 = tests.runs.iter().map(|run| run.of.len() as u64).sum();
    let observer = executor.observer();
    let found = Stage::run("hierarchy", n_tests, comm, observer, || {
        structures(&peaks, &thresholds, Rules::Paper, CentralChoice::Densest, comm)
    })?;
    let ids = PatchIds::new(&known, &found, comm)?;
    let walls = Stage::run("walls", n_tests, comm, observer, || {
        let input = WallInput { own: &own, tests: &tests, labels: &labels, ids: &ids };
        densities(&input, &found, comm)
    })?;
    let _tables = Stage::begin("tables", 0, comm, observer);
    let rows = rows(&peaks, &found, thresholds.persistence, comm)?;
    let tables = VoidTables { peaks: &peaks, found: &found, rows: &rows, walls: Some(&walls), mean_density };
    let mut catalogue = CataloguePart { attributes: Vec::new(), tables: tables.parts(comm)? };
    let counts = [n_tests, rows.zones.len() as u64, rows.voids.len() as u64];
    let sums = comm.all_reduce_counts(&counts, Reduce::Sum)?;
    let n_threads = comm.all_reduce_counts(&[rayon::current_num_threads() as u64], Reduce::Max)?[0];
    catalogue.attributes = attributes(snapshot, graph, params, mean_density);
    catalogue.attributes.extend(super::tables::totals(
        n,
        [sums[0], sums[1], sums[2]],
        peaks.n_global,
        found.max_level,
    ));
    let run = [("run_threads", n_threads), ("run_ranks", comm.n_ranks() as u64)];
    catalogue.attributes.extend(super::tables::integers(run));
    if params.with_particles {
        let places = MemberPlaces::Graph(GraphPlaces { own: &own, tests: &tests, labels: &labels });
        let mut particles = particles_table(snapshot, &places, &ids, comm)?;
        name_labels(&mut particles.table);
        catalogue.tables.push(particles);
    }
    let leaves = match params.keep_density {
        true => {
            let purpose = MeshUse { keep_leaves: true, ..MeshUse::default() };
            grow(snapshot.input(), &graph.mesh, purpose, comm, executor)?.leaves
        }
        false => None,
    };
    Ok(VoidOutcome { catalogue, peaks, leaves })
}
