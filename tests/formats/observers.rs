//! What observers get from FITS cubes and images: noise, columns, labels, regions and dendrograms. On any
//! number of ranks, and against astropy and astrodendro.

use crate::common::compare::{assert_same, real};
use crate::common::fits::{FitsFile, encoded};
use crate::common::python::python;
use crate::common::room::{Room, done, done_json};
use inselberg::executor::Executor;
use inselberg::phew::dendrogram;
use inselberg::phew::image::{LabelsOf, stage_labels};
use inselberg::phew::run::run;
use inselberg::{FieldChoice, Persistence, PhewParams};
use inselberg_comm::{Comm, Rank, run_ranks};
use inselberg_io::catalogue::{Attribute, Catalogue, Table, read};
use inselberg_io::{FieldDefaults, open_from, read_headers_with};
use inselberg_kernels::dendrogram::DendrogramLimits;
use std::fs;
use std::path::Path;
use std::process::Command;

const SIZES: [usize; 3] = [22, 17, 13];

/// Noise of standard deviation 0.3 around 0, from uniform numbers.
fn noise(i: usize) -> f64 {
    let uniform = |k: usize| {
        let mixed = ((i * 12 + k) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed >> 11) as f64 / (1_u64 << 53) as f64
    };
    0.3 * ((0..12).map(uniform).sum::<f64>() - 6.0)
}

/// Clouds in noise; no values at the first pixels of each row and at some others.
fn value(i: usize) -> f64 {
    let at = [i % SIZES[0], i / SIZES[0] % SIZES[1], i / (SIZES[0] * SIZES[1])].map(|x| x as f64);
    let cloud = |peak: f64, centre: [f64; 3]| {
        let r2: f64 = at.iter().zip(centre).map(|(x, c)| (x - c).powi(2)).sum();
        peak * (-r2 / 5.0).exp()
    };
    match i {
        i if i.is_multiple_of(SIZES[0]) || i % 97 == 13 => f64::NAN,
        i => {
            noise(i)
                + cloud(9.0, [6.0, 5.0, 4.0])
                + cloud(7.0, [14.0, 11.0, 8.0])
                + cloud(5.0, [9.0, 6.0, 6.0])
        }
    }
}

const CARDS: [&str; 17] = [
    "CTYPE1 = 'RA---TAN'",
    "CTYPE2 = 'DEC--TAN'",
    "CTYPE3 = 'VRAD'",
    "CUNIT3 = 'km/s'",
    "CRVAL1 = 83.8",
    "CRVAL2 = -5.4",
    "CRVAL3 = 8.0",
    "CRPIX1 = 5.0",
    "CRPIX2 = 5.0",
    "CRPIX3 = 5.0",
    "CDELT1 = -0.001",
    "CDELT2 = 0.001",
    "CDELT3 = 0.2",
    "BUNIT = 'K'",
    "BMAJ = 0.003",
    "BMIN = 0.002",
    "RESTFRQ = 115.271E9",
];

fn write_cube(room: &Room) -> String {
    let path = room.path("cube.fits");
    let n = SIZES.iter().product();
    let data = encoded(-64, (0..n).map(value));
    fs::write(&path, FitsFile::default().image(-64, &SIZES, &CARDS, &data).bytes).expect("writing");
    path
}

/// By sorting: the noise of the values below 0.
fn noise_by_sorting() -> f64 {
    let n = SIZES.iter().product::<usize>();
    let mut below: Vec<f64> = (0..n).map(value).filter(|x| *x < 0.0).map(f64::abs).collect();
    below.sort_by(f64::total_cmp);
    loop {
        let middle = 0.5 * (below[(below.len() - 1) / 2] + below[below.len() / 2]);
        let sigma = 1.482_602_218_505_602 * middle;
        let left = below.partition_point(|x| *x < 5.0 * sigma);
        if left == below.len() {
            return sigma;
        }
        below.truncate(left);
    }
}

/// The pixel and the clump of each cell.
fn cells_of(cells: &Table) -> impl Iterator<Item = (usize, u64)> {
    let pixel = |at: &[u32; 3]| {
        let [x, y, z] = at.map(|x| x as usize);
        (z * SIZES[1] + y) * SIZES[0] + x
    };
    let places = cells.positions("ijk").expect("places").iter().map(pixel);
    places.zip(cells.counts("clump").expect("clumps").iter().copied())
}

