//! The picture: files that other programs can open, with what they should show.

use inselberg::{DensityMap, MapBox, View};
use inselberg_cli::report::plot::{Beside, HEIGHT, PictureData, ShownValues, WIDTH, check_picture, plot};
use inselberg_cli::report::{ColourChoice, DisplayUnits, LeastDrawn};
use inselberg_io::catalogue::{Catalogue, Dimension, Table, TableColumn, Values};
use std::collections::HashSet;
use std::fs;
use std::path::Path;

const N: usize = 256;

fn objects(name: &str, n: u32) -> Table {
    let column = |name: &str, dimension, values| TableColumn {
        name: name.into(),
        dimension,
        description: String::new(),
        values,
    };
    let part = |i: u32, step: f64| (f64::from(i) * step).fract();
    let positions = (0..n).map(|i| [part(i, 0.618_034), part(i, 0.754_878), part(i, 0.569_840)]).collect();
    let masses = (0..n).map(|i| 1e-2 / (f64::from(i) + 1.0).powf(1.3)).collect();
    let columns = vec![
        column("mass", Dimension::MASS, Values::F64(masses)),
        column("peak_position", Dimension::LENGTH, Values::F64x3(positions)),
    ];
    Table { name: name.into(), columns }
}

/// Smooth hills under the clumps.
fn projection(clumps: &Table) -> Vec<f32> {
    let Some(Values::F64x3(peaks)) = clumps.column("peak_position").map(|c| &c.values) else {
        panic!("peaks")
    };
    let Some(Values::F64(masses)) = clumps.column("mass").map(|c| &c.values) else { panic!("masses") };
    let value = |i: usize| {
        let at = [(i % N) as f64 / N as f64, (i / N) as f64 / N as f64];
        let hill = |(p, m): (&[f64; 3], &f64)| m / ((p[0] - at[0]).powi(2) + (p[1] - at[1]).powi(2) + 3e-5);
        (0.3 + peaks.iter().zip(masses).map(hill).sum::<f64>()) as f32
    };
    (0..N * N).map(value).collect()
}

/// A square map of the plane [0, 1] x [0, 1].
fn picture<'a>(catalogue: &'a Catalogue, values: Vec<f32>) -> PictureData<'a> {
    let view = View { low: [0.0; 3], sides: [1.0; 3], along: 2, pixels: [values.len().isqrt(); 2] };
    PictureData {
        maps: vec![DensityMap { view, values }],
        space: MapBox { low: [0.0; 3], sides: [1.0; 3], periodic: [true; 3] },
        title: "A sample".into(),
        subtitle: "chosen from several".into(),
        sky: None,
        values: ShownValues {
            quantity: "mean density".into(),
            unit: DisplayUnits::default().unit(Dimension::DENSITY),
        },
        colours: ColourChoice::default(),
        units: DisplayUnits::default(),
        labelled: Vec::new(),
        beside: Beside::Counts { marked: None },
        least: LeastDrawn::default(),
        catalogue,
    }
}

fn sample() -> Catalogue {
    Catalogue { attributes: vec![], tables: vec![objects("clumps", 300), objects("haloes", 120)] }
}

fn decode(path: &Path) -> (u32, u32, Vec<u8>) {
    let mut reader = png::Decoder::new(fs::File::open(path).expect("the file")).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size()];
    let info = reader.next_frame(&mut pixels).expect("whole");
    (info.width, info.height, pixels)
}

#[test]
fn a_png_decodes_and_is_full_of_colours() {
    let folder = tempfile::tempdir().expect("a folder");
    // Set the variable to a file name to look at the picture.
    let path = std::env::var_os("INSELBERG_TEST_PICTURE").map_or(folder.path().join("p.png"), Into::into);
    let catalogue = sample();
    plot(&path, &picture(&catalogue, projection(&catalogue.tables[0]))).expect("drawn");
    let (width, height, pixels) = decode(&path);
    assert_eq!((width, height), (WIDTH, HEIGHT));
    let colours: HashSet<_> = pixels.chunks(3).collect();
    assert!(colours.len() > 200, "{} colours", colours.len());
}

#[test]
fn an_svg_is_well_formed_and_names_its_axes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p.svg");
    let catalogue = sample();
    plot(&path, &picture(&catalogue, projection(&catalogue.tables[0]))).expect("drawn");
    let text = fs::read_to_string(&path).expect("text");
    for part in ["x [code_length]", "y [code_length]", "mean density", "mass m [code_mass]", "clumps (300)"] {
        assert!(text.contains(part), "{part}");
    }
    assert!(text.contains("data:image/png;base64,iVBORw0KGgo"));
    check_tags(&text);
}

