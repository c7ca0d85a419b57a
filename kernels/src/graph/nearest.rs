//! Which are the k nearest of each particle?
//!
//! Particles search one after the other, in the order of their keys. Take the ball around a particle that
//! just contains its k nearest, and enlarge it by the step to the next particle. Then it contains k others of
//! the next one. So each particle has a *bound* from the start, and searches only within it:
//!
//! ```text
//!     group      blocks of eight particles within the bound of all its particles, with their boxes
//!     particle   1. of these blocks, those whose boxes are within its bound        vector code over boxes
//!                2. of their particles, those within its bound                     vector code over a block
//!                3. of these, the k nearest
//! ```
//!
//! The order in which they are found depends on the tree, the set of the k nearest does not: (distance,
//! index) is a total order.

use super::boxes::{BoxRow, PointBox};
use super::groups::{GroupTree, ROUNDING};
use super::points::{GraphPoints, LANES, square};
use crate::simd::wide;

/// The k-th neighbour of a particle is often within this multiple of the last particle's distance.
const GUESS: f64 = 1.12;
/// Blocks are gathered within this multiple of the distance that the first particle needs, so that the next
/// ones need no more.
const SLACK: f64 = 1.25;
/// The gathered blocks are more than needed if the distance of the k-th neighbour is smaller by this factor.
const LOOSE: f64 = 2.5;

/// A neighbour of a particle.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Neighbour {
    /// The squared distance, in units of the box.
    pub square: f64,
    /// The neighbour.
    pub index: u32,
}

impl Neighbour {
    /// As one number that is in the order of (distance, index). Squares are not negative, so their bits are
    /// in their order.
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
    /// Neighbours per particle; fewer than there are particles.
    pub k: usize,
}

/// Memory of searches, kept from group to group. A search is faster if it follows one of a group nearby.
#[derive(Debug, Clone, Default)]
pub struct NearestScratch {
    blocks: BlockBoxes,
    /// The blocks within its bound; longer than needed.
    within: Vec<u32>,
    /// The particles within its bound; longer than needed.
    near: Vec<Neighbour>,
    stack: Vec<u32>,
    /// The last particle and the distance of its k-th nearest.
    last: Option<([f64; 3], f64)>,
}

/// Blocks of particles and their boxes, eight to a row.
#[derive(Debug, Clone, Default)]
struct BlockBoxes {
    block: Vec<u32>,
    rows: Vec<BoxRow>,
}

impl BlockBoxes {
    fn clear(&mut self) {
        self.block.clear();
        self.rows.clear();
    }

    fn add(&mut self, block: u32, bounds: &PointBox) {
        let lane = self.block.len() % LANES;
        if lane == 0 {
            self.rows.push(BoxRow::NONE);
        }
        self.rows.last_mut().expect("a row was begun").set(lane, bounds);
        self.block.push(block);
    }

