//! Catalogue files: what is written reads back, no file is ever half written, and text files of RAMSES have
//! RAMSES's bytes.

use inselberg_io::ReadError;
use inselberg_io::catalogue::{
    Attribute, Catalogue, Dimension, FORMATS, Table, TableColumn, Values, WriteError, check_output, info,
    ramses_text, read, write,
};
use inselberg_io::staging;
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

fn column(name: &str, dimension: Dimension, values: Values) -> TableColumn {
    TableColumn { name: name.into(), dimension, description: format!("the {name}, \"as it is\""), values }
}

fn table(name: &str, columns: Vec<TableColumn>) -> Table {
    Table { name: name.into(), columns }
}

/// Every type of column and attribute, and the values that go wrong most easily.
fn sample() -> Catalogue {
    let odd = vec![f64::INFINITY, -f64::INFINITY, -0.0, 5e-324, f64::MAX, 0.1];
    let clumps = vec![
        column("id", Dimension::NONE, Values::U64(vec![u64::MAX, 0, 1, 2, 3, 4])),
        column("mass", Dimension::MASS, Values::F64(odd.clone())),
        column(
            "peak_position",
            Dimension::LENGTH,
            Values::F64x3(odd.iter().map(|x| [*x, 0.25, -*x]).collect()),
        ),
        column(
            "radius",
            Dimension::LENGTH,
            Values::F32(vec![f32::INFINITY, -0.0, 1e-45, f32::MAX, 0.1, f32::NAN]),
        ),
    ];
    let cells = vec![
        column("level", Dimension::NONE, Values::U8(vec![0, 255])),
        column("ijk", Dimension::NONE, Values::U32x3(vec![[0, 1, u32::MAX], [3, 2, 1]])),
        column("velocity", Dimension::VELOCITY, Values::I64(vec![i64::MIN, i64::MAX])),
    ];
    let attributes = vec![
        ("z_last_name_first".into(), Attribute::Text("two\nlines, \"quotes\" and \u{3c1}".into())),
        ("empty".into(), Attribute::Text(String::new())),
        ("unit_length".into(), Attribute::Real(3.08e24)),
        ("unit_density".into(), Attribute::Real(1e-29)),
        ("n_peaks".into(), Attribute::Int(-1)),
        ("edges".into(), Attribute::Reals(vec![0.0, -0.0, 1e300])),
        ("none".into(), Attribute::Reals(vec![])),
    ];
    let tables = vec![
        table("tree", vec![column("peak", Dimension::NONE, Values::U64(vec![]))]),
        table("clumps", clumps),
        table("cells", cells),
        table("bare", vec![]),
    ];
    Catalogue { attributes, tables }
}

fn each_format(check: impl Fn(&Path)) {
    for writer in FORMATS {
        let folder = tempfile::tempdir().expect("a folder");
        check(&folder.path().join(format!("c.{}", writer.extensions[0])));
    }
}

