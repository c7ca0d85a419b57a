//! The clumps that remain after noise removal: one rank per halo cuts the tree of its clumps.
//!
//! A halo is cut by the owner of its highest peak. That rank gets the peaks of the clumps of the halo, and
//! all their contacts with clumps of other haloes. The rounds and the key saddles of these clumps depend on
//! nothing else.

use crate::exchange::bundle::{Bundle, SendBuffers, all_records};
use crate::partition::ranking::{Places, places, places_alone};
use crate::phew::hierarchy::bumps::bumps;
use crate::phew::hierarchy::chains::{self, ClumpAt, Followed};
use crate::phew::hierarchy::cut_tree::{ClumpIdentity, ClumpPeak, CutTree};
use crate::phew::hierarchy::noise::Noise;
use crate::phew::hierarchy::ties;
use crate::phew::params::Thresholds;
use crate::phew::peaks::{Peaks, density_key};
use crate::stage::Stage;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank, Reduce};
use inselberg_kernels::ids::{ClumpSlot, PeakIdx, PeakName};
use inselberg_kernels::phew::Rules;
use rayon::prelude::*;

/// The clumps after the cut that this rank needs.
pub struct CutClumps {
    /// The clump and halo of each clump that own patches are in.
    pub identities: Vec<ClumpIdentity>,
    /// The place of each own patch among these.
    pub of_peak: Vec<ClumpSlot>,
    /// The own peaks that are not noise.
    pub clump_peaks: Vec<PeakIdx>,
    /// Place of each own peak by falling density, from 1.
    pub peak_rank: Vec<u64>,
    /// The clumps that this rank cuts.
    pub tree: CutTree,
    /// Number of clumps on all ranks, without discarded ones.
    pub n_clumps: usize,
    /// Highest level of a saddle that merged clumps.
    pub max_level: u64,
}

/// Collective: cuts the trees of all haloes, each on one rank. Takes two exchanges, besides those that follow
/// the chains and those that rank the peaks.
///
/// A rank gets the clumps of the haloes that it cuts, their neighbours, and the clumps of its own patches.
///
/// # Errors
/// When another rank fails.
pub fn cut(
    peaks: &Peaks,
    thresholds: &Thresholds,
    rules: Rules,
    comm: &Comm,
) -> Result<CutClumps, CommError> {
    let cut = thresholds.cut();
    let has_ties =
        rules == Rules::Ramses && comm.all_reduce_counts(&[peaks.ties.len() as u64], Reduce::Max)?[0] > 0;
    let bumps = bumps(peaks, thresholds, comm)?;
    let noise = Noise::new(peaks, cut.persistence, bumps.as_deref());
    let (followed, ties) = match has_ties {
        false => (chains::follow(noise, Some(&cut), comm)?, Vec::new()),
        true => ties::follow(peaks, &cut, comm)?,
    };
    let (clump_peaks, asked) = send_to_cutters(peaks, &followed, comm)?;
    let mut tree = CutTree::new(clump_peaks, ties, &cut, rules, comm.rank().0);
    let peak_rank = rank_peaks(peaks, &mut tree, comm)?;
    let identities = identify(&mut tree, &asked, comm)?;
    let (n_asked, n_answered) = (followed.clumps.len(), identities.len());
    if n_answered != n_asked {
        return Err(comm.abort(format!("{n_answered} identities for {n_asked} clumps")));
    }
    let n_clumps = comm.all_reduce_counts(&[tree.n_kept() as u64], Reduce::Sum)?[0] as usize;
    let max_level = comm.all_reduce_counts(&[tree.max_level(rules)], Reduce::Max)?[0];
    let Followed { of_peak, clump_peaks, .. } = followed;
    Ok(CutClumps { identities, of_peak, clump_peaks, peak_rank, tree, n_clumps, max_level })
}

