//! Blocks of cells in rows, and all pairs of blocks that touch.
//!
//! Blocks are sorted by (z, y, x). Blocks with the same y and z are a row. Of the 26 blocks around a block,
//! 13 come later: one in the same row and three in each of four other rows.
//!
//! ```text
//!     rows around row r, seen along x            two rows are walked once, in step:
//!
//!       y - 1   y   y + 1                        row      . a . . b c . .
//!         .     r     F       z                  other    d . e . . f g .
//!         F     F     F       z + 1
//!                                                a meets d (x - 1) and e (x + 1); b meets f (x + 1);
//!     F: looked for (FORWARD)                    c meets f and g; across the ends of a periodic row
//!     .: found from there                        the last block meets the first
//! ```
//!
//! Both rows ascend, so the first candidate of the next block is never before that of the last one.

use super::block_reach::{BlockReach, Within};
use super::grid::{SearchGrid, Spot};
use bytemuck::Zeroable;

/// A row of blocks: all blocks with the same y and z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Zeroable)]
pub struct BlockRow {
    /// z of the blocks, on the grid of blocks.
    pub z: u32,
    /// y of the blocks.
    pub y: u32,
    /// The first block.
    pub first: u32,
}

/// A block with at least one particle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Zeroable)]
pub struct FofBlock {
    /// Its cells that have particles, one bit each.
    pub mask: u64,
    /// The first of these cells.
    pub first: u32,
    /// x of the block.
    pub x: u32,
}

impl FofBlock {
    /// The number of the cell at a bit of the mask.
    #[inline(always)]
    pub fn cell(&self, local: u32) -> u32 {
        self.first + (self.mask & ((1 << local) - 1)).count_ones()
    }

    /// Number of cells with particles.
    #[inline(always)]
    pub fn n_cells(&self) -> u32 {
        self.mask.count_ones()
    }
}

/// All blocks of a rank: by z, y and x.
#[derive(Debug, Default)]
pub struct FofBlocks {
    /// Rows by (z, y), and an empty one at the end.
    pub rows: Vec<BlockRow>,
    /// Blocks by row and x.
    pub blocks: Vec<FofBlock>,
    /// First particle of each cell, and the number of particles at the end.
    pub cells: Vec<u32>,
    /// z and first row of each layer of rows, and an empty layer at the end.
    pub layers: Vec<(u32, u32)>,
}

/// Which cells of two touching blocks are within reach of each other.
#[derive(Debug, Clone, Copy)]
pub struct BlockContact<'a> {
    /// Along x.
    pub x: &'a Within<4>,
    /// Along y and z.
    pub yz: &'a Within<16>,
}

impl BlockContact<'_> {
    /// The rims of two blocks, one bit per cell: the cells of `a` that may be linked to cells of `b`, and
    /// those cells of `b`.
    #[inline(always)]
    pub fn rims(&self, a: &FofBlock, b: &FofBlock) -> (u64, u64) {
        (a.mask & self.x.from & self.yz.from, b.mask & self.x.to & self.yz.to)
    }

    /// The cells among `to` of the other block that are within reach of cell `at`, one bit each.
    #[inline(always)]
    pub fn near(&self, at: u32, to: u64) -> u64 {
        self.yz.of[at as usize >> 2] & self.x.of[at as usize & 3] & to
    }
}

/// The work on every pair of touching blocks. A trait rather than a closure: the method is inlined into the
/// walk, and so is compiled for the vectors and bit counts of this processor.
pub trait ContactVisitor {
    /// Called for each pair of touching blocks.
    fn pair(&mut self, a: &FofBlock, b: &FofBlock, contact: BlockContact);
}

/// Half of the rows around a row, as steps of (y, z): each pair of rows comes once.
pub const FORWARD: [(i32, i32); 4] = [(1, 0), (-1, 1), (0, 1), (1, 1)];
/// All rows around a row and the row itself, as steps of (y, z).
pub const AROUND: [(i32, i32); 9] =
    [(-1, -1), (0, -1), (1, -1), (-1, 0), (0, 0), (1, 0), (-1, 1), (0, 1), (1, 1)];

