//! FITS cubes and images: every cell, sky coordinates, one plane, refusals, and damage.

use crate::common::compare::assert_same_table;
use crate::common::fits::{FitsFile, encoded, packed_sample};
use crate::common::python::python;
use crate::common::room::{Room, command, done, done_json};
use crate::fields::leaves;
use inselberg_io::catalogue::{Attribute, Catalogue, Dimension, read};
use inselberg_io::{FieldDefaults, ReadResult, Snapshot, open_from, read_headers_with};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

fn opened(path: &Path) -> ReadResult<Box<dyn Snapshot>> {
    read_headers_with(path, &FieldDefaults::default()).map(|facts| open_from(&facts))
}

/// The only field of a file, cell by cell, without its level.
fn cells(path: &Path) -> ReadResult<BTreeMap<[u32; 3], f64>> {
    let snapshot = opened(path)?;
    let name = snapshot.fields()[0].name.clone();
    Ok(leaves(snapshot.as_ref(), &name)?.into_iter().map(|((_, ijk), value)| (ijk, value)).collect())
}

fn wave(i: usize) -> f64 {
    ((i * 37) % 101) as f64 + ((i / 7) % 5) as f64
}

#[test]
fn images_of_all_types_give_their_cells() {
    let room = tempfile::tempdir().expect("a folder");
    let path = room.path().join("cube.fits");
    let scales: [(&[&str], f64, f64); 3] = [
        (&[], 0.0, 1.0),
        (&["BZERO = 32768"], 32768.0, 1.0),
        (&["BSCALE = 2.5D-01", "BZERO = -3."], -3.0, 0.25),
    ];
    for bits in [8, 16, 32, 64, -32, -64] {
        for (sizes, seen) in [
            (&[7, 5, 4][..], [7, 5, 4]),
            (&[16, 8, 4, 1], [16, 8, 4]),
            (&[1, 9, 1, 3], [9, 3, 1]),
            (&[13, 6], [13, 6, 1]),
            (&[1100, 2, 3], [1100, 2, 3]),
        ] {
            for (cards, zero, scale) in scales {
                let n = sizes.iter().product::<usize>();
                let is_blank = |i: usize| i % 11 == 4;
                let blank = if bits > 0 { 9.0 } else { f64::NAN };
                let number = |i: usize| if is_blank(i) { blank } else { 10.0 + wave(i) };
                let blanks: &[&str] = if bits > 0 { &["BLANK = 9"] } else { &["BLANK = 20"] };
                let cards = [cards, blanks, &["COMMENT no value", "EXTNAME = 'FLUX'"]].concat();
                let data = encoded(bits, (0..n).map(number));
                fs::write(&path, FitsFile::default().image(bits, sizes, &cards, &data).bytes)
                    .expect("writing");
                let found = cells(&path).unwrap_or_else(|e| panic!("{bits} {sizes:?}: {e}"));
                let place = |i: usize| {
                    [i % seen[0], i / seen[0] % seen[1], i / (seen[0] * seen[1])].map(|x| x as u32)
                };
                let expected =
                    (0..n).filter(|i| !is_blank(*i)).map(|i| (place(i), zero + scale * (10.0 + wave(i))));
                assert_eq!(found, expected.collect(), "{bits} {sizes:?} {cards:?}");
            }
        }
    }
}

/// A file of several parts: nothing, a table, two images.
fn several() -> FitsFile {
    let table =
        ["XTENSION = 'BINTABLE'", "BITPIX = 8", "NAXIS = 2", "NAXIS1 = 3", "NAXIS2 = 5", "PCOUNT = 4000"];
    let table = [&table[..], &["GCOUNT = 1", "TFIELDS = 1", "TFORM1 = '3B'"]].concat();
    let data = |from: f64| encoded(16, (0..12).map(|i| from + f64::from(i)));
    FitsFile::default()
        .part(&["BITPIX = 8", "NAXIS = 0", "EXTEND = T"], &[])
        .part(&table, &[7; 4015])
        .image(16, &[4, 3], &["EXTNAME = 'SCI'"], &data(0.0))
        .image(16, &[3, 2, 2], &["EXTNAME = 'sci'", "EXTVER = 2"], &data(100.0))
}

