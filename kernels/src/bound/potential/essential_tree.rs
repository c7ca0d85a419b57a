//! Essential trees: the nodes and points that a slice sends to another one, so that the walks there find
//! everything they open.
//!
//! A slice sends the others boxes that contain its groups. A node is opened for a slice unless it is far
//! enough from all its boxes, by the rule of the walk with a small margin. Only boxes that opened a node are
//! tested against its children, as in a walk.
//!
//! ```text
//!     stream of one root      O o L O o o P ...      children follow their parent, each before its own children
//!     O opened   L a leaf with its points   o not opened: moments only
//! ```

use super::super::slices::{SlicePart, Slices};
use super::octree::{Moments, Node, Octree, PointBounds};
use super::points::{PointRecord, Points};
use super::slice_roots::{ELSEWHERE, SliceRoot, nodes_above, root_runs, roots_of};
use super::tree::{EDGE, FEW, GROUP, TOLERANCE};
use bytemuck::{Pod, Zeroable};

/// About this number of boxes per slice contain its groups.
const BOXES: usize = 256;

/// A part of a distance that exceeds all rounding errors.
const SPARE: f64 = 1e-9;

/// The points of a slice, cut at groups, and the nodes below its roots.
pub(super) struct SliceTree {
    /// The points of the slice.
    pub points: Points,
    /// The nodes below its roots.
    pub tree: Octree,
    /// Number of its roots.
    pub n_roots: usize,
    /// The roots of all slices.
    roots: Vec<SliceRoot>,
    /// The first root of each slice.
    first_root: Vec<usize>,
}

/// A box that holds groups.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct GroupBox {
    middle: [f64; 3],
    half: [f64; 3],
    reach: f64,
}

/// A node for another slice.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct EssentialNode {
    moments: Moments,
    radius: f64,
    reach: f64,
    /// Number of children that follow, or of points.
    n: u32,
    kind: u32,
}

const CLOSED: u32 = 0;
const OPENED: u32 = 1;
const LEAF: u32 = 2;

/// The nodes and points for another slice.
#[derive(Default)]
struct EssentialTree {
    nodes: Vec<EssentialNode>,
    points: Vec<PointRecord>,
}

impl SliceTree {
    /// The trees of points that are cut at groups. Two gatherings.
    pub fn new<S: Slices>(points: Points, slices: &S) -> Result<Self, S::Error> {
        let ends: Vec<u64> = points.key.first().into_iter().chain(points.key.last()).copied().collect();
        let ends = slices.gather(&ends)?;
        let before = ends[..slices.here()].iter().rev().find_map(|ends| ends.last().copied());
        let after = ends[slices.here() + 1..].iter().find_map(|ends| ends.first().copied());
        let runs = root_runs(&points.key, before, after);
        let mut tree = Octree::default();
        tree.build_below(&runs, &points);
        let roots = slices.gather(&roots_of(&tree, &points.key, runs.len()))?;
        let first_root = roots.iter().scan(0, |first, of| {
            *first += of.len();
            Some(*first - of.len())
        });
        let first_root = first_root.collect();
        Ok(Self {
            points,
            tree,
            n_roots: runs.len(),
            roots: roots.into_iter().flatten().collect(),
            first_root,
        })
    }

    /// Boxes that hold all groups of this slice.
    pub fn group_boxes(&self) -> Vec<GroupBox> {
        let most = GROUP.max(self.points.len() / BOXES);
        let mut open: Vec<u32> = (0..self.n_roots as u32).collect();
        let mut boxes = Vec::new();
        while let Some(at) = open.pop() {
            let Node { first, end, child, n_children } = self.tree.nodes[at as usize];
            if n_children > 0 && (end - first) as usize > most {
                open.extend(child..child + n_children);
                continue;
            }
            let bounds = &self.tree.bounds[at as usize];
            // Positions are below 1, so this exceeds all rounding errors.
            let half = bounds.half_sides().map(|half| half * (1.0 + SPARE) + 1e-12);
            boxes.push(GroupBox {
                middle: bounds.middle(),
                half,
                reach: self.tree.acceptance.reach[at as usize],
            });
        }
        boxes
    }