/// To a cutter: clump peaks.
const CLUMP_PEAKS: usize = 0;
/// To a cutter: the clumps whose identities a rank needs.
const CLUMPS: usize = 1;
/// From a cutter: the identities of the requested clumps.
const IDENTITIES: usize = 0;
/// From a cutter to another: identifiers of clumps at contacts between their haloes.
const NEIGHBOURS: usize = 1;

/// Collective: sends the own clump peaks to the ranks that cut their haloes or those of the clumps at whose
/// contact they die, and asks for the identities of clumps. Returns the clump peaks that this rank cuts, and
/// the questions to it.
fn send_to_cutters(
    peaks: &Peaks,
    followed: &Followed,
    comm: &Comm,
) -> Result<(Vec<ClumpPeak>, Vec<Bundle<2>>), CommError> {
    let own = comm.rank().0;
    // The ranks that need a clump peak, each once.
    let to = |i: usize| {
        let cutter = followed.cutters[i];
        let [near, far] = followed.ends[i].map(|end| if end == ClumpAt::NONE { cutter } else { end.cutter });
        let all = [cutter, near, far];
        (0..3).filter(move |k| !all[..*k].contains(&all[*k])).map(move |k| all[k])
    };
    let record =
        |i: usize| ClumpPeak::new(peaks, followed.clump_peaks[i], followed.cutters[i], followed.ends[i]);
    let all = 0..followed.clump_peaks.len();
    // Those for this rank are not copied. Once they are counted, all threads write them to their places.
    let here: Vec<usize> = all.clone().into_par_iter().filter(|i| to(*i).any(|rank| rank == own)).collect();
    let mut clump_peaks: Vec<ClumpPeak> = here.into_par_iter().map(record).collect();
    let mut buffers = SendBuffers::default();
    for i in all {
        let others = to(i).filter(|rank| *rank != own);
        others.for_each(|rank| buffers.put(Rank(rank), CLUMP_PEAKS, &[record(i)]));
    }
    for of_cutter in followed.clumps.chunk_by(|a, b| a.cutter == b.cutter) {
        let clumps: Vec<PeakName> = of_cutter.iter().map(|at| at.clump).collect();
        buffers.put(Rank(of_cutter[0].cutter), CLUMPS, &clumps);
    }
    let received = buffers.exchange(comm)?;
    clump_peaks.extend(all_records::<ClumpPeak, 2>(&received, CLUMP_PEAKS));
    Ok((clump_peaks, received))
}

/// Collective: the place of each own peak by falling density among the peaks of all ranks, from 1. Sets the
/// places and identifiers of the clumps of the tree.
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

/// The places of peaks and of the clumps of the tree on a single rank, which owns them all.
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

/// Collective: sends other cutters the identifiers of clumps that touch theirs, and identities to the ranks
/// that asked.
/// Returns the identities that this rank asked for, in the order of its questions.
fn identify(tree: &mut CutTree, asked: &[Bundle<2>], comm: &Comm) -> Result<Vec<ClumpIdentity>, CommError> {
    let mut buffers = SendBuffers::<2>::default();
    let mut own: Vec<ClumpIdentity> = Vec::new();
    for bundle in asked {
        let clumps: Vec<PeakName> = bundle.records(CLUMPS);
        let identities = clumps.into_par_iter().map(|clump| tree.identity(clump)).collect();
        match bundle.from == comm.rank() {
            true => own = identities,
            false => buffers.put(bundle.from, IDENTITIES, &identities),
        }
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
    let (lower, higher) = received.split_at(received.partition_point(|bundle| bundle.from < comm.rank()));
    let [lower, higher] = [lower, higher].map(|bundles| all_records(bundles, IDENTITIES));
    Ok(if lower.is_empty() && higher.is_empty() { own } else { [lower, own, higher].concat() })
}

/// The rank that holds the row of an identifier, of `n` rows in all: ranges of nearly equal length, by
/// ascending rank.
pub fn row_holder(id: u64, n: usize, comm: &Comm) -> Rank {
    Rank(((id as usize - 1) * comm.n_ranks() / n) as u32)
}