#[test]
fn parts_are_chosen_by_number_and_name() {
    let room = Room::new();
    let path = room.path("parts.fits");
    fs::write(&path, several().bytes).expect("writing");
    let first = |part: &str| cells(Path::new(&format!("{path}{part}"))).expect("a part")[&[0, 0, 0]];
    assert_eq!(["", "[2]", "[SCI]", "[3]", "[SCI,2]"].map(first), [0.0, 0.0, 0.0, 100.0, 100.0]);
    let refused = |part: &str, parts: &[&str]| room.refuses(&["info", &format!("{path}{part}")], parts);
    refused("[0]", &["header 0", "0-D", "two or three axes"]);
    refused("[1]", &["header 1", "not an image but BINTABLE"]);
    refused(
        "[ERR]",
        &["no part [ERR]", "[1] (bintable 3 x 5), [2] SCI (image 4 x 3), [3] sci (image 3 x 2 x 2)"],
    );
    let json = done_json(&["info", &format!("{path}[3]")]);
    assert_eq!((&json["format"], &json["fields"][0]["name"]), (&"FITS".into(), &"sci".into()));
    assert_eq!(json["image"]["sky"], "none: the header has no coordinates");
}

#[test]
fn what_is_not_read_is_refused_in_one_line() {
    let room = Room::new();
    let path = room.path("cube.fits");
    let data = encoded(-32, (0..60).map(wave));
    let check = |cards: &[&str], data: &[u8], parts: &[&str]| {
        fs::write(&path, FitsFile::default().part(cards, data).bytes).expect("writing");
        room.refuses(&["info", &path], parts);
    };
    let (real, three) = ("BITPIX = -32", ["NAXIS = 3", "NAXIS1 = 5", "NAXIS2 = 4", "NAXIS3 = 3"]);
    check(&[&["BITPIX = 24"], &three[..]].concat(), &data, &["BITPIX: 24", "-64"]);
    check(&three, &data, &["BITPIX: no such card"]);
    check(&[real, "NAXIS = 3", "NAXIS1 = 5", "NAXIS2 = 4"], &data, &["NAXIS3: no such card"]);
    check(
        &[real, "NAXIS = 2", "NAXIS1 = 60", "NAXIS2 = 1"],
        &data,
        &["[60, 1] values: 1-D", "two or three axes"],
    );
    check(
        &[real, "NAXIS = 4", "NAXIS1 = 5", "NAXIS2 = 2", "NAXIS3 = 2", "NAXIS4 = 3"],
        &data,
        &["[5, 2, 2, 3] values: 4-D", "two or three axes"],
    );
    check(&[real, "NAXIS = 2", "NAXIS1 = 0", "NAXIS2 = 3"], &[], &["no image"]);
    check(&[real, "NAXIS = 2", "NAXIS1 = -4", "NAXIS2 = 3"], &data, &["NAXIS1: -4", "0 or more"]);
    let huge = ["NAXIS = 3", "NAXIS1 = 4000000000", "NAXIS2 = 4000000000", "NAXIS3 = 4000000000"];
    check(&[&[real], &huge[..]].concat(), &data, &["NAXIS", "fewer values"]);
    check(
        &[real, "NAXIS = 2", "NAXIS1 = 4000", "NAXIS2 = 4000"],
        &data,
        &["header 0", "values from byte 2880 on"],
    );
    for (card, parts) in [
        ("BUNIT = 'K", ["BUNIT", "a text, T, F or a number"]),
        ("BUNIT = '", ["BUNIT", "a text, T, F or a number"]),
        ("BUNIT = 3", ["BUNIT", "a text in quotes"]),
        ("CRVAL1 = (1.0, 2.0)", ["CRVAL1", "a number"]),
        ("CRVAL1 = 1E999", ["CRVAL1", "a finite number"]),
        ("BSCALE = 0.0", ["BSCALE", "another number"]),
        ("BZERO = 'x'", ["BZERO", "a finite number"]),
        ("NAXIS1 = 6", ["NAXIS1", "two values"]),
        ("GROUPS = T", ["header 0", "random groups"]),
    ] {
        check(&[&[real], &three[..], &[card]].concat(), &data, &parts);
    }
    fs::write(&path, [&b"SIMPLE  =                    T"[..], &[b' '; 9000]].concat()).expect("writing");
    room.refuses(&["info", &path], &["header 0", "the file ends in the header", "END"]);
    let tiles = |method: &'static str| {
        let cards =
            ["XTENSION = 'BINTABLE'", "BITPIX = 8", "NAXIS = 2", "NAXIS1 = 8", "NAXIS2 = 5", "PCOUNT = 0"];
        let image = ["ZIMAGE = T", "ZBITPIX = 16", "ZNAXIS = 2", "ZNAXIS1 = 4", "ZNAXIS2 = 5", method];
        let column = ["TFIELDS = 1", "TTYPE1 = 'COMPRESSED_DATA'", "TFORM1 = '1PB(9)'"];
        let cards = [&cards[..], &image, &column].concat();
        FitsFile::default().part(&["BITPIX = 8", "NAXIS = 0"], &[]).part(&cards, &[0; 40]).bytes
    };
    let packed = room.path("cube.fits.fz");
    fs::write(&packed, tiles("ZCMPTYPE= 'HCOMPRESS_1'")).expect("writing");
    room.refuses(&["info", &packed], &["ZCMPTYPE", "HCOMPRESS_1", "RICE_1, GZIP_1 or GZIP_2", "funpack"]);
    fs::write(&packed, tiles("ZCMPTYPE= 'RICE_1'")).expect("writing");
    let search = ["phew", &packed, "-o", &room.path("c.csv"), "--density-threshold", "2"];
    room.refuses(&search, &["tile 1", "damaged"]);
    let packed = room.path("cube.fits.gz");
    fs::write(&packed, b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00").expect("writing");
    room.refuses(&["info", &packed], &["packed bytes", "a complete file, as gzip writes it"]);
    let image = room.path("image.fits");
    fs::write(&image, FitsFile::default().image(-32, &[10, 6], &[], &data).bytes).expect("writing");
    let search = ["phew", &image, "-o", &room.path("c.csv"), "--density-threshold", "2"];
    for (option, value, what) in [("--spacing", "2", "spacing"), ("--periodic", "yz", "periodic axis z")] {
        room.refuses(&[&search[..], &[option, value]].concat(), &[what, "an image of pixels"]);
    }
}

