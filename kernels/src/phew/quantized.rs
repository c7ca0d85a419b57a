//! Densities and labels of a patch as 16-bit numbers that compare as they do.

use super::block::{Block, LEN, WHOLE};
use crate::ids::CellIdx;

/// Places from the first of the core on that are looked at together: to the last, and on to whole vectors.
pub const SPAN: usize = 160;

/// One number a place.
pub type Numbers = [u16; LEN];

/// Of bits of a density in single precision, how many are never told apart: one density exceeds another by more than
/// [`STRICTLY`](super::saddle::STRICTLY) if its number without them exceeds the other's by two.
const LEAST_SHIFT: u32 = 4;

/// How much denser than another a cell may be if the sum with it is to tell two lesser ones apart.
const FAR: f32 = (1 << 30) as f32;

/// The numbers of a patch.
#[derive(Debug)]
pub struct QuantizedBlock {
    /// Numbers that do not descend as densities ascend; 0 where there is no cell.
    pub rho: Numbers,
    /// What the number of a cell must exceed to be that of a strictly denser one.
    pub above: Numbers,
    /// The low bits of labels less the least of the patch; meaningless where there is no cell.
    pub label: Numbers,
    /// The high bits, unless labels are short.
    pub label_high: Numbers,
    /// Whether `label` tells all labels apart.
    pub labels_are_short: bool,
    /// Whether of two sums with one density that of the strictly greater one is always greater.
    pub tells_sums_apart: bool,
}

impl Default for QuantizedBlock {
    fn default() -> Self {
        let [rho, above, label, label_high] = [[0; LEN]; 4];
        Self { rho, above, label, label_high, labels_are_short: false, tells_sums_apart: false }
    }
}

impl QuantizedBlock {
    /// Those of a patch with cells.
    #[inline(always)]
    pub fn fill_in(&mut self, patch: &Block<CellIdx>) {
        let [low, high] = range(patch, |i| patch.rho[i].to_bits());
        self.tells_sums_apart = f32::from_bits(high) <= FAR * f32::from_bits(low);
        let shift = (u32::BITS - (high - low).leading_zeros()).saturating_sub(u16::BITS).max(LEAST_SHIFT);
        for i in WHOLE {
            // The bits of positive numbers ascend as they do.
            let number = (patch.rho[i].to_bits().wrapping_sub(low) >> shift).saturating_add(1);
            let number = number.min(u32::from(u16::MAX)) as u16;
            self.rho[i] = if patch.rho[i] > 0.0 { number } else { 0 };
            self.above[i] = self.rho[i].saturating_add(1);
        }
        let [first, last] = range(patch, |i| patch.label[i]);
        self.labels_are_short = last - first <= u32::from(u16::MAX);
        for i in WHOLE {
            self.label[i] = patch.label[i].wrapping_sub(first) as u16;
        }
        if !self.labels_are_short {
            for i in WHOLE {
                self.label_high[i] = (patch.label[i].wrapping_sub(first) >> u16::BITS) as u16;
            }
        }
    }
}

/// The least and the greatest number of the cells.
#[inline(always)]
fn range(patch: &Block<CellIdx>, number: impl Fn(usize) -> u32) -> [u32; 2] {
    let (mut least, mut greatest) = (u32::MAX, 0);
    for i in WHOLE {
        let is_cell = patch.rho[i] > 0.0;
        least = least.min(if is_cell { number(i) } else { u32::MAX });
        greatest = greatest.max(if is_cell { number(i) } else { 0 });
    }
    [least, greatest]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phew::saddle::STRICTLY;

    /// All places but the first.
    const CELLS: std::ops::Range<usize> = WHOLE.start + 1..WHOLE.end;

    /// A patch whose densities lie up to so many powers of two apart, some nearly the same, one missing.
    fn patch(powers: f32) -> Block<CellIdx> {
        let mut patch = Block::<CellIdx>::default();
        for i in CELLS {
            let exponent = powers * ((i * 89 % LEN) / 2 * 2) as f32 / LEN as f32;
            patch.rho[i] = 1e-20 * exponent.exp2() * (1.0 + (i % 5) as f32 * f32::EPSILON);
        }
        patch
    }

    #[test]
    fn numbers_compare_as_densities_do() {
        for powers in [0.0, 1e-5, 0.01, 1.0, 10.0, 29.0, 120.0] {
            let patch = patch(powers);
            let mut shorts = QuantizedBlock::default();
            shorts.fill_in(&patch);
            assert_eq!((shorts.rho[WHOLE.start], shorts.tells_sums_apart), (0, powers < 30.0));
            for (a, b) in CELLS.flat_map(|a| CELLS.map(move |b| (a, b))) {
                let (rho_a, rho_b) = (patch.rho[a], patch.rho[b]);
                assert!(rho_a > rho_b || shorts.rho[a] <= shorts.rho[b], "{rho_a} {rho_b}");
                let is_above = shorts.rho[b] > shorts.above[a];
                assert!(!is_above || rho_b > STRICTLY * rho_a, "{rho_a} {rho_b}");
                assert!(is_above || powers > 30.0 || rho_b < 1.002 * rho_a, "{rho_a} {rho_b}");
            }
        }
    }

    #[test]
    fn labels_are_short_where_they_lie_close() {
        for (stride, are_short) in [(1, true), (300, false), (1 << 16, false)] {
            let mut patch = patch(1.0);
            patch.label = std::array::from_fn(|i| 7_000_000 + stride * i as u32);
            let mut shorts = QuantizedBlock::default();
            shorts.fill_in(&patch);
            assert_eq!(shorts.labels_are_short, are_short);
            for (a, b) in CELLS.flat_map(|a| CELLS.map(move |b| (a, b))) {
                let low = shorts.label[a] == shorts.label[b];
                let same = low && (are_short || shorts.label_high[a] == shorts.label_high[b]);
                assert_eq!(same, a == b);
            }
        }
    }
}
