//! Ranks as processes under mpirun. Skipped with a message if there is no mpirun.
#![cfg(feature = "mpi")]

use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let folder = test.parent().and_then(|deps| deps.parent()).expect("a target folder");
    let program = folder.join("examples").join(name);
    assert!(program.exists(), "no {}: cargo build --features mpi --examples makes it", program.display());
    program
}

fn mpirun(n_ranks: usize, name: &str, arguments: &[&str]) -> Option<Output> {
    let mut command = Command::new("mpirun");
    command.args(["-n", &n_ranks.to_string()]);
    let version = Command::new("mpirun").arg("--version").output();
    let Ok(version) = version else {
        println!("skipped: there is no mpirun");
        return None;
    };
    if String::from_utf8_lossy(&version.stdout).contains("Open MPI") {
        command.args(["--oversubscribe", "--bind-to", "none"]);
        command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
        command.env("OMPI_MCA_mpi_yield_when_idle", "1");
    }
    Some(command.arg(program(name)).args(arguments).output().expect("mpirun runs"))
}

fn agrees(n_ranks: usize, what: &str) {
    let Some(output) = mpirun(n_ranks, "mpi_ranks", &[what]) else { return };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(text, format!("{n_ranks} ranks agree\n"));
}

fn fails(what: &str, with: &str) {
    let start = Instant::now();
    let Some(output) = mpirun(4, "mpi_ranks", &[what]) else { return };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(errors.contains(with), "{errors}");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn ranks_as_processes() {
    agrees(4, "");
    agrees(3, "");
}

#[test]
fn messages_in_pieces() {
    agrees(4, "pieces");
}

#[test]
fn long_messages() {
    agrees(4, "long");
}

#[test]
fn messages_late_and_in_any_order() {
    agrees(4, "chaos");
}

#[test]
fn without_mpirun_a_rank_is_alone() {
    let output = Command::new(program("mpi_ranks")).output().expect("the program runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1 ranks agree\n");
}

#[test]
fn an_abort_ends_the_job() {
    fails("abort", "rank 3 in all: the disk is full");
}

#[test]
fn what_all_ranks_see_alike_is_said_once() {
    let Some(output) = mpirun(4, "mpi_ranks", &["abort all"]) else { return };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert_eq!(errors.matches("no such file").count(), 1, "{errors}");
}

#[test]
fn a_panic_of_any_thread_ends_the_job() {
    fails("panic", "rank 3 panicked in all: on purpose");
}

#[test]
fn a_rank_that_leaves_early_is_named() {
    fails("leave", "rank 3 ended in all while others wait for it");
}

#[test]
fn a_stall_says_where_each_rank_stands() {
    let places = "ranks 0-2: all, in barrier (call 1); rank 3: no answer, so it computes or hangs";
    fails("stall", &format!("nothing moved for 2 s; {places}"));
}

/// A rank asks the rank above it, and rank 0 asks all, down the tree. So the messages of a rank do not grow
/// with the number of ranks.
#[test]
fn a_watchdog_asks_few() {
    let Some(output) = mpirun(8, "mpi_ranks", &["watch"]) else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let sent: Vec<u64> = text.split_whitespace().map(|n| n.parse().expect("a number")).collect();
    assert_eq!(sent.len(), 8, "{text}");
    // Each of them asked up to seven times. Ranks 1, 5 and 7 have no children: one question and one answer
    // each time, not seven of each.
    assert!([1, 5, 7].iter().all(|rank| (1..=16).contains(&sent[*rank])), "{text}");
    assert!(sent.iter().all(|n| *n <= 60), "{text}");
}

/// Guests of a host fail, recover and close, and do not touch the host's MPI.
fn host_outlives(n_ranks: usize, level: &str, what: &str) {
    let Some(output) = mpirun(n_ranks, "guest_host", &[level, what]) else { return };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{n_ranks} ranks recovered 10 times\n"));
    assert_eq!(errors, "", "guests print nothing");
}

#[test]
fn a_host_outlives_its_guests_at_any_thread_level() {
    for (n_ranks, level) in [(2, "single"), (3, "funneled"), (4, "serialized"), (4, "multiple")] {
        host_outlives(n_ranks, level, "");
    }
}

#[test]
fn a_host_outlives_guests_with_messages_late_and_in_pieces() {
    host_outlives(4, "funneled", "chaos");
}

#[test]
fn a_guest_that_never_recovers_is_an_error_on_the_others() {
    let start = Instant::now();
    let Some(output) = mpirun(3, "guest_host", &["multiple", "absent"]) else { return };
    // The host ends its job with code 3, after all ranks have found what they expect.
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{errors}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("recover: some rank did not call it within 1 s\n"), "{text}{errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}
