//! The forest: which of all contacts can ever merge anything?
//!
//! Those of the maximum spanning forest in the falling order of (saddle, lower peak key, higher peak key; then lower
//! and higher cell key), which is unique. An edge that is the lowest on a cycle of any part of the graph is so in the
//! whole, hence `forest(A + B) = forest(forest(A) + forest(B))`: the same operator serves a task, the tasks of a
//! rank, and the ranks.
//!
//! It is found in rounds (Boruvka): every tree takes the greatest edge that leads out of it, which is of the forest
//! whatever the others are. Of 7 contacts a peak 1 is kept, and to sort all of them took twice as long.

use super::local_ids::LocalIds;
use crate::ids::{CellIdx, PeakIdx};
use crate::packed_key::{place_of, settle, word};
use bytemuck::{Pod, Zeroable};
use rustc_hash::FxHashSet;
use std::cmp::Ordering;
use std::ops::Range;

/// A contact between two patches.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct ContactEdge {
    /// Mean density of the two cells.
    pub saddle: f64,
    /// The two peaks, smaller index first.
    pub peaks: [PeakIdx; 2],
    /// The two cells, each in the patch of the peak at the same place.
    pub cells: [CellIdx; 2],
}

impl ContactEdge {
    /// An edge between two different patches; `cells` belong to `peaks` in the given order.
    #[inline(always)]
    pub fn new(saddle: f64, peaks: [PeakIdx; 2], cells: [CellIdx; 2]) -> Self {
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

/// Room for [`reduce`], to be used again.
#[derive(Debug, Default)]
pub struct ForestScratch {
    ids: LocalIds,
    live: Vec<Live>,
    /// A peak of the same tree for each, itself for one that its tree is known by.
    over: Vec<u32>,
    /// For each tree the greatest edge that leads out of it: its saddle and its place among the live ones.
    greatest: Vec<u64>,
    /// Saddle and place of each edge of the forest.
    kept: Vec<u64>,
}

/// An edge that leads from one tree to another.
#[derive(Debug, Clone, Copy)]
struct Live {
    /// Nearly its saddle: ascends as that falls.
    rough: u32,
    edge: u32,
    trees: [u32; 2],
}

/// That of a tree from which nothing leads.
const NONE: u64 = u64::MAX;

impl ForestScratch {
    /// Announces that most edges of the next call name peaks of the `ranges`, which are few and do not overlap:
    /// cheaper, nothing else.
    pub fn expect(&mut self, ranges: impl Iterator<Item = Range<PeakIdx>>) {
        self.ids.expect(ranges);
    }

    /// Every peak is a tree.
    fn begin(&mut self, edges: &[ContactEdge]) {
        let Self { ids, live, over, greatest, kept } = self;
        ids.forget();
        live.clear();
        live.extend(edges.iter().zip(0..).map(|(edge, i)| Live {
            rough: rough(edge.saddle),
            edge: i,
            trees: edge.peaks.map(|peak| ids.id(peak)),
        }));
        over.clear();
        over.extend(0..ids.count() as u32);
        greatest.clear();
        greatest.resize(ids.count(), NONE);
        kept.clear();
    }

    /// The greatest edge out of every tree.
    fn choose(&mut self, edges: &[ContactEdge]) {
        for (live, place) in self.live.iter().zip(0..) {
            let new = word(live.rough, place);
            for tree in live.trees {
                let greatest = &mut self.greatest[tree as usize];
                let old = *greatest;
                *greatest = old.min(new);
                if (old ^ new) >> 32 == 0 {
                    *greatest = greater([old, new], &self.live, edges);
                }
            }
        }
    }

    /// Joins the trees along these edges.
    fn join(&mut self) {
        for tree in 0..self.greatest.len() {
            let greatest = std::mem::replace(&mut self.greatest[tree], NONE);
            if greatest == NONE {
                continue;
            }
            let Live { rough, edge, trees } = self.live[place_of(greatest)];
            let [a, b] = trees.map(|tree| root(tree, &mut self.over, |over| over));
            // Two trees may have chosen the same edge.
            if a != b {
                self.over[a.max(b) as usize] = a.min(b);
                self.kept.push(word(rough, edge));
            }
        }
    }

    /// Renames the trees, and drops the edges that lead nowhere any more.
    fn drop_inner(&mut self) {
        // A smaller one is over each, and done before.
        for tree in 0..self.over.len() {
            self.over[tree] = self.over[self.over[tree] as usize];
        }
        let mut n_live = 0;
        for i in 0..self.live.len() {
            let trees = self.live[i].trees.map(|tree| self.over[tree as usize]);
            self.live[n_live] = Live { trees, ..self.live[i] };
            n_live += usize::from(trees[0] != trees[1]);
        }
        self.live.truncate(n_live);
    }
}

/// The maximum spanning forest of `edges`, in falling order.
///
/// Each round takes time in proportion to the peaks and to the edges that are left, and leaves at most half of the
/// trees; `scratch` grows to the number of peaks named.
#[must_use]
pub fn reduce(edges: &[ContactEdge], scratch: &mut ForestScratch) -> Vec<ContactEdge> {
    scratch.begin(edges);
    while !scratch.live.is_empty() {
        scratch.choose(edges);
        scratch.join();
        scratch.drop_inner();
    }
    scratch.kept.sort_unstable();
    settle(&mut scratch.kept, |a, b| edges[a].order(&edges[b]));
    scratch.kept.iter().map(|kept| edges[place_of(*kept)]).collect()
}

/// The maximum spanning forest with all edges that might stand in it in place of one with an equal saddle, in falling
/// order, and some others. Of equal edges between the same patches only the first is there.
#[must_use]
pub fn reduce_with_ties(edges: &[ContactEdge], scratch: &mut ForestScratch) -> Vec<ContactEdge> {
    let forest = reduce(edges, scratch);
    let saddles: FxHashSet<u64> = forest.iter().map(|edge| edge.saddle.to_bits()).collect();
    let is_as_high = |edge: &&ContactEdge| saddles.contains(&edge.saddle.to_bits());
    let mut all: Vec<ContactEdge> = edges.iter().filter(is_as_high).copied().collect();
    if all.len() == forest.len() {
        return forest;
    }
    all.sort_unstable_by(ContactEdge::order);
    all.dedup_by_key(|edge| (edge.saddle.to_bits(), edge.peaks));
    all
}

/// A saddle in single precision: less than that of [`NONE`], and lower ones have greater bits or the same. Saddles
/// are above 0, so their bits are in the same order as they are.
#[inline(always)]
fn rough(saddle: f64) -> u32 {
    (!(saddle as f32).to_bits()).min(u32::MAX - 1)
}

/// The greater of two live edges that single precision does not tell apart.
#[cold]
fn greater([old, new]: [u64; 2], live: &[Live], edges: &[ContactEdge]) -> u64 {
    let edge = |word: u64| &edges[live[place_of(word)].edge as usize];
    if edge(new).order(edge(old)).is_lt() { new } else { old }
}

/// The root above `x`; shortens the way to it.
#[inline]
pub(super) fn root<T>(mut x: u32, of: &mut [T], over: impl Fn(&mut T) -> &mut u32) -> u32 {
    loop {
        let next = *over(&mut of[x as usize]);
        if next == x {
            return x;
        }
        let after = *over(&mut of[next as usize]);
        *over(&mut of[x as usize]) = after;
        x = after;
    }
}
