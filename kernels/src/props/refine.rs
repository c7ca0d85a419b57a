//! Refinement: where in its cell is a peak? One Newton step on a quadratic through the 27 cells around it.
//!
//! The corners do not matter, so 19 densities are needed. [`PatchRefiner`] takes those of test cells of the
//! same or a coarser level from the block of a brick, without a look-up. [`Refiner`] looks cells up.

use super::density_lookup::{DensityLookup, PLACES};
use super::newton::peak_of;
use crate::ids::CellIdx;
use crate::mesh::{Beyond, Mesh, local};
use crate::phew::Rules;
use crate::phew::block::{Block, PLACE, neighbour};
use crate::phew::label::RootSet;
use crate::phew::test_cells::TestCells;
use std::hint::select_unpredictable;

/// The indices of those [`PLACES`] that share a face or an edge with the cell. The cell itself is place 13.
const BESIDE: [usize; 18] = [1, 3, 4, 5, 7, 9, 10, 11, 12, 14, 15, 16, 17, 19, 21, 22, 23, 25];

/// The densities of the 27 cells around a cell, x fastest. Corners do not matter. Those and missing cells
/// have the density of the cell itself.
struct Cube {
    rho: [f64; 27],
    /// The cells of [`BESIDE`] whose densities are still to be found, one bit each.
    missing: u32,
}

impl Cube {
    /// Only the density of the cell itself is known.
    fn of_cell(rho: f64) -> Self {
        Self { rho: [rho; 27], missing: BESIDE.iter().fold(0, |mask, i| mask | 1 << i) }
    }

    /// From a place of a block, which has a cell. `rho` are the densities of all cells. No branch depends on
    /// which cells are there, because it could not be predicted.
    #[inline(always)]
    fn in_block(block: &Block<CellIdx>, place: usize, rho: &[f64]) -> Self {
        let mut cube = Self { rho: [rho[block.at(place).at()]; 27], missing: 0 };
        for i in BESIDE {
            let at = neighbour(place, i);
            let is_missing = block.rho[at] == 0.0;
            let known = select_unpredictable(is_missing, block.at(place), block.at(at));
            cube.rho[i] = rho[known.at()];
            cube.missing |= u32::from(is_missing) << i;
        }
        cube
    }
}

/// Refines peaks one by one. Cheapest in the order of the cells: look-ups near each other share their hashes.
pub struct Refiner<'a> {
    densities: DensityLookup<'a>,
    rules: Rules,
}

impl<'a> Refiner<'a> {
    /// `rho` has one density per cell of the mesh.
    pub fn new(mesh: &'a Mesh, rho: &'a [f64], rules: Rules) -> Self {
        Self { densities: DensityLookup::new(mesh, rho), rules }
    }

    /// The position of the peak in the cell of `level` at `position`, in units of the level-0 cell. It is not
    /// wrapped into the box. 19 look-ups.
    ///
    /// A cell of the peak's level gives its own value, split or not; elsewhere the leaf that covers the place
    /// gives its value. Beyond a wall the imposed value holds, else that of the nearest cell in the box. In a
    /// mesh of only the leaves above a threshold, missing leaves count as at the threshold, and of finer
    /// leaves those that touch the peak's cell count. Under RAMSES's rules, terms of the step whose sign
    /// opposes it are left out, as RAMSES does.
    ///
    /// # Panics
    /// When the mesh has no such cell.
    pub fn refined(&mut self, level: u8, position: [u32; 3]) -> [f64; 3] {
        let itself = self.densities.cell(level, position).expect("a peak is a cell of the mesh");
        self.peak(level, position, Cube::of_cell(itself))
    }

    /// The position of the peak, once the missing densities are found.
    #[inline(always)]
    fn peak(&mut self, level: u8, position: [u32; 3], mut cube: Cube) -> [f64; 3] {
        if cube.missing != 0 {
            self.complete(level, position, &mut cube);
        }
        peak_of(&cube.rho, self.rules, level, position)
    }

    /// Puts in the missing densities. Those beyond walls come last, because they may be those of cells in the
    /// box.
    fn complete(&mut self, level: u8, position: [u32; 3], cube: &mut Cube) {
        let domain = self.densities.mesh().domain();
        let mut beyond = 0;
        for i in local::bits(cube.missing.into()) {
            let place = PLACES[i as usize];
            let at = std::array::from_fn(|a| i64::from(position[a]) + place[a] as i64 - 1);
            match domain.wrap(level, at) {
                Some(at) => {
                    if let Some(rho) = self.densities.beside(level, at, place) {
                        cube.rho[i as usize] = rho;
                    }
                }
                None => beyond |= 1 << i,
            }
        }
        for i in local::bits(beyond) {
            cube.rho[i as usize] = self.value_beyond(level, position, PLACES[i as usize], &cube.rho);
        }
    }

