//! `inselberg fof` on snapshots in Gadget's layout, in all its variants and with every damage.

use crate::common::friends::{distance2, group_ids};
use crate::common::gadget::{Ids, Kind, MassesIn, Style, clumps, edit, list, put, side, vectors, write};
use crate::common::room::{Room, done, done_json};
use inselberg_comm::{Comm, Rank, run_threads};
use inselberg_io::Snapshot;
use inselberg_io::catalogue::{Catalogue, Values, read};
use inselberg_io::collective;
use inselberg_io::particles::{Columns, ParticleInput, Positions, open_particles};
use std::fs;
use std::path::{Path, PathBuf};

const NONE: i64 = 2_147_483_647;
const LENGTH: f64 = 0.2;

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn integers(file: &Catalogue, table: &str, name: &str) -> Vec<i64> {
    match file.table(table).and_then(|t| t.column(name)).map(|c| c.values.clone()) {
        Some(Values::I64(values)) => values,
        other => panic!("{table}/{name}: {other:?}"),
    }
}

/// Searches `inputs` with 0.2 and groups of 4 and more: catalogue and group IDs.
fn search(room: &Room, inputs: &[PathBuf], more: &[&str]) -> (Catalogue, Catalogue) {
    let inputs: Vec<String> = inputs.iter().map(|p| text(p)).collect();
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let [to, ids] = ["f.hdf5", "ids.hdf5"].map(|name| room.path(name));
    let args = ["-o", &to, "--group-ids", &ids, "--linking-length", "0.2", "--min-size", "4"];
    done(&[&["fof"], &inputs[..], &args[..], more].concat());
    (read(Path::new(&to)).expect("a catalogue"), read(Path::new(&ids)).expect("IDs"))
}

#[test]
fn gadget_files_of_every_kind_have_the_groups_of_all_pairs() {
    let dark = clumps(600, 1);
    let style = Style::default();
    let styles = [
        style.clone(),
        Style { single: true, ids: Ids::U32, ..style.clone() },
        Style { gzip: true, masses: MassesIn::Table, six_kinds: true, ..style.clone() },
        Style { ids: Ids::I32, files: 3, box_is_list: true, ..style.clone() },
        Style { ids: Ids::None, masses: MassesIn::Nowhere, files: 2, gzip: true, single: true, ..style },
    ];
    for style in styles {
        let room = Room::new();
        let paths = write(Path::new(&room.path("")), &[(1, &dark)], &style);
        let own: Vec<u64> = (0..600).collect();
        let id = if style.ids == Ids::None { &own } else { &dark.id };
        let expected = group_ids(&dark.position, id, LENGTH, Some(side()), 4, NONE);
        for inputs in [&paths[..], &paths[..1], &paths[style.files - 1..]] {
            let ranks = ["--ranks", if style.gzip { "2" } else { "1" }];
            let is_told = style.masses == MassesIn::Nowhere;
            let mass: &[&str] = if is_told { &["--particle-mass", "0.25"] } else { &[] };
            let (found, ids) = search(&room, inputs, &[&ranks[..], mass].concat());
            assert_eq!(integers(&ids, "PartType1", "GroupIDs"), expected, "{style:?}");
            let mass = if is_told { 0.25 } else { 0.5 };
            let sizes = integers(&found, "Groups", "Sizes");
            assert!(sizes.len() > 3 && sizes[0] > 40, "{sizes:?}");
            let masses: Vec<f64> = sizes.iter().map(|n| *n as f64 * mass).collect();
            assert_eq!(found.table("Groups").expect("groups").reals("Masses"), Some(&masses[..]));
        }
    }
}

