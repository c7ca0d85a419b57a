//! Contacts between test cells of different levels, each found once, from its finer side.
//!
//! A brick covers 2x2x2 coarser cells, so its cells touch at most the 4x4x4 coarser cells around
//! them, which lie in 2x2x2 bricks. Where the mesh is graded that is all; where a cell of the next
//! coarser level is missing as well, the leaf around it is looked up level by level.

use super::tests::TestCells;
use crate::ids::{BrickIdx, TestIdx};
use crate::mesh::{Mesh, Neighbourhood, local};
use std::ops::Range;

/// The cells of a brick that touch the coarser cell `k`, with `k` counted over the 4x4x4 coarser
/// cells around the brick's 2x2x2, x fastest.
const TOUCH: [u64; 64] = {
    const LOW: [u32; 4] = [0, 0, 1, 3];
    const HIGH: [u32; 4] = [1, 3, 4, 4];
    let mut table = [0; 64];
    let mut k = 0;
    while k < 64 {
        let [x, y, z] = [k & 3, k >> 2 & 3, k >> 4];
        table[k] = local::box_mask([LOW[x], LOW[y], LOW[z]], [HIGH[x], HIGH[y], HIGH[z]]);
        k += 1;
    }
    table
};

/// Test cells of the brick that touch one coarser test cell.
#[derive(Debug, Clone, Copy)]
pub struct Contact {
    /// The coarser cell.
    pub coarse: TestIdx,
    /// The brick of the finer cells.
    pub brick: usize,
    /// The finer cells, one bit each.
    pub fine: u64,
}

impl Contact {
    /// The finer cells.
    #[inline(always)]
    pub fn fine_cells<'a>(&self, tests: &'a TestCells) -> impl Iterator<Item = TestIdx> + 'a {
        let (first, mask) = (tests.first[self.brick], tests.mask[self.brick]);
        local::bits(self.fine).map(move |bit| TestIdx(first + local::rank(mask, bit)))
    }

    /// The densest of the finer cells, and whether no other is as dense.
    #[inline(always)]
    pub fn densest(&self, tests: &TestCells) -> (TestIdx, bool) {
        let (mut densest, mut greatest, mut is_alone) = (TestIdx::NONE, f64::NEG_INFINITY, true);
        for cell in self.fine_cells(tests) {
            let rho = tests.rho[cell.at()];
            is_alone = rho > greatest || is_alone && rho < greatest;
            if rho > greatest {
                (densest, greatest) = (cell, rho);
            }
        }
        (densest, is_alone)
    }
}

/// Calls `visit` for every contact between a test cell in the given super-bricks and a coarser one.
/// Levels of touching cells may differ by any number. The same pair may be visited twice in narrow boxes and over large jumps.
pub fn for_each_contact(
    mesh: &Mesh,
    tests: &TestCells,
    supers: Range<usize>,
    mut visit: impl FnMut(Contact),
) {
    for s in supers {
        let (level, super_brick) = (mesh.level_of_super(s), mesh.supers()[s]);
        let bricks = mesh.bricks_of(&super_brick);
        let has_coarser =
            !mesh.is_graded() && mesh.supers_of(0).start < mesh.supers_of(level.saturating_sub(1)).start;
        let has_coarse = level > 0 && mesh.supers_of(level).start > 0;
        if !has_coarse || tests.of_bricks(bricks.clone()).is_empty() {
            continue;
        }
        let around = Neighbourhood::around(mesh, level - 1, super_brick.position.map(|x| x >> 1));
        let full_bricks = mesh.domain().extent(level - 1).iter().all(|n| n % 4 == 0);
        for brick in bricks.filter(|&b| tests.mask[b] != 0) {
            let origin = mesh.bricks()[brick].position.map(|x| 2 * i64::from(x) - 1);
            let mut walk =
                Walk { mesh, tests, has_coarser, level: level - 1, brick, origin, visit: &mut visit };
            match full_bricks {
                true => walk.through_bricks(&around),
                false => walk.through_cells(),
            }
        }
    }
}

/// One brick's walk over the coarser cells around it.
struct Walk<'a, F> {
    mesh: &'a Mesh,
    tests: &'a TestCells,
    /// Whether there are cells coarser still.
    has_coarser: bool,
    /// The coarser level.
    level: u8,
    brick: usize,
    /// The coarser cell at k = 0, not wrapped.
    origin: [i64; 3],
    visit: &'a mut F,
}

