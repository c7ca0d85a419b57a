//! The merge tree over ranks.
//!
//! Each rank thins the contacts that it sees to their forest and sends each to the owners of its two
//! peaks. An owner then knows every edge of its peaks that may be in the forest of all, and decides which
//! of them end where as far as that can be told. What is left goes to the first rank of a group, which
//! decides what the group can tell, and so on until one group is all. Only what was undecided travels: it
//! is as long as the border of the group (`kernels/src/phew/remainder.rs`).

use crate::exchange;
use crate::exchange::bundle::SendBuffers;
use crate::phew::peak_comm::{KnownPeak, PeakComm};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::geom::Domain;
use inselberg_kernels::ids::{CellIdx, PeakIdx};
use inselberg_kernels::mesh::Locator;
use inselberg_kernels::phew::forest::{ContactEdge, ForestScratch, reduce};
use inselberg_kernels::phew::global::{CellAt, GlobalDeath, GlobalEdge, GlobalPeak};
use inselberg_kernels::phew::pending_merges::{PendingMerges, decide};
use inselberg_kernels::phew::tree::{Death, MergeTree};
use rayon::prelude::*;

/// Groups that become one in a round. With more of them there are fewer rounds, but more for a leader to decide while
/// all others wait.
const RADIX: usize = 8;

/// The merge tree of the own peaks, whose ends are global indices.
#[derive(Debug, Default)]
pub struct OwnTree {
    /// Density and end of each own peak.
    pub tree: MergeTree,
    /// The ranks that own the two patches at which each one ends.
    pub end_owners: Vec<[u32; 2]>,
    /// Where each one ends, in units of the level-0 cell; NaN for those that never do.
    pub saddle_position: Vec<[f64; 3]>,
}

/// The merge tree of a rank alone, from the contacts that it sees.
pub fn grow_alone(peaks: &PeakComm, edges: &[ContactEdge], locator: &Locator, domain: &Domain) -> OwnTree {
    let (tree, cells) = MergeTree::grow(peaks.known.par_iter().map(|p| p.rho).collect(), edges);
    let place = |pair: &[CellIdx; 2]| match pair[0].is_none() {
        true => NOWHERE,
        false => cell_at(locator, pair[0]).touches(&cell_at(locator, pair[1]), domain),
    };
    let saddle_position = cells.par_iter().map(place).collect();
    OwnTree { end_owners: vec![[0; 2]; tree.len()], saddle_position, tree }
}

/// The saddle of a peak that never ends.
const NOWHERE: [f64; 3] = [f64::NAN; 3];

fn cell_at(locator: &Locator, cell: CellIdx) -> CellAt {
    let (level, ijk) = locator.locate(cell);
    CellAt { level: u32::from(level), ijk }
}

/// Puts the contacts that this rank sees, which name slots of `peaks`, into an outbox for the other owners of
/// their two peaks, but for those that can merge nothing. Those of own peaks, in falling order.
pub fn send_to_owners<const KINDS: usize>(
    buffers: &mut SendBuffers<KINDS>,
    kind: usize,
    rank: Rank,
    peaks: &PeakComm,
    edges: &[ContactEdge],
    locator: &Locator,
) -> Vec<GlobalEdge> {
    let kept = reduce(edges, &mut ForestScratch::default());
    let mut own: Vec<GlobalEdge> = kept.par_iter().map(|edge| far_edge(edge, peaks, locator)).collect();
    own.retain(|edge| {
        let owners = edge.owners.map(Rank);
        if owners[0] != rank {
            buffers.put(owners[0], kind, &[*edge]);
        }
        if owners[1] != rank && owners[1] != owners[0] {
            buffers.put(owners[1], kind, &[*edge]);
        }
        owners.contains(&rank)
    });
    own
}

/// Collective: the merge tree from the contacts of the own peaks. One exchange for each factor of 8 in
/// the number of ranks, and one of ends.
///
/// # Errors
/// When another rank fails.
pub fn grow(
    comm: &Comm,
    peaks: &PeakComm,
    edges: Vec<GlobalEdge>,
    domain: &Domain,
) -> Result<OwnTree, CommError> {
    Ok(own_tree(peaks, decide_all(comm, edges)?, domain))
}