    /// The value at a place beyond walls: the imposed one, or that of the nearest place in the box, which is
    /// also the mirror image.
    #[cold]
    fn value_beyond(&self, level: u8, position: [u32; 3], place: [usize; 3], cube: &[f64; 27]) -> f64 {
        let mesh = self.densities.mesh();
        let at = |a: usize| i64::from(position[a]) + place[a] as i64 - 1;
        let is_beyond = |a: usize| mesh.domain().wrap_along(level, a, at(a)).is_none();
        let side = std::array::from_fn(|a| if is_beyond(a) { place[a] as i8 - 1 } else { 0 });
        let nearest: [usize; 3] = std::array::from_fn(|a| if is_beyond(a) { 1 } else { place[a] });
        let inside = cube[nearest[0] + 3 * nearest[1] + 9 * nearest[2]];
        mesh.beyond().imposed[Beyond::side(side)].unwrap_or(inside)
    }
}

/// Refines the peaks of a brick from its block; a [`Refiner`] looks up what the block lacks.
pub struct PatchRefiner<'a> {
    test_cells: &'a TestCells<'a>,
    roots: &'a RootSet,
    refiner: Refiner<'a>,
}

impl<'a> PatchRefiner<'a> {
    /// `roots` are among the test cells of the mesh. Ghosts among them are refined like peaks.
    pub fn new(mesh: &'a Mesh, test_cells: &'a TestCells<'a>, roots: &'a RootSet, rules: Rules) -> Self {
        Self { test_cells, roots, refiner: Refiner::new(mesh, test_cells.rho, rules) }
    }

    /// Calls `found` with the result of [`Refiner::refined`] for each root of a brick, in the order of the
    /// cells. What a block lacks is looked up here as well: the surroundings of the peak have just been read.
    #[inline(always)]
    pub fn for_each(&mut self, brick: usize, block: &Block<CellIdx>, mut found: impl FnMut([f64; 3])) {
        for (_, bit) in self.roots.of_brick(self.test_cells, brick) {
            found(self.refined(brick, bit, block));
        }
    }

    /// A call of its own: inlined into the pass over contacts it costs that pass registers (1 % of the
    /// instructions of a segmentation).
    #[inline(never)]
    fn refined(&mut self, brick: usize, bit: u32, block: &Block<CellIdx>) -> [f64; 3] {
        let brick = &self.refiner.densities.mesh().bricks()[brick];
        let position = local::position_of(brick.position, bit);
        let cube = Cube::in_block(block, usize::from(PLACE[bit as usize]), self.test_cells.rho);
        self.refiner.peak(block.level, position, cube)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::PeakIdx;
    use crate::mesh::random::random_mesh;
    use crate::phew::contact_dedup::ContactDedup;
    use crate::phew::saddle::contacts;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

        /// Reference: the positions that [`Refiner`] finds by looking cells up. Some or all cells are test
        /// cells, in a mesh of all leaves or of some. Positions do not depend on the unit of density.
        #[test]
        fn positions_are_those_of_cells_looked_up(
            all in random_mesh(),
            threshold in prop::option::of(0.7..1.5f64),
            scale in prop_oneof![Just(2.0f64.powi(-700)), Just(2.0f64.powi(700))],
            seed in any::<u64>(),
        ) {
            let of = match threshold {
                None => all,
                Some(threshold) => {
                    let mut some = all.thinned(seed);
                    some.mesh.set_leaves_above(threshold);
                    some
                }
            };
            let (mesh, rho) = (&of.mesh, &of.rho);
            let test_cells = of.test_cells(rho);
            let words = (0..test_cells.len().div_ceil(64)).map(|i| {
                let beyond = (64 * (i + 1)).saturating_sub(test_cells.len());
                seed.rotate_left(i as u32 * 11) & u64::MAX >> beyond
            });
            let roots = RootSet::new(words.collect());
            let mut plain = Refiner::new(mesh, rho, Rules::Paper);
            let scaled: Vec<f64> = rho.iter().map(|rho| rho * scale).collect();
            let mut scaled_mesh = mesh.clone();
            threshold.into_iter().for_each(|threshold| scaled_mesh.set_leaves_above(threshold * scale));
            let mut in_other_unit = Refiner::new(&scaled_mesh, &scaled, Rules::Paper);
            let mut block_refiner = PatchRefiner::new(mesh, &test_cells, &roots, Rules::Paper);
            let labels = vec![PeakIdx(0); test_cells.len()];
            let n_supers = mesh.supers().len();
            contacts(mesh, &test_cells, &labels, 0..n_supers, &mut ContactDedup::default(), |brick, block| {
                let position = mesh.bricks()[brick].position;
                let mut of_brick = roots.of_brick(&test_cells, brick);
                block_refiner.for_each(brick, block, |found| {
                    let (_, bit) = of_brick.next().expect("one call per root");
                    let at = local::position_of(position, bit);
                    assert_eq!(found, plain.refined(block.level, at));
                    assert_eq!(found, in_other_unit.refined(block.level, at));
                });
                assert!(of_brick.next().is_none());
            });
        }
    }
}
