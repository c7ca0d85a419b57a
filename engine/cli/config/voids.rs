//! `inselberg voids`, checked.

use super::ConfigError;
use super::fof::{input_defaults, types};
use super::launch::{Launch, launch};
use super::report_options::{ShownResults, shown_results};
use super::series::{Series, SnapshotPaths, grouped, has_number, series};
use super::values::CheckedValues;
use super::void_options::RADIUS;
use inselberg::{ParticleGraphParams, VoidParams};
use inselberg_io::particles::{InputDefaults, N_KINDS};
use inselberg_kernels::graph::MOST_NEIGHBOURS;
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
    /// Which voids are found.
    pub voids: VoidParams,
    /// The catalogue.
    pub output: Option<PathBuf>,
    /// What people look at.
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
    if output.is_none() && shown.plot.is_none() && !raw.switch("diagnostics") {
        return Err(raw.missing("output"));
    }
    let mut voids = params(raw)?;
    voids.keep_density = shown.has_maps();
    let job = VoidsJob {
        inputs: inputs.clone(),
        defaults: input_defaults(raw)?,
        graph: graph(raw)?,
        voids,
        output,
        shown,
        launch: launch(raw)?,
    };
    let is_numbered = job.clone().results().iter().any(|(_, path)| has_number(path));
    series(raw, job, if is_numbered { grouped(inputs) } else { vec![inputs] })
}

/// The thresholds, checked against each other.
fn params(raw: &CheckedValues<'_>) -> Result<VoidParams, ConfigError> {
    let density = raw.real("density-threshold", |x| x > 0.0, "a finite number above 0")?;
    let wall = raw.real_or_default("wall-threshold", |x| x >= 0.0, "a finite number, 0 or more")?;
    if let Some(density) = density.filter(|density| wall > *density) {
        let expected = format!("at most the density threshold {density}");
        return Err(raw.unfit("wall-threshold", &wall.to_string(), &expected));
    }
    let relevance = raw.real_or_default("relevance-threshold", |x| x >= 0.0, "a finite ratio, 0 or more")?;
    let mut params = VoidParams::default().relevance(relevance);
    (params.density, params.wall) = (density, Some(wall).filter(|wall| *wall > 0.0));
    params.radius = raw.real_or_default("min-radius", |x| x >= 0.0, RADIUS)?;
    params.min_particles = raw.count_or_default("min-particles", |_| true, "a number of particles")?;
    params.with_particles = raw.switch("with-particles");
    Ok(params)
}

fn graph(raw: &CheckedValues<'_>) -> Result<ParticleGraphParams, ConfigError> {
    let (kinds, _) = raw.kinds("particle-types");
    if kinds == [false; N_KINDS] {
        let expected = "at least one kind of particles";
        return Err(raw.unfit("particle-types", &raw.shown("particle-types"), expected));
    }
    let most = MOST_NEIGHBOURS as u64;
    let neighbours =
        raw.count_or_default("neighbours", |n| (1..=most).contains(&n), &format!("1 to {most}"))?;
    let mut graph = ParticleGraphParams::default().neighbours(neighbours as usize).types(&types(&kinds));
    graph.given_density = raw.switch("given-density");
    graph.side = raw.real("box", |x| x > 0.0, "a finite side above 0")?;
    Ok(graph)
}

impl SnapshotPaths for VoidsJob {
    fn set_inputs(&mut self, inputs: Vec<PathBuf>) {
        self.inputs = inputs;
    }

    fn results(&mut self) -> Vec<(&'static str, &mut PathBuf)> {
        let files = [("output", &mut self.output), ("plot", &mut self.shown.plot)];
        files.into_iter().filter_map(|(name, path)| Some((name, path.as_mut()?))).collect()
    }
}
