//! The program as one of several ranks, and its messages about ranks.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn command(args: &[&str]) -> Command {
    on_threads("2", args)
}

fn on_threads(n_threads: &str, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_inselberg"));
    command.args(args).args(["--threads", n_threads]).stdin(Stdio::null());
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
    let (input, to) = (text(&crate::common::output("dm_1rank")), text(&room.path().join("c.csv")));
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
    let (input, to) = (text(&crate::common::output("dm_1rank")), text(&room.path().join("c.csv")));
    let none = text(&room.path().join("none"));
    for (args, part) in [
        (phew_args(&none, &to, &["--ranks", "4"]), "none"),
        (phew_args(&input, &none, &["--ranks", "4"]), "no ending"),
        (phew_args(&input, &to, &["--ranks", "0"]), "--ranks: `0` for ranks; expected 1 to 65536"),
        (phew_args(&input, &to, &["--stall-timeout", "-1"]), "--stall-timeout: `-1`"),
    ] {
        let (code, line) = said(&command(&args).output().expect("starts"));
        assert_eq!((code, line.lines().count()), (Some(2), 1), "{line}");
        assert!(line.contains(part), "{line}");
    }
}

/// What launchers set: the number of processes, and which of them this is.
const LAUNCHERS: [[&str; 2]; 3] = [
    ["OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"],
    ["PMI_SIZE", "PMI_RANK"],
    ["SLURM_STEP_NUM_TASKS", "SLURM_PROCID"],
];

/// As a script would start it that a launcher runs as process 1 of 3.
fn claimed(launcher: [&str; 2], args: &[&str]) -> Output {
    let mut command = command(args);
    command.env(launcher[0], "3").env(launcher[1], "1").output().expect("starts")
}

#[test]
fn what_is_not_divided_is_done_by_every_process_that_is_alone() {
    let room = tempfile::tempdir().expect("a folder");
    let (input, whole) = (text(&crate::common::output("dm_1rank")), text(&room.path().join("whole.csv")));
    assert!(command(&phew_args(&input, &whole, &[])).output().expect("starts").status.success());
    for (i, launcher) in LAUNCHERS.into_iter().enumerate() {
        let [field, cut] = [format!("box{i}"), format!("cut{i}.csv")].map(|name| room.path().join(name));
        let (to, cut_to) = (text(&field), text(&cut));
        for args in [
            &["synth", "field", "--test-cells", "1000", "-o", &to][..],
            &["recut", &whole, "-o", &cut_to, "--relevance-threshold", "5"],
            &["info", &input],
        ] {
            let out = claimed(launcher, args);
            assert_eq!(said(&out), (Some(0), String::new()), "{launcher:?}: {args:?}");
            assert!(!out.stdout.is_empty(), "{launcher:?}: {args:?}");
        }
        assert!(field.join("output_00001").is_dir() && cut.is_file(), "{launcher:?}");
        let (code, lines) = said(&claimed(launcher, &["info", "no/such/file"]));
        assert_eq!((code, lines.lines().count()), (Some(2), 1), "{lines}");
        let (code, lines) = said(&claimed(launcher, &["phew", "--no-such-option"]));
        assert_eq!((code, lines.lines().count()), (Some(2), 1), "{lines}");
    }
}

