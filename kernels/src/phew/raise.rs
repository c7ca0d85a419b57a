//! Ascent to finer cells: a coarser cell does not look at them, they tell it of themselves.
//!
//! Around a brick coarser cells stand at every place that they cover, so what touches one of them in the brick
//! is again within one step of such a place. Most of these pairs are ruled out by wide compares: a
//! coarser cell hears only of the densest that touches it there, and only if that is not less dense.

use super::Rules;
use super::densest::Densest;
use super::patch::{CORE, CORE_LEN, LEN, PLANE, Patch, ROW, around};
use super::tests::TestCells;
use crate::ids::TestIdx;
use crate::mesh::Mesh;
use crate::sync::{AtomicU32, Ordering::Relaxed};

/// A plane before the first and one after the last, so that each place has neighbours.
const N: usize = PLANE + LEN + PLANE;

/// The densities of the cells of a brick by themselves, and their maxima.
pub struct Finer {
    rho: [f32; N],
    densest: Densest<N>,
}

impl Default for Finer {
    fn default() -> Self {
        Self { rho: [0.0; N], densest: Densest::default() }
    }
}

/// Whether a place of the core's span is one of the brick and not of its surroundings.
const IS_INSIDE: [bool; CORE_LEN] = {
    let mut inside = [false; CORE_LEN];
    let mut i = 0;
    while i < CORE_LEN {
        inside[i] = i % ROW >= 1 && i % ROW <= 4;
        i += 1;
    }
    inside
};

impl Finer {
    /// Calls `tell(coarser cell, finer cell)` for the coarser cells about a brick and the densest of those that touch
    /// each in the brick, if any is as dense. Several times for a pair, and for every one of those that
    /// single precision cannot tell apart.
    #[inline(always)]
    pub fn for_each(&mut self, patch: &Patch, mut tell: impl FnMut(TestIdx, TestIdx)) {
        self.fill_in(patch);
        let hears = self.hearing(patch);
        for (first, flags) in hears.chunks_exact(8).enumerate() {
            let mut left = u64::from_le_bytes(flags.try_into().unwrap_or_default());
            while left != 0 {
                let place = 8 * first + left.trailing_zeros() as usize / 8;
                left &= left - 1;
                match self.densest.at(place + PLANE) {
                    Some(densest) => tell(patch.test_at(place), patch.test_at(densest - PLANE)),
                    None => self.each_as_dense(patch, place, &mut tell),
                }
            }
        }
    }

    #[inline(always)]
    fn fill_in(&mut self, patch: &Patch) {
        for plane in 0..4 {
            let from = CORE + plane * PLANE;
            for (i, is_inside) in IS_INSIDE.iter().enumerate() {
                let is_own = is_inside & (patch.test[from + i] >= patch.first_of_level);
                self.rho[from + PLANE + i] = if is_own { patch.rho[from + i] } else { 0.0 };
            }
        }
        self.densest.fill_in(&self.rho);
    }

    /// 1 at every place of a coarser cell that is to hear of a finer one.
    #[inline(always)]
    fn hearing(&self, patch: &Patch) -> [u8; LEN] {
        let mut hears = [0; LEN];
        for (i, hears) in hears.iter_mut().enumerate() {
            let is_coarser = (patch.test[i] < patch.first_of_level) & (patch.rho[i] > 0.0);
            *hears = u8::from(is_coarser & (self.densest.value(i + PLANE) >= patch.rho[i]));
        }
        hears
    }

    #[cold]
    #[inline(never)]
    fn each_as_dense(&self, patch: &Patch, place: usize, tell: &mut impl FnMut(TestIdx, TestIdx)) {
        let densest = self.densest.value(place + PLANE);
        for finer in around(place + PLANE).filter(|&finer| self.rho[finer] == densest) {
            tell(patch.test_at(place), patch.test_at(finer - PLANE));
        }
    }
}

/// Lets `up[cell]` be `candidate` if that is the better one, whoever else tries at the same time.
///
/// Lock-free; the outcome is the maximum over all candidates in a total order, whatever their order.
#[inline]
pub fn raise(
    mesh: &Mesh,
    tests: &TestCells,
    rules: Rules,
    up: &[AtomicU32],
    cell: TestIdx,
    candidate: TestIdx,
) {
    let mut current = up[cell.at()].load(Relaxed);
    while beats(mesh, tests, rules, cell, candidate, TestIdx(current)) {
        match up[cell.at()].compare_exchange_weak(current, candidate.0, Relaxed, Relaxed) {
            Ok(_) => return,
            Err(now) => current = now,
        }
    }
}

#[inline(always)]
fn beats(mesh: &Mesh, tests: &TestCells, rules: Rules, cell: TestIdx, a: TestIdx, b: TestIdx) -> bool {
    let (rho_a, rho_b) = (tests.rho[a.at()], tests.rho[b.at()]);
    if rho_a != rho_b {
        return rho_a > rho_b;
    }
    match rules {
        Rules::Paper => a < b,
        Rules::Ramses => b != cell && probe_order(mesh, tests, cell, a) < probe_order(mesh, tests, cell, b),
    }
}

/// When RAMSES probes `neighbour` of `cell`: coarser levels first, then z, y, x.
#[cold]
fn probe_order(mesh: &Mesh, tests: &TestCells, cell: TestIdx, neighbour: TestIdx) -> (u8, [i64; 3]) {
    let (cell_level, cell_at) = tests.locate(mesh, cell);
    let (level, at) = tests.locate(mesh, neighbour);
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
