//! Problems of a launch on a host, and the commands that avoid them.

use super::{Machine, Pin, Placement, PuSet};
use serde::{Deserialize, Serialize};
use std::fmt;

/// One rank of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankSite {
    /// Its number among all ranks.
    pub rank: u32,
    /// Its process.
    pub process: u32,
    /// The processors that it may use.
    pub allowed: PuSet,
    /// The placement of the rank and its workers.
    pub placement: Placement,
}

impl RankSite {
    fn n_workers(&self) -> usize {
        self.placement.workers.len()
    }
}

/// A problem of a launch. As text it is one line with advice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Complaint {
    /// A rank has more threads than processors.
    TooManyThreads {
        /// The rank.
        rank: u32,
        /// Its threads.
        n_threads: usize,
        /// The processors of its threads.
        pus: PuSet,
        /// Whether the host has more.
        has_more: bool,
    },
    /// Ranks have threads on the same cores, which are too few.
    SharedCores {
        /// The ranks.
        ranks: Vec<u32>,
        /// Their threads.
        n_threads: usize,
        /// Their processors.
        pus: PuSet,
        /// The number of their cores.
        n_cores: usize,
    },
    /// A rank works on several NUMA nodes.
    Across {
        /// The rank.
        rank: u32,
        /// The nodes.
        nodes: Vec<u32>,
    },
    /// Several ranks without placement.
    Unpinned {
        /// Their number.
        n_ranks: usize,
        /// The nodes of the host.
        n_nodes: usize,
    },
}

impl Complaint {
    /// Whether it certainly slows a run; else it is advice.
    pub fn is_harmful(&self) -> bool {
        matches!(self, Self::TooManyThreads { .. } | Self::SharedCores { .. })
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyThreads { rank, n_threads, pus, has_more } => write!(
                f,
                "rank {rank} has {} on {} ({pus}); type --threads {}{}",
                counted(*n_threads, "thread"),
                counted(pus.len(), "processor"),
                pus.len(),
                if *has_more {
                    ", or let the launcher bind it to more: mpirun --map-by numa --bind-to numa, or --bind-to none \
                     with --pin numa"
                } else {
                    ""
                }
            ),
            Self::SharedCores { ranks, n_threads, pus, n_cores } => write!(
                f,
                "ranks {} have {n_threads} threads on {} (processors {pus}); start fewer ranks or type --threads \
                 {}, and mpirun --map-by numa --bind-to numa, or --bind-to none with --pin numa",
                listed(ranks),
                counted(*n_cores, "core"),
                (n_cores / ranks.len()).max(1)
            ),
            Self::Across { rank, nodes } => write!(
                f,
                "rank {rank} works across the NUMA nodes {}; start a rank for each node: mpirun -n {} --map-by \
                 numa --bind-to numa inselberg ... --pin numa",
                listed(nodes),
                nodes.len()
            ),
            Self::Unpinned { n_ranks, n_nodes } => write!(
                f,
                "{n_ranks} ranks run anywhere on a host of {}; type --pin {}, or mpirun --map-by numa --bind-to \
                 numa",
                counted(*n_nodes, "NUMA node"),
                if *n_nodes > 1 { "numa" } else { "cores" }
            ),
        }
    }
}

/// The problems of the ranks on one host, worst first.
pub fn complaints(machine: &Machine, pin: Pin, ranks: &[RankSite]) -> Vec<Complaint> {
    let mut found: Vec<Complaint> = ranks.iter().filter_map(|site| too_many_threads(machine, site)).collect();
    found.extend(shared_cores(machine, ranks));
    found.extend(ranks.iter().filter_map(|site| across(machine, site)));
    found.extend(unpinned(machine, pin, ranks));
    found
}

fn too_many_threads(machine: &Machine, site: &RankSite) -> Option<Complaint> {
    let (n_threads, pus) = (site.n_workers(), site.placement.used());
    let has_more = pus.len() < machine.pus.len();
    (n_threads > pus.len()).then_some(Complaint::TooManyThreads { rank: site.rank, n_threads, pus, has_more })
}

/// All ranks that share cores with others, in one line. Ranks of one process with one thread each do so by
/// design.
fn shared_cores(machine: &Machine, ranks: &[RankSite]) -> Option<Complaint> {
    let cores: Vec<Vec<u32>> = ranks.iter().map(|site| machine.cores_of(&site.placement.used())).collect();
    let meets = |i: usize| {
        let other = |j: &usize| *j != i && cores[*j].iter().any(|core| cores[i].contains(core));
        (0..ranks.len()).any(|j| other(&j))
    };
    let meeting: Vec<&RankSite> = (0..ranks.len()).filter(|i| meets(*i)).map(|i| &ranks[i]).collect();
    let pus = meeting.iter().fold(PuSet::default(), |all, site| all.union(&site.placement.used()));
    let (n_threads, n_cores) =
        (meeting.iter().map(|site| site.n_workers()).sum(), machine.cores_of(&pus).len());
    let by_design = meeting.iter().all(|site| site.process == meeting[0].process && site.n_workers() == 1);
    let ranks = meeting.iter().map(|site| site.rank).collect();
    (n_threads > n_cores && !by_design).then_some(Complaint::SharedCores { ranks, n_threads, pus, n_cores })
}

fn across(machine: &Machine, site: &RankSite) -> Option<Complaint> {
    let nodes = machine.nodes_of(&site.placement.used());
    (nodes.len() > 1).then_some(Complaint::Across { rank: site.rank, nodes })
}

fn unpinned(machine: &Machine, pin: Pin, ranks: &[RankSite]) -> Option<Complaint> {
    let all = machine.all();
    let anywhere = ranks.len() > 1 && ranks.iter().all(|site| site.allowed == all);
    let is_found = pin == Pin::None && anywhere && all.len() > 1;
    is_found.then_some(Complaint::Unpinned { n_ranks: ranks.len(), n_nodes: machine.nodes.len() })
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// 1, 2 and 3.
fn listed(numbers: &[u32]) -> String {
    let texts: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    match texts.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => texts.concat(),
    }
}
