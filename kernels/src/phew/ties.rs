//! Ties: of several saddles that are exactly equal RAMSES takes the one to the densest peak.
//!
//! The forest keeps only some of the edges that tie, and the paper's rules need no more. Under RAMSES's rules a clump
//! looks, in each round, at all of its greatest saddles, and takes the neighbour whose peak is densest. Who its
//! neighbours are by then depends on the thresholds. So no order of the edges can stand for this rule: the edges that
//! tie with those of the forest are kept beside it, and with them the rounds are gone through as RAMSES does.

use super::forest::low_first;
use super::hierarchy::{Cut, Hierarchy, KeySaddle, SaddleOf, is_noise, relevances};
use super::tree::{MergeTree, PeakUnionFind};
use crate::ids::PeakIdx;
use bytemuck::{Pod, Zeroable};
use rustc_hash::FxHashSet;

/// An edge that might stand in the forest in place of one with the same saddle.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Tie {
    /// Its saddle.
    pub saddle: f64,
    /// Where that is, in code units.
    pub position: [f64; 3],
    /// The two patches, smaller index first.
    pub patches: [PeakIdx; 2],
}

/// Which edges, given as saddles and patches in falling order of the saddles, might stand in the forest of a whole tree in
/// place of one with the same saddle, and are not in it.
pub fn stand_beside(tree: &MergeTree, edges: &[(f64, [PeakIdx; 2])]) -> Vec<bool> {
    let deaths = tree.by_death();
    let (mut elders, mut left) = (PeakUnionFind::new(tree.len()), deaths.as_slice());
    let mut found = Vec::with_capacity(edges.len());
    for equal in edges.chunk_by(|a, b| a.0 == b.0) {
        let saddle = equal[0].0;
        let ends =
            |dying: &PeakIdx| low_first([tree.death[dying.at()].near, tree.death[dying.at()].endpoint]);
        let of_saddle = |d: &PeakIdx| tree.death[d.at()].saddle;
        let (higher, others) = left.split_at(left.partition_point(|d| of_saddle(d) > saddle));
        let (as_high, lower) = others.split_at(others.partition_point(|d| of_saddle(d) == saddle));
        left = lower;
        join(tree, &mut elders, higher);
        let before: Vec<_> = equal.iter().map(|(_, patches)| patches.map(|p| elders.root(p))).collect();
        join(tree, &mut elders, as_high);
        let of_tree: FxHashSet<_> = as_high.iter().map(ends).collect();
        found.extend(equal.iter().zip(before).map(|((_, patches), before)| {
            let [a, b] = patches.map(|p| elders.root(p));
            before[0] != before[1] && a == b && !of_tree.contains(&low_first(*patches))
        }));
    }
    found
}

/// Ends peaks where they die.
fn join(tree: &MergeTree, elders: &mut PeakUnionFind, dying: &[PeakIdx]) {
    for peak in dying {
        let heir = elders.root(tree.death[peak.at()].endpoint);
        elders.end(*peak, heir);
    }
}

/// Cuts a tree by RAMSES's rules, with the edges that tie with its own.
pub fn cut_with_ties(tree: &MergeTree, ties: &[Tie], cut: &Cut) -> Hierarchy {
    let mut rounds = TieRounds::new(tree, ties);
    let noise = rounds.merge_all(|p, saddle| is_noise(tree.rho[p.at()], saddle, cut.relevance));
    let haloes = rounds.merge_all(|_, saddle| cut.saddle.is_some_and(|s| saddle > s));
    Hierarchy {
        relevance: relevances(tree, &noise.key_saddle, cut),
        clump: noise.label,
        halo: haloes.label,
        parent: haloes.parent,
        level: haloes.level,
        key_saddle: noise.key_saddle,
    }
}

/// What comes of a pass, by peak.
struct TiePass {
    label: Vec<PeakIdx>,
    /// What it merges into in its round; itself if it does not.
    parent: Vec<PeakIdx>,
    /// The round in which it merges, from 1; 0 if it does not.
    level: Vec<u32>,
    /// The greatest saddle of each that is left to another that is left.
    key_saddle: Vec<KeySaddle>,
}

/// An edge between what its patches have become.
#[derive(Clone, Copy)]
struct TieEdge {
    saddle: f64,
    ends: [PeakIdx; 2],
    of: SaddleOf,
}

/// What is left of the peaks after some rounds.
struct TieRounds<'a> {
    tree: &'a MergeTree,
    links: Vec<TieEdge>,
    /// Those that are left, by falling density.
    left: Vec<PeakIdx>,
}

impl<'a> TieRounds<'a> {
    fn new(tree: &'a MergeTree, ties: &[Tie]) -> Self {
        let deaths = tree.by_death().into_iter().map(|dying| {
            let death = &tree.death[dying.at()];
            TieEdge { saddle: death.saddle, ends: [death.near, death.endpoint], of: SaddleOf::Death(dying) }
        });
        let ties = ties.iter().zip(0..).map(|(tie, i)| TieEdge {
            saddle: tie.saddle,
            ends: tie.patches,
            of: SaddleOf::Tie(i),
        });
        Self { tree, links: deaths.chain(ties).collect(), left: tree.by_falling_density() }
    }

    /// Rounds until one merges nothing: each peak merges into its key neighbour where that is greater and the peak is a
    /// `candidate` at its key saddle.
    fn merge_all(&mut self, candidate: impl Fn(PeakIdx, f64) -> bool) -> TiePass {
        let itself: Vec<_> = (0..self.tree.len()).map(PeakIdx::new).collect();
        let (mut label, mut parent) = (itself.clone(), itself.clone());
        let mut level = vec![0; itself.len()];
        for round in 1.. {
            let key_saddle = self.key_saddles();
            let mut into = itself.clone();
            for &p in &self.left {
                let key = &key_saddle[p.at()];
                let has_key = key.of != SaddleOf::Nothing;
                if has_key && candidate(p, key.density) && self.tree.exceeds(key.neighbour, p) {
                    into[p.at()] = into[key.neighbour.at()];
                    (parent[p.at()], level[p.at()]) = (into[p.at()], round);
                }
            }
            let n_before = self.left.len();
            self.left.retain(|p| into[p.at()] == *p);
            if self.left.len() == n_before {
                return TiePass { label, parent, level, key_saddle };
            }
            label.iter_mut().for_each(|label| *label = into[label.at()]);
            self.links.iter_mut().for_each(|link| link.ends = link.ends.map(|p| into[p.at()]));
        }
        unreachable!("a round that merges nothing ends them")
    }

    /// The greatest saddle of each, of several the one to the greatest neighbour. Links within one are forgotten.
    fn key_saddles(&mut self) -> Vec<KeySaddle> {
        self.links.retain(|link| link.ends[0] != link.ends[1]);
        let mut keys = vec![KeySaddle::NONE; self.tree.len()];
        for TieEdge { saddle, ends: [a, b], of } in self.links.iter().copied() {
            for (own, neighbour) in [(a, b), (b, a)] {
                let key = &mut keys[own.at()];
                let is_equal = saddle == key.density && self.tree.exceeds(neighbour, key.neighbour);
                if saddle > key.density || is_equal {
                    *key = KeySaddle { density: saddle, neighbour, of };
                }
            }
        }
        keys
    }
}