impl FofBlocks {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.rows.len() - 1
    }

    /// Number of cells with particles.
    pub fn n_cells(&self) -> usize {
        self.cells.len() - 1
    }

    /// The particles of a cell.
    #[inline(always)]
    pub fn particles(&self, cell: u32) -> std::ops::Range<usize> {
        self.cells[cell as usize] as usize..self.cells[cell as usize + 1] as usize
    }

    /// The first particle of a row, or one past the last of all.
    pub fn first_particle(&self, row: usize) -> usize {
        match self.blocks.get(self.rows[row].first as usize) {
            Some(block) => self.cells[block.first as usize] as usize,
            None => self.cells[self.n_cells()] as usize,
        }
    }

    /// The blocks of a row.
    #[inline(always)]
    pub fn row(&self, row: usize) -> &[FofBlock] {
        &self.blocks[self.rows[row].first as usize..self.rows[row + 1].first as usize]
    }

    /// Completes the lists: layers and end entries.
    pub fn seal(&mut self, n_particles: usize) {
        self.layers.clear();
        for (i, row) in self.rows.iter().enumerate() {
            if self.layers.last().is_none_or(|l| l.0 != row.z) {
                self.layers.push((row.z, i as u32));
            }
        }
        self.layers.push((u32::MAX, self.rows.len() as u32));
        self.rows.push(BlockRow { z: u32::MAX, y: u32::MAX, first: self.blocks.len() as u32 });
        self.cells.push(n_particles as u32);
    }

    /// The row at (z, y).
    #[inline(always)]
    fn find(&self, z: u32, y: u32) -> Option<usize> {
        let layer = self.layers[..self.layers.len() - 1].binary_search_by_key(&z, |l| l.0).ok()?;
        let (first, end) = (self.layers[layer].1 as usize, self.layers[layer + 1].1 as usize);
        let row = first + self.rows[first..end].partition_point(|row| row.y < y);
        (row < end && self.rows[row].y == y).then_some(row)
    }

    /// The cell at a place, if it has particles.
    pub fn cell_at(&self, spot: Spot) -> Option<u32> {
        let [x, y, z] = spot.block;
        let row = self.row(self.find(z, y)?);
        let block = &row[row.binary_search_by_key(&x, |b| b.x).ok()?];
        (block.mask >> spot.cell & 1 == 1).then(|| block.cell(spot.cell))
    }

    /// Visits each block of a row together with each block of this list that touches it in the rows at
    /// `offsets` from that row. The row may come from another list on the same grid.
    #[inline(always)]
    pub fn touching(
        &self,
        grid: &SearchGrid,
        reach: &BlockReach,
        (row, blocks): (BlockRow, &[FofBlock]),
        offsets: &[(i32, i32)],
        visit: &mut impl ContactVisitor,
    ) {
        for &(dy, dz) in offsets {
            let Some((y, offset_y)) = grid.axes[1].block_at(row.y, dy) else { continue };
            let Some((z, offset_z)) = grid.axes[2].block_at(row.z, dz) else { continue };
            let Some(other) = self.find(z, y) else { continue };
            let yz = reach.along_yz([offset_y, offset_z]);
            sweep(grid, reach, blocks, self.row(other), yz, visit);
        }
    }

    /// Visits every pair of touching blocks in one row.
    #[inline(always)]
    pub fn touching_in_row(
        &self,
        grid: &SearchGrid,
        reach: &BlockReach,
        row: usize,
        visit: &mut impl ContactVisitor,
    ) {
        let (blocks, yz, x) = (self.row(row), reach.along_yz([0, 0]), reach.along_x(4));
        for pair in blocks.windows(2).filter(|pair| pair[1].x == pair[0].x + 1) {
            visit.pair(&pair[0], &pair[1], BlockContact { x, yz });
        }
        let (first, last) = (&blocks[0], &blocks[blocks.len() - 1]);
        across_end(grid, reach, (last, first), 1, yz, visit);
    }
}

