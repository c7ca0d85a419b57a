//! Real runs: medians over repeats with their ranges, speed-up, efficiency, work, waiting, imbalance.

use super::rate::{Rate, Speed};
use super::sample::{HostUse, Load, Sample, SampleStage, ratio};
use crate::report::RunHost;
use serde::{Deserialize, Serialize};

/// A real run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Number of ranks.
    pub ranks: usize,
    /// Threads per rank.
    pub threads: usize,
    /// The size of its input per thread, if that is made.
    pub size: Option<u64>,
    /// Seconds from start to end, including the start of processes.
    pub wall: f64,
    /// What it took of the host of the study; `None` if it ran on others.
    pub host: Option<HostUse>,
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
    /// The standard deviation of the values; `None` for one value.
    pub deviation: Option<f64>,
}

/// A stage of a configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageTimes {
    /// The stage.
    pub stage: String,
    /// Seconds of the slowest rank.
    pub seconds: Repeats,
    /// Processed items per second; `None` for a stage that counts none.
    pub items_per_second: Option<f64>,
    /// Compared with the smallest configuration.
    #[serde(flatten)]
    pub speed: Speed,
    /// What ranks did.
    #[serde(flatten)]
    pub parts: TimeParts,
    /// Most work over the mean, the median over repeats.
    pub imbalance: f64,
}

/// The parts of the time of a rank, means over the ranks: medians over repeats.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct TimeParts {
    /// Seconds outside of calls of other ranks.
    pub work_seconds: f64,
    /// Seconds of waiting for other ranks: in calls, beyond those of the rank that waits least.
    pub wait_seconds: f64,
    /// Seconds of messages: in calls of the rank that waits least.
    pub message_seconds: f64,
}

/// All repeats with the same ranks and threads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Configuration {
    /// Number of ranks.
    pub ranks: usize,
    /// Threads per rank.
    pub threads: usize,
    /// The size of its input per thread, if that is made.
    pub size: Option<u64>,
    /// The hosts.
    pub hosts: Vec<RunHost>,
    /// Whether a host has fewer processors than threads. Such times say nothing about scaling.
    pub shares_processors: bool,
    /// Repeats.
    pub runs: usize,
    /// Test cells, particles or members.
    pub items: u64,
    /// Seconds of all stages.
    pub seconds: Repeats,
    /// Seconds including start and end of the processes.
    pub wall_seconds: Repeats,
    /// Items over the median seconds.
    pub items_per_second: f64,
    /// Compared with the smallest configuration with a processor for each thread.
    #[serde(flatten)]
    pub speed: Speed,
    /// What ranks did in all stages.
    #[serde(flatten)]
    pub parts: TimeParts,
    /// Most work over the mean, of all stages together: the median over repeats.
    pub imbalance: f64,
    /// Processor seconds of all ranks; `None` if they ran on other hosts.
    pub processor_seconds: Option<f64>,
    /// Processors that other programs kept busy meanwhile.
    pub other_processors: Option<f64>,
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
        let mean = values.iter().sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self {
            least: at(0),
            median: (at(n.saturating_sub(1) / 2) + at(n / 2)) / 2.0,
            most: at(n.saturating_sub(1)),
            deviation: (n > 1).then(|| (squares / (n - 1) as f64).sqrt()),
        }
    }
}

impl std::ops::Add for Repeats {
    type Output = Self;

    /// Of the sums of independent numbers.
    fn add(self, other: Self) -> Self {
        Self {
            least: self.least + other.least,
            median: self.median + other.median,
            most: self.most + other.most,
            deviation: self.deviation.zip(other.deviation).map(|(a, b)| a.hypot(b)),
        }
    }
}

impl Configuration {
    /// Threads of all ranks.
    pub fn cores(&self) -> usize {
        self.ranks * self.threads
    }

    /// What it did in which time.
    pub fn rate(&self) -> Rate {
        Rate { items: self.items, seconds: self.seconds.median, cores: self.cores() }
    }

    /// The rate of all its items in a stage.
    pub fn rate_of(&self, stage: &StageTimes) -> Rate {
        Rate { seconds: stage.seconds.median, ..self.rate() }
    }

    /// A stage by its name.
    pub fn stage(&self, name: &str) -> Option<&StageTimes> {
        self.stages.iter().find(|stage| stage.stage == name)
    }
}

