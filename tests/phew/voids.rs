//! Voids: the whole procedure by brute force, ranks and threads, a lattice of known voids, and what is
//! refused.

use super::bound::{counts, reals, table, vectors};
use super::particle_graph::{Plain, distinct, graph_config, particles, snapshot};
use super::particle_mesh::{Given, SIDE, clumped};
use crate::common::compare::assert_same;
use crate::verify::expect::{check_hierarchy, check_tree};
use crate::verify::paper;
use crate::verify::random::Random;
use inselberg::executor::Executor;
use inselberg::phew::Rules;
use inselberg::phew::params::Persistence;
use inselberg::voids::{NewVoidThresholds, VoidOutcome, VoidParams, recut_voids, run_voids};
use inselberg_comm::{Comm, CommBuilder, run_ranks};
use inselberg_io::catalogue::{Attribute, Catalogue};
use inselberg_kernels::phew::hierarchy::{Cut, cut};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// All zones of some relevance, walls below half of the mean density, and particles, but for what `change`
/// sets.
fn params(change: impl FnOnce(&mut VoidParams)) -> VoidParams {
    let mut params = VoidParams::default().relevance(1.5).wall(0.5).with_particles(true);
    change(&mut params);
    params
}

fn on(input: &Given, k: usize, config: &VoidParams, ranks: Vec<CommBuilder>) -> Catalogue {
    let graph = graph_config(k);
    let parts = run_ranks(ranks, |comm| {
        let outcome = run_voids(&snapshot(input, &graph), &graph, config, comm, &Executor::default());
        outcome.expect("voids").catalogue.gather(comm).expect("gathered")
    });
    parts.expect("no panic").swap_remove(0).expect("rank 0")
}

/// Compares zones and voids with those of the rounds of the paper on specific volumes, and their sums with
/// sums over particles.
fn check(plain: &Plain, found: &VoidOutcome, config: &VoidParams, input: &Given) {
    check_tree(&plain.graph, &found.peaks.tree);
    let at = Cut {
        density: config.density.map_or(0.0, f64::recip),
        persistence: Persistence::Ratio(config.relevance),
        saddle: config.wall.map(f64::recip),
        halo_relevance: None,
    };
    let thresholds = paper::Thresholds {
        density: at.density,
        persistence: at.persistence,
        saddle: at.saddle,
        halo_relevance: None,
    };
    let outcome = paper::run(&plain.graph, &thresholds);
    check_hierarchy(&outcome, &cut(&found.peaks.tree.to_whole(), &at, Rules::Paper));
    let tables: Vec<_> = found.catalogue.tables.iter().map(|part| part.table.clone()).collect();
    let catalogue = Catalogue { attributes: Vec::new(), tables };
    let zones = plain.clumps(&outcome);
    let listed = table(&catalogue, "zones");
    assert_eq!(counts(listed, "n_particles"), zones.iter().map(|of| of.len() as u64).collect::<Vec<_>>());
    let volume = |i: usize| plain.mass[i] * plain.rho[i] / input.mean();
    check_sums(listed, &zones, "mass", |i| plain.mass[i]);
    check_sums(listed, &zones, "volume", volume);
    let rows = table(&catalogue, "particles");
    let labels = |name: &str| -> BTreeMap<u64, u64> {
        counts(rows, "id").into_iter().zip(counts(rows, name)).collect()
    };
    let (zone_of, void_of) = (labels("zone"), labels("void"));
    for (i, id) in plain.id.iter().enumerate() {
        let zone = zones.iter().position(|of| of.contains(&i)).map_or(0, |zone| zone as u64 + 1);
        assert_eq!(zone_of[id], zone, "zone of particle {id}");
    }
    check_voids(plain, &catalogue, &void_of, volume);
}

fn check_sums(
    listed: &inselberg_io::catalogue::Table,
    of: &[Vec<usize>],
    name: &str,
    value: impl Fn(usize) -> f64,
) {
    for (found, of) in reals(listed, name).iter().zip(of) {
        let expected: f64 = of.iter().map(|i| value(*i)).sum();
        assert!((found / expected - 1.0).abs() < 1e-12, "{name}: {found}, not {expected}");
    }
}

