//! Block reach: which cells of a block can be linked to a cell of a touching block? Sets of 64 cells as bits.
//!
//! ```text
//!     bit = x + 4 y + 16 z             example along x, with a reach of two cells and the other block next:
//!
//!     cells of this block    0 1 2 3 | 0 1 2 3     cells of the other block
//!     cell 0, 1: none        cell 2: 0             cell 3: 0 1
//! ```
//!
//! A cell of the other block is within reach if it is within reach along each axis, so the set for a cell is
//! the intersection of one set for its x and one for its y and z. Both tables are made once per grid.

use super::grid::SearchGrid;

/// Along one or two axes, which cells of two blocks are within reach of each other. A cell has one of `N`
/// coordinates there.
#[derive(Debug, Clone, Copy)]
pub struct Within<const N: usize> {
    /// For each coordinate of a cell, the cells of the other block within reach.
    pub of: [u64; N],
    /// Cells of this block that have any cell within reach.
    pub from: u64,
    /// Cells of the other block that are within reach of any cell.
    pub to: u64,
}

/// The cells within reach for each distance between the first cells of two blocks, -4 to 4 along each axis.
#[derive(Debug, Clone)]
pub struct BlockReach {
    x: [Within<4>; 9],
    /// By z, then y.
    yz: Box<[[Within<16>; 9]; 9]>,
}

/// The cells whose coordinate along `axis` is in `places`, a set of four bits.
fn layer(axis: usize, places: u64) -> u64 {
    let bits = (0..64u64).filter(|cell| places >> (cell >> (2 * axis) & 3) & 1 == 1);
    bits.fold(0, |set, cell| set | 1 << cell)
}

impl<const N: usize> Within<N> {
    /// `at` gives the cells with a coordinate.
    fn new(of: [u64; N], at: impl Fn(usize) -> u64) -> Self {
        let any = (0..N).filter(|place| of[*place] != 0);
        Self { of, from: any.fold(0, |set, place| set | at(place)), to: of.iter().fold(0, |a, b| a | b) }
    }
}

impl BlockReach {
    /// Makes the tables of a grid.
    pub fn new(grid: &SearchGrid) -> Self {
        let places = |axis: usize, offset: usize, place: i64| {
            let reach = grid.axes[axis].reach() as i64;
            let is_near = |other: &i64| (offset as i64 - 4 + other - place).abs() <= reach;
            layer(axis, (0..4).filter(is_near).fold(0, |set, other| set | 1 << other))
        };
        let along = |axis, offset| [0, 1, 2, 3].map(|place| places(axis, offset, place));
        let x = std::array::from_fn(|offset| Within::new(along(0, offset), |place| layer(0, 1 << place)));
        let line = |place: usize| layer(1, 1 << (place & 3)) & layer(2, 1 << (place >> 2));
        let yz = |offset_y, offset_z| {
            let (y, z) = (along(1, offset_y), along(2, offset_z));
            Within::new(std::array::from_fn(|place| y[place & 3] & z[place >> 2]), line)
        };
        let yz =
            Box::new(std::array::from_fn(|offset_z| std::array::from_fn(|offset_y| yz(offset_y, offset_z))));
        Self { x, yz }
    }

    /// The table along x for another block whose first cell is `offset` cells from the first of this one (-4
    /// to 4).
    #[inline(always)]
    pub fn along_x(&self, offset: i64) -> &Within<4> {
        &self.x[(offset + 4) as usize]
    }

    /// The table along y and z, by y + 4 z of a cell.
    #[inline(always)]
    pub fn along_yz(&self, offset: [i64; 2]) -> &Within<16> {
        &self.yz[(offset[1] + 4) as usize][(offset[0] + 4) as usize]
    }
}
