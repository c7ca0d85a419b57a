//! The limits of the scaling of a study, in a sentence or two.
//!
//! The time beyond ideal scaling is that of the largest run less its share of the smallest run's. Each stage
//! has its part of it; the stage with the largest part is named.

use super::measured::{Configuration, StageTimes, in_headline};
use super::model::Modelled;
use super::study::Study;

/// The sentences: of measured runs, then of modelled ones; none if there is nothing to compare.
pub fn limits(study: &Study) -> Vec<String> {
    let measured = of_measured(&in_headline(&study.configurations));
    let sharing = shared(&study.configurations);
    let others = others(&study.configurations);
    measured.into_iter().chain(sharing).chain(others).chain(of_modelled(&study.modelled)).collect()
}

fn of_measured(all: &[&Configuration]) -> Option<String> {
    let (first, last) = (all.first()?, all.last()?);
    if last.cores() <= first.cores() {
        return None;
    }
    let place = format!("{} with {}", plural(last.ranks, "rank"), plural(last.threads, "thread"));
    let efficiency = format!("On {place} each the efficiency is {:.2}.", last.speed.efficiency);
    let beyond = last.seconds.median - last.rate().ideal(&first.rate());
    let loss = |stage: &StageTimes| {
        let before = first.stage(&stage.stage).map(|before| first.rate_of(before));
        stage.seconds.median - before.map_or(0.0, |before| last.rate_of(stage).ideal(&before))
    };
    let losses = last.stages.iter().map(|stage| (stage, loss(stage)));
    let Some((stage, most)) = losses.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|_| beyond > 0.0) else {
        return Some(format!("{efficiency} Nothing limits it there: the time is no longer than ideal."));
    };
    let imbalance = format!("its rank with most work has {:.2} of the mean", stage.imbalance);
    Some(format!(
        "{efficiency} {} s are beyond ideal scaling; the stage {} has the largest part, {} s, and {imbalance}.",
        short(beyond),
        stage.stage,
        short(most)
    ))
}

/// Other programs that disturbed the runs.
fn others(all: &[Configuration]) -> Option<String> {
    const DISTURBING: f64 = 0.25;
    let most = all.iter().filter_map(|c| c.other_processors).fold(0.0, f64::max);
    (most > DISTURBING).then(|| {
        format!("Other programs kept up to {most:.1} processors busy meanwhile, so times may be too long.")
    })
}

/// Which runs are left out of the first sentence.
fn shared(all: &[Configuration]) -> Option<String> {
    let n = all.iter().filter(|c| c.shares_processors).count();
    match (n, all.len()) {
        (0, _) => None,
        (n, all) if n == all => Some(
            "All runs had more threads than processors, so their times say nothing about scaling.".into(),
        ),
        (1, _) => {
            Some("A run with more threads than processors is marked; it counts for none of this.".into())
        }
        (n, _) => Some(format!(
            "{n} kinds of runs with more threads than processors are marked; they count for none of this."
        )),
    }
}

fn of_modelled(all: &[Modelled]) -> Option<String> {
    let first = all.first()?;
    let last = all
        .iter()
        .filter(|m| m.is_like(first))
        .max_by_key(|m| m.ranks)
        .filter(|last| last.ranks > first.ranks)?;
    let even: f64 = last.stages.iter().map(|stage| stage.mean_work).sum();
    let uneven = (last.work_seconds - even).max(0.0);
    let parts = [
        ("evenly divided work", even),
        ("waiting for the rank with most work", uneven),
        ("communication", last.communication_seconds),
    ];
    let (limit, seconds) = parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).expect("three parts");
    let stage = last.stages.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds))?;
    Some(format!(
        "On {} modelled ranks the efficiency is {:.2}. Of {} s, {} s are {limit}, the largest part; the longest stage is {}, {} s.",
        last.ranks,
        last.speed.efficiency,
        short(last.seconds),
        short(seconds),
        stage.stage,
        short(stage.seconds)
    ))
}

fn plural(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

/// Seconds with two significant digits.
fn short(seconds: f64) -> String {
    let decimals = (1 - seconds.abs().max(1e-9).log10().floor() as i32).clamp(0, 9) as usize;
    format!("{seconds:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::measured::configurations;
    use crate::scaling::{Measured, Sample};
    use serde_json::json;

    /// A run on one rank: the seconds of its stages, and most work over mean work.
    fn run(threads: usize, stages: [(&str, f64, f64); 2]) -> Measured {
        let seconds: f64 = stages.iter().map(|(_, seconds, _)| seconds).sum();
        let load = |(stage, seconds, imbalance): (&str, f64, f64)| {
            json!({"stage": stage, "mean_seconds": seconds, "most_seconds": seconds,
                "mean_work_seconds": 1.0, "most_work_seconds": imbalance, "least_seconds_in_calls": 0.0})
        };
        let hosts = json!([{"name": "h", "ranks": 1, "processors": 4}]);
        let summary = json!({
            "seconds": seconds, "peak_memory_bytes": 0,
            "stages": stages.map(|(name, seconds, _)| json!({"name": name, "seconds": seconds})),
            "ranks": {"n_ranks": 1, "hosts": hosts, "load": stages.map(load), "traffic": []},
        });
        let sample = Sample::read(&summary.to_string()).expect("a summary");
        Measured { ranks: 1, threads, size: None, wall: seconds, host: None, sample }
    }

    fn sentence(runs: &[Measured]) -> Option<String> {
        of_measured(&in_headline(&configurations(runs)))
    }

    #[test]
    fn the_stage_with_the_largest_loss_is_named() {
        let one = run(1, [("ascent", 8.0, 1.0), ("forest", 1.0, 1.0)]);
        // Ideal: 2 and 0.25. The stage `forest` does not scale.
        let four = run(4, [("ascent", 2.2, 1.0), ("forest", 1.0, 1.5)]);
        let text = sentence(&[one.clone(), four.clone()]).expect("a sentence");
        assert!(text.contains("0.95 s are beyond") && text.contains("the stage forest"), "{text}");
        assert!(text.contains("0.75 s") && text.contains("1.50 of the mean"), "{text}");
        let ideal = run(4, [("ascent", 2.0, 1.0), ("forest", 0.25, 1.0)]);
        assert!(sentence(&[one.clone(), ideal]).expect("a sentence").contains("Nothing limits"));
        assert_eq!(sentence(std::slice::from_ref(&one)), None);
        // Eight threads share four processors.
        let eight = run(8, [("ascent", 9.0, 1.0), ("forest", 9.0, 1.0)]);
        let all = [one, four, eight];
        assert_eq!(sentence(&all), Some(text));
        assert!(
            shared(&configurations(&all)).is_some_and(|text| text.starts_with("A run with more threads"))
        );
    }
}
