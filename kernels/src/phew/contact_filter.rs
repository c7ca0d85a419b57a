//! Contact filter: which contacts of a brick's cells may be in the forest?
//!
//! Place in the flow: [`super::saddle`] calls it with the block of every brick, and lists the contacts that
//! are left. It uses densities and labels of one block, but no saddles, peaks or other bricks.
//!
//! A contact joins two touching cells of different patches. It cannot be in the maximum spanning forest if it
//! is strictly the lowest edge of a cycle. Two kinds of cycles are visible inside a block:
//!
//! - *Through a third cell C* that touches both cells A and B of the contact and is denser than either: A-C
//!   and C-B are both higher than A-B, whatever the patch of C is. All common neighbours of A and B fill a
//!   box of 2 or 3 cells along each axis, so the test is one maximum over a box:
//!
//! ```text
//!     face contact A-B           edge contact A-B          (one plane z of the block;
//!     box 2 x 3 (x 3)            box 2 x 2 (x 3)            A and B are in the box too)
//!
//!     . C C .                    . . . .
//!     . A B .                    . C B .
//!     . C C .                    . A C .
//! ```
//!
//! - *Inside a patch*: a cell A' of the patch of A that is denser than A and touches B. Then A'-B joins the
//!   same two patches higher up. Only A' that share a face with A are tried: six steps, one bit each.
//!
//! ```text
//!     bit    0   1   2   3   4   5          a step from A in bit order; bits 6 to 11
//!     step  +x  +y  +z  -x  -y  -z          repeat them for "the step stays in the oct of A"
//! ```
//!
//! Each contact of two cells of one level is looked for once, in 13 of the 26 directions. The block of a
//! coarser cell does not contain finer ones, so a contact with a coarser cell is looked for in all 26
//! directions from the finer cell:
//!
//! ```text
//!     z = 0 (own plane)   z = 1 (next plane)
//!       1  2  3             10 11 12          bits 0 to 12; bit d + 13 is the direction
//!       .  A  0              7  8  9          opposite to d, to coarser cells only
//!       .  .  .              4  5  6
//! ```
//!
//! A coarser cell fills several places of the block, so several directions lead to it. Only the nearest place
//! counts: a direction is dropped if one of its steps stays in the oct of the finer cell, because the coarser
//! cell is then reached without that step too.
//!
//! The compared numbers have 16 bits. So a vector holds twice as many of them as of the densities and labels
//! that they represent: see [`super::quantized`]. The test module has the same rules as plain loops over
//! cells.

use super::block::{Block, CORE, LEN, OWN, PLACE, PLANE, ROW, WHOLE};
use super::quantized::{Numbers, QuantizedBlock, SPAN};
use crate::ids::CellIdx;
use crate::mesh::local;
use crate::simd::larger;

/// The 13 directions in which contacts are looked for: steps along x, y and z.
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

/// One set of bits per place, from [`CORE`] on.
type Bits = [u16; SPAN];

/// The contacts that are left: one bit per direction for each place from [`CORE`] on.
#[derive(Debug)]
pub struct CellBits {
    /// In the 13 directions, to cells of the same level or a coarser one.
    same: Bits,
    /// In the 13 opposite directions, to coarser cells only.
    coarser: Bits,
    /// The brick's own cells that have a contact left, in the order of [`OWN`].
    pub cells: u64,
}

impl CellBits {
    #[inline(always)]
    fn none() -> Self {
        Self { same: [0; SPAN], coarser: [0; SPAN], cells: 0 }
    }

    /// The directions of the contacts left at a place: bits 0 to 12, and 13 to 25 for the opposite ones.
    #[inline(always)]
    pub fn at(&self, place: usize) -> u32 {
        let i = place - CORE;
        u32::from(self.same[i]) | u32::from(self.coarser[i]) << 13
    }
}

const fn offset(direction: usize) -> i32 {
    let d = DIRECTIONS[direction];
    d[0] + d[1] * ROW as i32 + d[2] * PLANE as i32
}

