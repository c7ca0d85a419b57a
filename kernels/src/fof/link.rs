//! Cells of one block, and of two blocks that touch, joined where they are linked.

use super::Metric;
use super::block_reach::BlockReach;
use super::blocks::{BlockContact, ContactVisitor, FORWARD, FofBlock, FofBlocks};
use super::grid::SearchGrid;
use super::pair::touch;
use super::record::Record;
use super::union::union;
use crate::simd::wide;
use crate::sync::AtomicU32;
use crate::union_find::root;
use std::ops::Range;

/// For each cell of a block, those of the same block within reach.
pub fn near_in_block(reach: &BlockReach) -> [u64; 64] {
    let (x, yz) = (reach.along_x(0), reach.along_yz([0, 0]));
    std::array::from_fn(|cell| x.of[cell & 3] & yz.of[cell >> 2])
}

/// The places of the bits of a set.
#[inline(always)]
pub fn bits(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = set.trailing_zeros();
        (set != 0).then(|| {
            set &= set - 1;
            bit
        })
    })
}

/// Makes every cell of a block point to the lowest one that links within the block lead to. Each cell is
/// reached once, so in a dense block that is about one test a cell.
#[inline(always)]
pub fn join_within<'a, R: Record>(
    block: &FofBlock,
    near: &[u64; 64],
    particles: impl Fn(usize) -> &'a [R],
    metric: &Metric,
    up: &mut [u32],
) {
    let mut free = block.mask;
    while free != 0 {
        let lowest = free.trailing_zeros();
        let root = block.cell(lowest);
        free &= free - 1;
        let mut open = 1u64 << lowest;
        while open != 0 && free != 0 {
            let at = open.trailing_zeros();
            open &= open - 1;
            let here = particles(block.cell(at) as usize);
            for other in bits(near[at as usize] & free) {
                let cell = block.cell(other);
                if touch(metric, here, particles(cell as usize)) {
                    up[cell as usize] = root;
                    free &= !(1 << other);
                    open |= 1 << other;
                }
            }
        }
    }
}

/// What linking looks at; `up` is the union-find of the cells.
#[derive(Debug, Clone, Copy)]
pub struct Linker<'a, R> {
    /// The cells.
    pub grid: &'a SearchGrid,
    /// Which of them may be linked.
    pub reach: &'a BlockReach,
    /// When particles are.
    pub metric: &'a Metric,
    /// The blocks of cells.
    pub blocks: &'a FofBlocks,
    /// Their particles, in their order.
    pub records: &'a [R],
    /// The union-find of the cells.
    pub up: &'a [AtomicU32],
}

impl<R: Record> Linker<'_, R> {
    /// Joins the cells of the blocks of some rows to those of the blocks that touch them and come later, across
    /// the ends of the box also earlier. Any number of callers may do so at the same time.
    pub fn link(&self, rows: Range<usize>) {
        wide(
            #[inline(always)]
            || self.link_rows(rows),
        );
    }

    #[inline(always)]
    fn link_rows(&self, rows: Range<usize>) {
        let mut visit = self;
        for row in rows {
            let of = (self.blocks.rows[row], self.blocks.row(row));
            self.blocks.touching_in_row(self.grid, self.reach, row, &mut visit);
            self.blocks.touching(self.grid, self.reach, of, &FORWARD, &mut visit);
        }
    }

    #[inline(always)]
    fn join(&self, a: u32, b: u32) {
        let (of_a, of_b) = (self.blocks.particles(a), self.blocks.particles(b));
        let alone = of_a.len() == 1 && of_b.len() == 1;
        if !alone && root(self.up, a) == root(self.up, b) {
            return;
        }
        if touch(self.metric, &self.records[of_a], &self.records[of_b]) {
            union(self.up, a, b);
        }
    }
}

impl<R: Record> ContactVisitor for &Linker<'_, R> {
    #[inline(always)]
    fn pair(&mut self, a: &FofBlock, b: &FofBlock, contact: BlockContact) {
        let (mut open, to) = contact.rims(a, b);
        if to == 0 {
            return;
        }
        while open != 0 {
            let at = open.trailing_zeros();
            open &= open - 1;
            let mut near = contact.near(at, to);
            while near != 0 {
                self.join(a.cell(at), b.cell(near.trailing_zeros()));
                near &= near - 1;
            }
        }
    }
}