/// An edge between slots as other ranks know it.
pub(super) fn far_edge(edge: &ContactEdge, peaks: &PeakComm, locator: &Locator) -> GlobalEdge {
    let ends = edge.peaks.map(|p| far_peak(&peaks.known[p.at()]));
    GlobalEdge::new(edge.saddle, ends, edge.cells.map(|cell| cell_at(locator, cell)))
}

fn far_peak(peak: &KnownPeak) -> GlobalPeak {
    GlobalPeak { rho: peak.rho, peak: peak.global.0, owner: peak.owner }
}

/// Collective: decides over ever larger groups; the ends of the own peaks.
fn decide_all(comm: &Comm, edges: Vec<GlobalEdge>) -> Result<Vec<GlobalDeath>, CommError> {
    let (rank, n_ranks) = (comm.rank().at(), comm.n_ranks());
    let mut deaths = Vec::new();
    let mut left =
        decide(vec![PendingMerges::of_rank(rank as u32, edges)], |r| r == rank as u32, &mut deaths);
    let mut width = 1;
    while width < n_ranks {
        let wider = width * RADIX;
        let leader = rank / wider * wider;
        let parts = hand_over(comm, std::mem::take(&mut left), Rank(leader as u32))?;
        if rank == leader {
            let group = leader..leader + wider;
            left = decide(parts, |r| group.contains(&(r as usize)), &mut deaths);
        }
        width = wider;
    }
    let mut others: Vec<GlobalDeath> = deaths.extract_if(.., |d| d.dying_owner != rank as u32).collect();
    others.sort_unstable_by_key(|d| d.dying_owner);
    let parts = exchange::grouped(&others, |d| (Rank(d.dying_owner), *d));
    deaths.extend(comm.exchange(parts)?.into_iter().flat_map(|(_, deaths)| deaths));
    Ok(deaths)
}

/// Collective: sends what is left here to the leader of the group; at a leader, what came, by rank.
fn hand_over(comm: &Comm, left: PendingMerges, leader: Rank) -> Result<Vec<PendingMerges>, CommError> {
    let mut buffers = SendBuffers::<2>::default();
    if !left.is_empty() {
        buffers.put(leader, 0, &left.edges);
        buffers.put(leader, 1, &left.stands);
    }
    let received = buffers.exchange(comm)?;
    Ok(received
        .iter()
        .map(|part| PendingMerges { edges: part.records(0), stands: part.records(1) })
        .collect())
}

/// Where a peak of this global index is among own ones, if it is: those of a level have indices that follow each other.
fn place_among(own: &[&KnownPeak]) -> impl Fn(u32) -> Option<usize> {
    let follows = |i: &usize| *i > 0 && own[*i].global.0 == own[*i - 1].global.0 + 1;
    let runs: Vec<usize> = (0..own.len()).filter(|i| !follows(i)).collect();
    move |peak| {
        let run = runs[runs.partition_point(|i| own[*i].global.0 <= peak).checked_sub(1)?];
        let place = run + (peak - own[run].global.0) as usize;
        own.get(place).filter(|p| p.global.0 == peak).map(|_| place)
    }
}

/// Puts the ends of own peaks in their order; those without never end.
fn own_tree(peaks: &PeakComm, deaths: Vec<GlobalDeath>, domain: &Domain) -> OwnTree {
    let own: Vec<&KnownPeak> = peaks.own.iter().map(|slot| &peaks.known[slot.at()]).collect();
    let n = own.len();
    let place = place_among(&own);
    let rho = own.iter().map(|p| p.rho).collect();
    let mut of = OwnTree {
        tree: MergeTree { rho, death: vec![Death::NEVER; n] },
        end_owners: vec![[0; 2]; n],
        saddle_position: vec![NOWHERE; n],
    };
    for d in deaths {
        let Some(i) = place(d.dying) else { continue };
        of.tree.death[i] = Death { saddle: d.saddle, near: PeakIdx(d.near), endpoint: PeakIdx(d.endpoint) };
        of.end_owners[i] = [d.near_owner, d.endpoint_owner];
        of.saddle_position[i] = d.cells[0].touches(&d.cells[1], domain);
    }
    of
}
