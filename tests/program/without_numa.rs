//! What a build without the feature `numa` reports about the machine.

use serde_json::Value;
use std::process::{Command, Output};

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_inselberg")).args(args).output().expect("starts")
}

#[test]
fn the_number_of_processors_is_known_and_nothing_else() {
    let n_allowed = std::thread::available_parallelism().map_or(1, usize::from);
    let out = run(&["topology"]);
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success() && text.contains(&format!("{n_allowed} processor")), "{text}");
    assert!(text.contains("built without the feature `numa`"), "{text}");
    let json: Value = serde_json::from_slice(&run(&["topology", "--json"]).stdout).expect("one object");
    assert_eq!((&json["n_allowed"], &json["feature_numa"]), (&n_allowed.into(), &false.into()));
}

#[test]
fn pinning_is_refused_in_one_line() {
    let line = "inselberg: error: --pin: `numa`, but this build cannot read the machine: it lacks \
                the feature `numa`; expected none, or a build with --features numa\n";
    let phew = ["phew", "in", "-o", "out.csv", "--density-threshold", "80", "--pin", "numa"];
    let fof = ["fof", "in.npy", "-o", "out.csv", "--open", "--pin", "numa"];
    for args in [&["topology", "--pin", "numa"][..], &phew, &fof] {
        let out = run(args);
        assert_eq!((out.status.code(), String::from_utf8_lossy(&out.stderr)), (Some(2), line.into()));
    }
}
