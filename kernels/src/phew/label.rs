//! Labels: which peak does the ascent of a test cell end in?
//!
//! `up` is a forest of pointers along which the total order strictly rises, so every chain ends at a
//! peak, which points to itself. [`compress`] only ever replaces a pointer by the end of the
//! same chain, so whatever another thread reads, it reads an ancestor, and relaxed loads and stores
//! suffice: no pass waits for another's write, and the end of every chain stays what it was. `README.md` beside
//! this file argues it in full.

use super::test_cells::TestCells;
use crate::ids::{PeakIdx, TestIdx};
use crate::mesh::local;
use crate::sync::{AtomicU32, Ordering::Relaxed};
use std::ops::Range;

/// Makes the test cells of `range` point to their peaks.
///
/// Any number of callers may work on `up` at the same time, also where chains lead into others' ranges. About 10 ns a cell.
pub fn compress(up: &[AtomicU32], range: Range<usize>) {
    for cell in range {
        flatten(up, cell as u32);
    }
}

/// Makes all cells on the way from one to its peak point to that.
#[inline]
fn flatten(up: &[AtomicU32], cell: u32) {
    let above = |cell: u32| up[cell as usize].load(Relaxed);
    let next = above(cell);
    let mut end = above(next);
    if end == next {
        return;
    }
    while above(end) != end {
        end = above(end);
    }
    let mut at = cell;
    while at != end {
        let next = above(at);
        up[at as usize].store(end, Relaxed);
        at = next;
    }
}

/// The peaks among the test cells: one bit a cell, counted so that the rank of one is cheap.
#[derive(Debug, Clone, Default)]
pub struct PeakSet {
    words: Vec<u64>,
    before: Vec<u32>,
    n_peaks: usize,
}

/// The bits of the peaks among 64 test cells from `first`.
pub fn peak_word(up: &[AtomicU32], first: usize) -> u64 {
    let cells = &up[first..(first + 64).min(up.len())];
    cells
        .iter()
        .enumerate()
        .fold(0, |word, (i, u)| word | u64::from(u.load(Relaxed) as usize == first + i) << i)
}

impl PeakSet {
    /// From one word for every 64 test cells.
    pub fn new(words: Vec<u64>) -> Self {
        let mut n_peaks = 0;
        let mut before = Vec::with_capacity(words.len());
        for word in &words {
            before.push(n_peaks);
            n_peaks += word.count_ones();
        }
        Self { words, before, n_peaks: n_peaks as usize }
    }

    /// Number of peaks.
    pub fn len(&self) -> usize {
        self.n_peaks
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.n_peaks == 0
    }

    /// Whether a peak stands at `cell`.
    #[inline]
    pub fn is_peak(&self, cell: TestIdx) -> bool {
        self.words[cell.at() >> 6] >> (cell.0 & 63) & 1 == 1
    }

    /// The index of the peak that stands at `cell`.
    #[inline]
    pub fn index(&self, cell: u32) -> PeakIdx {
        let (word, bit) = ((cell >> 6) as usize, cell & 63);
        PeakIdx(self.before[word] + (self.words[word] & ((1 << bit) - 1)).count_ones())
    }

    /// The peaks among the test cells of a brick, and the bit of each in it.
    #[inline(always)]
    pub fn of_brick(&self, test_cells: &TestCells, brick: usize) -> impl Iterator<Item = (TestIdx, u32)> {
        let (first, mask) = (test_cells.first[brick], test_cells.mask[brick]);
        let beyond = u64::MAX.checked_shl(test_cells.first[brick + 1] - first).unwrap_or(0);
        let among = self.word_from(first as usize) & !beyond;
        local::bits(among).map(move |n| (TestIdx(first + n), local::nth_set_bit(mask, n)))
    }

    /// The bits of the peaks among 64 test cells from `first`.
    #[inline(always)]
    fn word_from(&self, first: usize) -> u64 {
        let (word, shift) = (first >> 6, first & 63);
        let [low, high] = [word, word + 1].map(|w| self.words.get(w).copied().unwrap_or(0));
        low >> shift | high << 1 << (63 - shift)
    }

    /// The indices of the peaks among a run of test cells.
    pub fn indices(&self, run: Range<usize>) -> Range<PeakIdx> {
        PeakIdx::new(self.before(run.start))..PeakIdx::new(self.before(run.end))
    }

    /// Number of peaks before test cell `cell`.
    pub fn before(&self, cell: usize) -> usize {
        if cell >> 6 == self.words.len() { self.n_peaks } else { self.index(cell as u32).at() }
    }
}

/// Puts the index of its peak in the place of the pointer of every test cell of `range`, which must point to it.
pub fn label(up: &[AtomicU32], peaks: &PeakSet, range: Range<usize>) {
    for pointer in &up[range] {
        let peak = pointer.load(Relaxed);
        debug_assert!(peaks.is_peak(TestIdx(peak)));
        pointer.store(peaks.index(peak).0, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_collapse_to_their_ends() {
        let chain = |next: &[u32]| next.iter().map(|&x| AtomicU32::new(x)).collect::<Vec<_>>();
        let up = chain(&[1, 2, 3, 3, 4, 4, 5, 0]);
        compress(&up, 0..8);
        let ends: Vec<u32> = up.iter().map(|u| u.load(Relaxed)).collect();
        assert_eq!(ends, [3, 3, 3, 3, 4, 4, 4, 3]);
        let peaks = PeakSet::new(vec![peak_word(&up, 0)]);
        assert_eq!((peaks.len(), peaks.index(3), peaks.index(4)), (2, PeakIdx(0), PeakIdx(1)));
        assert!(peaks.is_peak(TestIdx(4)) && !peaks.is_peak(TestIdx(5)));
        label(&up, &peaks, 0..8);
        let labels: Vec<u32> = up.iter().map(|u| u.load(Relaxed)).collect();
        assert_eq!(labels, [0, 0, 0, 0, 1, 1, 1, 0]);
    }
}
