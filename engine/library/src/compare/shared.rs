//! Members that pairs of objects share, over ranks.

use crate::progress::Observer;
use crate::stage::Stage;
use crate::trees::TreeError;
use crate::trees::facts::OutputFacts;
use crate::trees::input::{open_members, read_objects};
use crate::trees::members::sorted_members;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, Rank, Reduce};
use inselberg_kernels::trees::join::{MemberEntry, join};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::path::Path;

/// Entries of a piece of work.
const CHUNK: usize = 1 << 15;

/// Members that two objects share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PairCount {
    /// Object of the first catalogue, by its place.
    pub a: u32,
    /// Object of the second one.
    pub b: u32,
    /// Members in common.
    pub n: u64,
}

/// Members of all objects, and of all pairs that share any, on rank 0. Only dark matter and stars count.
#[derive(Debug, Default)]
pub struct SharedMembers {
    /// Identifiers of the objects, by place.
    pub ids: [Vec<u64>; 2],
    /// Their members.
    pub n: [Vec<u64>; 2],
    /// By pair.
    pub pairs: Vec<PairCount>,
}

/// Collective: reads the members of both catalogues and counts. `facts` are those of rank 0.
///
/// # Errors
/// Members cannot be read, or a particle occurs twice; when a rank fails.
pub fn shared_members(
    paths: [&Path; 2],
    facts: Option<[Option<OutputFacts>; 2]>,
    comm: &Comm,
    observer: &dyn Observer,
) -> Result<SharedMembers, TreeError> {
    let mut all = SharedMembers::default();
    let mut lists = [Vec::new(), Vec::new()];
    for (i, path) in paths.into_iter().enumerate() {
        let _members = Stage::begin("members", 0, comm, observer);
        let facts = facts.as_ref().and_then(|facts| facts[i].as_ref());
        let objects = read_objects(facts, path, comm)?;
        let name = path.display().to_string();
        let source = open_members(path, comm)?;
        let members = sorted_members(&name, &objects, &*source, 1, comm, observer)?;
        let mut n = vec![0_u64; objects.n_objects as usize];
        members.entries.iter().for_each(|entry| n[entry.object as usize] += 1);
        all.n[i] = comm.all_reduce_counts(&n, Reduce::Sum)?;
        all.ids[i] = objects.properties.id;
        lists[i] = members.entries;
    }
    let _matching = Stage::begin("matching", lists[0].len() as u64, comm, observer);
    let received = comm.exchange(vec![(Rank(0), counted(&lists[0], &lists[1]))])?;
    all.pairs = summed(received.into_iter().flat_map(|(_, pairs)| pairs));
    Ok(all)
}

/// Local: the members that two lists have in common, by pair of objects. Both ascend by identity.
fn counted(a: &[MemberEntry], b: &[MemberEntry]) -> Vec<PairCount> {
    type Counts = FxHashMap<(u32, u32), u64>;
    let piece = |list: &[MemberEntry]| {
        let mut counts = Counts::default();
        let (Some(first), Some(last)) = (list.first(), list.last()) else { return counts };
        let begin = b.partition_point(|entry| entry.id < first.id);
        let end = begin + b[begin..].partition_point(|entry| entry.id <= last.id);
        join(list, &b[begin..end], |a, b| *counts.entry((a.object, b.object)).or_default() += 1);
        counts
    };
    let merged = a.par_chunks(CHUNK).map(piece).reduce(Counts::default, |a, b| {
        let (mut more, less) = if a.len() < b.len() { (b, a) } else { (a, b) };
        less.into_iter().for_each(|(pair, n)| *more.entry(pair).or_default() += n);
        more
    });
    summed(merged.into_iter().map(|((a, b), n)| PairCount { a, b, n }))
}

/// Pairs by ascending objects, each once.
pub fn summed(pairs: impl Iterator<Item = PairCount>) -> Vec<PairCount> {
    let mut pairs: Vec<PairCount> = pairs.collect();
    pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
    pairs.dedup_by(|next, kept| {
        let is_same = (next.a, next.b) == (kept.a, kept.b);
        if is_same {
            kept.n += next.n;
        }
        is_same
    });
    pairs
}