/// Visits block `a` with block `b`, if `b` is next to it across the end of a periodic row; `offset` (1 or -1)
/// is the direction.
#[inline(always)]
fn across_end(
    grid: &SearchGrid,
    reach: &BlockReach,
    (a, b): (&FofBlock, &FofBlock),
    offset: i32,
    yz: &Within<16>,
    visit: &mut impl ContactVisitor,
) {
    let axis = &grid.axes[0];
    let ends = if offset == 1 { [axis.n_blocks() - 1, 0] } else { [0, axis.n_blocks() - 1] };
    if axis.is_periodic() && [a.x, b.x] == ends {
        let x = reach.along_x(i64::from(offset) * axis.in_last() as i64);
        visit.pair(a, b, BlockContact { x, yz });
    }
}

/// Visits all touching pairs of blocks of two rows. Linear in both.
#[inline(always)]
fn sweep(
    grid: &SearchGrid,
    reach: &BlockReach,
    row: &[FofBlock],
    other: &[FofBlock],
    yz: &Within<16>,
    visit: &mut impl ContactVisitor,
) {
    let along = [reach.along_x(-4), reach.along_x(0), reach.along_x(4)];
    let mut start = 0;
    for a in row {
        while start < other.len() && other[start].x + 1 < a.x {
            start += 1;
        }
        for b in other[start..].iter().take_while(|b| b.x <= a.x + 1) {
            visit.pair(a, b, BlockContact { x: along[(b.x + 1 - a.x) as usize], yz });
        }
    }
    let (first, last) = (&row[0], &row[row.len() - 1]);
    across_end(grid, reach, (last, &other[0]), 1, yz, visit);
    across_end(grid, reach, (first, &other[other.len() - 1]), -1, yz, visit);
}

#[cfg(test)]
mod tests {
    use super::super::record::Record;
    use super::super::test_particles::particles;
    use super::*;
    use crate::mesh::local::bits;
    use proptest::prelude::*;

    /// The pairs of cells visited, lower first.
    struct Visited(Vec<[u32; 2]>);

    impl ContactVisitor for Visited {
        fn pair(&mut self, a: &FofBlock, b: &FofBlock, contact: BlockContact) {
            let (from, to) = contact.rims(a, b);
            for at in bits(from) {
                let cells = bits(contact.near(at, to)).map(|other| [a.cell(at), b.cell(other)]);
                self.0.extend(cells.map(|[a, b]| [a.min(b), a.max(b)]));
            }
        }
    }

    /// Whether two cells are within reach, by their numbers along each axis.
    fn are_near(grid: &SearchGrid, a: [u64; 3], b: [u64; 3]) -> bool {
        grid.axes.iter().zip(a).zip(b).all(|((axis, a), b)| {
            let steps = a.abs_diff(b);
            steps <= axis.reach() || axis.is_periodic() && axis.n_cells() - steps <= axis.reach()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

        /// Reference: all pairs of cells. Pairs within one block are not visited, unless the block touches
        /// itself.
        #[test]
        fn all_near_cells_of_touching_blocks_are_visited(particles in particles()) {
            let sorted = particles.sorted();
            let (grid, reach, blocks) = (&sorted.grid, &sorted.reach, &sorted.blocks);
            let mut visited = Visited(Vec::new());
            for row in 0..blocks.n_rows() {
                blocks.touching_in_row(grid, reach, row, &mut visited);
                let of = (blocks.rows[row], blocks.row(row));
                blocks.touching(grid, reach, of, &FORWARD, &mut visited);
            }
            visited.0.sort_unstable();
            visited.0.dedup();
            let position = |cell: usize| sorted.records[blocks.cells[cell] as usize].position();
            let cell_of = |x: [f64; 3]| [0, 1, 2].map(|a| grid.axes[a].cell(x[a]));
            let cells: Vec<[u64; 3]> = (0..blocks.n_cells()).map(|cell| cell_of(position(cell))).collect();
            for (a, b) in (0..cells.len()).flat_map(|b| (0..b).map(move |a| (a, b))) {
                let is_visited = visited.0.binary_search(&[a as u32, b as u32]).is_ok();
                let [block_a, block_b] = [a, b].map(|cell| cells[cell].map(|x| x >> 2));
                let are_near = are_near(grid, cells[a], cells[b]);
                prop_assert!(!is_visited || are_near, "cells {:?} and {:?}", cells[a], cells[b]);
                prop_assert!(is_visited || !are_near || block_a == block_b, "cells {:?} and {:?}", cells[a], cells[b]);
            }
        }
    }
}
