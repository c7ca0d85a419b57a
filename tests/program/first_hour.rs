//! What a new user meets: messages, summaries, and the words in them.

#[cfg(feature = "hdf5")]
use crate::common::gadget4;
use crate::common::npy::npy_file;
use crate::common::room::{Room, command, done, done_json};
use crate::common::{output, program};
use std::fs;

/// A mistyped path costs one short line with the nearest name that is there, and other mistakes name a way
/// on.
#[test]
fn mistakes_of_the_first_hour_cost_one_short_line() {
    let room = Room::new();
    let (input, csv, missing) = (output("dm_1rank"), room.path("clumps.csv"), room.path("clump.csv"));
    let input = input.to_string_lossy().into_owned();
    done(&["phew", &input, "-o", &csv, "--density-threshold", "40", "-q"]);
    let near = format!("did you mean {csv}?");
    for args in
        [&["view", &missing, "--clump", "1"][..], &["info", &missing], &["recut", &missing, "-o", "x.csv"]]
    {
        room.refuses(args, &["there is no such file or folder", &near]);
    }
    let wrong = input.replace("output_00002", "output_00003");
    room.refuses(&["phew", &wrong, "-o", "x.csv"], &[&format!("did you mean {input}?")]);
    room.refuses(
        &["fof", &csv, "-o", "x.csv"],
        &["a catalogue of inselberg", "expected a snapshot", "`view`"],
    );
    room.refuses(&["phew", &csv, "-o", "x.csv", "--density-threshold", "1"], &["a catalogue of inselberg"]);
    room.refuses(&["view", &csv, "--clump", "1", "--halo", "1"], &["--halo: given together with --clump"]);
    let below = room.path("below.npy");
    fs::write(&below, npy_file(&[8, 8], false, "<f8", |at| at[0] as f64 - 3.0)).expect("written");
    let options = ["--image", "--density-threshold", "1", "-o", "x.csv"];
    room.refuses(
        &[&["phew", below.as_str()][..], &options].concat(),
        &["0 or more", "--relevance-difference"],
    );
    for (args, part) in [(["help", "phew"], "--unbind"), (["completions", "--help"], "mkdir -p")] {
        let out = program().args(args).output().expect("the program starts");
        assert!(out.status.success() && String::from_utf8_lossy(&out.stdout).contains(part), "{args:?}");
    }
}

/// Each run ends with what was written where.
#[test]
fn a_summary_says_what_is_written_where() {
    let room = Room::new();
    let (input, to, cut) = (output("dm_1rank"), room.path("c.csv"), room.path("cut.csv"));
    let input = input.to_string_lossy().into_owned();
    let text = done(&["phew", &input, "-o", &to, "--density-threshold", "40"]);
    let written = text.split("\nwritten ").nth(1).expect("a list");
    for name in ["c.csv", "c.haloes.csv"] {
        assert!(written.contains(&room.path(name)), "{name}: {written}");
    }
    assert!(text.contains("\nterms "), "{text}");
    let json = done_json(&["phew", &input, "-o", &to, "--density-threshold", "40"]);
    let names = json["written"].as_array().expect("a list");
    assert!(names.iter().any(|name| name.as_str() == Some(to.as_str())), "{json}");
    let out = command(&["recut", &to, "-o", &cut, "--relevance-threshold", "6"]).output().expect("starts");
    let text = String::from_utf8(out.stdout).expect("text");
    assert!(text.lines().count() < 15 && text.contains("\nhaloes ") && text.contains(&cut), "{text}");
}

/// A shorter series leaves no outputs of a longer one before it, which a tree would link.
#[test]
#[cfg(feature = "hdf5")]
fn a_series_leaves_no_outputs_of_an_earlier_run() {
    let room = Room::new();
    let series = room.path("series");
    let made = |outputs: &str| {
        done(&["synth", "series", "-o", &series, "--outputs", outputs, "--members", "2000", "-q"]);
        let names = fs::read_dir(&series).expect("a folder").flatten();
        names.filter(|entry| entry.file_name().to_string_lossy().starts_with("clumps_")).count()
    };
    assert_eq!((made("5"), made("2")), (5, 2));
}

/// An array has one size of cells, which is said in words of arrays.
#[test]
fn an_array_has_no_levels() {
    let room = Room::new();
    let path = room.path("cube.npy");
    fs::write(&path, npy_file(&[12, 8, 4], false, "<f8", |at| at[0] as f64 + 1.0)).expect("written");
    let text = done(&["info", &path]);
    assert!(text.contains("12 x 8 x 4 of one size") && !text.contains("level"), "{text}");
    assert!(!text.contains("coarse cells"), "{text}");
}

#[test]
#[cfg(feature = "hdf5")]
fn thresholds_are_suggested_for_particles() {
    let input = gadget4().join("snapshot_004.hdf5").to_string_lossy().into_owned();
    let json = done_json(&["info", &input, "--thresholds"]);
    let rows = json["thresholds"]["density"].as_array().expect("rows").clone();
    let of = |density: f64| {
        let row = rows.iter().find(|row| row["density"].as_f64() == Some(density)).expect("a default");
        row["mass_above"].as_f64().expect("a part")
    };
    // Less mass is above a higher threshold, and a part of the box is below all of them.
    assert!(of(60.0) > of(200.0) && of(60.0) < 0.7, "{json}");
    assert_eq!(json["thresholds"]["relevance"]["ratio"], 1.5);
}