#[test]
fn noise_thresholds_labels_and_regions() {
    let room = Room::new();
    let cube = write_cube(&room);
    let [found, labels, regions, again, cut] =
        ["c.hdf5", "l.fits", "c.reg", "again.fits", "cut.hdf5"].map(|name| room.path(name));
    let sigma = noise_by_sorting();
    let about = done_json(&["info", &cube]);
    assert_eq!(about["image"]["noise"].as_f64(), Some(sigma));
    let search =
        ["phew", &cube, "--density-threshold", "4sigma", "--relevance-difference", "2sigma", "--quiet"];
    let files = ["-o", &found, "--labels-fits", &labels, "--regions", &regions];
    done(&[&search[..], &files].concat());
    let whole = read(Path::new(&found)).expect("a catalogue");
    assert_eq!(real(&whole, "noise"), sigma);
    assert_eq!(real(&whole, "density_threshold"), 4.0 * sigma);
    let clumps = whole.table("clumps").expect("clumps");
    let peaks = clumps.reals("density_peak").expect("peaks").iter().map(|peak| peak / sigma);
    assert_eq!(clumps.reals("peak_snr").expect("ratios"), peaks.collect::<Vec<_>>());
    assert!(clumps.n_rows() >= 2);
    let text = fs::read_to_string(&regions).expect("regions");
    assert_eq!(text.lines().filter(|line| line.starts_with("ellipse(")).count(), clumps.n_rows());
    assert!(text.contains("\nicrs\n"), "{text}");

    // Labels are those of the table of cells.
    let file = fs::read(&labels).expect("labels");
    let header = String::from_utf8_lossy(&file[..2880]).to_string();
    for card in
        ["BITPIX  =                   32", "NAXIS1  =                   22", "CRVAL3  =                  8.0"]
    {
        assert!(header.contains(card), "{card}");
    }
    let label =
        |i: usize| i32::from_be_bytes(file[2880 + 4 * i..2884 + 4 * i].try_into().expect("four bytes"));
    let cells = whole.table("cells").expect("labels imply cells");
    let n = SIZES.iter().product::<usize>();
    let mut expected = vec![0; n];
    for (at, clump) in cells_of(cells) {
        expected[at] = clump as i32;
    }
    assert_eq!((0..n).map(label).collect::<Vec<_>>(), expected);
    assert!(expected.iter().enumerate().all(|(i, clump)| *clump == 0 || value(i) > 4.0 * sigma));

    // A new cut is a run with its thresholds, cells and labels included.
    let new =
        ["--relevance-difference", "20sigma", "--labels-of", "haloes", "--labels-fits", &again, "--quiet"];
    done(&[&["recut", &found, "-o", &cut], &new[..]].concat());
    let [direct, direct_labels] = ["d.hdf5", "dl.fits"].map(|name| room.path(name));
    let search =
        ["phew", &cube, "--density-threshold", "4sigma", "--relevance-difference", "20sigma", "--quiet"];
    let files = ["-o", &direct, "--labels-of", "haloes", "--labels-fits", &direct_labels];
    done(&[&search[..], &files].concat());
    let [cut, direct] = [cut, direct].map(|path| read(Path::new(&path)).expect("a catalogue"));
    assert_same(&cut, &direct, "a new cut");
    assert_eq!(fs::read(&again).expect("labels"), fs::read(&direct_labels).expect("labels"));
    assert!(cut.table("clumps").expect("clumps").n_rows() < clumps.n_rows());
}

