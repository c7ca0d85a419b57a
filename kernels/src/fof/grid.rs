//! Grid: cells so small that any two particles of one cell are linked, and blocks of 4x4x4 cells.
//!
//! A link reaches two cells along an axis, in narrow periodic boxes three. README.md in this folder derives
//! the sizes.

/// Cells along one axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GridAxis {
    /// The coordinate at which cell 0 begins.
    origin: f64,
    /// The periodic side; infinite if the axis is open.
    side: f64,
    /// Cells per unit of length.
    per_length: f64,
    n_cells: u64,
    /// Linked particles are at most this number of cells apart.
    reach: u64,
}

/// Cells along all three axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchGrid {
    /// The cells along each axis.
    pub axes: [GridAxis; 3],
}

/// The block of a particle and its cell in the block (two bits per axis, x lowest).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// The block.
    pub block: [u32; 3],
    /// The cell in it.
    pub cell: u32,
}

/// The linking length must be at least this fraction of the extent of the particles. Then there are fewer
/// than 2³¹ blocks along an axis, and the rounding of positions is far below the size of a cell.
pub const SHORTEST: f64 = 1.0 / (1u64 << 32) as f64;

/// 1.5 × 2⁵². The sum with a number from -0.5 to 2⁵¹ has that number, rounded to an integer, in its lowest
/// bits.
const INTEGERS: f64 = 1.5 * (1u64 << 52) as f64;

/// The largest side of a cell in which any two particles are linked. `spread` is the extent of the positions.
fn largest_side(length: f64, spread: f64) -> f64 {
    let rounding = spread / (1u64 << 49) as f64;
    length / 3f64.sqrt() * (1.0 - 1.0 / (1u64 << 30) as f64) - rounding
}

impl GridAxis {
    /// An open axis from `low` to `high`, both included.
    fn open(low: f64, high: f64, length: f64) -> Self {
        let spread = (high - low).max(0.0);
        let per_length = 1.0 / largest_side(length, spread);
        let n_cells = (spread * per_length) as u64 + 1;
        Self { origin: low, side: f64::INFINITY, per_length, n_cells, reach: 2 }
    }

    /// A periodic axis from 0 to `side`; `length` is at most half of it. The last block may be cut short, but
    /// not to fewer cells than a link reaches, so that links lead from a block to touching blocks only.
    fn periodic(side: f64, length: f64) -> Self {
        let least = (side / largest_side(length, side)).ceil() as u64;
        let suits = |n_cells: u64, reach: u64| {
            let in_last = (n_cells - 1) % 4 + 1;
            let far = reach as f64 * side / n_cells as f64 > length * (1.0 + 1e-6);
            in_last >= reach && (far || n_cells <= 2 * reach + 1)
        };
        let mut sizes = (least..).flat_map(|n_cells| [(n_cells, 2), (n_cells, 3)]);
        let (n_cells, reach) = sizes.find(|(n, r)| suits(*n, *r)).expect("three cells span more than a link");
        Self { origin: 0.0, side, per_length: n_cells as f64 / side, n_cells, reach }
    }

    /// Number of cells.
    #[cfg(test)]
    pub fn n_cells(&self) -> u64 {
        self.n_cells
    }

    /// Number of blocks.
    pub fn n_blocks(&self) -> u32 {
        self.n_cells.div_ceil(4) as u32
    }

    /// Cells of the last block of a periodic axis.
    pub fn in_last(&self) -> u64 {
        (self.n_cells - 1) % 4 + 1
    }

    /// Whether the axis is periodic.
    pub fn is_periodic(&self) -> bool {
        self.side.is_finite()
    }

    /// Linked particles are at most this number of cells apart.
    pub fn reach(&self) -> u64 {
        self.reach
    }

    /// The cell of a coordinate, which may exceed a periodic side by a rounding error. Monotonic in the
    /// coordinate. A coordinate between two cells is in one of them.
    ///
    /// It has no branch and no conversion to an integer, so that loops over positions compile to vector code.
    /// Adding [`INTEGERS`] takes the place of a conversion. That rounds to the nearest integer, so half is
    /// subtracted first: 7.3 cells from the origin, less half a cell, is 6.8, which rounds to cell 7.
    #[inline(always)]
    pub fn cell(&self, x: f64) -> u64 {
        let from = x - self.origin;
        let past = if from >= self.side { self.side } else { 0.0 };
        let short = if from < 0.0 { self.side } else { 0.0 };
        let cell = (from - past + short) * self.per_length - 0.5;
        debug_assert!(cell >= -0.5, "{x} is within the bounds of the axis");
        let last = (self.n_cells - 1) as f64;
        let cell = if cell < last { cell } else { last };
        (cell + INTEGERS).to_bits() & !INTEGERS.to_bits()
    }

