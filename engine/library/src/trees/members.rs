//! Members of an output, each on the rank given by its identity, sorted there.
//!
//! Rows are read in batches of blocks, the blocks of a batch by all threads. Entries of a batch leave for their
//! ranks before the next one is read, so a rank holds its sorted entries and one batch. Entries are sorted in
//! place.

use crate::exchange::{dealt, rank_of_identity};
use crate::particles::MemberType;
use crate::progress::Observer;
use crate::trees::error::TreeError;
use crate::trees::input::{MemberSource, MemberSpan, OutputObjects};
use bytemuck::{Pod, Zeroable};
use inselberg_comm::agree::agree;
use inselberg_comm::{Comm, Rank, Reduce};
use inselberg_kernels::trees::join::{MemberEntry, first_twin};
use inselberg_kernels::trees::tracer::TracerKey;
use rayon::prelude::*;
use rdst::{RadixKey, RadixSort};
use std::ops::Range;

/// Rows of a block: as many as catalogues have in a chunk, so that each chunk is read once. A block takes 25
/// bytes per row.
const BLOCK: u64 = 1 << 16;

/// Blocks of a batch.
const BATCH: usize = 16;

/// A full list grows by this part, so that little of it is empty.
const GROWTH: usize = 8;

/// Types of collisionless members.
const COLLISIONLESS: [u8; 2] = [MemberType::DarkMatter as u8, MemberType::Stars as u8];

/// An entry, sorted by identity.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
struct ById(MemberEntry);

impl RadixKey for ById {
    const LEVELS: usize = 8;

    #[inline]
    fn get_level(&self, level: usize) -> u8 {
        (self.0.id >> (8 * level)) as u8
    }
}

/// Sorts entries by identity.
pub fn sort_by_id(entries: &mut [MemberEntry]) {
    if !entries.is_sorted_by_key(|entry| entry.id) {
        let entries = bytemuck::cast_slice_mut::<MemberEntry, ById>(entries);
        entries.radix_sort_builder().with_low_mem_tuner().sort();
    }
}

/// Entries for the ranks of their identities.
pub fn to_identities(entries: &[MemberEntry], n_ranks: usize) -> Vec<(Rank, Vec<MemberEntry>)> {
    dealt(entries, |entry| (rank_of_identity(entry.id, n_ranks), *entry))
}

/// The tracers of an object: how many there are, and the most bound one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct TracerCount {
    pub object: u32,
    pub n: u32,
    pub first: TracerKey,
}

/// The members of an output.
#[derive(Debug, Default)]
pub struct SortedMembers {
    /// The collisionless ones whose identities belong to this rank, by identity.
    pub entries: Vec<MemberEntry>,
    /// The tracers of each object that has any, on rank 0.
    pub tracers: Vec<TracerCount>,
    /// Rows that this rank read.
    pub n_rows: u64,
}

/// Collective: reads the members of all objects, each rank a share of about equal size in whole objects.
///
/// # Errors
/// Members cannot be read, or a particle occurs twice; when a rank fails.
pub fn sorted_members(
    name: &str,
    objects: &OutputObjects,
    source: &dyn MemberSource,
    n_tracers: u32,
    comm: &Comm,
    observer: &dyn Observer,
) -> Result<SortedMembers, TreeError> {
    let spans = share_of(&objects.spans, comm.rank(), comm.n_ranks());
    let blocks = blocks(spans);
    let n_batches = comm.all_reduce_counts(&[blocks.len().div_ceil(BATCH) as u64], Reduce::Max)?[0];
    let read = |rows: &Range<u64>| {
        let (ids, types) = source.members(rows.clone())?;
        observer.advance(rows.end - rows.start);
        Ok(RankedTracers::of_block(n_tracers, spans, rows, &ids, &types))
    };
    let mut ranked = RankedTracers::new(n_tracers);
    let mut members = SortedMembers::default();
    reserve(&mut members.entries, &objects.spans, comm.n_ranks());
    for batch in 0..n_batches as usize {
        let blocks = blocks.chunks(BATCH).nth(batch).unwrap_or_default();
        let found: Vec<Result<RankedTracers, TreeError>> =
            blocks.par_iter().with_max_len(1).map(read).collect();
        let found = agree(comm, found.into_iter().collect::<Result<Vec<_>, _>>())?;
        members.n_rows += blocks.iter().map(|rows| rows.end - rows.start).sum::<u64>();
        found.into_iter().for_each(|block| ranked.append(block));
        let found = std::mem::take(&mut ranked.entries);
        match comm.n_ranks() {
            1 => append(&mut members.entries, &found),
            n_ranks => {
                let received = comm.exchange(to_identities(&found, n_ranks))?;
                received.iter().for_each(|(_, found)| append(&mut members.entries, found));
            }
        }
    }
    sort_by_id(&mut members.entries);
    let twin =
        first_twin(&members.entries).map(|[a, b]| (a.key(), a.object.min(b.object), a.object.max(b.object)));
    check_twins(name, objects, twin, comm)?;
    let to_first = comm.exchange(vec![(Rank(0), ranked.counts)])?;
    members.tracers = to_first.into_iter().flat_map(|(_, counts)| counts).collect();
    Ok(members)
}

