//! Ascent to finer cells: a coarser cell does not look at them, they tell it of themselves.
//!
//! A brick is 2x2x2 coarser cells large, so 4x4x4 of these lie in it and around it. Which of the brick's own cells
//! touch each of them is separable: along an axis the first of the four touches the brick's first cell,
//! the second its first three, the third its last three and the last its last. Wide compares rule most out: a
//! coarser cell hears only of the densest that touches it, and only if that is not less dense, as far as these tell.

use super::Rules;
use super::block::{Block, OWN, places_of};
use super::densest::{Densest, rough};
use super::test_cells::TestCells;
use crate::ids::TestIdx;
use crate::mesh::{Mesh, local};
use crate::sync::{AtomicU32, Ordering::Relaxed};
use std::ops::RangeInclusive;

/// Offsets between neighbours along y and z among the brick's own cells.
const OWN_ROW: usize = 4;
const OWN_PLANE: usize = 16;
/// Own cells, or coarser ones in and around the brick.
const CELLS: usize = 64;
/// A plane before the first cell and one after the last, so that each has neighbours.
const N: usize = OWN_PLANE + CELLS + OWN_PLANE;

/// The own cells that touch each of the four coarser ones along an axis.
const TOUCHING: [RangeInclusive<usize>; 4] = [0..=0, 0..=2, 1..=3, 3..=3];

/// The densities of the own cells of a brick, and their maxima around each coarser one.
pub struct Finer {
    rho: [f32; N],
    densest: Densest<N>,
}

impl Default for Finer {
    fn default() -> Self {
        Self { rho: [0.0; N], densest: Densest::default() }
    }
}

/// The first place in the patch that each of the coarser cells covers.
const COARSER: [u8; CELLS] = places_of([0, 1, 3, 5]);

impl Finer {
    /// Calls `tell(coarser cell, place of a finer one)` for the coarser cells in and about a brick and the densest of those that
    /// touch each in the brick, if any is as dense. For every one of those that rough densities do not tell apart; and
    /// several times for a coarser cell by more than one level.
    #[inline(always)]
    pub fn for_each(&mut self, patch: &Block<TestIdx>, mut tell: impl FnMut(TestIdx, usize)) {
        self.fill_in(patch);
        for i in local::bits(self.hearing(patch)) {
            let i = i as usize;
            let coarse = patch.at(COARSER[i].into());
            match self.densest.at(i + OWN_PLANE) {
                Some(own) => tell(coarse, OWN[own - OWN_PLANE].into()),
                None => self.each_as_dense(i, |finer| tell(coarse, finer)),
            }
        }
    }

    #[inline(always)]
    fn fill_in(&mut self, patch: &Block<TestIdx>) {
        let rows = self.rho[OWN_PLANE..][..CELLS].chunks_exact_mut(OWN_ROW);
        for (row, first) in rows.zip(OWN.iter().step_by(OWN_ROW)) {
            let (rho, test) = (
                &patch.rho[usize::from(*first)..][..OWN_ROW],
                &patch.index[usize::from(*first)..][..OWN_ROW],
            );
            for i in 0..OWN_ROW {
                let is_own = u32::from(test[i] >= patch.first_of_level).wrapping_neg();
                row[i] = f32::from_bits(rho[i].to_bits() & is_own);
            }
        }
        self.densest.fill_in_blocks::<OWN_ROW, OWN_PLANE>(&self.rho);
    }

    /// The bits of the coarser cells that are to hear of a finer one.
    #[inline(always)]
    fn hearing(&self, patch: &Block<TestIdx>) -> u64 {
        let mut hears = [0; CELLS];
        for (i, (hears, place)) in hears.iter_mut().zip(COARSER).enumerate() {
            let place = usize::from(place);
            let is_cell = patch.is_coarser(place) & (patch.rho[place] > 0.0);
            *hears = u8::from(is_cell & (self.densest.value(i + OWN_PLANE) >= rough(patch.rho[place])));
        }
        local::bits_of(&hears)
    }

    #[cold]
    #[inline(never)]
    fn each_as_dense(&self, coarser: usize, mut tell: impl FnMut(usize)) {
        let densest = self.densest.value(coarser + OWN_PLANE);
        let [x, y, z] = [coarser % 4, coarser / 4 % 4, coarser / 16].map(|i| TOUCHING[i].clone());
        for own in z.flat_map(|z| y.clone().map(move |y| OWN_ROW * y + OWN_PLANE * z)) {
            for own in x.clone().map(|x| x + own).filter(|own| rough(self.rho[own + OWN_PLANE]) == densest) {
                tell(OWN[own].into());
            }
        }
    }
}

/// A finer cell that a coarser one may ascend to.
#[derive(Debug, Clone, Copy)]
pub struct Rise {
    coarse: TestIdx,
    fine: TestIdx,
    /// Density of the finer one.
    rho: f64,
}

impl Rise {
    /// From a cell to a finer one beside it.
    #[inline(always)]
    pub fn new(mesh: &Mesh, test_cells: &TestCells, coarse: TestIdx, fine: TestIdx) -> Self {
        Self { coarse, fine, rho: test_cells.density(mesh, fine) }
    }

    #[inline(always)]
    fn beats(&self, mesh: &Mesh, test_cells: &TestCells, rules: Rules, other: TestIdx) -> bool {
        let rho = test_cells.density(mesh, other);
        if self.rho != rho {
            return self.rho > rho;
        }
        let order = |cell: TestIdx| probe_order(mesh, test_cells, self.coarse, cell);
        match rules {
            Rules::Paper => self.fine < other,
            Rules::Ramses => other != self.coarse && order(self.fine) < order(other),
        }
    }
}

/// Lets the coarser cell point to the finer one in `up` if that is the better one, whoever else tries at the same time.
///
/// Lock-free; the outcome is the maximum over all finer cells in a total order, whatever their order.
#[inline]
pub fn raise(mesh: &Mesh, test_cells: &TestCells, rules: Rules, up: &[AtomicU32], rise: Rise) {
    let place = &up[rise.coarse.at()];
    let mut current = place.load(Relaxed);
    while rise.beats(mesh, test_cells, rules, TestIdx(current)) {
        match place.compare_exchange_weak(current, rise.fine.0, Relaxed, Relaxed) {
            Ok(_) => return,
            Err(now) => current = now,
        }
    }
}

/// When RAMSES probes `neighbour` of `cell`: coarser levels first, then z, y, x.
#[cold]
fn probe_order(mesh: &Mesh, test_cells: &TestCells, cell: TestIdx, neighbour: TestIdx) -> (u8, [i64; 3]) {
    let (cell_level, cell_at) = test_cells.locate(mesh, cell);
    let (level, at) = test_cells.locate(mesh, neighbour);
    let extent = mesh.domain().extent(level);
    let step = std::array::from_fn(|i| {
        let a = 2 - i;
        let from = (i64::from(cell_at[a]) << level) >> cell_level;
        let step = i64::from(at[a]) - from;
        match mesh.domain().periodic[a] {
            true if step > extent[a] / 2 => step - extent[a],
            true if step < -extent[a] / 2 => step + extent[a],
            _ => step,
        }
    });
    (level, step)
}
