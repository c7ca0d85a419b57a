//! Small numbers for the peaks that edges name.

use crate::ids::PeakIdx;
use crate::simd::wide;
use rustc_hash::FxHashMap;
use std::hint::select_unpredictable;
use std::ops::Range;

/// Small numbers for peaks, from 0 on.
#[derive(Debug, Default)]
pub struct LocalIds {
    /// Peaks of these ranges are numbered one after the other, without a look-up.
    dense: Vec<Dense>,
    n_dense: u32,
    others: FxHashMap<PeakIdx, u32>,
}

/// A range of peaks: its first, their number, and how many are in the ranges before.
#[derive(Debug, Clone, Copy)]
struct Dense {
    first: u32,
    n: u32,
    before: u32,
}

/// No number.
const NONE: u32 = u32::MAX;

impl Dense {
    /// The number of a peak if it is in the range, else `id`.
    #[inline(always)]
    fn id_or(&self, peak: PeakIdx, id: u32) -> u32 {
        let place = peak.0.wrapping_sub(self.first);
        select_unpredictable(place < self.n, self.before.wrapping_add(place), id)
    }
}

impl LocalIds {
    /// Most peaks will be of `range`.
    pub fn from_range(range: Range<PeakIdx>) -> Self {
        let mut ids = Self::default();
        ids.expect(std::iter::once(range));
        ids
    }

    /// Most peaks will be of `ranges`, which are few and do not overlap. Forgets all others.
    pub fn expect(&mut self, ranges: impl Iterator<Item = Range<PeakIdx>>) {
        self.forget();
        self.dense.clear();
        self.n_dense = 0;
        for range in ranges.filter(|range| range.start < range.end) {
            let n = range.end.0 - range.start.0;
            self.dense.push(Dense { first: range.start.0, n, before: self.n_dense });
            self.n_dense += n;
        }
    }

    /// Forgets all peaks but those of the ranges.
    pub fn forget(&mut self) {
        self.others.clear();
    }

    /// The number of a peak. Which range it is in cannot be foreseen, so nothing branches on it.
    #[inline(always)]
    pub fn id(&mut self, peak: PeakIdx) -> u32 {
        let id = self.dense.iter().fold(NONE, |id, dense| dense.id_or(peak, id));
        if id == NONE { self.of_other(peak) } else { id }
    }

    /// The numbers of the first `n` of `peaks`.
    pub fn ids<const MOST: usize>(&mut self, peaks: &[PeakIdx; MOST], n: usize) -> [u32; MOST] {
        let mut ids = wide(
            #[inline(always)]
            || {
                let mut ids = [NONE; MOST];
                for dense in &self.dense {
                    ids.iter_mut().zip(peaks).for_each(|(id, peak)| *id = dense.id_or(*peak, *id));
                }
                ids
            },
        );
        for (id, peak) in ids.iter_mut().zip(peaks).take(n).filter(|(id, _)| **id == NONE) {
            *id = self.of_other(*peak);
        }
        ids
    }

    #[inline]
    fn of_other(&mut self, peak: PeakIdx) -> u32 {
        let next = self.count() as u32;
        *self.others.entry(peak).or_insert(next)
    }

    /// The peaks outside of the ranges, ascending, and their numbers.
    pub fn others(&self) -> Vec<(PeakIdx, u32)> {
        let mut others: Vec<_> = self.others.iter().map(|(peak, id)| (*peak, *id)).collect();
        others.sort_unstable();
        others
    }

    /// How many numbers there are.
    pub fn count(&self) -> usize {
        self.n_dense as usize + self.others.len()
    }
}
