//! Clumps found again in halves of the particles: against halves that are made and matched here, on ranks and
//! threads, and what is refused.

use super::particle_graph::{distinct, graph_config, snapshot};
use super::particle_mesh::{Given, clumped, config as mesh_config};
use crate::common::compare::assert_same;
use crate::common::{open, output};
use crate::verify::random::Random;
use inselberg::executor::Executor;
use inselberg::graph::ParticleGraphConfig;
use inselberg::phew::params::{FieldChoice, Persistence};
use inselberg::phew::recut::{NewThresholds, recut};
use inselberg::phew::run::{run, run_on_graph, run_on_particles};
use inselberg::phew::{PhewParams, PhewRequest};
use inselberg::{Cells, Engine, Geometry};
use inselberg_comm::{Comm, run_ranks};
use inselberg_io::catalogue::{Attribute, Catalogue, Table};
use std::collections::BTreeMap;

/// On what particles are searched.
#[derive(Debug, Clone, Copy)]
enum On {
    Mesh,
    Graph,
}

/// The catalogue of a search with halves, and the clump of each particle.
fn search(input: &Given, on: On, params: &PhewParams, n_ranks: usize) -> Catalogue {
    let request = PhewRequest { field: FieldChoice::Auto, params: params.clone().with_particles(true) };
    let (mesh, graph) = (mesh_config(4, 3..12), graph_config(12));
    let on_mesh = ParticleGraphConfig { mesh, ..graph };
    let parts = run_ranks(Comm::threads(n_ranks), |comm| {
        let executor = Executor::default();
        let found = match on {
            On::Mesh => run_on_particles(&snapshot(input, &on_mesh), &mesh, &request, comm, &executor),
            On::Graph => run_on_graph(&snapshot(input, &graph), &graph, &request, comm, &executor),
        };
        found.expect("clumps").catalogue.gather(comm).expect("gathered")
    });
    parts.expect("no panic").swap_remove(0).expect("rank 0")
}

fn params() -> PhewParams {
    PhewParams::new(2.0).persistence(Persistence::Ratio(1.2)).significance(0.0)
}

/// Particles in clumps, of several masses.
fn particles(n: usize, salt: u64) -> Given {
    let position = distinct(&clumped(n, salt));
    let mut random = Random(salt);
    let mass = position.iter().map(|_| [1.0, 1.0, 2.5][random.below(3)]).collect();
    Given::new(position, mass, true)
}

fn mixed(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// Whether a particle is in the half of a round.
fn is_in(round: u64, id: u64) -> bool {
    let bit = mixed(id ^ mixed(mixed(1) ^ (round / 2))) & 1;
    (bit == 1) == round.is_multiple_of(2)
}

/// The first identity of [`Given`].
const FIRST_ID: u64 = 1000;

/// The rows that are in the half of a round, and these particles with doubled masses.
fn half(input: &Given, round: u64) -> (Vec<usize>, Given) {
    let rows: Vec<usize> =
        (0..input.position.len()).filter(|row| is_in(round, FIRST_ID + *row as u64)).collect();
    let position = rows.iter().map(|row| input.position[*row]).collect();
    let mass = rows.iter().map(|row| 2.0 * input.mass[*row]).collect();
    (rows, Given::new(position, mass, input.is_periodic()))
}

fn table<'a>(of: &'a Catalogue, name: &str) -> &'a Table {
    of.table(name).unwrap_or_else(|| panic!("no {name}"))
}

/// The clump of each row; 0 for none.
fn clump_of_rows(of: &Catalogue) -> Vec<u64> {
    let rows = table(of, "particles");
    let (ids, clumps) = (rows.integers("id").expect("ids"), rows.counts("clump").expect("clumps"));
    let mut of_rows = vec![0; ids.len()];
    ids.iter().zip(clumps).for_each(|(id, clump)| of_rows[*id as usize - FIRST_ID as usize] = *clump);
    of_rows
}

/// The clumps of `of_a` and their partners among those of `of_b`, by comparing all with all.
fn partners(of_a: &[u64], of_b: &[u64]) -> Vec<(u64, u64)> {
    let most = |of: &[u64]| of.iter().copied().max().unwrap_or(0);
    let n = |of: &[u64], clump: u64| of.iter().filter(|x| **x == clump).count() as f64;
    let score = |a: u64, b: u64| {
        let shared = of_a.iter().zip(of_b).filter(|(x, y)| (**x, **y) == (a, b)).count() as f64;
        if shared == 0.0 { 0.0 } else { shared * shared / (n(of_a, a) * n(of_b, b)) }
    };
    let (n_a, n_b) = (most(of_a), most(of_b));
    let scores: Vec<Vec<f64>> = (1..=n_a).map(|a| (1..=n_b).map(|b| score(a, b)).collect()).collect();
    let mut found = Vec::new();
    for (i, row) in scores.iter().enumerate() {
        for (j, s) in row.iter().enumerate() {
            let is_best_of_a = row.iter().enumerate().all(|(k, t)| t < s || t == s && k >= j);
            let is_best_of_b = scores.iter().enumerate().all(|(k, r)| r[j] < *s || r[j] == *s && k >= i);
            if *s >= 0.25 && is_best_of_a && is_best_of_b {
                found.push((i as u64 + 1, j as u64 + 1));
            }
        }
    }
    found
}

fn by_id(of: &Catalogue, name: &str) -> BTreeMap<u64, f64> {
    let clumps = table(of, "clumps");
    let ids = clumps.counts("id").expect("ids").iter().copied();
    ids.zip(clumps.reals(name).unwrap_or_else(|| panic!("no {name}")).iter().copied()).collect()
}

