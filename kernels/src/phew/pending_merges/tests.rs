//! The tree decided by groups of ranks against the tree of one rank: random graphs with many ties, random
//! owners and random ways to unite the groups. And how much is left pending.

use super::super::forest::ContactEdge;
use super::super::global::CellAt;
use super::super::tree::MergeTree;
use super::*;
use crate::ids::{CellIdx, PeakIdx};
use crate::mesh::random::Random;
use proptest::prelude::*;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;

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

/// The place of a peak among all.
fn at(peak: PeakName) -> usize {
    peak.number() as usize
}

/// Cell `i` of a mesh of levels of eight cells each.
fn cell(i: u32) -> CellAt {
    CellAt { level: i / 8, ijk: [i % 2, i / 2 % 2, i / 4 % 2] }
}

impl Graph {
    fn name(&self, p: usize) -> PeakName {
        PeakName::new(p as u64, self.owners[p])
    }

    fn peak(&self, p: usize) -> GlobalPeak {
        GlobalPeak { rho: self.rho[p], peak: self.name(p) }
    }

    /// The input of a rank. Odd ranks leave out lower contacts between the same patches; even ranks keep
    /// them.
    fn of_rank(&self, rank: u32) -> Vec<GlobalEdge> {
        let own = self.edges.iter().filter(|e| e.peaks.iter().any(|&p| self.owners[p] == rank));
        let edge = |e: &Contact| GlobalEdge::new(e.saddle, e.peaks.map(|p| self.peak(p)), e.cells.map(cell));
        let mut edges: Vec<_> = own.map(edge).collect();
        if rank % 2 == 1 {
            edges.sort_by(|a, b| a.peaks.cmp(&b.peaks).then(a.order(b)));
            edges.dedup_by_key(|e| e.peaks);
        }
        edges
    }

    /// What one group decides of the input of its ranks.
    fn of_group(&self, ranks: Range<u32>, deaths: &mut Vec<GlobalDeath>) -> PendingMerges {
        let edges = ranks.clone().flat_map(|rank| self.of_rank(rank)).collect();
        GroupMerges::new(|rank| ranks.contains(&rank)).decide(edges, deaths)
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
            (!death.is_never()).then(|| GlobalDeath {
                saddle: death.saddle,
                dying: self.name(p),
                near: self.name(death.near.at()),
                endpoint: self.name(death.endpoint.at()),
                cells: cells[p].map(|c| cell(c.0)),
            })
        };
        (0..self.rho.len()).map(death).collect()
    }

    /// Decides in rounds and checks every step. Each entry of the plan has the group of each rank. A round of
    /// one group comes last.
    fn decide(&self, plan: &[Vec<u32>]) -> Vec<GlobalDeath> {
        let expected = self.deaths();
        let mut deaths = Vec::new();
        let whole = vec![0; self.ranks as usize];
        let mut rounds = plan.iter().chain([&whole]);
        let mut now = rounds.next().expect("a round");
        let mut edges: Groups = BTreeMap::new();
        (0..self.ranks).for_each(|r| edges.entry(now[r as usize]).or_default().extend(self.of_rank(r)));
        loop {
            let mut left = BTreeMap::new();
            for (group, edges) in edges {
                let is_inside = |rank: u32| now[rank as usize] == group;
                let known = deaths.len();
                let rest = decide_in_parts(edges, is_inside, &mut deaths);
                check(&rest, is_inside, &deaths[known..], &expected);
                left.insert(group, rest);
            }
            let Some(next) = rounds.next() else {
                assert!(left.values().all(|rest| *rest == PendingMerges::default()));
                return deaths;
            };
            edges = pass_on(left, now, next, &deaths);
            now = next;
        }
    }
}

type Groups = BTreeMap<u32, Vec<GlobalEdge>>;

/// Decides the edges of each saddle by themselves, the greatest first, and all of them at once. Both give the
/// same.
fn decide_in_parts(
    edges: Vec<GlobalEdge>,
    is_inside: impl Fn(u32) -> bool,
    deaths: &mut Vec<GlobalDeath>,
) -> PendingMerges {
    let known = deaths.len();
    let whole = GroupMerges::new(&is_inside).decide(edges.clone(), deaths);
    let mut parts: BTreeMap<u64, Vec<GlobalEdge>> = BTreeMap::new();
    edges.into_iter().for_each(|edge| parts.entry(edge.saddle.to_bits()).or_default().push(edge));
    let (mut group, mut rest, mut again) =
        (GroupMerges::new(&is_inside), PendingMerges::default(), Vec::new());
    for (_, part) in parts.into_iter().rev() {
        let PendingMerges { edges, told } = group.decide(part, &mut again);
        rest.edges.extend(edges);
        rest.told.extend(told);
    }
    assert_eq!((&whole, &deaths[known..]), (&rest, &again[..]));
    whole
}

