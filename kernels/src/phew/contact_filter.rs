//! Which contacts of the cells of a brick may be in the forest? Found by wide compares on the brick's patch.
//!
//! A contact is dropped if two others exceed it on a way around, through a cell that touches both of its own and is
//! denser than either; or if one other exceeds it, between the same patches: through a denser cell of the patch of one
//! of its cells that touches the other one.
//!
//! Of several ways to a coarser cell, which stands at several places, only the shortest counts.
//!
//! What is compared are 16-bit numbers, twice as many at a time as the densities and labels that they stand for: see
//! [`super::quantized`].

use super::block::{Block, CORE, LEN, OWN, PLACE, PLANE, ROW, WHOLE};
use super::quantized::{Numbers, QuantizedBlock, SPAN};
use crate::ids::CellIdx;
use crate::mesh::local;
use crate::simd::larger;

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

/// Bits of places, indexed from [`CORE`] on.
type Bits = [u16; SPAN];

/// One bit a direction for each place of the core.
#[derive(Debug)]
pub struct CellBits {
    same: Bits,
    /// The other way, to coarser cells, whose own patches do not look back at finer ones.
    coarser: Bits,
    /// The own cells that have any, in the order of [`OWN`].
    pub cells: u64,
}

impl CellBits {
    /// The bits of a place of the core: 0 to 12 of the directions, 13 to 25 of the other way.
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

/// From a place to the lowest place of the box of cells that touch it and the one in `direction`.
const fn box_start(direction: usize) -> i32 {
    let d = DIRECTIONS[direction];
    (if d[0] < 0 { -1 } else { 0 }) + (if d[1] < 0 { -(ROW as i32) } else { 0 })
}

/// All steps: no contact leads to such a place.
const CLOSED: u16 = u16::MAX;

/// The bit of the step along `axis`, and of the one back.
const fn step(axis: usize) -> [u16; 2] {
    [1 << axis, 1 << (axis + 3)]
}

/// From the bit of a step to the one that says of a cell of the brick that the step stays in its oct.
const STAYS: u32 = 6;
/// All of these, for coarser cells: what is reached by a step that stays is also reached without it.
const COARSER: u16 = 0x3f << STAYS;

/// The steps from each cell of the brick that stay in its oct.
const STAYING: Numbers = {
    let (mut table, mut bit) = ([0; LEN], 0);
    while bit < 64 {
        let mut axis = 0;
        while axis < 3 {
            table[PLACE[bit] as usize] |= step(axis)[bit >> axis & 1] << STAYS;
            axis += 1;
        }
        bit += 1;
    }
    table
};

/// The steps that `way` in `direction` consists of.
const fn along(direction: usize, way: i32) -> u16 {
    let (mut mask, mut axis) = (0, 0);
    while axis < 3 {
        let [forth, back] = step(axis);
        mask |= match way * DIRECTIONS[direction][axis] {
            1 => forth,
            -1 => back,
            _ => 0,
        };
        axis += 1;
    }
    mask
}

/// Of the steps from the far cell of a contact in `direction`, taken `way` (1 or -1), those to other cells that touch
/// the near one.
const fn beside(direction: usize, way: i32) -> u16 {
    let d = DIRECTIONS[direction];
    let is_face = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] == 1;
    let (mut mask, mut axis) = (0, 0);
    while axis < 3 {
        let [forth, back] = step(axis);
        mask |= match way * d[axis] {
            0 => forth | back,
            1 if !is_face => back,
            -1 if !is_face => forth,
            _ => 0,
        };
        axis += 1;
    }
    mask
}

/// A direction as seen from a place of the core.
#[derive(Clone, Copy)]
struct Way {
    /// To the other cell.
    offset: i32,
    /// To the first place of the box of cells that touch both.
    corner: i32,
    /// Which of the [`BoxMaxima`] is that of the box.
    shape: usize,
    /// Steps from here to cells that touch the other one.
    steps_here: u16,
    /// Steps from the other cell to cells that touch this one.
    steps_there: u16,
    /// Steps of the way itself, as bits of [`STAYING`].
    along: u16,
}

