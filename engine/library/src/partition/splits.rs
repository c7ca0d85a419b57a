//! Cell ownership: the space-filling curve through the box, cut into one piece per rank.
//!
//! A mesh of two levels, cut for three ranks. The deepest level is 2, so a 2D picture has 16 keys along the
//! curve (Z order). One quadrant is refined; every other leaf covers four keys and is known by its first one:
//!
//! ```text
//!   +-------+-------+      keys   0 | 1 | 2 | 3 | 4..7  | 8..11 | 12..15
//!   |       |       |      leaves *   *   *   *   *       *       *
//!   | 8..11 | 12..15|
//!   +---+---+-------+      splits of 7 leaves: the keys with at most 7·1/3 = 2 and 7·2/3 = 4 leaves below
//!   | 2 | 3 |       |             rank 0: keys 0 1     rank 1: keys 2 3     rank 2: keys 4..15
//!   +---+---+ 4..7  |             split 0 = 2          split 1 = 4
//!   | 0 | 1 |       |
//!   +---+---+-------+      the refined parent (level 1, keys 0..3) has the key 0: rank 0 owns it
//! ```
//!
//! [`Splits::by_weight`] moves a split within its tolerance to the key with the most trailing zero bits. If
//! the tolerance reaches from key 22 = 10110 to key 27 = 11011, the split is 24 = 11000: a block of 8 keys
//! starts there.
//!
//! Invariants: splits ascend and are the same on all ranks; no split lies inside a leaf; equal neighbouring
//! splits mean that a rank owns nothing.

use super::bounds::{are_light, bounds, by_digits};
use super::key_part::KeyPart;
use super::oct_record::OctRecord;
use crate::exchange;
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_kernels::geom::{Domain, cell_side};
use inselberg_kernels::mesh::local;
use inselberg_kernels::sfc::morton;
use rayon::prelude::*;

/// The parts of the box that the ranks own.
///
/// The key of a cell is the Morton key of its lower corner on the grid of the deepest level. Every cell, leaf
/// or split, belongs to the rank that owns its key. Rank r owns the keys from split r - 1 up to, but not
/// including, split r. A rank may own nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splits {
    deepest: u8,
    /// First key of every rank but the first, ascending.
    first: Keys,
}

/// Keys, in half the bytes where all of them are short. Every rank holds the splits of all ranks, so their
/// size matters.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Keys {
    Short(Vec<u64>),
    Long(Vec<u128>),
}

/// The least key that is too long for [`Keys::Short`].
const LONG: u128 = 1 << 63;

impl Keys {
    fn new(keys: Vec<u128>) -> Self {
        match keys.iter().all(|key| *key < LONG || *key == u128::MAX) {
            true => Self::Short(shortened(&keys)),
            false => Self::Long(keys),
        }
    }

    /// Collective: the keys of all ranks, in the order of the ranks. `are_short` must be the same on all
    /// ranks.
    fn gather(own: &[u128], are_short: bool, comm: &Comm) -> Result<Self, CommError> {
        Ok(match are_short {
            true => Self::Short(comm.all_gather(&shortened(own))?),
            false => Self::Long(comm.all_gather(own)?),
        })
    }

    fn len(&self) -> usize {
        match self {
            Self::Short(keys) => keys.len(),
            Self::Long(keys) => keys.len(),
        }
    }

    fn get(&self, i: usize) -> Option<u128> {
        match self {
            Self::Short(keys) => keys.get(i).map(|key| u128::from(*key)),
            Self::Long(keys) => keys.get(i).copied(),
        }
    }

    /// The number of keys that are at most `key`.
    #[inline]
    fn count_below(&self, key: u128) -> usize {
        match self {
            Self::Short(keys) => keys.partition_point(|first| u128::from(*first) <= key),
            Self::Long(keys) => keys.partition_point(|first| *first <= key),
        }
    }
}

/// The keys in 64 bits; `u128::MAX`, which is above any key, becomes `u64::MAX`.
fn shortened(keys: &[u128]) -> Vec<u64> {
    keys.iter().map(|key| u64::try_from(*key).unwrap_or(u64::MAX)).collect()
}

/// The key of a cell on the grid of level `deepest`.
pub(super) fn key(deepest: u8, level: u8, position: [u32; 3]) -> u128 {
    match deepest.checked_sub(level) {
        Some(up) => morton(position) << (3 * u32::from(up)),
        None => morton(position) >> (3 * u32::from(level - deepest)),
    }
}

impl Splits {
    /// One rank that owns everything, of cells down to level `deepest`.
    pub fn one(deepest: u8) -> Self {
        Self { deepest, first: Keys::Short(Vec::new()) }
    }

