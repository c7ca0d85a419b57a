//! `inselberg fof`, checked.

use super::ConfigError;
use super::bound_options::{potential, property_words};
use super::launch::{Launch, launch};
use super::raw::NONE;
use super::report_options::{ShownResults, shown_results};
use super::series::{Series, SnapshotPaths, grouped, has_number, series};
use super::values::CheckedValues;
use inselberg::bound::PropertyWords;
use inselberg::{BoundRequest, FofParams, Linking, LinkingTypes};
use inselberg_io::ExtraCosmology;
use inselberg_io::particles::{BlockOrder, InputDefaults, KIND_NAMES, N_KINDS};
use std::path::PathBuf;

/// `inselberg fof` on one snapshot, checked. It has at least one output or diagnostics.
#[derive(Debug, Clone, PartialEq)]
pub struct FofJob {
    /// The files of the input, in their order.
    pub inputs: Vec<PathBuf>,
    /// Defaults for what the input leaves open.
    pub defaults: InputDefaults,
    /// The types that link and those that are attached, and the box.
    pub types: LinkingTypes,
    /// The parameters of the search.
    pub fof: FofParams,
    /// The catalogue.
    pub output: Option<PathBuf>,
    /// The group of every particle.
    pub group_ids: Option<PathBuf>,
    /// The file in the layout of SOAP.
    pub soap: Option<PathBuf>,
    /// The folder for yt.
    pub yt: Option<PathBuf>,
    /// The folder for VTK.
    pub vtk: Option<PathBuf>,
    /// What people look at.
    pub shown: ShownResults,
    /// Ranks and threads.
    pub launch: Launch,
}

/// Group IDs are written as signed integers of eight bytes.
const MOST: u64 = i64::MAX as u64;

pub(super) fn fof(raw: &CheckedValues<'_>) -> Result<Series<FofJob>, ConfigError> {
    let inputs = raw.paths("input");
    if inputs.is_empty() {
        return Err(raw.missing("input"));
    }
    let named = |base: PathBuf| {
        let mut name = base.into_os_string();
        name.push("_0000.hdf5");
        PathBuf::from(name)
    };
    let output = raw.path("output").or_else(|| raw.path("basename").map(named));
    let (group_ids, shown) = (raw.path("group-ids"), shown_results(raw)?);
    let [soap, yt, vtk] = ["soap", "yt", "vtk"].map(|name| raw.path(name));
    let no_diagnostics = !raw.switch("diagnostics");
    let results = [&output, &group_ids, &shown.plot, &shown.report, &soap, &yt, &vtk];
    if results.iter().all(|path| path.is_none()) && no_diagnostics {
        return Err(raw.missing("output"));
    }
    let bound = bound_request(raw, [&output, &yt, &vtk].iter().any(|path| path.is_some()))?;
    let (linking, attaching) = kinds(raw)?;
    let most = format!("at most {MOST}");
    let mut fof = FofParams::default().linking(length(raw)?);
    fof.min_size = raw.count_or_default("min-size", |n| n > 0, "1 or more")?;
    fof.seed_mass = seed_mass(raw)?;
    fof.id_of_none = raw.count_or_default("group-id-default", |n| n <= MOST, &most)?;
    fof.first_id = raw.count_or_default("group-id-offset", |n| n <= MOST, &most)?;
    fof.allow_duplicate_ids = raw.text("duplicate-ids").as_deref() == Some("allow");
    fof.with_group_ids = group_ids.is_some();
    fof.keep_particles = shown.has_maps();
    fof.softening = softening(raw, bound)?;
    fof.bound = bound;
    let mut types = LinkingTypes::default().linking(&linking).attaching(&attaching);
    types.side = raw.real("box", |x| x > 0.0, "a finite side above 0")?;
    types.is_open = raw.switch("open");
    let job = FofJob {
        inputs: inputs.clone(),
        defaults: InputDefaults { cosmology: extra_cosmology(raw)?, ..input_defaults(raw)? },
        types,
        fof,
        output,
        group_ids,
        soap,
        yt,
        vtk,
        shown,
        launch: launch(raw)?,
    };
    let snapshots = snapshots(&job, inputs);
    series(raw, job, snapshots)
}

/// The files of each snapshot. Without a number in the name of a result several files are one snapshot, but folders never are.
fn snapshots(job: &FofJob, inputs: Vec<PathBuf>) -> Vec<Vec<PathBuf>> {
    let is_numbered = job.clone().results().iter().any(|(_, path)| has_number(path));
    let are_folders = inputs.iter().all(|input| input.extension().is_none());
    if is_numbered || are_folders { grouped(inputs) } else { vec![inputs] }
}

impl SnapshotPaths for FofJob {
    fn set_inputs(&mut self, inputs: Vec<PathBuf>) {
        self.inputs = inputs;
    }

    fn results(&mut self) -> Vec<(&'static str, &mut PathBuf)> {
        let files = [
            ("output", &mut self.output),
            ("group-ids", &mut self.group_ids),
            ("soap", &mut self.soap),
            ("yt", &mut self.yt),
            ("vtk", &mut self.vtk),
            ("plot", &mut self.shown.plot),
            ("report", &mut self.shown.report),
        ];
        files.into_iter().filter_map(|(name, path)| Some((name, path.as_mut()?))).collect()
    }
}

