//! Tree: the potential from monopoles and quadrupoles of an octree, group by group.
//!
//! A group is a node of the tree of targets with at most [`GROUP`] points. One walk per group finds the
//! sources that act on it:
//!
//! ```text
//!     node far enough from the group's box?    -> its moments act on every point of the group
//!     else, a leaf?                            -> its points act
//!     else                                     -> the same question for each of its children
//! ```
//!
//! A node of mass m and radius b is far enough at distance d from the box of the group if both hold:
//!
//! - d > [`EDGE`] b + reach, so the series converges well and no softening acts between them;
//! - m b³ < [`TOLERANCE`] d⁴ Φ, where Φ = M / sqrt(D² + R²) estimates the potential at the group, from the
//!   total mass M, the distance D of the group from the centre of mass, and the root mean square radius R of
//!   all points. The left side over d⁴ bounds the octupole, the first term that is left out.
//!
//! On a Plummer sphere of 10⁴ points the root mean square of relative errors must stay below 5e-4 and the
//! largest below 5e-3; the tests hold it to that. The bits depend on neither the processor nor the order in
//! which members arrive: geometry comes from keys, every sum has a fixed order.

use super::super::Gravity;
use super::super::slices::Slices;
use super::lists::{Lists, NearSource};
use super::octree::{Node, Octree, length, offset};
use super::points::Points;
use super::softening::reach_of;
use crate::simd::wide;

/// Most points of a group.
pub(super) const GROUP: usize = 128;

/// Largest octupole of a node over the estimated potential.
pub(super) const TOLERANCE: f64 = 0.03;

/// Least distance of a node over its radius. At 1, a point at the edge of a node may be next to a point of
/// the group.
pub(super) const EDGE: f64 = 1.2;

/// Least reach of softening in half-diagonals of a group's box for which single precision is enough.
const SOFT: f64 = 1.0 / 64.0;

/// Leaves with fewer points act point by point, because that is cheaper than a quadrupole.
pub(super) const FEW: u32 = 3;

/// Points of a group whose sums are found at once.
const AT_ONCE: usize = 2;

/// Groups per task.
const GROUPS_AT_ONCE: usize = 64;

/// Working memory of the walk.
#[derive(Debug, Clone, Default)]
pub struct TreeScratch {
    lists: Lists,
    open: Vec<u32>,
    groups: Vec<u32>,
    wanted: Vec<u32>,
}

/// Points and their tree.
#[derive(Debug, Clone, Copy)]
pub struct Rooted<'a> {
    /// The points.
    pub points: &'a Points,
    /// The tree that was built from them.
    pub tree: &'a Octree,
}

/// The points of a group and its extent.
struct WalkGroup {
    first: usize,
    end: usize,
    middle: [f64; 3],
    half: [f64; 3],
    reach: f64,
    /// Whether the softening of every point reaches so far that single precision is enough for near points.
    is_soft: bool,
    /// [`TOLERANCE`] times the estimated potential.
    tolerated: f64,
}

/// The potential of each point from all others, of the tree in one slice.
pub fn tree<S: Slices>(
    all: Rooted,
    gravity: &Gravity,
    slices: &S,
    scratch: &mut TreeScratch,
    potential: &mut Vec<f64>,
) {
    potential.clear();
    potential.resize(all.points.len(), 0.0);
    tree_at(all, |_| true, gravity, slices, scratch, potential);
}

/// [`tree`], but only for some points. Other points keep their potential. Groups without such points cost
/// nothing.
pub fn tree_at<S: Slices>(
    all: Rooted,
    is_wanted: impl Fn(usize) -> bool + Sync,
    gravity: &Gravity,
    slices: &S,
    scratch: &mut TreeScratch,
    potential: &mut [f64],
) {
    let walk = GroupWalk { sources: all, targets: all, is_same: true };
    walk.change(is_wanted, gravity, slices, scratch, potential, |_, sum| sum);
}

/// Subtracts the potential of `sources` from that of `targets`. No source may be a target. Both have the same
/// units.
pub fn subtract<S: Slices>(
    sources: Rooted,
    targets: Rooted,
    gravity: &Gravity,
    slices: &S,
    scratch: &mut TreeScratch,
    potential: &mut [f64],
) {
    let walk = GroupWalk { sources, targets, is_same: false };
    walk.change(|_| true, gravity, slices, scratch, potential, |before, sum| before - sum);
}

/// The walks of groups of targets over a tree of sources.
#[derive(Debug, Clone, Copy)]
pub(super) struct GroupWalk<'a> {
    /// The sources.
    pub sources: Rooted<'a>,
    /// The targets.
    pub targets: Rooted<'a>,
    /// Whether the first sources are the targets.
    pub is_same: bool,
}

