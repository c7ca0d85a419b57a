//! Strong-scaling studies by the real program: every file, the same numbers in each, in a real browser too.
//!
//! With `INSELBERG_BROWSER=1` there must be a browser (Debian's chromium); elsewhere that test says that it
//! is skipped.

use crate::common::room::Room;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const PHEW: [&str; 2] = ["--density-threshold=80", "--saddle-threshold=200"];

fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_inselberg"));
    command.args(args).stdin(Stdio::null());
    command
}

fn text(out: &[u8]) -> String {
    String::from_utf8_lossy(out).into_owned()
}

fn done(args: &[&str]) -> Output {
    let out = program(args).output().expect("the program starts");
    assert!(out.status.success(), "{args:?}: {}", text(&out.stderr));
    out
}

/// A field of about 5000 test cells.
fn field(room: &Room) -> String {
    let path = room.path("output_00001");
    done(&["synth", "field", "--test-cells", "5e3", "--peaks", "10", "-o", &path, "--quiet"]);
    path
}

/// A study with real and modelled runs of that field, in this folder.
fn study(input: &str, to: &str) -> Value {
    let what =
        ["scaling", "phew", "--input", input, "-o", to, "--repeats", "1", "--launcher", "threads", "--json"];
    let how =
        ["--ranks", "1,3", "--threads", "1..2", "--simulate", "2..8", "--balance", "test-cells,work,leaves"];
    let out = done(&[&what[..], &how, &PHEW].concat());
    assert_eq!(text(&out.stderr), "");
    serde_json::from_slice(&out.stdout).expect("JSON")
}

fn read(folder: &str, name: &str) -> String {
    fs::read_to_string(Path::new(folder).join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn markdown_of(folder: &str) -> String {
    read(folder, "table.md")
}

/// The fields of a CSV without quotes, row by row, the header first.
fn csv(text: &str) -> Vec<Vec<String>> {
    text.lines().map(|line| line.split(',').map(String::from).collect()).collect()
}

fn real(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Except for the last bit, in which the reader of JSON is not exact.
fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 4.0 * f64::EPSILON * a.abs()
}

/// The names in the JSON of the columns of the main table, in order.
const MEASURED: [&str; 14] = [
    "/ranks",
    "/threads",
    "/runs",
    "/seconds/median",
    "/seconds/least",
    "/seconds/most",
    "/seconds/deviation",
    "/wall_seconds/median",
    "/speed_up",
    "/efficiency",
    "/serial_fraction",
    "/items",
    "/items_per_second",
    "/peak_memory_bytes",
];
const MODELLED: [&str; 13] = [
    "/ranks",
    "/balance",
    "/threads",
    "/runs",
    "/cells_per_rank",
    "/seconds",
    "/work_seconds",
    "/communication_seconds",
    "/speed_up",
    "/efficiency",
    "/imbalance",
    "/exchanges",
    "/other_calls",
];

fn at<'a>(row: &'a Value, path: &str) -> &'a Value {
    row.pointer(path).unwrap_or_else(|| panic!("{path} is not in {row}"))
}

