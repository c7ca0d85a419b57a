//! The program against itself: results on any ranks and threads have the bits of one rank and one thread.
//!
//! A case is an input, a command and its options, all from one number. Every table of its catalogues, their
//! attributes and the picture are compared; a refusal must be the same line. An ordinary run of the tests has
//! a case or two of each kind.
//!
//!     INSELBERG_DIFFERENTIAL=300 INSELBERG_DIFFERENTIAL_SEED=1 cargo test --test program differential -- --nocapture
//!
//! runs 300 cases from seed 1 on. A case that fails prints the seed that runs it alone.

use crate::common::compare::bits;
use crate::common::fits::{FitsFile, encoded};
use crate::common::gadget::{Style, clumps, write};
use crate::common::mesh_blocks::BlockMesh;
use crate::common::npy::npy_file;
use crate::common::plotfile::Plotfile;
use crate::common::room::Room;
use crate::common::{program, resplit};
use crate::cuts::random_cuts;
use crate::random::Random;
use inselberg_io::catalogue::read;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::Instant;

/// Cases of an ordinary run of the tests: one of each kind.
const CASES: u64 = KINDS.len() as u64;

/// Makes the input of a case in a folder. Returns the arguments without results, ranks and threads, and the
/// endings of results.
type Kind = fn(&Room, &mut Random) -> Vec<String>;

const KINDS: [(&str, Kind); 10] = [
    ("amr", amr),
    ("region", region),
    ("ramses", ramses),
    ("mesh", mesh),
    ("graph", graph),
    ("voids", voids),
    ("groups", groups),
    ("tree", tree),
    ("cube", cube),
    ("blocks", blocks),
];

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(String::from).collect()
}

/// Runs the program on one thread, for inputs.
fn made(args: &[&str]) {
    let out = program().args(args).args(["--threads", "1", "--quiet"]).output().expect("the program");
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
}

/// An AMR output over some files, and a density among its own.
fn field(room: &Room, random: &mut Random) -> Vec<String> {
    let whole = room.path("made/output_00001");
    fs::create_dir(room.path("made")).expect("a folder");
    let kind = random.pick(&["clumps", "lattice", "giant", "chain"]);
    let (cells, seed) = ((1000 + random.below(4000)).to_string(), random.below(1 << 30).to_string());
    made(&["synth", "field", "--kind", kind, "--test-cells", &cells, "--seed", &seed, "-o", &whole]);
    let files = 1 + random.below(4);
    let input = resplit(Path::new(&whole), Path::new(&room.path("")), files);
    let input = input.to_string_lossy().into_owned();
    let info = program().args(["info", &input, "--thresholds", "--json"]).output().expect("the program");
    let json: serde_json::Value = serde_json::from_slice(&info.stdout).expect("JSON");
    let rows = json["thresholds"]["density"].as_array().expect("rows");
    let density = rows[random.below(rows.len())]["density"].to_string();
    let ratio = random.pick(&["1", "1.2", "3"]);
    let mut args =
        words(&format!("phew {input} --density-threshold {density} --relevance-threshold {ratio}"));
    if random.chance(0.5) {
        let saddle = density.parse::<f64>().expect("a density") * random.pick(&[1.5, 4.0]);
        args.extend(words(&format!("--saddle-threshold {saddle}")));
    }
    args
}

/// Options that any segmentation takes.
fn any_options(random: &mut Random) -> Vec<String> {
    let balance = random.pick(&["work", "test-cells", "leaves"]);
    let mut args = words(&format!("--with-cells --balance {balance}"));
    if random.chance(0.3) {
        args.extend(words(&format!("--min-cells {}", random.below(20))));
    }
    if random.chance(0.3) {
        args.extend(words("--central densest"));
    }
    args
}

fn amr(room: &Room, random: &mut Random) -> Vec<String> {
    let args = field(room, random);
    [args, any_options(random)].concat()
}

fn region(room: &Room, random: &mut Random) -> Vec<String> {
    let mut args = [field(room, random), any_options(random)].concat();
    let mut real = || random.real();
    let (x, y, z, r) = (real(), real(), real(), 0.05 + 0.4 * real());
    args.push("--region".into());
    args.push(match random.chance(0.5) {
        true => format!("sphere:{x},{y},{z},{r}"),
        false => format!("box:{},{},{},{},{},{}", x - r, y - r, z - r, x + r, y + r, z + r),
    });
    if random.chance(0.5) {
        args.extend(words(&format!("--levels {}:30", random.below(6))));
    }
    args
}

fn ramses(room: &Room, random: &mut Random) -> Vec<String> {
    [field(room, random), words("--compat ramses --with-cells")].concat()
}

/// A snapshot of particles in one to three files.
fn particles(room: &Room, random: &mut Random) -> String {
    let kind = clumps(400 + random.below(3000), random.bits());
    let style = Style { files: 1 + random.below(3), ..Style::default() };
    write(Path::new(&room.path("")), &[(1, &kind)], &style)[0].to_string_lossy().into_owned()
}

