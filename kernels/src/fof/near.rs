//! Nearest: which linkable particle is the nearest one to each attachable particle?

use super::Metric;
use super::block_reach::BlockReach;
use super::blocks::{AROUND, BlockContact, ContactVisitor, FofBlock, FofBlocks};
use super::grid::SearchGrid;
use super::record::Record;
use crate::mesh::local::bits;
use crate::simd::wide;

/// The nearest linkable particle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest {
    /// Square of its distance.
    pub distance2: f64,
    /// Its ID.
    pub id: u64,
    /// Its cell; `u32::MAX` if there is none within the linking length.
    pub cell: u32,
    /// Its place among the sorted linkable particles.
    at: u32,
}

impl Nearest {
    /// No particle within the linking length.
    pub const NONE: Self = Self { distance2: f64::INFINITY, id: u64::MAX, cell: u32::MAX, at: u32::MAX };
}

/// Particles sorted by cell.
#[derive(Debug, Clone, Copy)]
pub struct SlabWithBlocks<'a, R> {
    /// The cells.
    pub blocks: &'a FofBlocks,
    /// The particles.
    pub records: &'a [R],
}

/// For each particle in a row of `others`, the nearest of the `linkable` particles within the linking length;
/// between equally near ones, the one with the lowest ID, then the lowest position. `id_of` gives the ID of
/// an input number.
pub fn nearest<R: Record>(
    (grid, reach, metric): (&SearchGrid, &BlockReach, &Metric),
    linkable: SlabWithBlocks<R>,
    id_of: impl Fn(u32) -> u64,
    others: SlabWithBlocks<R>,
    row: usize,
) -> Vec<Nearest> {
    let blocks = others.blocks.row(row);
    let first = others.blocks.cells[blocks[0].first as usize] as usize;
    let last = &blocks[blocks.len() - 1];
    let end = others.blocks.cells[(last.first + last.n_cells()) as usize] as usize;
    let best = vec![Nearest::NONE; end - first];
    let mut search = Search { metric, linkable, id_of, others, first, best };
    wide(
        #[inline(always)]
        || {
            let of = (others.blocks.rows[row], blocks);
            linkable.blocks.touching(grid, reach, of, &AROUND, &mut search);
        },
    );
    search.best
}

/// The nearest so far for the particles of a row, from number `first` of the others on.
struct Search<'a, R, I> {
    metric: &'a Metric,
    linkable: SlabWithBlocks<'a, R>,
    id_of: I,
    others: SlabWithBlocks<'a, R>,
    first: usize,
    best: Vec<Nearest>,
}

impl<R: Record, I: Fn(u32) -> u64> ContactVisitor for Search<'_, R, I> {
    #[inline(always)]
    fn pair(&mut self, a: &FofBlock, b: &FofBlock, contact: BlockContact) {
        let (from, to) = contact.rims(a, b);
        for at in bits(from) {
            let here = self.others.blocks.particles(a.cell(at));
            for other in bits(contact.near(at, to)) {
                let cell = b.cell(other);
                for i in here.clone() {
                    let best = &mut self.best[i - self.first];
                    improve(self.metric, &self.others.records[i], self.linkable, cell, &self.id_of, best);
                }
            }
        }
    }
}

/// Replaces `best` by the best particle of a cell, if that is better.
#[inline(always)]
fn improve<R: Record>(
    metric: &Metric,
    record: &R,
    linkable: SlabWithBlocks<R>,
    cell: u32,
    id_of: &impl Fn(u32) -> u64,
    best: &mut Nearest,
) {
    let (at, limit) = (record.position(), metric.length * metric.length);
    let places = linkable.blocks.particles(cell);
    for (place, other) in places.clone().zip(&linkable.records[places]) {
        let distance2 = metric.distance2(at, other.position());
        if distance2 < limit && distance2 <= best.distance2 {
            let id = id_of(other.index());
            let is_lower = || {
                let so_far = linkable.records[best.at as usize].position();
                id < best.id || id == best.id && other.position() < so_far
            };
            if distance2 < best.distance2 || is_lower() {
                *best = Nearest { distance2, id, cell, at: place as u32 };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_particles::{TestParticles, particles};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

        /// Reference: all particles. The first half are linkable, the others attachable; some IDs are equal.
        #[test]
        fn the_nearest_is_that_of_all_particles(all in particles(), n_ids in 1..60u64) {
            let metric = all.metric;
            let (linkable, others) = all.positions.split_at(all.positions.len().div_ceil(2));
            prop_assume!(!others.is_empty());
            // Both lists are sorted on the grid of all particles.
            let bounds = |positions: &[[f64; 3]]| TestParticles { positions: positions.to_vec(), metric }.sorted_on(&all);
            let (linkable_sorted, others_sorted) = (bounds(linkable), bounds(others));
            let id_of = |i: u32| u64::from(i) * 7 % n_ids;
            let (grid, reach) = (&linkable_sorted.grid, &linkable_sorted.reach);
            let [to, from] = [&linkable_sorted, &others_sorted]
                .map(|sorted| SlabWithBlocks { blocks: &sorted.blocks, records: &sorted.records });
            for row in 0..from.blocks.n_rows() {
                let found = nearest((grid, reach, &metric), to, id_of, from, row);
                let records = &from.records[from.blocks.first_particle(row)..];
                for (record, found) in records.iter().zip(&found) {
                    let at = record.position();
                    let near = (0..linkable.len()).filter(|i| metric.linked(at, linkable[*i]));
                    let key = |i: &usize| (metric.distance2(at, linkable[*i]), id_of(*i as u32), linkable[*i]);
                    let best = near.min_by(|a, b| key(a).partial_cmp(&key(b)).expect("no NaN"));
                    let expected = best.map(|i| (key(&i).0, key(&i).1));
                    prop_assert_eq!((found.cell != u32::MAX).then_some((found.distance2, found.id)), expected);
                    if let Some(i) = best {
                        prop_assert_eq!(to.records[found.at as usize].position(), linkable[i]);
                    }
                }
            }
        }
    }
}
