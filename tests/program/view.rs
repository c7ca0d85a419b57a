//! One object of a catalogue: text, JSON and picture agree with the tables.

use crate::common::output;
use crate::common::room::{Room, done, done_json};
use serde_json::Value;
use std::collections::HashMap;
use std::fs;

/// A catalogue in CSV; `more` are options of `phew`.
fn catalogue(room: &Room, more: &[&str]) -> String {
    let (input, csv) = (output("dm_1rank"), room.path("c.csv"));
    let input = input.to_str().expect("a plain path");
    let phew = ["phew", input, "-o", &csv, "--quiet", "--density-threshold=40", "--saddle-threshold=200"];
    done(&[&phew[..], more].concat());
    csv
}

/// The rows of a table, each by column.
fn rows(room: &Room, table: &str) -> Vec<HashMap<String, f64>> {
    // The table of clumps has the name of the catalogue.
    let name = if table == "clumps" { "c.csv".to_string() } else { format!("c.{table}.csv") };
    let text = fs::read_to_string(room.path(&name)).expect("a table");
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let header: Vec<String> = lines.next().expect("a header").split(',').map(String::from).collect();
    let row = |line: &str| {
        let numbers = line.split(',').map(|value| value.parse().expect("a number"));
        header.iter().cloned().zip(numbers).collect()
    };
    lines.map(row).collect()
}

/// A clump, as its identifier and parent.
fn tree(clumps: &[HashMap<String, f64>]) -> Vec<(u64, u64)> {
    clumps.iter().map(|row| (row["id"] as u64, row["parent"] as u64)).collect()
}

/// The identifiers of the clumps that merge into `id`, and itself.
fn below(tree: &[(u64, u64)], id: u64) -> Vec<u64> {
    let own = tree.iter().filter(|(child, parent)| *parent == id && *child != id);
    let mut all: Vec<u64> = own.flat_map(|(child, _)| below(tree, *child)).collect();
    all.push(id);
    all.sort_unstable();
    all
}

fn ids(value: &Value) -> Vec<u64> {
    let list = value["clumps"].as_array().expect("a list");
    let mut ids: Vec<u64> = list.iter().map(|id| id.as_u64().expect("an identifier")).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn a_view_has_the_row_of_the_object_and_the_clumps_in_it() {
    let room = Room::new();
    let csv = catalogue(&room, &[]);
    let clumps = rows(&room, "clumps");
    let tree = tree(&clumps);
    assert!(tree.iter().any(|(id, parent)| id != parent), "clumps within clumps");
    for row in &clumps {
        let id = row["id"].to_string();
        let seen = done_json(&["view", &csv, "--clump", &id, "--units", "code"]);
        for name in ["mass", "relevance", "n_cells", "density_peak"] {
            let value = seen["columns"][name]["value"].as_f64().expect("a number");
            // The reader of JSON rounds its last digit.
            assert!((value / row[name] - 1.0).abs() < 1e-14, "{name} of {id}: {value}");
        }
        assert_eq!(ids(&seen), below(&tree, row["id"] as u64), "clump {id}");
    }
    for row in rows(&room, "haloes") {
        let id = row["id"].to_string();
        let seen = done_json(&["view", &csv, "--halo", &id]);
        let mut expected: Vec<u64> = clumps
            .iter()
            .filter(|clump| clump["halo"] == row["id"])
            .map(|clump| clump["id"] as u64)
            .collect();
        expected.sort_unstable();
        assert_eq!((&seen["kind"], ids(&seen)), (&Value::from("halo"), expected));
    }
    let text = done(&["view", &csv, "--clump", &tree[0].0.to_string()]);
    assert!(text.contains("density_peak") && text.contains(&format!("clump {}", tree[0].0)), "{text}");
}

#[test]
fn values_are_in_the_units_that_are_promised_and_absent_ones_have_none() {
    let room = Room::new();
    let csv = catalogue(&room, &["--unbind", "--properties", "all"]);
    let mut n_absent = 0;
    for row in rows(&room, "clumps") {
        let text = done(&["view", &csv, "--clump", &row["id"].to_string()]);
        let line = |name: &str| {
            let line = text.lines().find(|line| line.split(' ').next() == Some(name)).expect("a column");
            line[name.len()..].trim().to_string()
        };
        for (name, unit) in [
            ("velocity_dispersion_diagonal", " km2/s2"),
            ("inertia_tensor_diagonal", " pMpc2"),
            ("angular_momentum", " Msun pMpc km/s"),
            ("bound_kinetic_energy", " Msun km2/s2"),
        ] {
            assert!(line(name).ends_with(unit) || line(name) == "none", "{name}: {}", line(name));
        }
        // No column is in cgs but densities, and what there is not is said once.
        assert!(!text.contains(" cm") && !text.contains("none none"), "{text}");
        let is_absent = row["saddle_position_x"].is_nan();
        assert_eq!(line("saddle_position") == "none", is_absent, "{text}");
        n_absent += usize::from(is_absent);
    }
    assert!(n_absent > 0, "every clump has a saddle");
}

#[cfg(feature = "plot")]
#[test]
fn the_picture_shows_the_cells_around_the_object() {
    let room = Room::new();
    let csv = catalogue(&room, &["--with-cells"]);
    let (png, svg) = (room.path("clump.png"), room.path("halo.svg"));
    let id = rows(&room, "haloes")[0]["id"].to_string();
    done(&["view", &csv, "--clump", &id, "--plot", &png, "--quiet"]);
    assert!(fs::read(png).expect("a picture").starts_with(b"\x89PNG"));
    done(&["view", &csv, "--halo", &id, "--plot", &svg, "--plot-axis", "all", "--quiet"]);
    let text = fs::read_to_string(svg).expect("a picture");
    assert_eq!(text.matches("<image").count(), 3, "three maps");
    // A map without density would be dark throughout: one colour.
    assert!(text.len() > 20_000, "{} bytes", text.len());
}

#[test]
fn what_cannot_be_shown_is_refused() {
    let room = Room::new();
    let csv = catalogue(&room, &[]);
    let id = rows(&room, "haloes")[0]["id"].to_string();
    room.refuses(&["view", &csv], &["an object", "--clump, --halo, --group, --void, --structure or --track"]);
    room.refuses(&["view", &csv, "--clump", "1", "--halo", "1"], &["--halo", "one of"]);
    room.refuses(&["view", &csv, "--clump", "987654321"], &["no clump 987654321", "expected one of"]);
    room.refuses(&["view", &csv, "--group", "1"], &["no table Groups", "expected"]);
    room.refuses(&["view", &csv, "--clump", &id, "--plot-axis", "x"], &["--plot-axis", "--plot as well"]);
    let absent = room.path("absent.csv");
    room.refuses(&["view", &absent, "--clump", "1"], &["absent.csv"]);
    #[cfg(feature = "plot")]
    {
        let png = room.path("p.png");
        room.refuses(&["view", &csv, "--clump", &id, "--plot", &png], &["no table cells", "--with-cells"]);
        assert!(!std::path::Path::new(&png).exists());
    }
}
