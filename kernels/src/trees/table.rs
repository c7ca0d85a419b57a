//! The nodes of a history in the order of a table, with their progenitors.

use crate::trees::history::{GrowingNode, History, NodeFate};
use crate::trees::tracer::TracerKey;
use std::cmp::Reverse;

/// An object in an output, or an orphan. Nodes are by output; objects by identifier come before orphans by
/// track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeNode {
    /// Place of the output.
    pub output: u32,
    /// Place of the object there; `None` for an orphan.
    pub place: Option<u32>,
    /// Identifier of the object, 0 for an orphan.
    pub object: u64,
    /// The track: the same for life.
    pub track: u64,
    /// Its fate.
    pub fate: NodeFate,
    /// The node that continues it, or into which it goes.
    pub descendant: Option<u32>,
    /// The first of its progenitors: that of its track, if there is one.
    pub main_progenitor: Option<u32>,
    /// The next progenitor of its descendant.
    pub next_progenitor: Option<u32>,
    /// The end of the chain of its descendants.
    pub last_descendant: u32,
    /// The node of the object that contains it; for an orphan, of the object that contains its tracer.
    pub host: Option<u32>,
    /// The most bound tracer.
    pub tracer: Option<TracerKey>,
    /// The score of the link to the descendant.
    pub score: u64,
}

/// The nodes of `history`, if the series ends after the outputs so far. O(n log n).
pub fn nodes(history: &History) -> Vec<TreeNode> {
    let ended = history.ended();
    let growing = &ended.nodes;
    let mut order: Vec<usize> = (0..growing.len()).collect();
    let key = |node: &GrowingNode| match node.place {
        Some(place) => (node.output, false, u64::from(place)),
        None => (node.output, true, node.track),
    };
    order.sort_unstable_by_key(|i| key(&growing[*i]));
    let mut row_of = vec![0_u32; growing.len()];
    for (row, i) in order.iter().enumerate() {
        row_of[*i] = row as u32;
    }
    let node = |(row, i): (usize, &usize)| {
        let GrowingNode { output, place, object, track, fate, tracer, score, .. } = growing[*i];
        let row_of = |node: Option<usize>| node.map(|node| row_of[node]);
        TreeNode {
            output,
            place,
            object,
            track,
            fate,
            descendant: row_of(growing[*i].descendant),
            main_progenitor: None,
            next_progenitor: None,
            last_descendant: row as u32,
            host: row_of(growing[*i].host),
            tracer,
            score,
        }
    };
    let mut nodes: Vec<TreeNode> = order.iter().enumerate().map(node).collect();
    let masses: Vec<f64> = order.iter().map(|i| growing[*i].mass).collect();
    add_progenitors(&mut nodes, &masses);
    // Descendants are in later outputs.
    for row in (0..nodes.len()).rev() {
        if let Some(descendant) = nodes[row].descendant {
            nodes[row].last_descendant = nodes[descendant as usize].last_descendant;
        }
    }
    nodes
}

/// Progenitors of a node: that of its track, then by falling score, falling mass, and row.
fn add_progenitors(nodes: &mut [TreeNode], masses: &[f64]) {
    let with_descendant = |row: usize| nodes[row].descendant.map(|descendant| (descendant, row as u32));
    let mut links: Vec<(u32, u32)> = (0..nodes.len()).filter_map(with_descendant).collect();
    links.sort_by(|a, b| {
        let key = |(descendant, row): (u32, u32)| {
            let node = &nodes[row as usize];
            (descendant, node.fate != NodeFate::GoesOn, Reverse(node.score))
        };
        let mass = |(_, row): (u32, u32)| masses[row as usize];
        key(*a).cmp(&key(*b)).then_with(|| mass(*b).total_cmp(&mass(*a))).then(a.1.cmp(&b.1))
    });
    for of_one in links.chunk_by(|a, b| a.0 == b.0) {
        nodes[of_one[0].0 as usize].main_progenitor = Some(of_one[0].1);
        for pair in of_one.windows(2) {
            nodes[pair[0].1 as usize].next_progenitor = Some(pair[1].1);
        }
    }
}
