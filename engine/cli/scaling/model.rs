//! The modelled time on more ranks than the machine has, from their work and messages. See README.md.

use super::counted::{Counted, CountedStage};
use super::network::Network;
use super::rate::{Rate, Speed};
use super::sample::ratio;
use super::thread_scaling::ThreadScaling;
use serde::Serialize;
use std::collections::BTreeMap;

/// Stages that the model leaves out: files are read and written by a file system, not by a network.
const NOT_MODELLED: [&str; 7] = ["other", "headers", "reading", "write", "lists", "picture", "results"];

/// The bandwidth of a network is that of a host, over this number of ranks.
const RANKS_PER_HOST: usize = 16;

/// A number of ranks, modelled.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Modelled {
    /// How the mesh is divided; empty if there is none.
    pub balance: String,
    /// Number of ranks.
    pub ranks: usize,
    /// Threads per rank.
    pub threads: usize,
    /// The size of its input per thread, if that is made.
    pub size: Option<u64>,
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
    /// Compared with the fewest ranks of the same balance and threads.
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
    /// What was found, by name.
    pub totals: BTreeMap<String, Option<u64>>,
    /// Clumps that merge at each level of substructure, from level 1.
    pub merges_per_level: Vec<u64>,
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

/// Models the runs in `counted` with these numbers of threads per rank. Runs whose input is made for a number
/// of threads are modelled with that one. `scaling` is needed for more than one thread.
pub fn modelled(
    counted: &[Counted],
    threads: &[usize],
    scaling: Option<&ThreadScaling>,
    network: &Network,
) -> Vec<Modelled> {
    let mut all = Vec::new();
    for &threads in threads {
        let suits = |of: &&Counted| of.key.threads.is_none_or(|own| own == threads);
        all.extend(counted.iter().filter(suits).map(|of| one(of, threads, scaling, network)));
    }
    let base = |of: &Modelled| all.iter().find(|m| m.is_like(of)).map_or(of.rate(), Modelled::rate);
    let bases: Vec<Rate> = all.iter().map(base).collect();
    for (of, base) in all.iter_mut().zip(bases) {
        of.speed = of.rate().over(&base);
    }
    all
}

impl Modelled {
    /// Whether only the number of ranks differs.
    pub fn is_like(&self, other: &Self) -> bool {
        (&self.balance, self.threads, self.size) == (&other.balance, other.threads, other.size)
    }

    /// What it does in which time.
    pub fn rate(&self) -> Rate {
        Rate { items: self.items, seconds: self.seconds, cores: self.ranks * self.threads }
    }
}

fn one(of: &Counted, threads: usize, scaling: Option<&ThreadScaling>, network: &Network) -> Modelled {
    let n = of.key.ranks;
    let host = Network { bandwidth: network.bandwidth * threads.min(RANKS_PER_HOST) as f64, ..*network };
    let rows = of.stages.iter().filter(|row| !NOT_MODELLED.contains(&row.traffic.stage.as_str()));
    let factor = |name: &str| scaling.map_or(1.0, |scaling| scaling.factor(name, threads));
    let stages: Vec<StageModel> = rows.map(|row| stage(row, factor(&row.traffic.stage), n, &host)).collect();
    let sum = |of: &dyn Fn(&StageModel) -> f64| stages.iter().map(of).sum::<f64>();
    let count = |of: &dyn Fn(&StageModel) -> u64| stages.iter().map(of).sum::<u64>();
    let (seconds, work) = (sum(&|s| s.seconds), sum(&|s| s.work));
    let mean = sum(&|s| s.mean_work);
    Modelled {
        balance: of.key.balance.clone(),
        ranks: n,
        threads,
        size: of.key.size,
        runs: of.runs,
        seconds,
        work_seconds: work,
        communication_seconds: seconds - work,
        whole_work_seconds: mean * n as f64,
        items: of.items,
        speed: Speed::NONE,
        imbalance: ratio(work, mean),
        exchanges: count(&|s| s.exchanges),
        other_calls: count(&|s| s.other_calls),
        messages_per_rank: count(&|s| s.messages) as f64 / n as f64,
        bytes_per_rank: count(&|s| s.bytes) as f64 / n as f64,
        most_bytes: count(&|s| s.most_bytes),
        cells_per_rank: of.items as f64 / n as f64,
        totals: of.totals.clone(),
        merges_per_level: of.merges_per_level.clone(),
        quantities: of.quantities.clone(),
        stages,
    }
}

