//! Pending merges: which deaths can a group of ranks decide by itself, and which are left for a larger group?
//!
//! Place in the flow: [`super::tree::MergeTree::grow`] answers on one rank that knows all edges. Here each rank knows
//! only the edges that name a peak of its own. Groups of ranks decide what they can, hand on the rest as
//! [`PendingMerges`], and groups are united until one group holds all ranks. That group decides everything. The deaths
//! are those of `MergeTree::grow` on all edges; PENDING_MERGES.md proves it. Nothing here communicates.
//!
//! # Worked example
//!
//! Five peaks in a row on two ranks, densities above and saddles below. `|` is the border between the ranks:
//!
//! ```text
//!     peak        A    B    C  |  D    E
//!     density    10    6    8  |  9    5
//!     saddle        4    3     2     1
//!     rank        0    0    0  |  1    1
//! ```
//!
//! *Rank 0 alone* knows A-B, B-C and C-D, and goes through them by falling saddle.
//! - A-B at 4: {A} and {B} are closed (all their peaks and edges are known). B is lower: B dies, and A represents it.
//! - B-C at 3: {A, B} and {C} are closed. C is lower: C dies, and A represents it. More precisely, the node at the other
//!   end of the edge does; that is A, which represents B by now.
//! - C-D at 2: {A, B, C} is closed with top A = 10. {D} is open: D belongs to rank 1, so its component may have more
//!   peaks. What is known of it is D = 9. The lower top is D, but D may belong to a greater component. The edge stays
//!   pending, as A-D.
//! - Rank 1 may ask for C by that name, so rank 0 also keeps the entry "C is represented by A, for rank 1".
//!
//! *Rank 1 alone* knows C-D and D-E.
//! - C-D at 2: {C} is open with known top 8, {D} is closed with top 9. The lower one, {C}, is open: the edge stays
//!   pending, as C-D, and {C, D} is open from now on.
//! - D-E at 1: {C, D} is open with known top 9, {E} is closed with top 5. E is lower than what is known already: E dies.
//! - Rank 1 keeps the entry "D is represented by D, for rank 0".
//!
//! *Both ranks together* have A-D and C-D at 2. All components are closed now.
//! - Rank 1's edge names C, and the entry of rank 0 leads from C to A: it is A-D too. D is lower than A: D dies.
//! - The second copy finds both of its ends in one component, and is dropped.
//!
//! Nothing is left. B, C, D and E have died, A survives.

use super::global::{GlobalDeath, GlobalEdge, GlobalPeak, Stand};
use super::local_ids::LocalIds;
use crate::ids::{PeakIdx, PeakNumber};
use crate::union_find::{Parents, find};
use bytemuck::Zeroable;
use std::ops::Range;

/// What a group of ranks has not decided: plain records, which can be sent as bytes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PendingMerges {
    /// Edges at which the group cannot tell yet which peak dies, in falling order.
    pub edges: Vec<GlobalEdge>,
    /// For each peak of the group that a rank outside the group has an edge to: the node that represents it.
    pub stands: Vec<Stand>,
}

