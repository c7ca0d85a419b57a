//! The hierarchy: what are the clumps and haloes under given thresholds? (paper, sections 2.4 to 2.6)
//!
//! Noise removal at relevance R is the union over exactly those edges whose dying peak d has
//! rho_d / saddle < R; the saddle pass is the union of what is left over the edges with
//! saddle > S. The paper removes saddles level by level; the level of each and the clump it leads
//! to in that round follow from the tree as well (`rounds.rs`).

use super::Rules;
use super::rounds::{self, RoundsResult};
use super::tree::{MergeTree, PeakUnionFind};
use crate::ids::PeakIdx;

/// Where a tree is cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut {
    /// The density threshold of the test cells, to which isolated peaks are compared.
    pub density: f64,
    /// Peaks whose peak-to-saddle ratio is below it are noise.
    pub relevance: f64,
    /// Clumps that meet above it are one halo; `None`: every clump is its own.
    pub saddle: Option<f64>,
}

/// The largest saddle between a clump and any other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeySaddle {
    /// Its density; 0 without one.
    pub density: f64,
    /// The clump on the other side, known by its peak.
    pub neighbour: PeakIdx,
    /// The edge that it is of, which says where it is.
    pub of: SaddleOf,
}

/// An edge between clumps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaddleOf {
    /// There is none.
    Nothing,
    /// The one at which this peak dies.
    Death(PeakIdx),
    /// The tie of this number.
    Tie(u32),
}

impl KeySaddle {
    /// Of a clump that touches no other.
    pub const NONE: Self = Self { density: 0.0, neighbour: PeakIdx::NONE, of: SaddleOf::Nothing };
}

/// Clumps and haloes; every array is indexed by [`PeakIdx`]. A clump or halo is known by its highest
/// peak. Only `clump` means anything for peaks that are no clump's.
#[derive(Debug, Clone, PartialEq)]
pub struct Hierarchy {
    /// The clump of each patch; `NONE` where it was discarded.
    pub clump: Vec<PeakIdx>,
    /// The halo of each clump.
    pub halo: Vec<PeakIdx>,
    /// The clump that each one merges into in the round of its level; itself for a halo's main clump.
    pub parent: Vec<PeakIdx>,
    /// Level of the saddle through which a clump merges, from 1; 0 for a halo's main clump.
    pub level: Vec<u32>,
    /// Peak density over key saddle, or over the density threshold without one.
    pub relevance: Vec<f64>,
    /// The largest saddle to another clump.
    pub key_saddle: Vec<KeySaddle>,
}

/// Whether a peak of density `rho` that dies at `saddle` is noise.
#[inline]
pub fn is_noise(rho: f64, saddle: f64, relevance: f64) -> bool {
    rho / saddle < relevance
}

/// Cuts a tree. Costs a sort of its peaks.
pub fn cut(tree: &MergeTree, cut: &Cut, rules: Rules) -> Hierarchy {
    cut_in_order(tree, tree.by_death(), cut, rules)
}

/// Cuts a tree whose peaks die in the order of `deaths`: for trees without their noise, of which the
/// patches between which a peak dies, which decide between equal saddles, are no longer known.
pub fn cut_in_order(tree: &MergeTree, deaths: Vec<PeakIdx>, cut: &Cut, rules: Rules) -> Hierarchy {
    let is_noise = |d: PeakIdx| is_noise(tree.rho[d.at()], tree.death[d.at()].saddle, cut.relevance);
    let (noise, kept): (Vec<_>, Vec<_>) = deaths.into_iter().partition(|&d| is_noise(d));
    let mut clump = components(tree, &noise);
    let key_saddle = key_saddles(tree, &clump, &kept);
    let relevance = relevances(tree, &key_saddle, cut);
    let passes = |d: &PeakIdx| cut.saddle.is_some_and(|s| tree.death[d.at()].saddle > s);
    let merging: Vec<_> = kept.into_iter().filter(passes).collect();
    let RoundsResult { level, parent, halo } = rounds::merge(tree, &clump, &merging);
    if rules == Rules::Paper {
        let discarded = |p: PeakIdx| key_saddle[p.at()].density == 0.0 && relevance[p.at()] < cut.relevance;
        for label in &mut clump {
            if discarded(*label) {
                *label = PeakIdx::NONE;
            }
        }
    }
    Hierarchy { clump, halo, parent, level, relevance, key_saddle }
}

/// The relevance of each clump.
pub(super) fn relevances(tree: &MergeTree, key_saddle: &[KeySaddle], cut: &Cut) -> Vec<f64> {
    let below = |key: &KeySaddle| if key.density > 0.0 { key.density } else { cut.density };
    tree.rho.iter().zip(key_saddle).map(|(rho, key)| rho / below(key)).collect()
}

/// The greatest peak of the component of each, joined at the deaths of `dying` only.
fn components(tree: &MergeTree, dying: &[PeakIdx]) -> Vec<PeakIdx> {
    let mut elders = PeakUnionFind::new(tree.len());
    for &d in dying {
        let death = &tree.death[d.at()];
        let (a, b) = (elders.root(death.near), elders.root(death.endpoint));
        match tree.exceeds(a, b) {
            true => elders.end(b, a),
            false => elders.end(a, b),
        }
    }
    (0..tree.len()).map(|p| elders.root(PeakIdx::new(p))).collect()
}

fn key_saddles(tree: &MergeTree, clump: &[PeakIdx], kept: &[PeakIdx]) -> Vec<KeySaddle> {
    let mut key = vec![KeySaddle::NONE; tree.len()];
    for &dying in kept {
        let death = &tree.death[dying.at()];
        let ends = [death.near, death.endpoint].map(|p| clump[p.at()]);
        for (own, neighbour) in [(ends[0], ends[1]), (ends[1], ends[0])] {
            if key[own.at()].of == SaddleOf::Nothing {
                key[own.at()] = KeySaddle { density: death.saddle, neighbour, of: SaddleOf::Death(dying) };
            }
        }
    }
    key
}
