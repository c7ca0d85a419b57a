//! Calls of the library for `inselberg fof`, its summary and its picture.

use super::driver::{AssumedUnits, RunCosts, RunSummary, agreed_error, notes_text};
use super::fault::CommandError;
use super::grouped::grouped;
#[cfg(feature = "plot")]
use super::pictures;
use crate::config::FofJob;
use crate::report::{RankReport, StageTime, group_counts, table_json, table_text};
use inselberg::fof::FofConfig;
#[cfg(feature = "plot")]
use inselberg::stage::Stage;
use inselberg::{FofGroups, OpenParticles};
use inselberg_comm::Comm;
use inselberg_io::InputFacts;
use inselberg_io::catalogue::Attribute;
#[cfg(feature = "plot")]
use inselberg_io::catalogue::units::scale_of;
use inselberg_io::collective::shared;
use inselberg_io::particles::{InputDefaults, ParticleHeader, read_particle_headers_with};
use serde_json::{Value, json};
use std::path::PathBuf;

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
        .map_err(|error| CommandError::of_input(path, &error))?;
    Ok(config)
}

/// The summary of a search.
pub struct FofSummary {
    attributes: Vec<(String, Attribute)>,
    costs: RunCosts,
    linking_length: f64,
    assumed: AssumedUnits,
    n_ranks: usize,
    notes: Vec<String>,
    warnings: Vec<String>,
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
        let table = groups.table("Groups").expect("a catalogue of groups has a table");
        let is_used = ["bound_mass", "mass_200_crit"].iter().any(|name| table.column(name).is_some());
        let assumed =
            AssumedUnits::new(Some(about)).with_cosmology(about.cosmology.as_ref().filter(|_| is_used));
        let notes = groups.warnings();
        let warnings = notes.iter().cloned().chain(assumed.sentence()).collect();
        Ok(Self {
            costs: RunCosts::new(stages, None, diagnostics, comm)?,
            attributes: groups.attributes().to_vec(),
            linking_length: groups.linking_length(),
            assumed,
            notes,
            warnings,
            n_ranks: comm.n_ranks(),
        })
    }
}

impl RunSummary for FofSummary {
    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn brief(&self) -> String {
        let counts = group_counts(&self.attributes);
        let shown = counts.iter().filter(|(name, _)| ["groups", "in groups"].contains(name));
        let count = |(name, n): &(&str, Option<i64>)| {
            n.map(|n| match *name {
                "groups" => format!("{} groups", grouped(n.cast_unsigned())),
                name => format!("{} particles {name}", grouped(n.cast_unsigned())),
            })
        };
        shown.filter_map(count).collect::<Vec<_>>().join(", ")
    }

    fn text(&self) -> String {
        let RunCosts { stages, ranks, peak_memory } = &self.costs;
        let table = table_text(&group_counts(&self.attributes), "particles", stages, *peak_memory);
        let ranks = ranks.as_ref().map_or(String::new(), |ranks| format!("\n{}", ranks.text()));
        let length = shown(self.linking_length);
        let notes = notes_text(&self.notes);
        format!("{notes}{}{:<18}{length:>15}\n{table}{ranks}", self.assumed.text(), "linking length")
    }

    fn json(&self) -> Value {
        let RunCosts { stages, ranks, peak_memory } = &self.costs;
        let mut summary = table_json(&group_counts(&self.attributes), "particles", stages, *peak_memory);
        summary["linking_length"] = json!(self.linking_length);
        summary["assumed_units"] = self.assumed.json();
        summary["notes"] = json!(self.notes);
        summary["n_ranks"] = json!(self.n_ranks);
        summary["ranks"] = ranks.as_ref().map_or(Value::Null, RankReport::json);
        summary
    }
}

fn shown(length: f64) -> String {
    let short = format!("{length:.6}");
    if (1e-3..1e6).contains(&length) { short } else { format!("{length:.6e}") }
}

/// Collective: the maps of a search. The particles are then freed.
#[cfg(feature = "plot")]
pub fn maps(job: &FofJob, groups: &mut FofGroups, comm: &Comm) -> Result<pictures::ShownMaps, CommandError> {
    let _maps = Stage::within("picture", comm);
    let failed = |error| CommandError::of_call(&job.inputs[0], &error);
    let lists = groups.gather(0).map_err(failed)?;
    let (space, finest) = groups.map_box().map_err(failed)?;
    let scale = scale_of(groups.attributes());
    let about = (job.inputs[0].as_path(), &job.shown, &scale);
    let (views, rows) = pictures::views(about, lists.as_ref(), (&space, finest), comm)?;
    let maps = groups.maps(&views).map_err(failed)?;
    groups.forget_density();
    Ok(pictures::ShownMaps::new(space, maps, rows))
}

/// The description of a search in pictures and reports.
#[cfg(feature = "plot")]
pub fn about<'a>(
    job: &FofJob,
    about: &ParticleHeader,
    groups: &FofGroups,
    summary: &'a FofSummary,
) -> pictures::RunAbout<'a> {
    let inputs: Vec<_> = job.inputs.iter().map(|path| path.display().to_string()).collect();
    let warnings = summary.warnings.clone();
    pictures::RunAbout {
        title: title(about, groups.linking_length()),
        subtitle: String::new(),
        facts: vec![("Input", inputs.join(" "))],
        warnings,
        counts: group_counts(&summary.attributes),
        code_density: None,
        things: "particles",
        costs: &summary.costs,
    }
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
