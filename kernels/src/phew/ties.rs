//! Ties: which of several equal saddles does RAMSES take?
//!
//! Place in the flow: in place of [`super::hierarchy::cut`] under RAMSES's rules. It uses the tree and the
//! tied edges.
//!
//! The forest contains only some of several edges with equal saddles, and the paper's rules need no more.
//! Under RAMSES's rules a clump looks at all of its greatest saddles in each round, and takes the one whose
//! other clump has the densest peak. Its neighbours in that round depend on the thresholds, so no order of
//! the edges can express that rule. Hence edges that tie with an edge of the forest are kept in addition, and
//! the rounds are executed as in RAMSES.
//!
//! # Worked example
//!
//! Three peaks that touch each other in pairs, with two equal saddles:
//!
//! ```text
//!     peak       A   B   C          A-B: 3      forest: A-B and A-C (the first of the two equal edges)
//!     density    8   9   5          A-C: 2      tie:    B-C
//!                                   B-C: 2
//! ```
//!
//! From the forest alone, the key saddle of C leads to A. RAMSES sees two equal saddles and takes the one to
//! B, which is denser. The clumps and haloes are the same in the end, but the neighbour, the position of the
//! saddle and, in larger examples, the rounds differ.

use super::forest::low_first;
use super::hierarchy::{Cut, Hierarchy, KeySaddle, SaddleOf, relevances};
use super::plateau::{PlateauFinder, TieUse};
use super::tree::{MergeTree, PeakUnionFind};
use crate::ids::PeakIdx;
use bytemuck::{Pod, Zeroable};
use rustc_hash::{FxHashMap, FxHashSet};

/// An edge that could replace an edge of the forest with the same saddle.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Tie {
    /// Its saddle.
    pub saddle: f64,
    /// Position of the saddle, in code units.
    pub position: [f64; 3],
    /// The two patches, smaller index first.
    pub patches: [PeakIdx; 2],
}

/// For each edge, given by saddle and patches: whether it is outside the forest of the tree and could replace
/// an edge of it with the same saddle. `edges` must come by falling saddle. Costs a sort of the peaks.
pub fn stand_beside(tree: &MergeTree, edges: &[(f64, [PeakIdx; 2])]) -> Vec<bool> {
    let deaths = tree.by_death();
    let (mut components, mut left) = (PeakUnionFind::new(tree.len()), deaths.as_slice());
    let mut found = Vec::with_capacity(edges.len());
    for equal in edges.chunk_by(|a, b| a.0 == b.0) {
        let saddle = equal[0].0;
        let ends =
            |dying: &PeakIdx| low_first([tree.death[dying.at()].near, tree.death[dying.at()].endpoint]);
        let of_saddle = |d: &PeakIdx| tree.death[d.at()].saddle;
        let (higher, others) = left.split_at(left.partition_point(|d| of_saddle(d) > saddle));
        let (as_high, lower) = others.split_at(others.partition_point(|d| of_saddle(d) == saddle));
        left = lower;
        join(tree, &mut components, higher);
        let before: Vec<_> = equal.iter().map(|(_, patches)| patches.map(|p| components.root(p))).collect();
        join(tree, &mut components, as_high);
        let of_tree: FxHashSet<_> = as_high.iter().map(ends).collect();
        found.extend(equal.iter().zip(before).map(|((_, patches), before)| {
            let [a, b] = patches.map(|p| components.root(p));
            before[0] != before[1] && a == b && !of_tree.contains(&low_first(*patches))
        }));
    }
    found
}

