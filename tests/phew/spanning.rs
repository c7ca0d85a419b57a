//! Haloes that span ranks: every dataset has the bits that it has with whole haloes, for any ranks and
//! threads.

use super::bound::{bound_config, counts, table};
use super::gas_clumps::NESTED;
use super::ramses_unbinding::{RUNS, ramses_config};
use crate::common::case::{DARK, GAS, config};
use crate::common::compare::assert_same;
use crate::common::{open, output, ramses_32, swift_fixture};
use inselberg::bound::SpanRules;
use inselberg::executor::Executor;
use inselberg::particle_mesh::{ParticleMeshConfig, ParticleSnapshot};
use inselberg::phew::params::{BoundRequest, PotentialChoice, PropertyChoice};
use inselberg::phew::run::{run, run_on_particles};
use inselberg::phew::{PhewRequest, Rules};
use inselberg_comm::{Comm, CommBuilder, run_ranks};
use inselberg_io::Snapshot;
use inselberg_io::catalogue::Catalogue;
use inselberg_io::particles::open_particles;

/// Whole haloes only, and blocks so small that each halo has several.
const WHOLE: SpanRules = SpanRules { fewest: Some(u64::MAX), block: 16 };

fn spanning(fewest: u64) -> SpanRules {
    SpanRules { fewest: Some(fewest), ..WHOLE }
}

fn with(config: &PhewRequest, rules: SpanRules) -> PhewRequest {
    config.clone().with(|params| params.bound(BoundRequest { spanning: rules, ..config.params.bound }))
}

fn on(snapshot: &dyn Snapshot, config: &PhewRequest, ranks: Vec<CommBuilder>) -> Catalogue {
    let parts = run_ranks(ranks, |comm| {
        let outcome = run(snapshot, config, comm, &Executor::default());
        outcome.expect("clumps").catalogue.gather(comm).expect("gathered")
    });
    parts.expect("no panic").swap_remove(0).expect("rank 0")
}

/// Compares whole haloes on one rank with haloes that span ranks: all of them, and those that are large.
fn check(snapshot: &dyn Snapshot, config: &PhewRequest, ranks: &[usize]) -> Catalogue {
    let whole = on(snapshot, &with(config, WHOLE), Comm::threads(1));
    for n_ranks in ranks {
        for n_threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("a pool");
            for fewest in [0, 100] {
                let config = with(config, spanning(fewest));
                let found = pool.install(|| on(snapshot, &config, Comm::threads(*n_ranks)));
                assert_same(
                    &whole,
                    &found,
                    &format!("from {fewest} members, {n_ranks} ranks, {n_threads} threads"),
                );
            }
        }
    }
    whole
}

#[test]
fn dark_matter_of_an_output() {
    let snapshot = open(&output("dm_1rank"));
    let whole = check(&*snapshot, &config(&*snapshot, DARK, Rules::Paper), &[1, 2, 3, 5, 8]);
    let n_bound = counts(table(&whole, "haloes"), "n_bound");
    assert!(n_bound.iter().any(|n| *n > 100) && n_bound.iter().any(|n| (1..100).contains(n)), "{n_bound:?}");
}

#[test]
fn gas_and_particles_of_an_output() {
    let snapshot = open(&output("gas_2ranks"));
    let whole = check(&*snapshot, &config(&*snapshot, GAS, Rules::Paper), &[1, 2, 3, 5, 8]);
    assert!(counts(table(&whole, "haloes"), "n_bound").iter().any(|n| *n > 100));
}

/// Of clumps with few cells, and with many.
#[test]
fn gas_clumps_of_an_output() {
    let snapshot = open(&output("gas_2ranks"));
    let bound = BoundRequest { gas: true, ..BoundRequest::default() };
    let whole = check(
        &*snapshot,
        &config(&*snapshot, NESTED, Rules::Paper).with(|params| params.bound(bound)),
        &[1, 2, 3, 5, 8],
    );
    let clumps = table(&whole, "clumps");
    let (own, inclusive) = (counts(clumps, "gas_n_cells"), counts(clumps, "gas_n_cells_inclusive"));
    assert!(own.iter().zip(&inclusive).any(|(own, inclusive)| own < inclusive && *inclusive > 100));
    assert!(inclusive.iter().any(|n| (1..100).contains(n)));
    assert!(clumps.reals("gas_potential_energy").expect("energies").iter().all(|energy| *energy < 0.0));
}

