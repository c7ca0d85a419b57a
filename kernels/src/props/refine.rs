//! Refinement: where in its cell is a peak? One Newton step on a quadratic through the 27 cells around it.
//!
//! The corners do not matter, so 19 densities are needed. There are two ways to find them. [`PatchRefiner`] takes them from the
//! block of a brick, without a look-up, where they are those of test cells of the same or a coarser level. [`Refiner`] looks cells up.
//!
//! ```text
//!     the cells and the at most 2x2x2 bricks around them, along one axis (`Near`):
//!
//!     brick 0            | brick 1           place 0, 1, 2 -> brick 0, 0, 1 and bits 2, 3, 0
//!     0    1    2    3   | 0    1    2
//!               ^    c     ^
//! ```

use super::newton::peak_of;
use crate::ids::CellIdx;
use crate::mesh::{Beyond, Brick, Mesh, Neighbourhood, RecentBlocks, local};
use crate::phew::Rules;
use crate::phew::block::{Block, PLACE, neighbour};
use crate::phew::label::PeakSet;
use crate::phew::test_cells::TestCells;
use std::hint::select_unpredictable;

/// Refines peaks one by one. Cheapest in the order of the cells: the neighbourhood of a super-brick is looked up once.
pub struct Refiner<'a> {
    mesh: &'a Mesh,
    rho: &'a [f64],
    rules: Rules,
    /// The neighbourhood of the super-brick of the last peak, and that on the next coarser level once it was needed.
    around: Option<Neighbourhood>,
    coarser: Option<Neighbourhood>,
    /// Where the finer super-bricks beside the last peaks are.
    finer: RecentBlocks,
}

/// The densities of the 27 cells around a cell, x fastest. Corners do not matter: they are 0.
struct Cube {
    rho: [f64; 27],
    /// The cells whose densities are still to be found, one bit each.
    missing: u32,
}

impl Cube {
    /// No density is known yet.
    fn unknown() -> Self {
        Self { rho: [0.0; 27], missing: BESIDE.iter().fold(0, |mask, i| mask | 1 << i) }
    }

    /// Of the cells around a place of a block, which has a cell itself. `rho` are the densities of all cells. No branch depends
    /// on which cells are there, because it could not be predicted.
    #[inline(always)]
    fn in_block(block: &Block<CellIdx>, place: usize, rho: &[f64]) -> Self {
        let mut cube = Self { rho: [0.0; 27], missing: 0 };
        for i in BESIDE {
            let at = neighbour(place, i);
            let is_missing = block.rho[at] == 0.0;
            let known = select_unpredictable(is_missing, block.at(place), block.at(at));
            cube.rho[i] = rho[known.at()];
            cube.missing |= u32::from(is_missing) << i;
        }
        cube
    }

    /// Puts in the missing densities that `find` returns. It may take those that are there, in particular that of the cell
    /// itself: this comes first.
    #[inline(always)]
    fn complete(&mut self, mut find: impl FnMut(usize, &Self) -> Option<f64>) {
        let itself = self.missing & 1 << 13;
        let of_mask = |mask: u32| local::bits(u64::from(mask)).map(|i| i as usize);
        for i in of_mask(itself).chain(of_mask(self.missing & !itself)) {
            if let Some(rho) = find(i, self) {
                self.rho[i] = rho;
                self.missing &= !(1 << i);
            }
        }
    }
}

impl<'a> Refiner<'a> {
    /// `rho` has one density per cell of the mesh.
    pub fn new(mesh: &'a Mesh, rho: &'a [f64], rules: Rules) -> Self {
        Self { mesh, rho, rules, around: None, coarser: None, finer: RecentBlocks::default() }
    }

    /// The position of the peak in the cell of `level` at `position`, in units of the level-0 cell. It is not wrapped into the
    /// box. 19 look-ups.
    ///
    /// A cell of the peak's level gives its own value, split or not; elsewhere the leaf that covers the place gives its value.
    /// Beyond a wall the imposed value holds, else that of the nearest cell in the box. In a mesh of only the leaves above
    /// a threshold, missing leaves count as at the threshold, and of finer leaves those that touch the peak's cell count. Under
    /// RAMSES's rules, terms of the step whose sign opposes it are left out, as RAMSES does.
    pub fn refined(&mut self, level: u8, position: [u32; 3]) -> [f64; 3] {
        let mut cube = Cube::unknown();
        self.find_in_bricks(level, position, &mut cube);
        self.find_elsewhere(level, position, &mut cube);
        peak_of(&cube.rho, self.rules, level, position)
    }

