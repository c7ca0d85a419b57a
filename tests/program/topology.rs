//! Where the program runs its threads, on a machine of two NUMA nodes that hwloc makes of two processors.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Two nodes of a core each; binding is real where these processors are there.
const TWO_NODES: &str = "numa:2 core:1 pu:1";
/// A machine that is only described.
const LARGE: &str = "pack:2 numa:1 l3:2 core:4 pu:2";

fn program(machine: &str, is_real: bool, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_inselberg"));
    command.args(args).stdin(Stdio::null());
    command.env("HWLOC_SYNTHETIC", machine).env("HWLOC_THISSYSTEM", if is_real { "1" } else { "0" });
    command
}

fn run(machine: &str, is_real: bool, args: &[&str]) -> Output {
    program(machine, is_real, args).output().expect("starts")
}

/// Standard output of a run that prints nothing on stderr.
fn quiet(out: &Output) -> String {
    assert_eq!((out.status.code(), String::from_utf8_lossy(&out.stderr)), (Some(0), "".into()));
    String::from_utf8_lossy(&out.stdout).into_owned()
}

fn json(out: &Output) -> Value {
    serde_json::from_str(&quiet(out)).expect("one object")
}

fn topology(machine: &str, is_real: bool, more: &[&str]) -> Value {
    json(&run(machine, is_real, &[&["topology", "--json"], more].concat()))
}

/// Whether threads can be bound to both of the two nodes.
fn has_two() -> bool {
    let has_two = topology(TWO_NODES, true, &[])["n_allowed"] == 2;
    if !has_two {
        println!("skipped: processors 0 and 1 are not both allowed");
    }
    has_two
}

/// The processors of each worker of each rank.
fn places(topology: &Value) -> Vec<Vec<Vec<u64>>> {
    let pus = |worker: &Value| {
        let pus = worker["pus"].as_array().expect("processors").iter();
        pus.map(|pu| pu.as_u64().expect("a number")).collect()
    };
    let workers = |rank: &Value| rank["workers"].as_array().expect("workers").iter().map(pus).collect();
    topology["ranks"].as_array().expect("ranks").iter().map(workers).collect()
}

#[test]
fn the_machine_has_its_nodes_caches_and_processors() {
    let seen = topology(LARGE, false, &[]);
    assert_eq!(seen["nodes"].as_array().map(Vec::len), Some(2));
    assert_eq!(seen["caches"].as_array().map(Vec::len), Some(4));
    assert_eq!((seen["caches"][0]["level"].clone(), seen["n_allowed"].clone()), (3.into(), 32.into()));
    let last = &seen["processors"][31];
    assert_eq!((&last["index"], &last["core"], &last["cache"], &last["node"]).3, 1);
    assert_eq!(
        (last["index"].as_u64(), last["core"].as_u64(), last["cache"].as_u64()),
        (Some(31), Some(15), Some(3))
    );
    let text = quiet(&run(LARGE, false, &["topology"]));
    assert!(text.contains("2 x 16.0 MiB L3   16-31"), "{text}");
    assert!(text.contains("this process may run on 32 of 32 processors: 0-31"), "{text}");
}

#[test]
fn the_machine_itself_is_read() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_inselberg"));
    let seen = json(&command.args(["topology", "--json"]).output().expect("starts"));
    let n_allowed = std::thread::available_parallelism().map_or(1, usize::from);
    // A control group may allow less time than processors.
    assert!(seen["n_allowed"].as_u64() >= Some(n_allowed as u64));
    assert_eq!(seen["ranks"][0]["workers"].as_array().map(Vec::len), Some(n_allowed));
}

#[test]
fn ranks_and_workers_have_places() {
    let seen = topology(LARGE, false, &["--pin", "numa", "--ranks", "2"]);
    let places = places(&seen);
    assert_eq!((places.len(), places[0].len(), places[1].len()), (2, 8, 8));
    assert_eq!((places[0][7].as_slice(), places[1][0].as_slice()), (&[14, 15][..], &[16, 17][..]));
    assert_eq!(seen["warnings"].as_array().map(Vec::len), Some(0));
    let few = self::places(&topology(LARGE, false, &["--pin", "cores", "--threads", "2"]));
    assert_eq!(few, [[[0, 1], [16, 17]]]);
}

