//! The graph against brute force.

use super::{
    GraphPoints, GroupTree, NearestScratch, NearestSearch, Neighbour, Neighbours, SplineSum, contacts,
    key_of, raise_neighbours,
};
use crate::ids::{PeakIdx, TestIdx};
use crate::loops::InTurn;
use crate::phew::forest::ForestScratch;
use crate::sync::{AtomicU32, Ordering::Relaxed};
use proptest::prelude::*;

/// Positions of which many coincide or are equally far apart: on a coarse grid, a fine one, or anywhere.
fn positions() -> impl Strategy<Value = Vec<[f64; 3]>> {
    let coordinate = prop_oneof![
        (0..6u32).prop_map(|i| f64::from(i) / 6.0),
        (0..4u32).prop_map(|i| 0.5 + f64::from(i) * 1e-9),
        0.0..1.0f64,
        (0.0..1.0f64).prop_map(|x| x.powi(6)),
    ];
    prop::collection::vec([coordinate.clone(), coordinate.clone(), coordinate], 3..300).prop_map(
        |mut list| {
            list.sort_by_key(|x| key_of(*x));
            list
        },
    )
}

/// Reference: the k nearest of one particle, from a sorted list of all others.
fn nearest(points: &GraphPoints, k: usize, particle: usize) -> Vec<Neighbour> {
    let square = |i: usize| points.square_distance(points.position(particle), points.position(i));
    let others = (0..points.len()).filter(|i| *i != particle);
    let mut all: Vec<Neighbour> = others.map(|i| Neighbour { square: square(i), index: i as u32 }).collect();
    all.sort_by(|a, b| a.square.total_cmp(&b.square).then(a.index.cmp(&b.index)));
    all.truncate(k);
    all
}

fn all_neighbours(points: &GraphPoints, k: usize) -> Vec<Vec<Neighbour>> {
    let tree = GroupTree::new(points, &InTurn);
    let search = NearestSearch { points, tree: &tree, k };
    let (mut scratch, mut lists) = (NearestScratch::default(), vec![Vec::new(); points.len()]);
    for group in 0..tree.n_groups() {
        search.group(group, &mut scratch, |particle, near| {
            near.sort_by(|a, b| a.square.total_cmp(&b.square).then(a.index.cmp(&b.index)));
            lists[particle] = near.to_vec();
        });
    }
    lists
}

