//! The pinning of a host's ranks where nobody has chosen one.
//!
//! A thread that is pinned to a core which somebody else uses waits for it while other cores are idle. So
//! threads are pinned only where the cores belong to this job: a launcher, a job or a control group has given
//! the ranks a part of the machine, or the ranks of the job fill the machine. In both cases each worker must
//! have processors of its own. [`Claims`](super::Claims) are the second guard: other processes of this
//! program that pin.

use super::{Asked, Machine, Pin, Placement, PuSet, place};

/// One rank of a host and what it asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchedRank {
    /// Its process.
    pub process: u32,
    /// The processors that it may use.
    pub allowed: PuSet,
    /// The number of workers that the user asks for.
    pub n_workers: Option<usize>,
    /// The number of workers without pinning, where the user asks for none.
    pub default: usize,
    /// The most workers that Slurm allows.
    pub most: Option<usize>,
}

/// The pinning of the ranks of a host, never [`Pin::Auto`], and their placements.
pub fn place_all(machine: &Machine, pin: Pin, ranks: &[LaunchedRank]) -> (Pin, Vec<Placement>) {
    if pin != Pin::Auto {
        return (pin, placed(machine, pin, ranks));
    }
    let ranks = with_workers(machine, ranks);
    let pin = candidate(machine, &ranks);
    let placements = placed(machine, pin, &ranks);
    match pin == Pin::None || have_own_cores(machine, &placements) {
        true => (pin, placements),
        false => (Pin::None, placed(machine, Pin::None, &ranks)),
    }
}

/// The placements of the ranks of a host that are not pinned, with the workers that they would have if they
/// were.
pub fn place_unpinned(machine: &Machine, ranks: &[LaunchedRank]) -> (Pin, Vec<Placement>) {
    (Pin::None, placed(machine, Pin::None, &with_workers(machine, ranks)))
}

fn placed(machine: &Machine, pin: Pin, ranks: &[LaunchedRank]) -> Vec<Placement> {
    let allowed: Vec<PuSet> = ranks.iter().map(|rank| rank.allowed.clone()).collect();
    let of_rank = |(local_rank, rank): (usize, &LaunchedRank)| {
        let n_workers = rank.n_workers.or((pin == Pin::None).then_some(rank.default));
        let asked = Asked { pin, n_workers, allowed: &allowed, local_rank };
        let placement = place(machine, asked);
        // One worker per core may be more than Slurm allows.
        match rank.most.filter(|most| n_workers.is_none() && *most < placement.workers.len()) {
            Some(most) => place(machine, Asked { n_workers: Some(most), ..asked }),
            None => placement,
        }
    };
    ranks.iter().enumerate().map(of_rank).collect()
}

/// The ranks, each with a number of workers: processes with the same processors divide the cores, and one
/// process has as many as without pinning.
fn with_workers(machine: &Machine, ranks: &[LaunchedRank]) -> Vec<LaunchedRank> {
    let divided = placed(machine, Pin::Numa, ranks);
    let of_rank = |(rank, divided): (&LaunchedRank, Placement)| {
        let shares = |other: &LaunchedRank| other.process != rank.process && other.allowed == rank.allowed;
        let n = if ranks.iter().any(shares) { divided.workers.len() } else { rank.default };
        LaunchedRank { n_workers: rank.n_workers.or(Some(n)), ..rank.clone() }
    };
    ranks.iter().zip(divided).map(of_rank).collect()
}

/// The pinning that the masks of the ranks allow.
fn candidate(machine: &Machine, ranks: &[LaunchedRank]) -> Pin {
    let all = machine.all();
    if ranks.iter().all(|rank| rank.allowed != all) {
        return Pin::Cores;
    }
    let n_workers: usize = ranks.iter().filter_map(|rank| rank.n_workers).sum();
    let fill = n_workers == machine.cores_of(&all).len() || n_workers == all.len();
    let are_several = ranks.iter().any(|rank| rank.process != ranks[0].process);
    let are_free = ranks.iter().all(|rank| rank.allowed == all);
    if fill && are_several && are_free { Pin::Numa } else { Pin::None }
}

/// Whether no two workers share a processor, and no two ranks share a core.
fn have_own_cores(machine: &Machine, placements: &[Placement]) -> bool {
    let cores = |set: &PuSet| machine.cores_of(set).len();
    let of_ranks: Vec<PuSet> = placements.iter().map(Placement::used).collect();
    let all = of_ranks.iter().fold(PuSet::default(), |all, set| all.union(set));
    let n_workers: usize = placements.iter().map(|placement| placement.workers.len()).sum();
    n_workers <= all.len() && of_ranks.iter().map(cores).sum::<usize>() == cores(&all)
}
