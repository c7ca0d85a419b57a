//! Lock-free union: joins sets from any number of threads. README.md in this folder proves that no union is
//! lost and that every call ends.

use crate::sync::{AtomicU32, Ordering::Relaxed};
use crate::union_find::root;

/// Joins the sets of two items. The lower root remains a root.
#[inline]
pub fn union(up: &[AtomicU32], a: u32, b: u32) {
    let (mut a, mut b) = (a, b);
    loop {
        (a, b) = (root(up, a), root(up, b));
        if a == b {
            return;
        }
        let (low, high) = (a.min(b), a.max(b));
        // Compared with the root that was found: if another thread has hooked it since, that hook must not be
        // overwritten.
        if up[high as usize].compare_exchange(high, low, Relaxed, Relaxed).is_ok() {
            return;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    /// Number of items and pairs to join: sparse and dense graphs, chains and stars.
    fn graph() -> impl Strategy<Value = (u32, Vec<[u32; 2]>)> {
        let any_pairs = prop::collection::vec((any::<u32>(), any::<u32>()), 0..80);
        (2..80u32, any_pairs, 0..4u32).prop_map(|(n, pairs, kind)| {
            let any = pairs.into_iter().map(move |(a, b)| [a % n, b % n]);
            let pairs = match kind {
                0 => any.collect(),
                1 => any.take(n as usize / 2).collect(),
                2 => (1..n).map(|i| [n - i, n - i - 1]).collect(),
                _ => (0..n - 1).map(|i| [i, n - 1]).chain(any).collect(),
            };
            (n, pairs)
        })
    }

    /// Reference: the lowest item of the set of each item.
    fn plain(n: u32, pairs: &[[u32; 2]]) -> Vec<u32> {
        let mut lowest: Vec<u32> = (0..n).collect();
        for [a, b] in pairs {
            let (a, b) = (lowest[*a as usize], lowest[*b as usize]);
            lowest.iter_mut().filter(|l| **l == a.max(b)).for_each(|l| *l = a.min(b));
        }
        lowest
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "the test is about threads that meet")]
    fn no_union_is_lost_on_random_graphs() {
        const THREADS: usize = 3;
        let mut runner = TestRunner::deterministic();
        let mut new_graph = || graph().new_tree(&mut runner).expect("no filters").current();
        let graphs: Vec<(Vec<AtomicU32>, Vec<[u32; 2]>)> = (0..10_000)
            .map(|_| new_graph())
            .map(|(n, pairs)| ((0..n).map(AtomicU32::new).collect(), pairs))
            .collect();
        // All threads work on the same graph at about the same time, each on its own pairs.
        let start = std::sync::Barrier::new(THREADS);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (graphs, start) = (&graphs, &start);
                scope.spawn(move || {
                    for (i, (up, pairs)) in graphs.iter().enumerate() {
                        if i % 16 == 0 {
                            start.wait();
                        }
                        pairs.iter().skip(thread).step_by(THREADS).for_each(|[a, b]| union(up, *a, *b));
                    }
                });
            }
        });
        for (i, (up, pairs)) in graphs.iter().enumerate() {
            let found: Vec<u32> = (0..up.len() as u32).map(|item| root(up, item)).collect();
            assert_eq!(found, plain(up.len() as u32, pairs), "graph {i}");
        }
    }
}
