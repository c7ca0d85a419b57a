//! A host that calls the library wrongly: every fault is one error on all ranks, and the next call works.

use crate::build::{Room, manifest, run};
use std::process::Command;

const OPTIONS: [&str; 6] = ["-std=c11", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"];

#[test]
fn faults_of_a_program_alone_are_errors() {
    let room = Room::new();
    let Some(program) = room.compile("cc", &OPTIONS, &[manifest("tests/doors/misuse.c")]) else { return };
    assert_eq!(run(Command::new(program).arg(room.path())).matches("all good").count(), 1);
}

#[cfg(feature = "mpi")]
#[test]
fn faults_of_one_rank_are_errors_of_all() {
    let room = Room::new();
    let compiler = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
    let options = [&OPTIONS[..], &["-DWITH_MPI"]].concat();
    let Some(program) = room.compile(&compiler, &options, &[manifest("tests/doors/misuse.c")]) else {
        return;
    };
    let _alone = crate::build::alone();
    for n_ranks in [1, 2, 4] {
        let Some(mut command) = crate::build::mpirun(n_ranks, &program) else { return };
        let said = run(command.arg(room.path()));
        assert_eq!(said.matches("all good").count(), n_ranks, "{said}");
    }
}
