//! Friends-of-friends: which particles do chains of steps shorter than the linking length connect?
//!
//! Place in the flow: positions of one rank in, components of cells out; the engine turns these into groups,
//! also across ranks. The files in the order of the steps:
//!
//! | step | file |
//! |---|---|
//! | cells so small that all particles of one are linked; blocks of 4x4x4 cells | [`grid`] |
//! | particles into slabs | [`slabs`], [`record`] |
//! | each slab sorted by block and cell, and the cells of each block joined | [`sorted_slab`], [`link`] |
//! | all pairs of blocks that touch, row by row, without a look-up | [`blocks`], [`block_reach`] |
//! | cells of such a pair joined where they are linked | [`link`], [`pair`], [`union`] |
//! | the nearest linkable particle of each attachable one | [`near`] |
//!
//! It does not use ranks, group sizes, properties, or particle types (except to select particles).
//!
//! Squared distances are computed in doubles from the positions as given. Along each axis the difference is |a - b| or the
//! side less that, whichever is smaller. Two particles are linked if the sum of squares is less than the square of the
//! linking length. README.md in this folder explains the cells and proves the lock-free union.

pub mod block_reach;
pub mod blocks;
pub mod grid;
pub mod link;
pub mod near;
pub mod pair;
pub mod record;
pub mod slabs;
pub mod sorted_slab;
pub mod union;

#[cfg(test)]
mod test_particles;

/// The metric: the distance of two particles, and whether they are linked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metric {
    /// Sides of the periodic box, infinite for open boundaries.
    pub sides: [f64; 3],
    /// The linking length.
    pub length: f64,
}

impl Metric {
    /// The squared distance of the nearest images. Exactly symmetric.
    #[inline(always)]
    pub fn distance2(&self, a: [f64; 3], b: [f64; 3]) -> f64 {
        let d = |i: usize| {
            let d = (a[i] - b[i]).abs();
            let around = self.sides[i] - d;
            if around < d { around } else { d }
        };
        let (x, y, z) = (d(0), d(1), d(2));
        x * x + y * y + z * z
    }

    /// Whether two particles are linked.
    #[inline(always)]
    pub fn linked(&self, a: [f64; 3], b: [f64; 3]) -> bool {
        self.distance2(a, b) < self.length * self.length
    }
}