/// Densities with many ties, one for each particle.
fn densities(n: usize, seed: u64) -> Vec<f64> {
    let hash = |i: usize| (i as u64 + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61;
    (0..n).map(|i| 1.0 + hash(i) as f64).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn neighbours_are_those_of_brute_force(list in positions(), k in 1..40usize, periodic in any::<bool>()) {
        let points = GraphPoints::new(list.len(), |i| list[i], periodic, &InTurn);
        let k = k.min(points.len() - 1);
        let found = all_neighbours(&points, k);
        for (particle, found) in found.iter().enumerate() {
            prop_assert_eq!(found, &nearest(&points, k, particle), "particle {}", particle);
        }
    }

    #[test]
    fn boxes_find_all_particles_within_reach(
        list in positions(), reach in 0.0..0.7f64, periodic in any::<bool>(), of in any::<prop::sample::Index>(),
    ) {
        let points = GraphPoints::new(list.len(), |i| list[i], periodic, &InTurn);
        let tree = GroupTree::new(&points, &InTurn);
        let group = of.index(tree.n_groups());
        let mut found = vec![false; points.len()];
        tree.runs_within(tree.bounds(group), reach, periodic, &mut Vec::new(), |run| {
            run.for_each(|i| {
                assert!(!std::mem::replace(&mut found[i], true), "particle {i} comes once");
            });
        });
        for particle in tree.particles(group) {
            for (i, found) in found.iter().enumerate() {
                let square = points.square_distance(points.position(particle), points.position(i));
                prop_assert!(*found || square.sqrt() > reach, "particle {} of {}", i, particle);
            }
        }
    }

    /// Ascents and contacts against the list of all links.
    #[test]
    fn links_are_symmetric(list in positions(), k in 1..12usize, seed in any::<u32>(), parts in 1..5usize) {
        let points = GraphPoints::new(list.len(), |i| list[i], true, &InTurn);
        let (n, k) = (points.len(), k.min(points.len() - 1));
        let rho = densities(n, seed.into());
        let lists: Vec<Vec<u32>> = all_neighbours(&points, k)
            .iter()
            .map(|list| list.iter().map(|n| n.index).collect())
            .collect();
        // Every fifth particle is no test particle.
        let is_test = |i: u32| !(i + seed % 5).is_multiple_of(5);
        let tests: Vec<TestIdx> = (0..n as u32).filter(|i| is_test(*i)).map(TestIdx).collect();
        let flat: Vec<TestIdx> = tests
            .iter()
            .flat_map(|t| &lists[t.at()])
            .map(|i| if is_test(*i) { TestIdx(*i) } else { TestIdx::NONE })
            .collect();
        let up: Vec<AtomicU32> = (0..n as u32).map(AtomicU32::new).collect();
        let each = n.div_ceil(parts).max(1);
        let runs: Vec<Neighbours> = tests
            .chunks(each)
            .zip(flat.chunks(each * k))
            .map(|(of, list)| Neighbours { of, k, list })
            .collect();
        runs.iter().for_each(|run| raise_neighbours(run, &rho, &up));
        let linked = |a: u32, b: u32| {
            a != b && is_test(a) && is_test(b)
                && (lists[a as usize].contains(&b) || lists[b as usize].contains(&a))
        };
        let greater = |a: u32, b: u32| (rho[a as usize], std::cmp::Reverse(a)) > (rho[b as usize], std::cmp::Reverse(b));
        for a in 0..n as u32 {
            let best = (0..n as u32).filter(|b| linked(a, *b)).fold(a, |best, b| if greater(b, best) { b } else { best });
            prop_assert_eq!(up[a as usize].load(Relaxed), best, "particle {}", a);
        }

        let label: Vec<PeakIdx> = (0..n as u32).map(|i| PeakIdx((i + seed % 7) % 7)).collect();
        let mut scratch = ForestScratch::default();
        let mut edges: Vec<_> = runs.iter().flat_map(|run| contacts(run, &rho, &label, &mut scratch)).collect();
        edges = crate::phew::forest::reduce(&edges, &mut scratch);
        let mut all = Vec::new();
        for a in 0..n as u32 {
            for b in (0..a).filter(|b| linked(a, *b) && label[a as usize] != label[*b as usize]) {
                let saddle = 0.5 * (rho[a as usize] + rho[b as usize]);
                let peaks = [a, b].map(|i| label[i as usize]);
                all.push(crate::phew::forest::ContactEdge::new(saddle, peaks, [a, b].map(crate::ids::CellIdx)));
            }
        }
        prop_assert_eq!(edges, crate::phew::forest::reduce(&all, &mut scratch));
    }
}

#[test]
fn a_lattice_has_its_own_density() {
    let n = 16u32;
    let at = |i: u32| (f64::from(i) + 0.5) / f64::from(n);
    let mut list: Vec<[f64; 3]> = Vec::new();
    for i in 0..n * n * n {
        list.push([at(i % n), at(i / n % n), at(i / n / n)]);
    }
    list.sort_by_key(|x| key_of(*x));
    let points = GraphPoints::new(list.len(), |i| list[i], true, &InTurn);
    let densities: Vec<f64> = all_neighbours(&points, 56)
        .iter()
        .map(|near| SplineSum::new(near, 1.0, |_| 1.0).density().expect("no two coincide"))
        .collect();
    let mean = f64::from(n).powi(3);
    for density in &densities {
        assert_eq!(density.to_bits(), densities[0].to_bits(), "a lattice looks the same from everywhere");
        assert!((density / mean - 1.0).abs() < 0.02, "{}", density / mean);
    }
}

#[test]
fn coinciding_particles_have_no_density() {
    let points = GraphPoints::new(10, |_| [0.5; 3], false, &InTurn);
    assert!(
        all_neighbours(&points, 9).iter().all(|near| SplineSum::new(near, 1.0, |_| 1.0).density().is_none())
    );
}
