//! Many snapshots over processes: the same catalogues as of single runs, and a damaged snapshot that ends
//! nothing else.

use super::common::compare::assert_same;
use super::common::{Whole, open, output};
use super::job::{Ended, Job, Launcher, alone, names};
use super::text;
use inselberg_io::catalogue::{FORMATS, read};
use inselberg_io::ramses::write::Dialect;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const THRESHOLDS: [&str; 5] = ["--density-threshold", "40", "--saddle-threshold", "200", "--with-cells"];

/// Outputs 1 to 4 of the bundled run, over two files each.
fn outputs(folder: &Path) -> Vec<String> {
    let mut whole = Whole::read(&*open(&output("dm_1rank")));
    let one = |number| {
        whole.header.number = Some(number);
        text(&whole.write(folder, 2, true, &Dialect::default()))
    };
    (1..=4).map(one).collect()
}

fn result(folder: &Path, number: &str) -> PathBuf {
    folder.join(format!("c_{number}.{}", FORMATS[0].extensions[0]))
}

fn series(launcher: &Launcher, n_ranks: usize, inputs: &[String], to: &str) -> Ended {
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let args = [&["phew"], &inputs[..], &["-o", to, "--quiet", "--threads", "1"], &THRESHOLDS].concat();
    Job::start(launcher.inselberg(n_ranks, &args), to).end(Duration::from_secs(120))
}

#[test]
fn a_damaged_snapshot_ends_no_other_on_any_process() {
    let Some(launcher) = Launcher::here() else { return };
    let _alone = alone();
    for n_ranks in [2, 3] {
        let folder = tempfile::tempdir().expect("a folder");
        let (room, results) = (folder.path(), folder.path().join("results"));
        fs::create_dir(&results).expect("a folder");
        let inputs = outputs(room);
        let to = text(&result(&results, "{number}"));
        // One is damaged where the last rank reads it, another has no readable header.
        let piece = format!("{}/grav_00002.out00002", inputs[1]);
        let bytes = fs::read(&piece).expect("a file");
        fs::write(&piece, &bytes[..bytes.len() / 2]).expect("written");
        let header = format!("{}/info_00003.txt", inputs[2]);
        let lines = fs::read(&header).expect("a file");
        fs::write(&header, "nothing").expect("written");

        let ended = series(&launcher, n_ranks, &inputs, &to);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        let told = ended.lines_with("inselberg: ");
        assert_eq!(told.len(), 3, "{ended:?}");
        assert!(told[0].contains("grav_00002.out00002") && told[0].contains("torn"), "{ended:?}");
        assert!(told[1].contains("info_00003.txt"), "{ended:?}");
        assert!(told[2].ends_with("2 of 4 snapshots failed"), "{ended:?}");
        let there = || {
            let mut there = names(&results);
            there.sort();
            there
        };
        let named = |numbers: &[u32]| -> Vec<String> {
            let name = |n: &u32| result(Path::new(""), &format!("{n:05}")).to_string_lossy().into_owned();
            numbers.iter().map(name).collect()
        };
        assert_eq!(there(), named(&[1, 4]));

        fs::write(&piece, bytes).expect("written");
        fs::write(&header, lines).expect("written");
        let times =
            || fs::metadata(result(&results, "00004")).and_then(|data| data.modified()).expect("there");
        let before = times();
        let ended = series(&launcher, n_ranks, &inputs, &to);
        assert!(ended.is_good() && ended.lines_with("inselberg").is_empty(), "{ended:?}");
        assert_eq!(there(), named(&[1, 2, 3, 4]));
        assert_eq!(times(), before, "what is complete is kept");
        for (input, number) in inputs.iter().zip(1..) {
            let alone = room.join("alone.csv");
            let of_one = text(&alone);
            let args =
                [&["phew", input, "-o", &of_one, "--quiet", "--threads", "2"], &THRESHOLDS[..]].concat();
            let ran = Command::new(env!("CARGO_BIN_EXE_inselberg")).args(args).status().expect("starts");
            assert!(ran.success());
            let of_series = read(&result(&results, &format!("{number:05}"))).expect("a catalogue");
            assert_same(&read(&alone).expect("a catalogue"), &of_series, input);
        }
    }
}
