//! The recipe: a snapshot in, a catalogue out.

use crate::density::DensitySource;
use crate::density::Scheme;
use crate::error::RunError;
use crate::executor::Executor;
use crate::field::test_cells;
use crate::particle_mesh::{ParticleMeshConfig, ParticleSnapshot, grow};
use crate::partition::{LocalField, load};
use crate::phew::balance::Balance;
use crate::phew::hierarchy::{Structures, structures};
use crate::phew::params::{FieldChoice, PhewConfig, Thresholds};
use crate::phew::properties::TestFields;
use crate::phew::segment::{Segmentation, Task, segment};
use crate::phew::tables::{
    PatchIds, PhewProvenance, attributes, cells_table, clumps_table, haloes_table, particles_table,
    ties_table, tree_part, tree_table,
};
use crate::phew::test_links::TestLinks;
use crate::stage::Stage;
use crate::tables::{ASSUMED_UNITS, in_order};
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_io::catalogue::{Attribute, CataloguePart, PartTable};
use inselberg_io::{FieldInfo, Snapshot};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::hierarchy::Cut;
use inselberg_kernels::phew::test_cells::TestCells;
use inselberg_kernels::props::PatchValues;
use inselberg_kernels::props::sums::MASS;

/// What a run leaves behind.
#[derive(Debug)]
pub struct PhewOutcome {
    /// What this rank holds of the catalogue; one rank holds all of it.
    pub catalogue: CataloguePart,
    /// The field that was segmented and what of it is this rank's, for pictures.
    pub part: LocalField,
    /// How the work lies on the ranks.
    pub balance: Balance,
    /// The greatest density of any leaf of all ranks.
    pub densest: f64,
    /// What was segmented.
    pub field: ChosenField,
}

/// The density that a run segments, and what it was chosen from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenField {
    /// The density.
    pub field: FieldInfo,
    /// Whether it is the choice of [`FieldChoice::Auto`].
    pub is_auto: bool,
    /// Every density that could have been chosen, by family.
    pub candidates: Vec<FieldInfo>,
}

/// The family of the densities that are made from particles.
const PARTICLES: &str = "particles";

impl ChosenField {
    fn new(snapshot: &dyn Snapshot, source: DensitySource, choice: &FieldChoice) -> Self {
        let candidates = candidates(snapshot);
        let name = source.name();
        let of_cells = candidates.iter().find(|f| f.name == name && f.family != PARTICLES);
        let field = of_cells.cloned().unwrap_or_else(|| from_particles(source));
        Self { field, is_auto: *choice == FieldChoice::Auto, candidates }
    }

    /// On a mesh from particles there is one density.
    fn of_particles(choice: &FieldChoice) -> Self {
        let field = from_particles(DensitySource::Particles(Scheme::Conserving));
        Self { candidates: vec![field.clone()], field, is_auto: *choice == FieldChoice::Auto }
    }
}

/// `density (hydro), chosen by auto from density, velocity_x; rho`
impl std::fmt::Display for ChosenField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let by = if self.is_auto { "auto" } else { "--field" };
        write!(f, "{} ({}), chosen by {by} from ", self.field.name, self.field.family)?;
        for (i, candidate) in self.candidates.iter().enumerate() {
            match i.checked_sub(1).map(|before| self.candidates[before].family) {
                None => {}
                Some(family) if family == candidate.family => f.write_str(", ")?,
                Some(_) => f.write_str("; ")?,
            }
            f.write_str(&candidate.name)?;
        }
        Ok(())
    }
}

