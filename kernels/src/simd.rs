//! Vector code for the machine at hand.

/// Runs `work` compiled for the widest vectors that this processor has. Only what is inlined into
/// `work` profits, so its loops are marked `inline(always)`.
#[inline(always)]
pub fn wide<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// The larger of two numbers that are not NaN, as one instruction.
#[inline(always)]
pub fn larger<T: PartialOrd>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

/// The largest magnitude of numbers that are not NaN; 0 of none.
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

/// Eight values from `first` on, and `none` beyond the last.
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
