//! The forest: which of all contacts can ever merge anything?
//!
//! Edges are taken in falling order of (saddle, lower peak key, higher peak key; then lower and higher cell key)
//! and kept where they join two trees; what is left is the maximum spanning forest, which is unique. An edge that is
//! the lowest on a cycle of any part of the graph is so in the whole, hence
//! `forest(A + B) = forest(forest(A) + forest(B))`: the same operator serves a task, the tasks of a
//! rank, and the ranks.

use crate::ids::{PeakIdx, TestIdx};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::ops::Range;

/// A contact between two patches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// Mean density of the two cells.
    pub saddle: f64,
    /// The two peaks, smaller index first.
    pub peaks: [PeakIdx; 2],
    /// The two cells, each in the patch of the peak at the same place.
    pub cells: [TestIdx; 2],
}

impl Edge {
    /// An edge between two different patches; `cells` belong to `peaks` in the given order.
    #[inline(always)]
    pub fn new(saddle: f64, peaks: [PeakIdx; 2], cells: [TestIdx; 2]) -> Self {
        match peaks[0] < peaks[1] {
            true => Self { saddle, peaks, cells },
            false => Self { saddle, peaks: [peaks[1], peaks[0]], cells: [cells[1], cells[0]] },
        }
    }

    /// The total order of edges: `Less` stands first, and the first is the greatest saddle. Of two between the
    /// same patches it does not depend on which of these is called the first.
    #[inline]
    pub fn order(&self, other: &Self) -> Ordering {
        let place = |edge: &Self| (edge.peaks, low_first(edge.cells));
        let by_place = || place(self).cmp(&place(other));
        other.saddle.total_cmp(&self.saddle).then_with(by_place)
    }
}

/// Two things, the lesser first.
#[inline]
pub(super) fn low_first<T: Ord>([a, b]: [T; 2]) -> [T; 2] {
    if a <= b { [a, b] } else { [b, a] }
}

/// Disjoint sets over 0..n, each known by its smallest member.
#[derive(Debug, Clone, Default)]
pub struct Sets(Vec<u32>);

impl Sets {
    /// `n` sets of one.
    pub fn new(n: usize) -> Self {
        Self((0..n as u32).collect())
    }

    /// Becomes `n` sets of one.
    pub fn reset(&mut self, n: usize) {
        self.0.clear();
        self.0.extend(0..n as u32);
    }

    /// The smallest member of the set of `x`.
    #[inline]
    pub fn root(&mut self, mut x: u32) -> u32 {
        while self.0[x as usize] != x {
            let over = self.0[self.0[x as usize] as usize];
            self.0[x as usize] = over;
            x = over;
        }
        x
    }

    /// Joins the sets of two roots.
    #[inline]
    pub fn join(&mut self, a: u32, b: u32) {
        let (low, high) = (a.min(b), a.max(b));
        self.0[high as usize] = low;
    }
}

/// Room for [`reduce`], to be used again.
#[derive(Debug, Default)]
pub struct Scratch {
    ids: LocalIds,
    sets: Sets,
    /// The greatest edge of each tree, by root.
    best: Vec<u32>,
    /// Edges that may still join two trees, with the roots of these.
    open: Vec<Open>,
}

/// Small numbers for the peaks that edges name.
#[derive(Debug, Default)]
pub(super) struct LocalIds {
    /// Peaks of this range are numbered by their place in it, without a look-up.
    dense: Range<u32>,
    others: FxHashMap<PeakIdx, u32>,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    edge: u32,
    roots: [u32; 2],
}

impl Scratch {
    /// Announces that most edges of the next call name peaks of `range`: cheaper, nothing else.
    pub fn expect(&mut self, range: Range<PeakIdx>) {
        self.ids.dense = range.start.0..range.end.0;
    }
}

impl LocalIds {
    pub fn new(dense: Range<u32>) -> Self {
        Self { dense, ..Self::default() }
    }

    #[inline(always)]
    pub fn of(&mut self, peak: PeakIdx) -> u32 {
        if self.dense.contains(&peak.0) {
            return peak.0 - self.dense.start;
        }
        let next = self.dense.len() as u32 + self.others.len() as u32;
        *self.others.entry(peak).or_insert(next)
    }

    pub fn len(&self) -> usize {
        self.dense.len() + self.others.len()
    }
}

/// Leaves of `edges` the maximum spanning forest, in falling order.
///
/// In rounds (Boruvka): every tree takes its greatest edge, which is in the forest; edges within a
/// tree drop out. A round passes once over the edges left, of which at most half of the trees' number
/// can be taken before the next; `scratch` grows to the number of peaks named.
pub fn reduce(edges: &mut Vec<Edge>, scratch: &mut Scratch) {
    scratch.ids.others.clear();
    scratch.open.clear();
    for (i, edge) in edges.iter().enumerate() {
        scratch.open.push(Open { edge: i as u32, roots: edge.peaks.map(|p| scratch.ids.of(p)) });
    }
    scratch.sets.reset(scratch.ids.len());
    let mut taken = Vec::new();
    while !scratch.open.is_empty() {
        scratch.round(edges, &mut taken);
    }
    taken.sort_unstable_by(Edge::order);
    *edges = taken;
}

impl Scratch {
    fn round(&mut self, edges: &[Edge], taken: &mut Vec<Edge>) {
        self.best.clear();
        self.best.resize(self.ids.len(), u32::MAX);
        for open in &self.open {
            for root in open.roots {
                let best = &mut self.best[root as usize];
                let greater = |b: u32| edges[open.edge as usize].order(&edges[b as usize]) == Ordering::Less;
                if *best == u32::MAX || greater(*best) {
                    *best = open.edge;
                }
            }
        }
        for open in &self.open {
            let is_best = open.roots.iter().any(|&r| self.best[r as usize] == open.edge);
            let roots = open.roots.map(|r| self.sets.root(r));
            if is_best && roots[0] != roots[1] {
                self.sets.join(roots[0], roots[1]);
                taken.push(edges[open.edge as usize]);
            }
        }
        let sets = &mut self.sets;
        self.open.retain_mut(|open| {
            open.roots = open.roots.map(|r| sets.root(r));
            open.roots[0] != open.roots[1]
        });
    }
}