#[test]
fn a_study_has_the_same_numbers_in_every_file() {
    let room = Room::new();
    let (input, to) = (field(&room), room.path("study"));
    let mut json = study(&input, &to);
    let written: Value = serde_json::from_str(&read(&to, "study.json")).expect("JSON");
    let files = json.as_object_mut().and_then(|summary| summary.remove("written")).expect("what is written");
    assert!(files.as_array().is_some_and(|files| files.len() > 3), "{files}");
    assert_eq!(json, written);
    let all = json["configurations"].as_array().expect("a list");
    let keys: Vec<_> = all.iter().map(|c| (c["ranks"].as_u64(), c["threads"].as_u64())).collect();
    assert_eq!(keys, [(1, 1), (1, 2), (3, 1), (3, 2)].map(|(r, t)| (Some(r), Some(t))));
    let marked = all.iter().filter(|c| c["shares_processors"] == true).count();
    assert_eq!(markdown_of(&to).contains("more threads than processors are marked"), marked > 1);
    assert!(markdown_of(&to).contains("- hosts: "), "the page names its host");
    assert_eq!((real(&all[0]["speed_up"]), real(&all[0]["efficiency"])), (1.0, 1.0));
    for c in all {
        let speed_up = real(at(&all[0], "/seconds/median")) / real(at(c, "/seconds/median"));
        assert!((real(&c["speed_up"]) - speed_up).abs() < 1e-12 * speed_up);
        let cores = real(&c["ranks"]) * real(&c["threads"]);
        assert!((real(&c["efficiency"]) * cores - speed_up).abs() < 1e-12 * speed_up * cores);
        let stages: f64 =
            c["stages"].as_array().expect("stages").iter().map(|s| real(at(s, "/seconds/median"))).sum();
        assert!((stages - real(at(c, "/seconds/median"))).abs() < 1e-9, "{c}");
        assert!(real(&c["imbalance"]) >= 1.0);
        let parts = ["work_seconds", "wait_seconds", "message_seconds"].map(|name| real(&c[name]));
        assert!(parts[0] > 0.0 && parts.iter().sum::<f64>() <= stages * 1.001, "{c}");
        let host = &c["hosts"][0];
        assert_eq!(host["ranks"], c["ranks"]);
        assert_eq!(
            c["shares_processors"],
            real(&c["ranks"]) * real(&c["threads"]) > real(&host["processors"])
        );
        assert_eq!(c["serial_fraction"].is_null(), cores == 1.0);
        let rate = real(&c["items"]) / real(at(c, "/seconds/median"));
        assert!(is_same(real(&c["items_per_second"]), rate));
        assert_eq!(c["messages"] == 0, c["ranks"] == 1, "{c}");
    }
    let rows = csv(&read(&to, "table.csv"));
    let markdown = markdown_of(&to);
    assert_eq!(rows.len(), 1 + all.len());
    for (row, c) in rows[1..].iter().map(|row| unquoted(row)).zip(all) {
        for (place, path) in row.iter().zip(MEASURED) {
            let exact = at(c, path).as_f64();
            assert!(place.parse().ok().zip(exact).is_none_or(|(a, b)| is_same(a, b)), "{path}: {place}");
            assert_eq!(place.is_empty(), exact.is_none(), "{path}: {place}");
        }
        let start = format!("| {} | {} | {} | ", row[0], row[1], row[2]);
        let line =
            markdown.lines().find(|line| line.starts_with(&start)).expect("a line of that configuration");
        for (shown, place) in line.trim_matches('|').split('|').zip(&row) {
            let (Ok(shown), Ok(exact)) = (shown.trim().parse::<f64>(), place.parse::<f64>()) else {
                assert_eq!(shown.trim(), place);
                continue;
            };
            assert!((shown - exact).abs() <= 1e-3 * exact.abs(), "{shown} is not {exact}");
        }
    }
}

fn unquoted(row: &[String]) -> Vec<String> {
    row.iter().map(|place| place.trim_matches('"').to_string()).collect()
}

