//! Regions and levels: as if all other leaves were at the density threshold.

use crate::common::compare::assert_same_table;
use crate::common::room::{Room, done, done_json};
use crate::common::{Whole, open, output};
use inselberg_io::Family;
use inselberg_io::catalogue::{Attribute, Catalogue, FORMATS, Table, Values, read};
use inselberg_io::ramses::write::Dialect;
use std::path::Path;

/// A box or sphere in units of the side of the box, and levels.
struct Part {
    options: Vec<String>,
    has: fn([f64; 3], u8) -> bool,
}

/// Whether a shifted copy of a point is in a shape: what periodic walls mean.
fn any_image(x: [f64; 3], shape: impl Fn([f64; 3]) -> bool) -> bool {
    let shifts = || (-1..=1).map(f64::from);
    shifts().any(|a| shifts().any(|b| shifts().any(|c| shape([x[0] + a, x[1] + b, x[2] + c]))))
}

fn in_sphere(x: [f64; 3], centre: [f64; 3], radius: f64) -> bool {
    any_image(x, |x| (0..3).map(|a| (x[a] - centre[a]).powi(2)).sum::<f64>() <= radius * radius)
}

fn in_box(x: [f64; 3], lower: [f64; 3], upper: [f64; 3]) -> bool {
    any_image(x, |x| (0..3).all(|a| lower[a] <= x[a] && x[a] < upper[a]))
}

/// Numbers in code units, from parts of the side.
fn scaled(shape: &str, numbers: &[f64], side: f64) -> String {
    let numbers: Vec<String> = numbers.iter().map(|x| (x * side).to_string()).collect();
    format!("{shape}:{}", numbers.join(","))
}

fn parts(side: f64) -> Vec<Part> {
    let sphere = scaled("sphere", &[0.55, 0.75, 0.97, 0.25], side);
    let halves = scaled("box", &[0.6, 0.5, 0.85, 1.1, 1.2, 1.15], side);
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
    vec![
        Part { options: words(&["--region", &sphere]), has: |x, _| in_sphere(x, [0.55, 0.75, 0.97], 0.25) },
        Part {
            options: words(&["--region", &halves]),
            has: |x, _| in_box(x, [0.6, 0.5, 0.85], [1.1, 1.2, 1.15]),
        },
        Part { options: words(&["--levels", "5:6"]), has: |_, level| (5..=6).contains(&level) },
        Part {
            options: words(&["--levels", "0:6", "--region", &format!("{sphere};{halves}")]),
            has: |x, level| {
                let in_halves = in_box(x, [0.6, 0.5, 0.85], [1.1, 1.2, 1.15]);
                level <= 6 && (in_halves || in_sphere(x, [0.55, 0.75, 0.97], 0.25))
            },
        },
    ]
}

/// The centre of a cell in units of the side of the box.
fn centre(level: u8, ijk: [u32; 3]) -> [f64; 3] {
    ijk.map(|i| (f64::from(i) + 0.5) / f64::from(1 << level))
}

/// The output with all leaves outside of the part lowered to the threshold, if they are above it.
fn lowered(whole: &Whole, field: &str, threshold: f64, has: impl Fn([f64; 3], u8) -> bool) -> Whole {
    let mut lowered = whole.clone();
    let column = whole.fields.iter().position(|f| f.name == field).expect("the field");
    for block in &mut lowered.octs {
        for (oct, position) in block.position.iter().enumerate() {
            for cell in (0..8_u32).filter(|cell| block.split[oct] >> cell & 1 == 0) {
                let ijk = std::array::from_fn(|a| 2 * position[a] + (cell >> a & 1));
                let value = &mut block.values[column][oct][cell as usize];
                if !has(centre(block.level, ijk), block.level) {
                    *value = value.min(threshold);
                }
            }
        }
    }
    lowered
}

