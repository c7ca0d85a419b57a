//! Merger trees for ytree and consistent-trees, the views of tracks, and what is refused.

use crate::common::merger_tree::{NODES, by_hand};
use crate::common::python::python;
use crate::common::room::{Room, done, done_json};
use hdf5::File;
use inselberg_io::catalogue::{Catalogue, Values, write};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A tree by hand as a file.
fn written(room: &Room, name: &str, catalogue: &Catalogue) -> String {
    let path = room.path(name);
    write(Path::new(&path), catalogue).expect("a catalogue");
    path
}

fn integers(file: &File, name: &str) -> Vec<i64> {
    file.dataset(name).and_then(|dataset| dataset.read_raw()).expect(name)
}

fn reals(file: &File, name: &str) -> Vec<f64> {
    file.dataset(name).and_then(|dataset| dataset.read_raw()).expect(name)
}

#[test]
fn trees_for_ytree_have_roots_first_and_main_progenitors_next() {
    let room = Room::new();
    let input = written(&room, "tree.hdf5", &by_hand());
    done(&["convert", &input, "--to", "ytree", "-o", &room.path("ytree")]);
    assert_eq!(fs::read_dir(room.path("ytree")).expect("there").count(), 2);
    let roots = File::open(room.path("ytree/tree.h5")).expect("roots");
    assert_eq!(integers(&roots, "data/uid"), [11, 12, 6]);
    assert_eq!(integers(&roots, "index/tree_size"), [3]);
    let part = File::open(room.path("ytree/tree_0000.h5")).expect("trees");
    let order = integers(&part, "data/uid");
    assert_eq!(order, [11, 7, 3, 0, 4, 1, 9, 10, 5, 12, 8, 2, 6]);
    assert_eq!(integers(&part, "index/tree_start_index"), [0, 9, 12]);
    assert_eq!(integers(&part, "index/tree_end_index"), [9, 12, 13]);
    assert_eq!(integers(&part, "data/main_line"), [1, 1, 1, 1, 0, 1, 0, 0, 1, 1, 1, 1, 1]);
    let node = |i: &i64| NODES[*i as usize];
    assert_eq!(integers(&part, "data/desc_uid"), order.iter().map(|i| node(i).2).collect::<Vec<_>>());
    assert_eq!(integers(&part, "data/tracer"), order.iter().map(|i| (1 << 60) + i).collect::<Vec<_>>());
    let masses = reals(&part, "data/mass");
    assert!(order.iter().zip(masses).all(|(i, mass)| (mass / (node(i).5 * 1e10) - 1.0).abs() < 1e-12));
    // Node 3 is at 0.3 of a comoving box of 2 Mpc at a = 0.5; its velocity is 3 Mpc / (0.5 1e17 s).
    let place = order.iter().position(|i| *i == 3).expect("node 3");
    assert!((reals(&part, "data/position_x")[place] - 0.15).abs() < 1e-12);
    let velocity = 3.0 * 3.085_677_581e19 / 0.5 / 1e17;
    assert!((reals(&part, "data/velocity_x")[place] / velocity - 1.0).abs() < 1e-12);
    assert!((reals(&part, "data/redshift")[place] - 1.0).abs() < 1e-12);
}

#[test]
fn lists_for_consistent_trees_link_neighbouring_outputs_alone() {
    let room = Room::new();
    let input = written(&room, "tree.hdf5", &by_hand());
    done(&["convert", &input, "--to", "consistent-trees", "-o", &room.path("lists")]);
    let scales = fs::read_to_string(room.path("lists/scales.list")).expect("scales");
    assert_eq!(scales, "1 0.25\t\n2 0.5\n4 0.8\n7 1.0\n");
    let rows = |number: i64| -> Vec<Vec<f64>> {
        let text = fs::read_to_string(room.path(&format!("lists/out_{number}.list"))).expect("a list");
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.map(|line| line.split(' ').map(|word| word.parse().expect("a number")).collect()).collect()
    };
    let links =
        |number: i64| rows(number).iter().map(|row| (row[0] as i64, row[1] as i64)).collect::<Vec<_>>();
    assert_eq!(links(1), [(0, 3), (1, 4), (2, -1)]);
    assert_eq!(links(2), [(3, 7), (4, 7), (5, -1), (6, -1)]);
    assert_eq!(links(4), [(7, 11), (8, -1), (9, 11)]);
    assert_eq!(links(7), [(11, -1)]);
    for row in [1, 2, 4, 7].into_iter().flat_map(rows) {
        assert!(row.len() == 18 && row.iter().all(|x| x.is_finite()), "{row:?}");
    }
    let row = &rows(2)[0];
    // Mass in Msun/h, comoving positions in Mpc/h.
    assert!((row[2] / (12e10 * 0.7) - 1.0).abs() < 1e-8 && (row[8] / (0.3 * 0.7) - 1.0).abs() < 1e-8);
    // 200 times the critical density at a = 0.5: E^2 = 0.3 * 8 + 0.7.
    let h = 70.0 * 1e5 / 3.085_677_581e24;
    let critical = 3.0 * h * h * 3.1 / (8.0 * std::f64::consts::PI * 6.6743e-8);
    let radius = (3.0 * 12e10 * 1.988_41e33 / (800.0 * std::f64::consts::PI * critical)).cbrt();
    let in_kpc = radius / 3.085_677_581e21 / 0.5 * 0.7;
    assert!((row[5] / in_kpc - 1.0).abs() < 1e-5, "{} {in_kpc}", row[5]);
}

