//! Mesh: which cells exist, and where are a cell and its neighbours in memory?
//!
//! Place in the flow: built from sorted octs or leaves; densities and all of PHEW are arrays in its order. It
//! has positions and levels, but no densities.
//!
//! Cells of one level are in bricks of 4x4x4, each with one 64-bit mask of the cells that exist and one of
//! those that are leaves. Bricks are in super-bricks of 4x4x4 in the same way. In both, the order is
//! Morton's, so over the whole mesh the cell index is in the order of (level, Morton key). A look-up costs
//! one hash of a 4x4x4 block of super-bricks and three popcounts. The 27 bricks around a brick follow from
//! the 27 super-bricks around its super-brick without a hash, and so do the coarser ones (the design follows
//! VDB).
//!
//! A mesh contains either a whole octree (split cells and leaves) or only leaves.

mod absent;
mod build;
mod check;
pub mod local;
mod lookup;
mod neighbours;
#[cfg(test)]
pub(crate) mod random;
mod recent;

pub use build::{LeafBricks, MeshError, SortedOcts, UnlinkedMesh};
pub use lookup::{Locator, Lookup};
pub use neighbours::{COARSER, Neighbourhood, SuperLinks, for_each_coarser, place_of};
pub(crate) use recent::RecentBlocks;

use crate::geom::Domain;
use crate::ids::{BrickIdx, CellIdx};
use crate::sfc::morton;
use local::bit_of;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A 4x4x4 block of cells of one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Brick {
    /// Position on the grid of bricks: cell position / 4.
    pub position: [u32; 3],
    /// Its first cell; the others follow in the order of the bits of `exists`.
    pub first: u32,
    /// The cells that exist, one bit each (see [`local`]).
    pub exists: u64,
    /// The cells that are leaves, a subset of `exists`.
    pub leaf: u64,
}

/// A 4x4x4 block of bricks of one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuperBrick {
    /// Position on the grid of super-bricks: cell position / 16.
    pub position: [u32; 3],
    /// Its first brick; the others follow in the order of the bits of `bricks`.
    pub first: u32,
    /// The bricks that exist.
    pub bricks: u64,
}

/// The super-bricks of one level. Those of a 4x4x4 block follow each other too, so only blocks are hashed:
/// there are few, and neighbours mostly lie in one.
#[derive(Debug, Clone, Default)]
struct Level {
    supers: Range<u32>,
    blocks: FxHashMap<[u32; 3], SuperBlock>,
}

/// A 4x4x4 block of super-bricks.
#[derive(Debug, Clone, Copy)]
struct SuperBlock {
    /// Its first super-brick; the others follow in the order of the bits of `supers`.
    first: u32,
    /// The super-bricks that exist.
    supers: u64,
}

/// A set of cells of any number of levels. Takes about 1.5 bytes per cell.
#[derive(Debug, Clone)]
pub struct Mesh {
    domain: Domain,
    levels: Vec<Level>,
    supers: Vec<SuperBrick>,
    links: Vec<SuperLinks>,
    bricks: Vec<Brick>,
    n_cells: usize,
    graded: bool,
    above: Option<f64>,
    beyond: Beyond,
}

/// Densities outside the walls of a box that is not periodic.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Beyond {
    /// The imposed value by [side](Self::side); `None` if the value of the nearest cell in the box is used.
    pub imposed: [Option<f64>; 27],
}

impl Beyond {
    /// The index of a side of the box, which is -1, 0 or 1 along each axis; x fastest.
    pub fn side([x, y, z]: [i8; 3]) -> usize {
        (13 + i32::from(x) + 3 * i32::from(y) + 9 * i32::from(z)) as usize
    }
}

impl Mesh {
    /// The box.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Whether the levels of touching leaves are known to differ by at most one.
    pub fn is_graded(&self) -> bool {
        self.graded
    }

    /// States that the levels of touching leaves differ by at most one, which makes neighbours cheaper to
    /// find. See [`Mesh::check_graded`] and [`Mesh::check_leaves_graded`].
    pub fn set_graded(&mut self, graded: bool) {
        self.graded = graded;
    }

    /// The threshold, if this is a mesh of leaves from which only leaves up to it may be missing; else
    /// `None`.
    pub fn leaves_above(&self) -> Option<f64> {
        self.above
    }

    /// States that this is a mesh of leaves, without split cells, that has all leaves denser than a
    /// threshold.
    pub fn set_leaves_above(&mut self, threshold: f64) {
        self.above = Some(threshold);
    }

    /// The densities outside its walls.
    pub fn beyond(&self) -> &Beyond {
        &self.beyond
    }

