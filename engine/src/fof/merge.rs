//! Components that reach over several ranks, joined without any rank knowing all of them.
//!
//! A node is a component of one rank, named by the rank and its lowest cell there; an edge says that two
//! nodes of different ranks share a particle. Each round every node hooks to its lowest neighbour, if that is
//! lower than itself. Pointers so descend and end at nodes that are lower than all their neighbours; they are
//! followed by doubling. Then edges are moved to the ends of their nodes, and those within one are dropped.
//! A node that has an edge either hooks or is hooked to by a neighbour or has one that hooks elsewhere: so
//! each round joins something wherever an edge is left, and rounds are few.

use crate::exchange::chains::{Bare, ChainStep, Lead, RemoteIndex, resolve};
use crate::exchange::grouped;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank, Reduce};

/// Component `from` of this rank is one with that of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ComponentEdge {
    /// Its lowest cell.
    pub from: u32,
    /// The other.
    pub to: RemoteIndex,
}

/// Tells the owner of `other` to what `end` its neighbour has come.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Moved {
    other: u32,
    end: RemoteIndex,
}

/// The components of this rank that have edges, ascending, and what is known of them.
struct Nodes {
    rank: u32,
    cells: Vec<u32>,
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

    fn here(&self, index: u32) -> RemoteIndex {
        RemoteIndex { rank: self.rank, index }
    }

    fn at(&self, cell: u32) -> Option<usize> {
        self.cells.binary_search(&cell).ok()
    }

    fn end(&self, cell: u32) -> RemoteIndex {
        self.at(cell).map_or(self.here(cell), |at| self.leads[at].target())
    }

    /// Lets those that have lower neighbours point to the lowest.
    fn hook(&mut self, edges: &[ComponentEdge]) {
        for edge in edges {
            if let Some(at) = self.at(edge.from)
                && edge.to < self.leads[at].target()
            {
                self.leads[at] = Bare::onward(edge.to);
            }
        }
    }

    /// Collective: lets all that point on point to the ends of their chains.
    fn follow(&mut self, comm: &Comm) -> Result<(), CommError> {
        let mut leads = std::mem::take(&mut self.leads);
        let before = leads.clone();
        let step = |cell: u32| match self.at(cell) {
            Some(at) if before[at].target() != self.here(cell) => ChainStep::Exit(at),
            _ => ChainStep::End(Bare::end(self.here(cell))),
        };
        resolve(comm, &mut leads, step)?;
        self.leads = leads;
        Ok(())
    }
}

/// Collective: for each component of this rank that has an edge, by its lowest cell ascending, the node that
/// all it is joined to agree on. Each edge must be known at both its ends. Rounds: about the logarithm of the
/// number of nodes in a row; in each, three exchanges and two a doubling.
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
    // Ends of early rounds have hooked in later ones.
    for at in 0..nodes.leads.len() {
        let (target, here) = (nodes.leads[at].target(), nodes.here(nodes.cells[at]));
        nodes.leads[at] = if target == here { Bare::end(here) } else { Bare::onward(target) };
    }
    nodes.follow(comm)?;
    Ok(nodes.cells.iter().copied().zip(nodes.leads.iter().map(Bare::target)).collect())
}

/// Collective: edges between the ends of their nodes, at both.
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

    /// Nodes 0..n, node i on rank i % P; every rank is told its ends of the edges.
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
