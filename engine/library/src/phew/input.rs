//! The input of a run: which density is segmented, on which part of the mesh, and by which thresholds?

use crate::density::{DensitySource, Deposited, Scheme};
use crate::error::RunError;
use crate::executor::Executor;
use crate::particle_mesh::{MeshUse, ParticleMeshConfig, ParticleSnapshot, grow};
use crate::partition::{LoadRequest, LocalField, TakesPart, TestRule, load};
use crate::phew::below_zero::SearchThresholds;
use crate::phew::bound::{GasCells, TestField};
use crate::phew::image::is_fits;
use crate::phew::params::{DensityUnit, FieldChoice, ThresholdUnits};
use crate::phew::phew_params::{PhewParams, PhewRequest};
use crate::phew::prominence::DepositedParticles;
use crate::phew::selection::Selected;
use crate::phew::test_fields::TestFields;
use crate::phew::test_links::TestLinks;
use crate::projection::RootLeaves;
use crate::stage::Stage;
use inselberg_comm::{Comm, Reduce};
use inselberg_io::catalogue::Attribute;
use inselberg_io::{Family, FieldInfo, Snapshot};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::test_cells::TestCells;

/// The input of a segmentation.
pub struct Input<'a> {
    /// The source of the density.
    pub snapshot: &'a dyn Snapshot,
    /// The density.
    pub field: ChosenField,
    /// The cells of this rank.
    pub part: LocalField,
    /// Further columns of the cells.
    pub columns: ExtraColumns,
    /// The thresholds, in code units.
    pub thresholds: SearchThresholds,
    /// The units in which the thresholds were given.
    pub units: ThresholdUnits,
    /// Number of leaves on all ranks.
    pub n_leaves: u64,
    /// The greatest density of any leaf on all ranks.
    pub densest: f64,
    /// The leaves that take part; `None` if all do.
    pub selected: Option<Selected>,
    /// Attributes of a mesh that was built here, and of its particles.
    pub mesh_attributes: Vec<(&'static str, Attribute)>,
    /// What is known of an image beside its file: noise, distance.
    pub image_attributes: Vec<(String, Attribute)>,
    /// All leaves of a mesh that was built here, if they are kept.
    pub leaves: Option<RootLeaves>,
    /// The particles of the density, if its shot noise makes false peaks.
    pub deposited: Option<DepositedParticles<'a>>,
}

