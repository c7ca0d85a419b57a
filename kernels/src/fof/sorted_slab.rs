//! Sorted slab: the particles of one slab, sorted by block and cell; then its rows, blocks and cells, with
//! the cells of each block joined.
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
//! A large slab is first cut into parts, which are runs of rows. A part stays in the second-level cache while
//! it is sorted. Keys of at most 32 bits are packed into words with the number of the particle and sorted by
//! a radix sort, longer ones by comparing.
//!
//! Sorting counts rows, blocks and cells. The lists of all slabs can then be made at once, and each slab
//! fills its part of them.

use super::Metric;
use super::block_reach::BlockReach;
use super::blocks::{BlockRow, FofBlock, FofBlocks};
use super::grid::{SearchGrid, Spot};
use super::link::{join_within, near_in_block};
use super::record::Record;
use super::slabs::Slabs;
use crate::simd::{for_each_mapped, wide};
use crate::sync::AtomicU32;

/// Numbers of rows, blocks and cells that have particles.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct SlabCounts {
    /// Rows of blocks.
    pub n_rows: usize,
    /// Blocks.
    pub n_blocks: usize,
    /// Cells.
    pub n_cells: usize,
}

/// The lists of one or more slabs. [`SlabCounts`] has their lengths.
#[derive(Debug)]
pub struct SlabLists<'a> {
    /// Rows of blocks by (z, y).
    pub rows: &'a mut [BlockRow],
    /// Their blocks by x.
    pub blocks: &'a mut [FofBlock],
    /// The first particle of each cell.
    pub cells: &'a mut [u32],
    /// For each cell the lowest cell of its block that links within the block connect it to.
    pub up: &'a mut [AtomicU32],
    /// The number of the first block among those of all slabs.
    pub first_block: u32,
    /// The number of the first cell.
    pub first_cell: u32,
    /// The number of the first particle.
    pub first_particle: u32,
}

/// Memory for sorting, kept from slab to slab.
#[derive(Debug)]
pub struct SlabScratch<R> {
    records: Vec<R>,
    parts: Vec<u8>,
    keys: KeyScratch,
}

/// Keys, each with the number of its particle.
#[derive(Debug, Default)]
struct KeyScratch {
    short: [Vec<u64>; 2],
    long: Vec<(u128, u32)>,
}

impl<R> Default for SlabScratch<R> {
    fn default() -> Self {
        Self { records: Vec::new(), parts: Vec::new(), keys: KeyScratch::default() }
    }
}

/// Particles per part, so that sorting a part stays in the second-level cache. Few in tests, so that there
/// are parts.
const PART: usize = if cfg!(test) { 8 } else { 8192 };
/// The most parts of a slab, in bits of their number, which is a byte. Scattering to more of them is slow.
const MOST_PART_BITS: u32 = u8::BITS;
/// Fewer keys are sorted by comparing.
const FEW: usize = 256;
/// The most bits per pass of the radix sort.
const DIGIT: u32 = 12;

/// Sorts the particles of a slab, and counts its rows, blocks and cells. Linear in the particles for keys of
/// at most 32 bits, else n log n.
pub fn sort_slab<R: Record>(
    grid: &SearchGrid,
    slabs: &Slabs,
    records: &mut [R],
    scratch: &mut SlabScratch<R>,
) -> SlabCounts {
    wide(
        #[inline(always)]
        || sort(grid, slabs, records, scratch),
    )
}

#[inline(always)]
fn sort<R: Record>(
    grid: &SearchGrid,
    slabs: &Slabs,
    records: &mut [R],
    scratch: &mut SlabScratch<R>,
) -> SlabCounts {
    let n_parts = records.len().div_ceil(PART).next_power_of_two();
    let bits = n_parts.trailing_zeros().min(MOST_PART_BITS).min(slabs.row_bits());
    let parts = SlabParts { grid, slabs, bits };
    let SlabScratch { records: by_part, parts: part_of, keys } = scratch;
    by_part.resize(records.len(), R::zeroed());
    let (mut counts, mut start) = (SlabCounts::default(), 0);
    for end in parts.distribute(records, part_of, by_part) {
        let part = start..end as usize;
        start = part.end;
        counts.add(parts.sort(&by_part[part.clone()], &mut records[part], keys));
    }
    counts
}

/// The parts of a slab: the `bits` highest bits of a key give the part.
struct SlabParts<'a> {
    grid: &'a SearchGrid,
    slabs: &'a Slabs,
    bits: u32,
}

