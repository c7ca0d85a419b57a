//! Terms: the contributions of up to 64 cells, or as many patches, to the sums, side by side.
//!
//! Computed one after the other, terms would take most of the time of the sums. Here all cells of a brick are
//! laid out as arrays, and each step is one vector loop over them:
//!
//! ```text
//!     cells of a brick    density [64]   peak x, y, z [64] each   bit [64] ...
//!          | view, term
//!     real terms          real [N sums][64]
//!          | round to the quantum of the sum
//!     fixed terms         high [N sums][64], low [N sums][64]      two halves of 128-bit integers
//!          | sums(n): the N fixed terms of cell n, added to the sums of its patch
//! ```
//!
//! Loops run to whole vectors of eight. Entries past the last cell are left over from earlier bricks, and not
//! used.

use super::sums::{CellView, MOMENTUM, Momentum, N_OF_PATCH, N_SUMS, PatchSums, SUMS};
use crate::geom::{Domain, cell_centre, cell_volume};
use crate::ids::PeakIdx;
use crate::mesh::local;
use crate::simd::wide;
use crate::sum::{FixedSum, Limbs, Quantum};
use bytemuck::Pod;

/// Most cells of a brick.
pub const MOST: usize = 64;
/// Doubles per vector.
const LANES: usize = 8;

/// Cells of a brick as arrays, of which the first `n` entries are valid.
#[derive(Debug, Clone)]
pub struct BrickCells {
    /// Number of cells.
    pub n: usize,
    /// Level of the brick's cells.
    pub level: u8,
    /// Position of the brick.
    brick: [u32; 3],
    /// Bits of the cells in the brick.
    bit: [u32; MOST],
    /// The patch of each cell.
    pub patch: [PeakIdx; MOST],
    /// The level of the peak cell of each patch.
    pub peak_level: [u32; MOST],
    /// The position of the peak cell, on the grid of its level.
    pub peak: [[u32; MOST]; 3],
    /// Densities of the segmented field.
    pub rho: [f64; MOST],
    /// Mass densities.
    pub density: [f64; MOST],
    /// Components of velocities; 0 without any.
    pub velocity: [[f64; MOST]; 3],
    /// Bit n: cell n shares a face with a place in the box without a cell. Of images alone.
    pub beside_blank: u64,
}

impl Default for BrickCells {
    fn default() -> Self {
        Self {
            n: 0,
            level: 0,
            brick: [0; 3],
            bit: [0; MOST],
            patch: [PeakIdx::NONE; MOST],
            peak_level: [0; MOST],
            peak: [[0; MOST]; 3],
            rho: [0.0; MOST],
            density: [0.0; MOST],
            velocity: [[0.0; MOST]; 3],
            beside_blank: 0,
        }
    }
}

impl BrickCells {
    /// Begins a brick at `brick` with the cells in `mask`. The caller then fills the other arrays.
    #[inline(always)]
    pub fn begin(&mut self, brick: [u32; 3], mask: u64) {
        self.n = mask.count_ones() as usize;
        self.brick = brick;
        self.bit.iter_mut().zip(local::bits(mask)).for_each(|(place, bit)| *place = bit);
    }

    /// Sets the peak of the patch of cell `n`.
    #[inline(always)]
    pub fn set_peak(&mut self, n: usize, level: u32, ijk: [u32; 3]) {
        self.peak_level[n] = level;
        (0..3).for_each(|a| self.peak[a][n] = ijk[a]);
    }

    /// The position of cell `n` on the grid of its level.
    #[inline(always)]
    pub(super) fn position(&self, n: usize) -> [u32; 3] {
        local::position_of(self.brick, self.bit[n])
    }

    /// Number of cells, rounded up to whole vectors.
    #[inline(always)]
    fn n_in_vectors(&self) -> usize {
        self.n.next_multiple_of(LANES).min(MOST)
    }

    /// The input of the terms of cell `n`.
    #[inline(always)]
    fn view(&self, n: usize, domain: &Domain) -> CellView {
        let volume = cell_volume(self.level);
        let from = cell_centre(self.peak_level[n] as u8, self.peak.each_ref().map(|x| x[n]));
        let to = cell_centre(self.level, local::position_of(self.brick, self.bit[n]));
        CellView {
            volume,
            mass: self.density[n] * volume,
            from_peak: domain.displacement(from, to),
            velocity: self.velocity.each_ref().map(|v| v[n]),
        }
    }
}

/// `N` terms for each of up to 64 cells or patches.
#[derive(Debug, Clone)]
pub struct Terms<const N: usize> {
    real: [[f64; MOST]; N],
    high: [[i64; MOST]; N],
    low: [[u64; MOST]; N],
}

impl<const N: usize> Default for Terms<N> {
    fn default() -> Self {
        Self { real: [[0.0; MOST]; N], high: [[0; MOST]; N], low: [[0; MOST]; N] }
    }
}

impl<const N: usize> Terms<N> {
    /// Computes the terms of the sums of `T` for the cells of a brick, rounded to their quanta.
    pub fn compute<T: Gathered<N>>(
        &mut self,
        cells: &BrickCells,
        domain: &Domain,
        quanta: &[Quantum; N_SUMS],
    ) {
        wide(
            #[inline(always)]
            || {
                for n in 0..cells.n_in_vectors() {
                    let view = cells.view(n, domain);
                    (0..N).for_each(|i| self.real[i][n] = (SUMS[T::FIRST + i].term)(&view));
                }
                self.round(cells.n, &quanta[T::FIRST..]);
            },
        );
    }

