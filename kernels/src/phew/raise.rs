//! Raising: how does a coarser cell ascend to a finer one?
//!
//! Place in the flow: part of [`super::ascent`]. The block of a coarser cell does not contain finer cells, so
//! the finer brick finds the pairs: for each coarser cell in or around it, the densest of its own cells that
//! touch that one. This module uses one block at a time, and the pointers that it raises.
//!
//! A brick is 2x2x2 coarser cells wide, so 4x4x4 coarser cells lie in it or touch it. Along each axis:
//!
//! ```text
//!     coarser cell          |   0   |   1   |   2   |   3   |
//!     own cell                      | 0   1 | 2   3 |
//!     touching own cells      0       0 1 2   1 2 3    3
//! ```
//!
//! Coarser cell c covers own cells 2c - 2 and 2c - 1, so it touches own cells 2c - 3 to 2c. Those are exactly
//! the three own cells around own cell c, cut to one at the two ends: for c = 0 and 3 the maximum does not
//! look along the axis. So one 3x3x3 maximum over the 64 own cells, with that mask, gives the maxima for all
//! 64 coarser cells ([`Densest::fill_in_blocks`]). A pair counts only if the finer cell is not less dense
//! than the coarser one in the leading 24 bits of the densities.

use super::Rules;
use super::block::{Block, OWN, places_of};
use super::densest::{Densest, leading_bits};
use super::test_cells::TestCells;
use crate::ids::TestIdx;
use crate::mesh::{Mesh, local};
use crate::sync::{AtomicU32, Ordering::Relaxed};
use std::ops::RangeInclusive;

/// Offsets between neighbours along y and z among the brick's own cells.
const OWN_ROW: usize = 4;
const OWN_PLANE: usize = 16;
/// Number of own cells, and of coarser cells in and around the brick.
const CELLS: usize = 64;
/// The cells with one plane before and one after them, so that every cell has neighbours.
const N: usize = OWN_PLANE + CELLS + OWN_PLANE;

/// The own cells that touch each of the four coarser ones along an axis.
const TOUCHING: [RangeInclusive<usize>; 4] = [0..=0, 0..=2, 1..=3, 3..=3];

/// The densities of the own cells of a brick, and the maxima around each coarser cell.
pub struct FinerCells {
    rho: [f32; N],
    densest: Densest<N>,
}

impl Default for FinerCells {
    fn default() -> Self {
        Self { rho: [0.0; N], densest: Densest::default() }
    }
}

/// The first place in the block that each of the coarser cells covers.
const COARSER: [u8; CELLS] = places_of([0, 1, 3, 5]);

impl FinerCells {
    /// Calls `found(coarser cell, place of a finer one)` for each coarser cell in and around the brick whose
    /// density does not exceed that of the densest own cell that touches it. If several own cells share the
    /// greatest 24 bits, it is called for each of them. A cell coarser by more than one level fills several
    /// of the 4x4x4 cells and is found for each.
    #[inline(always)]
    pub fn for_each(&mut self, block: &Block<TestIdx>, mut found: impl FnMut(TestIdx, usize)) {
        self.fill_in(block);
        for i in local::bits(self.exceeded_cells(block)) {
            let i = i as usize;
            let coarse = block.at(COARSER[i].into());
            match self.densest.place_of_maximum(i + OWN_PLANE) {
                Some(own) => found(coarse, OWN[own - OWN_PLANE].into()),
                None => self.each_as_dense(i, |finer| found(coarse, finer)),
            }
        }
    }

    #[inline(always)]
    fn fill_in(&mut self, block: &Block<TestIdx>) {
        let rows = self.rho[OWN_PLANE..][..CELLS].chunks_exact_mut(OWN_ROW);
        for (row, first) in rows.zip(OWN.iter().step_by(OWN_ROW)) {
            let (rho, test) = (
                &block.rho[usize::from(*first)..][..OWN_ROW],
                &block.index[usize::from(*first)..][..OWN_ROW],
            );
            for i in 0..OWN_ROW {
                let is_own = u32::from(test[i] >= block.first_of_level).wrapping_neg();
                row[i] = f32::from_bits(rho[i].to_bits() & is_own);
            }
        }
        self.densest.fill_in_blocks::<OWN_ROW, OWN_PLANE>(&self.rho);
    }