/// Each has a snapshot of its own, as tasks of a job script have.
#[test]
fn processes_that_mpi_does_not_know_are_runs_of_their_own_and_say_so() {
    let room = tempfile::tempdir().expect("a folder");
    let (input, to) = (text(&crate::common::output("dm_1rank")), room.path().join("c.csv"));
    let file = text(&room.path().join("alone.toml"));
    std::fs::write(&file, "no_mpi = true\n").expect("written");
    for launcher in LAUNCHERS {
        for (more, is_told) in [
            (&[][..], true),
            (&["--ranks", "2"], true),
            (&["--no-mpi"], false),
            (&["--config", &file], false),
            (&["--quiet"], false),
        ] {
            let out = claimed(launcher, &phew_args(&input, &text(&to), more));
            let (code, lines) = said(&out);
            assert_eq!((code, lines.lines().count()), (Some(0), usize::from(is_told)), "{more:?}: {lines}");
            let warns = lines.starts_with("inselberg: warning: ") && lines.contains("one of 3 processes");
            assert!(warns == is_told && lines.contains("--no-mpi") == is_told, "{more:?}: {lines}");
            std::fs::remove_file(&to).expect("a catalogue");
        }
    }
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
        let (input, to) = (text(&crate::common::output("dm_1rank")), text(&room.path().join("c.csv")));
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

/// Except for the attributes of the run.
fn same_catalogue(a: &Path, b: &Path) {
    let [mut a, mut b] = [a, b].map(|path| inselberg_io::catalogue::read(path).expect("a catalogue"));
    for catalogue in [&mut a, &mut b] {
        catalogue.attributes.retain(|(name, _)| !name.starts_with("run_"));
    }
    crate::common::compare::assert_same(&a, &b, "ranks");
}

#[test]
fn any_number_of_ranks_writes_the_same_catalogue() {
    let input = text(&crate::common::output("dm_1rank"));
    for ending in ["csv", inselberg_io::catalogue::FORMATS[0].extensions[0]] {
        let room = tempfile::tempdir().expect("a folder");
        let path = |name: &str| room.path().join(format!("{name}.{ending}"));
        let more = ["--with-cells", "--with-particles", "--unbind", "--with-members"];
        let one = command(&phew_args(&input, &text(&path("one")), &more)).output().expect("starts");
        assert_eq!(said(&one), (Some(0), String::new()));
        for (ranks, threads) in [("1", "1"), ("2", "1"), ("3", "2"), ("5", "1"), ("8", "2")] {
            let (lists, to) = (text(&room.path().join(format!("lists{ranks}"))), text(&path("many")));
            let more = [&more[..], &["--ranks", ranks, "--json", "--ramses-text", &lists]].concat();
            let args = phew_args(&input, &to, &more);
            let many = on_threads(threads, &args).output().expect("starts");
            assert_eq!(said(&many), (Some(0), String::new()));
            let json: Value = serde_json::from_slice(&many.stdout).expect("one object");
            if ranks != "1" {
                assert_eq!(json["ranks"]["n_ranks"].to_string(), ranks);
            }
            same_catalogue(&path("one"), &path("many"));
            assert_eq!(std::fs::read_dir(&lists).expect("the lists").count(), 2);
        }
    }
}

#[test]
fn a_piece_that_only_one_rank_reads_is_named_once_with_rank_and_stage() {
    let (room, folder) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let output = crate::common::resplit(&crate::common::output("dm_1rank"), folder.path(), 3);
    let file = output.join("grav_00002.out00003");
    let bytes = std::fs::read(&file).expect("a file");
    std::fs::write(&file, &bytes[..bytes.len() * 2 / 3]).expect("cut");
    let (input, to) = (text(&output), text(&room.path().join("c.csv")));
    let start = std::time::Instant::now();
    let (code, line) = said(&command(&phew_args(&input, &to, &["--ranks", "3"])).output().expect("starts"));
    assert_eq!((code, line.lines().count()), (Some(2), 1), "{line}");
    assert!(line.contains("grav_00002.out00003") && line.contains("rank "), "{line}");
    assert!(start.elapsed().as_secs() < 10);
    assert_eq!(std::fs::read_dir(room.path()).expect("the room").count(), 0);
}

/// From a trace: the bytes that the first rank received, and the stages of its calls.
fn of_first_rank(trace: &Path) -> (u64, BTreeSet<String>) {
    let text = std::fs::read(trace).expect("a trace");
    let trace: Value = serde_json::from_slice(&text).expect("one object");
    let events = trace["traceEvents"].as_array().expect("events").iter().filter(|event| event["pid"] == 0);
    let (mut bytes, mut stages) = (0, BTreeSet::new());
    for event in events {
        if event["name"].as_str().is_some_and(|name| name.starts_with("receive from")) {
            bytes += event["args"]["bytes"].as_u64().expect("a count");
        }
        stages.extend(event["args"]["stage"].as_str().map(String::from));
    }
    (bytes, stages)
}

#[test]
fn clumps_come_to_the_first_rank_where_they_are_asked_for() {
    let room = tempfile::tempdir().expect("a folder");
    let input = text(&crate::common::output("dm_1rank"));
    let path = |name: &str| text(&room.path().join(name));
    let (to, lists, trace) = (path("c.hdf5"), path("lists"), path("t.json"));
    let mut received = Vec::new();
    for (more, is_asked_for) in [(&[][..], false), (&["--ramses-text", lists.as_str()], true)] {
        let more = [&["--ranks", "16", "--trace", &trace][..], more].concat();
        let out = command(&phew_args(&input, &to, &more)).output().expect("starts");
        assert_eq!(said(&out), (Some(0), String::new()));
        let (bytes, stages) = of_first_rank(Path::new(&trace));
        assert_eq!(stages.contains("lists"), is_asked_for, "{stages:?}");
        received.push(bytes);
    }
    assert!(received[0] < received[1], "{received:?}");
}

#[cfg(feature = "plot")]
#[test]
fn a_picture_reaches_the_first_rank_once() {
    /// 512 pixels a side, each an exact sum.
    const PICTURE: u64 = 512 * 512 * 16;
    let room = tempfile::tempdir().expect("a folder");
    let input = text(&crate::common::output("dm_1rank"));
    let path = |name: &str| text(&room.path().join(name));
    let (to, plot, trace) = (path("c.csv"), path("c.svg"), path("t.json"));
    let more = ["--ranks", "16", "--trace", &trace, "--plot", &plot];
    let out = command(&phew_args(&input, &to, &more)).output().expect("starts");
    assert_eq!(said(&out), (Some(0), String::new()));
    let (bytes, stages) = of_first_rank(Path::new(&trace));
    assert!(stages.contains("picture") && bytes < 3 * PICTURE, "{bytes} bytes");
}

/// A program with little memory and few open files: more than a thousand ranks need no more than a few ranks
/// do.
#[cfg(unix)]
fn limited(args: &[&str]) -> Output {
    let script = "ulimit -n 64 && ulimit -v 4000000 && exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_inselberg")]).args(args).args([
        "--threads",
        "2",
        "--quiet",
    ]);
    command.stdin(Stdio::null()).output().expect("starts")
}

