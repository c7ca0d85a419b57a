//! The recipe: a snapshot in, a catalogue out. Each step of the paper is one stage, in its order; the steps from ascent
//! to forest are in [`super::segment`].

use crate::error::RunError;
use crate::executor::Executor;
use crate::field::test_cells;
use crate::particle_mesh::{ParticleMeshConfig, ParticleSnapshot};
use crate::partition::LocalField;
use crate::phew::balance::Balance;
use crate::phew::hierarchy::{Structures, structures};
pub use crate::phew::input::ChosenField;
use crate::phew::input::Input;
use crate::phew::params::PhewConfig;
use crate::phew::segment::{Segmentation, Task, segment};
use crate::phew::tables::{
    PatchIds, PhewProvenance, attributes, cells_table, clumps_table, haloes_table, particles_table,
    ties_table, tree_part, tree_table,
};
use crate::phew::test_links::TestLinks;
use crate::stage::Stage;
use crate::tables::in_order;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::Snapshot;
use inselberg_io::catalogue::{Attribute, CataloguePart, PartTable};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::hierarchy::Cut;
use inselberg_kernels::phew::persistence::Persistence;
use inselberg_kernels::props::PatchValues;
use inselberg_kernels::props::sums::MASS;

/// The results of a run.
#[derive(Debug)]
pub struct PhewOutcome {
    /// The part of the catalogue on this rank; one rank alone has all of it.
    pub catalogue: CataloguePart,
    /// The field that was segmented and which of its cells are this rank's own, for pictures.
    pub part: LocalField,
    /// The distribution of the work over the ranks.
    pub balance: Balance,
    /// The greatest density of any leaf on all ranks.
    pub densest: f64,
    /// The density that was segmented.
    pub field: ChosenField,
}

/// PHEW on a snapshot.
///
/// Collective over `comm`. The catalogue is the same bit for bit for any number of ranks and threads and for any split
/// of the snapshot into files.
///
/// # Errors
/// When thresholds contradict each other or the rules. When the input cannot be read, lacks what `config` asks for, or
/// holds values that are not allowed, and when another rank fails. The caller passes an error of one rank on to the others ([`Comm::abort`]).
pub fn run(
    snapshot: &dyn Snapshot,
    config: &PhewConfig,
    comm: &Comm,
    executor: &Executor,
) -> Result<PhewOutcome, RunError> {
    let input = Input::from_snapshot(snapshot, config, comm, executor)?;
    run_on(input, config, comm, executor)
}

/// PHEW on the mesh that particles refine. Density and saddle threshold of `config`, and a threshold of differences,
/// are in units of the mean density of the particles on it. Its field is ignored. The table of cells lists only cells denser than the threshold.
///
/// Collective, and with the promises of [`run`].
///
/// # Errors
/// As [`run`], and as [`grow`](crate::particle_mesh::grow).
pub fn run_on_particles(
    snapshot: &ParticleSnapshot,
    mesh: &ParticleMeshConfig,
    config: &PhewConfig,
    comm: &Comm,
    executor: &Executor,
) -> Result<PhewOutcome, RunError> {
    let input = Input::from_particles(snapshot, mesh, config, comm, executor)?;
    run_on(input, config, comm, executor)
}

/// Collective: from a density to the catalogue.
fn run_on(
    input: Input,
    config: &PhewConfig,
    comm: &Comm,
    executor: &Executor,
) -> Result<PhewOutcome, RunError> {
    let (part, thresholds, observer) = (&input.part, &input.thresholds, executor.observer());

    let n_leaves = part.n_own_leaves() as u64;
    let test_cells = Stage::run("test cells", n_leaves, comm, observer, || {
        test_cells::find(&part.field, thresholds.density)
    });
    let links = TestLinks::new(part, &test_cells);
    let extra = input.columns.by_test_cell(part, &test_cells, &links);
    let n_tests = (test_cells.len() - links.shared.len()) as u64;

    let task = Task {
        field: &part.field,
        links: &links,
        extra: &extra,
        density_threshold: thresholds.density,
        side: input.snapshot.header().boxlen,
        rules: config.rules,
    };
    let segmentation = segment(&task, test_cells, comm, executor)?;

    let cut =
        Cut { density: thresholds.density, persistence: thresholds.persistence, saddle: thresholds.saddle };
    let found = Stage::run("hierarchy", n_tests, comm, observer, || {
        structures(&segmentation.peaks, &cut, thresholds.mass, config.rules, comm)
    })?;

    let stage = Stage::begin("tables", 0, comm, observer);
    let mut tables = structure_tables(&segmentation, &found, (config.rules, thresholds.persistence), comm)?;
    tables.extend(label_tables(&input, &links, &segmentation, &found, config, comm)?);
    let totals = RunTotals::new(input.n_leaves, n_tests, &segmentation, &found, comm)?;
    if totals.n_lost > 0 && extra.mass_density.is_none() {
        let (threshold, densest) = (thresholds.density, input.densest);
        return Err(RunError::LostMass { threshold, densest, n: totals.n_lost });
    }
    let attributes = run_attributes(&input, &totals, config.rules, comm)?;
    drop(stage);

    let balance = segmentation.balance;
    let Input { part, densest, field, .. } = input;
    Ok(PhewOutcome { catalogue: CataloguePart { attributes, tables }, part, balance, densest, field })
}

