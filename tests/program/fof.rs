//! `inselberg fof`: every kind of input, and how other files are refused.

use crate::common::Whole;
use crate::common::friends::group_ids;
use crate::common::room::{Room, done, done_json};
use inselberg_io::catalogue::{Catalogue, Values, read};
use inselberg_io::ramses::write::Dialect;
use inselberg_io::{Family, ParticleBlock};
use std::fs;
use std::path::Path;

const NONE: i64 = 2_147_483_647;

/// Group IDs of a table of a file that `--group-ids` wrote.
fn ids_in(path: &str, table: &str) -> Vec<i64> {
    let file = read(Path::new(path)).unwrap_or_else(|e| panic!("{e}"));
    match file.table(table).and_then(|t| t.column("GroupIDs")).map(|c| c.values.clone()) {
        Some(Values::I64(values)) => values,
        other => panic!("{table}: {other:?}"),
    }
}

/// Points of a box of side 10 that single precision holds, some of them close together.
fn points(n: usize) -> Vec<[f64; 3]> {
    let part = |i: usize, step: f64| (i as f64 * step).fract();
    let at = |i: usize| {
        let clump = i % 7;
        let spread = if i.is_multiple_of(5) { 10.0 } else { 0.7 };
        let centre = [0.618_034, 0.754_878, 0.569_840].map(|step| 10.0 * part(clump, step));
        let offset = [0.414_214, 0.732_051, 0.236_068].map(|step| spread * part(i, step));
        [0, 1, 2].map(|a| f64::from((centre[a] + offset[a]).rem_euclid(10.0) as f32))
    };
    (0..n).map(at).collect()
}

/// A NumPy file: its dictionary and its numbers.
fn npy(path: &str, dictionary: &str, numbers: &[u8]) {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((dictionary.len() as u16).to_le_bytes());
    bytes.extend(dictionary.bytes());
    bytes.extend(numbers);
    fs::write(path, bytes).expect("written");
}

fn npy_of(path: &str, kind: &str, points: &[[f64; 3]]) {
    npy_in_order(path, kind, points, points.iter().flatten().copied(), "False");
}

/// All x first, then all y, then all z.
fn npy_by_columns(path: &str, kind: &str, points: &[[f64; 3]]) {
    npy_in_order(path, kind, points, (0..3).flat_map(|a| points.iter().map(move |x| x[a])), "True");
}

fn npy_in_order(
    path: &str,
    kind: &str,
    points: &[[f64; 3]],
    numbers: impl Iterator<Item = f64>,
    fortran: &str,
) {
    let numbers = numbers.flat_map(|x| match kind {
        "<f4" => (x as f32).to_le_bytes().to_vec(),
        ">f4" => (x as f32).to_be_bytes().to_vec(),
        "<f8" => x.to_le_bytes().to_vec(),
        _ => x.to_be_bytes().to_vec(),
    });
    let dictionary =
        format!("{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': ({}, 3), }}\n", points.len());
    npy(path, &dictionary, &numbers.collect::<Vec<_>>());
}

#[test]
fn plain_arrays_of_every_kind_have_the_groups_of_all_pairs() {
    let (room, points) = (Room::new(), points(400));
    let numbers: Vec<u64> = (0..400).collect();
    for (kind, open) in [("<f4", false), (">f4", true), ("<f8", true), (">f8", false)] {
        let [file, ids] = ["a.npy", "ids.csv"].map(|name| room.path(name));
        npy_of(&file, kind, &points);
        let place: &[&str] = if open { &["--open"] } else { &["--box", "10"] };
        let args = ["fof", &file, "--group-ids", &ids, "--linking-length", "0.25", "--min-size", "3"];
        done(&[&args[..], place].concat());
        let expected = group_ids(&points, &numbers, 0.25, (!open).then_some(10.0), 3, NONE);
        assert_eq!(ids_in(&ids, "Particles"), expected, "{kind}");
        assert!(expected.contains(&3) && expected.contains(&NONE));
    }
}

