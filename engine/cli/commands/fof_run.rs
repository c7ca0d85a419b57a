//! Calls of the library for `inselberg fof`, its summary and its picture.

use super::driver::{AssumedUnits, RunCosts, agreed_error};
use super::fault::CommandError;
use super::flags::NamesFlags;
use crate::config::FofJob;
use crate::report::{RankReport, StageTime, group_counts, table_json, table_text};
use inselberg::fof::FofConfig;
use inselberg::{FofGroups, OpenParticles};
use inselberg_comm::Comm;
use inselberg_io::InputFacts;
use inselberg_io::catalogue::{Attribute, Catalogue};
use inselberg_io::collective::shared;
use inselberg_io::particles::{InputDefaults, ParticleHeader, read_particle_headers_with};
use inselberg_io::staging::Staged;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Collective: reads the headers of the particles in these files.
pub fn read_headers(
    paths: &[PathBuf],
    defaults: &InputDefaults,
    comm: &Comm,
) -> Result<InputFacts, CommandError> {
    shared(comm, || read_particle_headers_with(paths, defaults)).map_err(agreed_error)
}

/// The configuration of a job, if the input can be searched with it.
pub fn checked(job: &FofJob, input: &OpenParticles) -> Result<FofConfig, CommandError> {
    let path = &job.inputs[0];
    let config = job.types.config(&job.fof).map_err(|error| CommandError::of_call(path, &error))?;
    inselberg::fof::run::check(input.reader().about(), &config)
        .map_err(|error| CommandError::about(path, error.with_flags()))?;
    Ok(config)
}

/// The summary of a search.
pub struct FofSummary {
    attributes: Vec<(String, Attribute)>,
    costs: RunCosts,
    linking_length: f64,
    assumed: AssumedUnits,
    n_ranks: usize,
}

impl FofSummary {
    /// Collective: over all ranks.
    pub fn new(
        about: &ParticleHeader,
        groups: &FofGroups,
        stages: Vec<StageTime>,
        diagnostics: bool,
        comm: &Comm,
    ) -> Result<Self, CommandError> {
        Ok(Self {
            costs: RunCosts::new(stages, None, diagnostics, comm)?,
            attributes: groups.attributes().to_vec(),
            linking_length: groups.linking_length(),
            assumed: AssumedUnits::new(Some(about)),
            n_ranks: comm.n_ranks(),
        })
    }

    /// As text.
    pub fn text(&self) -> String {
        let RunCosts { stages, ranks, peak_memory } = &self.costs;
        let table = table_text(&group_counts(&self.attributes), "particles", stages, *peak_memory);
        let ranks = ranks.as_ref().map_or(String::new(), |ranks| format!("\n{}", ranks.text()));
        let length = shown(self.linking_length);
        format!("{}{:<18}{length:>15}\n{table}{ranks}", self.assumed.text(), "linking length")
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        let RunCosts { stages, ranks, peak_memory } = &self.costs;
        let mut summary = table_json(&group_counts(&self.attributes), "particles", stages, *peak_memory);
        summary["linking_length"] = json!(self.linking_length);
        summary["assumed_units"] = self.assumed.json();
        summary["n_ranks"] = json!(self.n_ranks);
        summary["ranks"] = ranks.as_ref().map_or(Value::Null, RankReport::json);
        summary
    }
}

fn shown(length: f64) -> String {
    let short = format!("{length:.6}");
    if (1e-3..1e6).contains(&length) { short } else { format!("{length:.6e}") }
}

/// Draws the picture on rank 0, which has the projection and the catalogue.
#[cfg(feature = "plot")]
pub fn draw(
    path: &Path,
    about: &ParticleHeader,
    groups: &FofGroups,
    catalogue: Option<&Catalogue>,
) -> Result<Staged, CommandError> {
    use crate::report::plot::{PictureData, stage_plot};
    let (Some(projection), Some(catalogue)) = (groups.projection(), catalogue) else {
        return Ok(Staged::default());
    };
    let [x, y] = projection.corner;
    let periodic =
        matches!(catalogue.attribute("periodic"), Some(Attribute::Reals(p)) if p.first() == Some(&1.0));
    let data = PictureData {
        title: title(about, groups.linking_length()),
        subtitle: String::new(),
        projection: projection.values.clone(),
        n: projection.n,
        extent: [[x, x + projection.side], [y, y + projection.side]],
        axes: [0, 1],
        periodic: [periodic; 2],
        quantity: "column density along z".into(),
        units: "code_mass / code_length**2".into(),
        catalogue,
    };
    Ok(stage_plot(path, &data)?)
}

/// The title of the picture: format, redshift, linking length.
#[cfg(feature = "plot")]
fn title(about: &ParticleHeader, linking_length: f64) -> String {
    let redshift = about.cosmology.as_ref().map(|c| match c.aexp {
        a if a > 1.0 => format!("a = {a:.3}"),
        a => format!("z = {:.2}", 1.0 / a - 1.0),
    });
    let length = format!("linking length {}", shown(linking_length).trim_end_matches('0'));
    [Some(about.format.to_string()), redshift, Some(length)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(",  ")
}

/// The error of a build without pictures.
#[cfg(not(feature = "plot"))]
pub fn draw(
    path: &Path,
    _: &ParticleHeader,
    _: &FofGroups,
    _: Option<&Catalogue>,
) -> Result<Staged, CommandError> {
    Err(super::driver::no_pictures(path))
}