/// With the noise of each place on the sky, the ratio of values to it is searched; fluxes are of the values.
#[test]
fn values_over_the_noise_of_pixels_are_searched() {
    let room = Room::new();
    let cube = write_cube(&room);
    let [map, ratios] = ["noise.fits", "ratios.fits"].map(|name| room.path(name));
    let noise = |x: usize| if x == 3 { f64::NAN } else { 0.2 + 0.01 * x as f64 };
    let cards: Vec<&str> = CARDS.into_iter().filter(|card| !card.contains("3 =")).collect();
    let data = encoded(-64, (0..SIZES[0] * SIZES[1]).map(|i| noise(i % SIZES[0])));
    fs::write(&map, FitsFile::default().image(-64, &SIZES[..2], &cards, &data).bytes).expect("writing");
    let ratio = |i: usize| match noise(i % SIZES[0]) {
        noise if noise.is_nan() && !value(i).is_nan() => 0.0,
        noise => value(i) / noise,
    };
    let data = encoded(-64, (0..SIZES.iter().product()).map(ratio));
    fs::write(&ratios, FitsFile::default().image(-64, &SIZES, &CARDS, &data).bytes).expect("writing");
    let [a, b, labels_a, labels_b] = ["a.hdf5", "b.hdf5", "a.fits", "b.fits"].map(|name| room.path(name));
    let limits = ["--density-threshold", "4sigma", "--relevance-difference", "3sigma", "--quiet"];
    done(&[&["phew", &cube, "-o", &a, "--noise", &map, "--labels-fits", &labels_a], &limits[..]].concat());
    done(&[&["phew", &ratios, "-o", &b, "--noise", "1", "--labels-fits", &labels_b], &limits[..]].concat());
    assert_eq!(fs::read(labels_a).expect("labels"), fs::read(labels_b).expect("labels"));
    let [a, b] = [a, b].map(|path| read(Path::new(&path)).expect("a catalogue"));
    let reals =
        |of: &Catalogue, name: &str| of.table("clumps").expect("clumps").reals(name).expect("it").to_vec();
    assert_eq!(reals(&a, "density_peak"), reals(&b, "density_peak"));
    assert_eq!(reals(&a, "peak_snr"), reals(&b, "density_peak"));
    let cells = a.table("cells").expect("cells");
    let own = cells_of(cells).filter(|(_, clump)| *clump == 1).map(|(at, _)| value(at));
    let (mass, sum) = (reals(&a, "mass")[0], own.sum::<f64>());
    assert!((mass / sum - 1.0).abs() < 1e-13, "{mass} {sum}");
    assert_eq!((real(&a, "noise"), real(&a, "density_threshold")), (1.0, 4.0));
    // A structure sums values, too.
    let [found, tree] = ["d.hdf5", "tree.hdf5"].map(|name| room.path(name));
    done(&[&["phew", &cube, "-o", &found, "--noise", &map, "--dendrogram", &tree], &limits[..]].concat());
    let tree = read(Path::new(&tree)).expect("a catalogue of structures");
    let structures = tree.table("structures").expect("structures");
    let roots = structures.integers("parent").expect("parents").into_iter().map(|parent| parent < 0);
    let masses = structures.reals("mass").expect("masses").iter().zip(roots).filter(|(_, is_root)| *is_root);
    let whole: f64 = masses.map(|(mass, _)| mass).sum();
    let above = (0..SIZES.iter().product()).filter(|i| ratio(*i) > 4.0).map(value).sum::<f64>();
    // Leaves that are too low are in no structure.
    assert!(whole < above * (1.0 + 1e-13) && whole > 0.9 * above, "{whole} {above}");
    let (to, small) = (room.path("other.hdf5"), small_map(&room));
    let other = ["phew", &cube, "-o", &to, "--noise", &small];
    room.refuses(&[&other[..], &limits[..4]].concat(), &["noise", "4 x 4 x 1 pixels", "22 x 17 x 13"]);
    let below = ["--density-threshold=-1", "--relevance-difference", "1", "-o", &room.path("c.hdf5")];
    room.refuses(&[&["phew", &cube, "--noise", &map], &below[..]].concat(), &["density", "0 or more"]);
}

/// A map of another size.
fn small_map(room: &Room) -> String {
    let path = room.path("small.fits");
    let data = encoded(-64, (0..16).map(f64::from));
    fs::write(&path, FitsFile::default().image(-64, &[4, 4], &[], &data).bytes).expect("writing");
    path
}

