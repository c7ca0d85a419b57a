//! Particle mesh: which cells does a set of particles split, and what are the densities of the leaves?
//!
//! Place in the flow: an alternative to a mesh from a snapshot. Cells and densities are computed root by
//! root, so the memory of the whole box is never needed. It uses particles and one root at a time, and
//! nothing of PHEW.
//!
//! The definition: all cells above level `level_min` are split. A cell from level `level_min` to just above
//! `level_max` is split if it holds more than `m_refine` particles, or if a split cell of the next level
//! touches it: all 26 neighbours of a split cell exist. So the levels of leaves that touch differ by one at
//! most.
//!
//! The box is cut into *roots*, the cells of one level that is at least two above `level_min`. The particles
//! of a root cause splits in this root and the 26 around it only: a split cell of level k forces the touching
//! cells of level k - 1, those force cells of level k - 2, and so on; their positions, halved at each step,
//! stay within one of the ancestor's. The splits that all particles cause are the union of those that the
//! particles of each root cause. So roots are processed one by one ([`crowded`], [`grade`]), splits in
//! neighbouring roots are sent there, and each root unites the splits that it receives ([`unite`]). A cloud
//! is no larger than the leaf of its particle, so it reaches neighbouring roots only ([`for_each_border`],
//! [`LevelDeposit::deposit_border`]).

mod deposit;
mod split;
mod tree;
mod walk;

pub use deposit::{Borders, LevelDeposit, RootMasses, TestLevel, for_each_border};
pub use split::{SplitBrick, SplitLevels, crowded, grade, unite};
pub use tree::RootTree;

use crate::geom::{Domain, cell_side};
use crate::sfc::morton63;
use crate::simd::wide;

/// Deepest level of cells: coordinates take 20 bits.
pub const DEEPEST: u8 = 20;

/// Deepest level above which all cells can be split.
pub const DEEPEST_COARSE: u8 = 12;

/// The rules by which cells are split. `root_level + 2 <= level_min <= level_max <= DEEPEST`; the box is one
/// cube.
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
    /// The Morton key of the cell of level `level_max` that contains a point, given in units of the side of
    /// the box.
    #[inline(always)]
    pub fn key(&self, x: [f64; 3]) -> u64 {
        let side = cell_side(self.level_max);
        morton63(x.map(|x| (x / side) as u32))
    }

    /// The [keys](Self::key) of some points, in vector code.
    pub fn keys(&self, points: &[[f64; 3]], into: &mut Vec<u64>) {
        into.clear();
        into.resize(points.len(), 0);
        wide(
            #[inline(always)]
            || {
                for (key, x) in into.iter_mut().zip(points) {
                    *key = self.key(*x);
                }
            },
        );
    }

    /// The Morton key of the root that contains the cell of `level` with this key.
    #[inline]
    pub fn root_of(&self, level: u8, key: u64) -> u64 {
        key >> (3 * u32::from(level - self.root_level))
    }

    /// The least number of bytes of the tree and the masses of a root, however few particles are in it.
    pub fn least_of_root(&self) -> u64 {
        let n_cells = 1u64 << (3 * u32::from(self.level_min - self.root_level));
        n_cells * (size_of::<u32>() + size_of::<u64>()) as u64
    }

    /// Number of roots; their keys are the numbers below it.
    pub fn n_roots(&self) -> usize {
        1 << (3 * self.root_level)
    }
}
