//! Deposit: the masses of particles on the leaves of one root, as [`crate::density::deposit_conserving`]
//! computes them on a whole mesh. [`super::walk`] finds the leaf of each particle and the cells around it.

use super::tree::NONE;
use super::walk::{Leaf, for_each_particle};
use super::{RootTree, Shape};
use crate::density::{Cloud, child_at, cloud_cells, whole_quanta};
use crate::geom::{cell_side, cell_volume};
use crate::mesh::local;
use crate::sfc::{morton63, position63};
use crate::simd::{larger, wide};

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

/// The value of a split cell in place of a mass. No leaf can have this number of quanta.
const SPLIT: u64 = u64::MAX;

/// The masses of the leaves of one root while particles are deposited.
#[derive(Debug, Default, Clone)]
pub struct LevelDeposit {
    /// By cell, the mass of a leaf in quanta; [`SPLIT`] for split cells.
    quanta: Vec<u64>,
    /// Quanta per unit of mass, a power of two.
    per_mass: f64,
    is_full: bool,
}

/// The leaves of one level of a root that are denser than a threshold: bricks by ascending key with a mask of
/// these leaves, and the densities of the leaves.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct TestLevel {
    /// Morton key of each brick on the grid of bricks of its level.
    pub key: Vec<u64>,
    /// The leaves in each brick, one bit each.
    pub mask: Vec<u64>,
    /// The densities of all these leaves.
    pub rho: Vec<f64>,
}

/// Called with the number of a particle, the level of its leaf, and the key of another root.
pub type Borders<'a> = &'a mut dyn FnMut(usize, u8, u64);

/// Calls `found` for each particle of a root and each other root that its cloud reaches, including this root
/// across a periodic side. Visits only leaves at the sides of the root.
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

/// Calls `found` for each root that the cloud of a particle in the root at `corner` reaches, except at that
/// position.
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
        (self.per_mass, self.is_full) = (1.0 / quantum, false);
    }

    /// Whether a counter has overflowed. If so, the masses are invalid.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    #[inline(always)]
    fn add(&mut self, cell: u32, mass: f64) {
        let sum = &mut self.quanta[cell as usize];
        match whole_quanta(mass, self.per_mass).and_then(|n| sum.checked_add(n)) {
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
        let touched = leaf.touched(cloud.cell(0));
        for (corner, weight) in cloud.weights().into_iter().enumerate() {
            let (cell, mass) = (touched(corner), mass * weight);
            if cell != NONE {
                self.share(tree, (leaf.level, cloud.cell(corner), cell), mass, &cloud);
            } else if shape.domain.wrap(leaf.level, cloud.cell(corner)).is_none() {
                self.add(leaf.cell(), mass);
            }
        }
    }

    /// Deposits the part in this root of a particle that is in another root, or in this one across a periodic
    /// side.
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

    /// Adds `mass` to `cell`, which is the cell of `level` at `at` or the leaf that covers it, or to the
    /// leaves in it.
    #[inline(always)]
    fn share(&mut self, tree: &RootTree, (level, at, cell): (u8, [i64; 3], u32), mass: f64, cloud: &Cloud) {
        match self.quanta[cell as usize] {
            SPLIT => self.share_among(tree, (level, at, tree.child[cell as usize]), mass, cloud),
            _ => self.add(cell, mass),
        }
    }

    /// Adds `mass` to the leaves in a split cell, the first of whose children is `first`. No branch depends
    /// on where the cloud is: a child outside it gets a mass of 0.
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

    /// [`Self::share`] as a call of its own, which ends the inlining of the two into each other.
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

    /// Appends the leaves of `level` denser than `threshold`; `unit` is the volume of the box. Returns the
    /// number of leaves of the level and the greatest density among them.
    pub fn test_cells(
        &self,
        tree: &RootTree,
        level: u8,
        unit: f64,
        threshold: f64,
        into: &mut TestLevel,
    ) -> (u64, f64) {
        let (quantum, volume) = (1.0 / self.per_mass, cell_volume(level));
        // Cell 0 is the root.
        let octs = self.quanta[1..].as_chunks::<8>().0;
        let (mut n_leaves, mut densest) = (0, [0.0; 8]);
        wide(
            #[inline(always)]
            || {
                for oct in tree.octs_of(level) {
                    let quanta = octs[oct];
                    let rho = quanta.map(|n| n as f64 * quantum / volume / unit);
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
    use super::super::tree::cell_of;
    use super::*;
    use crate::density::{Deposit, deposit_conserving};
    use crate::geom::Domain;
    use crate::mesh::{Mesh, SortedOcts, UnlinkedMesh};
    use crate::particle_mesh::{crowded, grade};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const QUANTUM: f64 = 1.0 / (1u64 << 40) as f64;

    /// The tree of a box that is a single root, and the keys of the particles, which are put in the order of
    /// these.
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
        (UnlinkedMesh::from_sorted(shape.domain, &levels).expect("an octree").linked(), cells)
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
