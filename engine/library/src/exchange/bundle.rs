//! Records of several kinds in one message.

use bytemuck::Pod;
use inselberg_comm::{Comm, CommError, Rank};
use std::collections::BTreeMap;
use std::ops::Range;

/// The records for each rank: one list of bytes per kind of record.
#[derive(Debug)]
pub struct SendBuffers<const KINDS: usize>(BTreeMap<Rank, [Vec<u8>; KINDS]>);

impl<const KINDS: usize> Default for SendBuffers<KINDS> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

/// The records received from one rank.
#[derive(Debug)]
pub struct Bundle<const KINDS: usize> {
    /// The rank.
    pub from: Rank,
    lists: BundleLists<KINDS>,
}

/// The bytes of the records of each kind, as they came.
#[derive(Debug)]
enum BundleLists<const KINDS: usize> {
    /// From this rank.
    Own([Vec<u8>; KINDS]),
    /// In a message, and where in it each list is.
    Packed(Vec<u8>, [Range<usize>; KINDS]),
}

impl<const KINDS: usize> SendBuffers<KINDS> {
    /// Adds records of a kind for a rank. A rank without records gets no message.
    pub fn put<T: Pod>(&mut self, to: Rank, kind: usize, records: &[T]) {
        if records.is_empty() {
            return;
        }
        let lists = self.0.entry(to).or_insert_with(|| [const { Vec::new() }; KINDS]);
        lists[kind].extend_from_slice(bytemuck::cast_slice(records));
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Collective: sends one message to each rank with records. Returns the bundles received, by ascending
    /// rank. Records for this rank are not copied.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn exchange(mut self, comm: &Comm) -> Result<Vec<Bundle<KINDS>>, CommError> {
        let own = self.0.remove(&comm.rank());
        let parts = self.0.into_iter().map(|(to, lists)| (to, pack(&lists))).collect();
        let received = comm.exchange(parts)?;
        let bundles: Option<Vec<_>> = received.into_iter().map(|(from, bytes)| unpack(from, bytes)).collect();
        let mut bundles =
            bundles.ok_or_else(|| comm.abort("a bundle of records is shorter than its header states"))?;
        if let Some(lists) = own {
            let own = Bundle { from: comm.rank(), lists: BundleLists::Own(lists) };
            bundles.insert(bundles.partition_point(|bundle| bundle.from < own.from), own);
        }
        Ok(bundles)
    }
}

/// The lengths of the lists, then the lists.
fn pack<const KINDS: usize>(lists: &[Vec<u8>; KINDS]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(lists.iter().map(|list| size_of::<u64>() + list.len()).sum());
    lists.iter().for_each(|list| bytes.extend_from_slice(&(list.len() as u64).to_ne_bytes()));
    lists.iter().for_each(|list| bytes.extend_from_slice(list));
    bytes
}

/// `None` if the bytes are fewer than the lengths in front of them add up to.
fn unpack<const KINDS: usize>(from: Rank, bytes: Vec<u8>) -> Option<Bundle<KINDS>> {
    let mut end = size_of::<u64>() * KINDS;
    let mut lists = [const { 0..0 }; KINDS];
    for (list, length) in lists.iter_mut().zip(bytes.get(..end)?.chunks_exact(size_of::<u64>())) {
        let start = end;
        end = start.checked_add(u64::from_ne_bytes(length.try_into().ok()?) as usize)?;
        *list = start..end;
    }
    (end <= bytes.len()).then_some(Bundle { from, lists: BundleLists::Packed(bytes, lists) })
}

impl<const KINDS: usize> Bundle<KINDS> {
    /// The records of a kind. Copies them, because bytes of a message need not be aligned.
    pub fn records<T: Pod>(&self, kind: usize) -> Vec<T> {
        self.each(kind).collect()
    }

    /// The records of a kind, one after another.
    pub fn each<T: Pod>(&self, kind: usize) -> impl ExactSizeIterator<Item = T> {
        let list = match &self.lists {
            BundleLists::Own(lists) => &lists[kind],
            BundleLists::Packed(bytes, lists) => &bytes[lists[kind].clone()],
        };
        let records = list.chunks_exact(size_of::<T>());
        assert!(records.remainder().is_empty(), "both sides use one type of record per kind");
        records.map(bytemuck::pod_read_unaligned)
    }
}

/// The records of a kind in all bundles, in their order.
pub fn all_records<T: Pod, const KINDS: usize>(bundles: &[Bundle<KINDS>], kind: usize) -> Vec<T> {
    let mut all = Vec::with_capacity(bundles.iter().map(|bundle| bundle.each::<T>(kind).len()).sum());
    bundles.iter().for_each(|bundle| all.extend(bundle.each::<T>(kind)));
    all
}