/// Equality bit by bit, except for the payload of NaNs.
fn bits(catalogue: &Catalogue) -> String {
    let canonical = |x: f64| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
    let mut text = String::new();
    for table in &catalogue.tables {
        for column in &table.columns {
            let numbers = match &column.values {
                Values::F64(v) => v.iter().map(|x| canonical(*x)).collect::<Vec<_>>(),
                Values::F32(v) => v.iter().map(|x| canonical((*x).into())).collect(),
                Values::F64x3(v) => v.iter().flatten().map(|x| canonical(*x)).collect(),
                _ => vec![],
            };
            text += &format!("{} {} {:?} {numbers:?}\n", table.name, column.name, column.dimension);
        }
    }
    format!("{catalogue:?}\n{text}")
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder");
    let mut names: Vec<_> =
        entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn every_format_brings_back_what_was_written() {
    each_format(|path| {
        for catalogue in [sample(), Catalogue::default()] {
            write(path, &catalogue).expect("written");
            assert_eq!(bits(&read(path).expect("read")), bits(&catalogue), "{}", path.display());
        }
    });
}

#[test]
fn large_tables_come_back_and_equal_catalogues_give_equal_files() {
    each_format(|path| {
        let reals: Vec<[f64; 3]> = (0..200_001).map(|i| [f64::from(i).sqrt(), 0.5, f64::from(i)]).collect();
        let ids = (0..200_001).collect();
        let columns = vec![
            column("id", Dimension::NONE, Values::U64(ids)),
            column("x", Dimension::LENGTH, Values::F64x3(reals)),
        ];
        let catalogue = Catalogue { attributes: sample().attributes, tables: vec![table("cells", columns)] };
        write(path, &catalogue).expect("written");
        let first = fs::read(path).expect("bytes");
        assert_eq!(read(path).expect("read"), catalogue);
        write(path, &catalogue).expect("written again");
        assert!(first == fs::read(path).expect("bytes"), "{}", path.display());
    });
}

#[test]
fn a_text_longer_than_an_hdf5_header_comes_back() {
    each_format(|path| {
        let long = Attribute::Text("configuration ".repeat(20_000));
        let catalogue = Catalogue { attributes: vec![("config".into(), long)], tables: vec![] };
        write(path, &catalogue).expect("written");
        assert_eq!(read(path).expect("read"), catalogue);
    });
}

fn any_values(n: usize) -> impl Strategy<Value = Values> {
    use proptest::collection::vec;
    let real = || prop_oneof![any::<u64>().prop_map(f64::from_bits), Just(f64::NAN), Just(-0.0)];
    prop_oneof![
        vec(any::<u8>(), n).prop_map(Values::U8),
        vec(any::<u64>(), n).prop_map(Values::U64),
        vec(any::<i64>(), n).prop_map(Values::I64),
        vec(real(), n).prop_map(Values::F64),
        vec([real(), real(), real()], n).prop_map(Values::F64x3),
        vec(any::<[u32; 3]>(), n).prop_map(Values::U32x3),
    ]
}

fn any_table(name: String) -> impl Strategy<Value = Table> {
    let columns = (0usize..20)
        .prop_flat_map(|n| proptest::collection::vec((any_values(n), any::<[i8; 3]>(), ".*"), 0..5));
    columns.prop_map(move |columns| {
        let columns = columns.into_iter().enumerate().map(|(i, (values, [l, m, t], text))| TableColumn {
            name: format!("c{}", 9 - i),
            dimension: Dimension::new(l, m, t),
            description: text.replace('\0', ""),
            values,
        });
        table(&name, columns.collect())
    })
}

fn any_catalogue() -> impl Strategy<Value = Catalogue> {
    let tables = (any_table("haloes".into()), any_table("clumps".into()), any_table("a".into()));
    let attributes = (any::<i64>(), any::<f64>(), proptest::collection::vec(any::<f64>(), 0..4), "[^\0]*");
    (tables, attributes).prop_map(|((a, b, c), (int, real, reals, text))| Catalogue {
        attributes: vec![
            ("t".into(), Attribute::Text(text)),
            ("r".into(), Attribute::Real(real)),
            ("many".into(), Attribute::Reals(reals)),
            ("i".into(), Attribute::Int(int)),
        ],
        tables: vec![a, b, c],
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_catalogue_comes_back(catalogue in any_catalogue()) {
        each_format(|path| {
            write(path, &catalogue).expect("written");
            assert_eq!(bits(&read(path).expect("read")), bits(&catalogue));
        });
    }

    #[test]
    fn a_damaged_file_is_an_error_or_a_catalogue(cut in 0.0..1.0f64, at in 0.0..1.0f64, flip in 0u8..8) {
        each_format(|path| {
            write(path, &sample()).expect("written");
            let whole = fs::read(path).expect("bytes");
            let place = |part: f64| ((whole.len() - 1) as f64 * part) as usize;
            fs::write(path, &whole[..place(cut)]).expect("cut");
            // A file without its last bytes is complete only if these are the seal.
            assert!(read(path).is_ok_and(|c| bits(&c) == bits(&sample())) || read(path).is_err());
            let mut flipped = whole.clone();
            flipped[place(at)] ^= 1 << flip;
            fs::write(path, &flipped).expect("flipped");
            let _ = read(path);
        });
    }
}

/// What follows would be taken for data, or data for what follows.
#[cfg(feature = "hdf5")]
#[test]
fn bytes_more_or_less_before_the_checksum_are_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    for length in 1..10 {
        let path = folder.path().join("c.hdf5");
        let text = Attribute::Text("x".repeat(length));
        write(&path, &Catalogue { attributes: vec![("text".into(), text)], ..sample() }).expect("written");
        let sound = fs::read(&path).expect("bytes");
        let (body, seal) = sound.split_at(sound.len() - 24);
        for n_zeros in 1..8 {
            fs::write(&path, [body, &vec![0; n_zeros], seal].concat()).expect("longer");
            assert!(read(&path).is_err(), "{n_zeros} zeros more after {} bytes", body.len());
        }
    }
}

#[test]
fn nan_payloads_survive_hdf5() {
    for writer in FORMATS.iter().filter(|w| w.name == "HDF5") {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("c.h5");
        let odd = f64::from_bits(0x7ff0_0000_dead_beef);
        let columns = vec![column("x", Dimension::NONE, Values::F64(vec![odd]))];
        let catalogue = Catalogue { attributes: vec![], tables: vec![table("clumps", columns)] };
        writer.write(&path, &catalogue).expect("written");
        let back = (writer.read)(&path).expect("read");
        let Values::F64(values) = &back.tables[0].columns[0].values else { panic!("reals") };
        assert_eq!(values[0].to_bits(), odd.to_bits());
    }
}

#[test]
fn wrong_files_are_refused_in_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    for name in ["missing.csv", "c.csv", "c.h5", "c.txt", "c"] {
        if !name.starts_with("missing") {
            fs::write(path(name), "neither\nnor").expect("written");
        }
        let message = read(&path(name)).expect_err(name).to_string();
        assert!(message.contains(name) && !message.contains('\n'), "{message}");
    }
}

#[test]
fn powers_of_units_that_no_number_holds_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("c.csv");
    let masses = column("mass", Dimension::MASS, Values::F64(vec![1.0]));
    let sound = Catalogue { attributes: vec![], tables: vec![table("clumps", vec![masses])] };
    write(&path, &sound).expect("written");
    let text = fs::read_to_string(&path).expect("text");
    for unit in ["code_mass**200", "1 / code_mass**-32768", "code_mass * code_mass**32767"] {
        fs::write(&path, text.replace("[code_mass]", &format!("[{unit}]"))).expect("written");
        let message = read(&path).expect_err(unit).to_string();
        assert!(message.contains("c.csv") && !message.contains('\n'), "{message}");
    }
}

