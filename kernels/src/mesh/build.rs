//! Building: from sorted octs or leaf bricks to a mesh.

use super::neighbours::SuperLinks;
use super::{Beyond, Brick, Level, Mesh, RecentBlocks, SuperBlock, SuperBrick, local};
use crate::geom::{Domain, MAX_LEVEL};
use crate::sfc::{morton, position63};
use bytemuck::Zeroable;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// The reason why a set of cells is not a mesh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MeshError {
    /// More cells than 32-bit indices can name.
    TooManyCells(u64),
    /// More cells than memory holds.
    OutOfMemory(u64),
    /// A level that does not fit the coordinates.
    TooDeep(u8),
    /// A position outside the box.
    Outside(u8, [u32; 3]),
    /// A cell given twice.
    Twice(u8, [u32; 3]),
    /// A cell inside another leaf.
    InsideLeaf(u8, [u32; 3]),
    /// A split cell without its oct.
    Childless(u8, [u32; 3]),
    /// An oct without its parent cell.
    Orphan(u8, [u32; 3]),
}

impl std::fmt::Display for MeshError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooManyCells(n) => {
                write!(f, "{n} cells on one rank; at most {} fit its indices", u32::MAX - 1)
            }
            Self::OutOfMemory(n) => {
                write!(f, "out of memory: {n} cells do not fit; expected more memory or more ranks")
            }
            Self::TooDeep(level) => {
                write!(f, "cells of level {level}; at most {MAX_LEVEL} fits the coordinates")
            }
            Self::Outside(level, p) => write!(f, "the cell {p:?} of level {level} is outside the box"),
            Self::Twice(level, p) => write!(f, "the cell {p:?} of level {level} is given twice"),
            Self::InsideLeaf(level, p) => write!(f, "the cell {p:?} of level {level} lies inside a leaf"),
            Self::Childless(level, p) => {
                write!(f, "the cell {p:?} of level {level} is split, but its oct is not given")
            }
            Self::Orphan(level, p) => write!(f, "the oct over {p:?} of level {level} has no parent cell"),
        }
    }
}

impl std::error::Error for MeshError {}

/// Octs of one level, sorted by the Morton key of `position`, each with one bit per cell in Morton order. An
/// oct may come several times with different cells.
#[derive(Debug, Default, Clone)]
pub struct SortedOcts {
    /// Position of each oct, on the grid of the next coarser level.
    pub position: Vec<[u32; 3]>,
    /// The cells that exist.
    pub exists: Vec<u8>,
    /// Those of them that are leaves.
    pub leaf: Vec<u8>,
}

/// A mesh without the links of its super-bricks to those around them.
///
/// [`Self::link`] finds the links of any run of super-bricks, so threads can share the work. [`Self::linked`]
/// makes the mesh.
#[derive(Debug)]
pub struct UnlinkedMesh(Mesh);

/// Bricks of leaves of one level: ascending keys on the grid of bricks ([`crate::sfc::morton63`]), and masks
/// of leaves.
#[derive(Debug, Clone, Copy)]
pub struct LeafBricks<'a> {
    /// Keys of the bricks.
    pub key: &'a [u64],
    /// The leaves of each, at least one.
    pub mask: &'a [u64],
}

impl UnlinkedMesh {
    /// A mesh of octs, one entry of `levels` per level from level 0 on.
    ///
    /// Linear; up to 8 octs make a brick.
    ///
    /// # Errors
    /// When coordinates or counts do not fit, or cells are repeated.
    ///
    /// # Panics
    /// In debug builds when octs are not sorted.
    pub fn from_sorted(domain: Domain, levels: &[SortedOcts]) -> Result<Self, MeshError> {
        let mut mesh = Mesh::without_cells(domain);
        let reserved = mesh.bricks.try_reserve_exact(levels.iter().map(n_bricks).sum());
        let n_cells = || levels.iter().map(|level| 8 * level.position.len() as u64).sum();
        reserved.map_err(|_| MeshError::OutOfMemory(n_cells()))?;
        for (level, octs) in levels.iter().enumerate() {
            mesh.push_level(level as u8, octs)?;
        }
        while mesh.levels.last().is_some_and(|l| l.supers.is_empty()) {
            mesh.levels.pop();
        }
        Ok(Self(mesh))
    }

    /// A mesh of leaves alone. Each entry of `levels`, from level 0 on, has the bricks with leaves in runs,
    /// which follow each other. Linear in the bricks.
    ///
    /// # Errors
    /// [`MeshError::TooManyCells`] if there are more leaves than indices, [`MeshError::OutOfMemory`] if
    /// memory does not suffice.
    pub fn from_leaf_bricks(domain: Domain, levels: &[Vec<LeafBricks>]) -> Result<Self, MeshError> {
        let mut mesh = Mesh::without_cells(domain);
        let runs = || levels.iter().flatten();
        let n_cells: u64 = runs().flat_map(|run| run.mask).map(|mask| u64::from(mask.count_ones())).sum();
        if n_cells >= u64::from(u32::MAX) {
            return Err(MeshError::TooManyCells(n_cells));
        }
        let reserved = mesh.bricks.try_reserve_exact(runs().map(|run| run.key.len()).sum());
        reserved.map_err(|_| MeshError::OutOfMemory(n_cells))?;
        for runs in levels {
            let first_super = mesh.supers.len() as u32;
            for (key, mask) in runs.iter().flat_map(|run| run.key.iter().zip(run.mask)) {
                let brick = mesh.brick_for(first_super, position63(*key));
                (brick.exists, brick.leaf) = (*mask, *mask);
                mesh.n_cells += mask.count_ones() as usize;
            }
            mesh.end_level(first_super);
        }
        Ok(Self(mesh))
    }

