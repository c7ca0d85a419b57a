//! Block: one brick of 4x4x4 cells with the ring of cells around it, as flat arrays of 6x6x6 places.
//!
//! Place in the flow: cut out of a [`GhostBlock`], it is what the kernels of [`super::ascent`] and
//! [`super::saddle`] work on. It has one brick and its neighbours, and nothing else of the mesh.
//!
//! In flat arrays every neighbour of a place is at a constant offset, so one loop over all places is vector
//! code:
//!
//! ```text
//!     one plane z (rows of 6 places)           offsets
//!
//!     r r r r r r     r  ring: neighbours      x + 1: 1
//!     r o o o o r     o  own cells             y + 1: ROW = 6
//!     r o o o o r                              z + 1: PLANE = 36
//!     r o o o o r
//!     r o o o o r     arrays: [guard 36 | 216 places, padded to whole vectors | guard 36]
//!     r r r r r r     CORE: the place before the first own cell
//! ```
//!
//! A place without a test cell has density 0. A coarser cell fills all the places that it covers.

use super::ghost_block::{GhostBlock, Index, WIDE};
use super::test_cells::TestCells;
use crate::ids::PeakIdx;
use crate::mesh::{Mesh, local};
use std::ops::Range;

/// Offset between neighbours along y.
pub const ROW: usize = 6;
/// Offset between neighbours along z.
pub const PLANE: usize = 36;
/// Places before the first and after the last, so that no offset leaves the array.
const GUARD: usize = PLANE;
/// All places, padded to whole vectors.
pub const WHOLE: Range<usize> = GUARD..GUARD + (6 * PLANE).next_multiple_of(32);
/// Length of the arrays.
pub const LEN: usize = WHOLE.end + GUARD;
/// The place before the first cell of the brick itself.
pub const CORE: usize = GUARD + PLANE + ROW;

/// One number per place.
pub type BlockValues = [f32; LEN];

/// Densities, indices and labels of the test cells in and around one brick. Densities are in single precision
/// ([`TestCells::narrow`]): no decision that rests on them alone may depend on their last digits.
#[derive(Debug, Clone)]
pub struct Block<I> {
    /// Level of the brick.
    pub level: u8,
    /// Densities; 0 where there is no test cell.
    pub rho: BlockValues,
    /// Indices of the cells; undefined where the density is 0.
    pub index: [I; LEN],
    /// Labels of the cells, if requested; undefined where the density is 0.
    pub label: [u32; LEN],
    /// The first index of the level of the brick; smaller indices are coarser cells.
    pub first_of_level: I,
    /// Whether the block may contain coarser cells.
    pub has_coarser: bool,
}

/// The place of each bit of the brick itself.
pub const PLACE: [u8; 64] = {
    let mut table = [0; 64];
    let mut bit = 0;
    while bit < 64 {
        let [x, y, z] = local::offset_of(bit as u32);
        table[bit] = (CORE + x as usize + 1 + ROW * y as usize + PLANE * z as usize) as u8;
        bit += 1;
    }
    table
};

/// The places of 4x4x4 cells, x fastest, from their four coordinates along each axis of the block.
pub const fn places_of(along: [usize; 4]) -> [u8; 64] {
    let (mut table, mut i) = ([0; 64], 0);
    while i < 64 {
        table[i] = (GUARD + along[i / 16] * PLANE + along[i / 4 % 4] * ROW + along[i % 4]) as u8;
        i += 1;
    }
    table
}

/// The places of the own cells of the brick, x fastest.
pub const OWN: [u8; 64] = places_of([1, 2, 3, 4]);

impl<I: Index> Default for Block<I> {
    /// No cells.
    fn default() -> Self {
        Self {
            level: 0,
            rho: [0.0; LEN],
            index: [I::default(); LEN],
            label: [0; LEN],
            first_of_level: I::default(),
            has_coarser: false,
        }
    }
}

impl<I: Index> Block<I> {
    /// Copies the block of the brick at `local` (its position in the super-brick) out of the ghost block of
    /// the super-brick.
    #[inline(always)]
    pub fn cut(&mut self, from: &GhostBlock<I>, local: [u32; 3], labelled: bool) {
        for z in 0..6 {
            let source = GhostBlock::<I>::plane_of(local, z);
            let target = GUARD + z * PLANE;
            copy_plane(&mut self.rho, target, &from.rho[source..]);
            copy_plane(&mut self.index, target, &from.index[source..]);
            if labelled {
                copy_plane(&mut self.label, target, &from.label[source..]);
            }
        }
    }

    /// Fills the block by looking up each place in the mesh, with a few look-ups per place. For boxes so
    /// narrow that bricks are not full; there no ghost block can be made.
    #[cold]
    pub fn gather_small(
        &mut self,
        mesh: &Mesh,
        test_cells: &TestCells,
        labels: Option<&[PeakIdx]>,
        brick: [u32; 3],
    ) {
        let level = self.level;
        self.rho = [0.0; LEN];
        for i in 0..6 * PLANE {
            let offset = [i % 6, i / 6 % 6, i / 36];
            let at = std::array::from_fn(|a| i64::from(brick[a] << 2) + offset[a] as i64 - 1);
            let found = mesh.domain().wrap(level, at).and_then(|p| {
                (0..=level).find_map(|up| {
                    let (brick, bit) = mesh.find_brick(level - up, p.map(|x| x >> up))?;
                    test_cells.at(brick.at(), bit).zip(mesh.bricks()[brick.at()].cell(bit))
                })
            });
            if let Some((test, cell)) = found {
                self.rho[GUARD + i] = test_cells.narrow(cell);
                self.index[GUARD + i] = I::from_cell(test, cell);
                self.label[GUARD + i] = labels.map_or(0, |l| l[test.at()].0);
            }
        }
        self.has_coarser = true;
    }

    /// The cell at a place whose density is not 0.
    #[inline(always)]
    pub fn at(&self, place: usize) -> I {
        self.index[place]
    }

    /// Whether the cell at a place whose density is not 0 is coarser than the brick.
    #[inline(always)]
    pub fn is_coarser(&self, place: usize) -> bool {
        self.index[place] < self.first_of_level
    }

    /// Whether any cell of the block is coarser than the brick.
    #[inline(always)]
    pub fn any_coarser(&self) -> bool {
        let mut any = false;
        for i in WHOLE {
            any |= (self.rho[i] > 0.0) & (self.index[i] < self.first_of_level);
        }
        any
    }
}

#[inline(always)]
fn copy_plane<T: Copy>(into: &mut [T; LEN], target: usize, from: &[T]) {
    let into = &mut into[target..][..PLANE];
    let from = &from[..5 * WIDE + ROW];
    for y in 0..6 {
        into[y * ROW..][..ROW].copy_from_slice(&from[y * WIDE..][..ROW]);
    }
}

/// A place and its 26 neighbours, x fastest.
pub fn around(place: usize) -> impl Iterator<Item = usize> {
    (0..27).map(move |i| neighbour(place, i))
}

/// The `i`-th of the 27 places of [`around`].
#[inline(always)]
pub fn neighbour(place: usize, i: usize) -> usize {
    place + AROUND[i] - AROUND[13]
}

/// The 27 places of [`around`], as offsets from the first.
const AROUND: [usize; 27] = {
    let mut table = [0; 27];
    let mut i = 0;
    while i < 27 {
        table[i] = i % 3 + ROW * (i / 3 % 3) + PLANE * (i / 9);
        i += 1;
    }
    table
};
