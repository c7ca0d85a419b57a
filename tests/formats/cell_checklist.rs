//! What every reader of cells must do, for all of [`READERS`]. A new reader is a new row of this table.
//!
//! - A value that the file states cannot be given as an option. A value that it leaves open can.
//! - Statements that contradict each other are refused in one line that names the place and what was
//!   expected.
//! - A file that ends early or is empty is refused in one line, by `info` as by `phew`.
//! - The report has the units, or that there are none. Assumptions are notes.

use crate::common::Whole;
use crate::common::fits::{FitsFile, encoded};
#[cfg(feature = "hdf5")]
use crate::common::mesh_blocks::{BlockMesh, patiently};
use crate::common::npy::npy_file;
use crate::common::plotfile::Plotfile;
use crate::common::room::{Room, command, done_json};
use inselberg_io::READERS;
use inselberg_io::ramses::write::{Descriptors, Dialect};
use std::fs;
use std::path::{Path, PathBuf};

/// A change that makes two statements of an input contradict each other, and words of the refusal.
type Contradiction = (fn(&Path), &'static [&'static str]);

/// Makes an input in a folder, and returns its path.
type Maker = fn(&Room) -> String;

/// A reader and its properties.
pub(crate) struct Row {
    pub name: &'static str,
    /// Makes a sound input in a folder.
    pub make: Maker,
    /// One of its fields.
    pub field: &'static str,
    /// Options that it refuses, since the input states them.
    stated: &'static [&'static str],
    /// Options that it takes.
    open: &'static [&'static str],
    contradictions: &'static [Contradiction],
    /// Whether the input states units.
    has_units: bool,
    /// An input of which something is assumed, if there can be one, and words of it.
    assumed: Option<(Maker, &'static str)>,
}

const PERIODIC: &str = "--periodic xyz";
const SPACING: &str = "--spacing 0.5";
const ORIGIN: &str = "--origin 1,2,3";

pub(crate) fn rows() -> Vec<Row> {
    let mut rows = vec![
        Row {
            name: "RAMSES",
            field: "density",
            make: |room| {
                let whole = Whole::tiny([1; 3]);
                whole
                    .write(Path::new(&room.path("")), 2, true, &Dialect::default())
                    .to_string_lossy()
                    .into_owned()
            },
            stated: &[PERIODIC, SPACING, ORIGIN, "--hydro-names density", "--stokes I"],
            open: &[],
            contradictions: &[
                (
                    |path| {
                        change(
                            &path.join("info_00007.txt"),
                            "ncpu        =          2",
                            "ncpu        =          3",
                        )
                    },
                    &["file 3 of 3", "3 CPUs"],
                ),
                (
                    |path| {
                        change(
                            &path.join("hydro_file_descriptor.txt"),
                            "velocity_y, d",
                            "velocity_y, d\n 99, more, d",
                        )
                    },
                    &["hydro_file_descriptor.txt", "line"],
                ),
            ],
            has_units: true,
            assumed: Some((
                |room| {
                    let mut whole = Whole::tiny([1; 3]);
                    whole.fields.truncate(6);
                    whole.octs.iter_mut().for_each(|block| block.values.truncate(6));
                    let dialect = Dialect { descriptors: Descriptors::Missing, ..Dialect::default() };
                    whole.write(Path::new(&room.path("")), 1, true, &dialect).to_string_lossy().into_owned()
                },
                "taken for the pressure",
            )),
        },
        Row {
            name: "AMReX",
            field: "density",
            make: |room| {
                let path = room.path("plt00100");
                Plotfile::sample().write(Path::new(&path));
                path
            },
            stated: &[SPACING, ORIGIN, "--hydro-names density", "--stokes I"],
            open: &[PERIODIC],
            contradictions: &[
                (|path| change(&path.join("Header"), "0.5 0.5 0.5 \n", "0.25 0.25 0.25 \n"), &["Header"]),
                (|path| change(&path.join("Level_0/Cell_H"), "1\n1\n2\n", "1\n1\n3\n"), &["Cell_H"]),
            ],
            has_units: false,
            assumed: None,
        },
        Row {
            name: "NumPy array of cells",
            field: "density",
            make: |room| {
                let path = room.path("cube.npy");
                fs::write(&path, npy_file(&[5, 4, 6], false, "<f8", |at| at[0] as f64)).expect("writing");
                path
            },
            stated: &["--hydro-names density", "--stokes I"],
            open: &[PERIODIC, SPACING, ORIGIN],
            contradictions: &[(
                |path| change(path, "5, 4, 6", "5, 4, 7"),
                &["bytes for a header of [5, 4, 7]"],
            )],
            has_units: false,
            assumed: None,
        },
        Row {
            name: "FITS",
            field: "image",
            make: |room| {
                let path = room.path("cube.fits");
                let file =
                    FitsFile::default().image(-32, &[5, 4, 3], &[], &encoded(-32, (0..60).map(f64::from)));
                fs::write(&path, file.bytes).expect("writing");
                path
            },
            stated: &["--hydro-names density"],
            open: &[PERIODIC, SPACING, ORIGIN],
            contradictions: &[(|path| change(path, "NAXIS3  = 3", "NAXIS2  = 3"), &["NAXIS"])],
            has_units: false,
            assumed: Some((
                |room| {
                    let path = room.path("planes.fits");
                    let cards = ["CTYPE3 = 'STOKES'"];
                    let file = FitsFile::default().image(
                        -32,
                        &[5, 4, 3],
                        &cards,
                        &encoded(-32, (0..60).map(f64::from)),
                    );
                    fs::write(&path, file.bytes).expect("writing");
                    path
                },
                "the plane of Stokes I",
            )),
        },
    ];
    rows.extend(of_hdf5());
    rows
}

