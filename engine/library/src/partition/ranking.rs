//! The places of records among those of all ranks, sorted by key.

use crate::argsort::sorted;
use crate::exchange;
use crate::exchange::relay::ask;
use crate::partition::bounds_of_moving;
use crate::partition::key_sample::{part_of, part_starts};
use inselberg_comm::{Comm, CommError, Rank};
use rayon::prelude::*;

/// Collective: sorts records over all ranks by `key`. Returns an even part of them, sorted, each with the
/// rank that it came from; parts ascend with the ranks. One exchange, and what [`bounds_of_moving`] costs.
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

/// The places of keys among those of all ranks, from 0.
#[derive(Debug, Default, PartialEq)]
pub struct Places {
    /// The place of each key.
    pub of_keys: Vec<u64>,
    /// The places of each marked key: among all keys, and among the marked ones.
    pub of_marked: Vec<[u64; 2]>,
}

/// Collective: the place of each of `n` keys, and of `marked` keys: each of these is the key of any rank. No
/// key may be on two ranks or be marked twice, and all are below 2^127.
///
/// Keys move into at most [`MOST_PARTS`] parts, which a sample divides. Two exchanges, on more than 256 ranks
/// four.
///
/// # Errors
/// When another rank fails.
pub fn places(
    comm: &Comm,
    n: usize,
    key: impl Fn(usize) -> u128,
    marked: &[u128],
) -> Result<Places, CommError> {
    // A marked key follows the same key without a mark.
    let keys = (0..n).map(|i| key(i) << 1).chain(marked.iter().map(|key| key << 1 | 1));
    let keys: Vec<u128> = keys.collect();
    let parts = RankedParts::new(comm, &keys)?;
    let placed = ask(comm, &keys, |key| parts.holder(*key), |part| places_in_part(comm, &part))?;
    let of_keys = placed[..n].iter().map(|places| places[0]).collect();
    Ok(Places { of_keys, of_marked: placed[n..].to_vec() })
}

/// The place of each of `n` keys, which differ, among these. Local.
pub fn places_alone(n: usize, key: impl Fn(usize) -> u128 + Sync) -> Vec<u64> {
    let order = sorted(n, &key, |a, b| key(a).cmp(&key(b)));
    let mut places = vec![0; n];
    order.iter().enumerate().for_each(|(place, i)| places[*i] = place as u64);
    places
}

/// Collective: the places of the keys of this part among those of all parts, which ascend with the ranks.
fn places_in_part(comm: &Comm, part: &[u128]) -> Result<Vec<[u64; 2]>, CommError> {
    let mut order: Vec<(u128, u32)> = part.iter().copied().zip(0..).collect();
    order.par_sort_unstable();
    let n_marked = part.iter().filter(|key| **key & 1 == 1).count() as u64;
    let before = comm.sums_before(&[part.len() as u64 - n_marked, n_marked])?;
    let [mut plain, mut marked] = [before[0], before[1]];
    let mut places = vec![[0; 2]; part.len()];
    for (key, i) in order {
        places[i as usize] = match key & 1 {
            0 => {
                plain += 1;
                [plain - 1, 0]
            }
            _ => {
                marked += 1;
                [plain - 1, marked - 1]
            }
        };
    }
    Ok(places)
}

/// Parts into which keys are divided. More would be more even, but every rank holds the first key of each.
const MOST_PARTS: usize = 512;

/// The parts of the keys of all ranks.
struct RankedParts {
    /// First key of each part, ascending. Lower keys belong to the first part.
    starts: Vec<u128>,
    n_ranks: usize,
}

impl RankedParts {
    /// Collective: see [`part_starts`].
    fn new(comm: &Comm, keys: &[u128]) -> Result<Self, CommError> {
        let n_ranks = comm.n_ranks();
        Ok(Self { starts: part_starts(comm, keys, n_ranks.min(MOST_PARTS))?, n_ranks })
    }

    /// The rank that has the part of a key. Parts are spread over all ranks.
    fn holder(&self, key: u128) -> Rank {
        Rank((part_of(&self.starts, key) * self.n_ranks / self.starts.len().max(1)) as u32)
    }
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
        for (n_ranks, n) in [(1, 50), (2, 0), (3, 40), (8, 100), (5, 1), (80, 0), (90, 30), (300, 3)] {
            let of = |rank: u32| keys(rank, n + rank % 50);
            let mut all: Vec<u128> = (0..n_ranks).flat_map(of).collect();
            all.sort_unstable();
            // Each rank marks keys of the next one.
            let marked = |rank: u32| of((rank + 1) % n_ranks).into_iter().filter(|key| key % 3 == 0);
            let mut all_marked: Vec<u128> = (0..n_ranks).flat_map(marked).collect();
            all_marked.sort_unstable();
            let found = run_threads(n_ranks as usize, |comm| {
                let keys = of(comm.rank().0);
                let marked: Vec<u128> = marked(comm.rank().0).collect();
                if n_ranks == 1 {
                    let alone = places_alone(keys.len(), |i| keys[i]);
                    assert_eq!(
                        Ok(alone),
                        places(comm, keys.len(), |i| keys[i], &[]).map(|found| found.of_keys)
                    );
                }
                places(comm, keys.len(), |i| keys[i], &marked).expect("places")
            });
            let place = |all: &[u128], key: u128| all.partition_point(|other| *other < key) as u64;
            for (rank, found) in (0..).zip(found.expect("no panic")) {
                let of_keys = of(rank).into_iter().map(|key| place(&all, key)).collect();
                let of_marked = marked(rank).map(|key| [place(&all, key), place(&all_marked, key)]).collect();
                assert_eq!(found, Places { of_keys, of_marked }, "rank {rank} of {n_ranks}");
            }
        }
    }

    /// Equal high bits, as peaks of equal densities have, divide as evenly as others.
    #[test]
    fn parts_of_equal_densities_are_even() {
        let n_ranks = 40;
        let sizes = run_threads(n_ranks, |comm| {
            let keys: Vec<u128> =
                (0..2000u32).map(|i| 5 << 40 | u128::from(comm.rank().0 + 40 * i) << 1).collect();
            let parts = RankedParts::new(comm, &keys).expect("parts");
            let mut sizes = vec![0; n_ranks];
            keys.iter().for_each(|key| sizes[parts.holder(*key).at()] += 1);
            sizes
        });
        let sizes =
            sizes.expect("no panic").into_iter().reduce(|a, b| a.iter().zip(b).map(|(a, b)| a + b).collect());
        let most = sizes.expect("a rank").into_iter().max();
        assert!(most < Some(4 * 2000), "a part has {most:?} keys of 2000 on average");
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
