//! With `--compat ramses` every leaf's label and every row is RAMSES's own.
//!
//! The fixture is checked always; further outputs and their catalogues (`r1_output_00002`,
//! `r2_output_00002`, `var_<density>_<relevance>_<saddle>`) if the environment names their folder
//! as INSELBERG_RAMSES_32.

mod common;

use common::Place;
use common::ramses_catalogue::{labels, rows};
use inselberg::catalogue::{Catalogue, Table, Values};
use inselberg::crew::Crew;
use inselberg::phew::{FieldChoice, PhewConfig, Rules, Thresholds};
use inselberg_comm::Comm;
use std::collections::BTreeMap;
use std::path::Path;

fn run(output: &Path, field: FieldChoice, density: f64, relevance: f64, saddle: f64) -> Catalogue {
    let config = PhewConfig {
        field,
        thresholds: Thresholds { density, relevance, saddle: Some(saddle), mass: 0.0 },
        rules: Rules::Ramses,
        with_cells: true,
        with_particles: false,
    };
    let snapshot = common::open(output);
    let outcome =
        inselberg::run::run(snapshot.as_ref(), &config, &Comm::solo(), &Crew::default()).expect("a run");
    outcome.catalogue.gather(&Comm::solo()).expect("alone").expect("rank 0")
}

fn counts<'a>(table: &'a Table, name: &str) -> &'a [u64] {
    match &table.column(name).expect(name).values {
        Values::U64(v) => v,
        other => panic!("{name} holds {other:?}"),
    }
}

fn reals<'a>(table: &'a Table, name: &str) -> &'a [f64] {
    match &table.column(name).expect(name).values {
        Values::F64(v) => v,
        other => panic!("{name} holds {other:?}"),
    }
}

fn vectors<'a>(table: &'a Table, name: &str) -> &'a [[f64; 3]] {
    match &table.column(name).expect(name).values {
        Values::F64x3(v) => v,
        other => panic!("{name} holds {other:?}"),
    }
}

fn our_labels(catalogue: &Catalogue) -> BTreeMap<Place, u64> {
    let cells = catalogue.table("cells").expect("cells");
    let (Values::U8(level), Values::U32x3(ijk)) =
        (&cells.column("level").expect("level").values, &cells.column("ijk").expect("ijk").values)
    else {
        panic!("kinds of columns")
    };
    let places = level.iter().copied().zip(ijk.iter().copied());
    places.zip(counts(cells, "clump").iter().copied()).collect()
}

/// The name that RAMSES has for each of our clumps; panics where labels differ by more than names.
fn match_labels(ours: &BTreeMap<Place, u64>, theirs: &BTreeMap<Place, u64>) -> BTreeMap<u64, u64> {
    let (mut names, mut back) = (BTreeMap::new(), BTreeMap::new());
    assert_eq!(ours.len(), theirs.len(), "leaves");
    for (place, &own) in ours {
        let their = theirs[place];
        assert_eq!(*names.entry(own).or_insert(their), their, "label of {place:?}");
        assert_eq!(*back.entry(their).or_insert(own), own, "label of {place:?}");
    }
    assert_eq!(names.get(&0), Some(&0), "cells in no clump");
    names
}

/// `a` as printed by RAMSES, `digits` after the point, agrees with `b`.
fn same_digits(what: &str, a: f64, b: f64, relative: f64) {
    assert!((a - b).abs() <= relative * a.abs().max(b.abs()), "{what}: RAMSES {a:e}, here {b:e}");
}

fn check(output: &Path, answers: &Path, field: FieldChoice, thresholds: [f64; 3]) {
    let catalogue = run(output, field, thresholds[0], thresholds[1], thresholds[2]);
    let names = match_labels(&our_labels(&catalogue), &labels(output, answers));
    check_clumps(catalogue.table("clumps").expect("clumps"), &rows(answers, "clump"), &names);
    check_haloes(catalogue.table("haloes").expect("haloes"), &rows(answers, "halo"), &names);
}

const PRINTED: f64 = 1.01e-9;

fn check_clumps(table: &Table, rows: &[Vec<f64>], names: &BTreeMap<u64, u64>) {
    let by_name: BTreeMap<u64, &Vec<f64>> = rows.iter().map(|r| (r[0] as u64, r)).collect();
    let ids = counts(table, "id");
    assert_eq!(ids.len(), by_name.len(), "number of clumps");
    for (i, id) in ids.iter().enumerate() {
        let row = by_name[&names[id]];
        let name = |column: &str| names[&counts(table, column)[i]] as f64;
        assert_eq!([name("halo"), name("parent")], [row[1], row[3]], "halo and parent of {id}");
        assert_eq!([counts(table, "level")[i] as f64, counts(table, "n_cells")[i] as f64], [row[2], row[4]]);
        check_position(&vectors(table, "peak_position_refined")[i], &row[5..8]);
        for (column, value) in
            ["density_min", "density_peak", "density_mean", "mass", "relevance"].iter().zip(&row[8..])
        {
            same_digits(column, *value, reals(table, column)[i], PRINTED);
        }
    }
}

fn check_haloes(table: &Table, rows: &[Vec<f64>], names: &BTreeMap<u64, u64>) {
    let by_name: BTreeMap<u64, &Vec<f64>> = rows.iter().map(|r| (r[0] as u64, r)).collect();
    let ids = counts(table, "id");
    assert_eq!(ids.len(), by_name.len(), "number of haloes");
    for (i, id) in ids.iter().enumerate() {
        let row = by_name[&names[id]];
        assert_eq!(counts(table, "n_cells")[i] as f64, row[1], "cells of halo {id}");
        check_position(&vectors(table, "peak_position_refined")[i], &row[2..5]);
        same_digits("density_peak", row[5], reals(table, "density_peak")[i], PRINTED);
        same_digits("mass", row[6], reals(table, "mass")[i], PRINTED);
    }
}

/// To the digits printed: better than 1e-6 of the smallest cell.
fn check_position(ours: &[f64; 3], theirs: &[f64]) {
    for (a, b) in ours.iter().zip(theirs) {
        assert!((a - b).abs() < 1e-9, "peak position: RAMSES {theirs:?}, here {ours:?}");
    }
}

#[test]
fn dark_matter_of_one_rank() {
    let output = common::output("dm_1rank");
    check(&output, &output, FieldChoice::Named("rho".into()), [40.0, 3.0, 200.0]);
    check(&output, &output, FieldChoice::CicRamses, [40.0, 3.0, 200.0]);
}

#[test]
fn dark_matter_of_three_ranks() {
    let output = common::output("dm_3ranks");
    check(&output, &output, FieldChoice::CicRamses, [40.0, 3.0, 200.0]);
}

#[test]
fn gas_of_two_ranks() {
    let output = common::output("gas_2ranks");
    check(&output, &output, FieldChoice::Named("density".into()), [2.0, 3.0, 200.0]);
}

#[test]
fn outputs_named_by_the_environment() {
    let Some(folder) = std::env::var_os("INSELBERG_RAMSES_32") else { return };
    let folder = Path::new(&folder);
    for run in ["r1_output_00002", "r2_output_00002"] {
        let output = folder.join(run);
        check(&output, &output, FieldChoice::CicRamses, [80.0, 3.0, 200.0]);
    }
    let output = folder.join("r1_output_00002");
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let Some(values) = name.strip_prefix("var_") else { continue };
        let t: Vec<f64> = values.split('_').map(|v| v.parse().expect("a threshold")).collect();
        check(&output, &path, FieldChoice::Named("rho".into()), [t[0], t[1], t[2]]);
    }
}