    /// The first and last block with cells within reach of a cell.
    pub fn blocks_within_reach(&self, cell: u64) -> [u32; 2] {
        let n = self.n_cells;
        let (low, high) = (cell.checked_sub(self.reach), Some(cell + self.reach).filter(|c| *c < n));
        let [low, high] = match self.is_periodic() {
            true => [
                low.unwrap_or((cell + n).saturating_sub(self.reach) % n),
                high.unwrap_or((cell + self.reach) % n),
            ],
            false => [low.unwrap_or(0), high.unwrap_or(n - 1)],
        };
        [(low >> 2) as u32, (high >> 2) as u32]
    }

    /// The block at `offset` (-1, 0 or 1) from block `at`, if there is one: its number, and the distance in
    /// cells between the first cells of both.
    pub fn block_at(&self, at: u32, offset: i32) -> Option<(u32, i64)> {
        let (last, in_last) = (self.n_blocks() - 1, self.in_last() as i64);
        match offset {
            0 => Some((at, 0)),
            1 if at < last => Some((at + 1, 4)),
            -1 if at > 0 => Some((at - 1, -4)),
            1 if self.is_periodic() => Some((0, in_last)),
            -1 if self.is_periodic() => Some((last, -in_last)),
            _ => None,
        }
    }
}

impl SearchGrid {
    /// A grid over the periodic `sides`, or from `low` to `high`, for links shorter than `length`.
    pub fn new(length: f64, sides: Option<[f64; 3]>, low: [f64; 3], high: [f64; 3]) -> Self {
        let axis = |a: usize| match sides {
            Some(sides) => GridAxis::periodic(sides[a], length),
            None => GridAxis::open(low[a], high[a], length),
        };
        Self { axes: [axis(0), axis(1), axis(2)] }
    }

    /// The block and cell of a position.
    #[inline(always)]
    pub fn spot(&self, position: [f64; 3]) -> Spot {
        let [along_x, along_y, along_z] = &self.axes;
        let (x, y, z) = (along_x.cell(position[0]), along_y.cell(position[1]), along_z.cell(position[2]));
        let cell = (x & 3) | (y & 3) << 2 | (z & 3) << 4;
        Spot { block: [(x >> 2) as u32, (y >> 2) as u32, (z >> 2) as u32], cell: cell as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cells_are_small_and_their_reach_is_long_enough() {
        for i in 0..4000 {
            let side = 1.0 + f64::from(i % 7);
            let length = side / (2.0 + f64::from(i) * 0.01 + f64::from(i / 1000) * 3.7);
            let axis = GridAxis::periodic(side, length);
            let cell = side / axis.n_cells as f64;
            assert!(3.0 * cell * cell < length * length, "{length} of {side}");
            assert!(axis.reach as f64 * cell >= length || axis.n_cells <= 2 * axis.reach + 1);
            assert!(axis.in_last() >= axis.reach && axis.reach <= 3);
            assert!(cell * 1.0001 > length / 3f64.sqrt() * 0.5, "{axis:?} for {length} of {side}");
        }
    }

    proptest! {
        /// Reference: a division.
        #[test]
        fn the_cell_of_a_coordinate_holds_it(side in 1e-3..1e6f64, cells in 1u64..1 << 33, part in 0.0..1.0f64) {
            let axis = GridAxis { origin: 0.0, side, per_length: cells as f64 / side, n_cells: cells, reach: 2 };
            let (x, unit) = ((side * part).min(side.next_down()), side / cells as f64);
            let rounding = side / (1u64 << 50) as f64;
            let first = axis.cell(x) as f64 * unit;
            prop_assert!(axis.cell(x) < cells);
            prop_assert!(first - rounding <= x && x <= first + unit + rounding, "{x} from {first}");
            prop_assert_eq!(GridAxis { side: f64::INFINITY, ..axis }.cell(x), axis.cell(x));
            prop_assert!(axis.cell(x) <= axis.cell(x.next_up()) || x.next_up() >= side);
        }
    }

    #[test]
    fn both_ends_of_a_periodic_side_are_one_place() {
        let axis = GridAxis::periodic(10.0, 0.3);
        assert_eq!((axis.cell(10.0), axis.cell(0.0), axis.cell(-1e-12)), (0, 0, axis.n_cells - 1));
        assert_eq!(axis.cell(10.0f64.next_down()), axis.n_cells - 1);
        assert_eq!(axis.block_at(0, -1).map(|b| b.0), Some(axis.n_blocks() - 1));
    }
}
