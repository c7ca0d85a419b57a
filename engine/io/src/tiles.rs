//! Blocks of cells in tiles: parts that are read one after the other, so that no block need be in memory
//! whole.

/// The most cells of a tile, and along its fastest axis.
const MOST: u32 = 1 << 15;
const LONGEST: u32 = 1 << 10;

/// A part of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tile {
    /// Its lowest cell, from that of the block.
    pub low: [u32; 3],
    /// Its cells along each axis.
    pub size: [u32; 3],
}

impl Tile {
    /// Number of cells.
    pub fn n_cells(&self) -> usize {
        self.size.iter().map(|n| *n as usize).product()
    }

    /// The index, x fastest, of the cell at this place in the tile; `None` outside.
    #[inline]
    pub fn index(&self, at: [u32; 3]) -> Option<usize> {
        let [nx, ny, _] = self.size.map(|n| n as usize);
        let [x, y, z] = at.map(|x| x as usize);
        (0..3).all(|a| at[a] < self.size[a]).then(|| x + nx * (y + ny * z))
    }
}

/// The tiles of a block of `size` cells whose lowest cell is at `corner` on the grid of its level. Only at
/// the edges of the block they cut octs. Along the axis `order[0]` values lie closest in the file.
pub(crate) fn tiles(corner: [u32; 3], size: [u32; 3], order: [usize; 3]) -> impl Iterator<Item = Tile> {
    let mut longest = [2; 3];
    longest[order[0]] = size[order[0]].next_multiple_of(2).clamp(2, LONGEST);
    longest[order[1]] = (MOST / longest[order[0]]).min(size[order[1]].next_multiple_of(2)).max(2);
    longest[order[2]] = ((MOST / (longest[order[0]] * longest[order[1]])) & !1).max(2);
    let cuts: [Vec<[u32; 2]>; 3] = std::array::from_fn(|a| cuts(corner[a], size[a], longest[a] & !1));
    let [fast, middle, slow] = order;
    let n = cuts.each_ref().map(|cuts| cuts.len() as u64);
    (0..n.iter().product::<u64>()).map(move |i| {
        let mut at = [0; 3];
        (at[fast], at[middle], at[slow]) = (i % n[fast], i / n[fast] % n[middle], i / (n[fast] * n[middle]));
        let cut: [[u32; 2]; 3] = std::array::from_fn(|a| cuts[a][at[a] as usize]);
        Tile { low: cut.map(|[low, _]| low), size: cut.map(|[low, end]| end - low) }
    })
}

/// An axis in stretches of at most `longest` cells, an even number; all but the ends at even places of the
/// grid.
fn cuts(corner: u32, size: u32, longest: u32) -> Vec<[u32; 2]> {
    let mut cuts = Vec::new();
    let mut low = 0;
    while low < size {
        let end = size.min(low + longest - (corner + low) % 2);
        cuts.push([low, end]);
        low = end;
    }
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_in_one_tile_and_no_oct_is_cut_inside() {
        for (corner, size) in [([0, 0, 0], [70, 40, 33]), ([3, 4, 5], [2001, 3, 19]), ([1, 1, 1], [1, 1, 1])]
        {
            for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
                let whole = Tile { low: [0; 3], size };
                let mut seen = vec![false; whole.n_cells()];
                for tile in tiles(corner, size, order) {
                    assert!(tile.n_cells() as u32 <= MOST && tile.n_cells() > 0);
                    let is_even = |a: usize| tile.low[a] == 0 || (corner[a] + tile.low[a]).is_multiple_of(2);
                    assert!((0..3).all(is_even), "{tile:?}");
                    for i in 0..tile.n_cells() as u32 {
                        let [x, y, _] = tile.size;
                        let at = [i % x, i / x % y, i / (x * y)];
                        assert_eq!(tile.index(at), Some(i as usize));
                        let cell = whole.index(std::array::from_fn(|a| tile.low[a] + at[a])).expect("inside");
                        assert!(!std::mem::replace(&mut seen[cell], true));
                    }
                }
                assert!(seen.iter().all(|seen| *seen), "{corner:?} {size:?} {order:?}");
            }
        }
    }
}
