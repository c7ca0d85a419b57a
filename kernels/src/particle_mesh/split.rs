//! Splitting: which cells do particles split, and which cells does grading force?
//!
//! If a finer cell is split, all cells of the next coarser level that touch it are split too. Along one axis
//! these are its parent and the parent's neighbour on its side:
//!
//! ```text
//!     finer cells      | 0 1 | 2 3 | 4 5 | 6 7 |
//!     coarser cells    |  0  |  1  |  2  |  3  |
//!
//!     finer cell 2 touches coarser 0 and 1;   finer cell 3 touches coarser 1 and 2
//! ```
//!
//! A brick covers two coarser cells along each axis, half of a coarser brick. So the forced cells lie in the
//! coarser brick around it, and in the one before it (if the brick's position is even) or after it (if odd).
//! [`FORCED`] holds these masks for every cell of a brick and every parity of its position.

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

/// The cells of a root that hold more than `m_refine` particles. `keys` are the sorted keys of all its
/// particles. Linear in the particles, times the number of levels on which they are in such cells.
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

/// Cuts a range of sorted keys where they differ above the `shift` lowest bits.
fn cells(keys: &[u64], run: Range<usize>, shift: u32) -> impl Iterator<Item = Range<usize>> {
    let mut start = run.start;
    keys[run].chunk_by(move |a, b| a >> shift == b >> shift).map(move |cell| {
        start += cell.len();
        start - cell.len()..start
    })
}

/// Adds a cell whose key exceeds those of all cells so far.
fn add(bricks: &mut Vec<SplitBrick>, cell: u64) {
    let (key, bit) = (cell >> 6, 1 << (cell & 63));
    match bricks.last_mut().filter(|last| last.key == key) {
        Some(last) => last.mask |= bit,
        None => bricks.push(SplitBrick { key, mask: bit }),
    }
}

/// Sorts bricks and merges those with the same key.
pub fn unite(bricks: &mut Vec<SplitBrick>) {
    bricks.sort_unstable_by_key(|brick| brick.key);
    bricks.dedup_by(|next, kept| {
        let is_same = next.key == kept.key;
        kept.mask |= if is_same { next.mask } else { 0 };
        is_same
    });
}

/// Adds the cells that grading forces, in this root or others. Sorts the bricks of each level.
pub fn grade(shape: &Shape, levels: &mut SplitLevels) {
    for i in (1..levels.len()).rev() {
        let (coarser, finer) = levels.split_at_mut(i);
        let coarser = &mut coarser[i - 1];
        force(&shape.domain, shape.level_min + i as u8 - 1, &finer[0], coarser);
        unite(coarser);
    }
}

/// For each parity of the position of a brick, each of its cells, and each of eight coarser bricks: the
/// coarser cells that the cell touches. Bit a of the number of a coarser brick says whether it is beside the
/// one around the cell along axis a: before it if the parity is even, after it if odd.
static FORCED: [[[u64; 8]; 64]; 8] = {
    let mut table = [[[0; 8]; 64]; 8];
    let mut i = 0;
    while i < 8 * 64 * 8 {
        let (parity, bit, near) = (i >> 9, i >> 3 & 63, i & 7);
        let (mut cell, mut target) = ([0; 3], 0);
        let mut a = 0;
        while a < 3 {
            // The brick is taken to be at 2 or 3 along each axis, so that no coordinate is negative.
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

/// Appends the cells of `level` that touch split cells of the next finer level, brick by brick, with
/// repetitions.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn cells(brick: &SplitBrick) -> Vec<[u32; 3]> {
        let position = position63(brick.key);
        bits(brick.mask).map(|bit| crate::mesh::local::position_of(position, bit)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

        /// Reference: the parents of all 27 cells around each split cell.
        #[test]
        fn forced_cells_are_those_that_touch(
            bricks in prop::collection::vec((0..64u64, any::<u64>(), any::<u64>()), 1..6),
            periodic in prop::array::uniform3(any::<bool>()),
        ) {
            let (domain, level) = (Domain { coarse: [1; 3], periodic }, 3);
            let finer: Vec<SplitBrick> =
                bricks.into_iter().map(|(key, a, b)| SplitBrick { key, mask: a & b }).collect();
            let mut forced = Vec::new();
            force(&domain, level, &finer, &mut forced);
            let found: BTreeSet<[u32; 3]> = forced.iter().flat_map(cells).collect();
            let around = |cell: [u32; 3]| {
                (0..27i64).filter_map(move |i| {
                    let step = [i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1];
                    let at = [0, 1, 2].map(|a| i64::from(cell[a]) + step[a]);
                    domain.wrap(level + 1, at).map(|at| at.map(|x| x >> 1))
                })
            };
            let expected: BTreeSet<[u32; 3]> = finer.iter().flat_map(cells).flat_map(around).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
