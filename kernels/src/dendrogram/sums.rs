//! Sums over the cells of structures: values, and how they are spread.
//!
//! A value is rounded once to a multiple of a fixed quantum, and places are integers, so products and sums of
//! both are exact. They do not depend on any order, and a structure can be seen from its peak without losing
//! digits.

use crate::props::pixels::PixelShape;
use crate::sum::{FixedSum, Quantum};
use bytemuck::{Pod, Zeroable};

/// The axes of the products yz, zx and xy.
const PAIRS: [[usize; 2]; 3] = [[1, 2], [2, 0], [0, 1]];

/// The quantum of values of magnitude at most `bound`, of `n` cells in a box with at most `side` cells along
/// an axis.
pub fn quantum_of_values(bound: f64, n: u64, side: u64) -> Quantum {
    // A structure that is seen from its peak has up to four times the terms.
    Quantum::for_terms(bound, n.max(1).saturating_mul(4).saturating_mul(side * side))
}

/// Sums over cells so far. Merging is associative and commutative, bit for bit.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct StructureSums {
    /// Of values.
    value: FixedSum,
    /// Of values times places, their squares, and products of two places: yz, zx, xy.
    moment: [FixedSum; 3],
    square: [FixedSum; 3],
    product: [FixedSum; 3],
    /// Of places, and of their squares.
    place: [FixedSum; 3],
    place_square: [FixedSum; 3],
    /// Number of cells.
    pub n_cells: u64,
    /// The greatest density, and the place of the first cell with it in the array.
    pub peak: f64,
    peak_place: u64,
    peak_at: [u32; 3],
    low: [u32; 3],
    high: [u32; 3],
    touches_blank: u32,
}

impl Default for StructureSums {
    fn default() -> Self {
        Self { peak: f64::NEG_INFINITY, peak_place: u64::MAX, low: [u32::MAX; 3], ..Zeroable::zeroed() }
    }
}

/// A cell of a structure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StructureCell {
    /// Its density.
    pub density: f64,
    /// What is summed, in quanta.
    pub value: FixedSum,
    /// Its place in the array.
    pub place: u64,
    /// Its place along each axis.
    pub at: [u32; 3],
    /// Whether it shares a face with a place without a value.
    pub touches_blank: bool,
}

/// A sum of places.
fn whole(x: u64) -> FixedSum {
    FixedSum(i128::from(x))
}

/// A sum of values times a whole number.
fn times(sum: FixedSum, n: u64) -> FixedSum {
    FixedSum(sum.0 * i128::from(n))
}

impl StructureSums {
    /// Adds a cell.
    pub fn add(&mut self, cell: &StructureCell) {
        let at = cell.at.map(u64::from);
        let moment = at.map(|x| times(cell.value, x));
        self.merge(&Self {
            value: cell.value,
            moment,
            square: std::array::from_fn(|a| times(moment[a], at[a])),
            product: PAIRS.map(|[b, c]| times(moment[b], at[c])),
            place: at.map(whole),
            place_square: at.map(|x| whole(x * x)),
            n_cells: 1,
            peak: cell.density,
            peak_place: cell.place,
            peak_at: cell.at,
            low: cell.at,
            high: cell.at,
            touches_blank: cell.touches_blank.into(),
        });
    }

    /// Adds the sums of other cells.
    pub fn merge(&mut self, other: &Self) {
        self.value += other.value;
        for a in 0..3 {
            self.moment[a] += other.moment[a];
            self.square[a] += other.square[a];
            self.product[a] += other.product[a];
            self.place[a] += other.place[a];
            self.place_square[a] += other.place_square[a];
            self.low[a] = self.low[a].min(other.low[a]);
            self.high[a] = self.high[a].max(other.high[a]);
        }
        self.n_cells += other.n_cells;
        self.touches_blank |= other.touches_blank;
        let is_first = other.peak == self.peak && other.peak_place < self.peak_place;
        if other.peak > self.peak || is_first {
            (self.peak, self.peak_place, self.peak_at) = (other.peak, other.peak_place, other.peak_at);
        }
    }

    /// The place of the peak along each axis.
    pub fn peak_at(&self) -> [u32; 3] {
        self.peak_at
    }

    /// The sum of values.
    pub fn total(&self, quantum: Quantum) -> f64 {
        quantum.value(self.value)
    }

