//! Groups: which particles lie together?
//!
//! A node is a cube of the octree. A cube with at most [`LEAF`] particles is a *group*: its particles look for
//! neighbours together. Nodes are stored level by level, the children of a node side by side, and a node holds a run of
//! particles:
//!
//! ```text
//!     nodes    0 | 1 2 3 | 4 5 6 7 | ...       0 is the root, 1 to 3 its children, 4 and 5 those of 1, ...
//! ```

use super::points::{GraphPoints, KEY_LEVEL};
use crate::sfc::morton63;
use std::ops::Range;

/// Cubes with so many particles or fewer are groups.
const LEAF: usize = 32;
/// More than rounding changes a distance, in units of the box.
const ROUNDING: f64 = 1e-15;
/// Levels of the keys that divide nodes.
const LEVELS: u8 = 21;

/// The least box around some particles, in units of the box.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct PointBox {
    /// Lower corner.
    pub low: [f64; 3],
    /// Upper corner.
    pub high: [f64; 3],
}

impl PointBox {
    /// The box around nothing.
    pub const EMPTY: Self = Self { low: [f64::INFINITY; 3], high: [f64::NEG_INFINITY; 3] };

    /// The box made larger to hold `position`.
    #[inline]
    fn add(&mut self, position: [f64; 3]) {
        for (a, x) in position.into_iter().enumerate() {
            self.low[a] = self.low[a].min(x);
            self.high[a] = self.high[a].max(x);
        }
    }

    /// The box made larger by `reach` on all sides.
    pub fn around(&self, reach: f64) -> Self {
        Self { low: self.low.map(|x| x - reach), high: self.high.map(|x| x + reach) }
    }

    /// The squared distance of two boxes; 0 if they touch.
    #[inline]
    fn square_distance(&self, other: &Self) -> f64 {
        let apart = |a: usize| (self.low[a] - other.high[a]).max(other.low[a] - self.high[a]).max(0.0);
        let [x, y, z] = [apart(0), apart(1), apart(2)];
        x * x + y * y + z * z
    }
}

/// A run of particles.
#[derive(Debug, Clone, Copy, Default)]
struct Node {
    first: u32,
    end: u32,
    child: u32,
    /// 0 for a group.
    n_children: u32,
}

/// The octree over particles.
#[derive(Debug, Clone, Default)]
pub struct GroupTree {
    nodes: Vec<Node>,
    bounds: Vec<PointBox>,
    /// The nodes that are groups, in the order of their particles.
    groups: Vec<u32>,
}

impl GroupTree {
    /// The tree over particles in the order of their keys. Time n log n without a sort.
    pub fn new(points: &GraphPoints) -> Self {
        let mut tree = Self::default();
        if points.is_empty() {
            return tree;
        }
        tree.divide(&keys(points));
        tree.bounds = vec![PointBox::EMPTY; tree.nodes.len()];
        for at in (0..tree.nodes.len()).rev() {
            let Node { first, end, child, n_children } = tree.nodes[at];
            let mut bounds = PointBox::EMPTY;
            match n_children {
                0 => (first..end).for_each(|i| bounds.add(points.position(i as usize))),
                n => tree.bounds[child as usize..(child + n) as usize].iter().for_each(|of_child| {
                    bounds.add(of_child.low);
                    bounds.add(of_child.high);
                }),
            }
            tree.bounds[at] = bounds;
        }
        tree.groups = (0..tree.nodes.len() as u32).filter(|n| tree.nodes[*n as usize].n_children == 0).collect();
        tree.groups.sort_unstable_by_key(|n| tree.nodes[*n as usize].first);
        tree
    }

    /// Number of groups.
    pub fn n_groups(&self) -> usize {
        self.groups.len()
    }

    /// The particles of a group.
    pub fn particles(&self, group: usize) -> Range<usize> {
        let node = self.nodes[self.groups[group] as usize];
        node.first as usize..node.end as usize
    }

    /// The box around the particles of a group.
    pub fn bounds(&self, group: usize) -> &PointBox {
        &self.bounds[self.groups[group] as usize]
    }