#[test]
fn masses_are_never_made_up() {
    let (room, dark, mut gas) = (Room::new(), clumps(300, 2), clumps(100, 2));
    gas.id.iter_mut().for_each(|id| *id += 2_000_000);
    let nowhere = Style { masses: MassesIn::Nowhere, ..Style::default() };
    let path = write(Path::new(&room.path("")), &[(1, &dark)], &nowhere).remove(0);
    let to = room.path("f.hdf5");
    let args = ["fof", &text(&path), "-o", &to, "--linking-length", "0.2", "--min-size", "4"];
    let mesh = ["phew", &text(&path), "--mesh-from-particles", "--density-threshold", "80", "-o", &to];
    let parts = [
        "PartType1 has neither masses nor an entry in MassTable",
        "a default mass in code units (--particle-mass)",
    ];
    room.refuses(&args, &parts);
    room.refuses(&mesh, &parts);
    done(&[&mesh[..], &["--particle-mass", "2"]].concat());
    let path = write(Path::new(&room.path("")), &[(0, &gas), (1, &dark)], &Style::default()).remove(0);
    room.refuses(
        &[&args[..], &["--particle-mass", "2"]].concat(),
        &["particle mass 2: the input states its own masses", "expected no particle mass (--particle-mass)"],
    );
    edit(&path, |file| file.unlink("PartType0/Masses"));
    room.refuses(&args, &["PartType0 has neither masses", "PartType1 has"]);
    let (found, _) = search(&room, &[path], &["--particle-mass", "0.125"]);
    let [sizes, linked] = ["Sizes", "LinkedSizes"].map(|name| integers(&found, "Groups", name));
    let mass = |(all, linked): (&i64, &i64)| 0.5 * *linked as f64 + 0.125 * (all - linked) as f64;
    let masses: Vec<f64> = sizes.iter().zip(&linked).map(mass).collect();
    assert!(sizes != linked);
    assert_eq!(found.table("Groups").expect("groups").reals("Masses"), Some(&masses[..]));
}

#[test]
fn assumed_units_are_told_and_can_be_set() {
    use inselberg_io::catalogue::{Attribute, Dimension, units::cgs_factor};
    let (room, dark) = (Room::new(), clumps(300, 2));
    let path = text(&write(Path::new(&room.path("")), &[(1, &dark)], &Style::default())[0]);
    for name in ["f.hdf5", "f.csv"] {
        let to = room.path(name);
        let args = ["fof", &path, "-o", &to, "--linking-length", "0.2"];
        let units = |more: &[&str]| {
            let json = done_json(&[&args[..], more].concat());
            let found = read(Path::new(&to)).expect("a catalogue");
            let factor = |dimension| cgs_factor(&found.attributes, dimension).expect("units");
            let told = match found.attribute("assumed_units") {
                Some(Attribute::Text(text)) => text.clone(),
                None => String::new(),
                other => panic!("{other:?}"),
            };
            let names: Vec<&str> = told.split(", ").filter(|name| !name.is_empty()).collect();
            assert_eq!(json["assumed_units"], serde_json::json!(names));
            (told, [Dimension::LENGTH, Dimension::MASS, Dimension::VELOCITY].map(factor))
        };
        let alike = |(told, found): (String, [f64; 3]), names: &str, expected: [f64; 3]| {
            assert_eq!(told, names);
            let near = |(a, b): (&f64, &f64)| (a / b - 1.0).abs() < 1e-12;
            assert!(found.iter().zip(&expected).all(near), "{found:?} {expected:?}");
        };
        alike(units(&[]), "length, mass, velocity", [3.085_678e21, 1.989e43, 1e5]);
        alike(units(&["--unit-length", "3e24"]), "mass, velocity", [3e24, 1.989e43, 1e5]);
        let all = ["--unit-length", "3e24", "--unit-mass", "2e43", "--unit-velocity", "3e5"];
        alike(units(&all), "", [3e24, 2e43, 3e5]);
        let line = "units             length, mass, velocity assumed to be Gadget's own; set them with --unit-length, \
                    --unit-mass, --unit-velocity\n";
        assert!(done(&args).contains(line));
        assert!(!done(&[&args[..], &all].concat()).contains("assumed"));
        let mesh = ["phew", &path, "--mesh-from-particles", "--density-threshold", "80", "-o", &to];
        assert!(done(&mesh).contains(line));
        assert!(read(Path::new(&to)).expect("a catalogue").attribute("assumed_units").is_some());
    }
    assert!(done(&["info", &path]).contains("assumed to be Gadget's own"));
    let said = vec![("Time", 0.0), ("UnitLength_in_cm", 3e21)];
    let path = write(Path::new(&room.path("")), &[(1, &dark)], &Style { header: said, ..Style::default() });
    let length = ["-o", &room.path("g.hdf5"), "--linking-length", "0.2", "--unit-length", "1e21"];
    let parts = [
        "the snapshot states UnitLength_in_cm = 3000000000000000000000",
        "expected no unit length (--unit-length)",
    ];
    room.refuses(&[&["fof", &text(&path[0])], &length[..]].concat(), &parts);
    let ramses = text(&crate::common::output("dm_1rank"));
    let parts = ["--unit-length", "only Gadget snapshots may leave their units open"];
    room.refuses(&[&["fof", &ramses], &length[..]].concat(), &parts);
}