/// Whatever is cut off or changed: an error, or cells with values. Never a panic.
#[test]
fn damaged_files_are_errors_or_fields() {
    let room = tempfile::tempdir().expect("a folder");
    let path = room.path().join("cube.fits");
    let sky = ["CTYPE1 = 'RA---TAN'", "CTYPE2 = 'DEC--TAN'", "CDELT1 = -0.1", "BUNIT = 'K'", "BSCALE = 2.0"];
    let of_image = FitsFile::default().image(16, &[5, 4, 3], &sky, &encoded(16, (0..60).map(wave)));
    for sound in [of_image.bytes, several().bytes, packed_sample().bytes] {
        let check = |bytes: &[u8]| {
            fs::write(&path, bytes).expect("writing");
            if let Err(error) = cells(&path) {
                assert_eq!(error.to_string().lines().count(), 1, "{error}");
            }
        };
        (0..sound.len()).step_by(89).for_each(|n| check(&sound[..n]));
        let is_text = |at: &usize| sound[*at] != b' ' && sound[*at] != 0;
        for at in (0..sound.len()).filter(is_text).take(900) {
            for change in [b'9', b'-', b'\'', b'/', b'\n', sound[at] ^ 0x80, 0] {
                let mut bytes = sound.clone();
                bytes[at] = change;
                check(&bytes);
            }
        }
    }
}

