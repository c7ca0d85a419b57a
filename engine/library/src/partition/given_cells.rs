//! Cells that a caller holds, in its own order and decomposition, and how their values lie in its memory.

use super::oct_record::OctRecord;
use inselberg_io::{oct_of_block, value_of_block};
use rayon::prelude::*;

/// Cells of a caller, valid one by one: in the box and at a level that fits. Lists have one entry per leaf,
/// oct or block.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum GivenCells {
    /// Leaves: level and position of each.
    Leaves {
        /// Levels.
        level: Vec<u8>,
        /// Positions on the grids of the levels.
        position: Vec<[u32; 3]>,
    },
    /// Octs of eight cells each, all octs of an octree over all ranks.
    Octs {
        /// Levels of the cells.
        level: Vec<u8>,
        /// Positions of the octs on the grids of the levels above.
        position: Vec<[u32; 3]>,
        /// One bit per cell, set where it is split.
        split: Vec<u8>,
    },
    /// Blocks of leaves, all of one size. Sizes and corners are even, so that a block consists of octs.
    Blocks {
        /// Levels of the cells.
        level: Vec<u8>,
        /// Positions of the lowest cells on the grids of the levels.
        corner: Vec<[u32; 3]>,
        /// Cells along each axis.
        size: [u32; 3],
        /// Whether the octs of all blocks, in the order of [`ItemLayout`], are covered by finer blocks; empty
        /// where none is.
        covered: Vec<bool>,
    },
}

/// How given values lie in memory. An *item* is a leaf, or an oct of eight cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemLayout {
    /// One value per leaf.
    Leaves,
    /// Eight values per oct.
    Octs,
    /// Blocks of this size one after the other, x fastest. Octs within a block are in the same order.
    Blocks([u32; 3]),
}

impl ItemLayout {
    /// 1 or 8.
    pub fn cells_per_item(self) -> usize {
        if self == Self::Leaves { 1 } else { 8 }
    }

    /// The index of the value of a cell of an item.
    #[inline]
    pub fn index(self, item: usize, cell: usize) -> usize {
        match self {
            Self::Leaves => item,
            Self::Octs => 8 * item + cell,
            Self::Blocks(size) => {
                let n_octs = octs_per_block(size);
                8 * n_octs * (item / n_octs) + value_of_block(size, item % n_octs, cell)
            }
        }
    }

    /// The item of value `i`, and the cell in it.
    #[inline]
    pub fn item_of(self, i: usize) -> (usize, usize) {
        match self {
            Self::Leaves => (i, 0),
            Self::Octs => (i / 8, i % 8),
            Self::Blocks(size) => {
                let [x, y, z] = size.map(|n| n as usize);
                let (block, at) = (i / (x * y * z), i % (x * y * z));
                let at = [at % x, at / x % y, at / (x * y)];
                let oct = at[0] / 2 + x / 2 * (at[1] / 2 + y / 2 * (at[2] / 2));
                let cell = at[0] & 1 | (at[1] & 1) << 1 | (at[2] & 1) << 2;
                (block * (x * y * z / 8) + oct, cell)
            }
        }
    }
}

/// Number of octs of a block with `size` cells along each axis.
fn octs_per_block(size: [u32; 3]) -> usize {
    size.iter().map(|n| *n as usize / 2).product()
}

impl GivenCells {
    /// How the values of the cells lie in memory.
    pub fn layout(&self) -> ItemLayout {
        match self {
            Self::Leaves { .. } => ItemLayout::Leaves,
            Self::Octs { .. } => ItemLayout::Octs,
            Self::Blocks { size, .. } => ItemLayout::Blocks(*size),
        }
    }

    /// Number of values: one per cell, covered ones included.
    pub fn n_cells(&self) -> usize {
        self.n_items() * self.layout().cells_per_item()
    }

    /// Number of leaves or octs.
    pub fn n_items(&self) -> usize {
        match self {
            Self::Leaves { level, .. } | Self::Octs { level, .. } => level.len(),
            Self::Blocks { corner, size, .. } => corner.len() * octs_per_block(*size),
        }
    }

