//! Which components of different ranks are one? No rank needs to know all of them.
//!
//! A node is a component of one rank, named by the rank and its lowest cell there. An edge connects two nodes
//! of different ranks that share a particle. In each round, every node hooks to its lowest neighbour, if that
//! is lower than itself. So pointers descend, and they end at nodes that are lower than all their neighbours;
//! chains are followed by doubling. Then edges move to the ends of their nodes, and edges within one node are
//! dropped.
//!
//! ```text
//! edges      a - b   b - c   c - d      (a < b < c < d)
//! hook       b -> a   c -> b   d -> c   chains end at a: all edges are within a, done after one round
//!
//! edges      a - d   b - d   b - c
//! hook       d -> a   c -> b            ends: d at a, c at b
//! contract   a - a (dropped)   b - a   b - b (dropped)
//! hook       b -> a                     the end of c is found in the last pass: c -> b -> a
//! ```
//!
//! A node with an edge hooks, or a neighbour hooks to it, or a neighbour hooks elsewhere. So each round joins
//! nodes wherever an edge is left, and rounds are few.
//!
//! Invariants: each edge is known at both ends; the ends of all edges are nodes of their ranks; pointers
//! descend.

use crate::exchange::chains::{Bare, ChainStep, RemoteIndex, resolve};
use crate::exchange::grouped;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank, Reduce};

/// A component of this rank and one of another rank that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ComponentEdge {
    /// The lowest cell of the component on this rank.
    pub from: u32,
    /// The other component.
    pub to: RemoteIndex,
}

/// A message to the rank of node `other`: its neighbour now ends at `end`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Moved {
    other: u32,
    end: RemoteIndex,
}

/// The components of this rank that have edges.
struct Nodes {
    rank: u32,
    /// Their lowest cells, ascending.
    cells: Vec<u32>,
    /// The pointer of each.
    leads: Vec<Bare>,
}

impl Nodes {
    fn new(rank: u32, edges: &[ComponentEdge]) -> Self {
        let mut cells: Vec<u32> = edges.iter().map(|e| e.from).collect();
        cells.sort_unstable();
        cells.dedup();
        let leads = cells.iter().map(|&index| Bare::end(RemoteIndex { rank, index })).collect();
        Self { rank, cells, leads }
    }

    /// The name of a node of this rank.
    fn name(&self, index: u32) -> RemoteIndex {
        RemoteIndex { rank: self.rank, index }
    }

    /// The index of the node with that lowest cell.
    fn at(&self, cell: u32) -> usize {
        self.cells.binary_search(&cell).expect("the ends of all edges are nodes")
    }

    /// The end of the chain of a node, as far as it was followed.
    fn end(&self, cell: u32) -> RemoteIndex {
        self.leads[self.at(cell)].to()
    }

    /// Lets each node with a lower neighbour point to the lowest one.
    fn hook(&mut self, edges: &[ComponentEdge]) {
        for edge in edges {
            let at = self.at(edge.from);
            if edge.to < self.leads[at].to() {
                self.leads[at] = Bare::onward(edge.to);
            }
        }
    }

    /// Collective: lets every pointer lead to the end of its chain.
    fn follow(&mut self, comm: &Comm) -> Result<(), CommError> {
        let mut leads = std::mem::take(&mut self.leads);
        let before = leads.clone();
        let step = |cell: u64| {
            let name = self.name(cell as u32);
            match self.at(name.index) {
                at if before[at].to() != name => ChainStep::Exit(at),
                _ => ChainStep::End(Bare::end(name)),
            }
        };
        resolve(comm, &mut leads, step)?;
        self.leads = leads;
        Ok(())
    }
}