/// A picture of a million objects is about as large as one of a hundred.
#[test]
fn a_million_objects_make_a_picture_that_is_as_small() {
    let folder = tempfile::tempdir().expect("a folder");
    let size = |n: u32| {
        let path = folder.path().join(format!("{n}.svg"));
        let catalogue =
            Catalogue { attributes: vec![], tables: vec![objects("clumps", n), objects("haloes", n / 2)] };
        plot(&path, &picture(&catalogue, vec![1.0; 16])).expect("drawn");
        let text = fs::read_to_string(&path).expect("text");
        let count = |n: u32| text.contains(&format!("clumps ({n})"));
        assert!(count(n) || text.contains("clumps (1 000 000)") && text.contains("(largest 400)"), "{n}");
        text.len()
    };
    let [few, many] = [100, 1_000_000].map(size);
    assert!(many < 10 * few, "{few} {many}");
}

/// If particles are unbound, bound clumps have circles and a mass function of their own.
#[test]
fn bound_clumps_are_shown_beside_their_patches() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p.svg");
    let mut catalogue = sample();
    let map = projection(&catalogue.tables[0]);
    let drawn = |catalogue: &Catalogue| {
        plot(&path, &picture(catalogue, map.clone())).expect("drawn");
        fs::read_to_string(&path).expect("text")
    };
    let without = drawn(&catalogue);
    assert!(!without.contains("bound"));
    let clumps = &mut catalogue.tables[0];
    let of_ten = |value: f64| (0..300).map(|i| if i < 10 { value } else { 0.0 }).collect();
    let mut add = |name: &str, dimension, values| {
        let column = TableColumn { name: name.into(), dimension, description: String::new(), values };
        clumps.columns.push(column);
    };
    add("most_bound_position", Dimension::LENGTH, Values::F64x3(vec![[0.5; 3]; 300]));
    add("bound_mass", Dimension::MASS, Values::F64(of_ten(1e-3)));
    add("half_mass_radius", Dimension::LENGTH, Values::F64(of_ten(0.02)));
    let with = drawn(&catalogue);
    assert!(with.contains("bound (10)") && with.contains("half-mass radius"), "keys");
    // Circles are closed lines. Ten of them, one in the key, the mass function and its key have the colour of
    // what is bound.
    let lines =
        |text: &str| text.split("<polyline").filter(|line| line.contains("stroke=\"#00C88C\"")).count();
    assert_eq!((lines(&without), lines(&with)), (0, 13));
    check_tags(&with);
}

/// Every tag that opens closes, in order.
fn check_tags(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    for tag in text.split('<').skip(1) {
        let (tag, after) = tag.split_once('>').expect("an end of the tag");
        assert!(!after.contains('>') && tag.matches('"').count() % 2 == 0, "{tag}");
        let name = tag.split_whitespace().next().expect("a name");
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if tag.ends_with('/') || tag.starts_with(['?', '!']) => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty());
}

#[test]
fn nothing_found_is_still_a_picture() {
    let folder = tempfile::tempdir().expect("a folder");
    let empty_tables =
        Catalogue { attributes: vec![], tables: vec![objects("clumps", 0), objects("haloes", 0)] };
    for catalogue in [Catalogue::default(), empty_tables] {
        for values in [vec![0.0; 16], vec![f32::NAN; 16], vec![1.0; 16]] {
            for name in ["p.png", "p.svg"] {
                let path = folder.path().join(name);
                plot(&path, &picture(&catalogue, values.clone())).expect("drawn");
                assert!(fs::metadata(&path).expect("the file").len() > 5000);
            }
        }
    }
}

#[test]
fn extents_that_are_not_square_and_peaks_outside_are_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let catalogue = sample();
    let mut data = picture(&catalogue, projection(&catalogue.tables[0]));
    for [[x0, x1], [y0, y1]] in [[[0.2, 0.4], [0.0, 1.0]], [[0.0, 100.0], [-5.0, 5.0]]] {
        data.maps[0].view.low = [x0, y0, 0.0];
        data.maps[0].view.sides = [x1 - x0, y1 - y0, 1.0];
        plot(&folder.path().join("p.png"), &data).expect("drawn");
    }
}

#[test]
fn wrong_pictures_are_refused_and_leave_the_old_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let catalogue = sample();
    let path = folder.path().join("p.png");
    fs::write(&path, "old").expect("written");
    let mut data = picture(&catalogue, vec![1.0; 16]);
    data.maps[0].view.pixels = [5, 5];
    assert!(plot(&path, &data).is_err());
    assert_eq!(fs::read_to_string(&path).expect("old"), "old");
    assert!(check_picture(&folder.path().join("p.jpg")).is_err());
    assert!(check_picture(&folder.path().join("no/p.png")).is_err());
    assert!(check_picture(&path).is_ok());
}
