//! Messages that the stages share: bundles of records, chains that cross ranks, questions over relays, and
//! sums over ranks.
//!
//! This folder knows neither cells nor particles.

pub mod bundle;
pub mod chains;
pub mod relay;

use crate::chunks::{chunks, joined, results};
use bytemuck::Pod;
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_kernels::sum::{FixedSum, Quantum};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Collective: numbers the items of all ranks in the order of (level, Morton key). This rank has `counts[l]`
/// items of level `l`. Returns the number of its first item of each level, and the count of all items.
///
/// # Errors
/// When another rank fails.
pub fn firsts_by_level(comm: &Comm, counts: &[u64]) -> Result<(Vec<u64>, u64), CommError> {
    let n_levels = comm.all_reduce_counts(&[counts.len() as u64], Reduce::Max)?[0] as usize;
    let mut counts = counts.to_vec();
    counts.resize(n_levels, 0);
    let mut firsts = comm.sums_before(&counts)?;
    let mut coarser = 0;
    for (first, n) in firsts.iter_mut().zip(comm.all_reduce_counts(&counts, Reduce::Sum)?) {
        *first += coarser;
        coarser += n;
    }
    Ok((firsts, coarser))
}

/// The rank that compares all items with this identity, by its hash: codes number particles in patterns.
pub(crate) fn rank_of_identity(id: u64, n_ranks: usize) -> Rank {
    let mixed = id.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Rank(((u128::from(mixed ^ (mixed >> 29)) * n_ranks as u128) >> 64) as u32)
}

/// Records by destination. `of` returns destination and record of an item, and is called several times per
/// item. Items of one destination must be adjacent.
pub(crate) fn grouped<A, T>(items: &[A], of: impl Fn(&A) -> (Rank, T)) -> Vec<(Rank, Vec<T>)> {
    let groups = items.chunk_by(|a, b| of(a).0 == of(b).0);
    groups.map(|group| (of(&group[0]).0, group.iter().map(|item| of(item).1).collect())).collect()
}

/// Items of a piece of work.
const PIECE: usize = 1 << 14;

/// Records by destination, from items in any order. `of` gives destination and record, and is called once per
/// item. Records for one rank keep the order of their items. All threads work.
pub(crate) fn dealt<A: Sync, T: Pod + Send + Sync>(
    items: &[A],
    of: impl Fn(&A) -> (Rank, T) + Sync,
) -> Vec<(Rank, Vec<T>)> {
    let of_piece = |piece: &[A]| {
        let mut parts: BTreeMap<Rank, Vec<T>> = BTreeMap::new();
        for (to, record) in piece.iter().map(&of) {
            parts.entry(to).or_default().push(record);
        }
        parts
    };
    let runs = chunks(items.len(), PIECE);
    let pieces: Vec<BTreeMap<Rank, Vec<T>>> = results(runs.len(), &|i| of_piece(&items[runs[i].clone()]));
    let mut parts: BTreeMap<Rank, Vec<Vec<T>>> = BTreeMap::new();
    for (to, part) in pieces.into_iter().flatten() {
        parts.entry(to).or_default().push(part);
    }
    parts.into_iter().map(|(to, parts)| (to, joined(parts))).collect()
}

/// Collective: the value of each key, from the rank that keeps it. Two exchanges.
///
/// # Errors
/// When another rank fails.
pub(crate) fn looked_up<T: Pod>(
    mut keys: Vec<u64>,
    keeper: impl Fn(u64) -> Rank,
    value: impl Fn(u64) -> T,
    comm: &Comm,
) -> Result<FxHashMap<u64, T>, CommError> {
    keys.sort_unstable_by_key(|key| (keeper(*key), *key));
    keys.dedup();
    let questions = grouped(&keys, |key| (keeper(*key), *key));
    let asked = comm.exchange(questions)?.into_iter();
    let answers = asked.map(|(from, keys)| (from, keys.into_iter().map(&value).collect())).collect();
    // Answers come by ascending rank, as the keys are sorted.
    let received = comm.exchange::<T>(answers)?.into_iter().flat_map(|(_, values)| values);
    Ok(keys.into_iter().zip(received).collect())
}

/// Collective: the sum of the terms of all ranks, none of which exceeds `bound`. It does not depend on which
/// rank holds which term.
///
/// # Errors
/// When another rank fails.
pub fn total(terms: impl ParallelIterator<Item = f64>, bound: f64, comm: &Comm) -> Result<f64, CommError> {
    let quantum = Quantum::for_terms(bound, u64::MAX);
    let add = |mut a: FixedSum, b: FixedSum| {
        a += b;
        a
    };
    let own = terms.map(|term| quantum.quantize(term)).reduce(FixedSum::default, add);
    let all = comm.all_gather(&[own])?.into_iter().fold(FixedSum::default(), add);
    Ok(quantum.value(all))
}
