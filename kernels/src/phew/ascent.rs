//! Ascent: which neighbour of each test cell is the densest? (paper, section 2.2)
//!
//! Place in the flow: after the test cells are known. The result, one pointer per test cell, is a forest
//! whose roots are the peaks; [`super::label`] follows it. This module uses densities and neighbours, but no
//! labels or saddles.
//!
//! For each brick with test cells:
//!
//! 1. [`GhostBlock`] and [`Block`] bring the cells around it into flat arrays, coarser cells included.
//! 2. [`Densest`] takes the maximum of the 27 places around each place, in single precision. If that does not
//!    distinguish two cells, [`break_tie`] compares the densities themselves.
//! 3. A block has no finer cells. So the finer cells *raise* the pointers of adjacent coarser cells
//!    ([`super::raise`]). If the coarser cell belongs to this call and has ascended already, they do so at
//!    once. Otherwise the pair is returned, and raised when all cells have ascended.

use super::Rules;
use super::block::{Block, LEN, PLACE, around};
use super::densest::Densest;
use super::ghost_block::{BlockRequest, GhostBlock, Index};
use super::raise::{FinerCells, Rise, raise};
use super::test_cells::TestCells;
use crate::ids::{PeakIdx, TestIdx};
use crate::mesh::{Mesh, local};
use crate::simd::wide;
use crate::sync::{AtomicU32, Ordering::Relaxed};
use std::cmp::Ordering;
use std::ops::Range;

/// RAMSES ascends to a neighbour only if it is denser by this factor.
const RAMSES_CONTRAST: f64 = 1.0001;

/// For every test cell of the given super-bricks, stores in `up` the densest of its neighbours of the same
/// level, of a coarser level, and of a finer level in these super-bricks; or the cell itself if no neighbour
/// exceeds it. The super-bricks must come by ascending level. `up` has one entry per test cell of the mesh;
/// only entries of the cells of these super-bricks are touched.
///
/// Returns the pairs of a finer cell and a coarser one elsewhere, to be [raised](raise) after all cells have
/// ascended. Linear in the cells.
pub fn ascend(
    mesh: &Mesh,
    test_cells: &TestCells,
    rules: Rules,
    supers: impl Iterator<Item = usize>,
    up: &[AtomicU32],
) -> Vec<Rise> {
    let mut later = Vec::new();
    wide(
        #[inline(always)]
        || {
            let mut densest = Densest::<LEN>::default();
            let mut densities = [0.0; 64];
            let (mut finer, mut ascended) = (FinerCells::default(), Ascended::default());
            for_each_block(
                mesh,
                test_cells,
                None,
                supers,
                #[inline(always)]
                |brick, block: &Block<TestIdx>| {
                    densest.fill_in(&block.rho);
                    let first = test_cells.first[brick] as usize;
                    for (n, bit) in local::bits(test_cells.mask[brick]).enumerate() {
                        let place = usize::from(PLACE[bit as usize]);
                        let place = match densest.place_of_maximum(place) {
                            Some(found) => found,
                            None => break_tie(mesh, block, test_cells, rules, place),
                        };
                        up[first + n].store(block.at(place).0, Relaxed);
                        densities[n] = block.rho[place];
                    }
                    ascended.extend(test_cells.of_bricks(brick..brick + 1), &densities);
                    if block.has_coarser {
                        finer.for_each(
                            block,
                            #[inline(always)]
                            |coarse, place| {
                                let (fine, rho) = (block.at(place), block.rho[place]);
                                let rise = || Rise::new(mesh, test_cells, coarse, fine);
                                match ascended.densest(coarse) {
                                    None => later.push(rise()),
                                    Some(densest) if rho < *densest => {}
                                    Some(densest) if rho == *densest => {
                                        raise(mesh, test_cells, rules, up, rise());
                                    }
                                    Some(densest) => {
                                        *densest = rho;
                                        up[coarse.at()].store(fine.0, Relaxed);
                                    }
                                }
                            },
                        );
                    }
                },
            );
        },
    );
    later
}

/// The test cells that have ascended in this call, with the density of the cell that each one points to.
#[derive(Default)]
struct Ascended {
    /// A few ranges of cells in ascending order, and the number of cells in the ranges before each.
    ranges: Vec<(Range<usize>, usize)>,
    /// One density in single precision per cell of the ranges.
    densest: Vec<f32>,
}

impl Ascended {
    /// Adds the cells of a brick, and the densities of the cells that they point to.
    #[inline(always)]
    fn extend(&mut self, cells: Range<usize>, densest: &[f32; 64]) {
        match self.ranges.last_mut() {
            Some((range, _)) if range.end == cells.start => range.end = cells.end,
            _ => self.ranges.push((cells.clone(), self.densest.len())),
        }
        self.densest.extend_from_slice(&densest[..cells.len()]);
    }

    /// The density of the cell that `cell` points to; `None` if `cell` has not ascended in this call.
    #[inline(always)]
    fn densest(&mut self, cell: TestIdx) -> Option<&mut f32> {
        let (range, before) = self.ranges.iter().rev().find(|(range, _)| range.contains(&cell.at()))?;
        self.densest.get_mut(before + cell.at() - range.start)
    }
}

