//! Deposit: the masses of particles on the leaves of one root, as [`crate::density::deposit_conserving`] computes them on a
//! whole mesh.
//!
//! Particles are sorted by key, so one walk down the tree and up again meets them all. It keeps the 27 cells around each cell
//! of its path, so no neighbour is searched for. Those around a child follow from those around its parent:
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
//! [`BESIDE`] is that table for all three axes. If a cell around the parent is a leaf, it covers the slot itself.

use super::tree::{NONE, cell_of};
use super::{RootTree, Shape};
use crate::density::{Cloud, child_at, cloud_cells, whole_quanta};
use crate::geom::{cell_side, cell_volume};
use crate::mesh::local;
use crate::sfc::{morton63, position63};
use crate::simd::{eight, larger, wide};

/// Particles of one root, in the order of their keys.
#[derive(Debug, Clone, Copy)]
pub struct RootMasses<'a> {
    /// Keys as [`Shape::key`] makes them, ascending.
    pub key: &'a [u64],
    /// Positions in units of the box.
    pub position: &'a [[f64; 3]],
    /// Masses; empty if all particles have the mass `same`.
    pub mass: &'a [f64],
    /// The mass of each particle, if `mass` is empty.
    pub same: f64,
}

/// What a split cell has in place of a mass. No leaf can have so many quanta.
const SPLIT: u64 = u64::MAX;

/// The masses of the leaves of one root while particles are deposited.
#[derive(Debug, Default, Clone)]
pub struct LevelDeposit {
    /// By cell, the mass of a leaf in quanta; [`SPLIT`] for split cells.
    quanta: Vec<u64>,
    /// The unit of mass, and how many of it a mass of 1 is.
    quantum: f64,
    of_one: f64,
    is_full: bool,
}

/// The leaves of one level of a root that are denser than a threshold: bricks by ascending key with a mask of these leaves,
/// and the densities of the leaves.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct TestLevel {
    /// Morton key of each brick on the grid of bricks of its level.
    pub key: Vec<u64>,
    /// The leaves in each brick, one bit each.
    pub mask: Vec<u64>,
    /// The densities of all these leaves.
    pub rho: Vec<f64>,
}

/// For each child of a cell and each slot around the child: the slot around the cell that contains it, and the number of the
/// child there.
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

/// For each child of a cell and each octant of that child: the eight cells that the cloud of a particle there touches, as in
/// [`BESIDE`].
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
/// Child i of the cell in a slot is the cell `first + (i & mask)`. So a leaf, whose mask is 0, stands for all of its children,
/// and a slot outside the root has [`NONE`] for its children.
#[derive(Clone, Copy)]
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

    /// The cell around a child of the cell itself that an entry of [`BESIDE`] names; [`NONE`] outside the root.
    #[inline(always)]
    fn beside(&self, (slot, child): (u8, u8)) -> u32 {
        self.first[usize::from(slot)] + (u32::from(child) & self.mask[usize::from(slot)])
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
struct Leaf<'a> {
    level: u8,
    position: [u32; 3],
    /// The cells around its parent.
    around: &'a Around,
    /// Its number among the children of the parent.
    child: usize,
}

/// A split cell that holds particles.
struct Split {
    position: [u32; 3],
    around: Around,
}

/// Calls `visit` for each particle of a root with its leaf. `root` is the key of the root, `keys` are those of its particles.
/// Enters only cells for whose level and position `is_wanted` holds.
///
/// ```text
///     keys in digits of 8, from the root down      2 5 1      2 5 6      3 1 1
///     last digits that may differ from before          0          1          3
///     split cells kept of the path                  root   root 2 25      root
///     and entered                                   2 25                     3     (31 is a leaf)
/// ```
#[inline(always)]
fn for_each_particle(
    tree: &RootTree,
    shape: &Shape,
    root: u64,
    keys: &[u64],
    is_wanted: impl Fn(u8, [u32; 3]) -> bool,
    mut visit: impl FnMut(usize, Leaf),
) {
    let depth = usize::from(shape.level_max - shape.root_level);
    let mut path = Vec::with_capacity(depth);
    path.push(Split { position: position63(root), around: Around::root(tree) });
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
            if tree.is_leaf(parent.around.beside((OWN as u8, child as u8))) {
                visit(i, Leaf { level, position, around: &parent.around, child });
                i += 1;
                break;
            }
            let around = parent.around.of_child(tree, child);
            path.push(Split { position, around });
        }
    }
}

