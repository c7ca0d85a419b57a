//! A catalogue written by several ranks is the catalogue: value by value, attribute by attribute.

use inselberg_comm::{Comm, CommBuilder, CommError, Rank, run_ranks, run_threads};
use inselberg_io::catalogue::{
    Attribute, Catalogue, CataloguePart, Dimension, FORMATS, PartError, PartTable, RowRun, Table,
    TableColumn, Values, WriteError, read, write, write_part,
};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

fn values(kind: u64, rows: std::ops::Range<u64>) -> Values {
    let mixed = |i: u64| (i + kind).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    let real = move |i: u64| mixed(i) as f64 / 7.0;
    match kind % 7 {
        0 => Values::U8(rows.map(|i| mixed(i) as u8).collect()),
        1 => Values::U64(rows.map(mixed).collect()),
        2 => Values::I64(rows.map(|i| mixed(i).cast_signed()).collect()),
        3 => Values::F64(rows.map(real).collect()),
        6 => Values::F32(rows.map(|i| real(i) as f32).collect()),
        4 => Values::F64x3(rows.map(|i| [real(i), -real(i + 1), 0.5]).collect()),
        _ => Values::U32x3(rows.map(|i| [i as u32, mixed(i) as u32, 3]).collect()),
    }
}

/// Tables with these numbers of rows and columns.
fn sample(sizes: &[(u64, u64)]) -> Catalogue {
    let column = |n_rows: u64, kind: u64| TableColumn {
        name: format!("c{}", 9 - kind),
        dimension: [Dimension::MASS, Dimension::NONE, Dimension::VELOCITY][kind as usize % 3],
        description: format!("column {kind}"),
        values: values(kind, 0..n_rows),
    };
    let table = |(t, &(n_rows, n_columns)): (usize, &(u64, u64))| Table {
        name: ["tree", "clumps", "cells", "bare"][t].into(),
        columns: (0..n_columns).map(|kind| column(n_rows, kind)).collect(),
    };
    let attributes = vec![
        ("unit_length".into(), Attribute::Real(3e24)),
        ("unit_density".into(), Attribute::Real(1e-29)),
        ("name".into(), Attribute::Text("two\nlines".into())),
        ("odd".into(), Attribute::Reals(vec![f64::NAN, -0.0])),
    ];
    Catalogue { attributes, tables: sizes.iter().enumerate().map(table).collect() }
}

/// The runs of each rank: the rows cut into stretches, dealt out as `seed` says.
fn deal(n_rows: u64, n_ranks: usize, stretch: u64, seed: u64) -> Vec<Vec<RowRun>> {
    let mut state = seed;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut runs = vec![Vec::new(); n_ranks];
    let mut first = 0;
    while first < n_rows {
        let n = (1 + random(stretch)).min(n_rows - first);
        // The last rank often has nothing.
        let rank = random(n_ranks as u64).min(random(n_ranks as u64 + 1)) as usize;
        let at = random(runs[rank].len() as u64 + 1) as usize;
        runs[rank].insert(at, RowRun { first, n: n as usize });
        first += n;
    }
    runs
}

fn rows_of(values: &Values, runs: &[RowRun]) -> Values {
    fn pick<T: Copy>(v: &[T], runs: &[RowRun]) -> Vec<T> {
        runs.iter().flat_map(|run| &v[run.first as usize..][..run.n]).copied().collect()
    }
    match values {
        Values::U8(v) => Values::U8(pick(v, runs)),
        Values::U64(v) => Values::U64(pick(v, runs)),
        Values::I64(v) => Values::I64(pick(v, runs)),
        Values::F64(v) => Values::F64(pick(v, runs)),
        Values::F32(v) => Values::F32(pick(v, runs)),
        Values::F64x3(v) => Values::F64x3(pick(v, runs)),
        Values::U32x3(v) => Values::U32x3(pick(v, runs)),
    }
}

/// The part of a catalogue on each rank.
fn split(whole: &Catalogue, n_ranks: usize, stretch: u64, seed: u64) -> Vec<CataloguePart> {
    let empty = CataloguePart { attributes: whole.attributes.clone(), tables: vec![] };
    let mut parts = vec![empty; n_ranks];
    for (t, table) in whole.tables.iter().enumerate() {
        let n_rows = table.n_rows() as u64;
        for (part, runs) in parts.iter_mut().zip(deal(n_rows, n_ranks, stretch, seed + t as u64)) {
            let column = |c: &TableColumn| TableColumn { values: rows_of(&c.values, &runs), ..c.clone() };
            let columns = table.columns.iter().map(column).collect();
            part.tables.push(PartTable { table: Table { name: table.name.clone(), columns }, runs, n_rows });
        }
    }
    parts
}