    /// Collective: splits that give all ranks the same number of `keys`, to within one. `keys` are the sorted
    /// keys of the leaves that this rank holds, on the grid of level `deepest`. The result depends only on
    /// the keys of all ranks together. Without any key, rank 0 owns everything. Costs what [`bounds`] does.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn balanced(deepest: u8, keys: Vec<u128>, comm: &Comm) -> Result<Self, CommError> {
        Ok(Self { deepest, first: Keys::new(bounds(comm, &keys)?) })
    }

    /// Collective: splits that give all ranks about the same weight. `octs` are the keys of the first leaves
    /// of octs, in any order, and the weights of the octs. The weight of a rank may deviate from the mean by
    /// the part `slack` of it, and by the octs at a split. Within that tolerance, a split is the key with the
    /// most trailing zero bits, so that regions are compact.
    ///
    /// No leaf is cut: a leaf that contained a split in its interior would contain the whole block after the
    /// split, and with it the key of another leaf.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn by_weight(
        deepest: u8,
        mut octs: Vec<(u128, u32)>,
        slack: f64,
        comm: &Comm,
    ) -> Result<Self, CommError> {
        octs.par_sort_unstable();
        // All threads fill new memory; then one adds up.
        let weights = octs.par_iter().map(|(_, weight)| u64::from(*weight));
        let mut before: Vec<u64> = rayon::iter::once(0).chain(weights).collect();
        (1..before.len()).for_each(|i| before[i] += before[i - 1]);
        let keys: Vec<u128> = octs.into_par_iter().map(|(key, _)| key).collect();
        let n_ranks = comm.n_ranks();
        let is_long = keys.last().is_some_and(|greatest| *greatest >= LONG);
        let sums = [before[keys.len()], keys.len() as u64, is_long.into()];
        let sums = comm.all_reduce_counts(&sums, Reduce::Sum)?;
        let cuts =
            Cuts { whole: sums[0], reach: (sums[0] as f64 / n_ranks as f64 * slack / 2.0) as u64, n_ranks };
        let first = match are_light(sums[1], n_ranks) {
            // There is nothing to divide: rank 0 owns everything.
            _ if cuts.whole == 0 => Keys::new(vec![u128::MAX; n_ranks - 1]),
            true => {
                let part = KeyPart::gather(comm, &keys, |n| before[n])?;
                drop((keys, before));
                Keys::gather(&cuts.by_parts(comm, part)?, sums[2] == 0, comm)?
            }
            false => {
                let find = |ends: Vec<u64>| by_digits(comm, &keys, |n| before[n], &ends);
                let splits = 0..n_ranks - 1;
                Keys::new(match cuts.reach {
                    0 => find(splits.map(|i| cuts.high(i)).collect())?,
                    _ => {
                        let ends = find(splits.flat_map(|i| [cuts.low(i), cuts.high(i)]).collect())?;
                        ends.chunks_exact(2).map(|ends| most_aligned(ends[0], ends[1])).collect()
                    }
                })
            }
        };
        Ok(Self { deepest, first })
    }

    /// Number of ranks.
    pub fn n_ranks(&self) -> usize {
        self.first.len() + 1
    }

    /// The deepest level of cells on any rank. Keys refer to its grid.
    pub fn deepest(&self) -> u8 {
        self.deepest
    }

    /// The rank that owns a cell. Logarithmic in the number of ranks.
    #[inline]
    pub fn owner(&self, level: u8, position: [u32; 3]) -> Rank {
        self.owner_of(key(self.deepest, level, position))
    }

    /// The rank that owns all cells of an oct; `None` if there is no such rank or no cell. Logarithmic in the
    /// number of ranks.
    pub(super) fn owner_of_oct(&self, oct: &OctRecord) -> Option<Rank> {
        let first = key(self.deepest, oct.level, oct.cell(0));
        let last = first + (7 << (3 * u32::from(self.deepest.saturating_sub(oct.level))));
        let owner = self.owner_of(first);
        (oct.exists != 0 && owner == self.owner_of(last)).then_some(owner)
    }

    /// The ranks that own cells of an oct, ascending, each with the mask of its cells. Logarithmic in the
    /// number of ranks.
    pub(super) fn owners_of(&self, oct: &OctRecord) -> impl Iterator<Item = (Rank, u8)> + '_ {
        let first = key(self.deepest, oct.level, oct.cell(0));
        let up = 3 * u32::from(self.deepest.saturating_sub(oct.level));
        let owner = move |bit: u32| self.owner_of(first + (u128::from(bit) << up));
        let is_whole = self.owner_of_oct(oct).is_some();
        let mut left = oct.exists;
        std::iter::from_fn(move || {
            let rank = owner(local::bits(left.into()).next()?);
            let own = local::bits(left.into()).take_while(|bit| is_whole || owner(*bit) == rank);
            let own = own.fold(0, |own, bit| own | 1 << bit);
            left &= !own;
            Some((rank, own))
        })
    }

    /// The ranks that own any key in the region of a cell, ascending. Linear in their number.
    pub fn owners_within(&self, level: u8, position: [u32; 3]) -> impl Iterator<Item = Rank> + '_ {
        let (first, last) = self.region(level, position);
        let ranks = self.owner_of(first).0..=self.owner_of(last).0;
        ranks.map(Rank).filter(|rank| !self.owns_nothing(*rank))
    }

    /// Whether `rank` owns all of the region of a cell.
    #[inline]
    pub fn owns_all(&self, rank: Rank, level: u8, position: [u32; 3]) -> bool {
        let (first, last) = self.region(level, position);
        self.start(rank) <= first && self.end(rank).is_none_or(|end| last < end)
    }

    /// First and last key in the region of a cell.
    fn region(&self, level: u8, position: [u32; 3]) -> (u128, u128) {
        let first = key(self.deepest, level, position);
        (first, first + (1 << (3 * u32::from(self.deepest.saturating_sub(level)))) - 1)
    }

    fn owner_of(&self, key: u128) -> Rank {
        Rank(self.first.count_below(key) as u32)
    }

    fn owns_nothing(&self, rank: Rank) -> bool {
        self.end(rank) == Some(self.start(rank))
    }

    /// The first key of a rank.
    fn start(&self, rank: Rank) -> u128 {
        match rank.at() {
            0 => 0,
            r => self.first.get(r - 1).expect("every rank but the first has a first key"),
        }
    }

    /// The first key after those of a rank; none for the last rank.
    fn end(&self, rank: Rank) -> Option<u128> {
        self.first.get(rank.at())
    }
}

