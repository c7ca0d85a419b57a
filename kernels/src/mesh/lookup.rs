//! Look-up: in which brick is a cell? It uses one entry per 64 cells, and a short walk from there.

use super::{Mesh, local};
use crate::ids::CellIdx;

/// Finds the range that contains a number, among consecutive ranges.
#[derive(Debug, Clone, Default)]
pub struct Lookup(Vec<u32>);

impl Lookup {
    /// From the end of each range, where the next one begins. Linear in the ranges.
    pub fn new(ends: impl Iterator<Item = u32>) -> Self {
        let mut ranges = Vec::new();
        for (range, end) in (0..).zip(ends) {
            ranges.resize(end.div_ceil(64) as usize, range);
        }
        Self(ranges)
    }

    /// The range of a number. Constant time, plus a walk over short ranges. `end` gives the end of a range.
    #[inline(always)]
    pub fn find(&self, number: u32, end: impl Fn(usize) -> u32) -> usize {
        let mut range = self.0[number as usize >> 6] as usize;
        while end(range) <= number {
            range += 1;
        }
        range
    }
}

/// Finds levels and positions of cells.
#[derive(Debug, Clone)]
pub struct Locator<'a> {
    mesh: &'a Mesh,
    bricks: Lookup,
    /// The first cell of each level.
    levels: Vec<u32>,
}

impl<'a> Locator<'a> {
    /// Prepares the look-ups of a mesh. Linear in the bricks.
    pub fn new(mesh: &'a Mesh) -> Self {
        let firsts = mesh.bricks().iter().skip(1).map(|brick| brick.first);
        let bricks = Lookup::new(firsts.chain([mesh.n_cells() as u32]));
        let levels = (0..mesh.n_levels()).map(|level| mesh.first_of_level(level).0).collect();
        Self { mesh, bricks, levels }
    }

    /// Level and position of a cell. Constant time, plus a walk over bricks with few cells.
    #[inline]
    pub fn locate(&self, cell: CellIdx) -> (u8, [u32; 3]) {
        let bricks = self.mesh.bricks();
        let end = |b: usize| bricks.get(b + 1).map_or(u32::MAX, |next| next.first);
        let brick = &bricks[self.bricks.find(cell.0, end)];
        let bit = local::nth_set_bit(brick.exists, cell.0 - brick.first);
        let level = self.levels.partition_point(|&first| first <= cell.0) - 1;
        (level as u8, local::position_of(brick.position, bit))
    }
}

#[cfg(test)]
mod tests {
    use super::Lookup;

    #[test]
    fn numbers_are_in_their_ranges() {
        let ends = [0, 3, 3, 64, 65, 65, 300, 301];
        let lookup = Lookup::new(ends.into_iter());
        for number in 0..301 {
            let expected = ends.iter().position(|end| number < *end);
            assert_eq!(Some(lookup.find(number, |range| ends[range])), expected, "{number}");
        }
    }
}
