//! Loops: who runs the independent parts of a computation?
//!
//! The kernels have no threads. Where parts of a long computation do not depend on each other, the caller says
//! by [`Loops`] how they run: one after the other, which is the default of all methods, or by its threads. The
//! results are the same.

use std::cmp::Ordering;
use std::ops::Range;

/// Entries of a column per task of a loop.
const AT_ONCE: usize = 1 << 14;

/// How loops run. The methods may call their closures in any order and in parallel.
pub trait Loops: Sync {
    /// Calls `each` with all numbers below `n`, and returns its results by number. A call should take some ten
    /// microseconds or more.
    fn each<T: Send>(&self, n: usize, each: impl Fn(usize) -> T + Sync) -> Vec<T> {
        (0..n).map(each).collect()
    }

    /// Gives a column the values of all numbers below `n`.
    fn fill<T: Send>(&self, column: &mut Vec<T>, n: usize, value: impl Fn(usize) -> T + Sync) {
        column.clear();
        column.extend((0..n).map(value));
    }

    /// Sorts a list.
    fn sort<T: Send>(&self, list: &mut [T], order: impl Fn(&T, &T) -> Ordering + Sync) {
        list.sort_unstable_by(order);
    }
}

/// One part after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InTurn;

impl Loops for InTurn {}

/// Calls `of` with runs of the numbers below `n`, which cover them. Returns its results in order.
pub fn each_run<L: Loops, T: Send>(loops: &L, n: usize, of: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    match n {
        0..=AT_ONCE => vec![of(0..n)],
        _ => loops.each(n.div_ceil(AT_ONCE), |i| of(i * AT_ONCE..((i + 1) * AT_ONCE).min(n))),
    }
}

/// The values of all numbers below `n`.
pub fn values<L: Loops, T: Send>(loops: &L, n: usize, value: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut column = Vec::new();
    loops.fill(&mut column, n, value);
    column
}

/// The numbers below `n` that a closure accepts, ascending.
pub fn chosen<L: Loops>(loops: &L, n: usize, is_chosen: impl Fn(usize) -> bool + Sync) -> Vec<u32> {
    let of_run = |run: Range<usize>| run.filter(|i| is_chosen(*i)).map(|i| i as u32).collect();
    joined(each_run(loops, n, of_run))
}

/// The greatest value of the numbers below `n`; 0 if none is above.
pub fn most_of<L: Loops>(loops: &L, n: usize, value: impl Fn(usize) -> f64 + Sync) -> f64 {
    let of_run = |run: Range<usize>| run.fold(0.0f64, |most, i| most.max(value(i)));
    each_run(loops, n, of_run).into_iter().fold(0.0, f64::max)
}

/// The parts, one after the other.
fn joined<T: Copy>(mut parts: Vec<Vec<T>>) -> Vec<T> {
    match parts.len() {
        1 => parts.pop().expect("one part"),
        _ => parts.concat(),
    }
}
