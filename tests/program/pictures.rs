//! What pictures show: the size of maps and circles, and the words beside them.

use crate::common::npy::npy_file;
use crate::common::output;
use crate::common::room::{Room, done, done_json};
use inselberg_io::catalogue::{FORMATS, read};
use std::f64::consts::PI;
use std::fs;
use std::path::Path;

/// Pixels of the picture per pixel of its layout, and the longer side of a map there.
const SCALE: f64 = 2.0;
const MAP_SIDE: f64 = 600.0;

/// The points of the lines of a colour in an SVG.
pub fn lines(svg: &str, colour: &str) -> Vec<Vec<[f64; 2]>> {
    let of_colour = svg.split("<polyline").filter(|line| line.contains(&format!("stroke=\"{colour}\"")));
    let points = of_colour.filter_map(|line| line.split("points=\"").nth(1)?.split('"').next());
    let point = |point: &str| {
        let (x, y) = point.split_once(',').expect("two coordinates");
        [x, y].map(|x| x.parse().expect("a number"))
    };
    points.map(|points| points.split_whitespace().map(point).collect()).collect()
}

/// The texts of an SVG.
pub fn texts(svg: &str) -> Vec<&str> {
    let mut all = Vec::new();
    for rest in svg.split("<text").skip(1) {
        let element = rest.split("</text>").next().expect("an end");
        all.push(element.split_once('>').expect("a tag").1.trim());
    }
    all
}

pub fn has(svg: &str, text: &str) -> bool {
    texts(svg).contains(&text)
}

/// The diameters of the circles of a colour in an SVG.
fn diameters(svg: &str, colour: &str) -> Vec<f64> {
    let width = |points: &Vec<[f64; 2]>| {
        let x = || points.iter().map(|[x, _]| *x);
        x().fold(f64::MIN, f64::max) - x().fold(f64::MAX, f64::min)
    };
    lines(svg, colour).iter().filter(|points| points.len() > 10).map(width).collect()
}

