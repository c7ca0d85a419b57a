//! The merge tree over ranks: the same tree that one rank grows from its forest of contacts.
//!
//! Each rank decides the deaths in components of peaks that no other rank knows ([`super::region_trees`]). It
//! sends every other edge to the owners of its two peaks. An owner then has every edge of its peaks that may
//! be in the forest of all ranks, and decides all deaths that follow from these edges. Leaders of groups of
//! ranks decide the rest ([`super::leaders`]).

use crate::exchange::bundle::SendBuffers;
use crate::phew::known_peaks::PeakColumns;
use crate::phew::leaders;
use crate::phew::peak_comm::PeakComm;
use crate::phew::peaks::OwnTree;
use crate::phew::region_trees::{PeakRegions, RegionDeaths, RegionPeaks, UndecidedEdge};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::geom::Domain;
use inselberg_kernels::ids::{CellIdx, PeakIdx, PeakName};
use inselberg_kernels::mesh::Locator;
use inselberg_kernels::phew::forest::ContactEdge;
use inselberg_kernels::phew::global::{CellAt, GlobalDeath, GlobalEdge, GlobalPeak};
use inselberg_kernels::phew::region_tree::DeathEdge;
use inselberg_kernels::phew::tree::Death;
use rayon::prelude::*;

/// The merge tree of the own peaks, and the positions of its saddles.
#[derive(Debug)]
pub struct PlacedTree {
    /// The tree.
    pub tree: OwnTree,
    /// The position at which each peak dies, in units of the level-0 cell; NaN for those that never do.
    pub saddle_position: Vec<[f64; 3]>,
}

/// The contacts of a rank, and the places of their cells and peaks.
pub struct PlacedContacts<'a, C> {
    /// Edges in falling order.
    pub edges: &'a [ContactEdge],
    /// The places of their cells.
    pub cells: &'a C,
    /// Their peaks, in regions of space.
    pub regions: &'a PeakRegions,
    /// Which of these peaks other ranks may know; empty on a single rank.
    pub shared: &'a [bool],
}

impl<C: CellPlaces> PlacedContacts<'_, C> {
    /// Decides all deaths that follow from these contacts and the densities of their peaks.
    fn decide(&self, rho: &[f64]) -> RegionDeaths {
        RegionPeaks { rho, regions: self.regions, shared: self.shared }.decide(self.edges)
    }

    /// The tree of own peaks that die at these contacts. `index` gives the index of an own peak that a
    /// contact names.
    fn tree(
        &self,
        rho: Vec<f64>,
        deaths: Vec<DeathEdge>,
        index: impl Fn(PeakIdx) -> PeakIdx + Sync,
        domain: &Domain,
    ) -> PlacedTree {
        let (mut death, mut met) = (Vec::new(), Vec::new());
        let renamed = |found: DeathEdge| {
            let (death, cells) = Death::at(found, self.edges);
            if death.is_never() {
                return (death, cells);
            }
            (Death { near: index(death.near), endpoint: index(death.endpoint), ..death }, cells)
        };
        deaths.into_par_iter().map(renamed).unzip_into_vecs(&mut death, &mut met);
        let place = |pair: &[CellIdx; 2]| match pair[0].is_none() {
            true => NOWHERE,
            false => self.cells.cell_at(pair[0]).touches(&self.cells.cell_at(pair[1]), domain),
        };
        let saddle_position = met.par_iter().map(place).collect();
        PlacedTree { tree: OwnTree { rho, death, foreign: Vec::new() }, saddle_position }
    }
}

/// The merge tree of a single rank, from the densities of its peaks and its contacts.
pub fn grow_alone<C: CellPlaces>(rho: Vec<f64>, contacts: &PlacedContacts<C>, domain: &Domain) -> PlacedTree {
    let RegionDeaths { deaths, undecided } = contacts.decide(&rho);
    assert!(undecided.is_empty(), "a rank alone decides all edges");
    contacts.tree(rho, deaths, |peak| peak, domain)
}

/// The saddle of a peak that never dies.
const NOWHERE: [f64; 3] = [f64::NAN; 3];

