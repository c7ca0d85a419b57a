//! Octree: which points lie together, and what are their moments?
//!
//! A node is a cube of the octree with at least two non-empty children, or a leaf. Chains of cubes with one
//! child are left out. The cubes follow from the keys alone, so nodes do not depend on the order of axes.
//! Nodes are stored level by level, the children of a node side by side:
//!
//! ```text
//!     nodes    0 | 1 2 3 | 4 5 6 7 | ...       0 is the root, 1 to 3 its children, 4 and 5 those of 1, ...
//!     points   a node holds a run of points, because points are in the order of keys
//! ```

use super::super::members::KEY_BITS;
use super::super::slices::Slices;
use super::points::Points;
use super::softening::reach_of;
use bytemuck::{Pod, Zeroable};
use std::ops::Range;

/// Cubes with at most this number of points are leaves.
pub(super) const LEAF: usize = 16;

/// Trees of more points are built in parts.
const MOST_AT_ONCE: usize = 32_768;

/// The least number of parts.
const PARTS: usize = 64;

/// A run of points and what the walk needs of it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Node {
    /// Its first point.
    pub first: u32,
    /// The point after its last one.
    pub end: u32,
    /// Its first child.
    pub child: u32,
    /// Number of children; 0 for a leaf.
    pub n_children: u32,
}

/// The moments of a node.
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Moments {
    /// Centre of mass.
    pub centre: [f64; 3],
    /// Mass.
    pub mass: f64,
    /// Sum of m x y about the centre of mass, in the order xx, yy, zz, xy, xz, yz.
    pub second: [f64; 6],
}

/// The least box around the points of a node.
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct PointBounds {
    /// Lower corner.
    pub low: [f64; 3],
    /// Upper corner.
    pub high: [f64; 3],
}

/// The values that decide whether a node is opened, in columns. Each column has eight more entries than there
/// are nodes.
#[derive(Debug, Clone, Default)]
pub(super) struct Acceptance {
    /// Centre of mass, axis by axis.
    pub centre: [Vec<f64>; 3],
    /// Largest distance of a point from the centre of mass.
    pub radius: Vec<f64>,
    /// Mass times the cube of the radius: the bound of the octupole.
    pub octupole: Vec<f64>,
    /// Largest reach of softening.
    pub reach: Vec<f64>,
}

/// Nodes over points. The vectors are kept between uses.
#[derive(Debug, Clone, Default)]
pub struct Octree {
    pub(super) nodes: Vec<Node>,
    pub(super) moments: Vec<Moments>,
    pub(super) bounds: Vec<PointBounds>,
    pub(super) acceptance: Acceptance,
}

impl Octree {
    /// Builds the tree of at least one point. Time n log n without a sort: points are in the order of keys.
    pub fn build<S: Slices>(&mut self, points: &Points, slices: &S) {
        let all = 0..points.len() as u32;
        if points.len() <= MOST_AT_ONCE {
            return self.build_below(std::slice::from_ref(&all), points);
        }
        self.divide(std::slice::from_ref(&all), &points.key, points.len() / PARTS);
        let ends: Vec<usize> = (0..self.nodes.len()).filter(|at| self.nodes[*at].n_children == 0).collect();
        let parts = slices.each(ends.len(), |i| {
            let Node { first, end, .. } = self.nodes[ends[i]];
            let mut part = Self::default();
            part.build_below(std::slice::from_ref(&(first..end)), points);
            part
        });
        self.join(&ends, &parts);
    }

