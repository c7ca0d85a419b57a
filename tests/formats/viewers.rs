//! Files for yt and ParaView: against the catalogue, over ranks, and what is refused.

use crate::common::python::python;
use crate::common::room::{Room, done};
use hdf5::File;
use inselberg_io::catalogue::read;
use std::fs;
use std::path::Path;
use std::process::Command;

fn phew<'a>(input: &'a str, to: &'a str, folder: &'a str) -> Vec<&'a str> {
    let search = ["phew", input, "-o", to, "--density-threshold", "2", "--saddle-threshold", "200"];
    [&search[..], &["--field", "density", "--with-cells", "--yt", folder, "--vtk", folder]].concat()
}

#[test]
fn files_for_viewers_have_the_catalogue_on_any_ranks() {
    let (room, input) = (Room::new(), crate::common::output("gas_2ranks"));
    let input = input.to_string_lossy().into_owned();
    let [to, first] = ["c.hdf5", "v1"].map(|name| room.path(name));
    done(&phew(&input, &to, &first));
    let catalogue = read(Path::new(&to)).expect("a catalogue");
    let clumps = catalogue.table("clumps").expect("clumps");
    let yt = File::open(format!("{first}/clumps.0.h5")).expect("yt's file");
    let mass: Vec<f64> = yt.dataset("particle_mass").and_then(|d| d.read_raw()).expect("masses");
    assert_eq!(mass.len(), clumps.n_rows());
    let vtk = File::open(format!("{first}/cells.vtkhdf")).expect("VTK's file");
    let split: Vec<i64> = vtk.dataset("VTKHDF/NumberOfCells").and_then(|d| d.read_raw()).expect("a number");
    // Every split cell has eight children: n cells of one tree have (7 n + 1) / 8 leaves.
    let n_leaves = catalogue.table("cells").expect("cells").n_rows() as i64;
    assert_eq!((7 * split[0] + 1) / 8, n_leaves);
    drop((yt, vtk));
    for ranks in ["2", "3"] {
        let [to, folder] = ["c", "v"].map(|name| room.path(&format!("{name}{ranks}.hdf5")));
        done(&[&phew(&input, &to, &folder)[..], &["--ranks", ranks]].concat());
        for name in ["clumps.0.h5", "clumps.vtkhdf", "cells.vtkhdf"] {
            let bytes = |folder: &str| fs::read(format!("{folder}/{name}")).expect("a file");
            assert!(bytes(&first) == bytes(&folder), "{name} on {ranks} ranks");
        }
    }
}

#[test]
fn what_viewers_cannot_have_is_refused() {
    let (room, input) = (Room::new(), crate::common::output("gas_2ranks"));
    let input = input.to_string_lossy().into_owned();
    let [to, folder] = ["clumps.h5", "v"].map(|name| room.path(name));
    done(&["phew", &input, "-o", &to, "--density-threshold", "2"]);
    room.refuses(
        &["convert", &to, "--to", "vtk", "-o", &folder],
        &["cells: the catalogue has none", "--with-cells"],
    );
    room.refuses(
        &["convert", &to, "--to", "yt", "-o", &room.path("")],
        &["clumps.h5 as a part of clumps.0.h5"],
    );
    room.refuses(&["convert", &to, "--to", "fits", "-o", &folder], &["--output", "ends in .fits"]);
    room.refuses(&["convert", &to, "-o", &folder], &["convert needs a to"]);
}

/// yt, VTK and astropy agree with the catalogue, and the examples of docs/viewers.md run.
#[test]
fn viewers_open_the_files() {
    let Some(python) = python() else { return };
    let (room, input) = (Room::new(), crate::common::output("gas_2ranks"));
    let input = input.to_string_lossy().into_owned();
    let [to, yt, vtk] = ["clumps.hdf5", "yt", "vtk"].map(|name| room.path(name));
    let search = ["phew", &input, "-o", &to, "--density-threshold", "2", "--saddle-threshold", "200"];
    done(&[&search[..], &["--field", "density", "--with-cells", "--yt", &yt, "--vtk", &vtk]].concat());
    for kind in ["fits", "ecsv"] {
        done(&["convert", &to, "--to", kind, "-o", &room.path(&format!("clumps.{kind}"))]);
    }
    let run = |code: &str| {
        let out = Command::new(&python).args(["-c", code, &to]).current_dir(room.path("")).output();
        let out = out.expect("Python");
        assert!(out.status.success(), "{code}: {}", String::from_utf8_lossy(&out.stderr));
    };
    run(include_str!("viewers.py"));
    let examples = include_str!("../../docs/viewers.md").split("```python\n").skip(1);
    let examples: Vec<&str> = examples.map(|rest| rest.split("```").next().expect("an end")).collect();
    assert_eq!(examples.len(), 2);
    examples.into_iter().for_each(run);
}