/// Sends new names, and passes the edges to the groups of the next round.
fn pass_on(
    mut left: BTreeMap<u32, PendingMerges>,
    now: &[u32],
    next: &[u32],
    deaths: &[GlobalDeath],
) -> Groups {
    let mut names: BTreeMap<u32, Vec<NewName>> = BTreeMap::new();
    for (to, name) in left.values().flat_map(|rest| &rest.told) {
        names.entry(now[*to as usize]).or_default().push(*name);
    }
    let mut edges = Groups::new();
    for (group, rest) in &mut left {
        rename(&mut rest.edges, names.get(group).map_or(&[], Vec::as_slice));
        let lives = |n: &GlobalPeak| !deaths.iter().any(|d| d.dying == n.peak);
        assert!(rest.edges.iter().flat_map(|e| &e.nodes).all(lives));
        for edge in &rest.edges {
            let to = next_groups(edge, |r| now[r as usize] == *group, |r| next[r as usize]);
            to.for_each(|to| edges.entry(to).or_default().push(*edge));
        }
    }
    edges
}

/// A step decides the right deaths, of its own peaks only, and leaves valid records.
fn check(
    rest: &PendingMerges,
    is_inside: impl Fn(u32) -> bool,
    deaths: &[GlobalDeath],
    expected: &[Option<GlobalDeath>],
) {
    for death in deaths {
        assert!(is_inside(death.dying.owner()), "{death:?}");
        assert_eq!(Some(*death), expected[at(death.dying)]);
    }
    assert!(rest.edges.is_sorted_by(|a, b| a.order(b) != Ordering::Greater));
    assert!(rest.told.iter().all(|(to, name)| !is_inside(*to) && is_inside(name.node.peak.owner())));
}

