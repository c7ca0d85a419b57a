//! Too little memory: one line with the reason, exit code 2, and no files left. If it is certain, the job is
//! refused before the work.

use crate::common::room::{Room, done};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The program with an address space of this number of MiB.
fn limited(mib: u64, args: &[&str]) -> Command {
    limited_by(("-v", mib), args)
}

/// The program with a limit of `ulimit`, in MiB.
fn limited_by((option, mib): (&str, u64), args: &[&str]) -> Command {
    limited_to(&format!("{option} {}", mib << 10), args)
}

/// The program with an option of `ulimit` and its value.
fn limited_to(limit: &str, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    let script = format!("ulimit -c 0; ulimit {limit} && exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_inselberg")]);
    // Other arenas of the C library take addresses that they may never use.
    command.args(args).env("MALLOC_ARENA_MAX", "1").stdin(Stdio::null());
    command
}

/// The least MiB of address space in which the program starts its threads and reads what is in a file.
fn base(file: &str, threads: &str) -> u64 {
    let starts = |mib: &u64| {
        let out = limited(*mib, &["info", file, "--threads", threads]).output().expect("a shell");
        out.status.success()
    };
    (32..4096).step_by(4).find(starts).expect("it starts with 4 GiB")
}

fn stderr(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

/// Rust's runtime ends the process itself where a thread that begins gets no memory for its signal stack. The
/// panic comes before anything can catch it. One run of sixty ends so where memory just suffices for the
/// threads, with other ranks already at work.
const NO_SIGNAL_STACK: &str = "failed to initiate panic, error 5";

/// With less and less memory a job is done or refused in one line. Returns the lines, without repeats.
fn refusals(room: &Room, args: &[&str], result: &str, mib: impl Iterator<Item = u64>) -> Vec<String> {
    let (before, mut lines) = (room.names(), Vec::new());
    let mut n_done = 0;
    for mib in mib {
        let out = limited(mib, args).output().expect("a shell");
        let said = stderr(&out);
        if out.status.success() {
            n_done += 1;
            assert!(Path::new(result).is_file(), "{mib} MiB, {args:?}: no result");
            for name in room.names().into_iter().filter(|name| !before.contains(name)) {
                std::fs::remove_file(room.path(&name)).expect("a result");
            }
            continue;
        }
        assert_eq!(room.names(), before, "{mib} MiB, {args:?} left something: {said}");
        if said.contains(NO_SIGNAL_STACK) {
            continue;
        }
        assert_eq!(out.status.code(), Some(2), "{mib} MiB, {args:?}: {said}");
        assert!(said.starts_with("inselberg: error: ") && said.lines().count() == 1, "{mib} MiB: {said}");
        lines.push(said);
    }
    assert!(n_done > 0, "{args:?}: the most memory suffices; {lines:?}");
    lines
}

#[test]
fn out_of_memory_is_one_line_on_threads_and_ranks() {
    let room = Room::new();
    let (field, npy, to) = (room.path("field"), room.path("box.npy"), room.path("c.csv"));
    done(&["synth", "field", "-o", &field, "--test-cells", "100000"]);
    done(&["synth", "particles", "-o", &npy, "--number", "300000"]);
    let snapshot = format!("{field}/output_00001");
    let phew = ["phew", &snapshot, "-o", &to, "--density-threshold", "80"];
    let mesh = ["phew", &npy, "--mesh-from-particles", "--box", "67", "-o", &to, "--density-threshold", "80"];
    let fof = ["fof", &npy, "-o", &to, "--linking-length", "0.2", "--box", "67"];
    let base = base(&npy, "2");
    let mut lines = Vec::new();
    for (job, ranks) in [(&phew[..], "1"), (&phew, "3"), (&mesh, "1"), (&fof, "3")] {
        let args = [job, &["--threads", "2", "--quiet", "--ranks", ranks]].concat();
        let steps = [8, 12, 16, 20, 24, 28, 32, 1024].into_iter().map(|more| base + more);
        lines.extend(refusals(&room, &args, &to, steps));
    }
    let n_ended = lines.iter().filter(|line| line.starts_with("inselberg: error: out of memory: ")).count();
    assert!(n_ended > 2, "{lines:#?}");
}

/// Memory may end before the line that says so is made: then it must not need any.
#[test]
fn a_program_that_is_just_loaded_says_why_it_ends() {
    let run = |kib: u64| limited_to(&format!("-v {kib}"), &["phew"]).output().expect("a shell");
    // Before, the loader ends with 127 or by a signal. The program ends with 2: it is given no input.
    let is_loaded = |out: &Output| out.status.code() == Some(2);
    let enough = (8..4096).map(|mib| mib << 10).find(|kib| is_loaded(&run(*kib))).expect("4 GiB");
    let mut n_out_of_memory = 0;
    for kib in (enough - 1024..enough + 2048).step_by(64) {
        let out = run(kib);
        let said = stderr(&out);
        if is_loaded(&out) && !said.contains(NO_SIGNAL_STACK) {
            // Libraries may say something of their own before.
            assert!(said.contains("inselberg: error: "), "{kib} KiB, {}: {said}", out.status);
            n_out_of_memory += u32::from(said.contains("inselberg: error: out of memory: "));
        }
    }
    assert!(n_out_of_memory > 0, "memory ends in the program at one of these limits");
}

#[test]
fn nothing_half_written_stays_where_memory_ends_while_writing() {
    let room = Room::new();
    let (few, npy, meta) = (room.path("few.npy"), room.path("box.npy"), room.path("box.json"));
    done(&["synth", "particles", "-o", &few, "--number", "1000"]);
    let args = ["synth", "particles", "-o", &npy, "--number", "1200000", "--threads", "2", "--quiet"];
    let (base, before) = (base(&few, "2"), room.names());
    let mut n_refused = 0;
    for mib in [8, 12, 1024].map(|more| base + more) {
        let out = limited(mib, &args).output().expect("a shell");
        let said = stderr(&out);
        if out.status.success() {
            [&npy, &meta].into_iter().for_each(|path| std::fs::remove_file(path).expect("a result"));
        } else {
            n_refused += 1;
            assert_eq!((out.status.code(), said.lines().count()), (Some(2), 1), "{mib} MiB: {said}");
        }
        assert_eq!(room.names(), before, "{mib} MiB: {said}");
    }
    assert_eq!(n_refused, 2);
}

#[test]
fn what_surely_does_not_fit_is_refused_with_the_estimate_beside_the_limit() {
    let room = Room::new();
    let (npy, to) = (room.path("box.npy"), room.path("c.csv"));
    done(&["synth", "particles", "-o", &npy, "--number", "4000"]);
    let limits = ["takes at least", "are left", "expected"];
    room.refuses(
        &["synth", "field", "-o", &to, "--test-cells", "1e12"],
        &[&limits[..], &["--test-cells: `1000000000000`"]].concat(),
    );
    // A gigabyte is more than any of these needs to start, and less than it certainly takes in all.
    let refuses = |args: &[&str], part: &str| {
        room.refuses_command(limited(1024, args), &[&limits[..], &["ulimit -v", part]].concat());
    };
    refuses(&["synth", "particles", "-o", &npy, "--number", "6e10"], "--number: `60000000000`");
    let fof = ["fof", &npy, "--box", "16", "-o", &to, "--linking-length", "0.2"];
    refuses(&[&fof[..], &["--ranks", "65536"]].concat(), "--ranks: `65536`");
    let mesh = ["phew", &npy, "--mesh-from-particles", "--box", "16", "-o", &to, "--density-threshold", "80"];
    let fine = ["68719476736 cells for 4000 particles", "expected at most 1073741824 cells"];
    room.refuses(&[&mesh[..], &["--level-min", "12"]].concat(), &fine);
    let picture = room.path("c.svg");
    if cfg!(feature = "plot") {
        refuses(&[&mesh[..], &["--plot", &picture, "--threads", "1", "--ranks", "999"]].concat(), "--plot");
    }
}

#[test]
fn an_input_larger_than_the_memory_is_refused_before_it_is_read() {
    let room = Room::new();
    let (field, npy, to) = (room.path("field"), room.path("box.npy"), room.path("c.csv"));
    done(&["synth", "field", "-o", &field, "--test-cells", "500000"]);
    done(&["synth", "particles", "-o", &npy, "--number", "1000000"]);
    let snapshot = format!("{field}/output_00001");
    let refuses = |limit: (&str, u64), args: &[&str], parts: [&str; 2]| {
        let parts = [&parts[..], &["takes at least", "are left"]].concat();
        room.refuses_command(limited_by(limit, &[args, &["--threads", "1"]].concat()), &parts);
    };
    let phew = ["phew", &snapshot, "-o", &to, "--density-threshold", "80"];
    // Files that are mapped are no data.
    refuses(("-d", 16), &phew, ["output_00001: a run on", "ulimit -d"]);
    let mib = base(&npy, "1") + 4;
    let fof = ["fof", &npy, "-o", &to, "--box", "74", "--linking-length", "0.2"];
    refuses(("-v", mib), &fof, ["box.npy: a search among 1000000 particles", "ulimit -v"]);
    let mesh = ["phew", &npy, "--mesh-from-particles", "--box", "74", "-o", &to, "--density-threshold", "80"];
    refuses(("-v", mib), &mesh, ["box.npy: a mesh from its particles", "ulimit -v"]);
}

/// All cells above the coarse level are split, but only those of a part of the box are in memory at a time.
#[test]
fn a_fine_coarse_level_takes_the_memory_of_a_part_of_the_box() {
    let room = Room::new();
    let (npy, to) = (room.path("box.npy"), room.path("c.csv"));
    done(&["synth", "particles", "-o", &npy, "--number", "4000"]);
    let mesh = ["phew", &npy, "--mesh-from-particles", "--box", "16", "-o", &to, "--density-threshold", "80"];
    let args = [&mesh[..], &["--level-min", "8", "--level-max", "8", "--threads", "1", "--quiet"]].concat();
    let out = limited(base(&npy, "1") + 96, &args).output().expect("a shell");
    assert_eq!((out.status.code(), stderr(&out)), (Some(0), String::new()));
}