#[test]
fn a_dataset_of_an_hdf5_file_is_a_plain_array() {
    let (room, dark) = (Room::new(), clumps(500, 5));
    let path =
        write(Path::new(&room.path("")), &[(1, &dark)], &Style { gzip: true, ..Style::default() }).remove(0);
    let [place, ids] = [format!("{}:/PartType1/Coordinates", text(&path)), room.path("ids.hdf5")];
    done(&["fof", &place, "--box", "10", "--linking-length", "0.2", "--min-size", "4", "--group-ids", &ids]);
    let expected = group_ids(&dark.position, &(0..500).collect::<Vec<_>>(), LENGTH, Some(10.0), 4, NONE);
    let file = hdf5::File::open(&ids).expect("IDs");
    let at_root: Vec<i64> = file.dataset("GroupIDs").expect("at the root").read_raw().expect("read");
    assert_eq!(at_root, expected);
    let parts = ["not_there", "no such dataset"];
    room.refuses(
        &["fof", &format!("{}:/PartType1/not_there", text(&path)), "--open", "-o", &room.path("f.csv")],
        &parts,
    );
    let masses = format!("{}:/PartType1/Masses", text(&path));
    room.refuses(
        &["fof", &masses, "--open", "-o", &room.path("f.csv")],
        &["PartType1/Masses", "shape [500]", "[N, 3]"],
    );
}

#[test]
fn attached_particles_join_the_nearest_that_links() {
    let (room, dark, mut gas) = (Room::new(), clumps(500, 2), clumps(300, 2));
    gas.position.iter_mut().for_each(|x| x[0] = f64::from((x[0] + 0.0625) as f32).rem_euclid(10.0));
    gas.id.iter_mut().for_each(|id| *id += 2_000_000);
    let paths = write(Path::new(&room.path("")), &[(0, &gas), (1, &dark)], &Style::default());
    let links = group_ids(&dark.position, &dark.id, LENGTH, Some(side()), 4, NONE);
    let nearest = |at: &[f64; 3]| {
        let distance = |i: &usize| distance2(*at, dark.position[*i], Some(side()));
        let near = (0..500).filter(|i| distance(i) < LENGTH * LENGTH);
        near.min_by(|a, b| distance(a).total_cmp(&distance(b)).then(dark.id[*a].cmp(&dark.id[*b])))
    };
    let expected: Vec<i64> = gas.position.iter().map(|x| nearest(x).map_or(NONE, |i| links[i])).collect();
    assert!(expected.iter().filter(|id| **id != NONE).count() > 50);
    for ranks in ["1", "3"] {
        let (found, ids) = search(&room, &paths, &["--ranks", ranks]);
        assert_eq!(integers(&ids, "PartType1", "GroupIDs"), links);
        assert_eq!(integers(&ids, "PartType0", "GroupIDs"), expected);
        let (sizes, linked) =
            (integers(&found, "Groups", "Sizes"), integers(&found, "Groups", "LinkedSizes"));
        for (row, (size, linked)) in sizes.iter().zip(&linked).enumerate() {
            let count = |ids: &[i64]| ids.iter().filter(|id| **id == row as i64 + 1).count() as i64;
            assert_eq!((*size, *linked), (count(&links) + count(&expected), count(&links)));
        }
        densest_is_the_densest(&found, &gas, &expected);
    }
    let (found, ids) = search(&room, &paths, &["--attaching-types", "0,0,0,0,0,0,0"]);
    assert!(ids.table("PartType0").is_none() && found.table("Groups").is_some());
}