    /// Number of super-bricks.
    pub fn n_supers(&self) -> usize {
        self.0.supers.len()
    }

    /// Fills in the links of the super-bricks from `first` on, one per entry of `links`. About four hash
    /// look-ups each, fewer if super-bricks are neighbours.
    pub fn link(&self, first: usize, links: &mut [SuperLinks]) {
        let mut recent = RecentBlocks::default();
        for (s, links) in (first..).zip(links) {
            *links = self.0.links_of(s, &mut recent);
        }
    }

    /// The mesh, with the links of all its super-bricks.
    ///
    /// # Panics
    /// When there is not one entry per super-brick.
    pub fn with_links(self, links: Vec<SuperLinks>) -> Mesh {
        assert_eq!(links.len(), self.n_supers(), "one entry per super-brick");
        Mesh { links, ..self.0 }
    }

    /// The mesh, linked by this thread alone.
    pub fn linked(self) -> Mesh {
        let mut links = vec![SuperLinks::zeroed(); self.n_supers()];
        self.link(0, &mut links);
        self.with_links(links)
    }
}

impl Mesh {
    fn without_cells(domain: Domain) -> Self {
        Self {
            domain,
            levels: Vec::new(),
            supers: Vec::new(),
            links: Vec::new(),
            bricks: Vec::new(),
            n_cells: 0,
            graded: false,
            above: None,
            beyond: Beyond::default(),
        }
    }

    fn push_level(&mut self, level: u8, octs: &SortedOcts) -> Result<(), MeshError> {
        let first_super = self.supers.len() as u32;
        if !octs.position.is_empty() && !self.domain.holds_level(level) {
            return Err(MeshError::TooDeep(level));
        }
        let n_level: u64 = octs.exists.iter().map(|cells| u64::from(cells.count_ones())).sum();
        if self.n_cells as u64 + n_level >= u64::from(u32::MAX) {
            return Err(MeshError::TooManyCells(self.n_cells as u64 + n_level));
        }
        let extent = self.domain.extent(level);
        debug_assert!(octs.position.is_sorted_by_key(|oct| morton(*oct)), "octs are sorted");
        for (i, &oct) in octs.position.iter().enumerate() {
            if (0..3).any(|a| 2 * i64::from(oct[a]) + 1 >= extent[a]) {
                check_inside(level, extent, oct, octs.exists[i])?;
            }
            self.push_oct(level, first_super, oct, [octs.exists[i], octs.leaf[i]])?;
        }
        self.end_level(first_super);
        Ok(())
    }

    fn end_level(&mut self, first_super: u32) {
        let supers = first_super..self.supers.len() as u32;
        let block_of = |s: &SuperBrick| s.position.map(|x| x >> 2);
        let of_blocks = || self.supers[first_super as usize..].chunk_by(|a, b| block_of(a) == block_of(b));
        let mut blocks = FxHashMap::with_capacity_and_hasher(of_blocks().count(), FxBuildHasher);
        let mut first = first_super;
        for of_block in of_blocks() {
            let bits = of_block.iter().map(|s| 1 << local::bit_of(s.position));
            blocks.insert(block_of(&of_block[0]), SuperBlock { first, supers: bits.sum() });
            first += of_block.len() as u32;
        }
        self.levels.push(Level { supers, blocks });
    }

    fn push_oct(
        &mut self,
        level: u8,
        first_super: u32,
        oct: [u32; 3],
        [exists, leaf]: [u8; 2],
    ) -> Result<(), MeshError> {
        let brick = self.brick_for(first_super, oct.map(|x| x >> 1));
        let first_bit = local::bit_of(oct.map(|x| x << 1));
        let exists = u64::from(exists) << first_bit;
        if let Some(bit) = local::bits(brick.exists & exists).next() {
            return Err(MeshError::Twice(level, local::position_of(brick.position, bit)));
        }
        brick.exists |= exists;
        brick.leaf |= u64::from(leaf) << first_bit;
        self.n_cells += exists.count_ones() as usize;
        Ok(())
    }

    /// The last brick if it is the one at `position`; else a new one, in a new super-brick if necessary.
    fn brick_for(&mut self, first_super: u32, position: [u32; 3]) -> &mut Brick {
        let super_position = position.map(|x| x >> 2);
        let has_super = self.supers.len() as u32 > first_super
            && self.supers.last().is_some_and(|s| s.position == super_position);
        if !has_super {
            self.supers.push(SuperBrick {
                position: super_position,
                first: self.bricks.len() as u32,
                bricks: 0,
            });
        }
        let last = self.supers.len() - 1;
        let mask = 1 << local::bit_of(position);
        if self.supers[last].bricks & mask == 0 {
            self.supers[last].bricks |= mask;
            self.bricks.push(Brick { position, first: self.n_cells as u32, exists: 0, leaf: 0 });
        }
        let last = self.bricks.len() - 1;
        &mut self.bricks[last]
    }
}

/// Number of bricks that sorted octs make.
fn n_bricks(octs: &SortedOcts) -> usize {
    octs.position.chunk_by(|a, b| a.map(|x| x >> 1) == b.map(|x| x >> 1)).count()
}

/// Checks that all existing cells of an oct are inside the box.
#[cold]
fn check_inside(level: u8, extent: [i64; 3], oct: [u32; 3], exists: u8) -> Result<(), MeshError> {
    let cell = |bit| -> [i64; 3] {
        let offset = local::offset_of(bit);
        std::array::from_fn(|a| 2 * i64::from(oct[a]) + i64::from(offset[a]))
    };
    let outside = local::bits(exists.into()).map(cell).find(|at| (0..3).any(|a| at[a] >= extent[a]));
    outside.map_or(Ok(()), |at| Err(MeshError::Outside(level, at.map(|x| x as u32))))
}