impl<'a> Input<'a> {
    /// Collective: the mesh and the density of a snapshot.
    ///
    /// # Errors
    /// When thresholds contradict each other or the rules. When the snapshot cannot be read, lacks what
    /// `request` asks for, or holds values that are not allowed, and when another rank fails.
    pub fn from_snapshot(
        snapshot: &'a dyn Snapshot,
        request: &PhewRequest,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<Self, RunError> {
        let PhewRequest { field, params } = request;
        params.check_search()?;
        let given = params.thresholds();
        check_particles(snapshot, params)?;
        let source = choose_source(snapshot, field, params.rules)?;
        let deposited = matches!(source, DensitySource::Particles(_)) && params.rules == Rules::Paper;
        if given.significance.is_some() && !deposited {
            return Err(RunError::SignificanceOfCells { field: source.name().into() });
        }
        let of = match snapshot.header().is_in_mean_densities() {
            true => DensityUnit::MeanMatter,
            false => DensityUnit::Code,
        };
        let units = ThresholdUnits { density: 1.0, of, mass: mass_unit(snapshot, params.rules, comm)? };
        let thresholds = SearchThresholds::new(given.in_code_units(units));
        let noise = params.image.known.as_ref().and_then(|noise| noise.local.as_deref());
        let columns = ExtraColumns::of_search(snapshot, source, &thresholds, noise.is_some())?;
        let extra_fields = &columns.names();
        let (threshold, weights) = (thresholds.searched().density, params.weights);
        let selected = selected(snapshot, params)?;
        let takes_part = |level, position| selected.as_ref().is_none_or(|of| of.has_leaf(level, position));
        let takes_part = selected.is_some().then_some(&takes_part as TakesPart<'_>);
        let tests = TestRule { threshold, takes_part };
        let request = LoadRequest { source, values: params.leaf_values(), tests, extra_fields, weights };
        let changed = source.field().and_then(|field| match noise {
            Some(noise) => Some(noise.over_noise(snapshot, field, GIVEN)),
            None => thresholds.lifted_snapshot(snapshot, field, GIVEN),
        });
        let searched = changed.as_ref().map_or(snapshot, |changed| changed as &dyn Snapshot);
        let part = load(searched, &request, comm, executor)?;
        let densest = part.field.rho.iter().copied().fold(0.0, f64::max);
        let n_leaves = comm.all_reduce_counts(&[part.n_own_leaves() as u64], Reduce::Sum)?[0];
        let densest = comm.all_max(&[densest])?[0];
        let field = ChosenField::new(snapshot, source, field);
        let deposited = deposited.then_some(DepositedParticles {
            snapshot,
            mass: None,
            is_deposited: |family| family == Family::DarkMatter,
        });
        Ok(Self {
            snapshot,
            field,
            part,
            columns,
            thresholds,
            units,
            n_leaves,
            densest,
            selected,
            mesh_attributes: Vec::new(),
            image_attributes: Vec::new(),
            leaves: None,
            deposited,
        })
    }

    /// The field of the cells that decides which leaves are test cells; `None` if the density is deposited
    /// from particles.
    pub fn test_field(&self) -> Option<TestField<'_>> {
        let FieldInfo { family, name } = &self.field.field;
        (*family != PARTICLES).then_some(TestField { name, threshold: self.thresholds.searched().density })
    }

    /// Collective: the mesh that particles refine. Density and saddle thresholds of `request`, and a
    /// threshold of differences, are in units of its mean density.
    ///
    /// # Errors
    /// When thresholds contradict each other or the rules. As [`grow`], and when another rank fails.
    pub fn from_particles(
        snapshot: &'a ParticleSnapshot,
        mesh: &ParticleMeshConfig,
        request: &PhewRequest,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<Self, RunError> {
        let PhewRequest { field, params } = request;
        params.check_search()?;
        let given = params.thresholds();
        if given.density < 0.0 {
            return Err(RunError::NegativeThreshold(given.density));
        }
        let (threshold, weights) = (given.density, params.weights);
        let purpose = MeshUse { threshold, weights, keep_leaves: params.keep_density };
        let grown = grow(snapshot.input(), mesh, purpose, comm, executor)?;
        let mass = mass_unit(snapshot, params.rules, comm)?;
        let units = ThresholdUnits { density: grown.mean_density, of: grown.unit, mass };
        let thresholds = SearchThresholds::new(given.in_code_units(units));
        let (selected, mut part) = (selected(snapshot, params)?, grown.part);
        if let Some(selected) = &selected {
            let takes_part = |level, position| selected.has_leaf(level, position);
            let threshold = thresholds.given().density;
            part.lower_others(&TestRule { threshold, takes_part: Some(&takes_part) });
        }
        // Of a mesh from particles all kinds that the snapshot has were deposited.
        let deposited = (params.rules == Rules::Paper).then_some(DepositedParticles {
            snapshot,
            mass: grown.particle_mass,
            is_deposited: |_| true,
        });
        let mut mesh_attributes = vec![
            ("mean_density", Attribute::Real(grown.mean_density)),
            ("m_refine", Attribute::Int(grown.shape.m_refine.cast_signed())),
            ("level_min", Attribute::Int(grown.shape.level_min.into())),
            ("level_max", Attribute::Int(grown.shape.level_max.into())),
        ];
        mesh_attributes.extend(snapshot.assumed_units());
        Ok(Self {
            snapshot,
            field: ChosenField::of_particle_mesh(field),
            part,
            columns: ExtraColumns::NONE,
            thresholds,
            units,
            n_leaves: grown.n_leaves,
            densest: grown.densest,
            selected,
            mesh_attributes,
            image_attributes: Vec::new(),
            leaves: grown.leaves,
            deposited,
        })
    }
}

/// The leaves of a snapshot that take part; `None` if all do.
fn selected(snapshot: &dyn Snapshot, params: &PhewParams) -> Result<Option<Selected>, RunError> {
    let selection = Some(&params.selection).filter(|selection| !selection.is_all());
    selection.map(|selection| selection.in_box(snapshot.header())).transpose()
}

/// The density that a run segments, and the available densities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenField {
    /// The density.
    pub field: FieldInfo,
    /// Whether it is the choice of [`FieldChoice::Auto`].
    pub is_auto: bool,
    /// Every density that could have been chosen, by family.
    pub candidates: Vec<FieldInfo>,
}

/// The family of the densities that are deposited from particles.
const PARTICLES: &str = "particles";

impl ChosenField {
    pub(super) fn new(snapshot: &dyn Snapshot, source: DensitySource, choice: &FieldChoice) -> Self {
        let candidates = candidates(snapshot);
        let name = source.name();
        let of_cells = candidates.iter().find(|f| f.name == name && f.family != PARTICLES);
        // Not among the fields of the cells: the density is deposited from particles.
        let field = of_cells.cloned().unwrap_or_else(|| from_particles(source));
        Self { field, is_auto: *choice == FieldChoice::Auto, candidates }
    }

