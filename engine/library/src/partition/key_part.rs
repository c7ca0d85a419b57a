//! Weighted keys brought into one part per rank, so that each rank finds the bounds that lie in its part.
//!
//! The nine keys of the example in [`super::bounds`], now held by three ranks, all of weight 1:
//!
//! ```text
//! rank 0 holds  0 9 20     rank 1 holds  3 8 21     rank 2 holds  5 12 14
//! a sample of the keys divides them at 8 and 20:
//!
//!                part of rank 0    part of rank 1     part of rank 2
//! keys           0   3   5         8   9  12  14      20  21
//! before         0   1   2   3     3   4   5   6   7   7   8   9
//!                            ^ the last entry is the weight before the next part
//! bound for 3                      ^ 8
//! bound for 6                                  ^ 14
//! ```
//!
//! `before` goes on from part to part (a sum over the ranks before), so exactly one part has `before[0] <= w
//! < before[last]` for a wanted weight w. That rank takes the last key with `before <= w`.
//!
//! Invariants: `keys` ascend within a part and from part to part; `before` has one entry more than `keys` and
//! never falls; the last entry of a part equals the first entry of the next. The sample decides how even the
//! parts are, never the bounds.

use super::key_sample::{part_of, part_starts};
use inselberg_comm::{Comm, CommError, Rank};

/// The greatest number of parts. On more ranks only some have a part, which bounds the list of starts that
/// all ranks hold.
const MOST_PARTS: usize = 2048;

/// The part of all keys that one rank has. The parts of all ranks follow each other.
#[derive(Debug)]
pub(super) struct KeyPart {
    /// Ascending.
    keys: Vec<u128>,
    /// The weight of all keys of all ranks before each key, and at the end the weight before the next part.
    before: Vec<u64>,
}

impl KeyPart {
    /// Collective: brings keys to the ranks whose parts contain them. `keys` are sorted, and the first n of
    /// them weigh `weight_of(n)`. One exchange of 24 bytes per key, and four further calls.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn gather(comm: &Comm, keys: &[u128], weight_of: impl Fn(usize) -> u64) -> Result<Self, CommError> {
        Self::gather_in(comm, keys, weight_of, MOST_PARTS)
    }

    /// Collective: [`Self::gather`] with at most `most_parts` parts.
    pub(super) fn gather_in(
        comm: &Comm,
        keys: &[u128],
        weight_of: impl Fn(usize) -> u64,
        most_parts: usize,
    ) -> Result<Self, CommError> {
        let ranks_per_part = comm.n_ranks().div_ceil(most_parts);
        let mut parts: Vec<(Rank, Vec<[u64; 3]>)> = Vec::new();
        let starts = part_starts(comm, keys, comm.n_ranks().div_ceil(ranks_per_part))?;
        for (i, key) in keys.iter().enumerate() {
            let rank = Rank((part_of(&starts, *key) * ranks_per_part) as u32);
            let record = [(key >> 64) as u64, *key as u64, weight_of(i + 1) - weight_of(i)];
            match parts.last_mut().filter(|part| part.0 == rank) {
                Some((_, records)) => records.push(record),
                None => parts.push((rank, vec![record])),
            }
        }
        drop(starts);
        let mut own = comm.exchange(parts)?.into_iter().flat_map(|(_, part)| part).collect::<Vec<_>>();
        own.sort_unstable();
        let mut sum = comm.sum_before(own.iter().map(|record| record[2]).sum())?;
        let mut before = vec![sum];
        before.extend(own.iter().map(|record| {
            sum += record[2];
            sum
        }));
        let key = |[high, low, _]: &[u64; 3]| u128::from(*high) << 64 | u128::from(*low);
        Ok(Self { keys: own.iter().map(key).collect(), before })
    }

    /// The bounds 0 to `n` that are keys of this part, each with its number. Bound i is the greatest of all
    /// keys with at most the weight `wanted(i)` below it; that weight is less than the weight of all keys.
    /// Local.
    pub fn find(&self, n: usize, wanted: impl Fn(usize) -> u64) -> Vec<(usize, u128)> {
        let weights = self.before[0]..self.before[self.keys.len()];
        let in_part = (0..n).map(|i| (i, wanted(i))).filter(|(_, weight)| weights.contains(weight));
        let key = |weight| self.keys[self.before.partition_point(|before| *before <= weight) - 1];
        in_part.map(|(i, weight)| (i, key(weight))).collect()
    }
}
