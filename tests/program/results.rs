//! Commands leave all their results or none, whoever else writes there, and the same for any number of ranks.

use crate::common::compare::assert_same;
use crate::common::room::{Room, command, done};
use inselberg_io::catalogue::read;
use inselberg_io::staging;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// A box of particles in groups, as an array.
fn particles(room: &Room, n: &str) -> String {
    let path = room.path("box.npy");
    done(&["synth", "particles", "-n", n, "-o", &path]);
    path
}

fn gas() -> String {
    text(&crate::common::output("gas_2ranks"))
}

/// Names in the room that are not in `before`.
fn new_names(room: &Room, before: &[String]) -> Vec<String> {
    room.names().into_iter().filter(|name| !before.contains(name)).collect()
}

/// A field that takes a while to be written as CSV with its cells.
#[cfg(unix)]
fn slow_run(room: &Room) -> Vec<String> {
    done(&["synth", "field", "-o", &room.path("s"), "--test-cells", "3e5"]);
    let [input, to, text, trace] = ["s/output_00001", "c.csv", "text", "t.json"].map(|name| room.path(name));
    let words = ["phew", &input, "-o", &to, "--with-cells", "--density-threshold", "80"];
    let more = ["--ramses-text", &text, "--trace", &trace];
    words.into_iter().chain(more).map(String::from).collect()
}

/// Half-written files of another run, with names that ours could have.
#[cfg(unix)]
const OTHERS: [&str; 7] = [
    ".c.csv.other1.part",
    ".c.old.csv.other2.part",
    ".c.cells.csv.other3.part",
    ".t.json.other4.part",
    ".output_other5.part",
    "text/.clump_00001.txt00001.other6.part",
    "text/.output_other7.part",
];

#[cfg(unix)]
#[test]
fn a_signal_takes_away_what_this_run_made_and_nothing_else() {
    let room = Room::new();
    let words = slow_run(&room);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    fs::create_dir(room.path("text")).expect("made");
    for signal in ["-INT", "-TERM"] {
        ended_by(signal, &room, &words);
        for name in OTHERS {
            let content = fs::read_to_string(room.path(name)).unwrap_or_default();
            assert_eq!(content, "another run's", "{name} after {signal}");
            fs::remove_file(room.path(name)).expect("removed");
        }
        assert_eq!(room.names(), ["s", "text"], "{signal}");
        assert_eq!(fs::read_dir(room.path("text")).expect("there").count(), 0, "{signal}");
    }
}

/// Runs `words` until something is half written; then another run's files appear, and it is ended. A run that
/// is done before that is tried again.
#[cfg(unix)]
fn ended_by(signal: &str, room: &Room, words: &[&str]) {
    for _ in 0..50 {
        let start = std::time::Instant::now();
        let mut child = command(words).stdout(Stdio::null()).spawn().expect("it starts");
        while !room.names().iter().any(|name| name.starts_with(".c.")) {
            assert!(start.elapsed().as_secs() < 200, "nothing was ever written");
            if child.try_wait().expect("a state").is_some() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        OTHERS.iter().for_each(|name| fs::write(room.path(name), "another run's").expect("written"));
        let sent =
            Command::new("kill").args([signal, &child.id().to_string()]).stderr(Stdio::null()).status();
        let is_sent = sent.expect("kill").success();
        if is_sent && !child.wait().expect("it ends").success() {
            return;
        }
        for name in new_names(room, &["s".into(), "text".into()]) {
            let _ = fs::remove_file(room.path(&name));
        }
        for entry in fs::read_dir(room.path("text")).expect("there").flatten() {
            fs::remove_file(entry.path()).expect("removed");
        }
    }
    panic!("it is always done before it can be ended");
}

/// The program with a standard output that accepts no data.
#[cfg(target_os = "linux")]
fn unheard(args: &[&str]) -> Output {
    let full = fs::File::options().write(true).open("/dev/full").expect("a full disk");
    command(args).stdout(full).output().expect("it starts")
}

/// Exit code 2 and one line; returns it.
fn refused(out: &Output, what: &str) -> String {
    let line = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!((out.status.code(), line.lines().count()), (Some(2), 1), "{what}: {line}");
    line
}

#[cfg(target_os = "linux")]
#[test]
fn a_summary_that_cannot_be_told_leaves_nothing() {
    let room = Room::new();
    let (input, points, catalogue) = (gas(), particles(&room, "3000"), room.path("stored.csv"));
    let density = ["--density-threshold", "2"];
    done(&[&["phew", &input, "-o", &catalogue][..], &density].concat());
    let before = room.names();
    let at = |name: &str| room.path(name);
    let [csv, json, dot, svg, folder] = ["r.csv", "r.json", "r.dot", "r.svg", "r"].map(at);
    let (groups, array) = (at("g.csv"), at("r.npy"));
    let phew = ["phew", &input, "-o", &csv, "--trace", &json, "--task-graph", &dot, "--ramses-text", &folder];
    let plot: &[&str] = if cfg!(feature = "plot") { &["--plot", &svg] } else { &[] };
    let cases = [
        [&phew[..], &density, plot].concat(),
        [&phew[..], &density, &["--ranks", "2", "--json"]].concat(),
        [&["fof", &points, "--box", "15", "-o", &csv, "--group-ids", &groups][..], plot].concat(),
        vec!["recut", &catalogue, "-o", &csv],
        vec!["synth", "field", "-o", &folder, "--test-cells", "1000"],
        vec!["synth", "particles", "-n", "100", "-o", &array],
    ];
    for args in cases {
        let line = refused(&unheard(&args), &args.join(" "));
        assert!(line.contains("standard output"), "{line}");
        assert_eq!(room.names(), before, "{args:?}");
    }
}

/// The program where no file may be larger than `bytes`.
#[cfg(unix)]
fn on_small_disk(bytes: u64, args: &[&str]) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", bytes / 512);
    let mut shell = Command::new("sh");
    shell.args(["-c", &script, env!("CARGO_BIN_EXE_inselberg")]).args(args).stdin(Stdio::null());
    shell.output().expect("a shell")
}

