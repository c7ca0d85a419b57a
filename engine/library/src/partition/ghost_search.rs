//! Which other ranks need a cell? Those that own any key in it or around it.

use super::migrate::{OctMessages, OwnLevel};
use super::oct_record::OctRecord;
use super::splits::Splits;
use crate::chunks::chunks;
use inselberg_comm::Rank;
use inselberg_kernels::geom::Domain;
use inselberg_kernels::mesh::local;
use rayon::prelude::*;
use std::ops::Range;

/// log2 of the sides, in cells, of the blocks that are tested before single octs.
const BLOCKS: [u8; 3] = [4, 3, 2];

/// Own cells that another rank needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Needed {
    /// The index of their oct in the order of (level, Morton key).
    pub oct: u32,
    /// One bit per cell.
    pub cells: u8,
}

/// Own cells by the ranks that need them, in the order of (level, Morton key).
///
/// Blocks whose surroundings belong to this rank are skipped as a whole, so the cost is about the surface of
/// its region.
pub(super) fn needed_by(
    levels: &[OwnLevel],
    splits: &Splits,
    domain: &Domain,
    rank: Rank,
) -> OctMessages<Needed> {
    let mut needed = OctMessages::<Needed>::new();
    let mut before = 0;
    for (level, own) in levels.iter().enumerate() {
        let octs = own.octs.as_slice();
        // On the coarsest levels no block fits: all octs are tested.
        let first = BLOCKS.iter().position(|b| *b <= level as u8).unwrap_or(BLOCKS.len());
        let of_run = |run| {
            let mut search = GhostSearch {
                splits,
                domain,
                rank,
                level: level as u8,
                octs,
                before,
                needed: OctMessages::new(),
            };
            search.walk(run, &BLOCKS[first..]);
            search.needed
        };
        let found: Vec<_> = chunks(octs.len(), RUN).into_par_iter().map(of_run).collect();
        for (rank, more) in found.into_iter().flatten() {
            needed.entry(rank).or_default().extend(more);
        }
        before += octs.len() as u32;
    }
    needed
}

/// Octs of one task. It cuts few blocks, and a block that is cut is only tested twice.
const RUN: usize = 1 << 12;

struct GhostSearch<'a> {
    splits: &'a Splits,
    domain: &'a Domain,
    rank: Rank,
    level: u8,
    octs: &'a [OctRecord],
    /// Number of own octs of coarser levels.
    before: u32,
    needed: OctMessages<Needed>,
}

impl GhostSearch<'_> {
    /// Tests sorted octs in blocks of the first of `sides`; blocks at the border in finer blocks, at the end
    /// oct by oct.
    fn walk(&mut self, octs: Range<usize>, sides: &[u8]) {
        let Some((&side, finer)) = sides.split_first() else {
            return octs.for_each(|i| self.add_oct(i));
        };
        let block_of = |oct: &OctRecord| oct.position.map(|x| x >> (side - 1));
        let mut start = octs.start;
        while start < octs.end {
            let block = block_of(&self.octs[start]);
            let end = start + self.octs[start..octs.end].partition_point(|oct| block_of(oct) == block);
            if !self.is_interior(self.level - side, block) {
                self.walk(start..end, finer);
            }
            start = end;
        }
    }

    /// Whether this rank owns all of a block and of its 26 neighbours. There is nothing beyond a wall.
    fn is_interior(&self, level: u8, block: [u32; 3]) -> bool {
        let neighbour = |step| self.domain.wrap(level, moved(block, step));
        steps().filter_map(neighbour).all(|place| self.splits.owns_all(self.rank, level, place))
    }

    /// Adds the cells of an oct to the lists of all ranks that own any of the 64 cells in and around the oct.
    fn add_oct(&mut self, i: usize) {
        let oct = self.octs[i];
        let mut ranks: Vec<(Rank, u8)> = Vec::new();
        steps().for_each(|step| self.neighbour_oct(&oct, step, &mut ranks));
        ranks.sort_unstable();
        for of_rank in ranks.chunk_by(|a, b| a.0 == b.0) {
            let cells = oct.exists & of_rank.iter().fold(0, |all, (_, cells)| all | cells);
            if cells != 0 {
                let needed = Needed { oct: self.before + i as u32, cells };
                self.needed.entry(of_rank[0].0).or_default().push(needed);
            }
        }
    }

    /// The other ranks that own cells of the oct one step away, with the cells of this oct that touch theirs.
    fn neighbour_oct(&self, oct: &OctRecord, step: [i64; 3], ranks: &mut Vec<(Rank, u8)>) {
        let Some(above) = self.level.checked_sub(1) else { return self.neighbour_cells(oct, step, ranks) };
        let Some(at) = self.domain.wrap(above, moved(oct.position, step)) else { return };
        if self.splits.owns_all(self.rank, above, at) {
            return;
        }
        let mut owners = self.splits.owners_within(above, at);
        match (owners.next(), owners.next()) {
            (Some(owner), None) => ranks.push((owner, facing(step.map(|x| if x > 0 { 2 } else { x })))),
            _ => self.neighbour_cells(oct, step, ranks),
        }
    }

    /// The same, cell by cell of the oct one step away.
    fn neighbour_cells(&self, oct: &OctRecord, step: [i64; 3], ranks: &mut Vec<(Rank, u8)>) {
        for bit in 0..8 {
            let offset = local::offset_of(bit);
            let place: [i64; 3] = std::array::from_fn(|a| 2 * step[a] + i64::from(offset[a]));
            let Some(at) = self.domain.wrap(self.level, moved(oct.cell(0), place)) else { continue };
            let others = self.splits.owners_within(self.level, at).filter(|rank| *rank != self.rank);
            ranks.extend(others.map(|rank| (rank, facing(place))));
        }
    }
}

/// The cells of an oct that are, or touch, the cell at `place` relative to the first cell of the oct.
///
/// ```text
/// along an axis:   place  -1 | 0 | 1 | 2         the oct is cells 0 and 1; farther places touch nothing
///          cells touched   0 | 0 1 | 0 1 | 1
/// ```
fn facing(place: [i64; 3]) -> u8 {
    // The cells with offset 0 along each axis.
    const LOW: [u8; 3] = [0x55, 0x33, 0x0f];
    (0..3).fold(0xff, |cells, a| {
        cells
            & match place[a] {
                -1 => LOW[a],
                0 | 1 => 0xff,
                2 => !LOW[a],
                _ => 0,
            }
    })
}

/// The steps to a cell itself and to its 26 neighbours.
fn steps() -> impl Iterator<Item = [i64; 3]> {
    (0..27).map(|i| [i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1])
}

fn moved(position: [u32; 3], by: [i64; 3]) -> [i64; 3] {
    std::array::from_fn(|a| i64::from(position[a]) + by[a])
}
