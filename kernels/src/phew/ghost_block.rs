//! The surroundings of a super-brick as flat arrays, from which the patches of its bricks are cut.

use super::block::Index;
use super::test_cells::TestCells;
use crate::ids::{BrickIdx, CellIdx, PeakIdx, TestIdx};
use crate::mesh::{COARSER, Mesh, Neighbourhood, for_each_coarser, local, place_of};
use crate::simd::eight;

/// Side of the cube of places. The super-brick's first cell is at place 2 along each axis, so that a
/// coarser cell that touches it lies wholly inside.
pub const WIDE: usize = 20;
/// Offset between neighbours along z.
const WIDE_PLANE: usize = WIDE * WIDE;
/// Number of places.
const CUBE: usize = WIDE * WIDE_PLANE;

/// The test cells in and next to the bricks of a super-brick; density (in single precision) 0 where there is none. A coarser cell stands
/// at every place that it covers.
#[derive(Debug, Clone)]
pub struct GhostBlock<I> {
    /// Densities.
    pub rho: Box<[f32]>,
    /// The cells, meaningless where the density is 0.
    pub index: Box<[I]>,
    /// Their labels, if asked for; meaningless where the density is 0.
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

/// Offset of each bit of a brick from the place of its first cell.
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

/// For each mask of an oct, which of its cells stands at each of the eight places; 0 where there is none.
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

/// The first bits of the octs in which bits of `mask` are set.
#[inline(always)]
fn octs_in(mask: u64) -> impl Iterator<Item = u32> {
    let pairs = mask | mask >> 1;
    let fours = pairs | pairs >> 2;
    local::bits((fours | fours >> 4) & 0x0101_0101_0101_0101)
}

/// The part of a brick that touches the super-brick, by the brick's place along each axis: 0 to 5, of which these two
/// are beside it.
#[inline(always)]
fn visible(place: [usize; 3]) -> u64 {
    local::facing(place.map(|x| i64::from(x == 5) - i64::from(x == 0)))
}

/// For each of the 4x4x4 coarser bricks in and around a super-brick the cells that the given bricks lie in or touch.
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

/// What is gathered, and for which super-brick.
#[derive(Clone, Copy)]
pub struct BlockRequest<'a> {
    /// The mesh.
    pub mesh: &'a Mesh,
    /// Its test cells.
    pub test_cells: &'a TestCells<'a>,
    /// Their labels, if these are wanted as well.
    pub labels: Option<&'a [PeakIdx]>,
    /// Level of the super-brick.
    pub level: u8,
    /// The super-brick.
    pub super_brick: usize,
    /// Those of its bricks that have test cells.
    pub bricks: u64,
}

impl BlockRequest<'_> {
    /// Position of the super-brick.
    #[inline(always)]
    fn position(&self) -> [u32; 3] {
        self.mesh.supers()[self.super_brick].position
    }
}

/// A test cell.
#[derive(Clone, Copy)]
struct BlockCell {
    test: TestIdx,
    cell: CellIdx,
}

impl BlockRequest<'_> {
    /// The test cell at `bit` of `brick`, where there is one.
    #[inline(always)]
    fn found(&self, brick: usize, bit: u32) -> BlockCell {
        let of_mesh = &self.mesh.bricks()[brick];
        BlockCell {
            test: TestIdx(self.test_cells.first[brick] + local::rank(self.test_cells.mask[brick], bit)),
            cell: CellIdx(of_mesh.first + local::rank(of_mesh.exists, bit)),
        }
    }
}

impl<I: Index> GhostBlock<I> {
    /// Where plane z of the patch of the brick at `local` begins.
    #[inline(always)]
    pub fn plane_of(local: [u32; 3], z: usize) -> usize {
        let [x0, y0, z0] = local.map(|x| 4 * x as usize + 1);
        (z0 + z) * WIDE_PLANE + y0 * WIDE + x0
    }

    /// Fills everything in. Whether there are coarser cells.
    ///
    /// Linear in the test cells in and beside its bricks.
    #[inline(always)]
    pub fn gather(&mut self, of: BlockRequest) -> bool {
        self.rho.fill(0.0);
        let around = Neighbourhood::of_super(of.mesh, of.level, of.super_brick);
        around.for_each_near(
            of.mesh,
            #[inline(always)]
            |place, brick| {
                if of.test_cells.mask[brick.at()] != 0 {
                    self.put_brick(of, brick.at(), place);
                }
            },
        );
        if of.level == 0 {
            return false;
        }
        let full_bricks = of.mesh.domain().extent(of.level - 1).iter().all(|n| n % 4 == 0);
        let mut found = if full_bricks { self.put_next_coarser(of) } else { self.put_far_coarser(of, 1) };
        if !of.mesh.is_graded() {
            for up in 2..=of.level {
                found |= self.put_far_coarser(of, up);
            }
        }
        found
    }