    fn divide(&mut self, keys: &[u64]) {
        self.nodes.push(Node { first: 0, end: keys.len() as u32, ..Node::default() });
        let mut at = 0;
        while at < self.nodes.len() {
            let Node { first, end, .. } = self.nodes[at];
            let run = &keys[first as usize..end as usize];
            let differing = run[0] ^ run[run.len() - 1];
            if run.len() > LEAF && differing != 0 {
                let child = self.nodes.len() as u32;
                self.add_children(run, first, differing);
                self.nodes[at] = Node { first, end, child, n_children: self.nodes.len() as u32 - child };
            }
            at += 1;
        }
    }

    /// Adds the octants, as far as they hold particles, of the smallest cube around a run.
    fn add_children(&mut self, run: &[u64], first: u32, differing: u64) {
        let shift = (63 - differing.leading_zeros()) / 3 * 3;
        let mut from = 0;
        while from < run.len() {
            let digit = run[from] >> shift;
            let n = run[from..].partition_point(|key| key >> shift == digit);
            let (first, end) = (first + from as u32, first + (from + n) as u32);
            self.nodes.push(Node { first, end, ..Node::default() });
            from += n;
        }
    }

    /// Calls `found` with runs of particles until they are at least `n`, those of near nodes first. `near` orders nodes by
    /// their distance; each is opened until it is a group. Runs do not overlap.
    pub(super) fn nearest_runs(
        &self,
        of: &PointBox,
        n: usize,
        periodic: bool,
        queue: &mut NodeQueue,
        mut found: impl FnMut(Range<usize>),
    ) {
        let distance = |node: u32| match periodic {
            true => periodic_distance(of, &self.bounds[node as usize]),
            false => of.square_distance(&self.bounds[node as usize]),
        };
        queue.0.clear();
        queue.0.push(std::cmp::Reverse((0, 0)));
        let mut n_found = 0;
        while let Some(std::cmp::Reverse((_, at))) = queue.0.pop() {
            let Node { first, end, child, n_children } = self.nodes[at as usize];
            if n_children == 0 {
                found(first as usize..end as usize);
                n_found += (end - first) as usize;
                if n_found >= n {
                    return;
                }
            }
            // Squared distances are not negative, so their bits are in their order.
            queue.0.extend((child..child + n_children).map(|c| std::cmp::Reverse((distance(c).to_bits(), c))));
        }
    }

    /// Calls `found` with the runs of all groups within `reach` of a box. A run comes once.
    pub fn runs_within(
        &self,
        of: &PointBox,
        reach: f64,
        periodic: bool,
        stack: &mut Vec<u32>,
        mut found: impl FnMut(Range<usize>),
    ) {
        // Distances of boxes and of particles are rounded in different ways.
        let reach = reach + ROUNDING;
        let limit = reach * reach;
        stack.clear();
        stack.extend((!self.nodes.is_empty()).then_some(0));
        let [low, high] = [of.low.map(|x| x - reach), of.high.map(|x| x + reach)];
        let wraps = periodic && (0..3).any(|a| low[a] < 0.0 || high[a] >= 1.0);
        while let Some(at) = stack.pop() {
            let bounds = &self.bounds[at as usize];
            let distance = if wraps { periodic_distance(of, bounds) } else { of.square_distance(bounds) };
            if distance > limit {
                continue;
            }
            let Node { first, end, child, n_children } = self.nodes[at as usize];
            match n_children {
                0 => found(first as usize..end as usize),
                n => stack.extend((child..child + n).rev()),
            }
        }
    }
}

/// Nodes by their distance, the nearest on top. Kept between searches.
#[derive(Debug, Clone, Default)]
pub(super) struct NodeQueue(std::collections::BinaryHeap<std::cmp::Reverse<(u64, u32)>>);

/// The keys of the particles, of [`LEVELS`] levels.
fn keys(points: &GraphPoints) -> Vec<u64> {
    let cell = |i: usize| super::cell_of(points.position(i)).map(|x| x >> (KEY_LEVEL - LEVELS));
    (0..points.len()).map(|i| morton63(cell(i))).collect()
}

/// A lower bound of the squared distance of two boxes over all periodic images: axis by axis, the nearest image.
#[inline]
fn periodic_distance(a: &PointBox, b: &PointBox) -> f64 {
    let apart = |axis: usize| {
        let of_image = |by: f64| (a.low[axis] - b.high[axis] - by).max(b.low[axis] + by - a.high[axis]).max(0.0);
        of_image(0.0).min(of_image(1.0)).min(of_image(-1.0))
    };
    let [x, y, z] = [apart(0), apart(1), apart(2)];
    x * x + y * y + z * z
}
