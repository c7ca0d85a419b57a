//! Calls of a handle come one at a time. Which collective ones of this process never reached an engine?
//!
//! A call with a NULL or a busy handle cannot tell the other ranks. It is counted here, and the next call of
//! the handle tells them.

use crate::message::refused;
use inselberg::{Error, ErrorKind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, TryLockError};

/// Calls with a NULL handle. They may have been meant for any engine of this process.
static WITHOUT_HANDLE: AtomicU64 = AtomicU64::new(0);

/// The calls that an engine missed, through its handle or through those of its trees.
#[derive(Debug)]
pub struct MissedCalls {
    busy: AtomicU64,
    /// How many of [`WITHOUT_HANDLE`] the engine has been told of.
    told: AtomicU64,
}

impl MissedCalls {
    /// For a new engine.
    pub fn new() -> Self {
        Self { busy: AtomicU64::new(0), told: AtomicU64::new(WITHOUT_HANDLE.load(Relaxed)) }
    }

    /// A call with a NULL handle.
    pub fn without_handle() {
        WITHOUT_HANDLE.fetch_add(1, Relaxed);
    }

    /// A call with a busy handle.
    pub fn busy(&self) {
        self.busy.fetch_add(1, Relaxed);
    }

    /// How many there were since the last time.
    pub fn take(&self) -> u64 {
        let all = WITHOUT_HANDLE.load(Relaxed);
        self.busy.swap(0, Relaxed) + (all - self.told.swap(all, Relaxed))
    }
}

/// Whose call it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// That of this rank alone.
    ThisRank,
    /// That of all ranks.
    AllRanks,
}

/// What a handle keeps that makes collective calls.
pub trait MakesCalls {
    /// This rank refused so many collective calls before they came here.
    fn missed(&mut self, n_calls: u64);
}

/// What a handle keeps, for one call at a time.
#[derive(Debug)]
pub struct OneAtATime<S> {
    state: Mutex<S>,
    missed: Arc<MissedCalls>,
}

impl<S> OneAtATime<S> {
    pub fn new(state: S, missed: Arc<MissedCalls>) -> Self {
        Self { state: Mutex::new(state), missed }
    }

    /// # Errors
    /// While a call runs.
    pub fn check_idle(&self, whose: Whose) -> Result<(), Error> {
        match self.state.try_lock() {
            Err(TryLockError::WouldBlock) => Err(self.busy(whose)),
            _ => Ok(()),
        }
    }

    /// What is kept; `None` after a fault.
    pub fn into_state(self) -> Option<S> {
        self.state.into_inner().ok()
    }

    fn busy(&self, whose: Whose) -> Error {
        if whose == Whose::AllRanks {
            self.missed.busy();
        }
        refused("another call of this handle runs; expected one at a time")
    }

    fn work<T>(&self, whose: Whose, work: impl FnOnce(&mut S) -> Result<T, Error>) -> Result<T, Error> {
        match self.state.try_lock() {
            Ok(mut state) => work(&mut state),
            Err(TryLockError::WouldBlock) => Err(self.busy(whose)),
            Err(TryLockError::Poisoned(_)) => {
                let message = "an earlier call ended by a fault; expected it to be freed";
                Err(Error::new(ErrorKind::Internal, message))
            }
        }
    }
}

/// Does local `work` on what a handle keeps. It is refused without a handle, and while another call runs.
pub fn locked<S>(
    kept: Option<&OneAtATime<S>>,
    work: impl FnOnce(&mut S) -> Result<(), Error>,
) -> Result<(), Error> {
    kept.ok_or_else(no_handle)?.work(Whose::ThisRank, work)
}

/// Does collective `work` on what a handle keeps, as [`locked`]. If it is refused, the other ranks hear of it
/// at the next such call.
pub fn together<S: MakesCalls>(
    kept: Option<&OneAtATime<S>>,
    work: impl FnOnce(&mut S) -> Result<(), Error>,
) -> Result<(), Error> {
    let Some(kept) = kept else {
        MissedCalls::without_handle();
        return Err(no_handle());
    };
    kept.work(Whose::AllRanks, |state| {
        state.missed(kept.missed.take());
        work(state)
    })
}

fn no_handle() -> Error {
    refused("the handle is NULL; expected an open one")
}
