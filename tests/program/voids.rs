//! Voids by the command line: ranks, new thresholds, pictures, and what is refused.

use crate::common::compare::assert_same_table;
use crate::common::room::{Room, command, done};
#[cfg(feature = "hdf5")]
use crate::common::swift_fixture;
use inselberg_io::catalogue::{Attribute, Catalogue, read};
use std::path::Path;

/// The side of the box of 5000 particles of `synth particles`.
const SIDE: &str = "17.099760055541992";

fn particles(room: &Room) -> String {
    let npy = room.path("box.npy");
    done(&["synth", "particles", "-o", &npy, "--number", "5000"]);
    npy
}

fn on(room: &Room, npy: &str, name: &str, more: &[&str]) -> Catalogue {
    let to = room.path(name);
    done(&[&["voids", npy, "--box", SIDE, "-o", &to, "--neighbours", "20"], more].concat());
    read(Path::new(&to)).expect("a catalogue")
}

fn assert_same_voids(a: &Catalogue, b: &Catalogue, what: &str, but: &[&str]) {
    for name in ["voids", "zones", "tree"] {
        let mut a = a.table(name).expect(name).clone();
        a.columns.retain(|column| !but.contains(&column.name.as_str()));
        assert_same_table(&a, b.table(name).expect(name), what);
    }
}

#[test]
fn ranks_and_new_thresholds_change_nothing() {
    let room = Room::new();
    let npy = particles(&room);
    let all = ["--relevance-threshold", "1.2", "--wall-threshold", "0.4"];
    let one = on(&room, &npy, "one.csv", &all);
    assert!(one.table("zones").expect("zones").n_rows() > 3);
    assert_eq!(one.attribute("graph_neighbours"), Some(&Attribute::Int(20)));
    let three = on(&room, &npy, "three.csv", &[&all[..], &["--ranks", "3"]].concat());
    assert_same_voids(&one, &three, "3 ranks", &[]);
    let recut = room.path("recut.csv");
    let new = [
        "--relevance-threshold",
        "1.5",
        "--wall-threshold",
        "0.6",
        "--min-radius",
        "2",
        "--min-particles",
        "9",
    ];
    let stored = room.path("one.csv");
    let args = [&["recut", &stored, "-o", &recut][..], &new].concat();
    let out = command(&args).output().expect("the program starts");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(0), "{said}");
    assert!(said.contains("core_density to wall_density"), "{said}");
    let fresh = on(&room, &npy, "fresh.csv", &new);
    let recut = read(Path::new(&recut)).expect("a catalogue");
    assert_same_voids(&fresh, &recut, "recut", &["core_density", "wall_density"]);
}

#[cfg(feature = "plot")]
#[test]
fn a_picture_has_the_voids() {
    let room = Room::new();
    let npy = particles(&room);
    let to = room.path("voids.svg");
    done(&[
        "voids",
        &npy,
        "--box",
        SIDE,
        "--plot",
        &to,
        "--relevance-threshold",
        "1.2",
        "--wall-threshold",
        "0",
    ]);
    let svg = std::fs::read_to_string(to).expect("a picture");
    assert!(svg.contains("number with radius") && svg.contains("voids ("), "{}", &svg[..400]);
    // Circles are lines; one is in the legend.
    assert!(svg.matches("stroke=\"#40E0D0\"").count() > 2, "circles of voids");
}

#[test]
fn what_is_not_valid_is_refused_in_one_line() {
    let room = Room::new();
    let npy = particles(&room);
    let to = room.path("c.csv");
    let base = ["voids", &npy, "-o", &to];
    let refuses = |more: &[&str], parts: &[&str]| room.refuses(&[&base[..], more].concat(), parts);
    refuses(&[], &["box.npy", "(--box)"]);
    refuses(&["--box", SIDE, "--neighbours", "255"], &["--neighbours", "1 to 254"]);
    refuses(
        &["--box", SIDE, "--density-threshold", "0.1"],
        &["--wall-threshold", "at most the density threshold 0.1"],
    );
    refuses(&["--box", SIDE, "--relevance-threshold=-1"], &["--relevance-threshold", "0 or more"]);
    refuses(&["--box", SIDE, "--min-radius=-1"], &["--min-radius", "0 or more"]);
    refuses(&["--box", SIDE, "--particle-types", "0,0,0,0,0,0,0"], &["--particle-types", "at least one"]);
    refuses(&["--box", SIDE, "--plot-axis", "x"], &["--plot-axis", "--plot"]);
    room.refuses(&["voids", &npy, "--box", SIDE], &["needs an output"]);
}

#[test]
fn a_recut_takes_the_thresholds_of_its_catalogue() {
    let room = Room::new();
    let npy = particles(&room);
    let (voids, clumps, to) = (room.path("voids.csv"), room.path("clumps.csv"), room.path("to.csv"));
    done(&["voids", &npy, "--box", SIDE, "-o", &voids]);
    done(&["phew", &npy, "--particle-graph", "--box", SIDE, "-o", &clumps, "--density-threshold", "40"]);
    let refuses = |args: &[&str], parts: &[&str]| room.refuses(args, parts);
    refuses(
        &["recut", &voids, "-o", &to, "--saddle-threshold", "2"],
        &["voids.csv", "--saddle-threshold", "voids"],
    );
    refuses(
        &["recut", &clumps, "-o", &to, "--wall-threshold", "2"],
        &["clumps.csv", "--wall-threshold", "clumps"],
    );
}

/// yt and ParaView get one object per void, with its radius.
#[test]
#[cfg(feature = "hdf5")]
fn voids_are_written_for_viewers() {
    let room = Room::new();
    let input = swift_fixture().join("snap_0000.hdf5").to_string_lossy().into_owned();
    let (to, yt, vtk) = (room.path("v.csv"), room.path("yt"), room.path("vtk"));
    let search = ["voids", &input, "-o", &to, "--neighbours", "12", "--relevance-threshold", "1.5"];
    done(&[&search[..], &["--yt", &yt, "--vtk", &vtk, "-q"]].concat());
    let found = read(Path::new(&to)).expect("a catalogue");
    let Some(Attribute::Real(unit)) = found.attribute("unit_length") else { panic!("a unit") };
    let radii = found.table("voids").expect("voids").reals("radius").expect("radii").to_vec();
    let file = |path: String| hdf5::File::open(path).expect("a file");
    let of_yt = file(format!("{yt}/voids.0.h5")).dataset("virial_radius").expect("radii");
    let of_yt = of_yt.read_1d::<f64>().expect("numbers");
    assert_eq!(of_yt.len(), radii.len());
    assert!(of_yt.iter().zip(&radii).all(|(cgs, code)| (cgs / (code * unit) - 1.0).abs() < 1e-12));
    let of_vtk = file(format!("{vtk}/voids.vtkhdf")).dataset("VTKHDF/PointData/radius").expect("radii");
    assert_eq!(of_vtk.read_1d::<f64>().expect("numbers").to_vec(), radii);
    let converted = room.path("converted");
    done(&["convert", &to, "--to", "vtk", "-o", &converted, "-q"]);
    assert!(Path::new(&converted).join("voids.vtkhdf").is_file());
}
