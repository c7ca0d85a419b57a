//! Inputs that are not regular files, that claim more than is stored, or whose names would disturb a
//! terminal.

use crate::common::Whole;
use crate::common::compare::assert_same;
use crate::common::room::{Room, command, done};
use inselberg_io::catalogue::read;
use inselberg_io::ramses::write::Dialect;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A small RAMSES output over two CPUs.
fn ramses(folder: &Path) -> PathBuf {
    Whole::tiny([1; 3]).write(folder, 2, true, &Dialect::default())
}

/// A .npy file that says it has `n` rows, and has this many.
fn npy(path: &Path, n: u64, rows: &[[f64; 3]]) {
    let text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({n}, 3), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.bytes());
    bytes.extend(rows.iter().flatten().flat_map(|x| x.to_le_bytes()));
    fs::write(path, bytes).expect("written");
}

const ROWS: [[f64; 3]; 4] = [[1.0; 3], [1.1; 3], [1.2; 3], [9.0; 3]];

/// Makes a FIFO that ends at once for its readers: none may wait for ever.
fn fifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().expect("mkfifo");
    assert!(made.success());
    let path = path.to_path_buf();
    // Until the folder is gone. It sleeps in `open` until there is a reader.
    std::thread::spawn(move || {
        let mut open = fs::File::options();
        while !open.write(true).open(&path).is_err_and(|e| e.kind() == ErrorKind::NotFound) {}
    });
}

#[test]
fn what_is_no_regular_file_is_refused() {
    let room = Room::new();
    let path = |name: &str| room.path(name);
    for name in ["a.npy", "a.hdf5", "a.csv", "a.toml", "a"] {
        fifo(Path::new(&path(name)));
    }
    std::os::unix::fs::symlink("/dev/zero", path("zero.npy")).expect("a link");
    let _socket = std::os::unix::net::UnixListener::bind(path("socket.npy")).expect("a socket");
    let [npy, hdf5, csv, toml, plain] = ["a.npy", "a.hdf5", "a.csv", "a.toml", "a"].map(path);
    let (zero, socket, dataset, to) =
        (path("zero.npy"), path("socket.npy"), path("a.hdf5:/x"), path("f.csv"));
    let threshold = ["-o", &to, "--density-threshold", "80"];
    let is_fifo = ["it is a FIFO; expected"];
    let fof = |input: &str, parts: &[&str]| room.refuses(&["fof", input, "--box", "10", "-o", &to], parts);
    fof(&npy, &["a.npy", "it is a FIFO; expected a regular file"]);
    fof(&plain, &is_fifo);
    fof(&zero, &["zero.npy", "it is a device; expected a regular file"]);
    fof(&socket, &["socket.npy", "it is a socket; expected a regular file"]);
    room.refuses(&[&["phew", &plain], &threshold[..]].concat(), &is_fifo);
    room.refuses(
        &[&["phew", &npy, "--box", "10", "--mesh-from-particles"], &threshold[..]].concat(),
        &is_fifo,
    );
    room.refuses(&["info", &plain], &is_fifo);
    room.refuses(&["recut", &csv, "-o", &to], &["a.csv", "it is a FIFO; expected a regular file"]);
    room.refuses(&["phew", "--config", &toml], &["a.toml", "it is a FIFO; expected a text file"]);
    if cfg!(feature = "hdf5") {
        fof(&hdf5, &is_fifo);
        fof(&dataset, &is_fifo);
        room.refuses(&["recut", &hdf5, "-o", &to], &["a.hdf5", "it is a FIFO; expected a regular file"]);
    }
}

#[test]
fn no_file_of_an_output_may_be_a_fifo() {
    for name in ["info_00007.txt", "hydro_file_descriptor.txt", "amr_00007.out00001", "hydro_00007.out00002"]
    {
        let room = Room::new();
        let output = ramses(Path::new(&room.path("")));
        fs::remove_file(output.join(name)).expect("removed");
        fifo(&output.join(name));
        let args = ["phew", &output.to_string_lossy(), "--density-threshold", "1", "-o", &room.path("f.csv")];
        room.refuses(&args, &[name, "it is a FIFO; expected a regular file"]);
    }
}