/// A run that writes small files and a large one, on a disk with room for the small ones only, leaves none of
/// them.
#[cfg(unix)]
fn needs_all(room: &Room, args: &[&str], large: &str) {
    let before = room.names();
    done(args);
    let size = |name: &String| fs::metadata(room.path(name)).expect("there").len();
    let made = new_names(room, &before);
    assert!(made.len() > 1 && made.iter().any(|name| name == large), "{made:?}");
    let most = made.iter().filter(|name| *name != large).map(size).max().expect("small ones");
    let room_for_small = most.div_ceil(512) * 512 + 512;
    assert!(size(&large.to_string()) > room_for_small, "{large} is as small as the others");
    made.iter().for_each(|name| fs::remove_file(room.path(name)).expect("removed"));
    let line = refused(&on_small_disk(room_for_small, args), &args.join(" "));
    assert!(line.contains(large), "{line}");
    assert_eq!(room.names(), before, "{args:?}");
}

#[cfg(unix)]
#[test]
fn a_disk_that_takes_only_some_results_keeps_none() {
    let room = Room::new();
    let points = particles(&room, "3000");
    let [csv, groups, png, json] = ["c.csv", "g.csv", "p.png", "t.json"].map(|name| room.path(name));
    let fof = ["fof", &points, "--box", "14.5", "--linking-length", "0.2", "--min-size", "200", "-o", &csv];
    let input = gas();
    needs_all(&room, &[&fof[..], &["--group-ids", &groups]].concat(), "g.csv");
    // Few clumps, so that the catalogue is small.
    let phew = ["phew", &input, "--field", "density", "--density-threshold", "60", "-o", &csv];
    needs_all(&room, &[&phew[..], &["--trace", &json]].concat(), "t.json");
    if cfg!(feature = "plot") {
        needs_all(&room, &[&phew[..], &["--plot", &png]].concat(), "p.png");
        needs_all(&room, &[&fof[..], &["--plot", &png]].concat(), "p.png");
    }
}

#[test]
fn where_a_rename_fails_what_is_in_place_is_told() {
    let room = Room::new();
    let names = ["a", "b", "c"].map(|name| room.path(name));
    let mut staged = staging::Staged::default();
    for name in &names {
        let stage = staging::stage_file(Path::new(name), |out| out.write_all(b"new"));
        staged.extend(stage.expect("staged"));
    }
    // A folder with something in it cannot be replaced.
    fs::create_dir_all(room.path("b/full")).expect("made");
    let error = staged.commit().expect_err("b is a folder").to_string();
    assert!(error.contains("/b: ") && error.ends_with(&format!("already in place: {}", names[0])), "{error}");
    assert_eq!(room.names(), ["a", "b"]);
}

#[cfg(unix)]
mod links {
    use super::*;
    use std::os::unix::fs::symlink;

    fn is_link(path: &str) -> bool {
        fs::symlink_metadata(path).is_ok_and(|m| m.is_symlink())
    }

    /// A room with a folder for the targets of links. The links have relative targets, and lead there over
    /// two links.
    fn linked(names: &[&str]) -> Room {
        let room = Room::new();
        fs::create_dir(room.path("disk")).expect("made");
        for name in names {
            symlink(format!("disk/{name}"), room.path(&format!("{name}.link"))).expect("a link");
            symlink(format!("{name}.link"), room.path(name)).expect("a link");
        }
        room
    }

