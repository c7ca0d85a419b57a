//! Sums that do not depend on the order of their terms.
//!
//! Each term is rounded once to a multiple of a fixed quantum, a power of two, and added as a 128-bit
//! integer. Integer addition is associative, so any grouping over tasks, threads and ranks gives the same
//! bits.
//!
//! ```text
//!     term      1.375 x 2^3:   mantissa 1.0110...0 (53 bits), exponent 3
//!     quantum   2^e:           the integer is the mantissa shifted by (3 - 52 - e) bits
//!
//!     shift >= 0                     shift < 0
//!     i128   [ high 64 | low 64 ]    the bit below the quantum is added before shifting (rounds half up),
//!            mantissa << shift,      mantissa >> -shift
//!            split over both halves
//! ```
//!
//! The sign is applied last, so halves round away from zero. All cases are computed at once, without a
//! branch: a shift by 64 or more, or by a negative number (which wraps to a large one), gives 0. The test
//! module holds the same computation case by case.

/// The quantum of a family of sums.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantum {
    /// The quantum is 2^exponent.
    exponent: i32,
}

/// A running sum in units of a [`Quantum`]. Adding is associative and commutative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct FixedSum(pub i128);

impl Quantum {
    /// The finest quantum with which the sum of `n` terms of magnitude at most `bound` (finite, non-negative)
    /// fits: 126 - log2 `n` bits below `bound`.
    pub fn for_terms(bound: f64, n: u64) -> Self {
        let exponent = if bound > 0.0 { exponent_above(bound) } else { 0 };
        let headroom = (u64::BITS - n.leading_zeros()) as i32;
        Self { exponent: exponent + headroom - 126 }
    }

    /// `term` as a multiple of the quantum, rounded to the nearest, halves away from zero.
    #[inline]
    pub fn quantize(self, term: f64) -> FixedSum {
        self.limbs(term).sum()
    }

    /// [`Self::quantize`] in two halves. No branches, so that a loop over terms becomes vector code.
    #[inline(always)]
    pub fn limbs(self, term: f64) -> Limbs {
        let bits = term.to_bits();
        let biased = bits >> 52 & 0x7ff;
        let mantissa = bits & ((1 << 52) - 1) | biased.min(1) << 52;
        // A negative shift wraps to a large number, which shifts everything out.
        let up = biased.max(1).wrapping_add_signed(-1075 - i64::from(self.exponent));
        let rounded = mantissa + left(1, !up);
        let low = left(rounded, up) | right(rounded, up.wrapping_neg());
        let high = right(rounded, 64u64.wrapping_sub(up)) | left(rounded, up.wrapping_sub(64));
        let sign = ((bits as i64) >> 63) as u64;
        let carry = if low == 0 { sign & 1 } else { 0 };
        Limbs { high: (high ^ sign).wrapping_add(carry) as i64, low: (low ^ sign).wrapping_sub(sign) }
    }

    /// The sum as a real, rounded to nearest.
    pub fn value(self, sum: FixedSum) -> f64 {
        ldexp(sum.0 as f64, self.exponent)
    }
}

/// A [`FixedSum`] in two halves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limbs {
    /// Its upper half.
    pub high: i64,
    /// Its lower half.
    pub low: u64,
}

impl Limbs {
    /// Both halves as one number.
    #[inline(always)]
    pub fn sum(self) -> FixedSum {
        FixedSum(i128::from(self.high) << 64 | i128::from(self.low))
    }
}

impl std::ops::AddAssign for FixedSum {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

/// `x << n`; 0 from 64 on.
#[inline(always)]
fn left(x: u64, n: u64) -> u64 {
    if n < 64 { x << n } else { 0 }
}

/// `x >> n`; 0 from 64 on.
#[inline(always)]
fn right(x: u64, n: u64) -> u64 {
    if n < 64 { x >> n } else { 0 }
}

/// The least e with 2^e > |x|.
fn exponent_above(x: f64) -> i32 {
    ((x.to_bits() >> 52 & 0x7ff) as i32).max(1) - 1022
}

/// x 2^e, by factors that lose no bits before the last one.
fn ldexp(x: f64, e: i32) -> f64 {
    let power = |e: i32| f64::from_bits(((1023 + e) as u64) << 52);
    let (mut x, mut e) = (x, e);
    while e < -1000 {
        x *= power(-1000);
        e += 1000;
    }
    while e > 1000 {
        x *= power(1000);
        e -= 1000;
    }
    x * power(e)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reference: [`Quantum::quantize`] case by case.
    fn by_cases(quantum: Quantum, term: f64) -> FixedSum {
        let bits = term.to_bits();
        let biased = (bits >> 52 & 0x7ff) as i32;
        let mantissa = bits & ((1 << 52) - 1) | if biased == 0 { 0 } else { 1 << 52 };
        let shift = biased.max(1) - 1075 - quantum.exponent;
        let magnitude = if shift >= 0 {
            i128::from(mantissa) << shift.min(74)
        } else if shift > -55 {
            i128::from((mantissa + (1 << (-shift - 1))) >> -shift)
        } else {
            0
        };
        FixedSum(if bits >> 63 == 1 { -magnitude } else { magnitude })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200_000) })]

        #[test]
        fn terms_are_those_of_each_case(
            term in any::<f64>().prop_filter("finite", |x| x.is_finite()),
            fewer_bits in 0u32..53,
            above in 0u64..200,
            n in any::<u64>(),
            headroom in 0u32..64,
        ) {
            let term = f64::from_bits(term.to_bits() >> fewer_bits << fewer_bits);
            // Bounds from far above the term, where it rounds to nothing, down to itself.
            let exponent = (term.to_bits() >> 52 & 0x7ff) + above;
            let bound = f64::from_bits(exponent.min(2046) << 52).max(term.abs());
            let quantum = Quantum::for_terms(bound, (n >> headroom).max(1));
            prop_assert_eq!(quantum.quantize(term), by_cases(quantum, term));
        }
    }

    #[test]
    fn exact_for_doubles_near_the_bound() {
        let q = Quantum::for_terms(8.0, 4);
        let mut sum = FixedSum::default();
        for x in [7.3, -2.25, 1e-9, 1e-16] {
            sum += q.quantize(x);
        }
        assert_eq!(q.value(sum), 7.3 - 2.25 + 1e-9 + 1e-16);
        assert_eq!(q.value(q.quantize(-0.1)), -0.1);
    }

    #[test]
    fn order_does_not_matter() {
        let q = Quantum::for_terms(1.0, 2000);
        let terms: Vec<f64> = (1..2000).map(|i| (f64::from(i) * 0.7).sin() / f64::from(i)).collect();
        let sum = |it: &mut dyn Iterator<Item = &f64>| {
            it.fold(FixedSum::default(), |mut s, &t| {
                s += q.quantize(t);
                s
            })
        };
        assert_eq!(sum(&mut terms.iter()), sum(&mut terms.iter().rev()));
    }

    #[test]
    fn tiny_and_huge_bounds() {
        for bound in [1e-300, 1e300, f64::MIN_POSITIVE, 0.0] {
            let q = Quantum::for_terms(bound, 1);
            assert_eq!(q.value(q.quantize(bound)), bound);
        }
    }
}
