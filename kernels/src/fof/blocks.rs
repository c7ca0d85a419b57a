//! Blocks of cells in rows, and all pairs of them that touch.

use super::block_reach::{BlockReach, Within};
use super::grid::{SearchGrid, Spot};
use bytemuck::Zeroable;

/// A row of blocks: those with the same y and z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Zeroable)]
pub struct BlockRow {
    /// Place of the blocks.
    pub z: u32,
    /// Place of the blocks.
    pub y: u32,
    /// The first of them.
    pub first: u32,
}

/// A block with at least one particle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Zeroable)]
pub struct FofBlock {
    /// Its cells that have particles.
    pub mask: u64,
    /// The first of these.
    pub first: u32,
    /// Place in the row.
    pub x: u32,
}

impl BlockRow {
    /// The same behind `n` other blocks.
    pub fn after(self, n: u32) -> Self {
        Self { first: self.first + n, ..self }
    }
}

impl FofBlock {
    /// The same behind `n` other cells.
    pub fn after(self, n: u32) -> Self {
        Self { first: self.first + n, ..self }
    }

    /// The number of a cell that has particles.
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
    /// Rows by (z, y), and one more at the end, where there is none.
    pub rows: Vec<BlockRow>,
    /// Blocks by row and x.
    pub blocks: Vec<FofBlock>,
    /// First particle of each cell, and the number of particles at the end.
    pub cells: Vec<u32>,
    /// z of each layer of rows, and its first row; one more at the end.
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
    /// The cells of `a` that may be linked to cells of `b`, and these.
    #[inline(always)]
    pub fn rims(&self, a: &FofBlock, b: &FofBlock) -> (u64, u64) {
        (a.mask & self.x.from & self.yz.from, b.mask & self.x.to & self.yz.to)
    }

    /// Those of the cells `to` of the other block that are within reach of cell `at`.
    #[inline(always)]
    pub fn near(&self, at: u32, to: u64) -> u64 {
        self.yz.of[at as usize >> 2] & self.x.of[at as usize & 3] & to
    }
}

/// What is done with every pair of touching blocks. A trait, as a method can be compiled into the walk over
/// them, for the vectors and bit counts of the machine at hand, where a closure is called.
pub trait ContactVisitor {
    /// Is told of a pair.
    fn pair(&mut self, a: &FofBlock, b: &FofBlock, contact: BlockContact);
}

/// Half of the touching rows but the row itself, as (y, z): each pair of rows comes once.
pub const FORWARD: [(i32, i32); 4] = [(1, 0), (-1, 1), (0, 1), (1, 1)];
/// All touching rows, and the row itself.
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

    /// Finishes the lists: the ends, and the layers.
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

    /// The row at a place.
    #[inline(always)]
    fn find(&self, z: u32, y: u32) -> Option<usize> {
        let layer = self.layers[..self.layers.len() - 1].binary_search_by_key(&z, |l| l.0).ok()?;
        let (first, end) = (self.layers[layer].1 as usize, self.layers[layer + 1].1 as usize);
        let row = first + self.rows[first..end].partition_point(|row| row.y < y);
        (row < end && self.rows[row].y == y).then_some(row)
    }

    /// The cell with particles at a place.
    pub fn cell_at(&self, spot: Spot) -> Option<u32> {
        let [x, y, z] = spot.block;
        let row = self.row(self.find(z, y)?);
        let block = &row[row.binary_search_by_key(&x, |b| b.x).ok()?];
        (block.mask >> spot.cell & 1 == 1).then(|| block.cell(spot.cell))
    }

    /// Visits every block of `row`, a row of another list of blocks on the same grid, with every block here
    /// that touches it in the rows that are `offsets` from it.
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
            let Some((y, far_y)) = grid.axes[1].block_at(row.y, dy) else { continue };
            let Some((z, far_z)) = grid.axes[2].block_at(row.z, dz) else { continue };
            let Some(other) = self.find(z, y) else { continue };
            let yz = reach.along_yz([far_y, far_z]);
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
        around(grid, reach, (last, first), 1, yz, visit);
    }
}

/// Visits the pair of a block and one that follows it across the end of a periodic row.
#[inline(always)]
fn around(
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

/// All touching pairs of two rows: both are walked once.
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
    around(grid, reach, (last, &other[0]), 1, yz, visit);
    around(grid, reach, (first, &other[other.len() - 1]), -1, yz, visit);
}
