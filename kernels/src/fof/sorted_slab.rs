//! One slab of particles, sorted by block and cell.

use super::Metric;
use super::block_reach::BlockReach;
use super::blocks::{BlockRow, FofBlock};
use super::grid::SearchGrid;
use super::link::{join_within, near_in_block};
use super::record::Record;
use super::slabs::Slabs;
use crate::simd::wide;

/// What is on a shelf. Places are counted from its own first block, cell and particle.
#[derive(Debug, Default, Clone)]
pub struct SortedSlab {
    /// Number of particles.
    pub n_particles: u32,
    /// Rows of blocks, by (z, y).
    pub rows: Vec<BlockRow>,
    /// Their blocks, by x.
    pub blocks: Vec<FofBlock>,
    /// First particle of each cell.
    pub cells: Vec<u32>,
    /// For each cell the lowest cell of its block that links within the block lead to.
    pub up: Vec<u32>,
}

/// Memory for the work, kept from slab to slab.
#[derive(Debug)]
pub struct SlabScratch<R> {
    records: Vec<R>,
    keys: [Vec<u64>; 2],
    long: Vec<(u128, u32)>,
}

impl<R> Default for SlabScratch<R> {
    fn default() -> Self {
        Self { records: Vec::new(), keys: [Vec::new(), Vec::new()], long: Vec::new() }
    }
}

/// Fewer keys than that are sorted by comparing.
const FEW: usize = 256;
/// The most bits of a key that are sorted at a time.
const DIGIT: u32 = 11;

/// Sorts the particles of a slab and joins the cells of each of its blocks. Linear in the particles, for keys
/// of more than 32 bits n log n.
pub fn shelve<R: Record>(
    grid: (&SearchGrid, &Slabs, &BlockReach),
    metric: &Metric,
    records: &mut [R],
    scratch: &mut SlabScratch<R>,
) -> SortedSlab {
    wide(
        #[inline(always)]
        || {
            let mut shelf = sort(grid.0, grid.1, records, scratch);
            shelf.join(grid.2, metric, records);
            shelf
        },
    )
}

#[inline(always)]
fn sort<R: Record>(
    grid: &SearchGrid,
    slabs: &Slabs,
    records: &mut [R],
    scratch: &mut SlabScratch<R>,
) -> SortedSlab {
    let (n_bits, row_bits) = slabs.key_bits();
    let mut shelf = SortedSlab { n_particles: records.len() as u32, ..SortedSlab::default() };
    if n_bits <= 32 {
        scratch.keys[0].resize(records.len(), 0);
        for (i, (key, record)) in scratch.keys[0].iter_mut().zip(records.iter()).enumerate() {
            *key = u64::from(slabs.short_key(grid.spot(record.position()))) << 32 | i as u64;
        }
        sort_keys(&mut scratch.keys, n_bits);
        take(records, &mut scratch.records, &scratch.keys[0]);
        shelf.fill(&scratch.keys[0], row_bits, grid, records);
    } else {
        scratch.long.clear();
        for (i, record) in records.iter().enumerate() {
            scratch.long.push((slabs.key(grid.spot(record.position())), i as u32));
        }
        scratch.long.sort_unstable();
        take(records, &mut scratch.records, &scratch.long);
        shelf.fill(&scratch.long, row_bits, grid, records);
    }
    shelf
}

/// Brings records into an order.
#[inline(always)]
fn take<R: Record, E: SortKey>(records: &mut [R], copy: &mut Vec<R>, order: &[E]) {
    copy.clear();
    copy.extend_from_slice(records);
    for (record, entry) in records.iter_mut().zip(order) {
        *record = copy[entry.index()];
    }
}

