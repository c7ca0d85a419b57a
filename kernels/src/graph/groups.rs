//! Groups: which particles lie together?
//!
//! A node is a cube of the octree. A cube with at most [`LEAF`] particles is a *group*: its particles search
//! for neighbours together. Nodes are stored level by level, with the children of a node next to each other.
//! The particles of a node are a run:
//!
//! ```text
//!     nodes    0 | 1 2 3 | 4 5 6 7 | ...       0 is the root, 1 to 3 its children, 4 and 5 those of 1, ...
//! ```

use super::boxes::{BoxRow, PointBox};
use super::points::{GraphPoints, KEY_LEVEL, LANES};
use crate::loops::{Loops, values};
use crate::sfc::morton63;
use crate::simd::wide;
use std::ops::Range;

/// Cubes with at most this number of particles are groups.
const LEAF: usize = 32;
/// More than the rounding error of a distance, in units of the box.
pub(super) const ROUNDING: f64 = 1e-15;
/// Levels of the keys that divide nodes.
const LEVELS: u8 = 21;

/// A run of particles.
#[derive(Debug, Clone, Copy, Default)]
struct GroupNode {
    first: u32,
    end: u32,
    child: u32,
    /// 0 for a group.
    n_children: u32,
    parent: u32,
    /// The row with the boxes of the children.
    row: u32,
}

/// The octree over particles.
#[derive(Debug, Clone, Default)]
pub struct GroupTree {
    nodes: Vec<GroupNode>,
    bounds: Vec<PointBox>,
    /// The boxes of the children of each node with children.
    rows: Vec<BoxRow>,
    /// The nodes that are groups, in the order of their particles.
    groups: Vec<u32>,
    /// The box of each block of particles.
    pub(super) block_bounds: Vec<PointBox>,
}

impl GroupTree {
    /// The tree over particles in the order of their keys. Time n log n without a sort.
    pub fn new<L: Loops>(points: &GraphPoints, loops: &L) -> Self {
        let mut tree = Self::default();
        if points.is_empty() {
            return tree;
        }
        tree.divide(&keys(points, loops));
        tree.bounds = values(loops, tree.nodes.len(), |at| match tree.nodes[at] {
            GroupNode { first, end, n_children: 0, .. } => box_of(points, first as usize..end as usize),
            _ => PointBox::EMPTY,
        });
        for at in (0..tree.nodes.len()).rev() {
            let GroupNode { child, n_children, .. } = tree.nodes[at];
            for of_child in child as usize..(child + n_children) as usize {
                tree.bounds[at] = tree.bounds[at].join(tree.bounds[of_child]);
            }
        }
        tree.rows = tree.child_rows();
        let of_block = |block: usize| LANES * block..(LANES * (block + 1)).min(points.len());
        tree.block_bounds =
            values(loops, points.len().div_ceil(LANES), |block| box_of(points, of_block(block)));
        tree.groups =
            (0..tree.nodes.len() as u32).filter(|n| tree.nodes[*n as usize].n_children == 0).collect();
        tree.groups.sort_unstable_by_key(|n| tree.nodes[*n as usize].first);
        tree
    }

    /// The boxes of the children of each node, and in the nodes where these are.
    fn child_rows(&mut self) -> Vec<BoxRow> {
        let mut rows = Vec::new();
        for node in self.nodes.iter_mut().filter(|node| node.n_children > 0) {
            node.row = rows.len() as u32;
            let mut row = BoxRow::NONE;
            let children = &self.bounds[node.child as usize..(node.child + node.n_children) as usize];
            children.iter().enumerate().for_each(|(lane, bounds)| row.set(lane, bounds));
            rows.push(row);
        }
        rows
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
        self.nodes.push(GroupNode { first: 0, end: keys.len() as u32, ..GroupNode::default() });
        let mut at = 0;
        while at < self.nodes.len() {
            let GroupNode { first, end, .. } = self.nodes[at];
            let run = &keys[first as usize..end as usize];
            let differing = run[0] ^ run[run.len() - 1];
            if run.len() > LEAF && differing != 0 {
                let child = self.nodes.len() as u32;
                self.add_children(run, at as u32, differing);
                self.nodes[at].child = child;
                self.nodes[at].n_children = self.nodes.len() as u32 - child;
            }
            at += 1;
        }
    }

    /// Adds the octants, as far as they hold particles, of the smallest cube around a run.
    fn add_children(&mut self, run: &[u64], parent: u32, differing: u64) {
        let first = self.nodes[parent as usize].first;
        let shift = (63 - differing.leading_zeros()) / 3 * 3;
        let mut from = 0;
        while from < run.len() {
            let digit = run[from] >> shift;
            let n = run[from..].partition_point(|key| key >> shift == digit);
            let (first, end) = (first + from as u32, first + (from + n) as u32);
            self.nodes.push(GroupNode { first, end, parent, ..GroupNode::default() });
            from += n;
        }
    }

    /// The least box around a node that holds a group and more than `k` particles; the box of the root if no
    /// node does.
    pub(super) fn box_of_more_than(&self, k: usize, group: usize) -> &PointBox {
        let mut at = self.groups[group] as usize;
        while at != 0 && (self.nodes[at].end - self.nodes[at].first) as usize <= k {
            at = self.nodes[at].parent as usize;
        }
        &self.bounds[at]
    }

    /// Calls `found` once with the run of each group within `reach` of a box. The group of a tree with only
    /// one is always found.
    pub fn runs_within(
        &self,
        of: &PointBox,
        reach: f64,
        periodic: bool,
        stack: &mut Vec<u32>,
        found: impl FnMut(Range<usize>),
    ) {
        // Distances of boxes and of particles are rounded in different ways.
        let reach = reach + ROUNDING;
        let [low, high] = [of.low.map(|x| x - reach), of.high.map(|x| x + reach)];
        let wraps = periodic && (0..3).any(|a| low[a] < 0.0 || high[a] >= 1.0);
        wide(
            #[inline(always)]
            || match wraps {
                true => self.walk::<true>(of, reach * reach, stack, found),
                false => self.walk::<false>(of, reach * reach, stack, found),
            },
        )
    }

    #[inline(always)]
    fn walk<const PERIODIC: bool>(
        &self,
        of: &PointBox,
        limit: f64,
        stack: &mut Vec<u32>,
        mut found: impl FnMut(Range<usize>),
    ) {
        stack.clear();
        stack.extend((!self.nodes.is_empty()).then_some(0));
        while let Some(at) = stack.pop() {
            let GroupNode { first, end, child, n_children, row, .. } = self.nodes[at as usize];
            if n_children == 0 {
                found(first as usize..end as usize);
                continue;
            }
            let squares = self.rows[row as usize].squares::<PERIODIC>(of);
            // The last one first, so that runs ascend.
            for lane in (0..n_children).rev() {
                if squares[lane as usize] <= limit {
                    stack.push(child + lane);
                }
            }
        }
    }
}

/// The box around the particles of a block.
fn box_of(points: &GraphPoints, particles: Range<usize>) -> PointBox {
    let mut bounds = PointBox::EMPTY;
    particles.for_each(|i| bounds.add(points.position(i)));
    bounds
}

/// The keys of the particles, of [`LEVELS`] levels.
fn keys<L: Loops>(points: &GraphPoints, loops: &L) -> Vec<u64> {
    let cell = |i: usize| super::cell_of(points.position(i)).map(|x| x >> (KEY_LEVEL - LEVELS));
    values(loops, points.len(), |i| morton63(cell(i)))
}
