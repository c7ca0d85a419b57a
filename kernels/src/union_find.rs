//! Union-find: which set is an entry in?
//!
//! Every entry points to another entry of its set, and the root points to itself. The module has the one
//! search for a root; callers decide which root survives a union. It does not depend on cells, peaks or
//! particles.

use crate::sync::{AtomicU32, Ordering::Relaxed};

/// A forest of pointers between entries, numbered from 0.
pub(crate) trait Parents {
    /// The parent of an entry; the entry itself if it is a root.
    fn parent(&self, entry: u32) -> u32;

    /// Replaces the parent of an entry that is not a root by one of its ancestors.
    fn set_parent(&mut self, entry: u32, parent: u32);
}

impl Parents for &[AtomicU32] {
    #[inline(always)]
    fn parent(&self, entry: u32) -> u32 {
        self[entry as usize].load(Relaxed)
    }

    #[inline(always)]
    fn set_parent(&mut self, entry: u32, parent: u32) {
        self[entry as usize].store(parent, Relaxed);
    }
}

impl Parents for [u32] {
    #[inline(always)]
    fn parent(&self, entry: u32) -> u32 {
        self[entry as usize]
    }

    #[inline(always)]
    fn set_parent(&mut self, entry: u32, parent: u32) {
        self[entry as usize] = parent;
    }
}

/// The root of an entry. Halves the path on the way: every other entry on it then points to its grandparent.
#[inline(always)]
pub(crate) fn find<P: Parents + ?Sized>(parents: &mut P, entry: u32) -> u32 {
    let mut at = entry;
    loop {
        let parent = parents.parent(at);
        if parent == at {
            return at;
        }
        let grandparent = parents.parent(parent);
        if grandparent == parent {
            return parent;
        }
        parents.set_parent(at, grandparent);
        at = grandparent;
    }
}

/// [`find`] on atomics. Any number of threads may call it at the same time, as long as every other store into
/// an entry keeps an ancestor of that entry in it; the README of `fof` proves it.
#[inline]
pub fn root(mut parents: &[AtomicU32], entry: u32) -> u32 {
    find(&mut parents, entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        /// Reference: one step at a time, without changing anything.
        #[test]
        fn roots_are_those_of_single_steps(below in prop::collection::vec(any::<u32>(), 1..60)) {
            let mut parents: Vec<u32> = below.iter().zip(0..).map(|(below, i)| below % (i + 1)).collect();
            let original = parents.clone();
            let plain = |mut at: u32| {
                while original[at as usize] != at {
                    at = original[at as usize];
                }
                at
            };
            let atomics: Vec<AtomicU32> = original.iter().map(|parent| AtomicU32::new(*parent)).collect();
            for entry in (0..original.len() as u32).rev() {
                prop_assert_eq!(find(parents.as_mut_slice(), entry), plain(entry));
                prop_assert_eq!(root(&atomics, entry), plain(entry));
            }
        }
    }
}
