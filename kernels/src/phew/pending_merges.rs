//! Pending merges: which deaths can a group of ranks decide, and which remain for another group?
//!
//! Place in the flow: [`super::tree::MergeTree::grow`] answers on one rank that knows all edges. Here each
//! group of ranks knows only the edges that name a peak of its own. It decides what it can and hands on the
//! rest. Then the ranks form other groups, until one group holds all of them and decides everything. The
//! deaths are those of `MergeTree::grow` on all edges; PENDING_MERGES.md proves it. Nothing here
//! communicates.
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
//! - A-B at 4: {A} and {B} are closed (all their peaks and edges are known). B is lower: B dies, and A
//!   represents it.
//! - B-C at 3: {A, B} and {C} are closed. C is lower: C dies, and A represents it. More precisely, the node
//!   at the other end of the edge does; that is A, which represents B by now.
//! - C-D at 2: {A, B, C} is closed with top A = 10. {D} is open: D belongs to rank 1, so its component may
//!   have more peaks. What is known of it is D = 9. The lower top is D, but D may belong to a greater
//!   component. The edge stays pending, as A-D.
//! - Rank 1 knows that edge as C-D. So rank 0 sends it the new name: C is now A.
//!
//! *Rank 1 alone* knows C-D and D-E.
//! - C-D at 2: {C} is open with known top 8, {D} is closed with top 9. The lower one, {C}, is open: the edge
//!   stays pending, as C-D, and {C, D} is open from now on.
//! - D-E at 1: {C, D} is open with known top 9, {E} is closed with top 5. E is lower than what is known
//!   already: E dies.
//! - The name of D has not changed, so rank 1 sends nothing.
//!
//! *Both ranks together* have A-D at 2. All components are closed now. D is lower than A: D dies.
//!
//! Nothing is left. B, C, D and E have died, A survives.

use super::global::{GlobalDeath, GlobalEdge, GlobalPeak, NewName};
use crate::ids::PeakName;
use crate::union_find::{Parents, find};
use bytemuck::Zeroable;
use rustc_hash::FxHashMap;

/// The part that a group of ranks has not decided.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PendingMerges {
    /// Edges at which the group does not know yet which peak dies, in falling order, with the nodes that
    /// represent its own peaks.
    pub edges: Vec<GlobalEdge>,
    /// New names of nodes of this group, for the groups at the other ends of edges. Each comes with the rank
    /// that owns the node at the other end. They are in the order of the edges, so a name may occur several
    /// times.
    pub told: Vec<(u32, NewName)>,
}

/// Falling order. The stable sort is fast on a few sorted runs, which is what united groups have.
fn sort(edges: &mut [GlobalEdge]) {
    edges.sort_by(GlobalEdge::order);
}

/// Replaces old names of nodes by the new ones.
pub fn rename(edges: &mut [GlobalEdge], names: &[NewName]) {
    let names: FxHashMap<PeakName, GlobalPeak> = names.iter().map(|name| (name.old, name.node)).collect();
    for node in edges.iter_mut().flat_map(|edge| &mut edge.nodes) {
        *node = names.get(&node.peak).copied().unwrap_or(*node);
    }
}

/// The groups of the next round that need a pending edge: those of its two nodes. None if the group of the
/// other node passes the edge on. `is_inside` is true for the ranks in the group of this round, `next` the
/// next group of a rank.
pub fn next_groups(
    edge: &GlobalEdge,
    is_inside: impl Fn(u32) -> bool,
    next: impl Fn(u32) -> u32,
) -> impl Iterator<Item = u32> {
    let passes_on = is_inside(edge.nodes[0].peak.owner());
    let [first, second] = edge.nodes.map(|node| next(node.peak.owner()));
    [Some(first), (second != first).then_some(second)].into_iter().flatten().filter(move |_| passes_on)
}

/// The decisions of a group so far: the peaks that its edges name, by local index.
pub struct GroupMerges<F> {
    /// Whether a rank is in the group.
    is_inside: F,
    ids: NodeIds,
    /// Union-find of the decided merges: the root of a peak is the *node* that represents it.
    node_parents: Vec<u32>,
    /// Union-find of all merges, the pending ones too, between nodes: the root of a node is the top of its
    /// component.
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
    /// The node does not occur in an edge yet.
    Unseen,
    /// The group knows all peaks and all edges of the component.
    Closed,
    /// The component may have more peaks outside the group; its true top is this top or greater.
    Open,
}

