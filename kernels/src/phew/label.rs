//! Labels: at which root does the ascent of each test cell end?
//!
//! Place in the flow: after [`super::ascent`]. The result is the number of a root per test cell, which is
//! all that [`super::saddle`] needs. This module uses pointers between test cells, but no densities.
//!
//! `up` is a forest of pointers along which the total order strictly rises, so every chain ends at a root,
//! which points to itself. On a rank alone the roots are the peaks; over several ranks ghosts are roots too.
//! [`compress`] replaces a pointer only by the end of its own chain. So whatever value another thread reads,
//! it is an ancestor, and relaxed loads and stores suffice. README.md in this folder proves it.

use super::test_cells::TestCells;
use crate::ids::{RootIdx, TestIdx};
use crate::mesh::local;
use crate::sync::{AtomicU32, Ordering::Relaxed};
use std::ops::Range;

/// Makes the test cells of `range` point to their roots.
///
/// Any number of threads may work on `up` at the same time, also if chains lead into the ranges of others.
pub fn compress(up: &[AtomicU32], range: Range<usize>) {
    for cell in range {
        flatten(up, cell as u32);
    }
}

/// Makes all cells on the chain from `cell` to its root point to the root.
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

/// The roots of the ascents among the test cells: one bit per cell, and a running count per 64 cells, so that
/// numbering a root is cheap.
#[derive(Debug, Clone, Default)]
pub struct RootSet {
    words: Vec<u64>,
    before: Vec<u32>,
    n_roots: usize,
}

/// The bits of the roots among 64 test cells from `first`.
pub fn root_word(up: &[AtomicU32], first: usize) -> u64 {
    let cells = &up[first..(first + 64).min(up.len())];
    cells
        .iter()
        .enumerate()
        .fold(0, |word, (i, u)| word | u64::from(u.load(Relaxed) as usize == first + i) << i)
}

impl RootSet {
    /// From one word for every 64 test cells.
    pub fn new(words: Vec<u64>) -> Self {
        let mut n_roots = 0;
        let mut before = Vec::with_capacity(words.len());
        for word in &words {
            before.push(n_roots);
            n_roots += word.count_ones();
        }
        Self { words, before, n_roots: n_roots as usize }
    }

    /// Number of roots.
    pub fn len(&self) -> usize {
        self.n_roots
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.n_roots == 0
    }

    /// Whether `cell` is a root.
    #[inline]
    pub fn is_root(&self, cell: TestIdx) -> bool {
        self.words[cell.at() >> 6] >> (cell.0 & 63) & 1 == 1
    }

    /// The index of the root at `cell`.
    #[inline]
    pub fn index(&self, cell: u32) -> RootIdx {
        let (word, bit) = ((cell >> 6) as usize, cell & 63);
        RootIdx(self.before[word] + (self.words[word] & ((1 << bit) - 1)).count_ones())
    }

    /// The roots among the test cells of a brick, each with its bit in the brick.
    #[inline(always)]
    pub fn of_brick(&self, test_cells: &TestCells, brick: usize) -> impl Iterator<Item = (TestIdx, u32)> {
        let (first, mask) = (test_cells.first[brick], test_cells.mask[brick]);
        // A brick of 64 test cells shifts all bits out.
        let beyond = u64::MAX.checked_shl(test_cells.first[brick + 1] - first).unwrap_or(0);
        let among = self.word_from(first as usize) & !beyond;
        local::bits(among).map(move |n| (TestIdx(first + n), local::nth_set_bit(mask, n)))
    }

    /// The bits of the roots among 64 test cells from `first`, which need not be a multiple of 64. Bits past
    /// the last test cell are 0.
    #[inline(always)]
    fn word_from(&self, first: usize) -> u64 {
        let (word, shift) = (first >> 6, first & 63);
        // The last 64 cells may reach past the last word.
        let [low, high] = [word, word + 1].map(|w| self.words.get(w).copied().unwrap_or(0));
        low >> shift | high << 1 << (63 - shift)
    }

    /// The indices of the roots among a range of test cells.
    pub fn indices(&self, cells: Range<usize>) -> Range<RootIdx> {
        RootIdx::new(self.before(cells.start))..RootIdx::new(self.before(cells.end))
    }

    /// Number of roots before test cell `cell`.
    pub fn before(&self, cell: usize) -> usize {
        if cell >> 6 == self.words.len() { self.n_roots } else { self.index(cell as u32).at() }
    }
}

/// Replaces the pointer of every test cell of `range`, which must point to its root, by the index of the
/// root.
pub fn label(up: &[AtomicU32], roots: &RootSet, range: Range<usize>) {
    for pointer in &up[range] {
        let root = pointer.load(Relaxed);
        debug_assert!(roots.is_root(TestIdx(root)));
        pointer.store(roots.index(root).0, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

        /// Reference: cell by cell.
        #[test]
        fn roots_are_counted_cell_by_cell(
            masks in prop::collection::vec(prop_oneof![any::<u64>(), Just(0), Just(u64::MAX)], 1..6),
            share in 1..9u32,
            seed in any::<u64>(),
        ) {
            let test_cells = TestCells::new(masks, &[], Vec::new());
            let n = test_cells.len();
            let is_root = |cell: usize| (seed.rotate_left(cell as u32 * 7 % 64) ^ cell as u64) % 8 < share.into();
            let up: Vec<AtomicU32> =
                (0..n).map(|cell| AtomicU32::new(if is_root(cell) { cell } else { cell + 1 } as u32)).collect();
            let roots = RootSet::new((0..n).step_by(64).map(|first| root_word(&up, first)).collect());
            let before = |cell: usize| (0..cell).filter(|cell| is_root(*cell)).count();
            prop_assert_eq!(roots.len(), before(n));
            for cell in 0..n {
                prop_assert_eq!(roots.is_root(TestIdx::new(cell)), is_root(cell));
                prop_assert_eq!(roots.before(cell), before(cell));
            }
            prop_assert_eq!(roots.before(n), before(n));
            for (brick, mask) in test_cells.mask.iter().enumerate() {
                let cells = test_cells.of_bricks(brick..brick + 1);
                let expected = cells.zip(local::bits(*mask)).filter(|(cell, _)| is_root(*cell));
                let found = roots.of_brick(&test_cells, brick).map(|(cell, bit)| (cell.at(), bit));
                prop_assert!(found.eq(expected));
            }
        }
    }

    #[test]
    fn chains_collapse_to_their_ends() {
        let chain = |next: &[u32]| next.iter().map(|&x| AtomicU32::new(x)).collect::<Vec<_>>();
        let up = chain(&[1, 2, 3, 3, 4, 4, 5, 0]);
        compress(&up, 0..8);
        let ends: Vec<u32> = up.iter().map(|u| u.load(Relaxed)).collect();
        assert_eq!(ends, [3, 3, 3, 3, 4, 4, 4, 3]);
        let roots = RootSet::new(vec![root_word(&up, 0)]);
        assert_eq!((roots.len(), roots.index(3), roots.index(4)), (2, RootIdx(0), RootIdx(1)));
        assert!(roots.is_root(TestIdx(4)) && !roots.is_root(TestIdx(5)));
        label(&up, &roots, 0..8);
        let labels: Vec<u32> = up.iter().map(|u| u.load(Relaxed)).collect();
        assert_eq!(labels, [0, 0, 0, 0, 1, 1, 1, 0]);
    }
}
