//! The modelled time on more ranks than the machine has, from their work and messages. See README.md.

use super::network::Network;
use super::rate::{Rate, Speed};
use super::sample::{Sample, SampleTraffic, ratio};
use serde::Serialize;
use std::collections::BTreeMap;

/// Stages that the model leaves out: files are read and written by a file system, not by a network.
const NOT_MODELLED: [&str; 7] = ["other", "headers", "reading", "write", "lists", "picture", "results"];

/// A number of ranks, modelled.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Modelled {
    /// How the mesh is divided; empty if there is none.
    pub balance: String,
    /// Number of ranks.
    pub ranks: usize,
    /// Repeats; the least work of each rank counts.
    pub runs: usize,
    /// Modelled seconds.
    pub seconds: f64,
    /// Of these, work of the rank with most of it, stage by stage.
    pub work_seconds: f64,
    /// Of these, communication.
    pub communication_seconds: f64,
    /// Work of all ranks together.
    pub whole_work_seconds: f64,
    /// Test cells, particles or members.
    pub items: u64,
    /// Compared with the fewest ranks of the same balance.
    #[serde(flatten)]
    pub speed: Speed,
    /// Most work over the mean, of all stages together.
    pub imbalance: f64,
    /// Sparse exchanges.
    pub exchanges: u64,
    /// Other collective calls.
    pub other_calls: u64,
    /// Mean messages of exchanges per rank.
    pub messages_per_rank: f64,
    /// Bytes in these.
    pub bytes_per_rank: f64,
    /// Bytes that cross the rank with most of them, other calls included, stage by stage.
    pub most_bytes: u64,
    /// Mean test cells (or particles) per rank.
    pub cells_per_rank: f64,
    /// The quantities of the paper's Table 2 and others, by name.
    #[serde(rename = "lies")]
    pub quantities: BTreeMap<String, f64>,
    /// The stages in their order.
    pub stages: Vec<StageModel>,
}

/// A stage, modelled.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageModel {
    /// The stage.
    pub stage: String,
    /// Modelled seconds.
    pub seconds: f64,
    /// Work of the rank with most of it.
    pub work: f64,
    /// Mean work per rank.
    pub mean_work: f64,
    /// Processor seconds for sending and receiving messages.
    pub overhead: f64,
    /// Seconds of transfer.
    pub transfer: f64,
    /// Seconds of latency.
    pub latency: f64,
    /// Sparse exchanges.
    pub exchanges: u64,
    /// Other collective calls.
    pub other_calls: u64,
    /// Messages of all ranks.
    pub messages: u64,
    /// Bytes in these.
    pub bytes: u64,
    /// Bytes that cross the rank with most of them, other calls included.
    pub most_bytes: u64,
}

