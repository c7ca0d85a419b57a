//! The forest, its tree and its cuts against Prim, the elder rule and the paper's rounds on random
//! graphs of peaks; and no order of saddles that makes any of them slow.

use crate::verify::expect::check_hierarchy;
use crate::verify::graph::{deaths, prim, random_graph, towering_graph};
use crate::verify::paper::{self, Graph, Thresholds};
use crate::verify::random::Random;
use inselberg_kernels::ids::{CellIdx, PeakIdx};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::forest::{ContactEdge, ForestScratch, reduce};
use inselberg_kernels::phew::hierarchy::{Cut, Hierarchy, cut};
use inselberg_kernels::phew::persistence::Persistence;
use inselberg_kernels::phew::tree::MergeTree;

fn edge(saddle: f64, peaks: [usize; 2]) -> ContactEdge {
    ContactEdge::new(saddle, peaks.map(PeakIdx::new), peaks.map(CellIdx::new))
}

fn edges_of(graph: &Graph) -> Vec<ContactEdge> {
    graph.saddles.iter().map(|&(s, peaks)| edge(s, peaks)).collect()
}

fn reduced(edges: impl AsRef<[ContactEdge]>) -> Vec<ContactEdge> {
    reduce(edges.as_ref(), &mut ForestScratch::default())
}

fn grown(graph: &Graph) -> MergeTree {
    MergeTree::grow(graph.rho.clone(), &reduced(edges_of(graph))).0
}

/// The graph with further, lower contacts between the same patches, at other cells.
fn with_lower_contacts(graph: &Graph, random: &mut Random) -> Vec<ContactEdge> {
    let mut edges = edges_of(graph);
    for i in 0..edges.len() {
        for _ in 0..random.below(3) {
            let saddle = edges[i].saddle * random.pick(&[1.0, 0.5]);
            let cells = [0, 1].map(|_| CellIdx::new(100 + random.below(50)));
            edges.push(ContactEdge::new(saddle, edges[i].peaks, cells));
        }
    }
    random.shuffle(&mut edges);
    edges
}

#[test]
fn forest_is_the_one_of_prim() {
    for seed in 0..4000 {
        let graph = random_graph(seed);
        let mut expected: Vec<_> = prim(&graph).into_iter().map(|s| graph.saddles[s]).collect();
        expected.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let found: Vec<_> =
            reduced(edges_of(&graph)).iter().map(|e| (e.saddle, e.peaks.map(|p| p.at()))).collect();
        assert_eq!(found, expected, "seed {seed}");
    }
}

#[test]
fn forest_of_parts_is_the_forest_of_all() {
    for seed in 0..4000 {
        let mut random = Random(!seed);
        let all = with_lower_contacts(&random_graph(seed), &mut random);
        let mut parts = vec![Vec::new(); 1 + random.below(4)];
        for &e in &all {
            let part = random.below(parts.len());
            parts[part].push(e);
        }
        let joined: Vec<ContactEdge> = parts.into_iter().flat_map(reduced).collect();
        assert_eq!(reduced(joined), reduced(all), "seed {seed}");
    }
}

/// Also where all saddles are equal in single precision, or beyond its range. Nothing here is rounded.
#[test]
fn forest_is_the_same_on_any_rising_scale() {
    let rounded = |e: &ContactEdge| ContactEdge { saddle: (e.saddle * 1024.0).ceil() / 1024.0, ..*e };
    for seed in 0..2000 {
        let all = with_lower_contacts(&random_graph(seed), &mut Random(seed));
        let all: Vec<ContactEdge> = all.iter().map(rounded).collect();
        for (above, power) in [(0.0, -1000), (0.0, 1000), (0.0, -150), (1.0, -30)] {
            let on_scale =
                |e: &ContactEdge| ContactEdge { saddle: above + e.saddle * 2f64.powi(power), ..*e };
            let scaled: Vec<ContactEdge> = all.iter().map(on_scale).collect();
            let expected: Vec<ContactEdge> = reduced(&all).iter().map(on_scale).collect();
            assert_eq!(reduced(scaled), expected, "seed {seed}, {above} + s 2^{power}");
        }
    }
}