/// Which peak each pixel of an image ascends to, by the definition: over 8 neighbours, equal values in the
/// order of the Morton key; 0 below the threshold, else 1 + the index of the peak.
fn ascents([nx, ny]: [usize; 2], values: &[f64], threshold: f64) -> Vec<usize> {
    let key = |i: usize| {
        let bit = |x: usize, b: usize| (x >> b & 1) << (2 * b);
        (0..8).map(|b| bit(i % nx, b) | bit(i / nx, b) << 1).sum::<usize>()
    };
    let near = |a: usize, b: usize| (a % nx).abs_diff(b % nx) <= 1 && (a / nx).abs_diff(b / nx) <= 1;
    let up = |i: usize| {
        let all = (0..nx * ny).filter(|j| near(i, *j));
        all.max_by(|a, b| values[*a].total_cmp(&values[*b]).then(key(*b).cmp(&key(*a)))).expect("itself")
    };
    let end = |mut i: usize| {
        while up(i) != i {
            i = up(i);
        }
        i + 1
    };
    (0..nx * ny).map(|i| if values[i] > threshold { end(i) } else { 0 }).collect()
}

/// Clumps of an image by the clump of each pixel, in the order of pixels.
fn clumps_of_pixels(found: &Catalogue, [nx, ny]: [usize; 2]) -> Vec<u64> {
    let table = found.table("cells").expect("cells");
    let inselberg_io::catalogue::Values::U32x3(ijk) = &table.column("ijk").expect("places").values else {
        panic!("places are integers")
    };
    let mut clumps = vec![0; nx * ny];
    for (at, clump) in ijk.iter().zip(table.counts("clump").expect("clumps")) {
        assert_eq!(at[2], 0);
        clumps[at[0] as usize + nx * at[1] as usize] = *clump;
    }
    clumps
}

#[test]
fn images_have_eight_neighbours_and_areas() {
    let room = Room::new();
    let (path, to) = (room.path("image.fits"), room.path("c.csv"));
    for (seed, size) in [[19, 11], [16, 32], [2, 40], [33, 7]].into_iter().enumerate() {
        let [nx, ny] = size;
        // Few values, so that many neighbours are equal.
        let values: Vec<f64> = (0..nx * ny).map(|i| ((i * 7919 + seed * 31) % 97 % 9) as f64).collect();
        let data = encoded(-32, values.iter().copied());
        fs::write(&path, FitsFile::default().image(-32, &size, &[], &data).bytes).expect("writing");
        let mut first = None;
        for (ranks, threads) in [("1", "1"), ("1", "2"), ("3", "1"), ("2", "2")] {
            let search = ["phew", &path, "-o", &to, "--density-threshold", "2", "--relevance-threshold", "1"];
            let mut program = crate::common::program();
            program.args(search).args(["--with-cells", "--ranks", ranks, "--threads", threads]);
            let out = program.output().expect("the program");
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
            let found = read(Path::new(&to)).expect("a catalogue");
            let tables = format!("{:?}", found.tables);
            assert_eq!(first.get_or_insert(tables.clone()), &tables, "{ranks} ranks, {threads} threads");
            if ranks != "1" {
                continue;
            }
            check_image(&found, size, &values, 2.0);
        }
    }
}

/// Compares a catalogue of an image, in which every peak is a clump, with the definitions.
pub fn check_image(found: &Catalogue, size: [usize; 2], values: &[f64], threshold: f64) {
    let peaks = ascents(size, values, threshold);
    let clumps = clumps_of_pixels(found, size);
    let pairs: BTreeMap<usize, u64> = peaks.iter().copied().zip(clumps.iter().copied()).collect();
    assert!(peaks.iter().zip(&clumps).all(|(peak, clump)| pairs[peak] == *clump), "{size:?}");
    let mut seen: Vec<_> = pairs.into_values().collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 1 + peaks.iter().max().map_or(0, |_| count_of(&peaks)), "{size:?}");
    check_areas(found, &clumps, values);
}

/// Number of different peaks.
fn count_of(peaks: &[usize]) -> usize {
    let mut all: Vec<_> = peaks.iter().filter(|peak| **peak > 0).collect();
    all.sort_unstable();
    all.dedup();
    all.len()
}

