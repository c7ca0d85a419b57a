//! Dendrograms: against the definition, cell by cell, and against astrodendro.

use crate::common::npy::npy_file;
use crate::common::python::python;
use crate::common::room::{Room, done};
use inselberg_io::catalogue::{Attribute, Catalogue, Dimension, Table, TableColumn, Values, read, stage};
use inselberg_kernels::dendrogram::{
    Dendrogram, DendrogramLimits, NO_STRUCTURE, dendrogram, face_neighbours,
};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Distinct densities, in an order that looks random; smooth on the scale of two cells.
fn densities(shape: [usize; 3], seed: u64) -> Vec<f64> {
    let n = shape.iter().product::<usize>();
    let noise = |i: usize| {
        let mixed = (i as u64 ^ seed << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40
    };
    let around = |i: usize| {
        let mut to = vec![i];
        face_neighbours(&shape, i, &mut to);
        to.iter().map(|i| noise(*i)).sum::<u64>() as f64 / to.len() as f64 / f64::from(1 << 24)
    };
    (0..n).map(|i| around(i) + i as f64 * 1e-9).collect()
}

/// The cells above a density, in connected sets.
fn connected(shape: [usize; 3], values: &[f64], above: f64) -> Vec<BTreeSet<usize>> {
    let mut left: BTreeSet<usize> = (0..values.len()).filter(|i| values[*i] >= above).collect();
    let mut all = Vec::new();
    while let Some(first) = left.pop_first() {
        let (mut set, mut todo) = (BTreeSet::from([first]), vec![first]);
        while let Some(i) = todo.pop() {
            let mut to = Vec::new();
            face_neighbours(&shape, i, &mut to);
            for other in to.into_iter().filter(|other| left.remove(other)) {
                set.insert(other);
                todo.push(other);
            }
        }
        all.push(set);
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(30) })]

    /// Without pruning the structures are the connected sets above every level: each set of a level is a
    /// structure with all that is in it.
    #[test]
    fn structures_are_the_connected_sets_above_each_level(seed in 0..1000u64, least in 0.3..0.6f64) {
        let shape = [4, 5, 6];
        let values = densities(shape, seed);
        let limits = DendrogramLimits { value: least, delta: 0.0, cells: 0 };
        let found = dendrogram(&values, &limits, |i, to| face_neighbours(&shape, i, to));
        let parent = |of: u32| found.nodes[of as usize].parent;
        let is_within = |mut of: u32, outer: u32| loop {
            if of == outer {
                return true;
            }
            match parent(of) {
                Some(above) => of = above,
                None => return false,
            }
        };
        for level in values.iter().filter(|value| **value > least) {
            for set in connected(shape, &values, *level) {
                // The structure of its least dense cell has it.
                let last = *set.iter().min_by(|a, b| values[**a].total_cmp(&values[**b])).expect("a cell");
                let outer = found.of_cell[last];
                prop_assert_ne!(outer, NO_STRUCTURE);
                prop_assert!(set.iter().all(|i| is_within(found.of_cell[*i], outer)));
                let inside = (0..values.len()).filter(|i| {
                    let of = found.of_cell[*i];
                    of != NO_STRUCTURE && is_within(of, outer) && values[*i] >= *level
                });
                prop_assert_eq!(inside.collect::<BTreeSet<_>>(), set);
            }
        }
        for (i, value) in values.iter().enumerate() {
            prop_assert_eq!(found.of_cell[i] != NO_STRUCTURE, *value > least);
        }
    }
}

/// A catalogue of cells of one level, as `phew --with-cells` lists them.
fn catalogue(side: usize, level: u8, values: &[f64]) -> Catalogue {
    let place = |i: usize| [i / (side * side), i / side % side, i % side].map(|i| i as u32);
    let column = |name: &str, values: Values| TableColumn {
        name: name.into(),
        dimension: Dimension::NONE,
        description: String::new(),
        values,
    };
    // Not in the order of the array.
    let order: Vec<usize> = (0..values.len()).map(|i| i * 7 % values.len()).collect();
    let cells = Table {
        name: "cells".into(),
        columns: vec![
            column("level", Values::U8(vec![level; values.len()])),
            column("ijk", Values::U32x3(order.iter().map(|i| place(*i)).collect())),
            column("density", Values::F64(order.iter().map(|i| values[*i]).collect())),
        ],
    };
    let attributes = [
        ("program", Attribute::Text("inselberg".into())),
        ("coarse_cells", Attribute::Reals(vec![1.0; 3])),
        ("boxlen", Attribute::Real(1.0)),
        ("density_threshold", Attribute::Real(0.45)),
    ];
    let attributes = attributes.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    Catalogue { attributes, tables: vec![cells] }
}

fn written(room: &Room, whole: &Catalogue) -> String {
    let path = room.path("c.hdf5");
    stage(Path::new(&path), whole).and_then(|staged| staged.commit()).expect("written");
    path
}

