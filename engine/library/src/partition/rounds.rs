//! Many records to their owners, in rounds that bound the size of the message buffers.

use crate::chunks::append;
use crate::exchange::dealt;
use bytemuck::Pod;
use inselberg_comm::{Comm, CommError, Rank, Reduce};

/// Records, or cells, that a rank sends per round.
pub(crate) const ROUND: usize = 1 << 18;

/// Collective: the number of rounds that all ranks make, given the `n_chunks` that this rank has to send. It
/// is the number of the rank with the most chunks; the others send nothing in the last rounds.
///
/// # Errors
/// When another rank fails.
pub(crate) fn rounds(n_chunks: usize, comm: &Comm) -> Result<usize, CommError> {
    Ok(comm.all_reduce_counts(&[n_chunks as u64], Reduce::Max)?[0] as usize)
}

/// Collective: sends records in rounds of [`ROUND`] and returns those that arrived, in no particular order.
/// `sent` gives the destination of an item and the record to send. Frees the items while it runs. No exchange
/// on one rank.
///
/// # Errors
/// When another rank fails.
pub(crate) fn deliver<A: Sync, R: Pod + Send + Sync>(
    mut items: Vec<A>,
    sent: impl Fn(&A) -> (Rank, R) + Sync,
    comm: &Comm,
) -> Result<Vec<R>, CommError> {
    if comm.n_ranks() == 1 {
        return Ok(items.into_iter().map(|item| sent(&item).1).collect());
    }
    let mut received = Vec::new();
    for _ in 0..rounds(items.len().div_ceil(ROUND), comm)? {
        let left = items.len().saturating_sub(ROUND);
        let parts = dealt(&items[left..], &sent);
        items.truncate(left);
        items.shrink_to(2 * left);
        comm.exchange(parts)?.iter().for_each(|(_, records)| append(&mut received, records));
    }
    Ok(received)
}
