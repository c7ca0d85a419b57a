//! The terms of the cells of a brick, or of as many patches, made side by side: one after the other they would take
//! most of the time of the sums.

use super::sums::{CellView, Gathered, N_SUMS, SUMS};
use crate::geom::{Domain, cell_centre, cell_volume};
use crate::ids::PeakIdx;
use crate::mesh::local;
use crate::simd::wide;
use crate::sum::{FixedSum, Limbs, Quantum};

/// Most cells of a brick.
pub const MOST: usize = 64;
/// Doubles of a vector.
const LANES: usize = 8;

/// Cells of a brick as arrays, of which the first `n` count.
#[derive(Debug, Clone)]
pub struct BrickCells {
    /// Number of cells.
    pub n: usize,
    /// Level of the brick's cells.
    pub level: u8,
    /// Position of the brick.
    brick: [u32; 3],
    /// Their bits in it.
    bit: [u32; MOST],
    /// Patches.
    pub patch: [PeakIdx; MOST],
    /// Levels of the cells of the patches' peaks.
    pub peak_level: [u32; MOST],
    /// Their positions on the grids of those levels.
    pub peak: [[u32; MOST]; 3],
    /// Densities of the segmented field.
    pub rho: [f64; MOST],
    /// Mass densities.
    pub density: [f64; MOST],
    /// Components of velocities; 0 without any.
    pub velocity: [[f64; MOST]; 3],
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
        }
    }
}

impl BrickCells {
    /// Becomes the cells of a brick whose bits are in `mask`.
    #[inline(always)]
    pub fn begin(&mut self, brick: [u32; 3], mask: u64) {
        self.n = mask.count_ones() as usize;
        self.brick = brick;
        self.bit.iter_mut().zip(local::bits(mask)).for_each(|(place, bit)| *place = bit);
    }

    /// Where the peak of cell `n` is.
    #[inline(always)]
    pub fn set_peak(&mut self, n: usize, level: u32, ijk: [u32; 3]) {
        self.peak_level[n] = level;
        (0..3).for_each(|a| self.peak[a][n] = ijk[a]);
    }

    /// Number of cells as full vectors: what is beyond the last cell is left over from other bricks.
    #[inline(always)]
    fn n_in_vectors(&self) -> usize {
        self.n.next_multiple_of(LANES).min(MOST)
    }

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

/// `N` terms of each cell of a brick, or of each of as many patches.
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
    /// Makes those of what `T` gathers. About 2 ns a cell.
    pub fn make<T: Gathered<N>>(&mut self, cells: &BrickCells, domain: &Domain, quanta: &[Quantum; N_SUMS]) {
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

    /// Makes the first `n` of `values`, at most 64.
    #[inline(always)]
    pub fn fill(&mut self, n: usize, quanta: &[Quantum], values: impl Fn(usize) -> [f64; N]) {
        for n in 0..n {
            let values = values(n);
            (0..N).for_each(|i| self.real[i][n] = values[i]);
        }
        wide(
            #[inline(always)]
            || self.round(n, quanta),
        );
    }

    /// Full vectors of them: what is beyond the last is left over.
    #[inline(always)]
    fn round(&mut self, n: usize, quanta: &[Quantum]) {
        for (i, quantum) in quanta[..N].iter().enumerate() {
            for n in 0..n.next_multiple_of(LANES).min(MOST) {
                let Limbs { high, low } = quantum.limbs(self.real[i][n]);
                (self.high[i][n], self.low[i][n]) = (high, low);
            }
        }
    }

    /// Those of cell `n`.
    #[inline(always)]
    pub fn sums(&self, n: usize) -> [FixedSum; N] {
        std::array::from_fn(|i| Limbs { high: self.high[i][n], low: self.low[i][n] }.sum())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Momentum, PatchSums, SumScales};
    use super::*;

    /// Cells of a brick at the corner of the box, whose patches' peaks are at its other end or near.
    fn cells() -> BrickCells {
        let mut cells = BrickCells { level: 5, ..BrickCells::default() };
        let bits: Vec<u32> = (0..64).filter(|bit| bit % 7 != 3).collect();
        cells.begin([0, 7, 0], bits.iter().fold(0, |mask, bit| mask | 1 << bit));
        for (n, bit) in bits.into_iter().enumerate() {
            cells.set_peak(n, 4 + bit % 3, [31 * (bit & 1), bit, 0]);
            cells.density[n] = f64::from(bit + 1).sqrt();
            (0..3).for_each(|a| cells.velocity[a][n] = (f64::from(bit) + a as f64).sin());
        }
        cells
    }

    fn check<T: Gathered<N>, const N: usize>(domain: &Domain) {
        let scales = SumScales { volume: 1.0, mass: 1.0, length: 2.0, velocity: 1.0 };
        let (cells, quanta) = (cells(), scales.quanta(64));
        let mut terms = Terms::<N>::default();
        terms.make::<T>(&cells, domain, &quanta);
        for n in 0..cells.n {
            let view = cells.view(n, domain);
            let plain = |i: usize| quanta[T::FIRST + i].quantize((SUMS[T::FIRST + i].term)(&view));
            assert_eq!(terms.sums(n), std::array::from_fn(plain));
        }
    }

    #[test]
    fn side_by_side_as_one_by_one() {
        for periodic in [[true; 3], [false, true, false]] {
            let domain = Domain { coarse: [1, 2, 1], periodic };
            check::<PatchSums, _>(&domain);
            check::<Momentum, _>(&domain);
        }
    }
}