/// A stage of `n` ranks, whose work takes `factor` of its time on one thread.
fn stage(row: &CountedStage, factor: f64, n: usize, network: &Network) -> StageModel {
    let Network { latency, overhead, bandwidth, .. } = *network;
    let (work, mean_work, row) = (row.most_work * factor, row.mean_work * factor, &row.traffic);
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
        work,
        mean_work,
        overhead: (messages + waits) * overhead,
        transfer: crossing as f64 / bandwidth,
        latency: waits * latency,
        exchanges: row.exchanges,
        other_calls: row.other_calls,
        messages: row.messages,
        bytes: row.bytes,
        most_bytes: crossing,
    };
    StageModel { seconds: work + model.overhead + model.transfer + model.latency, ..model }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::counted::CountedKey;
    use crate::scaling::sample::{SampleTraffic, step_of};

    fn traffic() -> SampleTraffic {
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
            work_seconds: Vec::new(),
        }
    }

    fn row(traffic: SampleTraffic, most_work: f64, mean_work: f64) -> CountedStage {
        CountedStage { traffic, most_work, mean_work }
    }

    const NETWORK: Network = Network { name: "n", latency: 10.0, overhead: 0.5, bandwidth: 100.0 };

    #[test]
    fn a_stage_is_work_and_what_its_messages_cost() {
        let model = stage(&row(traffic(), 3.0, 2.0), 0.5, 5, &NETWORK);
        // Five ranks have a tree of three steps up and three down; 1 + 2 (1 + 6) + 2 6 times is waited.
        assert_eq!((model.work, model.mean_work), (1.5, 1.0));
        assert_eq!((model.latency, model.overhead, model.transfer), (270.0, 23.5, 20.0));
        assert_eq!(model.seconds, 1.5 + 270.0 + 23.5 + 20.0);
        let alone = stage(&row(SampleTraffic::default(), 4.0, 4.0), 1.0, 1, &NETWORK);
        assert_eq!(alone.seconds, 4.0);
    }

    /// A run on these ranks; its input of 10 items per rank and thread is made for `threads`.
    fn counted(ranks: usize, threads: Option<usize>) -> Counted {
        let stages = ["reading", "ascent"]
            .map(|stage| row(SampleTraffic { stage: stage.into(), ..SampleTraffic::default() }, 2.0, 1.5));
        let key = CountedKey { balance: "work".into(), ranks, threads, size: threads.map(|_| 10) };
        let items = (10 * ranks * threads.unwrap_or(1)) as u64;
        let (totals, quantities) = (BTreeMap::new(), BTreeMap::new());
        let stages = stages.to_vec();
        Counted { key, runs: 1, items, totals, merges_per_level: Vec::new(), quantities, stages }
    }

    #[test]
    fn files_are_left_out() {
        let all = modelled(&[counted(2, None)], &[1], None, &NETWORK);
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].work_seconds, all[0].whole_work_seconds), (2.0, 3.0));
        assert_eq!((all[0].speed, all[0].cells_per_rank), (Speed::NONE, 10.0));
        assert_eq!(all[0].stages.len(), 1);
    }

    #[test]
    fn threads_are_modelled_with_the_input_that_is_made_for_them() {
        let runs = [counted(2, Some(1)), counted(4, Some(1)), counted(2, Some(4)), counted(4, Some(4))];
        let all = modelled(&runs, &[1, 4], Some(&ThreadScaling::default()), &NETWORK);
        let keys: Vec<_> = all.iter().map(|m| (m.ranks, m.threads, m.items, m.work_seconds)).collect();
        assert_eq!(keys, [(2, 1, 20, 2.0), (4, 1, 40, 2.0), (2, 4, 80, 0.5), (4, 4, 160, 0.5)]);
        // Twice the input in the same time on twice the ranks.
        assert_eq!((all[3].speed.speed_up, all[3].speed.efficiency), (2.0, 1.0));
        assert_eq!(["forest 12", "gas cells", "ascent"].map(step_of), ["forest", "gas cells", "ascent"]);
    }
}