#[test]
fn what_is_wrong_with_a_launch_is_a_line_each() {
    let check = |args: &[&str], part: &str| {
        let text = quiet(&run(LARGE, false, &[&["topology"], args].concat()));
        let warnings: Vec<_> = text.lines().filter(|line| line.starts_with("warning: ")).collect();
        assert!(warnings.iter().any(|line| line.contains(part)), "{part}: {text}");
    };
    check(&["--threads", "8"], "rank 0 works across the NUMA nodes 0 and 1; start a rank for each node");
    check(
        &["--ranks", "2", "--threads", "8"],
        "2 ranks run anywhere on a host of 2 NUMA nodes; type --pin numa",
    );
    check(
        &["--threads", "40", "--pin", "cores"],
        "rank 0 has 40 threads on 32 processors (0-31); type --threads 32",
    );
    check(&["--ranks", "2", "--threads", "64"], "ranks 0 and 1 have 64 threads on 16 cores");
}

fn phew<'a>(input: &'a str, to: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["phew", input, "-o", to, "--density-threshold", "40", "--threads", "2"], more].concat()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[test]
fn catalogues_are_the_same_byte_for_byte_however_threads_are_pinned() {
    let (room, input) = (tempfile::tempdir().expect("a folder"), text(&crate::common::output("dm_3ranks")));
    let catalogue = |name: &str, more: &[&str]| {
        let to = room.path().join(format!("{name}.csv"));
        quiet(&run(TWO_NODES, has_two(), &phew(&input, &text(&to), &[more, &["-q"]].concat())));
        std::fs::read(to).expect("a catalogue")
    };
    let free = catalogue("none", &["--pin", "none", "--with-cells"]);
    assert!(free == catalogue("cores", &["--pin", "cores", "--with-cells"]));
    assert!(free == catalogue("numa", &["--pin", "numa", "--with-cells"]));
    let ranks = catalogue("ranks", &["--with-cells", "--ranks", "2"]);
    assert!(ranks == catalogue("pinned", &["--with-cells", "--ranks", "2", "--pin", "numa"]));
}

