//! The merge tree over ranks: the tree that a rank alone grows from its forest of contacts.
//!
//! Each rank thins its contacts to their forest and sends each edge to the owners of its two
//! peaks. An owner then has every edge of its peaks that may be in the forest of all ranks, and decides
//! all deaths that follow from these edges. The undecided edges go to the first rank of a group. It decides
//! the deaths that the edges of the group suffice for, and so on until one group holds all ranks. Only undecided edges
//! travel, between nodes with their newest names: their number grows with the border of the group
//! (`kernels/src/phew/pending_merges.rs`).

use crate::exchange;
use crate::exchange::bundle::{SendBuffers, all_records};
use crate::phew::known_peaks::PeakColumns;
use crate::phew::peaks::OwnTree;
use crate::phew::region_trees::{self, PeakRegions};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::geom::Domain;
use inselberg_kernels::ids::{CellIdx, PeakIdx, PeakName};
use inselberg_kernels::mesh::Locator;
use inselberg_kernels::phew::forest::{ContactEdge, ForestScratch, reduce};
use inselberg_kernels::phew::global::{CellAt, GlobalDeath, GlobalEdge, GlobalPeak, NewName};
use inselberg_kernels::phew::pending_merges::{PendingMerges, decide, next_groups, rename};
use inselberg_kernels::phew::tree::{Death, MergeTree};
use rayon::prelude::*;

/// Groups that join into one per round. A larger radix means fewer rounds, but more work for a leader while all
/// others wait.
const RADIX: u32 = 8;

/// The merge tree of the own peaks, and the positions of its saddles.
#[derive(Debug)]
pub struct PlacedTree {
    /// The tree.
    pub tree: OwnTree,
    /// Where each peak dies, in units of the level-0 cell; NaN for those that never do.
    pub saddle_position: Vec<[f64; 3]>,
}

/// Contacts, and where their cells are.
pub struct PlacedContacts<'a, C> {
    /// Edges in falling order.
    pub edges: &'a [ContactEdge],
    /// Where the cells are that they name.
    pub cells: &'a C,
    /// On a rank alone, its peaks in regions of space.
    pub regions: &'a PeakRegions,
}

/// The merge tree of a rank alone, from the densities of its peaks and its contacts.
pub fn grow_alone<C: CellPlaces>(rho: Vec<f64>, contacts: &PlacedContacts<C>, domain: &Domain) -> PlacedTree {
    let PlacedContacts { edges, cells, regions } = contacts;
    let (mut death, mut met) = (Vec::new(), Vec::new());
    let deaths = region_trees::deaths(&rho, edges, regions);
    deaths.into_par_iter().map(|found| Death::at(found, edges)).unzip_into_vecs(&mut death, &mut met);
    let place = |pair: &[CellIdx; 2]| match pair[0].is_none() {
        true => NOWHERE,
        false => cells.cell_at(pair[0]).touches(&cells.cell_at(pair[1]), domain),
    };
    let saddle_position = met.par_iter().map(place).collect();
    PlacedTree { tree: OwnTree::from_whole(MergeTree { rho, death }), saddle_position }
}

/// The saddle of a peak that never dies.
const NOWHERE: [f64; 3] = [f64::NAN; 3];

/// Where the cells are that contacts name.
pub trait CellPlaces: Sync {
    /// Level and position of a cell.
    fn cell_at(&self, cell: CellIdx) -> CellAt;
}

impl CellPlaces for Locator<'_> {
    fn cell_at(&self, cell: CellIdx) -> CellAt {
        let (level, ijk) = self.locate(cell);
        CellAt { level: u32::from(level), ijk }
    }
}

