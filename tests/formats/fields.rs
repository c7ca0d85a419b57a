//! Fields of other codes and plain arrays: every leaf, the same clumps on any ranks and threads, refusals,
//! and damage.

use crate::common::npy::npy_file;
use crate::common::plotfile::Plotfile;
use crate::common::python::python;
use crate::common::room::{Room, command, done, done_json};
use inselberg_io::catalogue::{Attribute, read};
use inselberg_io::{FieldDefaults, ReadResult, Snapshot, open_from, read_headers_with};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

fn opened(path: &Path) -> ReadResult<Box<dyn Snapshot>> {
    read_headers_with(path, &FieldDefaults::default()).map(|facts| open_from(&facts))
}

/// All leaves by level and position.
pub fn leaves(snapshot: &dyn Snapshot, field: &str) -> ReadResult<BTreeMap<(u8, [u32; 3]), f64>> {
    let (mut leaves, mut n, mut is_counted) = (BTreeMap::new(), 0, true);
    for piece in 0..snapshot.header().n_pieces {
        let counts = snapshot.count_leaves(piece)?;
        // An octree does not count its leaves.
        is_counted &= !counts.is_empty();
        n += counts.iter().sum::<u64>();
        snapshot.octs(piece, &[field], &mut |block| {
            for (oct, position) in block.position.iter().enumerate() {
                for cell in (0..8).filter(|cell| block.split[oct] >> cell & 1 == 0) {
                    let at = std::array::from_fn(|a| 2 * position[a] + (cell >> a & 1));
                    let value = block.values[0][oct][cell as usize];
                    assert!(leaves.insert((block.level, at), value).is_none(), "{at:?} twice");
                }
            }
            Ok(())
        })?;
    }
    assert!(!is_counted || leaves.len() as u64 <= n, "{} of {n}", leaves.len());
    Ok(leaves)
}

#[test]
fn plotfiles_of_all_kinds_give_their_leaves() {
    let sample = Plotfile::sample();
    // The root grid of 6 x 10 x 4 cells is level 1 of 3 x 5 x 2 coarse cells; then ratios 2 and 4.
    let expected: BTreeMap<_, _> = sample
        .leaves()
        .into_iter()
        .map(|((level, cell), value)| (([1, 2, 4][level], cell.map(|x| x as u32)), value))
        .collect();
    for version in 1..=4 {
        for (single, big_endian, ghosts, files) in
            [(false, false, 0, 1), (true, true, 2, 3), (false, true, 1, 2), (true, false, 0, 2)]
        {
            let room = tempfile::tempdir().expect("a folder");
            let path = room.path().join("plt00100");
            let of = Plotfile { version, single, big_endian, ghosts, files, ..sample.clone() };
            of.write(&path);
            let snapshot = opened(&path).unwrap_or_else(|e| panic!("{of:?}: {e}"));
            let header = snapshot.header();
            assert_eq!((header.number, header.coarse, header.boxlen), (Some(100), [3, 5, 2], 1.0));
            assert_eq!((header.origin, header.time, header.periodic), ([-1.0; 3], 0.5, [false; 3]));
            assert_eq!(leaves(snapshot.as_ref(), "density").expect("leaves"), expected);
            let other = leaves(snapshot.as_ref(), "odd name (x/y)").expect("leaves");
            assert!(other.iter().all(|(cell, value)| *value == -3.0 * expected[cell]));
        }
    }
}

/// Cells by index, as numbers of any type, in C order unless `fortran`.
fn npy(path: &Path, shape: [usize; 3], fortran: bool, descr: &str, value: impl Fn([usize; 3]) -> f64) {
    let value = |at: &[usize]| value(at.try_into().expect("three indices"));
    fs::write(path, npy_file(&shape, fortran, descr, value)).expect("writing");
}

fn wave([x, y, z]: [usize; 3]) -> f64 {
    ((x * 5 + y * 3 + z * 7) % 13) as f64 - 3.0 + ((x / 3 + y / 3 + z / 3) % 4) as f64 * 8.0
}

#[test]
fn arrays_of_any_shape_give_their_cells() {
    let room = tempfile::tempdir().expect("a folder");
    let path = room.path().join("cube.npy");
    for (shape, level) in [([33, 65, 7], 0), ([50, 50, 50], 1), ([8, 16, 24], 3), ([1100, 3, 5], 0)] {
        for (fortran, descr) in [(false, "<f8"), (true, ">f4"), (false, "<i2"), (true, "<f8")] {
            let has_masks = descr != "<i2";
            let is_masked = |[x, y, z]: [usize; 3]| has_masks && (x + 2 * y + 3 * z) % 17 == 0;
            npy(&path, shape, fortran, descr, |at| if is_masked(at) { f64::NAN } else { wave(at) });
            let snapshot = opened(&path).expect("an array");
            let found = leaves(snapshot.as_ref(), "density").expect("cells");
            let mut n = 0;
            for i in 0..shape.iter().product() {
                let at = [i % shape[0], i / shape[0] % shape[1], i / (shape[0] * shape[1])];
                let value = found.get(&(level, at.map(|x| x as u32)));
                n += usize::from(value.is_some());
                assert_eq!(value.copied(), (!is_masked(at)).then(|| wave(at)), "{at:?} of {shape:?} {descr}");
            }
            assert_eq!(n, found.len());
        }
    }
}

