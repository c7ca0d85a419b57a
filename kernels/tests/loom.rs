//! The lock-free parts under every interleaving of two threads, including stale reads:
//!
//!     RUSTFLAGS="--cfg loom" cargo test --release -p inselberg-kernels --test loom
//!
//! The models check that a chain keeps its end while any thread shortens it, that the greatest of all
//! candidates for a densest neighbour remains, and that no union of two sets is lost.
#![cfg(loom)]

use inselberg_kernels::fof::union::union;
use inselberg_kernels::geom::Domain;
use inselberg_kernels::graph::{Neighbours, raise_neighbours};
use inselberg_kernels::ids::TestIdx;
use inselberg_kernels::mesh::{Mesh, SortedOcts, UnlinkedMesh};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::label::{compress, root_word};
use inselberg_kernels::phew::raise::{Rise, raise};
use inselberg_kernels::phew::test_cells::TestCells;
use inselberg_kernels::sync::{AtomicU32, Ordering::Relaxed};
use inselberg_kernels::union_find::root;
use loom::sync::Arc;
use loom::thread;

fn atomics(values: &[u32]) -> Arc<Vec<AtomicU32>> {
    Arc::new(values.iter().map(|&v| AtomicU32::new(v)).collect())
}

/// Where the chain from `cell` ends, one step `up` at a time.
fn end_of(up: impl Fn(u32) -> u32, mut cell: u32) -> u32 {
    loop {
        match up(cell) {
            end if end == cell => return end,
            next => cell = next,
        }
    }
}

/// Two threads shorten the chains from their parts of the cells at the same time.
fn check_compress(up: &'static [u32], cut: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(4);
    model.check(move || {
        let shared = atomics(up);
        let (theirs, n) = (shared.clone(), up.len());
        let other = thread::spawn(move || compress(&theirs, 0..cut));
        compress(&shared, cut..n);
        let seen_meanwhile = end_of(|cell| shared[cell as usize].load(Relaxed), 0);
        other.join().expect("no panic");
        assert_eq!(seen_meanwhile, end_of(|cell| up[cell as usize], 0));
        for cell in 0..n {
            let end = end_of(|cell| up[cell as usize], cell as u32);
            assert_eq!(shared[cell].load(Relaxed), end, "cell {cell}");
        }
    });
}

#[test]
fn two_threads_shorten_one_chain() {
    check_compress(&[1, 2, 3, 3], 2);
    check_compress(&[0, 0, 1, 2], 2);
}

#[test]
fn two_threads_shorten_chains_that_join() {
    check_compress(&[2, 2, 3, 4, 4], 1);
    check_compress(&[1, 1, 1, 0, 0], 3);
}

/// Long enough that each thread also shortens cells of the other's part.
#[test]
fn two_threads_shorten_each_others_cells() {
    check_compress(&[2, 0, 3, 4, 5, 5], 2);
    check_compress(&[1, 2, 3, 4, 5, 5], 1);
}

/// Roots are read while chains are shortened: shortening makes no root and unmakes none.
#[test]
fn roots_stay_roots() {
    loom::model(|| {
        let up = atomics(&[1, 2, 2, 2]);
        let theirs = up.clone();
        let other = thread::spawn(move || compress(&theirs, 0..4));
        assert_eq!(root_word(&up, 0), 0b0100);
        other.join().expect("no panic");
        assert_eq!(root_word(&up, 0), 0b0100);
    });
}

/// A row of test cells, with their mesh.
fn row(rho: &'static [f64]) -> (Mesh, TestCells<'static>) {
    let n = rho.len() as u32;
    let domain = Domain { coarse: [n, 1, 1], periodic: [false; 3] };
    let octs: Vec<u32> = (0..n.div_ceil(2)).collect();
    let exists: Vec<u8> = octs.iter().map(|x| if 2 * x + 1 < n { 3 } else { 1 }).collect();
    let position = octs.iter().map(|x| [*x, 0, 0]).collect();
    let octs = SortedOcts { position, leaf: exists.clone(), exists };
    let mesh = UnlinkedMesh::from_sorted(domain, &[octs]).expect("a row of cells").linked();
    let mask = mesh.bricks().iter().map(|b| b.leaf).collect();
    let greatest = rho.iter().copied().fold(0.0, f64::max);
    (mesh, TestCells::new(mask, rho, vec![greatest]))
}

