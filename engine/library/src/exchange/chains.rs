//! Chains of pointers through several ranks, followed to their ends.
//!
//! Each rank has items. A chain of pointers from an item ends at an item that points to itself, or
//! leaves the rank at an *exit*. The exit holds the item on another rank at which the chain continues.
//!
//! A rank asks about each item at which one of its exits continues, and then only waits. The rank with the
//! item answers with the known part of its chain. If that is not the end, it also passes the question on to
//! the item to which this part leads, in the same exchange. Answers use the current state of the exits. So
//! the known part of every chain doubles with each exchange:
//!
//! ```text
//! chain                     a -> b -> c -> d -> e -> f, one item per rank
//! questions                 a asks b, b asks c, c asks d, d asks e, e asks f
//! first answers             b to a: c, and b passes the question of a on to c; c to b: d, ...
//! second answers            c to a: e, which c has from d by now; d to b: f; ...
//! third answer              e to a: f, the end
//! ```

use crate::exchange::bundle::{Bundle, SendBuffers, all_records};
use crate::exchange::grouped;
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

/// Where a chain leads: an item of a rank, in that rank's numbering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// The rank.
    pub rank: u32,
    /// The item there.
    pub item: u64,
}

impl From<RemoteIndex> for Target {
    fn from(RemoteIndex { rank, index }: RemoteIndex) -> Self {
        Self { rank, item: index.into() }
    }
}

/// The known part of a chain: where it leads.
pub trait Lead: Pod {
    /// The item at which the chain ends or continues.
    fn target(&self) -> Target;
    /// Whether the chain ends there.
    fn is_end(&self) -> bool;
    /// This part of a chain, continued by `next`, which begins at its target. Leads may keep data about the
    /// way.
    #[must_use]
    fn then(self, next: Self) -> Self {
        next
    }
}

/// A lead without further data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Bare {
    to: RemoteIndex,
    is_end: u32,
}

impl Bare {
    /// The end of a chain.
    pub fn end(to: RemoteIndex) -> Self {
        Self { to, is_end: 1 }
    }

    /// A chain that continues at `to`.
    pub fn onward(to: RemoteIndex) -> Self {
        Self { to, is_end: 0 }
    }

    /// The item at which the chain ends or continues.
    pub fn to(&self) -> RemoteIndex {
        self.to
    }
}

impl Lead for Bare {
    fn target(&self) -> Target {
        self.to.into()
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
    /// At the exit with this index, after a way about which the lead keeps data.
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

/// Collective: makes every exit lead to the end of its chain. `follow` returns where the local part of the
/// chain from an item of this rank ends. It takes one exchange for the questions and one per doubling: log2
/// of the number of ranks that the longest chain passes through. If all exits lead to ends, it takes none.
///
/// # Errors
/// When another rank fails.
pub fn resolve<L: Lead>(
    comm: &Comm,
    exits: &mut [L],
    follow: impl Fn(u64) -> ChainStep<L>,
) -> Result<(), CommError> {
    if !any_open(comm, exits)? {
        return Ok(());
    }
    let targets = open_targets(exits);
    let place =
        |exit: &L| targets.binary_search(&exit.target()).expect("the target of every open exit is listed");
    let open = exits.iter().enumerate().filter(|(_, exit)| !exit.is_end());
    let asked: Vec<(usize, usize)> = open.map(|(i, exit)| (i, place(exit))).collect();
    let mut questions = ask(comm, &targets)?;
    loop {
        let received = answer(comm, questions, |item| lead_of(follow(item), exits))?;
        questions = all_records(&received, QUESTIONS);
        let mut answers: Vec<Option<L>> = vec![None; targets.len()];
        for bundle in &received {
            bundle
                .each::<u32>(ANSWERED)
                .zip(bundle.each(ANSWERS))
                .for_each(|(i, lead)| answers[i as usize] = Some(lead));
        }
        for &(exit, target) in &asked {
            if !exits[exit].is_end() {
                exits[exit] =
                    exits[exit].then(answers[target].expect("a question is answered in every exchange"));
            }
        }
        if !any_open(comm, exits)? {
            return Ok(());
        }
    }
}

/// A question on its way along a chain.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Question {
    /// The rank that asks, and the place of the question there.
    asker: RemoteIndex,
    /// The item that it has reached, on the rank that gets it.
    item: u64,
}

/// Kinds of records in the bundles of [`answer`].
const QUESTIONS: usize = 0;
/// Answers, for the rank that has asked.
const ANSWERS: usize = 1;
/// The places of the questions that they answer.
const ANSWERED: usize = 2;

/// Collective: whether any exit of any rank does not lead to an end.
fn any_open<L: Lead>(comm: &Comm, exits: &[L]) -> Result<bool, CommError> {
    let open = u64::from(exits.iter().any(|exit| !exit.is_end()));
    Ok(comm.all_reduce_counts(&[open], Reduce::Max)?[0] > 0)
}

/// The items at which open exits continue, ascending and distinct.
fn open_targets<L: Lead>(exits: &[L]) -> Vec<Target> {
    let mut targets: Vec<Target> = exits.iter().filter(|e| !e.is_end()).map(L::target).collect();
    targets.sort_unstable();
    targets.dedup();
    targets
}

/// Collective: asks the owners of the given items, which ascend and are distinct, for the ends of their
/// chains. Returns the questions to this rank.
fn ask(comm: &Comm, targets: &[Target]) -> Result<Vec<Question>, CommError> {
    let rank = comm.rank().0;
    let questions: Vec<(Rank, Question)> = (0..)
        .zip(targets)
        .map(|(index, target)| {
            (Rank(target.rank), Question { asker: RemoteIndex { rank, index }, item: target.item })
        })
        .collect();
    let received = comm.exchange(grouped(&questions, |question| *question))?;
    Ok(received.into_iter().flat_map(|(_, questions)| questions).collect())
}

/// Collective: answers the questions by the leads of their items, and passes on those that are not at their
/// ends.
fn answer<L: Lead>(
    comm: &Comm,
    questions: Vec<Question>,
    lead: impl Fn(u64) -> L,
) -> Result<Vec<Bundle<3>>, CommError> {
    let mut buffers = SendBuffers::default();
    for question in questions {
        let lead = lead(question.item);
        let asker = Rank(question.asker.rank);
        buffers.put(asker, ANSWERED, &[question.asker.index]);
        buffers.put(asker, ANSWERS, &[lead]);
        if !lead.is_end() {
            let Target { rank, item } = lead.target();
            buffers.put(Rank(rank), QUESTIONS, &[Question { item, ..question }]);
        }
    }
    buffers.exchange(comm)
}

#[cfg(test)]
mod tests {
    use super::*;
    use inselberg_comm::run_threads;

    /// One item per rank. Each points to the item of the next rank; the last is the end.
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
            assert!(exits.iter().all(|e| e.is_end() && e.to() == RemoteIndex { rank: 36, index: 7 }));
            assert!(rounds <= 7, "{rounds} exchanges");
        }
    }
}
