//! Broken RAMSES outputs: one clear line that names the file, the place and what was expected;
//! and never a panic, whatever the bytes.

use crate::common::{Whole, output};
use inselberg_io::ReadResult;
use inselberg_io::ramses::write::{Descriptors, Dialect};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

/// Reads everything that an output offers.
fn walk(path: &Path) -> ReadResult<u64> {
    let snapshot = inselberg_io::open(path)?;
    let fields: Vec<_> = snapshot.fields().iter().map(|f| f.name.as_str()).collect();
    let mut n = 0;
    for piece in 0..snapshot.header().n_pieces {
        snapshot.count_octs(piece)?;
        snapshot.count_particles(piece)?;
        snapshot.octs(piece, &fields, &mut |block| {
            assert!(block.values.iter().all(|column| column.len() == block.position.len()));
            n += block.position.len() as u64;
            Ok(())
        })?;
        snapshot.particles(piece, &mut |block| {
            assert_eq!(block.position.len(), block.family.len());
            n += block.id.len() as u64;
            Ok(())
        })?;
    }
    Ok(n)
}

/// As if a simulation rewrote the output, or a disk were cleaned.
#[test]
fn a_file_that_becomes_shorter_while_it_is_read_is_named() {
    for name in ["amr_00002.out00001", "grav_00002.out00001"] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = crate::common::resplit(&output("dm_1rank"), folder.path(), 1);
        let snapshot = inselberg_io::open(&path).expect("an output");
        let cut =
            || fs::File::options().write(true).open(path.join(name)).and_then(|file| file.set_len(1000));
        let read = snapshot.octs(0, &["rho"], &mut |_| {
            cut().expect("cut");
            Ok(())
        });
        let line = read.expect_err("there are more blocks").to_string();
        assert!(line.contains(name) && line.contains("the file ends before"), "{line}");
    }
}

/// Offset of the bytes of record `number` (from 1) of a file and their length.
fn record(bytes: &[u8], number: usize) -> (usize, usize) {
    let mut at = 0;
    for _ in 1..number {
        at += length(bytes, at) + 8;
    }
    (at + 4, length(bytes, at))
}

fn length(bytes: &[u8], at: usize) -> usize {
    let marker = bytes[at..at + 4].try_into().expect("four bytes");
    i32::from_le_bytes(marker).unsigned_abs() as usize
}

/// Number of the first record whose content starts as given.
fn find(bytes: &[u8], from: usize, start: &[u8]) -> usize {
    (from..).find(|&n| bytes[record(bytes, n).0..].starts_with(start)).expect("such a record")
}

fn put(bytes: &mut [u8], at: usize, value: i32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

fn put_in_record(bytes: &mut [u8], number: usize, value: i32) {
    let (at, _) = record(bytes, number);
    put(bytes, at, value);
}

/// Damages one file of a small output over two CPUs and gives the line that reading it ends with.
fn line_after(file: &str, damage: impl FnOnce(&mut Vec<u8>)) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = Whole::tiny([1; 3]).write(folder.path(), 2, true, &Dialect::default());
    let file = path.join(file);
    let mut bytes = fs::read(&file).expect("reading");
    damage(&mut bytes);
    fs::write(&file, bytes).expect("writing");
    line_of(&path, folder.path())
}

/// The error of reading `path`, without the folder it lies in.
fn line_of(path: &Path, folder: &Path) -> String {
    let line = walk(path).expect_err("broken input").to_string();
    assert!(!line.contains('\n'), "{line}");
    line.replace(&format!("{}/", folder.display()), "")
}

fn check(file: &str, damage: impl FnOnce(&mut Vec<u8>), place: &str, parts: [&str; 2]) {
    let line = line_after(file, damage);
    let start = format!("output_00007/{file}: {place}: ");
    assert!(line.starts_with(&start), "{line}\ndoes not start with {start}");
    let (problem, expected) = line[start.len()..].split_once("; expected ").expect("what was expected");
    assert!(problem.contains(parts[0]), "{line}\ndoes not say {}", parts[0]);
    assert!(expected.contains(parts[1]), "{line}\ndoes not say {}", parts[1]);
}

const AMR: &str = "amr_00007.out00002";
const HYDRO: &str = "hydro_00007.out00002";
const GRAV: &str = "grav_00007.out00001";
const PART: &str = "part_00007.out00002";
const INFO: &str = "info_00007.txt";

