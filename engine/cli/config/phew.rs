//! `inselberg phew`, checked.

use super::ConfigError;
use super::from_particles::{ParticleUse, from_particles};
use super::launch::{Launch, launch};
use super::library::only_in;
use super::observer_options::{ObserverFiles, observer_files};
use super::report_options::{ShownResults, shown_results};
use super::series::{Series, SnapshotPaths, series};
use super::tracked::{check_catalogue, following};
use super::values::CheckedValues;
use super::viewer_options::{dendrogram_of_phew, vtk_of_phew};
use inselberg::bound::PropertyWords;
use inselberg::{FieldChoice, FieldDefaults, InputDefaults, PhewParams, PotentialChoice, Rules};
use inselberg_io::catalogue::VtkCells;
use std::path::PathBuf;

/// `inselberg phew` on one snapshot, checked. It has at least one output or diagnostics.
#[derive(Debug, Clone, PartialEq)]
pub struct PhewJob {
    /// The snapshot.
    pub input: PathBuf,
    /// The density that is segmented.
    pub field: FieldChoice,
    /// The parameters of the search.
    pub phew: PhewParams,
    /// The use of particles.
    pub particles: ParticleUse,
    /// Defaults for facts that the particles do not state.
    pub defaults: InputDefaults,
    /// Defaults for facts that the cells do not state.
    pub grid: FieldDefaults,
    /// The catalogue.
    pub output: Option<PathBuf>,
    /// The folder of RAMSES-style text files.
    pub ramses_text: Option<PathBuf>,
    /// The file in the layout of SOAP.
    pub soap: Option<PathBuf>,
    /// The folder for yt.
    pub yt: Option<PathBuf>,
    /// The folder for VTK, and the cells that it gets.
    pub vtk: Option<(PathBuf, VtkCells)>,
    /// The dendrogram of the cells.
    pub dendrogram: Option<PathBuf>,
    /// Files for observers.
    pub observers: ObserverFiles,
    /// Pictures and reports.
    pub shown: ShownResults,
    /// Ranks and threads.
    pub launch: Launch,
    /// The trace of the run.
    pub trace: Option<PathBuf>,
    /// The graphs of tasks.
    pub task_graph: Option<PathBuf>,
}

pub(super) fn phew(raw: &CheckedValues<'_>) -> Result<Series<PhewJob>, ConfigError> {
    let inputs = raw.paths("input");
    let input = inputs.first().cloned().ok_or_else(|| raw.missing("input"))?;
    let (output, ramses_text, shown) = (raw.path("output"), raw.path("ramses-text"), shown_results(raw)?);
    let no_diagnostics = !raw.switch("diagnostics");
    let (soap, yt, vtk) = (raw.path("soap"), raw.path("yt"), vtk_of_phew(raw)?);
    let (dendrogram, observers) = (dendrogram_of_phew(raw)?, observer_files(raw)?);
    let paths =
        [&output, &ramses_text, &shown.plot, &shown.report, &soap, &yt, &dendrogram, &observers.labels];
    let is_nothing = paths.iter().all(|path| path.is_none()) && vtk.is_none() && observers.regions.is_none();
    if is_nothing && no_diagnostics {
        return Err(raw.missing("output"));
    }
    let field = FieldChoice::from(raw.text_or_default("field").as_str());
    let mut phew = raw.params::<PhewParams>()?;
    let particles = from_particles(raw, &field)?;
    check_bound(raw, &phew)?;
    let checked = if particles.is_forced { phew.check() } else { phew.check_on_cells() };
    checked.map_err(|error| raw.refused(&error))?;
    let needs_cells = vtk.as_ref().is_some_and(|(_, cells)| *cells != VtkCells::None);
    phew.with_cells |= needs_cells || dendrogram.is_some() || observers.labels.is_some();
    phew.keep_density = shown.has_maps();
    let job = PhewJob {
        input,
        particles,
        defaults: raw.params()?,
        grid: grid(raw)?,
        field,
        phew,
        output,
        ramses_text,
        soap,
        yt,
        vtk,
        dendrogram,
        observers,
        shown,
        launch: launch(raw)?,
        trace: raw.path("trace"),
        task_graph: raw.path("task-graph"),
    };
    check_catalogue(raw, &job.phew.tracks, job.output.as_ref())?;
    let series = series(raw, job, inputs.into_iter().map(|input| vec![input]).collect())?;
    Ok(following(series, |job| (&mut job.phew.tracks, job.output.as_ref())))
}

