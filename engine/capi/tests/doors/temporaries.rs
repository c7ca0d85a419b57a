//! Arguments of a Fortran host that are gone after a call: calls read them before, and nothing else takes them.

use crate::build::{Room, manifest, run};
use std::process::Command;

const OPTIONS: [&str; 4] = ["-std=f2018", "-Wall", "-Wextra", "-Werror"];

#[test]
fn calls_read_expressions_while_they_are_there() {
    for optimised in ["-O0", "-O2"] {
        let room = Room::new();
        let sources = [manifest("fortran/inselberg.f90"), manifest("tests/doors/temporaries.f90")];
        let options = [&OPTIONS[..], &["-g", "-fcheck=all", optimised]].concat();
        let Some(program) = room.compile("gfortran", &options, &sources) else { return };
        let said = run(Command::new(program).arg(room.path()));
        assert!(said.contains("all good"), "{said}");
    }
}

/// A program with this one line on arrays.
fn program(line: &str) -> String {
    format!(
        "program p
  use, intrinsic :: iso_c_binding
  use inselberg
  implicit none
  type(inselberg_column) :: c
  type(inselberg_output) :: o
  real(c_double), target :: x(3, 5) = 0
  real(c_double) :: plain(5) = 0
  integer(c_int32_t), target :: list(2) = [2, 1], labels(5) = 0
  {line}
end program
"
    )
}

#[test]
fn the_compiler_refuses_to_describe_what_will_be_gone() {
    let room = Room::new();
    let compiles = |line: &str| {
        let source = room.path().join("line.f90");
        std::fs::write(&source, program(line)).expect("written");
        let mut command = Command::new("gfortran");
        command.current_dir(room.path()).args(["-std=f2018", "-c"]);
        command.arg(manifest("fortran/inselberg.f90")).arg(source).output().map(|out| out.status.success())
    };
    for (line, is_good) in [
        ("c = inselberg_values('position', x)", true),
        ("c = inselberg_values('position', x(:, ::2), list)", true),
        ("o = inselberg_into(labels, list)", true),
        ("c = inselberg_values('position', x*1d-3)", false),
        ("c = inselberg_values('mass', plain)", false),
        ("c = inselberg_values('position', x, [2, 1])", false),
        ("o = inselberg_into(labels, [2, 1])", false),
    ] {
        let Ok(found) = compiles(line) else {
            println!("skipped: there is no gfortran");
            return;
        };
        assert_eq!(found, is_good, "{line}");
    }
}