/// Called with the number of a particle, the level of its leaf, and the key of another root.
pub type Borders<'a> = &'a mut dyn FnMut(usize, u8, u64);

/// Calls `found` for each particle of a root and each other root that its cloud reaches, including this root across a
/// periodic side. Visits only leaves at the sides of the root.
pub fn for_each_border(tree: &RootTree, shape: &Shape, root: u64, particles: RootMasses, found: Borders) {
    let corner = position63(root);
    let at_side = |level: u8, position: [u32; 3]| {
        let depth = level - shape.root_level;
        (0..3).any(|a| {
            let within = position[a] - (corner[a] << depth);
            within == 0 || within + 1 == 1 << depth
        })
    };
    for_each_particle(tree, shape, root, particles.key, at_side, |i, leaf| {
        others(shape, corner, leaf.level, particles.position[i], |other| found(i, leaf.level, other));
    });
}

/// Calls `found` for each root that the cloud of a particle in the root at `corner` reaches, except at that position.
fn others(shape: &Shape, corner: [u32; 3], level: u8, x: [f64; 3], mut found: impl FnMut(u64)) {
    let depth = level - shape.root_level;
    let (mut seen, mut n) = ([u64::MAX; 8], 0);
    for at in cloud_cells(level, x) {
        let place = at.map(|x| x >> depth);
        if place == corner.map(i64::from) {
            continue;
        }
        if let Some(other) = shape.domain.wrap(shape.root_level, place).map(morton63)
            && !seen[..n].contains(&other)
        {
            seen[n] = other;
            n += 1;
            found(other);
        }
    }
}

impl LevelDeposit {
    /// Sets the masses of all leaves of a tree to 0. `quantum` is the unit of mass, a power of two.
    pub fn clear(&mut self, tree: &RootTree, quantum: f64) {
        self.quanta.clear();
        self.quanta.extend(tree.child.iter().map(|first| if *first == NONE { 0 } else { SPLIT }));
        (self.quantum, self.of_one, self.is_full) = (quantum, 1.0 / quantum, false);
    }

    /// Whether a counter has overflowed. If so, the masses are invalid.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    #[inline(always)]
    fn add(&mut self, cell: u32, mass: f64) {
        let sum = &mut self.quanta[cell as usize];
        match whole_quanta(mass, self.of_one).and_then(|n| sum.checked_add(n)) {
            Some(more) if more != SPLIT => *sum = more,
            _ => self.is_full = true,
        }
    }

    /// Deposits the particles of a root on its leaves, except the parts outside the root.
    pub fn deposit(&mut self, tree: &RootTree, shape: &Shape, root: u64, particles: RootMasses) {
        wide(
            #[inline(always)]
            || {
                for_each_particle(
                    tree,
                    shape,
                    root,
                    particles.key,
                    |_, _| true,
                    #[inline(always)]
                    |i, leaf| {
                        // An empty list means equal masses.
                        let mass = particles.mass.get(i).copied().unwrap_or(particles.same);
                        self.deposit_one(tree, shape, &leaf, particles.position[i], mass);
                    },
                );
            },
        );
    }

    #[inline(always)]
    fn deposit_one(&mut self, tree: &RootTree, shape: &Shape, leaf: &Leaf, x: [f64; 3], mass: f64) {
        let cloud = Cloud::new(leaf.level, x);
        let half = |a: usize| (cloud.low[a] + 1 - i64::from(leaf.position[a])) as usize & 1;
        let touched = &TOUCHED[leaf.child][half(0) | half(1) << 1 | half(2) << 2];
        let masses = cloud.weights().map(|weight| mass * weight);
        for corner in 0..8 {
            let (cell, mass) = (leaf.around.beside(touched[corner]), masses[corner]);
            if cell != NONE {
                self.share(tree, (leaf.level, cloud.cell(corner), cell), mass, &cloud);
            } else if shape.domain.wrap(leaf.level, cloud.cell(corner)).is_none() {
                let own = leaf.around.beside((OWN as u8, leaf.child as u8));
                self.add(own, mass);
            }
        }
    }