/// Ranks read ranges of rows, whose coordinates are then apart.
#[test]
fn arrays_in_fortran_order_are_the_same_arrays() {
    let (room, points) = (Room::new(), points(400));
    let [rows, columns, ids] = ["r.npy", "c.npy", "ids.csv"].map(|name| room.path(name));
    for kind in ["<f4", ">f4", "<f8", ">f8"] {
        npy_of(&rows, kind, &points);
        npy_by_columns(&columns, kind, &points);
        for ranks in ["1", "3"] {
            let found = [&rows, &columns].map(|file| {
                let args = ["fof", file, "--group-ids", &ids, "--box", "10", "--min-size", "3"];
                done(&[&args[..], &["--linking-length", "0.25", "--ranks", ranks]].concat());
                ids_in(&ids, "Particles")
            });
            assert_eq!(found[0], found[1], "{kind}, {ranks} ranks");
            assert!(found[0].contains(&3));
        }
    }
    // Both orders in one input, and a file that lacks its end.
    npy_of(&rows, "<f8", &points[..100]);
    npy_by_columns(&columns, "<f4", &points[100..]);
    let args = ["fof", &rows, &columns, "--group-ids", &ids, "--box", "10", "--min-size", "3"];
    done(&[&args[..], &["--linking-length", "0.25"]].concat());
    let expected = group_ids(&points, &(0..400).collect::<Vec<_>>(), 0.25, Some(10.0), 3, NONE);
    assert_eq!(ids_in(&ids, "Particles"), expected);
    let whole = fs::read(&columns).expect("read");
    fs::write(&columns, &whole[..whole.len() - 1]).expect("cut");
    room.refuses(&["fof", &columns, "-o", &room.path("f.csv"), "--box", "10"], &["c.npy: size", "expected"]);
}

#[test]
fn arrays_in_several_files_are_one() {
    let (room, points) = (Room::new(), points(300));
    let files: Vec<String> = (0..3).map(|i| room.path(&format!("{i}.npy"))).collect();
    npy_of(&files[0], "<f4", &points[..10]);
    npy_of(&files[1], "<f8", &points[10..210]);
    npy_of(&files[2], "<f4", &points[210..]);
    let ids = room.path("ids.csv");
    let args =
        ["fof", &files[0], &files[1], &files[2], "--group-ids", &ids, "--box", "10", "--min-size", "3"];
    let more = ["--linking-length", "0.3", "--group-id-default", "0", "--group-id-offset", "1"];
    let json = done_json(&[&args[..], &more[..]].concat());
    let expected = group_ids(&points, &(0..300).collect::<Vec<_>>(), 0.3, Some(10.0), 3, 0);
    assert_eq!(ids_in(&ids, "Particles"), expected);
    assert_eq!(json["totals"]["groups"].as_i64(), expected.iter().max().copied());
    assert_eq!(json["totals"]["in_groups"], expected.iter().filter(|id| **id != 0).count());
    done(&[&args[..], &["--linking-length", "0.3", "--group-id-offset", "1000", "--ranks", "3"]].concat());
    let moved = expected.iter().map(|id| if *id == 0 { NONE } else { id + 999 });
    assert_eq!(ids_in(&ids, "Particles"), moved.collect::<Vec<_>>());
}

#[test]
fn the_ratio_of_an_array_is_one_of_the_mean_separation() {
    let (room, points) = (Room::new(), points(125));
    let file = room.path("a.npy");
    npy_of(&file, "<f8", &points);
    let json = done_json(&["fof", &file, "--box", "10", "--linking-ratio", "0.3", "-o", &room.path("f.csv")]);
    assert!((json["linking_length"].as_f64().expect("a length") - 0.6).abs() < 1e-15, "{json}");
}

