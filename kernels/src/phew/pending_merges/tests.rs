//! The tree decided by groups of ranks against the tree of one rank: random graphs with many ties, random owners and
//! random ways to unite the groups. And how much is left pending.

use super::super::forest::ContactEdge;
use super::super::global::CellAt;
use super::super::tree::MergeTree;
use super::*;
use crate::ids::{CellIdx, PeakIdx, PeakNumber};
use crate::mesh::random::Random;
use proptest::prelude::*;
use std::cmp::Ordering;

/// Peaks, their owners, and their contacts.
#[derive(Debug, Clone)]
struct Graph {
    rho: Vec<f64>,
    owners: Vec<u32>,
    ranks: u32,
    edges: Vec<Contact>,
}

#[derive(Debug, Clone)]
struct Contact {
    saddle: f64,
    peaks: [usize; 2],
    cells: [u32; 2],
}

/// Cell `i` of a mesh of levels of eight cells each.
fn cell(i: u32) -> CellAt {
    CellAt { level: i / 8, ijk: [i % 2, i / 2 % 2, i / 4 % 2] }
}

impl Graph {
    fn peak(&self, p: usize) -> GlobalPeak {
        GlobalPeak { rho: self.rho[p], peak: PeakNumber::new(p), owner: self.owners[p] }
    }

    /// The input of a rank. Odd ranks leave out lower contacts between the same patches; even ranks keep them.
    fn of_rank(&self, rank: u32) -> PendingMerges {
        let own = self.edges.iter().filter(|e| e.peaks.iter().any(|&p| self.owners[p] == rank));
        let edge = |e: &Contact| GlobalEdge::new(e.saddle, e.peaks.map(|p| self.peak(p)), e.cells.map(cell));
        let mut edges: Vec<_> = own.map(edge).collect();
        if rank % 2 == 1 {
            edges.sort_by(|a, b| a.peaks.cmp(&b.peaks).then(a.order(b)));
            edges.dedup_by_key(|e| e.peaks);
        }
        PendingMerges::of_rank(rank, edges)
    }

    fn local_edges(&self) -> Vec<ContactEdge> {
        let edge = |e: &Contact| ContactEdge::new(e.saddle, e.peaks.map(PeakIdx::new), e.cells.map(CellIdx));
        let mut edges: Vec<_> = self.edges.iter().map(edge).collect();
        edges.sort_by(ContactEdge::order);
        edges
    }

    /// The expected deaths, by peak: those of the tree of one rank.
    fn deaths(&self) -> Vec<Option<GlobalDeath>> {
        let (tree, cells) = MergeTree::grow(self.rho.clone(), &self.local_edges());
        let death = |p: usize| {
            let death = tree.death[p];
            let owner = |p: PeakIdx| self.owners[p.at()];
            (!death.is_never()).then(|| GlobalDeath {
                saddle: death.saddle,
                dying: PeakNumber::new(p),
                dying_owner: self.owners[p],
                near: death.near.to_number(),
                near_owner: owner(death.near),
                endpoint: death.endpoint.to_number(),
                endpoint_owner: owner(death.endpoint),
                cells: cells[p].map(|c| cell(c.0)),
            })
        };
        (0..self.rho.len()).map(death).collect()
    }

    /// Decides in rounds and checks every step. Each round unites groups, as many at a time as the next sizes say. If
    /// the first size is 1, a round of single ranks comes first.
    fn decide(&self, sizes: &[usize]) -> Vec<GlobalDeath> {
        let expected = self.deaths();
        let mut deaths = Vec::new();
        let mut groups: Vec<_> = (0..self.ranks).map(|r| (r..r + 1, self.of_rank(r))).collect();
        let mut is_alone = sizes[0] == 1;
        let mut sizes = sizes[1..].iter().copied().cycle();
        loop {
            let mut next = Vec::new();
            let mut left = groups.into_iter().peekable();
            while left.peek().is_some() {
                let size = match (is_alone, next.is_empty()) {
                    (true, _) => 1,
                    (false, first) => sizes.next().expect("a cycle").max(1 + usize::from(first)),
                };
                let parts: Vec<_> = left.by_ref().take(size).collect();
                let known = deaths.len();
                let group = step(parts, &mut deaths);
                check(&group, &deaths[known..], &expected);
                next.push(group);
            }
            groups = next;
            if groups.len() == 1 && !is_alone {
                assert!(groups[0].1.is_empty());
                return deaths;
            }
            is_alone = false;
        }
    }
}

type Group = (Range<u32>, PendingMerges);

fn step(parts: Vec<Group>, deaths: &mut Vec<GlobalDeath>) -> Group {
    let ranks = parts[0].0.start..parts[parts.len() - 1].0.end;
    let parts = parts.into_iter().map(|p| p.1).collect();
    let rest = decide(parts, |rank| ranks.contains(&rank), deaths);
    (ranks, rest)
}