/// The places of the cells of contacts.
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

/// The part of the forest that one of several ranks finds before it exchanges messages.
pub struct RankForest {
    /// The contact at which each peak dies, by slot, if it follows from the contacts of the rank.
    pub deaths: Vec<DeathEdge>,
    /// Undecided edges of own peaks.
    pub edges: Vec<GlobalEdge>,
}

/// Decides all deaths that follow from the contacts of this rank, and sends every other edge to the owners of
/// its two peaks on other ranks. The contacts are between slots of `peaks`.
pub fn send_to_owners<const KINDS: usize>(
    buffers: &mut SendBuffers<KINDS>,
    kind: usize,
    rank: Rank,
    peaks: &PeakColumns,
    contacts: &PlacedContacts<impl CellPlaces>,
) -> RankForest {
    let RegionDeaths { deaths, undecided } = contacts.decide(&peaks.rho);
    let record = |UndecidedEdge { edge, nodes }: &UndecidedEdge| {
        let edge = global_edge(&contacts.edges[*edge as usize], peaks, contacts.cells);
        GlobalEdge { nodes: nodes.map(|node| global_peak(node, peaks)), ..edge }
    };
    let mut edges: Vec<GlobalEdge> = undecided.par_iter().map(record).collect();
    edges.retain(|edge| {
        let owners = edge.peaks.map(|peak| Rank(peak.owner()));
        if owners[0] != rank {
            buffers.put(owners[0], kind, &[*edge]);
        }
        if owners[1] != rank && owners[1] != owners[0] {
            buffers.put(owners[1], kind, &[*edge]);
        }
        owners.contains(&rank)
    });
    RankForest { deaths, edges }
}

/// The deaths of own peaks that one of several ranks has decided, from the densities of these peaks. `deaths`
/// are those of [`RankForest`].
pub fn tree_of_rank(
    rho: Vec<f64>,
    deaths: &[DeathEdge],
    known: &PeakComm,
    contacts: &PlacedContacts<impl CellPlaces>,
    domain: &Domain,
) -> PlacedTree {
    let deaths = known.own.par_iter().map(|slot| deaths[slot.at()]).collect();
    let index = known.own_index();
    contacts.tree(rho, deaths, |peak| index(peak.to_slot()), domain)
}

/// Collective: adds the deaths that ranks decide together to the tree of this rank. `names` are those of its
/// own peaks, `edges` all undecided edges of these. For its exchanges see [`leaders::decide`].
///
/// # Errors
/// When another rank fails.
pub fn grow(
    comm: &Comm,
    tree: PlacedTree,
    names: &[PeakName],
    edges: Vec<GlobalEdge>,
    domain: &Domain,
) -> Result<PlacedTree, CommError> {
    Ok(with_deaths(tree, names, leaders::decide(comm, edges, leaders::RADIX)?, domain))
}

/// An edge between slots as other ranks know it: by the names of the peaks.
pub(super) fn global_edge(edge: &ContactEdge, peaks: &PeakColumns, cells: &impl CellPlaces) -> GlobalEdge {
    let ends = edge.peaks.map(|peak| global_peak(peak, peaks));
    GlobalEdge::new(edge.saddle, ends, edge.cells.map(|cell| cells.cell_at(cell)))
}

/// The peak of a slot that an edge names, as other ranks know it.
fn global_peak(peak: PeakIdx, peaks: &PeakColumns) -> GlobalPeak {
    let slot = peak.to_slot().at();
    GlobalPeak { rho: peaks.rho[slot], peak: peaks.name[slot] }
}

/// Finds the index of a peak among the own peaks by its name. The numbers of one level follow each other.
fn index_by_name(own: &[PeakName]) -> impl Fn(PeakName) -> Option<usize> {
    let follows = |i: &usize| *i > 0 && own[*i].number() == own[*i - 1].number() + 1;
    let runs: Vec<usize> = (0..own.len()).into_par_iter().filter(|i| !follows(i)).collect();
    move |name| {
        let run = runs[runs.partition_point(|i| own[*i] <= name).checked_sub(1)?];
        let index = run + (name.number() - own[run].number()) as usize;
        own.get(index).filter(|found| **found == name).map(|_| index)
    }
}

