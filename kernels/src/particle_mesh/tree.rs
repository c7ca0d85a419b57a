//! The octree of one root: cells in octs, octs in the order of (level, Morton key).

use super::{Shape, SplitBrick};
use crate::mesh::local::bits;
use std::ops::Range;

/// No cell, or no child.
pub(super) const NONE: u32 = u32::MAX;

/// A root with all of its cells. Cell 0 is the root itself; the eight cells of oct i are 8 i + 1 to 8 i + 8.
#[derive(Debug, Default, Clone)]
pub struct RootTree {
    /// The first of the eight children of each cell; [`NONE`] for leaves.
    pub(super) child: Vec<u32>,
    /// The key of the parent cell of each oct.
    pub(super) parent: Vec<u64>,
    /// The first oct of each level, from the children of the root on, and the number of octs at the end.
    first: Vec<u32>,
    root_level: u8,
}

impl RootTree {
    /// Rebuilds itself as the tree of the root with this key. `levels` gives its split cells of a level.
    /// Linear in the cells. Keeps its memory.
    ///
    /// # Panics
    /// If the parent of a split cell is not split.
    pub fn grow<'a>(&mut self, shape: &Shape, root: u64, levels: impl Fn(u8) -> &'a [SplitBrick]) {
        self.root_level = shape.root_level;
        self.child.clear();
        self.child.push(NONE);
        self.parent.clear();
        self.first.clear();
        let mut split = vec![(root, 0)];
        for level in shape.root_level.. {
            let begin = self.parent.len();
            self.first.push(begin as u32);
            if split.is_empty() {
                break;
            }
            split.drain(..).for_each(|(key, cell)| self.split(key, cell));
            if level + 1 < shape.level_min {
                let octs = (begin..).zip(&self.parent[begin..]);
                split
                    .extend(octs.flat_map(|(oct, key)| (0..8).map(move |i| (key << 3 | i, cell_of(oct, i)))));
            } else if level + 1 < shape.level_max {
                let mut oct = begin;
                for brick in levels(level + 1) {
                    for key in bits(brick.mask).map(|bit| brick.key << 6 | u64::from(bit)) {
                        while self.parent[oct] < key >> 3 {
                            oct += 1;
                        }
                        debug_assert!(self.parent[oct] == key >> 3, "the parent of a split cell is split");
                        split.push((key, cell_of(oct, key & 7)));
                    }
                }
            }
        }
    }

    fn split(&mut self, key: u64, cell: u32) {
        self.child[cell as usize] = cell_of(self.parent.len(), 0);
        self.parent.push(key);
        self.child.extend([NONE; 8]);
    }

    /// Number of cells.
    pub fn n_cells(&self) -> usize {
        self.child.len()
    }

    /// Whether a cell is a leaf.
    #[inline]
    pub fn is_leaf(&self, cell: u32) -> bool {
        self.child[cell as usize] == NONE
    }

    /// The octs whose cells are of `level`.
    pub(super) fn octs_of(&self, level: u8) -> Range<usize> {
        let at = |i: usize| self.first.get(i).map_or(self.parent.len(), |first| *first as usize);
        let i = usize::from(level - self.root_level);
        at(i - 1)..at(i)
    }
}

/// Cell `i` of an oct.
#[inline]
pub(super) fn cell_of(oct: usize, i: u64) -> u32 {
    (8 * oct + 1) as u32 + i as u32
}