#[test]
fn particles_of_ramses_have_the_groups_of_all_pairs() {
    let room = Room::new();
    for run in ["dm_1rank", "dm_3ranks"] {
        let output = crate::common::output(run);
        let snapshot = crate::common::open(&output);
        let (mut position, mut id) = (Vec::new(), Vec::new());
        for piece in 0..snapshot.header().n_pieces {
            let mut take = |block: &inselberg_io::ParticleBlock| {
                position.extend_from_slice(&block.position);
                id.extend(block.id.iter().map(|id| *id as u64));
                Ok(())
            };
            snapshot.particles(piece, &mut take).expect("particles");
        }
        let [ids, to] = ["ids.csv", "f.csv"].map(|name| room.path(name));
        let args = ["fof", &output.to_string_lossy(), "--group-ids", &ids, "-o", &to, "--min-size", "10"]
            .map(String::from);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let json = done_json(&[&args[..], &["--ranks", "2"]].concat());
        // Equal masses that make up the mean density.
        let length = json["linking_length"].as_f64().expect("a length");
        assert!((length / (0.2 / 16.0) - 1.0).abs() < 2e-3, "{length}");
        let expected = group_ids(&position, &id, length, Some(1.0), 10, NONE);
        assert_eq!(ids_in(&ids, "Particles"), expected, "{run}");
        assert!(expected.contains(&2));
        let groups = read(Path::new(&to)).expect("a catalogue");
        assert!(groups.table("Groups").is_some_and(|t| t.column("Velocities").is_some()));
    }
}

/// Properties of groups: the same on ranks and threads, in both formats, and one line where the input lacks
/// what they need.
#[test]
fn properties_of_groups_stand_in_the_catalogue() {
    let room = Room::new();
    let output = crate::common::output("dm_1rank").to_string_lossy().into_owned();
    let to = room.path("f.csv");
    let args = ["fof", &output, "-o", &to, "--min-size", "20", "--properties", "so,bound", "--with-members"];
    let run = |more: &[&str]| {
        let mut command = crate::common::program();
        let out = command.args(args).args(more).output().expect("the program starts");
        assert!(out.status.success(), "{more:?}: {}", String::from_utf8_lossy(&out.stderr));
        read(Path::new(&to)).expect("a catalogue")
    };
    let first = run(&["--threads", "1"]);
    for (ranks, threads) in [("1", "2"), ("2", "1"), ("3", "1"), ("2", "2"), ("3", "2")] {
        let again = run(&["--ranks", ranks, "--threads", threads]);
        let what = format!("{ranks} ranks, {threads} threads");
        crate::common::compare::assert_same(&first, &again, &what);
    }
    let groups = first.table("Groups").expect("groups");
    let (bound, all) = (groups.reals("bound_mass").expect("M"), groups.reals("Masses").expect("M"));
    assert!(bound.iter().zip(all).all(|(bound, all)| bound <= all), "{bound:?} {all:?}");
    assert!(bound[0] > 0.3 * all[0], "{bound:?} {all:?}");
    let (sphere, n_bound) = (groups.reals("mass_200_crit").expect("M"), groups.counts("n_bound").expect("n"));
    assert!(sphere[0] > 0.5 * bound[0] && sphere[0] < 2.0 * bound[0], "{sphere:?} {bound:?}");
    let members = first.table("members").expect("members");
    assert_eq!(members.n_rows() as u64, n_bound.iter().sum::<u64>());

    let array = room.path("p.npy");
    npy_of(&array, "<f4", &points(400));
    let args = ["fof", &array, "-o", &to, "--box", "10"];
    let lacks = |words: &str, parts: &[&str]| {
        room.refuses(&[&args[..], &["--properties", words]].concat(), parts);
    };
    lacks("bound", &[&array, "does not state its units", "expected a snapshot with units (--properties)"]);
    lacks("so", &[&array, "does not state its units"]);
    lacks("few", &["--properties", "`few`", "expected words out of basic, bound, so and all"]);
    let still = ramses_of(&room, 1, &[([0.5; 3], 1, Family::DarkMatter)]);
    let args = ["fof", &still, "-o", &to, "--linking-length", "0.02", "--properties", "so"];
    room.refuses(&args, &["no expanding cosmology", "expected a cosmological snapshot (--properties)"]);
}

