//! The ranks of a run as the slices of a halo.

use crate::threads::loops_by_threads;
use bytemuck::Pod;
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_kernels::bound::slices::{SlicePart, Slices};

/// One slice per rank.
pub struct RankSlices<'a> {
    /// The ranks.
    pub comm: &'a Comm,
}

loops_by_threads!(RankSlices<'_>);

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
