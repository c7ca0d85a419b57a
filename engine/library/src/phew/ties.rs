//! Saddles that are exactly equal, all of which RAMSES's rules need (`kernels/src/phew/ties.rs`).
//!
//! The first rank finds which edges tie. Other ranks send it only edges whose saddle occurs between two pairs
//! of patches on any ranks. Without such edges nothing is sent there.

use crate::exchange;
use crate::exchange::bundle::{SendBuffers, all_records};
use crate::phew::forest::global_edge;
use crate::phew::grown_peaks::GrownPeaks;
use crate::phew::known_peaks::PeakColumns;
use crate::phew::peaks::OwnTree;
use crate::phew::plateaus::FlatTie;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_kernels::ids::{PeakIdx, PeakName};
use inselberg_kernels::mesh::Locator;
use inselberg_kernels::phew::forest::ContactEdge;
use inselberg_kernels::phew::global::{CellAt, GlobalEdge, GlobalPeak};
use inselberg_kernels::phew::ties::{Tie, stand_beside, that_decide};
use inselberg_kernels::phew::tree::{Death, MergeTree};

/// The rank that finds all ties and keeps them.
pub const HOLDER: Rank = Rank(0);

/// The contacts of a rank that may tie, between slots.
pub struct TiedContacts<'a> {
    /// In falling order.
    pub edges: &'a [ContactEdge],
    /// Further ones, which do tie.
    pub flat: &'a [FlatTie],
    /// Which peaks other ranks may know; empty on a single rank.
    pub shared: &'a [bool],
}

impl TiedContacts<'_> {
    /// The greatest edges of peaks that no other rank knows: these are in the forest, so they are no ties.
    fn in_forest(&self, n_slots: usize) -> Vec<bool> {
        let mut met = vec![false; n_slots];
        let is_first = |edge: &ContactEdge| {
            let firsts = edge.peaks.map(|peak| {
                let is_first = !std::mem::replace(&mut met[peak.at()], true);
                is_first && !self.shared.get(peak.at()).is_some_and(|shared| *shared)
            });
            firsts.contains(&true)
        };
        self.edges.iter().map(is_first).collect()
    }
}

/// Collective: the edges of all ranks that may tie, on the holder; none elsewhere. Edges that are certainly
/// in the forest are left out.
///
/// # Errors
/// When another rank fails.
pub fn candidates(
    comm: &Comm,
    peaks: &PeakColumns,
    contacts: &TiedContacts,
    locator: &Locator,
) -> Result<Vec<GlobalEdge>, CommError> {
    let TiedContacts { edges, flat, .. } = contacts;
    let in_forest = contacts.in_forest(peaks.len());
    let of_flat = |tie: &FlatTie| flat_edge(tie, peaks);
    if comm.n_ranks() == 1 {
        let is_equal = |i: usize| {
            let beside = [i.checked_sub(1), Some(i + 1)].map(|place| edges.get(place?));
            beside.into_iter().flatten().any(|edge| edge.saddle == edges[i].saddle)
        };
        let equal = (0..edges.len()).filter(|i| !in_forest[*i] && is_equal(*i));
        let of_edges = equal.map(|i| global_edge(&edges[i], peaks, locator));
        return Ok(of_edges.chain(flat.iter().map(of_flat)).collect());
    }
    let n_edges = edges.len();
    let saddle = |i: usize| match edges.get(i) {
        Some(edge) => edge.saddle,
        None => peaks.rho[flat[i - n_edges][0].to_slot().at()],
    };
    let ends = |i: usize| edges.get(i).map_or_else(|| flat[i - n_edges], |edge| edge.peaks);
    let mut by_judge: Vec<usize> = (0..n_edges + flat.len()).collect();
    by_judge.sort_unstable_by_key(|i| (judge(saddle(*i), comm), saddle(*i).to_bits()));
    let record = |i: usize| SaddleRecord {
        saddle: saddle(i),
        peaks: ends(i).map(|peak| peaks.name[peak.to_slot().at()]),
    };
    let parts = exchange::grouped(&by_judge, |i| (judge(saddle(*i), comm), record(*i)));
    let received = comm.exchange(parts)?;
    let shared = shared_saddles(&received);
    let is_shared = |record: &SaddleRecord| u8::from(shared.binary_search(&record.saddle.to_bits()).is_ok());
    let mut answers = Vec::new();
    for (from, records) in received {
        answers.push((from, records.iter().map(is_shared).collect::<Vec<u8>>()));
    }
    let answers = comm.exchange(answers)?;
    let is_shared = answers.into_iter().flat_map(|(_, answers)| answers);
    let shared = by_judge.iter().zip(is_shared).filter(|(_, is_shared)| *is_shared == 1);
    let global = |(i, _): (&usize, u8)| match edges.get(*i) {
        Some(edge) => (!in_forest[*i]).then(|| global_edge(edge, peaks, locator)),
        None => Some(of_flat(&flat[i - n_edges])),
    };
    let edges: Vec<GlobalEdge> = shared.filter_map(global).collect();
    Ok(comm.exchange(vec![(HOLDER, edges)])?.into_iter().flat_map(|(_, edges)| edges).collect())
}