/// From a place to the first place of the box of common neighbours of it and the place in `direction`.
const fn box_start(direction: usize) -> i32 {
    let d = DIRECTIONS[direction];
    (if d[0] < 0 { -1 } else { 0 }) + (if d[1] < 0 { -(ROW as i32) } else { 0 })
}

/// All steps: the mark of a place without a cell, which no contact leads to.
const NO_CELL: u16 = u16::MAX;

/// The bits of the steps up and down `axis`.
const fn step(axis: usize) -> [u16; 2] {
    [1 << axis, 1 << (axis + 3)]
}

/// From the bit of a step to the bit that says that the step stays in the oct of the cell.
const IN_OCT: u32 = 6;
/// All of the latter: the mark of coarser cells, which every step in an oct reaches as well as no step.
const COARSER: u16 = 0x3f << IN_OCT;

/// The steps from each cell of the brick that stay in its oct.
const STEPS_IN_OCT: Numbers = {
    let (mut table, mut bit) = ([0; LEN], 0);
    while bit < 64 {
        let mut axis = 0;
        while axis < 3 {
            table[PLACE[bit] as usize] |= step(axis)[bit >> axis & 1] << IN_OCT;
            axis += 1;
        }
        bit += 1;
    }
    table
};

/// The steps that `direction` consists of, or the opposite one if `sign` is -1.
const fn own_steps(direction: usize, sign: i32) -> u16 {
    let (mut mask, mut axis) = (0, 0);
    while axis < 3 {
        let [forth, back] = step(axis);
        mask |= match sign * DIRECTIONS[direction][axis] {
            1 => forth,
            -1 => back,
            _ => 0,
        };
        axis += 1;
    }
    mask
}

/// The steps from the second cell of a contact in `direction` (opposite if `sign` is -1) to common neighbours
/// of both.
const fn steps_to_common(direction: usize, sign: i32) -> u16 {
    let d = DIRECTIONS[direction];
    let is_face = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] == 1;
    let (mut mask, mut axis) = (0, 0);
    while axis < 3 {
        let [forth, back] = step(axis);
        mask |= match sign * d[axis] {
            0 => forth | back,
            1 if !is_face => back,
            -1 if !is_face => forth,
            _ => 0,
        };
        axis += 1;
    }
    mask
}

/// A direction from one cell of a contact, A, to the other, B.
#[derive(Clone, Copy)]
struct Direction {
    /// From the place of A to that of B.
    offset: i32,
    /// From the place of A to the first place of the box of common neighbours.
    corner: i32,
    /// The index of the box in [`BoxMaxima::of_shape`].
    shape: usize,
    /// Steps from A to neighbours of B.
    steps_here: u16,
    /// Steps from B to neighbours of A.
    steps_there: u16,
    /// The steps of the direction itself, as bits of [`STEPS_IN_OCT`].
    own_steps: u16,
}

/// The 13 directions, then the 13 opposite ones.
const ALL: [Direction; 26] = {
    let none = Direction { offset: 0, corner: 0, shape: 0, steps_here: 0, steps_there: 0, own_steps: 0 };
    let (mut table, mut d) = ([none; 26], 0);
    while d < 13 {
        let (offset, corner) = (offset(d), box_start(d));
        let (forth, back) = (steps_to_common(d, 1), steps_to_common(d, -1));
        let shape = shape(d);
        table[d] = Direction {
            offset,
            corner,
            shape,
            steps_here: back,
            steps_there: forth,
            own_steps: own_steps(d, 1) << IN_OCT,
        };
        let corner = corner - offset;
        table[d + 13] = Direction {
            offset: -offset,
            corner,
            shape,
            steps_here: forth,
            steps_there: back,
            own_steps: own_steps(d, -1) << IN_OCT,
        };
        d += 1;
    }
    table
};

