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

/// What C program number `i` says.
fn said_in_c(room: &Room, i: usize) -> String {
    let source = room.path().join("host.c");
    std::fs::write(&source, &blocks("c")[i]).expect("written");
    let options = ["-std=c11", "-Wall", "-Wextra", "-Werror"];
    let program = room.compile("cc", &options, &[source]).expect("a C compiler");
    run(Command::new(program).current_dir(room.path()))
}

#[test]
fn the_c_program_runs() {
    let room = Room::new();
    let said = said_in_c(&room, 0);
    assert!(said.contains("2 clumps in 1 haloes"), "{said}");
    assert!(room.text("clumps.csv").contains("peak_position"));
}

#[test]
fn the_c_program_with_a_tree_runs() {
    let room = Room::new();
    let said = said_in_c(&room, 1);
    assert!(said.contains("3 outputs"), "{said}");
    assert!(room.text("tree.nodes.csv").contains("main_progenitor"));
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
