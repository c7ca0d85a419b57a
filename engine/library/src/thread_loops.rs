//! The threads of a rank, for the loops of kernels.

use crate::chunks::results;
use inselberg_kernels::loops::Loops;
use rayon::prelude::*;
use std::cmp::Ordering;

/// Loops run on the threads of the rayon pool of the caller. Loops of several callers mix.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadLoops;

/// Fewer values are not worth a task.
const LEAST: usize = 1 << 12;

impl Loops for ThreadLoops {
    fn each<T: Send>(&self, n: usize, each: impl Fn(usize) -> T + Sync) -> Vec<T> {
        results(n, &each)
    }

    fn fill<T: Send>(&self, column: &mut Vec<T>, n: usize, value: impl Fn(usize) -> T + Sync) {
        match n {
            0..=LEAST => {
                column.clear();
                column.extend((0..n).map(value));
            }
            _ => (0..n).into_par_iter().with_min_len(LEAST).map(&value).collect_into_vec(column),
        }
    }

    fn sort<T: Send>(&self, list: &mut [T], order: impl Fn(&T, &T) -> Ordering + Sync) {
        list.par_sort_unstable_by(order);
    }
}
