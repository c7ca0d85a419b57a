//! `--dry-run` says what would be done, and does nothing.

use crate::common::output;
use crate::common::room::{Room, command, done, done_json};
use serde_json::Value;
use std::fs;

fn input() -> String {
    output("dm_1rank").to_string_lossy().into_owned()
}

fn phew<'a>(input: &'a str, to: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["phew", input, "-o", to, "--density-threshold", "40"], more].concat()
}

/// A file of 1000 positions.
fn positions(room: &Room) -> String {
    let path = room.path("box.npy");
    done(&["synth", "particles", "--number", "1000", "-o", &path]);
    path
}

#[test]
fn phew_says_memory_ranks_and_results_and_writes_nothing() {
    let room = Room::new();
    let (input, to, report) = (input(), room.path("c.csv"), room.path("text"));
    let old = "# inselberg catalogue 1\n";
    fs::write(&to, old).expect("written");
    let more = ["--ramses-text", &report, "--dry-run", "--ranks", "2", "--log", &room.path("run.log")];
    let text = done(&phew(&input, &to, &more));
    for part in ["nothing is computed or written", "2 (threads of this process)", "1 per rank", "leaf cells"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(
        text.contains("c.csv (--output, replaces the file)") && text.contains("text (--ramses-text)"),
        "{text}"
    );
    assert!(text.contains(" to ") && text.contains("in addition to the input"), "{text}");
    assert_eq!((room.names(), fs::read(&to).expect("there")), (vec!["c.csv".to_string()], old.into()));
    let json = done_json(&phew(&input, &to, &more));
    let one = &json["snapshots"][0];
    // The same range as `info`.
    let of_info = &done_json(&["info", &input])["memory_bytes"];
    assert_eq!((&one["memory_bytes"], one["status"].as_str()), (of_info, Some("computed")));
    assert_eq!(one["writes"][0]["replaces"], true);
    assert_eq!((&json["launch"]["n_ranks"], &json["dry_run"]), (&2.into(), &true.into()));
}

#[test]
fn fof_and_meshes_of_particles_say_at_least() {
    let room = Room::new();
    let (input, to) = (positions(&room), room.path("g.csv"));
    let names = room.names();
    let text = done(&["fof", &input, "-o", &to, "--open", "--linking-length", "0.1", "--dry-run"]);
    assert!(text.contains("1 000 particles take part") && text.contains("at least"), "{text}");
    let mesh = ["--mesh-from-particles", "--box", "1", "--dry-run"];
    let text = done(&phew(&input, &to, &mesh));
    assert!(text.contains("1 000 particles") && text.contains("at least"), "{text}");
    assert_eq!(room.names(), names);
}

#[test]
fn bad_input_and_places_are_refused_as_in_a_run() {
    let room = Room::new();
    let (input, to) = (input(), room.path("c.csv"));
    room.refuses(&phew(&room.path("output_00009"), &to, &["--dry-run"]), &["output_00009"]);
    room.refuses(&phew(&input, &room.path("no/c.csv"), &["--dry-run"]), &["there is no folder"]);
    room.refuses(&phew(&input, &to, &["--dry-run", "--saddle-threshold", "1"]), &["--saddle-threshold"]);
    let npy = positions(&room);
    room.refuses(&["fof", &npy, "-o", &to, "--dry-run"], &["box"]);
}

#[test]
fn a_series_says_computed_kept_or_failed_for_each() {
    let room = Room::new();
    let to = room.path("c_{number}.csv");
    let (input, absent) = (input(), room.path("output_00099"));
    let fates = |json: &Value| {
        let snapshots = json["snapshots"].as_array().expect("a list");
        snapshots.iter().map(|one| one["status"].as_str().expect("a word").to_string()).collect::<Vec<_>>()
    };
    assert_eq!(fates(&done_json(&phew(&input, &to, &["--dry-run"]))), ["computed"]);
    assert!(room.names().is_empty());
    done(&phew(&input, &to, &[]));
    let names = room.names();
    assert_eq!(fates(&done_json(&phew(&input, &to, &["--dry-run"]))), ["kept"]);
    assert_eq!(fates(&done_json(&phew(&input, &to, &["--dry-run", "--force"]))), ["computed"]);
    assert!(done(&phew(&input, &to, &["--dry-run"])).contains(": kept, complete in "));
    let both =
        [&["phew", &input, &absent, "-o", &to, "--density-threshold", "40", "--dry-run"][..], &["--json"]];
    let out = command(&both.concat()).output().expect("starts");
    let lines = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!((out.status.code(), lines.lines().count()), (Some(2), 2), "{lines}");
    assert!(lines.contains("1 of 2 snapshots would fail"), "{lines}");
    assert_eq!(fates(&serde_json::from_slice(&out.stdout).expect("JSON")), ["kept", "failed"]);
    assert_eq!(room.names(), names);
}