/// `command` writes the same over several ranks within limits as on one rank.
#[cfg(unix)]
fn many_ranks_are_one(n_ranks: &str) {
    let room = tempfile::tempdir().expect("a folder");
    let path = |name: &str| text(&room.path().join(name));
    let cells = path("cells");
    let made = ["synth", "field", "-o", &cells, "--test-cells", "3e4", "--quiet"];
    assert_eq!(
        said(&Command::new(env!("CARGO_BIN_EXE_inselberg")).args(made).output().expect("starts")).0,
        Some(0)
    );
    let cells = path("cells/output_00001");
    let run = |args: &[&str]| assert_eq!(said(&limited(args)), (Some(0), String::new()), "{args:?}");
    for (ranks, name) in [("1", "one"), (n_ranks, "many")] {
        let ranks = ["--ranks", ranks];
        let to = |what: &str| path(&format!("{name}.{what}"));
        let (box_file, side) = (to("npy"), "27.144178390502930");
        run(&[&["synth", "particles", "-o", &box_file, "--number", "2e4"][..], &ranks].concat());
        let thresholds = ["--density-threshold", "80", "--saddle-threshold", "200"];
        run(&[&["phew", &cells, "-o", &to("phew.hdf5"), "--with-cells"][..], &thresholds, &ranks].concat());
        let on_mesh = ["phew", &box_file, "--mesh-from-particles", "--box", side, "-o", &to("mesh.hdf5")];
        run(&[&on_mesh[..], &thresholds, &ranks].concat());
        let groups = ["fof", &box_file, "--box", side, "--linking-length", "0.2", "--min-size", "20"];
        run(&[&groups[..], &["-o", &to("fof.hdf5"), "--group-ids", &to("ids.hdf5")], &ranks].concat());
    }
    for what in ["phew.hdf5", "mesh.hdf5", "fof.hdf5", "ids.hdf5"] {
        let [one, many] = ["one", "many"].map(|name| room.path().join(format!("{name}.{what}")));
        same_catalogue(&one, &many);
    }
    let bytes = |name: &str| std::fs::read(path(name)).expect("particles");
    assert!(bytes("one.npy") == bytes("many.npy"));
}

#[cfg(all(unix, feature = "hdf5"))]
#[test]
fn two_hundred_and_fifty_six_ranks_within_limits() {
    many_ranks_are_one("256");
}

#[cfg(all(unix, feature = "hdf5"))]
#[test]
#[ignore = "slow: run by .ci/run --full"]
fn a_thousand_ranks_within_limits() {
    many_ranks_are_one("1000");
}

/// Their stacks are larger than the memory that the program may have.
#[cfg(unix)]
#[test]
fn threads_that_are_of_no_use_are_not_started() {
    let room = tempfile::tempdir().expect("a folder");
    let (input, to) = (text(&crate::common::output("dm_1rank")), text(&room.path().join("c.csv")));
    let line = "ulimit -v 100000000; exec \"$0\" \"$@\"";
    let mut shell = Command::new("sh");
    shell.args(["-c", line, env!("CARGO_BIN_EXE_inselberg")]).args(phew_args(&input, &to, &[]));
    shell.args(["--threads", "4096"]).env("RUST_MIN_STACK", "33554432");
    let (code, lines) = said(&shell.output().expect("a shell"));
    let is_known = |line: &str| line.starts_with("inselberg: warning: rank 0 has ");
    assert!(code == Some(0) && lines.lines().all(is_known), "{code:?} {lines}");
    assert!(Path::new(&to).is_file());
}