    /// Puts in the cells of the own level and of the next coarser one.
    fn find_in_bricks(&mut self, level: u8, position: [u32; 3], cube: &mut Cube) {
        self.look_around(level, position.map(|x| x >> 4));
        for up in [0, 1] {
            if cube.missing != 0 {
                let near = self.bricks(level, position, up);
                cube.complete(|i, _| near.cell(PLACES[i]).map(|cell| self.rho[cell.at()]));
            }
        }
    }

    /// Puts in what is neither on the own level nor on the next coarser one.
    fn find_elsewhere(&mut self, level: u8, position: [u32; 3], cube: &mut Cube) {
        cube.complete(|i, cube| {
            let at = self.wrapped(level, position, PLACES[i])?;
            Some(self.far_value(level, at, PLACES[i]).unwrap_or(cube.rho[13]))
        });
        cube.complete(|i, cube| Some(self.value_beyond(level, position, PLACES[i], &cube.rho)));
    }

    /// The position of a place around a cell, wrapped into the box; `None` beyond a wall.
    fn wrapped(&self, level: u8, position: [u32; 3], place: [usize; 3]) -> Option<[u32; 3]> {
        let at = std::array::from_fn(|a| i64::from(position[a]) + place[a] as i64 - 1);
        self.mesh.domain().wrap(level, at)
    }

    #[cold]
    fn far_value(&mut self, level: u8, at: [u32; 3], place: [usize; 3]) -> Option<f64> {
        match self.mesh.leaves_above() {
            Some(threshold) => {
                Some(value_beside(self.mesh, self.rho, &mut self.finer, (level, at), place, threshold))
            }
            None => value_at(self.mesh, self.rho, level, at),
        }
    }

    /// The value at a place beyond walls: the imposed one, or that of the nearest place in the box, which is also the mirror
    /// image.
    #[cold]
    fn value_beyond(&self, level: u8, position: [u32; 3], place: [usize; 3], cube: &[f64; 27]) -> f64 {
        let domain = self.mesh.domain();
        let is_beyond =
            |a: usize| domain.wrap_along(level, a, i64::from(position[a]) + place[a] as i64 - 1).is_none();
        let side = std::array::from_fn(|a| if is_beyond(a) { place[a] as i8 - 1 } else { 0 });
        let nearest: [usize; 3] = std::array::from_fn(|a| if is_beyond(a) { 1 } else { place[a] });
        let inside = cube[nearest[0] + 3 * nearest[1] + 9 * nearest[2]];
        self.mesh.beyond().imposed[Beyond::side(side)].unwrap_or(inside)
    }

    /// Looks up the neighbourhood of the super-brick at `position` of `level`, if it is not that of the last peak.
    fn look_around(&mut self, level: u8, position: [u32; 3]) {
        if !self.around.as_ref().is_some_and(|around| around.is_around(level, position)) {
            self.around = Some(Neighbourhood::around(self.mesh, level, position));
            self.coarser = None;
        }
    }

    /// The bricks `up` levels above that contain the 27 cells around a cell, or the cells that cover them.
    fn bricks(&mut self, level: u8, position: [u32; 3], up: u8) -> Near {
        let mesh = self.mesh;
        let first = position.map(|x| (i64::from(x) - 1) >> up >> 2);
        let mut near = Near::empty(position, up);
        if level < up || !mesh.domain().wraps_blocks(level - up, 4) {
            return near;
        }
        let around = self.around.as_ref().expect("the neighbourhood is looked up first");
        let around = if up == 0 { around } else { self.coarser.get_or_insert_with(|| around.coarser(mesh)) };
        let super_brick = position.map(|x| x >> up >> 4);
        let last = position.map(|x| (i64::from(x) + 1) >> up >> 2);
        for (i, slot) in near.bricks.iter_mut().enumerate() {
            let place: [i64; 3] = std::array::from_fn(|a| first[a] + (i >> a & 1) as i64);
            if (0..3).all(|a| place[a] <= last[a]) {
                let local = std::array::from_fn(|a| (place[a] - i64::from(super_brick[a] << 2)) as i32);
                let brick = around.brick(mesh, local);
                if !brick.is_none() {
                    *slot = mesh.bricks()[brick.at()];
                }
            }
        }
        near
    }
}

/// Refines the peaks of a brick: from its block, and what that lacks by a [`Refiner`].
pub struct PatchRefiner<'a> {
    test_cells: &'a TestCells<'a>,
    peaks: &'a PeakSet,
    refiner: Refiner<'a>,
    /// Whether all cells of the mesh are test cells. Then no brick of the own level or a coarser one has what a block lacks.
    is_whole: bool,
}