    /// Puts parts below nodes without children, which are their roots, and sums the nodes above.
    fn join(&mut self, ends: &[usize], parts: &[Self]) {
        let n_above = self.nodes.len();
        let n = n_above + parts.iter().map(|part| part.nodes.len() - 1).sum::<usize>();
        self.make_room(n_above);
        self.acceptance.resize(n);
        for (end, part) in ends.iter().zip(parts) {
            let below = self.nodes.len();
            // The root of a part is here already, so its nodes are one place nearer.
            let moved = |node: &Node| Node { child: node.child + below as u32 - 1, ..*node };
            part.nodes[..1].iter().for_each(|root| self.nodes[*end] = moved(root));
            (self.moments[*end], self.bounds[*end]) = (part.moments[0], part.bounds[0]);
            self.acceptance.copy(*end, &part.acceptance, 0..1);
            self.nodes.extend(part.nodes[1..].iter().map(moved));
            self.moments.extend_from_slice(&part.moments[1..]);
            self.bounds.extend_from_slice(&part.bounds[1..]);
            self.acceptance.copy(below, &part.acceptance, 1..part.nodes.len());
        }
        let is_above = |at: &usize| ends.binary_search(at).is_err();
        for node in (0..n_above).rev().filter(is_above) {
            self.sum_children(node);
        }
    }

    /// Builds the trees below nodes with these runs, which come first.
    pub(super) fn build_below(&mut self, runs: &[Range<u32>], points: &Points) {
        self.divide(runs, &points.key, LEAF);
        let n = self.nodes.len();
        self.make_room(n);
        self.acceptance.resize(n);
        for node in (0..n).rev() {
            self.sum(node, points);
        }
    }

    /// Moments and bounds of the first `n` nodes, all 0.
    fn make_room(&mut self, n: usize) {
        self.moments.clear();
        self.moments.resize(n, Moments::default());
        self.bounds.clear();
        self.bounds.resize(n, PointBounds::default());
    }

    /// Makes the nodes below some of them, until none without children has more than `most` points.
    fn divide(&mut self, runs: &[Range<u32>], key: &[u64], most: usize) {
        self.nodes.clear();
        let node = |run: &Range<u32>| Node { first: run.start, end: run.end, child: 0, n_children: 0 };
        self.nodes.extend(runs.iter().map(node));
        let mut at = 0;
        while at < self.nodes.len() {
            let Node { first, end, .. } = self.nodes[at];
            let run = &key[first as usize..end as usize];
            let differing = run[0] ^ run[run.len() - 1];
            if run.len() > most && differing != 0 {
                let child = self.nodes.len() as u32;
                self.add_children(run, first, differing);
                let n_children = self.nodes.len() as u32 - child;
                self.nodes[at] = Node { first, end, child, n_children };
            }
            at += 1;
        }
    }

    /// Adds the non-empty octants of the smallest cube that holds a run. `differing` has a bit in the digit
    /// of that cube.
    fn add_children(&mut self, run: &[u64], first: u32, differing: u64) {
        let shift = (63 - differing.leading_zeros()) / 3 * 3;
        debug_assert!(shift < 3 * KEY_BITS);
        let mut from = 0;
        while from < run.len() {
            let digit = run[from] >> shift;
            let n = run[from..].partition_point(|key| key >> shift == digit);
            let (first, end) = (first + from as u32, first + (from + n) as u32);
            self.nodes.push(Node { first, end, child: 0, n_children: 0 });
            from += n;
        }
    }

    /// The sums of a node whose children have theirs.
    fn sum(&mut self, node: usize, points: &Points) {
        let Node { first, end, n_children, .. } = self.nodes[node];
        if n_children > 0 {
            return self.sum_children(node);
        }
        let run = first as usize..end as usize;
        let (position, mass) = (&points.position[run.clone()], &points.mass[run.clone()]);
        let bounds = bounds_of(position);
        let moments = moments_of(position, mass, bounds.middle());
        let radius = position.iter().fold(0.0f64, |most, x| most.max(length(offset(*x, moments.centre))));
        let reach =
            points.inverse_reach[run].iter().fold(0.0f64, |most, inverse| most.max(reach_of(*inverse)));
        self.acceptance.set(node, &moments, radius, reach);
        self.moments[node] = moments;
        self.bounds[node] = bounds;
    }

