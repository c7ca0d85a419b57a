//! Sorting by a word that holds the first 32 bits of a key and a place: most of an order at the price of sorting
//! numbers.

use std::cmp::Ordering;

/// The word of a place. Words are in the order of `bits`.
#[inline(always)]
pub fn word(bits: u32, place: u32) -> u64 {
    u64::from(bits) << 32 | u64::from(place)
}

/// The place in a word.
#[inline(always)]
pub fn place_of(word: u64) -> usize {
    word as u32 as usize
}

/// Puts places of sorted words whose bits are equal into `order`.
pub fn settle(words: &mut [u64], order: impl Fn(usize, usize) -> Ordering) {
    for equal in words.chunk_by_mut(|a, b| a >> 32 == b >> 32).filter(|equal| equal.len() > 1) {
        equal.sort_unstable_by(|a, b| order(place_of(*a), place_of(*b)));
    }
}