/// Two threads raise one pointer, each over its own candidates, in two orders.
fn check_raise(rho: &'static [f64], expected: u32) {
    for candidates in [[[1, 2], [3, 2]], [[3, 1], [2, 1]], [[2, 3], [1, 3]]] {
        loom::model(move || {
            let (mesh, test_cells) = row(rho);
            let shared = Arc::new((mesh, test_cells, vec![AtomicU32::new(0)]));
            let try_all = |it: &(Mesh, TestCells, Vec<AtomicU32>), list: [u32; 2]| {
                for c in list {
                    let rise = Rise::new(&it.0, &it.1, TestIdx(0), TestIdx(c));
                    raise(&it.0, &it.1, Rules::Paper, &it.2, rise);
                }
            };
            let theirs = shared.clone();
            let other = thread::spawn(move || try_all(&theirs, candidates[0]));
            try_all(&shared, candidates[1]);
            other.join().expect("no panic");
            assert_eq!(shared.2[0].load(Relaxed), expected, "{candidates:?}");
        });
    }
}

#[test]
fn the_greatest_candidate_stays() {
    check_raise(&[1.0, 2.0, 3.0, 2.5], 2);
    check_raise(&[1.0, 2.0, 2.0, 2.0], 1);
    check_raise(&[4.0, 2.0, 3.0, 3.0], 0);
}

/// Two threads join pairs of cells at the same time: afterwards the components are those of all pairs, and
/// each has one root, its lowest cell.
fn check_union(n: u32, before: &'static [[u32; 2]], pairs: [&'static [[u32; 2]]; 2]) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(4);
    model.check(move || {
        let shared = atomics(&(0..n).collect::<Vec<_>>());
        before.iter().for_each(|[a, b]| union(&shared, *a, *b));
        let theirs = shared.clone();
        let other = thread::spawn(move || pairs[0].iter().for_each(|[a, b]| union(&theirs, *a, *b)));
        pairs[1].iter().for_each(|[a, b]| union(&shared, *a, *b));
        other.join().expect("no panic");
        let mut expected: Vec<u32> = (0..n).collect();
        for _ in 0..n {
            for [a, b] in before.iter().chain(pairs[0]).chain(pairs[1]) {
                let low = expected[*a as usize].min(expected[*b as usize]);
                (expected[*a as usize], expected[*b as usize]) = (low, low);
            }
        }
        for cell in 0..n {
            assert_eq!(root(&shared, cell), expected[cell as usize], "cell {cell}");
        }
    });
}

/// The case in which a root that was read again is overwritten: both hook cell 2.
#[test]
fn two_threads_hook_one_root() {
    check_union(3, &[], [&[[2, 0]], &[[2, 1]]]);
    check_union(4, &[[2, 3]], [&[[3, 0]], &[[3, 1]]]);
}

#[test]
fn two_threads_join_what_the_other_hooks() {
    check_union(4, &[], [&[[0, 1], [1, 2]], &[[3, 2], [2, 1]]]);
    check_union(4, &[], [&[[3, 2]], &[[2, 1], [1, 0]]]);
}

/// Paths are halved while their ends are hooked.
#[test]
fn two_threads_halve_paths_and_hook() {
    check_union(5, &[[3, 4], [2, 3], [1, 2]], [&[[4, 0]], &[[4, 1], [3, 0]]]);
    check_union(6, &[[4, 5], [3, 4], [1, 2]], [&[[5, 2]], &[[5, 0]]]);
}

/// Two threads raise the pointers of both ends of links that share particles.
#[test]
fn the_greatest_linked_particle_stays() {
    loom::model(|| {
        let rho: &'static [f64] = &[1.0, 3.0, 2.0];
        let shared = atomics(&[0, 1, 2]);
        let theirs = shared.clone();
        let link = |of: &'static [TestIdx], list: &'static [TestIdx]| Neighbours { of, k: 1, list };
        let other = thread::spawn(move || {
            raise_neighbours(&link(&[TestIdx(0)], &[TestIdx(1)]), rho, &theirs);
        });
        raise_neighbours(&link(&[TestIdx(2)], &[TestIdx(0)]), rho, &shared);
        other.join().expect("no panic");
        let found: Vec<u32> = shared.iter().map(|pointer| pointer.load(Relaxed)).collect();
        assert_eq!(found, [1, 1, 2], "particle 0 is linked to 1 and 2");
    });
}
