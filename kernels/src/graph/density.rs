//! How dense is a particle with these neighbours?
//!
//! The density is the sum of masses, weighted by the cubic spline (Monaghan & Lattanzio 1985) whose support H
//! is the distance of the farthest neighbour. With q = r / H:
//!
//! ```text
//!     W = 8 / (π H³) · w,     w = 1 - 6 q² + 6 q³   up to q = 1/2,     2 (1 - q)³   up to q = 1
//! ```
//!
//! The particle itself counts, with w = 1. Each weight times mass is rounded once to a multiple of a quantum
//! so coarse that all sums are exact. So the order of the neighbours, which depends on the tree, does not
//! matter.

use super::nearest::Neighbour;
use std::f64::consts::PI;

/// The most neighbours with which sums are exact.
pub const MOST_NEIGHBOURS: usize = 254;

/// Adding and subtracting this rounds a number below 1 to a multiple of 2⁻⁴⁴. Sums of 255 such numbers are
/// below 2⁸ and have at most 52 bits.
const ROUNDER: f64 = 1.5 * 256.0;

/// The sum of weighted masses about a particle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SplineSum {
    /// The sum, in units of the greatest mass of all particles.
    sum: f64,
    /// The square of the support.
    square: f64,
}

impl SplineSum {
    /// The sum over the particle itself and its neighbours. `mass(i)` is the mass of a particle in units of
    /// the greatest mass of all particles, `own` that of the particle itself.
    #[inline(always)]
    pub fn new(near: &[Neighbour], own: f64, mass: impl Fn(u32) -> f64) -> Self {
        let square = near.iter().map(|n| n.square).fold(0.0, f64::max);
        let per_support = 1.0 / square.sqrt();
        let term = |n: &Neighbour| rounded(weight(n.square.sqrt() * per_support) * mass(n.index));
        Self { sum: rounded(own) + near.iter().map(term).sum::<f64>(), square }
    }

    /// The density in units of the greatest mass per volume of the box. `None` where all neighbours are at
    /// the place of the particle.
    #[inline]
    pub fn density(&self) -> Option<f64> {
        let support = self.square.sqrt();
        (self.square > 0.0).then(|| self.sum * 8.0 / (PI * (support * support * support)))
    }
}

/// The spline at `q` from 0 to 1; 1 at the centre.
#[inline(always)]
fn weight(q: f64) -> f64 {
    let outer = 1.0 - q;
    let inner = 1.0 - 6.0 * q * q * outer;
    let outer = 2.0 * outer * outer * outer;
    if q < 0.5 { inner } else { outer.max(0.0) }
}

#[inline(always)]
fn rounded(x: f64) -> f64 {
    (x + ROUNDER) - ROUNDER
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_spline_integrates_to_one() {
        let n = 20_000;
        let shell = |i: usize| {
            let q = (i as f64 + 0.5) / f64::from(n);
            4.0 * PI * q * q * weight(q) * 8.0 / PI / f64::from(n)
        };
        let integral: f64 = (0..n as usize).map(shell).sum();
        assert!((integral - 1.0).abs() < 1e-8, "{integral}");
        assert_eq!([weight(0.0), weight(0.5), weight(1.0)], [1.0, 0.25, 0.0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

        #[test]
        fn the_order_of_the_neighbours_does_not_matter(
            near in prop::collection::vec((0.0..1.0f64, 0.0..1.0f64), 1..MOST_NEIGHBOURS),
            by in any::<prop::sample::Index>(),
        ) {
            let mass: Vec<f64> = near.iter().map(|n| n.1).collect();
            let list = |(i, n): (usize, &(f64, f64))| Neighbour { square: n.0, index: i as u32 };
            let mut list: Vec<Neighbour> = near.iter().enumerate().map(list).collect();
            let sum = |list: &[Neighbour]| SplineSum::new(list, 1.0, |i| mass[i as usize]);
            let first = sum(&list);
            let n = list.len();
            list.rotate_left(by.index(n));
            prop_assert_eq!(sum(&list), first);
            list.sort_by(|a, b| b.square.total_cmp(&a.square));
            prop_assert_eq!(sum(&list), first);
        }
    }
}