#[test]
fn a_missing_file_of_the_set() {
    for family in ["amr", "hydro", "grav", "part"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = Whole::tiny([1; 3]).write(folder.path(), 3, true, &Dialect::default());
        fs::remove_file(path.join(format!("{family}_00007.out00002"))).expect("removing");
        let expected = format!(
            "output_00007/{family}_00007.out00002: file 2 of 3: missing; \
             expected one {family} file for each of the 3 CPUs of the output"
        );
        assert_eq!(line_of(&path, folder.path()), expected);
    }
}

#[test]
fn no_output_at_all() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let line = line_of(folder.path(), folder.path());
    assert!(line.contains("not an output of a known format; expected RAMSES"), "{line}");
    let line = line_of(&folder.path().join("output_00009"), folder.path());
    assert!(line.starts_with("output_00009: there is no such file or folder; expected a snapshot"), "{line}");
    let path = Whole::tiny([1; 3]).write(folder.path(), 1, true, &Dialect::default());
    fs::copy(path.join(INFO), path.join("info_00008.txt")).expect("copying");
    assert!(walk(&path).is_ok(), "the folder's own name decides");
    let renamed = folder.path().join("run");
    fs::rename(&path, &renamed).expect("renaming");
    assert_eq!(
        line_of(&renamed, folder.path()),
        "run: info_*.txt: 2 such files; expected one info file, which gives the output's number"
    );
}

#[test]
fn truncated_and_torn_records() {
    let cut_in = |n| move |bytes: &mut Vec<u8>| bytes.truncate(record(bytes, n).0 + 3);
    let cut_before = |n| move |bytes: &mut Vec<u8>| bytes.truncate(record(bytes, n).0 - 4);
    let whole = "bytes and a closing marker, as its opening marker states";
    check(AMR, cut_in(22), "record 22 (numbl)", ["torn: the file has 7 bytes", whole]);
    check(
        AMR,
        cut_before(10),
        "record 10 (noutput to mass_sph)",
        ["the file ends before it", "one more record"],
    );
    check(AMR, |b| b.truncate(2), "record 1 (ncpu)", ["within its marker (2 bytes left)", "one more record"]);
    check(AMR, Vec::clear, "record 1 (ncpu)", ["the file ends before it", "one more record"]);
    check(
        HYDRO,
        cut_in(11),
        "record 11 (values, level 1, domain 2)",
        ["torn", "8 bytes and a closing marker"],
    );
    check(PART, cut_before(15), "record 15 (column)", ["the file ends before it", "one more record"]);
    let last_byte = |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() - 1);
    check(PART, last_byte, "record 19 (column)", ["torn", "3 bytes and a closing marker"]);
    check(
        GRAV,
        last_byte,
        "record 140 (ncache, level 4, domain 2)",
        ["torn", "4 bytes and a closing marker"],
    );
}

#[test]
fn markers_that_disagree() {
    let spoil = |n, value| {
        move |bytes: &mut Vec<u8>| {
            let (at, len) = record(bytes, n);
            put(bytes, at + len, value);
        }
    };
    check(
        AMR,
        spoil(2, 12),
        "record 2 (ndim)",
        ["its markers disagree: 4 before, 12 after", "the same length twice"],
    );
    check(HYDRO, spoil(3, -4), "record 3 (ndim)", ["4 before, -4 after", "the same length twice"]);
    let opening = |bytes: &mut Vec<u8>| {
        let (at, _) = record(bytes, 3);
        put(bytes, at - 4, i32::MIN);
    };
    check(AMR, opening, "record 3 (nx, ny, nz)", ["torn", "2147483648 bytes"]);
}

