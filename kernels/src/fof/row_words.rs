//! Rows of blocks as bits: which blocks of two rows touch, 64 places at a time.
//!
//! ```text
//!     place along x       0 1 2 3 4 5 6 7
//!     row                 . a . . b c . .       01001100
//!     other               d . e . . f g .       10100110
//!     other, spread                             11111111    each bit and its two neighbours
//!     both                                      01001100    a, b and c touch a block of the other row
//!
//!     a meets d (x - 1) and e (x + 1); b meets f (x + 1); c meets f and g; across the ends of a periodic row the last block
//!     meets the first
//! ```
//!
//! Where the places of a word begin, the number of the first block is noted. The number of bits below a place gives the block
//! there. Most blocks touch none of a given row: bits find that for 64 places at once, where walking both lists block by block
//! guesses wrong at nearly every step.

use super::block_reach::{BlockReach, Within};
use super::blocks::{BlockContact, ContactVisitor, FofBlock};
use super::grid::SearchGrid;
use crate::mesh::local::bits;

/// 64 places of a row, of which at least one has a block.
#[derive(Debug, Clone, Copy)]
struct RowWord {
    /// x of its first place, divided by 64.
    number: u32,
    /// The first block, by its place in the row.
    first: u32,
    /// The places that have a block.
    places: u64,
}

/// The words of a row, ascending.
#[derive(Debug, Default)]
struct RowWords(Vec<RowWord>);

impl RowWords {
    #[inline(always)]
    fn fill(&mut self, row: &[FofBlock]) {
        self.0.clear();
        let mut word = RowWord { number: row[0].x >> 6, first: 0, places: 0 };
        for (block, i) in row.iter().zip(0..) {
            if block.x >> 6 != word.number {
                self.0.push(word);
                word = RowWord { number: block.x >> 6, first: i, places: 0 };
            }
            word.places |= 1 << (block.x & 63);
        }
        self.0.push(word);
    }

    /// The word with this number, or one without blocks, in a row of `n_blocks`. `at` goes from a word that is not after it to
    /// the first that is not before it.
    #[inline(always)]
    fn find(&self, number: u32, n_blocks: usize, at: &mut usize) -> Surroundings {
        while self.0.get(*at).is_some_and(|word| word.number < number) {
            *at += 1;
        }
        let before = at.checked_sub(1).map(|before| self.0[before]);
        let here = self.0.get(*at).copied().filter(|word| word.number == number);
        let after = self.0.get(*at + usize::from(here.is_some()));
        let first = self.0.get(*at).map_or(n_blocks, |word| word.first as usize);
        Surroundings {
            places: here.map_or(0, |word| word.places),
            first,
            before: before.filter(|word| word.number + 1 == number).map_or(0, |word| word.places >> 63),
            after: after.filter(|word| word.number == number + 1).map_or(0, |word| word.places & 1),
        }
    }
}

/// A word of a row with the places next to it.
#[derive(Debug, Clone, Copy)]
struct Surroundings {
    places: u64,
    /// The first block that is not before its places.
    first: usize,
    /// 1 if there is a block next to its first place, before it, else 0.
    before: u64,
    /// 1 if there is a block next to its last place, after it, else 0.
    after: u64,
}

impl Surroundings {
    /// Places with a block there or next to them.
    #[inline(always)]
    fn spread(&self) -> u64 {
        self.places | self.places << 1 | self.places >> 1 | self.before | self.after << 63
    }

    /// The first block of the row that is not before the place next to `place`.
    #[inline(always)]
    fn first_near(&self, place: u32) -> usize {
        let below = self.places & ((1 << place) - 1);
        let next_below = if place == 0 { self.before } else { below >> (place - 1) };
        self.first + below.count_ones() as usize - next_below as usize
    }
}

/// Walks over pairs of rows of one grid.
#[derive(Debug)]
pub struct RowWalk<'a> {
    /// The cells.
    pub grid: &'a SearchGrid,
    /// Which cells of two blocks are within reach.
    pub reach: &'a BlockReach,
    row: RowWords,
    other: RowWords,
}