/// The directions, and from 13 on the same the other way.
const WAYS: [Way; 26] = {
    let none = Way { offset: 0, corner: 0, shape: 0, steps_here: 0, steps_there: 0, along: 0 };
    let (mut table, mut d) = ([none; 26], 0);
    while d < 13 {
        let (offset, corner) = (offset(d), box_start(d));
        let (forth, back) = (beside(d, 1), beside(d, -1));
        let shape = shape(d);
        table[d] =
            Way { offset, corner, shape, steps_here: back, steps_there: forth, along: along(d, 1) << STAYS };
        let corner = corner - offset;
        table[d + 13] = Way {
            offset: -offset,
            corner,
            shape,
            steps_here: forth,
            steps_there: back,
            along: along(d, -1) << STAYS,
        };
        d += 1;
    }
    table
};

/// From a place to the one at the end of each way.
pub const OFFSETS: [i32; 32] = {
    let (mut table, mut bit) = ([0; 32], 0);
    while bit < 26 {
        table[bit] = WAYS[bit].offset;
        bit += 1;
    }
    table
};

/// Two or three cells along each axis: three where the two cells of a contact are side by side there.
const fn shape(direction: usize) -> usize {
    let d = DIRECTIONS[direction];
    (if d[0] == 0 { 1 } else { 0 }) + (if d[1] == 0 { 2 } else { 0 }) + (if d[2] == 0 { 4 } else { 0 })
}

/// What the marks of a brick are made from.
#[derive(Debug)]
pub struct ContactFilter {
    shorts: QuantizedBlock,
    boxes: BoxMaxima,
    /// For each place, along which steps there is a denser cell of the same patch, with the bits of [`STAYING`] and
    /// [`COARSER`]; [`CLOSED`] where there is no cell.
    rises: Numbers,
    /// The same, with all but coarser cells closed.
    coarser: Numbers,
}

impl Default for ContactFilter {
    fn default() -> Self {
        let [rises, coarser] = [[CLOSED; LEN]; 2];
        Self { shorts: QuantizedBlock::default(), boxes: BoxMaxima::default(), rises, coarser }
    }
}

impl ContactFilter {
    /// The contacts of a brick that survive.
    #[inline(always)]
    pub fn mark(&mut self, patch: &Block<CellIdx>) -> CellBits {
        self.shorts.fill_in(patch);
        match self.shorts.labels_are_short {
            true => self.mark_all::<true>(patch),
            false => self.mark_all::<false>(patch),
        }
    }

    #[inline(always)]
    fn mark_all<const SHORT: bool>(&mut self, patch: &Block<CellIdx>) -> CellBits {
        self.boxes.fill_in(&self.shorts.rho);
        self.rise::<SHORT>();
        let mut marks = CellBits { same: [0; SPAN], coarser: [0; SPAN], cells: 0 };
        if patch.has_coarser {
            for i in WHOLE {
                let coarser = u16::from(patch.index[i] < patch.first_of_level).wrapping_neg();
                self.rises[i] |= COARSER & coarser;
                self.coarser[i] = self.rises[i] | CLOSED & !coarser;
            }
            for (bit, way) in WAYS[13..].iter().enumerate() {
                self.mark_way::<SHORT>(way, 1 << bit, &self.coarser, &mut marks.coarser);
            }
        }
        for (bit, way) in WAYS[..13].iter().enumerate() {
            self.mark_way::<SHORT>(way, 1 << bit, &self.rises, &mut marks.same);
        }
        marks.cells = self.marked(&marks);
        marks
    }