/// The file is as long as its header says, and sparse: no machine has that much memory.
#[test]
fn more_rows_than_memory_are_refused() {
    let room = Room::new();
    let path = room.path("a.npy");
    let n = 100_000_000_000;
    npy(Path::new(&path), n, &[]);
    let file = fs::File::options().write(true).open(&path).expect("open");
    let header = file.metadata().expect("data").len();
    file.set_len(header + 24 * n).expect("a sparse file");
    let to = room.path("f.csv");
    let parts = ["a.npy: a search among 100000000000 particles: takes at least", "expected more memory"];
    room.refuses(&["fof", &path, "--box", "10", "--linking-length", "0.3", "-o", &to], &parts);
}

#[cfg(feature = "hdf5")]
mod claims {
    use super::*;
    use crate::common::gadget::{Style, clumps, edit, put, write};
    use hdf5::Selection;

    /// A snapshot whose coordinates `make` makes anew; the header says `n` particles.
    fn snapshot(room: &Room, n: f64, make: impl FnOnce(&hdf5::Group) -> hdf5::Result<()>) -> String {
        let path = write(Path::new(&room.path("")), &[(1, &clumps(100, 1))], &Style::default()).remove(0);
        edit(&path, |file| {
            let header = file.group("Header")?;
            for name in ["NumPart_ThisFile", "NumPart_Total"] {
                header.delete_attr(name)?;
                put(&header, name, &[0.0, n])?;
            }
            let group = file.group("PartType1")?;
            group.unlink("Coordinates")?;
            make(&group)
        });
        path.to_string_lossy().into_owned()
    }

    fn virtual_set(group: &hdf5::Group, source: &str, n: usize) -> hdf5::Result<()> {
        let mut builder = group.new_dataset::<f64>().shape([n, 3]);
        // As SWIFT's, which have a block of rows for each file.
        for rows in [0..50usize, 50..100] {
            let rows = || Selection::try_new((rows.clone(), ..)).expect("a selection");
            let place = "/PartType1/Coordinates";
            builder = builder.virtual_map(source, place, [100, 3], rows(), [n, 3], rows());
        }
        builder.create("Coordinates")?;
        Ok(())
    }

    /// The snapshot that others name.
    fn source(room: &Room) {
        let path = write(Path::new(&room.path("")), &[(1, &clumps(100, 1))], &Style::default()).remove(0);
        fs::rename(path, room.path("source.hdf5")).expect("moved");
    }

    #[test]
    fn a_file_that_is_locked_for_a_moment_is_read() {
        let room = Room::new();
        let path = write(Path::new(&room.path("")), &[(1, &clumps(100, 1))], &Style::default()).remove(0);
        // A process that starts while a file is open keeps it open, and locked, until it ends.
        let locked = hdf5::File::open_rw(&path).expect("a snapshot");
        let mut sleep = Command::new("sleep").arg("0.5").spawn().expect("a process");
        drop(locked);
        done(&["info", &path.to_string_lossy()]);
        sleep.wait().expect("its end");
    }

