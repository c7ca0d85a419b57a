//! Which place does a record have among those of all ranks, sorted by key?

use crate::argsort::sorted;
use crate::exchange;
use crate::partition::bounds_of_moving;
use inselberg_comm::{Comm, CommError, Rank};

/// Collective: sorts records over all ranks by `key`. Returns an even part of them, sorted, each with the rank that it came
/// from; parts ascend with the ranks. One exchange, and what [`bounds_of_moving`] costs.
///
/// # Errors
/// When another rank fails.
pub fn sort<T: bytemuck::Pod>(
    comm: &Comm,
    mut records: Vec<T>,
    key: impl Fn(&T) -> u128,
) -> Result<Vec<(Rank, T)>, CommError> {
    records.sort_unstable_by_key(&key);
    let keys: Vec<u128> = records.iter().map(&key).collect();
    let bounds = bounds_of_moving(comm, &keys)?;
    let owner = |k: u128| Rank(bounds.partition_point(|b| *b <= k) as u32);
    let received = comm.exchange(exchange::grouped(&records, |r| (owner(key(r)), *r)))?;
    let mut sorted: Vec<(Rank, T)> =
        received.into_iter().flat_map(|(from, part)| part.into_iter().map(move |r| (from, r))).collect();
    sorted.sort_by_key(|(_, r)| key(r));
    Ok(sorted)
}

/// Collective: the place of each of `n` keys among those of all ranks, from 0. No key may be on two ranks. Two exchanges,
/// and what [`bounds_of_moving`] costs.
///
/// # Errors
/// When another rank fails.
pub fn places(comm: &Comm, n: usize, key: impl Fn(usize) -> u128 + Sync) -> Result<Vec<u64>, CommError> {
    let order = sorted(n, &key, |a, b| key(a).cmp(&key(b)));
    let mut places = vec![0; n];
    if comm.n_ranks() == 1 {
        order.iter().enumerate().for_each(|(place, i)| places[*i] = place as u64);
        return Ok(places);
    }
    let records = order.iter().map(|i| key(*i)).collect();
    let sorted = sort(comm, records, |k: &u128| *k)?;
    let before = comm.sum_before(sorted.len() as u64)?;
    let mut answers: Vec<(Rank, u64)> =
        sorted.iter().enumerate().map(|(i, (from, _))| (*from, before + i as u64)).collect();
    answers.sort_by_key(|a| a.0);
    // Each rank sent its keys in ascending order, and the answers arrive by ascending rank: the same order.
    let received = comm.exchange(exchange::grouped(&answers, |a| *a))?;
    let answers = received.into_iter().flat_map(|(_, part)| part);
    order.iter().zip(answers).for_each(|(i, place)| places[*i] = place);
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use inselberg_comm::run_threads;

    /// Keys of a rank: some heaped, some far apart, none on two ranks.
    fn keys(rank: u32, n: u32) -> Vec<u128> {
        let key = |i: u32| u128::from(i.wrapping_mul(0x9e37_79b9) >> (i % 20)) << (i % 90) << 7;
        let mut keys: Vec<u128> = (0..n).map(|i| key(i * 31 + rank) | u128::from(rank)).collect();
        keys.sort_unstable();
        keys.dedup();
        keys.reverse();
        keys
    }

    #[test]
    fn places_are_those_of_one_sorted_list() {
        for (n_ranks, n) in [(1, 50), (2, 0), (3, 40), (8, 100), (5, 1), (80, 0), (90, 30)] {
            let mut all: Vec<u128> = (0..n_ranks).flat_map(|rank| keys(rank, n + rank)).collect();
            all.sort_unstable();
            let found = run_threads(n_ranks as usize, |comm| {
                let rank = comm.rank().0;
                let keys = keys(rank, n + rank);
                places(comm, keys.len(), |i| keys[i]).expect("places")
            });
            for (rank, places) in (0..).zip(found.expect("no panic")) {
                let keys = keys(rank, n + rank);
                let expected = keys.iter().map(|k| all.partition_point(|a| a < k) as u64);
                assert_eq!(places, expected.collect::<Vec<_>>(), "rank {rank} of {n_ranks}");
            }
        }
    }

    #[test]
    fn parts_are_even() {
        let parts = run_threads(8, |comm| {
            let records = keys(comm.rank().0, 200);
            sort(comm, records, |k| *k).expect("sorted").len()
        });
        let parts = parts.expect("no panic");
        let n: usize = parts.iter().sum();
        assert!(parts.iter().all(|part| part.abs_diff(n / 8) <= 1), "{parts:?}");
    }
}