/// Calls `work(brick, block)` with the block of every brick of the given super-bricks that has test cells.
/// `labels` are copied too if they are given.
#[inline(always)]
pub(super) fn for_each_block<I: Index>(
    mesh: &Mesh,
    test_cells: &TestCells,
    labels: Option<&[PeakIdx]>,
    supers: impl Iterator<Item = usize>,
    mut work: impl FnMut(usize, &Block<I>),
) {
    let (mut ghost, mut block) = (GhostBlock::default(), Block::default());
    for s in supers {
        let (level, super_brick) = (mesh.level_of_super(s), &mesh.supers()[s]);
        if test_cells.of_bricks(mesh.bricks_of(super_brick)).is_empty() {
            continue;
        }
        let full_bricks = mesh.domain().wraps_blocks(level, 4);
        let mut coarser = false;
        if full_bricks {
            let bricks = test_cells.bricks_in(super_brick);
            coarser = ghost.gather(BlockRequest { mesh, test_cells, labels, level, super_brick: s, bricks });
        }
        block.level = level;
        block.first_of_level = I::first_of_level(mesh, test_cells, level);
        for brick in test_cells.bricks_of(mesh, super_brick) {
            let position = mesh.bricks()[brick].position;
            if full_bricks {
                block.cut(&ghost, position.map(|x| x & 3), labels.is_some());
                block.has_coarser = coarser && block.any_coarser();
            } else {
                block.gather_small(mesh, test_cells, labels, position);
            }
            work(brick, &block);
        }
    }
}

/// The densest of the 27 places where single precision finds several: the greatest in the total order. Under
/// RAMSES's rules, it is the one that RAMSES probes first, but the cell itself if it is among the densest.
#[cold]
#[inline(never)]
fn break_tie(
    mesh: &Mesh,
    block: &Block<TestIdx>,
    test_cells: &TestCells,
    rules: Rules,
    place: usize,
) -> usize {
    let mut best = place;
    for candidate in around(place) {
        let is_better = match block.rho[candidate].partial_cmp(&block.rho[best]) {
            Some(Ordering::Greater) => true,
            Some(Ordering::Equal) if block.at(candidate) != block.at(best) => {
                let (ours, theirs) = (block.at(candidate), block.at(best));
                let (rho, rho_best) = (test_cells.density(mesh, ours), test_cells.density(mesh, theirs));
                match rules {
                    Rules::Paper => rho > rho_best || rho == rho_best && ours < theirs,
                    Rules::Ramses if rho != rho_best => rho > rho_best,
                    Rules::Ramses => best != place && block.is_coarser(candidate) && !block.is_coarser(best),
                }
            }
            _ => false,
        };
        if is_better {
            best = candidate;
        }
    }
    best
}

/// Under RAMSES's rules, turns the test cells of `range` into peaks whose densest neighbour is not denser by
/// a factor of 1.0001. Does nothing under the paper's rules.
pub fn demand_contrast(
    mesh: &Mesh,
    test_cells: &TestCells,
    rules: Rules,
    range: Range<usize>,
    up: &[AtomicU32],
) {
    if rules == Rules::Paper {
        return;
    }
    for cell in range.map(TestIdx::new) {
        let densest = TestIdx(up[cell.at()].load(Relaxed));
        if test_cells.density(mesh, densest) <= RAMSES_CONTRAST * test_cells.density(mesh, cell) {
            up[cell.at()].store(cell.0, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::random::{RandomMesh, random_mesh};
    use proptest::prelude::*;

    /// What each test cell ascends to under the paper's rules, by trying all pairs of test cells that touch.
    fn plain(of: &RandomMesh, test_cells: &TestCells) -> Vec<u32> {
        let (mesh, n) = (&of.mesh, test_cells.len());
        let cells: Vec<_> = (0..n).map(|i| test_cells.locate(mesh, TestIdx::new(i))).collect();
        let rho: Vec<f64> = test_cells.densities(mesh).collect();
        let densest = |cell: usize| {
            let near = (0..n).filter(|other| touch(mesh, cells[cell], cells[*other]));
            near.reduce(|best, other| if rho[other] > rho[best] { other } else { best })
        };
        (0..n).map(|cell| densest(cell).expect("a cell touches itself") as u32).collect()
    }

    /// Whether the closed cubes of two cells meet, in units of the finest cells.
    fn touch(mesh: &Mesh, a: (u8, [u32; 3]), b: (u8, [u32; 3])) -> bool {
        let finest = mesh.n_levels();
        let span = |(level, at): (u8, [u32; 3]), axis: usize| {
            let (low, side) = (i64::from(at[axis]) << (finest - level), 1 << (finest - level));
            [low, low + side]
        };
        (0..3).all(|axis| {
            let extent = mesh.domain().extent(finest)[axis];
            let shifts = if mesh.domain().periodic[axis] { vec![-extent, 0, extent] } else { vec![0] };
            let ([low_a, high_a], [low_b, high_b]) = (span(a, axis), span(b, axis));
            shifts.iter().any(|shift| low_a <= high_b + shift && low_b + shift <= high_a)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

        #[test]
        fn cells_point_to_the_densest_cell_that_touches_them(of in random_mesh()) {
            let (mesh, test_cells) = (&of.mesh, of.test_cells(&of.rho));
            prop_assume!(test_cells.len() < 3000);
            let n_supers = mesh.supers().len();
            let expected = plain(&of, &test_cells);
            for cut in [0, n_supers / 2] {
                let up: Vec<AtomicU32> = (0..test_cells.len()).map(|_| AtomicU32::new(0)).collect();
                let mut later = ascend(mesh, &test_cells, Rules::Paper, 0..cut, &up);
                later.extend(ascend(mesh, &test_cells, Rules::Paper, cut..n_supers, &up));
                later.into_iter().for_each(|rise| raise(mesh, &test_cells, Rules::Paper, &up, rise));
                let found: Vec<u32> = up.iter().map(|up| up.load(Relaxed)).collect();
                prop_assert_eq!(&found, &expected);
            }
        }
    }
}