#[test]
fn modelled_runs_add_up_and_are_checked_against_real_ones() {
    let room = Room::new();
    let (input, to) = (field(&room), room.path("study"));
    let json = study(&input, &to);
    let all = json["modelled"].as_array().expect("a list");
    let keys: Vec<_> =
        all.iter().map(|m| (m["balance"].as_str().expect("a word"), real(&m["ranks"]))).collect();
    let balances = ["test-cells", "work", "leaves"];
    let expected: Vec<_> = balances.iter().flat_map(|b| [2.0, 4.0, 8.0].map(|n| (*b, n))).collect();
    assert_eq!(keys, expected);
    for m in all {
        let stages = m["stages"].as_array().expect("stages");
        let sum = |name: &str| stages.iter().map(|s| real(&s[name])).sum::<f64>();
        assert!((sum("seconds") - real(&m["seconds"])).abs() < 1e-9);
        assert!((sum("work") - real(&m["work_seconds"])).abs() < 1e-9 && sum("work") > 0.0);
        let parts = sum("work") + sum("overhead") + sum("transfer") + sum("latency");
        assert!((parts - real(&m["seconds"])).abs() < 1e-9);
        assert!(stages.iter().all(|s| s["stage"] != "reading"), "files are not modelled");
        let ascent = stages.iter().find(|s| s["stage"] == "ascent").expect("a stage");
        assert!(real(&ascent["work"]) > 0.0, "its tasks are counted where they belong");
        assert!(real(&m["speed_up"]) == 1.0 || m["ranks"] != 2);
        let merges: f64 = m["merges_per_level"].as_array().expect("a list").iter().map(real).sum();
        let [clumps, haloes] = ["clumps", "haloes"].map(|name| real(&m["totals"][name]));
        assert!(merges > 0.0 && merges == clumps - haloes, "every clump but the main ones merges: {m}");
        assert!(real(&m["lies"]["saddle entries, most on a rank"]) > 0.0);
        assert!(real(&m["cells_per_rank"]) * real(&m["ranks"]) > 4000.0);
    }
    let tests = |m: &Value| real(&m["lies"]["test cells, max/mean"]);
    assert!(tests(&all[2]) < 1.01 && tests(&all[5]) < 1.5, "test cells are as even as asked for");
    let rows = csv(&read(&to, "table_modelled.csv"));
    for (row, m) in rows[1..].iter().zip(all) {
        for (place, path) in row.iter().zip(MODELLED) {
            let exact = at(m, path);
            assert!(
                place.parse().map_or(exact == place, |x: f64| is_same(x, real(exact))),
                "{path}: {place}"
            );
        }
    }
    let merging = csv(&read(&to, "table_merging.csv"));
    let peaks = merging.iter().find(|row| row[0] == "density peaks").expect("a row");
    let own = real(&all[0]["totals"]["peaks"]).to_string();
    assert_eq!(peaks[1..], ["6714764", "53994995", &own, &own, &own]);
    let checks = json["checks"].as_array().expect("a list");
    assert_eq!(checks.iter().map(|c| real(&c["ranks"])).collect::<Vec<_>>(), [1.0, 3.0]);
    assert!(checks.iter().all(|c| real(&c["modelled_work"]) > 0.0));
    assert_eq!(checks[0]["has_processors"], true);
    let off = real(&checks[0]["modelled_seconds"]) / real(at(&checks[0], "/real_seconds/median")) - 1.0;
    assert!((real(&checks[0]["error"]) - off).abs() < 1e-12);
}

/// A catalogue of these clumps, by every way to divide the mesh.
#[test]
fn however_the_mesh_is_divided_the_catalogue_is_the_same() {
    let room = Room::new();
    let input = field(&room);
    let mut seen: Vec<Vec<Vec<u8>>> = Vec::new();
    for (i, balance) in ["test-cells", "work", "leaves", "work"].into_iter().enumerate() {
        let to = room.path(&format!("c{i}.csv"));
        let ranks = if i == 3 { "7" } else { "5" };
        let how = ["--balance", balance, "--ranks", ranks, "-o", &to, "--quiet", "--count-work"];
        done(&[&["phew", &input][..], &how[..if i == 1 { 8 } else { 7 }], &PHEW].concat());
        let body = |name: &str| {
            let lines = fs::read_to_string(room.path(&format!("c{i}{name}.csv"))).expect("a table");
            lines.lines().filter(|l| !l.starts_with('#')).collect::<String>().into_bytes()
        };
        seen.push(["", ".haloes", ".tree"].map(body).to_vec());
    }
    assert!(seen.windows(2).all(|w| w[0] == w[1]));
    assert!(seen[0][0].len() > 100);
}

