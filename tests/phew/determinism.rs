//! One input gives one catalogue, bit for bit, on any number of threads and over any number of files.

use crate::common::case::{Case, DARK, GAS, SYNTH, config};
use crate::common::compare::{assert_same, bits};
use inselberg::executor::Executor;
use inselberg::phew::params::BoundRequest;
use inselberg::phew::{PhewRequest, Rules};
use inselberg_cli::synth::{FieldParams, SynthField};
use inselberg_comm::Comm;
use inselberg_io::Snapshot;
use inselberg_io::catalogue::{Catalogue, FORMATS, Table, Values};
use std::path::Path;

const BOTH: [Rules; 2] = [Rules::Paper, Rules::Ramses];

fn on_threads(snapshot: &dyn Snapshot, case: Case, rules: Rules, n_threads: usize) -> Catalogue {
    with_config(snapshot, &config(snapshot, case, rules), n_threads)
}

fn with_config(snapshot: &dyn Snapshot, config: &PhewRequest, n_threads: usize) -> Catalogue {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("a pool");
    let run = || inselberg::phew::run::run(snapshot, config, &Comm::solo(), &Executor::default());
    let outcome = pool.install(run).expect("a run");
    outcome.catalogue.gather(&Comm::solo()).expect("alone").expect("rank 0")
}

/// The catalogue on one thread, as every number of threads and every format must give it back.
fn check_threads(snapshot: &dyn Snapshot, case: Case, rules: Rules) -> Catalogue {
    let one = on_threads(snapshot, case, rules, 1);
    assert!(one.table("clumps").expect("clumps").n_rows() > 3, "{}: too few clumps", case.field);
    for n in [2, 3, 7] {
        let other = on_threads(snapshot, case, rules, n);
        assert_same(&one, &other, &format!("{} on {n} threads", case.field));
        for writer in FORMATS {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join(format!("c.{}", writer.extensions[0]));
            writer.write(&path, &other).expect("written");
            let mut read = (writer.read)(&path).expect("read");
            assert_same(&other, &read, writer.name);
            read.attributes.retain(|(name, _)| !name.starts_with("run_"));
            assert_same(&one, &read, writer.name);
        }
    }
    one
}

fn check_files(output: &Path, case: Case) {
    for rules in BOTH {
        let whole = check_threads(&*crate::common::open(output), case, rules);
        for n_cpus in [1, 2, 5] {
            let folder = tempfile::tempdir().expect("a folder");
            let split = crate::common::open(&crate::common::resplit(output, folder.path(), n_cpus));
            assert_eq!(split.header().n_pieces, n_cpus);
            let other = on_threads(&*split, case, rules, 2);
            assert_same(&whole, &other, &format!("{} over {n_cpus} files", case.field));
        }
    }
}

#[test]
fn dark_matter_density_of_the_output() {
    check_files(&crate::common::output("dm_1rank"), DARK);
}

#[test]
fn dark_matter_particles_mass_conserving() {
    check_files(&crate::common::output("dm_1rank"), Case { field: "cic", ..DARK });
}

#[test]
fn dark_matter_particles_as_ramses() {
    check_files(&crate::common::output("dm_1rank"), Case { field: "cic-ramses", ..DARK });
}

#[test]
fn gas() {
    check_files(&crate::common::output("gas_2ranks"), GAS);
}

#[test]
fn a_noisy_field() {
    let params = FieldParams { test_cells: 30_000, ..FieldParams::default() };
    let field = SynthField::new(&params).expect("a field");
    for rules in BOTH {
        check_threads(&field, SYNTH, rules);
    }
}

/// Two runs of RAMSES whose densities differ by rounding only.
#[test]
fn runs_on_one_and_three_ranks_have_the_same_structures() {
    let [one, three] = ["dm_1rank", "dm_3ranks"].map(|run| crate::common::open(&crate::common::output(run)));
    for field in ["rho", "cic", "cic-ramses"] {
        for rules in BOTH {
            let case = Case { field, ..DARK };
            // The runs number particles in another order.
            let of_cells = config(&*one, case, rules).with(|params| params.bound(BoundRequest::default()));
            let (a, b) = (with_config(&*one, &of_cells, 2), with_config(&*three, &of_cells, 2));
            for name in ["clumps", "haloes", "tree", "cells"] {
                let of = |c: &Catalogue| c.table(name).expect(name).clone();
                check_close(&of(&a), &of(&b), &format!("{field} {rules:?} {name}"));
            }
        }
    }
}

/// Integers equal, reals to 1e-9 of the largest of their column.
fn check_close(a: &Table, b: &Table, what: &str) {
    for (x, y) in a.columns.iter().zip(&b.columns) {
        let place = format!("{what}/{}", x.name);
        assert_eq!((&x.name, x.values.len()), (&y.name, y.values.len()), "{place}");
        match (reals(&x.values), reals(&y.values)) {
            (Some(x), Some(y)) => {
                let finite = x.iter().filter(|x| x.is_finite());
                let largest = finite.map(|x| x.abs()).fold(0.0, f64::max);
                let same =
                    |x: f64, y: f64| x == y || (x - y).abs() <= 1e-9 * largest || x.is_nan() && y.is_nan();
                x.iter().zip(&y).for_each(|(x, y)| assert!(same(*x, *y), "{place}: {x} {y}, {largest}"));
            }
            _ => assert!(bits(&x.values) == bits(&y.values), "{place}"),
        }
    }
}

fn reals(values: &Values) -> Option<Vec<f64>> {
    match values {
        Values::F64(v) => Some(v.clone()),
        Values::F64x3(v) => Some(v.concat()),
        _ => None,
    }
}