    /// The mean place, weighted with values, from the peak on; NaN without a sum above 0.
    pub fn mean(&self, quantum: Quantum) -> [f64; 3] {
        let total = self.weight(quantum);
        std::array::from_fn(|a| quantum.value(self.moment_from_peak(a)) / total)
    }

    fn weight(&self, quantum: Quantum) -> f64 {
        let total = self.total(quantum);
        if total > 0.0 { total } else { f64::NAN }
    }

    fn moment_from_peak(&self, a: usize) -> FixedSum {
        FixedSum(self.moment[a].0 - self.value.0 * i128::from(self.peak_at[a]))
    }

    /// The product of displacements from the peak, with the sum of products at the places themselves.
    fn product_from_peak(&self, products: FixedSum, [b, c]: [usize; 2]) -> FixedSum {
        let [p, q] = [b, c].map(|a| i128::from(self.peak_at[a]));
        FixedSum(products.0 - p * self.moment[c].0 - q * self.moment[b].0 + p * q * self.value.0)
    }

    /// The shape, in cells.
    pub fn shape(&self, quantum: Quantum) -> PixelShape {
        let (total, mean, n) = (self.weight(quantum), self.mean(quantum), self.n_cells as f64);
        let of = |sums: FixedSum, axes: [usize; 2]| {
            quantum.value(self.product_from_peak(sums, axes)) / total - mean[axes[0]] * mean[axes[1]]
        };
        let spread = |a: usize| {
            let (peak, count) = (i128::from(self.peak_at[a]), i128::from(self.n_cells));
            let offset = self.place[a].0 - count * peak;
            let squares = self.place_square[a].0 - 2 * peak * self.place[a].0 + count * peak * peak;
            squares as f64 - 2.0 * mean[a] * offset as f64 + n * mean[a] * mean[a]
        };
        PixelShape {
            squares: std::array::from_fn(|a| of(self.square[a], [a, a])),
            products: std::array::from_fn(|a| of(self.product[a], PAIRS[a])),
            spread: std::array::from_fn(spread),
            low: self.low,
            high: self.high,
            touches_blank: self.touches_blank != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

        /// Far from the corner, in any order, and to the last digits.
        #[test]
        fn shapes_are_those_of_the_definition(
            cells in prop::collection::btree_map(prop::array::uniform3(0..9u32), 0.01..5.0f64, 1..40),
            far in prop::array::uniform3(0..2_000_000u32),
        ) {
            let quantum = quantum_of_values(5.0, 1 << 40, 1 << 21);
            let cell = |(i, (at, value)): (usize, (&[u32; 3], &f64))| StructureCell {
                density: *value,
                value: quantum.quantize(*value),
                place: i as u64,
                at: [0, 1, 2].map(|a| at[a] + far[a]),
                touches_blank: i == 3,
            };
            let list: Vec<StructureCell> = cells.iter().enumerate().map(cell).collect();
            let (mut found, mut back) = (StructureSums::default(), StructureSums::default());
            list.iter().for_each(|cell| found.add(cell));
            list.iter().rev().for_each(|cell| back.add(cell));
            prop_assert_eq!(found, back);
            let total: f64 = cells.values().sum();
            let mean = |a: usize| cells.iter().map(|(at, v)| f64::from(at[a]) * v).sum::<f64>() / total;
            let mean = [0, 1, 2].map(mean);
            let product = |a: usize, b: usize| {
                let of = |at: &[u32; 3], a: usize| f64::from(at[a]) - mean[a];
                cells.iter().map(|(at, v)| of(at, a) * of(at, b) * v).sum::<f64>() / total
            };
            let shape = found.shape(quantum);
            for a in 0..3 {
                let [b, c] = PAIRS[a];
                prop_assert!((shape.squares[a] - product(a, a)).abs() < 1e-11);
                prop_assert!((shape.products[a] - product(b, c)).abs() < 1e-11);
                let spread: f64 = cells.keys().map(|at| (f64::from(at[a]) - mean[a]).powi(2)).sum();
                prop_assert!((shape.spread[a] - spread).abs() < 1e-9);
                let at = f64::from(found.peak_at()[a] - far[a]) + found.mean(quantum)[a];
                prop_assert!((at - mean[a]).abs() < 1e-12);
            }
            prop_assert_eq!(shape.touches_blank, cells.len() > 3);
        }
    }
}
