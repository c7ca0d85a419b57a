//! `inselberg fof`, checked.

use super::ConfigError;
use super::launch::{Launch, launch};
use super::report_options::{ShownResults, shown_results};
use super::series::{Series, SnapshotPaths, grouped, has_number, series};
use super::tracked::{check_catalogue, following};
use super::values::CheckedValues;
use inselberg::{FofParams, InputDefaults, LinkingTypes};
use std::path::PathBuf;

/// `inselberg fof` on one snapshot, checked. It has at least one output or diagnostics.
#[derive(Debug, Clone, PartialEq)]
pub struct FofJob {
    /// The files of the input, in their order.
    pub inputs: Vec<PathBuf>,
    /// Defaults for facts that the input does not state.
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
    /// Pictures and reports.
    pub shown: ShownResults,
    /// Ranks and threads.
    pub launch: Launch,
}

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
    let mut fof = raw.params::<FofParams>()?;
    check_properties(raw, [&output, &yt, &vtk].iter().any(|path| path.is_some()))?;
    fof.check().map_err(|error| raw.refused(&error))?;
    fof.seed_mass = seed_mass(raw, fof.seed_mass)?;
    fof.with_group_ids = group_ids.is_some();
    fof.keep_particles = shown.has_maps();
    let types = raw.params::<LinkingTypes>()?;
    types.check().map_err(|error| raw.refused(&error))?;
    let job = FofJob {
        inputs: inputs.clone(),
        defaults: raw.params()?,
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
    check_catalogue(raw, &job.fof.tracks, job.output.as_ref())?;
    let snapshots = snapshots(&job, inputs);
    Ok(following(series(raw, job, snapshots)?, |job| (&mut job.fof.tracks, job.output.as_ref())))
}

/// The files of each snapshot. Without a number in the name of a result several files are one snapshot, but
/// folders never are.
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

/// Checks that the properties exist for groups, and that there is a result for them.
fn check_properties(raw: &CheckedValues<'_>, has_output: bool) -> Result<(), ConfigError> {
    match (raw.text("properties"), raw.path("soap")) {
        (Some(words), None) if !has_output => {
            Err(raw.unfit("properties", &words, "--output, --soap, --yt or --vtk as well"))
        }
        (None, Some(path)) => Err(raw.unfit("soap", &path.display().to_string(), "--properties as well")),
        _ => Ok(()),
    }
}

/// The mass above which groups get a black hole, in solar masses; `None` without seeding.
fn seed_mass(raw: &CheckedValues<'_>, given: Option<f64>) -> Result<Option<f64>, ConfigError> {
    match (raw.switch("seed-black-holes"), given) {
        (false, _) => Ok(None),
        (true, None) => Err(raw.missing("black-hole-seed-mass")),
        (true, mass) => Ok(mass),
    }
}
