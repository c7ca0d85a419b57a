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
use super::forest::{Edge, PairCache};
use super::jumps;
use super::patch::{CORE, CORE_LEN, LEN, PLACE, PLANE, Patch, ROW, Values, max2, max3};
use super::tests::TestCells;
use super::wide::{larger, wide};
use crate::ids::{PeakIdx, TestIdx};
use crate::mesh::{Mesh, local};
use std::ops::Range;

/// By how much a density must exceed another that the mean of it and any lower one does, rounded.
const STRICTLY: f64 = 1.0 + 1.0 / (1u64 << 48) as f64;

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

/// Gathers every contact that may be in the forest between test cells of one level in the given
/// super-bricks and their neighbours (each contact once over all super-bricks).
pub fn contacts(
    mesh: &Mesh,
    tests: &TestCells,
    labels: &[PeakIdx],
    supers: Range<usize>,
    out: &mut PairCache,
) {
    wide(
        #[inline(always)]
        || {
            let mut label = [u32::MAX; LEN];
            let mut patch = Patch::EMPTY;
            for_each_patch(
                mesh,
                tests,
                supers,
                &mut patch,
                #[inline(always)]
                |brick, patch| {
                    for i in 0..LEN {
                        if patch.rho[i] > 0.0 {
                            label[i] = labels[patch.test[i] as usize].0;
                        }
                    }
                    let found = surviving_directions(&patch.rho, &label);
                    for bit in local::bits(tests.mask[brick]) {
                        let place = PLACE[bit as usize] as usize;
                        for direction in local::bits(found[place - CORE]) {
                            let other = (place as i32 + offset(direction as usize)) as usize;
                            out.push(edge(patch, &label, place, other));
                        }
                    }
                },
            );
        },
    );
}

#[inline(always)]
fn edge(patch: &Patch, label: &[u32; LEN], a: usize, b: usize) -> Edge {
    let saddle = 0.5 * (patch.rho[a] + patch.rho[b]);
    Edge::new(saddle, [PeakIdx(label[a]), PeakIdx(label[b])], [patch.test_at(a), patch.test_at(b)])
}

/// Contacts between test cells of different levels in the given super-bricks.
pub fn contacts_across_levels(
    mesh: &Mesh,
    tests: &TestCells,
    labels: &[PeakIdx],
    supers: Range<usize>,
    out: &mut PairCache,
) {
    jumps::for_each_contact(mesh, tests, supers, |contact| {
        let label = labels[contact.coarse.at()];
        let rho = tests.rho[contact.coarse.at()];
        for oct in (0..64).step_by(8) {
            let fine = contact.fine & (0xff << oct);
            let cells = || local::bits(fine).filter_map(|bit| tests.at(contact.brick, bit));
            // Cells of one oct touch each other: the densest of them bars the way of the others.
            let densest = cells().fold(0.0, |max, c| larger(max, tests.rho[c.at()]));
            for cell in cells().filter(|c| labels[c.at()] != label) {
                if densest <= STRICTLY * larger(tests.rho[cell.at()], rho) {
                    let saddle = 0.5 * (tests.rho[cell.at()] + rho);
                    out.push(Edge::new(saddle, [labels[cell.at()], label], [cell, contact.coarse]));
                }
            }
        }
    });
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

/// One bit a direction for each place of the core span.
#[inline(always)]
fn surviving_directions(rho: &Values, label: &[u32; LEN]) -> [u64; 4 * PLANE] {
    let mut found = [0; 4 * PLANE];
    // Maxima over boxes of two or three cells along x, y, z: three centred, two from the place on.
    let (x2, x3) = (max2::<1>(rho), max3::<1>(rho));
    let (x2y2, x2y3) = (max2::<ROW>(&x2), max3::<ROW>(&x2));
    let (x3y2, x3y3) = (max2::<ROW>(&x3), max3::<ROW>(&x3));
    mark::<0>(rho, label, &max3::<PLANE>(&x2y3), &mut found);
    let middle = max3::<PLANE>(&x2y2);
    mark::<1>(rho, label, &middle, &mut found);
    mark::<2>(rho, label, &max3::<PLANE>(&x3y2), &mut found);
    mark::<3>(rho, label, &middle, &mut found);
    let corner = max2::<PLANE>(&x2y2);
    let (along_x, along_y) = (max2::<PLANE>(&x3y2), max2::<PLANE>(&x2y3));
    mark::<4>(rho, label, &corner, &mut found);
    mark::<5>(rho, label, &along_x, &mut found);
    mark::<6>(rho, label, &corner, &mut found);
    mark::<7>(rho, label, &along_y, &mut found);
    mark::<8>(rho, label, &max2::<PLANE>(&x3y3), &mut found);
    mark::<9>(rho, label, &along_y, &mut found);
    mark::<10>(rho, label, &corner, &mut found);
    mark::<11>(rho, label, &along_x, &mut found);
    mark::<12>(rho, label, &corner, &mut found);
    found
}

/// Sets the bit of direction `D` at every place of the core whose contact that way is between two
/// patches and not strictly lower than a way around through the box's maximum.
#[inline(always)]
fn mark<const D: usize>(rho: &Values, label: &[u32; LEN], box_max: &Values, found: &mut [u64; 4 * PLANE]) {
    let (offset, start) = (const { offset(D) }, const { box_start(D) });
    for plane in 0..4 {
        let from = CORE + plane * PLANE;
        let other = (from as i32 + offset) as usize;
        let corner = (from as i32 + start) as usize;
        for i in 0..CORE_LEN {
            let (a, b) = (rho[from + i], rho[other + i]);
            let open = box_max[corner + i] <= STRICTLY * larger(a, b);
            let foreign = label[from + i] != label[other + i];
            let hit = open & foreign & (b > 0.0);
            found[plane * PLANE + i] |= if hit { 1 << D } else { 0 };
        }
    }
}

/// The contact of two cells as an edge, for callers that hold the two.
pub fn contact_of(tests: &TestCells, labels: &[PeakIdx], a: TestIdx, b: TestIdx) -> Edge {
    let saddle = 0.5 * (tests.rho[a.at()] + tests.rho[b.at()]);
    Edge::new(saddle, [labels[a.at()], labels[b.at()]], [a, b])
}