/// Collective: clumps, haloes, the tree and its ties.
fn structure_tables(
    segmentation: &Segmentation,
    found: &Structures,
    (rules, persistence): (Rules, Persistence),
    comm: &Comm,
) -> Result<Vec<PartTable>, CommError> {
    let peaks = &segmentation.peaks;
    let mut tables = vec![
        in_order(clumps_table(&found.clumps, persistence, peaks.momenta.is_some()), comm)?,
        in_order(haloes_table(&found.haloes, persistence, peaks.momenta.is_some()), comm)?,
        tree_part(tree_table(peaks, &found.peak_rank), &peaks.number, peaks.n_global),
    ];
    if rules == Rules::Ramses {
        let ties = in_order(ties_table(&peaks.ties), comm)?;
        tables.extend((ties.n_rows > 0).then_some(ties));
    }
    Ok(tables)
}

/// Collective: the clump and halo of every cell and every particle, where `config` asks for them.
fn label_tables(
    input: &Input,
    links: &TestLinks,
    segmentation: &Segmentation,
    found: &Structures,
    config: &PhewConfig,
    comm: &Comm,
) -> Result<Vec<PartTable>, RunError> {
    let mut tables = Vec::new();
    if !config.with_cells && !config.with_particles {
        return Ok(tables);
    }
    let ids = PatchIds::new(segmentation, found, comm)?;
    if config.with_cells {
        tables.push(cells_table(&input.part.field.mesh, &links.own, segmentation, &ids, comm)?);
    }
    if config.with_particles {
        tables.push(particles_table(input.snapshot, &input.part, segmentation, &ids, comm)?);
    }
    Ok(tables)
}

/// Totals over all ranks.
struct RunTotals {
    /// By the names of the attributes.
    named: [(&'static str, u64); 6],
    /// Patches whose mass rounds to zero though their densities do not.
    n_lost: u64,
}

impl RunTotals {
    /// Collective: from what this rank found. `n_leaves` is a total already.
    fn new(
        n_leaves: u64,
        n_tests: u64,
        segmentation: &Segmentation,
        found: &Structures,
        comm: &Comm,
    ) -> Result<Self, CommError> {
        let is_lost = |patch: &&PatchValues| patch.sums[MASS] == 0.0 && patch.rho_min > 0.0;
        let n_lost = segmentation.peaks.patches.iter().filter(is_lost).count() as u64;
        let local = [n_tests, found.clumps.len() as u64, found.haloes.len() as u64, n_lost];
        let sums = comm.all_reduce_counts(&local, Reduce::Sum)?;
        let named = [
            ("n_leaf_cells", n_leaves),
            ("n_test_cells", sums[0]),
            ("n_peaks", segmentation.peaks.n_global),
            ("n_clumps", sums[1]),
            ("n_haloes", sums[2]),
            ("n_levels", found.max_level),
        ];
        Ok(Self { named, n_lost: sums[3] })
    }
}

/// Collective: the attributes of the catalogue.
fn run_attributes(
    input: &Input,
    totals: &RunTotals,
    rules: Rules,
    comm: &Comm,
) -> Result<Vec<(String, Attribute)>, CommError> {
    // Ranks may have different numbers of threads; the attributes are the same on all.
    let n_threads = comm.all_reduce_counts(&[rayon::current_num_threads() as u64], Reduce::Max)?[0];
    let mut attributes = attributes(&PhewProvenance {
        header: input.snapshot.header(),
        has_units: input.snapshot.has_units(),
        field: &input.field.field.name,
        thresholds: &input.thresholds,
        mass_unit: input.mass_unit,
        rules,
        totals: &totals.named,
        run: [("run_threads", n_threads), ("run_ranks", comm.n_ranks() as u64)],
    });
    let of_mesh = input.mesh_attributes.iter().map(|(name, value)| (name.to_string(), value.clone()));
    attributes.extend(of_mesh);
    Ok(attributes)
}
