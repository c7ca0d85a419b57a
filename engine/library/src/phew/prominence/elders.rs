//! The elders of peaks: into which component does each peak die, and where does its greatest peak die?
//!
//! A peak dies at a contact with some patch of a greater component, its *endpoint*. The way from endpoint to
//! endpoint leads to all elders, with other peaks in between that have died before:
//!
//! ```text
//!     peak          d -> q -> E -> r -> F          elder of d: E, the first that dies after d
//!     death saddle  5    7    3    4    0 (never)  elder of E: F;   of q: E;   of r: F
//! ```
//!
//! Elders may be on other ranks. In each round, a rank asks the owners of the peaks at which its ways leave
//! the rank. The answer contains the whole way on the rank of the owner. So the number of rounds is the
//! number of ranks on the longest way, and there are none on a single rank.

use crate::exchange::grouped;
use crate::phew::peaks::Peaks;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_kernels::ids::{PeakIdx, PeakName};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;

/// A peak of an [`ElderTree`]: first the own ones, in their order, then those of other ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElderIdx(u32);

impl ElderIdx {
    /// No peak.
    const NONE: Self = Self(u32::MAX);

    fn new(at: usize) -> Self {
        Self(at as u32)
    }

    /// As an index.
    #[inline]
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// The time of death of a peak: deaths are in the order of the edges of the forest.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct DeathTime {
    /// Density of the saddle; 0 if never.
    pub saddle: f64,
    /// The two patches at the contact, smaller name first.
    edge: [PeakName; 2],
}

impl DeathTime {
    /// Of an own peak.
    pub fn of(peaks: &Peaks, peak: usize) -> Self {
        let death = &peaks.tree.death[peak];
        let [a, b] = [death.near, death.endpoint].map(|patch| peaks.name_of(patch));
        Self { saddle: death.saddle, edge: [a.min(b), a.max(b)] }
    }

    /// `Less` dies first.
    pub fn order(&self, other: &Self) -> Ordering {
        other.saddle.total_cmp(&self.saddle).then_with(|| self.edge.cmp(&other.edge))
    }
}

/// A peak on a way, for another rank.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct PeakOnWay {
    name: PeakName,
    dies: DeathTime,
    /// The next peak of the way; `NONE` at its end.
    next: PeakName,
}

/// The own peaks of a rank, the peaks of its patches, and all their elders.
pub struct ElderTree<'a> {
    own: &'a Peaks,
    /// The peaks of other ranks.
    foreign: Vec<PeakName>,
    /// The place of each of these.
    place: FxHashMap<PeakName, ElderIdx>,
    /// The death of each peak; for those of other ranks, if it is known.
    dies: Vec<DeathTime>,
    /// The next peak of the way from each one that is known to die later than it; in the end its elder.
    elder: Vec<ElderIdx>,
    /// All peaks in the order of their deaths.
    by_death: Vec<ElderIdx>,
}