/// From a place to its neighbour in each direction, by the bits of [`CellBits::at`].
pub const OFFSETS: [i32; 32] = {
    let (mut table, mut bit) = ([0; 32], 0);
    while bit < 26 {
        table[bit] = ALL[bit].offset;
        bit += 1;
    }
    table
};

/// The shape of the box of common neighbours, one bit per axis: 3 cells along the axes along which the
/// contact does not step, else 2.
const fn shape(direction: usize) -> usize {
    let d = DIRECTIONS[direction];
    (if d[0] == 0 { 1 } else { 0 }) + (if d[1] == 0 { 2 } else { 0 }) + (if d[2] == 0 { 4 } else { 0 })
}

/// The filter with its arrays, which are reused from brick to brick.
#[derive(Debug)]
pub struct ContactFilter {
    quantized: QuantizedBlock,
    box_maxima: BoxMaxima,
    /// For each place the steps to denser cells of the same patch, the bits of [`STEPS_IN_OCT`], and
    /// [`COARSER`]; [`NO_CELL`] where there is no cell.
    steps: Numbers,
    /// The same, with all but coarser cells marked [`NO_CELL`].
    coarser_steps: Numbers,
}

impl Default for ContactFilter {
    fn default() -> Self {
        let [steps, coarser_steps] = [[NO_CELL; LEN]; 2];
        Self { quantized: QuantizedBlock::default(), box_maxima: BoxMaxima::default(), steps, coarser_steps }
    }
}

impl ContactFilter {
    /// The contacts of the cells of the brick in the middle of `block` that may be in the forest.
    #[inline(always)]
    pub fn filter(&mut self, block: &Block<CellIdx>) -> CellBits {
        if !self.quantized.fill_in(block) {
            return CellBits::none();
        }
        match self.quantized.labels_are_short {
            true => self.filter_all::<true>(block),
            false => self.filter_all::<false>(block),
        }
    }

    #[inline(always)]
    fn filter_all<const SHORT: bool>(&mut self, block: &Block<CellIdx>) -> CellBits {
        self.box_maxima.fill_in(&self.quantized.rho);
        self.find_steps::<SHORT>();
        let mut kept = CellBits::none();
        if block.has_coarser {
            for i in WHOLE {
                let coarser = u16::from(block.index[i] < block.first_of_level).wrapping_neg();
                self.steps[i] |= COARSER & coarser;
                self.coarser_steps[i] = self.steps[i] | NO_CELL & !coarser;
            }
            for (bit, direction) in ALL[13..].iter().enumerate() {
                self.keep_along::<SHORT>(direction, 1 << bit, &self.coarser_steps, &mut kept.coarser);
            }
        }
        for (bit, direction) in ALL[..13].iter().enumerate() {
            self.keep_along::<SHORT>(direction, 1 << bit, &self.steps, &mut kept.same);
        }
        kept.cells = self.own_cells_with(&kept);
        kept
    }

    /// The brick's own cells that have a contact left.
    #[inline(always)]
    fn own_cells_with(&self, kept: &CellBits) -> u64 {
        let steps = &self.steps[CORE..][..SPAN];
        let (mut any, mut own) = ([0; SPAN], [0; 64]);
        for i in 0..SPAN {
            let is_own = steps[i] & COARSER != COARSER;
            any[i] = u8::from(is_own & (kept.same[i] | kept.coarser[i] != 0));
        }
        for (row, first) in own.chunks_exact_mut(4).zip(OWN.iter().step_by(4)) {
            row.copy_from_slice(&any[usize::from(*first) - CORE..][..4]);
        }
        local::bits_of(&own)
    }

