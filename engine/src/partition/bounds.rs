//! Which keys part all keys of all ranks into equal shares? Exactly, wherever they are.
//!
//! There are two ways, with the same result. Digit by digit, each by counting what is below it, no key moves, but each
//! count of each bound goes up and down the tree of ranks. Where bounds are many and keys are few, or where
//! they move anyhow, a sample brings them into parts, and the rank of a part finds the bounds in it.

use super::key_part::KeyPart;
use inselberg_comm::{Comm, CommError, Reduce};

/// Most ranks on which bounds are found digit by digit whatever else.
const FEW: usize = 65;

/// Collective: the least key of the part of each rank but the first, so that the parts of all keys, sorted,
/// are as large to one key; above any key where there are none. `keys` are sorted. The result depends on the keys of
/// all ranks together only, and each bound is one of them.
///
/// # Errors
/// When another rank fails.
pub fn bounds(comm: &Comm, keys: &[u128]) -> Result<Vec<u128>, CommError> {
    equal_parts(comm, keys, are_light)
}

/// Collective: the same, of keys that move in any case: of many ranks in an exchange of all keys and few calls.
///
/// # Errors
/// When another rank fails.
pub fn bounds_of_moving(comm: &Comm, keys: &[u128]) -> Result<Vec<u128>, CommError> {
    equal_parts(comm, keys, |_, n_ranks| n_ranks > FEW)
}

/// Whether all keys are fewer bytes than the counts by which many bounds are found digit by digit.
pub(super) fn are_light(n_keys: u64, n_ranks: usize) -> bool {
    n_ranks > FEW && n_keys / 32 < (n_ranks as u64).pow(2)
}

fn equal_parts(
    comm: &Comm,
    keys: &[u128],
    may_move: impl Fn(u64, usize) -> bool,
) -> Result<Vec<u128>, CommError> {
    let n_ranks = comm.n_ranks();
    let n = comm.all_reduce_counts(&[keys.len() as u64], Reduce::Sum)?[0];
    let wanted = |i: usize| (u128::from(n) * (i as u128 + 1) / n_ranks as u128) as u64;
    match n {
        0 => Ok(vec![u128::MAX; n_ranks - 1]),
        n if may_move(n, n_ranks) => by_parts(comm, keys, n_ranks - 1, wanted),
        _ => by_digits(comm, keys, |n| n as u64, &(0..n_ranks - 1).map(wanted).collect::<Vec<_>>()),
    }
}

/// The bounds at the weights `wanted`, which ascend, of `n` bounds. No key weighs anything but one.
fn by_parts(
    comm: &Comm,
    keys: &[u128],
    n: usize,
    wanted: impl Fn(usize) -> u64,
) -> Result<Vec<u128>, CommError> {
    let found = KeyPart::gather(comm, keys, |n| n as u64)?.find(n, wanted);
    // Parts ascend with the ranks, as bounds do.
    comm.all_gather(&found.into_iter().map(|(_, key)| key).collect::<Vec<_>>())
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

/// Collective: of all keys, sorted, the greatest before which lies at most each weight `wanted`, less than that of all.
/// The first n keys here weigh `weight_of(n)`; all ranks want the same.
///
/// All ranks search all bounds at once, with 15, 3 or one count a bound in each reduction.
///
/// # Errors
/// When another rank fails.
pub(super) fn by_digits(
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

#[cfg(test)]
mod tests {
    use super::*;
    use inselberg_comm::run_threads;
    use proptest::prelude::*;

    /// The bounds by both ways, of keys with weights each of which is on the rank that is said.
    fn both(n_ranks: usize, all: &[(u128, u64, usize)], wanted: &[u64]) -> [Vec<u128>; 2] {
        let ran = run_threads(n_ranks, |comm| {
            let mut mine: Vec<(u128, u64)> =
                all.iter().filter(|k| k.2 % n_ranks == comm.rank().at()).map(|k| (k.0, k.1)).collect();
            mine.sort_unstable();
            let keys: Vec<u128> = mine.iter().map(|k| k.0).collect();
            let weight_of = |n: usize| mine[..n].iter().map(|k| k.1).sum();
            let digits = by_digits(comm, &keys, weight_of, wanted).expect("no rank fails");
            let part = KeyPart::gather_in(comm, &keys, weight_of, 6).expect("no rank fails");
            let found = part.find(wanted.len(), |i| wanted[i]).into_iter().map(|(_, key)| key);
            [digits, comm.all_gather(&found.collect::<Vec<_>>()).expect("no rank fails")]
        });
        let ran = ran.expect("no rank fails");
        assert!(ran.iter().all(|found| *found == ran[0]), "all ranks find the same");
        ran.into_iter().next().expect("a rank")
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn both_ways_lead_to_the_same_bounds(
            all in prop::collection::vec((0..50u128, 0..4u64, 0..20usize), 1..60),
            shift in 0..100u32,
            n_ranks in 1..20usize,
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
