//! The 6x6x6 surroundings of a brick as flat arrays, so that neighbours are constant offsets.

use super::tests::TestCells;
use super::wide::larger;
use crate::ids::{BrickIdx, TestIdx};
use crate::mesh::{Mesh, local};

/// Offset between neighbours along y.
pub const ROW: usize = 6;
/// Offset between neighbours along z.
pub const PLANE: usize = 36;
/// Places before the first and after the last, so that no offset leaves the array.
const GUARD: usize = 8;
/// Length of the arrays.
pub const LEN: usize = GUARD + 6 * PLANE + GUARD;
/// The span of places that covers the brick itself in planes 1 to 4: first place and length a plane.
pub const CORE: usize = GUARD + PLANE + ROW;
/// Length of the core's span within one plane.
pub const CORE_LEN: usize = 4 * ROW;

/// One number a place.
pub type Values = [f64; LEN];

/// Densities and indices of the test cells in and around one brick; density 0 where there is none.
#[derive(Debug, Clone)]
pub struct Patch {
    /// Densities.
    pub rho: Values,
    /// Test cells, meaningless where the density is 0.
    pub test: [u32; LEN],
}

/// The place of each bit of the brick itself.
pub const PLACE: [u8; 64] = {
    let mut table = [0; 64];
    let mut bit = 0;
    while bit < 64 {
        let [x, y, z] = [bit & 1 | bit >> 2 & 2, bit >> 1 & 1 | bit >> 3 & 2, bit >> 2 & 1 | bit >> 4 & 2];
        table[bit] = (GUARD + (z + 1) * PLANE + (y + 1) * ROW + x + 1) as u8;
        bit += 1;
    }
    table
};

/// The part of each of the 27 bricks that lies in the patch.
const REGION: [u64; 27] = {
    const LOW: [u32; 3] = [3, 0, 0];
    const HIGH: [u32; 3] = [4, 4, 1];
    let mut table = [0; 27];
    let mut i = 0;
    while i < 27 {
        let s = [i % 3, i / 3 % 3, i / 9];
        table[i] = local::box_mask([LOW[s[0]], LOW[s[1]], LOW[s[2]]], [HIGH[s[0]], HIGH[s[1]], HIGH[s[2]]]);
        i += 1;
    }
    table
};

/// Distance of the places of each of the 27 bricks from those of the middle one.
const SHIFT: [i32; 27] = {
    let mut table = [0; 27];
    let mut i = 0;
    while i < 27 {
        let s = [i as i32 % 3 - 1, i as i32 / 3 % 3 - 1, i as i32 / 9 - 1];
        table[i] = 4 * (s[0] + s[1] * ROW as i32 + s[2] * PLANE as i32);
        i += 1;
    }
    table
};

impl Patch {
    /// No cells.
    pub const EMPTY: Self = Self { rho: [0.0; LEN], test: [0; LEN] };

    /// Fills in the surroundings of a brick from the 27 bricks around it.
    #[inline(always)]
    pub fn gather(&mut self, tests: &TestCells, bricks: &[BrickIdx; 27]) {
        self.rho = [0.0; LEN];
        for (slot, brick) in bricks.iter().enumerate() {
            if brick.is_none() {
                continue;
            }
            let (mask, first) = (tests.mask[brick.at()], tests.first[brick.at()]);
            let mut left = mask & REGION[slot];
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                self.put(
                    (i32::from(PLACE[bit as usize]) + SHIFT[slot]) as usize,
                    tests,
                    first + local::rank(mask, bit),
                );
            }
        }
    }

    /// The same in a box so narrow that bricks are not full, one look-up a place.
    #[cold]
    pub fn gather_small(&mut self, mesh: &Mesh, tests: &TestCells, level: u8, brick: [u32; 3]) {
        self.rho = [0.0; LEN];
        for i in 0..6 * PLANE {
            let offset = [i % 6, i / 6 % 6, i / 36];
            let at = std::array::from_fn(|a| i64::from(brick[a] << 2) + offset[a] as i64 - 1);
            let found = mesh.domain().wrap(level, at).and_then(|p| mesh.find_brick(level, p));
            if let Some(test) = found.and_then(|(b, bit)| tests.at(b.at(), bit)) {
                self.put(GUARD + i, tests, test.0);
            }
        }
    }

    #[inline(always)]
    fn put(&mut self, place: usize, tests: &TestCells, test: u32) {
        self.rho[place] = tests.rho[test as usize];
        self.test[place] = test;
    }

    /// The test cell at a place with a density.
    #[inline(always)]
    pub fn test_at(&self, place: usize) -> TestIdx {
        TestIdx(self.test[place])
    }
}

/// The larger of each place and the one `OFFSET` further.
#[inline(always)]
pub fn max2<const OFFSET: usize>(values: &Values) -> Values {
    let mut out = [0.0; LEN];
    for i in 0..LEN - OFFSET {
        out[i] = larger(values[i], values[i + OFFSET]);
    }
    out
}

/// The largest of each place and the ones `OFFSET` before and after it.
#[inline(always)]
pub fn max3<const OFFSET: usize>(values: &Values) -> Values {
    let mut out = [0.0; LEN];
    for i in OFFSET..LEN - OFFSET {
        out[i] = larger(larger(values[i - OFFSET], values[i]), values[i + OFFSET]);
    }
    out
}