    #[inline(always)]
    fn put_brick(&mut self, of: BlockRequest, brick: usize, place: [usize; 3]) {
        let (mask, exists) = (of.test_cells.mask[brick], of.mesh.bricks()[brick].exists);
        let seen = mask & visible(place);
        // The brick's first cell lies at 4 place - 2 along each axis.
        let corner = (place[0] + WIDE * place[1] + WIDE_PLANE * place[2]) * 4;
        let spot = |bit: u32| corner + usize::from(SPOT[bit as usize]) - 2 * (1 + WIDE + WIDE_PLANE);
        for oct in octs_in(seen) {
            self.put_oct(of, spot(oct), of.found(brick, oct), [mask, exists].map(|mask| (mask >> oct) as u8));
        }
    }

    /// An oct of test cells, of which this is the first.
    #[inline(always)]
    fn put_full_oct(&mut self, of: BlockRequest, spot: usize, first: BlockCell) {
        put_pairs(&mut self.rho, spot, of.test_cells.narrow_oct(first.cell));
        let index = |i| I::from_cell(TestIdx(first.test.0 + i as u32), CellIdx(first.cell.0 + i as u32));
        put_pairs(&mut self.index, spot, std::array::from_fn(index));
        if let Some(labels) = of.labels {
            put_pairs(&mut self.label, spot, eight(labels, first.test.0, PeakIdx(0)).map(|label| label.0));
        }
    }

    /// The test cells of an oct by their mask, and by that of all its cells; both follow each other from `first` on. Some may lie a
    /// place beyond those that touch the super-brick, where nobody looks.
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

    /// Cells of the next coarser level, each at 2x2x2 places.
    #[inline(always)]
    fn put_next_coarser(&mut self, of: BlockRequest) -> bool {
        if of.test_cells.of_level(of.mesh, of.level - 1).is_empty() {
            return false;
        }
        let needed = needed(of.bricks);
        let mut found = false;
        for_each_coarser(
            of.mesh,
            of.level - 1,
            of.position(),
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

    /// The needed cells of a coarser brick, at `near` (0 to 3) along each axis.
    #[inline(always)]
    fn put_coarser_brick(&mut self, of: BlockRequest, brick: usize, near: [usize; 3], needed: u64) {
        // The coarser brick's first cell lies at 8 near - 6 along each axis.
        let corner = (near[0] + WIDE * near[1] + WIDE_PLANE * near[2]) * 8;
        for bit in local::bits(of.test_cells.mask[brick] & needed) {
            let found = of.found(brick, bit);
            let spot = corner + 2 * usize::from(SPOT[bit as usize]) - 6 * (1 + WIDE + WIDE_PLANE);
            put_pairs(&mut self.rho, spot, [of.test_cells.narrow(found.cell); 8]);
            put_pairs(&mut self.index, spot, [I::from_cell(found.test, found.cell); 8]);
            if let Some(labels) = of.labels {
                put_pairs(&mut self.label, spot, [labels[found.test.at()].0; 8]);
            }
        }
    }

    /// Cells coarser by `up` levels, for meshes that are not known to be graded and for narrow boxes.
    #[cold]
    fn put_far_coarser(&mut self, of: BlockRequest, up: u8) -> bool {
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
                    found |= self.put_far_brick(of, up, corner);
                }
            }
        }
        found
    }

    /// The cells of the brick of coarser cells that begins at `corner`, not wrapped.
    fn put_far_brick(&mut self, of: BlockRequest, up: u8, corner: [i64; 3]) -> bool {
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
            self.put_block(of, of.found(brick.at(), bit), first, 1 << up);
            found = true;
        }
        found
    }

    /// Puts a cell with `side` places a side at those of them, from `first` on, that are inside.
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

/// Writes the values at 2x2x2 places, of which the first is `spot`.
#[inline(always)]
fn put_pairs<T: Copy>(into: &mut [T], spot: usize, values: [T; 8]) {
    let into = &mut into[spot..][..WIDE_PLANE + WIDE + 2];
    for (row, pair) in [0, WIDE, WIDE_PLANE, WIDE_PLANE + WIDE].into_iter().zip(values.chunks_exact(2)) {
        into[row..row + 2].copy_from_slice(pair);
    }
}