#[test]
fn columns_are_those_of_halves_made_by_hand() {
    let (mut n_always, mut n_sometimes) = (0, 0);
    for (on, n_rounds, salt) in [(On::Mesh, 5, 11), (On::Graph, 4, 12), (On::Graph, 3, 13)] {
        let input = particles(1500, salt);
        let found = search(&input, on, &params().subsamples(n_rounds), 1);
        let of_rows = clump_of_rows(&found);
        let mut masses: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for round in 0..n_rounds {
            let (rows, input) = half(&input, round);
            let of_half = search(&input, on, &params(), 1);
            let mass = by_id(&of_half, "mass");
            let here: Vec<u64> = rows.iter().map(|row| of_rows[*row]).collect();
            for (a, b) in partners(&here, &clump_of_rows(&of_half)) {
                masses.entry(a).or_default().push(mass[&b]);
            }
        }
        let (mass, frequency, spread) = (
            by_id(&found, "mass"),
            by_id(&found, "subsample_frequency"),
            by_id(&found, "subsample_mass_spread"),
        );
        let none = Vec::new();
        for (id, mass) in &mass {
            let list = masses.get(id).unwrap_or(&none);
            let n = list.len() as f64;
            assert_eq!(frequency[id], n / n_rounds as f64, "{on:?} clump {id}");
            let mean = list.iter().sum::<f64>() / n;
            let expected = (list.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt() / mass;
            let is_same = match list.len() {
                0 | 1 => spread[id] == f64::INFINITY,
                _ => (spread[id] - expected).abs() < 1e-9,
            };
            assert!(is_same, "{on:?} clump {id}: {} beside {expected}", spread[id]);
        }
        n_always += frequency.values().filter(|x| **x == 1.0).count();
        n_sometimes += frequency.values().filter(|x| **x > 0.0 && **x < 1.0).count();
        assert_eq!(found.attribute("subsamples"), Some(&Attribute::Int(n_rounds as i64)));
    }
    assert!(n_always > 5 && n_sometimes > 5, "{n_always} always, {n_sometimes} sometimes");
}

#[test]
fn ranks_and_threads_change_no_bit() {
    for on in [On::Mesh, On::Graph] {
        let input = particles(3000, 5);
        let params = params().subsamples(3).min_particles(20);
        let alone = search(&input, on, &params, 1);
        assert!(by_id(&alone, "subsample_frequency").values().any(|x| *x > 0.0));
        for n_ranks in [1, 2, 3] {
            for n_threads in [1, 2] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("a pool");
                let found = pool.install(|| search(&input, on, &params, n_ranks));
                assert_same(&alone, &found, &format!("{on:?}, {n_ranks} ranks, {n_threads} threads"));
            }
        }
    }
}

/// Halves change nothing else, and without them there are no columns.
#[test]
fn the_other_columns_stay() {
    for on in [On::Mesh, On::Graph] {
        let input = particles(1000, 3);
        let (without, mut with) =
            (search(&input, on, &params(), 1), search(&input, on, &params().subsamples(2), 1));
        assert!(table(&without, "clumps").column("subsample_frequency").is_none());
        with.attributes.retain(|(name, _)| !name.starts_with("subsample"));
        for table in &mut with.tables {
            table.columns.retain(|column| !column.name.starts_with("subsample"));
        }
        assert_same(&without, &with, &format!("{on:?}"));
    }
}

/// A half may have too few particles for a search.
#[test]
fn small_halves_find_nothing() {
    let place = |i: usize| [1.0 + 0.01 * (i % 3) as f64, 1.0 + 0.01 * (i / 3) as f64, 1.0];
    let input = Given::new((0..13).map(place).collect(), vec![1.0; 13], true);
    let found = search(&input, On::Graph, &params().subsamples(2), 2);
    assert!(by_id(&found, "subsample_frequency").values().all(|x| *x == 0.0));
    assert!(by_id(&found, "subsample_mass_spread").values().all(|x| *x == f64::INFINITY));
}

#[test]
fn cells_are_refused() {
    let mut engine = Engine::builder().threads(1).build().expect("an engine");
    let cells = Cells::from_leaves(Geometry::cube(1.0), &[3_u8; 2], &[[0_u32; 3], [1, 0, 0]]).expect("cells");
    let said = engine.phew(&cells, &[1.0, 2.0], &PhewParams::new(0.5).subsamples(2)).expect_err("refused");
    assert!(said.to_string().starts_with("subsamples, but no particles make the density"), "{said}");
    let output = open(&output("dm_1rank"));
    let request = PhewRequest { field: FieldChoice::Auto, params: params().subsamples(2) };
    let said = run(output.as_ref(), &request, &Comm::solo(), &Executor::default()).expect_err("refused");
    assert!(
        said.to_string().starts_with("subsamples of the cells of an input; expected particles"),
        "{said}"
    );
}

/// A new cut has other clumps, of which no half has been searched.
#[test]
fn a_new_cut_has_no_frequencies() {
    let found = search(&particles(1000, 3), On::Mesh, &params().subsamples(2), 1);
    let cut = recut(&found, &NewThresholds::default()).expect("a cut");
    assert!(found.attribute("subsample_seed").is_some());
    assert!(cut.attributes.iter().all(|(name, _)| !name.starts_with("subsample")));
    assert!(table(&cut, "clumps").column("subsample_frequency").is_none());
}
