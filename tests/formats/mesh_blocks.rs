//! Files of Athena++ and Parthenon: every leaf, clumps on any ranks, refusals, and damage. HDF5 datasets of
//! cells.

use crate::common::mesh_blocks::{BlockMesh, numbers, patiently, scalar, value};
use crate::common::room::{Room, command};
use crate::fields::leaves;
use inselberg_io::catalogue::read;
use inselberg_io::{FieldDefaults, Snapshot, open_from, read_headers_with};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn opened(path: &str) -> Box<dyn Snapshot> {
    let facts = read_headers_with(Path::new(path), &FieldDefaults::default());
    open_from(&facts.unwrap_or_else(|e| panic!("{e}")))
}

/// The root grid of 8 x 4 x 12 cells is level 2.
fn expected(factor: f64) -> BTreeMap<(u8, [u32; 3]), f64> {
    let cells = BlockMesh::sample().cells();
    cells.into_iter().map(|((level, at), value)| ((2 + level as u8, at), factor * value)).collect()
}

#[test]
fn files_of_all_kinds_give_their_leaves() {
    let (room, mesh) = (Room::new(), BlockMesh::sample());
    let [athena, parthenon] = ["a.00005.athdf", "p.00007.phdf"].map(|name| room.path(name));
    for is_double in [false, true] {
        match is_double {
            true => mesh.write_athdf(&athena, |x| x),
            false => mesh.write_athdf(&athena, |x| x as f32),
        }
        let snapshot = opened(&athena);
        let header = snapshot.header();
        assert_eq!((header.format, header.coarse, header.boxlen), ("Athena++", [2, 1, 3], 2.0));
        assert_eq!((header.origin, header.time, header.periodic), ([-1.0, 0.0, 2.0], 2.5, [false; 3]));
        for (field, factor) in [("rho", 1.0), ("press", 2.0), ("Bcc1", -1.0)] {
            assert_eq!(leaves(snapshot.as_ref(), field).expect("leaves"), expected(factor), "{field}");
        }
    }
    for (version, ghosts) in [(3, 0), (4, 0), (4, 2), (3, 1)] {
        mesh.write_phdf(&parthenon, version, ghosts);
        let snapshot = opened(&parthenon);
        let header = snapshot.header();
        assert_eq!((header.format, header.coarse), ("Parthenon", [2, 1, 3]));
        assert_eq!(header.periodic, [false, false, true]);
        for (field, factor) in [("density", 1.0), ("mom_0", 1.0), ("mom_1", 2.0), ("mom_2", -1.0)] {
            assert_eq!(leaves(snapshot.as_ref(), field).expect("leaves"), expected(factor), "{field}");
        }
    }
}

#[test]
fn clumps_are_the_same_on_any_ranks_and_threads() {
    let (room, mesh) = (Room::new(), BlockMesh::sample());
    let [athena, parthenon, to] = ["a.athdf", "p.phdf", "c.csv"].map(|name| room.path(name));
    mesh.write_athdf(&athena, |x| x);
    mesh.write_phdf(&parthenon, 4, 2);
    let found = |input: &str, more: &[&str]| {
        let search = ["phew", input, "-o", &to, "--density-threshold", "4", "--relevance-threshold", "1"];
        let out = command(&[&search[..], &["--with-cells"], more].concat()).output().expect("the program");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let found = read(Path::new(&to)).expect("a catalogue");
        assert!(found.table("clumps").expect("clumps").n_rows() > 3);
        format!("{:?}", found.tables)
    };
    let first = found(&athena, &["--periodic", "z"]);
    assert_eq!(found(&parthenon, &[]), first, "the same mesh in both formats");
    for ranks in ["2", "3"] {
        assert_eq!(found(&parthenon, &["--ranks", ranks]), first);
    }
}

/// A change of a sound file, and what the message says.
type Change<'a> = (&'a dyn Fn(&hdf5::File), &'a [&'a str]);

