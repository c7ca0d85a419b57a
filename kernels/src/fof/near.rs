//! The nearest linkable particle of each attachable one.

use super::Metric;
use super::block_reach::BlockReach;
use super::blocks::{AROUND, BlockContact, ContactVisitor, FofBlock, FofBlocks};
use super::grid::SearchGrid;
use super::link::bits;
use super::record::Record;
use crate::simd::wide;

/// Where the nearest linkable particle is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest {
    /// Square of its distance.
    pub distance2: f64,
    /// Its ID.
    pub id: u64,
    /// Its cell; `u32::MAX` where there is none within the linking length.
    pub cell: u32,
    /// Its place among the linkable particles.
    at: u32,
}

impl Nearest {
    /// Nothing near.
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

/// The nearest of the `linkable` particles for each particle in a row of the others, among equally near ones
/// that with the lowest ID, then the lowest position.
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

/// The nearest so far of the particles of a row, the first of which is number `first` of the others.
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