#[test]
fn diagnostics_are_by_node() {
    if !has_two() {
        return;
    }
    let (room, input) = (tempfile::tempdir().expect("a folder"), text(&crate::common::output("dm_3ranks")));
    let to = text(&room.path().join("c.csv"));
    let nodes_of = |more: &[&str]| {
        let args = phew(&input, &to, &[more, &["--diagnostics", "--json"]].concat());
        json(&run(TWO_NODES, true, &args))["workers"].as_array().expect("nodes").clone()
    };
    let nodes = nodes_of(&["--pin", "numa"]);
    let number = |node: &Value, key: &str| node[key].as_u64().expect("a count");
    assert_eq!(nodes.iter().map(|node| number(node, "node")).collect::<Vec<_>>(), [0, 1]);
    // Each node has one worker, so that all it steals comes from the other.
    for node in &nodes {
        assert_eq!((number(node, "workers"), number(node, "stolen_on_cache")), (1, 0));
        assert_eq!(number(node, "stolen_on_node"), 0);
    }
    let sum = |nodes: &[Value], key: &str| nodes.iter().map(|node| number(node, key)).sum::<u64>();
    // The system places two threads on one node or on both.
    let free = nodes_of(&["--pin", "none"]);
    assert!((1..=2).contains(&free.len()));
    for key in ["tasks", "bytes_first_touched"] {
        assert!(sum(&nodes, key) > 0, "{key}");
        assert_eq!(sum(&nodes, key), sum(&free, key), "{key}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_part_of_the_machine_is_pinned_to_unless_another_process_has_it() {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};
    if !has_two() {
        return;
    }
    let on_second = || {
        let mut command = Command::new("taskset");
        command.args(["--cpu-list", "1", env!("CARGO_BIN_EXE_inselberg"), "topology", "--json"]);
        command.env("HWLOC_SYNTHETIC", TWO_NODES).env("HWLOC_THISSYSTEM", "1");
        json(&command.output().expect("starts"))
    };
    let seen = on_second();
    assert_eq!((&seen["pin"], &seen["ranks"][0]["pin"]), (&"auto".into(), &"cores".into()));
    assert_eq!(places(&seen), [[[1]]]);
    let address = SocketAddr::from_abstract_name("inselberg core 1").expect("an address");
    let _other = UnixDatagram::bind_addr(&address).expect("nobody has it");
    assert_eq!(on_second()["ranks"][0]["pin"], "none");
    assert_eq!(topology(TWO_NODES, true, &[])["ranks"][0]["pin"], "none", "the whole machine");
}

/// The processors that threads of a run were bound to at any time during the run.
#[cfg(target_os = "linux")]
fn seen_bindings(args: &[&str]) -> BTreeSet<String> {
    let mut child = program(TWO_NODES, true, args).stdout(Stdio::null()).spawn().expect("starts");
    let tasks = format!("/proc/{}/task", child.id());
    let mut seen = BTreeSet::new();
    while child.try_wait().expect("its state").is_none() {
        for thread in std::fs::read_dir(&tasks).into_iter().flatten().flatten() {
            let status = std::fs::read_to_string(thread.path().join("status")).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
            seen.extend(line.map(|set| set.trim().to_string()));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(child.wait().expect("its end").success());
    seen
}

#[test]
#[cfg(target_os = "linux")]
fn threads_are_bound_to_their_places() {
    if !has_two() {
        return;
    }
    let room = tempfile::tempdir().expect("a folder");
    let field = text(&room.path().join("output_00001"));
    quiet(&run(TWO_NODES, true, &["synth", "field", "-o", &field, "--test-cells", "1e5", "-q"]));
    let to = text(&room.path().join("c.csv"));
    let seen = |pin| seen_bindings(&phew(&field, &to, &["--pin", pin, "-q"]));
    for pin in ["cores", "numa"] {
        let seen = seen(pin);
        assert!(seen.contains("0") && seen.contains("1"), "{pin}: {seen:?}");
    }
    let free = seen("none");
    assert!(!free.contains("0") && !free.contains("1"), "{free:?}");
}

#[test]
fn a_run_on_too_few_processors_is_warned_of_in_one_line() {
    if !has_two() {
        return;
    }
    let (room, input) = (tempfile::tempdir().expect("a folder"), text(&crate::common::output("dm_1rank")));
    let to = text(&room.path().join("c.csv"));
    let args = ["phew", &input, "-o", &to, "--density-threshold", "40", "--threads", "5", "--pin", "numa"];
    let out = run(TWO_NODES, true, &args);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!((out.status.code(), said.lines().count()), (Some(0), 1), "{said}");
    let expected = "inselberg: warning: rank 0 has 5 threads on 2 processors (0-1); type --threads 2";
    assert_eq!(said.trim_end(), expected);
}

#[test]
fn a_system_that_does_not_bind_is_told_of() {
    let (room, input) = (tempfile::tempdir().expect("a folder"), text(&crate::common::output("dm_1rank")));
    let to = text(&room.path().join("c.csv"));
    let out = run(LARGE, false, &phew(&input, &to, &["--pin", "cores"]));
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!((out.status.code(), said.lines().count()), (Some(0), 1), "{said}");
    assert!(said.contains("warning: --pin: the system took the binding"), "{said}");
}

#[test]
fn bad_values_are_refused_in_one_line() {
    for (args, line) in [
        (
            &["topology", "--pin", "socket"][..],
            "--pin: `socket` for pin; expected auto or none or cores or numa",
        ),
        (&["topology", "--ranks", "0"], "--ranks: `0` for ranks; expected 1 to 65536"),
        (&["topology", "--threads", "x"], "--threads: `x` for threads; expected a whole number, 0 or more"),
    ] {
        let out = run(TWO_NODES, false, args);
        assert_eq!(out.status.code(), Some(2));
        assert_eq!(String::from_utf8_lossy(&out.stderr), format!("inselberg: error: {line}\n"));
    }
}

#[test]
fn slurm_lowers_the_default_number_of_threads_and_topology_says_so() {
    let of = |cpus: &str, more: &[&str]| {
        let mut command = program(LARGE, false, &[&["topology"], more].concat());
        command.env("SLURM_CPUS_PER_TASK", cpus).output().expect("starts")
    };
    let n_allowed = std::thread::available_parallelism().map_or(1, usize::from);
    for (cpus, n) in [("1", 1), ("100000", n_allowed), ("many", n_allowed), ("0", n_allowed)] {
        let seen = json(&of(cpus, &["--json"]));
        assert_eq!(seen["default_threads"], n, "{cpus}");
        assert_eq!(places(&seen)[0].len(), n, "{cpus}");
    }
    let text = quiet(&of("1", &[]));
    assert!(text.contains("default --threads of this process: 1 (SLURM_CPUS_PER_TASK=1)"), "{text}");
    let text = quiet(&of("100000", &[]));
    assert!(text.contains(&format!("may use only {n_allowed} processor")), "{text}");
    // One thread per core would be eight on each node.
    assert_eq!(places(&json(&of("3", &["--json", "--pin", "numa"])))[0].len(), n_allowed.min(3));
    assert_eq!(places(&json(&of("1", &["--json", "--threads", "2"])))[0].len(), 2, "an option counts more");
}
