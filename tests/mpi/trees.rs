//! Merger trees over processes: the same bytes as of the program alone, and one error for all where a
//! catalogue is damaged.

use super::job::{Job, Launcher, alone, names};
use super::text;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A synthetic series of catalogues, in a folder.
fn series(folder: &Path) -> Vec<String> {
    let to = text(folder);
    let mut command = Command::new(env!("CARGO_BIN_EXE_inselberg"));
    command.args(["synth", "series", "-o", &to, "--outputs", "6", "--members", "2e4", "--rules", "hard"]);
    let out = command.output().expect("it starts");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    (1..=6).map(|number| text(&folder.join(format!("clumps_{number:05}.hdf5")))).collect()
}

/// The options of a tree, with the folders for ytree and consistent-trees in addition.
fn args<'a>(inputs: &'a [String], places: &'a [String; 3], threads: &'a str) -> Vec<&'a str> {
    let inputs = inputs.iter().map(String::as_str);
    let [tree, ytree, lists] = places;
    let more = ["-o", tree, "--ytree", ytree, "--consistent-trees", lists, "--threads", threads, "--quiet"];
    ["tree"].into_iter().chain(inputs).chain(more).collect()
}

fn places(folder: &Path) -> [String; 3] {
    ["tree.hdf5", "ytree", "lists"].map(|name| text(&folder.join(name)))
}

/// The files in a folder and the folders in it, with their bytes, by name.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for name in names(folder) {
        let path = folder.join(&name);
        match path.is_dir() {
            true => {
                found.extend(files(&path).into_iter().map(|(at, bytes)| (Path::new(&name).join(at), bytes)))
            }
            false => found.push((name.into(), fs::read(&path).expect("a file"))),
        }
    }
    found.sort();
    found
}

#[test]
fn a_tree_has_the_same_bytes_on_any_number_of_processes() {
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let inputs = series(folder.path());
    let own = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_inselberg"));
    // If MPI were started, it would fail, because there is no such component.
    let ran = command.args(args(&inputs, &places(own.path()), "2")).env("OMPI_MCA_pml", "none-such").output();
    assert!(ran.as_ref().is_ok_and(|out| out.status.success()), "{ran:?}");
    let expected = files(own.path());
    assert!(expected.len() >= 10, "{:?}", expected.iter().map(|(name, _)| name).collect::<Vec<_>>());
    for (n_ranks, threads) in [(1, "1"), (2, "1"), (2, "2"), (3, "1")] {
        let room = tempfile::tempdir().expect("a folder");
        let places = places(room.path());
        let job = Job::start(launcher.inselberg(n_ranks, &args(&inputs, &places, threads)), &places[0]);
        let ended = job.end(Duration::from_secs(120));
        assert!(ended.is_good(), "{ended:?}");
        let found = files(room.path());
        let differs = found.iter().zip(&expected).find(|(a, b)| a != b).map(|(a, _)| &a.0);
        assert!(found.len() == expected.len() && differs.is_none(), "{n_ranks} processes: {differs:?}");
    }
}

#[test]
fn a_damaged_catalogue_ends_all_processes_with_one_line() {
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let inputs = series(folder.path());
    let bytes = fs::read(&inputs[3]).expect("a catalogue");
    fs::write(&inputs[3], &bytes[..bytes.len() / 2]).expect("written");
    let room = tempfile::tempdir().expect("a folder");
    let places = places(room.path());
    let job = Job::start(launcher.inselberg(3, &args(&inputs, &places, "1")), &places[0]);
    let ended = job.end(Duration::from_secs(60));
    assert!(!ended.is_good() && ended.lines_with("inselberg: ").len() == 1, "{ended:?}");
    assert!(ended.lines_with("clumps_00004.hdf5").len() == 1, "{ended:?}");
    assert!(names(room.path()).is_empty(), "{:?}", names(room.path()));
}
