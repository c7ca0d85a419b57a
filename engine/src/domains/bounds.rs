//! Which keys part all keys of all ranks into equal shares? Exactly, wherever they are.
//!
//! There are two ways, with the same result. Digit by digit, each by counting what is below it, no key moves, but each
//! count of each bound goes up and down the tree of ranks. Where bounds are many and keys are few, or where
//! they move anyhow, a sample brings them into parts, and the rank of a part finds the bounds in it.

use inselberg_comm::{Comm, CommError, Rank, Reduce};

/// Most ranks on which bounds of keys that may move are found digit by digit all the same.
const FEW: usize = 65;

/// Collective: the least key of the part of each rank but the first, so that the parts of all keys, sorted,
/// are as large to one key; above any key where there are none. `keys` are sorted. The result depends on the keys of
/// all ranks together only, and each bound is one of them.
///
/// # Errors
/// When another rank fails.
pub fn bounds(comm: &Comm, keys: &[u128]) -> Result<Vec<u128>, CommError> {
    keys_at(comm, keys, |n| n as u64, &equal_shares(comm, keys)?)
}

/// Collective: the same, of keys that may move: of many ranks in an exchange of all keys and few calls.
///
/// # Errors
/// When another rank fails.
pub fn bounds_of_moving(comm: &Comm, keys: &[u128]) -> Result<Vec<u128>, CommError> {
    match comm.n_ranks() {
        0..=FEW => bounds(comm, keys),
        _ => by_parts(comm, keys, &equal_shares(comm, keys)?),
    }
}

/// Collective: how many of all keys are before the part of each rank but the first.
fn equal_shares(comm: &Comm, keys: &[u128]) -> Result<Vec<u64>, CommError> {
    let n_ranks = comm.n_ranks() as u128;
    let n = comm.all_reduce_counts(&[keys.len() as u64], Reduce::Sum)?[0];
    Ok((1..n_ranks).map(|i| (u128::from(n) * i / n_ranks) as u64).collect())
}

/// Collective: of all keys, sorted, the greatest before which lies at most the weight `wanted`; above any key where
/// there are none. The first n keys here weigh `weight_of(n)`; all ranks want the same.
///
/// # Errors
/// When another rank fails.
pub(super) fn keys_at(
    comm: &Comm,
    keys: &[u128],
    weight_of: impl Fn(usize) -> u64,
    wanted: &[u64],
) -> Result<Vec<u128>, CommError> {
    let n = comm.all_reduce_counts(&[keys.len() as u64], Reduce::Sum)?[0];
    match n {
        0 => Ok(vec![u128::MAX; wanted.len()]),
        _ => by_digits(comm, keys, weight_of, wanted),
    }
}

/// Bits of a bound that are found at a time: fewer where there are more bounds, as each reduction then takes the time
/// of its bytes, which double with each bit, and not that of its messages.
fn digit(n_bounds: usize) -> u32 {
    match n_bounds {
        0..=64 => 4,
        65..=256 => 2,
        _ => 1,
    }
}

/// All ranks search all bounds at once, with 15, 3 or one count a bound in each reduction.
fn by_digits(
    comm: &Comm,
    keys: &[u128],
    weight_of: impl Fn(usize) -> u64,
    wanted: &[u64],
) -> Result<Vec<u128>, CommError> {
    let greatest = keys.last().copied().unwrap_or(0);
    let n_bits = u64::from(u128::BITS - greatest.leading_zeros());
    let n_bits = comm.all_reduce_counts(&[n_bits], Reduce::Max)?[0] as u32;
    let mut bounds = vec![0u128; wanted.len()];
    let width = digit(wanted.len());
    for digit in (0..n_bits.div_ceil(width)).rev() {
        let tried = |bound: u128| (1..1 << width).map(move |d: u128| bound | d << (digit * width));
        let below = |key: u128| weight_of(keys.partition_point(|k| *k < key));
        let counts: Vec<u64> = bounds.iter().copied().flat_map(tried).map(below).collect();
        let counts = comm.all_reduce_counts(&counts, Reduce::Sum)?;
        for (i, counts) in counts.chunks_exact((1 << width) - 1).enumerate() {
            let best = counts.partition_point(|c| *c <= wanted[i]) as u128;
            bounds[i] |= best << (digit * width);
        }
    }
    Ok(bounds)
}

/// Keys that a rank gives as a sample.
const SAMPLE: usize = 4;

