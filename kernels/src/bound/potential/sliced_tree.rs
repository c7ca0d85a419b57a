//! Sliced tree: the potential of points in slices, with the same bits as [`tree`](super::tree) of all points.
//!
//! 1. Points move so that no group is in two slices ([`group_cuts`](super::group_cuts)).
//! 2. Each slice has the nodes below its roots, and all have the nodes above them
//!    ([`slice_roots`](super::slice_roots)). The cubes follow from the keys, and the moments from the
//!    children of each node. So the nodes are those of the whole tree.
//! 3. Each slice gets from the others the nodes and points that its groups open
//!    ([`essential_tree`](super::essential_tree)). So a walk of a group meets the nodes and points of the
//!    whole tree, in the same order.

use super::super::Gravity;
use super::super::slices::Slices;
use super::direct::direct_of;
use super::essential_tree::SliceTree;
use super::group_cuts::to_groups;
use super::points::{PointRecord, Points};
use super::tree::{GroupWalk, Rooted};

/// The potential of the points of this slice from all others of all slices. Three gatherings and four
/// exchanges.
pub(in super::super) fn sliced_potential<S: Slices>(
    mut points: Points,
    gravity: &Gravity,
    slices: &S,
) -> Result<Vec<f64>, S::Error> {
    let moved = to_groups(&mut points, slices)?;
    let mut own = SliceTree::new(points, slices)?;
    let tree = own.grow(&own.group_boxes(), slices)?;
    let groups = GroupWalk::groups_below(&own.tree, own.n_roots);
    let targets = Rooted { points: &own.points, tree: &own.tree };
    let sources = Rooted { points: &own.points, tree: &tree };
    let walk = GroupWalk { sources, targets, is_same: true };
    moved.back(walk.sums(&groups, gravity, slices), slices)
}

/// The potential of the `targets` of this slice from the `sources` of all slices, none of which is a target.
pub(in super::super) fn sliced_potential_of<S: Slices>(
    mut sources: Points,
    mut targets: Points,
    gravity: &Gravity,
    slices: &S,
) -> Result<Vec<f64>, S::Error> {
    let moved = to_groups(&mut targets, slices)?;
    to_groups(&mut sources, slices)?;
    let targets = SliceTree::new(targets, slices)?;
    let mut sources = SliceTree::new(sources, slices)?;
    let tree = sources.grow(&targets.group_boxes(), slices)?;
    let groups = GroupWalk::groups_below(&targets.tree, targets.n_roots);
    let targets = Rooted { points: &targets.points, tree: &targets.tree };
    let walk =
        GroupWalk { sources: Rooted { points: &sources.points, tree: &tree }, targets, is_same: false };
    moved.back(walk.sums(&groups, gravity, slices), slices)
}

/// The same from all pairs. Every slice gets all points.
pub(in super::super) fn sliced_direct<S: Slices>(
    points: &Points,
    gravity: &Gravity,
    slices: &S,
) -> Result<Vec<f64>, S::Error> {
    let own: Vec<PointRecord> = (0..points.len()).map(|i| points.record(i)).collect();
    let records = slices.gather(&own)?;
    let first: usize = records[..slices.here()].iter().map(Vec::len).sum();
    let mut all = points.without_points();
    records.iter().flatten().for_each(|record| all.push(record));
    let mut potential = Vec::new();
    direct_of(&all, first..first + own.len(), gravity, &mut potential);
    Ok(potential)
}