#[test]
fn side_files_of_another_run_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, two) = (folder.path().join("one.csv"), folder.path().join("two.csv"));
    write(&one, &sample()).expect("written");
    let mut other = sample();
    other.attributes[4].1 = Attribute::Int(7);
    write(&two, &other).expect("written");
    fs::copy(folder.path().join("two.cells.csv"), folder.path().join("one.cells.csv")).expect("copied");
    assert!(matches!(read(&one), Err(ReadError::Content { .. })));
    fs::remove_file(folder.path().join("two.cells.csv")).expect("removed");
    assert!(matches!(read(&two), Err(ReadError::Io { .. })));
}

#[test]
fn an_error_leaves_the_old_file_and_nothing_else() {
    each_format(|path| {
        write(path, &sample()).expect("written");
        let names = names_in(path.parent().expect("a folder"));
        let mut ragged = sample();
        ragged.tables[1].columns[0].values = Values::U64(vec![1]);
        let mut twice = sample();
        twice.tables[0].name = "clumps".into();
        let mut slash = sample();
        slash.tables[0].name = "../tree".into();
        for wrong in [ragged, twice, slash] {
            assert!(matches!(write(path, &wrong), Err(WriteError::Content { .. })));
            assert_eq!(bits(&read(path).expect("the old one")), bits(&sample()));
            assert_eq!(names_in(path.parent().expect("a folder")), names);
        }
    });
}

/// The main file of a CSV catalogue in a folder, and all its files with what is in them.
fn csv_files(folder: &Path) -> (PathBuf, Vec<(PathBuf, String)>) {
    let main = folder.join("c.csv");
    write(&main, &sample()).expect("written");
    let paths = names_in(folder).into_iter().map(|name| folder.join(name));
    (main, paths.map(|path| (path.clone(), fs::read_to_string(path).expect("text"))).collect())
}

#[test]
fn a_csv_catalogue_that_says_something_else_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (main, files) = csv_files(folder.path());
    let (mut n_refused, mut n_same) = (0, 0);
    for (path, text) in &files {
        let begin = text.find("# checksum: ").expect("a checksum");
        let digits = text.bytes().enumerate().skip(begin).filter(|(_, b)| b.is_ascii_alphanumeric());
        for (at, byte) in digits {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if byte == b'7' { b'3' } else { b'7' };
            fs::write(path, bytes).expect("written");
            match read(&main) {
                Err(error) => {
                    let error = error.to_string();
                    assert!(!error.contains('\n'), "{error}");
                    n_refused += 1;
                }
                // A digit of no weight.
                Ok(same) => {
                    assert_eq!(bits(&same), bits(&sample()));
                    n_same += 1;
                }
            }
        }
        fs::write(path, text).expect("as before");
    }
    assert!(n_refused > 500 && n_same < 10, "{n_refused} refused, {n_same} taken");
    assert_eq!(bits(&read(&main).expect("sound")), bits(&sample()));
}

