//! The programs of docs/in-situ.md run as they stand there.

use crate::build::{Room, manifest, run};
use std::process::Command;

/// The blocks of a language.
fn blocks(language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(manifest("../../docs/in-situ.md")).expect("the page");
    let begin = format!("```{language}\n");
    let parts = text.split(&begin).skip(1);
    parts.map(|part| part.split("```").next().expect("a block").to_string()).collect()
}

#[test]
fn the_c_program_runs() {
    let room = Room::new();
    let source = room.path().join("host.c");
    std::fs::write(&source, blocks("c").concat()).expect("written");
    let options = ["-std=c11", "-Wall", "-Wextra", "-Werror"];
    let program = room.compile("cc", &options, &[source]).expect("a C compiler");
    let said = run(Command::new(program).current_dir(room.path()));
    assert!(said.contains("2 clumps in 1 haloes"), "{said}");
    assert!(room.text("clumps.csv").contains("peak_position"));
}

#[test]
fn the_fortran_program_runs() {
    let room = Room::new();
    let source = room.path().join("host.f90");
    std::fs::write(&source, blocks("fortran").concat()).expect("written");
    let options = ["-std=f2018", "-Wall", "-Wextra", "-Werror"];
    let sources = [manifest("fortran/inselberg.f90"), source];
    let Some(program) = room.compile("gfortran", &options, &sources) else { return };
    let said = run(Command::new(program).current_dir(room.path()));
    assert!(said.contains("2 clumps, 1 haloes"), "{said}");
}
