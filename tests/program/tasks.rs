//! What a run reports about its tasks: traces, graphs, and the use of the workers.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

fn phew(to: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_inselberg"));
    command.arg("phew").arg(crate::common::output("dm_3ranks")).arg("-o").arg(to);
    command.args(["--density-threshold", "40", "--threads", "2"]).args(more);
    command.output().expect("starts")
}

/// The events of a trace of a run with these arguments.
fn events(room: &Path, more: &[&str]) -> Vec<Value> {
    let file = room.join("run.json");
    let trace = file.to_string_lossy();
    let out = phew(&room.join("c.csv"), &[more, &["--trace", &trace]].concat());
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let json: Value = serde_json::from_slice(&std::fs::read(&file).expect("a trace")).expect("JSON");
    json["traceEvents"].as_array().expect("events").clone()
}

fn names<'a>(events: &'a [Value], kind: &str, pid: u64) -> BTreeSet<&'a str> {
    let wanted = events.iter().filter(|e| e["cat"] == kind && e["pid"] == pid);
    wanted.filter_map(|e| e["name"].as_str()).collect()
}

#[test]
fn a_trace_has_every_stage_and_task() {
    let room = tempfile::tempdir().expect("a folder");
    let events = events(room.path(), &[]);
    let stages = names(&events, "stage", 0);
    assert!(
        ["reading", "ascent", "labels", "saddles", "hierarchy"].iter().all(|s| stages.contains(s)),
        "{stages:?}"
    );
    let tasks = names(&events, "task", 0);
    assert!(
        ["ascent", "levels", "labels", "names", "saddles", "sums"].iter().all(|s| tasks.contains(s)),
        "{tasks:?}"
    );
    let tracks: BTreeSet<u64> = events.iter().filter_map(|e| e["tid"].as_u64()).collect();
    assert_eq!(tracks, BTreeSet::from([0, 1, 2]));
    let spans = events.iter().filter(|e| e["ph"] == "X");
    assert!(spans.map(|e| e["dur"].as_f64().expect("a length")).all(|took| took >= 0.0));
}

#[test]
fn a_trace_of_ranks_has_their_messages() {
    let room = tempfile::tempdir().expect("a folder");
    let events = events(room.path(), &["--ranks", "3"]);
    for rank in 0..3 {
        assert!(names(&events, "task", rank).contains("names of ghosts"));
        assert!(names(&events, "call", rank).contains("exchange_with"));
        let messages = names(&events, "message", rank);
        let other = format!("rank {}", (rank + 1) % 3);
        assert!(messages.contains(&*format!("send to {other}")), "{messages:?}");
        assert!(messages.contains(&*format!("receive from {other}")), "{messages:?}");
    }
    let of = |what: &str| {
        let messages = events.iter().filter(|e| e["name"].as_str().is_some_and(|n| n.starts_with(what)));
        messages.map(|e| e["args"]["bytes"].as_u64().expect("bytes")).sum::<u64>()
    };
    let (sent, received) = (of("send"), of("receive"));
    assert!(sent > 0 && received > 0 && received <= sent, "{sent} sent, {received} received");
}

#[test]
fn the_graph_is_in_the_dot_language() {
    let room = tempfile::tempdir().expect("a folder");
    let file = room.path().join("graph.dot");
    let out = phew(&room.path().join("c.csv"), &["--task-graph", &file.to_string_lossy()]);
    assert!(out.status.success());
    let dot = std::fs::read_to_string(&file).expect("a graph");
    for graph in ["ascent", "labels", "saddles", "sums"] {
        assert!(dot.contains(&format!("digraph \"{graph}\" {{")), "{graph}");
    }
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
    assert!(dot.contains(" -> "));
}

#[test]
fn workers_are_in_the_diagnostics() {
    let room = tempfile::tempdir().expect("a folder");
    let out = phew(&room.path().join("c.csv"), &["--diagnostics", "--json"]);
    let json: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let node = &json["workers"][0];
    assert_eq!(node["workers"], 2);
    assert!(node["tasks"].as_u64().expect("tasks") > 5);
    // The pointers, four bytes each, in whose place the labels stand.
    let (touched, tests) = (&node["bytes_first_touched"], &json["totals"]["test_cells"]);
    assert_eq!(touched.as_u64().expect("bytes"), 4 * tests.as_u64().expect("cells"));
    let out = phew(&room.path().join("c.csv"), &["--diagnostics"]);
    assert!(String::from_utf8_lossy(&out.stdout).contains("NUMA node"));
}

#[test]
fn places_that_cannot_be_written_are_said_before_the_run() {
    let room = tempfile::tempdir().expect("a folder");
    for option in ["--trace", "--task-graph"] {
        let out = phew(&room.path().join("c.csv"), &[option, "/no/such/folder/file"]);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{said}");
        assert!(said.contains("/no/such/folder") && said.lines().count() == 1, "{said}");
        assert!(!room.path().join("c.csv").exists());
    }
}
