//! The octree above a list of leaves, cell by cell, as viewers store it: per root cell level by level, and
//! each split cell with all of its eight children, x fastest.
//!
//! The leaves are in the order of the table `cells`: by level, then along the Morton curve, x lowest. Each
//! level is made from its leaves and from the parents of the cells of the next finer one, so time and memory
//! are proportional to the cells.

use std::cmp::Ordering;
use std::ops::Range;

/// The row of a cell without a leaf, which the list leaves out.
pub const NO_ROW: usize = usize::MAX;

/// Deepest level of a leaf.
const MOST_LEVELS: u8 = 30;
/// Most cells of a level along an axis.
const MOST_CELLS: u64 = 1 << 31;
/// Most root cells along an axis.
const MOST_ROOTS: u32 = 1 << 20;

/// The leaves, each with its density.
#[derive(Debug, Clone, Copy)]
pub struct LeafList<'a> {
    /// Root cells along each axis.
    pub roots: [u32; 3],
    /// Level of each leaf.
    pub level: &'a [u8],
    /// Its position on the grid of its level.
    pub ijk: &'a [[u32; 3]],
    /// Its density. A split cell has the values of its densest leaf.
    pub density: &'a [f64],
}

/// The cells above the leaves and the leaves, in the order of the file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LeafTree {
    /// The root cell of each tree, x fastest.
    pub tree_ids: Vec<i64>,
    /// Number of levels of each tree.
    pub depths: Vec<i64>,
    /// Number of cells of each level of each tree.
    pub level_sizes: Vec<i64>,
    /// The leaf whose values each cell has, or [`NO_ROW`].
    pub rows: Vec<usize>,
    /// Which cells are split; without the deepest level of each tree.
    pub splits: BitList,
}

/// Bits, the most significant of a byte first.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BitList {
    /// The bytes; bits after the last one are 0.
    pub bytes: Vec<u8>,
    /// Number of bits.
    pub n: usize,
}

impl FromIterator<bool> for BitList {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> Self {
        let mut list = Self::default();
        bits.into_iter().for_each(|bit| list.push(bit));
        list
    }
}

impl BitList {
    fn push(&mut self, bit: bool) {
        if self.n.is_multiple_of(8) {
            self.bytes.push(0);
        }
        *self.bytes.last_mut().expect("a byte") |= u8::from(bit) << (7 - self.n % 8);
        self.n += 1;
    }
}

/// A cell of one level.
#[derive(Debug, Clone, Copy)]
struct Cell {
    ijk: [u32; 3],
    row: usize,
    is_split: bool,
}

/// The cells of one level.
#[derive(Debug, Default)]
struct TreeLevel {
    rows: Vec<usize>,
    splits: Vec<bool>,
}

