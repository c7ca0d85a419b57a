//! Haloes with few particles are not listed.
//!
//! The merge tree contains cells, not particles. So the particles of each halo are counted once its clumps
//! are known:
//!
//! ```text
//!     particle -> leaf -> patch -> halo     counts of each rank  ->  keeper of the halo: their sum
//!     row of a clump or halo                question             ->  keeper  ->  answer
//! ```
//!
//! The keeper of a halo is the rank of its identifier modulo the number of ranks.

use crate::error::RunError;
use crate::exchange::grouped;
use crate::phew::hierarchy::Structures;
use crate::phew::member_places::MemberPlaces;
use crate::phew::tables::PatchIds;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_io::Snapshot;
use inselberg_kernels::ids::PeakSlot;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// The attribute with the least number.
pub const MIN_PARTICLES: &str = "min_particles";

/// A halo and a number of its particles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct HaloCount {
    halo: u64,
    n: u64,
}

/// Collective: leaves out haloes with fewer than `least` particles of any type, and their clumps. Labels do
/// not change. Reads all particles once. Three exchanges, in addition to that of the particles.
///
/// # Errors
/// When the particles cannot be read, or another rank fails.
pub fn leave_out_small(
    structures: &mut Structures,
    least: u64,
    snapshot: &dyn Snapshot,
    places: &MemberPlaces,
    ids: &PatchIds,
    comm: &Comm,
) -> Result<(), RunError> {
    let own = own_counts(snapshot, places, ids, comm)?;
    let of_kept = sums_of_keeper(own, comm)?;
    let is_large = |halo: u64| of_kept.get(&halo).is_some_and(|n| *n >= least);
    let large = ask(structures.clumps.iter().chain(&structures.haloes).map(|row| row.halo), is_large, comm)?;
    structures.clumps.retain(|clump| large.contains(&clump.halo));
    structures.haloes.retain(|halo| large.contains(&halo.halo));
    Ok(())
}

/// Collective: the particles that this rank places, per halo, by keeper.
fn own_counts(
    snapshot: &dyn Snapshot,
    places: &MemberPlaces,
    ids: &PatchIds,
    comm: &Comm,
) -> Result<Vec<HaloCount>, RunError> {
    let halo = |patch: PeakSlot| Some(ids.halo[patch.at()]).filter(|halo| *halo > 0);
    let members = places.members(snapshot, comm)?;
    let mut haloes: Vec<u64> = members.par_iter().filter_map(|member| halo(member.patch)).collect();
    haloes.par_sort_unstable();
    let runs = haloes.chunk_by(|a, b| a == b);
    let mut counts: Vec<HaloCount> =
        runs.map(|run| HaloCount { halo: run[0], n: run.len() as u64 }).collect();
    counts.sort_unstable_by_key(|count| keeper(count.halo, comm));
    Ok(counts)
}

/// Collective: the numbers of particles of the haloes that this rank keeps. `counts` are by keeper.
fn sums_of_keeper(counts: Vec<HaloCount>, comm: &Comm) -> Result<FxHashMap<u64, u64>, CommError> {
    let mut sums = FxHashMap::default();
    let parts = grouped(&counts, |count| (keeper(count.halo, comm), *count));
    for count in comm.exchange(parts)?.into_iter().flat_map(|(_, counts)| counts) {
        *sums.entry(count.halo).or_default() += count.n;
    }
    Ok(sums)
}

/// Collective: those of the haloes for which `is_large` is true on their keeper.
fn ask(
    haloes: impl Iterator<Item = u64>,
    is_large: impl Fn(u64) -> bool,
    comm: &Comm,
) -> Result<FxHashSet<u64>, CommError> {
    let mut asked: Vec<u64> = haloes.collect::<FxHashSet<u64>>().into_iter().collect();
    asked.sort_unstable_by_key(|halo| (keeper(*halo, comm), *halo));
    let questions = comm.exchange(grouped(&asked, |halo| (keeper(*halo, comm), *halo)))?;
    let answer = |(from, haloes): (Rank, Vec<u64>)| {
        (from, haloes.into_iter().filter(|halo| is_large(*halo)).collect::<Vec<u64>>())
    };
    let answers = comm.exchange(questions.into_iter().map(answer).collect())?;
    Ok(answers.into_iter().flat_map(|(_, haloes)| haloes).collect())
}

/// The rank that keeps the number of particles of a halo.
fn keeper(halo: u64, comm: &Comm) -> Rank {
    Rank((halo % comm.n_ranks() as u64) as u32)
}