    /// The blocks whose boxes are within a squared distance of a position. Writes each and advances by 0 or
    /// 1, so nothing branches. Returns their number.
    #[inline(always)]
    fn within<const PERIODIC: bool>(&self, position: [f64; 3], bound: f64, found: &mut Vec<u32>) -> usize {
        let n_places = self.rows.len() * LANES;
        if found.len() <= n_places {
            found.resize(n_places + 1, 0);
        }
        let mut n = 0;
        for (row, blocks) in self.rows.iter().zip(self.block.chunks(LANES)) {
            let squares = row.squares::<PERIODIC>(&PointBox { low: position, high: position });
            for (block, square) in blocks.iter().zip(squares) {
                found[n] = *block;
                n += usize::from(square <= bound);
            }
        }
        n
    }
}

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
        assert!(self.k < self.points.len(), "{} neighbours of {} particles", self.k, self.points.len());
        let bounds = *self.tree.bounds(group);
        let crowd = self.rough_reach(group);
        let mut gathered = 0.0;
        for particle in self.tree.particles(group) {
            let reached = self.particle(particle, &bounds, crowd, &mut gathered, scratch);
            found(particle, &mut scratch.near[..self.k]);
            // The distances fell, for instance at the edge of a dense region.
            if LOOSE * reached < gathered {
                gathered = SLACK * GUESS * reached;
                self.gather(&bounds, gathered, scratch);
            }
        }
    }

    /// The blocks within `reach` of a box.
    fn gather(&self, bounds: &PointBox, reach: f64, scratch: &mut NearestScratch) {
        let NearestScratch { blocks, stack, .. } = scratch;
        blocks.clear();
        let mut next = 0;
        self.tree.runs_within(bounds, reach, self.points.periodic, stack, |run| {
            // Runs ascend, and may share a block.
            for block in (run.start / LANES).max(next)..run.end.div_ceil(LANES) {
                blocks.add(block as u32, &self.tree.block_bounds[block]);
            }
            next = run.end.div_ceil(LANES);
        });
    }

    /// Finds the nearest of a particle. Returns the distance of the k-th. More than k particles lie within
    /// `crowd` of any particle of the group, and the blocks within `gathered` of its box are gathered.
    fn particle(
        &self,
        particle: usize,
        bounds: &PointBox,
        crowd: f64,
        gathered: &mut f64,
        scratch: &mut NearestScratch,
    ) -> f64 {
        let position = self.points.position(particle);
        let (mut sure, mut guess) = (crowd, crowd);
        if let Some((at, reached)) = scratch.last {
            sure = sure.min(reached + self.points.square_distance(position, at).sqrt());
            guess = sure.min(GUESS * reached);
        }
        sure += ROUNDING;
        let n = loop {
            if guess > *gathered {
                *gathered = SLACK * guess;
                self.gather(bounds, *gathered, scratch);
            }
            let n = self.within(particle, guess, scratch);
            if n >= self.k {
                break n;
            }
            assert!(guess < sure, "{sure} holds {} particles about particle {particle}", self.k);
            guess = sure.min(GUESS * guess + ROUNDING);
        };
        let (_, kth, _) = scratch.near[..n].select_nth_unstable_by_key(self.k - 1, Neighbour::key);
        let reached = kth.square.sqrt();
        scratch.last = Some((position, reached));
        reached
    }

    /// Lists the particles within `reach` of a particle, without itself. Returns their number.
    fn within(&self, particle: usize, reach: f64, scratch: &mut NearestScratch) -> usize {
        let position = self.points.position(particle);
        let wraps = self.points.periodic && position.iter().any(|x| *x < reach || *x >= 1.0 - reach);
        wide(
            #[inline(always)]
            || match wraps {
                true => self.select::<true>(particle, reach * reach, scratch),
                false => self.select::<false>(particle, reach * reach, scratch),
            },
        )
    }

    /// Lists the particles at squared distances up to `bound` from `particle`, without itself. Returns their
    /// number.
    #[inline(always)]
    fn select<const PERIODIC: bool>(
        &self,
        particle: usize,
        bound: f64,
        scratch: &mut NearestScratch,
    ) -> usize {
        let NearestScratch { blocks, within, near, .. } = scratch;
        let position = self.points.position(particle);
        let n_within = blocks.within::<PERIODIC>(position, bound, within);
        if near.len() <= n_within * LANES {
            near.resize(n_within * LANES + 1, Neighbour::default());
        }
        let mut n = 0;
        for block in &within[..n_within] {
            let points = &self.points.blocks[*block as usize];
            let mut squares = [0.0; LANES];
            for (lane, place) in squares.iter_mut().enumerate() {
                *place = square::<PERIODIC>(position, [points[0][lane], points[1][lane], points[2][lane]]);
            }
            for (index, square) in (block * LANES as u32..).zip(squares) {
                near[n] = Neighbour { square, index };
                n += usize::from((square <= bound) & (index as usize != particle));
            }
        }
        n
    }

    /// A distance within which all neighbours of the particles of a group lie, found without a search.
    pub fn rough_reach(&self, group: usize) -> f64 {
        self.tree.box_of_more_than(self.k, group).farthest(self.tree.bounds(group))
    }

    /// The largest distance of a particle of a group from one of its neighbours.
    pub fn reach(&self, group: usize, scratch: &mut NearestScratch) -> f64 {
        let mut reach = 0.0f64;
        self.group(group, scratch, |_, near| {
            reach = near.iter().map(|n| n.square).fold(reach, f64::max);
        });
        reach.sqrt()
    }
}