impl SnapshotPaths for PhewJob {
    fn set_inputs(&mut self, mut inputs: Vec<PathBuf>) {
        self.input = inputs.pop().expect("a snapshot with cells has one path");
    }

    fn results(&mut self) -> Vec<(&'static str, &mut PathBuf)> {
        let files = [
            ("output", &mut self.output),
            ("ramses-text", &mut self.ramses_text),
            ("soap", &mut self.soap),
            ("yt", &mut self.yt),
            ("dendrogram", &mut self.dendrogram),
            ("labels-fits", &mut self.observers.labels),
            ("plot", &mut self.shown.plot),
            ("report", &mut self.shown.report),
            ("trace", &mut self.trace),
            ("task-graph", &mut self.task_graph),
        ];
        let files = files.into_iter().filter_map(|(name, path)| Some((name, path.as_mut()?)));
        let regions = self.observers.regions.as_mut().map(|path| ("regions", path));
        files.chain(regions).chain(self.vtk.as_mut().map(|(folder, _)| ("vtk", folder))).collect()
    }
}

/// Values for facts that the cells of an input do not state.
fn grid(raw: &CheckedValues<'_>) -> Result<FieldDefaults, ConfigError> {
    let grid = raw.params::<FieldDefaults>()?;
    let given = only_in(&grid, &grid.cosmology).into_iter().find(|name| raw.is_flag(name));
    match (given, made_of_particles(raw)) {
        (Some(name), Some(made)) => {
            Err(raw.unfit(name, &raw.shown(name), &format!("it for cells, without --{made}")))
        }
        _ => Ok(grid),
    }
}

/// The mesh or graph from particles, if requested.
fn made_of_particles(raw: &CheckedValues<'_>) -> Option<&'static str> {
    ["mesh-from-particles", "particle-graph"].into_iter().find(|name| raw.switch(name))
}

/// Checks that properties of members requested on the command line can be computed.
fn check_bound(raw: &CheckedValues<'_>, phew: &PhewParams) -> Result<(), ConfigError> {
    let (bound, made) = (&phew.bound, made_of_particles(raw));
    if let (true, Some(name)) = (bound.gas, made) {
        let expected = &format!("the gas cells of an output, without --{name}");
        return Err(raw.unfit("properties", &raw.shown("properties"), expected));
    }
    match bound.unbinding() {
        None => check_without_unbinding(raw, bound.gas),
        Some(PotentialChoice::Ramses) if made.is_some() => {
            let expected = "the cells of an output, not particles alone";
            Err(raw.unfit("potential", "ramses", expected))
        }
        Some(PotentialChoice::Ramses) if phew.rules == Rules::Ramses => {
            const OF_ENERGIES: [&str; 3] = ["potential-from", "no-thermal-energy", "softening"];
            match OF_ENERGIES.into_iter().find(|name| raw.is_flag(name)) {
                Some(name) => Err(raw.unfit(name, &raw.shown(name), "it with --potential tree or spherical")),
                None => Ok(()),
            }
        }
        Some(_) => Ok(()),
    }
}

/// Checks that no option on the command line needs unbinding.
fn check_without_unbinding(raw: &CheckedValues<'_>, gas: bool) -> Result<(), ConfigError> {
    const OF_UNBINDING: [&str; 7] = [
        "with-members",
        "tracks",
        "potential-from",
        "no-thermal-energy",
        "softening",
        "duplicate-ids",
        "soap",
    ];
    if let Some(name) = OF_UNBINDING.into_iter().find(|name| raw.is_flag(name)) {
        return Err(raw.unfit(name, &raw.shown(name), "--unbind as well"));
    }
    let words = raw.text("properties").and_then(|text| text.parse().ok());
    if raw.is_flag("properties") && words.is_some_and(|words: PropertyWords| words.is_of_bound()) {
        let expected = "--unbind as well, or gas alone";
        return Err(raw.unfit("properties", &raw.shown("properties"), expected));
    }
    if raw.is_flag("gamma") && !gas {
        return Err(raw.unfit("gamma", &raw.shown("gamma"), "--unbind or --properties gas as well"));
    }
    Ok(())
}
