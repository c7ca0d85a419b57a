//! The slices of a halo: one per rank, or one alone. All threads of a rank work on its slice; tasks of several
//! haloes mix.

use crate::thread_loops::ThreadLoops;
use bytemuck::Pod;
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_kernels::bound::slices::{SlicePart, Slices, Whole};
use inselberg_kernels::loops::Loops;
use std::cmp::Ordering;
use std::convert::Infallible;

/// One slice per rank.
pub struct RankSlices<'a> {
    /// The ranks.
    pub comm: &'a Comm,
}

impl Loops for RankSlices<'_> {
    fn each<T: Send>(&self, n: usize, each: impl Fn(usize) -> T + Sync) -> Vec<T> {
        ThreadLoops.each(n, each)
    }

    fn fill<T: Send>(&self, column: &mut Vec<T>, n: usize, value: impl Fn(usize) -> T + Sync) {
        ThreadLoops.fill(column, n, value);
    }

    fn sort<T: Send>(&self, list: &mut [T], order: impl Fn(&T, &T) -> Ordering + Sync) {
        ThreadLoops.sort(list, order);
    }
}

impl Slices for RankSlices<'_> {
    type Error = CommError;

    fn number(&self) -> usize {
        self.comm.n_ranks()
    }

    fn here(&self) -> usize {
        self.comm.rank().at()
    }

    fn add(&self, counts: &[u64]) -> Result<Vec<u64>, CommError> {
        self.comm.all_reduce_counts(counts, Reduce::Sum)
    }

    fn gather<T: Pod>(&self, own: &[T]) -> Result<Vec<Vec<T>>, CommError> {
        self.comm.all_gather_lists(own)
    }

    fn exchange<T: Pod>(&self, parts: Vec<SlicePart<T>>) -> Result<Vec<SlicePart<T>>, CommError> {
        let parts = parts.into_iter().map(|(to, part)| (Rank(to as u32), part)).collect();
        let received = self.comm.exchange(parts)?;
        Ok(received.into_iter().map(|(from, part)| (from.at(), part)).collect())
    }
}

/// A halo in one slice.
impl Slices for ThreadLoops {
    type Error = Infallible;

    fn number(&self) -> usize {
        1
    }

    fn here(&self) -> usize {
        0
    }

    fn add(&self, counts: &[u64]) -> Result<Vec<u64>, Infallible> {
        Whole.add(counts)
    }

    fn gather<T: Pod>(&self, own: &[T]) -> Result<Vec<Vec<T>>, Infallible> {
        Whole.gather(own)
    }

    fn exchange<T: Pod>(&self, parts: Vec<SlicePart<T>>) -> Result<Vec<SlicePart<T>>, Infallible> {
        Whole.exchange(parts)
    }
}