#[test]
fn clumps_are_the_same_on_any_ranks_and_threads() {
    let room = Room::new();
    let [plot, cube] = ["plt00007", "cube.npy"].map(|name| room.path(name));
    Plotfile::sample().write(Path::new(&plot));
    npy(Path::new(&cube), [33, 65, 7], false, "<f8", |at| if at[0] == 9 { f64::NAN } else { wave(at) });
    let of_cube =
        ["--spacing", "0.5", "--origin", "1,-2,3", "--relevance-difference", "1", "--periodic", "xz"];
    let of_plot = ["--field", "density", "--relevance-threshold", "1.05"];
    for (input, more) in [(&plot, &of_plot[..]), (&cube, &of_cube)] {
        let mut first = None;
        for ranks in ["1", "2", "3"] {
            for threads in ["1", "2"] {
                let to = room.path("c.hdf5");
                let search = ["phew", input, "-o", &to, "--density-threshold", "3.5", "--with-cells"];
                let out = crate::common::program()
                    .args(search)
                    .args(more)
                    .args(["--ranks", ranks, "--threads", threads])
                    .output()
                    .expect("the program");
                assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
                let found = read(Path::new(&to)).expect("a catalogue");
                let tables = format!("{:?}", found.tables);
                assert!(found.table("clumps").expect("clumps").n_rows() > 2);
                assert_eq!(first.get_or_insert(tables.clone()), &tables, "{ranks} ranks, {threads} threads");
            }
        }
    }
    let found = read(Path::new(&room.path("c.hdf5"))).expect("a catalogue");
    let origin = found.attribute("origin");
    assert!(matches!(origin, Some(Attribute::Reals(x)) if *x == [1.0, -2.0, 3.0]), "{origin:?}");
    let clumps = found.table("clumps").expect("clumps");
    for x in clumps.vectors("peak_position").expect("positions") {
        let cell: [f64; 3] = std::array::from_fn(|a| (x[a] - [1.0, -2.0, 3.0][a]) / 0.5 - 0.5);
        assert!(cell.iter().all(|x| x.fract() == 0.0) && cell[0] >= 0.0 && cell[0] < 33.0, "{x:?}");
    }
    // A new cut of the catalogue is what a run writes.
    let [cut, again] = ["cut.hdf5", "again.hdf5"].map(|name| room.path(name));
    done(&["recut", &room.path("c.hdf5"), "-o", &cut, "--relevance-difference", "4", "--quiet"]);
    let search = ["phew", &cube, "-o", &again, "--density-threshold", "3.5"];
    done(&[&search[..], &of_cube[..4], &of_cube[6..], &["--relevance-difference", "4"]].concat());
    let [cut, again] = [cut, again].map(|path| read(Path::new(&path)).expect("a catalogue"));
    for name in ["clumps", "haloes", "tree"] {
        assert_eq!(format!("{:?}", cut.table(name)), format!("{:?}", again.table(name)));
    }
}

#[test]
fn info_counts_the_leaves_of_other_codes() {
    let room = Room::new();
    let plot = room.path("plt00007");
    Plotfile::sample().write(Path::new(&plot));
    let json = done_json(&["info", &plot]);
    assert_eq!(json["format"], "AMReX");
    assert_eq!(json["leaf_cells"], Plotfile::sample().leaves().len());
    assert!(done(&["info", &plot, "--thresholds", "--field", "density"]).contains("thresholds for density"));
}