#[test]
fn shells_about_peaks() {
    let snapshot = open(&output("dm_1rank"));
    check(&*snapshot, &bound_config(&*snapshot, PotentialChoice::Spherical), &[1, 3, 8]);
}

/// Several levels of clumps in clumps, by RAMSES's rules, with all properties of bound particles.
fn ramses_levels() -> PhewRequest {
    let config = ramses_config(RUNS[1].1);
    let bound = BoundRequest { properties: PropertyChoice::Bound, ..config.params.bound };
    config.with(|params| params.bound(bound))
}

/// Clumps of both kinds: worked on by all ranks, and whole on one of them. Some of both hand particles up.
#[test]
fn rules_of_ramses() {
    let snapshot = open(&ramses_32().join("output_00002"));
    let whole = check(&*snapshot, &ramses_levels(), &[1, 2, 3, 5, 8]);
    let clumps = table(&whole, "clumps");
    let (id, parent) = (counts(clumps, "id"), counts(clumps, "parent"));
    let inclusive = counts(clumps, "n_bound_inclusive");
    let below = (0..id.len()).filter(|i| id[*i] != parent[*i]).map(|i| inclusive[i]);
    let below: Vec<u64> = below.collect();
    assert!(below.iter().any(|n| *n > 100) && below.iter().any(|n| (1..100).contains(n)), "{below:?}");
}

fn check_late_messages(snapshot: &dyn Snapshot, config: &PhewRequest) {
    let whole = on(snapshot, &with(config, WHOLE), Comm::threads(1));
    for seed in 0..4 {
        let ranks = Comm::threads(5).into_iter().zip(0..).map(|(rank, i)| rank.chaos(seed << 8 | i));
        let found = on(snapshot, &with(config, spanning(seed * 50)), ranks.collect());
        assert_same(&whole, &found, &format!("chaos {seed}"));
    }
}

#[test]
fn late_messages_change_no_bit() {
    let snapshot = open(&output("dm_1rank"));
    check_late_messages(&*snapshot, &config(&*snapshot, DARK, Rules::Paper));
    let snapshot = open(&ramses_32().join("output_00002"));
    check_late_messages(&*snapshot, &ramses_levels());
}

#[cfg(feature = "hdf5")]
#[test]
fn meshes_from_particles() {
    let path = swift_fixture().join("snap_0000.hdf5");
    let mesh = ParticleMeshConfig {
        m_refine: 8,
        level_min: None,
        level_max: 10,
        kinds: std::array::from_fn(|kind| kind == 1),
        side: None,
        root_level: None,
    };
    let found = |rules: SpanRules, n_ranks: usize| {
        let parts = run_ranks(Comm::threads(n_ranks), |comm| {
            let input = open_particles(std::slice::from_ref(&path)).expect("a snapshot");
            let snapshot = ParticleSnapshot::new(input.into(), &mesh).expect("particles");
            let config = with(&bound_config(&snapshot, PotentialChoice::Tree), rules);
            let outcome = run_on_particles(&snapshot, &mesh, &config, comm, &Executor::default());
            outcome.expect("clumps").catalogue.gather(comm).expect("gathered")
        });
        parts.expect("no panic").swap_remove(0).expect("rank 0")
    };
    let whole = found(WHOLE, 1);
    assert!(counts(table(&whole, "haloes"), "n_bound")[0] > 50);
    for n_ranks in [1, 2, 3, 5, 8] {
        for n_threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("a pool");
            let spanning = pool.install(|| found(spanning(0), n_ranks));
            assert_same(&whole, &spanning, &format!("{n_ranks} ranks, {n_threads} threads"));
        }
    }
}
