//! Blocks of leaves, as block-structured codes write them.

use crate::OctBlock;
use crate::tiles::Tile;

/// A block of leaves of one level. Its cells need not fill whole octs.
#[derive(Debug, Default, Clone)]
pub struct LeafBlock {
    /// Level of the cells.
    pub level: u8,
    /// Position of the lowest cell on the grid of the level.
    pub corner: [u32; 3],
    /// Cells along each axis.
    pub size: [u32; 3],
    /// Which cells are not leaves, x fastest: finer blocks replace them, or they have no value. Empty if all
    /// are leaves.
    pub covered: Vec<bool>,
    /// One list per requested field, in the order of the request: a value per cell, x fastest.
    pub values: Vec<Vec<f64>>,
}

impl LeafBlock {
    /// Replaces the content of `octs` by the leaves as octs. Absent cells have a set bit in `split` and the
    /// value 0; octs without a leaf are left out.
    pub fn to_octs(&self, octs: &mut OctBlock) {
        octs.level = self.level;
        octs.position.clear();
        octs.split.clear();
        octs.values.resize_with(self.values.len(), Vec::new);
        octs.values.iter_mut().for_each(Vec::clear);
        let first = self.corner.map(|x| x >> 1);
        let end: [u32; 3] = std::array::from_fn(|a| (self.corner[a] + self.size[a]).div_ceil(2));
        for z in first[2]..end[2] {
            for y in first[1]..end[1] {
                for x in first[0]..end[0] {
                    self.add_oct([x, y, z], octs);
                }
            }
        }
    }

    fn add_oct(&self, position: [u32; 3], octs: &mut OctBlock) {
        if let Some(cells) = self.whole_oct(position) {
            octs.position.push(position);
            octs.split.push(0);
            for (octs, values) in octs.values.iter_mut().zip(&self.values) {
                octs.push(cells.map(|cell| values[cell]));
            }
            return;
        }
        let cells: [Option<usize>; 8] = std::array::from_fn(|cell| {
            let at = std::array::from_fn(|a| {
                (2 * position[a] + (cell as u32 >> a & 1)).checked_sub(self.corner[a])
            });
            let [Some(x), Some(y), Some(z)] = at else { return None };
            let tile = Tile { low: [0; 3], size: self.size };
            tile.index([x, y, z]).filter(|i| self.covered.get(*i) != Some(&true))
        });
        let absent = (0..8).fold(0, |bits, cell| bits | u8::from(cells[cell].is_none()) << cell);
        if absent == 0xff {
            return;
        }
        octs.position.push(position);
        octs.split.push(absent);
        for (octs, values) in octs.values.iter_mut().zip(&self.values) {
            octs.push(cells.map(|cell| cell.map_or(0.0, |cell| values[cell])));
        }
    }

    /// The places of the values of an oct of which no cell is absent. Nearly all octs are
    /// such, and need no check per cell. `None` of octs at odd ends, and where cells are covered.
    #[inline]
    fn whole_oct(&self, position: [u32; 3]) -> Option<[usize; 8]> {
        let low: [u32; 3] = std::array::from_fn(|a| (2 * position[a]).wrapping_sub(self.corner[a]));
        let is_inside = (0..3).all(|a| low[a] < self.size[a] && low[a] + 1 < self.size[a]);
        let [nx, ny, _] = self.size.map(|n| n as usize);
        let [x, y, z] = low.map(|at| at as usize);
        let place = |cell: usize| x + (cell & 1) + nx * (y + (cell >> 1 & 1) + ny * (z + (cell >> 2)));
        (is_inside && self.covered.is_empty()).then(|| std::array::from_fn(place))
    }
}

/// The position of `oct` in a block with `size` cells along each axis, in octs. Octs are numbered with
/// x fastest.
#[inline]
pub fn oct_of_block(size: [u32; 3], oct: usize) -> [u32; 3] {
    let [x, y, _] = size.map(|n| n as usize / 2);
    [oct % x, oct / x % y, oct / (x * y)].map(|at| at as u32)
}

/// The place of a cell of an oct among the values of its block, which lie with x fastest.
#[inline]
pub fn value_of_block(size: [u32; 3], oct: usize, cell: usize) -> usize {
    let corner = oct_of_block(size, oct);
    let at: [usize; 3] = std::array::from_fn(|a| 2 * corner[a] as usize + (cell >> a & 1));
    at[0] + size[0] as usize * (at[1] + size[1] as usize * at[2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// The cells of octs by position, with the values of the first field.
    fn cells_of(octs: &OctBlock) -> BTreeMap<[u32; 3], f64> {
        let mut cells = BTreeMap::new();
        for (oct, position) in octs.position.iter().enumerate() {
            for cell in (0..8).filter(|cell| octs.split[oct] >> cell & 1 == 0) {
                let at = std::array::from_fn(|a| 2 * position[a] + (cell >> a & 1));
                let value = octs.values[0][oct][cell as usize];
                assert_eq!(octs.values[1][oct][cell as usize], -value);
                assert!(cells.insert(at, value).is_none(), "{at:?} twice");
            }
        }
        cells
    }

    #[test]
    fn leaves_keep_their_values() {
        for (corner, size) in [([2, 4, 8], [4, 2, 6]), ([1, 4, 3], [3, 5, 1]), ([7, 7, 7], [1, 1, 1])] {
            let n: u32 = size.iter().product();
            let cell = |i: u32| [i % size[0], i / size[0] % size[1], i / (size[0] * size[1])];
            let place = |i: u32| -> [u32; 3] { std::array::from_fn(|a| corner[a] + cell(i)[a]) };
            let mut block = LeafBlock {
                level: 5,
                corner,
                size,
                covered: Vec::new(),
                values: vec![(0..n).map(f64::from).collect(), (0..n).map(|i| -f64::from(i)).collect()],
            };
            let mut octs = OctBlock { split: vec![7; 99], ..OctBlock::default() };
            block.to_octs(&mut octs);
            assert_eq!(octs.level, 5);
            assert_eq!(cells_of(&octs), (0..n).map(|i| (place(i), f64::from(i))).collect());
            block.covered = (0..n).map(|i| i % 3 == 0).collect();
            block.to_octs(&mut octs);
            let left = (0..n).filter(|i| i % 3 != 0);
            assert_eq!(cells_of(&octs), left.map(|i| (place(i), f64::from(i))).collect());
            assert!(octs.split.iter().all(|absent| *absent != 0xff));
        }
    }
}