/// Collective: the root of each component of this rank that has an edge, ascending by its lowest cell. All
/// components that edges join have the same root. Each edge must be given at both ends. About log2 of the
/// longest chain of nodes rounds, with three exchanges each, and one more per doubling.
///
/// # Errors
/// When another rank fails.
pub fn merge(comm: &Comm, mut edges: Vec<ComponentEdge>) -> Result<Vec<(u32, RemoteIndex)>, CommError> {
    let mut nodes = Nodes::new(comm.rank().0, &edges);
    loop {
        edges.sort_unstable();
        edges.dedup();
        if comm.all_reduce_counts(&[edges.len() as u64], Reduce::Sum)?[0] == 0 {
            break;
        }
        nodes.hook(&edges);
        nodes.follow(comm)?;
        edges = contract(comm, &nodes, &edges)?;
    }
    // Ends of early rounds have hooked in later ones: follow the chains once more.
    for at in 0..nodes.leads.len() {
        let (to, own) = (nodes.leads[at].to(), nodes.name(nodes.cells[at]));
        nodes.leads[at] = if to == own { Bare::end(own) } else { Bare::onward(to) };
    }
    nodes.follow(comm)?;
    Ok(nodes.cells.iter().copied().zip(nodes.leads.iter().map(Bare::to)).collect())
}

/// Collective: moves edges to the ends of their nodes, known at both ends again.
fn contract(comm: &Comm, nodes: &Nodes, edges: &[ComponentEdge]) -> Result<Vec<ComponentEdge>, CommError> {
    let mut moved: Vec<(Rank, Moved)> = edges
        .iter()
        .map(|e| (Rank(e.to.rank), Moved { other: e.to.index, end: nodes.end(e.from) }))
        .collect();
    moved.sort_by_key(|m| m.0);
    let received = comm.exchange(grouped(&moved, |m| *m))?;
    let mut ends: Vec<(RemoteIndex, RemoteIndex)> = received
        .into_iter()
        .flat_map(|(_, list)| list)
        .map(|m| (nodes.end(m.other), m.end))
        .filter(|(a, b)| a != b)
        .collect();
    ends.sort_unstable();
    ends.dedup();
    let records = grouped(&ends, |(a, b)| (Rank(a.rank), Moved { other: a.index, end: *b }));
    let received = comm.exchange(records)?;
    let edge = |m: Moved| ComponentEdge { from: m.other, to: m.end };
    Ok(received.into_iter().flat_map(|(_, list)| list).map(edge).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use inselberg_comm::run_threads;

    /// Nodes 0..n, node i on rank i % P. Every rank gets its ends of the edges.
    fn check(n_ranks: usize, n: u32, edges: &[(u32, u32)]) {
        let target = |i: u32| RemoteIndex { rank: i % n_ranks as u32, index: i };
        let ran = run_threads(n_ranks, |comm| {
            let both = edges.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
            let mine = both.filter(|(a, _)| target(*a).rank == comm.rank().0);
            let mine = mine.map(|(a, b)| ComponentEdge { from: a, to: target(b) }).collect();
            merge(comm, mine).expect("merged")
        });
        let mut label: Vec<u32> = (0..n).collect();
        for _ in 0..n {
            for &(a, b) in edges {
                let low = label[a as usize].min(label[b as usize]);
                (label[a as usize], label[b as usize]) = (low, low);
            }
        }
        let found: Vec<(u32, RemoteIndex)> = ran.expect("no panic").into_iter().flatten().collect();
        for (a, end_a) in &found {
            for (b, end_b) in &found {
                assert_eq!(end_a == end_b, label[*a as usize] == label[*b as usize], "{a} and {b}");
            }
        }
    }

    #[test]
    fn chains_stars_and_random_graphs() {
        for n_ranks in [2, 3, 7] {
            check(n_ranks, 40, &(1..40).map(|i| (i - 1, i)).collect::<Vec<_>>());
            check(n_ranks, 40, &(0..39).map(|i| (i, 39)).collect::<Vec<_>>());
            check(n_ranks, 40, &(0..39).map(|i| (i * 7 % 40, (i + 1) * 7 % 40)).collect::<Vec<_>>());
            for seed in 0..20u32 {
                let mix = |i: u32| (seed * 1000 + i).wrapping_mul(0x9e37_79b9) >> 13;
                let edges =
                    (0..25 + seed).map(|i| (mix(2 * i) % 40, mix(2 * i + 1) % 40)).collect::<Vec<_>>();
                check(n_ranks, 40, &edges);
            }
        }
    }
}