#[test]
fn what_is_not_read_is_refused_in_one_line() {
    let (room, mesh) = (Room::new(), BlockMesh::sample());
    let [athena, parthenon] = ["a.athdf", "p.phdf"].map(|name| room.path(name));
    let of_athena: [Change; 9] = [
        (&|f| numbers(f, "RootGridSize", &[8, 4, 1]), &["RootGridSize", "dimensions"]),
        (&|f| numbers(f, "RootGridX2", &[0.0, 9.0, 1.0]), &["cubes"]),
        (&|f| numbers(f, "MeshBlockSize", &[4, 2, 4]), &["/prim", "shape"]),
        (&|f| scalar(f, "NumMeshBlocks", 1_i64 << 60), &["a.athdf: /NumMeshBlocks: 11529215", "a count"]),
        (&|f| scalar(f, "NumMeshBlocks", -3), &["NumMeshBlocks"]),
        (&|f| numbers(f, "NumVariables", &[3, 1]), &["/prim", "shape"]),
        (&|f| put(f, "Levels", 3, 200), &["level"]),
        (&|f| put(f, "LogicalLocations", 4, -1), &["LogicalLocations"]),
        (&|f| put(f, "LogicalLocations", 4, 1 << 40), &["LogicalLocations"]),
    ];
    for (i, (change, parts)) in of_athena.iter().enumerate() {
        mesh.write_athdf(&athena, |x| x);
        change(&patiently(|| hdf5::File::open_rw(&athena)));
        let out = command(&["info", &athena]).output().expect("the program");
        let line = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!((out.status.code(), line.lines().count()), (Some(2), 1), "change {i}: {line}");
        assert!(parts.iter().all(|part| line.contains(part)), "change {i}: {parts:?} not in {line}");
    }
    let of_parthenon: [Change; 4] = [
        (
            &|f| scalar(&f.group("Info").expect("there"), "OutputFormatVersion", 9),
            &["OutputFormatVersion", "3 or 4"],
        ),
        (&|f| scalar(&f.group("Info").expect("there"), "NGhost", 40), &["MeshBlockSize", "ghosts"]),
        (
            &|f| numbers(&f.group("Info").expect("there"), "RootGridSize", &[8, 1, 12]),
            &["RootGridSize", "dimensions"],
        ),
        (&|f| numbers(&f.group("Info").expect("there"), "NumComponents", &[1, 4]), &["ComponentNames"]),
    ];
    for (i, (change, parts)) in of_parthenon.iter().enumerate() {
        mesh.write_phdf(&parthenon, 4, 2);
        change(&patiently(|| hdf5::File::open_rw(&parthenon)));
        room.refuses(&["info", &parthenon], parts);
        assert!(i < of_parthenon.len());
    }
    mesh.write_phdf(&parthenon, 4, 0);
    let search = ["phew", &parthenon, "-o", &room.path("c.csv"), "--density-threshold", "2"];
    room.refuses(&[&search[..], &["--periodic", "x"]].concat(), &["periodic", "Parthenon"]);
    room.refuses(&[&search[..], &["--image"]].concat(), &["Parthenon", "a plain array of two axes"]);
}

/// Overwrites a number of a dataset of integers.
fn put(file: &hdf5::File, name: &str, at: usize, number: i64) {
    let dataset = file.dataset(name).expect("there");
    let mut all = dataset.read_dyn::<i64>().expect("integers");
    *all.iter_mut().nth(at).expect("there") = number;
    dataset.write(&all).expect("written");
}

/// A block that comes twice, or covers another, is found by the search.
#[test]
fn blocks_that_overlap_are_refused() {
    let room = Room::new();
    let path = room.path("a.athdf");
    for (other, problem) in
        [((0, [0, 1, 1]), "the mesh of the input is broken"), ((1, [0, 0, 2]), "0.890625 of the volume")]
    {
        let mut mesh = BlockMesh::sample();
        mesh.leaves[0] = other;
        mesh.write_athdf(&path, |x| x);
        let search = ["phew", &path, "-o", &room.path("c.csv"), "--density-threshold", "2"];
        room.refuses(&search, &[problem]);
    }
}