impl<'a> PatchRefiner<'a> {
    /// `peaks` are among the test cells of the mesh.
    pub fn new(mesh: &'a Mesh, test_cells: &'a TestCells<'a>, peaks: &'a PeakSet, rules: Rules) -> Self {
        let is_whole = test_cells.len() == mesh.n_cells();
        Self { test_cells, peaks, refiner: Refiner::new(mesh, test_cells.rho, rules), is_whole }
    }

    /// Calls `found` with the result of [`Refiner::refined`] for each peak of a brick, in the order of the cells. What a block
    /// lacks is looked up here as well: the surroundings of the peak have just been read.
    #[inline(always)]
    pub fn for_each(&mut self, brick: usize, block: &Block<CellIdx>, mut found: impl FnMut([f64; 3])) {
        for (_, bit) in self.peaks.of_brick(self.test_cells, brick) {
            found(self.refined(brick, bit, block));
        }
    }

    /// A call of its own: inlined into the pass over contacts it costs that pass registers (1 % of the instructions of a
    /// segmentation).
    #[inline(never)]
    fn refined(&mut self, brick: usize, bit: u32, block: &Block<CellIdx>) -> [f64; 3] {
        let Refiner { mesh, rho, rules, .. } = self.refiner;
        let position = local::position_of(mesh.bricks()[brick].position, bit);
        let mut cube = Cube::in_block(block, usize::from(PLACE[bit as usize]), rho);
        if cube.missing != 0 {
            if !self.is_whole {
                self.refiner.find_in_bricks(block.level, position, &mut cube);
            }
            self.refiner.find_elsewhere(block.level, position, &mut cube);
        }
        peak_of(&cube.rho, rules, block.level, position)
    }
}

/// The indices of [`PLACES`] that share a face or an edge with the cell, and its own.
const BESIDE: [usize; 19] = [1, 3, 4, 5, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 21, 22, 23, 25];

/// The places around a cell, x fastest.
const PLACES: [[usize; 3]; 27] = {
    let mut places = [[0; 3]; 27];
    let mut i = 0;
    while i < 27 {
        places[i] = [i % 3, i / 3 % 3, i / 9];
        i += 1;
    }
    places
};

/// The 2x2x2 bricks of a level that contain the 27 cells around a cell, or the cells that cover them. A missing brick has no
/// cells.
struct Near {
    bricks: [Brick; 8],
    /// For each axis and place along it: which of the two bricks (as a bit), and that axis's part of the bit in the brick.
    part: [[(u8, u8); 3]; 3],
}

impl Near {
    fn empty(position: [u32; 3], up: u8) -> Self {
        let part = std::array::from_fn(|a| {
            let at = |place: usize| (i64::from(position[a]) + place as i64 - 1) >> up;
            std::array::from_fn(|place| {
                let brick = ((at(place) >> 2) - (at(0) >> 2)) as u8;
                (brick << a, local::bit_along(a, at(place) as u32) as u8)
            })
        });
        Self { bricks: [Brick::default(); 8], part }
    }

    /// The cell at a place, 0 to 2 along each axis.
    #[inline(always)]
    fn cell(&self, place: [usize; 3]) -> Option<CellIdx> {
        let [x, y, z]: [(u8, u8); 3] = std::array::from_fn(|a| self.part[a][place[a]]);
        self.bricks[usize::from(x.0 | y.0 | z.0) & 7].cell(u32::from(x.1 | y.1 | z.1))
    }
}

/// The value of a cell, of the leaf that covers it, or in a mesh of leaves the mean of the leaves in it.
fn value_at(mesh: &Mesh, rho: &[f64], level: u8, position: [u32; 3]) -> Option<f64> {
    let around = |up: u8| mesh.find(level - up, position.map(|x| x >> up));
    let found: Option<CellIdx> = (0..=level).find_map(around);
    found.map(|c| rho[c.at()]).or_else(|| mean_of_leaves(mesh, rho, level, position))
}

