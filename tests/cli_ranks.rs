//! The program as one of several ranks, and what it says of ranks.

mod common;

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_inselberg"));
    command.args(args).args(["--threads", "2"]).stdin(Stdio::null());
    command
}

fn phew_args<'a>(input: &'a str, to: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let thresholds = ["--density-threshold", "40", "--saddle-threshold", "200"];
    [&["phew", input, "-o", to], &thresholds[..], more].concat()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Exit code and the lines on stderr.
fn said(out: &Output) -> (Option<i32>, String) {
    (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
}

#[test]
fn diagnostics_say_how_evenly_the_ranks_worked_and_what_they_sent() {
    let room = tempfile::tempdir().expect("a folder");
    let (input, to) = (text(&common::output("dm_1rank")), text(&room.path().join("c.csv")));
    let out = command(&phew_args(&input, &to, &["--diagnostics", "--ranks", "1"])).output().expect("starts");
    assert_eq!(said(&out), (Some(0), String::new()));
    let table = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(table.contains("load, 1 rank") && table.contains("traffic"), "{table}");
    let out = command(&phew_args(&input, &to, &["--diagnostics", "--json"])).output().expect("starts");
    let json: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(json["ranks"]["n_ranks"], 1);
    assert_eq!(json["ranks"]["load"][0]["stage"], json["stages"][0]["name"]);
    let out = command(&phew_args(&input, &to, &["--json"])).output().expect("starts");
    let json: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert!(json["ranks"].is_null());
}

#[test]
fn mistakes_are_said_once_before_ranks_start() {
    let room = tempfile::tempdir().expect("a folder");
    let (input, to) = (text(&common::output("dm_1rank")), text(&room.path().join("c.csv")));
    let none = text(&room.path().join("none"));
    for (args, part) in [
        (phew_args(&none, &to, &["--ranks", "4"]), "none"),
        (phew_args(&input, &none, &["--ranks", "4"]), "no ending"),
        (phew_args(&input, &to, &["--ranks", "0"]), "--ranks: `0` is no value for ranks; expected 1 to 1024"),
        (phew_args(&input, &to, &["--stall-timeout", "-1"]), "--stall-timeout: `-1`"),
    ] {
        let (code, line) = said(&command(&args).output().expect("starts"));
        assert_eq!((code, line.lines().count()), (Some(2), 1), "{line}");
        assert!(line.contains(part), "{line}");
    }
}

/// As a launcher would start it, in two ways.
#[test]
fn ranks_of_a_launcher_and_ranks_of_our_own_do_not_mix() {
    let room = tempfile::tempdir().expect("a folder");
    let (input, to) = (text(&common::output("dm_1rank")), text(&room.path().join("c.csv")));
    for names in [["OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"], ["PMI_SIZE", "PMI_RANK"]] {
        for rank in ["0", "2"] {
            let mut command = command(&phew_args(&input, &to, &["--ranks", "2"]));
            command.env(names[0], "3").env(names[1], rank);
            let (code, line) = said(&command.output().expect("starts"));
            assert_eq!(code, Some(2));
            let told = line.contains("--ranks: `2`") && line.contains("one of 3 ranks; expected");
            assert!(told == (rank == "0") && line.lines().count() == usize::from(told), "{line}");
        }
    }
}

#[test]
fn only_the_first_of_many_processes_speaks_before_they_meet() {
    for (rank, n_lines) in [("0", 1), ("1", 0)] {
        for args in [&["phew", "--no-such-option"][..], &["info", "no/such/file"]] {
            let mut command = command(args);
            command.env("OMPI_COMM_WORLD_SIZE", "2").env("OMPI_COMM_WORLD_RANK", rank);
            let (_, lines) = said(&command.output().expect("starts"));
            assert_eq!(lines.lines().count(), n_lines, "{args:?}: {lines}");
        }
    }
}

#[cfg(not(feature = "mpi"))]
#[test]
fn a_program_without_mpi_says_so_where_it_is_one_of_many() {
    let room = tempfile::tempdir().expect("a folder");
    let (input, to) = (text(&common::output("dm_1rank")), text(&room.path().join("c.csv")));
    let mut command = command(&phew_args(&input, &to, &[]));
    command.env("PMI_SIZE", "2").env("PMI_RANK", "0");
    let (code, line) = said(&command.output().expect("starts"));
    assert_eq!((code, line.lines().count()), (Some(2), 1), "{line}");
    assert!(
        line.contains("one of 2 MPI ranks, but it was built without MPI (cargo feature `mpi`)"),
        "{line}"
    );
}

/// The program under mpirun, where there is one.
#[cfg(feature = "mpi")]
mod processes {
    use super::*;

    fn mpirun(args: &[&str]) -> Option<Output> {
        let version = Command::new("mpirun").arg("--version").output();
        let Ok(version) = version else {
            println!("skipped: there is no mpirun");
            return None;
        };
        let mut command = Command::new("mpirun");
        command.args(["-n", "3"]);
        if String::from_utf8_lossy(&version.stdout).contains("Open MPI") {
            command.args(["--oversubscribe", "--bind-to", "none"]);
            command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
            command.env("OMPI_MCA_mpi_yield_when_idle", "1");
        }
        command.arg(env!("CARGO_BIN_EXE_inselberg")).args(args).args(["--threads", "1"]).stdin(Stdio::null());
        Some(command.output().expect("mpirun runs"))
    }

    #[test]
    fn a_mistake_is_said_once_and_ends_all() {
        let room = tempfile::tempdir().expect("a folder");
        let (input, to) = (text(&common::output("dm_1rank")), text(&room.path().join("c.csv")));
        let none = text(&room.path().join("none"));
        for (args, part, code) in [
            (phew_args(&none, &to, &[]), "none: there is no such file", Some(2)),
            (phew_args(&input, &none, &[]), "none: no ending", Some(2)),
            (phew_args(&input, &to, &["--ranks", "2"]), "--ranks: `2`", Some(2)),
            (phew_args(&input, &to, &["--field", "nope"]), "the input has no field `nope`", None),
        ] {
            let start = std::time::Instant::now();
            let Some(out) = mpirun(&args) else { return };
            let (status, lines) = said(&out);
            assert!(status != Some(0) && code.is_none_or(|code| status == Some(code)), "{status:?}: {lines}");
            assert_eq!(lines.matches(part).count(), 1, "{lines}");
            assert!(start.elapsed().as_secs() < 20);
            assert_eq!(std::fs::read_dir(room.path()).expect("the room").count(), 0);
        }
    }
}
