//! The use of a rank's workers: tasks, steals, idle time, and the place of memory.

use super::recorder::RecordedGraph;
use super::summary::{grouped, mebibytes};
use inselberg_tasks::Seat;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The workers on one NUMA node, over all graphs of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct NodeLoad {
    /// Workers.
    pub workers: u64,
    /// Tasks that they ran.
    pub tasks: u64,
    /// Seconds in tasks, summed over workers.
    pub busy: f64,
    /// Seconds of the graphs, summed over workers.
    pub whole: f64,
    /// Stolen tasks: from the same cache, from the same node, from other nodes.
    pub stolen: [u64; 3],
    /// Bytes of memory that they were the first to touch, where tasks state it.
    pub touched: u64,
    /// Bytes of this process on the node, at the stage end with most memory.
    pub memory: u64,
}

impl NodeLoad {
    /// The share of time without a task.
    pub fn idle(&self) -> f64 {
        if self.whole > 0.0 { 1.0 - self.busy / self.whole } else { 0.0 }
    }
}

/// By NUMA node, for workers on `seats` and memory on nodes.
pub fn node_loads(
    graphs: &[RecordedGraph],
    seats: &[Seat],
    memory: &BTreeMap<u32, u64>,
) -> BTreeMap<u32, NodeLoad> {
    let mut nodes = BTreeMap::<u32, NodeLoad>::new();
    seats.iter().for_each(|seat| nodes.entry(seat.node).or_default().workers += 1);
    for tally in graphs.iter().map(|graph| &graph.tally) {
        for (worker, seat) in tally.workers.iter().zip(seats) {
            let node = nodes.entry(seat.node).or_default();
            node.tasks += worker.n_tasks;
            node.busy += worker.busy.as_secs_f64();
            node.whole += tally.wall.as_secs_f64();
            node.touched += worker.touched;
            node.stolen.iter_mut().zip(worker.stolen).for_each(|(sum, n)| *sum += n);
        }
    }
    for (node, bytes) in memory {
        nodes.entry(*node).or_default().memory = *bytes;
    }
    nodes
}

/// The table as text.
pub fn workers_text(nodes: &BTreeMap<u32, NodeLoad>) -> String {
    let mut text = format!(
        "{:<18}{:>10}{:>15}{:>12}{:>22}{:>15}{:>12}\n",
        "NUMA node", "workers", "tasks", "idle", "stolen near, far", "MiB touched", "MiB there"
    );
    for (node, load) in nodes {
        let [cache, near, far] = load.stolen;
        let stolen =
            format!("{}, {}", grouped(cache.cast_signed() + near.cast_signed()), grouped(far.cast_signed()));
        let _ = writeln!(
            text,
            "{node:<18}{:>10}{:>15}{:>12}{stolen:>22}{:>15.1}{:>12.1}",
            load.workers,
            grouped(load.tasks.cast_signed()),
            format!("{:.1} %", 100.0 * load.idle()),
            mebibytes(load.touched),
            mebibytes(load.memory),
        );
    }
    text
}

/// The same for machines.
pub fn workers_json(nodes: &BTreeMap<u32, NodeLoad>) -> Value {
    let of_node = |(node, load): (&u32, &NodeLoad)| {
        json!({
            "node": node,
            "workers": load.workers,
            "tasks": load.tasks,
            "idle": load.idle(),
            "stolen_on_cache": load.stolen[0],
            "stolen_on_node": load.stolen[1],
            "stolen_from_other_nodes": load.stolen[2],
            "bytes_first_touched": load.touched,
            "bytes_there": load.memory,
        })
    };
    nodes.iter().map(of_node).collect()
}
