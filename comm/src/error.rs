//! What can go wrong between ranks.

use crate::{Rank, ThreadLevel};
use std::any::Any;
use std::fmt;
use std::time::Duration;

/// The result of a call of this crate.
pub type Result<T> = std::result::Result<T, CommError>;

/// Why a call could not be finished. Later calls return the same error, until [`crate::Comm::recover`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommError {
    /// A rank called [`crate::Comm::abort`].
    Aborted {
        /// The rank.
        rank: Rank,
        /// Its location.
        stage: String,
        /// Its message.
        message: String,
    },
    /// A rank panicked.
    Panicked {
        /// The rank.
        rank: Rank,
        /// Its location.
        stage: String,
        /// The message of the panic.
        message: String,
    },
    /// A rank ended without taking part in a collective call.
    Left {
        /// The rank.
        rank: Rank,
        /// Its location.
        stage: String,
    },
    /// Nothing moved within the time limit.
    Stalled {
        /// The time limit.
        after: Duration,
        /// The location of each rank.
        places: String,
    },
    /// Ranks made different calls.
    Mismatch {
        /// What differs.
        what: String,
    },
    /// A message for a rank that does not exist.
    NoSuchRank {
        /// The rank asked for.
        rank: Rank,
        /// How many there are.
        n_ranks: usize,
    },
    /// A call after [`crate::Comm::close`], by another handle of the rank.
    Closed,
    /// A rank could not be started.
    NotStarted {
        /// Why.
        why: String,
    },
    /// Some rank did not take part in [`crate::Comm::recover`] or [`crate::Comm::close`]. The handle has
    /// failed for good.
    TimedOut {
        /// The call.
        call: &'static str,
        /// The time limit for the others.
        after: Duration,
    },
    /// A call came from another thread than that of the rank, which the MPI library does not allow. Nothing
    /// was done.
    WrongThread {
        /// What the library allows.
        level: ThreadLevel,
    },
    /// The MPI library refused a call.
    Mpi {
        /// The call.
        call: &'static str,
        /// The message of the library.
        message: String,
    },
}

/// How the message of a stall begins, also on ranks that hear of it from another one.
const STALLED: &str = "nothing moved for";

impl CommError {
    /// Whether nothing moved within the time limit, on this rank or on the one that failed.
    pub fn is_stall(&self) -> bool {
        match self {
            Self::Stalled { .. } => true,
            Self::Aborted { message, .. } => message.starts_with(STALLED),
            _ => false,
        }
    }
}

impl fmt::Display for CommError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Aborted { rank, stage, message } => write!(f, "{rank}{}: {message}", In(stage)),
            Self::Panicked { rank, stage, message } => write!(f, "{rank} panicked{}: {message}", In(stage)),
            Self::Left { rank, stage } => write!(f, "{rank} ended{} while others wait for it", In(stage)),
            Self::Stalled { after, places } => {
                write!(f, "{STALLED} {} s; {places}", after.as_secs_f64())
            }
            Self::Mismatch { what } => write!(f, "the ranks disagree: {what}"),
            Self::NoSuchRank { rank, n_ranks } => write!(f, "a message for {rank} of {n_ranks}"),
            Self::Closed => f.write_str("the communicator is closed; expected an open one"),
            Self::NotStarted { why } => write!(f, "the ranks cannot be started: {why}"),
            Self::TimedOut { call, after } => {
                write!(f, "{call}: some rank did not call it within {} s", after.as_secs_f64())
            }
            Self::WrongThread { level } => {
                write!(
                    f,
                    "a call from another thread than that of the rank; MPI runs at thread level {level:?}"
                )
            }
            Self::Mpi { call, message } => write!(f, "{call}: {message}"),
        }
    }
}

impl std::error::Error for CommError {}

/// A stage as part of a sentence; empty if none was set.
struct In<'a>(&'a str);

impl fmt::Display for In<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, " in {}", self.0) }
    }
}

/// The message of a panic.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
}