fn mesh(room: &Room, random: &mut Random) -> Vec<String> {
    let (input, density) = (particles(room, random), random.pick(&["2", "10", "50"]));
    let mut args = words(&format!(
        "phew {input} --mesh-from-particles --density-threshold {density} --with-cells --with-particles"
    ));
    if random.chance(0.7) {
        let potential = random.pick(&["tree", "spherical"]);
        args.extend(words(&format!("--unbind --potential {potential} --properties bound --with-members")));
    }
    args
}

fn graph(room: &Room, random: &mut Random) -> Vec<String> {
    let (input, n) = (particles(room, random), 4 + random.below(30));
    let density = random.pick(&["1", "5", "40"]);
    let mut args = words(&format!(
        "phew {input} --particle-graph --neighbours {n} --density-threshold {density} --with-particles"
    ));
    if random.chance(0.5) {
        args.extend(words("--unbind --properties bound --with-members"));
    }
    args
}

fn voids(room: &Room, random: &mut Random) -> Vec<String> {
    let (input, n) = (particles(room, random), 8 + random.below(20));
    let ratio = random.pick(&["1", "1.2", "2"]);
    words(&format!("voids {input} --neighbours {n} --relevance-threshold {ratio} --with-particles"))
}

fn groups(room: &Room, random: &mut Random) -> Vec<String> {
    let (input, length) = (particles(room, random), random.pick(&["0.05", "0.2", "0.6"]));
    let size = 1 + random.below(30);
    let mut args = words(&format!("fof {input} --linking-length {length} --min-size {size}"));
    if random.chance(0.5) {
        args.extend(words("--properties bound"));
    }
    args
}

fn tree(room: &Room, random: &mut Random) -> Vec<String> {
    let folder = room.path("series");
    let (outputs, members) = (3 + random.below(4), 1000 + random.below(2000));
    let (rules, seed) = (random.pick(&["gentle", "hard"]), random.below(1 << 30));
    let series =
        words(&format!("synth series --outputs {outputs} --members {members} --rules {rules} --seed {seed}"));
    let series: Vec<&str> = series.iter().map(String::as_str).collect();
    made(&[&series[..], &["-o", &folder]].concat());
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".hdf5") && !name.contains("truth"))
        .collect();
    names.sort();
    let mut args = words(&format!("tree --gap {} --tracers {}", random.below(4), 5 + random.below(30)));
    args.splice(1..1, names);
    args
}

/// Noise around 0 on a grid, as an array or a FITS cube, or with a threshold above 0.
fn cube(room: &Room, random: &mut Random) -> Vec<String> {
    let size: [usize; 3] = std::array::from_fn(|_| 1 + random.below(24));
    let (coarseness, mut own) = (random.pick(&[8, 64, 4096]), random.clone());
    let values: Vec<f64> = (0..size.iter().product())
        .map(|_| (own.below(coarseness) as f64 / coarseness as f64) * 6.0 - 3.0)
        .collect();
    let input = match random.chance(0.5) {
        true => {
            let value = |at: &[usize]| values[(at[0] * size[1] + at[1]) * size[2] + at[2]];
            let path = room.path("cube.npy");
            fs::write(&path, npy_file(&size, random.chance(0.5), "<f8", value)).expect("writing");
            path
        }
        false => {
            let path = room.path("cube.fits");
            let data = encoded(-64, values.iter().copied());
            fs::write(&path, FitsFile::default().image(-64, &size, &[], &data).bytes).expect("writing");
            path
        }
    };
    let axes = random.pick(&["none", "xyz", "x", "yz"]);
    let (density, difference) =
        (random.pick(&["-0.5", "-2.9", "-4", "0.5"]), random.pick(&["0", "0.3", "1.5"]));
    words(&format!(
        "phew {input} --density-threshold={density} --relevance-difference {difference} --periodic {axes} --with-cells"
    ))
}

fn blocks(room: &Room, random: &mut Random) -> Vec<String> {
    let (input, field) = match random.below(3) {
        0 => {
            let root: [i64; 3] = std::array::from_fn(|_| 6 + random.below(14) as i64);
            let mut boxes = Vec::new();
            random_cuts([0; 3], root, 0.15, random, &mut boxes);
            random.shuffle(&mut boxes);
            let path = room.path("plt00001");
            let fine = vec![([2, 2, 4], [6, 8, 6])];
            let (files, ghosts) = (1 + random.below(3), random.below(2) as i64);
            let plotfile = Plotfile {
                root,
                ratios: vec![2],
                boxes: vec![boxes, fine],
                files,
                ghosts,
                ..Plotfile::sample()
            };
            plotfile.write(Path::new(&path));
            (path, random.pick(&["odd name (x/y)", "density"]))
        }
        format => {
            let (block, n): ([usize; 3], [usize; 3]) =
                (std::array::from_fn(|_| 2 + random.below(5)), std::array::from_fn(|_| 2 + random.below(3)));
            let root = [0, 1, 2].map(|a| block[a] * n[a]);
            let mut leaves: Vec<_> = (0..n.iter().product())
                .map(|i: usize| (0, [i % n[0], i / n[0] % n[1], i / (n[0] * n[1])]))
                .collect();
            random.shuffle(&mut leaves);
            let mesh = BlockMesh { root, block, leaves };
            let path = room.path(if format == 1 { "a.athdf" } else { "p.phdf" });
            match format {
                1 => mesh.write_athdf(&path, |x| x),
                _ => mesh.write_phdf(&path, 4, random.below(3)),
            }
            (
                path,
                if format == 1 { random.pick(&["rho", "Bcc1"]) } else { random.pick(&["density", "mom_2"]) },
            )
        }
    };
    let (density, difference) =
        (random.pick(&["-100", "-20", "-3", "2.5"]), random.pick(&["0.1", "0.6", "3"]));
    let mut args = words(&format!(
        "phew {input} --density-threshold={density} --relevance-difference {difference} --with-cells"
    ));
    args.extend(["--field".into(), field.into()]);
    args
}