/// Sorts by the upper halves, equal ones by the lower; the result is in the first list.
#[inline(always)]
fn sort_keys(keys: &mut [Vec<u64>; 2], n_bits: u32) {
    let [keys, other] = keys;
    if keys.len() < FEW {
        return keys.sort_unstable();
    }
    let n_passes = n_bits.div_ceil(DIGIT);
    let width = n_bits.div_ceil(n_passes);
    other.resize(keys.len(), 0);
    let mut counts = vec![0u32; 1 << width];
    for pass in 0..n_passes {
        let digit = |key: u64| (key >> (32 + pass * width)) as usize & ((1 << width) - 1);
        counts.fill(0);
        keys.iter().for_each(|k| counts[digit(*k)] += 1);
        let mut before = 0;
        for count in &mut counts {
            before += std::mem::replace(count, before);
        }
        for key in keys.iter() {
            let place = &mut counts[digit(*key)];
            other[*place as usize] = *key;
            *place += 1;
        }
        std::mem::swap(keys, other);
    }
}

/// The key of a place, in which cells of one block differ in the lowest six bits only, and a particle there.
trait SortKey: Copy {
    fn same_above(self, other: Self, bits: u32) -> bool;
    fn cell(self) -> u32;
    fn index(self) -> usize;
}

impl SortKey for u64 {
    #[inline(always)]
    fn same_above(self, other: Self, bits: u32) -> bool {
        (self ^ other) >> 32 >> bits == 0
    }

    #[inline(always)]
    fn cell(self) -> u32 {
        (self >> 32) as u32 & 63
    }

    #[inline(always)]
    fn index(self) -> usize {
        self as u32 as usize
    }
}

impl SortKey for (u128, u32) {
    #[inline(always)]
    fn same_above(self, other: Self, bits: u32) -> bool {
        (self.0 ^ other.0) >> bits == 0
    }

    #[inline(always)]
    fn cell(self) -> u32 {
        self.0 as u32 & 63
    }

    #[inline(always)]
    fn index(self) -> usize {
        self.1 as usize
    }
}

impl SortedSlab {
    /// Cells, blocks and rows from ascending keys and the particles in their order.
    #[inline(always)]
    fn fill<R: Record, E: SortKey>(&mut self, keys: &[E], row_bits: u32, grid: &SearchGrid, records: &[R]) {
        self.reserve(keys, row_bits);
        for (i, key) in keys.iter().enumerate() {
            let last = keys[i.saturating_sub(1)];
            if i > 0 && key.same_above(last, 0) {
                continue;
            }
            if i == 0 || !key.same_above(last, 6) {
                let [x, y, z] = grid.spot(records[i].position()).block;
                if i == 0 || !key.same_above(last, row_bits) {
                    self.rows.push(BlockRow { z, y, first: self.blocks.len() as u32 });
                }
                self.blocks.push(FofBlock { mask: 0, first: self.cells.len() as u32, x });
            }
            if let Some(block) = self.blocks.last_mut() {
                block.mask |= 1 << key.cell();
            }
            self.cells.push(i as u32);
        }
    }

    /// Makes the lists as long as they need to be, not longer: there are as many as slabs.
    #[inline(always)]
    fn reserve<E: SortKey>(&mut self, keys: &[E], row_bits: u32) {
        let first = usize::from(!keys.is_empty());
        let (mut n_rows, mut n_blocks, mut n_cells) = (first, first, first);
        for i in 1..keys.len() {
            let (last, key) = (keys[i - 1], keys[i]);
            n_cells += usize::from(!key.same_above(last, 0));
            n_blocks += usize::from(!key.same_above(last, 6));
            n_rows += usize::from(!key.same_above(last, row_bits));
        }
        self.rows.reserve_exact(n_rows);
        self.blocks.reserve_exact(n_blocks);
        self.cells.reserve_exact(n_cells);
        self.up.reserve_exact(n_cells);
    }

    #[inline(always)]
    fn join<R: Record>(&mut self, reach: &BlockReach, metric: &Metric, records: &[R]) {
        self.up.extend(0..self.cells.len() as u32);
        let near = near_in_block(reach);
        for block in self.blocks.iter().filter(|b| b.mask & (b.mask - 1) != 0) {
            let of = |cell: usize| {
                let end = self.cells.get(cell + 1).map_or(records.len(), |end| *end as usize);
                &records[self.cells[cell] as usize..end]
            };
            join_within(block, &near, of, metric, &mut self.up);
        }
    }
}