/// A step decides the right deaths, of its own peaks only, and leaves valid records.
fn check((ranks, rest): &Group, deaths: &[GlobalDeath], expected: &[Option<GlobalDeath>]) {
    for death in deaths {
        assert!(ranks.contains(&death.dying_owner), "{ranks:?}: {death:?}");
        assert_eq!(Some(*death), expected[death.dying.at()]);
    }
    assert!(rest.edges.is_sorted_by(|a, b| a.order(b) == Ordering::Less));
    assert!(rest.stands.iter().all(|s| !ranks.contains(&s.asked_by)));
    let lives = |n: &GlobalPeak| !deaths.iter().any(|d| d.dying == n.peak);
    assert!(rest.edges.iter().flat_map(|e| &e.nodes).all(lives));
    assert!(rest.stands.iter().all(|s| lives(&s.node)));
}

/// The deaths found, by peak, and none twice.
fn by_peak(n: usize, deaths: &[GlobalDeath]) -> Vec<Option<GlobalDeath>> {
    let mut found = vec![None; n];
    for death in deaths {
        assert!(found[death.dying.at()].replace(*death).is_none(), "twice: {death:?}");
    }
    found
}

fn contact(n: usize) -> impl Strategy<Value = (u32, [usize; 2], [u32; 2])> {
    (1..5u32, 0..n, 1..n.max(2), 0..64u32, 0..64u32)
        .prop_map(move |(saddle, a, step, c, d)| (saddle, [a, (a + step) % n], [c, d]))
}

/// Peaks of few densities on saddles of few densities, with several contacts between some.
fn graph() -> impl Strategy<Value = Graph> {
    (2..60usize, 1..10u32).prop_flat_map(|(n, ranks)| {
        let rho = prop::collection::vec(1..7u32, n);
        let owners = prop::collection::vec(0..ranks, n);
        let contacts = prop::collection::vec(contact(n), 0..3 * n);
        (rho, owners, contacts).prop_map(move |(rho, owners, contacts)| {
            let rho: Vec<_> = rho.into_iter().map(f64::from).collect();
            let saddle = |s: u32, peaks: [usize; 2]| f64::from(s).min(rho[peaks[0]]).min(rho[peaks[1]]);
            let contact = |(s, peaks, cells): (u32, _, _)| Contact { saddle: saddle(s, peaks), peaks, cells };
            let edges = contacts.into_iter().map(contact).collect();
            Graph { rho, owners, ranks, edges }
        })
    })
}

