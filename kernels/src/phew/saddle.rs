//! Saddles: where do patches touch? (paper, section 2.3)
//!
//! The saddle of a contact is the mean of the two densities. It is finite even where their sum is not.
//! Only the maximum spanning forest of the contacts matters ([`super::forest`]), and most contacts are on
//! a cycle whose other edges are higher. Those that wide compares on the patch of a brick show to be so
//! are never made (marks.rs): 0.6 per cell are left where patches have 15. Contacts are dropped only if
//! they are *strictly* lower, so ties are left to the total order of the edges.

use super::ascent::for_each_patch;
use super::block::{Block, OWN};
use super::contact_dedup::ContactDedup;
use super::contact_filter::{CellBits, ContactFilter, OFFSETS};
use super::test_cells::TestCells;
use crate::ids::{CellIdx, PeakIdx};
use crate::mesh::{Mesh, local};
use crate::simd::wide;

/// By how much a density in single precision must exceed another that the densities themselves, and
/// so their means with any lower one, differ whatever the rounding.
pub const STRICTLY: f32 = 1.0 + 1.0 / (1 << 20) as f32;

/// Gathers every contact that may be in the forest between the test cells in the given super-bricks and
/// their neighbours of the same level or a coarser one (so that over all super-bricks none is missed). `also` is
/// called with every brick and its patch.
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
            let mut marker = ContactFilter::default();
            let mut listed = [(0, 0); LISTED];
            for_each_patch(
                mesh,
                test_cells,
                Some(labels),
                supers,
                #[inline(always)]
                |brick, patch: &Block<CellIdx>| {
                    let n = list(&marker.mark(patch), &mut listed);
                    out.reserve(n);
                    for &(place, direction) in &listed[..n] {
                        let place = usize::from(place);
                        let other = (place as i32 + OFFSETS[usize::from(direction & 31)]) as usize;
                        let peaks = [place, other].map(|p| PeakIdx(patch.label[p]));
                        let rough = test_cells.narrow_sum([place, other].map(|p| patch.rho[p]));
                        out.push(peaks, rough, [place, other].map(|p| patch.at(p)));
                    }
                    also(brick, patch);
                },
            );
        },
    );
    out.finish(|cells| test_cells.rho[cells[0].at()].midpoint(test_cells.rho[cells[1].at()]));
}

/// Most contacts of a brick, and what [`list`] writes beyond the last.
const LISTED: usize = 64 * 26 + AT_ONCE;

/// Contacts of a cell that are listed without asking how many there are.
const AT_ONCE: usize = 4;

/// Lists the contacts of the cells of a brick: place and direction. Their number.
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