    /// Adds the points of other slices that groups of this slice open, after its own points. Returns the tree
    /// of all points, as far as these groups open it. One gathering and two exchanges.
    pub fn grow<S: Slices>(&mut self, boxes: &[GroupBox], slices: &S) -> Result<Octree, S::Error> {
        let all = slices.gather(boxes)?;
        let (above, node_of_root) = nodes_above(&self.roots);
        let export = |to: usize| match to == slices.here() || all[to].is_empty() {
            true => EssentialTree::default(),
            false => self.essential(&all[to], &above),
        };
        let (mut nodes, mut points): (Vec<SlicePart<EssentialNode>>, Vec<SlicePart<PointRecord>>) =
            (Vec::new(), Vec::new());
        for (to, sent) in slices.each(all.len(), export).into_iter().enumerate() {
            nodes.push((to, sent.nodes));
            points.push((to, sent.points));
        }
        let (nodes, received_points) = (slices.exchange(nodes)?, slices.exchange(points)?);
        let mut grown = GrownTree::new(above);
        let here = self.first_root[slices.here()];
        grown.add_own(&self.tree, &node_of_root[here..here + self.n_roots]);
        let points = &mut self.points;
        for (from, nodes) in nodes {
            let sent = received_points.iter().find(|(slice, _)| *slice == from);
            let mut received = ReceivedNodes { nodes: &nodes, next: 0, next_point: points.len() as u32 };
            sent.iter().flat_map(|(_, part)| part).for_each(|record| points.push(record));
            let first = self.first_root[from];
            let end = self.first_root.get(from + 1).copied().unwrap_or(node_of_root.len());
            for node in &node_of_root[first..end] {
                grown.add(&mut received, *node as usize);
            }
        }
        Ok(grown.finish())
    }

    /// The nodes that a slice with these boxes opens.
    fn essential(&self, boxes: &[GroupBox], above: &Octree) -> EssentialTree {
        let all = &above.moments[0];
        let rules: Vec<OpeningRule> = boxes.iter().map(|of| OpeningRule::new(of, all)).collect();
        let everyone: Vec<u32> = (0..boxes.len() as u32).collect();
        let mut sent = EssentialTree::default();
        let is_alone = self.roots.len() == 1;
        for root in 0..self.n_roots as u32 {
            // The root of the whole tree is opened in any case.
            match is_alone {
                true => self.open(root, &everyone, &rules, &mut sent),
                false => self.add(root, &everyone, &rules, &mut sent),
            }
        }
        sent
    }

    /// Adds a node, opened if one of the rules says so.
    fn add(&self, node: u32, asking: &[u32], rules: &[OpeningRule], to: &mut EssentialTree) {
        let at = node as usize;
        let near: Vec<u32> =
            asking.iter().copied().filter(|rule| !rules[*rule as usize].is_far(&self.tree, at)).collect();
        let Node { first, end, .. } = self.tree.nodes[at];
        match near.is_empty() && end - first >= FEW {
            true => to.nodes.push(self.record(at, 0, CLOSED)),
            false => self.open(node, &near, rules, to),
        }
    }

    fn open(&self, node: u32, near: &[u32], rules: &[OpeningRule], to: &mut EssentialTree) {
        let at = node as usize;
        let Node { first, end, child, n_children } = self.tree.nodes[at];
        match n_children {
            0 => {
                to.nodes.push(self.record(at, end - first, LEAF));
                to.points.extend((first as usize..end as usize).map(|i| self.points.record(i)));
            }
            _ => {
                to.nodes.push(self.record(at, n_children, OPENED));
                (child..child + n_children).for_each(|child| self.add(child, near, rules, to));
            }
        }
    }

    fn record(&self, node: usize, n: u32, kind: u32) -> EssentialNode {
        let (radius, reach) = (self.tree.acceptance.radius[node], self.tree.acceptance.reach[node]);
        EssentialNode { moments: self.tree.moments[node], radius, reach, n, kind }
    }
}

/// When a node is certainly far enough from all groups in a box.
struct OpeningRule {
    of: GroupBox,
    /// No more than the tolerance of any group in the box.
    tolerated: f64,
}

