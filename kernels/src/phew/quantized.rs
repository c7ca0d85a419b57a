//! Quantized block: the densities and labels of a block as 16-bit numbers that compare in the same way.
//!
//! Place in the flow: the first step of [`super::contact_filter`]. It uses one block.
//!
//! - *Densities.* The bits of positive floats ascend as the floats do. The bits of the least density of the
//!   block are subtracted from those of every density. The rest is shifted right until the greatest fits 16
//!   bits. Then 1 is added, so that 0 can stand for places without a cell. A number that exceeds another by
//!   *two* belongs to a strictly denser cell, because shifting loses less than one, and at least the last 4
//!   bits are always lost (more than [`STRICTLY`](super::test_cells::STRICTLY) needs). `above` is the number
//!   plus one: a cell is strictly denser if its number exceeds `above` of the other.
//!
//! ```text
//!     density     none   1.0   1.0 + 1e-7   1.001   2.0          (range 1 to 2: shift 8)
//!     number         0     1            1      33   32769
//!     above          1     2            2      34   32770
//!     strictly denser than 1.0?        no     yes     yes
//! ```
//!
//! - *Labels.* The least label of the block is subtracted. If the greatest then fits 16 bits, one comparison
//!   per pair of cells suffices; else the high bits are compared too.
//! - *Sums.* The filter compares saddles (sums of two densities) by their greater or lesser terms. If one
//!   density of the block is so great that adding it hides the difference of two others, `tells_sums_apart`
//!   is false.

use super::block::{Block, LEN, WHOLE};
use crate::ids::CellIdx;

/// Number of places from the first own cell to the last one, padded to whole vectors.
pub const SPAN: usize = 160;

/// One number per place.
pub type Numbers = [u16; LEN];

/// The least shift. Without its last 4 bits, a density whose number exceeds another's by two exceeds it by
/// more than [`STRICTLY`](super::test_cells::STRICTLY).
const LEAST_SHIFT: u32 = 4;

/// If the greatest density of a block is at most this multiple of the least one, sums with it still differ if
/// the other terms strictly differ.
const WIDEST: f32 = (1 << 30) as f32;

/// The numbers of a block.
#[derive(Debug)]
pub struct QuantizedBlock {
    /// Numbers of densities, which never descend as densities ascend; 0 where there is no cell.
    pub rho: Numbers,
    /// The number that a strictly denser cell must exceed.
    pub above: Numbers,
    /// The low 16 bits of the labels, less the least label of the block; undefined where there is no cell.
    pub label: Numbers,
    /// The high 16 bits; undefined if labels are short.
    pub label_high: Numbers,
    /// Whether `label` alone distinguishes all labels.
    pub labels_are_short: bool,
    /// Whether, for any density c and strictly different densities a > b, the sum a + c always exceeds b + c.
    pub tells_sums_apart: bool,
}

impl Default for QuantizedBlock {
    fn default() -> Self {
        let [rho, above, label, label_high] = [[0; LEN]; 4];
        Self { rho, above, label, label_high, labels_are_short: false, tells_sums_apart: false }
    }
}

impl QuantizedBlock {
    /// Makes the numbers of a block with at least one cell. Returns whether there are several labels; if not,
    /// there is no contact, and no number is made.
    #[inline(always)]
    pub fn fill_in(&mut self, block: &Block<CellIdx>) -> bool {
        let [first, last] = range(block, |i| block.label[i]);
        if first == last {
            return false;
        }
        let [low, high] = range(block, |i| block.rho[i].to_bits());
        self.tells_sums_apart = f32::from_bits(high) <= WIDEST * f32::from_bits(low);
        let shift = (u32::BITS - (high - low).leading_zeros()).saturating_sub(u16::BITS).max(LEAST_SHIFT);
        for i in WHOLE {
            // The bits of positive numbers ascend as they do.
            let number = (block.rho[i].to_bits().wrapping_sub(low) >> shift).saturating_add(1);
            let number = number.min(u32::from(u16::MAX)) as u16;
            self.rho[i] = if block.rho[i] > 0.0 { number } else { 0 };
            self.above[i] = self.rho[i].saturating_add(1);
        }
        self.labels_are_short = last - first <= u32::from(u16::MAX);
        for i in WHOLE {
            self.label[i] = block.label[i].wrapping_sub(first) as u16;
        }
        if !self.labels_are_short {
            for i in WHOLE {
                self.label_high[i] = (block.label[i].wrapping_sub(first) >> u16::BITS) as u16;
            }
        }
        true
    }
}