    /// Which octs are covered, by a flag per value.
    ///
    /// # Errors
    /// The index of a value of an oct of which only a part is covered.
    pub fn covered_octs(&self, is_covered: impl Fn(usize) -> bool + Sync) -> Result<Vec<bool>, usize> {
        let layout = self.layout();
        let of_item = |item: usize| {
            let first = is_covered(layout.index(item, 0));
            match (1..8).all(|cell| is_covered(layout.index(item, cell)) == first) {
                true => Ok(first),
                false => Err(layout.index(item, 0)),
            }
        };
        (0..self.n_items()).into_par_iter().map(of_item).collect()
    }

    /// Marks octs of blocks as covered by finer blocks.
    pub fn set_covered(&mut self, octs: Vec<bool>) {
        if let Self::Blocks { covered, .. } = self {
            *covered = octs;
        }
    }

    /// Number of leaf cells of each level.
    pub fn leaves_by_level(&self) -> [u64; 32] {
        let mut counts = [0; 32];
        let mut add = |level: u8, n: u64| counts[usize::from(level) & 31] += n;
        match self {
            Self::Leaves { level, .. } => level.iter().for_each(|level| add(*level, 1)),
            Self::Octs { level, split, .. } => {
                level.iter().zip(split).for_each(|(level, split)| add(*level, split.count_zeros().into()));
            }
            Self::Blocks { level, size, covered, .. } => {
                let n_octs = octs_per_block(*size);
                for (block, level) in level.iter().enumerate() {
                    let covered = covered.iter().skip(block * n_octs).take(n_octs);
                    let n_covered = covered.filter(|covered| **covered).count();
                    add(*level, 8 * (n_octs - n_covered) as u64);
                }
            }
        }
        counts
    }

    /// Whether value `i` is that of a leaf.
    #[inline]
    pub fn is_leaf(&self, i: usize) -> bool {
        match self {
            Self::Leaves { .. } => true,
            Self::Octs { split, .. } => split[i / 8] >> (i % 8) & 1 == 0,
            Self::Blocks { covered, .. } => covered.is_empty() || !covered[self.layout().item_of(i).0],
        }
    }

    /// Level of the cell of value `i`, and its position on the grid of that level.
    pub fn cell(&self, i: usize) -> (u8, [u32; 3]) {
        let (item, cell) = self.layout().item_of(i);
        let record = self.record(item, |_| 0.0);
        match self {
            Self::Leaves { position, .. } => (record.level, position[i]),
            _ => (record.level, record.cell(cell as u32)),
        }
    }

    /// A leaf or oct with the densities of its cells.
    pub(super) fn record(&self, item: usize, rho: impl Fn(usize) -> f64) -> OctRecord {
        let layout = self.layout();
        let rho = |cell| rho(layout.index(item, cell));
        match self {
            Self::Leaves { level, position } => OctRecord::of_cell(level[item], position[item], true, rho(0)),
            Self::Octs { level, position, split } => OctRecord {
                position: position[item],
                level: level[item],
                exists: 0xff,
                leaf: !split[item],
                unused: 0,
                rho: std::array::from_fn(rho),
            },
            Self::Blocks { level, corner, size, covered } => {
                let n_octs = octs_per_block(*size);
                let (block, at) = (item / n_octs, oct_of_block(*size, item % n_octs));
                let exists = if covered.get(item) == Some(&true) { 0 } else { 0xff };
                OctRecord {
                    position: std::array::from_fn(|a| corner[block][a] / 2 + at[a]),
                    level: level[block],
                    exists,
                    leaf: exists,
                    unused: 0,
                    rho: std::array::from_fn(rho),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_blocks_are_those_of_their_octs() {
        let size = [4, 2, 6];
        let corner = vec![[2, 4, 8], [0, 0, 0]];
        let blocks =
            GivenCells::Blocks { level: vec![3, 4], corner: corner.clone(), size, covered: Vec::new() };
        assert_eq!(blocks.n_cells(), 96);
        let layout = blocks.layout();
        for i in 0..96 {
            let (item, cell) = layout.item_of(i);
            assert_eq!(layout.index(item, cell), i);
            // x fastest, block after block.
            let (block, at) = (i / 48, i as u32 % 48);
            let at = [at % 4, at / 4 % 2, at / 8];
            let position = std::array::from_fn(|a| corner[block][a] + at[a]);
            assert_eq!(blocks.cell(i), (3 + block as u8, position));
        }
    }
}