    #[test]
    fn datasets_that_store_less_than_they_claim_are_refused() {
        let room = Room::new();
        source(&room);
        let (to, most) = (room.path("f.csv"), 1_000_000_000_000_000usize);
        let refuses = |path: &str, parts: &[&str]| {
            let place = format!("{path}:/PartType1/Coordinates");
            let length = ["--linking-length", "0.2", "-o", &to];
            room.refuses(&[&["fof", path], &length[..]].concat(), parts);
            room.refuses(&[&["fof", &place, "--box", "10"], &length[..]].concat(), parts);
        };
        let parts = ["PartType1/Coordinates: shape [1000000000000000, 3] is", "by what is stored"];
        refuses(&snapshot(&room, most as f64, |group| virtual_set(group, "source.hdf5", most)), &parts);
        let parts = ["PartType1/Coordinates: its data are in \"gone.hdf5\", which is not there"];
        refuses(&snapshot(&room, 100.0, |group| virtual_set(group, "gone.hdf5", 100)), &parts);
        let unwritten = |n: usize| {
            snapshot(&room, n as f64, |group| {
                group.new_dataset::<f64>().shape([n, 3]).create("Coordinates").map(drop)
            })
        };
        refuses(&unwritten(100), &["shape [100, 3] is 2400 bytes; expected at most 0, by what is stored"]);
        refuses(&unwritten(most), &["shape [1000000000000000, 3] is", "expected at most 0"]);
        let external = snapshot(&room, 100.0, |group| {
            fs::write(room.path("short.raw"), [0; 240]).expect("written");
            let builder = group.new_dataset::<f64>().shape([100, 3]);
            builder.external(&room.path("short.raw"), 0, 2400).create("Coordinates").map(drop)
        });
        refuses(&external, &["shape [100, 3] is 2400 bytes; expected at most 240, by what is stored"]);
    }

    #[test]
    fn a_sound_virtual_dataset_is_read() {
        let room = Room::new();
        source(&room);
        let path = snapshot(&room, 100.0, |group| virtual_set(group, "source.hdf5", 100));
        let [plain, virtually] = [room.path("source.hdf5"), path].map(|path| {
            let to = room.path("f.csv");
            done(&["fof", &path, "--linking-length", "0.3", "--min-size", "3", "-o", &to]);
            read(Path::new(&to)).expect("a catalogue")
        });
        assert_same(&plain, &virtually, "virtual");
        assert!(plain.table("Groups").expect("groups").n_rows() > 0);
    }
}

/// A name that is not UTF-8.
fn odd(name: &str) -> OsString {
    OsStr::from_bytes(&name.bytes().map(|b| if b == b'?' { 0xff } else { b }).collect::<Vec<_>>()).into()
}