fn ranks(n_ranks: usize, chaos: Option<u64>) -> Vec<CommBuilder> {
    let ranks = Comm::threads(n_ranks).into_iter();
    ranks.map(|b| if let Some(seed) = chaos { b.chaos(seed) } else { b }).collect()
}

fn written(path: &Path, parts: &[CataloguePart], chaos: Option<u64>) -> Vec<Result<(), PartError>> {
    let write = |comm: &Comm| write_part(path, &parts[comm.rank().at()], comm);
    run_ranks(ranks(parts.len(), chaos), write).expect("no rank panics")
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder").flatten();
    entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect()
}

/// Compared as printed text, because it has a NaN.
fn same(a: &Catalogue, b: &Catalogue) {
    assert!(format!("{a:?}") == format!("{b:?}"), "the catalogues differ");
}

fn check(whole: &Catalogue, parts: &[CataloguePart], chaos: Option<u64>) {
    for writer in FORMATS {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(format!("{name}.{}", writer.extensions[0]));
        for result in written(&path("parts"), parts, chaos) {
            result.expect("written");
        }
        write(&path("whole"), whole).expect("written");
        let (ours, theirs) = (read(&path("parts")).expect("read"), read(&path("whole")).expect("read"));
        same(&ours, whole);
        same(&ours, &theirs);
        #[cfg(feature = "hdf5")]
        if writer.name == "HDF5" {
            raw::same_files(&path("parts"), &path("whole"));
        }
        assert!(names_in(folder.path()).iter().all(|n| !n.starts_with('.')), "{}", writer.name);
    }
}

/// The comparison of two files by HDF5's own tool.
#[cfg(feature = "hdf5")]
mod raw {
    use hdf5::{Dataset, File, Location};
    use std::path::Path;

    fn attributes(at: &Location) -> Vec<(String, String)> {
        let value = |name: &String| {
            let attribute = at.attr(name).expect("there");
            let kind = attribute.dtype().and_then(|t| t.to_descriptor()).expect("a type");
            let reals = attribute.read_raw::<f64>().map(|v| format!("{v:?}"));
            let text = attribute.read_scalar::<hdf5::types::VarLenUnicode>().map(|v| v.to_string());
            format!("{kind} {:?} {:?} {:?}", attribute.shape(), reals.ok(), text.ok())
        };
        let names = at.attr_names().expect("names");
        names.iter().map(|name| (name.clone(), value(name))).collect()
    }

    fn describe(dataset: &Dataset) -> String {
        let kind = dataset.dtype().and_then(|t| t.to_descriptor()).expect("a type");
        let (shape, chunk, filters) = (dataset.shape(), dataset.chunk(), dataset.filters());
        format!("{kind} {shape:?} {chunk:?} {filters:?} {:?}", attributes(dataset))
    }

