//! Which contacts of the cells of a brick may be in the forest? Found by wide compares on the brick's patch.
//!
//! A contact is dropped if two others exceed it on a way around, through a cell that touches both of its own and is
//! denser than either; or if one other exceeds it, between the same patches: through a denser cell of the patch of one
//! of its cells that touches the other one.

use super::patch::{CORE, CORE_LEN, LEN, PLANE, Patch, ROW, Values, max2, max3};
use super::saddle::STRICTLY;
use crate::wide::larger;

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

/// One bit a direction for each place of the core: 0 to 12, and 13 to 25 the other way if there
/// are coarser cells, whose own patches do not look back at finer ones. Indexed from [`CORE`] on.
pub type Marks = [u32; 4 * PLANE];

const fn offset(direction: usize) -> i32 {
    let d = DIRECTIONS[direction];
    d[0] + d[1] * ROW as i32 + d[2] * PLANE as i32
}

/// From a place to the lowest place of the box of cells that touch it and the one in `direction`.
const fn box_start(direction: usize) -> i32 {
    let d = DIRECTIONS[direction];
    (if d[0] < 0 { -1 } else { 0 }) + (if d[1] < 0 { -(ROW as i32) } else { 0 })
}

/// How much denser than another a cell may be if the sum with it is to tell two lesser ones apart.
const FAR: f32 = (1 << 30) as f32;

/// All steps: no contact leads to such a place.
const CLOSED: u32 = u32::MAX;

/// The bit of the step along `axis`, and of the one back.
const fn step(axis: usize) -> [u32; 2] {
    [1 << axis, 1 << (axis + 3)]
}

/// Of the steps from the far cell of a contact in `direction`, taken `way` (1 or -1), those to other cells that touch
/// the near one.
const fn beside(direction: usize, way: i32) -> u32 {
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
    steps_here: u32,
    /// Steps from the other cell to cells that touch this one.
    steps_there: u32,
}

