//! Arrays by name: every column, stored and deflated, the same groups as plain arrays, refusals, damage, and
//! numpy.

use crate::common::every_column;
use crate::common::npy::npy_file;
use crate::common::python::python;
use crate::common::room::{Room, done};
use crate::common::zip::{Member, zip_file};
use inselberg_io::ReadResult;
use inselberg_io::catalogue::read;
use inselberg_io::particles::{Columns, MassOf, ParticleInput, open_particles};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const N: usize = 211;

fn position(i: usize, axis: usize) -> f64 {
    ((i * 7919 + axis * 104_729 + (i / 5) * 31) % 1000) as f64 / 1000.0
}

fn velocity(i: usize, axis: usize) -> f64 {
    position(i, axis) * 64.0 - 3.5
}

fn mass(i: usize) -> f64 {
    1.0 + (i % 8) as f64 / 8.0
}

fn positions(n: usize, fortran: bool, descr: &str) -> Vec<u8> {
    npy_file(&[n, 3], fortran, descr, |at| position(at[0], at[1]))
}

fn member(name: &str, bytes: Vec<u8>, is_deflated: bool) -> Member<'_> {
    Member { name, bytes, is_deflated }
}

/// All columns under the names in this column of the documentation.
fn whole(which: usize, is_deflated: bool, fortran: bool) -> Vec<u8> {
    let names = [
        ["positions.npy", "velocities.npy", "masses.npy", "ids.npy"],
        ["pos.npy", "vel.npy", "mass.npy", "ids.npy"],
        ["Coordinates.npy", "Velocities.npy", "Masses.npy", "ParticleIDs.npy"],
    ][which];
    let descr = ["<f4", ">f8", "<f8"][which];
    zip_file(&[
        member("box.npy", npy_file(&[], false, "<f8", |_| 1.0), false),
        member(names[3], npy_file(&[N], false, "<i8", |at| at[0] as f64 * 3.0 - 5.0), is_deflated),
        member(names[0], positions(N, fortran, descr), is_deflated),
        member(names[1], npy_file(&[N, 3], fortran, descr, |at| velocity(at[0], at[1])), is_deflated),
        member(names[2], npy_file(&[N], false, ">f4", |at| mass(at[0])), is_deflated),
    ])
}

fn columns(input: &dyn ParticleInput, rows: std::ops::Range<u64>) -> ReadResult<Columns> {
    let mut all = Columns { density: None, ..every_column(true) };
    input.read(0, rows, &mut all)?;
    Ok(all)
}