    /// The only density of a graph of particles.
    pub(super) fn of_graph(choice: &FieldChoice) -> Self {
        let field = FieldInfo { family: PARTICLES, name: "spline".into() };
        Self { candidates: vec![field.clone()], field, is_auto: *choice == FieldChoice::Auto }
    }

    /// The only density of a mesh that is built from particles.
    fn of_particle_mesh(choice: &FieldChoice) -> Self {
        let field = from_particles(DensitySource::Particles(Scheme::Conserving));
        Self { candidates: vec![field.clone()], field, is_auto: *choice == FieldChoice::Auto }
    }
}

/// `density (hydro), chosen by auto from density, velocity_x; rho`
impl std::fmt::Display for ChosenField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let by = if self.is_auto { "auto" } else { "the caller" };
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

pub(crate) fn choose_source<'a>(
    snapshot: &'a dyn Snapshot,
    field: &'a FieldChoice,
    rules: Rules,
) -> Result<DensitySource<'a>, RunError> {
    let has = |name: &str| snapshot.fields().iter().any(|f| f.name == name);
    if let (FieldChoice::Auto, Rules::Paper, true, Some(matter)) =
        (field, rules, is_cosmological(snapshot), all_matter(snapshot))
    {
        return Ok(matter);
    }
    let source = match (field, density_field(snapshot)) {
        (FieldChoice::Cic, _) => DensitySource::Particles(Scheme::Conserving),
        (FieldChoice::CicRamses, _) => as_ramses(snapshot),
        (FieldChoice::Matter, _) => all_matter(snapshot).ok_or_else(|| no_field(snapshot, "matter"))?,
        (FieldChoice::Named(name), _) if has(name) => DensitySource::Cells(name),
        (FieldChoice::Named(name), _) => return Err(no_field(snapshot, name)),
        (FieldChoice::Auto, Some(name)) => DensitySource::Cells(name),
        (FieldChoice::Auto, None) if !snapshot.has_particles() => match snapshot.fields() {
            [only] => DensitySource::Cells(&only.name),
            all => {
                let known: Vec<&str> = all.iter().map(|f| f.name.as_str()).collect();
                return Err(RunError::NoField { name: "density".into(), known: known.join(", ") });
            }
        },
        (FieldChoice::Auto, None) if rules == Rules::Ramses => as_ramses(snapshot),
        (FieldChoice::Auto, None) => DensitySource::Particles(Scheme::Conserving),
    };
    match source {
        DensitySource::Particles(_) | DensitySource::Matter(..) if !snapshot.has_particles() => {
            Err(RunError::NoParticles)
        }
        DensitySource::Particles(_) | DensitySource::Matter(..) if !snapshot.is_octree() => {
            Err(RunError::NoOctree)
        }
        source => Ok(source),
    }
}