/// A flat tie as other ranks know it: its cells are those of the peaks.
fn flat_edge(tie: &FlatTie, peaks: &PeakColumns) -> GlobalEdge {
    let ends = tie.map(|peak| peaks.get(peak.to_slot().at()));
    let cells = ends.map(|peak| CellAt { level: peak.level, ijk: peak.ijk });
    GlobalEdge::new(ends[0].rho, ends.map(|peak| GlobalPeak { rho: peak.rho, peak: peak.name }), cells)
}

/// An edge as its judge needs it.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct SaddleRecord {
    saddle: f64,
    peaks: [PeakName; 2],
}

/// The rank that compares all edges with this saddle.
fn judge(saddle: f64, comm: &Comm) -> Rank {
    let mixed = saddle.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    Rank(((mixed * comm.n_ranks() as u64) >> 32) as u32)
}

/// The bits of the saddles that two pairs of patches have, ascending.
fn shared_saddles(received: &[(Rank, Vec<SaddleRecord>)]) -> Vec<u64> {
    let records = received.iter().flat_map(|(_, records)| records);
    let mut all: Vec<_> = records.map(|record| (record.saddle.to_bits(), record.peaks)).collect();
    all.sort_unstable();
    all.dedup();
    let equal = all.chunk_by(|a, b| a.0 == b.0).filter(|equal| equal.len() > 1);
    equal.map(|equal| equal[0].0).collect()
}

/// Collective: the ties beside the tree of all ranks that can decide anything, on the holder; none elsewhere.
/// `grown` are the own peaks.
///
/// # Errors
/// When another rank fails.
pub fn beside(
    comm: &Comm,
    mut candidates: Vec<GlobalEdge>,
    grown: &GrownPeaks,
) -> Result<Vec<Tie>, CommError> {
    if comm.all_reduce_counts(&[candidates.len() as u64], Reduce::Max)?[0] == 0 {
        return Ok(Vec::new());
    }
    let GrownPeaks { name, n_global, space, .. } = grown;
    let Some((whole, _)) = whole_tree(comm, name, grown.tree(), *n_global)? else { return Ok(Vec::new()) };
    let tie = |edge: GlobalEdge| Tie {
        saddle: edge.saddle,
        position: space.place(edge.cells[0].touches(&edge.cells[1], &space.domain)),
        patches: edge.peaks.map(PeakIdx::from_name),
    };
    // Two lists in order on a rank alone, which a stable sort merges.
    candidates.sort_by(GlobalEdge::order);
    candidates.dedup_by_key(|edge| (edge.saddle.to_bits(), edge.peaks));
    let edges: Vec<_> =
        candidates.iter().map(|edge| (edge.saddle, edge.peaks.map(PeakIdx::from_name))).collect();
    let is_tie = stand_beside(&whole, &edges);
    let pick = |all: Vec<GlobalEdge>, is_picked: Vec<bool>| -> Vec<GlobalEdge> {
        all.into_iter().zip(is_picked).filter(|(_, is_picked)| *is_picked).map(|(edge, _)| edge).collect()
    };
    let ties = pick(candidates, is_tie);
    let edges: Vec<_> = ties.iter().map(|edge| (edge.saddle, edge.peaks.map(PeakIdx::from_name))).collect();
    Ok(pick(ties, that_decide(&whole, &edges)).into_iter().map(tie).collect())
}

/// A peak and its death.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct TreeRow {
    rho: f64,
    saddle: f64,
    name: PeakName,
    /// The two patches at whose contact it dies, near side first.
    ends: [PeakName; 2],
}

/// Collective: the tree of the `n_global` peaks of all ranks and their names, on the holder; `None`
/// elsewhere.
///
/// # Errors
/// When another rank fails, or there are more peaks than one rank can hold.
pub fn whole_tree(
    comm: &Comm,
    names: &[PeakName],
    tree: &OwnTree,
    n_global: u64,
) -> Result<Option<(MergeTree, Vec<PeakName>)>, CommError> {
    if n_global >= u64::from(u32::MAX) {
        let most = u32::MAX - 1;
        return Err(comm.abort(format!(
            "saddles are equal, so one rank needs the tree of all {n_global} peaks; it can hold {most}"
        )));
    }
    if comm.n_ranks() == 1 {
        return Ok(Some((tree.to_whole(), names.to_vec())));
    }
    let row = |i: usize| {
        let death = &tree.death[i];
        let ends = [death.near, death.endpoint].map(|patch| tree.name_of(patch, names));
        TreeRow { rho: tree.rho[i], saddle: death.saddle, name: names[i], ends }
    };
    let mut buffers = SendBuffers::<1>::default();
    buffers.put(HOLDER, 0, &(0..names.len()).map(row).collect::<Vec<_>>());
    let received = buffers.exchange(comm)?;
    if comm.rank() != HOLDER {
        return Ok(None);
    }
    let mut rows: Vec<TreeRow> = all_records(&received, 0);
    rows.sort_unstable_by_key(|row| row.name);
    let death = |row: &TreeRow| {
        let [near, endpoint] = row.ends.map(PeakIdx::from_name);
        Death { saddle: row.saddle, near, endpoint }
    };
    let rho = rows.iter().map(|row| row.rho).collect();
    let tree = MergeTree { rho, death: rows.iter().map(death).collect() };
    Ok(Some((tree, rows.iter().map(|row| row.name).collect())))
}