impl<'a> ElderTree<'a> {
    /// Collective: the elders of the own peaks of each rank and of other `patches`, by name.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(own: &'a Peaks, patches: &[PeakName], comm: &Comm) -> Result<Self, CommError> {
        let dies = (0..own.len()).into_par_iter().map(|i| DeathTime::of(own, i)).collect();
        let (foreign, place) = (Vec::new(), FxHashMap::default());
        let mut tree = Self { own, foreign, place, dies, elder: Vec::new(), by_death: Vec::new() };
        tree.elder = vec![ElderIdx::NONE; own.len()];
        for i in 0..own.len() {
            let endpoint = own.tree.death[i].endpoint;
            tree.elder[i] = match own.tree.is_own(endpoint) {
                true => ElderIdx::new(endpoint.at()),
                false => tree.enter(own.name_of(endpoint)),
            };
        }
        for name in patches {
            tree.enter(*name);
        }
        tree.climb(own.len());
        tree.fetch(comm)?;
        if !tree.foreign.is_empty() {
            tree.climb(tree.dies.len());
        }
        Ok(tree)
    }

    /// The place of a peak of this name, which may be new here.
    fn enter(&mut self, name: PeakName) -> ElderIdx {
        if name.is_none() {
            return ElderIdx::NONE;
        }
        if let Some(own) = self.own.own(name) {
            return ElderIdx::new(own.at());
        }
        let next = ElderIdx::new(self.own.len() + self.foreign.len());
        let place = *self.place.entry(name).or_insert(next);
        if place == next {
            self.foreign.push(name);
        }
        place
    }

    /// Makes each of the first `n` peaks point to the first peak on its way that dies later, as far as the
    /// way is among these.
    fn climb(&mut self, n: usize) {
        let mut order: Vec<ElderIdx> = (0..n).map(ElderIdx::new).collect();
        let dies = &self.dies;
        order.par_sort_unstable_by(|a, b| dies[a.at()].order(&dies[b.at()]).then(a.cmp(b)));
        for peak in &order {
            let mut next = self.elder[peak.at()];
            // The ways from peaks that die earlier have been climbed already.
            while next.at() < n && self.dies[next.at()].order(&self.dies[peak.at()]).is_lt() {
                next = self.elder[next.at()];
            }
            self.elder[peak.at()] = next;
        }
        self.by_death = order;
    }

    /// Collective: fetches all peaks of other ranks that ways lead through.
    fn fetch(&mut self, comm: &Comm) -> Result<(), CommError> {
        loop {
            // The last of the foreign peaks are those that no answer has brought.
            let known = self.dies.len() - self.own.len();
            let mut asked = self.foreign[known..].to_vec();
            if comm.all_reduce_counts(&[asked.len() as u64], Reduce::Max)?[0] == 0 {
                return Ok(());
            }
            asked.sort_unstable_by_key(|name| (name.owner(), *name));
            let questions = comm.exchange(grouped(&asked, |name| (Rank(name.owner()), *name)))?;
            let answers = questions.into_iter().map(|(from, names)| (from, self.ways(&names))).collect();
            let mut found = FxHashMap::default();
            for (_, ways) in comm.exchange(answers)? {
                for on_way in ways {
                    self.enter(on_way.name);
                    found.insert(on_way.name, on_way);
                }
            }
            // All that were asked for and the others on their ways; the ends of the ways are entered after
            // them.
            for i in known..self.foreign.len() {
                let on_way: &PeakOnWay = &found[&self.foreign[i]];
                self.dies.push(on_way.dies);
                let next = self.enter(on_way.next);
                self.elder.push(next);
            }
        }
    }

    /// The ways from own peaks of these names through this rank.
    fn ways(&self, names: &[PeakName]) -> Vec<PeakOnWay> {
        let mut told = FxHashSet::default();
        let mut ways = Vec::new();
        for name in names {
            let peak = self.own.own(*name).expect("a peak is asked for on its owner");
            let mut next = ElderIdx::new(peak.at());
            while next.at() < self.own.len() && told.insert(next) {
                let onward = self.elder[next.at()];
                ways.push(PeakOnWay {
                    name: self.own.name[next.at()],
                    dies: self.dies[next.at()],
                    next: self.name(onward),
                });
                next = onward;
            }
        }
        ways
    }

    /// The name of a peak; `NONE` for none.
    fn name(&self, peak: ElderIdx) -> PeakName {
        match peak {
            ElderIdx::NONE => PeakName::NONE,
            _ => self
                .own
                .name
                .get(peak.at())
                .copied()
                .unwrap_or_else(|| self.foreign[peak.at() - self.own.len()]),
        }
    }

    /// The peaks of other ranks, by their places after the own ones.
    pub fn foreign(&self) -> &[PeakName] {
        &self.foreign
    }

    /// When an own peak dies, and its elder; `None` if it never does.
    pub fn death_of(&self, peak: PeakIdx) -> Option<(DeathTime, ElderIdx)> {
        let elder = self.elder[peak.at()];
        (elder != ElderIdx::NONE).then_some((self.dies[peak.at()], elder))
    }

    /// Number of peaks.
    pub fn n_peaks(&self) -> usize {
        self.dies.len()
    }

    /// The peak of this name, which must be one of those that the tree was made for.
    pub fn find(&self, name: PeakName) -> ElderIdx {
        match self.own.own(name) {
            Some(own) => ElderIdx::new(own.at()),
            None => self.place[&name],
        }
    }

    /// The name of the elder of an own peak; `NONE` if it never dies.
    pub fn elder(&self, peak: PeakIdx) -> PeakName {
        self.name(self.elder[peak.at()])
    }

    /// The first of a peak and its elders that dies below this density. A step per elder passed.
    #[inline]
    pub fn first_below(&self, mut peak: ElderIdx, rho: f64) -> ElderIdx {
        while self.dies[peak.at()].saddle >= rho {
            peak = self.elder[peak.at()];
        }
        peak
    }

    /// Adds to each entry of `sums`, one per peak, those of all peaks that die into it, and of those that die
    /// into them.
    pub fn add_up<T: Copy>(&self, sums: &mut [T], add: impl Fn(&mut T, &T)) {
        for peak in &self.by_death {
            let elder = self.elder[peak.at()];
            if elder != ElderIdx::NONE {
                let own = sums[peak.at()];
                add(&mut sums[elder.at()], &own);
            }
        }
    }

    /// The entries of the peaks of other ranks, with their names.
    pub fn of_foreign<'s, T>(&'s self, sums: &'s [T]) -> impl Iterator<Item = (PeakName, &'s T)> {
        self.foreign.iter().copied().zip(&sums[self.own.len()..])
    }
}
