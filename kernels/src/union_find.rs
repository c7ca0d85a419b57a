//! Forests of pointers on atomics: every entry points to another of its tree, and a root to itself.

use crate::sync::{AtomicU32, Ordering::Relaxed};

/// The root above an entry, halving the path on the way. Any number of callers may do so at the same time, as
/// long as whatever else is stored in an entry leads to the same root or below it, as the README of `fof` argues.
#[inline]
pub fn root(up: &[AtomicU32], entry: u32) -> u32 {
    let mut at = entry;
    loop {
        let next = up[at as usize].load(Relaxed);
        if next == at {
            return at;
        }
        let over = up[next as usize].load(Relaxed);
        if over == next {
            return next;
        }
        up[at as usize].store(over, Relaxed);
        at = over;
    }
}
