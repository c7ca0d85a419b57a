//! No command replaces its input, nor a file that it did not write unless `--force` is given; its own results
//! are replaced.

use crate::common::fits::{FitsFile, encoded};
use crate::common::room::{Room, command, done};
use std::fs;
use std::path::{Path, PathBuf};

const FOREIGN: &str = "the only copy of someone's work\n";

/// Files in the folder `path`, also in folders of it.
fn files(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).expect("there").flatten().map(|entry| entry.path());
    entries.flat_map(|entry| if entry.is_dir() { files(&entry) } else { vec![entry] }).collect()
}

/// A command that writes into the folder `to` alone: each of its files stays if it is one of another program.
fn keeps_foreign_files(room: &Room, to: &str, args: &[&str]) {
    fs::create_dir(room.path(to)).expect("made");
    done(args);
    done(args);
    let all = files(Path::new(&room.path(to)));
    assert!(!all.is_empty(), "{args:?}");
    for path in &all {
        let own = fs::read(path).expect("read");
        fs::write(path, FOREIGN).expect("written");
        room.refuses_command(quiet(args), &[&path.display().to_string(), "--force"]);
        assert_eq!(fs::read_to_string(path).expect("read"), FOREIGN, "{args:?}");
        fs::write(path, own).expect("written");
    }
    all.iter().for_each(|path| fs::write(path, FOREIGN).expect("written"));
    done(&[args, &["--force"]].concat());
    for path in &all {
        assert!(fs::read(path).expect("read") != FOREIGN.as_bytes(), "{args:?}: {}", path.display());
    }
}

/// Without its summary, which comes before further files of a catalogue are looked at.
fn quiet(args: &[&str]) -> std::process::Command {
    command(&[args, if args.contains(&"--quiet") { &[] } else { &["--quiet"] }].concat())
}

#[test]
fn searches_keep_files_of_other_programs() {
    let room = Room::new();
    let input = crate::common::output("gas_2ranks").to_string_lossy().into_owned();
    let at = |name: &str| room.path(&format!("out/{name}"));
    let [catalogue, text, yt, vtk] = ["c.csv", "text", "yt", "vtk"].map(at);
    let [trace, graph, svg, png, report] = ["t.json", "g.dot", "p.svg", "p.png", "report"].map(at);
    let phew = ["phew", &input, "--density-threshold", "2", "-o", &catalogue, "--ramses-text", &text];
    let traces = ["--trace", &trace, "--task-graph", &graph];
    let viewers: &[&str] = if cfg!(feature = "hdf5") { &["--yt", &yt, "--vtk", &vtk] } else { &[] };
    let plot: &[&str] = if cfg!(feature = "plot") { &["--plot", &svg, "--report", &report] } else { &[] };
    keeps_foreign_files(&room, "out", &[&phew[..], &traces, viewers, plot].concat());
    fs::remove_dir_all(room.path("out")).expect("removed");
    let (points, groups) = (room.path("box.npy"), at("g.csv"));
    done(&["synth", "particles", "-n", "3000", "-o", &points]);
    let fof = ["fof", &points, "--box", "15", "-o", &catalogue, "--group-ids", &groups];
    let plot: &[&str] = if cfg!(feature = "plot") { &["--plot", &png] } else { &[] };
    keeps_foreign_files(&room, "out", &[&fof[..], plot].concat());
}

#[cfg(feature = "hdf5")]
#[test]
fn commands_on_catalogues_keep_files_of_other_programs() {
    let room = Room::new();
    let input = crate::common::output("gas_2ranks").to_string_lossy().into_owned();
    let (from, tree) = (room.path("from.hdf5"), room.path("series/truth.hdf5"));
    done(&["phew", &input, "--density-threshold", "2", "-o", &from, "--with-cells"]);
    done(&["synth", "series", "-o", &room.path("series"), "--outputs", "3", "--members", "2000"]);
    let at = |name: &str| room.path(&format!("out/{name}"));
    let to = |words: &str, name: &str| {
        let words = words.replace("FROM", &from).replace("TREE", &tree).replace("INPUT", &input);
        words.split(' ').map(String::from).chain([at(name)]).collect::<Vec<_>>()
    };
    let mut cases = vec![
        to("convert FROM --to fits -o", "c.fits"),
        to("convert FROM --to ecsv -o", "c.ecsv"),
        to("convert FROM --to yt -o", "yt"),
        to("convert FROM --to vtk -o", "vtk"),
        to("convert TREE --to ytree -o", "ytree"),
        to("convert TREE --to consistent-trees -o", "lists"),
        to("recut FROM --quiet --relevance-threshold 4 -o", "r.csv"),
        to("synth particles -n 1000 -o", "box.npy"),
    ];
    if cfg!(feature = "plot") {
        cases.push(to("view FROM --halo 1 --plot", "p.png"));
        cases.push(to("info INPUT --thresholds --plot", "d.svg"));
    }
    let outputs = (1..=3).map(|i| room.path(&format!("series/clumps_{i:05}.hdf5")));
    cases.push([vec!["tree".into()], outputs.collect(), to("-o", "tree.hdf5")].concat());
    for words in cases {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        keeps_foreign_files(&room, "out", &words);
        fs::remove_dir_all(room.path("out")).expect("removed");
    }
}

#[test]
fn nothing_replaces_what_a_catalogue_was_made_from() {
    let room = Room::new();
    let (cube, catalogue) = (room.path("cube.fits"), room.path("c.csv"));
    let values = encoded(-64, (0..512).map(|i| f64::from(i * 37 % 101)));
    fs::write(&cube, FitsFile::default().image(-64, &[8, 8, 8], &[], &values).bytes).expect("written");
    done(&["phew", &cube, "--density-threshold", "50", "-o", &catalogue]);
    let before = fs::read(&cube).expect("read");
    for more in [&[][..], &["--force"]] {
        let convert = ["convert", &catalogue, "--to", "fits", "-o", &cube];
        room.refuses(
            &[&convert[..], more].concat(),
            &["cube.fits", "is both the input of the catalogue and the output"],
        );
        assert!(fs::read(&cube).expect("read") == before);
    }
}
