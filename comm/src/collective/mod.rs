//! Which values do all ranks compute together? Barriers, reductions, sums over ranks, gathers and broadcasts.
//!
//! They are written once, on top of [`Endpoint`], for every backend. Each call goes up the tree and down
//! again:
//! 2 (P - 1) messages in 2 log2 P steps. The order of a fold depends on the number of ranks only.

pub(crate) mod tree;

use crate::endpoint::{Endpoint, Op};
use crate::records::{from_bytes, to_bytes};
use crate::{Comm, CommError, Rank, Result};
use bytemuck::Pod;
use tree::{Barrier, TreeCall};

/// How values of all ranks are reduced to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduce {
    /// Their sum, or the largest number if the sum is too large.
    Sum,
    /// The least value.
    Min,
    /// The greatest value.
    Max,
}

impl Comm {
    /// Collective: no rank returns before all ranks have called it.
    ///
    /// # Errors
    /// When a rank fails.
    pub fn barrier(&self) -> Result<()> {
        self.collective(Op::Barrier, |endpoint| {
            let mut barrier = Barrier::new(endpoint, Op::Barrier);
            endpoint.wait(|t| Ok(barrier.poll(t)?.then_some(())))
        })
    }

    /// Collective: reduces counts over all ranks, place by place; every rank gets the result.
    ///
    /// # Errors
    /// When ranks give different numbers of values, or a rank fails.
    pub fn all_reduce_counts(&self, values: &[u64], how: Reduce) -> Result<Vec<u64>> {
        self.fold(values, |a, b| match how {
            Reduce::Sum => a.saturating_add(b),
            Reduce::Min => a.min(b),
            Reduce::Max => a.max(b),
        })
    }

    /// Collective: the greatest of each value over all ranks, NaN being less than any other; every
    /// rank gets the result. No sums of reals are offered, because they would depend on the order of
    /// the ranks.
    ///
    /// # Errors
    /// When ranks give different numbers of values, or a rank fails.
    pub fn all_max(&self, values: &[f64]) -> Result<Vec<f64>> {
        self.fold(values, |a, b| {
            let is_greater = if a.is_nan() { !b.is_nan() } else { !b.is_nan() && b.total_cmp(&a).is_gt() };
            if is_greater { b } else { a }
        })
    }

    /// Collective: the sum of `value` over the ranks before this one.
    ///
    /// # Errors
    /// When a rank fails.
    pub fn sum_before(&self, value: u64) -> Result<u64> {
        Ok(self.sums_before(&[value])?[0])
    }

    /// Collective: the sums of `values`, place by place, over the ranks before this one.
    ///
    /// # Errors
    /// When ranks give different numbers of values, or a rank fails.
    pub fn sums_before(&self, values: &[u64]) -> Result<Vec<u64>> {
        self.collective(Op::SumBefore, |endpoint| sums_before(endpoint, values))
    }

    /// Collective: the records of all ranks, those of rank 0 first. Every rank holds all of them, so use it
    /// only for small data.
    ///
    /// # Errors
    /// When a rank fails.
    pub fn all_gather<T: Pod>(&self, records: &[T]) -> Result<Vec<T>> {
        self.join(to_bytes(records), from_bytes)
    }

    /// Collective: [`Comm::all_gather`] with the records of each rank apart, by rank.
    ///
    /// # Errors
    /// When a rank fails.
    pub fn all_gather_lists<T: Pod>(&self, records: &[T]) -> Result<Vec<Vec<T>>> {
        let own = to_bytes(records);
        let length = (own.len() as u64).to_ne_bytes();
        self.join([&length, own.as_slice()].concat(), unpack)
    }

    /// Decodes the bytes of all ranks, in the order of the ranks.
    fn join<R>(&self, own: Vec<u8>, decode: impl FnOnce(&[u8]) -> Result<R>) -> Result<R> {
        self.collective(Op::Gather, |endpoint| decode(&up_and_down(endpoint, Op::Gather, joined(own))?))
    }

    /// Collective: the records that rank `from` gave; those of the others are ignored.
    ///
    /// # Errors
    /// When there is no such rank, or a rank fails.
    pub fn broadcast<T: Pod>(&self, from: Rank, records: &[T]) -> Result<Vec<T>> {
        let n_ranks = self.n_ranks();
        let own = if self.rank() == from { to_bytes(records) } else { Vec::new() };
        self.collective(Op::Broadcast, |endpoint| match from.at() < n_ranks {
            true => from_bytes(&up_and_down(endpoint, Op::Broadcast, joined(own))?),
            false => Err(CommError::NoSuchRank { rank: from, n_ranks }),
        })
    }

    fn fold<T: Pod>(&self, values: &[T], fold: impl Fn(T, T) -> T) -> Result<Vec<T>> {
        let combine = |below: Vec<Vec<u8>>| {
            let mut result = values.to_vec();
            for bytes in below {
                fold_in(&mut result, &from_bytes(&bytes)?, &fold)?;
            }
            Ok(to_bytes(&result))
        };
        self.collective(Op::Reduce, |endpoint| from_bytes(&up_and_down(endpoint, Op::Reduce, combine)?))
    }

