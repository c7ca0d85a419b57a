//! Octs as ranks send them, 80 bytes each.

use super::test_rule::TestRule;
use bytemuck::{Pod, Zeroable};
use inselberg_kernels::mesh::local;

/// Some of the cells of an oct. Masks have one bit per cell, in Morton order. Densities of absent cells are
/// undefined.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct OctRecord {
    /// The position of the oct on the grid of the level above its cells.
    pub position: [u32; 3],
    /// The level of the cells.
    pub level: u8,
    /// The cells that are present.
    pub exists: u8,
    /// The present cells that are leaves.
    pub leaf: u8,
    /// Padding: messages have no uninitialised bytes.
    pub unused: u8,
    /// Densities.
    pub rho: [f64; 8],
}

impl OctRecord {
    /// The oct of a single cell.
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

    /// The mask of test cells.
    pub fn test_cells(&self, rule: &TestRule) -> u8 {
        let above = (0..8).fold(0, |above, i| above | u8::from(self.rho[i] > rule.threshold) << i);
        let dense = self.leaf & above;
        let Some(takes_part) = rule.takes_part else { return dense };
        let has_part = |bit: &u32| takes_part(self.level, self.cell(*bit));
        local::bits(dense.into()).filter(has_part).fold(0, |mask, bit| mask | 1 << bit)
    }

    /// The oct with only those of its cells that are in the mask `cells`.
    pub fn only(mut self, cells: u8) -> Self {
        self.exists &= cells;
        self.leaf &= cells;
        self
    }

    /// Adds the cells of `other`, if it is the same oct and shares no cell with this one. Returns whether it
    /// did.
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
        assert_eq!(
            (oct.exists, oct.leaf, oct.test_cells(&TestRule::above(0.0))),
            (0b10_1001, 0b1001, 0b1000)
        );
        let odd = TestRule { threshold: -1.0, takes_part: Some(&|level, [x, ..]| level == 9 && x == 7) };
        assert_eq!((oct.test_cells(&TestRule::above(-1.0)), oct.test_cells(&odd)), (0b1001, 0b1000));
        assert_eq!((oct.cell(5), oct.rho[5], oct.only(0b11_0000).leaf), ([7, 4, 9], 5.0, 0));
    }
}
