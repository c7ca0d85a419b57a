//! Ghost block: the cells of a super-brick with two layers around them, as flat arrays of 20x20x20 places.
//!
//! Place in the flow: gathered once per super-brick, then [`Block::cut`](super::block::Block::cut) copies the
//! 6x6x6 places of each brick out of it. It uses the mesh around one super-brick, and does not depend on
//! later uses of blocks.
//!
//! A super-brick is 16 cells wide. Its first cell is at coordinate 2 along each axis. One layer is enough for
//! cells of the same level. With the second one, a coarser cell that touches the super-brick fits completely:
//!
//! ```text
//!     coordinate  0 1 | 2 3 4 5 | 6 ...   ... 17 | 18 19
//!                 ghost  brick 0               3    ghost
//!
//!     block of brick b (0 to 3): coordinates 4 b + 1 to 4 b + 6
//!       brick 0:    1 | 2 3 4 5 | 6
//!       brick 1:              5 | 6 7 8 9 | 10
//!     so plane z of the block begins at (4 bz + 1 + z) 20^2 + (4 by + 1) 20 + (4 bx + 1)
//!
//!     cells of the next coarser level fill 2x2x2 places each, cells two levels coarser 4x4x4:
//!                 [0 1] [2 3] [4 5] ...
//! ```
//!
//! The cells come from the super-brick's own bricks and from the bricks beside it: those at brick coordinates
//! 0 and 5, where 1 to 4 are its own. Only the touching layer of an adjacent brick is copied.
//!
//! The simple reference is `Block::gather_small`, which looks up every place separately.

use super::test_cells::TestCells;
use crate::ids::{BrickIdx, CellIdx, PeakIdx, TestIdx};
use crate::mesh::{COARSER, Mesh, Neighbourhood, for_each_coarser, local, place_of};
use crate::simd::eight;

/// Places along each axis.
pub const WIDE: usize = 20;
/// Offset between neighbours along z.
const WIDE_PLANE: usize = WIDE * WIDE;
/// Number of places.
const CUBE: usize = WIDE * WIDE_PLANE;

/// The kind of index under which a block stores its test cells.
pub trait Index: Copy + Default + PartialOrd {
    /// The index of a test cell.
    fn from_cell(test: TestIdx, cell: CellIdx) -> Self;

    /// The first index of a level; those of coarser levels are smaller.
    fn first_of_level(mesh: &Mesh, test_cells: &TestCells, level: u8) -> Self;
}

impl Index for TestIdx {
    #[inline(always)]
    fn from_cell(test: TestIdx, _: CellIdx) -> Self {
        test
    }

    fn first_of_level(mesh: &Mesh, test_cells: &TestCells, level: u8) -> Self {
        TestIdx(test_cells.first_of_level(mesh, level))
    }
}

impl Index for CellIdx {
    #[inline(always)]
    fn from_cell(_: TestIdx, cell: CellIdx) -> Self {
        cell
    }

    fn first_of_level(mesh: &Mesh, _: &TestCells, level: u8) -> Self {
        mesh.first_of_level(level)
    }
}

/// The test cells in and beside the bricks of a super-brick. A coarser cell fills all the places that it
/// covers.
#[derive(Debug, Clone)]
pub struct GhostBlock<I> {
    /// Densities in single precision; 0 where there is no test cell.
    pub rho: Box<[f32]>,
    /// Indices of the cells; undefined where the density is 0.
    pub index: Box<[I]>,
    /// Labels of the cells, if requested; undefined where the density is 0.
    pub label: Box<[u32]>,
}

impl<I: Index> Default for GhostBlock<I> {
    fn default() -> Self {
        Self {
            rho: vec![0.0; CUBE].into_boxed_slice(),
            index: vec![I::default(); CUBE].into_boxed_slice(),
            label: vec![0; CUBE].into_boxed_slice(),
        }
    }
}

