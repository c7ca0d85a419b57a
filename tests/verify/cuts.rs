//! Random cuts of a box.

use crate::random::Random;

/// Cuts a box along random axes at random cells; one of several cells is kept whole with this probability.
pub fn random_cuts(
    low: [i64; 3],
    size: [i64; 3],
    whole: f64,
    random: &mut Random,
    boxes: &mut Vec<([i64; 3], [i64; 3])>,
) {
    let axis = random.below(3);
    if size[axis] < 3 || random.chance(whole) {
        boxes.push((low, size));
        return;
    }
    let n = 1 + random.below(size[axis] as usize - 1) as i64;
    let (mut first, mut other, mut second) = (size, low, size);
    (first[axis], other[axis], second[axis]) = (n, low[axis] + n, size[axis] - n);
    random_cuts(low, first, whole, random, boxes);
    random_cuts(other, second, whole, random, boxes);
}
