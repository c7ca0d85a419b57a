//! The recipe: a snapshot in, a catalogue out. Each step of the paper is one stage, in its order; the steps from ascent
//! to forest are in [`super::segment`].

use crate::bound::CentralChoice;
use crate::error::RunError;
use crate::executor::Executor;
use crate::field::test_cells;
use crate::particle_mesh::{ParticleMeshConfig, ParticleSnapshot};
use crate::partition::LocalField;
use crate::phew::balance::Balance;
use crate::phew::below_zero::SearchThresholds;
use crate::phew::bound;
use crate::phew::contamination;
use crate::phew::hierarchy::{Structures, structures};
use crate::phew::image;
pub use crate::phew::input::ChosenField;
use crate::phew::input::Input;
use crate::phew::member_places::{LeafPlaces, MemberPlaces};
use crate::phew::min_particles::{MIN_PARTICLES, leave_out_small};
use crate::phew::params::{PhewConfig, PotentialChoice, ThresholdUnits, Thresholds};
use crate::phew::peaks::Peaks;
use crate::phew::prominence::DepositedParticles;
use crate::phew::segment::{Segmentation, Task, segment};
use crate::phew::tables::{
    PatchIds, PhewProvenance, attributes, cells_table, clumps_table, haloes_table, known_properties,
    particles_table, ties_table, tree_part, tree_table,
};
use crate::phew::test_fields::TestFields;
use crate::phew::test_links::TestLinks;
use crate::projection::RootLeaves;
use crate::stage::Stage;
use crate::tables::{in_order, input_attributes};
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::catalogue::{Attribute, CataloguePart, PartTable};
use inselberg_io::{Header, Snapshot};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::persistence::Persistence;
use inselberg_kernels::phew::test_cells::TestCells;
use inselberg_kernels::props::PatchValues;
use inselberg_kernels::props::sums::MASS;

/// The results of a run.
#[derive(Debug)]
pub struct PhewOutcome {
    /// The part of the catalogue on this rank; one rank alone has all of it.
    pub catalogue: CataloguePart,
    /// The field that was segmented and which of its cells are this rank's own, for pictures. `None` for a graph of particles,
    /// unless pictures are wanted.
    pub part: Option<LocalField>,
    /// The distribution of the work over the ranks.
    pub balance: Balance,
    /// The greatest density of any leaf on all ranks.
    pub densest: f64,
    /// The density that was segmented.
    pub field: ChosenField,
    /// Clumps and haloes of this rank.
    pub structures: Structures,
    /// The peaks of this rank, from which other thresholds cut other clumps. Lifted where the density threshold is below 0.
    pub peaks: Peaks,
    /// The thresholds, in code units.
    pub thresholds: SearchThresholds,
    /// The units in which they were given.
    pub units: ThresholdUnits,
    /// All leaves of a mesh from particles, where they are kept.
    pub leaves: Option<RootLeaves>,
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
    bound::check(snapshot, &config.bound)?;
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
    if config.bound.unbinding() == Some(PotentialChoice::Ramses) {
        return Err(RunError::UnbindingOnParticleMesh);
    }
    if config.bound.gas {
        return Err(RunError::GasOnParticleMesh);
    }
    snapshot.check_velocities(&config.bound)?;
    bound::check(snapshot, &config.bound)?;
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
    let (part, thresholds) = (&input.part, &input.thresholds.searched());
    let (side, origin) = (input.snapshot.header().boxlen, input.snapshot.header().origin);
    let (rules, central, deposited) = (config.rules, config.bound.central, input.deposited.as_ref());
    let run = FieldRun { part, side, origin, thresholds, rules, central, deposited };
    let fields =
        |test_cells: &TestCells, links: &TestLinks| Ok(input.columns.by_test_cell(part, test_cells, links));
    let mut found = run.find(fields, comm, executor)?;

