//! Blocks of leaves, as block-structured codes write them.

use crate::OctBlock;

/// A block of `size` cells along each axis of one level. Sizes and corners are even, so that it consists of octs.
#[derive(Debug, Default, Clone)]
pub struct LeafBlock {
    /// Level of the cells; 1 or more.
    pub level: u8,
    /// Position of the lowest cell on the grid of the level.
    pub corner: [u32; 3],
    /// Cells along each axis.
    pub size: [u32; 3],
    /// Which cells finer blocks replace, x fastest; empty where none is replaced.
    pub covered: Vec<bool>,
    /// One list per requested field, in the order of the request: a value per cell, x fastest.
    pub values: Vec<Vec<f64>>,
}

impl LeafBlock {
    /// The leaves as octs, in place of what `octs` held. Covered octs are left out. No cell is split.
    ///
    /// # Errors
    /// The position of the first oct of which only a part is covered, on the grid of its cells.
    pub fn to_octs(&self, octs: &mut OctBlock) -> Result<(), [u32; 3]> {
        octs.level = self.level;
        octs.position.clear();
        octs.values.resize_with(self.values.len(), Vec::new);
        octs.values.iter_mut().for_each(Vec::clear);
        let n_octs: usize = self.size.iter().map(|n| *n as usize / 2).product();
        for oct in 0..n_octs {
            let at = oct_of_block(self.size, oct);
            let cells: [usize; 8] = std::array::from_fn(|cell| value_of_block(self.size, oct, cell));
            let position = std::array::from_fn(|a| self.corner[a] / 2 + at[a]);
            let n_covered = cells.iter().filter(|cell| self.covered.get(**cell) == Some(&true)).count();
            match n_covered {
                0 => {
                    octs.position.push(position);
                    for (octs, values) in octs.values.iter_mut().zip(&self.values) {
                        octs.push(cells.map(|cell| values[cell]));
                    }
                }
                8 => {}
                _ => return Err(position.map(|x| 2 * x)),
            }
        }
        octs.split.clear();
        octs.split.resize(octs.position.len(), 0);
        Ok(())
    }
}

/// The position of an oct in a block of so many cells along each axis, in octs. They are numbered with x fastest.
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

    #[test]
    fn cells_keep_their_values() {
        let size = [4, 2, 6];
        let cell = |i: usize| [i % 4, i / 4 % 2, i / 8].map(|x| x as u32);
        let mut block = LeafBlock {
            level: 5,
            corner: [2, 4, 8],
            size,
            covered: Vec::new(),
            values: vec![(0..48).map(f64::from).collect(), (0..48).map(|i| -f64::from(i)).collect()],
        };
        let mut octs = OctBlock { split: vec![7; 99], ..OctBlock::default() };
        block.to_octs(&mut octs).expect("octs");
        assert_eq!((octs.level, octs.position.len(), octs.split), (5, 6, vec![0; 6]));
        for (i, (position, values)) in octs.position.iter().zip(&octs.values[0]).enumerate() {
            for (c, value) in values.iter().enumerate() {
                let at: [u32; 3] = std::array::from_fn(|a| 2 * position[a] + (c as u32 >> a & 1));
                let expected = cell(*value as usize);
                assert_eq!(at, std::array::from_fn(|a| block.corner[a] + expected[a]));
                assert_eq!(octs.values[1][i][c], -value);
            }
        }

        block.covered = (0..48).map(|i| cell(i)[0] < 2).collect();
        let mut octs = OctBlock::default();
        block.to_octs(&mut octs).expect("octs");
        assert!(octs.position.len() == 3 && octs.position.iter().all(|at| at[0] == 2), "{octs:?}");
        block.covered[2] = true;
        assert_eq!(block.to_octs(&mut octs), Err([4, 4, 8]));
    }
}