impl TimeParts {
    fn of(load: &Load) -> Self {
        let wait = load.mean_seconds - load.mean_work_seconds - load.least_seconds_in_calls;
        Self {
            work_seconds: load.mean_work_seconds,
            // Nothing but rounding is below the clock's nanosecond.
            wait_seconds: if wait < 1e-9 { 0.0 } else { wait },
            message_seconds: load.least_seconds_in_calls,
        }
    }

    /// Medians of the sums over these loads of each run.
    fn over(repeats: &[&Measured], takes: impl Fn(&Load) -> bool) -> Self {
        let median = |part: fn(&Self) -> f64| {
            let of_run = |run: &&Measured| {
                run.sample
                    .ranks
                    .load
                    .iter()
                    .filter(|load| takes(load))
                    .map(|load| part(&Self::of(load)))
                    .sum()
            };
            Repeats::from_values(repeats.iter().map(of_run).collect()).median
        };
        Self {
            work_seconds: median(|parts| parts.work_seconds),
            wait_seconds: median(|parts| parts.wait_seconds),
            message_seconds: median(|parts| parts.message_seconds),
        }
    }
}

/// The configurations whose threads had a processor each; all, if none had.
pub fn in_headline(all: &[Configuration]) -> Vec<&Configuration> {
    let own: Vec<_> = all.iter().filter(|c| !c.shares_processors).collect();
    if own.is_empty() { all.iter().collect() } else { own }
}

/// The configurations of all runs, by ranks times threads, then ranks.
pub fn configurations(runs: &[Measured]) -> Vec<Configuration> {
    let key = |run: &Measured| (run.ranks * run.threads, run.ranks, run.threads, run.size);
    let mut keys: Vec<_> = runs.iter().map(key).collect();
    keys.sort_unstable();
    keys.dedup();
    let of = |wanted| configuration(&runs.iter().filter(|run| key(run) == wanted).collect::<Vec<_>>());
    let mut all: Vec<Configuration> = keys.into_iter().map(of).collect();
    let Some(base) = in_headline(&all).first().map(|first| (*first).clone()) else { return all };
    all.iter_mut().for_each(|of| of.compare(&base));
    all
}

impl Configuration {
    fn compare(&mut self, base: &Self) {
        let whole = self.rate();
        self.speed = whole.over(&base.rate());
        for stage in &mut self.stages {
            let rate = Rate { seconds: stage.seconds.median, ..whole };
            if let Some(before) = base.stage(&stage.stage) {
                stage.speed = rate.over(&base.rate_of(before));
            }
        }
    }
}

/// Of repeats that only differ in their times.
fn configuration(repeats: &[&Measured]) -> Configuration {
    let Measured { ranks, threads, size, .. } = *repeats[0];
    let over_repeats =
        |of: &dyn Fn(&Measured) -> f64| Repeats::from_values(repeats.iter().map(|run| of(run)).collect());
    let of_host = |of: fn(&HostUse) -> f64| {
        let values: Vec<f64> = repeats.iter().filter_map(|run| run.host.as_ref()).map(of).collect();
        (!values.is_empty()).then(|| Repeats::from_values(values).median)
    };
    let first = &repeats[0].sample;
    let seconds = over_repeats(&|run| run.sample.seconds);
    Configuration {
        ranks,
        threads,
        size,
        hosts: first.ranks.hosts.clone(),
        shares_processors: repeats.iter().any(|run| run.sample.shares_processors(threads)),
        runs: repeats.len(),
        items: first.items(),
        seconds,
        wall_seconds: over_repeats(&|run| run.wall),
        items_per_second: first.items() as f64 / seconds.median.max(1e-9),
        speed: Speed::NONE,
        parts: TimeParts::over(repeats, |_| true),
        imbalance: over_repeats(&|run| run.sample.imbalance()).median,
        processor_seconds: of_host(|host| host.processor_seconds),
        other_processors: of_host(|host| host.other_processors),
        peak_memory_bytes: over_repeats(&|run| run.sample.peak_memory_bytes.unwrap_or(0) as f64).median
            as u64,
        exchanges: first.total(|traffic| traffic.exchanges),
        messages: first.total(|traffic| traffic.messages),
        bytes: first.total(|traffic| traffic.bytes),
        other_calls: first.total(|traffic| traffic.other_calls),
        stages: first.stages.iter().map(|stage| stage_times(stage, repeats)).collect(),
    }
}