    /// Fills [`Self::steps`], but for coarser cells.
    #[inline(always)]
    fn find_steps<const SHORT: bool>(&mut self) {
        let QuantizedBlock { rho, above, label, label_high, .. } = &self.quantized;
        let counts = if self.quantized.tells_sums_apart { u16::MAX } else { 0 };
        for i in WHOLE {
            let is_denser = |there: usize| {
                let is_same = (label[i] == label[there]) & (SHORT | (label_high[i] == label_high[there]));
                u16::from(is_same & (rho[there] > above[i])).wrapping_neg()
            };
            let mut steps = 0;
            for (axis, offset) in [1, ROW, PLANE].into_iter().enumerate() {
                let [forth, back] = step(axis);
                steps |= is_denser(i + offset) & forth | is_denser(i - offset) & back;
            }
            let no_cell = u16::from(rho[i] == 0).wrapping_neg();
            self.steps[i] = steps & counts | STEPS_IN_OCT[i] | NO_CELL & no_cell;
        }
    }

    /// Sets `bit` at every place whose contact in `direction` is left: it joins two patches, no common
    /// neighbour is denser than both cells, no denser cell of either patch touches the other cell, and no
    /// fewer steps reach it. `there` are the marks of the second cell.
    ///
    /// One loop serves all directions. With constant offsets, the compiler would shuffle registers in place
    /// of loads.
    #[inline(always)]
    fn keep_along<const SHORT: bool>(
        &self,
        direction: &Direction,
        bit: u16,
        there: &Numbers,
        kept: &mut Bits,
    ) {
        let QuantizedBlock { above, label, label_high, .. } = &self.quantized;
        let [other, corner] =
            [direction.offset, direction.corner].map(|offset| (CORE as i32 + offset) as usize);
        let (above, others_above) = (&above[CORE..][..SPAN], &above[other..][..SPAN]);
        let box_max = &self.box_maxima.of_shape[direction.shape][corner..][..SPAN];
        let (low, others_low) = (&label[CORE..][..SPAN], &label[other..][..SPAN]);
        let (high, others_high) = (&label_high[CORE..][..SPAN], &label_high[other..][..SPAN]);
        let (steps, others_steps) = (&self.steps[CORE..][..SPAN], &there[other..][..SPAN]);
        for i in 0..SPAN {
            let is_highest = box_max[i] <= larger(above[i], others_above[i]);
            let is_between_patches = (low[i] != others_low[i]) | (!SHORT & (high[i] != others_high[i]));
            let is_exceeded = steps[i] & direction.steps_here | others_steps[i] & direction.steps_there;
            let is_detour = steps[i] & others_steps[i] & direction.own_steps;
            kept[i] |= if is_highest & is_between_patches & (is_exceeded | is_detour == 0) { bit } else { 0 };
        }
    }
}

/// Maxima over boxes of two or three places along each axis. A box of two begins at the place itself, a box
/// of three one place before it. One array per pass of the separable maximum: along x, then y, then z.
#[derive(Debug)]
struct BoxMaxima {
    x2: Numbers,
    x3: Numbers,
    x2y2: Numbers,
    x2y3: Numbers,
    x3y2: Numbers,
    x3y3: Numbers,
    /// By [`shape`]: the maxima over whole boxes.
    of_shape: [Numbers; 8],
}

impl Default for BoxMaxima {
    fn default() -> Self {
        let [x2, x3, x2y2, x2y3, x3y2, x3y3] = [[0; LEN]; 6];
        Self { x2, x3, x2y2, x2y3, x3y2, x3y3, of_shape: [[0; LEN]; 8] }
    }
}

impl BoxMaxima {
    #[inline(always)]
    fn fill_in(&mut self, rho: &Numbers) {
        let [b222, b322, b232, b332, b223, b323, b233, b333] = &mut self.of_shape;
        maxima::<1>(rho, &mut self.x2, &mut self.x3);
        maxima::<ROW>(&self.x2, &mut self.x2y2, &mut self.x2y3);
        maxima::<ROW>(&self.x3, &mut self.x3y2, &mut self.x3y3);
        maxima::<PLANE>(&self.x2y2, b222, b223);
        maxima::<PLANE>(&self.x3y2, b322, b323);
        maxima::<PLANE>(&self.x2y3, b232, b233);
        maxima::<PLANE>(&self.x3y3, b332, b333);
    }
}

