//! The real program: help, exit codes, and one line for every mistake.

use inselberg_cli::config::{COMMANDS, OPTIONS, options_of};
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn inselberg(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_inselberg"));
    command.args(args).stdin(Stdio::null()).output().expect("the program starts")
}

/// The one line of a user error.
fn refused(args: &[&str]) -> String {
    let out = inselberg(args);
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(2), "{args:?}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{args:?}: {stderr}");
    assert!(stderr.starts_with("inselberg: error: "), "{args:?}: {stderr}");
    assert!(out.stdout.is_empty(), "{args:?}");
    stderr
}

fn refused_with(args: &[&str], part: &str) {
    let line = refused(args);
    assert!(line.contains(part), "{args:?}: {line}");
}

#[test]
fn help_lists_every_command_and_every_option() {
    let help = |args: &[&str]| {
        let out = inselberg(args);
        assert_eq!(out.status.code(), Some(0));
        String::from_utf8(out.stdout).expect("text")
    };
    let top = help(&["--help"]);
    for info in COMMANDS {
        assert!(top.contains(info.words[0]), "{}", info.table);
        let text = help(&[info.words, &["--help"]].concat());
        for opt in options_of(info.command) {
            assert!(text.contains(&opt.label()), "{}: {}", info.table, opt.name);
            assert!(text.contains(opt.help), "{}: {}", info.table, opt.name);
        }
    }
    assert!(!top.contains("\n  options"), "the maintainer's command is hidden");
}

#[test]
fn the_reference_lists_every_option_of_the_help() {
    let out = inselberg(&["options", "--reference"]);
    let text = String::from_utf8(out.stdout).expect("text");
    assert!(OPTIONS.iter().filter(|o| !o.key.is_empty()).all(|o| text.contains(&format!("#{} = ", o.key))));
}

#[test]
fn mistyped_command_lines_are_one_line() {
    refused_with(&[], "no command; expected phew");
    refused_with(&["pew"], "pew");
    refused_with(&["synth"], "no command");
    refused_with(&["phew", "in", "--densty-threshold", "80"], "--density-threshold");
    refused_with(&["recut", "in", "again"], "again");
    refused_with(
        &["phew", "in", "again", "-o", "x", "--density-threshold", "80"],
        "--output: `x` for output; expected a name with {number}",
    );
    refused_with(
        &["phew", "in", "-o", "x", "--density-threshold", "80", "-v", "-q"],
        "given together with --quiet",
    );
    refused_with(&["phew"], "phew needs an input; give INPUT or");
    refused_with(&["phew", "in", "-o", "out.hdf5"], "in: there is no such file or folder");
    refused_with(&["phew", "in", "--density-threshold", "80"], "phew needs an output");
    refused_with(&["phew", "in", "-o", "x", "--density-threshold", "80", "--plot", "x.gif"], ".png or .svg");
    refused_with(&["phew", "in", "-o", "x", "--density-threshold", "--quiet"], "expected a number");
    refused_with(&["synth", "field", "-o", "x", "--levels", "9:5"], "MIN:MAX");
    refused_with(&["synth", "particles", "-o", "x.txt"], ".npy");
}

#[test]
fn bad_thresholds_are_one_line() {
    let table = [
        ("--density-threshold", "nan", "0 or more"),
        ("--density-threshold", "-80", "0 or more"),
        ("--density-threshold", "high", "a number"),
        ("--relevance-threshold", "-3", "0 or more"),
        ("--relevance-threshold", "inf", "0 or more"),
        ("--saddle-threshold", "0", "leave it out for no halo pass"),
        ("--saddle-threshold", "-1", "leave it out for no halo pass"),
        ("--saddle-threshold", "1", "at least the density threshold 2"),
        ("--mass-threshold", "-0.5", "0 or more"),
        ("--threads", "0", "1 to"),
        ("--threads", "-4", "whole number"),
    ];
    for (flag, value, part) in table {
        let mut args = vec!["phew", "in", "-o", "out.hdf5", flag, value];
        if flag != "--density-threshold" {
            args.extend(["--density-threshold", "2"]);
        }
        let line = refused(&args);
        assert!(line.contains(flag) && line.to_lowercase().contains(value) && line.contains(part), "{line}");
    }
}

#[test]
fn a_missing_input_is_one_line_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("output_00099");
    let output = folder.path().join("clumps.hdf5");
    let (input, output) = (input.to_string_lossy(), output.to_string_lossy());
    refused_with(&["phew", &input, "-o", &output, "--density-threshold", "80"], "output_00099");
    refused_with(&["info", &input], "output_00099");
    refused_with(&["recut", &input, "-o", &output], "output_00099");
    assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 0);
}

#[test]
fn a_bad_configuration_file_is_one_line_with_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.toml");
    std::fs::write(&file, "threads = 2\n[phew]\nouput = 'x'\n").expect("written");
    let file = file.to_string_lossy();
    refused_with(
        &["phew", "in", "--config", &file],
        "run.toml:3: unknown key `ouput` in [phew]; did you mean",
    );
    refused_with(&["phew", "in", "--config", "/nowhere/run.toml"], "/nowhere/run.toml");
}

