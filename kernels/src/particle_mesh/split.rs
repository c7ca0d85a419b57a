//! Which cells are split: those with many particles, and those that this forces.

use super::Shape;
use crate::geom::Domain;
use crate::mesh::local::{bit_of, bits};
use crate::sfc::{morton63, position63};
use bytemuck::{Pod, Zeroable};
use std::ops::Range;

/// The split cells of a brick of one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct SplitBrick {
    /// Morton key of the brick on the grid of bricks of its level.
    pub key: u64,
    /// The cells, one bit each ([`crate::mesh::local`]).
    pub mask: u64,
}

/// Split cells by level, from `level_min` to `level_max` - 1; bricks ascend by key, none twice.
pub type SplitLevels = Vec<Vec<SplitBrick>>;

/// The cells of a root with more than `m_refine` particles. `keys` are those of all its particles, sorted.
/// Linear in the particles, times the levels on which they are in such cells.
pub fn crowded(shape: &Shape, keys: &[u64]) -> SplitLevels {
    let mut runs: Vec<Range<usize>> = std::iter::once(0..keys.len()).collect();
    let of_level = |level: u8| {
        let shift = 3 * u32::from(shape.level_max - level);
        let (mut bricks, mut found) = (Vec::new(), Vec::new());
        for run in runs.drain(..) {
            for cell in cells(keys, run, shift).filter(|cell| cell.len() as u64 > shape.m_refine) {
                add(&mut bricks, keys[cell.start] >> shift);
                found.push(cell);
            }
        }
        runs = found;
        bricks
    };
    (shape.level_min..shape.level_max).map(of_level).collect()
}

/// A run of sorted keys cut where they differ above the `shift` lowest bits.
fn cells(keys: &[u64], run: Range<usize>, shift: u32) -> impl Iterator<Item = Range<usize>> {
    let mut start = run.start;
    keys[run].chunk_by(move |a, b| a >> shift == b >> shift).map(move |cell| {
        start += cell.len();
        start - cell.len()..start
    })
}

/// Adds a cell whose key is above all others.
fn add(bricks: &mut Vec<SplitBrick>, cell: u64) {
    let (key, bit) = (cell >> 6, 1 << (cell & 63));
    match bricks.last_mut().filter(|last| last.key == key) {
        Some(last) => last.mask |= bit,
        None => bricks.push(SplitBrick { key, mask: bit }),
    }
}

/// Sorts bricks and makes one of those that are the same.
pub fn unite(bricks: &mut Vec<SplitBrick>) {
    bricks.sort_unstable_by_key(|brick| brick.key);
    bricks.dedup_by(|next, kept| {
        let is_same = next.key == kept.key;
        kept.mask |= if is_same { next.mask } else { 0 };
        is_same
    });
}

/// Adds the cells whose splitting is forced, wherever they are. Sorts what each level forces.
pub fn grade(shape: &Shape, levels: &mut SplitLevels) {
    for i in (1..levels.len()).rev() {
        let (coarser, finer) = levels.split_at_mut(i);
        let coarser = &mut coarser[i - 1];
        force(&shape.domain, shape.level_min + i as u8 - 1, &finer[0], coarser);
        unite(coarser);
    }
}

/// For each parity of a brick's place and each of its cells, the cells of the next coarser level that are or
/// touch the cell's parent on the cell's side. They lie in the brick around the parent and in those beside it, by
/// bit where they are beside it: below along an axis on which the place is even, above where it is odd.
static FORCED: [[[u64; 8]; 64]; 8] = {
    let mut table = [[[0; 8]; 64]; 8];
    let mut i = 0;
    while i < 8 * 64 * 8 {
        let (parity, bit, near) = (i >> 9, i >> 3 & 63, i & 7);
        let (mut cell, mut target) = ([0; 3], 0);
        let mut a = 0;
        while a < 3 {
            // As if the brick were at 2 or 3 along each axis, so that nothing is negative.
            let brick = 2 + (parity >> a & 1) as u32;
            let offset = (bit >> a & 1 | (bit >> (a + 3) & 1) << 1) as u32;
            let low = (4 * brick + offset - 1) >> 1;
            cell[a] = low + (near >> a & 1) as u32;
            target |= ((cell[a] >> 2 != brick >> 1) as usize) << a;
            a += 1;
        }
        table[parity][bit][target] |= 1 << bit_of(cell);
        i += 1;
    }
    table
};

/// Appends the cells of `level` that touch split cells of the next.
fn force(domain: &Domain, level: u8, finer: &[SplitBrick], forced: &mut Vec<SplitBrick>) {
    for brick in finer {
        let place = position63(brick.key);
        let parity = place.map(|x| x & 1);
        let table = &FORCED[(parity[0] | parity[1] << 1 | parity[2] << 2) as usize];
        let mut masks = [0; 8];
        for bit in bits(brick.mask) {
            masks.iter_mut().zip(&table[bit as usize]).for_each(|(mask, more)| *mask |= more);
        }
        for (target, mask) in masks.into_iter().enumerate().filter(|(_, mask)| *mask != 0) {
            let along = |a: usize| {
                let beside = (target >> a & 1) as i64 * if parity[a] == 1 { 1 } else { -1 };
                domain.wrap_along(level - 2, a, i64::from(place[a] >> 1) + beside)
            };
            if let (Some(x), Some(y), Some(z)) = (along(0), along(1), along(2)) {
                forced.push(SplitBrick { key: morton63([x, y, z]), mask });
            }
        }
    }
}