/// What a header does not say may be given, and replaces what it says wrongly.
#[test]
fn beam_unit_and_frequency_may_be_given() {
    let room = Room::new();
    let whole = write_cube(&room);
    let [bare, wrong] = ["bare.fits", "wrong.fits"].map(|name| room.path(name));
    let data = encoded(-64, (0..SIZES.iter().product()).map(value));
    let is_open =
        |card: &&str| ["BUNIT", "BMAJ", "BMIN", "RESTFRQ"].iter().any(|open| card.starts_with(open));
    let cards: Vec<&str> = CARDS.into_iter().filter(|card| !is_open(card)).collect();
    fs::write(&bare, FitsFile::default().image(-64, &SIZES, &cards, &data).bytes).expect("writing");
    let others = ["BUNIT = 'Jy/beam'", "BMAJ = 0.1", "BMIN = 0.1", "BPA = 70.0", "RESTFRQ = 1.4E9"];
    let cards: Vec<&str> = cards.into_iter().chain(others).collect();
    fs::write(&wrong, FitsFile::default().image(-64, &SIZES, &cards, &data).bytes).expect("writing");
    let found = |cube: &str, more: &[&str]| {
        let to = room.path("c.hdf5");
        done(&[&["phew", cube, "-o", &to, "--force", "--quiet", "--distance", "414pc"], more].concat());
        read(Path::new(&to)).expect("a catalogue")
    };
    let given = ["--beam", "10.8x7.2@0", "--bunit", "K", "--rest-frequency", "115.271GHz"];
    let expected = found(&whole, &[]);
    let clumps = |of: &Catalogue| of.table("clumps").expect("clumps").clone();
    // Sizes without the beam may be NaN.
    let text = |of: &Table| format!("{of:?}");
    assert!(clumps(&expected).column("luminosity").is_some());
    assert!(clumps(&found(&bare, &[])).column("flux").is_none());
    for cube in [&bare, &wrong] {
        let again = found(cube, &given);
        assert!(text(&clumps(&again)) == text(&clumps(&expected)), "{cube}");
        assert_eq!(
            again.attribute("given_cards"),
            Some(&Attribute::Text("BMAJ, BMIN, BPA, BUNIT, RESTFRQ".into()))
        );
    }
    let text = done(&["info", &bare]);
    for missing in ["--beam", "--bunit"] {
        assert!(text.lines().any(|line| line.starts_with("missing") && line.contains(missing)), "{text}");
    }
    assert!(!done(&["info", &whole]).contains("missing"));
    for (option, text, expected) in [
        ("--beam", "7x9", "12.3x9.8@30"),
        ("--beam", "0", "widths above 0"),
        ("--bunit", "furlong", "mJy/beam"),
        ("--rest-frequency", "-3GHz", "115.271GHz"),
    ] {
        room.refuses(&["phew", &bare, "-o", &room.path("d.hdf5"), option, text], &[option, expected]);
    }
}

/// An image with noise needs no thresholds; one without needs a density threshold.
#[test]
fn noise_gives_the_default_thresholds() {
    let room = Room::new();
    let cube = write_cube(&room);
    let [plain, given, tree] = ["plain.hdf5", "given.hdf5", "tree.hdf5"].map(|name| room.path(name));
    done(&["phew", &cube, "-o", &plain, "--dendrogram", &tree, "--quiet"]);
    let limits = ["--density-threshold", "5sigma", "--relevance-difference", "2sigma", "--with-cells"];
    done(&[&["phew", &cube, "-o", &given, "--quiet"], &limits[..]].concat());
    let [plain, given, tree] = [plain, given, tree].map(|path| read(Path::new(&path)).expect("a catalogue"));
    assert!(format!("{:?}", plain.tables) == format!("{:?}", given.tables));
    let origin = |of: &Catalogue| of.attribute("density_threshold_origin").cloned();
    assert_eq!(origin(&plain), Some(Attribute::Text("default".into())));
    assert_eq!(origin(&given), Some(Attribute::Text("given".into())));
    assert_eq!(real(&tree, "min_delta"), 2.0 * real(&plain, "noise"));
    let positive = room.path("positive.fits");
    let data = encoded(-64, (0..SIZES.iter().product()).map(|i| value(i).abs()));
    fs::write(&positive, FitsFile::default().image(-64, &SIZES, &CARDS, &data).bytes).expect("writing");
    room.refuses(&["phew", &positive, "-o", &room.path("p.hdf5")], &["without noise", "--density-threshold"]);
    done(&["phew", &positive, "-o", &room.path("p.hdf5"), "--noise", "0.3", "--quiet"]);
}

