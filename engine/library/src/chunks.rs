//! Lists cut into pieces, so that several threads can work on them.

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;
use std::ops::Range;

/// `0..n` in runs of `size`.
pub(crate) fn chunks(n: usize, size: usize) -> Vec<Range<usize>> {
    (0..n).step_by(size).map(|start| start..(start + size).min(n)).collect()
}

/// The results of pieces of work, which threads take one by one.
///
/// Compilers take long over parallel loops, so this one is made once per type of results, not per closure.
pub(crate) fn results<T: Send>(n: usize, of: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    match n {
        0 | 1 => (0..n).map(of).collect(),
        _ => (0..n).into_par_iter().with_max_len(1).map(of).collect(),
    }
}

/// Whether `work` is true of all runs of `size` of the numbers below `n`. All are worked on, by all threads.
pub(crate) fn all_runs(n: usize, size: usize, work: &(dyn Fn(Range<usize>) -> bool + Sync)) -> bool {
    let runs = chunks(n, size);
    results(runs.len(), &|i| work(runs[i].clone())).into_iter().all(|is_true| is_true)
}

/// Whether `work` is true of all runs of `size` of a list, each with the number of its first item. All are
/// worked on, by all threads.
pub(crate) fn all_runs_of<T: Send>(
    list: &mut [T],
    size: usize,
    work: &(dyn Fn(usize, &mut [T]) -> bool + Sync),
) -> bool {
    let runs = list.par_chunks_mut(size).enumerate();
    runs.map(|(i, run)| work(i * size, run)).reduce(|| true, |a, b| a & b)
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
    let bytes = lengths().map(|length| length * size_of::<T>());
    let places = carve(bytemuck::cast_slice_mut(&mut whole), bytes);
    copy_all(places, &parts.iter().map(|part| bytemuck::cast_slice(part.as_ref())).collect::<Vec<_>>());
    whole
}

/// Copies bytes to their places, by all threads.
fn copy_all(places: Vec<&mut [u8]>, from: &[&[u8]]) {
    places.into_par_iter().zip(from).for_each(|(place, part)| place.copy_from_slice(part));
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