/// Runs the program, which must succeed, on such words.
fn run(words: &[&OsStr]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_inselberg"));
    let out = command.args(words).args(["--threads", "1"]).stdin(Stdio::null()).output().expect("started");
    assert!(out.status.success(), "{words:?}: {}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn inputs_may_have_any_name() {
    let room = Room::new();
    let at = |name: &str| Path::new(&room.path("")).join(odd(name));
    let words = |list: &[&str]| list.iter().map(OsString::from).collect::<Vec<_>>();
    let both = |plain: &Path, strange: &Path, command: &str, more: &[&str]| {
        let found = [plain, strange].map(|input| {
            let to = room.path("c.csv");
            let more = [words(more), words(&["-o", &to])].concat();
            let all = [&[OsString::from(command), input.into()], &more[..]].concat();
            run(&all.iter().map(OsString::as_os_str).collect::<Vec<_>>());
            read(Path::new(&to)).expect("a catalogue")
        });
        assert_same(&found[0], &found[1], &strange.to_string_lossy());
        for more in [&[][..], &["--json"]] {
            let more = words(more);
            let all = [&[OsString::from("info"), strange.into()], &more[..]].concat();
            run(&all.iter().map(OsString::as_os_str).collect::<Vec<_>>());
        }
    };
    npy(&at("a.npy"), 4, &ROWS);
    fs::copy(at("a.npy"), at("?.npy")).expect("copied");
    both(&at("a.npy"), &at("?.npy"), "fof", &["--box", "10", "--linking-length", "0.3"]);
    fs::create_dir(at("of ?")).expect("a folder");
    let threshold = ["--density-threshold", "3"];
    both(&ramses(Path::new(&room.path(""))), &ramses(&at("of ?")), "phew", &threshold);
    let phew =
        |to: &str| done(&[&["phew", &room.path("output_00007")], &threshold[..], &["-o", to]].concat());
    phew(&room.path("plain.csv"));
    for table in ["", ".clumps", ".haloes", ".tree"] {
        let _ = fs::copy(at(&format!("plain{table}.csv")), at(&format!("?{table}.csv")));
    }
    both(&at("plain.csv"), &at("?.csv"), "recut", &[]);
    fs::write(at("?.toml"), "[recut]\nrelevance_threshold = 2\n").expect("written");
    let config = [OsString::from("recut"), at("?.csv").into(), "--config".into(), at("?.toml").into()];
    let all = [&config[..], &words(&["-o", &room.path("c.csv")])].concat();
    run(&all.iter().map(OsString::as_os_str).collect::<Vec<_>>());
    #[cfg(feature = "hdf5")]
    {
        use crate::common::gadget::{Style, clumps, write};
        let folder = room.path("");
        let files =
            write(Path::new(&folder), &[(1, &clumps(200, 1))], &Style { files: 2, ..Style::default() });
        for (i, file) in files.iter().enumerate() {
            fs::copy(file, at(&format!("?.{i}.hdf5"))).expect("copied");
        }
        let length = ["--linking-length", "0.3", "--min-size", "3"];
        both(&files[0], &at("?.0.hdf5"), "fof", &length);
        let mut places = [files[0].as_os_str().to_owned(), at("?.0.hdf5").into_os_string()];
        places.iter_mut().for_each(|place| place.push(":/PartType1/Coordinates"));
        let [plain, strange] = places.map(PathBuf::from);
        both(&plain, &strange, "fof", &[&length[..], &["--box", "10"]].concat());
        phew(&room.path("plain.hdf5"));
        fs::copy(at("plain.hdf5"), at("?.hdf5")).expect("copied");
        both(&at("plain.hdf5"), &at("?.hdf5"), "recut", &[]);
    }
}

#[test]
fn an_error_is_one_plain_line_whatever_an_input_holds() {
    let room = Room::new();
    let bad = "a\nb\r\u{1b}[31m\u{9b}2J\u{2028}\u{202e}\u{7}c";
    let output = ramses(Path::new(&room.path("")));
    let input = output.to_string_lossy().into_owned();
    let to = room.path("f.csv");
    let threshold = ["--density-threshold", "1", "-o", &to];
    let config = room.path("run.toml");
    fs::write(&config, "[phew]\n\"a\\u001b[31m\\u2028\\u0007\" = 1\n").expect("written");
    let named = room.path(&format!("{bad}.npy"));
    npy(Path::new(&named), 4, &ROWS[..1]);
    let descriptor = output.join("hydro_file_descriptor.txt");
    let sound = fs::read(&descriptor).expect("reading");
    let check = |args: &[&str]| {
        let out = command(args).output().expect("started");
        let line = String::from_utf8(out.stderr).expect("text");
        assert_eq!((out.status.code(), line.matches('\n').count()), (Some(2), 1), "{args:?}: {line}");
        let steers = |c: char| c.is_control() || "\u{2028}\u{202e}".contains(c);
        assert!(!line.trim_end_matches('\n').contains(steers), "{line:?}");
        assert!(line.contains("\\u{1b}[31m"), "{line:?}");
    };
    check(&["fof", &named, "--open", "-o", &to]);
    check(&["info", &room.path(bad)]);
    check(&["recut", &room.path(&format!("{bad}.csv")), "-o", &to]);
    check(&[&["phew", &input, "--field", bad], &threshold[..]].concat());
    check(&[&["phew", &input, "--config", &config], &threshold[..]].concat());
    fs::write(&descriptor, [&sound[..], b"6, a\x1b[31mb, d\n"].concat()).expect("written");
    check(&[&["phew", &input], &threshold[..]].concat());
    fs::write(&descriptor, [&sound[..], b"6, \x1b[31m\xff\r\xe2\x80\xa8, d\n"].concat()).expect("written");
    check(&[&["phew", &input], &threshold[..]].concat());
}
