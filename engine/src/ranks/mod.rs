//! What crosses ranks between the ascent and the haloes: labels, peaks, the merge tree, clumps.
//!
//! Each rank owns the peaks whose cells it owns. The whole has one numbering of the peaks, by (level,
//! Morton key) of their cells, which on one level is the order of the ranks. `README.md` beside this file
//! says which exchanges are made and why the result is the same for any number of ranks.

pub mod balance;
pub mod forest;
pub mod joint;
pub mod labels;
pub mod links;
pub mod order;
pub mod parcel;
pub mod peak_comm;
pub(crate) mod pixels;
pub mod pointers;
pub mod ties;

use inselberg_comm::{Comm, CommError, Rank, Reduce};

/// Collective: for things in the order of (level, Morton key), of which this rank has `counts[l]` on level
/// `l`: the places of the first of each level among those of all ranks, and the number of all.
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

/// Records by destination; `of` gives destination and record, destinations must come together.
pub(crate) fn grouped<A, T>(items: &[A], of: impl Fn(&A) -> (Rank, T)) -> Vec<(Rank, Vec<T>)> {
    let mut parts: Vec<(Rank, Vec<T>)> = Vec::new();
    for item in items {
        let (to, record) = of(item);
        match parts.last_mut() {
            Some(last) if last.0 == to => last.1.push(record),
            _ => parts.push((to, vec![record])),
        }
    }
    parts
}