    /// The coarser cells that are not denser than the densest own cell beside them, one bit each.
    #[inline(always)]
    fn exceeded_cells(&self, block: &Block<TestIdx>) -> u64 {
        let mut exceeded = [0; CELLS];
        for (i, (exceeded, place)) in exceeded.iter_mut().zip(COARSER).enumerate() {
            let place = usize::from(place);
            let is_cell = block.is_coarser(place) & (block.rho[place] > 0.0);
            *exceeded =
                u8::from(is_cell & (self.densest.value(i + OWN_PLANE) >= leading_bits(block.rho[place])));
        }
        local::bits_of(&exceeded)
    }

    /// Calls `found` for every own cell beside a coarser one that has the greatest 24 bits.
    #[cold]
    #[inline(never)]
    fn each_as_dense(&self, coarser: usize, mut found: impl FnMut(usize)) {
        let densest = self.densest.value(coarser + OWN_PLANE);
        let [x, y, z] = [coarser % 4, coarser / 4 % 4, coarser / 16].map(|i| TOUCHING[i].clone());
        for own in z.flat_map(|z| y.clone().map(move |y| OWN_ROW * y + OWN_PLANE * z)) {
            for own in
                x.clone().map(|x| x + own).filter(|own| leading_bits(self.rho[own + OWN_PLANE]) == densest)
            {
                found(OWN[own].into());
            }
        }
    }
}

/// A coarser cell and a finer one that it may ascend to.
#[derive(Debug, Clone, Copy)]
pub struct Rise {
    coarse: TestIdx,
    fine: TestIdx,
    /// Density of the finer one.
    rho: f64,
}

impl Rise {
    /// From a cell to a finer one that touches it.
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

/// Makes the coarser cell point to the finer one in `up` if that exceeds the cell that it points to. Any
/// number of threads may raise the same pointer at the same time.
///
/// Lock-free. The outcome is the maximum of all candidates in a total order, so it does not depend on their
/// sequence.
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

/// A key in whose order RAMSES probes the neighbours of `cell`: coarser levels first, then by z, y, x.
#[cold]
fn probe_order(mesh: &Mesh, test_cells: &TestCells, cell: TestIdx, neighbour: TestIdx) -> (u8, [i64; 3]) {
    let (cell_level, cell_at) = test_cells.locate(mesh, cell);
    let (level, at) = test_cells.locate(mesh, neighbour);
    let step = std::array::from_fn(|i| {
        let axis = 2 - i;
        let from = (i64::from(cell_at[axis]) << level) >> cell_level;
        mesh.domain().shortest_step(level, axis, i64::from(at[axis]) - from)
    });
    (level, step)
}

#[cfg(test)]
mod tests {
    use super::super::test_blocks::{block, coordinates, place_at};
    use super::*;
    use proptest::prelude::*;

    /// All pairs, by trying every own cell for each coarser one.
    fn plain(block: &Block<TestIdx>) -> Vec<(TestIdx, usize)> {
        let mut pairs = Vec::new();
        for place in COARSER.map(usize::from) {
            if block.rho[place] == 0.0 || !block.is_coarser(place) {
                continue;
            }
            let first = coordinates(place).map(|x| (x + 1) / 2 * 2 - 1);
            let touches = |own: usize| {
                let at = coordinates(own);
                (0..3).all(|a| (first[a] - 1..=first[a] + 2).contains(&at[a]))
            };
            let own = OWN
                .map(usize::from)
                .into_iter()
                .filter(|own| block.rho[*own] > 0.0 && !block.is_coarser(*own) && touches(*own));
            let own: Vec<usize> = own.collect();
            let densest = own.iter().map(|own| leading_bits(block.rho[*own])).max();
            if let Some(densest) = densest.filter(|densest| *densest >= leading_bits(block.rho[place])) {
                let as_dense = own.into_iter().filter(|own| leading_bits(block.rho[*own]) == densest);
                pairs.extend(as_dense.map(|own| (block.at(place), own)));
            }
        }
        pairs
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

        #[test]
        fn pairs_are_those_of_all_cells_that_touch(block in block()) {
            let mut found = Vec::new();
            FinerCells::default().for_each(&block, |coarse, own| found.push((coarse, own)));
            prop_assert_eq!(found, plain(&block));
        }
    }

    #[test]
    fn coarser_cells_cover_two_places_along_each_axis() {
        let first = [0, 1, 3, 5];
        let expected = (0..64).map(|i| place_at([first[i % 4], first[i / 4 % 4], first[i / 16]]));
        assert!(COARSER.map(usize::from).into_iter().eq(expected));
    }
}