#[test]
fn an_older_csv_catalogue_is_read_and_files_of_two_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let (main, files) = csv_files(folder.path());
    for (path, text) in &files {
        fs::write(path, text.replace("# checksum: ", "# run: ")).expect("written");
    }
    assert_eq!(bits(&read(&main).expect("sound")), bits(&sample()));
    let (side, text) = files.iter().find(|(path, _)| *path != main).expect("a side file");
    fs::write(side, text.replace("# checksum: ", "# run: f")).expect("written");
    assert!(read(&main).expect_err("another's").to_string().contains("as in the main file"));
}

#[test]
fn names_in_a_csv_catalogue_lead_nowhere_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).expect("made");
    let (main, files) = csv_files(&inner);
    let (_, text) = files.iter().find(|(path, _)| *path == main).expect("the main file");
    let (side, _) = files.iter().find(|(path, _)| *path != main).expect("a side file");
    let table =
        side.file_stem().and_then(|s| s.to_str()).and_then(|s| s.strip_prefix("c.")).expect("a table");
    let line = text.lines().find(|line| line.starts_with("# tables: ")).expect("a line");
    for path in ["/../../away", "../away", "x/../../away", "/etc/passwd", "a.b"] {
        fs::write(&main, text.replace(line, &line.replace(table, path))).expect("written");
        let error = read(&main).expect_err(path).to_string();
        assert!(error.contains("letters, digits and underscores") && !error.contains('\n'), "{error}");
    }
}

#[test]
fn a_writer_that_fails_half_way_leaves_the_old_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out");
    fs::write(&path, "old").expect("written");
    let failed = staging::write_file(&path, |out| {
        out.write_all(&[0; 1 << 20])?;
        Err(std::io::Error::from(std::io::ErrorKind::StorageFull))
    });
    assert!(failed.is_err());
    assert_eq!(fs::read_to_string(&path).expect("old"), "old");
    assert_eq!(names_in(folder.path()), ["out"]);
}

#[test]
fn places_that_cannot_be_written_are_known_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let fails = |path: PathBuf, part: &str| {
        let message = check_output(&path).expect_err(part).to_string();
        assert!(message.contains(part) && !message.contains('\n'), "{message}");
    };
    fails(folder.path().join("no/such/c.csv"), "no folder");
    fails(folder.path().join("c.xyz"), "unknown ending .xyz");
    fails(folder.path().join("c"), "no ending");
    fs::create_dir(folder.path().join("d.csv")).expect("made");
    fails(folder.path().join("d.csv"), "is a folder");
    assert!(staging::check_writable(Path::new("/dev/null")).is_err());
    assert!(check_output(&folder.path().join("c.csv")).is_ok());
    assert_eq!(names_in(folder.path()), ["d.csv"]);
    #[cfg(not(feature = "hdf5"))]
    fails(folder.path().join("c.hdf5"), "this build has no HDF5");
}

/// Runs this test again in a shell that allows files of 8 KiB only.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_file() {
    let Ok(folder) = std::env::var("INSELBERG_TEST_FULL_DISK") else { return full_disk_parent() };
    let mut large = sample();
    let noise = (0..100_000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17)).collect();
    large.tables.push(table("peaks", vec![column("key", Dimension::NONE, Values::U64(noise))]));
    for writer in FORMATS {
        let path = Path::new(&folder).join(format!("c.{}", writer.extensions[0]));
        let message = write(&path, &large).expect_err("no room").to_string();
        assert!(!message.contains('\n'), "{message}");
    }
}

#[cfg(unix)]
fn full_disk_parent() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = FORMATS.iter().map(|w| folder.path().join(format!("c.{}", w.extensions[0])));
    paths.clone().for_each(|path| write(&path, &sample()).expect("written"));
    let names = names_in(folder.path());
    let status = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" --exact a_full_disk_leaves_the_old_file"])
        .arg(std::env::current_exe().expect("this test"))
        .env("INSELBERG_TEST_FULL_DISK", folder.path())
        .output()
        .expect("a shell");
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stdout));
    paths.for_each(|path| assert_eq!(bits(&read(&path).expect("the old one")), bits(&sample())));
    assert_eq!(names_in(folder.path()), names);
}

