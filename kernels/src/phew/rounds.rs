//! Rounds: in which of the paper's rounds does each clump merge, and into which clump? (paper, section 2.6)
//!
//! Place in the flow: called by [`super::hierarchy`] with the clumps that are to merge. It uses the merge
//! tree, but no cells or thresholds.
//!
//! In each round of the paper, every clump looks at its highest saddle to another clump (its key saddle) and
//! merges into that clump if the latter is higher. Going through all clumps in all rounds would be slow. Two
//! facts of the merge tree replace it:
//!
//! - *When can a clump merge?* At the saddle at which it dies, once that is its key saddle. Its higher
//!   saddles are the ones at which other clumps die into it. So it takes its turn when all clumps that die
//!   into it have merged.
//! - *Into which clump?* Into the one at the other end of that saddle, if it is higher. If that clump is
//!   lower, this one waits at it. When the lower clump merges into a parent, those of its waiters that the
//!   parent exceeds merge in the next round; the others go on waiting at the parent.
//!
//! So a clump is visited only when something changes for it. The cost is that of sorting the waiting clumps.
//!
//! # Worked example
//!
//! Clumps in a row, with densities above and saddles below. `x -> y` says that x merges into y:
//!
//! ```text
//!     clump      P    Q    R    S
//!     density    8    3    6    9
//!     saddle       1    4    2
//!
//!     death      Q dies at Q-R (4) into R;   R at R-S (2) into S;   P at P-Q (1) into S, with Q on the other side
//!     turn       Q at once (none dies into it), P at once; R after Q; S never dies
//!
//!     before     Q's neighbour R is higher: Q is ready.   P's neighbour Q is lower: P waits at Q.
//!     round 1    Q -> R.   R's turn: its neighbour S is higher, R is ready.
//!                P waited at Q; R (6) does not exceed P (8), so P waits at R now.
//!     round 2    R -> S.   S (9) exceeds P: P is ready.
//!     round 3    P -> S.
//! ```
//!
//! Levels are the rounds: Q 1, R 2, P 3, S 0 (the halo's main clump). The paper's rounds give the same: in
//! round 1, R's key saddle (4) leads to the lower Q, and P's only saddle to the lower Q, so only Q merges.

use super::tree::{MergeTree, PeakUnionFind};
use crate::ids::PeakIdx;

/// The result of the rounds, by peak.
#[derive(Debug)]
pub(super) struct RoundsResult {
    /// The round in which each clump merges, from 1; 0 for those that do not.
    pub level: Vec<u32>,
    /// The clump that each one merges into in that round; itself if it does not merge.
    pub parent: Vec<PeakIdx>,
    /// The clump that each one belongs to in the end.
    pub halo: Vec<PeakIdx>,
}

/// Merges the clumps whose peaks are `merging`, given in the order of their deaths. `clump` is the clump of
/// each patch. A sort of the waiting clumps.
pub(super) fn merge(tree: &MergeTree, clump: &[PeakIdx], merging: &[PeakIdx]) -> RoundsResult {
    let n = tree.len();
    let itself: Vec<_> = (0..n).map(PeakIdx::new).collect();
    let mut rounds = MergeRounds {
        tree,
        endpoint: vec![PeakIdx::NONE; n],
        heir: vec![PeakIdx::NONE; n],
        n_before: vec![0; n],
        label: PeakUnionFind::new(n),
        waiting: Queues::new(n),
        ready: Vec::new(),
    };
    let halo = rounds.follow_deaths(clump, merging);
    let mut merged = RoundsResult { level: vec![0; n], parent: itself, halo };
    rounds.run(merging, &mut merged);
    merged
}

struct MergeRounds<'a> {
    tree: &'a MergeTree,
    /// The clump at the other end of the edge at which each one dies; `NONE` if it does not merge.
    endpoint: Vec<PeakIdx>,
    /// The clump into whose component each one dies.
    heir: Vec<PeakIdx>,
    /// The number of clumps that die into each one and have not merged yet.
    n_before: Vec<u32>,
    /// The clump that each one belongs to after the rounds so far.
    label: PeakUnionFind,
    /// The clumps that wait at each clump until it merges.
    waiting: Queues,
    /// The clumps that merge in the next round.
    ready: Vec<PeakIdx>,
}

