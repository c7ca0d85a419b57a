//! Walk: in which leaf is each particle of a root, and which cells are around it?
//!
//! Place in the flow: called by [`super::deposit`]. It uses keys and a tree, no masses.
//!
//! Particles are sorted by key, so one walk down the tree and up again meets them all. It keeps the 27 cells
//! around each cell of its path, so no neighbour is searched for. Those around a child follow from those
//! around its parent:
//!
//! ```text
//!     along one axis                         27 cells = 3 x 3 x 3 slots, x fastest; slot 13 is the cell itself
//!
//!     around the parent   |   0   |   1   |   2   |
//!     their children      | 0   1 | 0   1 | 0   1 |
//!     around child 0          | x | c | x |           slots 0 1 2: child 1 of 0, child 0 of 1, child 1 of 1
//!     around child 1              | x | c | x |       slots 0 1 2: child 0 of 1, child 1 of 1, child 0 of 2
//! ```
//!
//! [`BESIDE`] is that table for all three axes. If a cell around the parent is a leaf, it covers the slot
//! itself.

use super::tree::NONE;
use super::{RootTree, Shape};
use crate::mesh::local;
use crate::sfc::position63;

/// For each child of a cell and each slot around the child: the slot around the cell that contains it, and
/// the number of the child there.
const BESIDE: [[(u8, u8); 27]; 8] = {
    let mut table = [[(0, 0); 27]; 8];
    let mut i = 0;
    while i < 8 * 27 {
        let (cell, slot) = (i / 27, i % 27);
        let (mut of_parent, mut child, mut a, mut three) = (0, 0, 0, 1);
        while a < 3 {
            // In children, counted from the first child of slot 0.
            let at = 2 + (cell >> a & 1) + slot / three % 3 - 1;
            of_parent += at / 2 * three;
            child |= (at % 2) << a;
            a += 1;
            three *= 3;
        }
        table[cell][slot] = (of_parent as u8, child as u8);
        i += 1;
    }
    table
};

/// For each child of a cell and each octant of that child: the eight cells that the cloud of a particle there
/// touches, as in [`BESIDE`].
const TOUCHED: [[[(u8, u8); 8]; 8]; 8] = {
    let mut table = [[[(0, 0); 8]; 8]; 8];
    let mut i = 0;
    while i < 8 * 64 {
        let (cell, octant, corner) = (i / 64, i / 8 % 8, i % 8);
        let (mut slot, mut a, mut three) = (0, 0, 1);
        while a < 3 {
            // In its lower half the cloud begins in the cell before, in its upper half in the child itself.
            slot += ((octant >> a & 1) + (corner >> a & 1)) * three;
            a += 1;
            three *= 3;
        }
        table[cell][octant][corner] = BESIDE[cell][slot];
        i += 1;
    }
    table
};

/// The slot of the cell itself.
const OWN: usize = 13;

/// The 27 cells around a split cell, of its level or leaves that cover those, and where their children are.
///
/// Child i of the cell in a slot is the cell `first + (i & mask)`. So a leaf, whose mask is 0, stands for all
/// of its children, and a slot outside the root has [`NONE`] for its children.
struct Around {
    first: [u32; 27],
    mask: [u32; 27],
}

impl Around {
    /// Around the root itself: nothing.
    fn root(tree: &RootTree) -> Self {
        let mut around = Self { first: [NONE; 27], mask: [0; 27] };
        (around.first[OWN], around.mask[OWN]) = (tree.child[0], 7);
        around
    }

    /// The cell around a child of the cell itself that an entry of [`BESIDE`] names; [`NONE`] outside the
    /// root.
    #[inline(always)]
    fn beside(&self, (slot, child): (u8, u8)) -> u32 {
        self.first[usize::from(slot)] + (u32::from(child) & self.mask[usize::from(slot)])
    }

    /// Child `i` of the cell itself.
    #[inline(always)]
    fn own_child(&self, i: usize) -> u32 {
        self.first[OWN] + i as u32
    }