const CLUMP_FILE: &str = include_str!("../data/ramses_text/clump_00002.txt00001");
const HALO_FILE: &str = include_str!("../data/ramses_text/halo_00002.txt00001");

/// The numbers of a file of RAMSES, column by column.
fn columns_of(text: &str) -> Vec<Vec<f64>> {
    let rows: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().map(|w| w.parse().expect("a number")).collect())
        .collect();
    (0..rows[0].len()).map(|c| rows.iter().map(|r| r[c]).collect()).collect()
}

fn counts(name: &str, values: &[f64]) -> TableColumn {
    column(name, Dimension::NONE, Values::U64(values.iter().map(|v| *v as u64).collect()))
}

fn reals(name: &str, values: &[f64]) -> TableColumn {
    column(name, Dimension::NONE, Values::F64(values.to_vec()))
}

fn vectors(name: &str, x: &[f64], y: &[f64], z: &[f64]) -> TableColumn {
    let values = x.iter().zip(y).zip(z).map(|((x, y), z)| [*x, *y, *z]).collect();
    column(name, Dimension::LENGTH, Values::F64x3(values))
}

/// The catalogue that RAMSES's files describe, with our own numbers for the clumps and haloes.
fn ramses_catalogue() -> Catalogue {
    let (c, h) = (columns_of(CLUMP_FILE), columns_of(HALO_FILE));
    let place =
        |list: &[f64], index: f64| list.iter().position(|v| *v == index).expect("listed") as f64 + 1.0;
    let places = |list: &[f64], wanted: &[f64]| wanted.iter().map(|v| place(list, *v)).collect::<Vec<_>>();
    let clumps = vec![
        counts("id", &places(&c[0], &c[0])),
        counts("peak_rank", &c[0]),
        counts("halo", &places(&h[0], &c[1])),
        counts("level", &c[2]),
        counts("parent", &places(&c[0], &c[3])),
        counts("n_cells", &c[4]),
        vectors("peak_position_refined", &c[5], &c[6], &c[7]),
        reals("density_min", &c[8]),
        reals("density_peak", &c[9]),
        reals("density_mean", &c[10]),
        reals("mass", &c[11]),
        reals("relevance", &c[12]),
    ];
    let haloes = vec![
        counts("id", &places(&h[0], &h[0])),
        counts("peak_rank", &h[0]),
        counts("n_cells", &h[1]),
        vectors("peak_position", &h[2], &h[3], &h[4]),
        reals("density_peak", &h[5]),
        reals("mass", &h[6]),
    ];
    Catalogue { attributes: vec![], tables: vec![table("clumps", clumps), table("haloes", haloes)] }
}

#[test]
fn ramses_text_is_that_of_ramses_to_the_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let inner = folder.path().join("made/on/the/way");
    ramses_text::write_ramses_text(&inner, &ramses_catalogue(), 2).expect("written");
    // Of ours the header ends in a tab, by which a later run knows them.
    let text = |name: &str| fs::read_to_string(inner.join(name)).expect(name).replacen("\t\n", "\n", 1);
    assert_eq!(text("clump_00002.txt00001"), CLUMP_FILE);
    assert_eq!(text("halo_00002.txt00001"), HALO_FILE);
}

#[test]
fn ramses_text_without_its_columns_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut no_rank = ramses_catalogue();
    no_rank.tables[0].columns.retain(|c| c.name != "peak_rank");
    let mut no_haloes = ramses_catalogue();
    no_haloes.tables.pop();
    for wrong in [no_rank, no_haloes] {
        assert!(ramses_text::write_ramses_text(folder.path(), &wrong, 2).is_err());
        assert!(names_in(folder.path()).is_empty());
    }
}

#[test]
fn reals_print_as_fortran_prints_them() {
    for (value, text) in [
        (0.0, "   0.000000000E+00"),
        (-1.5, "  -1.500000000E+00"),
        (9.999_999_999_9e-5, "   1.000000000E-04"),
        (1e100, "******************"),
        (f64::NAN, "               NaN"),
    ] {
        assert_eq!(ramses_text::fortran_real(value), text);
    }
}

#[test]
fn a_catalogue_is_described_with_its_units_and_largest_haloes() {
    let text = info::describe(&ramses_catalogue());
    assert!(text.contains("clumps: 23 rows"), "{text}");
    assert!(text.contains("code_length"));
    assert_eq!(text.lines().filter(|l| l.contains("e-")).count(), 10);
    info::describe(&Catalogue::default());
    info::describe(&sample());
}