/// A RAMSES output over `n_cpus` files of such particles, each at rest with mass 0.125.
fn ramses_of(room: &Room, n_cpus: usize, particles: &[([f64; 3], i64, Family)]) -> String {
    let mut whole = Whole::tiny([1; 3]);
    whole.header.cosmology = None;
    whole.particles = Some(ParticleBlock {
        first: 0,
        position: particles.iter().map(|p| p.0).collect(),
        velocity: vec![[0.0; 3]; particles.len()],
        mass: vec![0.125; particles.len()],
        id: particles.iter().map(|p| p.1).collect(),
        family: particles.iter().map(|p| p.2).collect(),
    });
    let folder = room.path(&format!("over_{n_cpus}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).expect("a folder");
    whole.write(Path::new(&folder), n_cpus, true, &Dialect::default()).to_string_lossy().into_owned()
}

/// Sinks and tracers of RAMSES repeat identities; they neither link nor attach.
#[test]
fn identities_of_particles_that_take_no_part_may_repeat() {
    let room = Room::new();
    let mut all: Vec<([f64; 3], i64, Family)> = (0..6)
        .map(|i| ([0.5 + 0.01 * f64::from(i), 0.5, 0.5], 10 + i64::from(i), Family::DarkMatter))
        .collect();
    for family in [Family::Cloud, Family::Tracer, Family::Debris, Family::Other] {
        all.extend([([0.52, 0.5, 0.5], 3, family), ([1.5, 0.5, 0.5], 3, family), ([1.5; 3], 10, family)]);
    }
    let ids = room.path("ids.csv");
    for ranks in ["1", "3"] {
        let output = ramses_of(&room, 2, &all);
        let search = ["--linking-length", "0.02", "--min-size", "2", "--ranks", ranks, "--group-ids", &ids];
        done(&[&["fof", &output], &search[..]].concat());
        let found = ids_in(&ids, "Particles");
        assert_eq!(found.iter().filter(|id| **id == 1).count(), 6, "{found:?}");
        assert_eq!(found.iter().filter(|id| **id == NONE).count(), all.len() - 6);
        all.push(([1.0; 3], 10, Family::DarkMatter));
        let output = ramses_of(&room, 2, &all);
        let parts = ["two particles have the ID 10", "(--duplicate-ids allow)"];
        room.refuses(&[&["fof", &output], &search[..]].concat(), &parts);
        all.pop();
    }
}

/// All particles share one identity: positions alone decide between equals.
#[test]
fn allowed_duplicates_are_told_apart_by_position() {
    let room = Room::new();
    let line =
        |x: f64| (0..3).map(move |i| ([x, 0.5 + 0.25 * f64::from(i) / 16.0, 0.5], 7, Family::DarkMatter));
    // Exactly between two groups of one size.
    let star = ([0.75, 0.5, 0.5], 7, Family::Star);
    let mut all: Vec<_> = line(1.0).chain(line(0.5)).chain([star]).chain(line(1.75)).collect();
    let [to, ids] = ["f.csv", "ids.csv"].map(|name| room.path(name));
    let mut first: Option<Catalogue> = None;
    for (n_cpus, ranks) in [(1, "1"), (1, "2"), (2, "1"), (3, "3"), (3, "4")] {
        all.rotate_left(3);
        all.reverse();
        let output = ramses_of(&room, n_cpus, &all);
        let search = ["-o", &to, "--group-ids", &ids, "--linking-length", "0.3", "--min-size", "3"];
        let args = [&["fof", &output], &search[..], &["--ranks", ranks, "--duplicate-ids", "allow"]].concat();
        done(&args);
        let found = read(Path::new(&to)).expect("a catalogue");
        let groups = found.table("Groups").expect("groups");
        let centres = groups.vectors("Centres").expect("centres");
        let x: Vec<f64> = centres.iter().map(|c| c[0]).collect();
        // The star counts in the group of lower position, and makes its centre.
        assert_eq!((x.len(), x[0], x[1], x[2]), (3, (3.0 * 0.5 + 0.75) / 4.0, 1.0, 1.75));
        match &first {
            None => first = Some(found),
            Some(first) => {
                crate::common::compare::assert_same(first, &found, &format!("{n_cpus} CPUs, {ranks} ranks"))
            }
        }
    }
}

#[test]
fn a_configuration_in_swifts_words_is_as_good_as_flags() {
    let (room, points) = (Room::new(), points(200));
    let [file, by_file, by_flags, config] =
        ["a.npy", "a.csv", "b.csv", "run.toml"].map(|name| room.path(name));
    npy_of(&file, "<f8", &points);
    let text = format!(
        "[fof]\ninput = {file:?}\noutput = {by_file:?}\nbox = 10\nabsolute_linking_length = 0.3\nmin_group_size = 4\n"
    );
    fs::write(&config, text).expect("written");
    done(&["fof", "--config", &config]);
    done(&["fof", &file, "-o", &by_flags, "--box", "10", "--linking-length", "0.3", "--min-size", "4"]);
    let [a, b] = [by_file, by_flags].map(|p| read(Path::new(&p)).expect("a catalogue"));
    crate::common::compare::assert_same(&a, &b, "flags and file");
    let told = done(&["info", &room.path("a.csv")]);
    assert!(told.contains("the largest groups") && told.contains("min_group_size"), "{told}");
}

#[cfg(feature = "plot")]
#[test]
fn pictures_are_drawn_of_groups_or_of_none() {
    let (room, points) = (Room::new(), points(200));
    let [file, png, svg] = ["a.npy", "a.png", "a.svg"].map(|name| room.path(name));
    npy_of(&file, "<f4", &points);
    done(&["fof", &file, "--box", "10", "--plot", &svg, "--min-size", "4", "--linking-length", "0.3"]);
    let text = fs::read_to_string(&svg).expect("a picture");
    assert!(text.contains("groups (") && !text.contains("nothing found") && !text.contains("haloes"));
    done(&["fof", &file, "--open", "--plot", &png, "--linking-length", "0.001", "--ranks", "2"]);
    assert!(fs::read(&png).expect("a picture").starts_with(b"\x89PNG"));
}

#[test]
fn a_linking_length_and_a_linking_ratio_contradict_each_other() {
    let (room, points) = (Room::new(), points(300));
    let [file, config, to] = ["a.npy", "c.toml", "f.csv"].map(|name| room.path(name));
    npy_of(&file, "<f8", &points);
    let args = ["fof", &file, "--box", "10", "-o", &to];
    let both = ["--linking-length", "0.3", "--linking-ratio", "0.2"];
    room.refuses(
        &[&args[..], &both].concat(),
        &["--linking-length: given together with --linking-ratio", "expected one of"],
    );
    let with = |text: &str| fs::write(&config, format!("[fof]\n{text}\n")).expect("written");
    with("linking_ratio = 0.2\nlinking_length = 0.3");
    let by_file = [&args[..], &["--config", &config]].concat();
    room.refuses(&by_file, &["c.toml:3: given together with --linking-ratio"]);
    let length = |more: &[&str]| {
        done_json(&[&by_file[..], more].concat())["linking_length"].as_f64().expect("a length")
    };
    let mean_separation = 10.0 / 300_f64.cbrt();
    let is_ratio = |length: f64, ratio: f64| (length / mean_separation - ratio).abs() < 1e-9;
    // A flag takes precedence over the file, if the file gives the value in another form.
    with("linking_ratio = 0.3");
    assert_eq!(length(&["--linking-length", "0.25"]), 0.25);
    with("linking_length = 0.3");
    assert!(is_ratio(length(&["--linking-ratio", "0.1"]), 0.1));
    assert_eq!(length(&["--linking-length", "0.25"]), 0.25);
    // As SWIFT writes no length.
    with("linking_length_ratio = 0.15\nabsolute_linking_length = -1");
    assert!(is_ratio(length(&[]), 0.15));
    with("linking_ratio = 0.15");
    assert!(is_ratio(length(&["--linking-length", "-1"]), 0.15));
}

#[test]
fn arrays_that_are_none_are_refused() {
    let (room, points) = (Room::new(), points(50));
    let [good, bad, to] = ["good.npy", "bad.npy", "f.csv"].map(|name| room.path(name));
    npy_of(&good, "<f8", &points);
    let whole = fs::read(&good).expect("read");
    type Damage<'a> = (&'a dyn Fn(), &'a [&'a str]);
    let with = |i: usize, x: f64| {
        let mut points = points.clone();
        points[i][1] = x;
        npy_of(&bad, "<f8", &points);
    };
    let shape = |shape: &str, n: usize| {
        let dictionary = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
        npy(&bad, &dictionary, &vec![0; 8 * n]);
    };
    let damages: [Damage; 10] = [
        (&|| fs::write(&bad, &whole[..whole.len() - 1]).expect("cut"), &["bad.npy: size", "expected"]),
        (&|| fs::write(&bad, &whole[..40]).expect("cut"), &["bad.npy: header: the file ends"]),
        (&|| fs::write(&bad, "no array").expect("text"), &["bad.npy: header", "not a NumPy file"]),
        (&|| fs::write(&bad, "").expect("none"), &["bad.npy: header: the file ends"]),
        (&|| with(7, f64::NAN), &["bad.npy: row 7: position", "NaN", "expected finite numbers"]),
        (&|| with(49, f64::INFINITY), &["bad.npy: row 49: position", "inf"]),
        (&|| with(3, 1e4), &["bad.npy: row 3: position", "far outside the box", "[10.0, 10.0, 10.0]"]),
        (&|| shape("(50, 2)", 100), &["bad.npy: header: shape (50, 2); expected (N, 3)"]),
        (&|| shape("(99999999999, 3)", 150), &["bad.npy: size"]),
        (&|| shape("(0, 3)", 0), &["bad.npy: the input holds no particles; expected at least one"]),
    ];
    for (damage, parts) in damages {
        damage();
        for ranks in ["1", "3"] {
            room.refuses(&["fof", &bad, "-o", &to, "--box", "10", "--ranks", ranks], parts);
        }
    }
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let (room, points) = (Room::new(), points(50));
    let [good, to, text] = ["good.npy", "f.csv", "a.txt"].map(|name| room.path(name));
    npy_of(&good, "<f8", &points);
    fs::write(&text, "words").expect("written");
    let boxed = ["fof", &good, "-o", &to, "--box", "10"];
    let table: &[(&[&str], &[&str])] = &[
        (&["fof", &good, "-o", &to], &["good.npy", "(--box, --open)"]),
        (&["fof", &good, &good, "-o", &to, "--open"], &["given twice"]),
        (&["fof", &text, "-o", &to], &["a.txt", "not particles of a known format", "RAMSES", ".npy"]),
        (&["fof", &room.path("none.npy"), "-o", &to], &["none.npy", "no such file"]),
        (&["fof", &good, "-o", &good, "--open"], &["is both the input and the catalogue"]),
        (
            &["fof", &good, "-o", &to, "--group-ids", &to, "--open"],
            &["is both the catalogue and the group IDs"],
        ),
        (&["fof", &good, "-o", &room.path("no/f.csv"), "--open"], &["there is no folder"]),
        (&["fof", &good, "-o", &to, "--open"], &["mean separation", "(--linking-length)"]),
        (&[&boxed[..], &["--linking-length", "0"]].concat(), &["--linking-length: `0`", "above 0"]),
        (&[&boxed[..], &["--linking-length", "nan"]].concat(), &["--linking-length: `NaN`", "above 0"]),
        (&[&boxed[..], &["--linking-length", "5.1"]].concat(), &["good.npy", "5.1", "half", "5"]),
        (
            &[&boxed[..], &["--linking-types", "1,0,0,0,0,0,0"]].concat(),
            &["no particle links", "50 particles", "(--linking-types)"],
        ),
        (
            &[&boxed[..], &["--attaching-types", "1,1,0,0,0,0,0"]].concat(),
            &["attaching-types", "dark matter either linking or attaching"],
        ),
        (
            &[&boxed[..], &["--seed-black-holes", "--black-hole-seed-mass", "1e10"]].concat(),
            &["solar masses", "units"],
        ),
        (
            &[&boxed[..], &["--min-size", "1", "--group-id-default", "1"]].concat(),
            &["the ID 1 of particles in no group is also", "(--group-id-default)"],
        ),
    ];
    for (args, parts) in table {
        room.refuses(args, parts);
    }
}
