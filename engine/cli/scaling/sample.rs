//! The summary of one run: the JSON of `--json --diagnostics`.

use crate::report::RunHost;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Seconds of all stages.
    pub seconds: f64,
    /// The peak memory of its largest process.
    pub peak_memory_bytes: Option<u64>,
    /// The stages in their order.
    pub stages: Vec<SampleStage>,
    /// Counts: `test_cells`, `peaks`, ...
    #[serde(default)]
    pub totals: BTreeMap<String, Option<u64>>,
    /// Clumps that merge at each level of substructure, from level 1.
    #[serde(default)]
    pub merges_per_level: Vec<u64>,
    /// Load and traffic.
    pub ranks: RankSamples,
}

/// A stage over all ranks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SampleStage {
    /// Its name.
    pub name: String,
    /// Seconds of the slowest rank.
    pub seconds: f64,
    /// Processed cells, particles or members of all ranks.
    #[serde(default, alias = "cells", alias = "particles", alias = "members")]
    pub items: u64,
}

/// Load and traffic of the ranks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankSamples {
    /// How many.
    pub n_ranks: usize,
    /// Their hosts.
    #[serde(default)]
    pub hosts: Vec<RunHost>,
    /// The balance of peaks and test cells; empty for groups.
    #[serde(default)]
    pub balance: BTreeMap<String, f64>,
    /// Work in wall-clock time, by stage.
    pub load: Vec<Load>,
    /// Messages, and the processor time if it was measured, by stage.
    pub traffic: Vec<SampleTraffic>,
}

/// The load of a stage.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Load {
    /// The stage.
    pub stage: String,
    /// Mean seconds per rank.
    pub mean_seconds: f64,
    /// Seconds of the slowest.
    pub most_seconds: f64,
    /// Mean seconds outside of calls.
    pub mean_work_seconds: f64,
    /// The most seconds outside of calls.
    pub most_work_seconds: f64,
    /// The least seconds in calls.
    pub least_seconds_in_calls: f64,
}

/// What a run and all other programs took of the host meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HostUse {
    /// Processor seconds of the run.
    pub processor_seconds: f64,
    /// Processors that other programs kept busy.
    pub other_processors: f64,
}

/// The traffic of a stage; `most_` is the largest value of any rank.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are clear")]
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
    /// Processor seconds of each rank outside of calls; empty if not measured.
    #[serde(default)]
    pub work_seconds: Vec<f64>,
}

/// A run printed something other than its summary.
#[derive(Debug, thiserror::Error)]
#[error("the run did not print the expected summary: {0}")]
pub struct SampleError(#[from] serde_json::Error);

impl Sample {
    /// From the text that a run printed.
    ///
    /// # Errors
    /// It is not the output of `--json --diagnostics`.
    pub fn read(text: &str) -> Result<Self, SampleError> {
        Ok(serde_json::from_str(text)?)
    }

    /// Most work over the mean, of all stages together.
    pub fn imbalance(&self) -> f64 {
        let sum = |of: fn(&Load) -> f64| self.ranks.load.iter().map(of).sum::<f64>();
        ratio(sum(|load| load.most_work_seconds), sum(|load| load.mean_work_seconds))
    }

    /// The size of the input: test cells or particles, or the most that a stage processed.
    pub fn items(&self) -> u64 {
        let total = ["test_cells", "particles"].iter().find_map(|name| *self.totals.get(*name)?);
        total.unwrap_or_else(|| self.stages.iter().map(|stage| stage.items).max().unwrap_or(0))
    }

    /// Whether any host has fewer processors than its ranks have threads.
    pub fn shares_processors(&self, threads: usize) -> bool {
        self.ranks.hosts.iter().any(|host| host.ranks * threads > host.processors)
    }

    /// A number of all stages together.
    pub fn total(&self, of: impl Fn(&SampleTraffic) -> u64) -> u64 {
        self.ranks.traffic.iter().map(of).sum()
    }
}

/// `a` over `b`; 1 where both are 0.
pub(super) fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 1.0 }
}

/// The stage of a row of messages: a numbered step belongs to its stage.
pub(super) fn step_of(name: &str) -> &str {
    match name.rsplit_once(' ') {
        Some((stage, number)) if number.parse::<u64>().is_ok() => stage,
        _ => name,
    }
}
