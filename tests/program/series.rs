//! Many snapshots in one command: complete ones are kept, failures are reported and end nothing else.

use crate::common::compare::assert_same;
use crate::common::room::{Room, command, done, done_json};
use crate::common::{Whole, open, output, resplit};
use inselberg_io::catalogue::{Attribute, Catalogue, FORMATS, read};
use inselberg_io::ramses::write::Dialect;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Outputs with these numbers of the bundled run, over two files each.
fn outputs(room: &Room, numbers: &[u32]) -> Vec<String> {
    let mut whole = Whole::read(&*open(&output("dm_1rank")));
    let folder = room.path("in");
    fs::create_dir_all(&folder).expect("a folder");
    let one = |number: &u32| {
        whole.header.number = Some(*number);
        let output = whole.write(Path::new(&folder), 2, true, &Dialect::default());
        output.to_string_lossy().into_owned()
    };
    numbers.iter().map(one).collect()
}

/// The result of a snapshot, by its number or by `{number}`.
fn result(room: &Room, number: &str) -> String {
    room.path(&format!("c_{number}.{}", FORMATS[0].extensions[0]))
}

const THRESHOLDS: [&str; 4] = ["--density-threshold", "40", "--saddle-threshold", "200"];

/// The command line for a series.
fn args<'a>(inputs: &'a [String], to: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    [&["phew"], &inputs[..], &["-o", to], &THRESHOLDS, more].concat()
}

/// What became of each snapshot.
fn fates(json: &Value) -> Vec<&str> {
    let snapshots = json["snapshots"].as_array().expect("a list");
    snapshots.iter().map(|one| one["status"].as_str().expect("a word")).collect()
}

