//! Forest: which of all contacts can ever merge anything?
//!
//! Place in the flow: between [`super::saddle`] and [`super::tree`], on tasks, on ranks and over ranks. It
//! uses edges between numbered peaks, but not the densities of peaks.
//!
//! The answer is the maximum spanning forest, by falling saddle, then lower peak, higher peak, lower cell, higher cell.
//! This order is total, so the forest is unique. An edge that is the lowest of a cycle in a part of the graph
//! is also the lowest of that cycle in the whole graph. Hence `forest(A + B) = forest(forest(A) +
//! forest(B))`: the same function reduces the edges of a task,
//! of the tasks of a rank, and of several ranks.
//!
//! It is found in rounds (Boruvka): every tree chooses the greatest edge that leads out of it. Such an edge
//! belongs to the forest, whatever the other edges are. That is cheaper than sorting all edges, because most
//! of them are dropped:
//!
//! ```text
//!     edges (saddle)         1 --9-- 2 --3-- 3 --8-- 4      2-4: 2, 1-3: 1
//!     round 1: every peak is a tree and chooses     1-2, 1-2, 3-4, 3-4
//!     round 2: trees {1, 2} and {3, 4} choose       2-3 (3 is greater than 2 and 1)
//!     forest                                        1-2: 9, 3-4: 8, 2-3: 3
//! ```

use super::local_ids::LocalIds;
use crate::ids::{CellIdx, PeakIdx};
use crate::packed_key::{place_of, settle, word};
use crate::union_find::find;
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

    /// The total order of edges: the greatest saddle comes first. Of two edges between the same patches, the
    /// order does not depend on the numbers of the peaks.
    #[inline]
    pub fn order(&self, other: &Self) -> Ordering {
        let place = |edge: &Self| (edge.peaks, low_first(edge.cells));
        let by_place = || place(self).cmp(&place(other));
        other.saddle.total_cmp(&self.saddle).then_with(by_place)
    }
}

/// A pair, the lesser first.
#[inline]
pub(super) fn low_first<T: Ord>([a, b]: [T; 2]) -> [T; 2] {
    if a <= b { [a, b] } else { [b, a] }
}

/// Memory for [`reduce`], kept from call to call.
#[derive(Debug, Default)]
pub struct ForestScratch {
    ids: LocalIds,
    live: Vec<Live>,
    /// Union-find of the trees.
    parents: Vec<u32>,
    /// For each tree the greatest edge that leads out of it, as a word of its approximate saddle and its
    /// place in `live`.
    greatest: Vec<u64>,
    /// The edges of the forest, as words of approximate saddle and place.
    kept: Vec<u64>,
}

/// An edge that leads from one tree to another.
#[derive(Debug, Clone, Copy)]
struct Live {
    /// Its approximate saddle, as bits that ascend as saddles fall.
    falling: u32,
    edge: u32,
    trees: [u32; 2],
}

/// No edge: the word of a tree that no edge leads out of.
const NONE: u64 = u64::MAX;

impl ForestScratch {
    /// Announces that most edges of the next call name peaks of the `ranges`, which must be few and not
    /// overlap. This only makes the call cheaper.
    pub fn expect(&mut self, ranges: impl Iterator<Item = Range<PeakIdx>>) {
        self.ids.expect(ranges);
    }

    /// Makes every peak a tree.
    fn begin(&mut self, edges: &[ContactEdge]) {
        let Self { ids, live, parents, greatest, kept } = self;
        ids.forget();
        live.clear();
        live.extend(edges.iter().zip(0..).map(|(edge, i)| Live {
            falling: falling(edge.saddle),
            edge: i,
            trees: edge.peaks.map(|peak| ids.id(peak)),
        }));
        parents.clear();
        parents.extend(0..ids.count() as u32);
        greatest.clear();
        greatest.resize(ids.count(), NONE);
        kept.clear();
    }