/// Thins the edges of this rank to their forest and writes each for the other owners of its two peaks. Returns the edges
/// of own peaks, in falling order. The contacts are between slots of `peaks`.
pub fn send_to_owners<const KINDS: usize>(
    buffers: &mut SendBuffers<KINDS>,
    kind: usize,
    rank: Rank,
    peaks: &PeakColumns,
    PlacedContacts { edges, cells, .. }: &PlacedContacts<impl CellPlaces>,
) -> Vec<GlobalEdge> {
    let mut scratch = ForestScratch::default();
    scratch.expect(std::iter::once(PeakIdx(0)..PeakIdx::new(peaks.len())));
    let kept = reduce(edges, &mut scratch);
    let mut own: Vec<GlobalEdge> = kept.par_iter().map(|edge| global_edge(edge, peaks, *cells)).collect();
    own.retain(|edge| {
        let owners = edge.peaks.map(|peak| Rank(peak.owner()));
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

/// Collective: the merge tree from densities, names and edges of the own peaks. One exchange for each factor of [`RADIX`] in
/// the number of ranks, and one of deaths.
///
/// # Errors
/// When another rank fails.
pub fn grow(
    comm: &Comm,
    rho: Vec<f64>,
    names: &[PeakName],
    edges: Vec<GlobalEdge>,
    domain: &Domain,
) -> Result<PlacedTree, CommError> {
    Ok(own_tree(rho, names, decide_all(comm, edges, RADIX)?, domain))
}

/// An edge between slots as other ranks know it: by the names of the peaks.
pub(super) fn global_edge(edge: &ContactEdge, peaks: &PeakColumns, cells: &impl CellPlaces) -> GlobalEdge {
    let peak = |slot: usize| GlobalPeak { rho: peaks.rho[slot], peak: peaks.name[slot] };
    let peaks = edge.peaks.map(|of| peak(of.to_slot().at()));
    GlobalEdge::new(edge.saddle, peaks, edge.cells.map(|cell| cells.cell_at(cell)))
}

/// Collective: decides in groups, each of which unites `radix` of the round before. Returns the deaths of the own peaks.
fn decide_all(comm: &Comm, edges: Vec<GlobalEdge>, radix: u32) -> Result<Vec<GlobalDeath>, CommError> {
    let rank = comm.rank().0;
    let mut deaths = Vec::new();
    let mut left = decide(edges, |r| r == rank, &mut deaths);
    let mut now = RankGroups { width: 1 };
    while now.width < comm.n_ranks() as u32 {
        let next = RankGroups { width: now.width * radix };
        let edges = hand_over(comm, left, now, next)?;
        left = decide(edges, |r| next.leader(r) == rank, &mut deaths);
        now = next;
    }
    let is_foreign = |death: &GlobalDeath| death.dying.owner() != rank;
    let mut others = Vec::with_capacity(deaths.iter().filter(|death| is_foreign(death)).count());
    others.extend(deaths.extract_if(.., |death| is_foreign(death)));
    others.sort_unstable_by_key(|d| d.dying.owner());
    let parts = exchange::grouped(&others, |d| (Rank(d.dying.owner()), *d));
    deaths.extend(comm.exchange(parts)?.into_iter().flat_map(|(_, deaths)| deaths));
    Ok(deaths)
}

/// Groups of consecutive ranks, of which the first one leads.
#[derive(Clone, Copy)]
struct RankGroups {
    width: u32,
}

impl RankGroups {
    fn leader(self, rank: u32) -> u32 {
        rank / self.width * self.width
    }
}

/// Collective: leaders send undecided edges, and the new names of nodes, to the leaders of the next groups. Returns, at a leader, the
/// edges of its group with the newest names. One exchange.
///
/// An edge comes with the name that its sender knows of the node at its other end. A new name belongs to the same group as the
/// old one, so the edge reaches the right groups under either. The group of the node tells its name to both of them.
fn hand_over(
    comm: &Comm,
    left: PendingMerges,
    now: RankGroups,
    next: RankGroups,
) -> Result<Vec<GlobalEdge>, CommError> {
    let rank = comm.rank().0;
    let mut buffers = SendBuffers::<2>::default();
    let mut names: Vec<(u32, NewName)> = left
        .told
        .into_iter()
        .flat_map(|(other, name)| [other, rank].map(|to| (next.leader(to), name)))
        .collect();
    names.sort_unstable_by_key(|(to, name)| (*to, name.old));
    names.dedup_by_key(|(to, name)| (*to, name.old));
    names.iter().for_each(|(to, name)| buffers.put(Rank(*to), NAMES, &[*name]));
    for edge in left.edges {
        let is_inside = |owner: u32| now.leader(owner) == rank;
        let groups = next_groups(&edge, is_inside, |owner| next.leader(owner));
        groups.for_each(|leader| buffers.put(Rank(leader), EDGES, &[edge]));
    }
    let received = buffers.exchange(comm)?;
    let mut edges = all_records(&received, EDGES);
    rename(&mut edges, &all_records(&received, NAMES));
    Ok(edges)
}

/// Edges of a bundle of [`hand_over`].
const EDGES: usize = 0;
/// Its names.
const NAMES: usize = 1;

/// Finds the index of a peak among the own peaks by its name. The numbers of one level follow each other.
fn index_by_name(own: &[PeakName]) -> impl Fn(PeakName) -> Option<usize> {
    let follows = |i: &usize| *i > 0 && own[*i].number() == own[*i - 1].number() + 1;
    let runs: Vec<usize> = (0..own.len()).filter(|i| !follows(i)).collect();
    move |name| {
        let run = runs[runs.partition_point(|i| own[*i] <= name).checked_sub(1)?];
        let index = run + (name.number() - own[run].number()) as usize;
        own.get(index).filter(|found| **found == name).map(|_| index)
    }
}

/// Lists the deaths in the order of the own peaks. Peaks without a death never die.
fn own_tree(rho: Vec<f64>, names: &[PeakName], deaths: Vec<GlobalDeath>, domain: &Domain) -> PlacedTree {
    let n = rho.len();
    let index = index_by_name(names);
    let mut tree = OwnTree { rho, death: vec![Death::NEVER; n], foreign: Vec::new() };
    let mut saddle_position = vec![NOWHERE; n];
    for d in deaths {
        let i = index(d.dying).expect("a death goes to the owner of the dying peak");
        let mut patch = |name: PeakName| {
            let place = index(name).unwrap_or_else(|| {
                tree.foreign.push(name);
                n + tree.foreign.len() - 1
            });
            PeakIdx::new(place)
        };
        let (near, endpoint) = (patch(d.near), patch(d.endpoint));
        tree.death[i] = Death { saddle: d.saddle, near, endpoint };
        saddle_position[i] = d.cells[0].touches(&d.cells[1], domain);
    }
    PlacedTree { tree, saddle_position }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inselberg_comm::{CommBuilder, run_ranks};
    use proptest::prelude::*;

    /// Densities and owners of peaks, and contacts: saddle and two peaks.
    type Graph = (Vec<(u8, u32)>, Vec<(u8, usize, usize)>);

    /// Peaks and saddles have few values, so that many are equal.
    fn graph() -> impl Strategy<Value = Graph> {
        let peaks = prop::collection::vec((10..16u8, 0..40u32), 2..60);
        peaks.prop_flat_map(|peaks| {
            let n = peaks.len();
            (Just(peaks), prop::collection::vec((0..10u8, 0..n, 0..n), 0..200))
        })
    }

    /// The number of the first peak over several ranks: more than 32 bits.
    const FIRST: u64 = (1 << 36) - 20;

    /// The deaths of all peaks: peak, saddle, and the peaks of the two patches.
    type Deaths = Vec<(u32, f64, u32, u32)>;

    fn alone((peaks, contacts): &Graph) -> Deaths {
        let edge = |(i, &(saddle, a, b)): (usize, &(u8, usize, usize))| {
            ContactEdge::new(
                f64::from(saddle),
                [a, b].map(PeakIdx::new),
                [0, 1].map(|c| CellIdx((2 * i + c) as u32)),
            )
        };
        let distinct = |(_, (_, a, b)): &(usize, &(u8, usize, usize))| a != b;
        let mut edges: Vec<ContactEdge> = contacts.iter().enumerate().filter(distinct).map(edge).collect();
        edges.sort_by(ContactEdge::order);
        let (tree, _) = MergeTree::grow(peaks.iter().map(|p| f64::from(p.0)).collect(), &edges);
        let dead = (0..).zip(&tree.death).filter(|(_, death)| !death.is_never());
        dead.map(|(peak, d)| (peak, d.saddle, d.near.0, d.endpoint.0)).collect()
    }

    fn over_ranks((peaks, contacts): &Graph, n_ranks: u32, radix: u32) -> Deaths {
        let number = |name: PeakName| (name.number() - FIRST) as u32;
        let owner = |peak: usize| peaks[peak].1 % n_ranks;
        let node = |peak: usize| GlobalPeak {
            rho: f64::from(peaks[peak].0),
            peak: PeakName::new(FIRST + peak as u64, owner(peak)),
        };
        let cell = |i: usize| CellAt { level: 0, ijk: [i as u32, 0, 0] };
        let edge = |(i, &(saddle, a, b)): (usize, &(u8, usize, usize))| {
            GlobalEdge::new(f64::from(saddle), [a, b].map(node), [0, 1].map(|c| cell(2 * i + c)))
        };
        let ranks = Comm::threads(n_ranks as usize).into_iter().zip(0..);
        let ranks: Vec<CommBuilder> = ranks.map(|(builder, seed)| builder.chaos(seed)).collect();
        let found = run_ranks(ranks, |comm| {
            let is_own = |&(_, &(_, a, b)): &(usize, &(u8, usize, usize))| {
                a != b && [owner(a), owner(b)].contains(&comm.rank().0)
            };
            let edges = contacts.iter().enumerate().filter(is_own).map(edge).collect();
            decide_all(comm, edges, radix).expect("no rank fails")
        });
        let mut deaths: Deaths = found
            .expect("no rank fails")
            .into_iter()
            .flatten()
            .map(|d| (number(d.dying), d.saddle, number(d.near), number(d.endpoint)))
            .collect();
        deaths.sort_by_key(|death| death.0);
        deaths
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

        /// Several rounds, and last groups that are cut.
        #[test]
        fn groups_of_ranks_decide_as_one(graph in graph(), n_ranks in 1..30u32, radix in 2..6u32) {
            prop_assert_eq!(over_ranks(&graph, n_ranks, radix), alone(&graph));
        }
    }
}
