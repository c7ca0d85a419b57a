//! Ascent: which neighbour of a test cell is the densest? (paper, section 2.2)
//!
//! This is a separable 3x3x3 maximum over the patch of a brick, in which coarser cells stand at every
//! place that they cover. It is taken in single precision, and where that does not tell two cells
//! apart the densities themselves decide. Coarser cells are told of finer ones ([`super::raise`]).

use super::Rules;
use super::densest::Densest;
use super::patch::{LEN, PLACE, Patch, around};
use super::raise::{Finer, raise};
use super::surroundings::{Surroundings, Wanted};
use super::tests::TestCells;
use crate::ids::{PeakIdx, TestIdx};
use crate::mesh::{Mesh, local};
use crate::sync::{AtomicU32, Ordering::Relaxed};
use crate::wide::wide;
use std::ops::Range;

/// How much denser a neighbour must be for RAMSES to ascend to it.
const RAMSES_CONTRAST: f64 = 1.0001;

/// A coarser cell, and a finer one that it may ascend to.
pub type Rise = [TestIdx; 2];

/// For every test cell of the given super-bricks, which ascend by level, stores in `up` its densest neighbour, or
/// itself where none exceeds it: of the same level, of a coarser one, or of a finer one in these super-bricks. `up`
/// has one entry a test cell of the mesh.
///
/// What coarser cells elsewhere have to hear of is handed back, to be [raised](raise) once all have ascended. About 40
/// ns a cell; touches nothing but `up` of its own cells.
pub fn ascend(
    mesh: &Mesh,
    tests: &TestCells,
    rules: Rules,
    supers: impl Iterator<Item = usize>,
    up: &[AtomicU32],
) -> Vec<Rise> {
    let mut later = Vec::new();
    wide(
        #[inline(always)]
        || {
            let mut densest = Densest::<LEN>::default();
            let (mut finer, mut done) = (Finer::default(), Done::default());
            for_each_patch(
                mesh,
                tests,
                None,
                supers,
                #[inline(always)]
                |brick, patch| {
                    densest.fill_in(&patch.rho);
                    let first = tests.first[brick] as usize;
                    for (n, bit) in local::bits(tests.mask[brick]).enumerate() {
                        let place = usize::from(PLACE[bit as usize]);
                        let place = match densest.at(place) {
                            Some(found) => found,
                            None => break_tie(patch, tests, rules, place),
                        };
                        up[first + n].store(patch.test[place], Relaxed);
                    }
                    done.push(tests.of_bricks(brick..brick + 1));
                    if patch.has_coarser {
                        finer.for_each(
                            patch,
                            #[inline(always)]
                            |coarse, fine| match done.has(coarse) {
                                true => raise(mesh, tests, rules, up, coarse, fine),
                                false => later.push([coarse, fine]),
                            },
                        );
                    }
                },
            );
        },
    );
    later
}

/// The test cells that have ascended: a few runs, in ascending order.
#[derive(Default)]
struct Done(Vec<Range<usize>>);

impl Done {
    #[inline(always)]
    fn push(&mut self, cells: Range<usize>) {
        match self.0.last_mut() {
            Some(run) if run.end == cells.start => run.end = cells.end,
            _ => self.0.push(cells),
        }
    }

    #[inline(always)]
    fn has(&self, cell: TestIdx) -> bool {
        self.0.iter().rev().any(|run| run.contains(&cell.at()))
    }
}

/// Calls `work(brick, patch)` with the surroundings of every brick that has test cells.
#[inline(always)]
pub(super) fn for_each_patch(
    mesh: &Mesh,
    tests: &TestCells,
    labels: Option<&[PeakIdx]>,
    supers: impl Iterator<Item = usize>,
    mut work: impl FnMut(usize, &Patch),
) {
    let (mut wide, mut patch) = (Surroundings::default(), Patch::EMPTY);
    for s in supers {
        let (level, super_brick) = (mesh.level_of_super(s), &mesh.supers()[s]);
        let bricks = mesh.bricks_of(super_brick);
        if tests.of_bricks(bricks.clone()).is_empty() {
            continue;
        }
        let full_bricks = mesh.domain().extent(level).iter().all(|n| n % 4 == 0);
        let mut coarser = false;
        if full_bricks {
            let bricks = tests.bricks_in(super_brick);
            coarser = wide.gather(Wanted { mesh, tests, labels, level, super_brick: s, bricks });
        }
        patch.level = level;
        patch.first_of_level = tests.first_of_level(mesh, level);
        for brick in bricks.filter(|&b| tests.mask[b] != 0) {
            let position = mesh.bricks()[brick].position;
            if full_bricks {
                patch.cut(&wide, position.map(|x| x & 3), labels.is_some());
                patch.has_coarser = coarser && patch.any_coarser();
            } else {
                patch.gather_small(mesh, tests, labels, position);
            }
            work(brick, &patch);
        }
    }
}

/// The densest of the 27 places where several are as dense: the greatest in the total order, or the
/// first probed under RAMSES's rules (but never another than the cell itself if that is as dense).
#[cold]
#[inline(never)]
fn break_tie(patch: &Patch, tests: &TestCells, rules: Rules, place: usize) -> usize {
    let mut best = place;
    for candidate in around(place) {
        if patch.rho[candidate] == 0.0 {
            continue;
        }
        let (ours, theirs) = (patch.test_at(candidate), patch.test_at(best));
        let (rho, rho_best) = (tests.rho[ours.at()], tests.rho[theirs.at()]);
        let better = match rules {
            Rules::Paper => tests.exceeds(ours, theirs),
            Rules::Ramses if rho != rho_best => rho > rho_best,
            Rules::Ramses => best != place && patch.is_coarser(candidate) && !patch.is_coarser(best),
        };
        if better {
            best = candidate;
        }
    }
    best
}

/// Under RAMSES's rules, makes the test cells of `range` whose densest neighbour is not denser by
/// 1.0001 peaks. Does nothing under the paper's.
pub fn demand_contrast(tests: &TestCells, rules: Rules, range: Range<usize>, up: &[AtomicU32]) {
    if rules == Rules::Paper {
        return;
    }
    for cell in range {
        let densest = up[cell].load(Relaxed) as usize;
        if tests.rho[densest] <= RAMSES_CONTRAST * tests.rho[cell] {
            up[cell].store(cell as u32, Relaxed);
        }
    }
}