fn opened(path: &str) -> Box<dyn ParticleInput> {
    open_particles(&[PathBuf::from(path)]).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_column_of_every_variant_is_read() {
    let room = Room::new();
    let path = room.path("box.npz");
    for which in 0..3 {
        for (is_deflated, fortran) in [(false, false), (true, false), (false, true), (true, true)] {
            fs::write(&path, whole(which, is_deflated, fortran)).expect("writing");
            let input = opened(&path);
            let species = &input.about().species[0];
            assert_eq!((species.n, species.mass), (N as u64, MassOf::Each));
            assert!(species.has_ids && species.has_velocities && species.is_double == (which > 0));
            for rows in [0..N as u64, 17..180, 210..211, 5..5] {
                let all = columns(input.as_ref(), rows.clone()).expect("columns");
                assert_eq!(all.position.len() as u64, rows.end - rows.start);
                for (at, i) in (rows.start as usize..rows.end as usize).enumerate() {
                    let near = |a: f64, b: f64| (a - b).abs() <= 1e-7 * b.abs();
                    let x = all.position.get(at);
                    assert!((0..3).all(|a| near(x[a], position(i, a))), "{which} {i}");
                    let v = all.velocity.as_ref().expect("velocities")[at].map(f64::from);
                    assert!((0..3).all(|a| near(v[a], velocity(i, a))));
                    assert_eq!(all.mass.as_ref().expect("masses")[at], mass(i));
                    let id = (i as i64 * 3 - 5).cast_unsigned();
                    assert_eq!(all.id.as_ref().expect("identities")[at], id);
                }
            }
        }
    }
}

#[test]
fn groups_are_those_of_plain_arrays_on_any_ranks() {
    let room = Room::new();
    let [plain, named, packed] = ["a.npy", "a.npz", "b.npz"].map(|name| room.path(name));
    fs::write(&plain, positions(N, false, "<f4")).expect("writing");
    fs::write(&named, zip_file(&[member("pos.npy", positions(N, true, ">f4"), false)])).expect("writing");
    fs::write(&packed, zip_file(&[member("pos.npy", positions(N, false, "<f4"), true)])).expect("writing");
    let found = |input: &str, more: &[&str]| {
        let to = room.path("groups.csv");
        let search = ["fof", input, "-o", &to, "--box", "1", "--linking-length", "0.4", "--min-size", "2"];
        let out = crate::common::program().args(search).args(more).output().expect("the program");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        format!("{:?}", read(Path::new(&to)).expect("a catalogue").tables)
    };
    let expected = found(&plain, &["--threads", "1"]);
    for input in [&named, &packed] {
        for more in [["--ranks", "1", "--threads", "2"], ["--ranks", "3", "--threads", "1"]] {
            assert_eq!(found(input, &more), expected, "{input} {more:?}");
        }
    }
    let to = room.path("c.csv");
    let mesh = ["--mesh-from-particles", "--box", "1", "--density-threshold", "2", "--quiet"];
    done(&[&["phew", &named, "-o", &to], &mesh[..]].concat());
    assert!(done(&["info", &packed]).contains("211"));
}

#[test]
fn one_mass_and_several_files() {
    let room = Room::new();
    let parts = ["p0.npz", "p1.npz"].map(|name| PathBuf::from(room.path(name)));
    for (path, n) in parts.iter().zip([5, 9]) {
        let single = npy_file(&[], false, "<f8", |_| 2.5);
        let file = zip_file(&[
            member("mass.npy", single, true),
            member("pos.npy", positions(n, false, "<f8"), n > 5),
        ]);
        fs::write(path, file).expect("writing");
    }
    let input = open_particles(&parts).expect("two files");
    let species = &input.about().species[0];
    assert_eq!((species.n, species.mass, species.has_ids), (14, MassOf::Same(2.5), false));
    let all = columns(input.as_ref(), 3..12).expect("columns");
    assert_eq!(all.mass, Some(vec![2.5; 9]));
    assert_eq!(all.id, Some((3..12).collect()));
    let rows = [3, 4, 0, 1, 2, 3, 4, 5, 6];
    assert!((0..9).all(|i| all.position.get(i)[1] == position(rows[i], 1)));
}

#[test]
fn what_is_not_read_is_refused_in_one_line() {
    let room = Room::new();
    let path = room.path("box.npz");
    let check = |file: Vec<u8>, parts: &[&str]| {
        fs::write(&path, file).expect("writing");
        let search = ["fof", &path, "-o", &room.path("g.csv"), "--box", "1"];
        room.refuses(&search, parts);
    };
    let (x, y) = (|| positions(4, false, "<f8"), |shape: &[usize]| npy_file(shape, false, "<f8", |_| 1.0));
    check(zip_file(&[member("x.npy", x(), false)]), &["no positions", "x.npy", "Coordinates"]);
    check(
        zip_file(&[member("pos.npy", x(), false), member("positions.npy", x(), false)]),
        &["both", "pos.npy", "positions.npy"],
    );
    check(zip_file(&[member("pos.npy", y(&[4, 2]), false)]), &["box.npz[pos.npy]", "[4, 2]", "(N, 3)"]);
    for (name, bytes, parts) in [
        ("vel.npy", y(&[5, 3]), ["vel.npy", "[5, 3]", "[4, 3]"]),
        ("masses.npy", y(&[3]), ["masses.npy", "[3]", "[4]"]),
        ("ids.npy", y(&[4]), ["ids.npy", "another type", "integers"]),
        ("mass.npy", npy_file(&[], false, "<f8", |_| -1.0), ["mass.npy", "-1", "above 0"]),
        ("mass.npy", b"no array".to_vec(), ["mass.npy", "not a NumPy file", "NUMPY"]),
    ] {
        check(zip_file(&[member("pos.npy", x(), false), member(name, bytes, true)]), &parts);
    }
    let mut sound = zip_file(&[member("pos.npy", x(), false)]);
    let directory = sound.windows(4).rposition(|four| four == b"PK\x01\x02").expect("a directory");
    let change = |at: usize, byte: u8| {
        let mut file = zip_file(&[member("pos.npy", x(), false)]);
        file[directory + at] = byte;
        file
    };
    check(change(10, 14), &["pos.npy", "method 14", "stored or deflated"]);
    check(change(8, 1), &["pos.npy", "encrypted"]);
    check(change(27, 200), &["pos.npy", "a size that they can have"]);
    sound.truncate(directory);
    check(sound, &["box.npz", "directory"]);
    check(b"PK".to_vec(), &["box.npz", "directory"]);
}

/// Whatever is cut off or changed: an error in one line, or as many rows as the header says. Never a panic.
/// Deflated positions have a sum: they are those of the sound file.
#[test]
fn damaged_files_are_errors_or_columns() {
    let room = Room::new();
    let path = room.path("box.npz");
    for is_deflated in [false, true] {
        let sound = zip_file(&[
            member("pos.npy", positions(9, false, "<f8"), is_deflated),
            member("ids.npy", npy_file(&[9], false, ">i4", |at| at[0] as f64), is_deflated),
            member("mass.npy", npy_file(&[9], true, "<f4", |at| mass(at[0])), is_deflated),
        ]);
        let check = |bytes: &[u8]| {
            fs::write(&path, bytes).expect("writing");
            let read = open_particles(&[PathBuf::from(&path)]).and_then(|input| {
                let n = input.about().species[0].n;
                Ok((n, columns(input.as_ref(), 0..n)?))
            });
            match read {
                Ok((n, all)) => {
                    assert_eq!(all.position.len() as u64, n);
                    let is_sound = |i: usize| all.position.get(i) == [0, 1, 2].map(|a| position(i, a));
                    assert!(!is_deflated || n == 9 && (0..9).all(is_sound));
                }
                Err(error) => assert_eq!(error.to_string().lines().count(), 1, "{error}"),
            }
        };
        (0..sound.len()).step_by(5).for_each(|n| check(&sound[..n]));
        // All numbers of the zip file are near the names of its members; the values may be anything.
        for at in (0..sound.len()).filter(|at| at % 7 == 0 || sound[*at] != 0) {
            for change in [0, 0xff, sound[at].wrapping_add(1)] {
                let mut bytes = sound.clone();
                bytes[at] = change;
                check(&bytes);
            }
        }
    }
}

/// What numpy writes, with its own compression and sizes of 8 bytes in the directory.
#[test]
fn files_of_numpy_are_read() {
    let Some(python) = python() else { return };
    let room = Room::new();
    let script = "import sys, numpy as np\n\
                  r = np.random.default_rng(3)\n\
                  x, v = r.random((5000, 3), dtype=np.float32), np.asfortranarray(r.random((5000, 3)))\n\
                  a = dict(Coordinates=x, vel=v, ids=np.arange(5000, dtype=np.uint32) + 7, mass=np.float32(1.5))\n\
                  np.savez(sys.argv[1], **a); np.savez_compressed(sys.argv[2], **a); np.save(sys.argv[3], x)";
    let [stored, packed, plain] = ["s.npz", "p.npz", "x.npy"].map(|name| room.path(name));
    let out = Command::new(python).args(["-c", script, &stored, &packed, &plain]).output().expect("Python");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let expected = opened(&plain);
    let expected = columns(expected.as_ref(), 0..5000).expect("positions");
    for path in [&stored, &packed] {
        let input = opened(path);
        assert_eq!(input.about().species[0].mass, MassOf::Same(1.5));
        let all = columns(input.as_ref(), 0..5000).expect("columns");
        assert_eq!(all.position, expected.position);
        assert_eq!(all.id, Some((7..5007).collect()));
        assert!(all.velocity.expect("velocities").iter().flatten().all(|v| (0.0..1.0).contains(v)));
    }
    assert!(fs::metadata(&packed).expect("a file").len() < fs::metadata(&stored).expect("a file").len());
}