    fn content(room: &Room, name: &str) -> Vec<u8> {
        fs::read(room.path(&format!("disk/{name}"))).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    #[test]
    fn results_go_where_links_lead() {
        let names = ["c.csv", "t.json", "g.dot"];
        let room = linked(&names);
        let paths = names.map(|name| room.path(name));
        let input = gas();
        let run = |density: &str| {
            let words =
                ["phew", &input, "--density-threshold", density, "-o", &paths[0], "--trace", &paths[1]];
            done(&[&words[..], &["--task-graph", &paths[2]]].concat());
            names.map(|name| content(&room, name))
        };
        // First there is no file where they lead. Then there is one, and it is replaced.
        let (first, second) = (run("2"), run("4"));
        assert!(first[0] != second[0] && first.iter().all(|bytes| !bytes.is_empty()));
        assert!(paths.iter().all(|path| is_link(path)) && is_link(&room.path("c.csv.link")));
        // The side files are in the folder of the main one, which is found by both names.
        let target = room.path("disk/c.csv");
        let [a, b] = [&paths[0], &target].map(|path| read(Path::new(path)).expect("a catalogue"));
        assert_same(&a, &b, "by both names");
        assert!(Path::new(&room.path("disk/c.tree.csv")).exists());
        let hidden = fs::read_dir(room.path("disk")).expect("there").flatten();
        assert!(!hidden.into_iter().any(|e| e.file_name().to_string_lossy().starts_with('.')));
    }

    #[test]
    fn arrays_and_pictures_go_where_links_lead() {
        let names = if cfg!(feature = "plot") { vec!["box.npy", "p.svg"] } else { vec!["box.npy"] };
        let room = linked(&names);
        let points = particles(&room, "3000");
        assert!(is_link(&points) && content(&room, "box.npy").len() > 36_000);
        assert!(Path::new(&room.path("disk/box.json")).exists());
        if cfg!(feature = "plot") {
            let path = room.path("p.svg");
            done(&["fof", &points, "--box", "15", "--plot", &path]);
            assert!(is_link(&path) && content(&room, "p.svg").starts_with(b"<svg"));
        }
    }

    #[test]
    fn ranks_write_where_links_lead() {
        let ending = inselberg_io::catalogue::FORMATS[0].extensions[0];
        let names = [format!("c.{ending}"), "box.npy".into()];
        let room = linked(&names.each_ref().map(String::as_str));
        let [to, array] = names.each_ref().map(|name| room.path(name));
        done(&["phew", &gas(), "--density-threshold", "2", "-o", &to, "--ranks", "3"]);
        done(&["synth", "particles", "-n", "1000", "-o", &array, "--ranks", "3"]);
        assert!(is_link(&to) && is_link(&array) && read(Path::new(&to)).is_ok());
        assert!(content(&room, "box.npy").len() > 12_000);
    }

    #[test]
    fn a_folder_is_made_where_a_link_leads() {
        let (room, input) = (Room::new(), gas());
        let text = room.path("text");
        symlink("disk/of/text", &text).expect("a link");
        let words = ["phew", &input, "--density-threshold", "2", "--ramses-text", &text];
        room.refuses(&words, &[&text, "there is no folder"]);
        fs::create_dir_all(room.path("disk/of")).expect("made");
        done(&words);
        assert!(is_link(&text) && fs::read_dir(room.path("disk/of/text")).expect("there").count() == 2);
    }

    #[test]
    fn links_that_lead_nowhere_are_refused() {
        let room = Room::new();
        for (name, to) in [("loop.csv", "loop2.csv"), ("loop2.csv", "loop.csv"), ("far.csv", "none/far.csv")]
        {
            symlink(to, room.path(name)).expect("a link");
        }
        let input = gas();
        let run = |to: &str, part: &str| {
            let words = ["phew", &input, "--density-threshold", "2", "-o", to];
            room.refuses(&words, &[to, part]);
        };
        run(&room.path("loop.csv"), "links lead to each other");
        run(&room.path("far.csv"), "there is no folder");
        // Two names for one file that is not there yet.
        symlink("new.csv", room.path("a.csv")).expect("a link");
        let (a, b, points) = (room.path("a.csv"), room.path("new.csv"), particles(&room, "1000"));
        room.refuses(&["fof", &points, "--box", "10", "-o", &a, "--group-ids", &b], &["is both"]);
    }
}

/// Names are bytes: a name in Latin-1 is not UTF-8.
#[cfg(target_os = "linux")]
#[test]
fn results_have_names_that_are_not_utf_8() {
    use inselberg_cli::synth::{ParticleBox, ParticleParams, write_particles};
    use inselberg_comm::{Comm, run_ranks};
    use inselberg_io::catalogue::{FORMATS, ramses_text::write_ramses_text, write_part};
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let (room, catalogue) = (Room::new(), some_catalogue());
    let folder = Path::new(&room.path("in")).with_file_name(OsStr::from_bytes(b"gro\xdf"));
    fs::create_dir(&folder).expect("made");
    let at = |ending: &str| folder.join(OsStr::from_bytes(&[b"\xe9t\xe9.", ending.as_bytes()].concat()));
    for writer in FORMATS {
        let path = at(writer.extensions[0]);
        writer.write(&path, &catalogue).expect("written");
        assert_same(&read(&path).expect("read"), &catalogue, writer.name);
        let parts = inselberg_io::catalogue::CataloguePart::whole(catalogue.clone());
        write_part(&path, &parts, &Comm::solo()).expect("written");
        assert_same(&read(&path).expect("read"), &catalogue, writer.name);
    }
    write_ramses_text(&folder.join(OsStr::from_bytes(b"\xff")), &catalogue, 1).expect("written");
    let particles = ParticleBox::new(ParticleParams { number: 1000, seed: 1 });
    let write = |comm: &Comm| write_particles(&at("npy"), &particles, comm).map(drop);
    let written = run_ranks(Comm::threads(3), write).expect("no panic");
    assert!(written.iter().all(Result::is_ok) && at("json").exists(), "{written:?}");
    let names = fs::read_dir(&folder).expect("there").flatten().map(|e| e.file_name());
    assert!(names.into_iter().all(|name| !name.as_bytes().starts_with(b".")));
}

/// A catalogue of a run.
#[cfg(target_os = "linux")]
fn some_catalogue() -> inselberg_io::catalogue::Catalogue {
    let room = Room::new();
    let to = room.path("c.csv");
    done(&["phew", &gas(), "--density-threshold", "2", "-o", &to]);
    read(Path::new(&to)).expect("a catalogue")
}

/// The bytes of a picture drawn by these numbers of ranks and threads.
#[cfg(feature = "plot")]
fn drawn(room: &Room, args: &[&str], name: &str, (ranks, threads): (usize, usize)) -> Vec<u8> {
    let path = room.path(name);
    let mut program = Command::new(env!("CARGO_BIN_EXE_inselberg"));
    program.args(args).args(["--plot", &path, "--quiet"]);
    program.args(["--ranks", &ranks.to_string(), "--threads", &(ranks * threads).to_string()]);
    let out = program.output().expect("it starts");
    assert!(out.status.success(), "{out:?}");
    fs::read(path).expect("a picture")
}

#[cfg(feature = "plot")]
#[test]
fn a_picture_is_the_same_for_any_number_of_ranks_and_threads() {
    let room = Room::new();
    let (dark, gas, points) = (text(&crate::common::output("dm_3ranks")), gas(), particles(&room, "20000"));
    let cases: [&[&str]; 4] = [
        &["phew", &dark, "--density-threshold", "40", "--relevance-threshold", "2"],
        &["phew", &gas, "--density-threshold", "2"],
        &["phew", &dark, "--density-threshold", "40", "--mesh-from-particles"],
        &["fof", &points, "--open", "--linking-length", "0.2"],
    ];
    for (args, name) in cases.iter().flat_map(|args| [(args, "p.png"), (args, "p.svg")]) {
        let one = drawn(&room, args, name, (1, 1));
        for on in [(1, 2), (2, 1), (3, 1), (3, 2), (8, 1)] {
            assert!(drawn(&room, args, name, on) == one, "{args:?}: {name} on {on:?} ranks and threads");
        }
    }
}

/// What a run of `args` tells the system to do with files, in order.
#[cfg(target_os = "linux")]
fn system_calls(room: &Room, args: &[&str]) -> Option<String> {
    let log = room.path("calls");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-e", "trace=fsync,fdatasync,rename,renameat,renameat2", "-o", &log]);
    let Ok(out) = strace.arg(env!("CARGO_BIN_EXE_inselberg")).args(args).output() else {
        println!("skipped: there is no strace");
        return None;
    };
    assert!(out.status.success(), "{out:?}");
    let calls = fs::read_to_string(&log).expect("a log");
    fs::remove_file(log).expect("removed");
    Some(calls)
}

/// A power cut after the rename must not find an empty file.
#[cfg(target_os = "linux")]
#[test]
fn results_are_on_the_disk_before_they_get_their_names() {
    let room = Room::new();
    let to = room.path("box.npy");
    let args = ["synth", "particles", "-n", "1000", "-o", &to, "--ranks", "2"];
    let Some(calls) = system_calls(&room, &args) else { return };
    let lines: Vec<&str> = calls.lines().collect();
    for (name, n_ranks) in [(".box.npy.", 2), (".box.json.", 1)] {
        let place = lines.iter().position(|l| l.contains("rename") && l.contains(name)).expect("a rename");
        let synced = lines[..place].iter().filter(|l| l.contains("sync(") && l.contains(name)).count();
        assert!(synced >= n_ranks, "{name}: {calls}");
    }
}
