//! Chains of pointers through several ranks, followed to their ends.
//!
//! Each rank has items. A chain of pointers from an item ends at an item that points to itself, or
//! leaves the rank at an *exit*. The exit holds the item on another rank at which the chain continues. In a round
//! each rank asks those ranks where their part of the chain leads. The answers use the current state of their own exits, so
//! the known part of every chain doubles per round.

use crate::exchange::relay::ask_straight;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank, Reduce};

/// An item of any rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Pod, Zeroable)]
#[repr(C)]
pub struct RemoteIndex {
    /// The rank.
    pub rank: u32,
    /// The item there.
    pub index: u32,
}

/// The known part of a chain: where it leads.
pub trait Lead: Pod {
    /// The item at which the chain ends or continues.
    fn target(&self) -> RemoteIndex;
    /// Whether the chain ends there.
    fn is_end(&self) -> bool;
    /// This part of a chain, continued by `next`, which begins at its target. Leads may keep something of the way.
    #[must_use]
    fn then(self, next: Self) -> Self {
        next
    }
}

/// A lead without further data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Bare {
    target: RemoteIndex,
    is_end: u32,
}

impl Bare {
    /// The end of a chain.
    pub fn end(target: RemoteIndex) -> Self {
        Self { target, is_end: 1 }
    }

    /// A chain that continues at `target`.
    pub fn onward(target: RemoteIndex) -> Self {
        Self { target, is_end: 0 }
    }
}

impl Lead for Bare {
    fn target(&self) -> RemoteIndex {
        self.target
    }

    fn is_end(&self) -> bool {
        self.is_end == 1
    }
}

/// Where the part of a chain within a rank ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ChainStep<L> {
    /// At the end of the chain.
    End(L),
    /// At the exit with this index.
    Exit(usize),
    /// At the exit with this index, after a way of which the lead keeps something.
    Through(L, usize),
}

/// The known part of a chain whose local part ends at `step`.
pub fn lead_of<L: Lead>(step: ChainStep<L>, exits: &[L]) -> L {
    match step {
        ChainStep::End(lead) => lead,
        ChainStep::Exit(exit) => exits[exit],
        ChainStep::Through(lead, exit) => lead.then(exits[exit]),
    }
}

/// Collective: makes every exit lead to the end of its chain. `follow` returns where the local part of the chain from an
/// item of this rank ends. Two exchanges per round. The number of rounds is the logarithm of the number of ranks that
/// the longest chain passes through.
///
/// # Errors
/// When another rank fails.
pub fn resolve<L: Lead>(
    comm: &Comm,
    exits: &mut [L],
    follow: impl Fn(u32) -> ChainStep<L>,
) -> Result<(), CommError> {
    loop {
        let mut open: Vec<RemoteIndex> = exits.iter().filter(|e| !e.is_end()).map(L::target).collect();
        if comm.all_reduce_counts(&[open.len() as u64], Reduce::Sum)?[0] == 0 {
            return Ok(());
        }
        open.sort_unstable();
        open.dedup();
        let leads = ask(comm, &open, exits, &follow)?;
        for exit in exits.iter_mut().filter(|e| !e.is_end()) {
            let place = open.binary_search(&exit.target()).expect("every open exit is asked for");
            *exit = exit.then(leads[place]);
        }
    }
}

/// Collective: asks the owners of the given items, which ascend and are distinct, for the leads of their chains.
fn ask<L: Lead>(
    comm: &Comm,
    items: &[RemoteIndex],
    exits: &[L],
    follow: &impl Fn(u32) -> ChainStep<L>,
) -> Result<Vec<L>, CommError> {
    let indices: Vec<u32> = items.iter().map(|item| item.index).collect();
    let answer = |asked: Vec<u32>| Ok(asked.into_iter().map(|i| lead_of(follow(i), exits)).collect());
    ask_straight(comm, &indices, |i| Rank(items[i].rank), answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use inselberg_comm::run_threads;

    /// One item per rank, each of which points to that of the next rank; the last is the end.
    #[test]
    fn a_chain_through_all_ranks_is_followed_in_a_logarithm_of_rounds() {
        let n_ranks = 37;
        let ran = run_threads(n_ranks, |comm| {
            let rank = comm.rank().0;
            let is_last = comm.rank().at() + 1 == n_ranks;
            let mut exits = vec![Bare::onward(RemoteIndex { rank: rank + 1, index: 7 })];
            exits.truncate(usize::from(!is_last));
            let here = ChainStep::End(Bare::end(RemoteIndex { rank, index: 7 }));
            let end = resolve(comm, &mut exits, |_| if is_last { here } else { ChainStep::Exit(0) });
            let rounds: u64 = comm.traffic().iter().map(|stage| stage.rounds).sum();
            (end, exits, rounds)
        });
        for (end, exits, rounds) in ran.expect("no panic") {
            assert_eq!(end, Ok(()));
            assert!(exits.iter().all(|e| e.is_end() && e.target() == RemoteIndex { rank: 36, index: 7 }));
            assert!(rounds <= 12, "{rounds} exchanges");
        }
    }
}
