//! Plateaus: which ties between equal peaks decide nothing?
//!
//! Place in the flow: between [`super::forest`] and [`super::ties`], under RAMSES's rules. On a plain of equal
//! cells every cell is a peak, and all of its contacts tie: 13 per cell. This module finds the few that
//! matter. It uses densities of peaks and edges, but no cells or thresholds.
//!
//! A peak is *flat* if its density is its greatest saddle. With a relevance threshold above 1 all flat peaks
//! merge in the first round of noise, each into its *best* neighbour: the greatest patch at that saddle. So
//! after one round a flat peak is in the clump of its *group*: the peak at which the chain of best neighbours
//! leaves the flat ones, or the greatest peak of its surroundings.
//!
//! ```text
//!     densities      9   1   1   1   1   1        peaks  P a b c d e, by place
//!     best                 P<--a<--b<--c<--d<--e    group of a to e: P
//! ```
//!
//! With a threshold of 1 or less no flat peak is noise. Then all flat peaks of a saddle merge in the first
//! round of the saddle pass, or none does. Before that round each is a clump of its own, and its key saddle
//! leads to its best neighbour. This needs neighbours that are not noise either: none may be less dense than
//! its own greatest saddle. Flat peaks with such neighbours only are *smooth*.
//!
//! So a tie of a smooth peak matters in three cases only:
//!
//! - It leads to the best neighbour of one of its ends at that saddle.
//! - It is the first of those ties between two groups: they join the same two clumps after the first round.
//! - It leads from a peak that other ranks know, so that not all of its edges are known here.
//!
//! A test compares the rounds of [`super::ties`] with all ties and with those that matter.

use super::forest::low_first;
use crate::ids::PeakIdx;
use crate::sync::{AtomicU32, AtomicU64, Ordering::Relaxed};
use crate::union_find::root;

/// Finds smooth peaks. Any number of threads may pass it edges at the same time.
pub struct PlateauFinder<'a> {
    rho: &'a [f64],
    /// Which peaks may have edges that are not known here; empty if none has.
    open: &'a [bool],
    /// The bits of the greatest saddle of each peak.
    top: Vec<AtomicU64>,
    /// The best neighbour of each flat peak; `NONE` without one.
    best: Vec<AtomicU32>,
    /// One bit for each peak with a neighbour that may be noise.
    rough: Vec<AtomicU32>,
}

/// The groups of smooth peaks.
pub struct Plateaus<'a> {
    rho: &'a [f64],
    best: Vec<AtomicU32>,
    /// Union-find: each smooth peak with a greater neighbour points to the best one.
    next: Vec<AtomicU32>,
    /// One bit per smooth peak.
    smooth: Vec<u32>,
}

/// What a tie can decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TieUse {
    /// A first round.
    Decides,
    /// Nothing: it is inside one group.
    Within,
    /// What the first of all ties between these two groups decides, smaller index first.
    Between([PeakIdx; 2]),
}