/// For each of the ties beside a tree, whether it can decide anything ([`super::plateau`]). If none can, it is
/// the first, so that a tree with ties keeps one. `ties` must come by falling saddle. Linear in peaks and
/// ties.
pub fn that_decide(tree: &MergeTree, ties: &[(f64, [PeakIdx; 2])]) -> Vec<bool> {
    let deaths = || {
        let edges = tree.death.iter().filter(|death| !death.is_never());
        edges.map(|death| (death.saddle, [death.near, death.endpoint]))
    };
    let all = || deaths().chain(ties.iter().copied());
    let finder = PlateauFinder::new(&tree.rho, &[]);
    all().for_each(|(saddle, patches)| finder.note(saddle, patches));
    all().for_each(|(saddle, patches)| finder.meet(saddle, patches));
    let plateaus = finder.groups();

    // The best neighbours, at a saddle, of patches beside smooth ones.
    let mut best: FxHashMap<(u64, PeakIdx), PeakIdx> = FxHashMap::default();
    for (saddle, [a, b]) in ties {
        for (peak, other) in [(a, b), (b, a)] {
            if plateaus.is_smooth(*other, *saddle) && !plateaus.is_smooth(*peak, *saddle) {
                best.insert((saddle.to_bits(), *peak), PeakIdx::NONE);
            }
        }
    }
    if !best.is_empty() {
        for (saddle, [a, b]) in all() {
            for (peak, other) in [(a, b), (b, a)] {
                if let Some(best) = best.get_mut(&(saddle.to_bits(), peak))
                    && (best.is_none() || tree.exceeds(other, *best))
                {
                    *best = other;
                }
            }
        }
    }
    let is_best =
        |saddle: f64, peak, other| best.get(&(saddle.to_bits(), peak)).is_some_and(|best| *best == other);

    let mut seen = FxHashSet::default();
    let mut decides = |(saddle, [a, b]): &(f64, [PeakIdx; 2])| {
        let is_first = match plateaus.use_of(*saddle, [*a, *b]) {
            TieUse::Decides => true,
            TieUse::Within => false,
            TieUse::Between(groups) => seen.insert((saddle.to_bits(), groups)),
        };
        is_first || is_best(*saddle, *a, *b) || is_best(*saddle, *b, *a)
    };
    let mut decide: Vec<bool> = ties.iter().map(&mut decides).collect();
    if !decide.contains(&true)
        && let Some(first) = decide.first_mut()
    {
        *first = true;
    }
    decide
}

/// Joins components at the deaths of `dying`.
fn join(tree: &MergeTree, components: &mut PeakUnionFind, dying: &[PeakIdx]) {
    for peak in dying {
        let heir = components.root(tree.death[peak.at()].endpoint);
        components.end(*peak, heir);
    }
}

/// Cuts a tree by RAMSES's rules, where persistence is a ratio. `ties` are the edges that tie with its own.
/// Each round is linear in the edges left.
pub fn cut_with_ties(tree: &MergeTree, ties: &[Tie], cut: &Cut) -> Hierarchy {
    let mut rounds = TieRounds::new(tree, ties);
    let noise = rounds.merge_all(|p, saddle| cut.persistence.is_noise(tree.rho[p.at()], saddle));
    let haloes = rounds.merge_all(|p, saddle| cut.merges(tree.rho[p.at()], saddle));
    Hierarchy {
        relevance: relevances(tree, &noise.key_saddle, cut),
        clump: noise.label,
        halo: haloes.label,
        parent: haloes.parent,
        level: haloes.level,
        key_saddle: noise.key_saddle,
    }
}

/// The result of a pass, by peak.
struct TiePass {
    /// The peak to which it belongs after the pass.
    label: Vec<PeakIdx>,
    /// The peak into which it merges in its round; itself if it does not merge.
    parent: Vec<PeakIdx>,
    /// The round in which it merges, from 1; 0 if it does not merge.
    level: Vec<u32>,
    /// The greatest saddle between each remaining peak and another remaining one.
    key_saddle: Vec<KeySaddle>,
}

/// An edge between the clumps to which its patches now belong.
#[derive(Clone, Copy)]
struct TieEdge {
    saddle: f64,
    ends: [PeakIdx; 2],
    of: SaddleOf,
}