    /// Deposits the part in this root of a particle that is in another root, or in this one across a periodic side.
    pub fn deposit_border(
        &mut self,
        tree: &RootTree,
        shape: &Shape,
        root: u64,
        (level, x): (u8, [f64; 3]),
        mass: f64,
    ) {
        let depth = level - shape.root_level;
        let own = x.map(|x| (x / cell_side(shape.root_level)).floor() as i64);
        let root = position63(root);
        let cloud = Cloud::new(level, x);
        for (at, weight) in cloud.corners() {
            if at.map(|x| x >> depth) == own {
                continue;
            }
            if let Some(wrapped) = shape.domain.wrap(level, at)
                && wrapped.map(|x| x >> depth) == root
            {
                self.share(tree, (level, at, tree.find(depth, wrapped)), mass * weight, &cloud);
            }
        }
    }

    /// Adds `mass` to `cell`, which is the cell of `level` at `at` or the leaf that covers it, or to the leaves in it.
    #[inline(always)]
    fn share(&mut self, tree: &RootTree, (level, at, cell): (u8, [i64; 3], u32), mass: f64, cloud: &Cloud) {
        match self.quanta[cell as usize] {
            SPLIT => self.share_among(tree, (level, at, tree.child[cell as usize]), mass, cloud),
            _ => self.add(cell, mass),
        }
    }

