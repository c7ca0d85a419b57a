//! The limits of the scaling of a study, in a sentence or two.
//!
//! The time beyond ideal scaling is that of the largest run less its share of the smallest run's. Each stage
//! has its part of it; the stage with the largest part is named.

use super::measured::Configuration;
use super::model::Modelled;
use super::study::Study;

/// The sentences: of measured runs, then of modelled ones; none if there is nothing to compare.
pub fn limits(study: &Study) -> Vec<String> {
    let measured = of_measured(&study.configurations);
    measured.into_iter().chain(of_modelled(&study.modelled)).collect()
}

fn of_measured(all: &[Configuration]) -> Option<String> {
    let (first, last) = (all.first()?, all.last()?);
    let more = (last.ranks * last.threads) as f64 / (first.ranks * first.threads) as f64;
    if more <= 1.0 {
        return None;
    }
    let place = format!("{} with {}", plural(last.ranks, "rank"), plural(last.threads, "thread"));
    let efficiency = format!("On {place} each the efficiency is {:.2}.", last.efficiency);
    let beyond = last.seconds.median - first.seconds.median / more;
    let loss = |stage: &str, seconds: f64| {
        let before = first.stages.iter().find(|s| s.stage == stage).map_or(0.0, |s| s.seconds.median);
        seconds - before / more
    };
    let losses = last.stages.iter().map(|stage| (stage, loss(&stage.stage, stage.seconds.median)));
    let Some((stage, most)) = losses.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|_| beyond > 0.0) else {
        return Some(format!("{efficiency} Nothing limits it there: the time is no longer than ideal."));
    };
    let imbalance = format!("its slowest rank takes {:.2} of the mean", stage.imbalance);
    Some(format!(
        "{efficiency} {} s are beyond ideal scaling; the stage {} has the largest part, {} s, and {imbalance}.",
        short(beyond),
        stage.stage,
        short(most)
    ))
}

fn of_modelled(all: &[Modelled]) -> Option<String> {
    let balance = &all.first()?.balance;
    let of_balance: Vec<&Modelled> = all.iter().filter(|m| m.balance == *balance).collect();
    let last = of_balance.iter().max_by_key(|m| m.ranks).filter(|_| of_balance.len() > 1)?;
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
        last.efficiency,
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
    use crate::scaling::{Repeats, StageTimes};

    fn configuration(threads: usize, stages: [(&str, f64, f64); 2]) -> Configuration {
        let same = |x: f64| Repeats { least: x, median: x, most: x };
        let seconds: f64 = stages.iter().map(|(_, seconds, _)| seconds).sum();
        let stage = |(name, seconds, imbalance): (&str, f64, f64)| StageTimes {
            stage: name.into(),
            seconds: same(seconds),
            imbalance,
        };
        Configuration {
            ranks: 1,
            threads,
            runs: 1,
            seconds: same(seconds),
            wall_seconds: same(seconds),
            speed_up: 1.0,
            efficiency: 0.5,
            imbalance: 1.0,
            peak_memory_bytes: 0,
            exchanges: 0,
            messages: 0,
            bytes: 0,
            other_calls: 0,
            stages: stages.map(stage).to_vec(),
        }
    }

    #[test]
    fn the_stage_with_the_largest_loss_is_named() {
        let one = configuration(1, [("ascent", 8.0, 1.0), ("forest", 1.0, 1.0)]);
        // Ideal: 2 and 0.25. The stage `forest` does not scale.
        let four = configuration(4, [("ascent", 2.2, 1.0), ("forest", 1.0, 1.5)]);
        let text = of_measured(&[one.clone(), four]).expect("a sentence");
        assert!(text.contains("0.95 s are beyond") && text.contains("the stage forest"), "{text}");
        assert!(text.contains("0.75 s") && text.contains("1.50 of the mean"), "{text}");
        let ideal = configuration(4, [("ascent", 2.0, 1.0), ("forest", 0.25, 1.0)]);
        assert!(of_measured(&[one.clone(), ideal]).expect("a sentence").contains("Nothing limits"));
        assert_eq!(of_measured(&[one]), None);
    }
}