/// The state between rounds.
struct TieRounds<'a> {
    tree: &'a MergeTree,
    links: Vec<TieEdge>,
    /// The peaks that have not merged, by falling density.
    remaining: Vec<PeakIdx>,
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
        Self { tree, links: deaths.chain(ties).collect(), remaining: tree.by_falling_density() }
    }

    /// Repeats rounds until one merges nothing. In a round each peak merges into its key neighbour if that is
    /// greater and `candidate` holds for the peak at its key saddle.
    fn merge_all(&mut self, candidate: impl Fn(PeakIdx, f64) -> bool) -> TiePass {
        let itself: Vec<_> = (0..self.tree.len()).map(PeakIdx::new).collect();
        let (mut label, mut parent) = (itself.clone(), itself.clone());
        let mut level = vec![0; itself.len()];
        for round in 1.. {
            let key_saddle = self.key_saddles();
            let mut into = itself.clone();
            for &p in &self.remaining {
                let key = &key_saddle[p.at()];
                let has_key = key.of != SaddleOf::Nothing;
                if has_key && candidate(p, key.density) && self.tree.exceeds(key.neighbour, p) {
                    into[p.at()] = into[key.neighbour.at()];
                    (parent[p.at()], level[p.at()]) = (into[p.at()], round);
                }
            }
            let n_before = self.remaining.len();
            self.remaining.retain(|p| into[p.at()] == *p);
            if self.remaining.len() == n_before {
                return TiePass { label, parent, level, key_saddle };
            }
            label.iter_mut().for_each(|label| *label = into[label.at()]);
            self.links.iter_mut().for_each(|link| link.ends = link.ends.map(|p| into[p.at()]));
        }
        unreachable!("the last round merges nothing")
    }

    /// The greatest saddle of each remaining peak; of several, the one to the greatest neighbour. Drops inner
    /// edges.
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

#[cfg(test)]
mod tests {
    use super::super::forest::ContactEdge;
    use super::super::hierarchy;
    use super::*;
    use crate::ids::CellIdx;
    use crate::phew::Rules;
    use crate::phew::persistence::Persistence;
    use proptest::prelude::*;

    /// The edges of a graph whose peaks and saddles have few values, one per pair, in falling order.
    fn graph() -> impl Strategy<Value = (Vec<f64>, Vec<(f64, [PeakIdx; 2])>)> {
        let values = || prop_oneof![4 => Just(2.0), 2 => Just(1.0), 1 => Just(1.5), 1 => Just(3.0)];
        let edge = (values(), any::<u32>(), any::<u32>());
        (prop::collection::vec(values(), 2..16), prop::collection::vec(edge, 0..70)).prop_map(
            |(rho, edges)| {
                let n = rho.len() as u32;
                let pair =
                    |a: u32, step: u32| low_first([a % n, (a % n + 1 + step % (n - 1)) % n].map(PeakIdx));
                let mut edges: Vec<_> =
                    edges.into_iter().map(|(saddle, a, step): (f64, _, _)| (saddle, pair(a, step))).collect();
                edges.sort_by(|a, b| a.1.cmp(&b.1).then(b.0.total_cmp(&a.0)));
                edges.dedup_by_key(|edge| edge.1);
                edges.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                (rho, edges)
            },
        )
    }

    /// What a catalogue has of a cut: labels, and for each clump its halo, parent, level and key saddle with
    /// its position.
    fn seen(found: &Hierarchy, ties: &[Tie]) -> impl PartialEq + std::fmt::Debug + use<> {
        let position = |of: SaddleOf| match of {
            SaddleOf::Tie(i) => Err(ties[i as usize].position[0]),
            of => Ok(of),
        };
        let row = |i: usize| {
            let key = &found.key_saddle[i];
            let halo = (found.halo[i], found.parent[i], found.level[i], found.relevance[i]);
            (halo, key.density, key.neighbour, position(key.of))
        };
        let is_clump = |i: &usize| found.clump[*i].at() == *i;
        (found.clump.clone(), (0..found.clump.len()).filter(is_clump).map(row).collect::<Vec<_>>())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

        /// Reference: the rounds with all ties.
        #[test]
        fn ties_that_decide_nothing_change_nothing((rho, edges) in graph()) {
            let contact = |(saddle, peaks): &(f64, [PeakIdx; 2])| {
                ContactEdge::new(*saddle, *peaks, peaks.map(|p| CellIdx(p.0)))
            };
            let tree = MergeTree::grow(rho, &edges.iter().map(contact).collect::<Vec<_>>()).0;
            let is_tie = stand_beside(&tree, &edges);
            let all: Vec<_> = edges.iter().zip(is_tie).filter(|(_, is)| *is).map(|(e, _)| *e).collect();
            let decide = that_decide(&tree, &all);
            let made = |(i, (saddle, patches)): (usize, &(f64, _))| {
                Tie { saddle: *saddle, position: [i as f64; 3], patches: *patches }
            };
            let all: Vec<Tie> = all.iter().enumerate().map(made).collect();
            let few: Vec<Tie> = all.iter().zip(&decide).filter(|(_, d)| **d).map(|(tie, _)| *tie).collect();
            prop_assert_eq!(all.is_empty(), few.is_empty());
            for ratio in [0.5, 0.9, 1.0, 1.2, 1.6, 2.5] {
                for saddle in [None, Some(0.5), Some(1.2), Some(1.7), Some(2.5)] {
                    let cut = Cut { density: 0.5, persistence: Persistence::Ratio(ratio), saddle, halo_relevance: None };
                    let found = [&all, &few].map(|ties| seen(&cut_with_ties(&tree, ties, &cut), ties));
                    prop_assert_eq!(&found[0], &found[1], "relevance {}, saddle {:?}", ratio, saddle);
                }
            }
        }
    }

