//! Which cells of a block can be linked to a cell of a touching block: sets of 64 cells as bits.

use super::grid::Grid;

/// For each axis, for each distance of the blocks, for each place of a cell along the axis: the cells of
/// the other block that are within reach along that axis.
#[derive(Debug, Clone)]
pub struct Reach {
    axes: [[[u64; 4]; 9]; 3],
}

/// A set of the cells whose place along `axis` is among those of `places`, four bits.
fn layer(axis: usize, places: u64) -> u64 {
    let bits = (0..64u64).filter(|cell| places >> (cell >> (2 * axis) & 3) & 1 == 1);
    bits.fold(0, |set, cell| set | 1 << cell)
}

impl Reach {
    /// The cells within reach on this grid.
    pub fn new(grid: &Grid) -> Self {
        let within = |axis: usize, far: i64, place: i64| {
            let reach = grid.axes[axis].reach() as i64;
            let places = (0..4).filter(|other| (far + other - place).abs() <= reach);
            layer(axis, places.fold(0, |set, place| set | 1 << place))
        };
        let places = |axis, far| [0, 1, 2, 3].map(|place| within(axis, far, place));
        let fars = |axis| std::array::from_fn(|far| places(axis, far as i64 - 4));
        Self { axes: std::array::from_fn(fars) }
    }

    /// Along x, by place, for a block whose first cell is `far` cells from that of this one (-4 to 4).
    #[inline(always)]
    pub fn along_x(&self, far: i64) -> &[u64; 4] {
        &self.axes[0][(far + 4) as usize]
    }

    /// Along y and z, by the places along both, y lowest.
    pub fn along_yz(&self, far: [i64; 2]) -> [u64; 16] {
        let (y, z) = (&self.axes[1][(far[0] + 4) as usize], &self.axes[2][(far[1] + 4) as usize]);
        std::array::from_fn(|i| y[i & 3] & z[i >> 2])
    }
}
