//! Slice roots: the largest nodes that lie in one slice, and the nodes above them, which every slice has.
//!
//! ```text
//!     nodes above     #                                  in two slices or more: moments from those of their children
//!                   / | \
//!     roots        o  #  o        slices 0 | 0 and 1 | 1
//!                    / \
//!                   o   o                0 | 1
//! ```
//!
//! A root is the largest cube around a point that has no point of another slice. There are at most 7 per
//! level and side.

use super::octree::{Moments, Node, Octree, PointBounds};
use bytemuck::{Pod, Zeroable};
use std::ops::Range;

/// A root, in the form that all slices have.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct SliceRoot {
    first_key: u64,
    moments: Moments,
    bounds: PointBounds,
    radius: f64,
    reach: f64,
    last_key: u64,
}

/// A node whose points are on another slice. It is not part of a group, and it is large.
pub(super) const ELSEWHERE: Node = Node { first: u32::MAX - 8, end: u32::MAX, child: 0, n_children: 0 };

/// The runs of the roots of a slice, between the last key before and the first key after it.
pub(super) fn root_runs(keys: &[u64], before: Option<u64>, after: Option<u64>) -> Vec<Range<u32>> {
    let mut runs = Vec::new();
    let mut from = 0;
    while from < keys.len() {
        // The largest cube in which the key differs from another one.
        let apart =
            |other: Option<u64>| other.map_or(63, |key| (63 - (key ^ keys[from]).leading_zeros()) / 3 * 3);
        let shift = apart(before).min(apart(after));
        let cube = keys[from] >> shift;
        let n = keys[from..].partition_point(|key| key >> shift == cube);
        runs.push(from as u32..(from + n) as u32);
        from += n;
    }
    runs
}

/// The first `n` nodes of a tree as roots.
pub(super) fn roots_of(tree: &Octree, keys: &[u64], n: usize) -> Vec<SliceRoot> {
    let root = |node: usize| SliceRoot {
        first_key: keys[tree.nodes[node].first as usize],
        last_key: keys[tree.nodes[node].end as usize - 1],
        moments: tree.moments[node],
        bounds: tree.bounds[node],
        radius: tree.acceptance.radius[node],
        reach: tree.acceptance.reach[node],
    };
    (0..n).map(root).collect()
}

/// The nodes above the roots of all slices, which are in the order of keys, and the node of each root.
pub(super) fn nodes_above(roots: &[SliceRoot]) -> (Octree, Vec<u32>) {
    let mut tree = Octree::default();
    // At first a node holds a run of roots.
    tree.nodes.push(Node { first: 0, end: roots.len() as u32, child: 0, n_children: 0 });
    let mut at = 0;
    while at < tree.nodes.len() {
        let Node { first, end, .. } = tree.nodes[at];
        if end - first > 1 {
            let child = tree.nodes.len() as u32;
            divide(&mut tree.nodes, &roots[first as usize..end as usize], first);
            let n_children = tree.nodes.len() as u32 - child;
            tree.nodes[at] = Node { first, end, child, n_children };
        }
        at += 1;
    }
    let n = tree.nodes.len();
    tree.moments.resize(n, Moments::default());
    tree.bounds.resize(n, PointBounds::default());
    tree.acceptance.resize(n);
    let mut node_of_root = vec![0; roots.len()];
    for at in (0..n).rev() {
        let Node { first, n_children, child, .. } = tree.nodes[at];
        if n_children > 0 {
            tree.sum_children(at);
        } else {
            let SliceRoot { moments, bounds, radius, reach, .. } = roots[first as usize];
            (tree.moments[at], tree.bounds[at]) = (moments, bounds);
            tree.acceptance.set(at, &moments, radius, reach);
            node_of_root[first as usize] = at as u32;
        }
        tree.nodes[at] = Node { child, n_children, ..ELSEWHERE };
    }
    (tree, node_of_root)
}

/// Adds the octants of the smallest cube that holds a run of roots.
fn divide(nodes: &mut Vec<Node>, run: &[SliceRoot], first: u32) {
    let differing = run[0].first_key ^ run[run.len() - 1].last_key;
    let shift = (63 - differing.leading_zeros()) / 3 * 3;
    let mut from = 0;
    while from < run.len() {
        let digit = run[from].first_key >> shift;
        let n = run[from..].partition_point(|root| root.first_key >> shift == digit);
        let (first, end) = (first + from as u32, first + (from + n) as u32);
        nodes.push(Node { first, end, child: 0, n_children: 0 });
        from += n;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_the_largest_cubes_of_one_slice() {
        let keys = [8, 9, 16, 17, 24, 64, 65, 130, 200, 512];
        // A single slice is one root.
        assert_eq!(root_runs(&keys, None, None), std::slice::from_ref(&(0..10)));
        // Key 7 is in the same cube of 64 keys, key 513 in the same cube of 8 keys.
        assert_eq!(root_runs(&keys, Some(7), Some(513)), [0..2, 2..4, 4..5, 5..7, 7..8, 8..9, 9..10]);
        assert_eq!(root_runs(&keys[5..], Some(24), None), [0..2, 2..3, 3..4, 4..5]);
        assert_eq!(root_runs(&[], Some(1), None), [] as [Range<u32>; 0]);
    }
}
