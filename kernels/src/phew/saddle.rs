//! Saddles: where do patches touch? (paper, section 2.3)
//!
//! Place in the flow: after the labels. A contact is a pair of touching cells of two patches; its saddle is
//! the mean of the two densities, which is finite even where their sum is not. [`super::forest`] keeps the
//! few contacts that can merge anything: the maximum spanning forest. This module uses labels as numbers of
//! patches, and does not depend on which peak is higher.
//!
//! Most contacts are on a cycle of higher edges, so they cannot be in the forest.
//! [`ContactFilter`](super::contact_filter) drops those that it recognises in the block of a brick, and
//! [`ContactDedup`] those that another contact of the same two patches exceeds. Both drop a contact only if
//! it is *strictly* lower; the total order of edges decides ties later.

use super::ascent::for_each_block;
use super::block::{Block, OWN};
use super::contact_dedup::ContactDedup;
use super::contact_filter::{CellBits, ContactFilter, OFFSETS};
use super::test_cells::TestCells;
use crate::ids::{CellIdx, PeakIdx};
use crate::mesh::{Mesh, local};
use crate::simd::wide;

/// Adds to `out` every contact that may be in the forest between the test cells of the given super-bricks and
/// their neighbours of the same or a coarser level. Over all super-bricks no such contact is missed. `labels`
/// has one entry per test cell. Calls `also` with every brick and its block. Linear in the test cells.
pub fn contacts(
    mesh: &Mesh,
    test_cells: &TestCells,
    labels: &[PeakIdx],
    supers: impl Iterator<Item = usize>,
    out: &mut ContactDedup,
    mut also: impl FnMut(usize, &Block<CellIdx>),
) {
    wide(
        #[inline(always)]
        || {
            let mut filter = ContactFilter::default();
            let mut listed = [(0, 0); LISTED];
            for_each_block(
                mesh,
                test_cells,
                Some(labels),
                supers,
                #[inline(always)]
                |brick, block: &Block<CellIdx>| {
                    let n = list(&filter.filter(block), &mut listed);
                    out.reserve(n);
                    for &(place, direction) in &listed[..n] {
                        let place = usize::from(place);
                        let other = (place as i32 + OFFSETS[usize::from(direction & 31)]) as usize;
                        let peaks = [place, other].map(|p| PeakIdx(block.label[p]));
                        let saddle = test_cells.narrow_sum([place, other].map(|p| block.rho[p]));
                        out.push(peaks, saddle, [place, other].map(|p| block.at(p)));
                    }
                    also(brick, block);
                },
            );
        },
    );
    out.finish(|cells| test_cells.rho[cells[0].at()].midpoint(test_cells.rho[cells[1].at()]));
}

/// The most contacts of a brick, and the entries that [`list`] may write beyond the last.
const LISTED: usize = 64 * 26 + AT_ONCE;

/// [`list`] writes this number of entries per cell at a time, even if there are fewer contacts.
const AT_ONCE: usize = 4;

/// Lists the contacts of the cells of a brick as (place, direction). Returns their number; entries beyond are
/// undefined.
#[inline(always)]
fn list(found: &CellBits, out: &mut [(u8, u8); LISTED]) -> usize {
    let mut n = 0;
    for cell in local::bits(found.cells) {
        let place = OWN[cell as usize];
        let mut left = found.at(usize::from(place));
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

#[cfg(test)]
mod tests {
    use super::super::test_blocks::block;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

        /// Reference: bit by bit.
        #[test]
        fn contacts_are_listed_bit_by_bit(block in block()) {
            prop_assume!(block.rho.iter().any(|rho| *rho > 0.0));
            let kept = ContactFilter::default().filter(&block);
            let mut listed = [(0, 0); LISTED];
            let n = list(&kept, &mut listed);
            let cells = (0..64).filter(|cell| kept.cells >> cell & 1 == 1).map(|cell| OWN[cell]);
            let directions = |place: u8| {
                let bits = kept.at(place.into());
                (0..26u8).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| (place, bit))
            };
            prop_assert_eq!(listed[..n].to_vec(), cells.flat_map(directions).collect::<Vec<_>>());
        }
    }
}
