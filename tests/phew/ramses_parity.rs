//! With `--compat ramses` every leaf's label and every row is RAMSES's own.
//!
//! The fixtures are checked always; further outputs and their catalogues (`r1_output_00002`,
//! `r2_output_00002`, `var_<density>_<relevance>_<saddle>`) if the environment names their folder
//! as INSELBERG_RAMSES_32.

use crate::common::Place;
use crate::common::compare::{assert_same, assert_same_table};
use crate::common::ramses_catalogue::{labels, rows};
use inselberg::density::LeafValues;
use inselberg::density::read::read_mesh;
use inselberg::density::{Deposited, deposit_with_gas, read_particles};
use inselberg::executor::Executor;
use inselberg::phew::params::{FieldChoice, Persistence, Thresholds};
use inselberg::phew::recut::{NewThresholds, recut};
use inselberg::phew::{PhewParams, PhewRequest, Rules};
use inselberg::progress::Silent;
use inselberg_comm::{Comm, run_threads};
use inselberg_io::catalogue::{Catalogue, Table, Values};
use std::collections::BTreeMap;
use std::path::Path;

/// Density, relevance, saddle and mass, as RAMSES takes them.
type Four = [f64; 4];

fn run(output: &Path, field: &FieldChoice, thresholds: Four) -> Catalogue {
    run_over(output, field, thresholds, &Comm::solo()).expect("rank 0")
}

