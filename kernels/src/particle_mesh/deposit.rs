//! Particles laid on the leaves of one root, as [`crate::density::deposit_conserving`] does on a whole mesh.

use super::tree::{NONE, cell_of};
use super::{RootTree, Shape};
use crate::density::{Cloud, cloud_cells, whole_quanta};
use crate::geom::{cell_side, cell_volume};
use crate::sfc::{morton63, position63};
use std::ops::Range;

/// Particles of one root, in the order of their keys.
#[derive(Debug, Clone, Copy)]
pub struct RootMasses<'a> {
    /// Keys as [`Shape::key`] makes them, ascending.
    pub key: &'a [u64],
    /// Positions in units of the box.
    pub position: &'a [[f64; 3]],
    /// Masses; empty where all have the one beside it.
    pub mass: &'a [f64],
    /// The mass of all.
    pub same: f64,
}

/// Masses of the cells of one root in the making.
#[derive(Debug, Default, Clone)]
pub struct LevelDeposit {
    quanta: Vec<u64>,
    quantum: f64,
    is_full: bool,
}

/// The leaves of one level of a root that are denser than a threshold: bricks ascending by key with the mask of
/// these leaves, and their densities.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct TestLevel {
    /// Morton key of each brick on the grid of bricks of its level.
    pub key: Vec<u64>,
    /// The leaves in it, one bit each.
    pub mask: Vec<u64>,
    /// Densities of all.
    pub rho: Vec<f64>,
}

/// For each cell of an oct and each of its 26 neighbours and itself, x fastest: which of the 27 cells about the
/// oct's parent that is in, and which child of it.
const BESIDE: [[(u8, u8); 27]; 8] = {
    let mut table = [[(0, 0); 27]; 8];
    let mut i = 0;
    while i < 8 * 27 {
        let (cell, slot) = (i / 27, i % 27);
        let (mut of_parent, mut child, mut a, mut three) = (0, 0, 0, 1);
        while a < 3 {
            // From the parent's lower neighbour on, in cells.
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

/// The slot of a cell itself among the 27.
const OWN: usize = 13;

/// The cells of its level about a cell, or the leaves about these; [`NONE`] outside the root.
type Around = [u32; 27];

impl RootTree {
    /// What is at `slot` about child `i` of the cell that is amid `around`.
    #[inline]
    fn beside(&self, around: &Around, i: usize, slot: usize) -> u32 {
        let (of_parent, child) = BESIDE[i][slot];
        match around[usize::from(of_parent)] {
            NONE => NONE,
            cell => match self.child[cell as usize] {
                NONE => cell,
                first => first + u32::from(child),
            },
        }
    }

    fn around_child(&self, around: &Around, i: usize) -> Around {
        std::array::from_fn(|slot| self.beside(around, i, slot))
    }
}

/// A leaf that holds particles.
struct Leaf<'a> {
    level: u8,
    position: [u32; 3],
    /// What is about the cell that it is in, and which child of it it is.
    around: &'a Around,
    child: usize,
    particles: Range<usize>,
}

/// Calls `visit` for the leaves that hold particles, those alone for whose levels and positions all cells
/// around them have `is_wanted`.
struct LeafWalk<'a, W, V> {
    tree: &'a RootTree,
    shape: &'a Shape,
    keys: &'a [u64],
    is_wanted: W,
    visit: V,
}

impl<W: Fn(u8, [u32; 3]) -> bool, V: FnMut(Leaf)> LeafWalk<'_, W, V> {
    fn root(mut self, key: u64) {
        let mut around = [NONE; 27];
        around[OWN] = 0;
        self.split(self.shape.root_level, position63(key), &around, 0..self.keys.len());
    }

    fn split(&mut self, level: u8, position: [u32; 3], around: &Around, particles: Range<usize>) {
        let level = level + 1;
        let shift = 3 * u32::from(self.shape.level_max - level);
        let mut start = particles.start;
        while start < particles.end {
            let child = (self.keys[start] >> shift & 7) as usize;
            let end = start + run_length(&self.keys[start..particles.end], shift);
            let position = std::array::from_fn(|a| 2 * position[a] + (child >> a & 1) as u32);
            let cell = self.tree.child[around[OWN] as usize] + child as u32;
            if (self.is_wanted)(level, position) {
                if self.tree.is_leaf(cell) {
                    (self.visit)(Leaf { level, position, around, child, particles: start..end });
                } else {
                    self.split(level, position, &self.tree.around_child(around, child), start..end);
                }
            }
            start = end;
        }
    }
}

/// How many of the first keys agree above the `shift` lowest bits.
#[inline]
fn run_length(keys: &[u64], shift: u32) -> usize {
    let first = keys[0] >> shift;
    match keys.len() {
        0..=16 => keys.iter().position(|key| key >> shift != first).unwrap_or(keys.len()),
        _ => keys.partition_point(|key| key >> shift == first),
    }
}

/// Called with the number of a particle, the level of its leaf, and the key of another root.
pub type Borders<'a> = &'a mut dyn FnMut(usize, u8, u64);

/// Names the particles of a root whose clouds reach other roots, or this one over the edge of the box, once for
/// each. Looks at the leaves at the sides of the root alone.
pub fn for_each_border(tree: &RootTree, shape: &Shape, root: u64, particles: RootMasses, found: Borders) {
    let corner = position63(root);
    let at_side = |level: u8, position: [u32; 3]| {
        let depth = level - shape.root_level;
        (0..3).any(|a| {
            let within = position[a] - (corner[a] << depth);
            within == 0 || within + 1 == 1 << depth
        })
    };
    let visit = |leaf: Leaf| {
        for i in leaf.particles {
            others(shape, corner, leaf.level, particles.position[i], |other| found(i, leaf.level, other));
        }
    };
    LeafWalk { tree, shape, keys: particles.key, is_wanted: at_side, visit }.root(root);
}

