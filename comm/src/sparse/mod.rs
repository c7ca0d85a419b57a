//! How do records reach a few other ranks, if no rank knows who will send to it?
//!
//! Sparse exchanges, by three algorithms with one contract. They are written on top of [`Endpoint`], for
//! every backend.

mod all_to_all;
mod nbx;
mod neighbours;

use crate::endpoint::{Endpoint, Op};
use crate::records::{Messages, into_bytes, into_records, to_bytes};
use crate::{Comm, CommError, Rank, Result};
use bytemuck::Pod;

/// The ways to exchange; the result is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SparseAlgorithm {
    /// A message, possibly empty, to every rank: P (P - 1) messages. The simple way.
    AllToAll,
    /// Only non-empty messages, and then a barrier that a rank enters once all its messages were received.
    /// That is one message per destination, and 2 (P - 1) small ones (Hoefler and others, 2010).
    Nbx,
}

impl SparseAlgorithm {
    /// All algorithms.
    pub const ALL: [Self; 2] = [Self::AllToAll, Self::Nbx];

    fn run(self, endpoint: &mut Endpoint, parts: Messages) -> Result<Messages> {
        match self {
            Self::AllToAll => all_to_all::run(endpoint, parts),
            Self::Nbx => nbx::run(endpoint, parts),
        }
    }
}

impl Comm {
    /// Collective: sends each list of records to its rank. Returns the lists that were sent here, by
    /// ascending source. Lists for the same rank are joined in their order; empty ones do not arrive.
    /// A rank may send to itself. By [`SparseAlgorithm::Nbx`].
    ///
    /// # Errors
    /// When there is no such rank, or a rank fails.
    pub fn exchange<T: Pod>(&self, parts: Vec<(Rank, Vec<T>)>) -> Result<Vec<(Rank, Vec<T>)>> {
        self.exchange_by(SparseAlgorithm::Nbx, parts)
    }

    /// Collective: [`Comm::exchange`] by a given algorithm, the same on all ranks.
    ///
    /// # Errors
    /// Those of [`Comm::exchange`].
    pub fn exchange_by<T: Pod>(
        &self,
        algorithm: SparseAlgorithm,
        parts: Vec<(Rank, Vec<T>)>,
    ) -> Result<Vec<(Rank, Vec<T>)>> {
        self.sparse(Op::Exchange, parts, |endpoint, parts| algorithm.run(endpoint, parts))
    }

    /// Collective: [`Comm::exchange`] between neighbours: each rank sends to some of its `neighbours` and may
    /// receive from any of them. If a is a neighbour of b, b is one of a. One message to each neighbour, no
    /// barrier and nothing that grows with the number of ranks; So, unlike the others, it may return here
    /// before distant ranks have begun it.
    ///
    /// # Errors
    /// When records are for a rank that is no neighbour, or a rank fails.
    pub fn exchange_with<T: Pod>(
        &self,
        neighbours: &[Rank],
        parts: Vec<(Rank, Vec<T>)>,
    ) -> Result<Vec<(Rank, Vec<T>)>> {
        self.sparse(Op::Neighbours, parts, |endpoint, parts| neighbours::run(endpoint, neighbours, parts))
    }

    fn sparse<T: Pod>(
        &self,
        op: Op,
        parts: Vec<(Rank, Vec<T>)>,
        run: impl FnOnce(&mut Endpoint, Messages) -> Result<Messages>,
    ) -> Result<Vec<(Rank, Vec<T>)>> {
        let mut endpoint = self.endpoint();
        endpoint.traffic.now().rounds += 1;
        endpoint.traffic.now().near_rounds += u64::from(op == Op::Neighbours);
        endpoint.call(op, |endpoint| {
            let (own, parts) = pack(parts, endpoint.rank(), endpoint.n_ranks())?;
            let mut received = run(endpoint, parts)?;
            endpoint.traffic.now().received += received.len() as u64;
            endpoint.traffic.now().received_bytes +=
                received.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>();
            received.retain(|(_, bytes)| !bytes.is_empty());
            received.sort_unstable_by_key(|part| part.0);
            let unpack = |(from, bytes): (Rank, Vec<u8>)| Ok((from, into_records(bytes)?));
            let mut received = received.into_iter().map(unpack).collect::<Result<Vec<_>>>()?;
            if !own.is_empty() {
                let rank = endpoint.rank();
                received.insert(received.partition_point(|part| part.0 < rank), (rank, own));
            }
            Ok(received)
        })
    }
}

/// The records of `rank` for itself, which are not copied if they are one list, and one message per other
/// destination, ascending.
fn pack<T: Pod>(mut parts: Vec<(Rank, Vec<T>)>, rank: Rank, n_ranks: usize) -> Result<(Vec<T>, Messages)> {
    parts.retain(|(_, records)| !records.is_empty());
    parts.sort_by_key(|part| part.0);
    if let Some(&(rank, _)) = parts.last().filter(|(to, _)| to.at() >= n_ranks) {
        return Err(CommError::NoSuchRank { rank, n_ranks });
    }
    let (mut own, mut packed) = (Vec::new(), Messages::new());
    for (to, records) in parts {
        match packed.last_mut() {
            _ if to == rank && own.is_empty() => own = records,
            _ if to == rank => own.extend(records),
            Some(last) if last.0 == to => last.1.extend(to_bytes(&records)),
            _ => packed.push((to, into_bytes(records))),
        }
    }
    Ok((own, packed))
}
