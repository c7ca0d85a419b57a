//! Which operations must a backend have? All calls are built from these few.

#[cfg(feature = "mpi")]
use super::mpi::HostComm;
use crate::pulse::BUSY_PATIENCE;
use crate::{CommError, Pulse, Rank, Result, ThreadLevel};
use std::fmt;
use std::time::Duration;

/// The purpose of a message. Each kind has two tags, which consecutive rounds use in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    /// From a child to its parent in the tree.
    Up,
    /// From a parent to its child.
    Down,
    /// Records of a sparse exchange.
    Data,
    /// Records between ranks that know each other as neighbours.
    Neighbour,
}

/// The tag of a message: its kind, and whether its round has an even or an odd number.
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

/// The location of a rank.
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

/// The operations of a backend. Only [`Transport::park`] waits, and only briefly.
///
/// Each message is received once, in full, by its destination and with its tag. The order of messages is not
/// preserved. When a rank fails, the others get an error from any operation of a collective call that the
/// failed rank has not finished.
pub(crate) trait Transport: fmt::Debug {
    /// The number of this rank.
    fn rank(&self) -> Rank;

    /// Number of ranks.
    fn n_ranks(&self) -> usize;

    /// Starts a message to another rank.
    fn send(&mut self, to: Rank, tag: Tag, bytes: Vec<u8>) -> Result<()>;

    /// Starts a message that counts as [`Transport::pending`] until `to` has received it, at least in part
    /// ([`Transport::is_receiving`]).
    fn send_synchronous(&mut self, to: Rank, tag: Tag, bytes: Vec<u8>) -> Result<()>;

    /// Number of started messages that still need this rank: those not yet sent, and synchronous ones of
    /// which nothing is received yet.
    fn pending(&mut self) -> Result<usize>;

    /// The next message with `tag`, if one has arrived.
    fn receive(&mut self, tag: Tag) -> Result<Option<(Rank, Vec<u8>)>>;

    /// Whether a part of a message with `tag` has arrived, so that [`Transport::receive`] will return it.
    fn is_receiving(&self, _tag: Tag) -> bool {
        false
    }

    /// Sleeps until something may have changed since the last call, or for `at_most`. With very many ranks it
    /// may sleep longer.
    fn park(&mut self, at_most: Duration) -> Result<()>;

    /// A count that changes with every visible sign of life of the job.
    fn progress_signs(&mut self) -> u64;

    /// Sets the location of this rank.
    fn set_location(&mut self, place: RankState);

    /// Finds out why nothing has moved here for `idle`, which is at least `patience`.
    fn probe_stall(&mut self, patience: Duration, idle: Duration) -> Finding;

    /// Number of messages that this rank sent for the watchdog.
    fn watch_messages(&self) -> u64 {
        0
    }

    /// The handle whose beats count as signs of life.
    fn pulse(&self) -> Pulse;

    /// Calls `clean` before this process ends by itself, if a failure of the job ends processes here.
    fn before_end(&mut self, clean: Box<dyn FnOnce() + Send>) {
        drop(clean);
    }

    /// Fails the present call and all later ones on all ranks with `error`, or with an earlier error. Returns
    /// that error. On the other ranks, [`Transport::park`] returns it, if no other operation does.
    fn abort(&mut self, error: CommError) -> CommError;

    /// Collective, on ranks that have failed: discards all messages and forgets the failure. No rank returns
    /// before every rank has begun it. A backend whose failures end the process has nothing to recover.
    /// An error is final: every later recovery returns one at once.
    fn recover(&mut self, _within: Duration) -> Result<()> {
        Ok(())
    }

    /// Collective: waits for all ranks and frees their shared resources. No further calls are allowed.
    fn close(&mut self, _within: Duration) -> Result<()> {
        Ok(())
    }

    /// The communicator of the MPI library beneath, if there is one.
    #[cfg(feature = "mpi")]
    fn as_host(&self) -> Option<HostComm> {
        None
    }

    /// The threads that may call the operations.
    fn thread_level(&self) -> ThreadLevel {
        ThreadLevel::Multiple
    }

    /// Returns an error if this thread must not call the operations, or nobody may any more.
    fn check_callable(&self) -> Result<()> {
        Ok(())
    }
}

/// Why nothing moves.
#[derive(Debug)]
pub(crate) enum Finding {
    /// Other ranks report that something has moved.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "threads see it themselves"))]
    Moves,
    /// A rank computes, but not yet for too long.
    Computes,
    /// The job is to end with this.
    Stalled(CommError),
}

impl Finding {
    /// The finding for ranks at `places`; if `computing`, some of them are in no call.
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
