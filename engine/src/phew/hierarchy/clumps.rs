//! The clumps that remain after noise removal: one rank per halo cuts the tree of its clumps.
//!
//! A halo is cut by the owner of its highest peak. It gets the peaks of the clumps of the halo, and all contacts of these
//! with clumps of other haloes. That is all that the rounds and the key saddles of these clumps depend on.

use crate::exchange::bundle::{Bundle, SendBuffers, all_records};
use crate::partition::ranking::{Places, places, places_alone};
use crate::phew::hierarchy::chains::{self, ClumpAt, Followed};
use crate::phew::hierarchy::cut_tree::{ClumpIdentity, ClumpPeak, CutTree};
use crate::phew::hierarchy::ties;
use crate::phew::peaks::{Peaks, density_key};
use crate::stage::Stage;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_kernels::ids::{ClumpSlot, PeakName};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::hierarchy::Cut;

/// The clumps after the cut, as far as they concern this rank.
pub struct CutClumps {
    /// The clump and halo of each clump that own patches are in.
    pub identities: Vec<ClumpIdentity>,
    /// The place of each own patch among these.
    pub of_peak: Vec<ClumpSlot>,
    /// Place of each own peak by falling density, from 1.
    pub peak_rank: Vec<u64>,
    /// The clumps that this rank cuts.
    pub tree: CutTree,
    /// Number of clumps on all ranks, discarded ones left out.
    pub n_clumps: usize,
    /// Highest level of a saddle that merged clumps.
    pub max_level: u64,
}

/// Collective: cuts the trees of all haloes, each on one rank. Takes two exchanges, besides those that follow the chains and
/// those that rank the peaks.
///
/// A rank gets the clumps of the haloes that it cuts, their neighbours, and the clumps of its own patches.
///
/// # Errors
/// When another rank fails.
pub fn cut(peaks: &Peaks, thresholds: &Cut, rules: Rules, comm: &Comm) -> Result<CutClumps, CommError> {
    let has_ties =
        rules == Rules::Ramses && comm.all_reduce_counts(&[peaks.ties.len() as u64], Reduce::Max)?[0] > 0;
    let (followed, ties) = match has_ties {
        false => (chains::follow(peaks, thresholds, comm)?, Vec::new()),
        true => ties::follow(peaks, thresholds, comm)?,
    };
    let asked = send_to_cutters(peaks, &followed, comm)?;
    let clump_peaks = all_records(&asked, CLUMP_PEAKS);
    let mut tree = CutTree::new(clump_peaks, ties, thresholds, rules, comm.rank().0);
    let peak_rank = rank_peaks(peaks, &mut tree, comm)?;
    let identities = identify(&mut tree, &asked, comm)?;
    let (n_asked, n_answered) = (followed.clumps.len(), identities.len());
    if n_answered != n_asked {
        return Err(comm.abort(format!("{n_answered} identities for {n_asked} clumps")));
    }
    let n_clumps = comm.all_reduce_counts(&[tree.n_kept() as u64], Reduce::Sum)?[0] as usize;
    let max_level = comm.all_reduce_counts(&[tree.max_level(rules)], Reduce::Max)?[0];
    Ok(CutClumps { identities, of_peak: followed.of_peak, peak_rank, tree, n_clumps, max_level })
}

/// To a cutter: clump peaks.
const CLUMP_PEAKS: usize = 0;
/// To a cutter: the clumps whose identities a rank needs.
const CLUMPS: usize = 1;
/// From a cutter: the identities of the clumps that were asked for.
const IDENTITIES: usize = 0;
/// From a cutter to another: identifiers of clumps at contacts between their haloes.
const NEIGHBOURS: usize = 1;

