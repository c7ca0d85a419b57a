//! Real runs: medians over repeats with their ranges, speed-up, efficiency, imbalance.

use super::sample::{Sample, ratio};
use serde::Serialize;

/// A real run.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Number of ranks.
    pub ranks: usize,
    /// Threads per rank.
    pub threads: usize,
    /// Seconds from start to end, including the start of processes.
    pub wall: f64,
    /// Its summary.
    pub sample: Sample,
}

/// A number over repeats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Repeats {
    /// The least.
    pub least: f64,
    /// The median: the middle value, or the mean of the two middle ones.
    pub median: f64,
    /// The most.
    pub most: f64,
}

/// A stage of a configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageTimes {
    /// The stage.
    pub stage: String,
    /// Seconds of the slowest rank.
    pub seconds: Repeats,
    /// Slowest rank over the mean, the median over repeats.
    pub imbalance: f64,
}

/// All repeats with the same ranks and threads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Configuration {
    /// Number of ranks.
    pub ranks: usize,
    /// Threads per rank.
    pub threads: usize,
    /// Repeats.
    pub runs: usize,
    /// Seconds of all stages.
    pub seconds: Repeats,
    /// Seconds including start and end of the processes.
    pub wall_seconds: Repeats,
    /// Median seconds of the first configuration over those of this one.
    pub speed_up: f64,
    /// Speed-up over the ratio of the numbers of threads.
    pub efficiency: f64,
    /// Slowest rank over the mean, of all stages together: the median over repeats.
    pub imbalance: f64,
    /// Of the largest process: the median over repeats.
    pub peak_memory_bytes: u64,
    /// Sparse exchanges.
    pub exchanges: u64,
    /// Messages in them, of all ranks.
    pub messages: u64,
    /// Bytes in those.
    pub bytes: u64,
    /// Other collective calls.
    pub other_calls: u64,
    /// The stages in their order.
    pub stages: Vec<StageTimes>,
}

impl Repeats {
    /// Of these values; zeros if there are none.
    pub fn from_values(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let at = |i: usize| values.get(i).copied().unwrap_or(0.0);
        Self {
            least: at(0),
            median: (at(n.saturating_sub(1) / 2) + at(n / 2)) / 2.0,
            most: at(n.saturating_sub(1)),
        }
    }
}

/// The configurations of all runs, by ranks times threads, then ranks.
pub fn configurations(runs: &[Measured]) -> Vec<Configuration> {
    let mut keys: Vec<(usize, usize, usize)> =
        runs.iter().map(|run| (run.ranks * run.threads, run.ranks, run.threads)).collect();
    keys.sort_unstable();
    keys.dedup();
    let of = |&(_, ranks, threads): &(usize, usize, usize)| {
        let repeats: Vec<&Measured> =
            runs.iter().filter(|run| run.ranks == ranks && run.threads == threads).collect();
        configuration(ranks, threads, &repeats)
    };
    let mut all: Vec<Configuration> = keys.iter().map(of).collect();
    let base = all.first().map(|first| (first.seconds.median, (first.ranks * first.threads) as f64));
    for of in &mut all {
        let Some((seconds, cores)) = base else { continue };
        of.speed_up = ratio(seconds, of.seconds.median);
        of.efficiency = of.speed_up * cores / (of.ranks * of.threads) as f64;
    }
    all
}

fn configuration(ranks: usize, threads: usize, repeats: &[&Measured]) -> Configuration {
    let over_repeats =
        |of: &dyn Fn(&Measured) -> f64| Repeats::from_values(repeats.iter().map(|run| of(run)).collect());
    let first = &repeats[0].sample;
    let stage = |stage: &super::sample::SampleStage| StageTimes {
        stage: stage.name.clone(),
        seconds: over_repeats(&|run| seconds_of(&run.sample, &stage.name)),
        imbalance: over_repeats(&|run| imbalance_of(&run.sample, &stage.name)).median,
    };
    Configuration {
        ranks,
        threads,
        runs: repeats.len(),
        seconds: over_repeats(&|run| run.sample.seconds),
        wall_seconds: over_repeats(&|run| run.wall),
        speed_up: 1.0,
        efficiency: 1.0,
        imbalance: over_repeats(&|run| run.sample.imbalance()).median,
        peak_memory_bytes: over_repeats(&|run| run.sample.peak_memory_bytes.unwrap_or(0) as f64).median
            as u64,
        exchanges: first.total(|traffic| traffic.exchanges),
        messages: first.total(|traffic| traffic.messages),
        bytes: first.total(|traffic| traffic.bytes),
        other_calls: first.total(|traffic| traffic.other_calls),
        stages: first.stages.iter().map(stage).collect(),
    }
}

fn seconds_of(sample: &Sample, stage: &str) -> f64 {
    sample.stages.iter().find(|s| s.name == stage).map_or(0.0, |s| s.seconds)
}

fn imbalance_of(sample: &Sample, stage: &str) -> f64 {
    let load = sample.ranks.load.iter().find(|load| load.stage == stage);
    load.map_or(1.0, |load| ratio(load.most_seconds, load.mean_seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::sample::{Load, RankSamples, SampleStage};

    fn run(ranks: usize, threads: usize, seconds: f64) -> Measured {
        let stages = vec![SampleStage { name: "ascent".into(), seconds }];
        let load = vec![Load { stage: "ascent".into(), mean_seconds: seconds / 2.0, most_seconds: seconds }];
        let ranks_of = RankSamples { n_ranks: ranks, balance: Default::default(), load, traffic: Vec::new() };
        let totals = Default::default();
        let sample = Sample { seconds, peak_memory_bytes: Some(7), stages, totals, ranks: ranks_of };
        Measured { ranks, threads, wall: seconds + 1.0, sample }
    }

    #[test]
    fn medians_are_set_against_the_smallest_configuration() {
        let runs = [run(2, 2, 1.0), run(1, 1, 4.0), run(2, 2, 3.0), run(1, 1, 8.0), run(2, 2, 2.0)];
        let all = configurations(&runs);
        assert_eq!(
            all.iter().map(|c| (c.ranks, c.threads, c.runs)).collect::<Vec<_>>(),
            [(1, 1, 2), (2, 2, 3)]
        );
        assert_eq!((all[0].seconds.median, all[0].speed_up, all[0].efficiency), (6.0, 1.0, 1.0));
        assert_eq!(all[1].seconds, Repeats { least: 1.0, median: 2.0, most: 3.0 });
        assert_eq!((all[1].speed_up, all[1].efficiency, all[1].imbalance), (3.0, 0.75, 2.0));
        assert_eq!((all[1].stages[0].imbalance, all[1].peak_memory_bytes), (2.0, 7));
        assert_eq!(configurations(&[]), []);
    }
}