/// The weights that may lie below each split: `low(i)` to `high(i)`, about the even share `middle(i)`.
struct Cuts {
    whole: u64,
    reach: u64,
    n_ranks: usize,
}

impl Cuts {
    fn middle(&self, i: usize) -> u64 {
        (u128::from(self.whole) * (i as u128 + 1) / self.n_ranks as u128) as u64
    }

    fn low(&self, i: usize) -> u64 {
        self.middle(i).saturating_sub(self.reach)
    }

    fn high(&self, i: usize) -> u64 {
        (self.middle(i) + self.reach).min(self.whole - 1)
    }

    /// Collective: the split that this rank begins with; empty on rank 0. One exchange.
    fn by_parts(&self, comm: &Comm, part: KeyPart) -> Result<Vec<u128>, CommError> {
        let mut ends = part.find(self.n_ranks - 1, |i| self.low(i));
        ends.extend(part.find(self.n_ranks - 1, |i| self.high(i)));
        drop(part);
        ends.sort_unstable();
        let received = comm.exchange(exchange::grouped(&ends, |(i, key)| (Rank(*i as u32 + 1), *key)))?;
        let own: Vec<u128> = received.into_iter().flat_map(|(_, keys)| keys).collect();
        // Every rank but the first gets both ends of its tolerance, in any order.
        Ok(own.chunks_exact(2).map(|ends| most_aligned(ends[0].min(ends[1]), ends[0].max(ends[1]))).collect())
    }
}

/// The number above `low` and up to `high` with the most trailing zero bits; `high` if `low` is not below it.
fn most_aligned(low: u128, high: u128) -> u128 {
    match (low ^ high).checked_ilog2() {
        Some(bit) if low < high => high >> bit << bit,
        _ => high,
    }
}

/// The rank that owns the leaf around a point in units of the level-0 cell; `None` for points outside the
/// box.
pub(super) fn owner_of_place(splits: &Splits, domain: &Domain, x: [f64; 3]) -> Option<Rank> {
    let deepest = splits.deepest();
    let at = x.map(|x| (x / cell_side(deepest)).floor() as i64);
    domain.wrap(deepest, at).map(|position| splits.owner(deepest, position))
}

#[cfg(test)]
mod tests {
    use super::*;
    use inselberg_comm::run_threads;

    /// Splits of cells of level 3, each given as often as it weighs. Rank `holds(i)` modulo the number of
    /// ranks holds cell i.
    fn split(n_ranks: usize, weights: &[(u128, u64)], holds: impl Fn(usize) -> usize + Sync) -> Splits {
        let ran = run_threads(n_ranks, |comm| {
            let mine = |(i, _): &(usize, &(u128, u64))| holds(*i) % n_ranks == comm.rank().at();
            let mine = weights.iter().enumerate().filter(mine).map(|(_, w)| *w);
            let keys = mine.flat_map(|(key, weight)| (0..weight).map(move |_| key)).collect();
            Splits::balanced(3, keys, comm).expect("splits")
        });
        let all = ran.expect("no rank fails");
        assert!(all.iter().all(|s| *s == all[0]));
        all.into_iter().next().expect("a rank")
    }

