//! Where the command line meets friends-of-friends: one thin function a meeting.

use super::fault::CommandError;
use crate::report::{RankReport, Recorder, StageTime, group_counts, peak_memory, table_json, table_text};
use inselberg::executor::Executor;
use inselberg::fof::{FofConfig, FofOutcome, FofRunError, run_fof};
use inselberg_comm::{Comm, Reduce};
use inselberg_io::catalogue::Attribute;
use inselberg_io::particles::{ParticleHeader, ParticleInput};
use inselberg_io::staging::Staged;
use inselberg_tasks::ThreadPool;
use serde_json::{Value, json};
use std::path::Path;

/// Whether the input at `path` can be searched as asked for.
pub fn check(path: &Path, input: &dyn ParticleInput, config: &FofConfig) -> Result<(), CommandError> {
    inselberg::fof::run::check(input.about(), config).map_err(|error| CommandError::about(path, error))
}

/// Collective: finds the groups of the input at `path` with these workers; a bar a stage on stderr if `progress`.
pub fn find(
    path: &Path,
    input: &dyn ParticleInput,
    config: &FofConfig,
    pool: ThreadPool,
    comm: &Comm,
    progress: bool,
) -> Result<(FofOutcome, Recorder), CommandError> {
    let recorder = Recorder::new(progress).with_pulse(comm.pulse());
    let outcome =
        run_fof(input, config, comm, &Executor::new(pool, &recorder)).map_err(|error| match error {
            FofRunError::Read(error) => error.into(),
            FofRunError::Comm(error) => CommandError::ranks(error),
            error => CommandError::about(path, error),
        })?;
    Ok((outcome, recorder))
}

/// The end of a search, as the first rank tells it.
pub struct FofSummary {
    attributes: Vec<(String, Attribute)>,
    stages: Vec<StageTime>,
    peak_memory: Option<u64>,
    linking_length: f64,
    assumed: Assumed,
    n_ranks: usize,
    ranks: Option<RankReport>,
}

impl FofSummary {
    /// Collective: over all ranks.
    pub fn new(
        input: &dyn ParticleInput,
        outcome: &FofOutcome,
        stages: Vec<StageTime>,
        diagnostics: bool,
        comm: &Comm,
    ) -> Result<Self, CommandError> {
        let ranks = match diagnostics {
            true => Some(RankReport::new(comm, &stages, None).map_err(CommandError::ranks)?),
            false => None,
        };
        let memory = comm.all_reduce_counts(&[peak_memory().unwrap_or(0)], Reduce::Max);
        Ok(Self {
            attributes: outcome.catalogue.attributes.clone(),
            stages: ranks.as_ref().map_or(stages.clone(), |ranks| ranks.whole(&stages)),
            ranks,
            peak_memory: memory.map_err(CommandError::ranks)?.first().copied().filter(|bytes| *bytes > 0),
            linking_length: outcome.linking_length,
            assumed: Assumed::new(Some(input.about())),
            n_ranks: comm.n_ranks(),
        })
    }

    /// For people.
    pub fn text(&self) -> String {
        let table = table_text(&group_counts(&self.attributes), "particles", &self.stages, self.peak_memory);
        let ranks = self.ranks.as_ref().map_or(String::new(), |ranks| format!("\n{}", ranks.text()));
        let length = shown(self.linking_length);
        format!("{}{:<18}{length:>15}\n{table}{ranks}", self.assumed.text(), "linking length")
    }

    /// The same for machines.
    pub fn json(&self) -> Value {
        let mut summary =
            table_json(&group_counts(&self.attributes), "particles", &self.stages, self.peak_memory);
        summary["linking_length"] = json!(self.linking_length);
        summary["assumed_units"] = self.assumed.json();
        summary["n_ranks"] = json!(self.n_ranks);
        summary["ranks"] = self.ranks.as_ref().map_or(Value::Null, RankReport::json);
        summary
    }
}

/// Units that are assumed of an input of particles.
pub struct Assumed {
    names: Vec<String>,
    line: Option<String>,
}

impl Assumed {
    /// For an input, if there is one.
    pub fn new(about: Option<&ParticleHeader>) -> Self {
        Self {
            names: about.map_or(Vec::new(), |about| about.assumed_units.clone()),
            line: about.and_then(ParticleHeader::assumption),
        }
    }

    /// A line of a summary; empty where nothing is assumed.
    pub fn text(&self) -> String {
        self.line.as_ref().map_or(String::new(), |line| format!("{:<18}{line}\n", "units"))
    }

    /// The same for machines.
    pub fn json(&self) -> Value {
        json!(self.names)
    }
}

fn shown(length: f64) -> String {
    let short = format!("{length:.6}");
    if (1e-3..1e6).contains(&length) { short } else { format!("{length:.6e}") }
}

/// Collective: draws the picture on the first rank.
#[cfg(feature = "plot")]
pub fn draw(
    path: &Path,
    input: &dyn ParticleInput,
    outcome: FofOutcome,
    comm: &Comm,
) -> Result<Staged, CommandError> {
    use crate::report::plot::{PictureData, stage_plot};
    let catalogue = outcome.catalogue.gather(comm).map_err(CommandError::ranks)?;
    let (Some(projection), Some(catalogue)) = (outcome.projection, catalogue) else {
        return Ok(Staged::default());
    };
    let [x, y] = projection.corner;
    let periodic =
        matches!(catalogue.attribute("periodic"), Some(Attribute::Reals(p)) if p.first() == Some(&1.0));
    let data = PictureData {
        title: title(input, outcome.linking_length),
        subtitle: String::new(),
        projection: projection.values,
        n: projection.n,
        extent: [[x, x + projection.side], [y, y + projection.side]],
        axes: [0, 1],
        periodic: [periodic; 2],
        quantity: "column density along z".into(),
        units: "code_mass / code_length**2".into(),
        catalogue: &catalogue,
    };
    Ok(stage_plot(path, &data)?)
}

/// What the picture is of: the format, the redshift, the linking length.
#[cfg(feature = "plot")]
fn title(input: &dyn ParticleInput, linking_length: f64) -> String {
    let about = input.about();
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

/// Says how to get pictures.
#[cfg(not(feature = "plot"))]
pub fn draw(path: &Path, _: &dyn ParticleInput, _: FofOutcome, _: &Comm) -> Result<Staged, CommandError> {
    super::phew_run::check_picture(path).map(|()| Staged::default())
}