/// What is found out about groups.
fn bound_request(raw: &CheckedValues<'_>, has_output: bool) -> Result<BoundRequest, ConfigError> {
    let words = property_words(raw, PropertyWords::OF_GROUPS)?;
    if words.is_some_and(|words| words.gas) {
        let expected = "words out of basic, bound, so and all; gas is of the cells that phew reads";
        return Err(raw.unfit("properties", &raw.shown("properties"), expected));
    }
    match (words, raw.path("soap")) {
        (Some(_), None) if !has_output => {
            return Err(raw.unfit(
                "properties",
                &raw.shown("properties"),
                "--output, --soap, --yt or --vtk beside it",
            ));
        }
        (None, Some(path)) => {
            return Err(raw.unfit("soap", &path.display().to_string(), "--properties beside it"));
        }
        _ => {}
    }
    let unbind = words.filter(|words| words.needs_bound).map(|_| potential(raw));
    let with_members = raw.switch("with-members");
    if with_members && unbind.is_none() {
        return Err(raw.unfit("with-members", "true", BOUND));
    }
    let properties = words.map(|words| words.choice).unwrap_or_default();
    Ok(BoundRequest { unbind, properties, with_members, ..BoundRequest::default() })
}

const BOUND: &str = "--properties basic, bound or all beside it";

/// The softening length, if one is given.
fn softening(raw: &CheckedValues<'_>, bound: BoundRequest) -> Result<Option<f64>, ConfigError> {
    let length = raw.real("softening", |x| x > 0.0, "a finite length above 0")?;
    match length.filter(|_| bound.unbind.is_none()) {
        Some(length) => Err(raw.unfit("softening", &length.to_string(), BOUND)),
        None => Ok(length),
    }
}

/// The defaults of `fof` and `phew` for what an input leaves open.
pub(super) fn input_defaults(raw: &CheckedValues<'_>) -> Result<InputDefaults, ConfigError> {
    let positive = |name| raw.real(name, |x| x > 0.0, "a finite number above 0");
    Ok(InputDefaults {
        particle_mass: positive("particle-mass")?,
        unit_length: positive("unit-length")?,
        unit_mass: positive("unit-mass")?,
        unit_velocity: positive("unit-velocity")?,
        expansion_factor: positive("expansion-factor")?,
        block_order: match raw.text_or_default("gadget-blocks").as_str() {
            "gadget" => Some(BlockOrder::Gadget),
            "gizmo" => Some(BlockOrder::Gizmo),
            _ => None,
        },
        cosmology: ExtraCosmology::NONE,
    })
}

/// Parameters of a cosmology that the input of `fof` or `phew` does not state.
pub(super) fn extra_cosmology(raw: &CheckedValues<'_>) -> Result<ExtraCosmology, ConfigError> {
    let number = |name| raw.real(name, |_| true, "a finite number");
    let density = |name| raw.real(name, |x| x >= 0.0, "a finite density parameter, 0 or more");
    Ok(ExtraCosmology {
        w0: number("w0")?,
        wa: number("wa")?,
        omega_r: density("omega-r")?,
        omega_nu: density("omega-nu")?,
    })
}

fn length(raw: &CheckedValues<'_>) -> Result<Linking, ConfigError> {
    let expected = "a finite length above 0, or -1 for none";
    let absolute = raw.real("linking-length", |x| x > 0.0 || x == NONE, expected)?.filter(|x| *x != NONE);
    let ratio = raw.real_or_default("linking-ratio", |x| x > 0.0, "a finite ratio above 0")?;
    match absolute {
        Some(length) if raw.is_written("linking-ratio") => {
            let expected = "a linking length or a linking ratio, not both";
            Err(raw.unfit("linking-length", &length.to_string(), expected))
        }
        Some(length) => Ok(Linking::Length(length)),
        None => Ok(Linking::Ratio(ratio)),
    }
}

/// The kinds that link, and those that are attached.
fn kinds(raw: &CheckedValues<'_>) -> Result<(Vec<u8>, Vec<u8>), ConfigError> {
    let show = |kinds: &[bool; N_KINDS]| kinds.map(|k| if k { "1" } else { "0" }).join(",");
    let (linking, _) = raw.kinds("linking-types");
    let (mut attaching, is_written) = raw.kinds("attaching-types");
    if linking == [false; N_KINDS] {
        return Err(raw.unfit("linking-types", &show(&linking), "at least one kind of particles that links"));
    }
    if !is_written {
        attaching = std::array::from_fn(|kind| attaching[kind] && !linking[kind]);
    }
    if let Some(kind) = (0..N_KINDS).find(|kind| linking[*kind] && attaching[*kind]) {
        let expected = format!("{} either linking or attaching, not both", KIND_NAMES[kind]);
        return Err(raw.unfit("attaching-types", &show(&attaching), &expected));
    }
    Ok((types(&linking), types(&attaching)))
}

/// The numbers of these types.
pub(super) fn types(kinds: &[bool; N_KINDS]) -> Vec<u8> {
    (0..N_KINDS as u8).filter(|kind| kinds[usize::from(*kind)]).collect()
}

/// The mass above which groups get a black hole, in solar masses; `None` without seeding.
fn seed_mass(raw: &CheckedValues<'_>) -> Result<Option<f64>, ConfigError> {
    let mass = raw.real("black-hole-seed-mass", |x| x >= 0.0, "a finite mass, 0 or more")?;
    match (raw.switch("seed-black-holes"), mass) {
        (false, _) => Ok(None),
        (true, None) => Err(raw.missing("black-hole-seed-mass")),
        (true, mass) => Ok(mass),
    }
}