#[test]
fn places_that_cannot_be_written_are_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let inside = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    std::fs::write(inside("plain"), "").expect("written");
    refused_with(&["synth", "particles", "-n", "1000", "-o", &inside("no/x.npy")], "there is no folder");
    refused_with(&["synth", "field", "-o", &inside("plain")], "is not a folder");
    std::fs::create_dir(inside("full.npy")).expect("made");
    refused_with(&["synth", "particles", "-n", "1000", "-o", &inside("full.npy")], "is a folder");
}

#[test]
fn particles_are_made_and_said_in_text_and_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("box.npy");
    let name = path.to_string_lossy();
    let args = ["synth", "particles", "-n", "3000", "--seed", "4", "-o", &name];
    let out = inselberg(&args);
    assert_eq!(out.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&out.stdout).contains("3 000 particles"));
    let first = std::fs::read(&path).expect("there");
    let out = inselberg(&[&args[..], &["--json", "--threads", "1"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(json["N"], 3000);
    assert!(first == std::fs::read(&path).expect("there"), "the same on any number of threads");
    for (ranks, threads) in [("2", "1"), ("3", "2"), ("7", "4")] {
        std::fs::remove_file(&path).expect("there");
        let out = inselberg(&[&args[..], &["--ranks", ranks, "--threads", threads]].concat());
        assert_eq!((out.status.code(), out.stderr.len()), (Some(0), 0));
        assert!(String::from_utf8_lossy(&out.stdout).contains("3 000 particles"));
        assert!(first == std::fs::read(&path).expect("there"), "{ranks} ranks of {threads} threads");
    }
    assert!(inselberg(&[&args[..], &["--quiet"]].concat()).stdout.is_empty());
}

#[test]
fn an_output_is_made_under_the_name_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    for (asked, made) in [("output_00007", "output_00007"), ("box", "box/output_00001")] {
        let (asked, made) = (folder.path().join(asked), folder.path().join(made));
        let (asked, made) = (asked.to_string_lossy(), made.to_string_lossy());
        let args = ["synth", "field", "--test-cells", "1000", "-o", &asked];
        let said = inselberg(&args);
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        assert!(String::from_utf8_lossy(&said.stdout).starts_with(&format!("{made}: ")));
        assert!(inselberg(&["info", &made]).status.success(), "{made}");
        refused_with(&args, "already exists");
    }
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_inselberg"))
        .args(["options", "--reference"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let out = child.wait_with_output().expect("it ends");
    assert_eq!((out.status.code(), out.stderr.len()), (Some(0), 0));
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_no_half_file() {
    use std::os::unix::process::ExitStatusExt;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("box.npy");
    let mut child = crate::common::program()
        .args(["synth", "particles", "-n", "1e8", "-o", &path.to_string_lossy()])
        .spawn()
        .expect("the program starts");
    let hidden = || std::fs::read_dir(folder.path()).expect("there").count();
    wait_for(|| hidden() > 0);
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
    let status = child.wait().expect("it ends");
    assert_eq!(status.signal(), Some(2), "{status:?}");
    assert_eq!(hidden(), 0, "{:?}", names(folder.path()));
}

/// Libraries of the system can crash.
#[cfg(unix)]
#[test]
fn a_crash_is_one_line_and_leaves_no_half_file() {
    for signal in ["SEGV", "BUS", "ABRT"] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("box.npy");
        let child = crate::common::program()
            .args(["synth", "particles", "-n", "1e8", "--quiet", "-o", &path.to_string_lossy()])
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        wait_for(|| std::fs::read_dir(folder.path()).expect("there").count() > 0);
        let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
        assert!(sent.expect("kill").success());
        let out = child.wait_with_output().expect("it ends");
        let line = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!((out.status.code(), line.lines().count()), (Some(1), 1), "{signal}: {line}");
        assert!(line.starts_with(&format!("inselberg: internal error: crash (SIG{signal})")), "{line}");
        assert_eq!(names(folder.path()), [""; 0], "{signal}");
    }
}

/// Whether hidden files come to be in an empty folder before `child` ends.
#[cfg(unix)]
fn writes_into(folder: &Path, child: &mut std::process::Child) -> bool {
    let mut has_ended = false;
    wait_for(|| {
        has_ended = child.try_wait().expect("a state").is_some();
        has_ended || std::fs::read_dir(folder).expect("there").count() > 0
    });
    !has_ended
}

/// As under nohup, and in the background of a script.
#[cfg(unix)]
#[test]
fn signals_that_were_ignored_stay_so() {
    for (name, number) in [("HUP", 1), ("INT", 2), ("TERM", 15)] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("box.npy");
        let line = format!("trap '' {name}; exec \"$0\" \"$@\"");
        let mut child = Command::new("sh")
            .args(["-c", &line, env!("CARGO_BIN_EXE_inselberg")])
            .args(["synth", "particles", "-n", "5e5", "--quiet", "-o", &path.to_string_lossy()])
            .spawn()
            .expect("the program starts");
        assert!(writes_into(folder.path(), &mut child), "it ends before it is sent a signal");
        let sent = Command::new("kill").args([&format!("-{number}"), &child.id().to_string()]).status();
        assert!(sent.expect("kill").success());
        assert!(child.wait().expect("it ends").success(), "{name}");
        assert!(path.is_file());
    }
}

/// The program, with a limit on the length of files in blocks of 512 bytes.
#[cfg(unix)]
fn with_file_limit(blocks: usize, args: &[&str]) -> Output {
    let line = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let words = [&["-c", &line, env!("CARGO_BIN_EXE_inselberg")], args].concat();
    Command::new("sh").args(words).stdin(Stdio::null()).output().expect("a shell")
}

#[cfg(unix)]
#[test]
fn a_limit_of_file_sizes_is_one_line_and_leaves_nothing() {
    let made = tempfile::tempdir().expect("a folder");
    let inside = |name: &str| made.path().join(name).to_string_lossy().into_owned();
    let (field, whole) = (inside("output_00001"), inside("whole.csv"));
    assert!(inselberg(&["synth", "field", "--test-cells", "20000", "-o", &field]).status.success());
    let phew = ["phew", &field, "--density-threshold", "80", "--relevance-threshold", "1.1", "--with-cells"];
    assert!(inselberg(&[&phew[..], &["-o", &whole]].concat()).status.success());
    let room = tempfile::tempdir().expect("a folder");
    let to = |name: &str| room.path().join(name).to_string_lossy().into_owned();
    let (csv, npy, output) = (to("c.csv"), to("box.npy"), to("output_00002"));
    let mut runs = vec![
        vec!["recut", &whole, "-o", &csv],
        [&phew[..], &["-o", &csv]].concat(),
        [&phew[..], &["-o", &csv, "--ranks", "2"]].concat(),
        vec!["synth", "particles", "-n", "1e5", "-o", &npy],
        vec!["synth", "field", "--test-cells", "20000", "-o", &output],
    ];
    let hdf5 = to("c.hdf5");
    if cfg!(feature = "hdf5") {
        runs.push([&phew[..], &["-o", &hdf5]].concat());
    }
    for args in runs {
        let out = with_file_limit(8, &args);
        let lines = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!((out.status.code(), lines.lines().count()), (Some(2), 1), "{args:?}: {lines}");
        assert!(lines.starts_with("inselberg: error: "), "{args:?}: {lines}");
        assert_eq!(names(room.path()), [""; 0], "{args:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_configuration_is_a_plain_file_of_a_few_megabytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let inside = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    assert!(Command::new("mkfifo").arg(inside("pipe")).status().expect("mkfifo").success());
    std::fs::write(inside("long"), "#".repeat(5 << 20)).expect("written");
    for file in [inside("pipe"), inside("long"), inside("."), "/dev/zero".into()] {
        let args = ["phew", "in", "--config", &file, "-o", "x.csv", "--density-threshold", "80"];
        // A read without end would take all memory, so there is little.
        let line = "ulimit -v 4000000; exec timeout -s KILL 60 \"$0\" \"$@\"";
        let words = [&["-c", line, env!("CARGO_BIN_EXE_inselberg")], &args[..]].concat();
        let out = Command::new("sh").args(words).stdin(Stdio::null()).output().expect("a shell");
        let lines = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!((out.status.code(), lines.lines().count()), (Some(2), 1), "{file}: {lines}");
        assert!(lines.contains("expected a text file of at most 4 MiB"), "{file}: {lines}");
    }
}

#[cfg(unix)]
fn wait_for(mut there: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if there() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("waited a minute");
}

#[cfg(unix)]
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("there").flatten();
    entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect()
}

/// With so few files, a folder of results can be made but not removed again.
#[cfg(target_os = "linux")]
#[test]
fn few_open_files_leave_nothing() {
    let room = tempfile::tempdir().expect("a folder");
    let names = || -> Vec<_> {
        std::fs::read_dir(room.path()).expect("a folder").flatten().map(|e| e.file_name()).collect()
    };
    for n in 4..12 {
        let out = Command::new("sh")
            .args(["-c", &format!("ulimit -n {n}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_inselberg")])
            .args(["synth", "field", "-o", "output_00007", "--test-cells", "2000", "--quiet"])
            .current_dir(room.path())
            .output()
            .expect("sh starts");
        if out.status.success() {
            assert_eq!(names(), ["output_00007"], "with {n} open files");
            std::fs::remove_dir_all(room.path().join("output_00007")).expect("removed");
        }
        assert!(names().is_empty(), "with {n} open files: {:?} is left, {:?}", names(), out.status);
    }
}