    /// The cells around child `i` of the cell itself.
    #[inline(always)]
    fn of_child(&self, tree: &RootTree, i: usize) -> Self {
        let mut around = Self { first: [NONE; 27], mask: [0; 27] };
        for (slot, entry) in BESIDE[i].iter().enumerate() {
            let cell = self.beside(*entry);
            (around.first[slot], around.mask[slot]) = match tree.child.get(cell as usize) {
                Some(&first) if first != NONE => (first, 7),
                _ => (cell, 0),
            };
        }
        around
    }
}

/// The leaf that holds a particle.
pub(super) struct Leaf<'a> {
    pub level: u8,
    pub position: [u32; 3],
    /// The cells around its parent.
    around: &'a Around,
    /// Its number among the children of the parent.
    child: usize,
}

impl Leaf<'_> {
    /// The cell of the tree that it is.
    #[inline(always)]
    pub fn cell(&self) -> u32 {
        self.around.own_child(self.child)
    }

    /// Returns each of the eight cells that the cloud of a particle in it touches, x fastest; [`NONE`]
    /// outside the root. `low` is the position of the first one: along each axis the leaf itself or the cell
    /// before it.
    #[inline(always)]
    pub fn touched(&self, low: [i64; 3]) -> impl Fn(usize) -> u32 {
        let half = |a: usize| (low[a] + 1 - i64::from(self.position[a])) as usize;
        let entries = &TOUCHED[self.child][half(0) + 2 * half(1) + 4 * half(2)];
        move |corner| self.around.beside(entries[corner])
    }
}

/// A split cell on the path from the root to a leaf.
struct PathCell {
    position: [u32; 3],
    around: Around,
}

/// Calls `visit` for each particle of a root with its leaf. `root` is the key of the root, `keys` are those
/// of its particles. Enters only cells for whose level and position `is_wanted` holds.
///
/// ```text
///     keys in digits of 8, from the root down      2 5 1      2 5 6      3 1 1
///     last digits that may differ from before          0          1          3
///     split cells kept of the path                  root   root 2 25      root
///     and entered                                   2 25                     3     (31 is a leaf)
/// ```
#[inline(always)]
pub(super) fn for_each_particle(
    tree: &RootTree,
    shape: &Shape,
    root: u64,
    keys: &[u64],
    is_wanted: impl Fn(u8, [u32; 3]) -> bool,
    mut visit: impl FnMut(usize, Leaf),
) {
    let depth = usize::from(shape.level_max - shape.root_level);
    let mut path = Vec::with_capacity(depth);
    path.push(PathCell { position: position63(root), around: Around::root(tree) });
    let (mut i, mut before) = (0, keys.first().copied().unwrap_or(0));
    while i < keys.len() {
        let key = keys[i];
        let n_changed = (u64::BITS - (key ^ before).leading_zeros()).div_ceil(3) as usize;
        path.truncate(depth + 1 - n_changed);
        before = key;
        loop {
            let parent = path.last().expect("the root stays");
            let level = shape.root_level + path.len() as u8;
            let shift = 3 * u32::from(shape.level_max - level);
            let child = (key >> shift & 7) as usize;
            let position = local::child_of(parent.position, child as u32);
            if !is_wanted(level, position) {
                i += keys[i..].iter().take_while(|other| *other >> shift == key >> shift).count();
                break;
            }
            if tree.is_leaf(parent.around.own_child(child)) {
                visit(i, Leaf { level, position, around: &parent.around, child });
                i += 1;
                break;
            }
            let around = parent.around.of_child(tree, child);
            path.push(PathCell { position, around });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_around_a_child_are_those_of_its_coordinates() {
        for (child, slot) in (0..8).flat_map(|child| (0..27).map(move |slot| (child, slot))) {
            let steps = [slot % 3, slot / 3 % 3, slot / 9];
            let at = [0, 1, 2].map(|a| 2 + (child >> a & 1) + steps[a] - 1);
            let of_parent = at[0] / 2 + 3 * (at[1] / 2) + 9 * (at[2] / 2);
            let expected = (of_parent as u8, (at[0] % 2 + 2 * (at[1] % 2) + 4 * (at[2] % 2)) as u8);
            assert_eq!(BESIDE[child][slot], expected);
        }
    }
}