    /// Adds `mass` to the leaves in a split cell, the first of whose children is `first`. No branch depends on where the cloud
    /// is: a child outside it gets a mass of 0.
    #[inline(always)]
    fn share_among(
        &mut self,
        tree: &RootTree,
        (level, at, first): (u8, [i64; 3], u32),
        mass: f64,
        cloud: &Cloud,
    ) {
        for (child, part) in (0..8).zip(cloud.parts(level, at)) {
            let (cell, mass) = (first + child, mass * part);
            // Finer leaves do not touch the leaf of the particle, so only rounding takes a cloud there.
            if self.quanta[cell as usize] != SPLIT {
                self.add(cell, mass);
            } else if mass > 0.0 {
                self.share_deeper(tree, (level + 1, child_at(at, child), cell), mass, cloud);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn share_deeper(
        &mut self,
        tree: &RootTree,
        (level, at, cell): (u8, [i64; 3], u32),
        mass: f64,
        cloud: &Cloud,
    ) {
        self.share(tree, (level, at, cell), mass, cloud);
    }

    /// Appends the leaves of `level` denser than `threshold`; `unit` is the volume of the box. Returns the number of leaves of
    /// the level and the greatest density among them.
    pub fn test_cells(
        &self,
        tree: &RootTree,
        level: u8,
        unit: f64,
        threshold: f64,
        into: &mut TestLevel,
    ) -> (u64, f64) {
        let (volume, mut n_leaves, mut densest) = (cell_volume(level), 0, [0.0; 8]);
        wide(
            #[inline(always)]
            || {
                for oct in tree.octs_of(level) {
                    let quanta: [u64; 8] = eight(&self.quanta, cell_of(oct, 0), SPLIT);
                    let rho = quanta.map(|n| n as f64 * self.quantum / volume / unit);
                    let (mut leaves, mut dense) = (0, 0);
                    for i in 0..8 {
                        let is_leaf = quanta[i] != SPLIT;
                        densest[i] = larger(densest[i], if is_leaf { rho[i] } else { 0.0 });
                        leaves |= u8::from(is_leaf) << i;
                        dense |= u8::from(is_leaf & (rho[i] > threshold)) << i;
                    }
                    n_leaves += u64::from(leaves.count_ones());
                    into.rho.extend(local::bits(dense.into()).map(|i| rho[i as usize]));
                    into.put(tree.parent[oct], dense.into());
                }
            },
        );
        (n_leaves, densest.into_iter().fold(0.0, larger))
    }
}

impl RootTree {
    /// The cell `depth` levels below the root at a position of that level, or the leaf that covers it.
    fn find(&self, depth: u8, position: [u32; 3]) -> u32 {
        let mut cell = 0;
        for up in (0..depth).rev() {
            match self.child[cell as usize] {
                NONE => break,
                first => cell = first + (0..3).fold(0, |child, a| child | (position[a] >> up & 1) << a),
            }
        }
        cell
    }
}

impl TestLevel {
    /// Adds leaves of the oct whose parent has the key `parent`. Octs must be added in ascending order.
    fn put(&mut self, parent: u64, leaves: u64) {
        if leaves == 0 {
            return;
        }
        let (key, mask) = (parent >> 3, leaves << (8 * (parent & 7)));
        match self.mask.last_mut().filter(|_| self.key.last() == Some(&key)) {
            Some(last) => *last |= mask,
            None => {
                self.key.push(key);
                self.mask.push(mask);
            }
        }
    }

    /// Appends later leaves.
    pub fn append(&mut self, other: &Self) {
        self.key.extend_from_slice(&other.key);
        self.mask.extend_from_slice(&other.mask);
        self.rho.extend_from_slice(&other.rho);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::{Deposit, deposit_conserving};
    use crate::geom::Domain;
    use crate::mesh::{Mesh, SortedOcts};
    use crate::particle_mesh::{crowded, grade};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const QUANTUM: f64 = 1.0 / (1u64 << 40) as f64;

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

    /// The tree of a box that is a single root, and the keys of the particles, which are put in the order of these.
    fn tree_of(shape: &Shape, positions: &mut [[f64; 3]]) -> (RootTree, Vec<u64>) {
        positions.sort_by_key(|x| shape.key(*x));
        let keys: Vec<u64> = positions.iter().map(|x| shape.key(*x)).collect();
        let mut levels = crowded(shape, &keys);
        grade(shape, &mut levels);
        let mut tree = RootTree::default();
        tree.grow(shape, 0, |level| &levels[usize::from(level - shape.level_min)]);
        (tree, keys)
    }

    /// The same octree as a mesh, and the cell of the tree for each level and position.
    fn mesh_of(shape: &Shape, tree: &RootTree) -> (Mesh, BTreeMap<(u8, [u32; 3]), u32>) {
        let root = SortedOcts { position: vec![[0; 3]], exists: vec![1], leaf: vec![0] };
        let (mut levels, mut cells) = (vec![root], BTreeMap::new());
        for level in 1..=shape.level_max {
            let mut octs = SortedOcts::default();
            for oct in tree.octs_of(level) {
                let position = position63(tree.parent[oct]);
                octs.position.push(position);
                octs.exists.push(u8::MAX);
                octs.leaf
                    .push((0..8).filter(|i| tree.is_leaf(cell_of(oct, *i))).fold(0, |mask, i| mask | 1 << i));
                for i in 0..8u32 {
                    let at = local::child_of(position, i);
                    cells.insert((level, at), cell_of(oct, i.into()));
                }
            }
            levels.push(octs);
        }
        (Mesh::from_sorted(shape.domain, &levels).expect("an octree"), cells)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

        /// Reference: the deposit on the whole mesh.
        #[test]
        fn masses_are_those_on_the_whole_mesh(
            mut positions in prop::collection::vec(prop::array::uniform3(0.0..1.0f64), 1..120),
            part in prop_oneof![Just(1.0), Just(0.2)],
            periodic in prop::array::uniform3(any::<bool>()),
            m_refine in 1..9u64,
        ) {
            positions.iter_mut().for_each(|x| *x = x.map(|x| x * part));
            let domain = Domain { coarse: [1; 3], periodic };
            let shape = Shape { domain, root_level: 0, level_min: 2, level_max: 5, m_refine };
            let (tree, key) = tree_of(&shape, &mut positions);
            let (mesh, cells) = mesh_of(&shape, &tree);
            let mut found = LevelDeposit::default();
            found.clear(&tree, QUANTUM);
            let particles = RootMasses { key: &key, position: &positions, mass: &[], same: 1.0 };
            found.deposit(&tree, &shape, 0, particles);
            let mut borders = Vec::new();
            for_each_border(&tree, &shape, 0, particles, &mut |i, level, _| borders.push((i, level)));
            for (i, level) in borders {
                found.deposit_border(&tree, &shape, 0, (level, positions[i]), 1.0);
            }
            let expected = Deposit::new(mesh.n_cells(), QUANTUM);
            deposit_conserving(&mesh, &positions, &vec![1.0; positions.len()], &expected);
            let expected = expected.quanta().expect("few particles");
            for ((level, at), cell) in cells {
                let of_mesh = mesh.find(level, at).expect("the same octree");
                let expected = if tree.is_leaf(cell) { expected[of_mesh.at()] } else { SPLIT };
                prop_assert_eq!(found.quanta[cell as usize], expected, "{:?} of level {}", at, level);
            }
        }
    }
}