#[cfg(not(feature = "hdf5"))]
fn of_hdf5() -> Vec<Row> {
    Vec::new()
}

#[cfg(feature = "hdf5")]
fn of_hdf5() -> Vec<Row> {
    use crate::common::mesh_blocks::numbers;
    vec![
        Row {
            name: "Athena++",
            field: "rho",
            make: |room| {
                let path = room.path("a.athdf");
                BlockMesh::sample().write_athdf(&path, |x| x);
                path
            },
            stated: &[SPACING, ORIGIN, "--hydro-names density", "--stokes I"],
            open: &[PERIODIC],
            contradictions: &[
                (
                    |path| numbers(&patiently(|| hdf5::File::open_rw(path)), "RootGridX3", &[3.0, 9.0, 1.0]),
                    &["x3f", "has a face at"],
                ),
                (
                    |path| numbers(&patiently(|| hdf5::File::open_rw(path)), "RootGridSize", &[8, 4, 24]),
                    &["cubes"],
                ),
            ],
            has_units: false,
            assumed: None,
        },
        Row {
            name: "Parthenon",
            field: "density",
            make: |room| {
                let path = room.path("p.phdf");
                BlockMesh::sample().write_phdf(&path, 4, 2);
                path
            },
            stated: &[PERIODIC, SPACING, ORIGIN, "--hydro-names density", "--stokes I"],
            open: &[],
            contradictions: &[(
                |path| {
                    let file = patiently(|| hdf5::File::open_rw(path));
                    let ends = [-2.0, 2.0, 1.0, 0.0, 2.0, 1.0, 2.0, 8.0, 1.0];
                    numbers(&file.group("Info").expect("there"), "RootGridDomain", &ends);
                },
                &["Locations/x", "has a face at"],
            )],
            has_units: false,
            assumed: None,
        },
        Row {
            name: "HDF5 array of cells",
            field: "cells",
            make: |room| {
                let path = room.path("box.h5");
                let cells = ndarray::Array3::from_shape_fn((5, 4, 6), |(x, y, z)| (x + y + z) as f64);
                let file = patiently(|| hdf5::File::create(&path));
                file.new_dataset_builder().with_data(&cells).create("cells").expect("done");
                path + ":/cells"
            },
            stated: &["--hydro-names density", "--stokes I"],
            open: &[PERIODIC, SPACING, ORIGIN],
            contradictions: &[],
            has_units: false,
            assumed: None,
        },
    ]
}

/// Replaces a text of a file, which must be there.
fn change(path: &Path, from: &str, to: &str) {
    let bytes = fs::read(path).expect("a file");
    let at = bytes.windows(from.len()).position(|part| part == from.as_bytes());
    let at = at.unwrap_or_else(|| panic!("no {from:?} in {}", path.display()));
    fs::write(path, [&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat()).expect("writing");
}

/// The file of an input, or all files of its folder.
fn files_of(input: &str) -> Vec<PathBuf> {
    let path = inselberg_io::particles::file_of(Path::new(input)).to_path_buf();
    let mut left = vec![path];
    let mut files = Vec::new();
    while let Some(path) = left.pop() {
        match fs::read_dir(&path) {
            Ok(entries) => left.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) => files.push(path),
        }
    }
    files.sort();
    files
}