    fn collective<R>(&self, op: Op, work: impl FnOnce(&mut Endpoint) -> Result<R>) -> Result<R> {
        let mut endpoint = self.endpoint();
        endpoint.traffic.now().collectives += 1;
        endpoint.call(op, work)
    }
}

/// The bytes of a rank, then those of the ranks below it: in the order of the ranks.
fn joined(own: Vec<u8>) -> impl FnOnce(Vec<Vec<u8>>) -> Result<Vec<u8>> {
    |below| {
        let mut all = own;
        below.iter().for_each(|part| all.extend_from_slice(part));
        Ok(all)
    }
}

/// Combines values on the way up, and sends the result of rank 0 to all ranks.
fn up_and_down(
    endpoint: &mut Endpoint,
    op: Op,
    combine: impl FnOnce(Vec<Vec<u8>>) -> Result<Vec<u8>>,
) -> Result<Vec<u8>> {
    let mut tree = TreeCall::new(endpoint, op);
    let below = endpoint.wait(|t| tree.poll_below(t))?;
    let n_below = below.len();
    let mut crossed: usize = below.iter().map(Vec::len).sum();
    let joined = combine(below)?;
    let n_joined = joined.len();
    let all = match tree.send_up(endpoint.transport(), joined)? {
        Some(all) => all,
        None => {
            let all = endpoint.wait(|t| tree.poll_above(t))?;
            crossed += n_joined + all.len();
            all
        }
    };
    tree.send_down(endpoint.transport(), |_| all.clone())?;
    endpoint.traffic.now().tree_bytes += (crossed + n_below * all.len()) as u64;
    Ok(all)
}

/// Adds up on the way up; on the way down, each child receives the sums before the ranks below it.
fn sums_before(endpoint: &mut Endpoint, values: &[u64]) -> Result<Vec<u64>> {
    let mut tree = TreeCall::new(endpoint, Op::SumBefore);
    let below = endpoint.wait(|t| tree.poll_below(t))?;
    // The sums before each child within this subtree; at the end, the sum of the subtree.
    let mut before_child = vec![values.to_vec()];
    for bytes in &below {
        let mut sums = before_child[before_child.len() - 1].clone();
        add(&mut sums, &from_bytes(bytes)?)?;
        before_child.push(sums);
    }
    let before = match tree.send_up(endpoint.transport(), to_bytes(&before_child[below.len()]))? {
        Some(_) => vec![0; values.len()],
        None => from_bytes(&endpoint.wait(|t| tree.poll_above(t))?)?,
    };
    before_child.iter_mut().try_for_each(|sums| add(sums, &before))?;
    endpoint.traffic.now().tree_bytes += (2 * (below.len() + 1) * size_of_val(values)) as u64;
    tree.send_down(endpoint.transport(), |child| to_bytes(&before_child[child]))?;
    Ok(before)
}

fn add(sums: &mut [u64], terms: &[u64]) -> Result<()> {
    fold_in(sums, terms, u64::saturating_add)
}

fn fold_in<T: Pod>(result: &mut [T], other: &[T], fold: impl Fn(T, T) -> T) -> Result<()> {
    if other.len() != result.len() {
        let what = format!("a reduction of {} values got {} from another rank", result.len(), other.len());
        return Err(CommError::Mismatch { what });
    }
    for (a, &b) in result.iter_mut().zip(other) {
        *a = fold(*a, b);
    }
    Ok(())
}

/// The parts of a joined message; each part follows its length in bytes.
fn unpack<T: Pod>(mut bytes: &[u8]) -> Result<Vec<Vec<T>>> {
    let mut parts = Vec::new();
    while !bytes.is_empty() {
        let split = bytes
            .split_first_chunk()
            .and_then(|(length, rest)| rest.split_at_checked(u64::from_ne_bytes(*length) as usize));
        let Some((part, rest)) = split else {
            return Err(CommError::Mismatch { what: "a joined message is incomplete".into() });
        };
        parts.push(from_bytes(part)?);
        bytes = rest;
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alone_everything_is_its_own() {
        let comm = Comm::solo();
        assert_eq!((comm.rank(), comm.n_ranks(), comm.sum_before(7)), (Rank(0), 1, Ok(0)));
        assert_eq!(comm.all_reduce_counts(&[3, 4], Reduce::Sum), Ok(vec![3, 4]));
        assert_eq!(comm.all_max(&[-1.5]), Ok(vec![-1.5]));
        assert_eq!(comm.all_gather(&[1u8, 2]), Ok(vec![1, 2]));
        assert_eq!(comm.all_gather_lists(&[1u8, 2]), Ok(vec![vec![1, 2]]));
        assert_eq!(comm.broadcast(Rank(0), &[5u16]), Ok(vec![5]));
        assert_eq!(comm.barrier(), Ok(()));
    }
}