#[test]
fn peaks_die_by_the_elder_rule() {
    for seed in 0..4000 {
        let graph = random_graph(seed);
        let tree = grown(&graph);
        for (p, expected) in deaths(&graph).into_iter().enumerate() {
            let death = &tree.death[p];
            let found = (!death.is_never()).then(|| (death.saddle, death.near.at(), death.endpoint.at()));
            assert_eq!(found, expected, "seed {seed}, peak {p}");
        }
    }
}

/// Thresholds that are often exactly a ratio or a saddle of the graph.
fn thresholds_for(graph: &Graph, random: &mut Random) -> Thresholds {
    let rho = |random: &mut Random| graph.rho[random.below(graph.rho.len())];
    let saddle = match graph.saddles.is_empty() {
        true => 1.0,
        false => graph.saddles[random.below(graph.saddles.len())].0,
    };
    let persistence = match random.below(6) {
        0 => Persistence::Ratio(1.0),
        1 => Persistence::Ratio(rho(random) / saddle),
        2 => Persistence::Difference(rho(random) - saddle),
        3 => Persistence::Difference(3.0 * random.real()),
        _ => Persistence::Ratio(1.0 + 3.0 * random.real()),
    };
    let density = saddle * random.pick(&[1.0, 0.5, 0.1]);
    let cut = random.pick(&[None, Some(0.0), Some(saddle), Some(0.5 * saddle)]);
    // A third of the cuts merge by a second relevance, in place of a saddle threshold.
    let second = persistence.threshold() + random.pick(&[0.0, 0.3, 2.0]) * random.real();
    match random.below(3) {
        0 => Thresholds { density, persistence, saddle: None, halo_relevance: Some(second) },
        _ => Thresholds { density, persistence, saddle: cut, halo_relevance: None },
    }
}

fn check_cut(graph: &Graph, at: &Thresholds) -> u32 {
    let expected = paper::run(graph, at);
    check_hierarchy(&expected, &cut_at(&grown(graph), at));
    expected.level.into_iter().max().unwrap_or(0)
}

fn cut_at(tree: &MergeTree, at: &Thresholds) -> Hierarchy {
    let Thresholds { density, persistence, saddle, halo_relevance } = *at;
    cut(tree, &Cut { density, persistence, saddle, halo_relevance }, Rules::Paper)
}

#[test]
fn cuts_are_the_papers_rounds() {
    let mut highest = 0;
    for seed in 0..12_000 {
        let graph = random_graph(seed);
        let at = thresholds_for(&graph, &mut Random(!seed));
        highest = highest.max(check_cut(&graph, &at));
    }
    assert!(highest >= 4, "the graphs reach level {highest}");
}

/// Graphs in which one merger waits for another many times over.
#[test]
fn deep_hierarchies_are_the_papers() {
    let mut highest = 0;
    for seed in 0..3000 {
        let graph = towering_graph(seed);
        for persistence in
            [1.0, 1.01].map(Persistence::Ratio).into_iter().chain([0.0, 1.0].map(Persistence::Difference))
        {
            let at = Thresholds { density: 1e-6, persistence, saddle: Some(0.0), halo_relevance: None };
            highest = highest.max(check_cut(&graph, &at));
        }
    }
    assert!(highest >= 12, "the graphs reach level {highest}");
}

/// Saddles above the lower peak, which RAMSES's 1.0001 can leave behind: a merger is noise then.
#[test]
fn saddles_above_their_peaks_are_merged_the_same() {
    for seed in 0..4000 {
        let mut random = Random(!seed);
        let mut graph = random_graph(seed);
        graph.saddles.iter_mut().for_each(|s| s.0 *= random.pick(&[1.0, 1.000_05, 1.5]));
        let at = thresholds_for(&graph, &mut random);
        check_cut(&graph, &at);
    }
}

