//! Sorted slab: the particles of one slab, sorted by block and cell, with the cells of each block joined.
//!
//! ```text
//!     key of a particle, highest bits first
//!     [ z of block | y of block | x of block | cell in block: 6 bits ]
//!       `--------row---------'
//!
//!     sorted keys        r0 x0 c3 | r0 x0 c3 | r0 x0 c9 | r0 x2 c1 | r1 x0 c3
//!     rows                first: block 0                             first: block 2
//!     blocks              x0, mask {3, 9}                  x2, {1}    x0, {3}
//!     cells               0                     2          3          4          (first particle of each)
//! ```
//!
//! Keys of at most 32 bits are packed into words with the number of the particle and sorted by a radix sort, longer ones by
//! comparing.

use super::Metric;
use super::block_reach::BlockReach;
use super::blocks::{BlockRow, FofBlock};
use super::grid::SearchGrid;
use super::link::{join_within, near_in_block};
use super::record::Record;
use super::slabs::Slabs;
use crate::simd::wide;

/// A slab after sorting. Blocks, cells and particles are numbered from the first of the slab.
#[derive(Debug, Default, Clone)]
pub struct SortedSlab {
    /// Number of particles.
    pub n_particles: u32,
    /// Rows of blocks by (z, y).
    pub rows: Vec<BlockRow>,
    /// Their blocks by x.
    pub blocks: Vec<FofBlock>,
    /// The first particle of each cell.
    pub cells: Vec<u32>,
    /// For each cell the lowest cell of its block that links within the block connect it to.
    pub up: Vec<u32>,
}

/// Memory for sorting, kept from slab to slab.
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

/// Fewer keys are sorted by comparing.
const FEW: usize = 256;
/// The most bits per pass of the radix sort.
const DIGIT: u32 = 11;

/// Sorts the particles of a slab and joins the cells of each of its blocks. Linear in the particles for keys of at most 32
/// bits, else n log n.
pub fn sort_slab<R: Record>(
    grid: (&SearchGrid, &Slabs, &BlockReach),
    metric: &Metric,
    records: &mut [R],
    scratch: &mut SlabScratch<R>,
) -> SortedSlab {
    wide(
        #[inline(always)]
        || {
            let mut slab = sort(grid.0, grid.1, records, scratch);
            slab.join(grid.2, metric, records);
            slab
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
    let mut slab = SortedSlab { n_particles: records.len() as u32, ..SortedSlab::default() };
    if n_bits <= 32 {
        scratch.keys[0].resize(records.len(), 0);
        for (i, (key, record)) in scratch.keys[0].iter_mut().zip(records.iter()).enumerate() {
            *key = u64::from(slabs.short_key(grid.spot(record.position()))) << 32 | i as u64;
        }
        sort_keys(&mut scratch.keys, n_bits);
        take(records, &mut scratch.records, &scratch.keys[0]);
        slab.fill(&scratch.keys[0], row_bits, grid, records);
    } else {
        scratch.long.clear();
        for (i, record) in records.iter().enumerate() {
            scratch.long.push((slabs.key(grid.spot(record.position())), i as u32));
        }
        scratch.long.sort_unstable();
        take(records, &mut scratch.records, &scratch.long);
        slab.fill(&scratch.long, row_bits, grid, records);
    }
    slab
}

/// Permutes records into the order of `order`.
#[inline(always)]
fn take<R: Record, E: SortKey>(records: &mut [R], copy: &mut Vec<R>, order: &[E]) {
    copy.clear();
    copy.extend_from_slice(records);
    for (record, entry) in records.iter_mut().zip(order) {
        *record = copy[entry.index()];
    }
}

/// Sorts words by their upper halves, of `n_bits` bits, and equal ones by their lower halves, in which they ascend already.
/// The result is in the first list. A radix sort from the lowest digit on; each pass keeps the order of equal digits.
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

/// A key with the number of a particle. Cells of one block differ only in the lowest six bits.
trait SortKey: Copy {
    /// Whether both keys are equal above the `bits` lowest bits.
    fn same_above(self, other: Self, bits: u32) -> bool;
    /// The cell in its block.
    fn cell(self) -> u32;
    /// The number of the particle.
    fn index(self) -> usize;
}

impl SortKey for u64 {
    #[inline(always)]
    /// Whether both keys are equal above the `bits` lowest bits.
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
    /// Whether both keys are equal above the `bits` lowest bits.
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
    /// Makes cells, blocks and rows from ascending keys and the particles in the same order.
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
            let block = self.blocks.last_mut().expect("the first key begins a block");
            block.mask |= 1 << key.cell();
            self.cells.push(i as u32);
        }
    }

    /// Reserves exactly what the lists need: they live as long as all slabs.
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

    /// Joins the cells of each block.
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

#[cfg(test)]
mod tests {
    use super::super::test_particles::particles;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

        /// Reference: sorting by comparing.
        #[test]
        fn words_are_sorted_as_by_comparing(keys in prop::collection::vec(any::<u32>(), 0..1500), n_bits in 1..=32u32) {
            let word = |(i, key): (usize, &u32)| u64::from(key >> (32 - n_bits)) << 32 | i as u64;
            let words: Vec<u64> = keys.iter().enumerate().map(word).collect();
            let mut sorted = words.clone();
            sorted.sort_unstable();
            let mut lists = [words, Vec::new()];
            sort_keys(&mut lists, n_bits);
            prop_assert_eq!(&lists[0], &sorted);
        }

        /// Reference: a map from (z, y), x and cell to the particles there.
        #[test]
        fn rows_blocks_and_cells_are_those_of_a_map(particles in particles()) {
            let sorted = particles.sorted();
            type Blocks = BTreeMap<u32, BTreeMap<u32, Vec<u32>>>;
            let mut map: BTreeMap<[u32; 2], Blocks> = BTreeMap::new();
            for (x, i) in particles.positions.iter().zip(0..) {
                let spot = sorted.grid.spot(*x);
                let [x, y, z] = spot.block;
                map.entry([z, y]).or_default().entry(x).or_default().entry(spot.cell).or_default().push(i);
            }
            let blocks = &sorted.blocks;
            prop_assert_eq!(blocks.n_rows(), map.len());
            for (row, (at, expected)) in map.into_iter().enumerate() {
                prop_assert_eq!([blocks.rows[row].z, blocks.rows[row].y], at);
                prop_assert_eq!(blocks.row(row).len(), expected.len());
                for (block, (x, cells)) in blocks.row(row).iter().zip(expected) {
                    prop_assert_eq!((block.x, block.mask), (x, cells.keys().fold(0, |mask, cell| mask | 1 << cell)));
                    for (cell, expected) in cells {
                        let records = &sorted.records[blocks.particles(block.cell(cell))];
                        prop_assert_eq!(records.iter().map(Record::index).collect::<Vec<_>>(), expected);
                    }
                }
            }
        }
    }
}