#[test]
fn groups_of_particles_are_studied_likewise() {
    let room = Room::new();
    let (input, to) = (room.path("box.npy"), room.path("study"));
    done(&["synth", "particles", "-n", "4096", "-o", &input, "--quiet"]);
    let side = fs::read_to_string(room.path("box.json")).expect("beside it");
    let side: Value = serde_json::from_str(&side).expect("JSON");
    let side = side["box_size"].as_f64().or(side["box"].as_f64()).unwrap_or(1.0).to_string();
    let what =
        ["scaling", "fof", "--input", &input, "-o", &to, "--repeats", "2", "--launcher", "threads", "--json"];
    let out = done(&[&what[..], &["--ranks", "1,2", "--simulate", "4", "--box", &side]].concat());
    let json: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(json["of"], "fof");
    assert_eq!(
        (json["configurations"][1]["runs"].as_u64(), json["modelled"][0]["ranks"].as_u64()),
        (Some(2), Some(4))
    );
    assert!(
        real(&json["modelled"][0]["cells_per_rank"]) == 1024.0
            && real(&json["modelled"][0]["work_seconds"]) > 0.0
    );
    for name in ["domains.svg", "saddle_entries.svg", "table_paper.csv", "table_merging.csv"] {
        assert!(!Path::new(&to).join(name).exists(), "{name} is of clumps");
    }
}

/// A study of `words` on one and two ranks, real and modelled ones.
fn small_study(words: &[&str], to: &str) -> Value {
    let how = ["-o", to, "--repeats", "1", "--launcher", "threads", "--ranks", "1,2", "--simulate", "4"];
    let out = done(&[&["scaling"], words, &how, &["--json"]].concat());
    serde_json::from_slice(&out.stdout).expect("JSON")
}

#[test]
fn every_command_is_studied_with_every_input_that_it_takes() {
    let room = Room::new();
    let (cells, array, series) = (field(&room), room.path("box.npy"), room.path("series"));
    done(&["synth", "particles", "-n", "4096", "-o", &array, "--quiet"]);
    done(&["synth", "series", "--outputs", "2", "--members", "1000", "-o", &series, "--quiet"]);
    let catalogues = format!("{series}/clumps_*.hdf5");
    let of_array = ["--input", &array, "--box", "16"];
    let studied: [(Vec<&str>, &str, &str); 6] = [
        ([&["phew", "--input", &cells][..], &PHEW].concat(), "phew", "ascent"),
        ([&["phew"], &of_array[..], &["--density-threshold", "80"]].concat(), "phew", "density"),
        (
            [&["phew"], &of_array[..], &["--density-threshold", "80", "--particle-graph"]].concat(),
            "phew",
            "neighbours",
        ),
        ([&["fof"], &of_array[..]].concat(), "fof", "linking"),
        ([&["voids"], &of_array[..]].concat(), "voids", "walls"),
        (vec!["tree", "--input", &catalogues], "tree", "matching"),
    ];
    for (words, command, stage) in studied {
        let json = small_study(&words, &room.path("study"));
        assert_eq!(json["of"], command);
        for (all, n) in [(&json["configurations"], 2), (&json["modelled"], 1), (&json["checks"], 2)] {
            assert_eq!(all.as_array().map(Vec::len), Some(n), "{words:?}");
        }
        let stages = json["configurations"][1]["stages"].as_array().expect("stages");
        assert!(stages.iter().any(|of| of["stage"] == stage), "{words:?}: {stages:?}");
        assert!(real(&json["modelled"][0]["work_seconds"]) > 0.0);
    }
}