impl LeafList<'_> {
    /// Checks that the leaves lie in the box and come in their order.
    ///
    /// # Errors
    /// The first row that does not, as a text.
    pub fn check(&self) -> Result<(), String> {
        if self.roots.iter().any(|n| !(1..=MOST_ROOTS).contains(n)) {
            return Err(format!("{:?} root cells", self.roots));
        }
        for row in 0..self.level.len() {
            let (level, ijk) = (self.level[row], self.ijk[row]);
            let is_inside = |(x, n): (&u32, &u32)| u64::from(*x) < u64::from(*n) << level;
            if level > MOST_LEVELS || !ijk.iter().zip(&self.roots).all(is_inside) {
                return Err(format!("row {} lies outside the box", row + 1));
            }
            let before = row.checked_sub(1).map(|b| (self.level[b], self.ijk[b]));
            let follows = |(l, x)| l < level || l == level && morton_order(x, ijk).is_lt();
            if !before.is_none_or(follows) {
                return Err(format!("row {} is not in the order of levels and the Morton curve", row + 1));
            }
        }
        match self.level.last() {
            Some(deepest) if self.roots.iter().any(|n| u64::from(*n) << deepest > MOST_CELLS) => {
                Err(format!("{:?} root cells with leaves of level {deepest}", self.roots))
            }
            _ => Ok(()),
        }
    }

    /// The cells of a level from its leaves and its split cells, and the parents of all of them.
    fn level(
        &self,
        leaves: Range<usize>,
        splits: Vec<Cell>,
        is_root: bool,
    ) -> Result<(TreeLevel, Vec<Cell>), String> {
        let leaf = |row: usize| Cell { ijk: self.ijk[row], row, is_split: false };
        let (mut leaves, mut splits) = (leaves.map(leaf).peekable(), splits.into_iter().peekable());
        let (mut level, mut parents) = (TreeLevel::default(), Vec::new());
        loop {
            let order = match (leaves.peek(), splits.peek()) {
                (None, None) => return Ok((level, parents)),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(leaf), Some(split)) => morton_order(leaf.ijk, split.ijk),
            };
            let cell = match order {
                Ordering::Less => leaves.next(),
                Ordering::Greater => splits.next(),
                Ordering::Equal => {
                    let row = leaves.peek().expect("it was compared").row;
                    return Err(format!("the leaf of row {} has leaves in it", row + 1));
                }
            };
            self.add(cell.expect("it was compared"), is_root, &mut level, &mut parents);
        }
    }

    /// Adds a cell to its level, with places for its siblings, and itself to its parent.
    fn add(&self, cell: Cell, is_root: bool, level: &mut TreeLevel, parents: &mut Vec<Cell>) {
        let parent = Cell { ijk: cell.ijk.map(|x| x >> 1), row: cell.row, is_split: true };
        let child = if is_root { 0 } else { (0..3).map(|a| (cell.ijk[a] as usize & 1) << a).sum() };
        match parents.last_mut().filter(|last| !is_root && last.ijk == parent.ijk) {
            Some(last) if self.density[cell.row] > self.density[last.row] => last.row = cell.row,
            Some(_) => {}
            None => {
                let n = level.rows.len() + if is_root { 1 } else { 8 };
                level.rows.resize(n, NO_ROW);
                level.splits.resize(n, false);
                parents.push(if is_root { cell } else { parent });
            }
        }
        let first = level.rows.len() - if is_root { 1 } else { 8 };
        level.rows[first + child] = cell.row;
        level.splits[first + child] = cell.is_split;
    }
}

impl LeafTree {
    /// Of these leaves.
    ///
    /// # Errors
    /// As [`LeafList::check`], or a leaf covers another one.
    pub fn new(leaves: &LeafList) -> Result<Self, String> {
        leaves.check()?;
        let n_levels = leaves.level.last().map_or(0, |deepest| deepest + 1);
        let mut levels: Vec<TreeLevel> = Vec::new();
        let (mut end, mut splits) = (leaves.level.len(), Vec::new());
        for level in (0..n_levels).rev() {
            let first = leaves.level.partition_point(|l| *l < level);
            let (cells, parents) = leaves.level(first..end, splits, level == 0)?;
            levels.push(cells);
            (end, splits) = (first, parents);
        }
        levels.reverse();
        // The parents of level 0 are its own cells.
        Ok(Self::in_order(levels, &splits, leaves.roots))
    }

    /// Puts the cells of all levels into the order of the file, tree by tree.
    fn in_order(levels: Vec<TreeLevel>, roots: &[Cell], [nx, ny, _]: [u32; 3]) -> Self {
        let mut tree = Self::default();
        tree.rows.reserve_exact(levels.iter().map(|level| level.rows.len()).sum());
        let mut next = vec![0; levels.len()];
        for [x, y, z] in roots.iter().map(|root| root.ijk.map(i64::from)) {
            tree.tree_ids.push(x + i64::from(nx) * (y + i64::from(ny) * z));
            let (mut n, mut depth) = (1, 0);
            while n > 0 {
                let cells = next[depth]..next[depth] + n;
                next[depth] = cells.end;
                tree.rows.extend(&levels[depth].rows[cells.clone()]);
                tree.level_sizes.push(n as i64);
                let splits = &levels[depth].splits[cells];
                n = 8 * splits.iter().filter(|is_split| **is_split).count();
                if n > 0 {
                    splits.iter().for_each(|is_split| tree.splits.push(*is_split));
                }
                depth += 1;
            }
            tree.depths.push(depth as i64);
        }
        tree
    }
}

