//! The merge tree over ranks: what can a group of ranks decide by itself, and what is left?
//!
//! A group knows every edge that names a peak of its own. Going down these it knows for certain what
//! happens inside, and close to its border whatever follows from the little that it sees of the other
//! side. The rest is its *remainder*. Those of several groups put together and decided anew make the
//! remainder of their union, and that of all ranks is empty; the ends that were emitted on the way are
//! those of [`MergeTree::grow`](super::tree::MergeTree::grow). The argument is in REMAINDER.md.

use super::forest::root;
use super::global::{GlobalDeath, GlobalEdge, GlobalPeak, Stand};
use super::local_ids::LocalIds;
use crate::ids::PeakIdx;
use bytemuck::Zeroable;
use std::ops::Range;

/// What a group of ranks has not decided: plain records, to be sent as they lie.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PendingMerges {
    /// Edges at which one cannot say yet who ends, in falling order.
    pub edges: Vec<GlobalEdge>,
    /// What own peaks stand for that ranks outside of the group have edges to.
    pub stands: Vec<Stand>,
}

impl PendingMerges {
    /// Of one rank that has not decided anything, with every edge that names a peak of its own.
    ///
    /// Both owners of an edge must be given at least one edge between the same two patches, if either
    /// is; edges that cannot merge anything may otherwise be left out.
    pub fn of_rank(rank: u32, mut edges: Vec<GlobalEdge>) -> Self {
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

    fn of_all(mut parts: Vec<Self>) -> Self {
        if parts.len() == 1 {
            return parts.swap_remove(0);
        }
        let mut all = Self::default();
        for part in parts {
            all.edges.extend(part.edges);
            all.stands.extend(part.stands);
        }
        sort(&mut all.edges);
        all
    }
}

/// The stable sort is the one that is quick on a few runs in order.
fn sort(edges: &mut [GlobalEdge]) {
    edges.sort_by(GlobalEdge::order);
}

/// The end of an edge that another rank, which owns the other end, will ask for.
fn asked(rank: u32, edge: &GlobalEdge) -> Option<Stand> {
    let own = usize::from(edge.owners[0] != rank);
    let asked_by = edge.owners[1 - own];
    (asked_by != rank).then(|| Stand { peak: edge.peaks[own], asked_by, node: edge.nodes[own] })
}

/// Decides what can be decided by the ranks that are inside, which are those of all `parts`: adds the
/// ends of peaks to `deaths`, and hands back what is left.
///
/// Each peak's end comes out once, of whatever group is the first that can tell.
pub fn decide(
    parts: Vec<PendingMerges>,
    is_inside: impl Fn(u32) -> bool,
    deaths: &mut Vec<GlobalDeath>,
) -> PendingMerges {
    let mut all = PendingMerges::of_all(parts);
    let mut group = PendingPeaks::new(&all, &is_inside);
    all.edges.retain_mut(|edge| group.meet(edge, deaths));
    all.edges.shrink_to_fit();
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
struct PendingPeaks<F> {
    is_inside: F,
    ids: LocalIds,
    /// What each has been absorbed by. An end, its root is a *node*: it may go on living.
    nodes: Vec<u32>,
    places: Vec<PendingNode>,
}

/// A node in its component, which is known by the greatest of its nodes: its top.
#[derive(Clone, Copy)]
struct PendingNode {
    peak: GlobalPeak,
    /// A node on the way to the top; itself if it is the top.
    over: u32,
    /// Of the component of a top.
    state: NodeState,
}

#[derive(Clone, Copy, PartialEq)]
enum NodeState {
    /// The node has not been seen yet.
    Unseen,
    /// The group knows all peaks and all edges of the component.
    Closed,
    /// There may be more of it outside of the group; the top is the least that it can have.
    Open,
}

impl<F: Fn(u32) -> bool> PendingPeaks<F> {
    fn new(all: &PendingMerges, is_inside: F) -> Self {
        let ids = LocalIds::from_range(dense_range(&all.edges));
        let mut group = Self { is_inside, ids, nodes: Vec::new(), places: Vec::new() };
        group.grow();
        for stand in &all.stands {
            let [peak, node] = [stand.peak, stand.node.peak].map(|p| group.id(p));
            group.see(node, &stand.node);
            group.nodes[peak as usize] = node;
        }
        group
    }

    /// Makes room for every number that was given.
    fn grow(&mut self) {
        let known = self.nodes.len() as u32;
        let new = known..self.ids.count() as u32;
        self.nodes.extend(new.clone());
        self.places.extend(new.map(|over| PendingNode {
            peak: GlobalPeak::zeroed(),
            over,
            state: NodeState::Unseen,
        }));
    }

    #[inline]
    fn id(&mut self, peak: u32) -> u32 {
        let id = self.ids.id(PeakIdx(peak));
        if id as usize == self.nodes.len() {
            self.grow();
        }
        id
    }

    #[inline]
    fn see(&mut self, node: u32, peak: &GlobalPeak) {
        let place = &mut self.places[node as usize];
        if place.state == NodeState::Unseen {
            place.peak = *peak;
            place.state = if (self.is_inside)(peak.owner) { NodeState::Closed } else { NodeState::Open };
        }
    }

    /// Goes on to an edge. Whether it stays undecided.
    #[inline]
    fn meet(&mut self, edge: &mut GlobalEdge, deaths: &mut Vec<GlobalDeath>) -> bool {
        let nodes = [0, 1].map(|side| self.node(&edge.nodes[side]));
        let tops = nodes.map(|node| self.top(node));
        if tops[0] == tops[1] {
            return false;
        }
        let near = usize::from(self.peak(tops[0]).exceeds(self.peak(tops[1])));
        let far = 1 - near;
        // What is known of an open component suffices to outlive a closed one, but not to end.
        if self.places[tops[near] as usize].state == NodeState::Open {
            edge.nodes = nodes.map(|node| *self.peak(node));
            self.places[tops[near] as usize].over = tops[far];
            self.places[tops[far] as usize].state = NodeState::Open;
            return true;
        }
        deaths.push(GlobalDeath::new(self.peak(tops[near]), edge, near));
        // Any node of the other side would do: by this edge they are one component.
        self.nodes[tops[near] as usize] = nodes[far];
        false
    }

    /// The node that a peak of an edge stands for.
    #[inline]
    fn node(&mut self, peak: &GlobalPeak) -> u32 {
        let id = self.id(peak.peak);
        let node = root(id, &mut self.nodes, |x| x);
        if node == id {
            self.see(node, peak);
        }
        node
    }

    #[inline]
    fn top(&mut self, node: u32) -> u32 {
        root(node, &mut self.places, |place| &mut place.over)
    }

    #[inline]
    fn peak(&self, node: u32) -> &GlobalPeak {
        &self.places[node as usize].peak
    }

    fn node_of(&mut self, peak: u32) -> GlobalPeak {
        let id = self.id(peak);
        let node = root(id, &mut self.nodes, |x| x);
        *self.peak(node)
    }
}

/// The range of the peaks that edges name, where that is not much wider than they are many.
fn dense_range(edges: &[GlobalEdge]) -> Range<PeakIdx> {
    let peaks = || edges.iter().flat_map(|edge| edge.nodes.map(|n| n.peak));
    match (peaks().min(), peaks().max()) {
        (Some(min), Some(max)) if ((max - min) as usize) < 4 * edges.len() => PeakIdx(min)..PeakIdx(max + 1),
        _ => PeakIdx(0)..PeakIdx(0),
    }
}
