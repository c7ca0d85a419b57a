//! Saddles: where do patches touch? (paper, section 2.3)
//!
//! The saddle of a contact is the mean of the two densities. Only the maximum spanning forest of the
//! contacts matters ([`super::forest`]), and most contacts are on a cycle whose other edges are
//! higher: if some cell next to both is denser than either, the two contacts through it are higher
//! than the direct one. Of the contacts across a face, edge or corner only those survive of which
//! one cell is the maximum of the box of cells that touch both, about two a cell, found by wide
//! compares on the patch of a brick. Contacts are dropped only if they are *strictly* lower, so ties
//! are left to the total order of the edges.

use super::ascent::for_each_patch;
use super::pairs::Pairs;
use super::patch::{CORE, CORE_LEN, LEN, PLACE, PLANE, Patch, ROW, Values, max2, max3};
use super::tests::TestCells;
use crate::ids::PeakIdx;
use crate::mesh::{Mesh, local};
use crate::wide::{larger, wide};

/// By how much a density in single precision must exceed another that the densities themselves, and
/// so their means with any lower one, differ whatever the rounding.
pub const STRICTLY: f32 = 1.0 + 1.0 / (1 << 20) as f32;

/// The 13 directions in which contacts are looked for, x, y, z.
const DIRECTIONS: [[i32; 3]; 13] = [
    [1, 0, 0],
    [-1, 1, 0],
    [0, 1, 0],
    [1, 1, 0],
    [-1, -1, 1],
    [0, -1, 1],
    [1, -1, 1],
    [-1, 0, 1],
    [0, 0, 1],
    [1, 0, 1],
    [-1, 1, 1],
    [0, 1, 1],
    [1, 1, 1],
];

/// Gathers every contact that may be in the forest between the test cells in the given super-bricks and
/// their neighbours of the same level or a coarser one (so that over all super-bricks none is missed). `also` is
/// called with every brick and its patch.
pub fn contacts(
    mesh: &Mesh,
    tests: &TestCells,
    labels: &[PeakIdx],
    supers: impl Iterator<Item = usize>,
    out: &mut Pairs,
    mut also: impl FnMut(usize, &Patch),
) {
    wide(
        #[inline(always)]
        || {
            let mut boxes = BoxMaxima::default();
            let mut listed = [(0, 0); LISTED];
            for_each_patch(
                mesh,
                tests,
                Some(labels),
                supers,
                #[inline(always)]
                |brick, patch| {
                    let found = surviving_directions(patch, &mut boxes);
                    let n = list(tests.mask[brick], &found, &mut listed);
                    out.reserve(n);
                    for &(place, direction) in &listed[..n] {
                        let place = usize::from(place);
                        let other = (place as i32 + OFFSETS[usize::from(direction & 31)]) as usize;
                        let peaks = [place, other].map(|p| PeakIdx(patch.label[p]));
                        let rough = patch.rho[place] + patch.rho[other];
                        out.push(peaks, rough, [place, other].map(|p| patch.test_at(p)));
                    }
                    also(brick, patch);
                },
            );
        },
    );
    out.finish(|cells| 0.5 * (tests.rho[cells[0].at()] + tests.rho[cells[1].at()]));
}

/// Most contacts of a brick, and what [`list`] writes beyond the last.
const LISTED: usize = 64 * 26 + AT_ONCE;

/// Contacts of a cell that are listed without asking how many there are.
const AT_ONCE: usize = 4;

/// Lists the contacts of the cells of a brick: place and direction. Their number.
#[inline(always)]
fn list(cells: u64, found: &[u32; 4 * PLANE], out: &mut [(u8, u8); LISTED]) -> usize {
    let mut n = 0;
    for bit in local::bits(cells) {
        let place = PLACE[bit as usize];
        let mut left = found[usize::from(place) - CORE];
        let end = n + left.count_ones() as usize;
        loop {
            for slot in &mut out[n..n + AT_ONCE] {
                *slot = (place, left.trailing_zeros() as u8);
                left &= left.wrapping_sub(1);
            }
            n += AT_ONCE;
            if n >= end {
                break;
            }
        }
        n = end;
    }
    n
}

const fn offset(direction: usize) -> i32 {
    let d = DIRECTIONS[direction];
    d[0] + d[1] * ROW as i32 + d[2] * PLANE as i32
}

/// From a place to the lowest place of the box of cells that touch it and the one in `direction`.
const fn box_start(direction: usize) -> i32 {
    let d = DIRECTIONS[direction];
    (if d[0] < 0 { -1 } else { 0 }) + (if d[1] < 0 { -(ROW as i32) } else { 0 })
}

/// From a place to the one in each direction; those from 13 on are those from 0 on, the other way.
const OFFSETS: [i32; 32] = {
    let mut table = [0; 32];
    let mut direction = 0;
    while direction < 13 {
        table[direction] = offset(direction);
        table[direction + 13] = -offset(direction);
        direction += 1;
    }
    table
};

