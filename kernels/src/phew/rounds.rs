//! The rounds: in which of the paper's rounds does each clump merge, and into what? (section 2.6)
//!
//! A clump merges through the saddle at which it dies, once that is its key saddle and leads to a
//! higher clump. The first is so when all that die into it before are gone; until the second is, the
//! clump waits at the lower one in its way. When that one merges, those at it that its new clump
//! exceeds merge in the next round; the others wait on there. So each clump is looked at when
//! something changes for it and never else: the cost is that of sorting, whatever the saddles.

use super::tree::{MergeTree, PeakUnionFind};
use crate::ids::PeakIdx;

/// What comes of the rounds, by peak.
#[derive(Debug)]
pub(super) struct RoundsResult {
    /// The round in which each clump merges, from 1; 0 for those that do not.
    pub level: Vec<u32>,
    /// What it merges into in that round; itself if it does not.
    pub parent: Vec<PeakIdx>,
    /// What it belongs to in the end.
    pub halo: Vec<PeakIdx>,
}

/// Merges the clumps that are known by the peaks `merging`, which are in the order of their deaths.
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
        next: Vec::new(),
    };
    let halo = rounds.follow_deaths(clump, merging);
    let mut merged = RoundsResult { level: vec![0; n], parent: itself, halo };
    rounds.run(merging, &mut merged);
    merged
}

struct MergeRounds<'a> {
    tree: &'a MergeTree,
    /// The clump at the other end of the edge at which each one dies; `NONE` if it does not.
    endpoint: Vec<PeakIdx>,
    /// The clump whose component it dies into.
    heir: Vec<PeakIdx>,
    /// How many die into each before it is its turn.
    n_before: Vec<u32>,
    /// The final-peak labels of the rounds so far.
    label: PeakUnionFind,
    /// Those who wait at each clump until it merges.
    waiting: Queues,
    /// Those who merge in the next round.
    next: Vec<PeakIdx>,
}

impl MergeRounds<'_> {
    /// Who dies into whom; hands back where each ends up.
    fn follow_deaths(&mut self, clump: &[PeakIdx], merging: &[PeakIdx]) -> Vec<PeakIdx> {
        let mut elders = PeakUnionFind::new(clump.len());
        for &dying in merging {
            let endpoint = clump[self.tree.death[dying.at()].endpoint.at()];
            let heir = elders.root(endpoint);
            elders.end(dying, heir);
            self.endpoint[dying.at()] = endpoint;
            self.heir[dying.at()] = heir;
            self.n_before[heir.at()] += 1;
        }
        (0..clump.len()).map(|p| elders.root(PeakIdx::new(p))).collect()
    }

    fn run(&mut self, merging: &[PeakIdx], merged: &mut RoundsResult) {
        for &p in merging {
            if self.n_before[p.at()] == 0 {
                self.take_turn(p);
            }
        }
        for round in 1.. {
            let now = std::mem::take(&mut self.next);
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
                self.pass_on(p, merged.parent[p.at()]);
            }
        }
    }

    /// Its key saddle is the one at which it dies: merges in the next round, or waits.
    fn take_turn(&mut self, peak: PeakIdx) {
        let other = self.label.root(self.endpoint[peak.at()]);
        match self.tree.exceeds(other, peak) {
            true => self.next.push(peak),
            false => self.waiting.join(self.tree, other, peak),
        }
    }

    /// Tells those concerned that `dead` is now part of `parent`.
    fn pass_on(&mut self, dead: PeakIdx, parent: PeakIdx) {
        let heir = self.heir[dead.at()];
        self.n_before[heir.at()] -= 1;
        if self.n_before[heir.at()] == 0 && !self.endpoint[heir.at()].is_none() {
            self.take_turn(heir);
        }
        while let Some(lowest) = self.waiting.lowest(dead).filter(|&w| self.tree.exceeds(parent, w)) {
            self.waiting.leave(self.tree, dead);
            self.next.push(lowest);
        }
        self.waiting.move_all(self.tree, dead, parent);
    }
}

/// A queue at each clump of clumps that wait there, lowest first: pairing heaps. Each waits in one.
struct Queues {
    first: Vec<PeakIdx>,
    child: Vec<PeakIdx>,
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

    fn join(&mut self, tree: &MergeTree, at: PeakIdx, peak: PeakIdx) {
        self.first[at.at()] = self.meld(tree, self.first[at.at()], peak);
    }

    fn move_all(&mut self, tree: &MergeTree, from: PeakIdx, to: PeakIdx) {
        let moved = std::mem::replace(&mut self.first[from.at()], PeakIdx::NONE);
        self.join(tree, to, moved);
    }

    /// The lowest at `at` leaves: its children are melded in pairs, then the pairs from the last on.
    fn leave(&mut self, tree: &MergeTree, at: PeakIdx) {
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

    /// Takes the first off a list of siblings.
    fn unlink(&mut self, list: &mut PeakIdx) -> PeakIdx {
        let first = *list;
        *list = std::mem::replace(&mut self.sibling[first.at()], PeakIdx::NONE);
        first
    }

    /// Of two queues one, under the lower of their lowest.
    fn meld(&mut self, tree: &MergeTree, a: PeakIdx, b: PeakIdx) -> PeakIdx {
        if a.is_none() || b.is_none() {
            return if a.is_none() { b } else { a };
        }
        let (low, high) = if tree.exceeds(a, b) { (b, a) } else { (a, b) };
        self.sibling[high.at()] = std::mem::replace(&mut self.child[low.at()], high);
        low
    }
}