fn check_areas(found: &Catalogue, clumps: &[u64], values: &[f64]) {
    assert_eq!(found.attribute("dimensions"), Some(&Attribute::Int(2)));
    let table = found.table("clumps").expect("clumps");
    assert!(table.column("volume").is_none());
    let dimension = |name: &str| table.column(name).expect("a column").dimension;
    assert_eq!(dimension("area"), Dimension::new(2, 0, 0));
    assert_eq!(dimension("density_peak"), Dimension::new(-2, 1, 0));
    let (ids, areas, masses) = (table.counts("id"), table.reals("area"), table.reals("mass"));
    for ((id, area), mass) in ids.expect("ids").iter().zip(areas.expect("areas")).zip(masses.expect("masses"))
    {
        let own = || clumps.iter().zip(values).filter(|(clump, _)| *clump == id);
        assert_eq!(*area, own().count() as f64);
        let sum: f64 = own().map(|(_, value)| value).sum();
        assert!((mass / sum - 1.0).abs() < 1e-6, "{mass} {sum}");
    }
}

/// The cards of a cube of galactic coordinates and velocity, with its unit and beam.
const CUBE_CARDS: [&str; 18] = [
    "CTYPE1 = 'GLON-CAR'",
    "CRVAL1 = 30.0",
    "CRPIX1 = 1.0",
    "CDELT1 = -0.5",
    "CTYPE2 = 'GLAT-CAR'",
    "CRVAL2 = 0.0",
    "CRPIX2 = 2.0",
    "CDELT2 = 0.5",
    "CTYPE3 = 'VRAD'",
    "CUNIT3 = 'km/s'",
    "CRVAL3 = -7.0",
    "CRPIX3 = 1.0",
    "CDELT3 = 2.0",
    "SPECSYS = 'LSRK'",
    "BUNIT = 'K'",
    "BMAJ = 0.1",
    "BMIN = 0.05",
    "BPA = 10.0",
];

/// Coordinates, new cuts and ranks for a cube of a sky with turned axes.
#[test]
fn catalogues_of_cubes_have_sky_coordinates() {
    let room = Room::new();
    let [path, to, cut, again] = ["cube.fits", "c.csv", "cut.csv", "again.csv"].map(|name| room.path(name));
    let sizes = [12, 9, 10];
    let data = encoded(-32, (0..sizes.iter().product()).map(wave));
    fs::write(&path, FitsFile::default().image(-32, &sizes, &CUBE_CARDS, &data).bytes).expect("writing");
    let search = ["phew", &path, "-o", &to, "--density-threshold", "96", "--relevance-threshold", "1.01"];
    done(&[&search[..], &["--quiet"]].concat());
    let found = read(Path::new(&to)).expect("a catalogue");
    assert_eq!(found.attribute("sky"), Some(&Attribute::Text("glon, glat, velocity (LSRK)".into())));
    assert_eq!(found.attribute("fits_BUNIT"), Some(&Attribute::Text("K".into())));
    assert_eq!(found.attribute("fits_BMAJ"), Some(&Attribute::Real(0.1)));
    for (table, beginning, from) in [
        ("clumps", "peak", "peak_position"),
        ("haloes", "centre", "centre_of_mass"),
        ("clumps", "centre", "centre_of_mass"),
    ] {
        let table = found.table(table).expect("a table");
        let column = |name: &str| table.reals(&format!("{beginning}_{name}")).expect("a column");
        assert!(table.n_rows() > 3);
        for (i, x) in table.vectors(from).expect("positions").iter().enumerate() {
            // Pixel 1 has its centre at 0.5.
            let expected = [30.0 - 0.5 * (x[0] - 0.5), 0.5 * (x[1] - 1.5), -7.0 + 2.0 * (x[2] - 0.5)];
            let places = ["glon", "glat", "velocity"].map(|name| column(name)[i]);
            assert!(
                places.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-11),
                "{places:?} {expected:?}"
            );
        }
    }
    done(&["recut", &to, "-o", &cut, "--relevance-threshold", "1.05", "--quiet"]);
    done(&[
        "phew",
        &path,
        "-o",
        &again,
        "--density-threshold",
        "96",
        "--relevance-threshold",
        "1.05",
        "--quiet",
    ]);
    let [cut, again] = [cut, again].map(|path| read(Path::new(&path)).expect("a catalogue"));
    assert_eq!(cut.tables.len(), again.tables.len());
    for (cut, mut again) in cut.tables.iter().zip(again.tables) {
        // Without cells nothing tells which places on the sky clumps share.
        again.columns.retain(|column| !["area_exact", "n_beams"].contains(&column.name.as_str()));
        assert_same_table(cut, &again, "recut");
    }
    // Pixels keep their places on the sky, whatever they are in the box.
    done(&[&search[..], &["--spacing", "0.25", "--origin", "5,-1,2", "--quiet"]].concat());
    let moved = read(Path::new(&to)).expect("a catalogue");
    for name in ["peak_glon", "peak_glat", "peak_velocity"] {
        let [a, b] =
            [&found, &moved].map(|from| from.table("clumps").expect("clumps").reals(name).expect("a column"));
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9), "{name}");
    }
}

