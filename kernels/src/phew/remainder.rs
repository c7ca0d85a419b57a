//! The merge tree over ranks: what can a group of ranks decide by itself, and what is left?
//!
//! A group knows every edge that names a peak of its own. Going down these it knows for certain what
//! happens inside, and close to its border whatever follows from the little that it sees of the other
//! side. The rest is its *remainder*. Those of several groups put together and decided anew make the
//! remainder of their union, and that of all ranks is empty; the ends that were emitted on the way are
//! those of [`MergeTree::grow`](super::tree::MergeTree::grow). The argument is in REMAINDER.md.

use super::far::{FarDeath, FarEdge, FarPeak, Stand};
use super::forest::LocalIds;
use crate::ids::PeakIdx;
use bytemuck::Zeroable;
use std::ops::Range;

/// What a group of ranks has not decided: plain records, to be sent as they lie.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Remainder {
    /// Edges at which one cannot say yet who ends, in falling order.
    pub edges: Vec<FarEdge>,
    /// What own peaks stand for that ranks outside of the group have edges to.
    pub stands: Vec<Stand>,
}

impl Remainder {
    /// Of one rank that has not decided anything, with every edge that names a peak of its own.
    ///
    /// Both owners of an edge must be given at least one edge between the same two patches, if either
    /// is; edges that cannot merge anything may otherwise be left out.
    pub fn of_rank(rank: u32, mut edges: Vec<FarEdge>) -> Self {
        sort(&mut edges);
        let mut stands: Vec<_> = edges.iter().filter_map(|edge| asked(rank, edge)).collect();
        stands.sort_unstable_by_key(|s| (s.peak, s.asked_by));
        stands.dedup();
        Self { edges, stands }
    }

    /// Whether everything is decided.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty() && self.stands.is_empty()
    }

    fn of_all(parts: Vec<Self>) -> Self {
        let mut parts = parts.into_iter();
        let mut all = parts.next().unwrap_or_default();
        for part in parts {
            all.edges.extend(part.edges);
            all.stands.extend(part.stands);
        }
        sort(&mut all.edges);
        all
    }
}

/// The stable sort is the one that is quick on a few runs in order.
fn sort(edges: &mut [FarEdge]) {
    edges.sort_by(FarEdge::order);
}

/// The end of an edge that another rank, which owns the other end, will ask for.
fn asked(rank: u32, edge: &FarEdge) -> Option<Stand> {
    let own = usize::from(edge.owners[0] != rank);
    let asked_by = edge.owners[1 - own];
    (asked_by != rank).then(|| Stand { peak: edge.peaks[own], asked_by, node: edge.nodes[own] })
}

/// Decides what can be decided by the ranks that are inside, which are those of all `parts`: adds the
/// ends of peaks to `deaths`, and hands back what is left.
///
/// Each peak's end comes out once, of whatever group is the first that can tell.
pub fn decide(
    parts: Vec<Remainder>,
    is_inside: impl Fn(u32) -> bool,
    deaths: &mut Vec<FarDeath>,
) -> Remainder {
    let mut all = Remainder::of_all(parts);
    let (mut group, ends) = Group::new(&all, &is_inside);
    let mut ends = ends.into_iter();
    all.edges.retain_mut(|edge| ends.next().is_some_and(|ends| group.meet(edge, ends, deaths)));
    all.stands.retain_mut(|stand| {
        let is_asked = !is_inside(stand.asked_by);
        if is_asked {
            stand.node = group.node_of(stand.peak);
        }
        is_asked
    });
    all
}

/// Peaks under way, by local index.
struct Group {
    ids: LocalIds,
    peaks: Vec<FarPeak>,
    /// What each has been absorbed by. An end, the roots are *nodes*: they may go on living.
    nodes: Roots,
    /// Components of nodes, each known by the greatest of them.
    tops: Roots,
    /// Whether the component of a top may have edges or peaks that the group does not know of.
    open: Vec<bool>,
}

