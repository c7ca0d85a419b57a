//! Sums that do not depend on the order of their terms.
//!
//! Each term is rounded once to a multiple of a fixed quantum and added as an integer, so any
//! grouping over tasks, threads and ranks gives the same bits.

/// The quantum of a family of sums.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantum {
    /// The quantum is 2^exponent.
    exponent: i32,
    /// Two powers of two whose product is its inverse.
    inverse: [f64; 2],
}

/// A running sum in units of a [`Quantum`]. Adding is associative and commutative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct FixedSum(pub i128);

impl Quantum {
    /// For `n` terms of magnitude at most `bound` (finite, non-negative): as fine as their sum fits,
    /// 126 - log2 `n` bits below `bound`.
    pub fn for_terms(bound: f64, n: u64) -> Self {
        let exponent = if bound > 0.0 { exponent_above(bound) } else { 0 };
        let headroom = (u64::BITS - n.leading_zeros()) as i32;
        let exponent = exponent + headroom - 126;
        let half = exponent / 2;
        Self { exponent, inverse: [power(-half), power(half - exponent)] }
    }

    /// `term` as a multiple of the quantum, rounded towards 0.
    #[inline(always)]
    pub fn of(self, term: f64) -> FixedSum {
        let (lower, upper) = words(term * self.inverse[0] * self.inverse[1]);
        FixedSum(i128::from(upper) << 64 | i128::from(lower))
    }

    /// The sum as a real, rounded to nearest.
    pub fn value(self, sum: FixedSum) -> f64 {
        ldexp(sum.0 as f64, self.exponent)
    }
}

/// The lower and the upper word of a number below 2^126, rounded towards 0, in two's complement.
#[inline(always)]
fn words(number: f64) -> (u64, i64) {
    const WORD: f64 = (1u128 << 64) as f64;
    let magnitude = number.abs();
    let upper = (magnitude * (1.0 / WORD)) as i64;
    // What the upper word leaves over is exact.
    let lower = (magnitude - upper as f64 * WORD) as u64;
    let negative = number.to_bits() as i64 >> 63;
    let borrow = if lower == 0 { negative } else { 0 };
    ((lower ^ negative as u64).wrapping_sub(negative as u64), (upper ^ negative) - borrow)
}

/// How many sums [`FixedSums`] holds: as many as a wide vector.
pub const LANES: usize = 8;

/// Several [`FixedSum`]s side by side, which vectors add.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct FixedSums {
    lower: [u64; LANES],
    upper: [i64; LANES],
}

impl FixedSums {
    /// One of them.
    pub fn get(&self, i: usize) -> FixedSum {
        FixedSum(i128::from(self.upper[i]) << 64 | i128::from(self.lower[i]))
    }
}

impl std::ops::AddAssign for FixedSums {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        for i in 0..LANES {
            let lower = self.lower[i].wrapping_add(other.lower[i]);
            let carry = i64::from(lower < other.lower[i]);
            self.lower[i] = lower;
            self.upper[i] = self.upper[i].wrapping_add(other.upper[i]).wrapping_add(carry);
        }
    }
}

/// The quanta of [`FixedSums`].
#[derive(Debug, Clone, Copy)]
pub struct Quanta {
    inverse: [[f64; LANES]; 2],
}

impl Quanta {
    /// Of one quantum each.
    pub fn new(quanta: &[Quantum; LANES]) -> Self {
        Self { inverse: [0, 1].map(|factor| quanta.map(|quantum| quantum.inverse[factor])) }
    }

    /// One term each, as [`Quantum::of`].
    #[inline(always)]
    pub fn of(&self, terms: &[f64; LANES]) -> FixedSums {
        let mut sums = FixedSums::default();
        for i in 0..LANES {
            (sums.lower[i], sums.upper[i]) = words(terms[i] * self.inverse[0][i] * self.inverse[1][i]);
        }
        sums
    }
}

impl std::ops::AddAssign for FixedSum {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

/// The least e with 2^e > |x|.
fn exponent_above(x: f64) -> i32 {
    ((x.to_bits() >> 52 & 0x7ff) as i32).max(1) - 1022
}

/// 2^e, for a normal number.
fn power(e: i32) -> f64 {
    f64::from_bits(((1023 + e) as u64) << 52)
}

/// x 2^e in steps that lose nothing before the last.
fn ldexp(x: f64, e: i32) -> f64 {
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

    #[test]
    fn exact_for_doubles_near_the_bound() {
        let q = Quantum::for_terms(8.0, 4);
        let mut sum = FixedSum::default();
        for x in [7.3, -2.25, 1e-9, 1e-16] {
            sum += q.of(x);
        }
        assert_eq!(q.value(sum), 7.3 - 2.25 + 1e-9 + 1e-16);
        assert_eq!(q.value(q.of(-0.1)), -0.1);
    }

    #[test]
    fn order_does_not_matter() {
        let q = Quantum::for_terms(1.0, 2000);
        let terms: Vec<f64> = (1..2000).map(|i| (f64::from(i) * 0.7).sin() / f64::from(i)).collect();
        let sum = |it: &mut dyn Iterator<Item = &f64>| {
            it.fold(FixedSum::default(), |mut s, &t| {
                s += q.of(t);
                s
            })
        };
        assert_eq!(sum(&mut terms.iter()), sum(&mut terms.iter().rev()));
    }

    #[test]
    fn lanes_are_the_same_sums() {
        let quanta: [Quantum; LANES] = std::array::from_fn(|i| Quantum::for_terms((i + 1) as f64, 1 << i));
        let (mut each, mut all) = ([FixedSum::default(); LANES], FixedSums::default());
        for n in 0..1000 {
            let terms: [f64; LANES] =
                std::array::from_fn(|i| ((n * 8 + i) as f64).sin() * 10f64.powi(-(n as i32 % 40)));
            (0..LANES).for_each(|i| each[i] += quanta[i].of(terms[i]));
            all += Quanta::new(&quanta).of(&terms);
        }
        assert!((0..LANES).all(|i| all.get(i) == each[i]));
    }

    #[test]
    fn tiny_and_huge_bounds() {
        for bound in [1e-300, 1e300, f64::MIN_POSITIVE, 0.0] {
            let q = Quantum::for_terms(bound, 1);
            assert_eq!(q.value(q.of(bound)), bound);
        }
    }
}
