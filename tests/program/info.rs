//! `inselberg info`: thresholds, typed values, particles.

use crate::common::room::{Room, done, done_json};
use crate::common::{leaves, octs, open, output, volume};
use serde_json::Value;
use std::fs;

fn input() -> String {
    output("dm_1rank").to_string_lossy().into_owned()
}

fn real(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn suggested_thresholds_are_those_that_a_run_finds() {
    let room = Room::new();
    let input = input();
    let json = done_json(&["info", &input, "--thresholds"]);
    let rows = json["thresholds"]["density"].as_array().expect("rows");
    assert!(rows.len() >= 5, "{rows:?}");
    let column = |name: &str| rows.iter().map(|row| real(&row[name])).collect::<Vec<_>>();
    assert!(column("density").is_sorted());
    for name in ["volume_above", "mass_above", "cells_above"] {
        assert!(column(name).is_sorted_by(|a, b| a >= b), "{name}: {rows:?}");
    }
    let default = inselberg::phew::defaults::DENSITY.value;
    assert!(rows.iter().any(|row| real(&row["density"]) == default), "a cosmological run: {rows:?}");
    // A run above each finds as many test cells. A multiple of the mean lies within an interval of 3 %.
    for (i, row) in rows.iter().enumerate() {
        let (density, cells) = (real(&row["density"]).to_string(), real(&row["cells_above"]));
        let to = room.path(&format!("{i}.csv"));
        let found = done_json(&["phew", &input, "-o", &to, "--density-threshold", &density]);
        let test_cells = real(&found["totals"]["test_cells"]);
        assert!((test_cells - cells).abs() <= 0.05 * cells.max(20.0), "{density}: {test_cells} {cells}");
    }
    let text = done(&["info", &input, "--thresholds"]);
    assert!(text.contains("half of the mass is denser") && text.contains("relevance: 3"), "{text}");
    assert!(done(&["info", &input]).contains("--thresholds"), "a hint");
    assert!(done_json(&["info", &input])["thresholds"].is_null());
}

/// The field of the cells is measured as it is read by another reader of the fixture.
#[test]
fn the_distribution_of_gas_is_that_of_its_leaves() {
    let path = output("gas_2ranks");
    let snapshot = open(&path);
    let all = leaves(&octs(&*snapshot, &["density"]));
    let mass: f64 = all.iter().map(|(place, rho)| rho * volume(&[(*place, *rho)].into())).sum();
    let json = done_json(&["info", &path.to_string_lossy(), "--thresholds", "--field", "density"]);
    assert_eq!(json["thresholds"]["family"], "hydro");
    assert!((real(&json["thresholds"]["mean"]) / mass - 1.0).abs() < 0.02, "{mass}: {}", json["thresholds"]);
    for row in json["thresholds"]["density"].as_array().expect("rows") {
        let above = all.values().filter(|rho| **rho >= real(&row["density"])).count() as f64;
        let cells = real(&row["cells_above"]);
        assert!((above - cells).abs() <= 0.05 * cells.max(20.0), "{above} {cells}");
    }
}

#[test]
#[cfg(feature = "plot")]
fn the_distribution_is_drawn() {
    let room = Room::new();
    let input = input();
    for (name, begin) in [("d.svg", &b"<?xml"[..]), ("d.png", b"\x89PNG")] {
        let path = room.path(name);
        assert!(!done_json(&["info", &input, "--plot", &path])["thresholds"].is_null());
        let bytes = fs::read(&path).expect("a picture");
        assert!(bytes.starts_with(begin) || bytes.starts_with(b"<svg"), "{name}");
    }
    let text = fs::read_to_string(room.path("d.svg")).expect("a picture");
    for part in ["volume", "mass", "density (code units)", "polyline"] {
        assert!(text.contains(part), "{part}");
    }
    room.refuses(&["info", &input, "--plot", &room.path("no/d.png")], &["there is no folder"]);
    room.refuses(&["info", &input, "--plot", &room.path("d.gif")], &[".png or .svg"]);
}

#[test]
fn mistakes_are_one_line() {
    let room = Room::new();
    let input = input();
    let (to, npy) = (room.path("c.csv"), room.path("box.npy"));
    done(&["phew", &input, "-o", &to, "--density-threshold", "80"]);
    done(&["synth", "particles", "--number", "1000", "-o", &npy]);
    room.refuses(&["info", &to, "--thresholds"], &["a catalogue; expected a snapshot for --thresholds"]);
    room.refuses(&["info", &npy, "--thresholds"], &["a snapshot that states its box"]);
    room.refuses(&["info", &input, "--field", "cic"], &["--thresholds or --plot as well"]);
    room.refuses(
        &["info", &input, "--thresholds", "--field", "rhoo"],
        &["no field `rhoo`", "expected one of rho"],
    );
}

#[test]
fn values_of_catalogues_have_their_types() {
    let room = Room::new();
    let to = room.path("c.csv");
    done(&["phew", &input(), "-o", &to, "--density-threshold", "80"]);
    let json = done_json(&["info", &to]);
    let attributes = json["attributes"].as_object().expect("a map");
    assert_eq!(attributes["density_threshold"], 80.0);
    let is = |of: fn(&Value) -> bool| attributes.values().any(of);
    assert!(is(Value::is_i64) && is(Value::is_f64) && is(Value::is_string), "{attributes:?}");
    assert!(json["tables"]["clumps"].is_u64());
}

#[test]
fn objects_of_catalogues_are_told_in_the_units_that_are_asked_for() {
    use inselberg_io::catalogue::{Dimension, read, units::cgs_factor};
    let room = Room::new();
    let to = room.path("c.csv");
    done(&["phew", &input(), "-o", &to, "--density-threshold", "80"]);
    let found = read(std::path::Path::new(&to)).expect("a catalogue");
    let masses = found.table("haloes").and_then(|haloes| haloes.reals("mass")).expect("masses");
    let most = masses.iter().copied().fold(0.0, f64::max);
    let in_msun = most * cgs_factor(&found.attributes, Dimension::MASS).expect("units") / 1.988_41e33;
    let [plain, code, physical] = [&[][..], &["--units", "code"], &["--units", "physical"]]
        .map(|more| done(&[&["info", &to][..], more].concat()));
    assert_eq!(plain, code);
    assert!(plain.contains(&format!("{most:.5e}")) && plain.contains("(code units)"), "{plain}");
    assert!(physical.contains(&format!("{in_msun:.5e}")), "{physical}");
    assert!(physical.contains("masses in Msun, positions in pMpc"), "{physical}");
    let of_mass = in_msun / most;
    assert!(physical.contains(&format!("code_mass = {of_mass:.4e} Msun")), "{physical}");
    room.refuses(&["info", &input(), "--units", "code"], &["not a catalogue; expected one for --units"]);
}

#[test]
fn particles_have_a_separation_a_redshift_and_a_memory() {
    let room = Room::new();
    let npy = room.path("box.npy");
    done(&["synth", "particles", "--number", "1000", "-o", &npy]);
    let json = done_json(&["info", &npy]);
    assert!(json["mean_separation"].is_null() && json["cosmology"].is_null(), "an array states no box");
    // Three single coordinates, and the memory of the search itself.
    let bytes = json["memory_bytes"]["least"].as_u64().expect("bytes");
    assert!((12_000..1_000_000).contains(&bytes), "{bytes}");
    assert_eq!(json["species"][0]["masses"], false);
    assert!(done(&["info", &npy]).contains("takes at least"));
}

#[test]
#[cfg(feature = "hdf5")]
fn a_snapshot_of_particles_has_all_of_them() {
    let path = crate::common::swift_fixture().join("snap_0000.hdf5");
    let json = done_json(&["info", &path.to_string_lossy()]);
    let sides: Vec<f64> = json["sides"].as_array().expect("sides").iter().map(real).collect();
    let dark = json["species"].as_array().expect("species").iter().filter(|s| s["kind"] == 1);
    let n: f64 = dark.map(|s| real(&s["n"])).sum();
    let expected = (sides.iter().product::<f64>() / n).cbrt();
    assert!((real(&json["mean_separation"]) / expected - 1.0).abs() < 1e-12);
    let text = done(&["info", &path.to_string_lossy()]);
    assert!(text.contains("separation"), "{text}");
}

#[test]
fn a_cosmological_output_has_its_redshift() {
    let cosmology = &done_json(&["info", &input()])["cosmology"];
    let (aexp, redshift) = (real(&cosmology["aexp"]), real(&cosmology["redshift"]));
    assert!((redshift - (1.0 / aexp - 1.0)).abs() < 1e-12, "{cosmology}");
    let text = done(&["info", &input()]);
    assert!(text.contains(&format!("(z = {redshift:.4})")), "{text}");
}