fn text<'a>(catalogue: &'a Catalogue, name: &str) -> &'a str {
    match catalogue.attribute(name) {
        Some(Attribute::Text(text)) => text,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn a_rerun_keeps_what_is_complete_and_computes_what_changed() {
    let room = Room::new();
    let (inputs, to) = (outputs(&room, &[7, 80, 81]), result(&room, "{number}"));
    let run = |more: &[&str]| done_json(&args(&inputs, &to, more));
    let first = run(&[]);
    assert_eq!(fates(&first), ["computed"; 3]);
    assert_eq!(
        (&first["n_computed"], &first["n_kept"], &first["n_failed"]),
        (&3.into(), &0.into(), &0.into())
    );
    assert!(first["snapshots"][1]["summary"]["totals"]["clumps"].as_i64() > Some(0));
    let files = ["00007", "00080", "00081"].map(|number| result(&room, number));
    let alone = room.path("alone.csv");
    done(&args(&inputs[1..2], &alone, &[]));
    let whole = read(Path::new(&files[1])).expect("a catalogue");
    assert_same(&whole, &read(Path::new(&alone)).expect("a catalogue"), "in a series and alone");
    assert!(text(&whole, "run_input").contains("output_00080; "), "{}", text(&whole, "run_input"));
    let line = format!("inselberg {} phew --density-threshold 40 ", env!("CARGO_PKG_VERSION"));
    assert!(text(&whole, "run_options").starts_with(&line), "{}", text(&whole, "run_options"));

    let bytes = || files.each_ref().map(|path| fs::read(path).expect("a catalogue"));
    let before = bytes();
    // Options that do not affect catalogues do not count.
    for more in [&[][..], &["--ranks", "2"], &["--balance", "leaves", "--diagnostics"]] {
        assert_eq!(fates(&run(more)), ["kept"; 3], "{more:?}");
    }
    assert_eq!(bytes(), before);
    let said = done(&args(&inputs, &to, &[]));
    assert!(
        said.lines().next().is_some_and(|line| line.ends_with(&format!("complete in {}", files[0]))),
        "{said}"
    );

    assert_eq!(fates(&run(&["--force"])), ["computed"; 3]);
    assert_eq!(fates(&run(&["--relevance-threshold", "5"])), ["computed"; 3]);
    assert_eq!(fates(&run(&["--relevance-threshold", "5.0"])), ["kept"; 3]);
    assert_eq!(fates(&run(&["--relevance-threshold", "3"])), ["computed"; 3]);

    // The same bytes with another time: they are not read to find that they are the same.
    let piece = format!("{}/grav_00080.out00002", inputs[1]);
    fs::write(&piece, fs::read(&piece).expect("a file")).expect("written");
    assert_eq!(fates(&run(&[])), ["kept", "computed", "kept"]);
    // Results in the folder of an output are not part of it.
    fs::write(format!("{}/notes.txt", inputs[1]), "notes").expect("written");
    assert_eq!(fates(&run(&[])), ["kept"; 3]);
    let mut damaged = fs::read(&files[2]).expect("a catalogue");
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    fs::write(&files[2], damaged).expect("written");
    assert_eq!(fates(&run(&[])), ["kept", "kept", "computed"]);
    // A new cut is the result of other options.
    done(&["recut", &files[0], "-o", &files[0].replace("c_00007", "cut"), "--relevance-threshold", "4"]);
    fs::rename(files[0].replace("c_00007", "cut"), &files[0]).expect("renamed");
    assert_eq!(fates(&run(&[])), ["computed", "kept", "kept"]);
}

#[test]
fn a_complete_snapshot_has_all_results_that_are_asked_for() {
    let room = Room::new();
    let (inputs, to) = (outputs(&room, &[3, 4]), result(&room, "{number}"));
    let lists = room.path("text_{number}");
    let run = |more: &[&str]| done_json(&args(&inputs, &to, more));
    assert_eq!(fates(&run(&[])), ["computed"; 2]);
    let with_lists = ["--ramses-text", lists.as_str()];
    assert_eq!(fates(&run(&with_lists)), ["computed"; 2]);
    assert!(Path::new(&room.path("text_00004/clump_00004.txt00001")).is_file());
    assert_eq!(fates(&run(&with_lists)), ["kept"; 2]);
    assert_eq!(fates(&run(&[])), ["kept"; 2]);
    fs::remove_dir_all(room.path("text_00003")).expect("it was there");
    assert_eq!(fates(&run(&with_lists)), ["computed", "kept"]);
}

/// Cuts a file of an output in half.
fn cut(path: &str) -> Vec<u8> {
    let bytes = fs::read(path).expect("a file");
    fs::write(path, &bytes[..bytes.len() / 2]).expect("written");
    bytes
}

#[test]
fn a_damaged_snapshot_among_three_is_told_once_and_ends_nothing_else() {
    for ranks in ["1", "2"] {
        let room = Room::new();
        let (inputs, to) = (outputs(&room, &[1, 2, 3]), result(&room, "{number}"));
        let piece = format!("{}/grav_00002.out00002", inputs[1]);
        let bytes = cut(&piece);
        let run = || command(&args(&inputs, &to, &["--ranks", ranks])).output().expect("starts");
        let out = run();
        let [said, told] =
            [&out.stdout, &out.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        assert_eq!(out.status.code(), Some(2), "{told}");
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines.len(), 2, "{told}");
        assert!(
            lines[0].starts_with("inselberg: error: ") && lines[0].contains("grav_00002.out00002"),
            "{told}"
        );
        assert!(lines[0].contains("torn") && lines[0].contains("expected"), "{told}");
        assert_eq!(lines[1], "inselberg: error: 1 of 3 snapshots failed");
        assert!(!said.contains("grav_00002.out00002"), "{said}");
        assert!(said.contains("failed                          1"), "{said}");
        let there = |number| Path::new(&result(&room, number)).is_file();
        assert_eq!(["00001", "00002", "00003"].map(there), [true, false, true]);
        assert!(!room.names().iter().any(|name| name.contains(".part")), "{:?}", room.names());

        let out = command(&args(&inputs, &to, &["--json", "--ranks", ranks])).output().expect("starts");
        let json: Value = serde_json::from_slice(&out.stdout).expect("JSON");
        assert_eq!((out.status.code(), fates(&json)), (Some(2), vec!["kept", "failed", "kept"]));
        let kept = &json["snapshots"][0]["summary"]["totals"];
        assert!(kept["clumps"].as_u64() > Some(0) && kept["leaf_cells"].as_u64() > Some(0), "{json}");
        assert!(json["snapshots"][1]["error"].as_str().is_some_and(|line| line.contains("torn")), "{json}");

        fs::write(&piece, bytes).expect("written");
        let json = done_json(&args(&inputs, &to, &["--ranks", ranks]));
        assert_eq!(fates(&json), ["kept", "computed", "kept"]);
    }
}

#[test]
fn what_cannot_be_a_series_is_refused_before_anything_runs() {
    let room = Room::new();
    let (inputs, to) = (outputs(&room, &[1, 2]), result(&room, "{number}"));
    let plain = result(&room, "all");
    room.refuses(&args(&inputs, &plain, &[]), &["--output", &plain, "a name with {number}", "2 snapshots"]);
    let lists = room.path("text");
    let more = ["--ramses-text", lists.as_str()];
    room.refuses(&args(&inputs, &to, &more), &["--ramses-text", "a name with {number}"]);
    let other = resplit(Path::new(&inputs[0]), Path::new(&room.path("")), 1);
    let twice = [inputs[0].clone(), other.to_string_lossy().into_owned()];
    room.refuses(
        &args(&twice, &to, &[]),
        &["snapshots with different numbers", &twice[0], &twice[1], "00001"],
    );
    room.refuses(&args(&[room.path("")], &to, &[]), &["INPUT", "a name with a number", "{number}"]);
    let fof: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let fof = [&["fof"], &fof[..], &["-o", &plain]].concat();
    room.refuses(&fof, &["--output", "a name with {number}"]);
}

#[test]
fn one_snapshot_may_have_its_number_in_its_result() {
    let room = Room::new();
    let (inputs, to) = (outputs(&room, &[12]), result(&room, "{number}"));
    let info = [format!("{}/info_00012.txt", inputs[0])];
    assert_eq!(fates(&done_json(&args(&inputs, &to, &[]))), ["computed"]);
    assert_eq!(fates(&done_json(&args(&inputs, &to, &[]))), ["kept"]);
    assert_eq!(fates(&done_json(&args(&info, &to, &[]))), ["computed"], "another path");
    assert!(Path::new(&result(&room, "00012")).is_file());
    // Without the number it is a run like any other.
    let plain = result(&room, "plain");
    let runs = [0; 2].map(|_| done_json(&args(&inputs, &plain, &[])));
    assert!(runs.iter().all(|json| json["totals"]["clumps"].as_i64() > Some(0)));
}

#[test]
fn groups_of_many_snapshots() {
    let room = Room::new();
    let to = result(&room, "{number}");
    let inputs = ["1", "2"].map(|seed| {
        let path = room.path(&format!("box_{seed}0.npy"));
        done(&["synth", "particles", "-n", "5000", "--seed", seed, "-o", &path, "--quiet"]);
        path
    });
    let side: Value =
        serde_json::from_slice(&fs::read(room.path("box_10.json")).expect("read")).expect("JSON");
    let side =
        ["box", "boxsize", "side"].iter().find_map(|key| side[key].as_f64()).expect("a side").to_string();
    let run = |more: &[&str]| {
        let args = ["fof", &inputs[0], &inputs[1], "-o", &to, "--box", &side, "--linking-ratio", "0.2"];
        done_json(&[&args[..], more].concat())
    };
    assert_eq!(fates(&run(&[])), ["computed"; 2]);
    assert_eq!(fates(&run(&[])), ["kept"; 2]);
    assert_eq!(fates(&run(&["--min-size", "10"])), ["computed"; 2]);
    let alone = room.path("alone.csv");
    let args =
        ["fof", &inputs[1], "-o", &alone, "--box", &side, "--min-size", "10", "--linking-ratio", "0.2"];
    done(&args);
    let [of_series, alone] = [result(&room, "20"), alone].map(|path| read(Path::new(&path)).expect("whole"));
    assert_same(&of_series, &alone, "groups in a series and alone");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_series_and_the_next_run_goes_on() {
    use std::os::unix::process::ExitStatusExt;
    let room = Room::new();
    let mut inputs = outputs(&room, &[1]);
    let large = room.path("in/output_00002");
    done(&["synth", "field", "-o", &large, "--test-cells", "4e5", "--quiet"]);
    inputs.push(large);
    let (first, second) = (result(&room, "00001"), result(&room, "00002"));
    let to = result(&room, "{number}");
    for _ in 0..50 {
        let mut child = command(&args(&inputs, &to, &["--quiet"])).spawn().expect("starts");
        while !Path::new(&first).is_file() && child.try_wait().expect("a state").is_none() {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        let status = child.wait().expect("it ends");
        if status.success() {
            // It was done before the interrupt came.
            for path in [&first, &second] {
                fs::remove_file(path).expect("it was there");
            }
            continue;
        }
        assert!(kill.expect("kill").success());
        assert_eq!(status.signal(), Some(2), "{status:?}");
        let left = room.names().into_iter().filter(|name| name != "in").collect::<Vec<_>>();
        assert_eq!(left.iter().map(|name| room.path(name)).collect::<Vec<_>>(), [first]);
        assert_eq!(fates(&done_json(&args(&inputs, &to, &[]))), ["kept", "computed"]);
        return;
    }
    panic!("it is always done before the interrupt comes");
}

/// Each output follows from the one before it, so an output is only complete if that one has not changed.
/// The words of a search with tracks for clumps, and for groups.
const WITH_TRACKS: [&[&str]; 2] = [
    &["phew", "--density-threshold", "40", "--saddle-threshold", "200", "--unbind", "--tracks"],
    &["fof", "--min-size", "20", "--properties", "basic", "--tracks"],
];

#[test]
fn tracks_go_from_catalogue_to_catalogue() {
    WITH_TRACKS.into_iter().for_each(tracks_go_on);
}

fn tracks_go_on(search: &[&str]) {
    let room = Room::new();
    let inputs = outputs(&room, &[7, 8, 9]);
    let to = room.path(&format!("c_{{number}}.{}", FORMATS[0].extensions[0]));
    let run = |inputs: &[String], more: &[&str]| {
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        done_json(&[&search[..1], &inputs, &["-o", &to], &search[1..], more].concat())
    };
    assert_eq!(fates(&run(&inputs, &[])), ["computed"; 3]);
    assert_eq!(fates(&run(&inputs, &[])), ["kept"; 3]);
    let files = ["00007", "00008", "00009"].map(|number| result(&room, number));
    let catalogues = || files.each_ref().map(|path| read(Path::new(path)).expect("a catalogue"));
    let before = catalogues();
    let [first, second, third] = before.each_ref().map(|found| text(found, "unbind_tracks_state"));
    let from = before.each_ref().map(|found| text(found, "unbind_tracks_from"));
    assert_eq!(from, ["none", first, second]);
    // Copies of one output: the same objects, one by one.
    let tracks = before
        .each_ref()
        .map(|found| found.table("tracks").expect("tracks").counts("track").map(<[u64]>::len));
    assert!(tracks[0] > Some(3) && tracks.iter().all(|n| *n == tracks[0]), "{tracks:?}");

    // The last one is still complete, as the one before it has the same tracks again.
    fs::remove_file(&files[1]).expect("removed");
    assert_eq!(fates(&run(&inputs, &[])), ["kept", "computed", "kept"]);
    catalogues().iter().zip(&before).for_each(|(found, expected)| assert_same(found, expected, "again"));
    // One by one, as jobs of a queue.
    fs::remove_file(&files[1]).expect("removed");
    assert_eq!(fates(&run(&inputs[1..2], &["--tracks-from", &files[0]])), ["computed"]);
    assert_eq!(text(&catalogues()[1], "unbind_tracks_state"), second);
    // Without its past it is another catalogue, and so is what follows.
    assert_eq!(fates(&run(&inputs[1..2], &[])), ["computed"]);
    assert_ne!(text(&catalogues()[1], "unbind_tracks_state"), second);
    assert_eq!(fates(&run(&inputs, &[])), ["kept", "computed", "kept"]);
    assert_eq!(text(&catalogues()[2], "unbind_tracks_state"), third);
}

#[test]
fn tracks_without_what_they_need_are_refused() {
    let room = Room::new();
    let inputs = outputs(&room, &[7]);
    let to = result(&room, "00007");
    let refused = |more: &[&str]| {
        let out = command(&args(&inputs, &to, more)).output().expect("the program starts");
        assert!(!out.status.success(), "{more:?}");
        let told = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(told.lines().count(), 1, "{told}");
        told
    };
    assert!(refused(&["--tracks"]).contains("--unbind as well"));
    room.refuses(
        &["fof", &inputs[0], "-o", &to, "--tracks"],
        &["--tracks", "--properties basic, bound or all"],
    );
    let bound = ["fof", &inputs[0], "--tracks", "--properties", "basic"];
    room.refuses(&[&bound[..], &["--group-ids", &to]].concat(), &["--output"]);
    assert!(refused(&["--unbind", "--tracks-from", "x.hdf5"]).contains("--tracks as well"));
    let told = refused(&["--unbind", "--tracks", "--duplicate-ids", "allow"]);
    assert!(told.contains("found again by identity"), "{told}");
    let told = refused(&["--unbind", "--tracks", "--tracks-from", "absent.hdf5"]);
    assert!(told.contains("absent.hdf5: there is no such file"), "{told}");
    done(&args(&inputs, &to, &["--unbind"]));
    let told = refused(&["--unbind", "--tracks", "--force", "--tracks-from", &to]);
    assert!(told.contains("no tracks; expected a catalogue"), "{told}");
}
