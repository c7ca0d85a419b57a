//! Lists cut into pieces, so that several threads can work on them.

use bytemuck::{Pod, Zeroable};
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

/// All lists as one, in order.
pub fn joined<T: Pod + Send + Sync, P: AsRef<[T]> + Send + Sync>(parts: Vec<P>) -> Vec<T> {
    let lengths = || parts.iter().map(|part| part.as_ref().len());
    let mut whole: Vec<T> = zeros(lengths().sum());
    let places = carve(&mut whole, lengths());
    places.into_par_iter().zip(parts).for_each(|(place, part)| place.copy_from_slice(part.as_ref()));
    whole
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

/// The results of the numbers below `n` that have one, in order.
pub(crate) fn filter_map<T: Pod + Send + Sync>(n: usize, of: impl Fn(usize) -> Option<T> + Sync) -> Vec<T> {
    let of_piece = |piece: Range<usize>| piece.filter_map(&of).collect();
    joined::<T, Vec<T>>(chunks(n, MANY).into_par_iter().map(of_piece).collect())
}

/// The items of a list that a closure accepts, in order: all threads count them, and then copy them to their
/// places.
pub(crate) fn kept<T: Pod + Send + Sync>(list: &[T], is_kept: impl Fn(&T) -> bool + Sync) -> Vec<T> {
    let pieces: Vec<&[T]> = list.chunks(MANY).collect();
    let count = |piece: &&[T]| piece.iter().filter(|item| is_kept(item)).count();
    let counts: Vec<usize> = pieces.par_iter().map(count).collect();
    let mut found: Vec<T> = zeros(counts.iter().sum());
    let places = carve(&mut found, counts.into_iter());
    places.into_par_iter().zip(pieces).for_each(|(places, piece)| {
        let items = piece.iter().filter(|item| is_kept(item));
        places.iter_mut().zip(items).for_each(|(place, item)| *place = *item);
    });
    found
}

/// `n` zeros, written by all threads: memory that was used before must be cleared.
pub(crate) fn zeros<T: Zeroable + Clone + Send>(n: usize) -> Vec<T> {
    rayon::iter::repeat_n(T::zeroed(), n).collect()
}
