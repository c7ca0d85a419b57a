//! Local ids: consecutive small numbers for the peaks that edges name.
//!
//! Place in the flow: the union-find arrays of [`super::forest`] are indexed by them, so their length is the
//! number of named peaks, not the largest index. It uses only indices.
//!
//! # Worked example
//!
//! Two expected ranges, 10..14 and 40..42, and two other peaks, which are numbered when they first come up:
//!
//! ```text
//!     peak        10  11  12  13 | 40  41 | 77   5   77
//!     local id     0   1   2   3 |  4   5 |  6   7    6
//! ```
//!
//! A peak of an expected range is found by comparisons alone, without a branch: `peak - first < n` for each
//! of the few ranges, where a peak below `first` wraps around to a large number. Other peaks go through a
//! hash map.

use crate::ids::PeakIdx;
use crate::simd::wide;
use rustc_hash::FxHashMap;
use std::hint::select_unpredictable;
use std::ops::Range;

/// Numbers peaks consecutively from 0 on.
#[derive(Debug, Default)]
pub struct LocalIds {
    /// The expected ranges; their peaks are numbered one range after the other.
    dense: Vec<Dense>,
    n_dense: u32,
    others: FxHashMap<PeakIdx, u32>,
}

/// An expected range: its first peak, its number of peaks, and the number of peaks in the ranges before it.
#[derive(Debug, Clone, Copy)]
struct Dense {
    first: u32,
    n: u32,
    before: u32,
}

/// No id.
const NONE: u32 = u32::MAX;

impl Dense {
    /// The id of a peak if it is in the range, else `id`. Without a branch: which range a peak is in cannot
    /// be predicted.
    #[inline(always)]
    fn id_or(&self, peak: PeakIdx, id: u32) -> u32 {
        let place = peak.0.wrapping_sub(self.first);
        select_unpredictable(place < self.n, self.before.wrapping_add(place), id)
    }
}

impl LocalIds {
    /// Expects `ranges`, which must be few and not overlap. Forgets all other peaks.
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

    /// Forgets all peaks outside the expected ranges.
    pub fn forget(&mut self) {
        self.others.clear();
    }

    /// The id of a peak; a new one for a peak that has none.
    #[inline(always)]
    pub fn id(&mut self, peak: PeakIdx) -> u32 {
        let id = self.dense.iter().fold(NONE, |id, dense| dense.id_or(peak, id));
        if id == NONE { self.of_other(peak) } else { id }
    }

    /// The ids of the first `n` of `peaks`, as [`id`](Self::id) gives them in this order; undefined beyond.
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

    /// The peaks outside the expected ranges with their ids, by ascending peak.
    pub fn others(&self) -> Vec<(PeakIdx, u32)> {
        let mut others: Vec<_> = self.others.iter().map(|(peak, id)| (*peak, *id)).collect();
        others.sort_unstable();
        others
    }

    /// Number of ids given out; those of all peaks of the expected ranges count.
    pub fn count(&self) -> usize {
        self.n_dense as usize + self.others.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reference: a list of all peaks in the order of their ids.
    struct Plain(Vec<PeakIdx>);

    impl Plain {
        fn id(&mut self, peak: PeakIdx) -> u32 {
            let known = self.0.iter().position(|p| *p == peak);
            known.unwrap_or_else(|| {
                self.0.push(peak);
                self.0.len() - 1
            }) as u32
        }
    }

    /// Ranges that do not overlap, some of them empty, and peaks in and around them.
    fn ranges_and_peaks() -> impl Strategy<Value = (Vec<Range<PeakIdx>>, Vec<PeakIdx>)> {
        let ranges = prop::collection::vec((0..6u32, 0..6u32), 0..5).prop_map(|lengths| {
            let mut end = 10;
            let range = |(gap, n): (u32, u32)| {
                let first = end + gap;
                end = first + n;
                PeakIdx(first)..PeakIdx(end)
            };
            lengths.into_iter().map(range).collect()
        });
        let peak = prop_oneof![8 => 0..70u32, 1 => Just(u32::MAX - 1), 1 => any::<u32>()];
        (ranges, prop::collection::vec(peak.prop_map(PeakIdx), 0..120))
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        #[test]
        fn ids_are_those_of_a_list((ranges, peaks) in ranges_and_peaks()) {
            let in_ranges = ranges.iter().flat_map(|range| (range.start.0..range.end.0).map(PeakIdx));
            let mut plain = Plain(in_ranges.collect());
            let n_dense = plain.0.len();
            let mut ids = LocalIds::default();
            ids.expect(ranges.iter().cloned());
            let (one_by_one, together) = peaks.split_at(peaks.len() / 2);
            for peak in one_by_one {
                prop_assert_eq!(ids.id(*peak), plain.id(*peak));
            }
            for some in together.chunks(8) {
                let mut padded = [PeakIdx(3); 8];
                padded[..some.len()].copy_from_slice(some);
                let found = ids.ids(&padded, some.len());
                let expected: Vec<u32> = some.iter().map(|peak| plain.id(*peak)).collect();
                prop_assert_eq!(&found[..some.len()], &expected);
            }
            prop_assert_eq!(ids.count(), plain.0.len());
            let mut others: Vec<_> = plain.0.iter().copied().zip(0..).skip(n_dense).collect();
            others.sort_unstable();
            prop_assert_eq!(ids.others(), others);
        }
    }

    #[test]
    fn the_worked_example() {
        let mut ids = LocalIds::default();
        ids.expect([10..14, 40..42].map(|r| PeakIdx(r.start)..PeakIdx(r.end)).into_iter());
        let found = [10, 11, 12, 13, 40, 41, 77, 5, 77].map(|peak| ids.id(PeakIdx(peak)));
        assert_eq!(found, [0, 1, 2, 3, 4, 5, 6, 7, 6]);
    }
}