impl SlabParts<'_> {
    /// Copies records part by part, in their order within each part. The end of each part is returned.
    #[inline(always)]
    fn distribute<R: Record>(&self, records: &[R], part_of: &mut Vec<u8>, by_part: &mut [R]) -> Vec<u32> {
        let mut ends = vec![records.len() as u32; 1 << self.bits];
        if self.bits == 0 {
            by_part.copy_from_slice(records);
            return ends;
        }
        part_of.resize(records.len(), 0);
        for (part, record) in part_of.iter_mut().zip(records) {
            *part = self.slabs.part_of(self.grid.spot(record.position()), self.bits) as u8;
        }
        counting_sort(records, by_part, &mut ends, part_of.iter().map(|part| usize::from(*part)));
        ends
    }

    /// Copies the records of a part in the order of their keys.
    #[inline(always)]
    fn sort<R: Record>(&self, part: &[R], sorted: &mut [R], keys: &mut KeyScratch) -> SlabCounts {
        let spots = part.iter().map(|record| self.grid.spot(record.position()));
        let (slabs, KeyScratch { short, long }) = (self.slabs, keys);
        let below_row = slabs.key_bits() - slabs.row_bits();
        if slabs.key_bits() <= 32 {
            short[0].resize(part.len(), 0);
            for ((i, key), spot) in short[0].iter_mut().enumerate().zip(spots) {
                *key = u64::from(slabs.short_key(spot)) << 32 | i as u64;
            }
            sort_keys(short, slabs.key_bits() - self.bits);
            sorted.iter_mut().zip(&short[0]).for_each(|(to, key)| *to = part[*key as u32 as usize]);
            SlabCounts::new(&short[0], below_row, |a, b, bits| (a ^ b) >> 32 >> bits != 0)
        } else {
            long.clear();
            long.extend(spots.map(|spot| slabs.key(spot)).zip(0..));
            long.sort_unstable();
            sorted.iter_mut().zip(&*long).for_each(|(to, key)| *to = part[key.1 as usize]);
            SlabCounts::new(long, below_row, |a, b, bits| (a.0 ^ b.0) >> bits != 0)
        }
    }
}

/// Copies `from` in the order of `digits`, one of each item, and equal ones in their own order. Sets the end
/// of each digit.
#[inline(always)]
fn counting_sort<T: Copy>(
    from: &[T],
    to: &mut [T],
    ends: &mut [u32],
    digits: impl Iterator<Item = usize> + Clone,
) {
    ends.fill(0);
    digits.clone().for_each(|digit| ends[digit] += 1);
    let mut before = 0;
    for end in ends.iter_mut() {
        before += std::mem::replace(end, before);
    }
    for (item, digit) in from.iter().zip(digits) {
        let place = &mut ends[digit];
        to[*place as usize] = *item;
        *place += 1;
    }
}

/// Sorts words by their upper halves, of `n_bits` bits, and equal ones by their lower halves, in which they
/// ascend already. The result is in the first list. A radix sort from the lowest digit on; each pass keeps
/// the order of equal digits.
#[inline(always)]
fn sort_keys(keys: &mut [Vec<u64>; 2], n_bits: u32) {
    let [keys, other] = keys;
    if keys.len() < FEW {
        return keys.sort_unstable();
    }
    let n_passes = n_bits.div_ceil(DIGIT);
    let width = n_bits.div_ceil(n_passes);
    other.resize(keys.len(), 0);
    let mut ends = vec![0; 1 << width];
    for pass in 0..n_passes {
        let digit = |key: &u64| (key >> (32 + pass * width)) as usize & ((1 << width) - 1);
        counting_sort(keys, other, &mut ends, keys.iter().map(digit));
        std::mem::swap(keys, other);
    }
}

impl SlabCounts {
    /// Counts the sorted entries. `differ` says whether two keys differ above a number of lowest bits; rows
    /// differ above `below_row`.
    #[inline(always)]
    fn new<E: Copy>(entries: &[E], below_row: u32, differ: impl Fn(E, E, u32) -> bool) -> Self {
        let first = usize::from(!entries.is_empty());
        let mut counts = Self { n_rows: first, n_blocks: first, n_cells: first };
        for (a, b) in entries.iter().zip(&entries[first..]) {
            let differ = |bits| usize::from(differ(*a, *b, bits));
            counts.n_cells += differ(0);
            counts.n_blocks += differ(6);
            counts.n_rows += differ(below_row);
        }
        counts
    }

    /// Adds the numbers of other rows.
    pub fn add(&mut self, other: Self) {
        self.n_rows += other.n_rows;
        self.n_blocks += other.n_blocks;
        self.n_cells += other.n_cells;
    }
}

impl<'a> SlabLists<'a> {
    /// The lists of all slabs, of the lengths that these have together.
    pub fn new(blocks: &'a mut FofBlocks, up: &'a mut [AtomicU32]) -> Self {
        let FofBlocks { rows, blocks, cells, .. } = blocks;
        Self { rows, blocks, cells, up, first_block: 0, first_cell: 0, first_particle: 0 }
    }