/// The directions, and from 13 on the same the other way.
const WAYS: [Way; 26] = {
    let none = Way { offset: 0, corner: 0, shape: 0, steps_here: 0, steps_there: 0 };
    let (mut table, mut d) = ([none; 26], 0);
    while d < 13 {
        let (offset, corner) = (offset(d), box_start(d));
        let (forth, back) = (beside(d, 1), beside(d, -1));
        let shape = shape(d);
        table[d] = Way { offset, corner, shape, steps_here: back, steps_there: forth };
        let corner = corner - offset;
        table[d + 13] = Way { offset: -offset, corner, shape, steps_here: forth, steps_there: back };
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
pub struct Marker {
    boxes: BoxMaxima,
    /// Densities times [`STRICTLY`].
    above: Values,
    /// For each place, along which steps there is a denser cell of the same patch; [`CLOSED`] where there is no cell.
    rises: [u32; LEN],
    /// The same, with all but coarser cells closed.
    coarser: [u32; LEN],
}

impl Default for Marker {
    fn default() -> Self {
        Self { boxes: BoxMaxima::default(), above: [0.0; LEN], rises: [0; LEN], coarser: [0; LEN] }
    }
}

impl Marker {
    /// The contacts of a brick that survive.
    #[inline(always)]
    pub fn mark(&mut self, patch: &Patch) -> Marks {
        self.boxes.fill_in(&patch.rho);
        // The bits of positive numbers ascend as they do, and unlike them are compared side by side.
        let (mut least, mut greatest) = (u32::MAX, 0);
        for i in 0..LEN {
            let rho = patch.rho[i];
            self.above[i] = STRICTLY * rho;
            self.rises[i] = if rho > 0.0 { 0 } else { CLOSED };
            greatest = greatest.max(rho.to_bits());
            least = least.min(rho.to_bits().wrapping_sub(1));
        }
        if f32::from_bits(greatest) <= FAR * f32::from_bits(least) {
            self.rise::<0, 1>(patch);
            self.rise::<1, ROW>(patch);
            self.rise::<2, PLANE>(patch);
        }
        let mut marks = [0; 4 * PLANE];
        for bit in 0..13 {
            self.mark_way(patch, bit, &self.rises, &mut marks);
        }
        if patch.has_coarser {
            for i in 0..LEN {
                self.coarser[i] = if patch.test[i] < patch.first_of_level { self.rises[i] } else { CLOSED };
            }
            for bit in 13..26 {
                self.mark_way(patch, bit, &self.coarser, &mut marks);
            }
        }
        marks
    }

    #[inline(always)]
    fn rise<const AXIS: usize, const OFFSET: usize>(&mut self, patch: &Patch) {
        let [forth, back] = const { step(AXIS) };
        for i in 0..LEN - OFFSET {
            let is_same = patch.label[i] == patch.label[i + OFFSET];
            let is_rise = is_same & (patch.rho[i + OFFSET] > self.above[i]);
            self.rises[i] |= if is_rise { forth } else { 0 };
        }
        for i in OFFSET..LEN {
            let is_same = patch.label[i] == patch.label[i - OFFSET];
            let is_rise = is_same & (patch.rho[i - OFFSET] > self.above[i]);
            self.rises[i] |= if is_rise { back } else { 0 };
        }
    }

    /// Sets the bit of a way, from 13 on with a coarser cell at its end, at every place of the core whose contact that way
    /// is between two patches and not strictly lower than a way around.
    ///
    /// One loop for all ways: with offsets that it knows the compiler shuffles registers in place of loads.
    #[inline(always)]
    fn mark_way(&self, patch: &Patch, bit: usize, there: &[u32; LEN], marks: &mut Marks) {
        let way = &WAYS[bit];
        for plane in 0..4 {
            let from = CORE + plane * PLANE;
            let [other, corner] = [way.offset, way.corner].map(|offset| (from as i32 + offset) as usize);
            let (above, others_above) = (&self.above[from..][..CORE_LEN], &self.above[other..][..CORE_LEN]);
            let box_max = &self.boxes.of_shape[way.shape][corner..][..CORE_LEN];
            let (label, others_label) = (&patch.label[from..][..CORE_LEN], &patch.label[other..][..CORE_LEN]);
            let (rises, others_rises) = (&self.rises[from..][..CORE_LEN], &there[other..][..CORE_LEN]);
            let marks = &mut marks[plane * PLANE..][..CORE_LEN];
            for i in 0..CORE_LEN {
                let open = box_max[i] <= larger(above[i], others_above[i]);
                let foreign = label[i] != others_label[i];
                let exceeded = rises[i] & way.steps_here | others_rises[i] & way.steps_there;
                marks[i] |= if open & foreign & (exceeded == 0) { 1 << bit } else { 0 };
            }
        }
    }
}

/// Maxima over the boxes of cells that touch both cells of a contact, two or three along an axis: three from the one
/// before the place on, two from the place on.
#[derive(Debug)]
struct BoxMaxima {
    x2: Values,
    x3: Values,
    x2y2: Values,
    x2y3: Values,
    x3y2: Values,
    x3y3: Values,
    /// By [`shape`]; the last has none, as no contact is between a cell and itself.
    of_shape: [Values; 7],
}

impl Default for BoxMaxima {
    fn default() -> Self {
        let [x2, x3, x2y2, x2y3, x3y2, x3y3] = [[0.0; LEN]; 6];
        Self { x2, x3, x2y2, x2y3, x3y2, x3y3, of_shape: [[0.0; LEN]; 7] }
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
        let [b222, b322, b232, b332, b223, b323, b233] = &mut self.of_shape;
        max2::<PLANE>(&self.x2y2, b222);
        max2::<PLANE>(&self.x3y2, b322);
        max2::<PLANE>(&self.x2y3, b232);
        max2::<PLANE>(&self.x3y3, b332);
        max3::<PLANE, LEN>(&self.x2y2, b223);
        max3::<PLANE, LEN>(&self.x3y2, b323);
        max3::<PLANE, LEN>(&self.x2y3, b233);
    }
}
