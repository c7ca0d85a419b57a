//! Synchronisation between ranks of one process: the types of the standard library, or those of loom, which
//! tries every interleaving of threads (`--cfg loom`, see `model.rs`).

#[cfg(loom)]
pub(crate) use loom::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};
#[cfg(not(loom))]
pub(crate) use std::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use std::sync::PoisonError;
use std::time::Duration;

/// Locks; a rank that panicked while it held the lock is reported elsewhere.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits while `still` holds, for `at_most`.
#[cfg(not(loom))]
pub(crate) fn wait_while<'a, T>(
    condvar: &Condvar,
    guard: MutexGuard<'a, T>,
    at_most: Duration,
    still: impl FnMut(&mut T) -> bool,
) -> MutexGuard<'a, T> {
    condvar.wait_timeout_while(guard, at_most, still).unwrap_or_else(PoisonError::into_inner).0
}

/// Waits while `still` holds, without a limit, so that loom finds lost wake-ups.
#[cfg(loom)]
pub(crate) fn wait_while<'a, T>(
    condvar: &Condvar,
    mut guard: MutexGuard<'a, T>,
    _: Duration,
    mut still: impl FnMut(&mut T) -> bool,
) -> MutexGuard<'a, T> {
    while still(&mut guard) {
        guard = condvar.wait(guard).unwrap_or_else(PoisonError::into_inner);
    }
    guard
}
