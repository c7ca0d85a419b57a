//! Other programs read the same particles: yt Gadget's and swiftsimio SWIFT's.

use crate::common::python::python;
use crate::common::room::{Room, done};
use std::path::PathBuf;
use std::process::Command;

/// Number, mass, centre, mean velocity and box of all dark matter, in physical units, are those of another program.
#[test]
fn particles_are_those_of_other_programs() {
    let Some(python) = python() else { return };
    let inputs: [(&str, PathBuf); 2] = [
        ("yt", crate::common::gadget4().join("snapshot_004.hdf5")),
        ("swiftsimio", crate::common::swift_fixture().join("snap_0000.hdf5")),
    ];
    for (program, input) in inputs {
        let (room, input) = (Room::new(), input.to_string_lossy().into_owned());
        let to = room.path("all.hdf5");
        done(&["fof", &input, "--open", "--linking-length", "300", "--min-size", "1", "-o", &to]);
        let script = include_str!("second_opinions.py");
        let out = Command::new(&python).args(["-c", script, program, &input, &to]).output().expect("Python");
        assert!(out.status.success(), "{program}: {}", String::from_utf8_lossy(&out.stderr));
    }
}
