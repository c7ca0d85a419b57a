//! `--log` and `--verbose`: what happens when.

use crate::common::room::{Room, command, done};
use crate::common::{output, resplit};
use std::fs;
use std::path::Path;

const THRESHOLDS: [&str; 4] = ["--density-threshold", "40", "--saddle-threshold", "200"];

fn args<'a>(input: &'a str, to: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["phew", input, "-o", to], &THRESHOLDS[..], more].concat()
}

fn input() -> String {
    output("dm_1rank").to_string_lossy().into_owned()
}

/// The texts of the lines with a time, and the seconds of each.
fn entries(log: &str) -> Vec<(f64, String)> {
    let entry = |line: &str| {
        let mut words = line.splitn(2, "Z ");
        let (day, rest) = (words.next()?, words.next()?);
        let (seconds, text) = rest.split_once(" s  ")?;
        let is_day = day.len() == 19 && day.as_bytes()[10] == b'T';
        is_day.then_some((seconds.trim().parse().ok()?, text.to_string()))
    };
    log.lines().filter_map(entry).collect()
}

#[test]
fn a_log_has_the_command_the_stages_the_summary_and_goes_on_in_the_next_run() {
    let room = Room::new();
    let (input, to, log) = (input(), room.path("c.csv"), room.path("run.log"));
    for more in [&["--log", &log][..], &["--log", &log, "--ranks", "2"], &["--log", &log, "--quiet"]] {
        let said = done(&args(&input, &to, more));
        assert_eq!(said.is_empty(), more.contains(&"--quiet"), "{more:?}");
    }
    let text = fs::read_to_string(&log).expect("a log");
    let runs: Vec<&str> = text.split("# inselberg ").skip(1).collect();
    assert_eq!(runs.len(), 3);
    for run in &runs {
        assert!(run.starts_with(env!("CARGO_PKG_VERSION")), "{run}");
        let entries = entries(run);
        assert!(entries.windows(2).all(|pair| pair[0].0 <= pair[1].0), "{run}");
        let texts: Vec<&str> = entries.iter().map(|entry| entry.1.as_str()).collect();
        assert!(texts[0].starts_with("command: ") && texts[0].contains("--density-threshold 40"), "{run}");
        for stage in ["reading", "ascent", "forest", "write"] {
            let begin = texts.iter().position(|text| *text == format!("{stage}: begins")).expect("a begin");
            let ended = |text: &&str| text.starts_with(&format!("{stage}: ")) && text.contains(" s");
            assert!(texts[begin + 1..].iter().any(ended), "{stage}: {run}");
        }
        assert!(run.contains("    clumps"), "{run}");
    }
    // With several ranks the summary has the load of all.
    assert!(runs[1].contains("load, 2 ranks") && !runs[0].contains("load, "), "{}", runs[1]);
}

#[test]
fn verbose_tells_stages_on_standard_error_and_nothing_else_does() {
    let room = Room::new();
    let (input, to) = (input(), room.path("c.csv"));
    let said = |more: &[&str]| {
        let out = command(&args(&input, &to, more)).output().expect("starts");
        assert!(out.status.success());
        (String::from_utf8(out.stdout).expect("text"), String::from_utf8(out.stderr).expect("text"))
    };
    let (summary, quiet) = said(&[]);
    assert_eq!(quiet, "", "no progress where standard error is no terminal");
    let (same, stages) = said(&["--verbose"]);
    assert_eq!(same.lines().next(), summary.lines().next());
    assert!(stages.lines().all(|line| line.starts_with("inselberg: ")), "{stages}");
    assert!(stages.contains(" s: ascent: begins\n") && stages.contains(" items\n"), "{stages}");
    assert_eq!(said(&["-v", "--json"]).0.lines().next(), Some("{"));
}

/// Two processes of one launch replace each other's results where they cannot be ranks.
#[test]
fn commands_over_ranks_warn_of_a_launcher_that_they_do_not_know() {
    for command_line in [
        &["phew", "absent", "-o", "a.hdf5", "--density-threshold", "1"][..],
        &["fof", "absent", "-o", "a.hdf5"],
        &["voids", "absent", "-o", "a.hdf5"],
        &["tree", "absent_1", "absent_2", "-o", "a.hdf5"],
    ] {
        let out = command(command_line).env("PMI_SIZE", "3").output().expect("starts");
        let said = String::from_utf8(out.stderr).expect("text");
        assert!(said.contains("as one of 3 processes"), "{command_line:?}: {said}");
    }
}

#[test]
fn warnings_and_errors_are_in_the_log() {
    let room = Room::new();
    let (input, to, log) = (input(), room.path("c.csv"), room.path("run.log"));
    let mut run = command(&args(&input, &to, &["--log", &log]));
    let out = run.env("PMI_SIZE", "3").env("PMI_RANK", "1").output().expect("starts");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = fs::read_to_string(&log).expect("a log");
    assert!(text.contains("warning: a launcher started this program as one of 3 processes"), "{text}");
    // A snapshot whose cells are damaged.
    fs::create_dir(room.path("in")).expect("a folder");
    let folder = resplit(&output("dm_1rank"), Path::new(&room.path("in")), 2);
    let damaged = fs::read_dir(&folder).expect("there").flatten().map(|entry| entry.path());
    let damaged: Vec<_> = damaged.filter(|path| path.to_string_lossy().contains("part_")).collect();
    assert!(!damaged.is_empty());
    damaged.iter().for_each(|path| fs::write(path, [7; 40]).expect("written"));
    let out = command(&args(&folder.to_string_lossy(), &to, &["--log", &log])).output().expect("starts");
    let line = String::from_utf8(out.stderr).expect("text");
    assert_eq!(out.status.code(), Some(2), "{line}");
    let text = fs::read_to_string(&log).expect("a log");
    let told = line.trim().strip_prefix("inselberg: ").expect("an error");
    assert!(text.trim_end().ends_with(told), "{told}: {text}");
}

#[test]
fn a_series_logs_each_snapshot() {
    let room = Room::new();
    let (log, to) = (room.path("run.log"), room.path("c_{number}.csv"));
    for fate in [" clumps", ", complete in "] {
        done(&args(&input(), &to, &["--log", &log]));
        let text = fs::read_to_string(&log).expect("a log");
        let last = text.split("# inselberg ").last().expect("a run");
        assert!(last.contains("snapshot ") && last.contains(fate), "{last}");
    }
}

#[test]
fn a_log_that_cannot_be_written_is_one_line_and_no_file_is_harmed() {
    let room = Room::new();
    let (input, to) = (input(), room.path("c.csv"));
    let file = room.path("notes.txt");
    fs::write(&file, "my notes\n").expect("written");
    room.refuses(&args(&input, &to, &["--log", &file]), &["notes.txt", "is not a log of inselberg"]);
    assert_eq!(fs::read_to_string(&file).expect("there"), "my notes\n");
    room.refuses(&args(&input, &to, &["--log", &room.path("no/run.log")]), &["there is no folder"]);
    room.refuses(&args(&input, &to, &["--log", &to]), &["is both the catalogue and the log"]);
    let info = format!("{input}/info_00002.txt");
    room.refuses(&args(&info, &to, &["--log", &info]), &["is both the input and the log"]);
}