/// Walls and cores by going through all pairs.
fn check_voids(
    plain: &Plain,
    catalogue: &Catalogue,
    void_of: &BTreeMap<u64, u64>,
    volume: impl Fn(usize) -> f64,
) {
    let voids = table(catalogue, "voids");
    let void = |i: usize| void_of[&plain.id[i]];
    let n = plain.id.len();
    let (wall, core) = (reals(voids, "wall_density"), reals(voids, "core_density"));
    let (centre, radius) = (vectors(voids, "centre"), reals(voids, "radius"));
    for (row, id) in counts(voids, "id").into_iter().enumerate() {
        let members: Vec<usize> = (0..n).filter(|i| void(*i) == id).collect();
        assert_eq!(counts(voids, "n_particles")[row], members.len() as u64);
        let of_volume = 4.0 / 3.0 * PI * radius[row].powi(3);
        let expected: f64 = members.iter().map(|i| volume(*i)).sum();
        assert!((of_volume / expected - 1.0).abs() < 1e-12, "radius {}", radius[row]);
        let is_wall = |i: &&usize| (0..n).any(|j| plain.linked(**i, j) && void(j) != id);
        let at_wall: Vec<&usize> = members.iter().filter(is_wall).collect();
        let mass: f64 = at_wall.iter().map(|i| plain.mass[**i]).sum();
        let expected = mass / at_wall.iter().map(|i| volume(**i)).sum::<f64>();
        let is_same = |a: f64, b: f64| a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-12 * b.abs();
        assert!(is_same(wall[row], expected), "wall of {id}: {}, not {expected}", wall[row]);
        let reach = radius[row] / 4.0;
        let apart = |i: usize| plain.distance(centre[row], i) / reach;
        // Rounding decides about particles on the sphere.
        if members.iter().any(|i| (apart(*i) - 1.0).abs() < 1e-9) {
            continue;
        }
        let mass: f64 = members.iter().filter(|i| apart(**i) < 1.0).map(|i| plain.mass[*i]).sum();
        let expected = mass / (4.0 / 3.0 * PI * reach.powi(3));
        assert!(is_same(core[row], expected), "core of {id}: {}, not {expected}", core[row]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn is_the_procedure_by_brute_force(
        input in particles(), k in 1..9usize, relevance in 1.0..3.0f64, wall in 0.1..4.0f64,
        density in prop::option::of(0.5..8.0f64),
    ) {
        let graph = graph_config(k);
        let wall = Some(density.map_or(wall, |density| wall.min(density)));
        let config = params(|of| (of.density, of.relevance, of.wall) = (density, relevance, wall));
        let plain = Plain::of_voids(&input, k, density.map_or(0.0, f64::recip));
        let found = run_voids(&snapshot(&input, &graph), &graph, &config, &Comm::solo(), &Executor::default());
        check(&plain, &found.expect("voids"), &config, &input);
    }

    #[test]
    fn few_particles_on_many_ranks(input in particles(), k in 1..9usize, n_ranks in 2..8usize, salt in any::<u64>()) {
        let alone = on(&input, k, &params(|_| ()), Comm::threads(1));
        let late = Comm::threads(n_ranks).into_iter().zip(0..).map(|(rank, i)| rank.chaos(salt << 8 | i));
        assert_same(&alone, &on(&input, k, &params(|_| ()), late.collect()), &format!("{n_ranks} ranks"));
    }

    #[test]
    fn a_recut_is_a_new_run(
        input in particles(), relevance in 1.0..3.0f64, wall in 0.1..2.0f64, radius in 0.0..3.0f64, min_particles in 0..9u64,
    ) {
        let first = params(|of| of.with_particles = false);
        let stored = on(&input, 6, &first, Comm::threads(1));
        let new = NewVoidThresholds {
            relevance: Some(relevance), wall: Some(wall), radius: Some(radius), min_particles: Some(min_particles), ..NewVoidThresholds::default() };
        let cut = recut_voids(&stored, &new).expect("a cut");
        let config = params(|of| {
            (of.relevance, of.wall, of.with_particles) = (relevance, Some(wall), false);
            (of.radius, of.min_particles) = (radius, min_particles);
        });
        let mut fresh = on(&input, 6, &config, Comm::threads(1));
        for table in &mut fresh.tables {
            table.columns.retain(|column| !["core_density", "wall_density"].contains(&column.name.as_str()));
        }
        assert_same(&fresh, &cut, "recut");
    }
}

#[test]
fn ranks_and_threads_change_no_bit() {
    let position = clumped(6000, 11);
    let mut random = Random(5);
    let mass: Vec<f64> = position.iter().map(|_| [1.0, 1.0, 3.5][random.below(3)]).collect();
    for (periodic, k, density) in [(true, 32, None), (false, 12, Some(2.0))] {
        let input = Given::new(distinct(&position), mass.clone(), periodic);
        let config = params(|of| (of.density, of.relevance, of.wall) = (density, 1.1, Some(0.1)));
        let alone = on(&input, k, &config, Comm::threads(1));
        let n = ["voids", "zones"].map(|name| table(&alone, name).n_rows());
        assert!(2 < n[0] && n[0] <= n[1], "several voids: {n:?}");
        for n_ranks in [1, 2, 3, 5] {
            for n_threads in [1, 2] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("a pool");
                let found = pool.install(|| on(&input, k, &config, Comm::threads(n_ranks)));
                assert_same(&alone, &found, &format!("{n_ranks} ranks, {n_threads} threads"));
            }
        }
    }
}

/// Radius of the empty spheres, in units of the side of the box.
const EMPTY: f64 = 0.17;
/// Their density in units of that outside.
const CONTRAST: f64 = 0.125;
/// Particles along a side of the box outside of them.
const ACROSS: usize = 48;

/// Eight spheres around the corners of a cube, with an eighth of the particles of their surroundings, on a
/// shaken lattice.
fn lattice_of_voids() -> Given {
    let mut random = Random(77);
    let mut position = Vec::new();
    for i in 0..ACROSS.pow(3) {
        let ijk = [i / ACROSS / ACROSS, i / ACROSS % ACROSS, i % ACROSS];
        let mut near = |x: f64, by: f64| (x + by * (random.real() - 0.5)) / ACROSS as f64;
        let fine = ijk.map(|i| near(i as f64 + 0.5, 0.3));
        let coarse = ijk.map(|i| near(i as f64 + 1.0, 0.6));
        let centre = |x: f64| (2.0 * x).floor() / 2.0 + 0.25;
        let is_inside = fine.iter().map(|x| (x - centre(*x)).powi(2)).sum::<f64>() <= EMPTY.powi(2);
        if !is_inside {
            position.push(fine.map(|x| x * SIDE));
        } else if ijk.iter().all(|i| i % 2 == 0) {
            position.push(coarse.map(|x| x.rem_euclid(1.0) * SIDE));
        }
    }
    let mass = vec![1.0; position.len()];
    Given::new(position, mass, true)
}

/// Each sphere is one void and there is no other. Densities over 32 neighbours smear its border over a tenth
/// of its radius.
#[test]
fn a_lattice_of_empty_spheres_is_recovered() {
    let input = lattice_of_voids();
    let config = params(|of| (of.relevance, of.density, of.wall) = (2.0, Some(0.7), None));
    let found = on(&input, 32, &config, Comm::threads(1));
    let voids = table(&found, "voids");
    let outside = (ACROSS as f64 / SIDE).powi(3);
    let mut corners = Vec::new();
    let (radius, density) = (reals(voids, "radius"), reals(voids, "density_mean"));
    for (row, centre) in vectors(voids, "centre").into_iter().enumerate() {
        let (radius, density) = (radius[row] / SIDE / EMPTY, density[row] / outside / CONTRAST);
        assert!((0.85..1.0).contains(&radius), "radius {radius}");
        assert!((1.0..1.6).contains(&density), "density {density}");
        let corner = centre.map(|x| (2.0 * x / SIDE).floor());
        let apart: f64 = (0..3).map(|a| (centre[a] / SIDE - corner[a] / 2.0 - 0.25).powi(2)).sum();
        assert!(apart.sqrt() < 0.05 * EMPTY, "centre {centre:?}");
        corners.push(corner.map(|x| x as u32));
    }
    corners.sort_unstable();
    corners.dedup();
    assert_eq!((corners.len(), voids.n_rows()), (8, 8), "one void per sphere");
}

#[test]
fn what_is_refused_says_why() {
    let input = Given::new(clumped(50, 3), vec![1.0; 50], true);
    let refused = |input: &Given, config: &VoidParams| {
        let graph = graph_config(4);
        let found = run_voids(&snapshot(input, &graph), &graph, config, &Comm::solo(), &Executor::default());
        found.expect_err("refused").to_string()
    };
    let wall = params(|of| (of.wall, of.density) = (Some(2.0), Some(1.0)));
    assert_eq!(refused(&input, &wall), "wall_threshold is 2; expected at most the density threshold 1");
    let ratio = params(|of| of.relevance = f64::NAN);
    assert!(refused(&input, &ratio).starts_with("relevance_threshold is NaN; expected a finite ratio"));
    let position: Vec<[f64; 3]> = (0..9).map(|i| [f64::from(i) * SIDE / 10.0; 3]).collect();
    let with = |mass: f64| {
        let mut masses = vec![mass; 9];
        masses[0] = 1.0;
        Given::new(position.clone(), masses, false)
    };
    let empty = refused(&with(0.0), &params(|_| ()));
    assert!(empty.contains("mass 0; expected a finite mass above 0"), "{empty}");
    // So light beside the heaviest that sums are 0.
    assert!(
        refused(&with(1e-310), &params(|_| ())).contains("have no mass, so its specific volume is infinite")
    );
}

#[test]
fn a_broken_catalogue_is_not_cut() {
    let input = Given::new(distinct(&clumped(200, 3)), vec![1.0; 200], true);
    let stored = on(&input, 8, &params(|_| ()), Comm::threads(1));
    let cut = |stored: &Catalogue| recut_voids(stored, &NewVoidThresholds::default()).map(drop);
    assert!(cut(&stored).is_ok());
    for name in ["mean_density", "wall_threshold", "min_particles", "periodic", "boxlen"] {
        let mut broken = stored.clone();
        broken.attributes.retain(|(known, _)| known != name);
        let error = cut(&broken).expect_err(name).to_string();
        assert!(error.contains(&format!("no sound attribute `{name}`")), "{error}");
    }
    let mut broken = stored.clone();
    broken.attributes.push(("density_threshold".into(), Attribute::Real(1e-9)));
    assert!(cut(&broken).is_err(), "walls above all densities");
    broken = stored;
    broken.tables.retain(|table| table.name != "tree");
    assert!(cut(&broken).expect_err("no tree").to_string().contains("no table `tree`"));
}
