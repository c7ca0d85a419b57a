//! A mesh that follows particles: which cells are split, and the densities of its leaves, a part at a time.
//!
//! The definition: cells above level `level_min` are split. A cell of level `level_min` or deeper, and above
//! `level_max`, is split if it holds more than `m_refine` particles, or if a split cell of the next level touches
//! it: all 26 neighbours of a split cell exist. So leaves that touch differ by one level at most.
//!
//! The box is cut into *roots*, the cells of one level at least two above `level_min`. What particles of a root
//! cause to be split lies in this root and the 26 about it: a split cell of level k forces cells of level k - 1
//! that touch it, those of k - 2 that touch these, and so on; their places, halved at each step, stay within
//! one of the ancestor's. And what all particles cause is the union of what those of each root cause. So roots are
//! worked on one by one ([`crowded`], [`grade`]), tell their neighbours what they cause there, and unite what
//! they are told ([`unite`]). A cloud is no larger than the leaf of its particle, so it reaches neighbours alone too
//! ([`for_each_border`], [`LevelDeposit::lay_border`]).

mod deposit;
mod split;
mod tree;

pub use deposit::{Borders, LevelDeposit, RootMasses, TestLevel, for_each_border};
pub use split::{SplitBrick, SplitLevels, crowded, grade, unite};
pub use tree::RootTree;

use crate::geom::{Domain, cell_side};
use crate::sfc::morton63;

/// Deepest level of cells that particles can have: coordinates take 20 bits.
pub const DEEPEST: u8 = 20;

/// Deepest level above which all cells can be split.
pub const DEEPEST_COARSE: u8 = 12;

/// Where cells are split. `root_level + 2 <= level_min <= level_max <= DEEPEST`; the box is one cube.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The box.
    pub domain: Domain,
    /// The level of roots.
    pub root_level: u8,
    /// Cells above this level are split.
    pub level_min: u8,
    /// Cells of this level are leaves.
    pub level_max: u8,
    /// Cells with more particles are split.
    pub m_refine: u64,
}

impl Shape {
    /// The Morton key of the cell of level `level_max` around a point of the box, in units of its side.
    #[inline]
    pub fn key(&self, x: [f64; 3]) -> u64 {
        let side = cell_side(self.level_max);
        morton63(x.map(|x| (x / side) as u32))
    }

    /// The root of a cell of `level`, by Morton keys.
    #[inline]
    pub fn root_of(&self, level: u8, key: u64) -> u64 {
        key >> (3 * u32::from(level - self.root_level))
    }

    /// Bytes that the tree and the masses of a root take at least, whatever particles are in it.
    pub fn least_of_root(&self) -> u64 {
        let n_cells = 1u64 << (3 * u32::from(self.level_min - self.root_level));
        n_cells * (size_of::<u32>() + size_of::<u64>()) as u64
    }

    /// Number of roots; their keys are those below it.
    pub fn n_roots(&self) -> usize {
        1 << (3 * self.root_level)
    }
}
