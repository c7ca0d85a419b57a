//! What one run said of itself: the JSON of `--json --diagnostics`.

use serde::Deserialize;
use std::collections::BTreeMap;

/// A run.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Sample {
    /// Seconds of all stages.
    pub seconds: f64,
    /// The most memory that a process of it held.
    pub peak_memory_bytes: Option<u64>,
    /// The stages in their order.
    pub stages: Vec<SampleStage>,
    /// What was counted; `test_cells`, `peaks`, ...
    #[serde(default)]
    pub totals: BTreeMap<String, Option<u64>>,
    /// Load and traffic.
    pub ranks: RankSamples,
}

/// A stage over all ranks.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SampleStage {
    /// Its name.
    pub name: String,
    /// Seconds of the slowest rank.
    pub seconds: f64,
}

/// Load and traffic of the ranks.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RankSamples {
    /// How many.
    pub n_ranks: usize,
    /// How peaks and test cells lie on them; empty where there are none.
    #[serde(default)]
    pub balance: BTreeMap<String, f64>,
    /// Work by the clock on the wall, by stage.
    pub load: Vec<Load>,
    /// Messages, and the processor time where it was counted, by stage.
    pub traffic: Vec<SampleTraffic>,
}

/// The load of a stage.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Load {
    /// The stage.
    pub stage: String,
    /// Seconds of a rank in the mean.
    pub mean_seconds: f64,
    /// Seconds of the slowest.
    pub most_seconds: f64,
}

/// What crossed in a stage; `most_` is of the rank with most, each by itself.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct SampleTraffic {
    pub stage: String,
    pub exchanges: u64,
    pub messages: u64,
    pub bytes: u64,
    pub other_calls: u64,
    pub most_exchanges_of_neighbours: u64,
    pub most_messages: u64,
    pub most_bytes: u64,
    pub most_received: u64,
    pub most_received_bytes: u64,
    pub most_bytes_of_other_calls: u64,
    /// Processor seconds of each rank outside of calls; empty where they were not counted.
    #[serde(default)]
    pub work_seconds: Vec<f64>,
}

/// Why what a run said is of no use.
#[derive(Debug, thiserror::Error)]
#[error("what the run said is not the summary that was expected: {0}")]
pub struct SampleError(#[from] serde_json::Error);

impl Sample {
    /// From the text that a run printed.
    ///
    /// # Errors
    /// It is not what `--json --diagnostics` prints.
    pub fn read(text: &str) -> Result<Self, SampleError> {
        Ok(serde_json::from_str(text)?)
    }

    /// Slowest rank over the mean, of all stages together.
    pub fn imbalance(&self) -> f64 {
        let sum = |of: fn(&Load) -> f64| self.ranks.load.iter().map(of).sum::<f64>();
        ratio(sum(|load| load.most_seconds), sum(|load| load.mean_seconds))
    }

    /// A number of all stages together.
    pub fn total(&self, of: impl Fn(&SampleTraffic) -> u64) -> u64 {
        self.ranks.traffic.iter().map(of).sum()
    }
}

/// `a` over `b`; 1 where both are nothing.
pub(super) fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 1.0 }
}