#[test]
fn inputs_of_weak_scaling_grow_with_the_threads_and_do_not_stay() {
    let room = Room::new();
    let to = room.path("study");
    // Each with the relative error of the size that its generator makes.
    for (command, error) in [("phew", 0.1), ("fof", 0.0), ("voids", 0.0), ("tree", 0.4)] {
        let what = ["scaling", command, "--weak", "4e3", "-o", &to, "--launcher", "threads", "--json"];
        let how = ["--ranks", "1,3", "--threads", "1,2", "--simulate", "2", "--simulate-threads", "1,2"];
        // Threads are only modelled if they have processors of their own.
        let has_two = std::thread::available_parallelism().is_ok_and(|n| n.get() > 1);
        let out = done(&[&what[..], if has_two { &how } else { &how[..6] }, &["--repeats", "1"]].concat());
        let json: Value = serde_json::from_slice(&out.stdout).expect("JSON");
        assert_eq!(json["weak"], serde_json::json!([4000]));
        let all = json["configurations"].as_array().expect("a list");
        assert_eq!(all.len(), 4, "{command}");
        let modelled = json["modelled"].as_array().expect("a list");
        assert_eq!(modelled.len(), if has_two { 2 } else { 1 }, "{command}");
        for of in all.iter().chain(modelled) {
            let wanted = 4000.0 * real(&of["ranks"]) * real(&of["threads"]);
            let items = real(&of["items"]);
            assert!((items - wanted).abs() <= error * wanted, "{command}: {items} of {wanted}");
        }
        let [first, last] = [&all[0], &all[3]];
        let rate = |c: &Value| real(&c["items"]) / real(at(c, "/seconds/median"));
        assert!((real(&last["speed_up"]) * rate(first) / rate(last) - 1.0).abs() < 1e-9);
        assert_eq!(room.names(), ["study"], "the inputs are gone");
        assert!(Path::new(&to).join("table.md").is_file());
        #[cfg(feature = "plot")]
        for name in ["seconds.svg", "per_item.svg"] {
            assert!(Path::new(&to).join(name).is_file(), "{name}");
        }
    }
}

#[test]
fn sizes_of_weak_scaling_are_set_side_by_side() {
    let room = Room::new();
    let to = room.path("study");
    let what = ["scaling", "fof", "--weak", "4e3,8e3", "-o", &to, "--launcher", "threads", "--json"];
    let out = done(&[&what[..], &["--ranks", "1,2", "--simulate", "2", "--repeats", "1"]].concat());
    let json: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let items = |list: &str| {
        json[list].as_array().expect("a list").iter().map(|of| real(&of["items"])).collect::<Vec<_>>()
    };
    assert_eq!(items("configurations"), [4e3, 8e3, 8e3, 16e3]);
    assert_eq!(items("modelled"), [8e3, 16e3]);
    assert_eq!(json["checks"].as_array().map(Vec::len), Some(4));
}

#[test]
fn studies_of_one_input_join() {
    let room = Room::new();
    let (input, first, all) = (field(&room), room.path("first"), room.path("all"));
    let study = |ranks: &str, simulate: &str, more: &[&str]| {
        let what =
            ["scaling", "phew", "--input", &input, "--repeats", "1", "--launcher", "threads", "--json"];
        let how = ["--ranks", ranks, "--simulate", simulate];
        let out = done(&[&what[..], &how, &PHEW, more].concat());
        serde_json::from_slice::<Value>(&out.stdout).expect("JSON")
    };
    study("1", "2,4", &["-o", &first]);
    // To itself, with other ranks and one more repeat.
    let json = study("1,3", "4,8", &["-o", &first, "--join", &first]);
    let keys = |list: &Value, name: &str| {
        list.as_array()
            .expect("a list")
            .iter()
            .map(|of| of[name].as_u64().expect("a count"))
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&json["configurations"], "ranks"), [1, 3]);
    assert_eq!(keys(&json["configurations"], "runs"), [2, 1]);
    assert_eq!(keys(&json["modelled"], "ranks"), [2, 4, 8]);
    assert_eq!(keys(&json["checks"], "ranks"), [1, 3]);
    // Without runs of its own.
    let file = format!("{first}/study.json");
    let out = done(&["scaling", "phew", "--join", &file, "-o", &all, "--json"]);
    let joined: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    for (list, name) in [("configurations", "runs"), ("modelled", "ranks"), ("checks", "ranks")] {
        assert_eq!(keys(&joined[list], name), keys(&json[list], name), "{list}");
    }
    let whole = [&["scaling", "phew", "--input", &input, "-o", &all, "--ranks", "1"][..], &PHEW].concat();
    let other = ["--join", &first, "--relevance-threshold", "4"];
    room.refuses_command(
        program(&[&whole[..], &other].concat()),
        &["first: cannot be joined: options `phew --", "expected studies of the same options"],
    );
    let page = format!("{first}/index.html");
    room.refuses_command(program(&["scaling", "phew", "-o", &all, "--join", &page]), &["is no study"]);
    room.refuses_command(program(&["scaling", "phew", "-o", &all, "--join", "none"]), &["none", "No such"]);
    room.refuses_command(
        program(&["scaling", "fof", "-o", &all, "--join", &first]),
        &["is a study of `phew`; expected one of `fof`"],
    );
}