    /// The sums of a node from those of its children.
    pub(super) fn sum_children(&mut self, node: usize) {
        let Node { child, n_children, .. } = self.nodes[node];
        let children = child as usize..(child + n_children) as usize;
        let bounds = joined(&self.bounds[children.clone()]);
        let moments = joined_moments(&self.moments[children.clone()], bounds.middle());
        let farthest = children.clone().fold(0.0f64, |most, child| {
            let apart = length(offset(self.moments[child].centre, moments.centre));
            most.max(apart + self.acceptance.radius[child])
        });
        let radius = farthest.min(bounds.farthest_corner(moments.centre));
        let reach = self.acceptance.reach[children].iter().fold(0.0f64, |most, reach| most.max(*reach));
        self.acceptance.set(node, &moments, radius, reach);
        self.moments[node] = moments;
        self.bounds[node] = bounds;
    }
}

impl Acceptance {
    /// Makes room for `n` nodes.
    pub(super) fn resize(&mut self, n: usize) {
        let [x, y, z] = &mut self.centre;
        for column in [x, y, z, &mut self.radius, &mut self.octupole, &mut self.reach] {
            column.clear();
            column.resize(n + 8, 0.0);
        }
    }

    /// Copies the values of some nodes, to those from `to` on.
    fn copy(&mut self, to: usize, from: &Self, nodes: Range<usize>) {
        let run = to..to + nodes.len();
        (0..3).for_each(|a| self.centre[a][run.clone()].copy_from_slice(&from.centre[a][nodes.clone()]));
        self.radius[run.clone()].copy_from_slice(&from.radius[nodes.clone()]);
        self.octupole[run.clone()].copy_from_slice(&from.octupole[nodes.clone()]);
        self.reach[run].copy_from_slice(&from.reach[nodes]);
    }

    /// The values that decide about one node.
    pub(super) fn set(&mut self, node: usize, moments: &Moments, radius: f64, reach: f64) {
        (0..3).for_each(|a| self.centre[a][node] = moments.centre[a]);
        self.radius[node] = radius;
        self.octupole[node] = moments.mass * (radius * radius * radius);
        self.reach[node] = reach;
    }
}

impl PointBounds {
    pub(super) fn middle(&self) -> [f64; 3] {
        std::array::from_fn(|a| 0.5 * (self.low[a] + self.high[a]))
    }

    pub(super) fn half_sides(&self) -> [f64; 3] {
        std::array::from_fn(|a| 0.5 * (self.high[a] - self.low[a]))
    }

    /// The distance of a point from the corner that is farthest.
    pub(super) fn farthest_corner(&self, from: [f64; 3]) -> f64 {
        length(std::array::from_fn(|a| (self.high[a] - from[a]).max(from[a] - self.low[a])))
    }
}

fn bounds_of(position: &[[f64; 3]]) -> PointBounds {
    let first = PointBounds { low: position[0], high: position[0] };
    position.iter().fold(first, |bounds, x| wider(bounds, PointBounds { low: *x, high: *x }))
}

fn joined(all: &[PointBounds]) -> PointBounds {
    all.iter().fold(all[0], |bounds, other| wider(bounds, *other))
}

fn wider(a: PointBounds, b: PointBounds) -> PointBounds {
    PointBounds {
        low: std::array::from_fn(|axis| a.low[axis].min(b.low[axis])),
        high: std::array::from_fn(|axis| a.high[axis].max(b.high[axis])),
    }
}

/// The moments of points; without mass the centre is `middle`.
fn moments_of(position: &[[f64; 3]], mass: &[f32], middle: [f64; 3]) -> Moments {
    let weighted = || position.iter().zip(mass).map(|(x, mass)| (*x, f64::from(*mass)));
    let (total, centre) = centre_of(weighted(), middle);
    let mut second = [0.0; 6];
    for (x, mass) in weighted() {
        add_second(&mut second, offset(x, centre), mass);
    }
    Moments { centre, mass: total, second }
}