fn densest_is_the_densest(found: &Catalogue, gas: &Kind, group_of: &[i64]) {
    let densest = found.table("Groups").and_then(|groups| groups.counts("DensestGasIDs")).expect("IDs");
    for (row, id) in densest.iter().enumerate() {
        let members = (0..gas.id.len()).filter(|i| group_of[*i] == row as i64 + 1);
        let best = members
            .max_by(|a, b| gas.density[*a].total_cmp(&gas.density[*b]).then(gas.id[*b].cmp(&gas.id[*a])));
        assert_eq!(*id, best.map_or(0, |i| gas.id[i]));
    }
}

#[test]
fn black_holes_are_seeded_by_mass_in_groups_without_one() {
    let (room, mut dark, mut gas, mut hole) = (Room::new(), clumps(500, 3), clumps(200, 3), clumps(1, 3));
    dark.mass.iter_mut().for_each(|m| *m = 0.75);
    gas.id.iter_mut().for_each(|id| *id += 2_000_000);
    let links = group_ids(&dark.position, &dark.id, LENGTH, Some(side()), 4, NONE);
    let largest = links.iter().position(|id| *id == 1).expect("a group");
    hole.position[0] = dark.position[largest];
    hole.id[0] = 5_000_000;
    let paths = write(Path::new(&room.path("")), &[(0, &gas), (1, &dark), (5, &hole)], &Style::default());
    // Gadget's masses are 1e10 solar masses.
    let (found, _) = search(&room, &paths, &["--seed-black-holes", "--black-hole-seed-mass", "2e11"]);
    let flags =
        |name: &str| match found.table("Groups").and_then(|t| t.column(name)).map(|c| c.values.clone()) {
            Some(Values::U8(flags)) => flags,
            other => panic!("{name}: {other:?}"),
        };
    let (has, seeded) = (flags("HasBlackHole"), flags("IsSeeded"));
    let masses = found.table("Groups").and_then(|t| t.reals("Masses")).expect("masses");
    let densest = found.table("Groups").and_then(|groups| groups.counts("DensestGasIDs")).expect("IDs");
    for row in 0..has.len() {
        let expected = has[row] == 0 && densest[row] != 0 && masses[row] * 1.989e43 > 2e11 * 1.98841e33;
        assert_eq!((has[row], seeded[row]), (u8::from(row == 0), u8::from(expected)), "row {row}");
    }
    assert!(seeded.contains(&1));
}