    fn loads(splits: &Splits, weights: &[(u128, u64)]) -> Vec<u64> {
        let mut loads = vec![0; splits.n_ranks()];
        weights.iter().for_each(|&(key, weight)| loads[splits.owner_of(key).at()] += weight);
        loads
    }

    #[test]
    fn equal_weights_are_shared_to_one_cell() {
        let weights: Vec<_> = (0..512_u128).filter(|k| k % 7 < 3).map(|k| (k, 1)).collect();
        for n_ranks in [1, 2, 3, 7, 300] {
            let splits = split(n_ranks, &weights, |i| i);
            let loads = loads(&splits, &weights);
            let (least, most) = (loads.iter().min(), loads.iter().max());
            assert!(most <= least.map(|n| n + 1).as_ref(), "{loads:?}");
            assert_eq!(splits, split(n_ranks, &weights, |i| i / 50));
            assert_eq!(splits, split(n_ranks, &weights, |_| 0));
        }
    }

    #[test]
    fn no_rank_has_more_than_a_cell_above_the_mean() {
        let weights: Vec<_> = (0..512_u128).map(|k| (k, (k * k % 11) as u64)).collect();
        let total: u64 = weights.iter().map(|w| w.1).sum();
        for n_ranks in [2, 5, 64] {
            let loads = loads(&split(n_ranks, &weights, |i| i), &weights);
            assert!(loads.iter().all(|n| *n <= total / n_ranks as u64 + 11), "{loads:?}");
        }
    }

    #[test]
    fn splits_are_keys_of_weighted_cells_and_may_coincide() {
        let splits = split(8, &[(64, 1), (300, 1)], |i| i);
        assert!((0..7).all(|i| [Some(64), Some(300)].contains(&splits.first.get(i))), "{splits:?}");
        assert_eq!(loads(&splits, &[(64, 1), (300, 1)]).iter().sum::<u64>(), 2);
        let none = split(3, &[(5, 0)], |i| i);
        assert_eq!(none.owner(3, [7; 3]), Rank(0));
        assert_eq!(none.owners_within(0, [0; 3]).collect::<Vec<_>>(), [Rank(0)]);
    }

    #[test]
    fn splits_with_slack_lie_between_the_keys_at_either_end() {
        // Short keys, some long ones among them, and long ones.
        [0, 58, 80].into_iter().for_each(check_slack);
    }

    fn check_slack(shift: u32) {
        let key = |k: u32| u128::from(k * k / 8) << shift;
        let octs: Vec<(u128, u32)> = (0..600_u32).map(|k| (key(k), 1 + k * k % 40)).collect();
        let whole: u64 = octs.iter().map(|oct| u64::from(oct.1)).sum();
        let before =
            |key: u128| octs.iter().filter(|oct| oct.0 < key).map(|oct| u64::from(oct.1)).sum::<u64>();
        let key_at = |at: u64| octs.iter().map(|oct| oct.0).filter(|key| before(*key) <= at).max();
        for (n_ranks, slack) in [(2, 0.1), (5, 0.1), (70, 0.1), (2, 0.0), (70, 0.0)] {
            let ran = run_threads(n_ranks, |comm| {
                let mine = octs.iter().enumerate().filter(|(i, _)| i % n_ranks == comm.rank().at());
                Splits::by_weight(10, mine.map(|(_, oct)| *oct).collect(), slack, comm).expect("splits")
            });
            let reach = (whole as f64 / n_ranks as f64 * slack / 2.0) as u64;
            let middles = (1..n_ranks as u64).map(|i| whole * i / n_ranks as u64);
            let between = |at: u64| Some(most_aligned(key_at(at - reach)?, key_at(at + reach)?));
            let expected: Vec<u128> = middles.filter_map(between).collect();
            assert!(
                ran.expect("no rank fails").iter().all(|splits| splits.first == Keys::new(expected.clone())),
                "{n_ranks} ranks"
            );
        }
    }

    #[test]
    fn splits_move_to_aligned_keys() {
        assert_eq!([most_aligned(22, 27), most_aligned(7, 7), most_aligned(0, 3)], [24, 7, 2]);
    }

    #[test]
    fn regions_skip_ranks_that_own_nothing() {
        let splits = Splits { deepest: 2, first: Keys::new(vec![8, 8, 60]) };
        assert_eq!(splits.owners_within(0, [0; 3]).collect::<Vec<_>>(), [0, 2, 3].map(Rank));
        assert_eq!(splits.owners_within(1, [0; 3]).collect::<Vec<_>>(), [Rank(0)]);
        assert!(splits.owns_all(Rank(2), 1, [1, 0, 0]) && !splits.owns_all(Rank(2), 1, [1; 3]));
        assert!(splits.owns_all(Rank(3), 2, [3; 3]));
    }
}
