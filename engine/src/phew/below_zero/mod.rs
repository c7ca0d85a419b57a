//! Thresholds below 0, for fields of noise around 0.
//!
//! The search needs positive test cells. So for a threshold below 0 it runs on lifted values: a power of two
//! is added, at least twice the magnitude of the threshold. Catalogues contain the values of the input again
//! ([`tables`]).
//!
//! ```text
//!     value     -1.2   -0.5 the threshold   0.0   0.7
//!     lifted    -0.2    0.5                 1.0   1.7      lifted by 1
//! ```
//!
//! The order of values does not change, but values that differ by less than 2^-53 of the lift become equal.
//! Lowering a lifted test cell is exact: it is at least half the lift, which is a power of two. So a new cut
//! of a stored catalogue lifts
//! its tree to the bits of the run. Masses and their moments are sums of the values of the input; only the
//! densities of cells are lifted.
//!
//! This folder uses neither ranks nor files.

mod tables;

use crate::column::Column;
use crate::phew::hierarchy::Structures;
use crate::phew::params::Thresholds;
use rayon::prelude::*;

/// The power of two by which values are lifted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueLift(f64);

impl ValueLift {
    /// For this density threshold; `None` if it is not below 0.
    pub fn for_threshold(density: f64) -> Option<Self> {
        const FRACTION: u64 = (1 << 52) - 1;
        let least = (2.0 * density.abs()).max(f64::MIN_POSITIVE);
        // The least power of two that is not below.
        (density < 0.0).then(|| Self(f64::from_bits((least.to_bits() + FRACTION) & !FRACTION)))
    }

    /// A value, lifted.
    pub fn up(self, value: f64) -> f64 {
        value + self.0
    }

    /// A lifted value as in the input.
    pub fn down(self, lifted: f64) -> f64 {
        lifted - self.0
    }

    /// Thresholds of lifted values. Masses below 0 are not too small, unless there is a threshold for masses.
    pub fn thresholds(self, of: &Thresholds) -> Thresholds {
        Thresholds {
            density: self.up(of.density),
            saddle: of.saddle.map(|saddle| self.up(saddle)),
            mass: if of.mass > 0.0 { of.mass } else { f64::NEG_INFINITY },
            ..*of
        }
    }

    /// Values, lifted.
    pub fn column(self, values: &Column) -> Vec<f64> {
        (0..values.len()).into_par_iter().map(|i| self.up(values.real(i))).collect()
    }

    /// Lowers the results of a run: densities of clumps and haloes, values of cells and the greatest of them.
    pub fn lower_found(self, found: &mut Structures, rho: &mut [f64], densest: &mut f64) {
        self.lower_structures(found);
        rho.par_iter_mut().for_each(|value| *value = self.down(*value));
        *densest = self.down(*densest);
    }

    /// Lowers the densities of clumps and haloes. Missing saddles become NaN.
    pub fn lower_structures(self, found: &mut Structures) {
        for structure in found.clumps.iter_mut().chain(&mut found.haloes) {
            structure.rho_peak = self.down(structure.rho_peak);
            structure.rho_min = self.down(structure.rho_min);
            structure.saddle = tables::lowered_saddle(self, structure.saddle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifts_are_powers_of_two_and_round_nothing_above_the_threshold() {
        for (threshold, lift) in [(-0.5, 1.0), (-0.5000001, 2.0), (-3.0, 8.0), (-1e-320, f64::MIN_POSITIVE)] {
            assert_eq!(ValueLift::for_threshold(threshold), Some(ValueLift(lift)));
        }
        assert_eq!([0.0, 2.0].map(ValueLift::for_threshold), [None; 2]);
        let lift = ValueLift(1.0);
        let mut x = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..100_000 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = f64::from_bits(0x3ff0_0000_0000_0000 | x >> 12) * 1.5 - 2.0; // -0.5 to 1
            let scaled = if x & 1 == 0 { value } else { value.abs() * 1e9 };
            let lifted = lift.up(scaled);
            assert_eq!(lift.up(lift.down(lifted)).to_bits(), lifted.to_bits(), "{scaled}");
        }
    }
}