impl MergeRounds<'_> {
    /// Goes through the deaths, and returns the clump that each one belongs to in the end.
    fn follow_deaths(&mut self, clump: &[PeakIdx], merging: &[PeakIdx]) -> Vec<PeakIdx> {
        let mut components = PeakUnionFind::new(clump.len());
        for &dying in merging {
            let endpoint = clump[self.tree.death[dying.at()].endpoint.at()];
            let heir = components.root(endpoint);
            components.end(dying, heir);
            self.endpoint[dying.at()] = endpoint;
            self.heir[dying.at()] = heir;
            self.n_before[heir.at()] += 1;
        }
        (0..clump.len()).map(|p| components.root(PeakIdx::new(p))).collect()
    }

    fn run(&mut self, merging: &[PeakIdx], merged: &mut RoundsResult) {
        for &p in merging {
            if self.n_before[p.at()] == 0 {
                self.take_turn(p);
            }
        }
        for round in 1.. {
            let now = std::mem::take(&mut self.ready);
            if now.is_empty() {
                return;
            }
            for &p in &now {
                self.label.end(p, self.endpoint[p.at()]);
            }
            for &p in &now {
                merged.level[p.at()] = round;
                merged.parent[p.at()] = self.label.root(p);
            }
            for &p in &now {
                self.settle(p, merged.parent[p.at()]);
            }
        }
    }

    /// The saddle at which a clump dies has become its key saddle: it merges in the next round, or waits.
    fn take_turn(&mut self, peak: PeakIdx) {
        let other = self.label.root(self.endpoint[peak.at()]);
        match self.tree.exceeds(other, peak) {
            true => self.ready.push(peak),
            false => self.waiting.push(self.tree, other, peak),
        }
    }

    /// Updates the clumps that depend on `dead`, which has merged into `parent`.
    fn settle(&mut self, dead: PeakIdx, parent: PeakIdx) {
        let heir = self.heir[dead.at()];
        self.n_before[heir.at()] -= 1;
        if self.n_before[heir.at()] == 0 && !self.endpoint[heir.at()].is_none() {
            self.take_turn(heir);
        }
        while let Some(lowest) = self.waiting.lowest(dead).filter(|&w| self.tree.exceeds(parent, w)) {
            self.waiting.pop(self.tree, dead);
            self.ready.push(lowest);
        }
        self.waiting.move_all(self.tree, dead, parent);
    }
}

/// For each clump a queue of the clumps that wait at it, lowest first. Each clump waits in at most one queue,
/// so all queues are pairing heaps in three arrays.
struct Queues {
    /// The lowest clump that waits at each clump: the root of a heap.
    first: Vec<PeakIdx>,
    /// The first child of each clump in its heap.
    child: Vec<PeakIdx>,
    /// The next child of the same clump.
    sibling: Vec<PeakIdx>,
}

impl Queues {
    fn new(n: usize) -> Self {
        let none = || vec![PeakIdx::NONE; n];
        Self { first: none(), child: none(), sibling: none() }
    }

    fn lowest(&self, at: PeakIdx) -> Option<PeakIdx> {
        Some(self.first[at.at()]).filter(|p| !p.is_none())
    }

    fn push(&mut self, tree: &MergeTree, at: PeakIdx, peak: PeakIdx) {
        self.first[at.at()] = self.meld(tree, self.first[at.at()], peak);
    }

    fn move_all(&mut self, tree: &MergeTree, from: PeakIdx, to: PeakIdx) {
        let moved = std::mem::replace(&mut self.first[from.at()], PeakIdx::NONE);
        self.push(tree, to, moved);
    }

    /// Removes the lowest clump at `at`: its children are melded in pairs, then the pairs from the last to
    /// the first.
    fn pop(&mut self, tree: &MergeTree, at: PeakIdx) {
        let leaving = self.first[at.at()];
        let mut left = std::mem::replace(&mut self.child[leaving.at()], PeakIdx::NONE);
        let mut pairs = PeakIdx::NONE;
        while !left.is_none() {
            let a = self.unlink(&mut left);
            let b = if left.is_none() { PeakIdx::NONE } else { self.unlink(&mut left) };
            let pair = self.meld(tree, a, b);
            self.sibling[pair.at()] = pairs;
            pairs = pair;
        }
        let mut all = PeakIdx::NONE;
        while !pairs.is_none() {
            let pair = self.unlink(&mut pairs);
            all = self.meld(tree, all, pair);
        }
        self.first[at.at()] = all;
    }

    /// Removes the first of a list of siblings.
    fn unlink(&mut self, list: &mut PeakIdx) -> PeakIdx {
        let first = *list;
        *list = std::mem::replace(&mut self.sibling[first.at()], PeakIdx::NONE);
        first
    }