/// Models each number of ranks and each balance in `runs`, whose work was measured.
pub fn modelled(runs: &[(String, Sample)], network: &Network) -> Vec<Modelled> {
    let mut keys: Vec<(&str, usize)> = Vec::new();
    for (balance, sample) in runs {
        let key = (balance.as_str(), sample.ranks.n_ranks);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.sort_by_key(|(balance, ranks)| (runs.iter().position(|(b, _)| b == balance), *ranks));
    let of = |&(balance, ranks): &(&str, usize)| {
        let repeats: Vec<&Sample> = runs
            .iter()
            .filter(|(b, sample)| b == balance && sample.ranks.n_ranks == ranks)
            .map(|(_, sample)| sample)
            .collect();
        one(balance, &repeats, network)
    };
    let mut all: Vec<Modelled> = keys.iter().map(of).collect();
    let fewest =
        |of: &Modelled| all.iter().find(|m| m.balance == of.balance).map_or(of.rate(), Modelled::rate);
    let bases: Vec<Rate> = all.iter().map(fewest).collect();
    for (of, base) in all.iter_mut().zip(bases) {
        of.speed = of.rate().over(&base);
    }
    all
}

impl Modelled {
    /// What it does in which time.
    pub fn rate(&self) -> Rate {
        Rate { items: self.items, seconds: self.seconds, cores: self.ranks }
    }
}

fn one(balance: &str, repeats: &[&Sample], network: &Network) -> Modelled {
    let first = repeats[0];
    let n = first.ranks.n_ranks;
    let rows = first.ranks.traffic.iter().filter(|row| !NOT_MODELLED.contains(&row.stage.as_str()));
    let stages: Vec<StageModel> =
        rows.map(|row| stage(row, &least_work(repeats, &row.stage), n, network)).collect();
    let sum = |of: &dyn Fn(&StageModel) -> f64| stages.iter().map(of).sum::<f64>();
    let count = |of: &dyn Fn(&StageModel) -> u64| stages.iter().map(of).sum::<u64>();
    let (seconds, work) = (sum(&|s| s.seconds), sum(&|s| s.work));
    let mean = sum(&|s| s.mean_work);
    Modelled {
        balance: balance.into(),
        ranks: n,
        runs: repeats.len(),
        seconds,
        work_seconds: work,
        communication_seconds: seconds - work,
        whole_work_seconds: mean * n as f64,
        items: first.items(),
        speed: Speed::NONE,
        imbalance: ratio(work, mean),
        exchanges: count(&|s| s.exchanges),
        other_calls: count(&|s| s.other_calls),
        messages_per_rank: count(&|s| s.messages) as f64 / n as f64,
        bytes_per_rank: count(&|s| s.bytes) as f64 / n as f64,
        most_bytes: count(&|s| s.most_bytes),
        cells_per_rank: first.items() as f64 / n as f64,
        quantities: first.ranks.balance.clone(),
        stages,
    }
}

/// The least work of each rank over repeats: disturbances of a thread only add time.
fn least_work(repeats: &[&Sample], stage: &str) -> Vec<f64> {
    let of = |sample: &&&Sample| sample.ranks.traffic.iter().find(|row| row.stage == stage).cloned();
    let mut rows = repeats.iter().filter_map(|sample| of(&sample)).map(|row| row.work_seconds);
    let first = rows.next().unwrap_or_default();
    rows.fold(first, |least, row| least.iter().zip(&row).map(|(a, b)| a.min(*b)).collect())
}

/// A stage of `n` ranks with this work.
fn stage(row: &SampleTraffic, work: &[f64], n: usize, network: &Network) -> StageModel {
    let Network { latency, overhead, bandwidth, .. } = *network;
    let most = work.iter().copied().fold(0.0, f64::max);
    // Up and down the tree.
    let steps = 2.0 * (n.max(1) as f64).log2().ceil();
    let near = row.most_exchanges_of_neighbours.min(row.exchanges) as f64;
    let (sparse, calls) = (row.exchanges as f64 - near, row.other_calls as f64);
    let is_alone = n < 2;
    let waits = if is_alone { 0.0 } else { near + sparse * (1.0 + steps) + calls * steps };
    let messages = row.most_messages.max(row.most_received) as f64;
    let crossing = row.most_bytes.max(row.most_received_bytes) + row.most_bytes_of_other_calls;
    let model = StageModel {
        stage: row.stage.clone(),
        seconds: 0.0,
        work: most,
        mean_work: work.iter().sum::<f64>() / n.max(1) as f64,
        overhead: (messages + waits) * overhead,
        transfer: crossing as f64 / bandwidth,
        latency: waits * latency,
        exchanges: row.exchanges,
        other_calls: row.other_calls,
        messages: row.messages,
        bytes: row.bytes,
        most_bytes: crossing,
    };
    StageModel { seconds: most + model.overhead + model.transfer + model.latency, ..model }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(work: Vec<f64>) -> SampleTraffic {
        SampleTraffic {
            stage: "labels".into(),
            exchanges: 3,
            most_exchanges_of_neighbours: 1,
            other_calls: 2,
            messages: 100,
            bytes: 5000,
            most_messages: 10,
            most_received: 20,
            most_bytes: 1000,
            most_received_bytes: 500,
            most_bytes_of_other_calls: 1000,
            work_seconds: work,
        }
    }

    const NETWORK: Network = Network { name: "n", latency: 10.0, overhead: 0.5, bandwidth: 100.0 };

    #[test]
    fn a_stage_is_work_and_what_its_messages_cost() {
        let model = stage(&row(vec![]), &[1.0, 2.0, 3.0, 2.0, 2.0], 5, &NETWORK);
        // Five ranks have a tree of three steps up and three down; 1 + 2 (1 + 6) + 2 6 times is waited.
        assert_eq!((model.work, model.mean_work), (3.0, 2.0));
        assert_eq!((model.latency, model.overhead, model.transfer), (270.0, 23.5, 20.0));
        assert_eq!(model.seconds, 3.0 + 270.0 + 23.5 + 20.0);
        let alone = stage(&SampleTraffic::default(), &[4.0], 1, &NETWORK);
        assert_eq!(alone.seconds, 4.0);
    }

    #[test]
    fn disturbances_are_left_out_and_files_as_well() {
        let sample = |work: Vec<f64>| {
            let reading = SampleTraffic {
                stage: "reading".into(),
                work_seconds: vec![9.0; 2],
                ..SampleTraffic::default()
            };
            let plain =
                SampleTraffic { stage: "ascent".into(), work_seconds: work, ..SampleTraffic::default() };
            let ranks = super::super::sample::RankSamples {
                n_ranks: 2,
                hosts: Vec::new(),
                balance: BTreeMap::new(),
                load: Vec::new(),
                traffic: vec![reading, plain],
            };
            let totals = BTreeMap::from([("test_cells".to_string(), Some(10))]);
            Sample { seconds: 0.0, peak_memory_bytes: None, stages: Vec::new(), totals, ranks }
        };
        let runs =
            [("work".to_string(), sample(vec![1.0, 5.0])), ("work".to_string(), sample(vec![4.0, 2.0]))];
        let all = modelled(&runs, &NETWORK);
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].work_seconds, all[0].whole_work_seconds), (2.0, 3.0));
        assert_eq!((all[0].speed, all[0].cells_per_rank), (Speed::NONE, 5.0));
        assert_eq!(all[0].stages.len(), 1);
    }
}
