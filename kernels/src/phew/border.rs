//! Borders: how near to its peak does a clump meet another one?
//!
//! Place in the flow: after [`super::hierarchy`], once the clump of each test cell is known. Only RAMSES's
//! unbinding uses it ([`crate::bound::unbind::ramses`]). A border lies midway between the centres of two
//! touching test cells of different clumps, whatever their levels:
//!
//! ```text
//!     +-------+---+---+
//!     |       | b | b |        a: a coarse cell of one clump, b: fine cells of another
//!     |   a   x---+---+        x: a border, midway between the centres of a and of the upper b beside it
//!     |       | b | b |
//!     +-------+---+---+
//! ```
//!
//! A clump has no border with cells below the density threshold.

use super::ascent::for_each_block;
use super::block::{Block, PLACE, neighbour};
use super::test_cells::TestCells;
use crate::geom::{cell_centre, cell_side};
use crate::ids::{CellIdx, PeakIdx};
use crate::mesh::{Mesh, local};

/// The clumps whose borders are searched. Lengths are in units of the level-0 cell.
#[derive(Debug, Clone, Copy)]
pub struct BorderSearch<'a> {
    /// The cells.
    pub mesh: &'a Mesh,
    /// Those in clumps.
    pub test_cells: &'a TestCells<'a>,
    /// The clump of each test cell, by the index of its peak in `peaks`.
    pub clump_of: &'a [PeakIdx],
    /// The peak of each clump. A clump with a NaN peak is skipped.
    pub peaks: &'a [[f64; 3]],
}

impl BorderSearch<'_> {
    /// Lowers the squared distances from the peaks to their nearest borders, one per clump, by the borders
    /// between the cells of the given super-bricks and the cells that touch them on the same or a coarser
    /// level. Over all super-bricks no border is missed. Linear in the test cells.
    pub fn lower(&self, supers: impl Iterator<Item = usize>, nearest: &mut [f64]) {
        let Self { mesh, test_cells, clump_of, .. } = *self;
        for_each_block(mesh, test_cells, Some(clump_of), supers, |brick, block: &Block<CellIdx>| {
            for bit in local::bits(test_cells.mask[brick]) {
                let place = usize::from(PLACE[bit as usize]);
                let differs =
                    |i: &usize| block.rho[neighbour(place, *i)] > 0.0 && self.differ(block, place, *i);
                let position = local::position_of(mesh.bricks()[brick].position, bit);
                for i in (0..27).filter(differs) {
                    let other = neighbour(place, i);
                    let border = self.midpoint(block, position, i);
                    for clump in [place, other].map(|place| block.label[place] as usize) {
                        let step = mesh.domain().displacement(self.peaks[clump], border);
                        let square = step[0] * step[0] + step[1] * step[1] + step[2] * step[2];
                        if square < nearest[clump] {
                            nearest[clump] = square;
                        }
                    }
                }
            }
        });
    }

    #[inline(always)]
    fn differ(&self, block: &Block<CellIdx>, place: usize, i: usize) -> bool {
        block.label[neighbour(place, i)] != block.label[place]
    }

    /// The midpoint between the centre of the cell at `position` and that of its `i`-th neighbour. May lie
    /// outside the box, by half a cell.
    fn midpoint(&self, block: &Block<CellIdx>, position: [u32; 3], i: usize) -> [f64; 3] {
        let place = usize::from(PLACE[local::bit_of(position) as usize]);
        let (own, level) = (cell_centre(block.level, position), block.level);
        let at: [i64; 3] = [i % 3, i / 3 % 3, i / 9].map(|step| step as i64 - 1);
        let at: [i64; 3] = std::array::from_fn(|a| i64::from(position[a]) + at[a]);
        let other = neighbour(place, i);
        let up = match block.is_coarser(other) {
            true => level - self.mesh.locate(block.at(other)).0,
            false => 0,
        };
        let side = cell_side(level - up);
        std::array::from_fn(|a| 0.5 * (own[a] + ((at[a] >> up) as f64 + 0.5) * side))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::TestIdx;
    use crate::mesh::random::{Random, random_mesh};
    use proptest::prelude::*;

    /// The squared distances to the nearest borders by trying all pairs of cells and all their images.
    fn plain(mesh: &Mesh, cells: &[(u8, [u32; 3])], search: &BorderSearch) -> Vec<f64> {
        let domain = mesh.domain();
        let shifts =
            |axis: usize| -> &[f64] { if domain.periodic[axis] { &[-1.0, 0.0, 1.0] } else { &[0.0] } };
        let mut nearest = vec![f64::INFINITY; search.peaks.len()];
        for (i, a) in cells.iter().enumerate() {
            for (j, b) in cells.iter().enumerate().filter(|(j, _)| search.clump_of[i] != search.clump_of[*j])
            {
                let centre = [a, b].map(|(level, at)| cell_centre(*level, *at));
                let reach = 0.5 * (cell_side(a.0) + cell_side(b.0));
                for n in 0..27 {
                    let step: Option<Vec<f64>> = [n % 3, n / 3 % 3, n / 9]
                        .iter()
                        .enumerate()
                        .map(|(axis, n)| Some(shifts(axis).get(*n)? * f64::from(domain.coarse[axis])))
                        .collect();
                    let Some(step) = step else { continue };
                    let other: [f64; 3] = std::array::from_fn(|a| centre[1][a] + step[a]);
                    if (0..3).any(|a| (other[a] - centre[0][a]).abs() > reach) {
                        continue;
                    }
                    let border = std::array::from_fn(|a| 0.5 * (centre[0][a] + other[a]));
                    for clump in [i, j].map(|cell| search.clump_of[cell].at()) {
                        let step = domain.displacement(search.peaks[clump], border);
                        nearest[clump] = nearest[clump].min(step.iter().map(|x| x * x).sum());
                    }
                }
            }
        }
        nearest
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

        #[test]
        fn nearest_borders_are_those_of_all_pairs(of in random_mesh(), seed in any::<u64>(), cut in 0..3usize) {
            let (mesh, test_cells) = (&of.mesh, of.test_cells(&of.rho));
            prop_assume!(test_cells.len() < 500);
            let cells: Vec<_> = (0..test_cells.len()).map(|i| test_cells.locate(mesh, TestIdx::new(i))).collect();
            let mut random = Random(seed);
            let clump_of: Vec<PeakIdx> = cells.iter().map(|_| PeakIdx::new(random.below(4) as usize)).collect();
            let extent = mesh.domain().coarse.map(f64::from);
            let mut peaks: Vec<[f64; 3]> = (0..4).map(|_| extent.map(|n| n * random.real())).collect();
            peaks[3] = [f64::NAN; 3];
            let search = BorderSearch { mesh, test_cells: &test_cells, clump_of: &clump_of, peaks: &peaks };
            let mut nearest = vec![f64::INFINITY; 4];
            let cut = mesh.supers().len() * cut / 2;
            search.lower(cut..mesh.supers().len(), &mut nearest);
            search.lower(0..cut, &mut nearest);
            let expected = plain(mesh, &cells, &search);
            for (found, expected) in nearest.iter().zip(&expected) {
                prop_assert!(found == expected || (found - expected).abs() < 1e-12, "{} {}", found, expected);
            }
            prop_assert!(nearest[3].is_infinite());
        }
    }
}