/// Adds the deaths that ranks have decided together to the tree of own peaks. Peaks without a death never
/// die.
fn with_deaths(
    mut placed: PlacedTree,
    names: &[PeakName],
    deaths: Vec<GlobalDeath>,
    domain: &Domain,
) -> PlacedTree {
    let index = index_by_name(names);
    let tree = &mut placed.tree;
    for d in deaths {
        let i = index(d.dying).expect("a death goes to the owner of the dying peak");
        let mut patch = |name: PeakName| {
            let place = index(name).unwrap_or_else(|| {
                tree.foreign.push(name);
                names.len() + tree.foreign.len() - 1
            });
            PeakIdx::new(place)
        };
        let (near, endpoint) = (patch(d.near), patch(d.endpoint));
        debug_assert!(tree.death[i].is_never(), "a peak dies once");
        tree.death[i] = Death { saddle: d.saddle, near, endpoint };
        placed.saddle_position[i] = d.cells[0].touches(&d.cells[1], domain);
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::bundle::all_records;
    use inselberg_comm::{CommBuilder, run_ranks};
    use inselberg_kernels::phew::tree::MergeTree;
    use proptest::prelude::*;

    /// Densities and owners of peaks, and contacts.
    type Graph = (Vec<(u8, u32)>, Vec<Contact>);

    /// A contact: its saddle, its peaks, and the rank that finds it.
    type Contact = (u8, [usize; 2], u32);

    /// Peaks and saddles have few values, so that many are equal. Ranks own peaks that follow each other.
    /// Most contacts are between near ones, and half of the finders own the first peak, so that ranks can
    /// decide something by themselves.
    fn graph() -> impl Strategy<Value = Graph> {
        let peaks = (prop::collection::vec(10..16u8, 2..60), prop::collection::vec(0..40u32, 60));
        peaks.prop_flat_map(|(rho, mut owners)| {
            let n = rho.len();
            owners.truncate(n);
            owners.sort_unstable();
            let to = owners.clone();
            let contact = (0..10u8, 0..n, prop_oneof![3 => 1..4usize, 1 => 1..60usize], 0..80u32);
            let contact = contact.prop_map(move |(saddle, a, step, finder)| {
                (saddle, [a, (a + step) % n], if finder < 40 { finder } else { to[a] })
            });
            (Just(rho.into_iter().zip(owners).collect()), prop::collection::vec(contact, 0..200))
        })
    }

    /// The number of the first peak over several ranks: more than 32 bits.
    const FIRST: u64 = (1 << 36) - 20;

    /// The deaths of all peaks: peak, saddle, and the peaks of the two patches.
    type Deaths = Vec<(u32, f64, u32, u32)>;

    /// The contacts for which this holds as edges, in falling order. `index` is that of a peak.
    fn edges(
        contacts: &[Contact],
        is_wanted: impl Fn(&Contact) -> bool,
        index: impl Fn(usize) -> usize,
    ) -> Vec<ContactEdge> {
        let wanted = contacts
            .iter()
            .enumerate()
            .filter(|(_, contact)| contact.1[0] != contact.1[1] && is_wanted(contact));
        let edge = |(i, (saddle, peaks, _)): (usize, &Contact)| {
            let peaks = peaks.map(|peak| PeakIdx::new(index(peak)));
            ContactEdge::new(f64::from(*saddle), peaks, [2 * i, 2 * i + 1].map(CellIdx::new))
        };
        let mut edges: Vec<ContactEdge> = wanted.map(edge).collect();
        edges.sort_by(ContactEdge::order);
        edges
    }

    fn alone((peaks, contacts): &Graph) -> Deaths {
        let edges = edges(contacts, |_| true, |peak| peak);
        let (tree, _) = MergeTree::grow(peaks.iter().map(|p| f64::from(p.0)).collect(), &edges);
        let dead = (0..).zip(&tree.death).filter(|(_, death)| !death.is_never());
        dead.map(|(peak, d)| (peak, d.saddle, d.near.0, d.endpoint.0)).collect()
    }

    /// Cells in a row.
    struct Row;

    impl CellPlaces for Row {
        fn cell_at(&self, cell: CellIdx) -> CellAt {
            CellAt { level: 0, ijk: [cell.0, 0, 0] }
        }
    }

    /// What a rank decides by itself, and the deaths of all that it takes part in.
    fn on_rank((peaks, contacts): &Graph, comm: &Comm, radix: u32) -> Deaths {
        let (rank, n_ranks) = (comm.rank().0, comm.n_ranks() as u32);
        let owner = |peak: usize| peaks[peak].1 % n_ranks;
        let knows = |rank: u32, peak: usize| {
            let names = |(_, peaks, finder): &Contact| finder % n_ranks == rank && peaks.contains(&peak);
            owner(peak) == rank || contacts.iter().any(names)
        };
        let known: Vec<usize> = (0..peaks.len()).filter(|peak| knows(rank, *peak)).collect();
        let others_know = |peak: &usize| (0..n_ranks).any(|other| other != rank && knows(other, *peak));
        let columns = PeakColumns {
            rho: known.iter().map(|peak| f64::from(peaks[*peak].0)).collect(),
            name: known.iter().map(|peak| PeakName::new(FIRST + *peak as u64, owner(*peak))).collect(),
            ..PeakColumns::default()
        };
        let slot = |peak: usize| known.binary_search(&peak).expect("a rank knows the peaks of its contacts");
        let contacts = PlacedContacts {
            edges: &edges(contacts, |contact| contact.2 % n_ranks == rank, slot),
            cells: &Row,
            regions: &PeakRegions::of_list(known.len()),
            shared: &known.iter().map(others_know).collect::<Vec<_>>(),
        };
        let mut buffers = SendBuffers::<1>::default();
        let RankForest { deaths, edges: mut all } =
            send_to_owners(&mut buffers, 0, comm.rank(), &columns, &contacts);
        all.extend(all_records::<GlobalEdge, 1>(&buffers.exchange(comm).expect("no rank fails"), 0));
        let number = |name: PeakName| (name.number() - FIRST) as u32;
        let of_own = |(slot, found): (usize, &DeathEdge)| {
            let (death, _) = Death::at(*found, contacts.edges);
            let peak = |slot: PeakIdx| known[slot.at()] as u32;
            (!death.is_never())
                .then(|| (known[slot] as u32, death.saddle, peak(death.near), peak(death.endpoint)))
        };
        let mut deaths: Deaths = deaths.iter().enumerate().filter_map(of_own).collect();
        let together = leaders::decide(comm, all, radix).expect("no rank fails");
        deaths
            .extend(together.iter().map(|d| (number(d.dying), d.saddle, number(d.near), number(d.endpoint))));
        deaths
    }

    fn over_ranks(graph: &Graph, n_ranks: u32, radix: u32) -> Deaths {
        let ranks = Comm::threads(n_ranks as usize).into_iter().zip(0..);
        let ranks: Vec<CommBuilder> = ranks.map(|(builder, seed)| builder.chaos(seed)).collect();
        let found = run_ranks(ranks, |comm| on_rank(graph, comm, radix));
        let mut deaths = found.expect("no rank fails").concat();
        deaths.sort_by_key(|death| death.0);
        deaths
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

        /// Several rounds, and last groups that are cut.
        #[test]
        fn groups_of_ranks_decide_as_one(graph in graph(), n_ranks in 1..50u32, radix in 3..9u32) {
            prop_assert_eq!(over_ranks(&graph, n_ranks, radix), alone(&graph));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 10, failure_persistence: None, ..ProptestConfig::default() })]

        /// Four parts of the edges, and leaders of four tiers.
        #[test]
        fn a_pipeline_decides_as_one(mut graph in graph()) {
            graph.0.iter_mut().for_each(|peak| peak.1 *= 3);
            graph.1.iter_mut().for_each(|contact| contact.2 *= 3);
            prop_assert_eq!(over_ranks(&graph, 130, 4), alone(&graph));
        }
    }
}
