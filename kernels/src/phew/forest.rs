//! The forest: which of all contacts can ever merge anything?
//!
//! Edges are taken in falling order of (saddle, lower peak key, higher peak key; then lower and higher cell key)
//! and kept where they join two trees; what is left is the maximum spanning forest, which is unique. An edge that is
//! the lowest on a cycle of any part of the graph is so in the whole, hence
//! `forest(A + B) = forest(forest(A) + forest(B))`: the same operator serves a task, the tasks of a
//! rank, and the ranks.

use crate::ids::{PeakIdx, TestIdx};
use bytemuck::{Pod, Zeroable};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::ops::Range;

/// A contact between two patches.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
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

    /// The same, of a member that may be the next new one.
    #[inline]
    fn root_of(&mut self, x: u32) -> u32 {
        if x as usize == self.0.len() {
            self.0.push(x);
        }
        self.root(x)
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
    order: Vec<(u64, u32)>,
}

/// Small numbers for the peaks that edges name.
#[derive(Debug, Default)]
pub(super) struct LocalIds {
    /// Peaks of these ranges are numbered one after the other, without a look-up.
    dense: Vec<Range<u32>>,
    n_dense: u32,
    others: FxHashMap<PeakIdx, u32>,
}

impl Scratch {
    /// Announces that most edges of the next call name peaks of the `ranges`, which are few and do not overlap:
    /// cheaper, nothing else.
    pub fn expect(&mut self, ranges: impl Iterator<Item = Range<PeakIdx>>) {
        self.ids.expect(ranges);
    }
}

impl LocalIds {
    pub fn new(dense: Range<u32>) -> Self {
        Self { n_dense: dense.len() as u32, dense: vec![dense], ..Self::default() }
    }

    fn expect(&mut self, ranges: impl Iterator<Item = Range<PeakIdx>>) {
        self.dense.clear();
        self.dense.extend(ranges.map(|range| range.start.0..range.end.0));
        self.n_dense = self.dense.iter().map(|range| range.len() as u32).sum();
    }

    #[inline(always)]
    pub fn of(&mut self, peak: PeakIdx) -> u32 {
        let mut before = 0;
        for range in &self.dense {
            if range.contains(&peak.0) {
                return before + (peak.0 - range.start);
            }
            before += range.len() as u32;
        }
        let next = self.n_dense + self.others.len() as u32;
        *self.others.entry(peak).or_insert(next)
    }

    pub fn len(&self) -> usize {
        self.n_dense as usize + self.others.len()
    }
}

/// The maximum spanning forest of `edges`, in falling order.
///
/// Edges are taken in that order and kept where they join two trees (Kruskal). Costs a sort; `scratch` grows to
/// the number of peaks named.
#[must_use]
pub fn reduce(edges: &[Edge], scratch: &mut Scratch) -> Vec<Edge> {
    let Scratch { ids, sets, order } = scratch;
    sort(edges, order);
    ids.others.clear();
    sets.reset(ids.len());
    order.retain(|&(_, i)| {
        let roots = edges[i as usize].peaks.map(|peak| sets.root_of(ids.of(peak)));
        let joins = roots[0] != roots[1];
        if joins {
            sets.join(roots[0], roots[1]);
        }
        joins
    });
    order.iter().map(|&(_, i)| edges[i as usize]).collect()
}

/// The places of edges in falling order. Saddles are above 0, so their bits are in the same order as they are.
fn sort(edges: &[Edge], order: &mut Vec<(u64, u32)>) {
    order.clear();
    order.extend(edges.iter().zip(0..).map(|(edge, i)| (!edge.saddle.to_bits(), i)));
    order.sort_unstable_by_key(|&(saddle, _)| saddle);
    for equal in order.chunk_by_mut(|a, b| a.0 == b.0).filter(|equal| equal.len() > 1) {
        equal.sort_unstable_by(|a, b| edges[a.1 as usize].order(&edges[b.1 as usize]));
    }
}