/// From the place of the first cell of a brick to the place of each of its bits.
const SPOT: [u16; 64] = {
    let mut table = [0; 64];
    let mut bit = 0;
    while bit < 64 {
        let [x, y, z] = local::offset_of(bit as u32);
        table[bit] = (x as usize + y as usize * WIDE + z as usize * WIDE_PLANE) as u16;
        bit += 1;
    }
    table
};

/// For each mask of an oct and each of its eight bits, how many set bits are below it; 0 for bits that are
/// not set. In other words, the number of each cell among the cells of its oct.
const RANKS: [[u8; 8]; 256] = {
    let (mut table, mut i) = ([[0; 8]; 256], 0);
    while i < 256 * 8 {
        let (mask, bit) = (i / 8, i % 8);
        if mask >> bit & 1 == 1 {
            table[mask][bit] = local::rank(mask as u64, bit as u32) as u8;
        }
        i += 1;
    }
    table
};

/// The cells of a brick that lie in or touch the super-brick. `place` is the position of the brick, 0 to 5
/// along each axis: 1 to 4 are in the super-brick, 0 and 5 beside it.
#[inline(always)]
fn visible(place: [usize; 3]) -> u64 {
    local::facing(place.map(|x| i64::from(x == 5) - i64::from(x == 0)))
}

/// For each of the 4x4x4 coarser bricks in and around a super-brick: the cells that the given bricks lie in
/// or touch.
#[inline(always)]
fn needed(bricks: u64) -> [u64; 64] {
    let mut needed = [0; 64];
    for bit in local::bits(bricks) {
        let (places, cells) = (COARSER[bit as usize], local::AROUND_OCTANT[bit as usize % 8]);
        for (place, cells) in places.into_iter().zip(cells) {
            needed[usize::from(place)] |= cells;
        }
    }
    needed
}

/// Up to this number of bricks, it is faster to clear their blocks than the whole arrays: 250 ns, compared
/// with 280 ns for all of these.
const FEW_BRICKS: u32 = 12;

/// Bricks in and beside a super-brick: one bit per place, 0 to 5 along each axis, x fastest, one word per z.
struct BrickSet([u64; 6]);

impl BrickSet {
    /// The given bricks of the super-brick, and those that touch any of them.
    #[inline(always)]
    fn in_or_beside(bricks: u64) -> Self {
        let mut planes = [0; 6];
        for [x, y, z] in local::bits(bricks).map(local::offset_of) {
            for plane in &mut planes[z as usize..][..3] {
                *plane |= 0b111_000111_000111 << (x + 6 * y);
            }
        }
        Self(planes)
    }

    #[inline(always)]
    fn contains(&self, [x, y, z]: [usize; 3]) -> bool {
        self.0[z] >> (x + 6 * y) & 1 == 1
    }
}

/// The input of [`GhostBlock::gather`].
#[derive(Clone, Copy)]
pub struct BlockRequest<'a> {
    /// The mesh.
    pub mesh: &'a Mesh,
    /// Its test cells.
    pub test_cells: &'a TestCells<'a>,
    /// Their labels, if these are to be gathered too.
    pub labels: Option<&'a [PeakIdx]>,
    /// Level of the super-brick.
    pub level: u8,
    /// The super-brick.
    pub super_brick: usize,
    /// Its bricks that have test cells, one bit each.
    pub bricks: u64,
}

impl BlockRequest<'_> {
    /// Position of the super-brick.
    #[inline(always)]
    fn position(&self) -> [u32; 3] {
        self.mesh.supers()[self.super_brick].position
    }
}

/// A test cell by both of its indices.
#[derive(Clone, Copy)]
struct BlockCell {
    test: TestIdx,
    cell: CellIdx,
}

impl BlockRequest<'_> {
    /// The test cell at `bit` of `brick`, which must be one.
    #[inline(always)]
    fn cell(&self, brick: usize, bit: u32) -> BlockCell {
        let of_mesh = &self.mesh.bricks()[brick];
        BlockCell {
            test: TestIdx(self.test_cells.first[brick] + local::rank(self.test_cells.mask[brick], bit)),
            cell: CellIdx(of_mesh.first + local::rank(of_mesh.exists, bit)),
        }
    }
}