impl PendingMerges {
    /// The input of one rank: every edge that names a peak of its own, none of them decided.
    ///
    /// If either owner of two patches holds an edge between them, the other owner must hold one too. Apart from that,
    /// edges that cannot merge anything may be left out.
    pub fn of_rank(rank: u32, mut edges: Vec<GlobalEdge>) -> Self {
        sort(&mut edges);
        let mut stands: Vec<_> = edges.iter().filter_map(|edge| entry_for_owner(rank, edge)).collect();
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

/// Falling order. The stable sort is fast on a few sorted runs, which is what united groups have.
fn sort(edges: &mut [GlobalEdge]) {
    edges.sort_by(GlobalEdge::order);
}

/// The entry for the rank that owns the other end of an edge, if that is another rank.
fn entry_for_owner(rank: u32, edge: &GlobalEdge) -> Option<Stand> {
    let own = usize::from(edge.owners[0] != rank);
    let asked_by = edge.owners[1 - own];
    (asked_by != rank).then(|| Stand { peak: edge.peaks[own], asked_by, node: edge.nodes[own] })
}

/// Decides all deaths that the group of the ranks of `parts` can decide. Appends them to `deaths` and returns what is
/// left. `is_inside` tells which ranks are in the group.
///
/// Each death is decided once, by the first group that can tell. Linear in the edges, after sorting them.
pub fn decide(
    parts: Vec<PendingMerges>,
    is_inside: impl Fn(u32) -> bool,
    deaths: &mut Vec<GlobalDeath>,
) -> PendingMerges {
    let mut all = PendingMerges::of_all(parts);
    let mut group = PendingPeaks::new(&all, &is_inside);
    all.edges.retain_mut(|edge| group.process(edge, deaths));
    all.edges.shrink_to_fit();
    all.stands.retain_mut(|stand| {
        let is_outside = !is_inside(stand.asked_by);
        if is_outside {
            stand.node = group.node_of(stand.peak);
        }
        is_outside
    });
    all
}

/// The peaks that the edges of a group name, by local index.
struct PendingPeaks<F> {
    is_inside: F,
    ids: LocalIds,
    /// Union-find of the decided merges: the root of a peak is the *node* that represents it.
    node_parents: Vec<u32>,
    /// Union-find of all merges, the pending ones too, between nodes: the root of a node is the top of its component.
    components: Vec<PendingNode>,
}

/// A node in its component. A component is identified by its greatest node, the top.
#[derive(Clone, Copy)]
struct PendingNode {
    peak: GlobalPeak,
    /// A node nearer to the top; the node itself if it is the top.
    parent: u32,
    /// The state of the component, if the node is its top.
    state: NodeState,
}

impl Parents for [PendingNode] {
    #[inline(always)]
    fn parent(&self, entry: u32) -> u32 {
        self[entry as usize].parent
    }

    #[inline(always)]
    fn set_parent(&mut self, entry: u32, parent: u32) {
        self[entry as usize].parent = parent;
    }
}

#[derive(Clone, Copy, PartialEq)]
enum NodeState {
    /// No edge has named the node yet.
    Unseen,
    /// The group knows all peaks and all edges of the component.
    Closed,
    /// The component may have more peaks outside the group; its true top is this top or greater.
    Open,
}

impl<F: Fn(u32) -> bool> PendingPeaks<F> {
    fn new(all: &PendingMerges, is_inside: F) -> Self {
        let ids = LocalIds::from_range(dense_range(&all.edges));
        let mut group = Self { is_inside, ids, node_parents: Vec::new(), components: Vec::new() };
        group.grow();
        for stand in &all.stands {
            let [peak, node] = [stand.peak, stand.node.peak].map(|p| group.id(p));
            group.enter(node, &stand.node);
            group.node_parents[peak as usize] = node;
        }
        group
    }

    /// Extends the arrays to all local indices given out so far.
    fn grow(&mut self) {
        let known = self.node_parents.len() as u32;
        let new = known..self.ids.count() as u32;
        self.node_parents.extend(new.clone());
        self.components.extend(new.map(|node| PendingNode {
            peak: GlobalPeak::zeroed(),
            parent: node,
            state: NodeState::Unseen,
        }));
    }

    #[inline]
    fn id(&mut self, peak: PeakNumber) -> u32 {
        let id = self.ids.id(PeakIdx::from_number(peak));
        if id as usize == self.node_parents.len() {
            self.grow();
        }
        id
    }

    /// Enters a node as a component of its own when it is named for the first time.
    #[inline]
    fn enter(&mut self, node: u32, peak: &GlobalPeak) {
        let component = &mut self.components[node as usize];
        if component.state == NodeState::Unseen {
            component.peak = *peak;
            component.state = if (self.is_inside)(peak.owner) { NodeState::Closed } else { NodeState::Open };
        }
    }

    /// Processes the next edge in falling order. Returns whether it stays pending.
    #[inline]
    fn process(&mut self, edge: &mut GlobalEdge, deaths: &mut Vec<GlobalDeath>) -> bool {
        let nodes = [0, 1].map(|side| self.node(&edge.nodes[side]));
        let tops = nodes.map(|node| self.top(node));
        if tops[0] == tops[1] {
            return false;
        }
        let near = usize::from(self.peak(tops[0]).exceeds(self.peak(tops[1])));
        let other = 1 - near;
        // The lower top decides. An open component may be greater than what is known of it, so it cannot die yet.
        if self.components[tops[near] as usize].state == NodeState::Open {
            edge.nodes = nodes.map(|node| *self.peak(node));
            self.components[tops[near] as usize].parent = tops[other];
            self.components[tops[other] as usize].state = NodeState::Open;
            return true;
        }
        deaths.push(GlobalDeath::new(self.peak(tops[near]), edge, near));
        // Any node of the other component would do: this edge makes them one component.
        self.node_parents[tops[near] as usize] = nodes[other];
        false
    }

    /// The node that represents a peak of an edge.
    #[inline]
    fn node(&mut self, peak: &GlobalPeak) -> u32 {
        let id = self.id(peak.peak);
        let node = find(self.node_parents.as_mut_slice(), id);
        if node == id {
            self.enter(node, peak);
        }
        node
    }

    /// The top of the component of a node.
    #[inline]
    fn top(&mut self, node: u32) -> u32 {
        find(self.components.as_mut_slice(), node)
    }

    #[inline]
    fn peak(&self, node: u32) -> &GlobalPeak {
        &self.components[node as usize].peak
    }

    /// The node that represents a peak, as a record.
    fn node_of(&mut self, peak: PeakNumber) -> GlobalPeak {
        let id = self.id(peak);
        let node = find(self.node_parents.as_mut_slice(), id);
        *self.peak(node)
    }
}

/// The range of the peaks that edges name, if it is not much wider than their number; else an empty one.
fn dense_range(edges: &[GlobalEdge]) -> Range<PeakIdx> {
    let peaks = || edges.iter().flat_map(|edge| edge.nodes.map(|n| n.peak.0));
    match (peaks().min(), peaks().max()) {
        (Some(min), Some(max)) if ((max - min) as usize) < 4 * edges.len() => PeakIdx(min)..PeakIdx(max + 1),
        _ => PeakIdx(0)..PeakIdx(0),
    }
}

#[cfg(test)]
mod tests;
