//! The commands, and their results in an undisturbed run.

use crate::common;
use crate::common::compare::bits;
use inselberg_io::catalogue;
use inselberg_io::catalogue::{Catalogue, Dimension, Table, TableColumn, Values};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A command of the program: its name, its input and the files that it leaves in the folder `out`.
pub struct Plan {
    pub name: &'static str,
    pub input: PathBuf,
    args: &'static [&'static str],
    pub results: &'static [&'static str],
    pub takes_ranks: bool,
    /// The time of an undisturbed run.
    pub time: Duration,
    /// Its results.
    pub whole: Vec<Content>,
}

/// The part of a result that is always the same.
pub enum Content {
    Tables(Catalogue),
    Bytes(Vec<u8>),
    /// A folder, with the sizes of its files by name.
    Folder(Vec<(String, u64)>),
    /// A picture: any complete one.
    Picture,
}

/// Every command, run once.
pub struct Commands {
    pub plans: Vec<Plan>,
    _room: tempfile::TempDir,
}

/// The name of a command, its arguments and its results.
type Row = (&'static str, &'static [&'static str], &'static [&'static str], bool);

const DARK: &[&str] =
    &["--density-threshold", "40", "--relevance-threshold", "3", "--saddle-threshold", "200"];

const ROWS: &[Row] = &[
    ("phew", &["-o", "out/c.hdf5", "--with-cells", "--with-particles"], &["c.hdf5"], true),
    ("phew", &["-o", "out/c.csv", "--plot", "out/c.png"], &["c.csv", "c.png"], true),
    ("fof", &["-o", "out/g.hdf5", "--group-ids", "out/ids.hdf5"], &["g.hdf5", "ids.hdf5"], true),
    ("recut", &["-o", "out/r.hdf5", "--relevance-threshold", "5"], &["r.hdf5"], false),
    ("synth particles", &["-o", "out/box.npy", "--number", "200000"], &["box.npy"], true),
    ("synth field", &["-o", "out/output_00007", "--test-cells", "20000"], &["output_00007"], false),
];

impl Commands {
    pub fn new() -> Self {
        let room = tempfile::tempdir().expect("a folder");
        let tree = room.path().join("tree.hdf5");
        let snapshot = common::output("dm_3ranks");
        let mut first = Command::new(env!("CARGO_BIN_EXE_inselberg"));
        first.args(["phew", "--threads", "2", "-o"]).arg(&tree).args(DARK).arg(&snapshot);
        assert!(first.output().expect("starts").status.success());
        let plan = |&(name, args, results, takes_ranks): &Row| {
            let input = match name {
                "recut" => tree.clone(),
                "phew" | "fof" => snapshot.clone(),
                _ => PathBuf::new(),
            };
            let time = Duration::ZERO;
            let mut plan = Plan { name, input, args, results, takes_ranks, time, whole: vec![] };
            let alone = room.path().join("alone");
            // The second time finds everything in memory, as the cases do.
            for _ in 0..2 {
                fs::create_dir_all(alone.join("out")).expect("a folder");
                let start = Instant::now();
                let mut command = Command::new(env!("CARGO_BIN_EXE_inselberg"));
                command.args(plan.args(&plan.input, "2")).current_dir(&alone);
                let out = command.output().expect("starts");
                assert!(out.status.success(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
                plan.time = start.elapsed();
                plan.whole =
                    results.iter().map(|name| Content::read(&alone.join("out").join(name))).collect();
                fs::remove_dir_all(&alone).expect("removed");
            }
            plan
        };
        let plans = ROWS.iter().map(plan).collect();
        Self { plans, _room: room }
    }
}

impl Plan {
    /// The command line, for an input that may be a copy.
    pub fn args(&self, input: &Path, threads: &str) -> Vec<String> {
        let mut args: Vec<String> = self.name.split(' ').map(String::from).collect();
        if !input.as_os_str().is_empty() {
            args.push(input.to_string_lossy().into_owned());
        }
        args.extend(self.args.iter().map(|arg| arg.to_string()));
        args.extend(["--threads".into(), threads.into(), "--quiet".into()]);
        match self.name {
            "phew" => args.extend(DARK.iter().map(|arg| arg.to_string())),
            "fof" => args.extend(["--linking-ratio", "0.2", "--min-size", "10"].map(String::from)),
            _ => {}
        }
        args
    }
}

impl Content {
    pub fn read(path: &Path) -> Self {
        let ending = path.extension().unwrap_or_default();
        if path.is_dir() {
            let entries = fs::read_dir(path).expect("a folder").flatten();
            let size = |e: fs::DirEntry| {
                (e.file_name().to_string_lossy().into_owned(), e.metadata().map_or(0, |m| m.len()))
            };
            let mut files: Vec<_> = entries.map(size).collect();
            files.sort();
            return Self::Folder(files);
        }
        match ending.to_str() {
            Some("png") => Self::Picture,
            Some("hdf5" | "csv") if path.file_stem().is_some_and(|stem| stem == "c" || stem == "r") => {
                Self::Tables(catalogue::read(path).unwrap_or_else(|e| panic!("{e}")))
            }
            Some("hdf5") => Self::Tables(groups(path)),
            _ => Self::Bytes(fs::read(path).expect("a file")),
        }
    }

    /// What is wrong with the result at `path`.
    pub fn differs_from(&self, path: &Path) -> Result<(), String> {
        let same = |same: bool| if same { Ok(()) } else { Err(format!("{} is not whole", path.display())) };
        match self {
            Self::Tables(whole) => {
                let is_ours = path.file_stem().is_some_and(|stem| stem == "c" || stem == "r");
                let found =
                    if is_ours { catalogue::read(path).map_err(|e| e.to_string())? } else { groups(path) };
                same(is_same(&found, whole))
            }
            Self::Bytes(bytes) => same(fs::read(path).is_ok_and(|found| found == *bytes)),
            Self::Folder(files) => same(matches!(Self::read(path), Self::Folder(found) if found == *files)),
            Self::Picture => same(fs::read(path).is_ok_and(|bytes| bytes.ends_with(b"IEND\xaeB`\x82"))),
        }
    }
}

/// Whether tables are equal bit for bit.
fn is_same(a: &Catalogue, b: &Catalogue) -> bool {
    let columns = |c: &Catalogue| -> Vec<(String, Vec<u64>)> {
        let of_table = |t: &Table| {
            t.columns.iter().map(|c| (format!("{}/{}", t.name, c.name), bits(&c.values))).collect()
        };
        c.tables.iter().flat_map(|t| -> Vec<_> { of_table(t) }).collect()
    };
    columns(a) == columns(b)
}

/// Every dataset of an HDF5 file with one level of groups, as its reals.
fn groups(path: &Path) -> Catalogue {
    let file = hdf5::File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut tables = Vec::new();
    for group in file.groups().expect("groups") {
        let mut columns = Vec::new();
        for dataset in group.datasets().expect("datasets") {
            let values = Values::F64(dataset.read_raw().expect("numbers"));
            columns.push(TableColumn {
                name: dataset.name(),
                dimension: Dimension::NONE,
                description: String::new(),
                values,
            });
        }
        tables.push(Table { name: group.name(), columns });
    }
    Catalogue { attributes: vec![], tables }
}