    pub fn same_files(a: &Path, b: &Path) {
        let [a, b] = [a, b].map(|path| File::open(path).expect("a file"));
        assert_eq!(attributes(&a), attributes(&b));
        let groups = a.member_names().expect("names");
        assert_eq!(groups, b.member_names().expect("names"));
        for group in groups {
            let [a, b] = [&a, &b].map(|file| file.group(&group).expect("a group"));
            let names = a.member_names().expect("names");
            assert_eq!(names, b.member_names().expect("names"));
            for name in names {
                let [a, b] = [&a, &b].map(|group| describe(&group.dataset(&name).expect("a dataset")));
                assert_eq!(a, b, "{group}/{name}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_split_over_ranks_gives_the_whole(
        sizes in proptest::collection::vec((0u64..60, 0u64..6), 1..4),
        n_ranks in 1usize..=8,
        stretch in 1u64..20,
        seed in any::<u64>(),
        chaos in any::<bool>(),
    ) {
        let whole = sample(&sizes);
        let parts = split(&whole, n_ranks, stretch, seed >> 8);
        check(&whole, &parts, chaos.then_some(seed));
        let gathered = run_ranks(ranks(n_ranks, None), |c| parts[c.rank().at()].clone().gather(c));
        let mut gathered = gathered.expect("no rank panics").into_iter();
        same(&gathered.next().expect("rank 0").expect("gathered").expect("on rank 0"), &whole);
        prop_assert!(gathered.all(|other| other == Ok(None)));
    }
}

#[test]
fn chunked_and_compressed_tables_come_from_many_ranks() {
    let whole = sample(&[(400_000, 7), (20_000, 2), (0, 3), (0, 0)]);
    check(&whole, &split(&whole, 5, 30_000, 7), None);
    check(&whole, &split(&whole, 3, 3, 11), Some(5));
}

#[test]
fn rows_that_are_where_they_belong_are_not_copied_and_a_lone_rank_is_the_plain_writer() {
    let whole = sample(&[(1000, 6), (20_000, 2)]);
    let folder = tempfile::tempdir().expect("a folder");
    let ending = FORMATS[0].extensions[0];
    let [a, b] = ["a", "b"].map(|name| folder.path().join(format!("{name}.{ending}")));
    let part = CataloguePart::whole(whole.clone());
    write_part(&a, &part, &Comm::solo()).expect("written");
    write(&b, &whole).expect("written");
    same(&read(&a).expect("read"), &read(&b).expect("read"));
    let again = part.gather(&Comm::solo()).expect("alone").expect("rank 0");
    same(&again, &whole);
}

/// Damages the part of one of four ranks: an error on all, and the old file stays.
fn refused(spoil: impl Fn(&mut CataloguePart), part: &str) {
    let whole = sample(&[(300, 3), (50, 2)]);
    for writer in FORMATS {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(format!("c.{}", writer.extensions[0]));
        let mut parts = split(&whole, 4, 9, 1);
        spoil(&mut parts[2]);
        let start = std::time::Instant::now();
        for (rank, result) in written(&path, &parts, None).into_iter().enumerate() {
            let error = result.expect_err("one part is broken").to_string();
            assert!(error.contains(part) && !error.contains('\n'), "{error}");
            assert!(rank == 2 || error.contains("rank 2") || part.starts_with("row"), "{error}");
        }
        assert!(start.elapsed().as_secs() < 10);
        assert!(names_in(folder.path()).is_empty(), "{:?}", names_in(folder.path()));
    }
}

#[test]
fn a_part_that_is_broken_on_one_rank_is_an_error_on_all_and_no_file() {
    refused(|p| p.tables[0].table.columns[1].values = Values::U64(vec![7; 1000]), "tree/c8: 1000 rows");
    refused(|p| p.tables[1].runs.clear(), "clumps has");
    refused(|p| p.tables[0].runs[0].first = u64::MAX, "tree has a run");
    refused(|p| p.tables[1].n_rows += 1, "rank 2");
    refused(|p| p.attributes[0].1 = Attribute::Real(1.0), "rank 2");
    refused(|p| p.tables[0].table.columns[2].name = "c1".into(), "rank 2");
    refused(|p| p.tables[0].runs[0].first += 1, "row");
}

#[test]
fn the_rank_at_fault_says_what_and_where() {
    let whole = sample(&[(30, 2)]);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(format!("c.{}", FORMATS[0].extensions[0]));
    let mut parts = split(&whole, 3, 4, 3);
    parts[1].tables[0].table.columns[0].name = "../up".into();
    let results = written(&path, &parts, None);
    assert!(matches!(&results[1], Err(PartError::Here(WriteError::Content { .. }))), "{:?}", results[1]);
    for result in [&results[0], &results[2]] {
        assert!(matches!(result, Err(PartError::Elsewhere { rank: Rank(1), .. })), "{result:?}");
    }
}

#[test]
fn a_place_that_takes_no_file_is_an_error_everywhere() {
    let parts = split(&sample(&[(30, 2)]), 3, 4, 3);
    for name in ["c.doc", "no/where/c.csv", "no/where/c.hdf5"] {
        let folder = tempfile::tempdir().expect("a folder");
        for result in written(&folder.path().join(name), &parts, None) {
            assert!(result.expect_err("no place").to_string().contains(name));
        }
    }
}

#[test]
fn a_rank_that_is_lost_ends_the_writing_and_leaves_nothing() {
    let whole = sample(&[(200_000, 3)]);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(format!("c.{}", FORMATS[0].extensions[0]));
    let parts = split(&whole, 4, 5000, 1);
    let begun = std::sync::Barrier::new(4);
    let results = run_threads(4, |comm| {
        begun.wait();
        if comm.rank() == Rank(3) {
            return Err(PartError::Comm(comm.abort("the node is gone")));
        }
        write_part(&path, &parts[comm.rank().at()], comm)
    });
    for result in results.expect("no panic") {
        let aborted = |e: &PartError| matches!(e, PartError::Comm(CommError::Aborted { rank: Rank(3), .. }));
        assert!(result.as_ref().is_err_and(aborted), "{result:?}");
    }
    assert!(names_in(folder.path()).is_empty());
}

/// Rank 0 alone opens the file, once, and writes it in one order: whatever the number of ranks, it has the
/// same bytes.
#[cfg(feature = "hdf5")]
#[test]
fn the_file_has_the_same_bytes_for_any_number_of_ranks_and_one_rank_opens_it() {
    let whole = sample(&[(300_000, 7), (20_000, 2), (700, 4), (0, 3)]);
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(format!("{name}.hdf5"));
    write(&path("whole"), &whole).expect("written");
    let bytes = fs::read(path("whole")).expect("bytes");
    for n_ranks in [1, 2, 5, 40] {
        let parts = split(&whole, n_ranks, 9000, 3);
        let results = run_threads(n_ranks, |comm| {
            // The others could not open it.
            let to = if comm.rank() == Rank(0) { path("parts") } else { "/no/such/folder/c.hdf5".into() };
            write_part(&to, &parts[comm.rank().at()], comm)
        });
        results.expect("no panic").into_iter().for_each(|result| result.expect("written"));
        let ours = fs::read(path("parts")).expect("bytes");
        assert!(ours == bytes, "{n_ranks} ranks: {} and {} bytes", ours.len(), bytes.len());
    }
}

/// What rank 0 receives in one round is bounded, and rounds do not grow with the ranks.
#[cfg(feature = "hdf5")]
#[test]
fn a_catalogue_takes_few_messages() {
    let whole = sample(&[(400_000, 3), (100, 3)]);
    let folder = tempfile::tempdir().expect("a folder");
    let parts = split(&whole, 64, 9000, 3);
    let traffic = run_threads(64, |comm| {
        let part = &parts[comm.rank().at()];
        write_part(&folder.path().join("c.hdf5"), part, comm).expect("written");
        comm.traffic().into_iter().next().expect("a stage")
    });
    let traffic = traffic.expect("no panic");
    // For each table one exchange of the places of rows and one of the rows, then one for all chunks. Before,
    // there was one for each column and writer.
    assert!(traffic[0].rounds <= 5, "{:?}", traffic[0]);
    assert!(traffic.iter().all(|stage| stage.received_bytes < 4_000_000), "{:?}", traffic[0]);
}

/// The checksum is made from the data as they are written; they are not read again.
#[cfg(all(feature = "hdf5", target_os = "linux"))]
#[test]
fn writing_reads_little() {
    let read_here = || {
        let text = fs::read_to_string("/proc/thread-self/io").expect("this thread");
        let line = text.lines().find_map(|line| line.strip_prefix("rchar: ")).expect("a count");
        line.parse::<u64>().expect("a number")
    };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("c.hdf5");
    let whole = sample(&[(200_000, 5), (16_000, 5)]);
    let before = read_here();
    write(&path, &whole).expect("written");
    let read_bytes = read_here() - before;
    let bytes = fs::metadata(&path).expect("a file").len();
    assert!(bytes > 1_000_000 && read_bytes < bytes / 10, "{read_bytes} of {bytes} bytes");
    same(&read(&path).expect("read"), &whole);
}

#[cfg(feature = "hdf5")]
mod seals {
    use super::*;

    /// As catalogues were sealed before: FNV-1a over words.
    fn older(body: &[u8]) -> Vec<u8> {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for chunk in body.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
        }
        [body, b"inselberg seal 1", &hash.to_le_bytes()].concat()
    }

    #[test]
    fn damage_is_found_under_either_seal_and_older_catalogues_open() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("c.hdf5");
        let whole = sample(&[(40_000, 3), (10, 2)]);
        write(&path, &whole).expect("written");
        let sealed = fs::read(&path).expect("bytes");
        let body = &sealed[..sealed.len() - 24];
        for bytes in [sealed.clone(), older(body)] {
            fs::write(&path, &bytes).expect("written");
            same(&read(&path).expect("read"), &whole);
            for at in (0..body.len()).step_by(body.len() / 50).chain([body.len() - 1, bytes.len() - 3]) {
                let mut damaged = bytes.clone();
                damaged[at] ^= 4;
                fs::write(&path, &damaged).expect("written");
                let error = read(&path).expect_err("damaged").to_string();
                assert!(error.contains("checksum: ") && error.contains("; expected"), "{at}: {error}");
            }
        }
    }

    #[test]
    fn the_checksum_of_the_content_knows_no_ranks_and_no_format() {
        let mut whole = sample(&[(70_000, 7), (10, 2)]);
        let sum = whole.checksum();
        let folder = tempfile::tempdir().expect("a folder");
        for writer in FORMATS {
            let path = folder.path().join(format!("c.{}", writer.extensions[0]));
            write(&path, &whole).expect("written");
            assert_eq!(read(&path).expect("read").checksum(), sum, "{}", writer.name);
        }
        whole.attributes.push(("run_ranks".into(), Attribute::Int(7)));
        assert_eq!(whole.checksum(), sum);
        let Values::U64(v) = &mut whole.tables[0].columns[1].values else { panic!("counts") };
        v[69_999] ^= 1;
        assert_ne!(whole.checksum(), sum);
    }
}
