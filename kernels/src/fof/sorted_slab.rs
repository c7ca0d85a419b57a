//! Sorted slab: the particles of one slab, sorted by block and cell; then its rows, blocks and cells, with the cells of each
//! block joined.
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
//! A large slab is first cut into parts, which are runs of rows. A part stays in the second-level cache while it is sorted. Keys of at
//! most 32 bits are packed into words with the number of the particle and sorted by a radix sort, longer ones by comparing.
//!
//! Sorting counts rows, blocks and cells. The lists of all slabs can then be made at once, and each slab fills its part of them.

use super::Metric;
use super::block_reach::BlockReach;
use super::blocks::{BlockRow, FofBlock};
use super::grid::{SearchGrid, Spot};
use super::link::{join_within, near_in_block};
use super::record::Record;
use super::slabs::Slabs;
use crate::simd::wide;
use crate::sync::AtomicU32;
use std::ops::{BitXor, Shr};

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

/// The part of a slab in the lists of all slabs, which [`SlabCounts`] tells the lengths of.
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
    /// The number of its first block among those of all slabs.
    pub first_block: u32,
    /// The number of its first cell.
    pub first_cell: u32,
    /// The number of its first particle.
    pub first_particle: u32,
}

/// Memory for sorting, kept from slab to slab.
#[derive(Debug)]
pub struct SlabScratch<R> {
    records: Vec<R>,
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
        Self { records: Vec::new(), keys: KeyScratch::default() }
    }
}

/// Particles per part, so that sorting a part stays in the second-level cache. Few in tests, so that these have parts.
const PART: usize = if cfg!(test) { 8 } else { 8192 };
/// The most parts of a slab, in bits of their number: scattering to more of them is slow.
const MOST_PART_BITS: u32 = 8;
/// Fewer keys are sorted by comparing.
const FEW: usize = 256;
/// The most bits per pass of the radix sort.
const DIGIT: u32 = 12;

/// Sorts the particles of a slab, and counts its rows, blocks and cells. Linear in the particles for keys of at most 32 bits,
/// else n log n.
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
    let part_bits = n_parts.trailing_zeros().min(MOST_PART_BITS).min(slabs.row_bits());
    let SlabScratch { records: by_part, keys } = scratch;
    by_part.resize(records.len(), R::zeroed());
    let ends = distribute(grid, slabs, part_bits, records, by_part);
    let (mut counts, mut start) = (SlabCounts::default(), 0);
    for end in ends {
        counts.add(sort_part(grid, slabs, part_bits, &by_part[start..end], &mut records[start..end], keys));
        start = end;
    }
    counts
}

/// Copies records part by part, in their order within each part. The end of each part is returned.
#[inline(always)]
fn distribute<R: Record>(
    grid: &SearchGrid,
    slabs: &Slabs,
    part_bits: u32,
    records: &[R],
    by_part: &mut [R],
) -> Vec<usize> {
    if part_bits == 0 {
        by_part.copy_from_slice(records);
        return vec![records.len()];
    }
    let part_of = |record: &R| slabs.part_of(grid.spot(record.position()), part_bits);
    let mut ends = vec![0; 1 << part_bits];
    records.iter().for_each(|record| ends[part_of(record)] += 1);
    let mut before = 0;
    for end in &mut ends {
        before += std::mem::replace(end, before);
    }
    for record in records {
        let place = &mut ends[part_of(record)];
        by_part[*place] = *record;
        *place += 1;
    }
    ends
}

/// Copies the records of a part in the order of their keys, of which the `part_bits` highest bits are equal.
#[inline(always)]
fn sort_part<R: Record>(
    grid: &SearchGrid,
    slabs: &Slabs,
    part_bits: u32,
    part: &[R],
    sorted: &mut [R],
    keys: &mut KeyScratch,
) -> SlabCounts {
    let spots = part.iter().map(|record| grid.spot(record.position())).zip(0u32..);
    let KeyScratch { short, long } = keys;
    if slabs.key_bits() <= 32 {
        short[0].clear();
        short[0].extend(spots.map(|(spot, i)| u64::from(slabs.short_key(spot)) << 32 | u64::from(i)));
        sort_keys(short, slabs.key_bits() - part_bits);
        sorted.iter_mut().zip(&short[0]).for_each(|(to, key)| *to = part[*key as u32 as usize]);
        SlabCounts::new(&short[0], |key| key >> 32, slabs)
    } else {
        long.clear();
        long.extend(spots.map(|(spot, i)| (slabs.key(spot), i)));
        long.sort_unstable();
        sorted.iter_mut().zip(&*long).for_each(|(to, key)| *to = part[key.1 as usize]);
        SlabCounts::new(long, |key| key.0, slabs)
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

impl SlabCounts {
    /// Of ascending entries, each with a key.
    #[inline(always)]
    fn new<E: Copy, K>(entries: &[E], key: impl Fn(E) -> K, slabs: &Slabs) -> Self
    where
        K: BitXor<Output = K> + Shr<u32, Output = K> + PartialEq + From<u8> + Copy,
    {
        let differ = |bits: K| usize::from(bits != K::from(0));
        let below_row = slabs.key_bits() - slabs.row_bits();
        let first = usize::from(!entries.is_empty());
        let mut counts = Self { n_rows: first, n_blocks: first, n_cells: first };
        for pair in entries.windows(2) {
            let bits = key(pair[0]) ^ key(pair[1]);
            counts.n_cells += differ(bits);
            counts.n_blocks += differ(bits >> 6);
            counts.n_rows += differ(bits >> below_row);
        }
        counts
    }

    fn add(&mut self, other: Self) {
        self.n_rows += other.n_rows;
        self.n_blocks += other.n_blocks;
        self.n_cells += other.n_cells;
    }
}

impl SlabLists<'_> {
    /// Makes rows, blocks and cells from the sorted records of the slab, and joins the cells of each block. Linear in the
    /// particles.
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
        for (particle, record) in (self.first_particle..).zip(records) {
            let spot = grid.spot(record.position());
            let before = last.replace(spot);
            if before == Some(spot) {
                continue;
            }
            let block = before.map(|spot| spot.block);
            if block != Some(spot.block) {
                let [x, y, z] = spot.block;
                if block.is_none_or(|before| before[1..] != [y, z]) {
                    self.rows[at.n_rows] = BlockRow { z, y, first: self.first_block + at.n_blocks as u32 };
                    at.n_rows += 1;
                }
                self.blocks[at.n_blocks] =
                    FofBlock { mask: 0, first: self.first_cell + at.n_cells as u32, x };
                at.n_blocks += 1;
            }
            self.blocks[at.n_blocks - 1].mask |= 1 << spot.cell;
            self.cells[at.n_cells] = particle;
            at.n_cells += 1;
        }
        let counted = [self.rows.len(), self.blocks.len(), self.cells.len()];
        assert_eq!([at.n_rows, at.n_blocks, at.n_cells], counted, "the slab is sorted as it was counted");
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

        /// Reference: a map from (z, y), x and cell to the particles there. In a box a million times as wide keys are long.
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
