//! Runs with measured work, over their repeats.

use super::sample::{Sample, SampleTraffic};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A number of ranks with measured work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// How and where it ran.
    pub key: CountedKey,
    /// Repeats; the least work of each rank counts.
    pub runs: usize,
    /// Test cells, particles or members.
    pub items: u64,
    /// What was found, by name.
    pub totals: BTreeMap<String, Option<u64>>,
    /// Clumps that merge at each level of substructure, from level 1.
    pub merges_per_level: Vec<u64>,
    /// The quantities of the paper's Table 2 and others, by name.
    pub quantities: BTreeMap<String, f64>,
    /// The stages in their order.
    pub stages: Vec<CountedStage>,
}

/// What distinguishes runs with measured work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedKey {
    /// How the mesh is divided; empty if there is none.
    pub balance: String,
    /// Number of ranks.
    pub ranks: usize,
    /// Threads per rank that the size of the input is made for; `None` if it has one size.
    pub threads: Option<usize>,
    /// That size per thread.
    pub size: Option<u64>,
}

/// The work and the messages of a stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CountedStage {
    /// The messages, without the work of each rank.
    pub traffic: SampleTraffic,
    /// Work of the rank with most of it.
    pub most_work: f64,
    /// Mean work per rank.
    pub mean_work: f64,
}

/// All runs by their keys, in the order of the balances and then of ranks.
pub fn counted(runs: &[(CountedKey, Sample)]) -> Vec<Counted> {
    let mut keys: Vec<&CountedKey> = Vec::new();
    for (key, _) in runs {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let balance = |key: &CountedKey| runs.iter().position(|(other, _)| other.balance == key.balance);
    keys.sort_by_key(|key| (balance(key), key.threads, key.size, key.ranks));
    let of = |key: &CountedKey| {
        let repeats = runs.iter().filter(|(other, _)| other == key).map(|(_, sample)| sample);
        one(key.clone(), &repeats.collect::<Vec<_>>())
    };
    keys.into_iter().map(of).collect()
}

/// Adds runs to others. Of the same key, the added ones stay.
pub fn join(all: &mut Vec<Counted>, added: Vec<Counted>) {
    for of in added {
        match all.iter_mut().find(|known| known.key == of.key) {
            Some(known) => *known = of,
            None => all.push(of),
        }
    }
    let balances: Vec<String> = all.iter().map(|of| of.key.balance.clone()).collect();
    let place = |of: &Counted| balances.iter().position(|balance| *balance == of.key.balance);
    all.sort_by_key(|of| (place(of), of.key.threads, of.key.size, of.key.ranks));
}

fn one(key: CountedKey, repeats: &[&Sample]) -> Counted {
    let first = repeats[0];
    let stage = |row: &SampleTraffic| {
        let work = least_work(repeats, &row.stage);
        CountedStage {
            most_work: work.iter().copied().fold(0.0, f64::max),
            mean_work: work.iter().sum::<f64>() / key.ranks.max(1) as f64,
            traffic: SampleTraffic { work_seconds: Vec::new(), ..row.clone() },
        }
    };
    Counted {
        runs: repeats.len(),
        items: first.items(),
        totals: first.totals.clone(),
        merges_per_level: first.merges_per_level.clone(),
        quantities: first.ranks.balance.clone(),
        stages: first.ranks.traffic.iter().map(stage).collect(),
        key,
    }
}

/// The least work of each rank over repeats: disturbances of a thread only add time.
fn least_work(repeats: &[&Sample], stage: &str) -> Vec<f64> {
    let of = |sample: &&&Sample| sample.ranks.traffic.iter().find(|row| row.stage == stage).cloned();
    let mut rows = repeats.iter().filter_map(|sample| of(&sample)).map(|row| row.work_seconds);
    let first = rows.next().unwrap_or_default();
    rows.fold(first, |least, row| least.iter().zip(&row).map(|(a, b)| a.min(*b)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::sample::RankSamples;

    fn key(balance: &str, ranks: usize) -> CountedKey {
        CountedKey { balance: balance.into(), ranks, threads: None, size: None }
    }

    /// A run on two ranks whose ascent takes this work.
    pub fn sample(work: Vec<f64>) -> Sample {
        let traffic =
            SampleTraffic { stage: "ascent".into(), work_seconds: work, ..SampleTraffic::default() };
        let ranks = RankSamples {
            n_ranks: 2,
            hosts: Vec::new(),
            balance: BTreeMap::new(),
            load: Vec::new(),
            traffic: vec![traffic],
        };
        let totals = BTreeMap::from([("test_cells".to_string(), Some(10))]);
        Sample {
            seconds: 0.0,
            peak_memory_bytes: None,
            stages: Vec::new(),
            totals,
            merges_per_level: Vec::new(),
            ranks,
        }
    }

    #[test]
    fn disturbances_are_left_out() {
        let runs = [(key("work", 2), sample(vec![1.0, 5.0])), (key("work", 2), sample(vec![4.0, 2.0]))];
        let all = counted(&runs);
        assert_eq!((all.len(), all[0].runs, all[0].items), (1, 2, 10));
        assert_eq!((all[0].stages[0].most_work, all[0].stages[0].mean_work), (2.0, 1.5));
    }

    #[test]
    fn joined_runs_replace_those_of_the_same_key() {
        let of = |balance: &str, ranks: usize, work: f64| {
            counted(&[(key(balance, ranks), sample(vec![work, work]))]).remove(0)
        };
        let mut all = vec![of("work", 2, 1.0), of("leaves", 2, 1.0), of("leaves", 8, 1.0)];
        join(&mut all, vec![of("leaves", 4, 2.0), of("work", 2, 3.0)]);
        let seen: Vec<_> =
            all.iter().map(|of| (of.key.balance.as_str(), of.key.ranks, of.stages[0].most_work)).collect();
        assert_eq!(seen, [("work", 2, 3.0), ("leaves", 2, 1.0), ("leaves", 4, 2.0), ("leaves", 8, 1.0)]);
    }
}