#[cfg(unix)]
#[test]
fn a_launcher_gets_ranks_threads_and_nodes() {
    use std::os::unix::fs::PermissionsExt;
    let room = Room::new();
    let (input, to, script) = (field(&room), room.path("study"), room.path("start"));
    // It notes its numbers and starts one process.
    fs::write(&script, "#!/bin/sh\nn=$1; shift\necho \"$n\" >&2\nexec \"$@\"\n").expect("a script");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("a program");
    let line = format!("{script} {{ranks}}x{{threads}}on{{nodes}}");
    let how = ["--ranks", "1,6", "--threads", "2", "--ranks-per-node", "4", "--repeats", "1", "--json"];
    let what = ["scaling", "phew", "--input", &input, "-o", &to, "--launcher", &line];
    let out = done(&[&what[..], &how, &PHEW].concat());
    let json: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let runs = json["provenance"]["runs"].to_string();
    if cfg!(feature = "mpi") {
        assert!(runs.contains("start 1x2on1 ") && runs.contains("start 6x2on2 "), "{runs}");
    }
}

#[test]
fn mistakes_are_one_line_and_leave_nothing() {
    let room = Room::new();
    let (input, to, none) = (field(&room), room.path("study"), room.path("none"));
    let deep = room.path("no/such/study");
    let whole = |more: &[&'static str]| {
        [&["scaling", "phew", "--input", &input, "-o", &to][..], &PHEW, more].concat()
    };
    let refused: Vec<(Vec<&str>, &[&str])> = vec![
        (vec!["scaling", "phew", "-o", &to, "--ranks", "1"], &["scaling phew needs an input; give --input"]),
        (whole(&[]), &["scaling phew needs something to run; give --ranks, --threads, --simulate or --join"]),
        (whole(&["--ranks", "0"]), &["--ranks: `0`", "expected numbers from 1 to 65536"]),
        (whole(&["--ranks", "4..2"]), &["--ranks: `4..2`"]),
        (whole(&["--threads", "1,x"]), &["--threads: `1,x`"]),
        (whole(&["--ranks", "2", "--repeats", "0"]), &["--repeats: `0`"]),
        (whole(&["--simulate", "2", "--network", "string"]), &["`string` for network", "infiniband-hdr"]),
        (whole(&["--simulate", "2", "--bandwidth", "0"]), &["--bandwidth: `0`"]),
        (whole(&["--simulate", "2", "--balance", "luck"]), &["--balance: `luck`", "some of work"]),
        (whole(&["--ranks", "2", "--launcher", "mpirun"]), &["--launcher: `mpirun`", "{ranks}"]),
        (
            whole(&["--ranks", "2", "--launcher", "mpirun -n {rank}"]),
            &["{rank}", "expected no places but {ranks}, {threads} and {nodes}"],
        ),
        (
            whole(&["--ranks", "2", "--launcher", "srun -N {nodes}"]),
            &["{nodes}", "expected --ranks-per-node"],
        ),
        (
            [&["scaling", "phew", "-o", &to, "--ranks", "2", "--input", &input, &input][..], &PHEW].concat(),
            &["--input: `", "expected one snapshot"],
        ),
        (whole(&["--ranks", "2", "--weak", "5e3"]), &["--weak: `5e3`", "expected no --input with it"]),
        (
            vec!["scaling", "fof", "-o", &to, "--ranks", "2", "--weak", "10"],
            &["--weak: `10`", "expected numbers from 4000 to 1e12"],
        ),
        (
            whole(&["--ranks", "1", "--simulate", "4", "--simulate-threads", "2"]),
            &["--simulate-threads: `2`", "expected --ranks with 1, and --threads with 1 and a greater"],
        ),
        (vec!["scaling", "tree", "-o", &to, "--ranks", "1"], &["scaling tree needs an input; give --input"]),
        (whole(&["--ranks", "2", "--relevance-threshold=-1"]), &["--relevance-threshold: `-1`"]),
        (
            ["scaling", "phew", "--input", &input, "-o", &to, "--ranks", "1"].to_vec(),
            &["no density threshold is given"],
        ),
        (
            [&["scaling", "phew", "--input", &none, "-o", &to, "--ranks", "1"][..], &PHEW].concat(),
            &["none", "no such"],
        ),
        (
            [&["scaling", "phew", "--input", &input, "-o", &deep, "--ranks", "1"][..], &PHEW].concat(),
            &["no folder"],
        ),
        (
            [&["scaling", "phew", "--input", &input, "-o", "/proc/study", "--ranks", "1"][..], &PHEW]
                .concat(),
            &["/proc/study", "cannot create"],
        ),
    ];
    for (args, parts) in refused {
        room.refuses_command(program(&args), parts);
    }
}

