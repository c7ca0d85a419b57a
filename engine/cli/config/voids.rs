//! `inselberg voids`, checked.

use super::ConfigError;
use super::launch::{Launch, launch};
use super::report_options::{ShownResults, shown_results};
use super::series::{Series, SnapshotPaths, grouped, has_number, series};
use super::values::CheckedValues;
use inselberg::{InputDefaults, ParticleGraphParams, VoidParams};
use std::path::PathBuf;

/// `inselberg voids` on one snapshot, checked. It has at least one output or diagnostics.
#[derive(Debug, Clone, PartialEq)]
pub struct VoidsJob {
    /// The files of the input, in their order.
    pub inputs: Vec<PathBuf>,
    /// Defaults for what the input leaves open.
    pub defaults: InputDefaults,
    /// The particles and their neighbours.
    pub graph: ParticleGraphParams,
    /// The parameters of the search.
    pub voids: VoidParams,
    /// The catalogue.
    pub output: Option<PathBuf>,
    /// The folder for yt.
    pub yt: Option<PathBuf>,
    /// The folder for VTK.
    pub vtk: Option<PathBuf>,
    /// Pictures and the report.
    pub shown: ShownResults,
    /// Ranks and threads.
    pub launch: Launch,
}

pub(super) fn voids(raw: &CheckedValues<'_>) -> Result<Series<VoidsJob>, ConfigError> {
    let inputs = raw.paths("input");
    if inputs.is_empty() {
        return Err(raw.missing("input"));
    }
    let (output, shown) = (raw.path("output"), shown_results(raw)?);
    let [yt, vtk] = ["yt", "vtk"].map(|name| raw.path(name));
    let results = [&output, &yt, &vtk, &shown.plot, &shown.report];
    if results.iter().all(|path| path.is_none()) && !raw.switch("diagnostics") {
        return Err(raw.missing("output"));
    }
    let mut voids = raw.params::<VoidParams>()?;
    voids.check().map_err(|error| raw.refused(&error))?;
    voids.keep_density = shown.has_maps();
    let job = VoidsJob {
        inputs: inputs.clone(),
        defaults: raw.params()?,
        graph: raw.filled(ParticleGraphParams::for_voids())?,
        voids,
        output,
        yt,
        vtk,
        shown,
        launch: launch(raw)?,
    };
    let is_numbered = job.clone().results().iter().any(|(_, path)| has_number(path));
    series(raw, job, if is_numbered { grouped(inputs) } else { vec![inputs] })
}

impl SnapshotPaths for VoidsJob {
    fn set_inputs(&mut self, inputs: Vec<PathBuf>) {
        self.inputs = inputs;
    }

    fn results(&mut self) -> Vec<(&'static str, &mut PathBuf)> {
        let files = [
            ("output", &mut self.output),
            ("yt", &mut self.yt),
            ("vtk", &mut self.vtk),
            ("plot", &mut self.shown.plot),
            ("report", &mut self.shown.report),
        ];
        files.into_iter().filter_map(|(name, path)| Some((name, path.as_mut()?))).collect()
    }
}
