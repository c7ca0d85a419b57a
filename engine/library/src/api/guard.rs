//! A failure on one rank becomes the same error on all ranks, and the ranks stay usable.
//!
//! ```text
//!   rank 0   work ... fails: abort ──┐                          recover ── agree: rank 0's error ── Err
//!   rank 1   work ... waits for a message: gets the failure ───── recover ── agree: rank 0's error ── Err
//!   rank 2   work done, waits for the others: gets it ─────────── recover ── agree: rank 0's error ── Err
//! ```
//!
//! A panic is a failure like any other. If several ranks fail at once, the error of the lowest one counts. It
//! names that rank, unless all ranks fail alike.

use crate::api::hook::Cancelled;
use crate::error::{Error, ErrorKind};
use inselberg_comm::agree::all_messages;
use inselberg_comm::{Comm, CommError, Rank};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Collective: runs `work`. All ranks return a value, or all return the same error.
///
/// # Errors
/// The error of the lowest rank that failed. [`ErrorKind::TimedOut`] if a rank never came back.
pub fn call<T>(comm: &Comm, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let outcome = catch_unwind(AssertUnwindSafe(work));
    let outcome = outcome.unwrap_or_else(|panic| Err(from_panic(&*panic)));
    if comm.n_ranks() == 1 {
        return outcome;
    }
    let own = match outcome {
        Ok(value) => match comm.barrier() {
            Ok(()) => return Ok(value),
            Err(error) => own_failure(comm, error.into()),
        },
        Err(error) => own_failure(comm, error),
    };
    if let Some(error) = &own {
        comm.abort(error.to_string());
    }
    let failure = comm.failure();
    if let Err(lost) = comm.recover() {
        return Err(lost_for_good(failure, lost));
    }
    let said = own.map(|error| format!("{} {error}", error.kind() as u8));
    Err(first_of(&all_messages(comm, said)?))
}

/// The error of a rank whose engine can only be freed. After a stall it says where the ranks waited.
fn lost_for_good(failure: Option<CommError>, lost: CommError) -> Error {
    match failure {
        Some(failure) if failure.is_stall() => {
            let expected = "expected the same calls of the same engines on all ranks, in the same order";
            Error::new(ErrorKind::TimedOut, format!("{failure}, and the engine is lost; {expected}"))
        }
        _ => lost.into(),
    }
}

/// The error of the lowest rank that has one.
fn first_of(said: &[Option<String>]) -> Error {
    let mut own = (0..).map(Rank).zip(said).filter_map(|(rank, said)| Some((rank, said.as_ref()?)));
    let Some((rank, first)) = own.next() else {
        return Error::new(ErrorKind::Communication, "ranks lost each other");
    };
    let error = from_said(first);
    let is_of_all = said.iter().all(|said| said.as_ref() == Some(first));
    // It may have come from another rank, which it then names.
    let is_named = error.to_string().starts_with("rank ");
    match is_of_all || is_named {
        true => error,
        false => Error::new(error.kind(), format!("{rank}: {error}")),
    }
}

/// The error, unless it only says that another rank failed.
fn own_failure(comm: &Comm, error: Error) -> Option<Error> {
    let is_elsewhere = |failure: CommError| match failure {
        CommError::Aborted { rank, .. } | CommError::Panicked { rank, .. } | CommError::Left { rank, .. } => {
            rank != comm.rank()
        }
        _ => false,
    };
    (!comm.failure().is_some_and(is_elsewhere)).then_some(error)
}

fn from_said(said: &str) -> Error {
    let (kind, message) = said.split_once(' ').unwrap_or(("", said));
    let kind = kind.parse().ok().and_then(ErrorKind::from_number);
    // Ranks of other versions may send an unknown kind.
    Error::new(kind.unwrap_or(ErrorKind::Communication), message)
}

fn from_panic(panic: &(dyn Any + Send)) -> Error {
    if panic.is::<Cancelled>() {
        return Error::new(ErrorKind::Cancelled, "the caller cancelled the call");
    }
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    let text = text.unwrap_or_else(|| "a panic without a message".into());
    Error::new(ErrorKind::Internal, format!("a fault of the library, please report it: {text}"))
}