/// Reading by bytes over parts was quadratic in their number once.
#[test]
fn records_in_a_hundred_thousand_parts() {
    let mut whole = Whole::tiny([1; 3]);
    let few = whole.particles.take().expect("particles");
    let n = 50_000;
    let many = |i: usize| i % few.id.len();
    whole.particles = Some(inselberg_io::ParticleBlock {
        first: 0,
        position: (0..n).map(|i| few.position[many(i)]).collect(),
        velocity: (0..n).map(|i| few.velocity[many(i)]).collect(),
        mass: (0..n).map(|i| few.mass[many(i)]).collect(),
        id: (0..n as i64).collect(),
        family: (0..n).map(|i| few.family[many(i)]).collect(),
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dialect = Dialect { longest_part: 3, ..Dialect::default() };
    let path = whole.write(folder.path(), 1, false, &dialect);
    let start = std::time::Instant::now();
    assert_eq!(walk(&path).expect("a sound output"), 10 + n as u64);
    assert!(start.elapsed().as_secs() < 20);
}

#[test]
fn the_other_byte_order() {
    let swap = |bytes: &mut Vec<u8>| bytes.chunks_exact_mut(4).for_each(<[u8]>::reverse);
    for file in ["amr_00007.out00001", AMR, HYDRO, GRAV, PART] {
        let parts = ["written on a machine of other byte order", "little-endian records"];
        check(file, swap, "record 1 (ncpu)", parts);
    }
}

#[test]
fn headers_that_claim_more_than_the_file_can_hold() {
    let claim = |n, value| move |bytes: &mut Vec<u8>| put_in_record(bytes, n, value);
    check(AMR, claim(22, i32::MAX), "record 22 (numbl)", ["claims 21474836", "no more than the file's"]);
    check(AMR, claim(22, -1), "record 22 (numbl)", ["-1 octs", "at least 0"]);
    check(AMR, claim(22, 3), "record 30 (ind_grid, level 1, domain 1)", ["bytes", "3 integers of 4 bytes"]);
    check(AMR, claim(4, i32::MAX), "record 22 (numbl)", ["32 bytes", "4294967294 integers of 4 bytes"]);
    check(AMR, claim(3, i32::MAX), "record 3 (nx, ny, nz)", ["2147483647", "coarse cells an axis"]);
    check(AMR, claim(6, i32::MAX), "record 26 (numbb)", ["bytes", "8589934588 integers"]);
    check(HYDRO, claim(2, i32::MAX), "record 2 (nvar)", ["2147483647 values a cell", "at most"]);
    check(GRAV, claim(2, 9), "record 2 (nvar)", ["9 values a cell", "5 (rho too)"]);
    check(PART, claim(3, i32::MAX), "record 3 (npart)", ["claims 2147483647 particles", "in the file's"]);
    check(PART, claim(3, -5), "record 3 (npart)", ["-5", "at least 0"]);
}

#[test]
fn files_that_contradict_one_another() {
    let claim = |n, value| move |bytes: &mut Vec<u8>| put_in_record(bytes, n, value);
    check(AMR, claim(1, 3), "record 1 (ncpu)", ["3", "2, as in the info file"]);
    check(AMR, claim(2, 2), "record 2 (ndim)", ["2", "only three dimensions"]);
    check(
        HYDRO,
        claim(4, 7),
        "record 6 (header)",
        ["nlevelmax = 7", "nlevelmax = 4, as in output_00007/amr"],
    );
    check(HYDRO, claim(2, 4), "record 6 (header)", ["nvar = 4", "nvar = 5, as in the first file"]);
    check(HYDRO, claim(7, 2), "record 7 (ilevel, level 1, domain 1)", ["2", "1"]);
    let parts = ["6 octs", "the octs of output_00007/amr_00007.out00002"];
    check(HYDRO, claim(8, 6), "record 8 (ncache, level 1, domain 1)", parts);
}

#[test]
fn centres_off_the_grid() {
    for centre in [0.3_f64, 7.5, -0.5, f64::NAN, f64::INFINITY] {
        let spoil = |bytes: &mut Vec<u8>| {
            let n = find(bytes, 27, &0.5_f64.to_le_bytes());
            let (at, _) = record(bytes, n);
            bytes[at..at + 8].copy_from_slice(&centre.to_le_bytes());
        };
        let parts = ["not the centre of a cell in the box", "odd multiples of 2^-1 coarse cells"];
        check("amr_00007.out00002", spoil, "xg, level 1", parts);
    }
}

#[test]
fn info_files_that_make_no_sense() {
    let replace = |from: &'static str, to: &'static str| {
        move |bytes: &mut Vec<u8>| {
            let text = String::from_utf8(bytes.clone()).expect("text");
            *bytes = text.replacen(from, to, 1).into_bytes();
        }
    };
    check(INFO, replace("boxlen", "bowlen"), "line \"boxlen\"", ["no such line", "boxlen = value"]);
    check(INFO, replace("ncpu        =", "ncpu=x"), "line \"ncpu\"", ["x", "a whole number"]);
    check(INFO, replace("ncpu        =          2", "ncpu=0"), "line \"ncpu\"", ["0", "at least one"]);
    check(INFO, replace("ndim        =          3", "ndim=2"), "line \"ndim\"", ["2", "three dimensions"]);
    check(INFO, replace("boxlen      =", "boxlen=-1 "), "line \"boxlen\"", ["-1", "a number"]);
    let many = line_after(INFO, replace("ncpu        =          2", "ncpu=1234567890123"));
    assert!(many.contains("amr_00007.out00003: file 3 of 1234567890123: missing"), "{many}");
    let binary = line_after(INFO, |bytes| bytes.fill(0xff));
    assert!(binary.contains("line \"ndim\": no such line"), "{binary}");
}

const HYDRO_COLUMNS: &str = "hydro_file_descriptor.txt";
const PART_COLUMNS: &str = "part_file_descriptor.txt";

#[test]
fn descriptors_that_make_no_sense() {
    let to = |text: &'static str| move |bytes: &mut Vec<u8>| *bytes = text.into();
    let replaced = |from: &'static str, to: &'static str| {
        move |bytes: &mut Vec<u8>| {
            *bytes = String::from_utf8_lossy(bytes).replacen(from, to, 1).into_bytes();
        }
    };
    check(HYDRO_COLUMNS, to("what is this"), "line 1", ["what is this", "1, name, type"]);
    check(HYDRO_COLUMNS, to("2, density, d"), "line 1", ["2, density", "1, name, type"]);
    check(HYDRO_COLUMNS, to("1, den\u{7}sity, d"), "line 1", ["den\\u{7}sity", "1, name, type"]);
    let six = "1, a, d\n2, b, d\n3, c, d\n4, d, d\n5, e, d\n6, f, d\n";
    check(HYDRO_COLUMNS, to(six), "line 6", ["column 6 of 6", "5 columns, the nvar of"]);
    let two = "nvar = 2\nvariable #1: density\nvariable # 2: vx\n";
    check(HYDRO_COLUMNS, to(two), "line 3", ["ends after 2 columns", "5 columns, the nvar of"]);
    let parts = ["ends after 2 columns", "5 columns, as line 1 states"];
    check(HYDRO_COLUMNS, to(&two.replacen('2', "5", 1).leak()[..]), "line 3", parts);
    check(HYDRO_COLUMNS, to("nvar = many\n"), "line 1", ["nvar = many", "nvar = N"]);
    check(PART_COLUMNS, to("1, position_x, z"), "line 1", ["1, position_x, z", "a type of dfiqhb"]);
    let parts = ["ends without a column position_z", "a line for each column"];
    check(PART_COLUMNS, to("1, position_x, d\n2, position_y, d\n"), "line 2", parts);
    let line = line_after(PART_COLUMNS, replaced("position_x, d", "position_x, i"));
    assert!(line.contains("record 9 (column): 40 bytes; expected 5 elements of type i"), "{line}");
}

/// Damages `name` in a copy of a bundled output at every byte: what is left names other columns than the
/// files have.
fn each_cut_is_refused(path: &Path, folder: &Path, name: &str, lengths: std::ops::Range<usize>) {
    let whole = fs::read(path.join(name)).expect("reading");
    for length in lengths {
        fs::write(path.join(name), &whole[..length]).expect("writing");
        let line = line_of(path, folder);
        assert!(line.contains(&format!("{name}: line ")) && line.contains("; expected "), "{length}: {line}");
    }
    fs::write(path.join(name), whole).expect("writing");
    walk(path).expect("sound again");
}

#[test]
fn a_descriptor_cut_anywhere_is_refused() {
    for (run, name) in [("gas_2ranks", HYDRO_COLUMNS), ("dm_1rank", PART_COLUMNS)] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = copy_of_fixture(run, folder.path());
        // Only the last line break is missing: the content is complete.
        let n = fs::read(path.join(name)).expect("reading").len() - 1;
        each_cut_is_refused(&path, folder.path(), name, 0..n);
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dialect = Dialect { descriptors: Descriptors::Old, ..Dialect::default() };
    let path = Whole::tiny([1; 3]).write(folder.path(), 2, true, &dialect);
    let n = fs::read(path.join(HYDRO_COLUMNS)).expect("reading").len();
    each_cut_is_refused(&path, folder.path(), HYDRO_COLUMNS, 0..n);
}

#[test]
fn an_old_descriptor_of_particles_tells_types_by_names() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = copy_of_fixture("dm_1rank", folder.path());
    let columns = fs::read_to_string(path.join(PART_COLUMNS)).expect("reading");
    let names = columns.lines().skip(2).filter_map(|line| line.split(", ").nth(1));
    let old: String = names.zip(1..).map(|(name, i)| format!("variable # {i}: {name}\n")).collect();
    fs::write(path.join(PART_COLUMNS), old).expect("writing");
    let original = crate::common::particles(&*crate::common::open(&output("dm_1rank")));
    assert!(crate::common::particles(&*crate::common::open(&path)) == original);
}

#[test]
fn a_field_that_is_not_there() {
    let line = inselberg_io::open(&output("dm_1rank"))
        .and_then(|snapshot| snapshot.octs(0, &["rho", "B_x"], &mut |_| Ok(())))
        .expect_err("no such field")
        .to_string();
    assert!(line.ends_with(
        "no field \"B_x\"; expected one of what it has: rho, potential, force_x, force_y, force_z"
    ));
}

/// What happens to a file: places are fractions of its length.
#[derive(Debug, Clone)]
enum Damage {
    Truncate(f64),
    Flip(Vec<(f64, u8)>),
    SetInt(f64, i32),
    Fill(f64, usize, u8),
    Repeat(f64),
}

fn damage() -> impl Strategy<Value = Damage> {
    // Damage in headers matters most: half of the places lie in the first part of the file.
    let place = || prop_oneof![0.0..1.0_f64, (0.0..1.0_f64).prop_map(|x| x * x * x)];
    let ints = prop_oneof![
        Just(0),
        Just(-1),
        Just(1),
        Just(i32::MAX),
        Just(i32::MIN),
        Just(4),
        Just(-4),
        Just(1 << 30),
        any::<i32>()
    ];
    prop_oneof![
        place().prop_map(Damage::Truncate),
        prop::collection::vec((place(), 1..=255_u8), 1..6).prop_map(Damage::Flip),
        (place(), ints).prop_map(|(at, value)| Damage::SetInt(at, value)),
        (place(), 1..64_usize, any::<u8>()).prop_map(|(at, n, value)| Damage::Fill(at, n, value)),
        place().prop_map(Damage::Repeat),
    ]
}

fn apply(damage: &Damage, bytes: &mut Vec<u8>) {
    let n = bytes.len();
    let at = |place: f64| ((place * n as f64) as usize).min(n.saturating_sub(1));
    match damage {
        Damage::Truncate(place) => bytes.truncate(at(*place)),
        Damage::Flip(flips) => flips.iter().for_each(|(place, bits)| bytes[at(*place)] ^= bits),
        Damage::SetInt(place, value) => put(bytes, at(*place).min(n - 4) / 4 * 4, *value),
        Damage::Fill(place, len, value) => {
            let start = at(*place);
            bytes[start..n.min(start + len)].fill(*value);
        }
        Damage::Repeat(place) => bytes.extend_from_within(at(*place)..),
    }
}

/// A sound output of which one file at a time is damaged.
struct Victim {
    _folder: tempfile::TempDir,
    path: PathBuf,
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Victim {
    fn new(make: impl FnOnce(&Path) -> PathBuf, damaged: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = make(folder.path());
        let mut files: Vec<_> = fs::read_dir(&path)
            .expect("the output")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.to_string_lossy().contains(damaged))
            .map(|path| (path.clone(), fs::read(path).expect("reading")))
            .collect();
        files.sort();
        assert!(!files.is_empty());
        Self { _folder: folder, path, files }
    }

    /// Reads the output with one file damaged: either an error or an answer is right.
    fn suffer(&self, which: usize, damage: &Damage) {
        let (file, sound) = &self.files[which % self.files.len()];
        let mut bytes = sound.clone();
        apply(damage, &mut bytes);
        fs::write(file, bytes).expect("writing");
        let result = walk(&self.path);
        fs::write(file, sound).expect("writing");
        if let Err(error) = result {
            let line = error.to_string();
            assert!(!line.contains('\n') && line.contains("output_0000"), "{line}");
        }
    }
}

fn copy_of_fixture(run: &str, folder: &Path) -> PathBuf {
    let path = folder.join("output_00002");
    fs::create_dir(&path).expect("a folder");
    for entry in fs::read_dir(output(run)).expect("the fixture") {
        let from = entry.expect("an entry").path();
        fs::copy(&from, path.join(from.file_name().expect("a name"))).expect("copying");
    }
    path
}

fn check_any(victim: &Victim, cases: u32) {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let strategy = (any::<usize>(), damage());
    runner
        .run(&strategy, |(which, damage)| {
            victim.suffer(which, &damage);
            Ok(())
        })
        .unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn any_damage_to_a_small_output_is_an_error_or_an_answer() {
    let mut whole = Whole::tiny([2, 1, 1]);
    whole.header.periodic = [false, true, true];
    let make = |folder: &Path| whole.write(folder, 2, true, &Dialect::default());
    check_any(&Victim::new(make, "0000"), 1024);
    let dialect = Dialect { families: false, longest_part: 40, ..Dialect::default() };
    let make = |folder: &Path| whole.write(folder, 1, false, &dialect);
    check_any(&Victim::new(make, ""), 512);
}

#[test]
fn any_damage_to_a_real_file_is_an_error_or_an_answer() {
    let three_ranks = |folder: &Path| copy_of_fixture("dm_3ranks", folder);
    check_any(&Victim::new(three_ranks, "amr_00002.out00002"), 256);
    check_any(&Victim::new(three_ranks, "00002.out00003"), 256);
}
