//! Members of two outputs side by side: which pairs of objects share tracers, and where single tracers are.

use crate::trees::members::{sort_by_id, to_identities};
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::trees::history::Sighting;
use inselberg_kernels::trees::join::{MemberEntry, join};
use inselberg_kernels::trees::score::{PairScore, summed};
use inselberg_kernels::trees::tracer::{TracerKey, weight};
use rayon::prelude::*;

/// Entries of a piece of work.
const CHUNK: usize = 1 << 15;

/// What a rank finds.
#[derive(Debug, Default)]
pub struct FoundTracers {
    /// Sums of scores of the identities of this rank.
    pub pairs: Vec<PairScore>,
    /// Most bound tracers.
    pub sightings: Vec<Sighting>,
}

/// The lists that are compared, each by identity.
#[derive(Debug, Clone, Copy)]
pub struct ComparedLists<'a> {
    /// Members of the last output.
    pub last: &'a [MemberEntry],
    /// Tracers of objects that are missing, by slot.
    pub waiting: &'a [MemberEntry],
    /// Tracers of orphans, by slot.
    pub orphans: &'a [MemberEntry],
    /// Members of the next output.
    pub next: &'a [MemberEntry],
}

impl ComparedLists<'_> {
    /// Local: the tracers that these lists have in common.
    pub fn found(&self) -> FoundTracers {
        let weights: Vec<u64> = {
            let most =
                self.next.iter().chain(self.last).chain(self.waiting).filter_map(MemberEntry::rank).max();
            (0..=most.unwrap_or(0)).map(weight).collect()
        };
        let weight_of = |entry: &MemberEntry| entry.rank().map_or(0, |rank| weights[rank as usize]);
        let mut found = self.hits(self.last, &|last, next, found| {
            found.add(last, next, [weight_of(last), weight_of(next)]);
        });
        found.merge(self.hits(self.waiting, &|waiting, next, found| {
            found.add(waiting, next, [weight_of(waiting), weight_of(next)]);
        }));
        found.merge(self.hits(self.orphans, &|orphan, next, found| found.see(orphan, next)));
        found.pairs = summed(found.pairs);
        found
    }

    /// Joins a list with the members of the next output, in pieces.
    fn hits(
        &self,
        list: &[MemberEntry],
        hit: &(dyn Fn(&MemberEntry, &MemberEntry, &mut FoundTracers) + Sync),
    ) -> FoundTracers {
        let piece = |list: &[MemberEntry]| {
            let mut found = FoundTracers::default();
            let (Some(first), Some(last)) = (list.first(), list.last()) else { return found };
            let begin = self.next.partition_point(|entry| entry.id < first.id);
            let end = begin + self.next[begin..].partition_point(|entry| entry.id <= last.id);
            join(list, &self.next[begin..end], |tracer, member| hit(tracer, member, &mut found));
            found.pairs = summed(found.pairs);
            found
        };
        list.par_chunks(CHUNK).map(piece).reduce(FoundTracers::default, |mut a, b| {
            a.merge(b);
            // Most pairs are found in many pieces.
            a.pairs = summed(a.pairs);
            a
        })
    }
}

impl FoundTracers {
    fn add(&mut self, from: &MemberEntry, to: &MemberEntry, [forward, backward]: [u64; 2]) {
        if forward > 0 || backward > 0 {
            let (source, object) = (from.object, to.object);
            self.pairs.push(PairScore { source, object, forward, backward, least: from.key() });
        }
        if from.rank() == Some(0) {
            self.see(from, to);
        }
    }

    fn see(&mut self, tracer: &MemberEntry, member: &MemberEntry) {
        self.sightings.push(Sighting { slot: tracer.object, object: member.object, rank: member.rank() });
    }

    fn merge(&mut self, mut other: Self) {
        self.pairs.append(&mut other.pairs);
        self.sightings.append(&mut other.sightings);
    }

    /// Collective: what all ranks found, on rank 0. Sums of pairs are those of all ranks.
    ///
    /// # Errors
    /// When a rank fails.
    pub fn gathered(self, comm: &Comm) -> Result<Self, CommError> {
        if comm.n_ranks() == 1 {
            return Ok(self);
        }
        let seen: Vec<SeenRecord> = self.sightings.iter().map(SeenRecord::new).collect();
        let pairs = comm.exchange(vec![(Rank(0), self.pairs)])?;
        let seen = comm.exchange(vec![(Rank(0), seen)])?;
        Ok(Self {
            pairs: summed(pairs.into_iter().flat_map(|(_, pairs)| pairs).collect()),
            sightings: seen.into_iter().flat_map(|(_, seen)| seen).map(SeenRecord::sighting).collect(),
        })
    }
}

/// A sighting in a message.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct SeenRecord {
    slot: u32,
    object: u32,
    /// 1 more than the rank, or 0.
    mark: u32,
}

impl SeenRecord {
    fn new(of: &Sighting) -> Self {
        Self { slot: of.slot, object: of.object, mark: of.rank.map_or(0, |rank| rank + 1) }
    }

    fn sighting(self) -> Sighting {
        Sighting { slot: self.slot, object: self.object, rank: self.mark.checked_sub(1) }
    }
}

/// Collective: single tracers from rank 0 to the ranks of their identities, by identity there.
///
/// # Errors
/// When a rank fails.
pub fn sent(tracers: &[(TracerKey, u32)], comm: &Comm) -> Result<Vec<MemberEntry>, CommError> {
    let entry = |(key, slot): &(TracerKey, u32)| MemberEntry::new(*key, *slot, Some(0));
    let entries: Vec<MemberEntry> = tracers.iter().map(entry).collect();
    let parts = to_identities(&entries, comm.n_ranks());
    let mut entries: Vec<_> = comm.exchange(parts)?.into_iter().flat_map(|(_, entries)| entries).collect();
    sort_by_id(&mut entries);
    Ok(entries)
}