/// The results of a run: numbers by name, or the line of its refusal.
#[derive(Debug, PartialEq)]
enum Left {
    Refusal(String),
    Results(BTreeMap<String, Vec<u64>>),
}

/// Runs a case in a folder of its own on a number of ranks and threads.
fn left(room: &Room, args: &[String], name: &str, [ranks, threads]: [usize; 2]) -> Left {
    let folder = room.path(name);
    fs::create_dir(&folder).expect("a folder");
    let (to, picture) = (format!("{folder}/found.hdf5"), format!("{folder}/map.svg"));
    let mut command = program();
    command.args(args).args([
        "-o",
        &to,
        "--ranks",
        &ranks.to_string(),
        "--threads",
        &threads.to_string(),
        "--quiet",
    ]);
    if cfg!(feature = "plot") && args[0] != "tree" {
        command.args(["--plot", &picture]);
    }
    let Output { status, stderr, .. } = command.output().expect("the program");
    let line = String::from_utf8_lossy(&stderr).into_owned();
    if !status.success() {
        assert!(status.code() == Some(2) && line.lines().count() == 1, "{args:?}: {line}");
        return Left::Refusal(line.replace(&folder, ""));
    }
    let found = read(Path::new(&to)).unwrap_or_else(|e| panic!("{e}"));
    let mut results = BTreeMap::new();
    let text = |text: &str| text.bytes().map(u64::from).collect::<Vec<u64>>();
    for (name, value) in found.attributes.iter().filter(|(name, _)| !name.starts_with("run_")) {
        results.insert(format!("@{name}"), text(&format!("{value:?}")));
    }
    for table in &found.tables {
        for column in &table.columns {
            results.insert(format!("{}/{}", table.name, column.name), bits(&column.values));
        }
    }
    if let Ok(map) = fs::read_to_string(&picture) {
        results.insert("map".into(), text(&map));
    }
    Left::Results(results)
}

/// The first thing in which two runs differ.
fn difference(a: &Left, b: &Left) -> Option<String> {
    match (a, b) {
        (Left::Results(a), Left::Results(b)) => {
            let names = a.keys().chain(b.keys());
            names.into_iter().find(|name| a.get(*name) != b.get(*name)).cloned()
        }
        (a, b) if a == b => None,
        (Left::Refusal(line), _) | (_, Left::Refusal(line)) => Some(format!("refused: {}", line.trim_end())),
    }
}

/// The kind of a case, and whether it had results; or what differs.
fn run(seed: u64) -> Result<(&'static str, bool), String> {
    let (room, mut random) = (Room::new(), Random(seed.wrapping_mul(0x9e37_79b9)));
    let (kind, make) = KINDS[(seed % KINDS.len() as u64) as usize];
    let args = make(&room, &mut random);
    let alone = left(&room, &args, "alone", [1, 1]);
    let how = [2 + random.below(5), 1 + random.below(3)];
    match difference(&alone, &left(&room, &args, "shared", how)) {
        None => Ok((kind, matches!(alone, Left::Results(_)))),
        Some(what) => {
            Err(format!("seed {seed}, {kind} on {how:?} ranks and threads: {what}: {}", args.join(" ")))
        }
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a whole number"))
}

#[test]
fn any_ranks_and_threads_find_the_same() {
    let (n, first) = (number("INSELBERG_DIFFERENTIAL", CASES), number("INSELBERG_DIFFERENTIAL_SEED", 0));
    let start = Instant::now();
    let (mut tally, mut problems) = (BTreeMap::<(&str, bool), u64>::new(), Vec::new());
    for seed in first..first + n {
        match run(seed) {
            Ok(kind) => *tally.entry(kind).or_default() += 1,
            Err(problem) => problems.push(problem),
        }
    }
    println!("{n} cases from seed {first} on in {:.0} s", start.elapsed().as_secs_f64());
    for ((kind, has_results), n) in tally {
        println!("{n:6} {kind}{}", if has_results { "" } else { ", refused" });
    }
    let again = "again, one of them: INSELBERG_DIFFERENTIAL=1 INSELBERG_DIFFERENTIAL_SEED=...";
    assert!(problems.is_empty(), "{} cases differ:\n{}\n{again}", problems.len(), problems.join("\n"));
}