/// The linking length that the program prints.
fn length_of(room: &Room, kinds: &[(usize, &Kind)], header: &[(&'static str, f64)]) -> f64 {
    let style = Style { header: header.to_vec(), ..Style::default() };
    let path = write(Path::new(&room.path("")), kinds, &style).remove(0);
    let json = done_json(&["fof", &text(&path), "-o", &room.path("f.hdf5")]);
    json["linking_length"].as_f64().expect("a length")
}

#[test]
fn the_linking_length_is_swifts() {
    let (room, mut dark, mut gas) = (Room::new(), clumps(100, 1), clumps(50, 2));
    dark.mass.iter_mut().for_each(|m| *m = 1e-6);
    gas.mass.iter_mut().for_each(|m| *m = 2e-7);
    gas.id.iter_mut().for_each(|id| *id += 2_000_000);
    // 10^10 solar masses over h, kiloparsecs over h.
    let critical = 2.775_4e-8;
    let alike =
        |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-3, "{found}, {expected}");
    let plain = length_of(&room, &[(1, &dark)], &[("Time", 0.0)]);
    alike(plain, 0.2 * (1000.0f64 / 100.0).cbrt());
    let mut header =
        vec![("Time", 0.5), ("Redshift", 1.0), ("Omega0", 0.3), ("OmegaLambda", 0.7), ("HubbleParam", 0.7)];
    alike(length_of(&room, &[(1, &dark)], &header), 0.2 * (1e-6f64 / (0.3 * critical)).cbrt());
    let both = [(0, &gas), (1, &dark)];
    let path = write(Path::new(&room.path("")), &both, &Style { header: header.clone(), ..Style::default() })
        .remove(0);
    room.refuses(
        &["fof", &text(&path), "-o", &room.path("g.hdf5")],
        &["mean separation", "density of dark matter", "(--linking-length)"],
    );
    header.push(("OmegaBaryon", 0.05));
    alike(length_of(&room, &both, &header), 0.2 * (1e-6f64 / (0.25 * critical)).cbrt());
    let found = read(Path::new(&room.path("f.hdf5"))).expect("a catalogue");
    let cgs = inselberg_io::catalogue::units::cgs_factor(
        &found.attributes,
        inselberg_io::catalogue::Dimension::LENGTH,
    );
    alike(cgs.expect("units"), 3.085_678e21 / 0.7 * 0.5);
    let cgs = inselberg_io::catalogue::units::cgs_factor(
        &found.attributes,
        inselberg_io::catalogue::Dimension::VELOCITY,
    );
    alike(cgs.expect("units"), 1e5);
    header[1] = ("Redshift", 0.0);
    alike(length_of(&room, &[(1, &dark)], &header), plain);
}

/// How a snapshot is changed, and parts of the message. Densities and potentials need masses. The search
/// alone does not.
#[test]
fn a_particle_without_mass_is_refused_by_all_commands_alike() {
    let (room, kind) = (Room::new(), clumps(100, 0));
    let units = [("UnitLength_in_cm", 3e24), ("UnitMass_in_g", 2e43), ("UnitVelocity_in_cm_per_s", 1e5)];
    let style = Style { header: [vec![("Time", 0.0)], units.to_vec()].concat(), ..Style::default() };
    let path = write(Path::new(&room.path("")), &[(1, &kind)], &style).remove(0);
    edit(&path, |file| set(file, "Masses", 3, 0.0));
    let input = text(&path);
    let to = room.path("c.hdf5");
    let fof = ["fof", &input, "-o", &to, "--linking-length", "0.2"];
    done(&fof);
    let phew = ["phew", &input, "-o", &to, "--density-threshold", "5"];
    let all: [&[&str]; 5] = [
        &[&fof[..], &["--properties", "bound"]].concat(),
        &[&phew[..], &["--mesh-from-particles"]].concat(),
        &[&phew[..], &["--mesh-from-particles", "--unbind"]].concat(),
        &[&phew[..], &["--particle-graph"]].concat(),
        &["voids", &input, "-o", &to],
    ];
    for args in all {
        room.refuses(args, &["PartType1 row 3: mass 0; expected a finite mass above 0"]);
    }
}

type Damages = [(fn(&hdf5::File) -> hdf5::Result<()>, &'static [&'static str])];

#[test]
fn damaged_datasets_are_refused() {
    refuses_each(&[
        (|f| f.unlink("PartType1/Coordinates"), &["PartType1/Coordinates: no such dataset", "expected"]),
        (|f| f.unlink("PartType1"), &["PartType1/Coordinates: no such dataset"]),
        (
            |f| {
                f.unlink("PartType1/Coordinates")?;
                list(&f.group("PartType1")?, "Coordinates", &[0.5; 100])
            },
            &["PartType1/Coordinates: shape [100]; expected [100, 3]"],
        ),
        (
            |f| {
                f.unlink("PartType1/Coordinates")?;
                vectors(&f.group("PartType1")?, "Coordinates", &[[1i32; 3]; 100], false)
            },
            &["PartType1/Coordinates", "signed integers; expected reals"],
        ),
        (|f| set(f, "Coordinates", 17, f64::NAN), &["snap_007.hdf5: PartType1 row 5: position", "NaN"]),
        (|f| set(f, "Coordinates", 30, -1e3), &["PartType1 row 10: position", "far outside the box"]),
        (|f| set(f, "Masses", 3, f64::NAN), &["PartType1 row 3: mass NaN"]),
        (|f| set(f, "Masses", 3, -1.0), &["PartType1 row 3: mass -1; expected a finite mass, 0 or more"]),
        (|f| set(f, "Velocities", 5, f64::INFINITY), &["PartType1 row 1: velocity", "inf"]),
        (|f| set(f, "ParticleIDs", 3, 7919.0), &["snap_007.hdf5", "the ID 7919", "once"]),
    ]);
}