/// The value at `slot` around a cell where leaves up to `threshold` may be missing: that of the leaf at or around the
/// place, or the mean of the children of the place that touch the cell. A child counts with its value if it is a leaf, else
/// with the mean of its own children that touch the cell, and so on. Where no leaf touches the cell, the threshold counts.
///
/// ```text
///     the cell c and a place to its right, in two dimensions; t is the threshold
///
///           | +-+-+-------+
///           | |a|.|       |     upper child: mean of a and b, which touch c; the others do not count
///     +-----+ |b|.|   .   |     lower child: d
///     |     | +-+-+-------+
///     |  c  | |   |       |     value: ((a + b) / 2 + d) / 2
///     |     | | d |   .   |     without a and b: (t + d) / 2
///     +-----+ +---+-------+
/// ```
///
/// Only leaves that touch the cell count. Every rank has those around its own leaves, so all ranks find the same value.
fn value_beside(
    mesh: &Mesh,
    rho: &[f64],
    finer: &mut RecentBlocks,
    (level, position): (u8, [u32; 3]),
    slot: [usize; 3],
    threshold: f64,
) -> f64 {
    // On levels that are whole bricks wide, the caller has found no cell of the level itself, nor of the next coarser one.
    let is_whole = |up: &u8| mesh.domain().wraps_blocks(level - up, 4);
    let nearest = (0..=level.min(1)).take_while(is_whole).count() as u8;
    let farthest = if mesh.is_graded() { level.min(1) } else { level };
    let around = (nearest..=farthest).find_map(|up| mesh.find(level - up, position.map(|x| x >> up)));
    match around {
        Some(leaf) => rho[leaf.at()],
        None => mean_of_touching(mesh, rho, finer, (level, position), slot, threshold).0,
    }
}

/// The mean over the children of a place at `slot` around a cell that touch the cell, and whether a leaf in any of them does.
fn mean_of_touching(
    mesh: &Mesh,
    rho: &[f64],
    finer: &mut RecentBlocks,
    (level, position): (u8, [u32; 3]),
    slot: [usize; 3],
    threshold: f64,
) -> (f64, bool) {
    // Of two finer cells along an axis, only the one on the side of the cell touches it.
    let touches = |child: u32, a: usize| slot[a] == 1 || (child >> a & 1 == 1) == (slot[a] == 0);
    // The eight children are one oct of a brick.
    let brick = mesh.brick_near(finer, level + 1, position.map(|x| x >> 1));
    let brick = match brick {
        None if mesh.is_graded() => return (threshold, false),
        found => found.map(|brick| &mesh.bricks()[brick.at()]),
    };
    let first = local::bit_of(position.map(|x| x << 1));
    let (mut sum, mut n, mut has_leaves) = (0.0, 0.0, false);
    for child in (0..8).filter(|child| (0..3).all(|a| touches(*child, a))) {
        let at = local::child_of(position, child);
        let value = match brick.and_then(|brick| brick.cell(first + child)) {
            Some(leaf) => Some(rho[leaf.at()]),
            None if !mesh.is_graded() && mesh.has_finer(level + 1, at) => {
                let (mean, has_leaves) = mean_of_touching(mesh, rho, finer, (level + 1, at), slot, threshold);
                has_leaves.then_some(mean)
            }
            None => None,
        };
        sum += value.unwrap_or(threshold);
        n += 1.0;
        has_leaves |= value.is_some();
    }
    (sum / n, has_leaves)
}

