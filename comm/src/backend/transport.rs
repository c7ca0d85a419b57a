//! What can a backend do? The few operations on which all calls rest.

#[cfg(feature = "mpi")]
use super::mpi::HostComm;
use crate::pulse::BUSY_PATIENCE;
use crate::{CommError, Pulse, Rank, Result, ThreadLevel};
use std::fmt;
use std::time::Duration;

/// What a message is for. Each kind has two tags, which consecutive rounds use in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    /// From a child to its parent in the tree.
    Up,
    /// From a parent to its child.
    Down,
    /// Records of a sparse exchange.
    Data,
    /// Records between ranks that know of each other.
    Neighbour,
}

/// What a receiver asks for: a kind, and whether the round has an even or an odd number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tag(u8);

impl Tag {
    /// Number of different tags.
    pub const N: usize = 8;

    /// The tag of `kind` in a round.
    pub fn new(kind: Channel, round: u64) -> Self {
        Self(2 * kind as u8 + (round % 2) as u8)
    }

    /// As an index below [`Tag::N`].
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// Where a rank stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct RankState {
    /// The stage that was named last.
    pub stage: &'static str,
    /// The collective call it is in; empty between calls.
    pub call: &'static str,
    /// Collective calls it has finished.
    pub finished: u64,
}

impl fmt::Display for RankState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = if self.stage.is_empty() { "no stage" } else { self.stage };
        match self.call {
            "" => write!(f, "{stage}, between calls"),
            call => write!(f, "{stage}, in {call} (call {})", self.finished + 1),
        }
    }
}

/// What a backend can do. Nothing here waits but [`Transport::park`], and that not for long.
///
/// A message is handed out once, in full, to the rank and for the tag it was sent to. Order is kept
/// between no two messages. When a rank fails, the others get an error from any operation of a collective call that the failed
/// rank has not finished.
pub(crate) trait Transport: fmt::Debug {
    /// Which rank this is.
    fn rank(&self) -> Rank;

    /// Number of ranks.
    fn n_ranks(&self) -> usize;

    /// Starts a message to another rank.
    fn send(&mut self, to: Rank, tag: Tag, bytes: Vec<u8>) -> Result<()>;

    /// Starts a message that counts as [`Transport::pending`] until `to` has been handed it, or [`Transport::is_receiving`]
    /// it.
    fn send_synchronous(&mut self, to: Rank, tag: Tag, bytes: Vec<u8>) -> Result<()>;

    /// Number of started messages that still need this rank: not yet on their way, or synchronous and
    /// not yet received, or begun to be.
    fn pending(&mut self) -> Result<usize>;

    /// The next message with `tag`, if one is here.
    fn receive(&mut self, tag: Tag) -> Result<Option<(Rank, Vec<u8>)>>;

    /// Whether a part of a message with `tag` is here, so that [`Transport::receive`] will hand it out.
    fn is_receiving(&self, _tag: Tag) -> bool {
        false
    }

    /// Sleeps until something may have changed since the last rest began, or for `at_most`; longer where very many ranks
    /// would only look at each other.
    fn park(&mut self, at_most: Duration) -> Result<()>;

    /// A count that changes with every sign of life of the job that can be seen from here.
    fn progress_signs(&mut self) -> u64;

    /// Says where this rank stands.
    fn set_location(&mut self, place: RankState);

    /// What to make of nothing having moved here for `idle`, which is at least `patience`.
    fn probe_stall(&mut self, patience: Duration, idle: Duration) -> Finding;

    /// Messages that this rank sent to learn or say where ranks stand.
    fn watch_messages(&self) -> u64 {
        0
    }

    /// The handle whose beats count as signs of life.
    fn pulse(&self) -> Pulse;

    /// Does `clean` before this process ends by itself, if an end of the job does that here.
    fn before_end(&mut self, clean: Box<dyn FnOnce() + Send>) {
        drop(clean);
    }

    /// Fails the present call and all later ones on all ranks with `error`, or with an earlier one, which is given back.
    /// [`Transport::park`] says so on the other ranks, if no other operation does.
    fn abort(&mut self, error: CommError) -> CommError;

    /// Collective, on ranks that have failed: discards all messages and forgets the failure. It is over on no rank before
    /// every rank has begun it. A backend whose failures end the process has nothing to recover.
    ///
    /// An error is for good: every later recovery gives one at once.
    fn recover(&mut self, _within: Duration) -> Result<()> {
        Ok(())
    }

    /// Collective: waits for all ranks and gives back what only they can give back together. No further calls.
    fn close(&mut self, _within: Duration) -> Result<()> {
        Ok(())
    }

    /// The communicator of the MPI library beneath, if there is one.
    #[cfg(feature = "mpi")]
    fn as_host(&self) -> Option<HostComm> {
        None
    }

    /// From which threads the operations may be called.
    fn thread_level(&self) -> ThreadLevel {
        ThreadLevel::Multiple
    }

    /// An error where the operations must not be called from this thread.
    fn check_thread(&self) -> Result<()> {
        Ok(())
    }
}

/// Why nothing moves.
#[derive(Debug)]
pub(crate) enum Finding {
    /// Something does, as others say.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "threads see it themselves"))]
    Moves,
    /// A rank computes, and not yet for too long.
    Computes,
    /// The job is to end with this.
    Stalled(CommError),
}

impl Finding {
    /// The finding where the ranks stand at `places` and some of them, if `computing`, in no call.
    pub fn new(patience: Duration, idle: Duration, computing: bool, places: impl fmt::Display) -> Self {
        let after = if computing { patience * BUSY_PATIENCE } else { patience };
        match idle < after {
            true => Self::Computes,
            false => Self::Stalled(CommError::Stalled { after, places: places.to_string() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_two_tags_of_its_own() {
        let kinds = [Channel::Up, Channel::Down, Channel::Data, Channel::Neighbour];
        let mut tags: Vec<usize> = kinds.iter().flat_map(|&k| [0, 1].map(|n| Tag::new(k, n).at())).collect();
        tags.sort_unstable();
        assert_eq!(tags, (0..Tag::N).collect::<Vec<_>>());
    }
}
