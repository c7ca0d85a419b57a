//! The machine, and the placement of ranks and workers on it, as text and JSON.

use crate::topology::{Cache, Machine, Pin, Placement, PuSet, WorkerPlace};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Write;

/// The placement of one rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankPlaces {
    /// The name of its host.
    pub host: String,
    /// The processors that it may use.
    pub allowed: PuSet,
    /// How its threads are pinned, never automatically.
    pub pin: Pin,
    /// The processors of the rank and its workers.
    pub placement: Placement,
}

/// The machine as text, with the processors that this process may use.
pub fn machine_text(machine: &Machine, allowed: &PuSet) -> String {
    let mut text = format!(
        "{:<18}{:>12}{:>8}{:>24}   {}\n",
        "NUMA node", "memory", "cores", "last-level caches", "processors"
    );
    for (node, bytes) in &machine.nodes {
        let of_node: PuSet = machine.pus.iter().filter(|pu| pu.node == *node).map(|pu| pu.index).collect();
        let (n_cores, caches) = (machine.cores_of(&of_node).len(), caches_text(machine, &of_node));
        let _ = writeln!(text, "{node:<18}{:>12}{n_cores:>8}{caches:>24}   {of_node}", size_text(*bytes));
    }
    let (n, all) = (allowed.len(), machine.pus.len());
    let mut kinds: Vec<u32> = machine.pus.iter().map(|pu| pu.speed).collect();
    kinds.sort_unstable_by(|a, b| b.cmp(a));
    kinds.dedup();
    for speed in kinds.iter().filter(|_| kinds.len() > 1) {
        let of_kind: PuSet = machine.pus.iter().filter(|pu| pu.speed == *speed).map(|pu| pu.index).collect();
        let relative = f64::from(*speed) / f64::from(kinds[0].max(1));
        let _ = writeln!(text, "{:<18}{relative:>12.2}{:>35}{of_kind}", "speed of cores", "");
    }
    let _ = writeln!(text, "\nthis process may run on {n} of {all} processors: {allowed}");
    text
}

/// As in 2 x 32 MiB L3.
fn caches_text(machine: &Machine, pus: &PuSet) -> String {
    let mut keys: Vec<u32> = machine.within(pus).filter_map(|pu| pu.cache).collect();
    keys.dedup();
    match keys.first().and_then(|key| machine.caches.get(key)) {
        Some(Cache { level, bytes }) => format!("{} x {} L{level}", keys.len(), size_text(*bytes)),
        None => "not known".into(),
    }
}

fn size_text(bytes: u64) -> String {
    match bytes {
        0 => "not known".into(),
        n if n >= 1 << 30 => format!("{:.1} GiB", n as f64 / f64::from(1 << 30)),
        n => format!("{:.1} MiB", n as f64 / f64::from(1 << 20)),
    }
}

/// The ranks as text, one line per rank and node.
pub fn places_text(ranks: &[RankPlaces]) -> String {
    let width = ranks.iter().map(|rank| rank.host.len()).max().unwrap_or(0).max(4) + 3;
    let mut text = format!(
        "{:<8}{:<width$}{:>10}{:>10}{:>8}   {}\n",
        "rank", "host", "node", "threads", "pin", "on processors"
    );
    for (rank, RankPlaces { host, placement, pin, .. }) in ranks.iter().enumerate() {
        for places in placement.workers.chunk_by(|a, b| a.node == b.node) {
            let node = places[0].node.map_or("any".into(), |node| node.to_string());
            let (n, on) = (places.len(), processors_text(places));
            let _ = writeln!(text, "{rank:<8}{host:<width$}{node:>10}{n:>10}{:>8}   {on}", pin.to_string());
        }
    }
    text
}

/// One entry per thread, or a single one if all are equal.
fn processors_text(places: &[WorkerPlace]) -> String {
    let alike = places.windows(2).all(|pair| pair[0].pus == pair[1].pus);
    match places {
        [first, _, ..] if alike => format!("any of {}", first.pus),
        places => places.iter().map(|place| place.pus.to_string()).collect::<Vec<_>>().join(" "),
    }
}

/// The machine as JSON.
pub fn machine_json(machine: &Machine, allowed: &PuSet) -> Value {
    let node = |(node, bytes): (&u32, &u64)| json!({ "node": node, "bytes": known(*bytes) });
    let cache =
        |(cache, of): (&u32, &Cache)| json!({ "cache": cache, "level": of.level, "bytes": known(of.bytes) });
    json!({
        "feature_numa": true,
        "nodes": machine.nodes.iter().map(node).collect::<Value>(),
        "caches": machine.caches.iter().map(cache).collect::<Value>(),
        "processors": machine.pus,
        "allowed": allowed,
        "n_allowed": allowed.len(),
    })
}

fn known(bytes: u64) -> Option<u64> {
    (bytes > 0).then_some(bytes)
}

/// The ranks as JSON.
pub fn places_json(ranks: &[RankPlaces]) -> Value {
    let of_rank = |(rank, places): (usize, &RankPlaces)| {
        json!({
            "rank": rank,
            "host": places.host,
            "allowed": places.allowed,
            "pin": places.pin,
            "processors": places.placement.pus,
            "workers": places.placement.workers,
        })
    };
    ranks.iter().enumerate().map(of_rank).collect()
}