/// The exit code and the standard error of a command.
fn said(args: &[&str]) -> (Option<i32>, String) {
    let out = command(args).output().expect("the program");
    (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
}

/// A refusal: one line with all of `parts`.
fn refused(args: &[&str], parts: &[&str], what: &str) {
    let (code, line) = said(args);
    assert_eq!((code, line.lines().count()), (Some(2), 1), "{what}: {args:?}: {line}");
    assert!(parts.iter().all(|part| line.contains(part)), "{what}: {parts:?} not in {line}");
}

fn search<'a>(input: &'a str, to: &'a str) -> [&'a str; 6] {
    ["phew", input, "-o", to, "--density-threshold", "0.5"]
}

#[test]
fn every_reader_has_a_row() {
    let rows = rows();
    for reader in READERS {
        assert!(rows.iter().any(|row| row.name == reader.name), "no row for {}", reader.name);
    }
    assert_eq!(rows.len(), READERS.len());
}

#[test]
fn what_is_stated_cannot_be_given_and_what_is_open_can() {
    for row in rows() {
        let room = Room::new();
        let (input, to) = ((row.make)(&room), room.path("c.csv"));
        let info = done_json(&["info", &input]);
        assert_eq!(info["format"], row.name);
        assert_eq!(!info["units"].is_null(), row.has_units, "{}", row.name);
        assert!(info["leaf_cells"].as_u64().is_some_and(|n| n > 0), "{}", row.name);
        for option in row.stated {
            let given: Vec<&str> = option.split(' ').collect();
            refused(&[&search(&input, &to)[..], &given].concat(), &["expected"], row.name);
        }
        for option in row.open {
            let given: Vec<&str> = option.split(' ').collect();
            let force = ["--force", "--field", info["fields"][0]["name"].as_str().expect("a name")];
            let (code, line) = said(&[&search(&input, &to)[..], &given, &force].concat());
            assert_eq!(code, Some(0), "{} {option}: {line}", row.name);
        }
    }
}

#[test]
fn contradictions_name_a_place_and_an_expectation() {
    for row in rows() {
        for (spoil, parts) in row.contradictions {
            let room = Room::new();
            let input = (row.make)(&room);
            spoil(Path::new(&input));
            let (code, line) = said(&["info", &input]);
            let of_search = said(&search(&input, &room.path("c.csv")));
            assert_eq!((code, line.lines().count()), (Some(2), 1), "{}: {line}", row.name);
            assert!(parts.iter().all(|part| line.contains(part)), "{}: {parts:?} not in {line}", row.name);
            assert!(line.contains("expected"), "{}: {line}", row.name);
            assert_eq!((code, line), of_search, "{}: info and phew", row.name);
        }
    }
}

/// Each file of an input, cut or empty: an error in one line, or a result if the file is not used.
#[test]
fn files_that_end_early_are_refused_in_one_line() {
    for row in rows() {
        let room = Room::new();
        let (input, to) = ((row.make)(&room), room.path("c.csv"));
        let name = done_json(&["info", &input])["fields"][0]["name"].as_str().expect("a name").to_string();
        let mut n_refused = 0;
        for file in files_of(&input) {
            let sound = fs::read(&file).expect("a file");
            for length in [0, sound.len() / 2, sound.len().saturating_sub(9)] {
                fs::write(&file, &sound[..length]).expect("writing");
                let (code, line) =
                    said(&[&search(&input, &to)[..], &["--force", "--field", &name, "--quiet"]].concat());
                let what = format!("{}: {} of {length} bytes: {line}", row.name, file.display());
                match code {
                    Some(0) => {}
                    _ => assert_eq!((code, line.lines().count()), (Some(2), 1), "{what}"),
                }
                n_refused += u32::from(code == Some(2));
            }
            fs::write(&file, &sound).expect("writing");
        }
        assert!(n_refused >= 2, "{}: nothing was refused", row.name);
    }
}

#[test]
fn assumptions_are_notes() {
    for (row, (make, words)) in rows().iter().filter_map(|row| Some((row, row.assumed?))) {
        let room = Room::new();
        let (input, to) = (make(&room), room.path("c.csv"));
        let info = done_json(&["info", &input])["notes"].to_string();
        assert!(info.contains(words), "{}: {info}", row.name);
        let summary = done_json(&search(&input, &to))["notes"].to_string();
        // Notes on the thresholds may follow.
        assert!(summary.starts_with(info.trim_end_matches(']')), "{}: {summary}", row.name);
        let found = inselberg_io::catalogue::read(Path::new(&to)).expect("a catalogue");
        let attribute = format!("{:?}", found.attribute("input_notes"));
        assert!(attribute.contains(words), "{}: {attribute}", row.name);
    }
}
