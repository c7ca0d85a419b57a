//! Which keys divide the keys of all ranks into equal shares? Exactly, whichever rank holds them.
//!
//! Two ways give the same result:
//!
//! * [`by_digits`] counts the keys below candidate bounds. No key moves, but the counts of all bounds cross
//!   the tree of ranks once per digit.
//! * [`KeyPart`] brings the keys into one part per rank first, by a sample; then each rank finds the bounds
//!   in its part. It serves where bounds are many and keys are few, or where the keys move in any case.
//!
//! A worked example. Three ranks share nine keys of weight 1, so two bounds are wanted: one with at most 9 ·
//! 1/3 = 3 keys below it, one with at most 6:
//!
//! ```text
//! sorted keys     0   3   5 | 8   9  12 | 14  20  21
//! keys below      0   1   2   3   4   5    6   7   8
//! bounds                      8            14
//! owner             rank 0  |  rank 1   |   rank 2
//! ```
//!
//! By digits of 4 bits, the greatest key 21 = 0x15 has two digits. The high digit of both bounds is 0, since
//! 7 keys lie below 0x10, more than 3 and more than 6. For the low digit, the counts below the candidates
//! 0x01 to 0x0f are
//!
//! ```text
//! candidate   1  2  3  4  5  6  7  8  9  a  b  c  d  e  f
//! keys below  1  1  1  2  2  3  3  3  4  5  5  5  6  6  7
//!                                  ^ greatest with at most 3
//!                                                    ^ greatest with at most 6
//! ```
//!
//! so the bounds are 0x08 = 8 and 0x0e = 14.
//!
//! Invariants: bounds ascend; each bound is one of the keys; below bound i lies at most the wanted weight,
//! and below the next greater key lies more.

use super::key_part::KeyPart;
use inselberg_comm::{Comm, CommError, Reduce};

/// Up to this number of ranks, bounds are always found digit by digit.
const FEW: usize = 65;

/// Collective: the first key of each rank but rank 0, so that all ranks get the same number of keys, to
/// within one. `keys` are those of this rank, sorted. Without any key on any rank, all bounds are
/// `u128::MAX`. The result depends only on all keys together. One reduction per digit of the keys, or the
/// calls of `KeyPart::gather`.
///
/// # Errors
/// When another rank fails.
pub fn bounds(comm: &Comm, keys: &[u128]) -> Result<Vec<u128>, CommError> {
    equal_parts(comm, keys, are_light)
}

/// Collective: [`bounds`] for callers that move the keys afterwards. On many ranks it exchanges all keys, in
/// few calls.
///
/// # Errors
/// When another rank fails.
pub fn bounds_of_moving(comm: &Comm, keys: &[u128]) -> Result<Vec<u128>, CommError> {
    equal_parts(comm, keys, |_, n_ranks| n_ranks > FEW)
}

/// Whether all keys take fewer bytes than the counts of [`by_digits`] would.
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

/// Collective: the `n` bounds at the ascending weights `wanted(i)`, where every key weighs 1.
fn by_parts(
    comm: &Comm,
    keys: &[u128],
    n: usize,
    wanted: impl Fn(usize) -> u64,
) -> Result<Vec<u128>, CommError> {
    let found = KeyPart::gather(comm, keys, |n| n as u64)?.find(n, wanted);
    // Parts ascend with the ranks, and so do bounds.
    comm.all_gather(&found.into_iter().map(|(_, key)| key).collect::<Vec<_>>())
}

/// Bits of a bound that are found per reduction. Each further bit doubles the bytes of a reduction. With few
/// bounds its latency dominates, with many bounds its bytes do.
fn digit(n_bounds: usize) -> u32 {
    match n_bounds {
        0..=64 => 4,
        65..=256 => 2,
        _ => 1,
    }
}

/// Collective: for each of the weights `wanted`, the greatest of all keys with at most that weight below it.
/// `keys` are those of this rank, sorted; the first n of them weigh `weight_of(n)`. `wanted` is the same on
/// all ranks, and each weight is less than that of all keys.
///
/// All bounds are found together, with 15, 3 or 1 counts per bound in each reduction.
///
/// # Errors
/// When another rank fails.
pub(super) fn by_digits(
    comm: &Comm,
    keys: &[u128],
    weight_of: impl Fn(usize) -> u64,
    wanted: &[u64],
) -> Result<Vec<u128>, CommError> {
    // A rank without keys needs no digit.
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

    /// The bounds by both ways. Each item is a key, its weight, and the rank that holds it.
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
    fn the_example_of_the_module() {
        let keys = [0, 3, 5, 8, 9, 12, 14, 20, 21];
        let all: Vec<_> = keys.iter().enumerate().map(|(i, key)| (*key, 1, i)).collect();
        assert_eq!(both(3, &all, &[3, 6]), [vec![8, 14], vec![8, 14]]);
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
