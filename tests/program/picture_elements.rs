//! Each element of pictures: titles, marks, colours, scales, sky coordinates, and what is beside the maps.

use crate::common::fits::{FitsFile, encoded};
use crate::common::npy::npy_file;
use crate::common::room::{Room, done, done_json};
use crate::common::{gadget4, output, swift_fixture};
use crate::pictures::{has, lines, texts};
use inselberg_io::catalogue::read;
use std::fs;
use std::path::Path;

const SKY: &str = "#56B4E9";
const GREEN: &str = "#00C88C";
const YELLOW: &str = "#F0E442";

fn svg(path: &str) -> String {
    fs::read_to_string(path).expect("a picture")
}

/// A cube of 24 x 20 pixels and 8 channels of 0.5 km/s, with one bright spot and noise below 0.
fn cube(room: &Room) -> String {
    let cards = [
        "CTYPE1 = 'RA---TAN'",
        "CTYPE2 = 'DEC--TAN'",
        "CTYPE3 = 'VRAD'",
        "CUNIT3 = 'km/s'",
        "BUNIT = 'K'",
        "CRVAL1 = 180.0",
        "CRVAL2 = 41.0",
        "CRVAL3 = -2.0",
        "CRPIX1 = 12.5",
        "CRPIX2 = 10.5",
        "CRPIX3 = 1.0",
        "CDELT1 = -0.01",
        "CDELT2 = 0.01",
        "CDELT3 = 0.5",
    ];
    let value = |i: usize| {
        let [x, y, z] = [i % 24, i / 24 % 20, i / 480].map(|n| n as f64);
        let squared = (x - 14.0).powi(2) + (y - 7.0).powi(2) + (z - 4.0).powi(2);
        5.0 * (-squared / 8.0).exp() - 0.1 * f64::from(i as u32 % 3)
    };
    let path = room.path("cube.fits");
    let data = encoded(-32, (0..24 * 20 * 8).map(value));
    fs::write(&path, FitsFile::default().image(-32, &[24, 20, 8], &cards, &data).bytes).expect("written");
    path
}

#[test]
fn a_title_has_the_file_the_redshift_and_thresholds_with_units() {
    let room = Room::new();
    let (input, plot, to) = (output("dm_1rank"), room.path("p.svg"), room.path("c.csv"));
    let input = input.to_string_lossy().into_owned();
    let region = ["--region", "sphere:0.5,0.5,0.5,0.4"];
    let search = ["phew", &input, "-o", &to, "--density-threshold", "40", "--saddle-threshold", "200", "-q"];
    done(&[&search[..], &["--plot", &plot], &region].concat());
    let picture = svg(&plot);
    let title = *texts(&picture).first().expect("a title");
    for part in ["output_00002", "RAMSES output 2", "25 cMpc/h", "z = "] {
        assert!(title.contains(part) || part == "z = " && title.contains("a = "), "{part}: {title}");
    }
    let conditions = texts(&picture)[1];
    for part in
        ["density &gt; 40 × mean matter density", "joined at &gt; 200 × mean", "field rho", "region sphere"]
    {
        assert!(conditions.contains(part), "{part}: {conditions}");
    }
    // Powers are raised, and numbers are those of the table.
    let n = read(Path::new(&to)).expect("a catalogue").table("haloes").expect("haloes").n_rows();
    assert!(has(&picture, &format!("haloes ({n})")) && has(&picture, "mass m [M☉]"), "{picture}");
    assert!(texts(&picture).iter().any(|text| text.starts_with("10¹")), "masses are powers of ten");
}

#[test]
fn the_length_of_the_scale_bar_hides_no_data() {
    let room = Room::new();
    let (input, plot) = (output("dm_1rank"), room.path("p.svg"));
    let input = input.to_string_lossy().into_owned();
    done(&["phew", &input, "--density-threshold", "40", "--plot", &plot, "--diagnostics", "-q"]);
    let picture = svg(&plot);
    // Filled rectangles on the map, which begins at (130, 136): keys are above it, the panel is beside it.
    let corner = |rect: &str, name: &str| -> f64 {
        let rest = rect.split_once(&format!("{name}=\"")).expect("a corner").1;
        rest.split('"').next().expect("a number").parse().expect("a number")
    };
    let dark = picture.split("<rect").filter(|rect| rect.contains("fill=\"#100C28\""));
    let on_map = dark.filter(|rect| corner(rect, " x") < 2.0 * 730.0 && corner(rect, " y") > 2.0 * 136.0);
    assert_eq!(on_map.count(), 0);
    let bar =
        lines(&picture, "#FFFFFF").into_iter().filter(|line| line.len() == 2 && line[0][1] == line[1][1]);
    assert!(bar.count() >= 1 && texts(&picture).iter().any(|text| text.ends_with(" pMpc")));
}