/// The deaths found, by peak, and none twice.
fn by_peak(n: usize, deaths: &[GlobalDeath]) -> Vec<Option<GlobalDeath>> {
    let mut found = vec![None; n];
    for death in deaths {
        assert!(found[at(death.dying)].replace(*death).is_none(), "twice: {death:?}");
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

/// A graph and the groups of its ranks in a few rounds: those of one round need not be parts of those of the
/// next.
fn plan() -> impl Strategy<Value = (Graph, Vec<Vec<u32>>)> {
    graph().prop_flat_map(|graph| {
        let groups = prop::collection::vec(0..graph.ranks, graph.ranks as usize);
        let alone: Vec<u32> = (0..graph.ranks).collect();
        let rounds = prop::collection::vec(groups, 0..5);
        let plan = (rounds, 0..2usize).prop_map(move |(rounds, n)| [vec![alone.clone(); n], rounds].concat());
        (Just(graph), plan)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

    #[test]
    fn deaths_are_those_of_the_whole_tree((graph, plan) in plan()) {
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
        let plan: Vec<Vec<u32>> =
            [1, 2, 3].map(|size| (0..7).map(|rank| (rank + size / 2) / size).collect()).into();
        assert_eq!(by_peak(graph.rho.len(), &graph.decide(&plan)), graph.deaths(), "strips, seed {seed}");
        let mut random = Random(!seed);
        graph.owners.iter_mut().for_each(|o| *o = random.below(7) as u32);
        assert_eq!(by_peak(graph.rho.len(), &graph.decide(&plan)), graph.deaths(), "scattered, seed {seed}");
    }
}

#[test]
fn one_rank_decides_everything() {
    let graph = field(40, 40, 1);
    let mut deaths = Vec::new();
    assert_eq!(graph.of_group(0..1, &mut deaths), PendingMerges::default());
    assert_eq!(by_peak(graph.rho.len(), &deaths), graph.deaths());
}

/// A rank whose peaks touch no other rank's leaves nothing pending. A rank that touches only a greater peak
/// leaves the edge at which its own greatest peak dies.
#[test]
fn peaks_inside_are_decided_inside() {
    let mut graph = field(8, 8, 3);
    graph.ranks = 2;
    graph.rho.push(1.0);
    graph.owners.push(1);
    let mut deaths = Vec::new();
    assert_eq!(graph.of_group(0..1, &mut deaths), PendingMerges::default());
    assert_eq!(deaths.len(), 63);

    graph.rho[64] = 9.0;
    graph.edges.push(Contact { saddle: 1e-9, peaks: [5, 64], cells: [0, 1] });
    deaths.clear();
    let rest = graph.of_group(0..1, &mut deaths);
    assert_eq!((rest.edges.len(), deaths.len()), (1, 63));
    let top = *rest.edges[0].nodes.iter().find(|node| node.peak.owner() == 0).expect("an own node");
    assert!((0..64).all(|p| !graph.peak(p).exceeds(&top)));
    let name = NewName { old: graph.name(5), node: top };
    assert_eq!(rest.told, if at(top.peak) == 5 { vec![] } else { vec![(1, name)] });
}

/// The number of edges that the middle one of three strips leaves pending.
fn pending_of_strip(width: usize, depth: usize) -> usize {
    strips(width, depth, 3, 5).of_group(1..2, &mut Vec::new()).edges.len()
}

#[test]
fn a_strip_leaves_as_much_as_its_border_is_long() {
    let thin = pending_of_strip(128, 8);
    for depth in [8, 32, 128, 512] {
        let edges = pending_of_strip(128, depth);
        assert!(edges < 4 * 128 && edges < 2 * thin, "{edges} of {depth} rows");
    }
    let [narrow, wide] = [64, 1024].map(|width| pending_of_strip(width, 64));
    assert!((8 * narrow..32 * narrow).contains(&wide), "{narrow} at 64, {wide} at 1024");
}

/// The worst case: peaks that rise from the border inwards while their saddles fall. All deaths depend on the
/// density beyond the border.
#[test]
fn a_ridge_that_rises_from_the_border_stays_pending() {
    let n = 30;
    let rho: Vec<_> = (0..n).map(|p| 10.0 + p as f64).collect();
    let owners: Vec<_> = (0..n).map(|p| u32::from(p > 0)).collect();
    let contact =
        |p: usize| Contact { saddle: 9.0 - 0.1 * p as f64, peaks: [p - 1, p], cells: [0, p as u32] };
    let mut graph = Graph { rho, owners, ranks: 2, edges: (1..n).map(contact).collect() };
    let mut deaths = Vec::new();
    assert_eq!((graph.of_group(1..2, &mut deaths).edges.len(), deaths.len()), (n - 1, 0));
    graph.rho[0] = 50.0;
    assert_eq!((graph.of_group(1..2, &mut deaths).edges.len(), deaths.len()), (1, n - 2));
    assert_eq!(by_peak(n, &graph.decide(&[vec![0, 1]])), graph.deaths());
}

/// The worked example of the module.
#[test]
fn the_worked_example() {
    let [a, b, c, d, e] = [0, 1, 2, 3, 4];
    let contact = |saddle: f64, peaks: [usize; 2]| Contact { saddle, peaks, cells: peaks.map(|p| p as u32) };
    let edges = vec![contact(4.0, [a, b]), contact(3.0, [b, c]), contact(2.0, [c, d]), contact(1.0, [d, e])];
    let graph = Graph { rho: vec![10.0, 6.0, 8.0, 9.0, 5.0], owners: vec![0, 0, 0, 1, 1], ranks: 2, edges };
    let dying = |deaths: &[GlobalDeath]| deaths.iter().map(|d| at(d.dying)).collect::<Vec<_>>();
    let edges =
        |rest: &PendingMerges| rest.edges.iter().map(|e| e.nodes.map(|n| at(n.peak))).collect::<Vec<_>>();
    let told = |rest: &PendingMerges| {
        let name = |(to, name): &(u32, NewName)| [*to as usize, at(name.old), at(name.node.peak)];
        rest.told.iter().map(name).collect::<Vec<_>>()
    };
    let mut left = BTreeMap::new();
    let mut deaths = Vec::new();
    for (rank, expected) in [(0, (vec![b, c], [a, d], vec![[1, c, a]])), (1, (vec![e], [c, d], vec![]))] {
        let mut own = Vec::new();
        let rest = graph.of_group(rank..rank + 1, &mut own);
        let (dead, edge, names) = expected;
        assert_eq!((dying(&own), edges(&rest), told(&rest)), (dead, vec![edge], names), "rank {rank}");
        left.insert(rank, rest);
        deaths.extend(own);
    }
    let mut all = pass_on(left, &[0, 1], &[0, 0], &deaths);
    let all = all.remove(&0).expect("a group");
    assert_eq!(all.len(), 1);
    deaths.clear();
    assert_eq!(GroupMerges::new(|_| true).decide(all, &mut deaths), PendingMerges::default());
    assert_eq!(dying(&deaths), [d]);
}