#[test]
fn damaged_headers_are_refused() {
    refuses_each(&[
        (|f| f.unlink("Header"), &["Header/NumPart_ThisFile: not there; expected the header of a snapshot"]),
        (
            |f| header(f, "NumPart_ThisFile", &[0.0, 99.0]),
            &["PartType1/Coordinates: shape [100, 3]; expected [99, 3]"],
        ),
        (
            |f| header(f, "NumPart_ThisFile", &[0.0, -1.0]),
            &["Header/NumPart_ThisFile: -1; expected whole numbers"],
        ),
        (
            |f| header(f, "NumPart_ThisFile", &[0.0; 9]),
            &["Header/NumPart_ThisFile: 9 kinds of particles; expected at most 7"],
        ),
        (
            |f| header(f, "NumPart_ThisFile", &[0.0; 7]),
            &["Header/NumPart_Total: 100 particles of PartType1", "expected 0"],
        ),
        (
            |f| header(f, "NumPart_Total", &[0.0, 1000.0]),
            &["Header/NumPart_Total: 1000 particles of PartType1"],
        ),
        (|f| header(f, "BoxSize", &[f64::NAN]), &["Header/BoxSize: NaN; expected a side above 0"]),
        (|f| header(f, "BoxSize", &[1.0, 2.0]), &["Header/BoxSize: 2 sides; expected 1 or 3"]),
        (|f| header(f, "NumFilesPerSnapshot", &[3.0]), &["Header/NumFilesPerSnapshot: one of 3 files"]),
        (|f| header(f, "NumFilesPerSnapshot", &[0.5]), &["Header/NumFilesPerSnapshot: 0.5"]),
        (|f| header(f, "MassTable", &[0.0, -1.0]), &["Header/MassTable: -1; expected masses, 0 or more"]),
    ]);
}

fn refuses_each(damages: &Damages) {
    for (damage, parts) in damages {
        let (room, kind) = (Room::new(), clumps(100, 0));
        let path = write(Path::new(&room.path("")), &[(1, &kind)], &Style::default()).remove(0);
        edit(&path, damage);
        for ranks in ["1", "2"] {
            let to = room.path("f.hdf5");
            let args = ["fof", &text(&path), "-o", &to, "--linking-length", "0.2", "--ranks", ranks];
            room.refuses(&args, parts);
        }
    }
}

/// Sets the `i`-th number of a dataset.
fn set(file: &hdf5::File, name: &str, i: usize, value: f64) -> hdf5::Result<()> {
    let dataset = file.dataset(&format!("PartType1/{name}"))?;
    let shape = dataset.shape();
    let mut values = dataset.read_raw::<f64>()?;
    values[i] = value;
    let values = ndarray::ArrayView::from_shape(shape, &values).expect("a shape");
    dataset.write(values)
}

/// Replaces an attribute of the header.
fn header(file: &hdf5::File, name: &str, values: &[f64]) -> hdf5::Result<()> {
    let header = file.group("Header")?;
    header.delete_attr(name)?;
    put(&header, name, values)
}

#[test]
fn snapshots_that_do_not_hang_together_are_refused() {
    let (room, kind) = (Room::new(), clumps(100, 0));
    let folder = room.path("");
    let paths = write(Path::new(&folder), &[(1, &kind)], &Style { files: 3, ..Style::default() });
    let to = room.path("f.hdf5");
    let names: Vec<String> = paths.iter().map(|p| text(p)).collect();
    let length = ["-o", &to, "--linking-length", "0.2"];
    let refuses =
        |inputs: &[&str], parts: &[&str]| room.refuses(&[&["fof"], inputs, &length[..]].concat(), parts);
    refuses(&[&names[0], &names[2]], &["Header/NumFilesPerSnapshot: 2 files given; expected all 3"]);
    refuses(&[&names[0], &names[0], &names[2]], &["given twice"]);
    fs::rename(&paths[1], room.path("away")).expect("moved");
    refuses(&[&names[0]], &["snap_007.1.hdf5: not there; expected all 3 files"]);
    fs::rename(room.path("away"), &paths[1]).expect("back");
    let whole = fs::read(&paths[1]).expect("read");
    fs::write(&paths[1], &whole[..whole.len() / 2]).expect("torn");
    refuses(&[&names[0]], &["snap_007.1.hdf5: opening", "expected a complete HDF5 file"]);
    fs::write(&paths[1], &whole).expect("mended");
    edit(&paths[1], |file| header(file, "BoxSize", &[20.0]));
    refuses(&[&names[0]], &["snap_007.1.hdf5: Header/BoxSize", "20", "as in", "snap_007.0.hdf5"]);
    fs::write(&paths[1], "words").expect("text");
    refuses(&[&names[1]], &["snap_007.1.hdf5: opening", "expected a complete HDF5 file"]);
}

