//! Links: cells of one block, and of two touching blocks, joined where any of their particles are linked.

use super::Metric;
use super::block_reach::BlockReach;
use super::blocks::{BlockContact, ContactVisitor, FORWARD, FofBlock, FofBlocks};
use super::grid::SearchGrid;
use super::pair::touch;
use super::record::Record;
use super::union::union;
use crate::mesh::local::bits;
use crate::simd::wide;
use crate::sync::AtomicU32;
use crate::union_find::root;
use std::ops::Range;

/// For each cell of a block, the cells of the same block within reach.
pub fn near_in_block(reach: &BlockReach) -> [u64; 64] {
    let (x, yz) = (reach.along_x(0), reach.along_yz([0, 0]));
    std::array::from_fn(|cell| x.of[cell & 3] & yz.of[cell >> 2])
}

/// Calls `hook` with every cell of a block that links within the block connect to a lower one, and the lowest
/// of these. A search from cell to cell that reaches each cell once, so a dense block takes about one test
/// per cell.
#[inline(always)]
pub fn join_within<'a, R: Record>(
    block: &FofBlock,
    near: &[u64; 64],
    particles: impl Fn(u32) -> &'a [R],
    metric: &Metric,
    mut hook: impl FnMut(u32, u32),
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
            let here = particles(block.cell(at));
            for other in bits(near[at as usize] & free) {
                let cell = block.cell(other);
                if touch(metric, here, particles(cell)) {
                    hook(cell, root);
                    free &= !(1 << other);
                    open |= 1 << other;
                }
            }
        }
    }
}

/// The input of linking.
#[derive(Debug, Clone, Copy)]
pub struct Linker<'a, R> {
    /// The grid of cells.
    pub grid: &'a SearchGrid,
    /// Which cells may be linked.
    pub reach: &'a BlockReach,
    /// Which particles are linked.
    pub metric: &'a Metric,
    /// The blocks of cells.
    pub blocks: &'a FofBlocks,
    /// Their particles, in their order.
    pub records: &'a [R],
    /// The union-find of the cells.
    pub up: &'a [AtomicU32],
}

impl<R: Record> Linker<'_, R> {
    /// Joins the cells of the blocks of some rows to the linked cells of later blocks that touch them, and of
    /// earlier ones across the ends of the box. Any number of threads may do so at the same time. Over all
    /// rows no link is missed.
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

    /// Joins two cells if they are linked. Skips cells of one component, except single particles, whose test
    /// is cheaper than looking for the component.
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
    /// Joins the linked cells of two touching blocks. Only cells in the rims of the blocks can be linked.
    #[inline(always)]
    fn pair(&mut self, a: &FofBlock, b: &FofBlock, contact: BlockContact) {
        let (from, to) = contact.rims(a, b);
        if to == 0 {
            return;
        }
        for at in bits(from) {
            for other in bits(contact.near(at, to)) {
                self.join(a.cell(at), b.cell(other));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_particles::{TestParticles, particles};
    use super::*;
    use proptest::prelude::*;

    /// Reference: the lowest number of the particles that each one is connected to, by all pairs.
    fn plain(particles: &TestParticles) -> Vec<usize> {
        let (positions, metric) = (&particles.positions, &particles.metric);
        let mut lowest: Vec<usize> = (0..positions.len()).collect();
        for (a, b) in (0..positions.len()).flat_map(|b| (0..b).map(move |a| (a, b))) {
            if metric.linked(positions[a], positions[b]) {
                let (a, b) = (lowest[a], lowest[b]);
                lowest.iter_mut().filter(|l| **l == a.max(b)).for_each(|l| *l = a.min(b));
            }
        }
        lowest
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

        #[test]
        fn components_are_those_of_all_pairs(particles in particles()) {
            let sorted = particles.sorted();
            let (grid, reach, metric) = (&sorted.grid, &sorted.reach, &particles.metric);
            let (blocks, records, up) = (&sorted.blocks, sorted.records.as_slice(), sorted.up.as_slice());
            Linker { grid, reach, metric, blocks, records, up }.link(0..blocks.n_rows());
            let mut of_root = vec![usize::MAX; up.len()];
            let mut of_particle = vec![0; records.len()];
            for cell in 0..blocks.n_cells() as u32 {
                for record in &records[blocks.particles(cell)] {
                    let (root, i) = (root(up, cell) as usize, record.index() as usize);
                    of_root[root] = of_root[root].min(i);
                    of_particle[i] = root;
                }
            }
            let found: Vec<usize> = of_particle.into_iter().map(|root| of_root[root]).collect();
            prop_assert_eq!(found, plain(&particles));
        }
    }
}
