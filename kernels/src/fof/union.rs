//! Union-find on atomics, for any number of callers at the same time. `README.md` beside this file proves
//! that no union is lost and that every call ends.

use crate::sync::{AtomicU32, Ordering::Relaxed};
use crate::union_find::root;

/// Joins the sets of two items; the lower root stays one.
#[inline]
pub fn union(up: &[AtomicU32], a: u32, b: u32) {
    let (mut a, mut b) = (a, b);
    loop {
        (a, b) = (root(up, a), root(up, b));
        if a == b {
            return;
        }
        let (low, high) = (a.min(b), a.max(b));
        // Against the root that was found: if it is one no more, whoever hooked it must not be undone.
        if up[high as usize].compare_exchange(high, low, Relaxed, Relaxed).is_ok() {
            return;
        }
    }
}