#[test]
fn colours_have_the_chosen_scale_and_limits_and_are_linear_below_0() {
    let room = Room::new();
    let (image, plot) = (room.path("i.npy"), room.path("p.svg"));
    let value = |at: &[usize]| {
        let squared = (at[0] as f64 - 16.0).powi(2) + (at[1] as f64 - 16.0).powi(2);
        100.0 * (-squared / 20.0).exp() - 5.0
    };
    fs::write(&image, npy_file(&[32, 32], false, "<f8", value)).expect("written");
    let search = ["phew", &image, "--image", "--density-threshold", "20", "--relevance-difference", "5"];
    let drawn = |more: &[&str]| {
        done(&[&search[..], &["--plot", &plot, "--diagnostics", "-q"], more].concat());
        svg(&plot)
    };
    let linear = drawn(&[]);
    for label in ["0", "20", "40", "60", "80"] {
        assert!(has(&linear, label), "{label}");
    }
    let limited = drawn(&["--plot-limits", "-50,50"]);
    assert!(has(&limited, "−40") && has(&limited, "40") && !has(&limited, "60"));
    let both = drawn(&["--plot-scale", "symmetric", "--plot-limits", "-100,100"]);
    assert!(has(&both, "−10") && has(&both, "10") && has(&both, "100"));
    let log = drawn(&["--plot-scale", "log", "--plot-limits", "0.1,100"]);
    assert!(has(&log, "0.1") && has(&log, "100"));
    let root = drawn(&["--plot-scale", "sqrt", "--plot-limits", "0,100"]);
    assert!(has(&root, "100") && has(&root, "20"));
    let wrong = [&search[..], &["--plot", &plot, "--plot-scale", "log"]].concat();
    room.refuses(&[&wrong[..], &["--plot-limits", "-1,5"]].concat(), &["--plot-limits", "positive"]);
    room.refuses(&[&wrong[..], &["--plot-limits", "5,1"]].concat(), &["--plot-limits", "that rise"]);
}

