//! Which are the k nearest of each particle?
//!
//! The particles of a group search together:
//!
//! 1. The groups nearest to theirs, with a few times k particles, are gathered. For each particle, the k-th smallest distance among
//!    these is an upper bound of the distance to its k-th nearest.
//! 2. All particles within the largest bound of the group's box are gathered.
//! 3. Each particle keeps those within its own bound, and of these the k nearest.
//!
//! Gathered particles lie in flat arrays, so distances are vector code. The order of the gathered particles depends on the
//! tree, the set of the k nearest does not: (distance, index) is a total order.

use super::groups::{GroupTree, NodeQueue, PointBox};
use super::points::{GraphPoints, square};
use crate::simd::wide;
use std::ops::Range;

/// A neighbour of a particle.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Neighbour {
    /// The squared distance, in units of the box.
    pub square: f64,
    /// The neighbour.
    pub index: u32,
}

impl Neighbour {
    /// As one number that is in the order of (distance, index). Squares are not negative, so their bits are in their order.
    #[inline(always)]
    fn key(&self) -> u128 {
        u128::from(self.square.to_bits()) << 32 | u128::from(self.index)
    }
}

/// Searches for the `k` nearest particles.
#[derive(Debug, Clone, Copy)]
pub struct NearestSearch<'a> {
    /// The particles.
    pub points: &'a GraphPoints,
    /// Their tree.
    pub tree: &'a GroupTree,
    /// How many neighbours a particle has; fewer than there are particles.
    pub k: usize,
}

/// Memory of searches, kept from group to group.
#[derive(Debug, Clone, Default)]
pub struct NearestScratch {
    gathered: Gathered,
    /// Squared distances of the gathered particles from one.
    square: Vec<f64>,
    near: Vec<Neighbour>,
    /// The bound of each particle of the group: the square of a radius that holds k others.
    bound: Vec<f64>,
    queue: NodeQueue,
    stack: Vec<u32>,
}

/// Particles in flat arrays.
#[derive(Debug, Clone, Default)]
struct Gathered {
    coordinate: [Vec<f64>; 3],
    index: Vec<u32>,
}

impl Gathered {
    fn clear(&mut self) {
        self.coordinate.iter_mut().for_each(Vec::clear);
        self.index.clear();
    }

    fn add(&mut self, points: &GraphPoints, run: Range<usize>) {
        for (to, from) in self.coordinate.iter_mut().zip(&points.coordinate) {
            to.extend_from_slice(&from[run.clone()]);
        }
        self.index.extend(run.start as u32..run.end as u32);
    }

    /// The squared distance of each from `position`.
    #[inline(always)]
    fn squares(&self, position: [f64; 3], periodic: bool, to: &mut Vec<f64>) {
        match periodic {
            true => self.squares_in::<true>(position, to),
            false => self.squares_in::<false>(position, to),
        }
    }

    #[inline(always)]
    fn squares_in<const PERIODIC: bool>(&self, position: [f64; 3], to: &mut Vec<f64>) {
        let n = self.index.len();
        to.resize(n, 0.0);
        let [x, y, z] = self.coordinate.each_ref().map(|c| &c[..n]);
        for (i, square_of) in to[..n].iter_mut().enumerate() {
            *square_of = square::<PERIODIC>(position, [x[i], y[i], z[i]]);
        }
    }
}

/// Step 1 gathers so many particles per neighbour.
const GATHERED_PER_NEIGHBOUR: usize = 2;

impl NearestSearch<'_> {
    /// Calls `found` with each particle of a group and its `k` nearest others, in no particular order.
    ///
    /// # Panics
    /// When there are at most `k` particles.
    pub fn group(
        &self,
        group: usize,
        scratch: &mut NearestScratch,
        mut found: impl FnMut(usize, &mut [Neighbour]),
    ) {
        let Self { points, tree, k } = *self;
        assert!(k < points.len(), "{k} neighbours of {} particles", points.len());
        wide(
            #[inline(always)]
            || {
                self.bound(group, scratch);
                let NearestScratch { gathered, square, near, bound, stack, .. } = scratch;
                let reach = bound.iter().copied().fold(0.0, f64::max).sqrt();
                gathered.clear();
                tree.runs_within(tree.bounds(group), reach, points.periodic, stack, |run| {
                    gathered.add(points, run);
                });
                for (particle, bound) in tree.particles(group).zip(bound.iter()) {
                    gathered.squares(points.position(particle), points.periodic, square);
                    select(square, &gathered.index, *bound, particle as u32, near);
                    keep_nearest(near, k);
                    found(particle, near);
                }
            },
        );
    }

    /// An upper bound of the squared distance of the k-th nearest, for each particle of a group.
    #[inline(always)]
    fn bound(&self, group: usize, scratch: &mut NearestScratch) {
        let Self { points, tree, k } = *self;
        let NearestScratch { gathered, square, bound, queue, .. } = scratch;
        gathered.clear();
        let enough = GATHERED_PER_NEIGHBOUR * k + 1;
        tree.nearest_runs(tree.bounds(group), enough, points.periodic, queue, |run| gathered.add(points, run));
        bound.clear();
        for particle in tree.particles(group) {
            gathered.squares(points.position(particle), points.periodic, square);
            // The particle itself is among the gathered, at distance 0: so the k-th other is at place k.
            let (_, kth, _) = square.select_nth_unstable_by(k, f64::total_cmp);
            bound.push(*kth);
        }
    }

    /// The box around a group and the distance within which all neighbours of its particles lie.
    pub fn reach(&self, group: usize, scratch: &mut NearestScratch) -> (PointBox, f64) {
        let mut reach = 0.0f64;
        self.group(group, scratch, |_, near| {
            reach = near.iter().map(|n| n.square).fold(reach, f64::max);
        });
        (*self.tree.bounds(group), reach.sqrt())
    }
}

/// Lists the particles at squared distances up to `bound`, without `itself`. Writes each and advances by 0 or 1, so nothing
/// branches.
#[inline(always)]
fn select(square: &[f64], index: &[u32], bound: f64, itself: u32, near: &mut Vec<Neighbour>) {
    near.resize(square.len() + 1, Neighbour::default());
    let mut n = 0;
    for (square, index) in square.iter().zip(index) {
        near[n] = Neighbour { square: *square, index: *index };
        n += usize::from((*square <= bound) & (*index != itself));
    }
    near.truncate(n);
}

/// Keeps the `k` nearest.
#[inline(always)]
fn keep_nearest(near: &mut Vec<Neighbour>, k: usize) {
    debug_assert!(near.len() >= k, "the bound holds {k} particles");
    if near.len() > k {
        near.select_nth_unstable_by_key(k, Neighbour::key);
        near.truncate(k);
    }
}