    /// Makes one heap of two; the lower of their roots becomes the root.
    fn meld(&mut self, tree: &MergeTree, a: PeakIdx, b: PeakIdx) -> PeakIdx {
        if a.is_none() || b.is_none() {
            return if a.is_none() { b } else { a };
        }
        let (low, high) = if tree.exceeds(a, b) { (b, a) } else { (a, b) };
        self.sibling[high.at()] = std::mem::replace(&mut self.child[low.at()], high);
        low
    }
}

#[cfg(test)]
mod tests {
    use super::super::forest::ContactEdge;
    use super::*;
    use crate::ids::CellIdx;
    use proptest::prelude::*;

    /// The tree of peaks with these densities and contacts, and its peaks in the order of their deaths.
    fn grown(rho: &[f64], contacts: &[(f64, [u32; 2])]) -> (MergeTree, Vec<PeakIdx>) {
        let edge = |(saddle, peaks): &(f64, [u32; 2])| {
            ContactEdge::new(*saddle, peaks.map(PeakIdx), peaks.map(CellIdx))
        };
        let mut edges: Vec<_> = contacts.iter().map(edge).collect();
        edges.sort_by(ContactEdge::order);
        let tree = MergeTree::grow(rho.to_vec(), &edges).0;
        let merging = tree.by_death();
        (tree, merging)
    }

    fn itself(n: usize) -> Vec<PeakIdx> {
        (0..n).map(PeakIdx::new).collect()
    }

    #[test]
    fn the_worked_example() {
        let [p, q, r, s] = [0, 1, 2, 3];
        let (tree, merging) = grown(&[8.0, 3.0, 6.0, 9.0], &[(1.0, [p, q]), (4.0, [q, r]), (2.0, [r, s])]);
        let merged = merge(&tree, &itself(4), &merging);
        assert_eq!(merged.level, [3, 1, 2, 0]);
        assert_eq!(merged.parent, [s, r, s, s].map(PeakIdx));
        assert_eq!(merged.halo, [PeakIdx(s); 4]);
    }

    /// Reference: the paper's rounds over all clumps and all edges of the forest.
    fn plain(tree: &MergeTree, merging: &[PeakIdx]) -> RoundsResult {
        let n = tree.len();
        let (mut level, mut parent, mut label) = (vec![0; n], itself(n), itself(n));
        for round in 1.. {
            let mut target = itself(n);
            for clump in itself(n).into_iter().filter(|p| label[p.at()] == *p) {
                // Deaths come by falling saddle, so the first edge that leads out of the clump is its key
                // saddle.
                let ends = |d: &PeakIdx| {
                    [tree.death[d.at()].near, tree.death[d.at()].endpoint].map(|p| label[p.at()])
                };
                let out = merging.iter().map(ends).find(|[a, b]| a != b && (*a == clump || *b == clump));
                let neighbour = out.map(|[a, b]| if a == clump { b } else { a });
                if let Some(neighbour) = neighbour.filter(|other| tree.exceeds(*other, clump)) {
                    target[clump.at()] = neighbour;
                }
            }
            let end = |mut p: PeakIdx| {
                while target[p.at()] != p {
                    p = target[p.at()];
                }
                p
            };
            let mut any = false;
            for clump in itself(n).into_iter().filter(|p| target[p.at()] != *p) {
                (level[clump.at()], parent[clump.at()], any) = (round, end(clump), true);
            }
            label.iter_mut().for_each(|label| *label = end(*label));
            if !any {
                return RoundsResult { level, parent, halo: label };
            }
        }
        unreachable!("the last round merges nothing")
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

        #[test]
        fn rounds_are_those_of_the_paper(
            rho in prop::collection::vec(1..8u32, 2..30),
            contacts in prop::collection::vec((1..9u32, any::<u32>(), any::<u32>()), 0..90),
        ) {
            let rho: Vec<f64> = rho.into_iter().map(|rho| 10.0 + f64::from(rho)).collect();
            let n = rho.len() as u32;
            let contact = |(saddle, a, step): (u32, u32, u32)| {
                let a = a % n;
                (f64::from(saddle), [a, (a + 1 + step % (n - 1)) % n])
            };
            let contacts: Vec<_> = contacts.into_iter().map(contact).collect();
            let (tree, merging) = grown(&rho, &contacts);
            let (found, expected) = (merge(&tree, &itself(rho.len()), &merging), plain(&tree, &merging));
            prop_assert_eq!(found.level, expected.level);
            prop_assert_eq!(found.parent, expected.parent);
            prop_assert_eq!(found.halo, expected.halo);
        }
    }
}