/// Grows a tree of many peaks and cuts it. An algorithm that is not almost linear would not end here.
fn grow_and_cut(rho: Vec<f64>, edges: Vec<ContactEdge>) -> Hierarchy {
    let tree = MergeTree::grow(rho, &reduced(edges)).0;
    cut_at(
        &tree,
        &Thresholds {
            density: 1e-9,
            persistence: Persistence::Ratio(1.0),
            saddle: Some(0.0),
            halo_relevance: None,
        },
    )
}

const MANY: usize = 1_000_000;

/// A chain of peaks with the given heights and depths of saddle, both by place.
fn chain(rho: impl Fn(usize) -> f64, saddle: impl Fn(usize) -> f64) -> Hierarchy {
    let edges = (1..MANY).map(|i| edge(saddle(i), [i - 1, i])).collect();
    grow_and_cut((0..MANY).map(rho).collect(), edges)
}

fn part(i: usize) -> f64 {
    i as f64 / MANY as f64
}

#[test]
fn long_chains_are_quick() {
    let rising = chain(|i| 10.0 + part(i), |i| 1.0 + part(i));
    assert_eq!(rising.level.iter().max(), Some(&1));
    let staircase = chain(|i| 10.0 + part(i), |i| 2.0 - part(i));
    assert_eq!(staircase.level[MANY - 2], MANY as u32 - 1);
    chain(|i| 10.0 - part(i), |i| 2.0 - part(i));
    chain(|i| 10.0 - part(i), |i| 1.0 + part(i));
    chain(|_| 10.0, |_| 1.0);
    let scattered = |i: usize| Random(i as u64).real();
    chain(|i| 10.0 + scattered(i), |i| 1.0 + scattered(i + MANY));
    chain(|i| 10.0 + part(i), |i| 1.0 + scattered(i));
    let binary = |i: usize| 1.0 + f64::from(i.trailing_zeros());
    let levels = chain(|i| 100.0 + binary(i), |i| 1.0 / binary(i));
    assert!(levels.level.iter().max() >= Some(&10));
}

/// A staircase of nested clumps, and many more that reach its top only through all of its steps.
#[test]
fn a_staircase_with_a_crowd_at_its_foot_is_quick() {
    let half = MANY / 2;
    let steps = (1..half).map(|i| edge(3.0 - part(i), [i - 1, i]));
    let crowd = (half..MANY).map(|i| edge(1.0 - 0.5 * part(i), [0, i]));
    let rho = |i: usize| match i {
        _ if i + 1 == half => 100.0,
        _ if i < half => 10.0 + part(i),
        _ => 20.0 + part(i),
    };
    let found = grow_and_cut((0..MANY).map(rho).collect(), steps.chain(crowd).collect());
    assert!(found.level[half..].iter().all(|&l| l == half as u32));
}

/// A chain that merges in one round and ends at a step of level 2. Clumps of level 2 lead into it everywhere,
/// and through each of these some clumps pass the step. Many at its foot stop below it.
#[test]
fn a_chain_walked_to_two_ends_is_quick() {
    let n = MANY / 5;
    let (step, top, first) = (n, n + 1, n + 2);
    let [side, under, far, crowd] = [0, 1, 2, 3].map(|k| move |i: usize| first + k * n + i);
    let mut edges = vec![edge(8.0, [step, top])];
    for i in 0..n {
        edges.push(edge(9.0 + part(i), [i, i + 1]));
        edges.push(edge(8.5, [side(i), under(i)]));
        edges.push(edge(7.0 - part(i), [i, side(i)]));
        edges.push(edge(6.0 + part(i), [side(i), far(i)]));
        edges.push(edge(5.0 - part(i), [0, crowd(i)]));
    }
    let mut rho: Vec<f64> = (0..n).map(|i| 10.0 + part(i)).collect();
    rho.extend([20.0, 100.0]);
    for height in [9.9, 9.8, 30.0, 15.0] {
        rho.extend((0..n).map(|i| height + 1e-3 * part(i)));
    }
    let found = grow_and_cut(rho, edges);
    let levels = [0, step, side(0), under(0), far(0), crowd(0)].map(|p| found.level[p]);
    assert_eq!(levels, [1, 2, 2, 1, 3, 2]);
}