#[test]
fn a_track_has_its_nodes_and_mergers() {
    let room = Room::new();
    let input = written(&room, "tree.hdf5", &by_hand());
    let seen = done_json(&["view", &input, "--track", "1"]);
    let list = |name: &str, key: &str| -> Vec<f64> {
        let rows = seen[name].as_array().expect("a list");
        rows.iter().map(|row| row[key].as_f64().expect("a number")).collect()
    };
    assert_eq!(list("nodes", "node"), [0.0, 3.0, 7.0, 11.0]);
    assert_eq!(list("nodes", "output"), [1.0, 2.0, 4.0, 7.0]);
    let close = |found: Vec<f64>, expected: &[f64]| {
        assert_eq!(found.len(), expected.len());
        assert!(
            found.iter().zip(expected).all(|(a, b)| (a / b - 1.0).abs() < 1e-9),
            "{found:?} {expected:?}"
        );
    };
    close(list("nodes", "mass"), &[10e10, 12e10, 9e10, 30e10]);
    assert_eq!(list("mergers", "track"), [2.0, 6.0, 4.0]);
    close(list("mergers", "ratio"), &[14.0 / 12.0, 2.0 / 9.0, 2.0 / 12.0]);
    assert_eq!(seen["fate"], "lasts to the end of the series");
    let text = done(&["view", &input, "--track", "4", "--units", "code"]);
    for part in [
        "track 4",
        "output 2 (redshift 1.000)",
        "merges into track 1 in output 7",
        "1 as an orphan",
        "mass [code_mass]",
    ] {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
    let text = done(&["view", &input, "--track", "3"]);
    assert!(text.contains("4: 1 without it, 1 as an orphan") && text.contains("orphan\n"), "{text}");
}

#[cfg(feature = "plot")]
#[test]
fn the_picture_of_a_track_has_its_branches_and_mergers() {
    let room = Room::new();
    let input = written(&room, "tree.hdf5", &by_hand());
    let (png, svg, alone) = (room.path("t.png"), room.path("t.svg"), room.path("alone.svg"));
    done(&["view", &input, "--track", "1", "--plot", &png, "--quiet"]);
    assert!(fs::read(png).expect("a picture").starts_with(b"\x89PNG"));
    done(&["view", &input, "--track", "1", "--plot", &svg, "--quiet"]);
    done(&["view", &input, "--track", "5", "--plot", &alone, "--quiet"]);
    let [tree, alone] = [svg, alone].map(|path| fs::read_to_string(path).expect("a picture"));
    // Track, three branches: four of the colours. The one node of track 5 has no line.
    for colour in ["#0072B2", "#D55E00", "#009E73", "#CC79A7"] {
        let n_lines = |text: &str| text.matches(&format!("stroke=\"{colour}\"")).count();
        assert!(n_lines(&tree) > 0 && n_lines(&alone) == 0, "{colour}");
    }
    assert!(tree.contains("all 3 branches") && alone.contains("all 0 branches"));
    room.refuses(
        &["view", &input, "--track", "1", "--plot", &room.path("a.png"), "--plot-axis", "x"],
        &["--plot-axis", "without --track"],
    );
}

#[test]
fn what_is_no_tree_is_refused() {
    let room = Room::new();
    let tree = by_hand();
    let input = written(&room, "tree.hdf5", &tree);
    room.refuses(&["view", &input, "--track", "99"], &["no track 99", "one of the 6 tracks"]);
    room.refuses(&["view", &input, "--clump", "1"], &["no table clumps"]);
    let changed = |name: &str, column: &str, change: &dyn Fn(&mut Values)| {
        let mut changed = tree.clone();
        let table = changed.tables.iter_mut().find(|table| table.column(column).is_some()).expect("a table");
        let column = table.columns.iter_mut().find(|c| c.name == column).expect("a column");
        change(&mut column.values);
        written(&room, name, &changed)
    };
    let set = |row: usize, value: i64| {
        move |values: &mut Values| match values {
            Values::I64(list) => list[row] = value,
            _ => panic!("links are signed"),
        }
    };
    let circle = changed("circle.hdf5", "descendant", &set(3, 0));
    let one_way = changed("one_way.hdf5", "main_progenitor", &set(12, -1));
    let scaleless = changed("scaleless.hdf5", "unit_mass", &|values| *values = Values::F64(vec![0.0; 4]));
    let to = room.path("to");
    for (input, parts) in [
        (&circle, ["node 3 has the descendant 0", "a node of a later output"]),
        (&one_way, ["10 descendants", "each link in both directions"]),
        (&scaleless, ["the tree has no units", "which ytree needs"]),
    ] {
        room.refuses(&["convert", input, "--to", "ytree", "-o", &to], &parts);
    }
    room.refuses(&["convert", &scaleless, "--to", "consistent-trees", "-o", &to], &["no units"]);
    room.refuses(&["view", &circle, "--track", "1"], &["circle.hdf5", "node 3"]);
    let text = done(&["view", &scaleless, "--track", "1"]);
    assert!(text.contains("mass [code_mass]"), "{text}");
    let mut bare = tree.clone();
    bare.attributes.retain(|(name, _)| name != "h0");
    let bare = written(&room, "bare.hdf5", &bare);
    room.refuses(&["convert", &bare, "--to", "consistent-trees", "-o", &to], &["no h0", "cosmological"]);
}

/// A series and its truth are the same files for one seed, and the truth is a tree.
#[test]
fn a_synthetic_series_has_catalogues_and_their_true_tree() {
    let room = Room::new();
    let make = |folder: &str, seed: &str| {
        let [to, members] = [room.path(folder), "5e3".to_string()];
        let mut told = done_json(&[
            "synth",
            "series",
            "-o",
            &to,
            "--outputs",
            "5",
            "--members",
            &members,
            "--seed",
            seed,
        ]);
        told.as_object_mut().and_then(|of| of.remove("written")).expect("the files have other folders");
        told
    };
    let told = make("a", "1");
    assert_eq!(told, make("b", "1"));
    make("c", "2");
    let bytes = |folder: &str, name: &str| fs::read(room.path(&format!("{folder}/{name}"))).expect("a file");
    for name in ["clumps_00001.hdf5", "clumps_00005.hdf5", "truth.hdf5"] {
        assert!(bytes("a", name) == bytes("b", name) && bytes("a", name) != bytes("c", name), "{name}");
    }
    assert_eq!(fs::read_dir(room.path("a")).expect("there").count(), 6);
    let text = done(&["view", &room.path("a/truth.hdf5"), "--track", "1"]);
    assert!(text.contains("track 1"), "{text}");
    room.refuses(&["synth", "series", "-o", &room.path("d"), "--members", "10"], &["--members", "1000 to"]);
}

/// ytree has our counts, units and links, and its main branch is ours for every root.
#[test]
fn ytree_opens_the_trees() {
    let Some(python) = python() else { return };
    let room = Room::new();
    written(&room, "hand.hdf5", &by_hand());
    done(&["synth", "series", "-o", &room.path("series"), "--outputs", "12", "--members", "2e4"]);
    for (input, folder) in [("hand.hdf5", "hand"), ("series/truth.hdf5", "truth")] {
        let input = room.path(input);
        done(&["convert", &input, "--to", "ytree", "-o", &room.path(folder)]);
        let out = Command::new(&python)
            .args(["-c", include_str!("merger_trees.py"), &input, &room.path(&format!("{folder}/tree.h5"))])
            .output()
            .expect("Python");
        assert!(out.status.success(), "{input}: {}", String::from_utf8_lossy(&out.stderr));
    }
}