/// PHEW on a snapshot.
///
/// Collective over `comm`; uses the crew, and the current rayon pool where a plain loop is all there is. The
/// catalogue is the same bit for bit for any number of ranks and threads and for any split of the snapshot into
/// files.
///
/// # Errors
/// When the input cannot be read, lacks what was asked for, or holds values that are no densities, and
/// when another rank fails. What goes wrong on one rank only is for its caller to pass on to the others
/// ([`Comm::abort`]).
pub fn run(
    snapshot: &dyn Snapshot,
    config: &PhewConfig,
    comm: &Comm,
    executor: &Executor,
) -> Result<PhewOutcome, RunError> {
    if config.with_particles && !snapshot.has_particles() {
        return Err(RunError::NoParticles);
    }
    let source = choose_source(snapshot, config)?;
    let mass_unit = mass_unit(snapshot, config.rules, comm)?;
    let mut thresholds = config.thresholds;
    thresholds.mass *= mass_unit;
    let columns = ExtraColumns::new(snapshot, source);
    let part = load(snapshot, source, thresholds.density, &columns.names(), comm, executor)?;
    let n_leaves = part.n_own_leaves() as u64;
    let densest = part.field.rho.iter().copied().fold(0.0, f64::max);
    let input = Input {
        snapshot,
        field: ChosenField::new(snapshot, source, &config.field),
        columns,
        thresholds,
        mass_unit,
        n_leaves: comm.all_reduce_counts(&[n_leaves], Reduce::Sum)?[0],
        densest: comm.all_max(&[densest])?[0],
        more: Vec::new(),
    };
    run_on(input, part, config, comm, executor)
}

/// PHEW on the mesh that particles make: density and saddle threshold of `config` are in mean densities of the
/// particles on it, its field is not looked at. Of the cells those denser than the threshold are listed alone.
///
/// Collective, and with the promises of [`run`].
///
/// # Errors
/// As [`run`], and as [`grow`].
pub fn run_on_particles(
    snapshot: &ParticleSnapshot,
    mesh: &ParticleMeshConfig,
    config: &PhewConfig,
    comm: &Comm,
    executor: &Executor,
) -> Result<PhewOutcome, RunError> {
    let grown = grow(snapshot.input(), mesh, config.thresholds.density, comm, executor)?;
    let mass_unit = mass_unit(snapshot, config.rules, comm)?;
    let mut thresholds = config.thresholds;
    thresholds.mass *= mass_unit;
    thresholds.density *= grown.mean_density;
    thresholds.saddle = thresholds.saddle.map(|saddle| saddle * grown.mean_density);
    let mut more = vec![
        ("mean_density", Attribute::Real(grown.mean_density)),
        ("m_refine", Attribute::Int(grown.shape.m_refine.cast_signed())),
        ("level_min", Attribute::Int(grown.shape.level_min.into())),
        ("level_max", Attribute::Int(grown.shape.level_max.into())),
    ];
    let assumed = &snapshot.input().about().assumed_units;
    if !assumed.is_empty() {
        more.push((ASSUMED_UNITS, Attribute::Text(assumed.join(", "))));
    }
    let input = Input {
        snapshot,
        field: ChosenField::of_particles(&config.field),
        columns: ExtraColumns { moving: false, weighed: false },
        thresholds,
        mass_unit,
        n_leaves: grown.n_leaves,
        densest: grown.densest,
        more,
    };
    run_on(input, grown.part, config, comm, executor)
}

/// What a part was made from.
struct Input<'a> {
    snapshot: &'a dyn Snapshot,
    field: ChosenField,
    columns: ExtraColumns,
    /// In code units.
    thresholds: Thresholds,
    /// Code mass for each unit in which the mass threshold was given.
    mass_unit: f64,
    /// Of all ranks.
    n_leaves: u64,
    densest: f64,
    /// Further attributes: of a mesh that was made here, and of its particles.
    more: Vec<(&'static str, Attribute)>,
}