/// Width and height of the first PNG in a text.
fn size_of_map(text: &str) -> [u32; 2] {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let start = text.split("data:image/png;base64,").nth(1).expect("a map").bytes().take(32);
    let digits = start.map(|byte| DIGITS.iter().position(|digit| *digit == byte).expect("a digit") as u32);
    let digits: Vec<u32> = digits.collect();
    let bytes: Vec<u8> = digits
        .chunks(4)
        .flat_map(|four| {
            let word = four.iter().fold(0, |word, digit| word << 6 | digit);
            [(word >> 16) as u8, (word >> 8) as u8, word as u8]
        })
        .collect();
    [16, 20].map(|at| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes")))
}

/// An image with two discs that touch.
fn image(room: &Room) -> String {
    let path = room.path("image.npy");
    let disc = |[x, y]: [f64; 2], at: &[usize]| {
        let squared = (at[0] as f64 - x).powi(2) + (at[1] as f64 - y).powi(2);
        100.0 * (-squared / 15.0).exp()
    };
    let value = |at: &[usize]| 1.0 + disc([20.0, 40.0], at) + 0.6 * disc([29.0, 40.0], at);
    fs::write(&path, npy_file(&[64, 64], false, "<f8", value)).expect("written");
    path
}

#[test]
fn an_image_has_maps_of_objects_and_circles_of_their_areas() {
    let room = Room::new();
    let (image, to, report) = (image(&room), room.path("c.csv"), room.path("report"));
    let [plot, view] = ["p.svg", "v.svg"].map(|name| room.path(name));
    let search = ["phew", &image, "--image", "-o", &to, "--density-threshold", "5", "--with-cells"];
    done(&[&search[..], &["--quiet", "--plot", &plot, "--report", &report]].concat());
    let found = read(Path::new(&to)).expect("a catalogue");
    let halo = found.table("haloes").expect("haloes");
    let diameter = 2.0 * (halo.reals("area").expect("areas")[0] / PI).sqrt();
    let largest = |svg: &str, colour| diameters(svg, colour).into_iter().fold(0.0, f64::max);
    let sky = largest(&fs::read_to_string(&plot).expect("a picture"), "#56B4E9");
    let expected = SCALE * (diameter / 64.0 * MAP_SIDE + 4.0);
    assert!((sky - expected).abs() < 0.03 * expected, "{sky} {expected}");
    let page = fs::read_to_string(Path::new(&report).join("index.html")).expect("a page");
    let zoom = page.split("<section class=\"object\"").nth(1).expect("an object");
    // A pixel per pixel of the image, over five radii.
    assert_eq!(size_of_map(zoom), [(2.5 * diameter).ceil().max(48.0) as u32; 2]);
    let id = halo.counts("id").expect("identifiers")[0].to_string();
    done(&["view", &to, "--halo", &id, "--plot", &view, "--quiet"]);
    let svg = fs::read_to_string(&view).expect("a picture");
    // The map is five radii wide, to whole pixels.
    let width = (2.5 * diameter).ceil();
    let (sky, expected) = (largest(&svg, "#56B4E9"), SCALE * (MAP_SIDE * diameter / width + 4.0));
    assert!((sky - expected).abs() < 0.03 * expected, "{sky} {expected}");
}

#[test]
fn a_legend_names_what_the_picture_shows() {
    let room = Room::new();
    let (image, to, view) = (image(&room), room.path("c.csv"), room.path("v.svg"));
    let search = ["phew", &image, "--image", "-o", &to, "--density-threshold", "5", "--with-cells"];
    done(&[&search[..], &["--quiet"]].concat());
    let found = read(Path::new(&to)).expect("a catalogue");
    let legend = |kind: &str, table: &str| {
        let id = found.table(table).expect("objects").counts("id").expect("identifiers")[0].to_string();
        done(&["view", &to, kind, &id, "--plot", &view, "--quiet"]);
        fs::read_to_string(&view).expect("a picture")
    };
    let clump = legend("--clump", "clumps");
    assert!(has(&clump, "clumps") && has(&clump, "circles: true size") && !has(&clump, "haloes"), "{clump}");
    let halo = legend("--halo", "haloes");
    assert!(has(&halo, "haloes") && has(&halo, "circles: true size"), "{halo}");
}

#[test]
fn lengths_and_densities_say_that_they_are_proper_where_the_box_expands() {
    let room = Room::new();
    let (to, plot, report) = (room.path("c.csv"), room.path("p.svg"), room.path("report"));
    let input = output("dm_1rank").to_string_lossy().into_owned();
    let search = ["phew", &input, "-o", &to, "--density-threshold", "40", "--with-cells", "--quiet"];
    done(&[&search[..], &["--plot", &plot, "--report", &report]].concat());
    let picture = fs::read_to_string(&plot).expect("a picture");
    let page = fs::read_to_string(Path::new(&report).join("index.html")).expect("a page");
    let id = read(Path::new(&to))
        .expect("a catalogue")
        .table("haloes")
        .expect("haloes")
        .counts("id")
        .expect("ids")[0];
    done(&["view", &to, "--halo", &id.to_string(), "--plot", &plot, "--quiet"]);
    let view = fs::read_to_string(&plot).expect("a picture");
    assert!(picture.contains("cMpc/h") && page.contains("cMpc/h"), "the side in the title is comoving");
    for (what, text) in [("picture", &picture), ("report", &page), ("view", &view)] {
        for label in ["x [pMpc]", "y [pMpc]", "mean proper density [g cm⁻³]"] {
            assert!(text.contains(label), "{label} in the {what}");
        }
        assert!(!text.contains("[Mpc]") && !text.contains(" Mpc\n"), "{what}");
    }
    assert!(page.contains("proper, not comoving"));
}

/// A satellite keeps its own mass up to its merger: no line leads to the mass of its host.
#[test]
fn a_history_ends_a_satellite_at_its_merger() {
    let room = Room::new();
    let (series, plot) = (room.path("series"), room.path("h.svg"));
    done(&["synth", "series", "-o", &series, "--outputs", "14", "--members", "4e4", "--seed", "5", "-q"]);
    let truth = Path::new(&series).join(format!("truth.{}", FORMATS[0].extensions[0]));
    let truth = truth.to_string_lossy().into_owned();
    let track = done_json(&["view", &truth])["tracks"][0]["name"].as_str().expect("a name").to_string();
    done(&["view", &truth, "--track", &track, "--plot", &plot, "--quiet"]);
    let svg = fs::read_to_string(&plot).expect("a picture");
    // The left panel, and the colours of the heaviest satellites.
    let is_left = |points: &Vec<[f64; 2]>| points.iter().all(|[x, _]| *x < SCALE * 790.0);
    for colour in ["#D55E00", "#009E73", "#CC79A7"] {
        let mut segments = lines(&svg, colour);
        segments.retain(is_left);
        let last = segments.iter().max_by(|a, b| a[1][0].total_cmp(&b[1][0])).expect("a satellite");
        assert_eq!(last[0][1], last[1][1], "{colour}: its last line rises");
    }
}