#[test]
fn astrodendro_finds_the_same_leaves_and_branches() {
    let Some(python) = python() else { return };
    let script = "import sys\nfrom astrodendro import Dendrogram\n\
                  d = Dendrogram.load_from(sys.argv[1])\np = d.params\n\
                  e = Dendrogram.compute(d.data, min_value=p['min_value'], min_delta=p['min_delta'], min_npix=p['min_npix'])\n\
                  def sets(d):\n    return {(s.is_leaf, frozenset(zip(*[i.tolist() for i in s.indices(subtree=False)])), \
                  frozenset(zip(*[i.tolist() for i in s.parent.indices(subtree=False)])) if s.parent else None) for s in d}\n\
                  assert sets(d) == sets(e), (len(sets(d)), len(sets(e)))\n\
                  assert d.data.shape == (8, 8, 8)\n\
                  print(sum(s.is_leaf for s in d), sum(s.is_branch for s in d))";
    let mut counts = BTreeSet::new();
    for (seed, limits) in [
        (1, vec![]),
        (2, vec!["--min-value", "0.3"]),
        (3, vec!["--min-delta", "0.05", "--min-value", "0.2"]),
        (4, vec!["--min-cells", "5", "--min-value", "0.2"]),
        (5, vec!["--min-cells", "3", "--min-delta", "0.02", "--min-value", "0"]),
    ] {
        let room = Room::new();
        let path = written(&room, &catalogue(8, 3, &densities([8; 3], seed)));
        let to = room.path("d.hdf5");
        done(&[&["convert", &path, "--to", "dendrogram", "-o", &to][..], &limits].concat());
        let out = Command::new(&python).args(["-c", script, &to]).output().expect("Python");
        assert!(out.status.success(), "{seed}: {}", String::from_utf8_lossy(&out.stderr));
        let text = String::from_utf8_lossy(&out.stdout).trim().lines().last().unwrap_or_default().to_string();
        counts.insert(text);
    }
    assert!(counts.len() > 3 && counts.iter().all(|text| !text.starts_with("0 ")), "{counts:?}");
}

#[test]
fn cells_that_are_no_array_are_refused() {
    let room = Room::new();
    let to = room.path("d.hdf5");
    let refuses = |whole: &Catalogue, more: &[&str], parts: &[&str]| {
        let path = written(&room, whole);
        room.refuses(&[&["convert", &path, "--to", "dendrogram", "-o", &to][..], more].concat(), parts);
    };
    let values = densities([4; 3], 1);
    let sound = catalogue(4, 2, &values);
    refuses(&Catalogue { tables: vec![], ..sound.clone() }, &[], &["no table cells", "--with-cells"]);
    refuses(
        &catalogue(4, 3, &values),
        &["--min-value", "0.1"],
        &["cells are missing", "the density threshold"],
    );
    let crowded = catalogue(4, 1, &values);
    refuses(&crowded, &[], &["64 cells in a box of 2 x 2 x 2", "as many or fewer"]);
    let mut two = sound.clone();
    if let Values::U8(levels) = &mut two.tables[0].columns[0].values {
        levels[5] = 3;
    }
    refuses(&two, &[], &["cells of levels 2 to 3", "expected cells of one size"]);
    let mut deep = sound.clone();
    if let Values::U8(levels) = &mut deep.tables[0].columns[0].values {
        levels.fill(200);
    }
    refuses(&deep, &[], &["expected cells that fill it"]);
    let mut twice = sound.clone();
    if let Values::U32x3(places) = &mut twice.tables[0].columns[1].values {
        places[0] = [9, 0, 0];
    }
    refuses(&twice, &[], &["a cell at [9, 0, 0]"]);
    refuses(&sound, &["--min-delta", "-1"], &["--min-delta", "0 or more"]);
    let mut unknown = sound.clone();
    unknown.attributes.retain(|(name, _)| name != "boxlen");
    refuses(&unknown, &[], &["no attribute boxlen"]);
    let path = written(&room, &sound);
    room.refuses(
        &["convert", &path, "--to", "ecsv", "-o", &room.path("c.ecsv"), "--min-delta", "1"],
        &["--to dendrogram alone"],
    );
}

