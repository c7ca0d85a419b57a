//! The processors of each worker of a rank.
//!
//! Ranks with different processors from a launcher stay within theirs. Ranks of one host with the same
//! processors divide these among themselves. In a rank's share, workers are spaced evenly, so that fewer
//! workers than cores have more cache and memory each.

use super::{Machine, Pu, PuSet};
use inselberg_tasks::Seat;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::fmt;

/// How threads are pinned to processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pin {
    /// Each to its own core where nobody else uses the cores, else not at all; see [`super::place_all`].
    #[default]
    Auto,
    /// Not at all.
    None,
    /// Each to its own core, or to a hardware thread if there are more workers than cores.
    Cores,
    /// Ranks over NUMA nodes, then each worker to its own core in its node, or to the whole node if there are
    /// more workers than cores.
    Numa,
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::None => "none",
            Self::Cores => "cores",
            Self::Numa => "numa",
        })
    }
}

/// The request of one rank of a host.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// How threads are pinned; [`Pin::Auto`] counts as [`Pin::None`].
    pub pin: Pin,
    /// Number of workers; `None`: one per core of the rank's share, or one per processor without pinning.
    pub n_workers: Option<usize>,
    /// The processors that each rank of this host may use, rank by rank.
    pub allowed: &'a [PuSet],
    /// The index of this rank among them.
    pub local_rank: usize,
}

/// The processors of one worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerPlace {
    /// The processors that it may use.
    pub pus: PuSet,
    /// Their NUMA node; `None` if they are on several.
    pub node: Option<u32>,
    /// Their last-level cache; `None` if it is not known, or if there are several.
    pub cache: Option<u32>,
    /// Their mean speed; see [`Pu::speed`].
    pub speed: u32,
}

/// The processors of a rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// Its processors.
    pub pus: PuSet,
    /// Its workers.
    pub workers: Vec<WorkerPlace>,
}

/// The processors of a rank and of each of its workers. Each worker has a processor, unless the rank may use
/// none of the machine.
///
/// # Panics
/// If there is no such local rank.
pub fn place(machine: &Machine, asked: Asked<'_>) -> Placement {
    let allowed = &asked.allowed[asked.local_rank];
    let mates = |ranks: &[PuSet]| ranks.iter().filter(|set| *set == allowed).count();
    let (k, n) = (mates(&asked.allowed[..asked.local_rank]), mates(asked.allowed));
    let pus: Vec<Pu> = machine.within(allowed).copied().collect();
    let share = match asked.pin {
        Pin::Auto | Pin::None => pus,
        Pin::Cores => part_of_cores(&pus, k, n),
        Pin::Numa => part_of_nodes(&pus, k, n),
    };
    let whole = WorkerPlace::new(&share);
    let cores = groups(&share, |pu| pu.core);
    let is_pinned = matches!(asked.pin, Pin::Cores | Pin::Numa);
    let default = if is_pinned { cores.len() } else { share.len() };
    let n_workers = asked.n_workers.unwrap_or(default).max(1);
    let workers = match asked.pin {
        Pin::Auto | Pin::None => vec![whole.clone(); n_workers],
        _ if n_workers <= cores.len() => {
            fastest(&cores, n_workers).into_iter().map(WorkerPlace::new).collect()
        }
        Pin::Cores if n_workers <= share.len() => hardware_threads(&cores, n_workers),
        Pin::Cores => vec![whole.clone(); n_workers],
        Pin::Numa => whole_nodes(&share, n_workers),
    };
    Placement { pus: whole.pus, workers }
}

impl Placement {
    /// All processors of the workers.
    pub fn used(&self) -> PuSet {
        self.workers.iter().fold(PuSet::default(), |all, place| all.union(&place.pus))
    }

    /// The seats of the workers: their caches, nodes and speeds.
    pub fn seats(&self) -> Vec<Seat> {
        self.workers.iter().map(WorkerPlace::seat).collect()
    }
}

impl WorkerPlace {
    fn new(pus: &[Pu]) -> Self {
        let first = pus.first();
        let node = first.map(|pu| pu.node).filter(|node| pus.iter().all(|pu| pu.node == *node));
        let cache =
            first.and_then(|pu| pu.cache).filter(|cache| pus.iter().all(|pu| pu.cache == Some(*cache)));
        let speeds: u64 = pus.iter().map(|pu| u64::from(pu.speed)).sum();
        let speed = (speeds / (pus.len() as u64).max(1)) as u32;
        Self { pus: pus.iter().map(|pu| pu.index).collect(), node, cache, speed }
    }

