//! The nearest linkable particle of each attachable one.

use super::Metric;
use super::blocks::{AROUND, Block, Blocks, Contact};
use super::grid::Grid;
use super::link::bits;
use super::reach::Reach;
use super::record::Record;
use crate::phew::wide::wide;

/// Where the nearest linkable particle is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest {
    /// Square of its distance.
    pub distance2: f64,
    /// Its ID.
    pub id: u64,
    /// Its cell; `u32::MAX` where there is none within the linking length.
    pub cell: u32,
}

impl Nearest {
    /// Nothing near.
    pub const NONE: Self = Self { distance2: f64::INFINITY, id: u64::MAX, cell: u32::MAX };
}

/// Particles sorted by cell.
#[derive(Debug, Clone, Copy)]
pub struct Shelved<'a, R> {
    /// The cells.
    pub blocks: &'a Blocks,
    /// The particles.
    pub records: &'a [R],
}

/// The nearest of the `linkable` particles for each particle in a row of the others, among equally near ones
/// that with the lowest ID.
pub fn nearest<R: Record>(
    (grid, reach, metric): (&Grid, &Reach, &Metric),
    linkable: Shelved<R>,
    id_of: impl Fn(u32) -> u64,
    others: Shelved<R>,
    row: usize,
) -> Vec<Nearest> {
    let blocks = others.blocks.row(row);
    let first = others.blocks.cells[blocks[0].first as usize] as usize;
    let last = &blocks[blocks.len() - 1];
    let end = others.blocks.cells[(last.first + last.n_cells()) as usize] as usize;
    let mut best = vec![Nearest::NONE; end - first];
    let mut try_pair = |a: &Block, b: &Block, contact: Contact| {
        for at in bits(a.mask) {
            let near = contact.yz[at as usize >> 2] & contact.x[at as usize & 3] & b.mask;
            let here = others.blocks.particles(a.cell(at));
            for other in bits(near) {
                let cell = b.cell(other);
                let there = &linkable.records[linkable.blocks.particles(cell)];
                for (i, record) in here.clone().zip(&others.records[here.clone()]) {
                    improve(metric, record, there, cell, &id_of, &mut best[i - first]);
                }
            }
        }
    };
    wide(
        #[inline(always)]
        || {
            let of = (others.blocks.rows[row], blocks);
            linkable.blocks.touching(grid, reach, of, &AROUND, &mut try_pair);
        },
    );
    best
}

#[inline(always)]
fn improve<R: Record>(
    metric: &Metric,
    record: &R,
    there: &[R],
    cell: u32,
    id_of: &impl Fn(u32) -> u64,
    best: &mut Nearest,
) {
    let (at, limit) = (record.position(), metric.length * metric.length);
    for other in there {
        let distance2 = metric.distance2(at, other.position());
        if distance2 < limit && distance2 <= best.distance2 {
            let id = id_of(other.index());
            if distance2 < best.distance2 || id < best.id {
                *best = Nearest { distance2, id, cell };
            }
        }
    }
}