#[test]
fn cubes_have_sky_coordinates_and_moment_maps() {
    let room = Room::new();
    let (cube, plot, to) = (cube(&room), room.path("p.svg"), room.path("c.csv"));
    let search = ["phew", &cube, "-o", &to, "--density-threshold", "1", "--relevance-difference", "1"];
    done(&[&search[..], &["--with-cells", "--plot", &plot, "-q"]].concat());
    let picture = svg(&plot);
    for text in ["right ascension", "declination", "12h00m00s", "41°00′", "integrated value [K km s⁻¹]"]
    {
        assert!(has(&picture, text), "{text}: {:?}", texts(&picture));
    }
    // The scale bar is an angle.
    assert!(texts(&picture).iter().any(|text| text.ends_with('′') && text.len() < 6));
    done(&[&search[..], &["--plot", &plot, "--plot-axis", "y", "-q", "--force"]].concat());
    let side = svg(&plot);
    assert!(has(&side, "radio velocity [km s⁻¹]") && has(&side, "mean value [K]"), "{:?}", texts(&side));
    // The page has the same, and the columns of the sky with their units.
    let report = room.path("report");
    done(&[&search[..], &["--report", &report, "-q", "--force"]].concat());
    let page = svg(&format!("{report}/index.html"));
    for text in ["integrated value [K km s⁻¹]", "peak_ra [deg]", "peak_velocity [km/s]"] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn one_object_has_a_profile_and_its_velocities_where_it_is_bound() {
    let room = Room::new();
    let (input, to, plot) = (output("dm_1rank"), room.path("c.hdf5"), room.path("p.svg"));
    let input = input.to_string_lossy().into_owned();
    let search = ["phew", &input, "-o", &to, "--density-threshold", "40", "--saddle-threshold", "200"];
    let drawn = |more: &[&str]| {
        done(&[&search[..], &["--with-cells", "-q"], more].concat());
        let found = read(Path::new(&to)).expect("a catalogue");
        let id = found.table("haloes").expect("haloes").counts("id").expect("ids")[0].to_string();
        done(&["view", &to, "--halo", &id, "--plot", &plot, "-q"]);
        svg(&plot)
    };
    let profile = ["radius r [pMpc]", "mean proper density [g cm⁻³]"];
    let plain = drawn(&[]);
    assert!(profile.iter().all(|text| has(&plain, text)) && !has(&plain, "number with mass ≥ m"));
    assert!(!has(&plain, "circular velocity [km s⁻¹]"));
    // Densities fall from the first shell to the last.
    let line =
        lines(&plain, "#FFFFFF").into_iter().filter(|line| line.len() > 5 && line[0][0] > 2.0 * 1069.0);
    let line = line.max_by_key(Vec::len).expect("a profile");
    assert!(line[0][1] < line[line.len() - 1][1], "{line:?}");
    let bound = drawn(&["--unbind", "--force"]);
    assert!(has(&bound, "circular velocity [km s⁻¹]") && has(&bound, "bound: greatest"));
    // A kind has the same colours in the picture of a run and in its page.
    let report = room.path("report");
    let shown = ["--unbind", "--plot", &plot, "--report", &report, "-q", "--force"];
    done(&[&search[..], &shown].concat());
    let (picture, page) = (svg(&plot), svg(&format!("{report}/index.html")));
    for (key, colour) in [("clumps (", "#FFFFFF"), ("haloes (", SKY), ("bound (", GREEN)] {
        for (what, text) in [("picture", &picture), ("page", &page)] {
            assert!(text.contains(key) && lines(text, colour).len() > 2, "{key} in the {what}");
        }
    }
    for column in ["bound_mass [M☉]", "maximum_circular_velocity [km s⁻¹]", ">satellites<"] {
        assert!(page.contains(column), "{column}");
    }
    // The bound part has one colour as a circle, a dot and a text.
    assert!(!lines(&bound, GREEN).is_empty() && bound.matches(&format!("fill=\"{GREEN}\"")).count() > 1);
}

#[test]
fn a_new_cut_has_a_picture_with_and_without_cells() {
    let room = Room::new();
    let (input, plot) = (output("dm_1rank"), room.path("p.svg"));
    let input = input.to_string_lossy().into_owned();
    for (name, more) in [("with.hdf5", &["--with-cells"][..]), ("without.hdf5", &[])] {
        let (to, cut) = (room.path(name), room.path("cut.hdf5"));
        done(&[&["phew", &input, "-o", &to, "--density-threshold", "40", "-q"][..], more].concat());
        let recut = ["recut", &to, "-o", &cut, "--relevance-threshold", "6", "--saddle-threshold", "300"];
        let out = crate::common::room::command(&[&recut[..], &["--plot", &plot, "-q"]].concat()).output();
        assert!(out.expect("the program starts").status.success());
        let picture = svg(&plot);
        let n = read(Path::new(&cut)).expect("a cut").table("haloes").expect("haloes").n_rows();
        assert!(has(&picture, &format!("haloes ({n})")), "{:?}", texts(&picture));
        assert!(
            texts(&picture)[1].contains("relevance &gt; 6") && texts(&picture)[0].contains("output_00002")
        );
        assert_eq!(has(&picture, "mean proper density [g cm⁻³]"), !more.is_empty(), "colours need cells");
        assert!(!lines(&picture, SKY).is_empty());
    }
}

#[test]
fn groups_and_voids_are_shown_among_others() {
    let room = Room::new();
    let input = gadget4().join("snapshot_004.hdf5").to_string_lossy().into_owned();
    let [groups, voids, plot, report] = ["g.hdf5", "v.hdf5", "p.svg", "report"].map(|name| room.path(name));
    done(&["fof", &input, "-o", &groups, "--linking-ratio", "0.2", "--min-size", "200", "-q"]);
    done(&["view", &groups, "--group", "1", "--plot", &plot, "-q"]);
    let picture = svg(&plot);
    assert!(texts(&picture)[0].starts_with("group 1") && has(&picture, "this one"), "{:?}", texts(&picture));
    assert!(!lines(&picture, YELLOW).is_empty() && !lines(&picture, SKY).is_empty());
    let input = swift_fixture().join("snap_0000.hdf5").to_string_lossy().into_owned();
    let search = ["voids", &input, "-o", &voids, "--relevance-threshold", "1.5", "--neighbours", "12", "-q"];
    done(&[&search[..], &["--report", &report]].concat());
    let page = svg(&format!("{report}/index.html"));
    assert!(
        page.contains("The largest voids") && page.contains("Cumulative size function"),
        "a report of voids"
    );
    let n = read(Path::new(&voids)).expect("voids").table("voids").expect("voids").n_rows();
    assert!(page.contains(&format!("voids ({n})")));
    let seen = done_json(&["view", &voids, "--void", "1"]);
    let zones = seen["zones"].as_array().expect("zones").len();
    assert_eq!(seen["columns"]["n_zones"]["value"].as_u64(), Some(zones as u64));
    done(&["view", &voids, "--void", "1", "--plot", &plot, "-q"]);
    assert!(has(&svg(&plot), "number with radius ≥ r"));
}