impl<I: Index> GhostBlock<I> {
    /// The first place of plane `z` of the block of the brick at `local`.
    #[inline(always)]
    pub fn plane_of(local: [u32; 3], z: usize) -> usize {
        let [x0, y0, z0] = local.map(|x| 4 * x as usize + 1);
        (z0 + z) * WIDE_PLANE + y0 * WIDE + x0
    }

    /// Fills the places in the blocks of the bricks with test cells. Returns whether any cell is coarser.
    ///
    /// Linear in the test cells in and beside its bricks.
    #[inline(always)]
    pub fn gather(&mut self, of: BlockRequest) -> bool {
        self.clear(of.bricks);
        let beside = BrickSet::in_or_beside(of.bricks);
        let around = Neighbourhood::of_super(of.mesh, of.level, of.super_brick);
        around.for_each_near(
            of.mesh,
            #[inline(always)]
            |place, brick| {
                if of.test_cells.mask[brick.at()] != 0 && beside.contains(place) {
                    self.put_brick(of, brick.at(), place);
                }
            },
        );
        if of.level == 0 {
            return false;
        }
        let full_bricks = of.mesh.domain().wraps_blocks(of.level - 1, 4);
        let mut found = if full_bricks { self.put_next_coarser(of) } else { self.put_much_coarser(of, 1) };
        if !of.mesh.is_graded() {
            for up in 2..=of.level {
                found |= self.put_much_coarser(of, up);
            }
        }
        found
    }

    /// Sets the densities in the blocks of the given bricks to 0; in all of the arrays if there are many
    /// bricks.
    #[inline(always)]
    fn clear(&mut self, bricks: u64) {
        if bricks.count_ones() > FEW_BRICKS {
            return self.rho.fill(0.0);
        }
        for first in local::bits(bricks).map(local::offset_of) {
            for z in 0..6 {
                let rows = &mut self.rho[Self::plane_of(first, z)..][..5 * WIDE + 8];
                // Six places and two beyond: a whole vector.
                (0..6).for_each(|y| rows[y * WIDE..][..8].fill(0.0));
            }
        }
    }

    #[inline(always)]
    fn put_brick(&mut self, of: BlockRequest, brick: usize, place: [usize; 3]) {
        let (mask, exists) = (of.test_cells.mask[brick], of.mesh.bricks()[brick].exists);
        let seen = mask & visible(place);
        // The brick's first cell lies at 4 place - 2 along each axis.
        let corner = (place[0] + WIDE * place[1] + WIDE_PLANE * place[2]) * 4;
        let spot = |bit: u32| corner + usize::from(SPOT[bit as usize]) - 2 * (1 + WIDE + WIDE_PLANE);
        for oct in local::bits(local::firsts_of_octs(seen)) {
            self.put_oct(of, spot(oct), of.cell(brick, oct), [mask, exists].map(|mask| (mask >> oct) as u8));
        }
    }

    /// Puts an oct whose eight cells are all test cells; `first` is the first of them.
    #[inline(always)]
    fn put_full_oct(&mut self, of: BlockRequest, spot: usize, first: BlockCell) {
        put_pairs(&mut self.rho, spot, of.test_cells.narrow_oct(first.cell));
        let index = |i| I::from_cell(TestIdx(first.test.0 + i as u32), CellIdx(first.cell.0 + i as u32));
        put_pairs(&mut self.index, spot, std::array::from_fn(index));
        if let Some(labels) = of.labels {
            put_pairs(&mut self.label, spot, eight(labels, first.test.0, PeakIdx(0)).map(|label| label.0));
        }
    }

