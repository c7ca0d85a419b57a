//! A halo in one slice, on which all threads of a rank work.

use crate::threads::loops_by_threads;
use bytemuck::Pod;
use inselberg_kernels::bound::slices::{SlicePart, Slices, Whole};
use std::convert::Infallible;

/// One slice. Its loops are tasks for the threads of the rank; tasks of several haloes mix.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadSlices;

loops_by_threads!(ThreadSlices);

impl Slices for ThreadSlices {
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