    let stage = Stage::begin("tables", 0, comm, executor.observer());
    let source = FieldSource {
        header: input.snapshot.header(),
        has_units: input.snapshot.has_units(),
        field: &input.field.field.name,
        mass_unit: input.units.mass,
        n_leaves: input.n_leaves,
        densest: input.densest,
        attributes: &input.mesh_attributes,
        input: input_attributes(input.snapshot),
    };
    let is_counted = input.selected.is_some() && input.snapshot.has_particles();
    let ids = match config.needs_patch_ids() || is_counted {
        true => PatchIds::new(&found.segmentation.known, &found.structures, comm)?,
        false => PatchIds::default(),
    };
    if config.min_particles > 0 {
        let places = MemberPlaces::Leaves(LeafPlaces { part, segmentation: &found.segmentation });
        let (structures, least) = (&mut found.structures, config.min_particles);
        leave_out_small(structures, least, input.snapshot, &places, &ids, comm)?;
    }
    if !config.needs_patch_ids() && !is_counted {
        found.segmentation.forget_cells();
    }
    let mut catalogue = run.catalogue(&source, &found, comm)?;
    let mut labels = label_tables(&input, &found, &ids, config, comm)?;
    image::complete(&catalogue.attributes, labels.iter_mut().map(|part| &mut part.table));
    catalogue.tables.extend(labels);
    input.thresholds.lower(&mut catalogue, &mut found.structures);
    drop(stage);
    let (snapshot, part) = (input.snapshot, &input.part);
    let FoundStructures { segmentation, structures, .. } = &found;
    catalogue.attributes.extend(listing_attributes(config));
    if let Some(selected) = input.selected.as_ref().filter(|_| is_counted) {
        let _particles = Stage::within("particles", comm);
        let counts = contamination::attributes(snapshot, selected, part, segmentation, &ids, comm)?;
        catalogue.attributes.extend(counts.into_iter().map(|(name, value)| (name.to_string(), value)));
    }
    let test_field = input.test_field();
    let places = MemberPlaces::Leaves(LeafPlaces { part, segmentation });
    let of_bound = bound::BoundInput { snapshot, test_field, places, ids: &ids, structures };
    bound::add_to(&mut catalogue, &of_bound, &config.bound, comm, executor)?;

    let FoundStructures { segmentation, structures, .. } = found;
    let Segmentation { balance, peaks, .. } = segmentation;
    let Input { mut part, densest, field, thresholds, units, leaves, .. } = input;
    thresholds.lower_values(&mut part.field.rho);
    let (part, densest) = (Some(part), thresholds.lowered(densest));
    Ok(PhewOutcome { catalogue, part, balance, densest, field, structures, peaks, thresholds, units, leaves })
}

/// What a catalogue says of the leaves that took part and of the haloes that are listed; nothing if all are.
pub(super) fn listing_attributes(config: &PhewConfig) -> Vec<(String, Attribute)> {
    let selection = &config.selection;
    let mut list = Vec::new();
    if config.min_particles > 0 {
        list.push((MIN_PARTICLES.to_string(), Attribute::Int(config.min_particles.cast_signed())));
    }
    if !selection.regions.is_empty() {
        list.push(("region".to_string(), Attribute::Text(selection.regions_text())));
    }
    if let Some(levels) = selection.levels {
        list.push(("levels".to_string(), Attribute::Reals(levels.map(f64::from).to_vec())));
    }
    list
}

/// A field that is segmented, and by which rules.
pub(crate) struct FieldRun<'a> {
    /// The cells of this rank.
    pub part: &'a LocalField,
    /// Length of a level-0 cell in code units.
    pub side: f64,
    /// The lower corner of the box in code units.
    pub origin: [f64; 3],
    /// The thresholds, in code units.
    pub thresholds: &'a Thresholds,
    /// Paper or RAMSES.
    pub rules: Rules,
    /// Which clump of a halo is its central.
    pub central: CentralChoice,
    /// The particles of which the density is made, where shot noise makes peaks that are none.
    pub deposited: Option<&'a DepositedParticles<'a>>,
}