fn joined_moments(all: &[Moments], middle: [f64; 3]) -> Moments {
    let (mass, centre) = centre_of(all.iter().map(|part| (part.centre, part.mass)), middle);
    let mut second = [0.0; 6];
    for part in all {
        (0..6).for_each(|i| second[i] += part.second[i]);
        add_second(&mut second, offset(part.centre, centre), part.mass);
    }
    Moments { centre, mass, second }
}

/// Total mass and centre of mass. Positions are relative to `middle`, so that few bits are lost.
fn centre_of(parts: impl Iterator<Item = ([f64; 3], f64)>, middle: [f64; 3]) -> (f64, [f64; 3]) {
    let (mut total, mut sums) = (0.0, [0.0; 3]);
    for (x, mass) in parts {
        total += mass;
        (0..3).for_each(|a| sums[a] += mass * (x[a] - middle[a]));
    }
    let shift = if total > 0.0 { sums.map(|sum| sum / total) } else { [0.0; 3] };
    (total, std::array::from_fn(|a| middle[a] + shift[a]))
}

fn add_second(second: &mut [f64; 6], d: [f64; 3], mass: f64) {
    let products = [d[0] * d[0], d[1] * d[1], d[2] * d[2], d[0] * d[1], d[0] * d[2], d[1] * d[2]];
    (0..6).for_each(|i| second[i] += mass * products[i]);
}

pub(super) fn offset(x: [f64; 3], from: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|a| x[a] - from[a])
}

pub(super) fn length(d: [f64; 3]) -> f64 {
    (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::slices::Whole;
    use crate::bound::{HaloMembers, MemberColumns, SourceTypes};

    /// Points of which some share a place, more than a part has.
    fn points(n: usize) -> Points {
        let mut state = 1u64;
        let mut real = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let position: Vec<[f64; 3]> = (0..n)
            .map(|i| if i % 9 == 0 { [0.25; 3] } else { std::array::from_fn(|_| real() * real() - 0.5) })
            .collect();
        let columns = MemberColumns {
            velocity: vec![[0.0; 3]; n],
            mass: (0..n).map(|i| 1.0 + (i % 7) as f64).collect(),
            softening: vec![1e-3; n],
            particle_type: vec![1; n],
            internal_energy: Vec::new(),
            id: (0..n as u64).collect(),
            former_rank: Vec::new(),
            position,
        };
        let members = HaloMembers::new(columns).expect("members");
        let mut points = Points::default();
        points.gather(&members, &members.all(), SourceTypes::ALL);
        points
    }

    #[test]
    fn a_tree_in_parts_is_that_of_all_points() {
        let points = points(MOST_AT_ONCE + 1000);
        let (mut whole, mut parts) = (Octree::default(), Octree::default());
        whole.build_below(std::slice::from_ref(&(0..points.len() as u32)), &points);
        parts.build(&points, &Whole);
        assert_eq!(whole.nodes.len(), parts.nodes.len());
        let values = |tree: &Octree, at: usize| {
            let of = &tree.acceptance;
            let centre: [f64; 3] = std::array::from_fn(|a| of.centre[a][at]);
            (tree.moments[at], tree.bounds[at], centre, of.radius[at], of.octupole[at], of.reach[at])
        };
        let (mut open, mut n_met) = (vec![(0, 0)], 0);
        while let Some((a, b)) = open.pop() {
            let (left, right) = (whole.nodes[a], parts.nodes[b]);
            assert_eq!((left.first, left.end, left.n_children), (right.first, right.end, right.n_children));
            assert_eq!(values(&whole, a), values(&parts, b));
            open.extend(
                (0..left.n_children).map(|i| ((left.child + i) as usize, (right.child + i) as usize)),
            );
            n_met += 1;
        }
        assert_eq!(n_met, whole.nodes.len());
    }
}
