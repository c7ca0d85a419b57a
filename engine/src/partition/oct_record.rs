//! Octs on their way between ranks, 80 bytes each.

use bytemuck::{Pod, Zeroable};
use inselberg_kernels::mesh::local;

/// Some of the cells of an oct. A bit a cell says which, in Morton order; what stands for the others means nothing.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct OctRecord {
    /// On the grid of the level above.
    pub position: [u32; 3],
    /// Of the cells.
    pub level: u8,
    pub exists: u8,
    /// Those that exist and are leaves.
    pub leaf: u8,
    pub unused: u8,
    pub rho: [f64; 8],
}

impl OctRecord {
    /// A cell alone.
    pub fn of_cell(level: u8, cell: [u32; 3], is_leaf: bool, rho: f64) -> Self {
        let exists = 1 << (local::bit_of(cell) & 7);
        let leaf = if is_leaf { exists } else { 0 };
        Self { position: cell.map(|x| x >> 1), level, exists, leaf, unused: 0, rho: [rho; 8] }
    }

    /// Number of cells.
    pub fn n_cells(&self) -> usize {
        self.exists.count_ones() as usize
    }

    /// The position of one of its cells.
    pub fn cell(&self, bit: u32) -> [u32; 3] {
        let offset = local::offset_of(bit);
        std::array::from_fn(|a| 2 * self.position[a] + offset[a])
    }

    /// Those of its cells that have further values: that are test cells.
    pub fn test_cells(&self, threshold: f64) -> u8 {
        let above = (0..8).fold(0, |above, i| above | u8::from(self.rho[i] > threshold) << i);
        self.leaf & above
    }

    /// Those of its cells that are in `cells`.
    pub fn only(mut self, cells: u8) -> Self {
        self.exists &= cells;
        self.leaf &= cells;
        self
    }

    /// Takes in other cells of the same oct; whether `other` has none but such.
    pub fn join(&mut self, other: &Self) -> bool {
        if (self.level, self.position) != (other.level, other.position) || self.exists & other.exists != 0 {
            return false;
        }
        local::bits(other.exists.into()).for_each(|i| self.rho[i as usize] = other.rho[i as usize]);
        self.exists |= other.exists;
        self.leaf |= other.leaf;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_join_to_an_oct() {
        let cell = |i: u32, is_leaf| {
            OctRecord::of_cell(9, [6 + (i & 1), 4 + (i >> 1 & 1), 8 + (i >> 2)], is_leaf, f64::from(i))
        };
        let mut oct = cell(3, true);
        assert!(oct.join(&cell(5, false)) && oct.join(&cell(0, true)) && !oct.join(&cell(5, true)));
        assert!(!oct.join(&OctRecord { level: 8, ..cell(1, true) }));
        assert_eq!((oct.exists, oct.leaf, oct.test_cells(0.0)), (0b10_1001, 0b1001, 0b1000));
        assert_eq!((oct.cell(5), oct.rho[5], oct.only(0b11_0000).leaf), ([7, 4, 9], 5.0, 0));
    }
}
