//! Which other ranks need a cell: those that own anything in it or about it.

use super::migrate::{OwnLevel, Parcels};
use super::splits::Splits;
use inselberg_comm::Rank;
use inselberg_kernels::geom::Domain;
use std::ops::Range;

/// Sides of the blocks, as powers of two, that are looked at as a whole before their cells are.
const BLOCKS: [u8; 3] = [4, 2, 0];

/// Own cells by the ranks that need them, as places in the order of (level, Morton key).
///
/// Blocks of cells whose surroundings are all the rank's own are passed over whole, so it costs
/// about the surface of a rank's domain.
pub(super) fn needed_by(levels: &[OwnLevel], splits: &Splits, domain: &Domain, rank: Rank) -> Parcels<u32> {
    let mut needed = Parcels::new();
    let mut before = 0;
    for (level, own) in levels.iter().enumerate() {
        let position = &own.cells.position;
        let mut reach = Reach { splits, domain, rank, level: level as u8, position, before, needed };
        let first = BLOCKS.iter().position(|b| *b <= level as u8).unwrap_or(BLOCKS.len() - 1);
        reach.walk(0..position.len(), &BLOCKS[first..]);
        needed = reach.needed;
        before += position.len() as u32;
    }
    needed
}

struct Reach<'a> {
    splits: &'a Splits,
    domain: &'a Domain,
    rank: Rank,
    level: u8,
    position: &'a [[u32; 3]],
    /// Own cells of coarser levels.
    before: u32,
    needed: Parcels<u32>,
}

impl Reach<'_> {
    /// Looks at sorted cells in blocks of the first given side, and into those at the border.
    fn walk(&mut self, cells: Range<usize>, sides: &[u8]) {
        let Some((&side, finer)) = sides.split_first() else { return };
        let mut start = cells.start;
        while start < cells.end {
            let block = self.position[start].map(|x| x >> side);
            let is_in = |p: &[u32; 3]| p.map(|x| x >> side) == block;
            let end = start + self.position[start..cells.end].partition_point(is_in);
            if !self.is_interior(self.level - side, block) {
                match finer {
                    [] => self.need(start..end, block),
                    finer => self.walk(start..end, finer),
                }
            }
            start = end;
        }
    }

    /// Whether this rank owns all of a block and all around it.
    fn is_interior(&self, level: u8, block: [u32; 3]) -> bool {
        about(self.domain, level, block).all(|p| self.splits.owns_all(self.rank, level, p))
    }

    fn need(&mut self, cells: Range<usize>, position: [u32; 3]) {
        let mut ranks: Vec<Rank> = Vec::new();
        for p in about(self.domain, self.level, position) {
            if !self.splits.owns_all(self.rank, self.level, p) {
                ranks.extend(self.splits.owners_within(self.level, p).filter(|r| *r != self.rank));
            }
        }
        ranks.sort_unstable();
        ranks.dedup();
        for rank in ranks {
            let cells = cells.clone().map(|i| self.before + i as u32);
            self.needed.entry(rank).or_default().extend(cells);
        }
    }
}

/// The places of a cell and of its 26 neighbours of the same level, as far as they lie in the box.
pub(super) fn about(domain: &Domain, level: u8, position: [u32; 3]) -> impl Iterator<Item = [u32; 3]> + '_ {
    (0..27_i64).filter_map(move |slot| {
        let step = [slot % 3 - 1, slot / 3 % 3 - 1, slot / 9 - 1];
        domain.wrap(level, std::array::from_fn(|a| i64::from(position[a]) + step[a]))
    })
}