/// Reserves what a rank will hold of the rows of all spans. A list that grew step by step would leave holes
/// in the heap.
fn reserve(entries: &mut Vec<MemberEntry>, spans: &[MemberSpan], n_ranks: usize) {
    let total: u64 = spans.iter().map(|span| u64::from(span.n)).sum();
    let share = total / n_ranks as u64;
    // Hashes deal them out almost evenly.
    let expected = if n_ranks > 1 { share + share / 32 } else { share };
    // Damaged catalogues may state more than memory can hold; reading them fails with a message.
    let _ = usize::try_from(expected).map(|expected| entries.try_reserve_exact(expected));
}

fn append(entries: &mut Vec<MemberEntry>, found: &[MemberEntry]) {
    if entries.capacity() - entries.len() < found.len() {
        entries.reserve_exact(found.len().max(entries.len() / GROWTH));
    }
    crate::chunks::append(entries, found);
}

/// Collective: an error that names the lowest particle that occurs twice.
fn check_twins(
    name: &str,
    objects: &OutputObjects,
    twin: Option<(TracerKey, u32, u32)>,
    comm: &Comm,
) -> Result<(), TreeError> {
    let own: Vec<[u64; 4]> =
        twin.map(|(key, a, b)| [key.id, key.kind, u64::from(a), u64::from(b)]).into_iter().collect();
    let all = comm.all_gather(&own)?;
    let Some([id, kind, a, b]) = all.into_iter().min() else { return Ok(()) };
    let kind = if kind == 1 { "dark matter" } else { "stars" };
    let id_of = |place: u64| objects.properties.id.get(place as usize);
    // Only rank 0 knows the identifiers of objects.
    let problem = match (id_of(a), id_of(b)) {
        (Some(a), Some(b)) if a == b => {
            format!("the {kind} particle {id} is twice a member of object {a}")
        }
        (Some(a), Some(b)) => {
            format!("the {kind} particle {id} is a member of object {a} and of object {b}")
        }
        _ => format!("the {kind} particle {id} is a member twice"),
    };
    let is_first = comm.rank() == Rank(0);
    let error = TreeError::of(name, problem, "each particle in one object");
    Ok(agree(comm, if is_first { Err(error) } else { Ok(()) })?)
}

/// The spans that a rank works on: those that begin in its equal share of all rows.
pub fn share_of(spans: &[MemberSpan], rank: Rank, n_ranks: usize) -> &[MemberSpan] {
    let total: u64 = spans.iter().map(|span| u64::from(span.n)).sum();
    let rank = u128::from(rank.0);
    let bounds = [rank, rank + 1].map(|rank| (u128::from(total) * rank / n_ranks as u128) as u64);
    let mut before = 0;
    let mut places = [spans.len(); 2];
    for (i, span) in spans.iter().enumerate() {
        for (place, bound) in places.iter_mut().zip(bounds) {
            if before >= bound && *place == spans.len() {
                *place = i;
            }
        }
        before += u64::from(span.n);
    }
    &spans[places[0]..places[1]]
}

/// The rows of spans in blocks. Rows that belong to no object are left out where they are between blocks.
fn blocks(spans: &[MemberSpan]) -> Vec<Range<u64>> {
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else { return Vec::new() };
    let end = last.first + u64::from(last.n);
    let block = |number: u64| (number * BLOCK).max(first.first)..((number + 1) * BLOCK).min(end);
    (first.first / BLOCK..end.div_ceil(BLOCK)).map(block).collect()
}

/// Entries of consecutive rows, and the tracers of each object, counted from the first of these rows on.
struct RankedTracers {
    n_tracers: u32,
    entries: Vec<MemberEntry>,
    counts: Vec<TracerCount>,
}