/// What a run found in a field.
pub(crate) struct FoundStructures<'a> {
    /// The patch of every test cell, and the peaks.
    pub segmentation: Segmentation<'a>,
    /// Clumps and haloes.
    pub structures: Structures,
    /// The test cells that ranks share.
    pub links: TestLinks,
    /// Number of own test cells.
    pub n_tests: u64,
    /// Whether masses come from another field than the segmented one.
    pub has_mass_density: bool,
}

/// What a catalogue says about the field.
pub(crate) struct FieldSource<'a> {
    /// The input.
    pub header: &'a Header,
    /// Whether its units are known.
    pub has_units: bool,
    /// Name of the field.
    pub field: &'a str,
    /// Code mass per unit in which the mass threshold was given.
    pub mass_unit: f64,
    /// Number of leaves on all ranks.
    pub n_leaves: u64,
    /// The greatest density of any leaf on all ranks.
    pub densest: f64,
    /// Further attributes.
    pub attributes: &'a [(&'static str, Attribute)],
    /// What the input says of itself, and the notes on it.
    pub input: Vec<(String, Attribute)>,
}

impl<'a> FieldRun<'a> {
    /// Collective: every step of the paper. `fields` gives the further values of the test cells.
    ///
    /// # Errors
    /// When particles cannot be read, and when another rank fails.
    pub fn find(
        &self,
        fields: impl FnOnce(&TestCells, &TestLinks) -> Result<TestFields, CommError>,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<FoundStructures<'a>, RunError> {
        let (part, thresholds, observer) = (self.part, self.thresholds, executor.observer());
        let n_leaves = part.n_own_leaves() as u64;
        let test_cells = Stage::run("test cells", n_leaves, comm, observer, || {
            test_cells::find(&part.field, thresholds.density)
        });
        let links = TestLinks::new(part, &test_cells);
        let extra = fields(&test_cells, &links)?;
        let n_tests = (test_cells.len() - links.shared.len()) as u64;
        let task = Task {
            field: &part.field,
            links: &links,
            extra: &extra,
            density_threshold: thresholds.density,
            side: self.side,
            origin: self.origin,
            rules: self.rules,
        };
        let mut segmentation = segment(&task, test_cells, comm, executor)?;
        if let Some(deposited) = self.deposited {
            let found = Stage::run("sums", n_tests, comm, observer, || {
                deposited.prominences(part, &links.own, &segmentation, comm, executor)
            })?;
            segmentation.peaks.prominence = Some(found);
        }
        let structures = Stage::run("hierarchy", n_tests, comm, observer, || {
            structures(&segmentation.peaks, thresholds, self.rules, self.central, comm)
        })?;
        let has_mass_density = extra.mass_density.is_some();
        Ok(FoundStructures { segmentation, structures, links, n_tests, has_mass_density })
    }

    /// Collective: attributes, clumps, haloes, tree and ties.
    ///
    /// # Errors
    /// When masses of patches would vanish, and when another rank fails.
    pub fn catalogue(
        &self,
        source: &FieldSource,
        found: &FoundStructures,
        comm: &Comm,
    ) -> Result<CataloguePart, RunError> {
        let found = CutPeaks {
            peaks: &found.segmentation.peaks,
            structures: &found.structures,
            n_tests: found.n_tests,
            may_lose_mass: !found.has_mass_density,
        };
        found.catalogue(source, self.thresholds, (self.rules, self.central), comm)
    }
}

/// Peaks and what follows from them.
pub(crate) struct CutPeaks<'a> {
    /// The peaks of this rank.
    pub peaks: &'a Peaks,
    /// Clumps and haloes of this rank.
    pub structures: &'a Structures,
    /// Number of own test cells.
    pub n_tests: u64,
    /// Whether masses are those of the densities that were segmented, so that none may vanish.
    pub may_lose_mass: bool,
}

