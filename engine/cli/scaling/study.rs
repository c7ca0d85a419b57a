//! A whole study, and how far the model is off.

use super::measured::{Configuration, Repeats};
use super::model::Modelled;
use super::network::Network;
use serde::Serialize;

/// Where a study comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudyProvenance {
    /// The program and its version.
    pub version: String,
    /// When the study was begun, in UTC.
    pub date: String,
    /// Processors and memory of the host.
    pub machine: String,
    /// What was typed.
    pub command: String,
    /// What every run works on.
    pub input: String,
    /// Lines of the kinds of runs, as they were started.
    pub runs: Vec<String>,
}

/// Everything that a study found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Study {
    /// `phew` or `fof`.
    pub of: String,
    /// Where it comes from.
    pub provenance: StudyProvenance,
    /// Real runs.
    pub configurations: Vec<Configuration>,
    /// What modelled ranks are connected by.
    pub network: Network,
    /// Modelled runs.
    pub modelled: Vec<Modelled>,
    /// What the real ranks are connected by, for the check.
    pub check_network: Network,
    /// The model against real runs.
    pub checks: Vec<Check>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// The model against real runs on as many ranks with one thread each.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// Number of ranks.
    pub ranks: usize,
    /// Whether each real rank had a processor to itself, so that times can be compared.
    pub has_processors: bool,
    /// Modelled seconds, of the stages that are modelled.
    pub modelled_seconds: f64,
    /// Real seconds of these stages.
    pub real_seconds: Repeats,
    /// Modelled over real median, less one; null where ranks shared processors.
    pub error: Option<f64>,
    /// Processor seconds of work of all ranks, in the model.
    pub modelled_work: f64,
    /// The same in a real run whose work was counted; null where there was none.
    pub real_work: Option<f64>,
    /// Most work over the mean, in the model.
    pub modelled_imbalance: f64,
    /// The same in that real run.
    pub real_imbalance: Option<f64>,
}

/// The check of a model against the configuration with as many ranks, and the same model of a real run whose work
/// was counted.
pub fn check(
    model: &Modelled,
    real: &Configuration,
    counted: Option<&Modelled>,
    n_processors: usize,
) -> Check {
    let is_modelled = |stage: &str| model.stages.iter().any(|s| s.stage == stage);
    let stages = real.stages.iter().filter(|stage| is_modelled(&stage.stage));
    let mut seconds = Repeats { least: 0.0, median: 0.0, most: 0.0 };
    for stage in stages {
        seconds.least += stage.seconds.least;
        seconds.median += stage.seconds.median;
        seconds.most += stage.seconds.most;
    }
    let has_processors = real.ranks * real.threads <= n_processors;
    let error = (has_processors && seconds.median > 0.0).then(|| model.seconds / seconds.median - 1.0);
    Check {
        ranks: real.ranks,
        has_processors,
        modelled_seconds: model.seconds,
        real_seconds: seconds,
        error,
        modelled_work: model.whole_work_seconds,
        real_work: counted.map(|counted| counted.whole_work_seconds),
        modelled_imbalance: model.imbalance,
        real_imbalance: counted.map(|counted| counted.imbalance),
    }
}
