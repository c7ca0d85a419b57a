//! Vector code for the processor that the program runs on.
//!
//! It does not depend on what is computed.

use std::ops::Range;

/// Runs `work`, compiled for the widest vectors of this processor. That holds only for code that is inlined
/// into `work`, so all functions and closures in it are marked `inline(always)`.
#[inline(always)]
pub fn wide<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// The larger of two numbers that are not NaN. Compiles to one instruction.
#[inline(always)]
pub fn larger<T: PartialOrd>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

/// The largest magnitude of numbers that are not NaN; 0 of an empty list.
pub fn largest(numbers: &[f64]) -> f64 {
    wide(
        #[inline(always)]
        || {
            let (lanes, rest) = numbers.as_chunks::<32>();
            let mut largest = [0.0; 32];
            for numbers in lanes {
                (0..32).for_each(|i| largest[i] = larger(largest[i], numbers[i].abs()));
            }
            rest.iter().chain(&largest).fold(0.0, |largest, number| larger(largest, number.abs()))
        },
    )
}

/// Whether all numbers are in their ranges, `ranges[a]` for number `a` of each row, such as the coordinates
/// of positions in a box. NaN is in no range. `D` divides 24.
pub fn are_within<T: Copy + Into<f64>, const D: usize>(rows: &[[T; D]], ranges: &[Range<f64>; D]) -> bool {
    const { assert!(LANES.is_multiple_of(D), "each lane has one range") };
    let ranges: [&Range<f64>; LANES] = std::array::from_fn(|lane| &ranges[lane % D]);
    let (low, high) = (ranges.map(|range| range.start), ranges.map(|range| range.end));
    let (whole, rest) = rows.as_flattened().as_chunks::<LANES>();
    let mut outside = [0; LANES];
    wide(
        #[inline(always)]
        || {
            for numbers in whole {
                for i in 0..LANES {
                    let number: f64 = numbers[i].into();
                    outside[i] |= u64::from(!((number >= low[i]) & (number < high[i])));
                }
            }
        },
    );
    outside == [0; LANES] && rest.iter().zip(ranges).all(|(number, range)| range.contains(&(*number).into()))
}

/// Numbers that [`are_within`] takes at a time: a multiple of the three axes, so that each lane always has
/// the same range, and of the eight numbers of the widest vectors.
const LANES: usize = 24;

/// Items that [`for_each_mapped`] takes at a time, so that what they are mapped to stays in the first-level
/// cache.
const AT_ONCE: usize = 256;

/// Calls `each` with the number of each item and with what `map` makes of it, in order. `map` runs for many
/// items before `each` does, so that the compiler can use vectors for it.
#[inline(always)]
pub fn for_each_mapped<T: Copy, M: Copy + Default>(
    items: &[T],
    map: impl Fn(T) -> M,
    mut each: impl FnMut(usize, M),
) {
    let mut mapped = [M::default(); AT_ONCE];
    for (chunk, items) in items.chunks(AT_ONCE).enumerate() {
        for (to, item) in mapped.iter_mut().zip(items) {
            *to = map(*item);
        }
        for (i, item) in mapped[..items.len()].iter().enumerate() {
            each(chunk * AT_ONCE + i, *item);
        }
    }
}

/// Eight values from `first` on, with `none` past the last one. `first` is at most the number of values.
#[inline(always)]
pub fn eight<T: Copy>(all: &[T], first: u32, none: T) -> [T; 8] {
    let all = &all[first as usize..];
    match all.first_chunk() {
        Some(eight) => *eight,
        None => last_of_eight(all, none),
    }
}

#[cold]
fn last_of_eight<T: Copy>(all: &[T], none: T) -> [T; 8] {
    std::array::from_fn(|i| all.get(i).copied().unwrap_or(none))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

        /// Reference: one number at a time.
        #[test]
        fn the_largest_is_that_of_a_plain_loop(
            numbers in prop::collection::vec(prop_oneof![-1e300..1e300f64, -2.0..2.0f64, Just(0.0), Just(-0.0)], 0..100),
        ) {
            let plain = numbers.iter().fold(0.0f64, |largest, number| largest.max(number.abs()));
            prop_assert_eq!(largest(&numbers), plain);
        }

        /// Reference: one number at a time. Few numbers are outside, so that none is as frequent as some.
        #[test]
        fn numbers_within_are_those_of_a_plain_loop(
            mut rows in prop::collection::vec(prop::array::uniform3(-1.0..1.0f64), 0..60),
            special in prop::collection::vec((any::<prop::sample::Index>(), 0..3usize, 0..7usize), 0..3),
        ) {
            for (row, a, which) in special {
                if !rows.is_empty() {
                    let row = row.index(rows.len());
                    let numbers = [f64::NAN, f64::INFINITY, -f64::INFINITY, -1.0, 1.0, 2.0, -2.0];
                    rows[row][a] = numbers[which];
                }
            }
            let ranges = [-1.0..1.0, -1.0..2.5, f64::MIN..f64::INFINITY];
            let is_within = |row: &[f64; 3]| (0..3).all(|a| ranges[a].contains(&row[a]));
            prop_assert_eq!(are_within(&rows, &ranges), rows.iter().all(is_within));
            let single: Vec<[f32; 3]> = rows.iter().map(|row| row.map(|x| x as f32)).collect();
            let plain = single.iter().all(|row| is_within(&row.map(f64::from)));
            prop_assert_eq!(are_within(&single, &ranges), plain);
            let numbers = rows.as_flattened();
            let plain = numbers.iter().all(|x| ranges[0].contains(x));
            prop_assert_eq!(are_within(numbers.as_chunks::<1>().0, &[-1.0..1.0]), plain);
        }

        #[test]
        fn all_items_are_mapped_in_order(items in prop::collection::vec(any::<u8>(), 0..3 * AT_ONCE)) {
            let mut list = Vec::new();
            for_each_mapped(&items, |item| u32::from(item) + 1, |i, mapped| list.push((i, mapped)));
            let plain: Vec<_> = items.iter().map(|item| u32::from(*item) + 1).enumerate().collect();
            prop_assert_eq!(list, plain);
        }

        #[test]
        fn eight_values_are_padded(numbers in prop::collection::vec(1..9u32, 0..20)) {
            for first in 0..=numbers.len() {
                let plain = std::array::from_fn(|i| numbers.get(first + i).copied().unwrap_or(0));
                prop_assert_eq!(eight(&numbers, first as u32, 0), plain);
            }
        }
    }
}
