//! Friends-of-friends on one rank: which particles do chains of steps shorter than the linking length join?
//!
//! A [`grid`] of cells so small that all particles of one are linked; 4x4x4 cells are a block. Particles are
//! sorted into slabs and each slab is [`shelf`]d: sorted by block and cell, and the cells of each block joined.
//! [`blocks`] go through all pairs of blocks that touch, row by row, without a look-up; [`link`] joins
//! the cells of a pair, in a lock-free [`union`] of cells (`README.md`).
//!
//! Distances are squared in doubles from the positions as given: |a - b| or the side less that, the smaller
//! one, along each axis. Two particles are linked if the sum of squares is less than the square of the
//! linking length.

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

/// The distance of two particles, squared, and what counts as near.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metric {
    /// Sides of the periodic box, infinite for open boundaries.
    pub sides: [f64; 3],
    /// The linking length.
    pub length: f64,
}

impl Metric {
    /// Square of the distance, of the nearest images. Symmetric to the bit.
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