impl<'a> RowWalk<'a> {
    /// Over the rows of a grid.
    pub fn new(grid: &'a SearchGrid, reach: &'a BlockReach) -> Self {
        Self { grid, reach, row: RowWords::default(), other: RowWords::default() }
    }

    /// Takes the first row of the pairs that follow.
    #[inline(always)]
    pub fn start(&mut self, row: &[FofBlock]) {
        self.row.fill(row);
    }

    /// Visits all touching pairs of blocks of the row that [`start`](Self::start) took and another one. Linear in both.
    #[inline(always)]
    pub fn meet(
        &mut self,
        row: &[FofBlock],
        other: &[FofBlock],
        yz: &Within<16>,
        visit: &mut impl ContactVisitor,
    ) {
        self.other.fill(other);
        let along = [self.reach.along_x(-4), self.reach.along_x(0), self.reach.along_x(4)];
        let mut at = 0;
        for word in &self.row.0 {
            let near = self.other.find(word.number, other.len(), &mut at);
            for place in bits(word.places & near.spread()) {
                let before = word.places & ((1 << place) - 1);
                let a = &row[word.first as usize + before.count_ones() as usize];
                for b in other[near.first_near(place)..].iter().take_while(|b| b.x <= a.x + 1) {
                    visit.pair(a, b, BlockContact { x: along[(b.x + 1 - a.x) as usize], yz });
                }
            }
        }
        let (first, last) = (&row[0], &row[row.len() - 1]);
        self.across_end((last, &other[0]), 1, yz, visit);
        self.across_end((first, &other[other.len() - 1]), -1, yz, visit);
    }

    /// Visits block `a` with block `b`, if `b` is next to it across the end of a periodic row; `offset` (1 or -1) is the
    /// direction.
    #[inline(always)]
    pub fn across_end(
        &self,
        (a, b): (&FofBlock, &FofBlock),
        offset: i32,
        yz: &Within<16>,
        visit: &mut impl ContactVisitor,
    ) {
        let axis = &self.grid.axes[0];
        let ends = if offset == 1 { [axis.n_blocks() - 1, 0] } else { [0, axis.n_blocks() - 1] };
        if axis.is_periodic() && [a.x, b.x] == ends {
            let x = self.reach.along_x(i64::from(offset) * axis.in_last() as i64);
            visit.pair(a, b, BlockContact { x, yz });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The x of each pair of blocks.
    struct Pairs(Vec<[u32; 2]>);

    impl ContactVisitor for Pairs {
        fn pair(&mut self, a: &FofBlock, b: &FofBlock, _: BlockContact) {
            self.0.push([a.x, b.x]);
        }
    }

    fn row() -> impl Strategy<Value = Vec<FofBlock>> {
        let x = prop_oneof![0..20u32, 55..75u32, 120..140u32, 0..400u32];
        let block = |x| FofBlock { mask: 1, first: 0, x };
        prop::collection::btree_set(x, 1..60).prop_map(move |places| places.into_iter().map(block).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

        /// Reference: all pairs of two rows of an open box.
        #[test]
        fn pairs_are_those_of_all_blocks(row in row(), other in row()) {
            let grid = SearchGrid::new(1.0, None, [0.0; 3], [1000.0; 3]);
            let reach = BlockReach::new(&grid);
            let mut walk = RowWalk::new(&grid, &reach);
            let mut found = Pairs(Vec::new());
            walk.start(&row);
            walk.meet(&row, &other, reach.along_yz([0, 4]), &mut found);
            let pairs = row.iter().flat_map(|a| other.iter().map(move |b| [a.x, b.x]));
            let expected: Vec<[u32; 2]> = pairs.filter(|[a, b]| a.abs_diff(*b) <= 1).collect();
            prop_assert_eq!(found.0, expected);
        }
    }
}