/// Checks that there are default thresholds for a density of an output with cells.
///
/// # Errors
/// When the rules have none, the output is not cosmological, or the density is not that of matter. As
/// [`choose_source`].
pub fn check_default_thresholds(
    snapshot: &dyn Snapshot,
    field: &FieldChoice,
    rules: Rules,
) -> Result<(), RunError> {
    let why = match choose_source(snapshot, field, rules)? {
        _ if rules == Rules::Ramses => "by RAMSES's rules".into(),
        _ if is_fits(&snapshot.attributes()) => "for an image without noise around 0".into(),
        _ if !snapshot.header().is_in_mean_densities() => {
            "where the unit of density is not the mean matter density of a cosmology".into()
        }
        source if is_matter(snapshot, source, field) => return Ok(()),
        DensitySource::Cells(name) => format!("for the field `{name}`, which is not all matter"),
        DensitySource::Particles(_) | DensitySource::Matter(..) => "for a part of the matter".into(),
    };
    Err(RunError::NoDefaultThreshold { why })
}

/// Names of a density, the best first, without case and separators; `prim_density` is AthenaPK's.
const DENSITIES: [&str; 5] = ["density", "gasdensity", "primdensity", "rho", "dens"];

/// The field that is a density by its name. If several names differ only by case or separators, the plain one
/// counts. If there are other candidates, none counts.
fn density_field(snapshot: &dyn Snapshot) -> Option<&str> {
    let plain = |name: &str| name.replace(['_', '-', ' ', '.'], "").to_lowercase();
    let named = |density: &str| {
        let fields = snapshot.fields().iter().map(|field| field.name.as_str());
        let alike: Vec<&str> = fields.filter(|name| plain(name) == density).collect();
        match alike[..] {
            [only] => Some(only),
            _ => alike.into_iter().find(|name| *name == density),
        }
    };
    DENSITIES.into_iter().find_map(named)
}

/// Whether a density is that of all matter. A field of gas is, where nothing else can be chosen.
fn is_matter(snapshot: &dyn Snapshot, source: DensitySource, choice: &FieldChoice) -> bool {
    match source {
        // In runs with gas RAMSES leaves other values in it on refined levels.
        DensitySource::Cells("rho") => !has_gas(snapshot),
        DensitySource::Cells(_) => *choice == FieldChoice::Auto,
        DensitySource::Particles(_) => !has_gas(snapshot),
        DensitySource::Matter(..) => true,
    }
}

fn is_cosmological(snapshot: &dyn Snapshot) -> bool {
    snapshot.header().cosmology.is_some()
}

fn has_gas(snapshot: &dyn Snapshot) -> bool {
    snapshot.fields().iter().any(|f| f.family == "hydro" && f.name == "density")
}

/// Gas and particles, if both exist.
fn all_matter(snapshot: &dyn Snapshot) -> Option<DensitySource<'static>> {
    let has_both = has_gas(snapshot) && snapshot.has_particles() && snapshot.is_octree();
    has_both.then_some(DensitySource::Matter("density", Deposited::All))
}

/// The error for a field that the snapshot does not have. It lists the available densities.
fn no_field(snapshot: &dyn Snapshot, name: &str) -> RunError {
    let known: Vec<String> = candidates(snapshot).into_iter().map(|f| f.name).collect();
    RunError::NoField { name: name.into(), known: known.join(", ") }
}

/// The source of gravity in RAMSES: dark matter, and gas if there is any.
fn as_ramses(snapshot: &dyn Snapshot) -> DensitySource<'static> {
    match has_gas(snapshot) {
        true => DensitySource::Matter("density", Deposited::DarkMatter),
        false => DensitySource::Particles(Scheme::Ramses),
    }
}

