//! Procedures of a Fortran program that the library calls.

use crate::build::{Room, manifest, run};
use std::process::Command;

#[test]
fn fortran_hears_progress_and_warnings() {
    let room = Room::new();
    let sources = [manifest("fortran/inselberg.f90"), manifest("tests/doors/callbacks.f90")];
    let options = ["-std=f2018", "-Wall", "-Wextra", "-Werror"];
    let Some(program) = room.compile("gfortran", &options, &sources) else { return };
    let said = run(&mut Command::new(program));
    assert!(said.contains("warning: the leaves fill 0.391 % of the box"), "{said}");
}