/// An unknown projection is reported, and nothing is guessed.
#[test]
fn unknown_coordinates_are_said() {
    let room = Room::new();
    let [path, to] = ["image.fits", "c.csv"].map(|name| room.path(name));
    let data = encoded(-32, (0..60).map(wave));
    let cards = ["CTYPE1 = 'RA---ZPN'", "CTYPE2 = 'DEC--ZPN'", "CRVAL1 = 3.0"];
    fs::write(&path, FitsFile::default().image(-32, &[10, 6], &cards, &data).bytes).expect("writing");
    let said = done(&["phew", &path, "-o", &to, "--density-threshold", "60"]);
    let found = read(Path::new(&to)).expect("a catalogue");
    let none = "none: the projection \"ZPN\" is not known";
    assert!(said.lines().any(|line| line.starts_with("sky") && line.ends_with(none)), "{said}");
    assert_eq!(found.attribute("sky"), Some(&Attribute::Text(none.into())));
    assert!(found.table("clumps").expect("clumps").column("peak_ra").is_none());
}

/// Tiles that were packed by hand, and a file that gzip's own stored blocks hold.
#[test]
fn packed_files_give_their_cells() {
    let room = Room::new();
    let path = room.path("image.fits.fz");
    fs::write(&path, packed_sample().bytes).expect("writing");
    let found = cells(Path::new(&path)).expect("cells");
    let expected = [[5, 6, 5, 5, 5], [9, 10, 9, 9, 9]].concat();
    let place = |i: usize| [i % 5, i / 5, 0].map(|x| x as u32);
    assert_eq!(found, (0..10).map(|i| (place(i), f64::from(expected[i]))).collect());
    let packed = room.path("cube.fits.gz");
    let plain = FitsFile::default().image(-32, &[5, 4, 3], &[], &encoded(-32, (0..60).map(wave))).bytes;
    fs::write(&packed, gzip(&plain)).expect("writing");
    let found = cells(Path::new(&packed)).expect("cells");
    assert_eq!(found.into_values().sum::<f64>(), (0..60).map(wave).sum::<f64>());
    let whole = gzip(&plain);
    fs::write(&packed, &whole[..whole.len() - 20]).expect("writing");
    room.refuses(&["info", &packed], &["packed bytes", "a complete file, as gzip writes it"]);
}

/// A gzip file of stored blocks.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut crc = 0xffff_ffff_u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    let n = u16::try_from(bytes.len()).expect("a small file");
    let mut all = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    all.extend(n.to_le_bytes().into_iter().chain((!n).to_le_bytes()));
    all.extend(bytes);
    all.extend((!crc).to_le_bytes().into_iter().chain(u32::from(n).to_le_bytes()));
    all
}