impl OpeningRule {
    fn new(of: &GroupBox, all: &Moments) -> Self {
        let corner = |sign: f64| std::array::from_fn(|a| of.middle[a] + sign * of.half[a]);
        let bounds = PointBounds { low: corner(-1.0), high: corner(1.0) };
        let apart = bounds.farthest_corner(all.centre);
        let spread = all.second[0] + all.second[1] + all.second[2];
        let distance = (all.mass * apart * apart + spread).sqrt();
        // Without mass or distance the tolerance is 0, or all nodes have no mass.
        let tolerated = match distance > 0.0 {
            true => TOLERANCE * all.mass * all.mass.sqrt() / distance * (1.0 - SPARE),
            false => 0.0,
        };
        Self { of: *of, tolerated }
    }

    fn is_far(&self, tree: &Octree, node: usize) -> bool {
        let rules = &tree.acceptance;
        let mut distance2 = 0.0;
        for a in 0..3 {
            let outside = ((rules.centre[a][node] - self.of.middle[a]).abs() - self.of.half[a]).max(0.0);
            distance2 += outside * outside;
        }
        let distance2 = distance2 * (1.0 - SPARE);
        let least = EDGE * rules.radius[node] + rules.reach[node].max(self.of.reach);
        distance2 > least * least * (1.0 + SPARE)
            && rules.octupole[node] * (1.0 + SPARE) <= self.tolerated * distance2 * distance2
    }
}

/// The stream of one slice.
struct ReceivedNodes<'a> {
    nodes: &'a [EssentialNode],
    next: usize,
    next_point: u32,
}

/// A tree to which slices are added.
struct GrownTree {
    tree: Octree,
    /// Radius and reach of each node.
    extent: Vec<[f64; 2]>,
}

impl GrownTree {
    fn new(above: Octree) -> Self {
        let n = above.nodes.len();
        let extent = (0..n).map(|at| [above.acceptance.radius[at], above.acceptance.reach[at]]).collect();
        Self { tree: above, extent }
    }

    /// Adds the nodes of this slice; these are the nodes of its roots.
    fn add_own(&mut self, own: &Octree, node_of_root: &[u32]) {
        let (n_above, n_roots) = (self.tree.nodes.len() as u32, node_of_root.len());
        let moved = |node: &Node| match node.n_children {
            0 => *node,
            _ => Node { child: node.child - n_roots as u32 + n_above, ..*node },
        };
        for (root, node) in own.nodes.iter().zip(node_of_root) {
            self.tree.nodes[*node as usize] = moved(root);
        }
        self.tree.nodes.extend(own.nodes[n_roots..].iter().map(moved));
        self.tree.moments.extend_from_slice(&own.moments[n_roots..]);
        let extent = |at: usize| [own.acceptance.radius[at], own.acceptance.reach[at]];
        self.extent.extend((n_roots..own.nodes.len()).map(extent));
    }

    /// Adds the next node of a stream at a place, and all below it.
    fn add(&mut self, from: &mut ReceivedNodes, at: usize) {
        let EssentialNode { moments, radius, reach, n, kind } = from.nodes[from.next];
        from.next += 1;
        (self.tree.moments[at], self.extent[at]) = (moments, [radius, reach]);
        match kind {
            LEAF => {
                let first = from.next_point;
                from.next_point += n;
                self.tree.nodes[at] = Node { first, end: first + n, child: 0, n_children: 0 };
            }
            OPENED => {
                let child = self.tree.nodes.len();
                self.tree.nodes[at] = Node { child: child as u32, n_children: n, ..ELSEWHERE };
                let end = child + n as usize;
                self.tree.nodes.resize(end, ELSEWHERE);
                self.tree.moments.resize(end, Moments::default());
                self.extent.resize(end, [0.0; 2]);
                (child..end).for_each(|child| self.add(from, child));
            }
            _ => self.tree.nodes[at] = ELSEWHERE,
        }
    }

    fn finish(self) -> Octree {
        let Self { mut tree, extent } = self;
        tree.acceptance.resize(tree.nodes.len());
        for (at, [radius, reach]) in extent.into_iter().enumerate() {
            tree.acceptance.set(at, &tree.moments[at].clone(), radius, reach);
        }
        tree.bounds = Vec::new();
        tree
    }
}
