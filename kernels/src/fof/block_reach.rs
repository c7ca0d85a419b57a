//! Which cells of a block can be linked to a cell of a touching block: sets of 64 cells as bits.

use super::grid::SearchGrid;

/// The cells within reach of each other of two blocks, along `N` places of some axes.
#[derive(Debug, Clone, Copy)]
pub struct Within<const N: usize> {
    /// For each place of a cell, those of the other block.
    pub of: [u64; N],
    /// Cells that have any within reach.
    pub from: u64,
    /// Cells of the other block that are within reach of any.
    pub to: u64,
}

/// For each distance of two blocks, in cells from -4 to 4 along each axis.
#[derive(Debug, Clone)]
pub struct BlockReach {
    x: [Within<4>; 9],
    /// By z, then y.
    yz: Box<[[Within<16>; 9]; 9]>,
}

/// The cells whose place along `axis` is among those of `places`, four bits.
fn layer(axis: usize, places: u64) -> u64 {
    let bits = (0..64u64).filter(|cell| places >> (cell >> (2 * axis) & 3) & 1 == 1);
    bits.fold(0, |set, cell| set | 1 << cell)
}

impl<const N: usize> Within<N> {
    /// `at` says which cells have a place.
    fn new(of: [u64; N], at: impl Fn(usize) -> u64) -> Self {
        let any = (0..N).filter(|place| of[*place] != 0);
        Self { of, from: any.fold(0, |set, place| set | at(place)), to: of.iter().fold(0, |a, b| a | b) }
    }
}

impl BlockReach {
    /// The cells within reach on this grid.
    pub fn new(grid: &SearchGrid) -> Self {
        let places = |axis: usize, far: usize, place: i64| {
            let reach = grid.axes[axis].reach() as i64;
            let is_near = |other: &i64| (far as i64 - 4 + other - place).abs() <= reach;
            layer(axis, (0..4).filter(is_near).fold(0, |set, other| set | 1 << other))
        };
        let along = |axis, far| [0, 1, 2, 3].map(|place| places(axis, far, place));
        let x = std::array::from_fn(|far| Within::new(along(0, far), |place| layer(0, 1 << place)));
        let line = |place: usize| layer(1, 1 << (place & 3)) & layer(2, 1 << (place >> 2));
        let yz = |far_y, far_z| {
            let (y, z) = (along(1, far_y), along(2, far_z));
            Within::new(std::array::from_fn(|place| y[place & 3] & z[place >> 2]), line)
        };
        let yz = Box::new(std::array::from_fn(|far_z| std::array::from_fn(|far_y| yz(far_y, far_z))));
        Self { x, yz }
    }

    /// Along x, by place, for a block whose first cell is `far` cells from that of this one (-4 to 4).
    #[inline(always)]
    pub fn along_x(&self, far: i64) -> &Within<4> {
        &self.x[(far + 4) as usize]
    }

    /// Along y and z, by the places along both, y lowest.
    #[inline(always)]
    pub fn along_yz(&self, far: [i64; 2]) -> &Within<16> {
        &self.yz[(far[1] + 4) as usize][(far[0] + 4) as usize]
    }
}