/// Collective: from parts to the catalogue.
fn run_on(
    input: Input,
    part: LocalField,
    config: &PhewConfig,
    comm: &Comm,
    executor: &Executor,
) -> Result<PhewOutcome, RunError> {
    let (observer, thresholds, snapshot) = (executor.observer(), input.thresholds, input.snapshot);
    let field = &part.field;
    let n_own = part.n_own_leaves() as u64;
    let test_cells =
        Stage::run("test cells", n_own, comm, observer, || test_cells::find(field, thresholds.density));
    let links = TestLinks::new(&part, &test_cells);
    let n_tests = (test_cells.len() - links.shared.len()) as u64;
    let extra = input.columns.sort(&part, &test_cells, &links);
    let task = Task {
        field,
        links: &links,
        extra: &extra,
        density_threshold: thresholds.density,
        side: snapshot.header().boxlen,
        rules: config.rules,
    };
    let segmentation = segment(&task, test_cells, comm, executor)?;
    let cut = Cut { density: thresholds.density, relevance: thresholds.relevance, saddle: thresholds.saddle };
    let found = Stage::run("hierarchy", n_tests, comm, observer, || {
        structures(&segmentation.peaks, &cut, thresholds.mass, config.rules, comm)
    })?;
    let _tables = Stage::begin("tables", 0, comm, observer);
    let mut tables = tables(&segmentation, &found, config.rules, comm)?;
    if config.with_cells || config.with_particles {
        let ids = PatchIds::new(&segmentation, &found, comm)?;
        if config.with_cells {
            tables.push(cells_table(&field.mesh, &links.own, &segmentation, &ids, comm)?);
        }
        if config.with_particles {
            tables.push(particles_table(snapshot, &part, &segmentation, &ids, comm)?);
        }
    }
    let (totals, n_lost) = totals(input.n_leaves, n_tests, &segmentation, &found, comm)?;
    if n_lost > 0 && extra.mass_density.is_none() {
        let (threshold, densest) = (thresholds.density, input.densest);
        return Err(RunError::LostMass { threshold, densest, n: n_lost });
    }
    // Ranks may have different numbers of threads; the attributes are the same on all.
    let n_threads = comm.all_reduce_counts(&[rayon::current_num_threads() as u64], Reduce::Max)?[0];
    let mut attributes = attributes(&PhewProvenance {
        header: snapshot.header(),
        has_units: snapshot.has_units(),
        field: &input.field.field.name,
        thresholds: &thresholds,
        mass_unit: input.mass_unit,
        rules: config.rules,
        totals: &totals,
        run: [("run_threads", n_threads), ("run_ranks", comm.n_ranks() as u64)],
    });
    attributes.extend(input.more.into_iter().map(|(name, value)| (name.to_string(), value)));
    let balance = segmentation.balance;
    let (densest, field) = (input.densest, input.field);
    Ok(PhewOutcome { catalogue: CataloguePart { attributes, tables }, part, balance, densest, field })
}

fn choose_source<'a>(
    snapshot: &'a dyn Snapshot,
    config: &'a PhewConfig,
) -> Result<DensitySource<'a>, RunError> {
    let has = |name: &str| snapshot.fields().iter().any(|f| f.name == name);
    let source = match &config.field {
        FieldChoice::Cic => DensitySource::Particles(Scheme::Conserving),
        FieldChoice::CicRamses => as_ramses(snapshot),
        FieldChoice::Named(name) if has(name) => DensitySource::Cells(name),
        FieldChoice::Named(name) => {
            let known: Vec<String> = candidates(snapshot).into_iter().map(|f| f.name).collect();
            return Err(RunError::NoField { name: name.clone(), known: known.join(", ") });
        }
        FieldChoice::Auto if has("density") => DensitySource::Cells("density"),
        FieldChoice::Auto if has("rho") => DensitySource::Cells("rho"),
        FieldChoice::Auto if config.rules == Rules::Ramses => as_ramses(snapshot),
        FieldChoice::Auto => DensitySource::Particles(Scheme::Conserving),
    };
    match source {
        DensitySource::Particles(_) | DensitySource::Matter(_) if !snapshot.has_particles() => {
            Err(RunError::NoParticles)
        }
        source => Ok(source),
    }
}

/// What RAMSES makes the density of gravity from: dark matter, and gas where there is any.
fn as_ramses(snapshot: &dyn Snapshot) -> DensitySource<'static> {
    let has_gas = snapshot.fields().iter().any(|f| f.family == "hydro" && f.name == "density");
    if has_gas { DensitySource::Matter("density") } else { DensitySource::Particles(Scheme::Ramses) }
}

/// Every density that a snapshot offers: the fields of its cells, and those that its particles make.
fn candidates(snapshot: &dyn Snapshot) -> Vec<FieldInfo> {
    let schemes = [Scheme::Conserving, Scheme::Ramses].into_iter().filter(|_| snapshot.has_particles());
    let of_particles = schemes.map(|scheme| from_particles(DensitySource::Particles(scheme)));
    snapshot.fields().iter().cloned().chain(of_particles).collect()
}

fn from_particles(source: DensitySource) -> FieldInfo {
    FieldInfo { family: PARTICLES, name: source.name().into() }
}

