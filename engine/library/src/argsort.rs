//! Long lists sorted by words of 8 bytes.

use bytemuck::{Pod, Zeroable};
use inselberg_kernels::packed_key::{key_bits, place_of, settle, word};
use rayon::prelude::*;
use rdst::{RadixKey, RadixSort};
use std::cmp::Ordering;

/// A word of a key and a place, sorted only by the key.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
struct KeyWord(u64);

impl RadixKey for KeyWord {
    const LEVELS: usize = 4;

    #[inline]
    fn get_level(&self, level: usize) -> u8 {
        (self.0 >> (32 + 8 * level)) as u8
    }
}

/// The places of `0..n`, fewer than 2^32, in ascending `order`, of which `key` has the first part: of two
/// different keys the lower comes first.
///
/// The 32 bits after those that all keys share are sorted, and where many of these are equal the next 32.
/// `order` is called only where few are equal, or where all bits are. 24 bytes per place.
pub(crate) fn sorted(
    n: usize,
    key: impl Fn(usize) -> u128 + Sync,
    order: impl Fn(usize, usize) -> Ordering + Sync,
) -> Vec<usize> {
    sorted_by(n, &key, &order)
}

/// As [`sorted`].
fn sorted_by(
    n: usize,
    key: &(dyn Fn(usize) -> u128 + Sync),
    order: &(dyn Fn(usize, usize) -> Ordering + Sync),
) -> Vec<usize> {
    let mut words: Vec<u64> = (0..n as u32).into_par_iter().map(|i| word(0, i)).collect();
    sort_from(&mut words, shared_bits(n, key), key, order);
    words.into_par_iter().map(place_of).collect()
}

/// From this number of equal words on, further bits of their keys are sorted.
const MANY: usize = 64;

/// Sorts the words of some places, whose keys are equal in the bits before `from`.
fn sort_from(
    words: &mut [u64],
    from: u32,
    key: &(dyn Fn(usize) -> u128 + Sync),
    order: &(dyn Fn(usize, usize) -> Ordering + Sync),
) {
    let bits = |i: usize| (key(i).checked_shl(from).unwrap_or(0) >> 96) as u32;
    words.par_iter_mut().for_each(|w| *w = word(bits(place_of(*w)), *w as u32));
    if !words.par_windows(2).all(|pair| pair[0] <= pair[1]) {
        bytemuck::cast_slice_mut::<u64, KeyWord>(words).radix_sort_unstable();
    }
    words.par_chunk_by_mut(|a, b| key_bits(*a) == key_bits(*b)).for_each(|equal| match equal.len() {
        1 => {}
        MANY.. if from + 32 < u128::BITS => sort_from(equal, from + 32, key, order),
        _ => settle(equal, order),
    });
}

/// How many bits all keys begin with.
fn shared_bits(n: usize, key: &(dyn Fn(usize) -> u128 + Sync)) -> u32 {
    let with = |[all, any]: [u128; 2], key: u128| [all & key, any | key];
    let each = (0..n).into_par_iter().fold(|| [u128::MAX, 0], |bits, i| with(bits, key(i)));
    let [all, any] = each.reduce(|| [u128::MAX, 0], |a, b| [a[0] & b[0], a[1] | b[1]]);
    (all ^ any).leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        /// Keys that differ in any bits, and few enough of these that the 32 are often equal.
        #[test]
        fn is_the_order(keys in prop::collection::vec(any::<u128>(), 0..200), mask in any::<u128>(), base in any::<u128>()) {
            let keys: Vec<u128> = keys.into_iter().map(|key| key & mask | base & !mask).collect();
            let order = |a: usize, b: usize| (keys[a], a).cmp(&(keys[b], b));
            let mut expected: Vec<usize> = (0..keys.len()).collect();
            expected.sort_by(|a, b| order(*a, *b));
            prop_assert_eq!(sorted(keys.len(), |i| keys[i], order), expected);
        }

        #[test]
        fn few_values(keys in prop::collection::vec(0u8..3, 0..100), shift in 0u32..127) {
            let key = |i: usize| u128::from(keys[i]) << shift;
            let order = |a: usize, b: usize| (key(a), b).cmp(&(key(b), a));
            let mut expected: Vec<usize> = (0..keys.len()).collect();
            expected.sort_by(|a, b| order(*a, *b));
            prop_assert_eq!(sorted(keys.len(), key, order), expected);
        }
    }
}