#[test]
fn what_is_no_image_has_no_noise_and_no_regions() {
    let room = Room::new();
    let cube = write_cube(&room);
    let array = room.path("cube.npy");
    let npy = crate::common::npy::npy_file(&[4, 4, 4], false, "<f8", |at| at[0] as f64);
    fs::write(&array, npy).expect("writing");
    let (to, search) = (room.path("c.hdf5"), ["--density-threshold", "5sigma", "-o"]);
    room.refuses(&[&["phew", &array], &search[..], &[&to]].concat(), &["5sigma", "noise", "FITS"]);
    let limits = ["--density-threshold", "1", "--relevance-difference", "1"];
    for (option, name, expected) in [
        ("--labels-fits", "l.txt", "a name that ends in .fits"),
        ("--regions", "c.txt", ".reg or .crtf"),
        ("--labels-of", "haloes", "--labels-fits or --regions as well"),
        ("--noise", "0", "a finite number above 0"),
        ("--distance", "3s", "--distance"),
    ] {
        let args = [&["phew", &cube, "-o", &to], &limits[..], &[option, name]].concat();
        room.refuses(&args, &[option, expected]);
    }
    done(&[&["phew", &cube, "-o", &to, "--quiet"], &limits[..]].concat());
    let cut = room.path("cut.hdf5");
    let labels = room.path("l.fits");
    room.refuses(&["recut", &to, "-o", &cut, "--labels-fits", &labels], &["no cells", "--with-cells"]);
}

/// Catalogue, labels and dendrogram of the cube on so many ranks.
fn on_ranks(cube: &str, room: &Room, n: usize) -> (Catalogue, Vec<u8>, Vec<u8>) {
    let facts = read_headers_with(Path::new(cube), &FieldDefaults::default()).expect("headers");
    let params = PhewParams::new(0.9).persistence(Persistence::Difference(0.5)).with_cells(true);
    let request = inselberg::phew::PhewRequest { field: FieldChoice::Auto, params };
    let [labels, tree] = ["labels", "tree"].map(|name| room.path(&format!("{name}{n}")));
    let work = |comm: &Comm| {
        let snapshot = open_from(&facts);
        let found = run(snapshot.as_ref(), &request, comm, &Executor::default()).expect("found").catalogue;
        let cells = &found.table("cells").expect("cells").table;
        let labels = stage_labels(Path::new(&labels), &found.attributes, cells, LabelsOf::Clumps, comm);
        let limits = DendrogramLimits { value: 0.2, delta: 0.4, cells: 3 };
        let tree = dendrogram::stage(Path::new(&tree), &found.attributes, cells, &limits, None, comm);
        let mut staged = labels.expect("labels");
        staged.extend(tree.expect("a dendrogram"));
        if comm.rank() == Rank(0) {
            staged.commit().expect("written");
        }
        found.gather(comm).expect("gathered")
    };
    let whole = run_ranks(Comm::threads(n), work).expect("no panic").into_iter().next().flatten();
    let [labels, tree] = [labels, tree].map(|path| fs::read(path).expect("a file"));
    (whole.expect("rank 0 has it"), labels, tree)
}

#[test]
fn any_number_of_ranks_gives_the_same_columns_labels_and_dendrogram() {
    let room = Room::new();
    let cube = write_cube(&room);
    let one = on_ranks(&cube, &room, 1);
    assert!(one.0.table("clumps").expect("clumps").column("touches_blank").is_some());
    for n in [2, 3, 7, 20] {
        let many = on_ranks(&cube, &room, n);
        assert_same(&one.0, &many.0, &format!("{n} ranks"));
        assert!(one.1 == many.1 && one.2 == many.2, "files of {n} ranks differ");
    }
}

#[test]
fn astropy_and_astrodendro_give_the_same_numbers() {
    run_script("observers.py");
}

#[test]
#[ignore = "half a minute"]
fn injected_clouds_are_found_and_their_errors_are_the_scatter_of_noise() {
    run_script("injected_clouds.py");
}

/// Runs a script beside this file with the program and a folder.
fn run_script(name: &str) {
    let Some(python) = python() else { return };
    let room = Room::new();
    let script = format!("{}/tests/formats/{name}", env!("CARGO_MANIFEST_DIR"));
    let program = env!("CARGO_BIN_EXE_inselberg");
    let out = Command::new(&python).args([&script, program, &room.path("")]).output().expect("Python");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}
