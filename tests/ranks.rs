//! One input gives one catalogue, bit for bit, on any number of ranks and threads, whatever the order of
//! messages.

mod common;

use common::compare::assert_same;
use inselberg::catalogue::Catalogue;
use inselberg::io::Snapshot;
use inselberg::observe::Silent;
use inselberg::phew::{FieldChoice, PhewConfig, Rules, Thresholds};
use inselberg::run::run;
use inselberg::synth::{FieldKind, FieldParams, SynthField};
use inselberg_comm::{Comm, CommBuilder, run_ranks};

/// A field with thresholds that give it clumps in haloes.
#[derive(Clone, Copy)]
struct Case {
    field: &'static str,
    thresholds: [f64; 3],
}

const DARK: Case = Case { field: "rho", thresholds: [40.0, 3.0, 200.0] };
const GAS: Case = Case { field: "density", thresholds: [2.0, 3.0, 200.0] };
const SYNTH: Case = Case { field: "density", thresholds: [80.0, 1.05, 200.0] };

fn config(snapshot: &dyn Snapshot, case: Case, rules: Rules) -> PhewConfig {
    let [density, relevance, saddle] = case.thresholds;
    PhewConfig {
        field: match case.field {
            "cic" => FieldChoice::Cic,
            "cic-ramses" => FieldChoice::CicRamses,
            name => FieldChoice::Named(name.into()),
        },
        thresholds: Thresholds { density, relevance, saddle: Some(saddle), mass: 0.0 },
        rules,
        with_cells: true,
        with_particles: snapshot.has_particles(),
    }
}

/// The catalogue of all `ranks`.
fn over(snapshot: &dyn Snapshot, case: Case, rules: Rules, ranks: Vec<CommBuilder>) -> Catalogue {
    let config = config(snapshot, case, rules);
    let work = |comm: &Comm| match run(snapshot, &config, comm, &Silent) {
        Ok(outcome) => outcome.catalogue.gather(comm),
        Err(error) => Err(comm.abort(error.to_string())),
    };
    let parts = run_ranks(ranks, work).expect("no panic");
    let mut parts = parts.into_iter().map(|part| part.expect("no failure"));
    let whole = parts.next().flatten().expect("rank 0 has it");
    assert!(parts.all(|part| part.is_none()), "only rank 0 has it");
    whole
}

fn check(snapshot: &dyn Snapshot, case: Case, rules: Rules, n_ranks: &[usize]) {
    let one = over(snapshot, case, rules, Comm::threads(1));
    for &n in n_ranks {
        let many = over(snapshot, case, rules, Comm::threads(n));
        assert_same(&one, &many, &format!("{} on {n} ranks", case.field));
    }
}

#[test]
fn dark_matter_of_the_output() {
    for rules in [Rules::Paper, Rules::Ramses] {
        check(&*common::open(&common::output("dm_3ranks")), DARK, rules, &[2, 3, 4, 5, 8]);
    }
}

#[test]
fn particles() {
    for field in ["cic", "cic-ramses"] {
        let case = Case { field, ..DARK };
        check(&*common::open(&common::output("dm_1rank")), case, Rules::Paper, &[2, 5]);
    }
}

#[test]
fn gas() {
    for rules in [Rules::Paper, Rules::Ramses] {
        check(&*common::open(&common::output("gas_2ranks")), GAS, rules, &[1, 2, 3, 8]);
    }
}

fn synth(kind: FieldKind, test_cells: u64) -> SynthField {
    SynthField::new(&FieldParams { kind, test_cells, ..FieldParams::default() }).expect("a field")
}

#[test]
fn a_noisy_field() {
    check(&synth(FieldKind::Clumps, 30_000), SYNTH, Rules::Paper, &[2, 3, 8, 64]);
}

#[test]
fn a_lattice_of_equal_peaks() {
    for rules in [Rules::Paper, Rules::Ramses] {
        check(&synth(FieldKind::Lattice, 10_000), SYNTH, rules, &[2, 3, 8]);
    }
}

#[test]
fn one_clump_over_all_ranks() {
    check(&synth(FieldKind::Giant, 10_000), SYNTH, Rules::Paper, &[2, 5, 8]);
}

#[test]
fn a_chain_of_peaks_through_every_domain() {
    check(&synth(FieldKind::Chain, 10_000), SYNTH, Rules::Paper, &[2, 5, 8, 16]);
}