/// How groups are united: two at a time, three at a time, all at once, or in changing numbers.
fn plan() -> impl Strategy<Value = Vec<usize>> {
    let by =
        prop_oneof![Just(vec![2]), Just(vec![3]), Just(vec![9]), prop::collection::vec(1..5usize, 1..8),];
    (0..2usize, by).prop_map(|(alone, by)| [vec![alone], by].concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

    #[test]
    fn deaths_are_those_of_the_whole_tree(graph in graph(), plan in plan()) {
        let deaths = graph.decide(&plan);
        prop_assert_eq!(by_peak(graph.rho.len(), &deaths), graph.deaths());
    }
}

/// A field of `width` by `height` patches that touch their four neighbours.
fn field(width: usize, height: usize, seed: u64) -> Graph {
    let mut random = Random(seed);
    let n = width * height;
    let rho: Vec<_> = (0..n).map(|_| 1.0 + random.real()).collect();
    let right = (0..n).filter(|p| p % width + 1 < width).map(|p| [p, p + 1]);
    let down = (width..n).map(|p| [p - width, p]);
    let mut saddle = |peaks: [usize; 2]| random.real() * rho[peaks[0]].min(rho[peaks[1]]);
    let edges = right.chain(down).map(|peaks| Contact {
        saddle: saddle(peaks),
        peaks,
        cells: peaks.map(|p| p as u32),
    });
    let edges = edges.collect();
    Graph { rho, owners: vec![0; n], ranks: 1, edges }
}

/// The same, one rank per strip of the given number of rows.
fn strips(width: usize, depth: usize, ranks: u32, seed: u64) -> Graph {
    let mut graph = field(width, depth * ranks as usize, seed);
    graph.owners = (0..graph.rho.len()).map(|p| (p / (width * depth)) as u32).collect();
    Graph { ranks, ..graph }
}

#[test]
fn strips_and_scattered_owners_give_the_same_deaths() {
    for seed in 0..40 {
        let mut graph = strips(16, 3, 7, seed);
        assert_eq!(by_peak(graph.rho.len(), &graph.decide(&[1, 2])), graph.deaths(), "strips, seed {seed}");
        let mut random = Random(!seed);
        graph.owners.iter_mut().for_each(|o| *o = random.below(7) as u32);
        assert_eq!(
            by_peak(graph.rho.len(), &graph.decide(&[0, 3])),
            graph.deaths(),
            "scattered, seed {seed}"
        );
    }
}

#[test]
fn one_rank_decides_everything() {
    let graph = field(40, 40, 1);
    let mut deaths = Vec::new();
    let (_, rest) = step(vec![(0..1, graph.of_rank(0))], &mut deaths);
    assert!(rest.is_empty());
    assert_eq!(by_peak(graph.rho.len(), &deaths), graph.deaths());
}

/// A rank whose peaks touch no other rank's leaves nothing pending. A rank that touches only a greater peak leaves no
/// edge pending.
#[test]
fn peaks_inside_are_decided_inside() {
    let mut graph = field(8, 8, 3);
    graph.ranks = 2;
    graph.rho.push(1.0);
    graph.owners.push(1);
    let mut deaths = Vec::new();
    let (_, rest) = step(vec![(0..1, graph.of_rank(0))], &mut deaths);
    assert!(rest.is_empty() && deaths.len() == 63);

    graph.rho[64] = 9.0;
    graph.edges.push(Contact { saddle: 1e-9, peaks: [5, 64], cells: [0, 1] });
    deaths.clear();
    let (_, rest) = step(vec![(0..1, graph.of_rank(0))], &mut deaths);
    assert_eq!((rest.edges.len(), rest.stands.len(), deaths.len()), (0, 1, 64));
    assert_eq!(rest.stands[0].node, graph.peak(64));
}

/// How much the middle one of three strips leaves pending: edges and entries.
fn pending_of_strip(width: usize, depth: usize) -> [usize; 2] {
    let graph = strips(width, depth, 3, 5);
    let (_, rest) = step(vec![(1..2, graph.of_rank(1))], &mut Vec::new());
    [rest.edges.len(), rest.stands.len()]
}

#[test]
fn a_strip_leaves_as_much_as_its_border_is_long() {
    let [thin, _] = pending_of_strip(128, 8);
    for depth in [8, 32, 128, 512] {
        let [edges, stands] = pending_of_strip(128, depth);
        assert_eq!(stands, 2 * 128);
        assert!(edges < 3 * 128 && edges < 2 * thin);
    }
    let [narrow, wide] = [64, 1024].map(|width| pending_of_strip(width, 64)[0]);
    assert!((8 * narrow..32 * narrow).contains(&wide), "{narrow} at 64, {wide} at 1024");
}

/// The worst case: peaks that rise from the border inwards while their saddles fall. All deaths depend on the density
/// beyond the border.
#[test]
fn a_ridge_that_rises_from_the_border_stays_pending() {
    let n = 30;
    let rho: Vec<_> = (0..n).map(|p| 10.0 + p as f64).collect();
    let owners: Vec<_> = (0..n).map(|p| u32::from(p > 0)).collect();
    let contact =
        |p: usize| Contact { saddle: 9.0 - 0.1 * p as f64, peaks: [p - 1, p], cells: [0, p as u32] };
    let mut graph = Graph { rho, owners, ranks: 2, edges: (1..n).map(contact).collect() };
    let mut deaths = Vec::new();
    let (_, rest) = step(vec![(1..2, graph.of_rank(1))], &mut deaths);
    assert_eq!((rest.edges.len(), deaths.len()), (n - 1, 0));
    graph.rho[0] = 50.0;
    let (_, rest) = step(vec![(1..2, graph.of_rank(1))], &mut deaths);
    assert_eq!((rest.edges.len(), deaths.len()), (0, n - 1));
    assert_eq!(by_peak(n, &graph.decide(&[1, 2])), graph.deaths());
}

/// The worked example of the module.
#[test]
fn the_worked_example() {
    let [a, b, c, d, e] = [0, 1, 2, 3, 4];
    let contact = |saddle: f64, peaks: [usize; 2]| Contact { saddle, peaks, cells: peaks.map(|p| p as u32) };
    let edges = vec![contact(4.0, [a, b]), contact(3.0, [b, c]), contact(2.0, [c, d]), contact(1.0, [d, e])];
    let graph = Graph { rho: vec![10.0, 6.0, 8.0, 9.0, 5.0], owners: vec![0, 0, 0, 1, 1], ranks: 2, edges };
    let dying = |deaths: &[GlobalDeath]| deaths.iter().map(|d| d.dying.at()).collect::<Vec<_>>();
    let nodes = |rest: &PendingMerges| {
        let edge = |e: &GlobalEdge| e.nodes.map(|n| n.peak.at());
        let entry = |s: &Stand| [s.peak.at(), s.node.peak.at(), s.asked_by as usize];
        (rest.edges.iter().map(edge).collect::<Vec<_>>(), rest.stands.iter().map(entry).collect::<Vec<_>>())
    };
    let (mut deaths, mut parts) = (Vec::new(), Vec::new());
    let expected = [(vec![b, c], vec![[a, d]], [c, a, 1]), (vec![e], vec![[c, d]], [d, d, 0])];
    for (rank, (dead, edges, entry)) in (0..2).zip(expected) {
        let group = step(vec![(rank..rank + 1, graph.of_rank(rank))], &mut deaths);
        assert_eq!((dying(&deaths), nodes(&group.1)), (dead, (edges, vec![entry])), "rank {rank}");
        deaths.clear();
        parts.push(group);
    }
    let rest = step(parts, &mut deaths).1;
    assert_eq!(dying(&deaths), [d]);
    assert!(rest.is_empty());
}
