//! Slabs: the first, coarse division of the particles, into sets of rows of blocks.

use super::grid::{SearchGrid, Spot};
use super::record::{Real, Record};
use crate::simd::{for_each_mapped, wide};

/// Consecutive rows of blocks, in the order of (z, y), make one slab each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slabs {
    /// A slab has 2^z_shift layers of blocks along z.
    z_shift: u32,
    /// A slab has 2^y_shift rows along y.
    y_shift: u32,
    /// Slabs per group of layers.
    per_layer: u32,
    n: u32,
    /// Bits of the x of a block.
    x_bits: u32,
}

/// The bits of numbers below `n`.
fn bits(n: u32) -> u32 {
    u32::BITS - (n - 1).leading_zeros()
}

impl Slabs {
    /// Makes about `wanted` slabs at most.
    pub fn new(grid: &SearchGrid, wanted: u32) -> Self {
        let [nx, ny, nz] = grid.axes.map(|a| a.n_blocks());
        let parts = |n: u32, shift: u32| ((n - 1) >> shift) + 1;
        let shift = |n: u32, wanted: u32| {
            (0..).find(|s| parts(n, *s) <= wanted).expect("one part, at the latest for a shift of 31")
        };
        let z_shift = shift(nz, wanted.max(1));
        let layers = parts(nz, z_shift);
        let y_shift = if z_shift > 0 { bits(ny) } else { shift(ny, (wanted / layers).max(1)) };
        let per_layer = parts(ny, y_shift.min(31));
        Self { z_shift, y_shift, per_layer, n: layers * per_layer, x_bits: bits(nx) }
    }

    /// Number of slabs.
    pub fn len(&self) -> usize {
        self.n as usize
    }

    /// Always false: there is at least one slab.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The slab of a position.
    #[inline(always)]
    pub fn slab_of(&self, grid: &SearchGrid, position: [f64; 3]) -> u32 {
        let block = |axis: usize| grid.axes[axis].cell(position[axis]) >> 2;
        let (z, y) = (block(2) >> self.z_shift, block(1) >> self.y_shift);
        z as u32 * self.per_layer + y as u32
    }

    /// Number of bits of a [`key`](Self::key).
    pub fn key_bits(&self) -> u32 {
        self.row_bits() + self.x_bits + 6
    }

    /// Number of highest bits of a key that give the row.
    pub fn row_bits(&self) -> u32 {
        self.z_shift + self.y_shift
    }

    /// The `bits` highest bits of a key: the part of the slab, a run of rows.
    #[inline(always)]
    pub fn part_of(&self, spot: Spot, bits: u32) -> usize {
        (self.high(spot) >> (self.row_bits() - bits)) as usize
    }

    /// The key of a place within its slab: in the order of (z, y, x) of blocks, then of cells.
    #[inline(always)]
    pub fn key(&self, spot: Spot) -> u128 {
        u128::from(self.high(spot)) << (self.x_bits + 6)
            | u128::from(spot.block[0]) << 6
            | u128::from(spot.cell)
    }

    /// [`key`](Self::key), where it has at most 32 bits.
    #[inline(always)]
    pub fn short_key(&self, spot: Spot) -> u32 {
        (self.high(spot) << (self.x_bits + 6)) as u32 | spot.block[0] << 6 | spot.cell
    }

    /// The part of a key from (z, y).
    #[inline(always)]
    fn high(&self, spot: Spot) -> u64 {
        let low = |x: u32, bits: u32| u64::from(x) & ((1 << bits) - 1);
        low(spot.block[2], self.z_shift) << self.y_shift | low(spot.block[1], self.y_shift)
    }
}

/// The particles that take part: all, or those of one kind, given the kind of each.
pub type Chosen<'a, K> = Option<(&'a [K], K)>;

/// Calls `each` with number and slab of the particles that take part.
#[inline(always)]
fn each<T: Real, K: Copy + PartialEq>(
    (grid, slabs): (&SearchGrid, &Slabs),
    positions: &[[T; 3]],
    chosen: Chosen<K>,
    mut each: impl FnMut(usize, usize),
) {
    for_each_mapped(
        positions,
        #[inline(always)]
        |position| slabs.slab_of(grid, T::place(position)),
        #[inline(always)]
        |i, slab| {
            if chosen.is_none_or(|(kinds, kind)| kinds[i] == kind) {
                each(i, slab as usize);
            }
        },
    );
}

/// Adds to `counts` the number of `chosen` particles in each slab.
pub fn count<T: Real, K: Copy + PartialEq>(
    of: (&SearchGrid, &Slabs),
    positions: &[[T; 3]],
    chosen: Chosen<K>,
    counts: &mut [u32],
) {
    wide(
        #[inline(always)]
        || {
            each(
                of,
                positions,
                chosen,
                #[inline(always)]
                |_, slab| counts[slab] += 1,
            );
        },
    );
}

/// Writes the records of the `chosen` particles to the start of the `places` of each slab, and shortens
/// these. There must be as many places as [`count`] counted. The first position is number `first` of the
/// input.
pub fn scatter<T: Real, K: Copy + PartialEq>(
    of: (&SearchGrid, &Slabs),
    positions: &[[T; 3]],
    first: u32,
    chosen: Chosen<K>,
    places: &mut [&mut [T::Record]],
) {
    wide(
        #[inline(always)]
        || {
            each(
                of,
                positions,
                chosen,
                #[inline(always)]
                |i, slab| {
                    let places = &mut places[slab];
                    debug_assert!(!places.is_empty(), "as many places as were counted");
                    if let Some((place, rest)) = std::mem::take(places).split_first_mut() {
                        *place = T::Record::new(positions[i], first + i as u32);
                        *places = rest;
                    }
                },
            );
        },
    );
}