impl RankedTracers {
    /// No rows.
    fn new(n_tracers: u32) -> Self {
        Self { n_tracers, entries: Vec::new(), counts: Vec::new() }
    }

    /// The entries of a block of rows.
    fn of_block(n_tracers: u32, spans: &[MemberSpan], rows: &Range<u64>, ids: &[u64], types: &[u8]) -> Self {
        let mut of = Self::new(n_tracers);
        of.entries.reserve(ids.len());
        let first = spans.partition_point(|span| span.first + u64::from(span.n) <= rows.start);
        for span in spans[first..].iter().take_while(|span| span.first < rows.end) {
            let own = span.first.max(rows.start)..(span.first + u64::from(span.n)).min(rows.end);
            for row in own {
                let at = (row - rows.start) as usize;
                if COLLISIONLESS.contains(&types[at]) {
                    let key = TracerKey { id: ids[at], kind: u64::from(types[at]) };
                    let rank = of.next(span.object, key);
                    of.entries.push(MemberEntry::new(key, span.object, rank));
                }
            }
        }
        of
    }

    /// The rank of the next collisionless member of an object, if it is a tracer.
    fn next(&mut self, object: u32, key: TracerKey) -> Option<u32> {
        match self.counts.last_mut() {
            Some(count) if count.object == object => {
                let rank = count.n;
                (rank < self.n_tracers).then(|| {
                    count.n += 1;
                    rank
                })
            }
            _ => {
                self.counts.push(TracerCount { object, n: 1, first: key });
                Some(0)
            }
        }
    }

    /// Adds the rows that follow. If they begin within an object, its ranks go on there.
    fn append(&mut self, mut next: Self) {
        let mut n_shared = 0;
        if let (Some(last), Some(first)) = (self.counts.last_mut(), next.counts.first())
            && last.object == first.object
        {
            let ranked_on = |rank: u32| Some(rank + last.n).filter(|rank| *rank < self.n_tracers);
            let of_object = next.entries.iter_mut().take_while(|entry| entry.object == last.object);
            of_object.for_each(|entry| *entry = entry.with_rank(entry.rank().and_then(ranked_on)));
            last.n = (last.n + first.n).min(self.n_tracers);
            n_shared = 1;
        }
        self.counts.extend_from_slice(&next.counts[n_shared..]);
        self.entries.append(&mut next.entries);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks do not depend on where blocks end.
    #[test]
    fn ranks_go_on_in_the_next_block() {
        let spans: Vec<MemberSpan> =
            [(0, 3), (3, 9), (14, 1), (15, 5)].into_iter().zip(0..).map(span_of).collect();
        let ids: Vec<u64> = (100..120).collect();
        let types: Vec<u8> = (0..20).map(|row| if row % 4 == 3 { 0 } else { 1 }).collect();
        let of = |blocks: &[Range<u64>]| {
            let mut all = RankedTracers::new(4);
            for rows in blocks {
                let own = rows.start as usize..rows.end as usize;
                all.append(RankedTracers::of_block(4, &spans, rows, &ids[own.clone()], &types[own]));
            }
            let counts: Vec<_> =
                all.counts.iter().map(|count| (count.object, count.n, count.first)).collect();
            (all.entries, counts)
        };
        let whole = of(std::slice::from_ref(&(0..20)));
        assert_eq!(whole.1.iter().map(|count| count.1).collect::<Vec<_>>(), [3, 4, 1, 3]);
        for cut in 1..20 {
            assert_eq!(of(&[0..cut, cut..20]), whole, "{cut}");
            assert_eq!(of(&[0..cut / 2, cut / 2..cut, cut..20]), whole, "{cut}");
        }
    }

    fn span_of(((first, n), object): ((u64, u32), u32)) -> MemberSpan {
        MemberSpan { first, n, object }
    }

    #[test]
    fn blocks_end_where_chunks_end() {
        let span = |first, n| MemberSpan { first, n, object: 0 };
        assert_eq!(blocks(&[]), []);
        assert_eq!(blocks(&[span(5, 7), span(12, 1)]), std::iter::once(5..13).collect::<Vec<_>>());
        let b = BLOCK;
        assert_eq!(blocks(&[span(b - 1, 2), span(b + 9, 1)]), [b - 1..b, b..b + 10]);
        assert_eq!(blocks(&[span(0, 2 * b as u32)]), [0..b, b..2 * b]);
        assert_eq!(blocks(&[span(b, 3), span(3 * b - 4, 4)]), [b..2 * b, 2 * b..3 * b]);
    }
}