    /// Puts the test cells of an oct without a branch per cell. `mask` are its test cells and `exists` all
    /// its cells, both numbered from `first` on. It may also write cells one place beyond those that touch
    /// the super-brick; no block contains that place.
    #[inline(always)]
    fn put_oct(&mut self, of: BlockRequest, spot: usize, first: BlockCell, [mask, exists]: [u8; 2]) {
        if mask == u8::MAX {
            return self.put_full_oct(of, spot, first);
        }
        let (test_cells, cells) = (&RANKS[usize::from(mask)], &RANKS[usize::from(exists)]);
        let rho = of.test_cells.narrow_oct(first.cell);
        let is_test = |i: usize| u32::from(mask >> i & 1).wrapping_neg();
        let rho = std::array::from_fn(|i| f32::from_bits(rho[usize::from(cells[i])].to_bits() & is_test(i)));
        put_pairs(&mut self.rho, spot, rho);
        let index = |i: usize| {
            I::from_cell(
                TestIdx(first.test.0 + u32::from(test_cells[i])),
                CellIdx(first.cell.0 + u32::from(cells[i])),
            )
        };
        put_pairs(&mut self.index, spot, std::array::from_fn(index));
        if let Some(labels) = of.labels {
            let labels = eight(labels, first.test.0, PeakIdx(0));
            put_pairs(&mut self.label, spot, std::array::from_fn(|i| labels[usize::from(test_cells[i])].0));
        }
    }

    #[inline(always)]
    fn put(&mut self, of: BlockRequest, spot: usize, found: BlockCell) {
        self.rho[spot] = of.test_cells.narrow(found.cell);
        self.index[spot] = I::from_cell(found.test, found.cell);
        if let Some(labels) = of.labels {
            self.label[spot] = labels[found.test.at()].0;
        }
    }

    /// Puts the cells of the next coarser level, each at 2x2x2 places. Returns whether there are any.
    #[inline(always)]
    fn put_next_coarser(&mut self, of: BlockRequest) -> bool {
        if of.test_cells.of_level(of.mesh, of.level - 1).is_empty() {
            return false;
        }
        let needed = needed(of.bricks);
        let mut found = false;
        for_each_coarser(
            of.mesh,
            of.level,
            of.super_brick,
            #[inline(always)]
            |near, brick| {
                let needed = needed[place_of(near)];
                if of.test_cells.mask[brick.at()] & needed != 0 {
                    self.put_coarser_brick(of, brick.at(), near, needed);
                    found = true;
                }
            },
        );
        found
    }

    /// Puts the needed cells of a coarser brick, whose position is `near` (0 to 3 along each axis).
    #[inline(always)]
    fn put_coarser_brick(&mut self, of: BlockRequest, brick: usize, near: [usize; 3], needed: u64) {
        // The coarser brick's first cell lies at 8 near - 6 along each axis.
        let corner = (near[0] + WIDE * near[1] + WIDE_PLANE * near[2]) * 8;
        for bit in local::bits(of.test_cells.mask[brick] & needed) {
            let found = of.cell(brick, bit);
            let spot = corner + 2 * usize::from(SPOT[bit as usize]) - 6 * (1 + WIDE + WIDE_PLANE);
            put_pairs(&mut self.rho, spot, [of.test_cells.narrow(found.cell); 8]);
            put_pairs(&mut self.index, spot, [I::from_cell(found.test, found.cell); 8]);
            if let Some(labels) = of.labels {
                put_pairs(&mut self.label, spot, [labels[found.test.at()].0; 8]);
            }
        }
    }