/// The least and the greatest of some number of each cell.
#[inline(always)]
fn range(block: &Block<CellIdx>, number: impl Fn(usize) -> u32) -> [u32; 2] {
    let (mut least, mut greatest) = (u32::MAX, 0);
    for i in WHOLE {
        let is_cell = block.rho[i] > 0.0;
        least = least.min(if is_cell { number(i) } else { u32::MAX });
        greatest = greatest.max(if is_cell { number(i) } else { 0 });
    }
    [least, greatest]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phew::test_cells::STRICTLY;

    /// The places with cells: all but the first.
    const CELLS: std::ops::Range<usize> = WHOLE.start + 1..WHOLE.end;

    /// A block whose densities are up to `powers` powers of two apart, some of them nearly equal, with two
    /// labels, and one place empty.
    fn block_of(powers: f32) -> Block<CellIdx> {
        let mut block = Block::<CellIdx>::default();
        for i in CELLS {
            let exponent = powers * ((i * 89 % LEN) / 2 * 2) as f32 / LEN as f32;
            block.rho[i] = 1e-20 * exponent.exp2() * (1.0 + (i % 5) as f32 * f32::EPSILON);
            block.label[i] = (i % 2) as u32;
        }
        block
    }

    #[test]
    fn numbers_compare_as_densities_do() {
        for powers in [0.0, 1e-5, 0.01, 1.0, 10.0, 29.0, 120.0] {
            let block = block_of(powers);
            let mut quantized = QuantizedBlock::default();
            assert!(quantized.fill_in(&block));
            assert_eq!((quantized.rho[WHOLE.start], quantized.tells_sums_apart), (0, powers < 30.0));
            for (a, b) in CELLS.flat_map(|a| CELLS.map(move |b| (a, b))) {
                let (rho_a, rho_b) = (block.rho[a], block.rho[b]);
                assert!(rho_a > rho_b || quantized.rho[a] <= quantized.rho[b], "{rho_a} {rho_b}");
                let is_above = quantized.rho[b] > quantized.above[a];
                assert!(!is_above || rho_b > STRICTLY * rho_a, "{rho_a} {rho_b}");
                assert!(is_above || powers > 30.0 || rho_b < 1.002 * rho_a, "{rho_a} {rho_b}");
            }
        }
    }

    #[test]
    fn a_block_of_one_label_has_no_numbers() {
        let mut block = block_of(1.0);
        block.label = [7; LEN];
        // Where there is no cell, the label does not count.
        block.label[WHOLE.start] = 8;
        assert!(!QuantizedBlock::default().fill_in(&block));
        block.label[WHOLE.start + 1] = 8;
        assert!(QuantizedBlock::default().fill_in(&block));
    }

    #[test]
    fn labels_are_short_where_they_lie_close() {
        for (stride, are_short) in [(1, true), (300, false), (1 << 16, false)] {
            let mut block = block_of(1.0);
            block.label = std::array::from_fn(|i| 7_000_000 + stride * i as u32);
            let mut quantized = QuantizedBlock::default();
            assert!(quantized.fill_in(&block));
            assert_eq!(quantized.labels_are_short, are_short);
            for (a, b) in CELLS.flat_map(|a| CELLS.map(move |b| (a, b))) {
                let low = quantized.label[a] == quantized.label[b];
                let same = low && (are_short || quantized.label_high[a] == quantized.label_high[b]);
                assert_eq!(same, a == b);
            }
        }
    }
}