    /// Imposes densities outside its walls. A new mesh has none.
    pub fn set_beyond(&mut self, beyond: Beyond) {
        self.beyond = beyond;
    }

    /// Number of cells, including split ones.
    pub fn n_cells(&self) -> usize {
        self.n_cells
    }

    /// Number of leaf cells. Linear in the bricks.
    pub fn n_leaves(&self) -> usize {
        self.bricks.iter().map(|b| b.leaf.count_ones() as usize).sum()
    }

    /// One more than the deepest level.
    pub fn n_levels(&self) -> u8 {
        self.levels.len() as u8
    }

    /// Every brick, by (level, Morton key).
    pub fn bricks(&self) -> &[Brick] {
        &self.bricks
    }

    /// Every super-brick, by (level, Morton key).
    pub fn supers(&self) -> &[SuperBrick] {
        &self.supers
    }

    /// The super-bricks of `level` (empty past the deepest).
    pub fn supers_of(&self, level: u8) -> Range<usize> {
        self.levels.get(usize::from(level)).map_or(0..0, |l| l.supers.start as usize..l.supers.end as usize)
    }

    /// The bricks of a super-brick.
    pub fn bricks_of(&self, super_brick: &SuperBrick) -> Range<usize> {
        let first = super_brick.first as usize;
        first..first + super_brick.bricks.count_ones() as usize
    }

    /// The cells of a range of super-bricks.
    pub fn cells_of_supers(&self, supers: Range<usize>) -> Range<usize> {
        let first_of = |s: usize| match self.supers.get(s) {
            Some(s) => self.bricks[s.first as usize].first as usize,
            None => self.n_cells,
        };
        first_of(supers.start)..first_of(supers.end)
    }

    /// The first cell of `level`.
    pub fn first_of_level(&self, level: u8) -> CellIdx {
        CellIdx::new(self.cells_of_supers(self.supers_of(level)).start)
    }

    /// The level of a super-brick. Logarithmic in the levels.
    pub fn level_of_super(&self, super_idx: usize) -> u8 {
        self.levels.partition_point(|l| l.supers.end as usize <= super_idx) as u8
    }

    /// Level and position of a cell. Logarithmic in the bricks.
    pub fn locate(&self, cell: CellIdx) -> (u8, [u32; 3]) {
        let b = self.bricks.partition_point(|b| b.first <= cell.0) - 1;
        let s = self.supers.partition_point(|s| s.first as usize <= b) - 1;
        let brick = &self.bricks[b];
        let bit = local::nth_set_bit(brick.exists, cell.0 - brick.first);
        (self.level_of_super(s), local::position_of(brick.position, bit))
    }

    /// The cell of `level` at `position`, if it exists, split or not.
    #[inline]
    pub fn find(&self, level: u8, position: [u32; 3]) -> Option<CellIdx> {
        let (brick, bit) = self.find_brick(level, position)?;
        self.bricks[brick.at()].cell(bit)
    }

    /// The leaf at `position` of `level` or the coarser leaf around it.
    pub fn find_covering_leaf(&self, level: u8, position: [u32; 3]) -> Option<(u8, CellIdx)> {
        for up in 0..=level {
            let (brick, bit) = match self.find_brick(level - up, position.map(|x| x >> up)) {
                Some(found) => found,
                None => continue,
            };
            let brick = &self.bricks[brick.at()];
            if let Some(cell) = brick.cell(bit) {
                return (brick.leaf >> bit & 1 == 1).then_some((level - up, cell));
            }
        }
        None
    }

    /// The brick that would hold the cell of `level` at `position`, and the cell's bit in it.
    #[inline]
    pub fn find_brick(&self, level: u8, position: [u32; 3]) -> Option<(BrickIdx, u32)> {
        let brick = self.brick_at(level, position.map(|x| x >> 2))?;
        Some((brick, bit_of(position)))
    }

    /// Whether the cell of `level` at `position` contains finer cells. One look-up per finer level: a hash,
    /// or a binary search among the super-bricks.
    pub fn has_finer(&self, level: u8, position: [u32; 3]) -> bool {
        (level + 1..self.n_levels()).any(|finer| self.has_cells_of(finer, level, position))
    }