impl GroupWalk<'_> {
    /// Changes the potential of the wanted targets: `put` makes the new one from the old one and that of the
    /// sources.
    fn change<S: Slices>(
        &self,
        is_wanted: impl Fn(usize) -> bool + Sync,
        gravity: &Gravity,
        slices: &S,
        scratch: &mut TreeScratch,
        potential: &mut [f64],
        put: impl Fn(f64, f64) -> f64,
    ) {
        let scale = self.sources.points.to_potential(gravity);
        let mut groups = std::mem::take(&mut scratch.groups);
        find_groups(self.targets.tree, 1, &mut groups, &mut scratch.open);
        if groups.len() <= GROUPS_AT_ONCE {
            self.visit_all(&groups, &is_wanted, scratch, &mut |i, sum| {
                potential[i] = put(potential[i], scale * sum);
            });
        } else {
            let tasks: Vec<&[u32]> = groups.chunks(GROUPS_AT_ONCE).collect();
            let sums = slices.each(tasks.len(), |task| {
                let mut sums = Vec::new();
                let mut scratch = TreeScratch::default();
                self.visit_all(tasks[task], &is_wanted, &mut scratch, &mut |i, sum| {
                    sums.push((i as u32, sum));
                });
                sums
            });
            for (i, sum) in sums.into_iter().flatten().map(|(i, sum)| (i as usize, sum)) {
                potential[i] = put(potential[i], scale * sum);
            }
        }
        scratch.groups = groups;
    }

    /// Calls `put` with each wanted point of these groups and its sum of mass over softened distance. It is
    /// not generic, so that this crate compiles it, with its own optimisation.
    fn visit_all(
        &self,
        groups: &[u32],
        is_wanted: &dyn Fn(usize) -> bool,
        scratch: &mut TreeScratch,
        put: &mut dyn FnMut(usize, f64),
    ) {
        let TreeScratch { lists, open, wanted, .. } = scratch;
        for node in groups {
            let Node { first, end, .. } = self.targets.tree.nodes[*node as usize];
            wanted.clear();
            wanted.extend((first..end).filter(|i| is_wanted(*i as usize)));
            if !wanted.is_empty() {
                self.visit(*node, wanted, lists, open, &mut *put);
            }
        }
    }

    /// Calls `put` with each wanted point of a group and its sum of mass over softened distance.
    #[inline(always)]
    fn visit(
        &self,
        node: u32,
        wanted: &[u32],
        lists: &mut Lists,
        open: &mut Vec<u32>,
        mut put: impl FnMut(usize, f64),
    ) {
        let Self { sources, targets, is_same } = *self;
        let group = WalkGroup::new(node as usize, targets, sources.tree);
        wide(
            #[inline(always)]
            || {
                walk(&group, sources, is_same, lists, open);
                if is_same {
                    push_own(&group, sources.points, lists);
                }
                for several in wanted.chunks(AT_ONCE) {
                    let mut sources = [Lists::NO_SOURCE; AT_ONCE];
                    for (&i, target) in several.iter().zip(&mut sources) {
                        let i = i as usize;
                        *target = near_source(targets.points, i, group.middle, (i - group.first) as u32);
                    }
                    for (&i, sum) in several.iter().zip(lists.sums_at(&sources)) {
                        put(i as usize, sum);
                    }
                }
            },
        );
    }

    /// The groups below the first nodes of a tree, in the order of their points.
    pub fn groups_below(tree: &Octree, n_roots: usize) -> Vec<u32> {
        let (mut groups, mut open) = (Vec::new(), Vec::new());
        find_groups(tree, n_roots as u32, &mut groups, &mut open);
        groups.sort_unstable_by_key(|group| tree.nodes[*group as usize].first);
        groups
    }

    /// The potential of the points of all groups, which are in their order.
    pub fn sums<S: Slices>(&self, groups: &[u32], gravity: &Gravity, slices: &S) -> Vec<f64> {
        let scale = self.sources.points.to_potential(gravity);
        let tasks: Vec<&[u32]> = groups.chunks(GROUPS_AT_ONCE).collect();
        let of_task = |task: usize| {
            let (mut potential, mut scratch) = (Vec::new(), TreeScratch::default());
            self.visit_all(tasks[task], &|_| true, &mut scratch, &mut |_, sum| potential.push(scale * sum));
            potential
        };
        slices.each(tasks.len(), of_task).into_iter().flatten().collect()
    }
}

/// The largest nodes below the first ones with at most [`GROUP`] points, and larger leaves.
fn find_groups(tree: &Octree, n_roots: u32, groups: &mut Vec<u32>, open: &mut Vec<u32>) {
    groups.clear();
    open.clear();
    open.extend(0..n_roots);
    while let Some(at) = open.pop() {
        let node = &tree.nodes[at as usize];
        if node.n_children == 0 || (node.end - node.first) as usize <= GROUP {
            groups.push(at);
        } else {
            open.extend(node.child..node.child + node.n_children);
        }
    }
}

