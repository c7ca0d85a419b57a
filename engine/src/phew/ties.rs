//! Saddles that are exactly equal, which RAMSES's rules must know all of (`kernels/src/phew/ties.rs`).
//!
//! Who ties is found on the first rank. Others send it only edges whose saddle two pairs of patches have, on whatever
//! ranks; where there is none, nothing goes there.

use crate::exchange;
use crate::exchange::bundle::SendBuffers;
use crate::phew::forest::far_edge;
use crate::phew::peak_comm::PeakComm;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_kernels::geom::Domain;
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::mesh::Locator;
use inselberg_kernels::phew::forest::ContactEdge;
use inselberg_kernels::phew::global::GlobalEdge;
use inselberg_kernels::phew::ties::{Tie, stand_beside};
use inselberg_kernels::phew::tree::{Death, MergeTree};

/// The rank that knows all ties.
pub const HOLDER: Rank = Rank(0);

/// Collective: the edges of all ranks that may tie, on the holder; none elsewhere. `edges`, in falling
/// order, name slots of `peaks`.
///
/// # Errors
/// When another rank fails.
pub fn candidates(
    comm: &Comm,
    peaks: &PeakComm,
    edges: &[ContactEdge],
    locator: &Locator,
) -> Result<Vec<GlobalEdge>, CommError> {
    if comm.n_ranks() == 1 {
        let equal = edges.chunk_by(|a, b| a.saddle == b.saddle).filter(|equal| equal.len() > 1);
        return Ok(equal.flatten().map(|edge| far_edge(edge, peaks, locator)).collect());
    }
    let mut kept: Vec<&ContactEdge> = edges.iter().collect();
    kept.sort_unstable_by_key(|edge| (home(edge.saddle, comm), edge.saddle.to_bits()));
    let known = |edge: &ContactEdge| RemoteEdge {
        saddle: edge.saddle,
        peaks: edge.peaks.map(|p| peaks.known[p.at()].global),
    };
    let received = comm.exchange(exchange::grouped(&kept, |edge| (home(edge.saddle, comm), known(edge))))?;
    let shared = shared_saddles(&received);
    let mut answers = Vec::new();
    for (from, records) in received {
        let is_shared = |known: &RemoteEdge| u8::from(shared.binary_search(&known.saddle.to_bits()).is_ok());
        answers.push((from, records.iter().map(is_shared).collect::<Vec<u8>>()));
    }
    let answers = comm.exchange(answers)?;
    let is_shared = answers.into_iter().flat_map(|(_, answers)| answers);
    let shared = kept.iter().zip(is_shared).filter(|(_, is_shared)| *is_shared == 1);
    let far: Vec<GlobalEdge> = shared.map(|(edge, _)| far_edge(edge, peaks, locator)).collect();
    Ok(comm.exchange(vec![(HOLDER, far)])?.into_iter().flat_map(|(_, edges)| edges).collect())
}

/// An edge for the rank that looks for its saddle elsewhere.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct RemoteEdge {
    saddle: f64,
    peaks: [PeakIdx; 2],
}

/// The rank that looks for other edges with a saddle.
fn home(saddle: f64, comm: &Comm) -> Rank {
    let mixed = saddle.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    Rank(((mixed * comm.n_ranks() as u64) >> 32) as u32)
}

/// The bits of the saddles that two pairs of patches have, ascending.
fn shared_saddles(received: &[(Rank, Vec<RemoteEdge>)]) -> Vec<u64> {
    let records = received.iter().flat_map(|(_, records)| records);
    let mut all: Vec<_> = records.map(|known| (known.saddle.to_bits(), known.peaks)).collect();
    all.sort_unstable();
    all.dedup();
    let equal = all.chunk_by(|a, b| a.0 == b.0).filter(|equal| equal.len() > 1);
    equal.map(|equal| equal[0].0).collect()
}

/// Collective: the ties beside the tree of all ranks, of which this rank has its own peaks, on the holder; none
/// elsewhere. `side` is the length of a level-0 cell.
///
/// # Errors
/// When another rank fails.
pub fn beside(
    comm: &Comm,
    mut candidates: Vec<GlobalEdge>,
    global: &[PeakIdx],
    tree: &MergeTree,
    (domain, side): (&Domain, f64),
) -> Result<Vec<Tie>, CommError> {
    if comm.all_reduce_counts(&[candidates.len() as u64], Reduce::Max)?[0] == 0 {
        return Ok(Vec::new());
    }
    let Some(whole) = whole_tree(comm, global, tree)? else { return Ok(Vec::new()) };
    let tie = |edge: GlobalEdge| Tie {
        saddle: edge.saddle,
        position: edge.cells[0].touches(&edge.cells[1], domain).map(|x| x * side),
        patches: edge.peaks.map(PeakIdx),
    };
    candidates.sort_unstable_by(GlobalEdge::order);
    candidates.dedup_by_key(|edge| (edge.saddle.to_bits(), edge.peaks));
    let edges: Vec<_> = candidates.iter().map(|edge| (edge.saddle, edge.peaks.map(PeakIdx))).collect();
    let is_tie = stand_beside(&whole, &edges);
    Ok(candidates.into_iter().zip(is_tie).filter(|(_, is_tie)| *is_tie).map(|(edge, _)| tie(edge)).collect())
}

/// A peak and where it ends.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct PeakEnd {
    rho: f64,
    saddle: f64,
    global: PeakIdx,
    ends: [PeakIdx; 2],
    unused: u32,
}

/// Collective: the tree of the peaks of all ranks, on the holder.
///
/// # Errors
/// When another rank fails.
pub fn whole_tree(comm: &Comm, global: &[PeakIdx], tree: &MergeTree) -> Result<Option<MergeTree>, CommError> {
    let own = |i: usize| {
        let death = &tree.death[i];
        let ends = [death.near, death.endpoint];
        PeakEnd { rho: tree.rho[i], saddle: death.saddle, global: global[i], ends, unused: 0 }
    };
    let mut buffers = SendBuffers::<1>::default();
    buffers.put(HOLDER, 0, &(0..tree.len()).map(own).collect::<Vec<_>>());
    let received = buffers.exchange(comm)?;
    let mut peaks: Vec<PeakEnd> = received.iter().flat_map(|bundle| bundle.records(0)).collect();
    peaks.sort_unstable_by_key(|peak| peak.global);
    let death = |p: &PeakEnd| Death { saddle: p.saddle, near: p.ends[0], endpoint: p.ends[1] };
    let whole =
        MergeTree { rho: peaks.iter().map(|p| p.rho).collect(), death: peaks.iter().map(death).collect() };
    Ok((comm.rank() == HOLDER).then_some(whole))
}
