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