fn mean_of_leaves(mesh: &Mesh, rho: &[f64], level: u8, position: [u32; 3]) -> Option<f64> {
    if level >= mesh.n_levels() {
        return None;
    }
    if let Some(cell) = mesh.find(level, position) {
        return Some(rho[cell.at()]);
    }
    let mut sum = 0.0;
    for i in 0..8 {
        sum += mean_of_leaves(mesh, rho, level + 1, local::child_of(position, i))?;
    }
    Some(sum / 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::PeakIdx;
    use crate::mesh::random::random_mesh;
    use crate::phew::contact_dedup::ContactDedup;
    use crate::phew::saddle::contacts;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

        /// References: the cells that are looked up by position, and the positions that [`Refiner`] finds. Some or all cells
        /// are test cells, in a mesh of all leaves or of some. Positions do not depend on the unit of density.
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
            let peaks = PeakSet::new(words.collect());
            let mut plain = Refiner::new(mesh, rho, Rules::Paper);
            let scaled: Vec<f64> = rho.iter().map(|rho| rho * scale).collect();
            let mut scaled_mesh = mesh.clone();
            threshold.into_iter().for_each(|threshold| scaled_mesh.set_leaves_above(threshold * scale));
            let mut in_other_unit = Refiner::new(&scaled_mesh, &scaled, Rules::Paper);
            let mut block_refiner = PatchRefiner::new(mesh, &test_cells, &peaks, Rules::Paper);
            let labels = vec![PeakIdx(0); test_cells.len()];
            let n_supers = mesh.supers().len();
            contacts(mesh, &test_cells, &labels, 0..n_supers, &mut ContactDedup::default(), |brick, block| {
                let position = mesh.bricks()[brick].position;
                let mut of_brick = peaks.of_brick(&test_cells, brick);
                block_refiner.for_each(brick, block, |found| {
                    let (_, bit) = of_brick.next().expect("one call per peak");
                    let at = local::position_of(position, bit);
                    assert_eq!(found, plain.refined(block.level, at));
                    assert_eq!(found, in_other_unit.refined(block.level, at));
                    let near = plain.bricks(block.level, at, 0);
                    if mesh.domain().wraps_blocks(block.level, 4) {
                        for place in PLACES {
                            let wrapped = plain.wrapped(block.level, at, place);
                            assert_eq!(near.cell(place), wrapped.and_then(|at| mesh.find(block.level, at)));
                        }
                    }
                });
                assert!(of_brick.next().is_none());
            });
        }
    }

    /// All leaves by level and position.
    fn leaves(mesh: &Mesh, rho: &[f64]) -> BTreeMap<(u8, [u32; 3]), f64> {
        let mut all = BTreeMap::new();
        mesh.for_each_cell(0..mesh.supers().len(), |level, at, cell, _| {
            all.insert((level, at), rho[cell.at()]);
        });
        all
    }

    /// The value of the leaf around a place, or the mean over all cells of level 5 in the place that touch the cell.
    fn mean_of_the_finest(
        leaves: &BTreeMap<(u8, [u32; 3]), f64>,
        (level, at): (u8, [u32; 3]),
        slot: [usize; 3],
        threshold: f64,
    ) -> f64 {
        let covering = |level: u8, at: [u32; 3]| {
            (0..=level).find_map(|up| leaves.get(&(level - up, at.map(|x| x >> up))).copied())
        };
        if let Some(value) = covering(level, at) {
            return value;
        }
        let side = 1u32 << (5 - level);
        let along = |a: usize| match slot[a] {
            0 => side - 1..side,
            1 => 0..side,
            _ => 0..1,
        };
        let (mut sum, mut n) = (0.0, 0.0);
        for z in along(2) {
            for y in along(1) {
                for x in along(0) {
                    let finest = [at[0] * side + x, at[1] * side + y, at[2] * side + z];
                    sum += covering(5, finest).unwrap_or(threshold);
                    n += 1.0;
                }
            }
        }
        sum / n
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

        /// References: means over the finest cells; with leaves that differ by one level at most, the bits of one mean.
        #[test]
        fn values_beside_a_leaf_are_means_of_what_touches_it(of in random_mesh(), seed in any::<u64>()) {
            let of = of.thinned(seed);
            let (mut mesh, threshold) = (of.mesh.clone(), 0.7);
            mesh.set_leaves_above(threshold);
            let all = leaves(&mesh, &of.rho);
            for &(level, at) in all.keys().step_by(7) {
                for slot in PLACES {
                    let place = std::array::from_fn(|a| i64::from(at[a]) + slot[a] as i64 - 1);
                    let Some(place) = mesh.domain().wrap(level, place) else { continue };
                    // Where a caller finds a cell by its neighbourhood, it does not ask.
                    let coarser = level.checked_sub(1).filter(|coarser| mesh.domain().wraps_blocks(*coarser, 4));
                    let is_found = |up: u8| all.contains_key(&(level - up, place.map(|x| x >> up)));
                    if is_found(0) || coarser.is_some() && is_found(1) {
                        continue;
                    }
                    let found = value_beside(&mesh, &of.rho, &mut RecentBlocks::default(), (level, place), slot, threshold);
                    let expected = mean_of_the_finest(&all, (level, place), slot, threshold);
                    prop_assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
                    let is_finer = mesh.has_finer(level, place);
                    let inside = |(l, p): &(u8, [u32; 3])| *l > level && p.map(|x| x >> (l - level)) == place;
                    prop_assert_eq!(is_finer, all.keys().any(inside));
                    if !all.keys().any(|leaf| leaf.0 > level + 1 && inside(leaf)) {
                        mesh.set_graded(true);
                        let graded = value_beside(&mesh, &of.rho, &mut RecentBlocks::default(), (level, place), slot, threshold);
                        mesh.set_graded(false);
                        let has_far = (2..=level).any(|up| all.contains_key(&(level - up, place.map(|x| x >> up))));
                        prop_assert!(has_far || graded.to_bits() == found.to_bits());
                    }
                }
            }
        }
    }
}
