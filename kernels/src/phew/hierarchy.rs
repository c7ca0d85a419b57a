//! Hierarchy: what are the clumps and haloes under given thresholds? (paper, sections 2.4 to 2.6)
//!
//! Place in the flow: the last step; it cuts a [`MergeTree`] whenever thresholds change. It does not use
//! cells.
//!
//! A peak d is noise if rho_d / saddle < R, where the saddle is the one at which it dies and R the threshold
//! of [`Persistence`]. That may also be a difference: rho_d - saddle < R. Noise removal unites patches over
//! exactly the edges at which noise dies; the result are the clumps. The saddle threshold S then unites
//! clumps over the edges with saddle > S; the result are the haloes. In place of it there may be a second,
//! higher relevance threshold: clumps below it unite. The paper removes saddles in rounds. The
//! round of each clump and the clump that it merges into follow from the tree too ([`super::rounds`]).

use super::Rules;
use super::persistence::Persistence;
use super::rounds::{self, RoundsResult};
use super::tree::{MergeTree, PeakUnionFind};
use crate::ids::PeakIdx;

/// The thresholds at which a tree is cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut {
    /// The density threshold of the test cells, to which isolated peaks are compared.
    pub density: f64,
    /// Peaks of lower persistence are noise.
    pub persistence: Persistence,
    /// Clumps that meet above this density are one halo. Without it and `halo_relevance`, every clump is a
    /// halo.
    pub saddle: Option<f64>,
    /// Clumps of lower persistence merge into haloes; of the kind of `persistence`.
    pub halo_relevance: Option<f64>,
}

impl Cut {
    /// Whether a clump whose peak of density `rho` dies at `saddle` merges into a halo. If it does, so does
    /// every clump that has died into it: that one is lower, and its saddle is higher.
    #[inline]
    pub fn merges(&self, rho: f64, saddle: f64) -> bool {
        let is_below = |least: f64| self.persistence.value(rho, saddle) < least;
        self.saddle.is_some_and(|threshold| saddle > threshold) || self.halo_relevance.is_some_and(is_below)
    }
}

/// The largest saddle between a clump and any other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeySaddle {
    /// Its density; 0 without one.
    pub density: f64,
    /// The clump on the other side, by its peak.
    pub neighbour: PeakIdx,
    /// The edge of the saddle, which gives its position.
    pub of: SaddleOf,
}

/// An edge between clumps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaddleOf {
    /// No edge.
    Nothing,
    /// The edge at which this peak dies.
    Death(PeakIdx),
    /// The tied edge of this number.
    Tie(u32),
}

impl KeySaddle {
    /// The key saddle of a clump that touches no other.
    pub const NONE: Self = Self { density: 0.0, neighbour: PeakIdx::NONE, of: SaddleOf::Nothing };
}

/// Clumps and haloes. Every array is indexed by [`PeakIdx`], and a clump or halo is identified by its highest
/// peak. For peaks that are not the highest of a clump, only `clump` is defined.
#[derive(Debug, Clone, PartialEq)]
pub struct Hierarchy {
    /// The clump of each patch; `NONE` where it was discarded.
    pub clump: Vec<PeakIdx>,
    /// The halo of each clump.
    pub halo: Vec<PeakIdx>,
    /// The clump that each one merges into in the round of its level; itself for the main clump of a halo.
    pub parent: Vec<PeakIdx>,
    /// Level of the saddle through which a clump merges, from 1; 0 for the main clump of a halo.
    pub level: Vec<u32>,
    /// Persistence above the key saddle, or above the density threshold without one.
    pub relevance: Vec<f64>,
    /// The largest saddle to another clump.
    pub key_saddle: Vec<KeySaddle>,
}

/// Cuts a tree. Costs a sort of its peaks.
pub fn cut(tree: &MergeTree, cut: &Cut, rules: Rules) -> Hierarchy {
    cut_in_order(tree, tree.by_death(), cut, rules)
}

/// Cuts a tree whose peaks die in the order of `deaths`. For trees without their noise: the patches between
/// which a peak dies, which decide between equal saddles, are no longer known there.
pub fn cut_in_order(tree: &MergeTree, deaths: Vec<PeakIdx>, cut: &Cut, rules: Rules) -> Hierarchy {
    let is_noise = |d: PeakIdx| cut.persistence.is_noise(tree.rho[d.at()], tree.death[d.at()].saddle);
    let (noise, kept): (Vec<_>, Vec<_>) = deaths.into_iter().partition(|&d| is_noise(d));
    let mut clump = united(tree, &noise);
    let key_saddle = key_saddles(tree, &clump, &kept);
    let relevance = relevances(tree, &key_saddle, cut);
    let passes = |d: &PeakIdx| cut.merges(tree.rho[d.at()], tree.death[d.at()].saddle);
    let merging: Vec<_> = kept.into_iter().filter(passes).collect();
    let RoundsResult { level, parent, halo } = rounds::merge(tree, &clump, &merging);
    if rules == Rules::Paper {
        let threshold = cut.persistence.threshold();
        let discarded = |p: PeakIdx| key_saddle[p.at()].density == 0.0 && relevance[p.at()] < threshold;
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
    tree.rho.iter().zip(key_saddle).map(|(rho, key)| cut.persistence.value(*rho, below(key))).collect()
}

/// The greatest peak in the component of each peak, where the deaths of `dying` alone join components.
fn united(tree: &MergeTree, dying: &[PeakIdx]) -> Vec<PeakIdx> {
    let mut components = PeakUnionFind::new(tree.len());
    for &d in dying {
        let death = &tree.death[d.at()];
        let (a, b) = (components.root(death.near), components.root(death.endpoint));
        match tree.exceeds(a, b) {
            true => components.end(b, a),
            false => components.end(a, b),
        }
    }
    (0..tree.len()).map(|p| components.root(PeakIdx::new(p))).collect()
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