/// A search writes the dendrogram of its own cells, also of a cube with pixels that have no value.
#[test]
fn a_search_writes_the_dendrogram_of_its_cells() {
    let room = Room::new();
    let [cube, found, own, converted] =
        ["cube.npy", "c.hdf5", "own.hdf5", "d.hdf5"].map(|name| room.path(name));
    let values = densities([6, 5, 7], 11);
    let value = |at: &[usize]| match at {
        [0, 0, _] => f64::NAN,
        at => values[(at[0] * 5 + at[1]) * 7 + at[2]],
    };
    std::fs::write(&cube, npy_file(&[6, 5, 7], false, "<f8", value)).expect("writing");
    let search =
        ["phew", &cube, "-o", &found, "--density-threshold", "0.45", "--relevance-difference", "0.01"];
    done(&[&search[..], &["--dendrogram", &own, "--quiet"]].concat());
    let limits = ["--min-delta", "0.01"];
    done(&[&["convert", &found, "--to", "dendrogram", "-o", &converted], &limits[..]].concat());
    let index_map = |path: &str| {
        let file = hdf5::File::open(path).expect("a file");
        let map = file.dataset("index_map").and_then(|map| map.read_dyn::<i32>()).expect("numbers");
        assert_eq!(map.shape(), [6, 5, 7]);
        map.into_raw_vec_and_offset().0
    };
    let map = index_map(&own);
    assert_eq!(map, index_map(&converted));
    let limits = DendrogramLimits { value: 0.45, delta: 0.01, cells: 0 };
    let all: Vec<f64> = (0..6 * 5 * 7).map(|i| value(&[i / 35, i / 7 % 5, i % 7])).collect();
    let expected = dendrogram(&all, &limits, |i, to| face_neighbours(&[6, 5, 7], i, to));
    let number = |of: &u32| if *of == NO_STRUCTURE { -1 } else { *of as i32 };
    assert_eq!(map, expected.of_cell.iter().map(number).collect::<Vec<_>>());
    assert!(map.iter().any(|structure| *structure > 0));
    check_structures(&room, &own, &all, &expected);
    room.refuses(
        &["phew", &cube, "--density-threshold", "0.45", "--dendrogram", &room.path("d.txt")],
        &["--dendrogram", ".hdf5"],
    );
    let plot = room.path("plt00001");
    crate::common::plotfile::Plotfile::sample().write(Path::new(&plot));
    let search = ["phew", &plot, "--field", "density", "--density-threshold", "2", "--dendrogram"];
    room.refuses(&[&search[..], &[&room.path("e.hdf5")]].concat(), &["cells of levels", "cells of one size"]);
}

/// The file is a catalogue, too: a row for each structure with all that is in it.
fn check_structures(room: &Room, path: &str, values: &[f64], expected: &Dendrogram) {
    let whole = read(Path::new(path)).expect("a catalogue");
    let table = whole.table("structures").expect("structures");
    let parents: Vec<i64> = expected.nodes.iter().map(|node| node.parent.map_or(-1, i64::from)).collect();
    assert_eq!(table.integers("parent"), Some(parents.clone()));
    let is_in = |of: u32, outer: usize| {
        let above = |of: &usize| usize::try_from(parents[*of]).ok();
        of != NO_STRUCTURE && std::iter::successors(Some(of as usize), above).any(|of| of == outer)
    };
    for outer in 0..expected.nodes.len() {
        let inside: Vec<usize> = (0..values.len()).filter(|i| is_in(expected.of_cell[*i], outer)).collect();
        let cells = inside.iter().map(|i| values[*i]);
        let number = |name: &str| table.counts(name).expect("numbers")[outer];
        let real = |name: &str| table.reals(name).expect("reals")[outer];
        assert_eq!(number("n_cells"), inside.len() as u64);
        let leaves =
            (0..expected.nodes.len() as u32).filter(|of| expected.nodes[*of as usize].children.is_empty());
        assert_eq!(number("n_leaves"), leaves.filter(|leaf| is_in(*leaf, outer)).count() as u64);
        assert_eq!(real("height"), expected.height(outer as u32));
        assert_eq!(real("density_peak"), cells.clone().fold(0.0, f64::max));
        assert_eq!(real("density_min"), cells.clone().fold(f64::INFINITY, f64::min));
        let (mass, volume) = (cells.sum::<f64>(), inside.len() as f64);
        assert!((real("mass") / real("volume") - mass / volume).abs() < 1e-12);
        let side = real("volume").cbrt() / volume.cbrt();
        let x = inside.iter().map(|i| values[*i] * (*i / 35) as f64).sum::<f64>() / mass + 0.5;
        let centre = table.vectors("centre_of_mass").expect("centres")[outer];
        assert!((centre[0] / side - x).abs() < 1e-12, "{centre:?} {x}");
    }
    let text = done(&["view", path, "--structure", "0"]);
    assert!(text.starts_with("structure 0\n") && text.contains("n_leaves"), "{text}");
    done(&["info", path]);
    let ecsv = room.path("structures.ecsv");
    done(&["convert", path, "--to", "ecsv", "-o", &ecsv]);
    let lines =
        std::fs::read_to_string(&ecsv).expect("a table").lines().filter(|l| !l.starts_with('#')).count();
    assert_eq!(lines, 1 + expected.nodes.len());
    room.refuses(&["view", path, "--structure", "100000"], &["no structure 100000"]);
    room.refuses(&["view", path, "--clump", "1"], &["no table clumps"]);
}