/// Further fields of the test cells: gas velocities, and the gas density where the field is another hydro
/// variable.
struct ExtraColumns {
    moving: bool,
    weighed: bool,
}

impl ExtraColumns {
    const VELOCITY: [&'static str; 3] = ["velocity_x", "velocity_y", "velocity_z"];

    fn new(snapshot: &dyn Snapshot, source: DensitySource) -> Self {
        let is_hydro = |name: &str| snapshot.fields().iter().any(|f| f.name == name && f.family == "hydro");
        let DensitySource::Cells(name) = source else { return Self { moving: false, weighed: false } };
        Self {
            moving: is_hydro(name) && Self::VELOCITY.iter().all(|v| is_hydro(v)),
            weighed: is_hydro(name) && name != "density" && is_hydro("density"),
        }
    }

    fn names(&self) -> Vec<&'static str> {
        let velocity = Self::VELOCITY.into_iter().filter(|_| self.moving);
        velocity.chain(self.weighed.then_some("density")).collect()
    }

    /// The columns of a part, which are of own test cells, by test cell.
    fn sort(&self, part: &LocalField, test_cells: &TestCells, links: &TestLinks) -> TestFields {
        let mut columns = part.extra.iter().map(|own| links.spread(part, test_cells, own));
        let velocity = self.moving.then(|| std::array::from_fn(|_| columns.next().unwrap_or_default()));
        TestFields { velocity, mass_density: if self.weighed { columns.next() } else { None } }
    }
}

/// Collective: the code mass for each unit in which the mass threshold is given. RAMSES counts lightest particles.
fn mass_unit(snapshot: &dyn Snapshot, rules: Rules, comm: &Comm) -> Result<f64, RunError> {
    if rules == Rules::Paper || !snapshot.has_particles() {
        return Ok(1.0);
    }
    let _reading = Stage::within("reading", comm);
    let mut least = f64::INFINITY;
    for piece in (comm.rank().at()..snapshot.header().n_pieces).step_by(comm.n_ranks()) {
        snapshot.particles(piece, &mut |block| {
            least = block.mass.iter().filter(|m| **m > 0.0).fold(least, |a, &m| a.min(m));
            Ok(())
        })?;
    }
    let least = -comm.all_max(&[-least])?[0];
    Ok(if least.is_finite() { least } else { 1.0 })
}

/// Collective: clumps, haloes, the tree and its ties.
fn tables(
    segmentation: &Segmentation,
    found: &Structures,
    rules: Rules,
    comm: &Comm,
) -> Result<Vec<PartTable>, CommError> {
    let peaks = &segmentation.peaks;
    let mut tables = vec![
        in_order(clumps_table(&found.clumps, peaks.momenta.is_some()), comm)?,
        in_order(haloes_table(&found.haloes, peaks.momenta.is_some()), comm)?,
        tree_part(tree_table(peaks, &found.peak_rank), &peaks.global, peaks.n_global),
    ];
    if rules == Rules::Ramses {
        let ties = in_order(ties_table(&peaks.ties), comm)?;
        tables.extend((ties.n_rows > 0).then_some(ties));
    }
    Ok(tables)
}

/// What a catalogue says of the whole run.
type RunTotals = [(&'static str, u64); 6];

/// Collective: totals over all ranks, of which `n_leaves` is one already, and the number of patches whose mass is zero
/// though their densities are not.
fn totals(
    n_leaves: u64,
    n_tests: u64,
    segmentation: &Segmentation,
    found: &Structures,
    comm: &Comm,
) -> Result<(RunTotals, u64), CommError> {
    let is_lost = |patch: &&PatchValues| patch.sums[MASS] == 0.0 && patch.rho_min > 0.0;
    let n_lost = segmentation.peaks.patches.iter().filter(is_lost).count() as u64;
    let local = [n_tests, found.clumps.len() as u64, found.haloes.len() as u64, n_lost];
    let sums = comm.all_reduce_counts(&local, Reduce::Sum)?;
    let totals = [
        ("n_leaf_cells", n_leaves),
        ("n_test_cells", sums[0]),
        ("n_peaks", segmentation.peaks.n_global),
        ("n_clumps", sums[1]),
        ("n_haloes", sums[2]),
        ("n_levels", found.max_level),
    ];
    Ok((totals, sums[3]))
}