/// The key in each of the places `wanted`, which ascend, among all keys, sorted; above any key where there are no keys.
///
/// Each rank gives a few keys, other quantiles on each, so that what they part is about equal whether keys
/// are mixed over ranks or not. Two exchanges, one of them of all keys, and three calls.
fn by_parts(comm: &Comm, keys: &[u128], wanted: &[u64]) -> Result<Vec<u128>, CommError> {
    let places = (0..SAMPLE).map(|i| quantile(comm.rank().at() * SAMPLE + i, keys.len()));
    let sample: Vec<u128> = places.filter_map(|place| keys.get(place).copied()).collect();
    let starts = starts(comm, sample)?;
    if starts.is_empty() {
        return Ok(vec![u128::MAX; wanted.len()]);
    }
    let part = |key: &u128| Rank(starts.partition_point(|start| start <= key).saturating_sub(1) as u32);
    let parts = keys.chunk_by(|a, b| part(a) == part(b)).map(|keys| (part(&keys[0]), keys.to_vec()));
    let came = comm.exchange(parts.collect())?;
    let mut own: Vec<u128> = came.into_iter().flat_map(|(_, keys)| keys).collect();
    own.sort_unstable();
    let before = comm.sum_before(own.len() as u64)?;
    let own_place = |wanted: &u64| wanted.checked_sub(before).map(|place| place as usize);
    let found: Vec<u128> = wanted.iter().filter_map(own_place).map_while(|i| own.get(i).copied()).collect();
    // Parts ascend with the ranks, as places do.
    comm.all_gather(&found)
}

/// Collective: where the part of each rank starts, by a sample of all keys that only the first rank sees as a whole;
/// none where there are no keys.
fn starts(comm: &Comm, sample: Vec<u128>) -> Result<Vec<u128>, CommError> {
    let came = comm.exchange(vec![(Rank(0), sample)])?;
    let mut all: Vec<u128> = came.into_iter().flat_map(|(_, keys)| keys).collect();
    all.sort_unstable();
    let n_ranks = if all.is_empty() { 0 } else { comm.n_ranks() };
    let starts: Vec<u128> = (0..n_ranks).map(|r| all[r * all.len() / n_ranks]).collect();
    comm.broadcast(Rank(0), &starts)
}

/// The `i`th of places among `n` that are spread evenly however many follow each other.
fn quantile(i: usize, n: usize) -> usize {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    ((u128::from((i as u64).wrapping_mul(GOLDEN)) * n as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use inselberg_comm::run_threads;
    use proptest::prelude::*;

    /// The bounds by both ways, of keys with weights each of which is on the rank that is said: by digits as they
    /// are, by parts each as often as it weighs.
    fn both(n_ranks: usize, all: &[(u128, u64, usize)], wanted: &[u64]) -> [Vec<u128>; 2] {
        let ran = run_threads(n_ranks, |comm| {
            let mut mine: Vec<(u128, u64)> =
                all.iter().filter(|k| k.2 % n_ranks == comm.rank().at()).map(|k| (k.0, k.1)).collect();
            mine.sort_unstable();
            let keys: Vec<u128> = mine.iter().map(|k| k.0).collect();
            let weight_of = |n: usize| mine[..n].iter().map(|k| k.1).sum();
            let digits = by_digits(comm, &keys, weight_of, wanted).expect("no rank fails");
            let keys: Vec<u128> = mine.iter().flat_map(|k| (0..k.1).map(|_| k.0)).collect();
            [digits, by_parts(comm, &keys, wanted).expect("no rank fails")]
        });
        let ran = ran.expect("no rank fails");
        assert!(ran.iter().all(|found| *found == ran[0]), "all ranks find the same");
        ran.into_iter().next().expect("a rank")
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn both_ways_lead_to_the_same_bounds(
            all in prop::collection::vec((0..50u128, 0..4u64, 0..9usize), 1..60),
            shift in 0..100u32,
            n_ranks in 1..9usize,
            wanted in prop::collection::vec(0.0..1.0f64, 1..20),
        ) {
            let all: Vec<_> = all.iter().map(|&(key, weight, rank)| (key << shift, weight, rank)).collect();
            let whole: u64 = all.iter().map(|k| k.1).sum();
            prop_assume!(whole > 0);
            let mut wanted: Vec<u64> = wanted.iter().map(|w| (w * whole as f64) as u64).collect();
            wanted.sort_unstable();
            let [digits, parts] = both(n_ranks, &all, &wanted);
            prop_assert_eq!(digits, parts);
        }
    }

    #[test]
    fn bounds_are_keys_with_the_weight_before_them() {
        let all: Vec<_> = (0..1000u128).map(|i| (i * i, (i % 3) as u64, (i % 7) as usize)).collect();
        let wanted = [0, 1, 500, 998];
        let expected = wanted.map(|w| {
            let before = |key: u128| all.iter().filter(|k| k.0 < key).map(|k| k.1).sum::<u64>();
            all.iter().map(|k| k.0).filter(|key| before(*key) <= w).max().expect("a key")
        });
        assert_eq!(both(5, &all, &wanted), [expected.to_vec(), expected.to_vec()]);
    }
}
