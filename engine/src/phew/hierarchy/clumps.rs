//! The clumps that remain after noise removal: one rank cuts their tree for all.

use crate::exchange::bundle::{Bundle, SendBuffers};
use crate::phew::hierarchy::chains;
use crate::phew::hierarchy::chains::Followed;
use crate::phew::hierarchy::cut_tree::{ClumpIdentity, ClumpPeak, ClumpRow, CutTree};
use crate::phew::hierarchy::ties;
use crate::phew::peaks::Peaks;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_kernels::ids::{ClumpSlot, PeakIdx, PeakNumber};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::hierarchy::Cut;

/// The rank that cuts the tree.
const CUTTER: Rank = Rank(0);

/// The clumps after the cut, as far as they concern this rank.
pub struct CutClumps {
    /// The clump and halo of each clump that own patches are in or end at.
    pub identities: Vec<ClumpIdentity>,
    /// The place of each own patch among these.
    pub of_peak: Vec<ClumpSlot>,
    /// The rows of this rank without their sums, by identifier.
    pub rows: Vec<ClumpRow>,
    /// The clumps of the haloes among these rows, by identifier.
    pub members: Vec<Member>,
    /// Number of clumps on all ranks, discarded ones left out.
    pub n_clumps: usize,
    /// Highest level of a saddle that merged clumps.
    pub max_level: u64,
}

/// A clump of a halo whose row is on this rank.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Member {
    /// Identifier of the halo.
    pub halo: u64,
    /// Identifier of the clump.
    pub clump: u64,
}

/// Collective: cuts the tree. `peak_rank` is the place of each own peak by falling density.
///
/// The cutting rank gets all clump peaks, each other rank only the clumps of its own patches and rows. Takes two
/// exchanges, besides those that follow the noise.
///
/// # Errors
/// When another rank fails.
pub fn cut(
    peaks: &Peaks,
    peak_rank: &[u64],
    thresholds: &Cut,
    rules: Rules,
    comm: &Comm,
) -> Result<CutClumps, CommError> {
    let has_ties =
        rules == Rules::Ramses && comm.all_reduce_counts(&[peaks.ties.len() as u64], Reduce::Max)?[0] > 0;
    let (followed, ties) = match has_ties {
        false => (chains::follow(peaks, thresholds.persistence, comm)?, Vec::new()),
        true => ties::follow(peaks, thresholds, comm)?,
    };
    let asked = send_to_cutter(peaks, peak_rank, &followed, comm)?;
    let clump_peaks = asked.iter().flat_map(|bundle| bundle.records(CLUMP_PEAKS)).collect();
    let tree = CutTree::new(clump_peaks, ties, thresholds, rules);
    let answers = answer(&tree, &asked, rules, comm)?;
    let identities: Vec<ClumpIdentity> =
        answers.iter().flat_map(|bundle| bundle.records(IDENTITIES)).collect();
    let (n_asked, n_answered) = (followed.clumps.len(), identities.len());
    if n_answered != n_asked {
        return Err(comm.abort(format!("{n_answered} identities for {n_asked} clumps")));
    }
    let of_all = comm.all_reduce_counts(&[tree.n_clumps() as u64, tree.max_level(rules)], Reduce::Max)?;
    Ok(CutClumps {
        identities,
        of_peak: followed.of_peak,
        rows: answers.iter().flat_map(|bundle| bundle.records(ROWS)).collect(),
        members: answers.iter().flat_map(|bundle| bundle.records(MEMBERS)).collect(),
        n_clumps: of_all[0] as usize,
        max_level: of_all[1],
    })
}

/// To the cutter: clump peaks.
const CLUMP_PEAKS: usize = 0;
/// To the cutter: the clumps whose identities a rank needs.
const CLUMPS: usize = 1;
/// From the cutter: rows.
const ROWS: usize = 0;
/// From the cutter: the identities of the clumps that were asked for.
const IDENTITIES: usize = 1;
/// From the cutter: clumps of haloes.
const MEMBERS: usize = 2;

/// Collective: sends the own clump peaks to the cutter, and asks for the identities of clumps.
fn send_to_cutter(
    peaks: &Peaks,
    peak_rank: &[u64],
    followed: &Followed,
    comm: &Comm,
) -> Result<Vec<Bundle<3>>, CommError> {
    let clump_peak = |(&peak, ends): (&PeakIdx, &[PeakNumber; 2])| {
        ClumpPeak::new(peaks, peak, *ends, peak_rank[peak.at()])
    };
    let clump_peaks: Vec<ClumpPeak> =
        followed.clump_peaks.iter().zip(&followed.end_clumps).map(clump_peak).collect();
    let mut buffers = SendBuffers::default();
    buffers.put(CUTTER, CLUMP_PEAKS, &clump_peaks);
    buffers.put(CUTTER, CLUMPS, &followed.clumps);
    buffers.exchange(comm)
}

/// Collective: sends identities to the ranks that asked for them, and rows to the ranks that hold them.
fn answer(
    tree: &CutTree,
    asked: &[Bundle<3>],
    rules: Rules,
    comm: &Comm,
) -> Result<Vec<Bundle<3>>, CommError> {
    let mut buffers = SendBuffers::default();
    for bundle in asked {
        let clumps: Vec<PeakNumber> = bundle.records(CLUMPS);
        let identities = clumps.into_iter().map(|clump| tree.identity(clump));
        buffers.put(bundle.from, IDENTITIES, &identities.collect::<Vec<_>>());
    }
    let holder = |id: u64| row_holder(id, tree.n_clumps(), comm);
    for row in tree.rows(rules) {
        buffers.put(holder(row.id), ROWS, &[row]);
        buffers.put(holder(row.halo), MEMBERS, &[Member { halo: row.halo, clump: row.id }]);
    }
    buffers.exchange(comm)
}

/// The rank that holds the row of an identifier, of `n` rows in all: ranges of nearly equal length, by ascending rank.
pub fn row_holder(id: u64, n: usize, comm: &Comm) -> Rank {
    Rank(((id as usize - 1) * comm.n_ranks() / n) as u32)
}
