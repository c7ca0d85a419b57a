//! Records of several kinds in one message.

use bytemuck::Pod;
use inselberg_comm::{Comm, CommError, Rank};
use std::collections::BTreeMap;

/// What goes out to each rank: one list of records a kind, as bytes.
#[derive(Debug)]
pub struct SendBuffers<const KINDS: usize>(BTreeMap<Rank, [Vec<u8>; KINDS]>);

impl<const KINDS: usize> Default for SendBuffers<KINDS> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

/// What came from a rank.
#[derive(Debug)]
pub struct Bundle<const KINDS: usize> {
    /// The rank.
    pub from: Rank,
    lists: [Vec<u8>; KINDS],
}

impl<const KINDS: usize> SendBuffers<KINDS> {
    /// Adds records of a kind; nothing goes to a rank for which there are none.
    pub fn put<T: Pod>(&mut self, to: Rank, kind: usize, records: &[T]) {
        if records.is_empty() {
            return;
        }
        let lists = self.0.entry(to).or_insert_with(|| [const { Vec::new() }; KINDS]);
        lists[kind].extend_from_slice(bytemuck::cast_slice(records));
    }

    /// Collective: one message to each rank for which there is something. By ascending rank what came.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn exchange(self, comm: &Comm) -> Result<Vec<Bundle<KINDS>>, CommError> {
        let pack = |lists: [Vec<u8>; KINDS]| {
            let mut bytes: Vec<u8> = lists.iter().flat_map(|l| (l.len() as u64).to_ne_bytes()).collect();
            lists.iter().for_each(|list| bytes.extend_from_slice(list));
            bytes
        };
        let parts = self.0.into_iter().map(|(to, lists)| (to, pack(lists))).collect();
        let received = comm.exchange(parts)?;
        let bundles: Option<Vec<_>> =
            received.into_iter().map(|(from, bytes)| unpack(from, &bytes)).collect();
        bundles.ok_or_else(|| comm.abort("a message came torn"))
    }
}

fn unpack<const KINDS: usize>(from: Rank, bytes: &[u8]) -> Option<Bundle<KINDS>> {
    let (lengths, mut rest) = bytes.split_at_checked(8 * KINDS)?;
    let mut lists = [const { Vec::new() }; KINDS];
    for (list, length) in lists.iter_mut().zip(lengths.chunks_exact(8)) {
        let (own, others) = rest.split_at_checked(u64::from_ne_bytes(length.try_into().ok()?) as usize)?;
        (*list, rest) = (own.to_vec(), others);
    }
    Some(Bundle { from, lists })
}

impl<const KINDS: usize> Bundle<KINDS> {
    /// The records of a kind, at whatever address they came.
    pub fn records<T: Pod>(&self, kind: usize) -> Vec<T> {
        self.lists[kind].chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
    }
}