/// The roots that a cloud of a particle in the root at `corner` reaches, but for this place.
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
    /// Empties itself for the cells of a tree; `quantum` is the unit of mass, a power of two.
    pub fn clear(&mut self, tree: &RootTree, quantum: f64) {
        self.quanta.clear();
        self.quanta.resize(tree.n_cells(), 0);
        (self.quantum, self.is_full) = (quantum, false);
    }

    /// Whether a cell holds more than the quantum allows: then nothing here is right.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    #[inline]
    fn add(&mut self, cell: u32, mass: f64) {
        let sum = &mut self.quanta[cell as usize];
        match whole_quanta(mass, self.quantum).and_then(|n| sum.checked_add(n)) {
            Some(more) => *sum = more,
            None => self.is_full = true,
        }
    }

    /// Lays the particles of a root on its leaves, but for what reaches beyond the root.
    pub fn lay(&mut self, tree: &RootTree, shape: &Shape, root: u64, particles: RootMasses) {
        let visit = |leaf: Leaf| {
            for i in leaf.particles.clone() {
                let mass = particles.mass.get(i).copied().unwrap_or(particles.same);
                self.lay_one(tree, shape, &leaf, particles.position[i], mass);
            }
        };
        LeafWalk { tree, shape, keys: particles.key, is_wanted: |_, _| true, visit }.root(root);
    }

    #[inline]
    fn lay_one(&mut self, tree: &RootTree, shape: &Shape, leaf: &Leaf, x: [f64; 3], mass: f64) {
        let cloud = Cloud::new(leaf.level, x);
        for corner in 0..8 {
            let (at, weight) = cloud.corner(corner);
            let step = |a: usize| (at[a] + 1 - i64::from(leaf.position[a])) as usize;
            let cell = tree.beside(leaf.around, leaf.child, step(0) + 3 * step(1) + 9 * step(2));
            if cell != NONE {
                self.share(tree, (leaf.level, at, cell), mass * weight, &cloud);
            } else if shape.domain.wrap(leaf.level, at).is_none() {
                let own = tree.beside(leaf.around, leaf.child, OWN);
                self.add(own, mass * weight);
            }
        }
    }

    /// Lays what reaches the root from a particle that is in another, or reaches it over the edge of the box.
    pub fn lay_border(
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
        for corner in 0..8 {
            let (at, weight) = cloud.corner(corner);
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

    /// Gives `mass` to a cell of `level` at `at` or the leaf around it, or to the leaves in it.
    #[inline]
    fn share(&mut self, tree: &RootTree, (level, at, cell): (u8, [i64; 3], u32), mass: f64, cloud: &Cloud) {
        if mass == 0.0 {
            return;
        }
        match tree.child[cell as usize] {
            NONE => self.add(cell, mass),
            first => self.share_among(tree, (level, at, first), mass, cloud),
        }
    }

    fn share_among(
        &mut self,
        tree: &RootTree,
        (level, at, first): (u8, [i64; 3], u32),
        mass: f64,
        cloud: &Cloud,
    ) {
        let whole = cloud.overlap(level, at);
        let half = |a: usize| [0, 1].map(|bit| cloud.overlap_along(level + 1, a, 2 * at[a] + bit));
        let halves = [half(0), half(1), half(2)];
        for child in 0..8 {
            let bit = |a: usize| (child >> a & 1) as usize;
            let part = halves[0][bit(0)] * halves[1][bit(1)] * halves[2][bit(2)] / whole;
            if part > 0.0 {
                let at = std::array::from_fn(|a| 2 * at[a] + bit(a) as i64);
                self.share(tree, (level + 1, at, first + child), mass * part, cloud);
            }
        }
    }

    /// The leaves of `level` denser than `threshold`, appended; `unit` is the volume of the box. Their number, and
    /// the greatest density of any leaf of the level.
    pub fn test_cells(
        &self,
        tree: &RootTree,
        level: u8,
        unit: f64,
        threshold: f64,
        into: &mut TestLevel,
    ) -> (u64, f64) {
        let (volume, mut n_leaves, mut densest) = (cell_volume(level), 0, 0.0);
        for oct in tree.octs_of(level) {
            let first = cell_of(oct, 0);
            let mut mask = 0;
            for (i, cell) in (first..first + 8).enumerate().filter(|(_, cell)| tree.is_leaf(*cell)) {
                n_leaves += 1;
                let rho = self.quanta[cell as usize] as f64 * self.quantum / volume / unit;
                densest = if rho > densest { rho } else { densest };
                if rho > threshold {
                    mask |= 1 << i;
                    into.rho.push(rho);
                }
            }
            into.put(tree.parent[oct], mask);
        }
        (n_leaves, densest)
    }
}

impl RootTree {
    /// The cell `depth` levels below the root at a position of that level, or the leaf around it.
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
    /// Adds leaves of the oct in the cell with key `parent`, of which none was added before nor any that comes later.
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

    /// Appends what comes later.
    pub fn append(&mut self, other: &Self) {
        self.key.extend_from_slice(&other.key);
        self.mask.extend_from_slice(&other.mask);
        self.rho.extend_from_slice(&other.rho);
    }
}
