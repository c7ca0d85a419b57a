//! The summary of a search among particles: for groups, and for voids.

use super::driver::{AssumedUnits, RunCosts, RunSummary, counts_in_words, notes_text};
use super::fault::CommandError;
#[cfg(feature = "plot")]
use super::pictures::RunAbout;
use super::search::SearchRun;
use crate::config::Launch;
use crate::report::{Count, table_json, table_text};
use serde_json::{Value, json};
#[cfg(feature = "plot")]
use std::path::PathBuf;

/// What a search says of itself.
pub struct ParticleSummary {
    /// Counts by name.
    pub counts: Vec<Count>,
    /// The cost.
    pub costs: RunCosts,
    /// Notes, and what is assumed.
    pub warnings: Vec<String>,
    /// The counts of the objects found, each with its words.
    shown: Vec<(&'static str, &'static str)>,
    /// Of groups.
    linking_length: Option<f64>,
    assumed: AssumedUnits,
    n_ranks: usize,
    /// What a user may not expect of the input or the result.
    notes: Vec<String>,
}

impl ParticleSummary {
    /// Collective: over all ranks. `shown` are names of counts and how a log calls them.
    pub fn new(
        counts: Vec<Count>,
        shown: &[(&'static str, &'static str)],
        notes: Vec<String>,
        assumed: AssumedUnits,
        launch: &Launch,
        run: &SearchRun<'_>,
    ) -> Result<Self, CommandError> {
        Ok(Self {
            costs: RunCosts::new(run.recorder, run.pool, None, launch, run.comm)?,
            counts,
            warnings: notes.iter().cloned().chain(assumed.sentence()).collect(),
            shown: shown.to_vec(),
            linking_length: None,
            assumed,
            n_ranks: run.comm.n_ranks(),
            notes,
        })
    }

    /// With the linking length of groups.
    pub fn with_linking_length(self, length: f64) -> Self {
        Self { linking_length: Some(length), ..self }
    }

    /// What the search says of itself in pictures and reports.
    #[cfg(feature = "plot")]
    pub fn about<'a>(&'a self, inputs: &'a [PathBuf]) -> RunAbout<'a> {
        let names: Vec<_> = inputs.iter().map(|path| path.display().to_string()).collect();
        RunAbout {
            input: &inputs[0],
            facts: vec![("Input", names.join(" "))],
            warnings: self.warnings.clone(),
            counts: self.counts.clone(),
            code_density: None,
            things: "particles",
            costs: &self.costs,
        }
    }
}

/// A linking length for people.
pub fn length_text(length: f64) -> String {
    let short = format!("{length:.6}");
    if (1e-3..1e6).contains(&length) { short } else { format!("{length:.6e}") }
}

impl RunSummary for ParticleSummary {
    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn brief(&self) -> String {
        counts_in_words(&self.counts, &self.shown)
    }

    fn text(&self) -> String {
        let table = table_text(&self.counts, "particles", &self.costs.stages, self.costs.peak_memory);
        let line = |length| format!("{:<18}{:>15}\n", "linking length", length_text(length));
        let length = self.linking_length.map_or(String::new(), line);
        format!(
            "{}{}{length}{table}{}",
            notes_text(&self.notes),
            self.assumed.text(),
            self.costs.tables_text()
        )
    }

    fn json(&self) -> Value {
        let mut summary = table_json(&self.counts, "particles", &self.costs.stages, self.costs.peak_memory);
        if let Some(length) = self.linking_length {
            summary["linking_length"] = json!(length);
        }
        summary["assumed_units"] = self.assumed.json();
        summary["notes"] = json!(self.notes);
        summary["n_ranks"] = json!(self.n_ranks);
        self.costs.add_tables(&mut summary);
        summary
    }
}