/// Every density that a snapshot offers: the fields of its cells, and deposits of its particles.
fn candidates(snapshot: &dyn Snapshot) -> Vec<FieldInfo> {
    let schemes = [Scheme::Conserving, Scheme::Ramses].into_iter().filter(|_| snapshot.has_particles());
    let of_particles = schemes.map(DensitySource::Particles).chain(all_matter(snapshot)).map(from_particles);
    snapshot.fields().iter().cloned().chain(of_particles).collect()
}

fn from_particles(source: DensitySource) -> FieldInfo {
    FieldInfo { family: PARTICLES, name: source.name().into() }
}

/// Further fields of the test cells: gas velocities, and the gas density if the field is another hydro
/// variable.
pub struct ExtraColumns {
    has_velocity: bool,
    /// The field whose sums are masses, if it is not the segmented one.
    mass_density: Option<&'static str>,
}

/// The name under which the segmented field has the values of the input.
const GIVEN: &str = "the segmented field as it is in the input";

impl ExtraColumns {
    const NONE: Self = Self { has_velocity: false, mass_density: None };
    const VELOCITY: [&'static str; 3] = ["velocity_x", "velocity_y", "velocity_z"];

    fn new(snapshot: &dyn Snapshot, source: DensitySource) -> Self {
        let is_hydro = |name: &str| snapshot.fields().iter().any(|f| f.name == name && f.family == "hydro");
        let DensitySource::Cells(name) = source else { return Self::NONE };
        Self {
            has_velocity: is_hydro(name) && Self::VELOCITY.iter().all(|v| is_hydro(v)),
            mass_density: (is_hydro(name) && name != "density" && is_hydro("density")).then_some("density"),
        }
    }

    /// The same for a search of lifted values, or of values over their noise: only of a field of cells, and
    /// not both. Masses are then those of the values of the input.
    fn of_search(
        snapshot: &dyn Snapshot,
        source: DensitySource,
        thresholds: &SearchThresholds,
        over_noise: bool,
    ) -> Result<Self, RunError> {
        let mut columns = Self::new(snapshot, source);
        let (lifted, of_cells) = (thresholds.are_below_zero(), matches!(source, DensitySource::Cells(_)));
        if lifted && over_noise || (lifted || over_noise) && !of_cells {
            return Err(RunError::NegativeThreshold(thresholds.given().density));
        }
        if lifted || over_noise {
            columns.mass_density = columns.mass_density.or(Some(GIVEN));
        }
        Ok(columns)
    }

    fn names(&self) -> Vec<&'static str> {
        let velocity = Self::VELOCITY.into_iter().filter(|_| self.has_velocity);
        velocity.chain(self.mass_density).collect()
    }

    /// The columns of a part, which list own test cells, for all test cells.
    pub fn by_test_cell(&self, part: &LocalField, test_cells: &TestCells, links: &TestLinks) -> TestFields {
        let mut columns = part.extra.iter().map(|own| links.spread(part, test_cells, own));
        let mut next = || columns.next().expect("a column per name");
        let velocity = self.has_velocity.then(|| std::array::from_fn(|_| next()));
        let mass_density = self.mass_density.map(|_| next());
        TestFields { velocity, mass_density, ..TestFields::default() }
    }
}

/// Checks that there are particles, if they are needed: to be placed, or to be unbound where no gas is.
fn check_particles(snapshot: &dyn Snapshot, params: &PhewParams) -> Result<(), RunError> {
    let has_gas = params.bound.needs_members() && GasCells::of_input(snapshot, &params.bound)?.is_some();
    let are_needed = params.places_particles() || params.bound.unbind && !has_gas;
    if are_needed && !snapshot.has_particles() { Err(RunError::NoParticles) } else { Ok(()) }
}

/// Collective: the code mass per unit of the mass threshold. RAMSES counts masses of the lightest particle.
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
    // Without a particle of positive mass there is nothing to count: code units.
    Ok(if least.is_finite() { least } else { 1.0 })
}