    /// If nothing is known, there are one node and one cache.
    fn seat(&self) -> Seat {
        seat(self.node.unwrap_or(0), self.cache, self.speed)
    }
}

fn seat(node: u32, cache: Option<u32>, speed: u32) -> Seat {
    Seat { cache: cache.unwrap_or(u32::MAX - node), node, speed }
}

impl Pu {
    /// The seat of a worker on this processor.
    pub fn seat(&self) -> Seat {
        seat(self.node, self.cache, self.speed)
    }
}

/// Runs of processors that share something; they are consecutive.
fn groups(pus: &[Pu], what: impl Fn(&Pu) -> u32) -> Vec<&[Pu]> {
    pus.chunk_by(|a, b| what(a) == what(b)).collect()
}

/// Part `k` of `n` of the items; if there are fewer items than parts, the one that is nearest.
fn part<T>(items: &[T], k: usize, n: usize) -> &[T] {
    let at = |k: usize| k * items.len() / n.max(1);
    let begin = at(k).min(items.len().saturating_sub(1));
    &items[begin..at(k + 1).max(begin + 1).min(items.len())]
}

fn part_of_cores(pus: &[Pu], k: usize, n: usize) -> Vec<Pu> {
    part(&groups(pus, |pu| pu.core), k, n).concat()
}

/// Equal numbers of whole nodes for each rank; if there are more ranks than nodes, the ranks of a node divide
/// its cores.
fn part_of_nodes(pus: &[Pu], k: usize, n: usize) -> Vec<Pu> {
    let nodes = groups(pus, |pu| pu.node);
    if n <= nodes.len() {
        return part(&nodes, k, n).concat();
    }
    let node_of = |k: usize| k * nodes.len() / n;
    let mates = |ranks: std::ops::Range<usize>| ranks.filter(|r| node_of(*r) == node_of(k)).count();
    nodes.get(node_of(k)).map_or(Vec::new(), |node| part_of_cores(node, mates(0..k), mates(0..n)))
}

/// `n` of the items, evenly spaced.
fn evenly_spaced<T: Copy>(items: &[T], n: usize) -> impl Iterator<Item = T> {
    (0..n).map(move |i| items[i * items.len() / n])
}

/// `n` of the cores, in their order: the fastest. Of cores that are equally fast, some that are evenly
/// spaced.
fn fastest<'a>(cores: &[&'a [Pu]], n: usize) -> Vec<&'a [Pu]> {
    let speed = |core: usize| cores[core].iter().map(|pu| pu.speed).max();
    let mut by_speed: Vec<usize> = (0..cores.len()).collect();
    by_speed.sort_by_key(|core| Reverse(speed(*core)));
    let slowest = speed(by_speed[n - 1]);
    let faster = by_speed.iter().copied().take_while(|core| speed(*core) > slowest);
    let mut chosen: Vec<usize> = faster.collect();
    let alike: Vec<usize> = by_speed.into_iter().filter(|core| speed(*core) == slowest).collect();
    chosen.extend(evenly_spaced(&alike, n - chosen.len()));
    chosen.sort_unstable();
    chosen.into_iter().map(|core| cores[core]).collect()
}

/// The first hardware thread of every core, then the second of as many as it takes, and so on; side by side
/// what shares a core.
fn hardware_threads(cores: &[&[Pu]], n: usize) -> Vec<WorkerPlace> {
    let turns = cores.iter().map(|core| core.len()).max().unwrap_or(0);
    let by_turn = (0..turns).flat_map(|turn| (0..cores.len()).map(move |core| (core, turn)));
    let mut taken: Vec<_> = by_turn.filter(|(core, turn)| *turn < cores[*core].len()).take(n).collect();
    taken.sort_unstable();
    taken.into_iter().map(|(core, turn)| WorkerPlace::new(&cores[core][turn..=turn])).collect()
}

/// Workers over nodes by the number of processors; each may use all of its node.
fn whole_nodes(share: &[Pu], n: usize) -> Vec<WorkerPlace> {
    let of_node = |pu: &Pu| share.iter().filter(|other| other.node == pu.node).copied().collect::<Vec<_>>();
    (0..n).filter_map(|i| share.get(i * share.len() / n)).map(|pu| WorkerPlace::new(&of_node(pu))).collect()
}