#[test]
fn snapshots_of_swift_say_their_cosmology_themselves() {
    let (room, mut dark, hole) = (Room::new(), clumps(200, 1), clumps(3, 9));
    dark.mass.iter_mut().for_each(|m| *m = 0.25);
    let path = write(Path::new(&room.path("")), &[(1, &dark), (5, &hole)], &Style::default()).remove(0);
    let said = |a: f64, cdm: f64| {
        let numbers = [
            ("Cosmological run", 1.0),
            ("Scale-factor", a),
            ("h", 0.7),
            ("Omega_m", 0.3),
            ("Omega_cdm", cdm),
            ("Omega_b", 0.3 - cdm),
            ("Critical density at redshift zero [internal units]", 4.0),
        ];
        edit(&path, |file| {
            let _ = file.unlink("Cosmology");
            let group = file.create_group("Cosmology")?;
            numbers.iter().try_for_each(|(name, value)| put(&group, name, &[*value]))
        });
    };
    let units = |group: &str, length: f64| {
        let numbers = [("length", "L", length), ("mass", "M", 2e43), ("time", "t", 3e16)];
        edit(&path, |file| {
            let group = file.create_group(group)?;
            let mut all = numbers.iter();
            all.try_for_each(|(what, u, value)| {
                put(&group, &format!("Unit {what} in cgs (U_{u})"), &[*value])
            })
        });
    };
    let length = || {
        let json = done_json(&["fof", &text(&path), "-o", &room.path("f.hdf5")]);
        json["linking_length"].as_f64().expect("a length")
    };
    let alike =
        |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-12, "{found}, {expected}");
    said(0.25, 0.25);
    alike(length(), 0.2 * (0.25f64 / (0.3 * 4.0)).cbrt());
    // The code computed in lengths twice as long: its densities are eighths in the units of the file.
    units("Units", 3e24);
    units("InternalCodeUnits", 6e24);
    alike(length(), 0.2 * (0.25f64 / (0.3 * 0.5)).cbrt());
    let found = hdf5::File::open(room.path("f.hdf5")).expect("a catalogue");
    let number =
        |at: &hdf5::Location, name: &str| at.attr(name).expect(name).read_raw::<f64>().expect(name)[0];
    let [centres, speeds] =
        ["Centres", "Velocities"].map(|n| found.dataset(&format!("Groups/{n}")).expect(n));
    let comoving = "Conversion factor to CGS (not including cosmological corrections)";
    let physical = "Conversion factor to physical CGS (including cosmological corrections)";
    alike(number(&centres, comoving), 3e24);
    alike(number(&centres, physical), 3e24 * 0.25);
    alike(number(&speeds, physical), 3e24 / 3e16);
    assert_eq!((number(&centres, "a-scale exponent"), number(&speeds, "a-scale exponent")), (1.0, 0.0));
    alike(number(&found.group("Header").expect("Header"), "Redshift"), 3.0);
    alike(number(&found.group("Cosmology").expect("Cosmology"), "h"), 0.7);
    black_holes_have_dynamical_masses(&room, &path);
}

fn black_holes_have_dynamical_masses(room: &Room, path: &Path) {
    edit(path, |file| file.group("PartType5")?.relink("Masses", "DynamicalMasses"));
    let told = done(&["info", &text(path)]);
    assert!(
        told.contains("SWIFT") && told.contains("3 black holes; positions in double precision, masses"),
        "{told}"
    );
    let holes = ["--linking-types", "0,0,0,0,0,1,0", "--linking-length", "4", "--min-size", "1"];
    done(&[&["fof", &text(path), "-o", &room.path("h.hdf5")], &holes[..]].concat());
    let found = read(Path::new(&room.path("h.hdf5"))).expect("a catalogue");
    let masses = found.table("Groups").and_then(|t| t.reals("Masses")).expect("masses");
    assert_eq!(masses.iter().sum::<f64>(), 1.5);
}