/// Maxima of each place and the next one, and of these two and the one before; neighbours are `OFFSET` apart.
#[inline(always)]
fn maxima<const OFFSET: usize>(numbers: &Numbers, of_two: &mut Numbers, of_three: &mut Numbers) {
    for i in WHOLE {
        of_two[i] = larger(numbers[i], numbers[i + OFFSET]);
        of_three[i] = larger(of_two[i], numbers[i - OFFSET]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_blocks::{block, coordinates, place_at, places};
    use super::*;
    use proptest::prelude::*;

    /// The rules of the module as plain loops over cells: the directions left at an own cell, as
    /// [`CellBits::at`].
    fn plain(block: &Block<CellIdx>, place: usize) -> u32 {
        let mut quantized = QuantizedBlock::default();
        quantized.fill_in(block);
        let sign = |bit: usize| if bit < 13 { 1 } else { -1 };
        let directions = (0..26).map(|bit| (bit, DIRECTIONS[bit % 13].map(|step| sign(bit) * step as i64)));
        let at = coordinates(place);
        let kept = directions.filter(|(bit, direction)| {
            let other = place_at([0, 1, 2].map(|a| at[a] + direction[a]));
            let is_coarser = block.rho[other] > 0.0 && block.is_coarser(other);
            (block.rho[other] > 0.0)
                && (*bit < 13 || block.has_coarser && is_coarser)
                && block.label[place] != block.label[other]
                && !is_through_denser(&quantized, place, other)
                && !(quantized.tells_sums_apart
                    && (is_exceeded(block, &quantized, place, other)
                        || is_exceeded(block, &quantized, other, place)))
                && !(block.has_coarser && is_coarser && has_step_in_oct(at, *direction))
        });
        kept.fold(0, |bits, (bit, _)| bits | 1 << bit)
    }

    fn touch(a: usize, b: usize) -> bool {
        let (a, b) = (coordinates(a), coordinates(b));
        (0..3).all(|axis| (a[axis] - b[axis]).abs() <= 1)
    }

    /// Whether a common neighbour is denser than both cells.
    fn is_through_denser(quantized: &QuantizedBlock, a: usize, b: usize) -> bool {
        let above = quantized.above[a].max(quantized.above[b]);
        places().any(|c| touch(a, c) && touch(c, b) && quantized.rho[c] > above)
    }

    /// Whether a denser cell of the patch of `a` shares a face with `a` and touches `b`.
    fn is_exceeded(block: &Block<CellIdx>, quantized: &QuantizedBlock, a: usize, b: usize) -> bool {
        let faces = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0], [0, -1, 0], [0, 0, -1]];
        faces.into_iter().any(|face: [i64; 3]| {
            let at = coordinates(a);
            let next = [0, 1, 2].map(|axis| at[axis] + face[axis]);
            next.iter().all(|x| (0..6).contains(x)) && {
                let next = place_at(next);
                next != b
                    && touch(next, b)
                    && block.label[next] == block.label[a]
                    && quantized.rho[next] > quantized.above[a]
            }
        })
    }

    /// Own cells are at 1 to 4 along each axis, so octs begin at odd coordinates.
    fn has_step_in_oct(at: [i64; 3], direction: [i64; 3]) -> bool {
        (0..3).any(|a| direction[a] == if at[a] % 2 == 1 { 1 } else { -1 })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

        #[test]
        fn contacts_are_those_of_the_plain_rules(block in block()) {
            prop_assume!(block.rho.iter().any(|rho| *rho > 0.0));
            let kept = ContactFilter::default().filter(&block);
            for (i, place) in OWN.map(usize::from).into_iter().enumerate() {
                let is_own = block.rho[place] > 0.0 && !block.is_coarser(place);
                let expected = if is_own { plain(&block, place) } else { 0 };
                let found = if kept.cells >> i & 1 == 1 { kept.at(place) } else { 0 };
                prop_assert_eq!(found, expected, "cell {}", i);
            }
        }
    }
}
