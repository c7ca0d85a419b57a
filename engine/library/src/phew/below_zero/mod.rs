//! Thresholds below 0, for fields of noise around 0.
//!
//! The search needs positive test cells. So below 0 it runs on values that are lifted by a power of two, at
//! least twice the magnitude of the threshold, and catalogues get the values of the input again ([`tables`]).
//! [`SearchThresholds`] is the way in and out; nothing else knows of it.
//!
//! ```text
//!     value     -1.2   -0.5 the threshold   0.0   0.7
//!     lifted    -0.2    0.5                 1.0   1.7      lifted by 1
//! ```
//!
//! The order of values does not change, but values that differ by less than 2^-53 of the lift become equal.
//! Lowering a lifted test cell is exact: it is at least half the lift, which is a power of two. So a new cut
//! of a stored catalogue lifts its tree to the bits of the run. Masses and their moments are sums of the
//! values of the input; only the densities of cells are lifted.
//!
//! This folder knows neither ranks nor formats of files.

mod tables;

use crate::column::Column;
use crate::phew::changed_snapshot::ChangedSnapshot;
use crate::phew::hierarchy::Structures;
use crate::phew::params::Thresholds;
use inselberg_io::catalogue::{Catalogue, CataloguePart};
use inselberg_io::{OctBlock, Snapshot};
use rayon::prelude::*;
use std::borrow::Cow;

/// The thresholds of a search. Below 0 it runs on lifted values: sources lift them on their way in, and what
/// is found is lowered again. All of that does nothing where the density threshold is 0 or more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchThresholds {
    given: Thresholds,
    lift: Option<ValueLift>,
}

impl SearchThresholds {
    /// From the given thresholds, in code units.
    pub fn new(given: Thresholds) -> Self {
        Self { given, lift: ValueLift::for_threshold(given.density) }
    }

    /// As they were given.
    pub fn given(&self) -> &Thresholds {
        &self.given
    }

    /// Whether values are lifted.
    pub fn are_below_zero(&self) -> bool {
        self.lift.is_some()
    }

    /// Those of the values that are searched. Masses below 0 are not too small, unless there is a threshold
    /// for masses.
    pub fn searched(&self) -> Thresholds {
        let Some(lift) = self.lift else { return self.given };
        Thresholds {
            density: lift.up(self.given.density),
            saddle: self.given.saddle.map(|saddle| lift.up(saddle)),
            mass: if self.given.mass > 0.0 { self.given.mass } else { f64::NEG_INFINITY },
            ..self.given
        }
    }

    /// Values to search, lifted; `None` where the given ones are searched.
    pub fn lifted_column(&self, values: &Column) -> Option<Vec<f64>> {
        let lift = self.lift?;
        Some((0..values.len()).into_par_iter().map(|i| lift.up(values.real(i))).collect())
    }

    /// A snapshot with lifted values of `field`, which has those of the input under the name `unchanged`;
    /// `None` where these are searched.
    pub fn lifted_snapshot<'a>(
        &self,
        snapshot: &'a dyn Snapshot,
        field: &'a str,
        unchanged: &'a str,
    ) -> Option<ChangedSnapshot<'a>> {
        let lift = self.lift?;
        let change = move |column: usize, block: &mut OctBlock| {
            block.values[column].iter_mut().flatten().for_each(|value| *value = lift.up(*value));
        };
        Some(ChangedSnapshot {
            inner: snapshot,
            field,
            unchanged: Some(unchanged),
            change: Box::new(change),
            beyond: Box::new(move |value| lift.up(value)),
        })
    }

    /// A stored catalogue to cut again. Where values are lifted: its tree with lifted densities, if it has
    /// one.
    pub fn lifted_tree<'a>(&self, stored: &'a Catalogue) -> Cow<'a, Catalogue> {
        self.lift.map_or(Cow::Borrowed(stored), |lift| Cow::Owned(lift.lifted_tree(stored)))
    }

    /// A searched value as in the input.
    pub fn lowered(&self, value: f64) -> f64 {
        self.lift.map_or(value, |lift| lift.down(value))
    }

    /// Lowers the values of cells.
    pub fn lower_values(&self, values: &mut [f64]) {
        if let Some(lift) = self.lift {
            values.par_iter_mut().for_each(|value| *value = lift.down(*value));
        }
    }

    /// Lowers the densities in the tables of a catalogue, and of its clumps and haloes. A saddle that there
    /// is not becomes NaN. Its attributes must state the given thresholds already.
    pub fn lower(&self, catalogue: &mut CataloguePart, found: &mut Structures) {
        let Some(lift) = self.lift else { return };
        catalogue.tables.iter_mut().for_each(|part| lift.lower_table(&mut part.table));
        for structure in found.clumps.iter_mut().chain(&mut found.haloes) {
            structure.rho_peak = lift.down(structure.rho_peak);
            structure.rho_min = lift.down(structure.rho_min);
            structure.saddle = tables::lowered_saddle(lift, structure.saddle);
        }
    }
}

/// The power of two by which values are lifted.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ValueLift(f64);

impl ValueLift {
    /// For this density threshold; `None` if it is not below 0.
    fn for_threshold(density: f64) -> Option<Self> {
        const FRACTION: u64 = (1 << 52) - 1;
        let least = (2.0 * density.abs()).max(f64::MIN_POSITIVE);
        // The least power of two that is not below.
        (density < 0.0).then(|| Self(f64::from_bits((least.to_bits() + FRACTION) & !FRACTION)))
    }

    /// A value, lifted.
    fn up(self, value: f64) -> f64 {
        value + self.0
    }

    /// A lifted value as in the input.
    fn down(self, lifted: f64) -> f64 {
        lifted - self.0
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