fn segmented(room: &Room, input: &str, threshold: &str, more: &[&str]) -> Catalogue {
    let to = room.path(&format!("c.{}", FORMATS[0].extensions[0]));
    let thresholds = ["--density-threshold", threshold, "--with-cells", "--quiet", "-o", &to];
    done(&[&["phew", input], &thresholds[..], more].concat());
    read(Path::new(&to)).expect("a catalogue")
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn int(catalogue: &Catalogue, name: &str) -> i64 {
    match catalogue.attribute(name) {
        Some(Attribute::Int(n)) => *n,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn a_region_is_the_field_with_all_else_lowered_to_the_threshold() {
    for (run, field, threshold) in [("dm_1rank", "rho", 40.0), ("gas_2ranks", "density", 2.0)] {
        let input = output(run);
        let whole = Whole::read(&*open(&input));
        let threshold_text = f64::to_string(&threshold);
        let field_options = ["--field", field];
        let all = segmented(&Room::new(), &text(&input), &threshold_text, &field_options);
        let mut n_clumps = 0;
        for part in parts(whole.header.boxlen) {
            let room = Room::new();
            let other = lowered(&whole, field, threshold, part.has);
            let other = other.write(Path::new(&room.path("")), 1, false, &Dialect::default());
            let expected = segmented(&room, &text(&other), &threshold_text, &field_options);
            let n = int(&expected, "n_clumps");
            assert!(n < int(&all, "n_clumps"), "{run}, {:?}: {n} clumps", part.options);
            n_clumps += n;
            for ranks in ["1", "3"] {
                let options: Vec<&str> = part.options.iter().map(String::as_str).collect();
                let options = [&options[..], &field_options, &["--ranks", ranks]].concat();
                let found = segmented(&room, &text(&input), &threshold_text, &options);
                let what = format!("{run}, {options:?}");
                assert_eq!(found.tables.len(), expected.tables.len());
                for (found, expected) in found.tables.iter().zip(&expected.tables) {
                    match found.name.as_str() {
                        "cells" => assert_true_densities((found, expected), &all, part.has, &what),
                        _ => assert_same_table(found, expected, &what),
                    }
                }
                assert_eq!(int(&found, "n_test_cells"), int(&expected, "n_test_cells"));
            }
        }
        assert!(n_clumps > 2, "{run}: {n_clumps} clumps in all parts");
    }
}

/// Cells of a part have the labels of the lowered field, the densities of the whole one, and say which are
/// in the part.
fn assert_true_densities(
    (found, lowered): (&Table, &Table),
    all: &Catalogue,
    has: fn([f64; 3], u8) -> bool,
    what: &str,
) {
    let values = |table: &Table, name: &str| table.column(name).expect("a column").values.clone();
    for name in ["level", "ijk", "clump", "halo"] {
        assert!(values(found, name) == values(lowered, name), "{name}, {what}");
    }
    let density = values(found, "density");
    assert!(density == values(all.table("cells").expect("cells"), "density"), "{what}");
    assert!(density != values(lowered, "density"), "{what}");
    let (Values::U8(level), Values::U32x3(ijk)) = (values(found, "level"), values(found, "ijk")) else {
        panic!("other types")
    };
    let inside = level.iter().zip(&ijk).map(|(level, ijk)| u8::from(has(centre(*level, *ijk), *level)));
    assert!(values(found, "selected") == Values::U8(inside.collect()), "{what}");
}

/// The number of cells of a catalogue above the threshold, of those that a part has.
fn n_tests(cells: &Catalogue, threshold: f64, has: impl Fn([f64; 3], u8) -> bool) -> i64 {
    let cells = cells.table("cells").expect("cells");
    let values = |name: &str| &cells.column(name).expect("a column").values;
    let (Values::U8(level), Values::U32x3(ijk), Values::F64(density)) =
        (values("level"), values("ijk"), values("density"))
    else {
        panic!("other types")
    };
    let is_test = |i: &usize| density[*i] > threshold && has(centre(level[*i], ijk[*i]), level[*i]);
    (0..level.len()).filter(is_test).count() as i64
}

#[test]
fn densities_of_particles_have_regions_too() {
    let (room, input) = (Room::new(), text(&output("dm_1rank")));
    let side = open(Path::new(&input)).header().boxlen;
    for (kind, unit) in [("--field=cic", None), ("--mesh-from-particles", Some("mean_density"))] {
        let all = segmented(&room, &input, "40", &[kind]);
        let threshold = match unit.map(|name| all.attribute(name)) {
            Some(Some(Attribute::Real(mean))) => 40.0 * mean,
            Some(other) => panic!("{other:?}"),
            None => 40.0,
        };
        for part in parts(side).into_iter().filter(|part| part.options[0] == "--region") {
            let options: Vec<&str> = part.options.iter().map(String::as_str).collect();
            let found = ["1", "3"].map(|ranks| {
                segmented(&room, &input, "40", &[&options[..], &[kind, "--ranks", ranks]].concat())
            });
            let n = n_tests(&all, threshold, part.has);
            assert!(0 < n && n < int(&all, "n_test_cells"));
            assert_eq!(int(&found[0], "n_test_cells"), n, "{kind}, {options:?}");
            for (one, three) in found[0].tables.iter().zip(&found[1].tables) {
                assert_same_table(one, three, &format!("{kind}, {options:?}: 1 and 3 ranks"));
            }
        }
    }
}

/// Zooms of Gadget have heavy particles in types of their own. They count, whether or not they make the mesh.
#[cfg(feature = "hdf5")]
#[test]
fn heavy_particles_of_types_that_make_no_mesh_are_counted() {
    use crate::common::gadget;
    let room = Room::new();
    let of = |salt: u64, mass: f64| {
        let mut kind = gadget::clumps(400, salt);
        kind.mass.fill(mass);
        kind
    };
    let kinds = [(1, of(1, 0.5)), (2, of(1, 4.0)), (3, of(3, 32.0)), (5, of(5, 256.0))];
    let kinds: Vec<(usize, &gadget::Kind)> = kinds.iter().map(|(number, kind)| (*number, kind)).collect();
    let paths = gadget::write(Path::new(&room.path("")), &kinds, &gadget::Style::default());
    let input = text(&paths[0]);
    let region = scaled("sphere", &[0.5, 0.5, 0.5, 0.4], gadget::side());
    let count = |numbers: &[usize]| {
        let is_here = |x: &&[f64; 3]| in_sphere(x.map(|x| x / gadget::side()), [0.5; 3], 0.4);
        let here = |kind: &gadget::Kind| kind.position.iter().filter(is_here).count() as i64;
        kinds.iter().filter(|(number, _)| numbers.contains(number)).map(|(_, kind)| here(kind)).sum::<i64>()
    };
    let names = ["n_region_particles", "n_region_heavy_particles"];
    for (types, ranks) in [("0,1,0,0,0,0,0", "1"), ("0,1,0,0,0,0,0", "3"), ("0,1,1,1,0,1,0", "1")] {
        let more =
            ["--mesh-from-particles", "--particle-types", types, "--region", &region, "--ranks", ranks];
        let found = segmented(&room, &input, "10", &more);
        assert_eq!(names.map(|name| int(&found, name)), [count(&[1, 2, 3, 5]), count(&[2, 3, 5])], "{types}");
        let in_haloes = int(&found, "n_halo_heavy_particles");
        assert!(0 < in_haloes && in_haloes <= count(&[2, 3, 5]), "{in_haloes}");
    }
}

#[test]
fn heavy_particles_of_a_region_and_its_haloes_are_counted() {
    let room = Room::new();
    let mut whole = Whole::read(&*open(&output("dm_1rank")));
    let side = whole.header.boxlen;
    let particles = whole.particles.as_mut().expect("particles");
    for (mass, id) in particles.mass.iter_mut().zip(&particles.id) {
        *mass *= if id % 3 == 0 { 8.0 } else { 1.0 };
    }
    let particles = whole.particles.clone().expect("particles");
    let input = text(&whole.write(Path::new(&room.path("")), 3, false, &Dialect::default()));
    let region = scaled("sphere", &[0.55, 0.75, 0.97, 0.25], side);
    let more = ["--field", "rho", "--region", &region, "--with-particles"];
    let found = segmented(&room, &input, "40", &[&more[..], &["--ranks", "2"]].concat());
    let dark = (0..particles.id.len()).filter(|i| particles.family[*i] == Family::DarkMatter);
    let here: Vec<usize> = dark
        .filter(|i| in_sphere(particles.position[*i].map(|x| x / side), [0.55, 0.75, 0.97], 0.25))
        .collect();
    let table = found.table("particles").expect("particles");
    let (ids, haloes) = (table.integers("id").expect("ids"), table.counts("halo").expect("haloes"));
    let in_halo = |i: &&usize| {
        let row = ids.binary_search(&particles.id[**i]).expect("every particle has a row");
        haloes[row] > 0
    };
    let is_heavy = |i: &&usize| particles.id[**i] % 3 == 0;
    let count = |filters: &dyn Fn(&&usize) -> bool| here.iter().filter(filters).count() as i64;
    let expected =
        [here.len() as i64, count(&is_heavy), count(&in_halo), count(&|i| is_heavy(i) && in_halo(i))];
    assert!(expected.iter().all(|n| *n > 0), "{expected:?}");
    let names =
        ["n_region_particles", "n_region_heavy_particles", "n_halo_particles", "n_halo_heavy_particles"];
    assert_eq!(names.map(|name| int(&found, name)), expected);
    let to = room.path("json.csv");
    let args = ["phew", &input, "--density-threshold", "40", "-o", &to];
    let json = done_json(&[&args[..], &more].concat());
    assert_eq!(json["selected_particles"]["haloes_heavy"], expected[3]);
    let said = done(&[&args[..], &more].concat());
    let line = format!("are heavier than the lightest, {} of {} in its haloes", expected[3], expected[2]);
    assert!(said.contains(&line), "{said}");
    // Other thresholds make other haloes.
    let cut = room.path("cut.csv");
    done(&["recut", &to, "-o", &cut, "--relevance-threshold", "5", "--quiet"]);
    let cut = read(Path::new(&cut)).expect("a catalogue");
    assert_eq!(cut.attribute("n_halo_particles"), None);
    assert_eq!(cut.attribute("region"), Some(&Attribute::Text(region)));
}

#[test]
fn what_is_no_region_is_refused() {
    let (room, input) = (Room::new(), text(&output("dm_1rank")));
    let to = room.path("c.csv");
    let args = ["phew", &input, "--density-threshold", "40", "-o", &to];
    for (option, value, expected) in [
        ("--region", "box:0,0,0,1,1", "box:X0,Y0,Z0,X1,Y1,Z1"),
        ("--region", "box:1,0,0,0,1,1", "X0 < X1"),
        ("--region", "sphere:0,0,0,-1", "R > 0"),
        ("--region", "sphere:0,0,0,1;", "separated by `;`"),
        ("--levels", "7", "two levels"),
        ("--levels", "7:5", "the first at most the second"),
    ] {
        room.refuses(&[&args[..], &[option, value]].concat(), &[&format!("{option}: `{value}`"), expected]);
    }
    let far = [&args[..], &["--region", "sphere:1e9,0,0,1"]].concat();
    room.refuses(&far, &[&input, "sphere:1000000000,0,0,1", "not in the box", "(--region)"]);
    let said = done(&[&args[..], &["--levels", "30:31"]].concat());
    assert!(said.starts_with("no selected cell is above the density threshold\n"), "{said}");
}

/// The map of a region shows its cube, with the densities of the whole field.
#[cfg(feature = "plot")]
#[test]
fn the_map_of_a_region_is_that_of_the_whole_field() {
    let room = Room::new();
    let input = text(&output("gas_2ranks"));
    let side = open(Path::new(&input)).header().boxlen;
    let region = scaled("sphere", &[0.55, 0.75, 0.97, 0.25], side);
    let cube = [0.55, 0.75, 0.97, 0.5].map(|x| (x * side).to_string()).join(",");
    let drawn = |more: &[&str]| {
        let picture = room.path("p.svg");
        let search = ["phew", &input, "--field", "density", "--density-threshold", "2", "--plot", &picture];
        done(&[&search[..], more].concat());
        std::fs::read_to_string(&picture).expect("a picture")
    };
    let map = |picture: &str| {
        let start = picture.find("<image").expect("a map");
        picture[start..start + picture[start..].find("/>").expect("its end")].to_string()
    };
    let (of_region, of_cube) = (drawn(&["--region", &region]), drawn(&["--plot-region", &cube]));
    assert!(map(&of_region) == map(&of_cube));
    assert!(map(&of_region) == map(&drawn(&["--region", &region, "--ranks", "3"])));
    assert!(of_region.contains(&format!("region {region}")) && !of_cube.contains("region"), "{region}");
}

/// A centre of maps that is elsewhere is refused before anything is made.
#[test]
fn maps_of_a_place_out_of_the_box_are_refused() {
    let room = Room::new();
    let input = output("gas_2ranks").to_string_lossy().into_owned();
    let [to, picture, points] = ["c.hdf5", "c.svg", "p.npy"].map(|name| room.path(name));
    let search = ["phew", &input, "--density-threshold", "30", "--field", "density", "-o", &to];
    let away = ["--plot", &picture, "--plot-region", "5,0.5,0.5,0.1"];
    let parts = ["--plot-region", "[5.0, 0.5, 0.5] is not in the box from [0.0, 0.0, 0.0] to"];
    room.refuses(&[&search[..], &away].concat(), &parts);
    room.refuses(&["fof", &input, "-o", &room.path("f.hdf5"), "--plot", &picture, away[2], away[3]], &parts);
    done(&[&search[..], &["--with-cells", "--quiet"]].concat());
    room.refuses(&["view", &to, "--clump", "1", "--plot", &picture, away[2], away[3]], &parts);
    let rows = |at: &[usize]| [0.1, 0.2, 0.3][at[1]] + at[0] as f64 * 0.01;
    std::fs::write(&points, crate::common::npy::npy_file(&[60, 3], false, "<f8", rows)).expect("writing");
    let voids = ["voids", &points, "--box", "1", "-o", &room.path("v.hdf5")];
    room.refuses(&[&voids[..], &["--plot", &picture, away[2], away[3]]].concat(), &parts);
}

/// Thresholds that no data are near are a line with the range of the data.
#[test]
fn slips_of_units_are_told() {
    let room = Room::new();
    let input = output("gas_2ranks").to_string_lossy().into_owned();
    let told = |density: &str, ratio: &str, ranks: &str| {
        let search = ["phew", &input, "--density-threshold", density, "--field", "density"];
        let more = ["--relevance-threshold", ratio, "-o", &room.path("c.csv"), "--force", "--ranks", ranks];
        let text = done(&[&search[..], &more].concat());
        text.lines().filter(|line| line.starts_with("note")).map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(told("30", "3", "1"), Vec::<String>::new());
    let below = told("1e-9", "3", "1");
    assert!(
        below.len() == 1
            && below[0]
                .contains("every cell is denser than the density threshold 0.000000001: densities are from ")
    );
    let ratio = told("30", "0.3", "1");
    assert!(
        ratio.len() == 1
            && ratio[0].contains("the relevance 0.3 is below 1")
            && ratio[0].contains("ratios of peak and saddle are from 1")
    );
    assert_eq!((told("1e-9", "3", "3"), told("30", "0.3", "2")), (below, ratio));
    // Below 0 as well, in the values of the input.
    let path = room.path("noise.npy");
    let value = |at: &[usize]| ((at[0] * 7 + at[1] * 5 + at[2] * 3) % 11) as f64 - 5.0;
    std::fs::write(&path, crate::common::npy::npy_file(&[8, 8, 8], false, "<f8", value)).expect("writing");
    let search =
        ["phew", &path, "-o", &room.path("n.csv"), "--density-threshold=-20", "--relevance-difference", "1"];
    let text = done(&search);
    assert!(
        text.contains("every cell is denser than the density threshold -20: densities are from -5 to 5"),
        "{text}"
    );
}