fn stage_times(stage: &SampleStage, repeats: &[&Measured]) -> StageTimes {
    let name = stage.name.as_str();
    let over_repeats = |of: &dyn Fn(&Sample) -> f64| {
        Repeats::from_values(repeats.iter().map(|run| of(&run.sample)).collect())
    };
    let seconds = over_repeats(&|sample| seconds_of(sample, name));
    let per_second = stage.items as f64 / seconds.median;
    StageTimes {
        stage: name.into(),
        seconds,
        items_per_second: Some(per_second).filter(|rate| *rate > 0.0 && rate.is_finite()),
        speed: Speed::NONE,
        parts: TimeParts::over(repeats, |load| load.stage == name),
        imbalance: over_repeats(&|sample| imbalance_of(sample, name)).median,
    }
}

fn seconds_of(sample: &Sample, stage: &str) -> f64 {
    sample.stages.iter().find(|s| s.name == stage).map_or(0.0, |s| s.seconds)
}

fn imbalance_of(sample: &Sample, stage: &str) -> f64 {
    let load = sample.ranks.load.iter().find(|load| load.stage == stage);
    load.map_or(1.0, |load| ratio(load.most_work_seconds, load.mean_work_seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::sample::RankSamples;

    /// A run on a host of four processors. Ranks work for half of the time; one does all work.
    fn run(ranks: usize, threads: usize, seconds: f64) -> Measured {
        let stages = vec![SampleStage { name: "ascent".into(), seconds, items: 12 }];
        let load = vec![Load {
            stage: "ascent".into(),
            mean_seconds: seconds,
            most_seconds: seconds,
            mean_work_seconds: seconds / 2.0,
            most_work_seconds: seconds,
            least_seconds_in_calls: seconds / 8.0,
        }];
        let hosts = vec![RunHost { name: "h".into(), ranks, processors: 4 }];
        let ranks_of =
            RankSamples { n_ranks: ranks, hosts, balance: Default::default(), load, traffic: Vec::new() };
        let totals = Default::default();
        let merges_per_level = Vec::new();
        let sample =
            Sample { seconds, peak_memory_bytes: Some(7), stages, totals, merges_per_level, ranks: ranks_of };
        Measured { ranks, threads, size: None, wall: seconds + 1.0, host: None, sample }
    }

    #[test]
    fn medians_are_set_against_the_smallest_configuration() {
        let runs = [run(2, 2, 1.0), run(1, 1, 4.0), run(2, 2, 3.0), run(1, 1, 8.0), run(2, 2, 2.0)];
        let all = configurations(&runs);
        assert_eq!(
            all.iter().map(|c| (c.ranks, c.threads, c.runs)).collect::<Vec<_>>(),
            [(1, 1, 2), (2, 2, 3)]
        );
        assert_eq!((all[0].seconds.median, all[0].speed), (6.0, Speed::NONE));
        assert_eq!(all[1].seconds, Repeats { least: 1.0, median: 2.0, most: 3.0, deviation: Some(1.0) });
        let speed = all[1].speed;
        assert_eq!((speed.speed_up, speed.efficiency, all[1].imbalance), (3.0, 0.75, 2.0));
        assert!((speed.serial_fraction.expect("more threads") - 1.0 / 9.0).abs() < 1e-12);
        assert_eq!((all[1].items, all[1].items_per_second), (12, 6.0));
        let stage = &all[1].stages[0];
        assert_eq!((stage.imbalance, stage.speed, stage.items_per_second), (2.0, speed, Some(6.0)));
        let parts = TimeParts { work_seconds: 1.0, wait_seconds: 0.75, message_seconds: 0.25 };
        assert_eq!((stage.parts, all[1].parts, all[1].peak_memory_bytes), (parts, parts, 7));
        assert_eq!(Repeats::from_values(vec![2.0]).deviation, None);
        assert_eq!(configurations(&[]), []);
    }

    #[test]
    fn runs_with_more_threads_than_processors_are_marked_and_are_no_base() {
        let all = configurations(&[run(1, 2, 4.0), run(1, 8, 1.0), run(2, 2, 2.0)]);
        let marked: Vec<_> = all.iter().map(|c| (c.cores(), c.shares_processors)).collect();
        assert_eq!(marked, [(2, false), (4, false), (8, true)]);
        assert_eq!(in_headline(&all).len(), 2);
        let all = configurations(&[run(1, 8, 1.0), run(1, 16, 1.0)]);
        assert_eq!((in_headline(&all).len(), all[1].speed.speed_up), (2, 1.0));
    }
}