/// The catalogue on the first rank.
fn run_over(
    output: &Path,
    field: &FieldChoice,
    [density, relevance, saddle, mass]: Four,
    comm: &Comm,
) -> Option<Catalogue> {
    let config = PhewRequest {
        field: field.clone(),
        params: PhewParams::from(Thresholds {
            density,
            persistence: Persistence::Ratio(relevance),
            significance: None,
            saddle: Some(saddle),
            halo_relevance: None,
            mass,
            min_cells: 0,
        })
        .rules(Rules::Ramses)
        .with_cells(true),
    };
    let snapshot = crate::common::open(output);
    let outcome =
        inselberg::phew::run::run(snapshot.as_ref(), &config, comm, &Executor::default()).expect("a run");
    outcome.catalogue.gather(comm).expect("ranks")
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

fn check(output: &Path, answers: &Path, field: FieldChoice, [density, relevance, saddle]: [f64; 3]) {
    check_listed(output, answers, &field, [density, relevance, saddle, 0.0], AS_PRINTED);
}

/// The allowed error of reals (relative) and of positions of peaks.
#[derive(Clone, Copy)]
struct Off {
    real: f64,
    position: f64,
}

/// To the digits that RAMSES prints; of positions better than 1e-6 of the smallest cell.
const AS_PRINTED: Off = Off { real: 1.01e-9, position: 1e-9 };

/// The catalogue, which has been held against RAMSES's.
fn check_listed(output: &Path, answers: &Path, field: &FieldChoice, thresholds: Four, off: Off) -> Catalogue {
    let catalogue = run(output, field, thresholds);
    let names = match_labels(&our_labels(&catalogue), &labels(output, answers));
    check_clumps(catalogue.table("clumps").expect("clumps"), &rows(answers, "clump"), &names, off);
    check_haloes(catalogue.table("haloes").expect("haloes"), &rows(answers, "halo"), &names, off);
    catalogue
}

fn check_clumps(table: &Table, rows: &[Vec<f64>], names: &BTreeMap<u64, u64>, off: Off) {
    let by_name: BTreeMap<u64, &Vec<f64>> = rows.iter().map(|r| (r[0] as u64, r)).collect();
    let ids = counts(table, "id");
    assert_eq!(ids.len(), by_name.len(), "number of clumps");
    for (i, id) in ids.iter().enumerate() {
        let row = by_name[&names[id]];
        let name = |column: &str| names[&counts(table, column)[i]] as f64;
        assert_eq!([name("halo"), name("parent")], [row[1], row[3]], "halo and parent of {id}");
        assert_eq!([counts(table, "level")[i] as f64, counts(table, "n_cells")[i] as f64], [row[2], row[4]]);
        check_position(&vectors(table, "peak_position_refined")[i], &row[5..8], off);
        for (column, value) in
            ["density_min", "density_peak", "density_mean", "mass", "relevance"].iter().zip(&row[8..])
        {
            same_digits(column, *value, reals(table, column)[i], off.real);
        }
    }
}

fn check_haloes(table: &Table, rows: &[Vec<f64>], names: &BTreeMap<u64, u64>, off: Off) {
    let by_name: BTreeMap<u64, &Vec<f64>> = rows.iter().map(|r| (r[0] as u64, r)).collect();
    let ids = counts(table, "id");
    assert_eq!(ids.len(), by_name.len(), "number of haloes");
    for (i, id) in ids.iter().enumerate() {
        let row = by_name[&names[id]];
        assert_eq!(counts(table, "n_cells")[i] as f64, row[1], "cells of halo {id}");
        check_position(&vectors(table, "peak_position_refined")[i], &row[2..5], off);
        same_digits("density_peak", row[5], reals(table, "density_peak")[i], off.real);
        same_digits("mass", row[6], reals(table, "mass")[i], off.real);
    }
}

fn check_position(ours: &[f64; 3], theirs: &[f64], off: Off) {
    for (a, b) in ours.iter().zip(theirs) {
        assert!((a - b).abs() < off.position, "peak position: RAMSES {theirs:?}, here {ours:?}");
    }
}

#[test]
fn dark_matter_of_one_rank() {
    let output = crate::common::output("dm_1rank");
    check(&output, &output, FieldChoice::Named("rho".into()), [40.0, 3.0, 200.0]);
    check(&output, &output, FieldChoice::CicRamses, [40.0, 3.0, 200.0]);
}

#[test]
fn dark_matter_of_three_ranks() {
    let output = crate::common::output("dm_3ranks");
    check(&output, &output, FieldChoice::CicRamses, [40.0, 3.0, 200.0]);
}

#[test]
fn gas_of_two_ranks() {
    let output = crate::common::output("gas_2ranks");
    check(&output, &output, FieldChoice::Named("density".into()), [2.0, 3.0, 200.0]);
}

/// A field in which every cell equals seven others: RAMSES merges to the densest of neighbours with equal
/// saddles.
#[test]
fn equal_saddles() {
    let (output, field) = (crate::common::ramses_more().join("ties/output_00002"), gas());
    let found = check_listed(&output, &output, &field, TIES, OF_EQUAL_PEAKS);
    check_ranks(&output, &field, TIES, &found, &[2, 7]);
}

/// That several ranks give the catalogue of one.
fn check_ranks(output: &Path, field: &FieldChoice, thresholds: Four, one: &Catalogue, n_ranks: &[usize]) {
    for n in n_ranks.iter().copied() {
        let all = run_threads(n, |comm| run_over(output, field, thresholds, comm)).expect("no panic");
        let first = all.into_iter().next().flatten().expect("rank 0");
        assert_same(one, &first, &format!("{n} ranks"));
    }
}

/// A catalogue cut again has what a run would have found, equal saddles or not.
#[test]
fn equal_saddles_cut_again() {
    let (output, field) = (crate::common::ramses_more().join("ties/output_00002"), gas());
    let [density, _, _, mass] = TIES;
    let stored = run(&output, &field, [density, 1.6, 4.0, mass]);
    for (relevance, saddle) in [(TIES[1], TIES[2]), (1.0, 1.5), (1.3, 1.2)] {
        let thresholds = NewThresholds {
            persistence: Some(Persistence::Ratio(relevance)),
            significance: None,
            saddle: Some(saddle),
            mass: None,
            min_cells: None,
            ..NewThresholds::default()
        };
        let cut = recut(&stored, &thresholds).expect("a sound catalogue");
        let found = run(&output, &field, [density, relevance, saddle, mass]);
        for table in &cut.tables {
            let found = found.table(&table.name).expect("the same tables");
            assert_same_table(table, found, &format!("relevance {relevance}, saddle {saddle}"));
        }
    }
}

#[test]
fn broken_ties_are_refused() {
    let output = crate::common::ramses_more().join("ties/output_00002");
    let stored = run(&output, &gas(), TIES);
    assert!(recut(&stored, &NewThresholds::default()).is_ok());
    for name in ["saddle", "position", "first", "second"] {
        let mut broken = stored.clone();
        let ties = broken.tables.iter_mut().find(|table| table.name == "ties").expect("ties");
        match &mut ties.columns.iter_mut().find(|column| column.name == name).expect(name).values {
            Values::F64(saddles) => saddles[0] = f64::MAX,
            Values::F64x3(positions) => positions[0][1] = f64::NAN,
            Values::U64(rows) => rows[0] = u64::MAX,
            other => panic!("{name} holds {other:?}"),
        }
        let error = recut(&broken, &NewThresholds::default()).expect_err(name).to_string();
        assert!(error.contains("`ties`") && !error.contains('\n'), "{name}: {error}");
    }
}

fn gas() -> FieldChoice {
    FieldChoice::Named("density".into())
}

/// RAMSES's sort leaves equal peaks in any order, and names a clump after one of eight.
const OF_EQUAL_PEAKS: Off = Off { position: f64::INFINITY, ..AS_PRINTED };

const TIES: Four = [1.0, 1.1, 2.0, 0.0];
const WALLS: Four = [1.0, 1.15, 2.0, 0.0];
const MATTER: Four = [20.0, 3.0, 100.0, 5.0];

/// Outflow, reflecting and imposed walls; answers of a RAMSES whose probes pass over boundary cells.
#[test]
fn walls() {
    let folder = crate::common::ramses_more().join("walls");
    let (output, answers) = (folder.join("output_00002"), folder.join("ghosts_ignored"));
    let found = check_listed(&output, &answers, &gas(), WALLS, AS_PRINTED);
    check_ranks(&output, &gas(), WALLS, &found, &[3]);
}

#[test]
fn gas_and_dark_matter_deposited() {
    let output = crate::common::ramses_more().join("gas_and_dm/output_00003");
    // Gas and positions of the fixture are rounded.
    let off = Off { real: 1e-6, position: 1e-6 };
    let found = check_listed(&output, &output, &FieldChoice::CicRamses, MATTER, off);
    check_ranks(&output, &FieldChoice::CicRamses, MATTER, &found, &[3]);
    let furthest = check_deposit(&output);
    assert!(furthest < 1e-6, "densities are off by up to {furthest:e}");
}

/// The greatest difference between the deposited density and RAMSES's, if the output has that.
fn check_deposit(output: &Path) -> f64 {
    let snapshot = crate::common::open(output);
    let [density, rho] = ["density", "rho"]
        .map(|f| read_mesh(&*snapshot, Some(f), LeafValues::NotNegative, &Silent).expect("a mesh"));
    let particles = read_particles(&*snapshot, Deposited::DarkMatter, &Silent).expect("particles");
    let ours = deposit_with_gas(density, &particles, snapshot.header().boxlen, &Executor::default());
    let (mut furthest, mut n) = (0.0f64, 0);
    rho.mesh.for_each_cell(0..rho.mesh.supers().len(), |_, _, cell, is_leaf| {
        let (ours, theirs) = (ours.rho[cell.at()], rho.rho[cell.at()]);
        if is_leaf && theirs > 0.0 {
            furthest = furthest.max((ours / theirs - 1.0).abs());
            n += 1;
        }
    });
    assert!(n > 1000, "{n} densities");
    furthest
}

/// The archives of which the fixture holds parts, unpacked in a folder that the environment names as
/// INSELBERG_RAMSES_MORE.
#[test]
fn further_outputs_named_by_the_environment() {
    let Some(folder) = std::env::var_os("INSELBERG_RAMSES_MORE") else { return };
    let folder = Path::new(&folder);
    for run in ["B1_reflecting", "B2_x_only", "B3_mixed"].map(|run| folder.join("B_walls").join(run)) {
        check_listed(&run.join("output_00002"), &run.join("ghosts_ignored"), &gas(), WALLS, AS_PRINTED);
    }
    let output = folder.join("D_gas_and_dm/D/output_00003");
    check_listed(&output, &output, &FieldChoice::CicRamses, MATTER, AS_PRINTED);
    let furthest = check_deposit(&output);
    assert!(furthest < 1e-10, "densities are off by up to {furthest:e}");
    let of_one_rank = folder.join("K_ties_1_2_4_ranks/K1/output_00002");
    let labels = our_labels(&check_listed(&of_one_rank, &of_one_rank, &gas(), TIES, OF_EQUAL_PEAKS));
    for run in ["K2", "K4"] {
        let output = folder.join("K_ties_1_2_4_ranks").join(run).join("output_00002");
        assert!(our_labels(&self::run(&output, &gas(), TIES)) == labels, "{run}");
    }
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