impl<F: FnMut(Contact)> Walk<'_, F> {
    fn through_bricks(&mut self, around: &Neighbourhood) {
        let position = self.mesh.bricks()[self.brick].position;
        let odd = position.map(|x| x as usize & 1);
        // From the first brick of the coarser super-brick around this one's.
        let local = position.map(|x| (x >> 1 & 3) as i32);
        for corner in 0..8 {
            let side = [corner & 1, corner >> 1 & 1, corner >> 2];
            let at = std::array::from_fn(|a| local[a] + (side[a] + odd[a]) as i32 - 1);
            let parts = [0, 1, 2].map(|a| PARTS[odd[a]][side[a]]);
            self.through_brick(around.brick(self.mesh, at), parts);
        }
    }

    fn through_brick(&mut self, brick: BrickIdx, parts: [Part; 3]) {
        if brick.is_none() && !self.has_coarser {
            return;
        }
        let region = (0..3).fold(u64::MAX, |mask, a| mask & local::slab(a, parts[a].low, parts[a].high));
        let k_of = |bit: u32| {
            let offset = local::offset_of(bit);
            let k: [u32; 3] = std::array::from_fn(|a| offset[a] - parts[a].low + parts[a].start);
            (k[0] + 4 * k[1] + 16 * k[2]) as usize
        };
        let (test, exists) = match brick.is_none() {
            true => (0, 0),
            false => (self.tests.mask[brick.at()], self.mesh.bricks()[brick.at()].exists),
        };
        for bit in local::bits(test & region) {
            let coarse = TestIdx(self.tests.first[brick.at()] + local::rank(test, bit));
            self.touch(coarse, TOUCH[k_of(bit)]);
        }
        if self.has_coarser {
            for bit in local::bits(region & !exists) {
                self.through_coarser(k_of(bit));
            }
        }
    }

    #[cold]
    fn through_cells(&mut self) {
        for (k, &touching) in TOUCH.iter().enumerate() {
            let Some(position) = self.mesh.domain().wrap(self.level, self.at(k)) else { continue };
            match self.mesh.find_brick(self.level, position) {
                Some((brick, bit)) if self.mesh.bricks()[brick.at()].exists >> bit & 1 == 1 => {
                    if let Some(coarse) = self.tests.at(brick.at(), bit) {
                        self.touch(coarse, touching);
                    }
                }
                _ => self.through_coarser(k),
            }
        }
    }

    /// Looks for the leaf around the missing coarser cell `k`.
    #[cold]
    fn through_coarser(&mut self, k: usize) {
        if self.tests.mask[self.brick] & TOUCH[k] == 0 {
            return;
        }
        let Some(position) = self.mesh.domain().wrap(self.level, self.at(k)) else { return };
        for up in 1..=self.level {
            let found = self.mesh.find_brick(self.level - up, position.map(|x| x >> up));
            if let Some(coarse) = found.and_then(|(brick, bit)| self.tests.at(brick.at(), bit)) {
                return self.touch(coarse, TOUCH[k]);
            }
        }
    }

    fn at(&self, k: usize) -> [i64; 3] {
        let offset = [k & 3, k >> 2 & 3, k >> 4];
        std::array::from_fn(|a| self.origin[a] + offset[a] as i64)
    }

    #[inline]
    fn touch(&mut self, coarse: TestIdx, touching: u64) {
        let fine = self.tests.mask[self.brick] & touching;
        if fine != 0 {
            (self.visit)(Contact { coarse, brick: self.brick, fine });
        }
    }
}

/// Part of the region along one axis that lies in one coarser brick.
#[derive(Clone, Copy)]
struct Part {
    /// Offsets `[low, high)` in the coarser brick.
    low: u32,
    high: u32,
    /// Where `low` is in the region.
    start: u32,
}

/// The parts by whether the fine brick's position is odd and by side: an even one has one coarser
/// cell in the brick before it, an odd one has one in the brick after.
const PARTS: [[Part; 2]; 2] = [
    [Part { low: 3, high: 4, start: 0 }, Part { low: 0, high: 3, start: 1 }],
    [Part { low: 1, high: 4, start: 0 }, Part { low: 0, high: 1, start: 3 }],
];