#[test]
fn a_run_that_fails_is_told_in_one_line() {
    let room = Room::new();
    let (input, to) = (field(&room), room.path("study"));
    // A field that is not there is first noticed by the run itself.
    let args = ["scaling", "phew", "--input", &input, "-o", &to, "--ranks", "1", "--field", "colour"];
    room.refuses_command(program(&[&args[..], &PHEW].concat()), &["failed", "no field `colour`"]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_study_ends_its_run_and_leaves_nothing() {
    let room = Room::new();
    let (input, to) = (field(&room), room.path("study"));
    let args = ["scaling", "phew", "--input", &input, "-o", &to, "--ranks", "1,64", "--repeats", "1000"];
    let mut command = program(&[&args[..], &PHEW, &["--launcher", "threads"]].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let runs = || {
        let entries = fs::read_dir("/proc").expect("processes").flatten();
        let line = |e: fs::DirEntry| fs::read(e.path().join("cmdline")).map(|l| text(&l)).unwrap_or_default();
        entries.map(line).filter(|line| line.contains(&input) && !line.contains("--count-work")).count()
    };
    let start = Instant::now();
    while runs() < 2 {
        assert!(start.elapsed() < Duration::from_secs(60), "no run was ever seen");
    }
    let other = room.path("study/.study.json.other1.part");
    fs::create_dir(&to).expect("made");
    fs::write(&other, "another run's").expect("written");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill").success());
    let status = child.wait().expect("it ends");
    assert!(!status.success());
    let start = Instant::now();
    while runs() > 0 {
        assert!(start.elapsed() < Duration::from_secs(20), "a run goes on");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(fs::read_to_string(other).expect("still there"), "another run's");
    assert_eq!(room.names(), ["output_00001", "study"]);
}

/// The browser, if there is one.
pub fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let places = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&places).flat_map(|place| names.map(|name| place.join(name)));
    let found = found.into_iter().find(|path| path.is_file());
    let is_demanded = std::env::var("INSELBERG_BROWSER").is_ok_and(|word| word == "1");
    assert!(found.is_some() || !is_demanded, "INSELBERG_BROWSER=1, and there is no chromium");
    found
}

/// The page in the browser after its layout.
pub fn opened(browser: &Path, room: &Room, page: &Path) -> String {
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
    command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    command.args(["--window-size=1200,900", &format!("--user-data-dir={}", room.path("browser"))]);
    command.args(["--dump-dom", &format!("file://{}", page.display())]).stdin(Stdio::null());
    let out = command.output().expect("the browser starts");
    assert!(out.status.success(), "{}", text(&out.stderr));
    text(&out.stdout)
}

/// The texts between `start` and `end`.
pub fn between<'a>(text: &'a str, start: &'a str, end: &'a str) -> Vec<&'a str> {
    text.split(start).skip(1).filter_map(|rest| rest.split_once(end).map(|(inner, _)| inner)).collect()
}