/// Slices and sums of Athena++ have blocks of one cell along an axis of the whole box, or their faces are
/// elsewhere.
#[test]
fn slices_and_sums_are_refused() {
    let room = Room::new();
    let [athena, parthenon] = ["a.athdf", "p.phdf"].map(|name| room.path(name));
    let slice = BlockMesh {
        block: [4, 2, 1],
        leaves: (0..4).map(|i| (0, [i & 1, i >> 1, 1])).collect(),
        ..BlockMesh::sample()
    };
    let search = ["--density-threshold", "2", "-o", &room.path("c.csv")];
    for path in [&athena, &parthenon] {
        slice.write_athdf(&athena, |x| x as f32);
        slice.write_phdf(&parthenon, 4, 0);
        let parts = ["MeshBlockSize", "1 cell along z in a box of 12", "slice", "sum"];
        room.refuses(&["info", path], &parts);
        room.refuses(&[&["phew", path.as_str()], &search[..]].concat(), &parts);
    }
    // A part of the blocks, and blocks that lie elsewhere than their numbers say.
    let mut mesh = BlockMesh::sample();
    mesh.leaves.truncate(7);
    mesh.write_athdf(&athena, |x| x);
    room.refuses(&["info", &athena], &["0.875000 of the volume of the box"]);
    let mesh = BlockMesh::sample();
    mesh.write_athdf(&athena, |x| x);
    mesh.write_phdf(&parthenon, 4, 2);
    for (path, faces) in [(&athena, "x3f"), (&parthenon, "Locations/z")] {
        let file = patiently(|| hdf5::File::open_rw(path));
        let dataset = file.dataset(faces).expect("there");
        let moved = dataset.read_dyn::<f64>().expect("faces").mapv(|x| x + 0.5);
        dataset.write(&moved).expect("written");
        // A dataset keeps its file open.
        drop((dataset, file));
        room.refuses(&["info", path], &[faces, "block 0 has a face at 2.5", "expected 2, by"]);
    }
    let restart = room.path("r.rhdf");
    mesh.write_phdf(&restart, 4, 0);
    assert_eq!(leaves(opened(&restart).as_ref(), "density").expect("leaves"), expected(1.0));
}

/// Files that end early: an error in one line, from a program that lives on to say it.
#[test]
fn files_that_end_early_are_errors() {
    let (room, mesh) = (Room::new(), BlockMesh::sample());
    let [athena, parthenon] = ["a.athdf", "p.phdf"].map(|name| room.path(name));
    mesh.write_athdf(&athena, |x| x as f32);
    mesh.write_phdf(&parthenon, 4, 2);
    for path in [&athena, &parthenon] {
        let sound = fs::read(path).expect("a file");
        for part in 1..12 {
            fs::write(path, &sound[..sound.len() * part / 12]).expect("writing");
            room.refuses(&["info", path], &[]);
        }
    }
}

/// Datasets of cells in chunks of any shape, of any type, at any place.
#[test]
fn datasets_give_their_cells() {
    let room = Room::new();
    let path = room.path("box.h5");
    let shape = [11, 6, 9];
    let cells = ndarray::Array3::from_shape_fn(shape, |(x, y, z)| value(0, [x, y, z]));
    {
        let file = hdf5::File::create(&path).expect("a file");
        let group = file.create_group("some").expect("a group");
        file.new_dataset_builder().with_data(&cells).create("plain").expect("done");
        let single = cells.mapv(|x| x as f32);
        group
            .new_dataset_builder()
            .with_data(&single)
            .chunk((4, 5, 2))
            .deflate(4)
            .create("packed")
            .expect("done");
        let whole = cells.mapv(|x| (4.0 * x) as i16);
        group.new_dataset_builder().with_data(&whole).chunk((1, 6, 9)).create("whole").expect("done");
        file.new_dataset_builder().with_data(&[1.0, 2.0]).create("short").expect("done");
    }
    for (place, factor) in [("plain", 1.0), ("some/packed", 1.0), ("some/whole", 4.0)] {
        let snapshot = opened(&format!("{path}:/{place}"));
        let field = snapshot.fields()[0].name.clone();
        let found = leaves(snapshot.as_ref(), &field).expect("cells");
        let all = cells.indexed_iter();
        let at = |(x, y, z): (usize, usize, usize)| (0, [x, y, z].map(|x| x as u32));
        assert_eq!(found, all.map(|(i, value)| (at(i), factor * value)).collect(), "{place}");
    }
    let search = ["phew", "-o", &room.path("c.csv"), "--density-threshold", "2"];
    let refused = |place: &str, parts: &[&str]| {
        room.refuses(&[&search[..], &[&format!("{path}:/{place}")]].concat(), parts);
    };
    refused("short", &["/short", "1-D", "three axes"]);
    refused("none", &["/none", "no such dataset"]);
    let sound = fs::read(&path).expect("a file");
    for part in 1..8 {
        fs::write(&path, &sound[..sound.len() * part / 8]).expect("writing");
        refused("plain", &[]);
    }
}
