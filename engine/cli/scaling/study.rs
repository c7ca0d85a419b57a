//! A whole study, and the error of its model.

use super::measured::{Configuration, Repeats};
use super::model::Modelled;
use super::network::Network;
use serde::Serialize;

/// The provenance of a study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudyProvenance {
    /// The program and its version.
    pub version: String,
    /// The start of the study, in UTC.
    pub date: String,
    /// Processors and memory of the host.
    pub machine: String,
    /// The command line.
    pub command: String,
    /// The input of every run.
    pub input: String,
    /// The command lines of the runs.
    pub runs: Vec<String>,
}

/// A study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Study {
    /// The word of the command.
    pub of: String,
    /// Its provenance.
    pub provenance: StudyProvenance,
    /// Real runs.
    pub configurations: Vec<Configuration>,
    /// The network between modelled ranks.
    pub network: Network,
    /// Modelled runs.
    pub modelled: Vec<Modelled>,
    /// The network between real ranks, for the check.
    pub check_network: Network,
    /// The model compared with real runs.
    pub checks: Vec<Check>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// The model compared with real runs on as many ranks with one thread each.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// Number of ranks.
    pub ranks: usize,
    /// Whether each real rank had its own processor, so that times are comparable.
    pub has_processors: bool,
    /// Modelled seconds, of the stages that are modelled.
    pub modelled_seconds: f64,
    /// Real seconds of these stages.
    pub real_seconds: Repeats,
    /// Modelled time over the real median, minus 1; null if ranks shared processors.
    pub error: Option<f64>,
    /// Processor seconds of work of all ranks, in the model.
    pub modelled_work: f64,
    /// The same in a real run with measured work; null if there was none.
    pub real_work: Option<f64>,
    /// Most work over the mean, in the model.
    pub modelled_imbalance: f64,
    /// The same in that real run.
    pub real_imbalance: Option<f64>,
}

/// Compares a model with the configuration of as many ranks, and with the model of a real run with measured
/// work.
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
