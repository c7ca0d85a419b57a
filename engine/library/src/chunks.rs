//! Lists cut into pieces, so that several threads can work on them.

use bytemuck::Zeroable;
use rayon::prelude::*;
use std::ops::Range;

/// `0..n` in runs of `size`.
pub(crate) fn chunks(n: usize, size: usize) -> Vec<Range<usize>> {
    (0..n).step_by(size).map(|start| start..(start + size).min(n)).collect()
}

/// A list cut into consecutive pieces of these lengths.
pub(crate) fn carve<T>(mut list: &mut [T], lengths: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let piece = |length: usize| {
        let (piece, rest) = std::mem::take(&mut list).split_at_mut(length);
        list = rest;
        piece
    };
    lengths.map(piece).collect()
}

/// With at least this number of values, several threads pay off.
const MANY: usize = 1 << 12;

/// Appends a list. All threads copy a long one, since new memory takes longer than the values.
pub(crate) fn append<T: Copy + Send + Sync>(list: &mut Vec<T>, more: &[T]) {
    match more.len() < MANY {
        true => list.extend_from_slice(more),
        false => list.par_extend(more),
    }
}

/// `n` zeros, written by all threads: memory that was used before must be cleared.
pub(crate) fn zeros<T: Zeroable + Clone + Send>(n: usize) -> Vec<T> {
    rayon::iter::repeat_n(T::zeroed(), n).collect()
}