    /// Puts the cells that are coarser by `up` levels. For meshes that are not known to be graded and for
    /// narrow boxes.
    #[cold]
    fn put_much_coarser(&mut self, of: BlockRequest, up: u8) -> bool {
        let level = of.level - up;
        if of.test_cells.of_level(of.mesh, level).is_empty() {
            return false;
        }
        let mut found = false;
        let low = of.position().map(|x| ((i64::from(x) << 4) - 1) >> up >> 2);
        let high = of.position().map(|x| ((i64::from(x) << 4) + 16) >> up >> 2);
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                for x in low[0]..=high[0] {
                    let corner = [x << 2, y << 2, z << 2];
                    found |= self.put_much_coarser_brick(of, up, corner);
                }
            }
        }
        found
    }

    /// Puts the cells of the coarser brick whose first cell is at `corner`, which is not wrapped into the
    /// box.
    fn put_much_coarser_brick(&mut self, of: BlockRequest, up: u8, corner: [i64; 3]) -> bool {
        let level = of.level - up;
        let mut found = false;
        for bit in 0..64 {
            let offset = local::offset_of(bit);
            let at: [i64; 3] = std::array::from_fn(|a| corner[a] + i64::from(offset[a]));
            let Some(wrapped) = of.mesh.domain().wrap(level, at) else { continue };
            let place = of.mesh.find_brick(level, wrapped);
            let test_at = |(brick, bit): &(BrickIdx, u32)| of.test_cells.mask[brick.at()] >> bit & 1 == 1;
            let Some((brick, bit)) = place.filter(test_at) else { continue };
            let first = std::array::from_fn(|a| (at[a] << up) - (i64::from(of.position()[a]) << 4) + 2);
            self.put_block(of, of.cell(brick.at(), bit), first, 1 << up);
            found = true;
        }
        found
    }

    /// Puts a cell that fills `side` places along each axis from `first` on, as far as they are inside the
    /// arrays.
    fn put_block(&mut self, of: BlockRequest, found: BlockCell, first: [i64; 3], side: i64) {
        let range = |a: usize| {
            first[a].clamp(0, WIDE as i64) as usize..(first[a] + side).clamp(0, WIDE as i64) as usize
        };
        for z in range(2) {
            for y in range(1) {
                for x in range(0) {
                    self.put(of, x + y * WIDE + z * WIDE_PLANE, found);
                }
            }
        }
    }
}

/// Writes eight values at 2x2x2 places from `spot` on.
#[inline(always)]
fn put_pairs<T: Copy>(into: &mut [T], spot: usize, values: [T; 8]) {
    let into = &mut into[spot..][..WIDE_PLANE + WIDE + 2];
    for (row, pair) in [0, WIDE, WIDE_PLANE, WIDE_PLANE + WIDE].into_iter().zip(values.chunks_exact(2)) {
        into[row..row + 2].copy_from_slice(pair);
    }
}

#[cfg(test)]
mod tests {
    use super::super::block::Block;
    use super::super::test_blocks::places;
    use super::*;
    use crate::mesh::random::{RandomMesh, random_mesh};
    use proptest::prelude::*;

    /// Compares the block of every brick, cut out of ghost blocks, with the one that is looked up place by
    /// place.
    fn check<I: Index + PartialEq + std::fmt::Debug>(of: &RandomMesh) {
        let (mesh, rho) = (&of.mesh, &of.rho);
        let test_cells = of.test_cells(rho);
        let labels: Vec<PeakIdx> = (0..test_cells.len()).map(|i| PeakIdx::new(i * 7919 % 104_729)).collect();
        let (mut ghost, mut cut, mut plain) =
            (GhostBlock::<I>::default(), Block::<I>::default(), Block::default());
        for super_brick in 0..mesh.supers().len() {
            let level = mesh.level_of_super(super_brick);
            if !mesh.domain().wraps_blocks(level, 4) {
                continue;
            }
            let bricks = test_cells.bricks_in(&mesh.supers()[super_brick]);
            let labels = Some(labels.as_slice());
            let test_cells = &test_cells;
            ghost.gather(BlockRequest { mesh, test_cells, labels, level, super_brick, bricks });
            (cut.level, plain.level) = (level, level);
            for brick in test_cells.bricks_of(mesh, &mesh.supers()[super_brick]) {
                let position = mesh.bricks()[brick].position;
                cut.cut(&ghost, position.map(|x| x & 3), true);
                plain.gather_small(mesh, test_cells, labels, position);
                for place in places() {
                    assert_eq!(
                        cut.rho[place], plain.rho[place],
                        "brick {position:?} of level {level}, {place}"
                    );
                    if cut.rho[place] > 0.0 {
                        assert_eq!(cut.index[place], plain.index[place]);
                        assert_eq!(cut.label[place], plain.label[place]);
                    }
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

        #[test]
        fn blocks_hold_the_cells_that_are_looked_up(of in random_mesh()) {
            check::<TestIdx>(&of);
            check::<CellIdx>(&of);
        }
    }
}
