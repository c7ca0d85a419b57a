//! The lock-free union-find on real threads, against a plain one, on 10 000 random graphs.

use crate::fof_oracle::random::Random;
use inselberg_kernels::fof::union::union;
use inselberg_kernels::sync::AtomicU32;
use inselberg_kernels::union_find::root;

/// Number of items and pairs to join: sparse and dense, chains and stars among them.
fn graph(seed: u64) -> (u32, Vec<[u32; 2]>) {
    let mut random = Random(seed);
    let n = 2 + random.below(80) as u32;
    let mut any = || random.below(n as usize) as u32;
    let pairs: Vec<[u32; 2]> = match seed % 4 {
        0 => (0..n).map(|_| [any(), any()]).collect(),
        1 => (0..n / 2).map(|_| [any(), any()]).collect(),
        2 => (1..n).map(|i| [n - i, n - i - 1]).collect(),
        _ => (0..n - 1).map(|i| [i, n - 1]).chain((0..n).map(|_| [any(), any()])).collect(),
    };
    (n, pairs)
}

/// The lowest item of the component of each.
fn plain(n: u32, pairs: &[[u32; 2]]) -> Vec<u32> {
    let mut lowest: Vec<u32> = (0..n).collect();
    for [a, b] in pairs {
        let (a, b) = (lowest[*a as usize], lowest[*b as usize]);
        lowest.iter_mut().filter(|l| **l == a.max(b)).for_each(|l| *l = a.min(b));
    }
    lowest
}

#[test]
fn no_union_is_lost_on_random_graphs() {
    const THREADS: usize = 3;
    let graphs: Vec<(Vec<AtomicU32>, Vec<[u32; 2]>)> =
        (0..10_000).map(graph).map(|(n, pairs)| ((0..n).map(AtomicU32::new).collect(), pairs)).collect();
    // All threads take one graph at a time, each its pairs, so that they meet in it.
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