impl<'a> PlateauFinder<'a> {
    /// Peaks of densities `rho`; `open` says which of them may have further edges, and is empty if none has.
    pub fn new(rho: &'a [f64], open: &'a [bool]) -> Self {
        let none = || AtomicU32::new(PeakIdx::NONE.0);
        Self {
            rho,
            open,
            top: rho.iter().map(|_| AtomicU64::new(0)).collect(),
            best: rho.iter().map(|_| none()).collect(),
            rough: (0..rho.len().div_ceil(32)).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Notes an edge. The greatest edge of each peak must be noted before the first call of [`Self::meet`].
    #[inline]
    pub fn note(&self, saddle: f64, patches: [PeakIdx; 2]) {
        for peak in patches {
            let top = &self.top[peak.at()];
            if top.load(Relaxed) < saddle.to_bits() {
                top.fetch_max(saddle.to_bits(), Relaxed);
            }
        }
    }

    /// Compares the ends of an edge, which need not have been noted if it is nobody's greatest one.
    #[inline]
    pub fn meet(&self, saddle: f64, [a, b]: [PeakIdx; 2]) {
        self.meet_one(saddle, a, b);
        self.meet_one(saddle, b, a);
    }

    #[inline]
    fn meet_one(&self, saddle: f64, peak: PeakIdx, neighbour: PeakIdx) {
        if self.rho[peak.at()] != saddle || self.top(peak) != saddle {
            return;
        }
        let is_open = self.open.get(neighbour.at()).is_some_and(|open| *open);
        if is_open || self.rho[neighbour.at()] < self.top(neighbour) {
            self.rough[peak.at() / 32].fetch_or(1 << (peak.0 % 32), Relaxed);
        }
        let best = &self.best[peak.at()];
        let mut now = best.load(Relaxed);
        while PeakIdx(now).is_none() || exceeds(self.rho, neighbour, PeakIdx(now)) {
            match best.compare_exchange_weak(now, neighbour.0, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(other) => now = other,
            }
        }
    }

    fn top(&self, peak: PeakIdx) -> f64 {
        f64::from_bits(self.top[peak.at()].load(Relaxed))
    }

    fn is_smooth(&self, peak: PeakIdx) -> bool {
        let is_rough = self.rough[peak.at() / 32].load(Relaxed) >> (peak.0 % 32) & 1 == 1;
        let is_open = self.open.get(peak.at()).is_some_and(|open| *open);
        self.rho[peak.at()] == self.top(peak) && !is_rough && !is_open
    }

    /// The groups, once all edges have met. Linear in the peaks.
    pub fn groups(self) -> Plateaus<'a> {
        let mut smooth = vec![0; self.rough.len()];
        let next = |i: usize| {
            let peak = PeakIdx::new(i);
            let best = PeakIdx(self.best[i].load(Relaxed));
            let is_smooth = self.is_smooth(peak);
            smooth[i / 32] |= u32::from(is_smooth) << (i % 32);
            let goes_on = is_smooth && !best.is_none() && exceeds(self.rho, best, peak);
            AtomicU32::new(if goes_on { best.0 } else { peak.0 })
        };
        let next = (0..self.rho.len()).map(next).collect();
        Plateaus { rho: self.rho, best: self.best, next, smooth }
    }
}

impl Plateaus<'_> {
    /// Whether a peak is smooth at a saddle.
    #[inline]
    pub fn is_smooth(&self, peak: PeakIdx, saddle: f64) -> bool {
        self.smooth[peak.at() / 32] >> (peak.0 % 32) & 1 == 1 && self.rho[peak.at()] == saddle
    }

    /// What a tie between two patches can decide, unless it leads to the best neighbour of an end that is not
    /// flat. Any number of threads may ask at the same time.
    #[inline]
    pub fn use_of(&self, saddle: f64, [a, b]: [PeakIdx; 2]) -> TieUse {
        let is_best = |peak: PeakIdx, other: PeakIdx| {
            self.rho[peak.at()] == saddle && self.best[peak.at()].load(Relaxed) == other.0
        };
        let is_smooth = self.is_smooth(a, saddle) || self.is_smooth(b, saddle);
        if !is_smooth || is_best(a, b) || is_best(b, a) {
            return TieUse::Decides;
        }
        match low_first([self.group(a), self.group(b)]) {
            [one, other] if one == other => TieUse::Within,
            groups => TieUse::Between(groups),
        }
    }

    /// Whether `a` is greater than `b` in the total order of peaks.
    #[inline]
    pub fn exceeds(&self, a: PeakIdx, b: PeakIdx) -> bool {
        exceeds(self.rho, a, b)
    }

    /// The group of a peak.
    #[inline]
    fn group(&self, peak: PeakIdx) -> PeakIdx {
        PeakIdx(root(&self.next, peak.0))
    }
}

/// Whether `a` is greater than `b` in the total order of [`MergeTree`](super::tree::MergeTree).
#[inline]
fn exceeds(rho: &[f64], a: PeakIdx, b: PeakIdx) -> bool {
    rho[a.at()] > rho[b.at()] || rho[a.at()] == rho[b.at()] && a < b
}