/// One plane of a Stokes axis, wherever the axis is, and a choice that is a note.
#[test]
fn a_plane_of_a_stokes_axis_is_taken() {
    let room = Room::new();
    let path = room.path("cube.fits");
    let of_plane = |plane: usize, i: usize| wave(i) + 200.0 * plane as f64;
    for axis in [2, 3, 4] {
        let mut sizes = vec![5, 4, 3];
        sizes.insert(axis - 1, 2);
        let place = |i: usize| {
            let mut at: Vec<usize> = sizes
                .iter()
                .scan(i, |left, n| {
                    let at = *left % n;
                    *left /= n;
                    Some(at)
                })
                .collect();
            let plane = at.remove(axis - 1);
            (plane, at[0] + 5 * (at[1] + 4 * at[2]))
        };
        let data = encoded(-32, (0..120).map(|i| of_plane(place(i).0, place(i).1)));
        // The planes are XX and I: -5 and 1.
        let cards = [
            format!("CTYPE{axis} = 'STOKES'"),
            format!("CRVAL{axis} = -5.0"),
            format!("CDELT{axis} = 6.0"),
            format!("CRPIX{axis} = 1.0"),
        ];
        let cards = cards.each_ref().map(String::as_str);
        fs::write(&path, FitsFile::default().image(-32, &sizes, &cards, &data).bytes).expect("writing");
        let wanted = |plane: usize| {
            (0..60).map(move |i| ([i % 5, i / 5 % 4, i / 20].map(|x| x as u32), of_plane(plane, i)))
        };
        assert_eq!(cells(Path::new(&path)).expect("cells"), wanted(1).collect(), "axis {axis}");
        let other = FieldDefaults { stokes: Some("xx".into()), ..FieldDefaults::default() };
        let facts = read_headers_with(Path::new(&path), &other).expect("a header");
        let found = leaves(open_from(&facts).as_ref(), "image").expect("cells");
        assert_eq!(
            found.into_iter().map(|((_, at), x)| (at, x)).collect::<BTreeMap<_, _>>(),
            wanted(0).collect()
        );
        let text = done(&["info", &path]);
        assert!(text.contains("the plane of Stokes I out of XX, I is taken"), "{text}");
        room.refuses(&["info", &path, "--stokes", "V"], &["no plane V", "--stokes out of XX, I"]);
    }
    fs::write(&path, FitsFile::default().image(-32, &[6, 10], &[], &encoded(-32, (0..60).map(wave))).bytes)
        .expect("writing");
    room.refuses(&["info", &path, "--stokes", "V"], &["no Stokes axis", "V is wanted"]);
}

/// CASA's beams per channel: the median stands for them, and the spread is a note.
#[test]
fn beams_of_channels_are_a_note() {
    let room = Room::new();
    let path = room.path("cube.fits");
    let beams: Vec<u8> = [[10.0_f32, 7.0, 3.0], [14.0, 8.0, 5.0], [12.0, 7.5, 4.0]]
        .iter()
        .flatten()
        .flat_map(|x| x.to_be_bytes())
        .collect();
    let table = [
        "XTENSION = 'BINTABLE'",
        "BITPIX = 8",
        "NAXIS = 2",
        "NAXIS1 = 12",
        "NAXIS2 = 3",
        "PCOUNT = 0",
        "GCOUNT = 1",
        "TFIELDS = 3",
    ];
    let columns = [
        "TTYPE1 = 'BMAJ'",
        "TFORM1 = '1E'",
        "TUNIT1 = 'arcsec'",
        "TTYPE2 = 'BMIN'",
        "TFORM2 = '1E'",
        "TUNIT2 = 'arcsec'",
        "TTYPE3 = 'BPA'",
        "TFORM3 = '1E'",
        "TUNIT3 = 'deg'",
        "EXTNAME = 'BEAMS'",
    ];
    let file = FitsFile::default().image(-32, &[5, 4, 3], &["CASAMBM = T"], &encoded(-32, (0..60).map(wave)));
    fs::write(&path, file.part(&[&table[..], &columns].concat(), &beams).bytes).expect("writing");
    let text = done(&["info", &path]);
    let line = |name: &str| {
        text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{text}")).to_string()
    };
    assert!(line("beam").contains("0.00333") && line("beam").contains("position angle 4"), "{text}");
    assert!(line("note").contains("10 to 14 by 7 to 8 arcseconds"), "{text}");
}