impl CutPeaks<'_> {
    /// Collective: attributes, clumps, haloes, tree and ties.
    ///
    /// # Errors
    /// When masses of patches would vanish, and when another rank fails.
    pub fn catalogue(
        &self,
        source: &FieldSource,
        thresholds: &Thresholds,
        (rules, central): (Rules, CentralChoice),
        comm: &Comm,
    ) -> Result<CataloguePart, RunError> {
        let mut tables = structure_tables(self.peaks, self.structures, rules, thresholds.persistence, comm)?;
        let totals = RunTotals::new(source.n_leaves, self, comm)?;
        if totals.n_lost > 0 && self.may_lose_mass {
            let (threshold, densest) = (thresholds.density, source.densest);
            return Err(RunError::LostMass { threshold, densest, n: totals.n_lost });
        }
        // Ranks may have different numbers of threads; the attributes are the same on all.
        let n_threads = comm.all_reduce_counts(&[rayon::current_num_threads() as u64], Reduce::Max)?[0];
        let mut attributes = attributes(&PhewProvenance {
            header: source.header,
            has_units: source.has_units,
            field: source.field,
            thresholds,
            mass_unit: source.mass_unit,
            rules,
            central: central.by(rules),
            has_prominence: self.peaks.prominence.is_some(),
            totals: &totals.named,
            run: [("run_threads", n_threads), ("run_ranks", comm.n_ranks() as u64)],
        });
        attributes.extend(source.attributes.iter().map(|(name, value)| (name.to_string(), value.clone())));
        attributes.extend_from_slice(&source.input);
        image::add_attributes(&mut attributes);
        image::complete(&attributes, tables.iter_mut().map(|part| &mut part.table));
        Ok(CataloguePart { attributes, tables })
    }
}

/// Collective: clumps, haloes, the tree and its ties.
pub(crate) fn structure_tables(
    peaks: &Peaks,
    found: &Structures,
    rules: Rules,
    persistence: Persistence,
    comm: &Comm,
) -> Result<Vec<PartTable>, CommError> {
    let known = known_properties(peaks, persistence);
    let mut tables = vec![
        in_order(clumps_table(&found.clumps, known), comm)?,
        in_order(haloes_table(&found.haloes, known), comm)?,
        tree_part(tree_table(peaks, &found.peak_rank), &peaks.name, peaks.n_global),
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
    found: &FoundStructures,
    ids: &PatchIds,
    config: &PhewConfig,
    comm: &Comm,
) -> Result<Vec<PartTable>, RunError> {
    let mut tables = Vec::new();
    let segmentation = &found.segmentation;
    if config.with_cells {
        tables.push(cells_table(&input.part.field, &found.links.own, segmentation, ids, comm)?);
    }
    if config.with_particles {
        let places = MemberPlaces::Leaves(LeafPlaces { part: &input.part, segmentation });
        tables.push(particles_table(input.snapshot, &places, ids, comm)?);
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
    fn new(n_leaves: u64, found: &CutPeaks, comm: &Comm) -> Result<Self, CommError> {
        let CutPeaks { peaks, structures, .. } = *found;
        let is_lost = |patch: &&PatchValues| patch.sums[MASS] == 0.0 && patch.rho_min > 0.0;
        let n_lost = peaks.patches.iter().filter(is_lost).count() as u64;
        let local = [found.n_tests, structures.clumps.len() as u64, structures.haloes.len() as u64, n_lost];
        let sums = comm.all_reduce_counts(&local, Reduce::Sum)?;
        let named = [
            ("n_leaf_cells", n_leaves),
            ("n_test_cells", sums[0]),
            ("n_peaks", peaks.n_global),
            ("n_clumps", sums[1]),
            ("n_haloes", sums[2]),
            ("n_levels", structures.max_level),
        ];
        Ok(Self { named, n_lost: sums[3] })
    }
}
