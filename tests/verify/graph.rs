//! The merge tree by its definitions, and random graphs of peaks.

use super::brute::order;
use super::paper::Graph;
use super::random::Random;

/// The maximum spanning forest by Prim's way: from each peak not yet reached, always over the
/// greatest saddle that leads out. Saddles of `graph.saddles` by their place there, rising.
pub fn prim(graph: &Graph) -> Vec<usize> {
    let mut reached = vec![false; graph.rho.len()];
    let mut kept = Vec::new();
    for start in 0..graph.rho.len() {
        reached[start] = true;
        while let Some(next) = greatest_way_out(graph, &reached) {
            graph.saddles[next].1.iter().for_each(|&p| reached[p] = true);
            kept.push(next);
        }
    }
    kept.sort_unstable();
    kept
}

/// Trees are finished one by one, so a saddle that leads out of the reached peaks leads out of the last tree.
fn greatest_way_out(graph: &Graph, reached: &[bool]) -> Option<usize> {
    let leads_out = |&s: &usize| {
        let [a, b] = graph.saddles[s].1;
        reached[a] != reached[b]
    };
    (0..graph.saddles.len())
        .filter(leads_out)
        .reduce(|best, s| if precedes(graph, s, best) { s } else { best })
}

fn precedes(graph: &Graph, a: usize, b: usize) -> bool {
    let ((rho_a, pair_a), (rho_b, pair_b)) = (graph.saddles[a], graph.saddles[b]);
    rho_a > rho_b || rho_a == rho_b && pair_a < pair_b
}

/// Where a peak ends: saddle, the patch on its side, the patch beyond.
pub type Death = Option<(f64, usize, usize)>;

/// The elder rule by its definition: lower the water from saddle to saddle; where two lakes of peaks
/// join, the one with the lower highest peak ends. Quadratic.
pub fn deaths(graph: &Graph) -> Vec<Death> {
    let n = graph.rho.len();
    let mut highest: Vec<usize> = (0..n).collect();
    let mut deaths = vec![None; n];
    let mut falling: Vec<usize> = (0..graph.saddles.len()).collect();
    falling.sort_by(|&a, &b| precedes(graph, b, a).cmp(&precedes(graph, a, b)));
    for s in falling {
        let (density, [a, b]) = graph.saddles[s];
        if highest[a] == highest[b] {
            continue;
        }
        let is_a = order(|p| graph.rho[p], highest[a], highest[b]).is_lt();
        let (near, beyond) = if is_a { (a, b) } else { (b, a) };
        let (dying, elder) = (highest[near], highest[beyond]);
        deaths[dying] = Some((density, near, beyond));
        highest.iter_mut().filter(|h| **h == dying).for_each(|h| *h = elder);
    }
    deaths
}

/// A random graph of peaks. `seed` also decides its size, how it is woven and how many ties it has.
/// No saddle exceeds the lower of its peaks, as in any field.
pub fn random_graph(seed: u64) -> Graph {
    let mut random = Random(seed);
    let n = 1 + random.below(if seed.is_multiple_of(4) { 60 } else { 14 });
    let n_values = 1 + random.below(8);
    let has_ties = random.chance(0.7);
    let value = |random: &mut Random| match has_ties {
        true => 1.0 + random.below(n_values) as f64 * 0.5,
        false => 1.0 + 9.0 * random.real(),
    };
    let rho: Vec<f64> = (0..n).map(|_| value(&mut random)).collect();
    let mut pairs = random_pairs(&mut random, n);
    pairs.sort_unstable();
    pairs.dedup();
    random.shuffle(&mut pairs);
    let mut saddle = |pair: [usize; 2]| {
        let bound = rho[pair[0]].min(rho[pair[1]]);
        let fraction = if has_ties { random.pick(&[1.0, 0.5, 0.75, 0.25]) } else { random.real() };
        (bound * fraction.max(1e-3), pair)
    };
    let saddles = pairs.into_iter().map(&mut saddle).collect();
    Graph { rho, saddles }
}

/// A chain, a star, or any pairs.
fn random_pairs(random: &mut Random, n: usize) -> Vec<[usize; 2]> {
    let mut place: Vec<usize> = (0..n).collect();
    random.shuffle(&mut place);
    let mut pairs: Vec<[usize; 2]> = match random.below(4) {
        0 => place.windows(2).map(|w| [w[0], w[1]]).collect(),
        1 => place.iter().skip(1).map(|&p| [place[0], p]).collect(),
        _ => Vec::new(),
    };
    for _ in 0..random.below(3 * n) {
        pairs.push([random.below(n), random.below(n)]);
    }
    pairs.retain(|p| p[0] != p[1]);
    pairs.iter().map(|p| [p[0].min(p[1]), p[0].max(p[1])]).collect()
}

/// A graph whose mergers wait for each other, so that it has many levels: a tree of peaks in which
/// the lowest saddles tend to lie between the highest peaks, and some saddles across.
pub fn towering_graph(seed: u64) -> Graph {
    let mut random = Random(seed ^ 0x7074);
    let n = 2 + random.below(40);
    let mut rho: Vec<f64> = (0..n).map(|i| 100.0 + i as f64 * random.pick(&[1.0, 0.5, 1.5])).collect();
    let reach = random.pick(&[1, 2, 5, 40]);
    let mut saddles: Vec<(f64, [usize; 2])> = Vec::new();
    for i in 1..n {
        let to = i - 1 - random.below(reach.min(i));
        let disorder = random.pick(&[0.0, 0.0, 3.0, 10.0]) * random.real();
        saddles.push((60.0 - i as f64 + disorder, [to, i]));
    }
    let mut place: Vec<usize> = (0..n).collect();
    if seed.is_multiple_of(2) {
        random.shuffle(&mut place);
        rho = (0..n).map(|p| rho[place.iter().position(|&q| q == p).expect("a permutation")]).collect();
    }
    for (_, pair) in &mut saddles {
        *pair = [place[pair[0]].min(place[pair[1]]), place[pair[0]].max(place[pair[1]])];
    }
    Graph { rho, saddles }
}