/// With an unknown spectral axis right ascension and declination remain, and a note says so.
#[test]
fn an_unknown_spectral_axis_leaves_the_sky() {
    let room = Room::new();
    let [path, to] = ["cube.fits", "c.csv"].map(|name| room.path(name));
    let cards = [
        "CTYPE1 = 'RA---TAN'",
        "CTYPE2 = 'DEC--TAN'",
        "CTYPE3 = 'VOPT-F2W'",
        "CDELT1 = -0.1",
        "CDELT2 = 0.1",
    ];
    fs::write(
        &path,
        FitsFile::default().image(-32, &[5, 4, 3], &cards, &encoded(-32, (0..60).map(wave))).bytes,
    )
    .expect("writing");
    done(&["phew", &path, "-o", &to, "--density-threshold", "60", "--quiet"]);
    let found = read(Path::new(&to)).expect("a catalogue");
    let said = "ra, dec (ICRS); the spectral axis VOPT-F2W is not linear";
    assert_eq!(found.attribute("sky"), Some(&Attribute::Text(said.into())));
    let clumps = found.table("clumps").expect("clumps");
    assert!(clumps.column("peak_ra").is_some() && clumps.column("peak_velocity").is_none());
}

/// Clumps of values below 0 may have no centre, and then no coordinates of one. Columns have the units of the
/// header.
#[test]
fn centres_that_are_none_have_no_coordinates() {
    let room = Room::new();
    let [path, to, tables] = ["cube.fits", "c.csv", "t.ecsv"].map(|name| room.path(name));
    let sizes = [12, 9, 10];
    let data = encoded(-32, (0..sizes.iter().product()).map(|i| wave(i) - 70.0));
    fs::write(&path, FitsFile::default().image(-32, &sizes, &CUBE_CARDS, &data).bytes).expect("writing");
    let search = ["phew", &path, "-o", &to, "--density-threshold=-30", "--relevance-difference", "8"];
    done(&[&search[..], &["--quiet"]].concat());
    let found = read(Path::new(&to)).expect("a catalogue");
    let clumps = found.table("clumps").expect("clumps");
    let real = |name: &str| clumps.reals(name).expect("a column");
    let centres = clumps.vectors("centre_of_mass").expect("centres");
    let mut counts = [0; 2];
    for (row, centre) in centres.iter().enumerate() {
        let is_none = centre.iter().all(|x| x.is_nan());
        counts[usize::from(is_none)] += 1;
        for name in ["centre_glon", "centre_glat", "centre_velocity"] {
            assert_eq!(real(name)[row].is_nan(), is_none, "{name} of {centre:?}");
        }
        assert!(is_none || real("mass")[row] > 0.0);
        assert!(["peak_glon", "peak_glat", "peak_velocity"].iter().all(|name| real(name)[row].is_finite()));
    }
    assert!(counts[0] > 0 && counts[1] > 0, "{counts:?}");
    done(&["convert", &to, "--to", "ecsv", "-o", &tables, "--quiet"]);
    let text = fs::read_to_string(&tables).expect("a text");
    for (column, unit) in [("peak_glon", "deg"), ("centre_velocity", "km/s"), ("density_peak", "K")] {
        let line = text.lines().find(|line| line.contains(&format!("name: {column},"))).expect("a column");
        assert!(
            line.contains(&format!("unit: {unit}")) || line.contains(&format!("unit: \"{unit}\"")),
            "{line}"
        );
    }
}

/// What astropy reads of files that astropy writes: every cell, and sky coordinates.
#[test]
#[cfg(feature = "hdf5")]
fn astropy_reads_the_same_cells_and_places() {
    let Some(python) = python() else { return };
    let room = Room::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats/fits.py");
    let run = |args: &[&str]| {
        let out = Command::new(&python).arg(script).args(args).output().expect("Python");
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).expect("text")
    };
    let folder = room.path("files");
    let names = run(&["make", &folder]);
    assert!(names.lines().count() > 20, "{names}");
    for name in names.lines() {
        let (input, to) = (format!("{folder}/{name}"), room.path("c.hdf5"));
        let search = ["phew", &input, "-o", &to, "--density-threshold", "1", "--with-cells"];
        let more = ["--relevance-difference", "0.2", "--quiet"];
        let out = command(&[&search[..], &more].concat()).output().expect("done");
        assert!(out.status.success(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
        run(&["compare", &input, &to]);
    }
}