impl WalkGroup {
    fn new(node: usize, targets: Rooted, sources: &Octree) -> Self {
        let Rooted { points, tree } = targets;
        let (bounds, all) = (&tree.bounds[node], &sources.moments[0]);
        let run = tree.nodes[node].first as usize..tree.nodes[node].end as usize;
        let least = points.inverse_reach[run.clone()].iter().fold(f64::INFINITY, |r, i| r.min(reach_of(*i)));
        let middle = bounds.middle();
        let apart = length(offset(middle, all.centre));
        let spread = all.second[0] + all.second[1] + all.second[2];
        let distance = (all.mass * apart * apart + spread).sqrt();
        Self {
            first: run.start,
            end: run.end,
            middle,
            // A little larger, so that rounding puts no point of the group outside.
            half: bounds.half_sides().map(|half| half * (1.0 + 1e-12) + 1e-18),
            reach: tree.acceptance.reach[node],
            is_soft: least > SOFT * length(bounds.half_sides()),
            // M / sqrt(D² + R²) with M R² = spread.
            tolerated: match distance > 0.0 {
                true => TOLERANCE * all.mass * all.mass.sqrt() / distance,
                false => 0.0,
            },
        }
    }
}

/// Fills the lists with the sources that act on a group, except its own points.
#[inline(always)]
fn walk(group: &WalkGroup, sources: Rooted, is_same: bool, lists: &mut Lists, open: &mut Vec<u32>) {
    let Rooted { points, tree } = sources;
    lists.clear();
    open.clear();
    let is_own =
        |node: &Node| is_same && group.first <= node.first as usize && node.end as usize <= group.end;
    if !is_own(&tree.nodes[0]) {
        open.push(0);
    }
    while let Some(at) = open.pop() {
        let node = tree.nodes[at as usize];
        if node.n_children == 0 {
            push_leaf(group, sources, at, lists);
            continue;
        }
        let far = far_enough(group, tree, node.child);
        for (lane, child) in (node.child..node.child + node.n_children).enumerate() {
            let run = tree.nodes[child as usize];
            match far[lane] {
                _ if is_own(&run) => {}
                false => open.push(child),
                true if tree.moments[child as usize].mass == 0.0 => {}
                true if run.end - run.first < FEW => {
                    for i in run.first as usize..run.end as usize {
                        lists.push_point(offset(points.position[i], group.middle), points.mass[i]);
                    }
                }
                true => lists.push_node(&tree.moments[child as usize], group.middle),
            }
        }
    }
}

/// Which of eight nodes are far enough from a group.
#[inline(always)]
fn far_enough(group: &WalkGroup, tree: &Octree, first: u32) -> [bool; 8] {
    let rules = &tree.acceptance;
    let mut distance2 = [0.0; 8];
    for a in 0..3 {
        let centre = eight_from(&rules.centre[a], first);
        for i in 0..8 {
            let outside = (centre[i] - group.middle[a]).abs() - group.half[a];
            let outside = if outside > 0.0 { outside } else { 0.0 };
            distance2[i] += outside * outside;
        }
    }
    let octupole = eight_from(&rules.octupole, first);
    let (radius, reach) = (eight_from(&rules.radius, first), eight_from(&rules.reach, first));
    std::array::from_fn(
        #[inline(always)]
        |i| {
            let least = EDGE * radius[i] + if reach[i] > group.reach { reach[i] } else { group.reach };
            let tolerated = group.tolerated * distance2[i] * distance2[i];
            (distance2[i] > least * least) & (octupole[i] <= tolerated)
        },
    )
}

/// Eight entries of a column, which has eight more than there are nodes.
#[inline(always)]
fn eight_from(column: &[f64], first: u32) -> [f64; 8] {
    *column[first as usize..].first_chunk().expect("eight entries after the last node")
}

/// Puts the points of a leaf on the list that fits their distance.
#[inline(always)]
fn push_leaf(group: &WalkGroup, sources: Rooted, leaf: u32, lists: &mut Lists) {
    let Rooted { points, tree } = sources;
    let Node { first, end, .. } = tree.nodes[leaf as usize];
    let rules = &tree.acceptance;
    let centre = std::array::from_fn(|a| rules.centre[a][leaf as usize]);
    let size = length(group.half);
    let gap = length(offset(centre, group.middle)) - size - rules.radius[leaf as usize];
    let reach = rules.reach[leaf as usize].max(group.reach);
    // Nearer than that, single precision would lose digits of the distance, unless softening reaches far.
    let is_near = gap <= reach || (!group.is_soft && gap <= 0.125 * size);
    for i in first as usize..end as usize {
        match is_near {
            true => push_near(group, lists, &near_source(points, i, group.middle, Lists::OTHER)),
            false => lists.push_point(offset(points.position[i], group.middle), points.mass[i]),
        }
    }
}

#[inline(always)]
fn push_own(group: &WalkGroup, points: &Points, lists: &mut Lists) {
    for (place, i) in (group.first..group.end).enumerate() {
        push_near(group, lists, &near_source(points, i, group.middle, place as u32));
    }
}

#[inline(always)]
fn push_near(group: &WalkGroup, lists: &mut Lists, source: &NearSource) {
    match group.is_soft {
        true => lists.push_soft(source),
        false => lists.push_near(source),
    }
}

#[inline(always)]
fn near_source(points: &Points, i: usize, middle: [f64; 3], place: u32) -> NearSource {
    NearSource {
        x: offset(points.position[i], middle),
        mass: points.mass[i],
        inverse_reach: points.inverse_reach[i],
        place,
    }
}
