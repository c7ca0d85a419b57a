//! Packed keys: sorting by 64-bit words of the first 32 bits of a key and a place.
//!
//! Sorting numbers is much cheaper than sorting by a comparison that looks entries up. Words are sorted
//! first; only places whose 32 bits are equal are then put in order by comparing the entries.

use std::cmp::Ordering;

/// The word of `bits` and a place. Words are in the order of `bits`, then of places.
#[inline(always)]
pub fn word(bits: u32, place: u32) -> u64 {
    u64::from(bits) << 32 | u64::from(place)
}

/// The place in a word.
#[inline(always)]
pub fn place_of(word: u64) -> usize {
    word as u32 as usize
}

/// The bits in a word.
#[inline(always)]
pub fn key_bits(word: u64) -> u32 {
    (word >> 32) as u32
}

/// In sorted words, puts the places whose bits are equal in `order`.
pub fn settle(words: &mut [u64], order: impl Fn(usize, usize) -> Ordering) {
    for equal in words.chunk_by_mut(|a, b| key_bits(*a) == key_bits(*b)).filter(|equal| equal.len() > 1) {
        equal.sort_unstable_by(|a, b| order(place_of(*a), place_of(*b)));
    }
}