    /// Takes the lists of the first slab off, which has `n_particles`.
    ///
    /// # Panics
    /// If the lists are shorter.
    pub fn take_slab(&mut self, counts: SlabCounts, n_particles: usize) -> Self {
        fn front<'a, T>(list: &mut &'a mut [T], n: usize) -> &'a mut [T] {
            list.split_off_mut(..n).expect("the lists have the lengths of all slabs")
        }
        let slab = Self {
            rows: front(&mut self.rows, counts.n_rows),
            blocks: front(&mut self.blocks, counts.n_blocks),
            cells: front(&mut self.cells, counts.n_cells),
            up: front(&mut self.up, counts.n_cells),
            ..*self
        };
        self.first_block += counts.n_blocks as u32;
        self.first_cell += counts.n_cells as u32;
        self.first_particle += n_particles as u32;
        slab
    }

    /// Makes rows, blocks and cells from the sorted records of the slab, and joins the cells of each block.
    /// Linear in the particles.
    ///
    /// # Panics
    /// If the lists do not have the lengths that [`sort_slab`] counted.
    pub fn fill<R: Record>(&mut self, grid: &SearchGrid, reach: &BlockReach, metric: &Metric, records: &[R]) {
        wide(
            #[inline(always)]
            || {
                self.make(grid, records);
                self.join(reach, metric, records);
            },
        );
    }

    #[inline(always)]
    fn make<R: Record>(&mut self, grid: &SearchGrid, records: &[R]) {
        let mut at = SlabCounts::default();
        let mut last: Option<Spot> = None;
        for_each_mapped(
            records,
            #[inline(always)]
            |record| grid.spot(record.position()),
            #[inline(always)]
            |i, spot| {
                let before = last.replace(spot);
                if before != Some(spot) {
                    self.begin_cell(&mut at, before, spot, i);
                }
            },
        );
        let counted = [self.rows.len(), self.blocks.len(), self.cells.len()];
        assert_eq!([at.n_rows, at.n_blocks, at.n_cells], counted, "the slab is sorted as it was counted");
    }

    /// Adds the cell at `spot`, whose first particle is number `i` of the slab. The block and the row are
    /// added as well, unless `before`, the spot before, is in them. `at` counts what is in the lists.
    #[inline(always)]
    fn begin_cell(&mut self, at: &mut SlabCounts, before: Option<Spot>, spot: Spot, i: usize) {
        let ([x, y, z], before) = (spot.block, before.map(|spot| spot.block));
        if before.is_none_or(|before| before[1..] != [y, z]) {
            self.rows[at.n_rows] = BlockRow { z, y, first: self.first_block + at.n_blocks as u32 };
            at.n_rows += 1;
        }
        if before != Some(spot.block) {
            self.blocks[at.n_blocks] = FofBlock { mask: 0, first: self.first_cell + at.n_cells as u32, x };
            at.n_blocks += 1;
        }
        self.blocks[at.n_blocks - 1].mask |= 1 << spot.cell;
        self.cells[at.n_cells] = self.first_particle + i as u32;
        at.n_cells += 1;
    }

    /// Joins the cells of each block.
    #[inline(always)]
    fn join<R: Record>(&mut self, reach: &BlockReach, metric: &Metric, records: &[R]) {
        self.up.iter_mut().zip(self.first_cell..).for_each(|(up, cell)| *up = AtomicU32::new(cell));
        let near = near_in_block(reach);
        let (first_cell, first_particle) = (self.first_cell, self.first_particle);
        for block in self.blocks.iter().filter(|b| b.mask & (b.mask - 1) != 0) {
            let of = |cell: u32| {
                let cell = (cell - first_cell) as usize;
                let end =
                    self.cells.get(cell + 1).map_or(records.len(), |end| (end - first_particle) as usize);
                &records[(self.cells[cell] - first_particle) as usize..end]
            };
            let hook = |cell: u32, root: u32| self.up[(cell - first_cell) as usize] = AtomicU32::new(root);
            join_within(block, &near, of, metric, hook);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_particles::{TestParticles, particles};
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

        /// Reference: a map from (z, y), x and cell to the particles there. In a box a million times as wide
        /// keys are long.
        #[test]
        fn rows_blocks_and_cells_are_those_of_a_map(
            particles in particles(),
            scale in prop_oneof![Just(1.0), Just(1e6)],
        ) {
            let TestParticles { positions, metric } = &particles;
            let sides = metric.sides.map(|side| side * scale);
            let positions = positions.iter().map(|x| x.map(|x| x * scale)).collect();
            let particles = TestParticles { positions, metric: Metric { sides, ..*metric } };
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