/// Adds to each picture its size in the browser, and that of each line of text in it.
const MEASURE: &str = "<script>
for (const svg of document.querySelectorAll('svg')) {
  const box = svg.getBoundingClientRect();
  svg.dataset.box = [box.width, box.height].map(Math.round).join(' ');
  const seen = [...svg.querySelectorAll('text')].filter(t => t.getBoundingClientRect().width > 0);
  svg.dataset.texts = seen.length;
}
document.body.dataset.overflow = document.documentElement.scrollWidth - window.innerWidth;
</script>";

#[cfg(feature = "plot")]
#[test]
fn a_browser_shows_the_plots_and_the_numbers() {
    let Some(browser) = browser() else {
        println!("skipped: there is no chromium");
        return;
    };
    let room = Room::new();
    let (input, to) = (field(&room), room.path("study"));
    let json = study(&input, &to);
    let page = read(&to, "index.html");
    let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
    for word in ["http:", "https:", "src=", "@import", "url(", "<script", "<link"] {
        assert!(!elsewhere.contains(word), "the page needs nothing beside it, but has {word}");
    }
    let copy = PathBuf::from(room.path("measured.html"));
    fs::write(&copy, page.replace("</body>", &format!("{MEASURE}</body>"))).expect("a copy");
    let shown = opened(&browser, &room, &copy);
    let pictures = between(&shown, "<svg ", ">");
    let names: Vec<_> = pictures.iter().map(|tag| between(tag, "id=\"plot-", "\"")[0]).collect();
    let expected = [
        "speed_up",
        "efficiency",
        "stages",
        "stage_seconds",
        "imbalance",
        "modelled_seconds",
        "modelled_efficiency",
        "modelled_stages",
        "domains",
        "saddle_entries",
    ];
    assert_eq!(names, expected);
    for tag in pictures {
        let size = between(tag, "data-box=\"", "\"")[0];
        let sides: Vec<f64> = size.split(' ').map(|side| side.parse().expect("a number")).collect();
        assert!(sides[0] > 300.0 && sides[1] > 150.0, "{tag}");
        let n_texts: usize = between(tag, "data-texts=\"", "\"")[0].parse().expect("a number");
        assert!(n_texts >= 5 && tag.contains("role=\"img\""), "{tag}");
        let title = between(tag, "aria-labelledby=\"", "\"")[0];
        assert!(shown.contains(&format!("<title id=\"{title}\">")), "{title}");
    }
    let overflow: f64 = between(&shown, "data-overflow=\"", "\"")[0].parse().expect("a number");
    assert!(overflow <= 0.0, "wide tables scroll by themselves");
    check_tables(&shown, &json);
}

/// The tables of the page show the numbers of the JSON.
#[cfg(feature = "plot")]
fn check_tables(shown: &str, json: &Value) {
    let number = |value: &&str| value.parse::<f64>().expect("a number");
    for (name, rows, paths) in
        [("measured", &json["configurations"], &MEASURED[..]), ("modelled", &json["modelled"], &MODELLED[..])]
    {
        let opening = format!("<table id=\"table-{name}\">");
        let table = between(shown, &opening, "</table>")[0];
        let lines = between(table, "<tr>", "</tr>");
        assert!(between(lines[0], "<th scope=\"col\">", "</th>").len() >= paths.len());
        let rows = rows.as_array().expect("a list");
        assert_eq!(lines.len(), 1 + rows.len());
        for (line, row) in lines[1..].iter().zip(rows) {
            assert!(line.starts_with("<th scope=\"row\">"), "{line}");
            let values: Vec<f64> = between(line, "<data value=\"", "\"").iter().map(number).collect();
            let numbers: Vec<f64> = paths.iter().filter_map(|path| at(row, path).as_f64()).collect();
            assert!(
                values.iter().zip(&numbers).all(|(a, b)| is_same(*a, *b)),
                "{values:?} are not {numbers:?}"
            );
            assert!(values.len() >= numbers.len());
        }
    }
}
