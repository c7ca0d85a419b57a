//! Ascent: which neighbour of a test cell is the densest? (paper, section 2.2)
//!
//! This is a separable 3x3x3 maximum over the patch of a brick, in which coarser cells stand at every
//! place that they cover. It is taken in single precision, and where that does not tell two cells
//! apart the densities themselves decide. Coarser cells are told of finer ones ([`super::raise`]).

use super::Rules;
use super::block::{Block, Index, LEN, PLACE, around};
use super::densest::Densest;
use super::ghost_block::{BlockRequest, GhostBlock};
use super::raise::{Finer, Rise, raise};
use super::test_cells::TestCells;
use crate::ids::{PeakIdx, TestIdx};
use crate::mesh::{Mesh, local};
use crate::simd::wide;
use crate::sync::{AtomicU32, Ordering::Relaxed};
use std::cmp::Ordering;
use std::ops::Range;

/// How much denser a neighbour must be for RAMSES to ascend to it.
const RAMSES_CONTRAST: f64 = 1.0001;

/// For every test cell of the given super-bricks, which ascend by level, stores in `up` its densest neighbour, or
/// itself where none exceeds it: of the same level, of a coarser one, or of a finer one in these super-bricks. `up`
/// has one entry a test cell of the mesh.
///
/// What coarser cells elsewhere have to hear of is handed back, to be [raised](raise) once all have ascended. About 40
/// ns a cell; touches nothing but `up` of its own cells.
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
            let mut highest = [0.0; 64];
            let (mut finer, mut done) = (Finer::default(), Done::default());
            for_each_patch(
                mesh,
                test_cells,
                None,
                supers,
                #[inline(always)]
                |brick, patch: &Block<TestIdx>| {
                    densest.fill_in(&patch.rho);
                    let first = test_cells.first[brick] as usize;
                    for (n, bit) in local::bits(test_cells.mask[brick]).enumerate() {
                        let place = usize::from(PLACE[bit as usize]);
                        let place = match densest.at(place) {
                            Some(found) => found,
                            None => break_tie(mesh, patch, test_cells, rules, place),
                        };
                        up[first + n].store(patch.at(place).0, Relaxed);
                        highest[n] = patch.rho[place];
                    }
                    done.extend(test_cells.of_bricks(brick..brick + 1), &highest);
                    if patch.has_coarser {
                        finer.for_each(
                            patch,
                            #[inline(always)]
                            |coarse, place| {
                                let (fine, rho) = (patch.at(place), patch.rho[place]);
                                let rise = || Rise::new(mesh, test_cells, coarse, fine);
                                match done.densest(coarse) {
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

/// The test cells that have ascended.
#[derive(Default)]
struct Done {
    /// A few runs in ascending order, and how many cells are in those before each.
    runs: Vec<(Range<usize>, usize)>,
    /// Density in single precision of what each cell ascends to.
    densest: Vec<f32>,
}

impl Done {
    /// Adds the cells of a brick, and the densities of what they ascend to.
    #[inline(always)]
    fn extend(&mut self, cells: Range<usize>, densest: &[f32; 64]) {
        match self.runs.last_mut() {
            Some((run, _)) if run.end == cells.start => run.end = cells.end,
            _ => self.runs.push((cells.clone(), self.densest.len())),
        }
        self.densest.extend_from_slice(&densest[..cells.len()]);
    }

    /// That of a cell that has ascended.
    #[inline(always)]
    fn densest(&mut self, cell: TestIdx) -> Option<&mut f32> {
        let (run, before) = self.runs.iter().rev().find(|(run, _)| run.contains(&cell.at()))?;
        self.densest.get_mut(before + cell.at() - run.start)
    }
}

/// Calls `work(brick, patch)` with the surroundings of every brick that has test cells.
#[inline(always)]
pub(super) fn for_each_patch<I: Index>(
    mesh: &Mesh,
    test_cells: &TestCells,
    labels: Option<&[PeakIdx]>,
    supers: impl Iterator<Item = usize>,
    mut work: impl FnMut(usize, &Block<I>),
) {
    let (mut wide, mut patch) = (GhostBlock::default(), Block::default());
    for s in supers {
        let (level, super_brick) = (mesh.level_of_super(s), &mesh.supers()[s]);
        let bricks = mesh.bricks_of(super_brick);
        if test_cells.of_bricks(bricks.clone()).is_empty() {
            continue;
        }
        let full_bricks = mesh.domain().extent(level).iter().all(|n| n % 4 == 0);
        let mut coarser = false;
        if full_bricks {
            let bricks = test_cells.bricks_in(super_brick);
            coarser = wide.gather(BlockRequest { mesh, test_cells, labels, level, super_brick: s, bricks });
        }
        patch.level = level;
        patch.first_of_level = I::first_of_level(mesh, test_cells, level);
        for brick in bricks.filter(|&b| test_cells.mask[b] != 0) {
            let position = mesh.bricks()[brick].position;
            if full_bricks {
                patch.cut(&wide, position.map(|x| x & 3), labels.is_some());
                patch.has_coarser = coarser && patch.any_coarser();
            } else {
                patch.gather_small(mesh, test_cells, labels, position);
            }
            work(brick, &patch);
        }
    }
}

/// The densest of the 27 places where several are as dense: the greatest in the total order, or the
/// first probed under RAMSES's rules (but never another than the cell itself if that is as dense).
#[cold]
#[inline(never)]
fn break_tie(
    mesh: &Mesh,
    patch: &Block<TestIdx>,
    test_cells: &TestCells,
    rules: Rules,
    place: usize,
) -> usize {
    let mut best = place;
    for candidate in around(place) {
        let is_better = match patch.rho[candidate].partial_cmp(&patch.rho[best]) {
            Some(Ordering::Greater) => true,
            Some(Ordering::Equal) if patch.at(candidate) != patch.at(best) => {
                let (ours, theirs) = (patch.at(candidate), patch.at(best));
                let (rho, rho_best) = (test_cells.density(mesh, ours), test_cells.density(mesh, theirs));
                match rules {
                    Rules::Paper => rho > rho_best || rho == rho_best && ours < theirs,
                    Rules::Ramses if rho != rho_best => rho > rho_best,
                    Rules::Ramses => best != place && patch.is_coarser(candidate) && !patch.is_coarser(best),
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

/// Under RAMSES's rules, makes the test cells of `range` whose densest neighbour is not denser by
/// 1.0001 peaks. Does nothing under the paper's.
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