impl<F: Fn(u32) -> bool> GroupMerges<F> {
    /// A group that has no edges yet. `is_inside` is true for the ranks in it.
    pub fn new(is_inside: F) -> Self {
        Self { is_inside, ids: NodeIds::default(), node_parents: Vec::new(), components: Vec::new() }
    }

    /// Decides all deaths that the group can decide. Appends them to `deaths` and returns what is left.
    ///
    /// `edges` are all pending edges with at least one node of a rank of the group, in any order. Duplicates
    /// are harmless. They may come in several parts, one per call: each edge of a part precedes all edges of
    /// later ones in falling order.
    ///
    /// Each death is decided once, by the first group that can decide it. Linear in the edges, after sorting
    /// them.
    pub fn decide(&mut self, mut edges: Vec<GlobalEdge>, deaths: &mut Vec<GlobalDeath>) -> PendingMerges {
        sort(&mut edges);
        // An edge brings one death at most. Deaths that grow step by step double the time of a few thousand
        // edges.
        deaths.reserve(edges.len());
        if self.ids.count() == 0 {
            self.ids = NodeIds::new(&edges);
            self.grow();
        }
        let mut told = Vec::new();
        edges.retain_mut(|edge| {
            let before = edge.nodes;
            let stays = self.process(edge, deaths);
            told.extend(self.new_name(&before));
            stays
        });
        edges.shrink_to_fit();
        PendingMerges { edges, told }
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
    fn id(&mut self, peak: PeakName) -> u32 {
        let id = self.ids.id(peak);
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
            component.state =
                if (self.is_inside)(peak.peak.owner()) { NodeState::Closed } else { NodeState::Open };
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
        // The lower top decides. An open component may be greater than its known part, so it cannot die yet.
        // Nothing dies into a node outside, because only the group of that node announces its names.
        let is_open = self.components[tops[near] as usize].state == NodeState::Open;
        if is_open || !(self.is_inside)(self.peak(nodes[other]).peak.owner()) {
            edge.nodes = nodes.map(|node| *self.peak(node));
            self.components[tops[near] as usize].parent = tops[other];
            self.components[tops[other] as usize].state = NodeState::Open;
            return true;
        }
        deaths.push(GlobalDeath::new(self.peak(tops[near]), edge, near));
        // Any node of the other component could be chosen, because this edge joins both components.
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

    /// The new name of the node inside, if an edge has one end inside and one outside, and the rank that owns
    /// the one outside. Local to the group: the other end has its old name.
    fn new_name(&mut self, nodes: &[GlobalPeak; 2]) -> Option<(u32, NewName)> {
        let inside = nodes.each_ref().map(|node| (self.is_inside)(node.peak.owner()));
        let side = usize::from(!inside[0]);
        if inside[0] == inside[1] {
            return None;
        }
        let node = self.node(&nodes[side]);
        let (old, node) = (nodes[side].peak, *self.peak(node));
        (old != node.peak).then(|| (nodes[1 - side].peak.owner(), NewName { old, node }))
    }
}

/// Consecutive small numbers for the peaks that edges name. Most peaks are in one range of the numbers over
/// all ranks.
#[derive(Default)]
struct NodeIds {
    /// First number of the range.
    first: u64,
    /// Numbers in the range.
    n: u32,
    /// Those outside, numbered as they come up.
    others: FxHashMap<PeakName, u32>,
}

impl NodeIds {
    /// The range is that of the nodes of the first edges, if it is not much wider than their number; else
    /// there is none.
    fn new(edges: &[GlobalEdge]) -> Self {
        let numbers = || edges.iter().flat_map(|edge| edge.nodes.map(|node| node.peak.number()));
        let (first, last) = (numbers().min().unwrap_or(0), numbers().max().unwrap_or(0));
        let is_dense = last - first < 4 * edges.len() as u64;
        let n = if is_dense { (last - first) as u32 + 1 } else { 0 };
        Self { first, n, others: FxHashMap::default() }
    }

    #[inline]
    fn id(&mut self, peak: PeakName) -> u32 {
        let place = peak.number().wrapping_sub(self.first);
        if place < u64::from(self.n) {
            return place as u32;
        }
        let next = self.count() as u32;
        *self.others.entry(peak).or_insert(next)
    }

    /// Number of ids; those of the whole range count.
    fn count(&self) -> usize {
        self.n as usize + self.others.len()
    }
}

#[cfg(test)]
mod tests;
