//! Vector code for the processor that the program runs on.
//!
//! It knows nothing of what is computed.

/// Runs `work`, compiled for the widest vectors of this processor. That holds only for code that is inlined into `work`, so
/// all functions and closures in it are marked `inline(always)`.
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

        #[test]
        fn eight_values_are_padded(numbers in prop::collection::vec(1..9u32, 0..20)) {
            for first in 0..=numbers.len() {
                let plain = std::array::from_fn(|i| numbers.get(first + i).copied().unwrap_or(0));
                prop_assert_eq!(eight(&numbers, first as u32, 0), plain);
            }
        }
    }
}
