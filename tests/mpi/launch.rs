//! How the processes of a launcher become one run, or several where that is intended.

use super::job::{Ended, Job, Launcher, alone, names};
use super::{catalogue_in, dark, text};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How long a job may take that does nearly nothing.
const SOON: Duration = Duration::from_secs(30);

/// The program as ranks that each do `first` in a shell, where `$rank` is their number. `$0` and `"$@"` run
/// it.
fn shells(launcher: &Launcher, n_ranks: usize, first: &str, args: &[&str]) -> Command {
    let line = format!("rank=${{OMPI_COMM_WORLD_RANK-$PMI_RANK}}; {first}");
    launcher.job(n_ranks, "sh", &[&["-c", &line, env!("CARGO_BIN_EXE_inselberg")], args].concat())
}

/// Of a job in shells.
fn ended(launcher: &Launcher, n_ranks: usize, first: &str, args: &[&str]) -> Ended {
    Job::start(shells(launcher, n_ranks, first, args), first).end(SOON)
}

#[test]
fn what_is_not_divided_is_done_once() {
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let (case, whole) = (dark("dm_3ranks"), catalogue_in(folder.path()));
    let run = Command::new(env!("CARGO_BIN_EXE_inselberg")).args(case.args(&whole, &[])).status();
    assert!(run.expect("it starts").success());
    let (cut, field) = (whole.replace("/c.", "/cut."), text(&folder.path().join("output_00001")));
    for args in [
        &["info", &case.input, "--json"][..],
        &["recut", &whole, "-o", &cut, "--json"],
        &["synth", "field", "-o", &field, "--test-cells", "1000", "--json"],
    ] {
        let mut job = launcher.inselberg(4, args);
        let out = job.stdin(Stdio::null()).output().expect("it starts");
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        let json: serde_json::Result<serde_json::Value> = serde_json::from_slice(&out.stdout);
        assert!(json.is_ok(), "one object: {}", String::from_utf8_lossy(&out.stdout));
    }
    assert!(Path::new(&cut).exists() && Path::new(&field).is_dir());
}

/// Three ranks with a configuration that only the rank `seen_by` sees, and whether they wrote a catalogue. A
/// name such as that of a pipe, which is a file in one process only, stands for a file on a disk of its host.
fn with_a_configuration_of_one_rank(launcher: &Launcher, seen_by: u32) -> (Ended, bool) {
    let folder = tempfile::tempdir().expect("a folder");
    let (case, to) = (dark("dm_3ranks"), catalogue_in(folder.path()));
    let file = folder.path().join("c.toml");
    std::fs::write(&file, "[phew]\ndensity_threshold = 40\n").expect("written");
    let file = file.display();
    let first = format!("exec 9<&-; test $rank != {seen_by} || exec 9<'{file}'; exec \"$0\" \"$@\"");
    let args = ["phew", &case.input, "-o", &to, "--config", "/proc/self/fd/9", "--quiet", "--threads", "1"];
    let ended = ended(launcher, 3, &first, &args);
    let has_catalogue = names(folder.path()).iter().any(|name| to.ends_with(name.as_str()));
    (ended, has_catalogue)
}

#[test]
fn a_configuration_that_only_the_first_rank_sees() {
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    let (ended, has_catalogue) = with_a_configuration_of_one_rank(&launcher, 0);
    assert!(ended.is_good() && has_catalogue, "{ended:?}");
}

#[test]
fn a_configuration_that_the_first_rank_does_not_see_is_told_once() {
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    let (ended, has_catalogue) = with_a_configuration_of_one_rank(&launcher, 1);
    assert_eq!((ended.code, ended.lines_with("inselberg: ").len()), (Some(2), 1), "{ended:?}");
    assert!(ended.lines_with("inselberg: error: /proc/self/fd/9").len() == 1, "{ended:?}");
    assert!(!has_catalogue, "{ended:?}");
}

/// A stack as large as all the memory that the rank may have.
#[test]
fn a_rank_that_can_start_no_threads_says_so() {
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let (case, to) = (dark("dm_3ranks"), catalogue_in(folder.path()));
    let first =
        "test $rank != 1 || { ulimit -v 16000000; export RUST_MIN_STACK=8000000000; }; exec \"$0\" \"$@\"";
    let ended = ended(&launcher, 3, first, &case.args(&to, &["--threads", "4"]));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let told = ended.lines_with("inselberg: ");
    assert!(told.len() == 1 && told[0].starts_with("inselberg: error: rank 1: "), "{ended:?}");
    assert!(told[0].contains("starting ") && told[0].contains("thread"), "{ended:?}");
    assert_eq!(names(folder.path()), [""; 0]);
}

/// As with a launcher that starts a script, which takes another snapshot in each task.
#[test]
fn runs_of_their_own_are_not_taken_for_one_job() {
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let case = dark("dm_3ranks");
    let to = catalogue_in(folder.path());
    let own = to.replace("/c.", "/c$rank.");
    let other_outputs = format!("exec \"$0\" \"$@\" -o \"{own}\"");
    let inside = folder.path().display();
    let other_folders =
        format!("mkdir -p '{inside}'/$rank; cd '{inside}'/$rank; exec \"$0\" \"$@\" -o c.csv");
    let args = ["phew", &case.input, "--density-threshold", "40", "--threads", "1", "--quiet"];
    for first in [&other_outputs, &other_folders] {
        let one_job = ended(&launcher, 3, first, &args);
        let told = one_job.lines_with("inselberg: ");
        assert!(one_job.code == Some(2) && told.len() == 1, "{one_job:?}");
        assert!(
            told[0].starts_with("inselberg: error: rank 1: ") && told[0].contains("--no-mpi"),
            "{one_job:?}"
        );
        let three = ended(&launcher, 3, first, &[&args[..], &["--no-mpi"]].concat());
        assert!(three.is_good() && three.lines_with("inselberg: ").is_empty(), "{three:?}");
    }
    for rank in ["0", "1", "2"] {
        assert!(Path::new(&own.replace("$rank", rank)).is_file());
        assert!(folder.path().join(rank).join("c.csv").is_file());
    }
    let file = folder.path().join("alone.toml");
    std::fs::write(&file, "no_mpi = true\n[phew]\ndensity_threshold = 40\n").expect("written");
    let args = ["phew", &case.input, "--config", &text(&file), "--threads", "1", "--quiet"];
    let again = to.replace("/c.", "/again$rank.");
    let three = ended(&launcher, 3, &format!("exec \"$0\" \"$@\" -o \"{again}\""), &args);
    assert!(three.is_good(), "{three:?}");
    assert!(["0", "1", "2"].iter().all(|rank| Path::new(&again.replace("$rank", rank)).is_file()));
}