    /// Sets the terms of `n` cells or patches, at most 64, to these values, rounded.
    #[inline(always)]
    pub fn set(&mut self, n: usize, quanta: &[Quantum], values: impl Fn(usize) -> [f64; N]) {
        for n in 0..n {
            let values = values(n);
            (0..N).for_each(|i| self.real[i][n] = values[i]);
        }
        wide(
            #[inline(always)]
            || self.round(n, quanta),
        );
    }

    /// Rounds whole vectors of terms to the quanta.
    #[inline(always)]
    fn round(&mut self, n: usize, quanta: &[Quantum]) {
        for (i, quantum) in quanta[..N].iter().enumerate() {
            for n in 0..n.next_multiple_of(LANES).min(MOST) {
                let Limbs { high, low } = quantum.limbs(self.real[i][n]);
                (self.high[i][n], self.low[i][n]) = (high, low);
            }
        }
    }

    /// The rounded terms of cell `n`.
    #[inline(always)]
    pub fn sums(&self, n: usize) -> [FixedSum; N] {
        std::array::from_fn(|i| Limbs { high: self.high[i][n], low: self.low[i][n] }.sum())
    }
}

/// `N` of the sums of a patch, from `FIRST` on, with what belongs to them. Merging is associative and
/// commutative, bit for bit.
pub trait Gathered<const N: usize>: Pod + Default + Send + Sync {
    /// Offset of the first sum.
    const FIRST: usize;
    /// Whether it needs [`BrickCells::beside_blank`].
    const SEES_BLANKS: bool = false;

    /// Adds cell `n` of a brick.
    fn add(&mut self, cells: &BrickCells, terms: &Terms<N>, n: usize);

    /// Adds the sums of another part of the patch.
    fn merge(&mut self, other: &Self);
}

impl Gathered<N_OF_PATCH> for PatchSums {
    const FIRST: usize = 0;

    #[inline(always)]
    fn add(&mut self, cells: &BrickCells, terms: &Terms<N_OF_PATCH>, n: usize) {
        self.n_cells += 1;
        self.rho_min = smaller(self.rho_min, cells.rho[n]);
        merge(&mut self.sums, &terms.sums(n));
    }

    fn merge(&mut self, other: &Self) {
        self.n_cells += other.n_cells;
        self.rho_min = smaller(self.rho_min, other.rho_min);
        merge(&mut self.sums, &other.sums);
    }
}

impl Gathered<3> for Momentum {
    const FIRST: usize = MOMENTUM;

    #[inline(always)]
    fn add(&mut self, _: &BrickCells, terms: &Terms<3>, n: usize) {
        merge(&mut self.0, &terms.sums(n));
    }

    fn merge(&mut self, other: &Self) {
        merge(&mut self.0, &other.0);
    }
}

#[inline(always)]
fn merge<const N: usize>(sums: &mut [FixedSum; N], others: &[FixedSum; N]) {
    sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += *other);
}

#[inline(always)]
fn smaller(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::super::SumScales;
    use super::*;
    use proptest::prelude::*;

    /// Cells of a brick at a corner of the box, with peaks anywhere in it; some values are 0 or at the
    /// bounds.
    fn cells() -> impl Strategy<Value = BrickCells> {
        let unit = || prop_oneof![Just(0.0), Just(1.0), 0.0..1.0f64];
        let cell =
            (4..7u32, prop::array::uniform3(any::<u32>()), unit(), prop::array::uniform3(-1.0..1.0f64));
        (any::<u64>(), prop::collection::vec(cell, MOST), 0..8u32).prop_map(|(mask, values, corner)| {
            let mut cells = BrickCells { level: 5, ..BrickCells::default() };
            cells.begin([0, 1, 2].map(|a| 7 * (corner >> a & 1)), mask);
            for (n, (level, at, density, velocity)) in values.into_iter().enumerate() {
                cells.set_peak(n, level, at.map(|x| x % (1 << level)));
                cells.density[n] = density;
                (0..3).for_each(|a| cells.velocity[a][n] = velocity[a]);
            }
            cells
        })
    }

    /// Reference: one cell at a time.
    fn check<T: Gathered<N>, const N: usize>(cells: &BrickCells, domain: &Domain) {
        let scales = SumScales { volume: 1.0, mass: 1.0, length: 2.0, velocity: 1.0 };
        let quanta = scales.quanta(64);
        let mut terms = Terms::<N>::default();
        terms.compute::<T>(cells, domain, &quanta);
        for n in 0..cells.n {
            let view = cells.view(n, domain);
            let plain = |i: usize| quanta[T::FIRST + i].quantize((SUMS[T::FIRST + i].term)(&view));
            assert_eq!(terms.sums(n), std::array::from_fn(plain));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

        #[test]
        fn terms_are_those_of_single_cells(cells in cells(), periodic in prop::array::uniform3(any::<bool>())) {
            let domain = Domain { coarse: [1, 2, 1], periodic };
            check::<PatchSums, _>(&cells, &domain);
            check::<Momentum, _>(&cells, &domain);
        }
    }
}