#[test]
fn what_is_not_read_is_refused_in_one_line() {
    let room = Room::new();
    let plot = room.path("plt00007");
    let header = format!("{plot}/Header");
    Plotfile::sample().write(Path::new(&plot));
    let sound = fs::read_to_string(&header).expect("a header");
    let refused = |from: &str, to: &str, parts: &[&str]| {
        assert!(sound.contains(from), "{from}");
        fs::write(&header, sound.replacen(from, to, 1)).expect("writing");
        room.refuses(&["info", &plot], parts);
        fs::write(&header, &sound).expect("writing");
    };
    refused("(x/y)\n3\n", "(x/y)\n2\n", &["line 5 (dimension): 2-D", "only three dimensions"]);
    refused("\n2 4 \n", "\n3 4 \n", &["refinement ratios", "ratio 3", "expected 2 or 4"]);
    refused("\n0\n0\n", "\n1\n0\n", &["coordinate system", "cylindrical", "Cartesian"]);
    refused("-1 -1 -1 ", "-1 -1 -2 ", &["box", "cubes"]);
    refused("0 2 0.5", "0 3 0.5", &["plt00007/"]);
    let phew = |more: &[&str], parts: &[&str]| {
        let search =
            ["phew", &plot, "-o", &room.path("c.csv"), "--density-threshold", "2", "--field", "density"];
        room.refuses(&[&search[..], more].concat(), parts);
    };
    phew(&["--periodic", "xw"], &["--periodic", "xw", "xyz"]);
    phew(&["--spacing", "2"], &["spacing", "AMReX"]);
    phew(&["--origin", "1,2"], &["--origin", "three"]);
    let file = format!("{plot}/Level_2/Cell_D_00000");
    let bytes = fs::read(&file).expect("values");
    fs::write(&file, &bytes[..bytes.len() - 1]).expect("writing");
    phew(&[], &["Cell_D_00000", "a file that holds them"]);
    fs::write(&file, [&bytes[..1], b"X", &bytes[2..]].concat()).expect("writing");
    phew(&[], &["Cell_D_00000: box at byte 0", "FAB"]);
    fs::write(&file, &bytes).expect("writing");
}

/// Whatever is cut off or changed: an error, or leaves with values. Never a panic.
#[test]
fn damaged_plotfiles_are_errors_or_fields() {
    let room = tempfile::tempdir().expect("a folder");
    let path = room.path().join("plt00001");
    Plotfile::sample().write(&path);
    for name in ["Header", "Level_0/Cell_H", "Level_1/Cell_H", "Level_1/Cell_D_00000"] {
        let file = path.join(name);
        let sound = fs::read(&file).expect("a file");
        let check = |bytes: &[u8]| {
            fs::write(&file, bytes).expect("writing");
            let read = opened(&path).and_then(|snapshot| leaves(snapshot.as_ref(), "density"));
            if let Err(error) = read {
                assert_eq!(error.to_string().lines().count(), 1, "{error}");
            }
        };
        let step = 1 + sound.len() / 300;
        (0..sound.len()).step_by(step).for_each(|n| check(&sound[..n]));
        for at in (0..sound.len()).step_by(step) {
            for change in [b'9', b'-', b'(', b'\n', sound[at] ^ 0x80, 0] {
                let mut bytes = sound.clone();
                bytes[at] = change;
                check(&bytes);
            }
        }
        fs::write(&file, &sound).expect("writing");
    }
}

#[test]
fn a_density_is_found_by_its_name_in_any_case() {
    let room = Room::new();
    let folder = room.path("plt00001");
    Plotfile::sample().write(Path::new(&folder));
    let header = Path::new(&folder).join("Header");
    let written = fs::read_to_string(&header).expect("a header");
    let args = ["phew", &folder, "-o", &room.path("c.csv"), "--density-threshold", "1"];
    let of = |names: &str| {
        fs::write(&header, written.replace("density\nodd name (x/y)", names)).expect("written");
        let all = [&args[..], &["--relevance-threshold", "1.2"]].concat();
        done_json(&all)["field"]["name"].clone()
    };
    for name in ["Density", "GasDensity", "gas_density", "RHO", "prim_density"] {
        assert_eq!(of(&format!("{name}\npressure")), name);
    }
    fs::remove_file(room.path("c.csv")).expect("written");
    let refused = |names: &str, part: &str| {
        fs::write(&header, written.replace("density\nodd name (x/y)", names)).expect("written");
        room.refuses(&args, &[part]);
    };
    // The second field has values below 0.
    refused("Density\ndensity", "density of the cell [0, 0, 0]");
    refused("Density\nDENSITY", "Density, DENSITY");
}

/// What yt reads of files by the descriptions of the formats, cell by cell.
#[test]
#[cfg(feature = "hdf5")]
fn yt_reads_the_same_cells() {
    let Some(python) = python() else { return };
    let room = Room::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats/fields.py");
    let run = |args: &[&str]| {
        let out = Command::new(&python).arg(script).args(args).output().expect("Python");
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    };
    let folder = room.path("files");
    run(&["make", &folder]);
    let names = ["plt00000", "plt00001", "plt00002", "plt00003"].map(|name| (name, "density"));
    let others = [
        ("turb.out1.00005.athdf", "rho"),
        ("double.00001.athdf", "rho"),
        ("plain.00001.phdf", "prim_density"),
        ("ghosts.00002.phdf", "prim_density"),
    ];
    for (name, field) in names.into_iter().chain(others) {
        let (input, to) = (format!("{folder}/{name}"), room.path("c.hdf5"));
        let search =
            ["phew", &input, "-o", &to, "--field", field, "--density-threshold", "1", "--with-cells"];
        let out = command(&[&search[..], &["--relevance-threshold", "1.2"]].concat()).output().expect("done");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        run(&["compare", &input.replace("ghosts", "stripped"), &to, field]);
    }
}
