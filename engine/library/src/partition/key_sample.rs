//! A sample of the keys of all ranks, which divides them into parts of about equal numbers.

use inselberg_comm::{Comm, CommError, Reduce};

/// Keys per part in the sample.
const PER_PART: u64 = 4;

/// Collective: the first key of each of at most `n_parts` parts of the keys of all ranks, ascending. Empty if
/// there is no key on any rank.
///
/// The sample has about the same share of the keys of every rank, whether or not the keys of different ranks
/// overlap. Two calls, no exchange; every rank gets about 64 bytes per part.
///
/// # Errors
/// When another rank fails.
pub(super) fn part_starts(comm: &Comm, keys: &[u128], n_parts: usize) -> Result<Vec<u128>, CommError> {
    let n = comm.all_reduce_counts(&[keys.len() as u64], Reduce::Sum)?[0];
    let every = (n / (PER_PART * n_parts as u64)).max(1);
    let is_sampled = |key: &&u128| mixed(**key).is_multiple_of(every);
    let mut sample = comm.all_gather(&keys.iter().filter(is_sampled).copied().collect::<Vec<_>>())?;
    sample.sort_unstable();
    let n_parts = n_parts.min(sample.len());
    Ok((0..n_parts).map(|part| sample[part * sample.len() / n_parts]).collect())
}

/// The part of a key, by the first keys of the parts. Keys below all of them belong to the first part.
pub(super) fn part_of(starts: &[u128], key: u128) -> usize {
    starts.partition_point(|start| *start <= key).saturating_sub(1)
}

/// All bits of a key mixed, so that every residue has a fair share of the keys.
fn mixed(key: u128) -> u64 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let folded = (key >> 64) as u64 ^ (key as u64).wrapping_mul(GOLDEN);
    let folded = (folded ^ folded >> 32).wrapping_mul(GOLDEN);
    folded ^ folded >> 32
}