    /// Chooses the greatest edge out of every tree. The choice between words has no branch; only ties in
    /// single precision look at the edges.
    fn choose(&mut self, edges: &[ContactEdge]) {
        for (live, place) in self.live.iter().zip(0..) {
            let new = word(live.falling, place);
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

    /// Joins the trees along the chosen edges.
    fn join(&mut self) {
        for tree in 0..self.greatest.len() {
            let greatest = std::mem::replace(&mut self.greatest[tree], NONE);
            if greatest == NONE {
                continue;
            }
            let Live { falling, edge, trees } = self.live[place_of(greatest)];
            let [a, b] = trees.map(|tree| find(self.parents.as_mut_slice(), tree));
            // Two trees may have chosen the same edge.
            if a != b {
                self.parents[a.max(b) as usize] = a.min(b);
                self.kept.push(word(falling, edge));
            }
        }
    }

    /// Renumbers the trees of the live edges, and drops edges inside one tree. Writes each edge and advances
    /// by 0 or 1, so nothing branches.
    fn drop_inner(&mut self) {
        // Parents have smaller numbers, so each one points to its root already.
        for tree in 0..self.parents.len() {
            self.parents[tree] = self.parents[self.parents[tree] as usize];
        }
        let mut n_live = 0;
        for i in 0..self.live.len() {
            let trees = self.live[i].trees.map(|tree| self.parents[tree as usize]);
            self.live[n_live] = Live { trees, ..self.live[i] };
            n_live += usize::from(trees[0] != trees[1]);
        }
        self.live.truncate(n_live);
    }
}

/// The maximum spanning forest of `edges`, in falling order.
///
/// Each round is linear in the peaks and the edges that are left, and at least halves the number of trees.
/// `scratch` grows to the number of peaks named.
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

/// A forest, and the edges that could replace one of equal saddle in it.
#[derive(Debug, Default)]
pub struct TiedForest {
    /// The maximum spanning forest, in falling order.
    pub edges: Vec<ContactEdge>,
    /// The others, in any order.
    pub ties: Vec<ContactEdge>,
    /// Of the others, those whose saddle is the density of both peaks, by their patches. On a plain of equal
    /// peaks these are 13 per peak.
    pub flat: Vec<[PeakIdx; 2]>,
}

/// The maximum spanning forest and all edges that could replace one of equal saddle in it. It may contain a
/// few edges more. `rho` are the densities of peaks, NaN for those whose edges are not to be flat.
#[must_use]
pub fn reduce_with_ties(edges: &[ContactEdge], rho: &[f64], scratch: &mut ForestScratch) -> TiedForest {
    let forest = reduce(edges, scratch);
    let saddles: FxHashSet<u64> = forest.iter().map(|edge| edge.saddle.to_bits()).collect();
    let mut is_in_forest = vec![false; edges.len()];
    scratch.kept.iter().for_each(|kept| is_in_forest[place_of(*kept)] = true);
    let others = edges.iter().zip(is_in_forest).filter(|(_, is_in_forest)| !is_in_forest);
    let mut all = TiedForest { edges: forest, ..TiedForest::default() };
    for edge in others.map(|(edge, _)| edge).filter(|edge| saddles.contains(&edge.saddle.to_bits())) {
        match edge.peaks.iter().all(|peak| rho[peak.at()] == edge.saddle) {
            true => all.flat.push(edge.peaks),
            false => all.ties.push(*edge),
        }
    }
    all
}

/// An approximate saddle as bits that ascend (or stay equal) as saddles fall, always less than those of
/// [`NONE`]. Saddles are positive, so their bits ascend as they do.
#[inline(always)]
fn falling(saddle: f64) -> u32 {
    (!(saddle as f32).to_bits()).min(u32::MAX - 1)
}

/// The greater of two live edges that are equal in single precision.
#[cold]
fn greater([old, new]: [u64; 2], live: &[Live], edges: &[ContactEdge]) -> u64 {
    let edge = |word: u64| &edges[live[place_of(word)].edge as usize];
    if edge(new).order(edge(old)).is_lt() { new } else { old }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reference: all edges in falling order, each kept if it joins two sets (Kruskal).
    fn plain(edges: &[ContactEdge]) -> Vec<ContactEdge> {
        let mut edges = edges.to_vec();
        edges.sort_by(ContactEdge::order);
        let mut sets: Vec<Vec<PeakIdx>> = Vec::new();
        let mut set_of = |peak: PeakIdx| {
            sets.iter().position(|set| set.contains(&peak)).unwrap_or_else(|| {
                sets.push(vec![peak]);
                sets.len() - 1
            })
        };
        edges.iter().flat_map(|e| e.peaks).for_each(|peak| _ = set_of(peak));
        edges.retain(|edge| {
            let set_of = |peak: &PeakIdx| sets.iter().position(|set| set.contains(peak));
            let [a, b] = edge.peaks.each_ref().map(|peak| set_of(peak).expect("all have one"));
            if a != b {
                let joined = sets.swap_remove(a.max(b));
                sets[a.min(b)].extend(joined);
            }
            a != b
        });
        edges
    }

    /// Edges with equal and nearly equal saddles, and several between the same patches.
    fn edges() -> impl Strategy<Value = Vec<ContactEdge>> {
        let saddle = prop_oneof![
            (1..4u32).prop_map(f64::from),
            (0..4u32).prop_map(|i| 2.0 * (1.0 + f64::from(i) * f64::EPSILON)),
            Just(f64::MAX),
            1e-300..1e300f64,
        ];
        let edge = (saddle, 0..25u32, 1..25u32, 0..9u32, 0..9u32);
        (1..2000u32, prop::collection::vec(edge, 0..120)).prop_map(|(stride, edges)| {
            let edge = |(saddle, a, step, c, d): (f64, u32, u32, u32, u32)| {
                // A cell belongs to one patch.
                let [a, b] = [a, (a + step) % 25];
                let cells = [9 * a + c, 9 * b + d].map(CellIdx);
                ContactEdge::new(saddle, [a, b].map(|p| PeakIdx(stride * p)), cells)
            };
            edges.into_iter().map(edge).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        #[test]
        fn the_forest_is_that_of_sorted_edges(edges in edges(), cut in any::<prop::sample::Index>()) {
            let mut scratch = ForestScratch::default();
            let forest = reduce(&edges, &mut scratch);
            prop_assert_eq!(&forest, &plain(&edges));
            let (a, b) = edges.split_at(cut.index(edges.len() + 1));
            let both = [reduce(a, &mut scratch), reduce(b, &mut scratch)].concat();
            prop_assert_eq!(&reduce(&both, &mut scratch), &forest, "the forest of the forests of two parts");
            let rho = vec![2.0; 2000 * 25];
            let tied = reduce_with_ties(&edges, &rho, &mut scratch);
            prop_assert_eq!(&tied.edges, &forest);
            let is_flat = |edge: &ContactEdge| edge.saddle == 2.0;
            prop_assert!(tied.ties.iter().all(|edge| !is_flat(edge)));
            let mut as_high = edges.iter().filter(|edge| forest.iter().any(|f| f.saddle == edge.saddle));
            let is_listed = as_high.all(|edge| match is_flat(edge) {
                true => forest.contains(edge) || tied.flat.contains(&edge.peaks),
                false => forest.contains(edge) || tied.ties.contains(edge),
            });
            prop_assert!(is_listed);
        }
    }
}
