//! Steps that succeed on all ranks or on none.
//!
//! An error on one rank is sent to all ranks, so no rank waits for one that has given up.

use crate::{Comm, CommError, Rank};
use std::fmt::Display;
use std::ops::Range;

/// Why a step did not succeed on all ranks.
#[derive(Debug)]
pub enum AgreeError<E> {
    /// It failed on this rank.
    Here(E),
    /// It failed on another rank.
    Elsewhere {
        /// The lowest rank where it failed.
        rank: Rank,
        /// The message of that rank.
        message: String,
    },
    /// The ranks could not exchange messages, or made different calls.
    Comm(CommError),
}

impl<E: Display> Display for AgreeError<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Here(error) => error.fmt(f),
            Self::Elsewhere { rank, message } => write!(f, "{rank}: {message}"),
            Self::Comm(error) => error.fmt(f),
        }
    }
}

impl<E: std::error::Error> std::error::Error for AgreeError<E> {}

impl<E> From<CommError> for AgreeError<E> {
    fn from(error: CommError) -> Self {
        Self::Comm(error)
    }
}

/// Collective: the value of `local`, if no rank has an error; an error on all ranks otherwise.
///
/// # Errors
/// When any rank has an error, or a rank fails.
pub fn agree<T, E: Display>(comm: &Comm, local: Result<T, E>) -> Result<T, AgreeError<E>> {
    let said = local.as_ref().err().map(ToString::to_string);
    match (local, first_message(comm, said)?) {
        (Err(error), _) => Err(AgreeError::Here(error)),
        (Ok(_), Some((rank, message))) => Err(AgreeError::Elsewhere { rank, message }),
        (Ok(value), None) => Ok(value),
    }
}

/// Collective: the lowest rank with a message, and the message.
///
/// # Errors
/// When a rank fails.
pub fn first_message(comm: &Comm, said: Option<String>) -> Result<Option<(Rank, String)>, CommError> {
    let mut messages = (0..).map(Rank).zip(all_messages(comm, said)?);
    Ok(messages.find_map(|(rank, said)| Some((rank, said?))))
}

/// Collective: the message of each rank, if it has one.
///
/// # Errors
/// When a rank fails.
pub fn all_messages(comm: &Comm, said: Option<String>) -> Result<Vec<Option<String>>, CommError> {
    // One byte before the text distinguishes an empty message from none.
    let own = said.map(|said| [&[0], said.as_bytes()].concat());
    let all = comm.all_gather_lists(own.as_deref().unwrap_or_default())?;
    let text = |bytes: Vec<u8>| Some(String::from_utf8_lossy(bytes.split_first()?.1).into_owned());
    Ok(all.into_iter().map(text).collect())
}

/// Local: the range of `n` items that belongs to `rank`; ranges are about equal and consecutive.
pub fn share_of_rank(n: u64, rank: Rank, n_ranks: usize) -> Range<u64> {
    let cut = |r: u64| (u128::from(n) * u128::from(r) / n_ranks as u128) as u64;
    cut(u64::from(rank.0))..cut(u64::from(rank.0) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_without_a_message_is_an_error() {
        let ran = crate::run_threads(3, |comm| {
            let local = if comm.rank() == Rank(1) { Err(String::new()) } else { Ok(()) };
            agree(comm, local).is_err()
        });
        assert_eq!(ran, Ok(vec![true; 3]));
    }

    #[test]
    fn shares_are_all_items_once() {
        for (n, ranks) in [(0, 3), (5, 8), (100, 7), (1 << 40, 3)] {
            let mut next = 0;
            for rank in 0..ranks {
                let items = share_of_rank(n, Rank(rank), ranks as usize);
                assert_eq!(items.start, next);
                next = items.end;
            }
            assert_eq!(next, n);
        }
    }
}
