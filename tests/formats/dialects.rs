//! Snapshots of particles in HDF5 as each code writes them: names, units, boxes, and the statements that they
//! lack.

use crate::common::gadget::{Kind, Style, clumps, edit, list, put, write};
use crate::common::room::{Room, done, done_json};
use hdf5::types::VarLenAscii;
use inselberg_io::ReadResult;
use inselberg_io::catalogue::{Values, read};
use inselberg_io::particles::{
    Columns, InputDefaults, ParticleHeader, ParticleInput, Positions, open_particles, open_particles_from,
    read_particle_headers_with,
};
use std::fs;
use std::path::{Path, PathBuf};

/// A header with nothing but its time.
const TIME: [(&str, f64); 1] = [("Time", 0.5)];
/// A cosmological one, as Gadget writes it.
const HALF: [(&str, f64); 5] =
    [("Time", 0.5), ("Redshift", 1.0), ("Omega0", 0.3), ("OmegaLambda", 0.7), ("HubbleParam", 0.7)];
const UNITS: [(&str, f64); 3] =
    [("UnitLength_in_cm", 3e21), ("UnitMass_in_g", 2e43), ("UnitVelocity_in_cm_per_s", 1e5)];

/// A snapshot of dark matter with these numbers in its header, and no group of options.
fn snapshot(room: &Room, header: &[(&'static str, f64)]) -> PathBuf {
    snapshot_of(room, &[(1, &clumps(60, 1))], header)
}

fn snapshot_of(room: &Room, kinds: &[(usize, &Kind)], header: &[(&'static str, f64)]) -> PathBuf {
    styled(room, kinds, Style { header: header.to_vec(), ..Style::default() })
}

/// One of six types, as most codes have them.
fn of_six(room: &Room, kinds: &[(usize, &Kind)], header: &[(&'static str, f64)]) -> PathBuf {
    styled(room, kinds, Style { header: header.to_vec(), six_kinds: true, ..Style::default() })
}

fn styled(room: &Room, kinds: &[(usize, &Kind)], style: Style) -> PathBuf {
    let path = write(Path::new(&room.path("")), kinds, &style).remove(0);
    edit(&path, |file| file.unlink("Config"));
    path
}

/// Adds a number to a group, which is made if need be.
fn state(path: &Path, group: &str, name: &str, value: f64) {
    edit(path, |file| {
        let group = file.group(group).or_else(|_| file.create_group(group))?;
        group.new_attr::<f64>().create(name)?.write_scalar(&value)
    });
}

/// Adds a text to a group, as AREPO writes an option without a value.
fn say(path: &Path, group: &str, name: &str, value: &str) {
    let text = VarLenAscii::from_ascii(value).expect("a text");
    edit(path, |file| {
        let group = file.group(group).or_else(|_| file.create_group(group))?;
        group.new_attr::<VarLenAscii>().create(name)?.write_scalar(&text)
    });
}

fn open(path: &Path) -> ReadResult<Box<dyn ParticleInput>> {
    open_particles(&[path.to_path_buf()])
}

fn header(path: &Path) -> ParticleHeader {
    open(path).unwrap_or_else(|error| panic!("{error}")).about().clone()
}

fn refused(path: &Path, parts: &[&str]) {
    let error = open(path).map(|_| ()).expect_err("a contradiction").to_string();
    parts.iter().for_each(|part| assert!(error.contains(part), "{part} is not in: {error}"));
}

fn velocities(path: &Path) -> Vec<[f32; 3]> {
    let input = open(path).expect("opened");
    let mut columns = Columns {
        position: Positions::with_capacity(true, 0),
        mass: None,
        id: None,
        kind: None,
        velocity: Some(Vec::new()),
        density: None,
    };
    input.read(0, 0..input.about().species[0].n, &mut columns).expect("rows");
    columns.velocity.expect("asked for")
}

fn alike(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found}, expected {expected}");
}

/// A snapshot as GIZMO names things.
pub(crate) fn gizmo(room: &Room) -> PathBuf {
    let header = [
        ("Time", 0.5),
        ("Redshift", 1.0),
        ("ComovingIntegrationOn", 1.0),
        ("Omega_Matter", 0.3),
        ("Omega_Lambda", 0.7),
        ("Omega_Baryon", 0.048),
        ("HubbleParam", 0.7),
        ("UnitLength_In_CGS", 3e21 / 0.7),
        ("UnitMass_In_CGS", 2e43 / 0.7),
        ("UnitVelocity_In_CGS", 1e5),
        ("Gravitational_Constant_In_Code_Inits", 43007.1),
    ];
    of_six(room, &[(1, &clumps(60, 1))], &header)
}

/// One as EAGLE names columns and describes them.
pub(crate) fn eagle(room: &Room) -> PathBuf {
    let header = [&HALF[..], &[("ExpansionFactor", 0.5), ("H(z)", 4e-18), ("E(z)", 1.76)]].concat();
    let path = of_six(room, &[(1, &clumps(60, 1))], &header);
    let units = UNITS.into_iter().chain([("UnitTime_in_s", 3e16), ("UnitEnergy_in_cgs", 2e53)]);
    units.for_each(|(name, value)| state(&path, "Units", name, value));
    edit(&path, |file| {
        let groups = ["Config", "Constants", "HashTable", "Parameters", "RuntimePars"];
        groups.into_iter().try_for_each(|name| file.create_group(name).map(drop))
    });
    edit(&path, |file| {
        file.relink("PartType1/Velocities", "PartType1/Velocity")?;
        file.relink("PartType1/Masses", "PartType1/Mass")
    });
    let columns =
        [("Coordinates", 1.0, -1.0, "U_L"), ("Velocity", 0.5, 0.0, "U_V"), ("Mass", 0.0, -1.0, "U_M")];
    for ((name, of_a, of_h, symbol), unit) in columns.into_iter().zip([3e21, 1e5, 2e43]) {
        let text = VarLenAscii::from_ascii(symbol).expect("a text");
        edit(&path, |file| {
            let column = file.dataset(&format!("PartType1/{name}"))?;
            column.new_attr::<VarLenAscii>().create("VarDescription")?.write_scalar(&text)?;
            let powers =
                [("aexp-scale-exponent", of_a), ("h-scale-exponent", of_h), ("CGSConversionFactor", unit)];
            powers.into_iter().try_for_each(|(attribute, value)| {
                column.new_attr::<f64>().create(attribute)?.write_scalar(&value)
            })
        });
    }
    path
}

/// One as AREPO describes a long box.
pub(crate) fn arepo(room: &Room) -> PathBuf {
    let mut gas = clumps(20, 2);
    gas.id.iter_mut().for_each(|id| *id += 2_000_000);
    let header = [&HALF[..], &UNITS[..]].concat();
    let path = of_six(room, &[(0, &gas), (1, &clumps(60, 1))], &header);
    say(&path, "Config", "VORONOI", "");
    state(&path, "Config", "LONG_X", 2.0);
    path
}

#[test]
fn gizmos_names_mean_what_gadgets_mean() {
    let (room, other) = (Room::new(), Room::new());
    let gadget = snapshot(&room, &[&HALF[..], &UNITS[..], &[("OmegaBaryon", 0.048)]].concat());
    let path = gizmo(&other);
    let (ours, expected) = (header(&path), header(&gadget));
    let units = |about: &ParticleHeader| about.units.expect("units");
    alike(units(&ours).length, units(&expected).length);
    alike(units(&ours).density, units(&expected).density);
    alike(units(&ours).time, units(&expected).time);
    assert_eq!((ours.assumed_units.len(), ours.cosmology), (0, expected.cosmology));
    assert_eq!(velocities(&path), velocities(&gadget));
    let kernel = 2.8 * 0.04;
    edit(&path, |file| {
        let name = "Fixed_ForceSoftening_Keplerian_Kernel_Extent";
        put(&*file.group("Header")?, name, &[0.0, kernel, 0.0, 0.0, 0.0, 0.0])
    });
    alike(header(&path).softening[1].expect("stated"), 0.04);
    state(&path, "Header", "Omega_Radiation", 8e-5);
    assert_eq!(header(&path).cosmology.expect("one").omega_r, 8e-5);
}

#[test]
fn a_time_that_is_no_expansion_factor_needs_two_other_statements() {
    let age = [("Time", 0.0042), ("Redshift", 1.0), ("Omega0", 0.3), ("HubbleParam", 0.7)];
    let (room, half) = (Room::new(), Room::new());
    let (path, expected) = (snapshot(&room, &age), snapshot(&half, &HALF));
    refused(&path, &["redshift 1, and its time 0.0042 is not the expansion factor 0.5"]);
    let text = path.to_string_lossy().into_owned();
    let args = ["fof", &text, "-o", &room.path("f.csv"), "--linking-length", "0.2"];
    room.refuses(&args, &["redshift 1", "0.0042", "(--expansion-factor)"]);
    let given = InputDefaults { expansion_factor: Some(0.5), ..InputDefaults::default() };
    let facts = read_particle_headers_with(std::slice::from_ref(&path), &given).expect("decided");
    let about = open_particles_from(&facts).about().clone();
    assert_eq!(about.cosmology.as_ref().expect("one").aexp, 0.5);
    assert!(about.notes[0].contains("the expansion factor 0.5 was given"), "{:?}", about.notes);
    assert!(done(&[&args[..], &["--expansion-factor", "0.5"]].concat()).contains("note"));
    let written = read(Path::new(&room.path("f.csv"))).expect("a catalogue");
    assert!(written.attribute("input_notes").is_some());
    state(&path, "Header", "ExpansionFactor", 0.5);
    assert_eq!(header(&path).cosmology.expect("one").aexp, 0.5);
    assert_eq!(velocities(&path), velocities(&expected));
    let error = read_particle_headers_with(&[path], &given).expect_err("stated").to_string();
    assert!(error.contains("the snapshot states 0.5"), "{error}");
}

#[test]
fn softening_lengths_of_named_types_are_known() {
    let room = Room::new();
    let path = snapshot(&room, &HALF);
    assert_eq!(header(&path).softening[1], None);
    state(&path, "RuntimePars", "SofteningHalo", 0.04);
    assert_eq!(header(&path).softening[1], Some(0.04));
    // The greatest physical length over the expansion factor.
    state(&path, "RuntimePars", "SofteningHaloMaxPhys", 0.01);
    state(&path, "RuntimePars", "SofteningStars", 0.03);
    let softening = header(&path).softening;
    assert_eq!([softening[0], softening[1], softening[4]], [None, Some(0.02), Some(0.03)]);
}

#[test]
fn contradicting_headers_name_both_statements() {
    let cases: [(&str, &str, f64, &[&str]); 5] = [
        ("Header", "ExpansionFactor", 0.25, &["0.25; expected 0.5 as of the redshift 1"]),
        ("Header", "ComovingIntegrationOn", 0.0, &["off; expected a comoving run as of the redshift 1"]),
        ("Parameters", "Omega0", 0.4, &["Parameters/Omega0: 0.4; expected 0.3 as in Header/Omega0"]),
        ("Parameters", "BoxSize", 50.0, &["Parameters/BoxSize: 50; expected 10 as in Header/BoxSize"]),
        ("Config", "NTYPES", 4.0, &["7 types; expected 4 as in Config/NTYPES"]),
    ];
    for (group, name, value, parts) in cases {
        let room = Room::new();
        let path = snapshot(&room, &HALF);
        state(&path, group, name, value);
        refused(&path, parts);
    }
    let room = Room::new();
    let path = snapshot(&room, &TIME);
    say(&path, "Config", "PERIODIC", "");
    state(&path, "Parameters", "PeriodicBoundariesOn", 0.0);
    refused(&path, &["Config/PERIODIC: periodic; expected not periodic as PeriodicBoundariesOn says"]);
    let room = Room::new();
    let path = snapshot(&room, &[&HALF[..], &UNITS[..], &[("UnitLength_In_CGS", 3e21)]].concat());
    refused(&path, &["header, units", "factor 1/h"]);
}

#[test]
fn options_of_the_code_say_which_box() {
    let open = |option: &[(&str, Option<f64>)], head: &[(&'static str, f64)]| {
        let room = Room::new();
        let path = snapshot(&room, head);
        for (name, value) in option {
            match value {
                Some(value) => state(&path, "Config", name, *value),
                None => say(&path, "Config", name, ""),
            }
        }
        let about = header(&path);
        (about.sides.expect("a box"), about.periodic, about.boundary_is_assumed)
    };
    let cube = [10.0; 3];
    assert_eq!(open(&[], &TIME), (cube, false, true));
    assert_eq!(open(&[], &HALF), (cube, true, false));
    assert_eq!(open(&[("PERIODIC", None)], &TIME), (cube, true, false));
    assert_eq!(open(&[("LONG_X", Some(2.0)), ("VORONOI", None)], &TIME), ([20.0, 10.0, 10.0], true, false));
    assert_eq!(open(&[("LONG_Y", Some(0.5))], &HALF), ([10.0, 5.0, 10.0], true, false));
    assert_eq!(open(&[("LONG_Z_BITS", Some(2.0))], &HALF), ([10.0, 10.0, 2.5], true, false));
    assert_eq!(open(&[("REFLECTIVE_X", Some(1.0)), ("VORONOI", None)], &HALF), (cube, false, false));
    assert_eq!(
        open(&[("BOX_LONG_X", Some(3.0)), ("BOX_PERIODIC", None)], &TIME),
        ([30.0, 10.0, 10.0], true, false)
    );
    let room = Room::new();
    let path = snapshot(&room, &TIME);
    say(&path, "Config", "LONG_X", "many");
    refused(&path, &["Config/LONG_X", "expected a number above 0"]);
}

#[test]
fn an_open_box_is_told_and_a_given_side_makes_it_periodic() {
    let room = Room::new();
    let path = snapshot(&room, &TIME).to_string_lossy().into_owned();
    let args = ["fof", &path, "-o", &room.path("f.hdf5"), "--linking-length", "0.2", "--min-size", "4"];
    let of = |more: &[&str]| {
        let json = done_json(&[&args[..], more].concat());
        let notes = json["notes"].as_array().expect("a list").len();
        let file = read(Path::new(&room.path("f.hdf5"))).expect("a catalogue");
        (notes, file.attribute("input_notes").is_some(), file.attribute("periodic").cloned())
    };
    let reals = |x: f64| Some(inselberg_io::catalogue::Attribute::Reals(vec![x; 3]));
    assert_eq!(of(&[]), (1, true, reals(0.0)));
    assert_eq!(of(&["--open"]), (0, false, reals(0.0)));
    assert_eq!(of(&["--box", "10"]), (0, false, reals(1.0)));
    assert!(done(&["info", &path]).contains("note        the box is taken as open"));
    let mesh =
        ["phew", &path, "--mesh-from-particles", "--density-threshold", "5", "-o", &room.path("p.csv")];
    let as_periodic = "the mesh takes the box as periodic";
    assert!(done(&mesh).contains(as_periodic));
    assert!(!done(&[&mesh[..], &["--box", "10"]].concat()).contains(as_periodic));
    edit(Path::new(&path), |file| {
        let mut positions = clumps(60, 1).position;
        positions[7][1] = -0.5;
        file.dataset("PartType1/Coordinates")?.write(ndarray::ArrayView2::from(&positions[..]))
    });
    // A particle of a run in an open box may lie outside of it.
    done(&mesh);
}

#[test]
fn what_does_not_take_part_cannot_stop_a_run() {
    let (room, dark, mut gas) = (Room::new(), clumps(80, 1), clumps(20, 2));
    gas.id.iter_mut().for_each(|id| *id += 2_000_000);
    let damages: [fn(&hdf5::File) -> hdf5::Result<()>; 4] = [
        |file| file.unlink("PartType0/Coordinates"),
        |file| file.unlink("PartType0"),
        |file| {
            file.unlink("PartType0/Coordinates")?;
            list(&file.group("PartType0")?, "Coordinates", &[1i32; 20])
        },
        |file| {
            let header = file.group("Header")?;
            header.delete_attr("NumPart_Total")?;
            put(&header, "NumPart_Total", &[21, 80, 0, 0, 0, 0, 0])
        },
    ];
    for damage in damages {
        let path = snapshot_of(&room, &[(0, &gas), (1, &dark)], &HALF);
        edit(&path, damage);
        let text = path.to_string_lossy().into_owned();
        let args = ["fof", &text, "-o", &room.path("f.csv"), "--linking-length", "0.2"];
        done(&[&args[..], &["--attaching-types", "0,0,0,0,0,0,0"]].concat());
        fs::remove_file(room.path("f.csv")).expect("written");
        room.refuses(&args, &["snap_007.hdf5: ", "PartType0"]);
        let mesh = ["phew", &text, "--mesh-from-particles", "--density-threshold", "5"];
        let to = ["-o", &room.path("p.csv")];
        done(&[&mesh[..], &to, &["--particle-types", "0,1,0,0,0,0,0"]].concat());
        fs::remove_file(room.path("p.csv")).expect("written");
        room.refuses(&[&mesh[..], &to, &["--particle-types", "1,1,0,0,0,0,0"]].concat(), &["PartType0"]);
        assert!(done(&["info", &text]).contains("gas; not readable: "));
    }
}

#[test]
fn names_of_eagle_are_known_and_two_names_are_refused() {
    let (room, other) = (Room::new(), Room::new());
    let (path, gadget) = (eagle(&room), snapshot(&other, &[&HALF[..], &UNITS[..]].concat()));
    assert_eq!(velocities(&path), velocities(&gadget));
    let species = &header(&path).species[0];
    assert!(species.has_velocities && species.mass == inselberg_io::particles::MassOf::Each);
    edit(&path, |file| list(&file.group("PartType1")?, "Masses", &[1.0; 60]));
    let problem = header(&path).species[0].problem.clone().expect("two masses");
    assert!(problem.contains("PartType1/Mass: also exists as PartType1/Masses"), "{problem}");
}

#[test]
fn a_column_with_other_powers_is_refused_where_it_takes_part() {
    for (column, name, power, wrong) in [
        ("Velocities", "a_scaling", 0.5, 0.0),
        ("Coordinates", "h-scale-exponent", -1.0, 0.0),
        ("Masses", "aexp-scale-exponent", 0.0, 1.0),
    ] {
        let room = Room::new();
        let path = snapshot(&room, &HALF);
        let place = format!("PartType1/{column}");
        edit(&path, |file| file.dataset(&place)?.new_attr::<f64>().create(name)?.write_scalar(&power));
        assert_eq!(header(&path).species[0].problem, None);
        edit(&path, |file| file.dataset(&place)?.attr(name)?.write_scalar(&wrong));
        let problem = header(&path).species[0].problem.clone().expect("another power");
        let expected = format!("{place}/{name}: {wrong}; expected {power}, the power of Gadget's units");
        assert!(problem.ends_with(&expected), "{problem}");
    }
}

#[test]
fn a_column_that_nobody_needs_may_be_anything() {
    let (room, dark, mut gas) = (Room::new(), clumps(80, 1), clumps(20, 1));
    gas.id.iter_mut().for_each(|id| *id += 2_000_000);
    let path = snapshot_of(&room, &[(0, &gas), (1, &dark)], &HALF);
    edit(&path, |file| {
        file.unlink("PartType0/Density")?;
        list(&file.group("PartType0")?, "Density", &[1u8; 7])
    });
    let text = path.to_string_lossy().into_owned();
    done(&["fof", &text, "-o", &room.path("f.hdf5"), "--linking-length", "0.2"]);
    let about = header(&path);
    assert!(!about.species[0].has_densities);
    assert!(about.notes.join("; ").contains("densities of the gas are no reals"), "{:?}", about.notes);
}

#[test]
fn wind_cells_among_stars_are_gas() {
    let (room, dark, mut stars) = (Room::new(), clumps(200, 1), clumps(50, 1));
    stars.id.iter_mut().for_each(|id| *id += 2_000_000);
    stars.mass.iter_mut().for_each(|mass| *mass = 1.0 / 64.0);
    let path = snapshot_of(&room, &[(1, &dark), (4, &stars)], &HALF);
    let formed: Vec<f32> = (0..50).map(|i| if i % 5 < 2 { -0.5 * (i % 2) as f32 } else { 0.25 }).collect();
    edit(&path, |file| list(&file.group("PartType4")?, "GFM_StellarFormationTime", &formed));
    let text = path.to_string_lossy().into_owned();
    let count = |attaching: &str| {
        let args = [
            "fof",
            &text,
            "-o",
            &room.path("f.hdf5"),
            "--linking-length",
            "20",
            "--attaching-types",
            attaching,
        ];
        done(&[&args[..], &["--open"]].concat());
        let groups = read(Path::new(&room.path("f.hdf5"))).expect("a catalogue");
        match groups.table("Groups").and_then(|table| table.column("Sizes")).map(|column| &column.values) {
            Some(Values::I64(sizes)) => sizes[0] - 200,
            other => panic!("{other:?}"),
        }
    };
    let all = [count("1,0,0,0,1,0,0"), count("1,0,0,0,0,0,0"), count("0,0,0,0,1,0,0")];
    assert_eq!(all, [50, 20, 30]);
    assert!(done(&["info", &text]).contains("stars, with wind cells, which are gas"));
}

#[test]
fn reals_of_two_bytes_are_converted() {
    let (room, dark, mut gas) = (Room::new(), clumps(80, 1), clumps(20, 1));
    gas.id.iter_mut().for_each(|id| *id += 2_000_000);
    let path = snapshot_of(&room, &[(0, &gas), (1, &dark)], &HALF);
    // The upper halves of single-precision reals are SWIFT's 16-bit floats, two in the place of one.
    let halves: Vec<u32> = gas.density.iter().map(|x| x.to_bits() >> 16).collect();
    let packed: Vec<f32> = halves.chunks(2).map(|pair| f32::from_bits(pair[0] | pair[1] << 16)).collect();
    let packed: Vec<f32> = packed.into_iter().chain([0.0; 10]).collect();
    edit(&path, |file| {
        file.unlink("PartType0/Density")?;
        list(&file.group("PartType0")?, "Density", &packed)
    });
    halve_the_type(&path, "PartType0/Density");
    let input = open(&path).expect("opened");
    let mut columns = Columns {
        position: Positions::with_capacity(true, 0),
        mass: None,
        id: None,
        kind: None,
        velocity: None,
        density: Some(Vec::new()),
    };
    input.read(0, 0..20, &mut columns).expect("rows");
    assert_eq!(columns.density.expect("asked for"), gas.density);
}

/// Makes 16-bit floats of the single-precision reals of a dataset: the only change of a type after which it
/// has them.
fn halve_the_type(path: &Path, name: &str) {
    let single: [u8; 20] = [0x11, 0x20, 31, 0, 4, 0, 0, 0, 0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0];
    let half: [u8; 20] = [0x11, 0x20, 15, 0, 2, 0, 0, 0, 0, 0, 16, 0, 7, 8, 0, 7, 127, 0, 0, 0];
    let before = fs::read(path).expect("a file");
    for at in (0..before.len() - 20).filter(|at| before[*at..*at + 20] == single) {
        let mut bytes = before.clone();
        bytes[at..at + 20].copy_from_slice(&half);
        fs::write(path, bytes).expect("written");
        let size = |file: hdf5::File| file.dataset(name)?.dtype().map(|elements| elements.size());
        if hdf5::File::open(path).and_then(size).is_ok_and(|size| size == 2) {
            return;
        }
    }
    panic!("{name} has no single-precision reals");
}

#[test]
fn a_part_of_a_run_says_so() {
    let room = Room::new();
    let path = swift(&room);
    let text = path.to_string_lossy().into_owned();
    let length = || {
        let json = done_json(&["fof", &text, "-o", &room.path("f.hdf5")]);
        let notes: Vec<String> = serde_json::from_value(json["notes"].clone()).expect("texts");
        (json["linking_length"].as_f64().expect("a length"), notes.join(" "))
    };
    let (whole, notes) = length();
    assert!(!notes.contains("subsample"), "{notes}");
    say(&path, "Header", "OutputType", "SubSampled");
    edit(&path, |file| put(&*file.group("Header")?, "SubSampleFractions", &[0.0f32, 0.25, 0.0]));
    let (sampled, notes) = length();
    alike(sampled, whole * 4f64.cbrt());
    assert!(notes.contains("a subsample of its run: 0.25 of PartType1"), "{notes}");
    say(&path, "Header", "CutoutType", "Subhalo");
    edit(&path, |file| {
        let header = file.group("Header")?;
        header.attr("NumFilesPerSnapshot")?.write_scalar(&600)?;
        header.delete_attr("NumPart_Total")?;
        put(&header, "NumPart_Total", &[0u32, 1_000_000, 0, 0, 0, 0, 0])
    });
    edit(&path, |file| {
        let text = VarLenAscii::from_ascii("DScale5").expect("a text");
        let dataset = file.dataset("PartType1/Coordinates")?;
        dataset.new_attr::<VarLenAscii>().create("Lossy compression filter")?.write_scalar(&text)
    });
    let notes = header(&path).notes.join("\n");
    assert!(notes.contains("a cut-out of its run (Subhalo)"), "{notes}");
    assert!(notes.contains("lossy compression: PartType1/Coordinates (DScale5)"), "{notes}");
}

/// A cosmological snapshot of SWIFT.
pub(crate) fn swift(room: &Room) -> PathBuf {
    let path = snapshot(room, &TIME);
    say(&path, "Header", "Code", "SWIFT");
    let cosmology = [
        ("Cosmological run", 1.0),
        ("Scale-factor", 0.5),
        ("Redshift", 1.0),
        ("h", 0.7),
        ("Omega_m", 0.3),
        ("Omega_lambda", 0.7),
        ("Omega_b", 0.05),
        ("Omega_cdm", 0.25),
        ("Critical density at redshift zero [internal units]", 13.6),
    ];
    cosmology.iter().for_each(|(name, value)| state(&path, "Cosmology", name, *value));
    for (name, value) in [("length", 3e24), ("mass", 2e43), ("time", 3e19)] {
        let symbol = if name == "time" { "t" } else { &name[..1].to_uppercase() };
        state(&path, "Units", &format!("Unit {name} in cgs (U_{symbol})"), value);
    }
    path
}

#[test]
fn swifts_redshift_must_be_that_of_its_factor() {
    let room = Room::new();
    let path = swift(&room);
    assert_eq!(header(&path).cosmology.expect("one").aexp, 0.5);
    edit(&path, |file| file.group("Cosmology")?.attr("Redshift")?.write_scalar(&2.0));
    refused(&path, &["Cosmology/Scale-factor: 0.5; expected 0.333", "as of Cosmology/Redshift"]);
    edit(&path, |file| {
        let cosmology = file.group("Cosmology")?;
        cosmology.attr("Redshift")?.write_scalar(&1.0)?;
        cosmology.attr("Cosmological run")?.write_scalar(&0.0)
    });
    refused(&path, &["Cosmology/Cosmological run: 0; expected 1 as of the redshift 1 and Omega_m = 0.3"]);
}

#[test]
fn a_folder_and_any_file_stand_for_the_snapshot() {
    let room = Room::new();
    let folder = room.path("snapdir_007");
    fs::create_dir(&folder).expect("a folder");
    let style = Style { files: 3, ..Style::default() };
    let paths = write(Path::new(&folder), &[(1, &clumps(60, 1))], &style);
    fs::write(Path::new(&folder).join("parameters-usedvalues"), "BoxSize 10\n").expect("written");
    let whole = open_particles(&paths).expect("opened").about().clone();
    for given in [Path::new(&folder), &paths[2]] {
        assert_eq!(header(given), whole);
    }
    let args = ["fof", &folder, "-o", &room.path("f.hdf5"), "--linking-length", "0.2"];
    assert_eq!(done_json(&args)["notes"], serde_json::json!([]));
    assert!(done(&["info", &folder]).contains("PartType1"));
    done(&["phew", &folder, "--mesh-from-particles", "--density-threshold", "5", "-o", &room.path("p.csv")]);
    fs::copy(&paths[0], Path::new(&folder).join("snap_008.0.hdf5")).expect("copied");
    room.refuses(&args, &["a folder with several snapshots, as snap_007.hdf5 and snap_008.hdf5"]);
}

/// The notes of a search with these options.
fn notes(room: &Room, path: &Path, more: &[&str]) -> String {
    let text = path.to_string_lossy().into_owned();
    let json = done_json(&[&["fof", &text, "-o", &room.path("f.hdf5")], more].concat());
    let notes: Vec<String> = serde_json::from_value(json["notes"].clone()).expect("texts");
    notes.join("\n")
}

#[test]
fn linking_lengths_far_from_the_separations_are_told() {
    let room = Room::new();
    let path = snapshot(&room, &TIME);
    let separation = (1000f64 / 60.0).cbrt();
    for (length, is_told) in
        [(0.2, false), (separation * 0.99, false), (separation * 1.01, true), (1e-3, true)]
    {
        let length = length.to_string();
        let notes = notes(&room, &path, &["--linking-length", &length, "--box", "10", "--min-size", "2"]);
        let range = "mean separations of the linking particles, 2.5544e0; usual are 0.1 to 0.3 of them: 2.5544e-1 to 7.6631e-1";
        assert_eq!(notes.contains(range), is_told, "{length}: {notes}");
    }
    let text = path.to_string_lossy().into_owned();
    let to = room.path("g.csv");
    room.refuses(&["fof", &text, "-o", &to], &["does not say that its box is periodic", "a given side"]);
    for (ratio, is_told) in [("0.01", true), ("0.05", false), ("1.5", true)] {
        let notes = notes(&room, &path, &["--linking-ratio", ratio, "--box", "10"]);
        assert_eq!(notes.contains("mean separations of the linking particles"), is_told, "{ratio}: {notes}");
    }
    // If there is no box, the smallest one around the particles is taken.
    edit(&path, |file| file.group("Header")?.attr("BoxSize")?.write_scalar(&0.0));
    assert!(notes(&room, &path, &["--linking-length", "8"]).contains("mean separations"));
    assert_eq!(notes(&room, &path, &["--linking-length", "0.2"]), "");
}

#[test]
fn a_density_that_is_not_that_of_the_cosmology_is_told() {
    let room = Room::new();
    let path = swift(&room);
    let told = "the dark matter that takes part has 7.353e-3 times the mean density";
    assert!(notes(&room, &path, &[]).contains(told));
    assert!(!notes(&room, &path, &["--linking-length", "0.2"]).contains("times the mean density"));
    edit(&path, |file| {
        let mass = 4080.0f32 / 60.0;
        file.dataset("PartType1/Masses")?.write(ndarray::ArrayView1::from(&[mass; 60]))
    });
    assert_eq!(notes(&room, &path, &[]), "");
}
