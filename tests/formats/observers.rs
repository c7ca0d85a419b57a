//! What observers get from FITS cubes and images, against astropy and astrodendro.

use crate::common::python::python;
use crate::common::room::Room;
use std::process::Command;

#[test]
fn catalogues_of_astrodendro_from_our_dendrograms_are_its_own() {
    let Some(python) = python() else { return };
    let room = Room::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats/observers.py");
    let program = env!("CARGO_BIN_EXE_inselberg");
    let out = Command::new(&python).args([script, program, &room.path("")]).output().expect("Python");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}