/// Collective: sends the own clump peaks to the ranks that cut their haloes or those of the clumps at whose contact they die, and asks
/// for the identities of clumps.
fn send_to_cutters(peaks: &Peaks, followed: &Followed, comm: &Comm) -> Result<Vec<Bundle<2>>, CommError> {
    let mut buffers = SendBuffers::default();
    let cutters = followed.clump_peaks.iter().zip(&followed.cutters);
    for ((&peak, &cutter), ends) in cutters.zip(&followed.ends) {
        let record = ClumpPeak::new(peaks, peak, cutter, *ends);
        let of_ends = ends.iter().filter(|end| **end != ClumpAt::NONE).map(|end| end.cutter);
        let mut to: Vec<u32> = of_ends.chain([cutter]).collect();
        to.sort_unstable();
        to.dedup();
        to.into_iter().for_each(|to| buffers.put(Rank(to), CLUMP_PEAKS, &[record]));
    }
    for of_cutter in followed.clumps.chunk_by(|a, b| a.cutter == b.cutter) {
        let clumps: Vec<PeakName> = of_cutter.iter().map(|at| at.clump).collect();
        buffers.put(Rank(of_cutter[0].cutter), CLUMPS, &clumps);
    }
    buffers.exchange(comm)
}

/// Collective: the place of each own peak by falling density among the peaks of all ranks, from 1. Gives the clumps of
/// the tree their places and identifiers.
fn rank_peaks(peaks: &Peaks, tree: &mut CutTree, comm: &Comm) -> Result<Vec<u64>, CommError> {
    let _ranking = Stage::within("ranking", comm);
    let key = |i: usize| density_key(peaks.tree.rho[i], peaks.name[i]);
    let places = match comm.n_ranks() {
        1 => rank_alone(peaks, tree, key),
        _ => {
            let clumps: Vec<u128> = tree.kept().map(|(rho, name)| density_key(rho, name)).collect();
            places(comm, peaks.len(), key, &clumps)?
        }
    };
    tree.set_places(&places.of_marked);
    Ok(places.of_keys.into_iter().map(|place| place + 1).collect())
}

/// The places of peaks and of the clumps of the tree on a rank alone, which owns them all.
fn rank_alone(peaks: &Peaks, tree: &CutTree, key: impl Fn(usize) -> u128 + Sync) -> Places {
    let of_keys = places_alone(peaks.len(), key);
    let place = |name| of_keys[peaks.own(name).expect("all peaks are own").at()];
    let of_clumps: Vec<u64> = tree.kept().map(|(_, name)| place(name)).collect();
    let among_clumps = places_alone(of_clumps.len(), |clump| u128::from(of_clumps[clump]));
    let of_marked = of_clumps.iter().zip(among_clumps).map(|(place, among)| [*place, among]).collect();
    Places { of_keys, of_marked }
}

/// The identifier of a clump, for a rank that cuts the halo of a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct NeighbourId {
    id: u64,
    clump: PeakName,
}

/// Collective: tells other cutters the identifiers of clumps that touch theirs, and sends identities to the ranks that asked.
/// Returns the identities that this rank asked for, in the order of its questions.
fn identify(tree: &mut CutTree, asked: &[Bundle<2>], comm: &Comm) -> Result<Vec<ClumpIdentity>, CommError> {
    let mut buffers = SendBuffers::<2>::default();
    for bundle in asked {
        let clumps: Vec<PeakName> = bundle.records(CLUMPS);
        let identities = clumps.into_iter().map(|clump| tree.identity(clump));
        buffers.put(bundle.from, IDENTITIES, &identities.collect::<Vec<_>>());
    }
    let across = tree.across(comm.rank().0);
    let mut told: Vec<_> = across.map(|(to, clump, id)| (to, NeighbourId { id, clump })).collect();
    told.sort_unstable();
    told.dedup();
    told.into_iter().for_each(|(to, neighbour)| buffers.put(Rank(to), NEIGHBOURS, &[neighbour]));
    let received = buffers.exchange(comm)?;
    for NeighbourId { id, clump } in all_records(&received, NEIGHBOURS) {
        tree.set_neighbour(clump, id);
    }
    Ok(all_records(&received, IDENTITIES))
}

/// The rank that holds the row of an identifier, of `n` rows in all: ranges of nearly equal length, by ascending rank.
pub fn row_holder(id: u64, n: usize, comm: &Comm) -> Rank {
    Rank(((id as usize - 1) * comm.n_ranks() / n) as u32)
}
