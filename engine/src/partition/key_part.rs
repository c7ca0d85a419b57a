//! Weighted keys brought into parts by a sample, so that each rank finds the bounds that lie in its own.

use inselberg_comm::{Comm, CommError, Rank};

/// Keys that a rank gives as a sample.
const SAMPLE: usize = 4;
/// Most parts that there are: on more ranks only some have one, so that all need not know of as many parts as ranks.
const MOST_PARTS: usize = 2048;

/// One rank's part of all keys. The parts of all ranks follow each other.
#[derive(Debug)]
pub(super) struct KeyPart {
    /// Ascending.
    keys: Vec<u128>,
    /// The weight before each key and, in the end, before the next part: of all keys of all ranks.
    before: Vec<u64>,
}

impl KeyPart {
    /// Collective: brings keys to the ranks whose parts they are in. `keys` are sorted, and the first n of them weigh
    /// `weight_of(n)`. One exchange of 24 bytes a key, one of a sample, and two calls.
    ///
    /// Each rank gives a few keys as a sample, other quantiles on each, so that what they part is about equal whether
    /// keys are mixed over ranks or not.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn gather(comm: &Comm, keys: &[u128], weight_of: impl Fn(usize) -> u64) -> Result<Self, CommError> {
        Self::gather_in(comm, keys, weight_of, MOST_PARTS)
    }

    /// Collective: the same in at most so many parts.
    pub(super) fn gather_in(
        comm: &Comm,
        keys: &[u128],
        weight_of: impl Fn(usize) -> u64,
        most_parts: usize,
    ) -> Result<Self, CommError> {
        let ranks_a_part = comm.n_ranks().div_ceil(most_parts);
        let places = (0..SAMPLE).map(|i| quantile(comm.rank().at() * SAMPLE + i, keys.len()));
        let sample: Vec<u128> = places.filter_map(|place| keys.get(place).copied()).collect();
        let mut parts: Vec<(Rank, Vec<[u64; 3]>)> = Vec::new();
        let starts = starts(comm, sample, comm.n_ranks().div_ceil(ranks_a_part))?;
        for (i, key) in keys.iter().enumerate() {
            let part = starts.partition_point(|start| start <= key).saturating_sub(1);
            let rank = Rank((part * ranks_a_part) as u32);
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

    /// Which of the bounds 0 to `n` are keys of this part, with these: bound i is the greatest of all keys before which
    /// lies at most the weight `wanted(i)`, which is less than that of all keys. Local.
    pub fn find(&self, n: usize, wanted: impl Fn(usize) -> u64) -> Vec<(usize, u128)> {
        let whole = self.before[0]..self.before[self.keys.len()];
        let here = (0..n).map(|i| (i, wanted(i))).filter(|(_, weight)| whole.contains(weight));
        let key = |weight| self.keys[self.before.partition_point(|before| *before <= weight) - 1];
        here.map(|(i, weight)| (i, key(weight))).collect()
    }
}

/// Collective: where each of `n_parts` parts starts, by a sample of all keys that only the first rank sees as a whole;
/// none where there are no keys.
fn starts(comm: &Comm, sample: Vec<u128>, n_parts: usize) -> Result<Vec<u128>, CommError> {
    let received = comm.exchange(vec![(Rank(0), sample)])?;
    let mut all: Vec<u128> = received.into_iter().flat_map(|(_, keys)| keys).collect();
    all.sort_unstable();
    let n_parts = if all.is_empty() { 0 } else { n_parts };
    let starts: Vec<u128> = (0..n_parts).map(|part| all[part * all.len() / n_parts]).collect();
    comm.broadcast(Rank(0), &starts)
}

/// The `i`th of places among `n` that are spread evenly however many follow each other.
fn quantile(i: usize, n: usize) -> usize {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    ((u128::from((i as u64).wrapping_mul(GOLDEN)) * n as u128) >> 64) as usize
}