    /// Whether the cell of `level` at `position` contains cells of the level `finer`.
    ///
    /// ```text
    ///     finer by   the cell is                                  so it contains cells if
    ///            1   an oct of a brick                            any bit of the oct is set in the brick
    ///            2   a brick                                      the brick exists
    ///            3   an oct of the bricks of a super-brick        any bit of the oct is set in the super-brick
    ///            4   a super-brick                                the super-brick exists
    ///    5 or more   a run of super-bricks in Morton order        the run is not empty
    /// ```
    fn has_cells_of(&self, finer: u8, level: u8, position: [u32; 3]) -> bool {
        let oct = 0xff << bit_of(position.map(|x| x << 1));
        match finer - level {
            1 => self
                .brick_at(finer, position.map(|x| x >> 1))
                .is_some_and(|brick| self.bricks[brick.at()].exists & oct != 0),
            2 => self.brick_at(finer, position).is_some(),
            3 => {
                self.super_brick(finer, position.map(|x| x >> 1)).is_some_and(|found| found.bricks & oct != 0)
            }
            4 => self.super_at(finer, position).is_some(),
            down => {
                let supers = &self.supers[self.supers_of(finer)];
                let first = morton(position.map(|x| x << (down - 4)));
                let next = supers.partition_point(|s| morton(s.position) < first);
                supers.get(next).is_some_and(|s| s.position.map(|x| x >> (down - 4)) == position)
            }
        }
    }

    /// The brick of `level` at a position on the grid of bricks.
    #[inline]
    pub fn brick_at(&self, level: u8, position: [u32; 3]) -> Option<BrickIdx> {
        self.super_brick(level, position.map(|x| x >> 2))?.brick(bit_of(position))
    }

    /// The super-brick of `level` at a position on the grid of super-bricks.
    #[inline]
    fn super_brick(&self, level: u8, position: [u32; 3]) -> Option<&SuperBrick> {
        self.super_at(level, position).map(|found| &self.supers[found as usize])
    }

    #[inline]
    fn super_at(&self, level: u8, position: [u32; 3]) -> Option<u32> {
        self.super_block(level, position.map(|x| x >> 2))?.super_at(bit_of(position))
    }

    /// The block of super-bricks of `level` at a position on the grid of these blocks.
    #[inline]
    fn super_block(&self, level: u8, position: [u32; 3]) -> Option<SuperBlock> {
        self.levels.get(usize::from(level))?.blocks.get(&position).copied()
    }

    /// Calls `visit(level, position, cell, is_leaf)` for every cell of the given super-bricks, in order.
    pub fn for_each_cell(&self, supers: Range<usize>, mut visit: impl FnMut(u8, [u32; 3], CellIdx, bool)) {
        for s in supers {
            let level = self.level_of_super(s);
            for brick in &self.bricks[self.bricks_of(&self.supers[s])] {
                for (n, bit) in local::bits(brick.exists).enumerate() {
                    let position = local::position_of(brick.position, bit);
                    visit(level, position, CellIdx(brick.first + n as u32), brick.leaf >> bit & 1 == 1);
                }
            }
        }
    }
}

impl SuperBlock {
    /// The super-brick at `bit`, if it exists.
    #[inline(always)]
    fn super_at(&self, bit: u32) -> Option<u32> {
        (self.supers >> bit & 1 == 1).then(|| self.first + local::rank(self.supers, bit))
    }
}

impl Brick {
    /// The cell at `bit`, if it exists.
    #[inline(always)]
    pub fn cell(&self, bit: u32) -> Option<CellIdx> {
        (self.exists >> bit & 1 == 1).then(|| CellIdx(self.first + local::rank(self.exists, bit)))
    }
}

impl SuperBrick {
    /// The brick at `bit`, if it exists.
    #[inline(always)]
    fn brick(&self, bit: u32) -> Option<BrickIdx> {
        (self.bricks >> bit & 1 == 1).then(|| BrickIdx(self.first + local::rank(self.bricks, bit)))
    }
}

#[cfg(test)]
mod tests {
    use super::random::mesh_of;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

        /// Reference: all cells, over ten levels.
        #[test]
        fn finer_cells_are_those_of_a_list(
            cells in prop::collection::btree_set((0..10u8, prop::array::uniform3(0..512u32)), 1..40),
            which in any::<prop::sample::Index>(),
            up in 0..10u8,
            aside in prop::array::uniform3(0..2u32),
        ) {
            let inside = |(level, at): (u8, [u32; 3])| (level, at.map(|x| x >> (9 - level)));
            let cells: Vec<_> = cells.into_iter().map(inside).collect();
            let mesh = mesh_of(Domain::CUBE, cells.clone());
            let (level, at) = *which.get(&cells);
            let place = (level.saturating_sub(up), at.map(|x| x >> up.min(level)));
            let extent = 1 << place.0;
            let place = (place.0, [0, 1, 2].map(|a| (place.1[a] + aside[a]) % extent));
            let is_inside = |cell: &(u8, [u32; 3])| cell.0 > place.0 && cell.1.map(|x| x >> (cell.0 - place.0)) == place.1;
            prop_assert_eq!(mesh.has_finer(place.0, place.1), cells.iter().any(is_inside));
        }
    }
}