    /// A plain of equal peaks keeps one tie, where each peak touches eight.
    #[test]
    fn ties_of_a_plain_decide_nothing() {
        let side = 40;
        let peak = |x: u32, y: u32| PeakIdx(x + side * y);
        let cells = (0..side * side).map(|i| (i % side, i / side));
        let touching = |(x, y): (u32, u32)| {
            let others = [(x + 1, y), (x.wrapping_sub(1), y + 1), (x, y + 1), (x + 1, y + 1)];
            others
                .into_iter()
                .filter(|(x, y)| *x < side && *y < side)
                .map(move |(u, v)| [peak(x, y), peak(u, v)])
        };
        let mut edges: Vec<_> = cells.flat_map(touching).map(|pair| (1.0, low_first(pair))).collect();
        edges.sort_by_key(|edge| edge.1);
        let contact =
            |(saddle, peaks): &(f64, [PeakIdx; 2])| ContactEdge::new(*saddle, *peaks, [CellIdx(0); 2]);
        let contacts: Vec<_> = edges.iter().map(contact).collect();
        let tree = MergeTree::grow(vec![1.0; (side * side) as usize], &contacts).0;
        let is_tie = stand_beside(&tree, &edges);
        let ties: Vec<_> = edges.iter().zip(is_tie).filter(|(_, is)| *is).map(|(edge, _)| *edge).collect();
        assert_eq!(ties.len(), edges.len() - tree.len() + 1);
        assert_eq!(that_decide(&tree, &ties).iter().filter(|decides| **decides).count(), 1);
    }

    #[test]
    fn the_worked_example() {
        let [a, b, c] = [0, 1, 2].map(PeakIdx);
        let edges = [(3.0, [a, b]), (2.0, [a, c]), (2.0, [b, c])];
        let contacts = edges.map(|(saddle, peaks)| ContactEdge::new(saddle, peaks, [CellIdx(0), CellIdx(1)]));
        let tree = MergeTree::grow(vec![8.0, 9.0, 5.0], &contacts).0;
        assert_eq!(stand_beside(&tree, &edges), [false, false, true]);

        let cut = Cut {
            density: 1.0,
            persistence: Persistence::Ratio(1.0),
            saddle: Some(0.0),
            halo_relevance: None,
        };
        let ties = [Tie { saddle: 2.0, position: [0.0; 3], patches: [b, c] }];
        let neighbour = |found: &Hierarchy| found.key_saddle[c.at()].neighbour;
        let (with, without) = (cut_with_ties(&tree, &ties, &cut), hierarchy::cut(&tree, &cut, Rules::Ramses));
        assert_eq!((neighbour(&with), neighbour(&without)), (b, a));
        assert_eq!((with.key_saddle[c.at()].of, with.halo), (SaddleOf::Tie(0), vec![b; 3]));
        assert_eq!(with.clump, without.clump);
    }
}