/// One bit a direction for each place of the core span: 0 to 12, and 13 to 25 the other way if there
/// are coarser cells, whose own patches do not look back at finer ones.
#[inline(always)]
fn surviving_directions(patch: &Patch, boxes: &mut BoxMaxima) -> [u32; 4 * PLANE] {
    boxes.fill_in(&patch.rho);
    let mut found = [0; 4 * PLANE];
    boxes.mark_all::<false>(patch, &mut found);
    if patch.has_coarser {
        boxes.mark_all::<true>(patch, &mut found);
    }
    found
}

/// Maxima over the boxes of cells that touch both cells of a contact, by the shape of the box: two or
/// three cells along x, y, z; three centred, two from the place on.
struct BoxMaxima {
    x2: Values,
    x3: Values,
    x2y2: Values,
    x2y3: Values,
    x3y2: Values,
    x3y3: Values,
    b233: Values,
    b223: Values,
    b323: Values,
    b222: Values,
    b322: Values,
    b232: Values,
    b332: Values,
}

impl Default for BoxMaxima {
    fn default() -> Self {
        let none = [0.0; LEN];
        let [x2, x3, x2y2, x2y3, x3y2, x3y3] = [none; 6];
        let [b233, b223, b323, b222, b322, b232, b332] = [none; 7];
        Self { x2, x3, x2y2, x2y3, x3y2, x3y3, b233, b223, b323, b222, b322, b232, b332 }
    }
}

impl BoxMaxima {
    #[inline(always)]
    fn fill_in(&mut self, rho: &Values) {
        max2::<1>(rho, &mut self.x2);
        max3::<1, LEN>(rho, &mut self.x3);
        max2::<ROW>(&self.x2, &mut self.x2y2);
        max3::<ROW, LEN>(&self.x2, &mut self.x2y3);
        max2::<ROW>(&self.x3, &mut self.x3y2);
        max3::<ROW, LEN>(&self.x3, &mut self.x3y3);
        max3::<PLANE, LEN>(&self.x2y3, &mut self.b233);
        max3::<PLANE, LEN>(&self.x2y2, &mut self.b223);
        max3::<PLANE, LEN>(&self.x3y2, &mut self.b323);
        max2::<PLANE>(&self.x2y2, &mut self.b222);
        max2::<PLANE>(&self.x3y2, &mut self.b322);
        max2::<PLANE>(&self.x2y3, &mut self.b232);
        max2::<PLANE>(&self.x3y3, &mut self.b332);
    }

    #[inline(always)]
    fn mark_all<const BACK: bool>(&self, patch: &Patch, found: &mut [u32; 4 * PLANE]) {
        mark::<0, BACK>(patch, &self.b233, found);
        mark::<1, BACK>(patch, &self.b223, found);
        mark::<2, BACK>(patch, &self.b323, found);
        mark::<3, BACK>(patch, &self.b223, found);
        mark::<4, BACK>(patch, &self.b222, found);
        mark::<5, BACK>(patch, &self.b322, found);
        mark::<6, BACK>(patch, &self.b222, found);
        mark::<7, BACK>(patch, &self.b232, found);
        mark::<8, BACK>(patch, &self.b332, found);
        mark::<9, BACK>(patch, &self.b232, found);
        mark::<10, BACK>(patch, &self.b222, found);
        mark::<11, BACK>(patch, &self.b322, found);
        mark::<12, BACK>(patch, &self.b222, found);
    }
}

/// Sets the bit of direction `D`, or of the opposite one with a coarser cell at its end, at every place
/// of the core whose contact that way is between two patches and not strictly lower than a way around
/// through the box's maximum.
#[inline(always)]
fn mark<const D: usize, const BACK: bool>(patch: &Patch, box_max: &Values, found: &mut [u32; 4 * PLANE]) {
    let (offset, start) = (const { offset(D) }, const { box_start(D) });
    let bit = 1 << (D + if BACK { 13 } else { 0 });
    for plane in 0..4 {
        let from = CORE + plane * PLANE;
        let other = (from as i32 + if BACK { -offset } else { offset }) as usize;
        let corner = (if BACK { other } else { from } as i32 + start) as usize;
        for i in 0..CORE_LEN {
            let (a, b) = (patch.rho[from + i], patch.rho[other + i]);
            let open = box_max[corner + i] <= STRICTLY * larger(a, b);
            let foreign = patch.label[from + i] != patch.label[other + i];
            let coarser = patch.test[other + i] < patch.first_of_level;
            let hit = open & foreign & (b > 0.0) & (coarser | !BACK);
            found[plane * PLANE + i] |= if hit { bit } else { 0 };
        }
    }
}