    /// The own cells that are marked.
    #[inline(always)]
    fn marked(&self, marks: &CellBits) -> u64 {
        let rises = &self.rises[CORE..][..SPAN];
        let (mut any, mut own) = ([0; SPAN], [0; 64]);
        for i in 0..SPAN {
            let is_own = rises[i] & COARSER != COARSER;
            any[i] = u8::from(is_own & (marks.same[i] | marks.coarser[i] != 0));
        }
        for (row, first) in own.chunks_exact_mut(4).zip(OWN.iter().step_by(4)) {
            row.copy_from_slice(&any[usize::from(*first) - CORE..][..4]);
        }
        local::bits_of(&own)
    }

    /// Whether each place is one of a cell, and where it has denser ones of its patch beside it.
    #[inline(always)]
    fn rise<const SHORT: bool>(&mut self) {
        let QuantizedBlock { rho, above, label, label_high, .. } = &self.shorts;
        let counts = if self.shorts.tells_sums_apart { u16::MAX } else { 0 };
        for i in WHOLE {
            let is_rise = |there: usize| {
                let is_same = (label[i] == label[there]) & (SHORT | (label_high[i] == label_high[there]));
                u16::from(is_same & (rho[there] > above[i])).wrapping_neg()
            };
            let mut rises = 0;
            for (axis, offset) in [1, ROW, PLANE].into_iter().enumerate() {
                let [forth, back] = step(axis);
                rises |= is_rise(i + offset) & forth | is_rise(i - offset) & back;
            }
            let no_cell = u16::from(rho[i] == 0).wrapping_neg();
            self.rises[i] = rises & counts | STAYING[i] | CLOSED & no_cell;
        }
    }

    /// Sets the bit of a way, which leads `there`, at every place of the core whose contact that way is between two
    /// patches, not strictly lower than a way around, and not reached by fewer steps.
    ///
    /// One loop for all ways: with offsets that it knows the compiler shuffles registers in place of loads.
    #[inline(always)]
    fn mark_way<const SHORT: bool>(&self, way: &Way, bit: u16, there: &Numbers, marks: &mut Bits) {
        let QuantizedBlock { above, label, label_high, .. } = &self.shorts;
        let [other, corner] = [way.offset, way.corner].map(|offset| (CORE as i32 + offset) as usize);
        let (above, others_above) = (&above[CORE..][..SPAN], &above[other..][..SPAN]);
        let box_max = &self.boxes.of_shape[way.shape][corner..][..SPAN];
        let (low, others_low) = (&label[CORE..][..SPAN], &label[other..][..SPAN]);
        let (high, others_high) = (&label_high[CORE..][..SPAN], &label_high[other..][..SPAN]);
        let (rises, others_rises) = (&self.rises[CORE..][..SPAN], &there[other..][..SPAN]);
        for i in 0..SPAN {
            let open = box_max[i] <= larger(above[i], others_above[i]);
            let foreign = (low[i] != others_low[i]) | (!SHORT & (high[i] != others_high[i]));
            let exceeded = rises[i] & way.steps_here | others_rises[i] & way.steps_there;
            let is_detour = rises[i] & others_rises[i] & way.along;
            marks[i] |= if open & foreign & (exceeded | is_detour == 0) { bit } else { 0 };
        }
    }
}

/// Maxima over the boxes of cells that touch both cells of a contact, two or three along an axis: three from the one
/// before the place on, two from the place on.
#[derive(Debug)]
struct BoxMaxima {
    x2: Numbers,
    x3: Numbers,
    x2y2: Numbers,
    x2y3: Numbers,
    x3y2: Numbers,
    x3y3: Numbers,
    /// By [`shape`].
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

/// The larger of each place and the one `OFFSET` further, and the largest of these and the one `OFFSET` before.
#[inline(always)]
fn maxima<const OFFSET: usize>(numbers: &Numbers, of_two: &mut Numbers, of_three: &mut Numbers) {
    for i in WHOLE {
        of_two[i] = larger(numbers[i], numbers[i + OFFSET]);
        of_three[i] = larger(of_two[i], numbers[i - OFFSET]);
    }
}