impl Group {
    /// Before the first edge; also gives the local indices of the ends of all edges.
    fn new(all: &Remainder, is_inside: impl Fn(u32) -> bool) -> (Self, Vec<[u32; 2]>) {
        let mut ids = LocalIds::new(dense_range(&all.edges));
        let mut id = |peak: u32| ids.of(PeakIdx(peak));
        let ends: Vec<_> = all.edges.iter().map(|edge| edge.nodes.map(|n| id(n.peak))).collect();
        let stands: Vec<_> = all.stands.iter().map(|s| [id(s.peak), id(s.node.peak)]).collect();
        let n = ids.len();
        let mut group = Self {
            ids,
            peaks: vec![FarPeak::zeroed(); n],
            nodes: Roots::new(n),
            tops: Roots::new(n),
            open: vec![false; n],
        };
        let ends_known =
            all.edges.iter().zip(&ends).flat_map(|(edge, ends)| edge.nodes.into_iter().zip(*ends));
        ends_known.for_each(|(peak, at)| group.know(at, peak, &is_inside));
        for (stand, [peak, node]) in all.stands.iter().zip(stands) {
            group.know(node, stand.node, &is_inside);
            group.nodes.end(peak, node);
        }
        (group, ends)
    }

    fn know(&mut self, at: u32, peak: FarPeak, is_inside: impl Fn(u32) -> bool) {
        self.peaks[at as usize] = peak;
        self.open[at as usize] = !is_inside(peak.owner);
    }

    /// Goes on to an edge between two local peaks. Whether it stays undecided.
    #[inline]
    fn meet(&mut self, edge: &mut FarEdge, ends: [u32; 2], deaths: &mut Vec<FarDeath>) -> bool {
        let nodes = ends.map(|end| self.nodes.root(end));
        let tops = nodes.map(|node| self.tops.root(node));
        if tops[0] == tops[1] {
            return false;
        }
        let near = usize::from(self.peak(tops[0]).exceeds(self.peak(tops[1])));
        let far = 1 - near;
        // An open component has at least the height that is known of it: enough to outlive a closed
        // one, not enough to die.
        if self.open[tops[near] as usize] {
            edge.nodes = nodes.map(|node| *self.peak(node));
            self.tops.end(tops[near], tops[far]);
            self.open[tops[far] as usize] = true;
            return true;
        }
        deaths.push(FarDeath::new(self.peak(tops[near]), edge, near));
        // Not in the top of the other side: before this edge, that may be in another component.
        self.nodes.end(tops[near], nodes[far]);
        false
    }

    #[inline]
    fn peak(&self, at: u32) -> &FarPeak {
        &self.peaks[at as usize]
    }

    fn node_of(&mut self, peak: u32) -> FarPeak {
        let node = self.nodes.root(self.ids.of(PeakIdx(peak)));
        *self.peak(node)
    }
}

/// The range of the peaks that edges name, where that is not much wider than they are many.
fn dense_range(edges: &[FarEdge]) -> Range<u32> {
    let peaks = || edges.iter().flat_map(|edge| edge.nodes.map(|n| n.peak));
    match (peaks().min(), peaks().max()) {
        (Some(min), Some(max)) if ((max - min) as usize) < 4 * edges.len() => min..max + 1,
        _ => 0..0,
    }
}

/// A forest in which each tree is known by its root.
struct Roots(Vec<u32>);

impl Roots {
    fn new(n: usize) -> Self {
        Self((0..n as u32).collect())
    }

    #[inline]
    fn root(&mut self, mut x: u32) -> u32 {
        while self.0[x as usize] != x {
            let over = self.0[self.0[x as usize] as usize];
            self.0[x as usize] = over;
            x = over;
        }
        x
    }

    /// Hangs the tree of the root `x` under `over`.
    #[inline]
    fn end(&mut self, x: u32, over: u32) {
        self.0[x as usize] = over;
    }
}
