//! What succeeds on all ranks or on none: what went wrong anywhere is told everywhere, so nobody waits for a rank
//! that has given up.

use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::sum::{FixedSum, Quantum};
use rayon::prelude::*;
use std::fmt::Display;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Why ranks did not do something together.
#[derive(Debug, thiserror::Error)]
pub enum JointError<E> {
    /// It failed on this rank.
    #[error(transparent)]
    Here(E),
    /// It failed on another rank.
    #[error("{rank}: {message}")]
    Elsewhere {
        /// The lowest rank where it did.
        rank: Rank,
        /// What that rank says.
        message: String,
    },
    /// The ranks lost each other, or do not fit together.
    #[error(transparent)]
    Comm(#[from] CommError),
}

/// Collective: `local` if it is good on all ranks, else an error on all ranks.
///
/// # Errors
/// It failed anywhere, or a rank is lost.
pub fn agree<T, E: Display>(comm: &Comm, local: Result<T, E>) -> Result<T, JointError<E>> {
    let said = local.as_ref().err().map(ToString::to_string);
    match (local, first_said(comm, said)?) {
        (Err(error), _) => Err(JointError::Here(error)),
        (Ok(_), Some((rank, message))) => Err(JointError::Elsewhere { rank, message }),
        (Ok(value), None) => Ok(value),
    }
}

/// Collective: the lowest rank that says something, and what.
///
/// # Errors
/// A rank is lost.
pub fn first_said(comm: &Comm, said: Option<String>) -> Result<Option<(Rank, String)>, CommError> {
    let all = comm.all_gather_lists(said.unwrap_or_default().as_bytes())?;
    let first = (0..).map(Rank).zip(all).find(|(_, said)| !said.is_empty());
    Ok(first.map(|(rank, said)| (rank, String::from_utf8_lossy(&said).into_owned())))
}

/// Collective: the hidden file that rank 0 made, as this rank calls it: beside `path`.
///
/// # Errors
/// A rank is lost.
pub fn hidden_name(path: &Path, made: Option<&Path>, comm: &Comm) -> Result<PathBuf, CommError> {
    let name = made.and_then(Path::file_name).unwrap_or_default();
    let name = comm.broadcast(Rank(0), name.to_string_lossy().as_bytes())?;
    Ok(path.with_file_name(String::from_utf8_lossy(&name).as_ref()))
}

/// Local: which of `n` items in a row are those of `rank`, about as many on every rank.
pub fn share(n: u64, rank: Rank, n_ranks: usize) -> Range<u64> {
    let cut = |r: u64| (u128::from(n) * u128::from(r) / n_ranks as u128) as u64;
    cut(u64::from(rank.0))..cut(u64::from(rank.0) + 1)
}

/// Collective: the sum of the terms of all ranks, which does not depend on who holds which; none exceeds `bound`.
///
/// # Errors
/// A rank is lost.
pub fn total(terms: impl ParallelIterator<Item = f64>, bound: f64, comm: &Comm) -> Result<f64, CommError> {
    let quantum = Quantum::for_terms(bound, u64::MAX);
    let add = |mut a: FixedSum, b: FixedSum| {
        a += b;
        a
    };
    let own = terms.map(|term| quantum.of(term)).reduce(FixedSum::default, add);
    let all = comm.all_gather(&[own])?.into_iter().fold(FixedSum::default(), add);
    Ok(quantum.value(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_all_items_once() {
        for (n, ranks) in [(0, 3), (5, 8), (100, 7), (1 << 40, 3)] {
            let mut next = 0;
            for rank in 0..ranks {
                let items = share(n, Rank(rank), ranks as usize);
                assert_eq!(items.start, next);
                next = items.end;
            }
            assert_eq!(next, n);
        }
    }
}