/// The order of two cells of one level along the Morton curve: that of the highest bit in which they differ,
/// z before y before x.
pub fn morton_order(a: [u32; 3], b: [u32; 3]) -> Ordering {
    let differ = |axis: usize| a[axis] ^ b[axis];
    let mut first = 2;
    for axis in [1, 0] {
        let (best, here) = (differ(first), differ(axis));
        // Whether the highest bit of `here` is above that of `best`.
        if best < here && best < best ^ here {
            first = axis;
        }
    }
    a[first].cmp(&b[first])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit by bit, from the highest: z, y, x.
    fn key([x, y, z]: [u32; 3]) -> u128 {
        (0..96).fold(0, |key, i| key | u128::from([x, y, z][i % 3] >> (i / 3) & 1) << i)
    }

    #[test]
    fn the_order_is_that_of_interleaved_bits() {
        let some = |i: u32| [i.wrapping_mul(2_654_435_761) >> (i % 31), i.rotate_left(i % 32), i * 37 % 1001];
        for i in 0..2000 {
            let (a, b) = (some(i), some(i / 3 * 7 % 501));
            assert_eq!(morton_order(a, b), key(a).cmp(&key(b)), "{a:?} {b:?}");
        }
    }

    /// A root cell of 8, of which the last is split; another of one leaf; a third that is left out.
    #[test]
    fn cells_come_tree_by_tree_and_level_by_level() {
        let mut leaves = vec![(0, [1, 0, 0])];
        leaves.extend((0..7).map(|c| (1, [c & 1, c >> 1 & 1, c >> 2 & 1])));
        // One of the eight children is absent.
        leaves.extend((0..7).map(|c| (2, [2 + (c & 1), 2 + (c >> 1 & 1), 2 + (c >> 2 & 1)])));
        let (level, ijk): (Vec<u8>, Vec<[u32; 3]>) = leaves.into_iter().unzip();
        let density: Vec<f64> = (0..15).map(|row| if row == 11 { 99.0 } else { f64::from(row) }).collect();
        let list = LeafList { roots: [3, 1, 1], level: &level, ijk: &ijk, density: &density };
        let tree = LeafTree::new(&list).expect("a tree");
        assert_eq!(
            (tree.tree_ids, tree.depths, tree.level_sizes),
            (vec![0, 1], vec![3, 1], vec![1, 8, 8, 1])
        );
        let rows = [11, 1, 2, 3, 4, 5, 6, 7, 11, 8, 9, 10, 11, 12, 13, 14, NO_ROW, 0];
        assert_eq!(tree.rows, rows);
        assert_eq!(tree.splits, BitList { bytes: vec![0b1000_0000, 0b1000_0000], n: 9 });
    }

    #[test]
    fn leaves_that_are_no_tree_are_refused() {
        let refused = |level: &[u8], ijk: &[[u32; 3]]| {
            let density = vec![1.0; level.len()];
            LeafTree::new(&LeafList { roots: [1; 3], level, ijk, density: &density }).expect_err("refused")
        };
        let wide = LeafList { roots: [4, 1, 1], level: &[30], ijk: &[[0; 3]], density: &[1.0] };
        assert!(wide.check().expect_err("refused").contains("root cells with leaves of level 30"));
        assert!(refused(&[1], &[[2, 0, 0]]).contains("row 1 lies outside the box"));
        assert!(refused(&[40], &[[0; 3]]).contains("row 1 lies outside the box"));
        assert!(refused(&[1, 1], &[[0; 3], [0; 3]]).contains("row 2 is not in the order"));
        assert!(refused(&[1, 1], &[[1, 1, 0], [1, 0, 0]]).contains("row 2 is not in the order"));
        assert!(refused(&[2, 1], &[[0; 3], [1; 3]]).contains("row 2 is not in the order"));
        assert!(refused(&[1, 3], &[[0; 3], [1; 3]]).contains("the leaf of row 1 has leaves in it"));
        let none = LeafTree::new(&LeafList { roots: [1; 3], level: &[], ijk: &[], density: &[] });
        assert_eq!(none, Ok(LeafTree::default()));
    }
}