#[test]
fn info_says_what_particles_there_are() {
    let (room, dark, gas) = (Room::new(), clumps(300, 4), clumps(20, 4));
    let paths =
        write(Path::new(&room.path("")), &[(0, &gas), (1, &dark)], &Style { files: 2, ..Style::default() });
    let told = done(&["info", &text(&paths[0])]);
    for part in ["Gadget", "10 x 10 x 10", "periodic", "300 dark matter", "20 gas", "identities", "densities"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    let json = done_json(&["info", &format!("{}:/PartType1/Coordinates", text(&paths[0]))]);
    assert_eq!((json["species"][0]["n"].as_u64(), json["sides"].is_null()), (Some(150), true), "{json}");
    let swift = crate::common::swift_fixture();
    assert!(done(&["info", &text(&swift.join("snap_0000.hdf5"))]).contains("65 536 dark matter"));
    let theirs = text(&swift.join("fof_output_0000.hdf5"));
    room.refuses(&["info", &room.path("ids.hdf5")], &["no such file"]);
    assert!(done(&["info", &theirs]).contains("SWIFT"));
}

#[test]
fn a_box_is_said_once_and_may_be_left_open() {
    let (room, kind) = (Room::new(), clumps(300, 4));
    let path = write(Path::new(&room.path("")), &[(1, &kind)], &Style::default()).remove(0);
    let args = ["fof", &text(&path), "-o", &room.path("g.hdf5"), "--linking-length", "0.2"];
    room.refuses(
        &[&args[..], &["--box", "11"]].concat(),
        &["box side 11", "states its own box", "(--box, --open)"],
    );
    let (_, ids) = search(&room, &[path], &["--open"]);
    let expected = group_ids(&kind.position, &kind.id, LENGTH, None, 4, NONE);
    assert_eq!(integers(&ids, "PartType1", "GroupIDs"), expected);
}

/// Only rank 0 opens the files before they are read: the others could not.
#[test]
fn one_rank_looks_at_an_input_for_all() {
    let room = Room::new();
    let style = Style { files: 5, ..Style::default() };
    let paths = write(Path::new(&room.path("")), &[(1, &clumps(600, 1)), (0, &clumps(90, 2))], &style);
    let alone = open_particles(&paths).expect("opened");
    let of_rank = |comm: &Comm, paths: &[PathBuf], lost: &Path| match comm.rank() {
        Rank(0) => paths.to_vec(),
        _ => paths.iter().map(|path| lost.join(path.file_name().expect("a name"))).collect(),
    };
    let lost = Path::new("/no/such/folder");
    let rows = |input: &dyn ParticleInput, rows| {
        let mut columns = Columns {
            position: Positions::with_capacity(true, 0),
            mass: Some(vec![]),
            id: Some(vec![]),
            kind: None,
            velocity: None,
            density: None,
        };
        input.read(1, rows, &mut columns).expect("rows");
        format!("{columns:?}")
    };
    let ran = run_threads(6, |comm| {
        let input = collective::open_particles(&of_rank(comm, &paths, lost), comm).expect("opened");
        (input.about().clone(), rows(input.as_ref(), 100..500))
    });
    let expected = (alone.about().clone(), rows(alone.as_ref(), 100..500));
    assert!(ran.expect("no panic").into_iter().all(|found| found == expected));

    let ran =
        run_threads(3, |comm| collective::open_particles(&[lost.into()], comm).err().map(|e| e.to_string()));
    let told = ran.expect("no panic").into_iter().map(|error| error.expect("refused")).collect::<Vec<_>>();
    assert!(told[0].starts_with("/no/such/folder: there is no such file"), "{told:?}");
    assert!(told[1..].iter().all(|other| *other == format!("rank 0: {}", told[0])), "{told:?}");

    for run in ["gas_2ranks", "dm_3ranks"] {
        let output = crate::common::output(run);
        let alone = inselberg_io::open(&output).expect("opened");
        let seen = |snapshot: &dyn Snapshot| {
            let counts = |piece| (snapshot.count_octs(piece).ok(), snapshot.count_particles(piece).ok());
            format!("{:?} {:?} {:?}", snapshot.header(), snapshot.fields(), [0, 1].map(counts))
        };
        let ran = run_threads(3, |comm| {
            let path = of_rank(comm, std::slice::from_ref(&output), lost).remove(0);
            seen(collective::open(&path, comm).expect("opened").as_ref())
        });
        assert_eq!(ran.expect("no panic"), vec![seen(alone.as_ref()); 3]);
    }
}
