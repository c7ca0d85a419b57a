//! Values with units: the same results as for plain numbers, whichever door they come through.

#[cfg(feature = "hdf5")]
use crate::common::compare::assert_same_table;
use crate::common::compare::real;
use crate::common::output;
use crate::common::room::{Room, done};
#[cfg(feature = "hdf5")]
use inselberg::ParticleMeshParams;
use inselberg::{Cells, Column, Engine, ErrorKind, Geometry, Params, PhewParams};
use inselberg_io::catalogue::{Attribute, Catalogue, read};
use std::path::Path;

fn found(arguments: &[&str], to: &str) -> Catalogue {
    done(&[arguments, &["-o", to]].concat());
    read(Path::new(to)).expect("a catalogue")
}

fn close(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-12
}

/// A cosmological output of cells.
fn cells() -> String {
    output("dm_1rank").to_string_lossy().into_owned()
}

#[test]
fn densities_of_cells_are_critical_mean_or_physical() {
    let (room, cells) = (Room::new(), cells());
    let plain = ["phew", &cells, "--density-threshold", "80", "--saddle-threshold", "200"];
    let plain = found(&plain, &room.path("plain.hdf5"));
    let [unit, omega] = ["unit_density", "omega_m"].map(|name| real(&plain, name));
    let aexp = real(&plain, "aexp");
    // Matter and a cosmological constant, as the output has them.
    let part = omega / aexp.powi(3) / (omega / aexp.powi(3) + real(&plain, "omega_l"));
    for (density, saddle) in [
        ("80mean".to_string(), "200 code".to_string()),
        (format!("{}g/cm3", 80.0 * unit), format!("{:e} g cm^-3", 200.0 * unit)),
        (format!("{}crit", 80.0 * part), format!("{} kg/m3", 200.0 * unit * 1e3)),
    ] {
        let to = room.path("units.hdf5");
        let given = ["phew", &cells, "--density-threshold", &density, "--saddle-threshold", &saddle];
        let catalogue = found(&given, &to);
        for (name, expected) in [("density_threshold", 80.0), ("saddle_threshold", 200.0)] {
            assert!(close(real(&catalogue, name), expected), "{density}, {saddle}: {name}");
        }
        let n = |of: &Catalogue| of.table("clumps").expect("clumps").n_rows();
        assert_eq!(n(&catalogue), n(&plain));
    }
}

#[test]
fn lengths_of_regions_and_maps_have_units() {
    let (room, cells) = (Room::new(), cells());
    let plain = ["phew", &cells, "--density-threshold", "80", "--region", "sphere:0.5,0.5,0.5,0.3"];
    let plain = found(&plain, &room.path("plain.hdf5"));
    let kpc = |code: f64| format!("{}kpc", code * real(&plain, "unit_length") / 3.085_677_581e21);
    let comoving = |code: f64| {
        let proper = code * real(&plain, "unit_length") / 3.085_677_581e24;
        format!("{}cMpc/h", proper / real(&plain, "aexp") * real(&plain, "h0") / 100.0)
    };
    for length in [&kpc as &dyn Fn(f64) -> String, &comoving] {
        let region = format!("sphere:0.5,{},0.5code,{}", length(0.5), length(0.3));
        let to = room.path("units.hdf5");
        let catalogue = found(&["phew", &cells, "--density-threshold", "80", "--region", &region], &to);
        let Some(Attribute::Text(region)) = catalogue.attribute("region") else { panic!("no region") };
        let numbers: Vec<f64> =
            region.trim_start_matches("sphere:").split(',').map(|x| x.parse().expect("a number")).collect();
        assert!(numbers.iter().zip([0.5, 0.5, 0.5, 0.3]).all(|(a, b)| close(*a, b)), "{region}");
    }
}

#[test]
#[cfg(feature = "hdf5")]
fn particles_take_units_in_files_and_in_new_cuts() {
    let room = Room::new();
    let snapshot = crate::common::gadget4().join("snapshot_004.hdf5").to_string_lossy().into_owned();
    let plain = found(
        &["phew", &snapshot, "--density-threshold", "90", "--saddle-threshold", "210"],
        &room.path("a.hdf5"),
    );
    let (mean, unit) = (real(&plain, "mean_density"), real(&plain, "unit_density"));
    let config = room.path("units.toml");
    let by_file = |density: &str| {
        let text = format!("[phew]\ndensity_threshold = \"{density}\"\nsaddle_threshold = \"210mean\"\n");
        std::fs::write(&config, text).expect("a file");
        found(&["phew", &snapshot, "--config", &config], &room.path("b.hdf5"))
    };
    let clumps = |of: &Catalogue| of.table("clumps").expect("clumps").clone();
    assert_same_table(&clumps(&by_file("90 mean")), &clumps(&plain), "90 mean");
    let physical = by_file(&format!("{}g/cm3", 90.0 * mean * unit));
    assert!(close(real(&physical, "density_threshold"), real(&plain, "density_threshold")));
    let cut = |threshold: &str| {
        found(&["recut", &room.path("a.hdf5"), "--saddle-threshold", threshold], &room.path("cut.hdf5"))
    };
    assert_same_table(&clumps(&cut("500mean")), &clumps(&cut("500")), "500mean");
    assert!(close(real(&cut(&format!("{} g/cm3", 500.0 * mean * unit)), "saddle_threshold"), 500.0 * mean));
    let groups = found(&["fof", &snapshot, "--linking-length", "0.1"], &room.path("g.hdf5"));
    let kpc = format!("{}kpc", 0.1 * real(&groups, "unit_length") / 3.085_677_581e21);
    let by_kpc = found(&["fof", &snapshot, "--linking-length", &kpc], &room.path("h.hdf5"));
    assert!(close(real(&by_kpc, "linking_length"), 0.1));
}

/// The mean density of the particles is the unit of a new cut in memory, too.
#[test]
#[cfg(feature = "hdf5")]
fn new_cuts_in_memory_have_the_unit_of_the_run() {
    let snapshot = crate::common::swift_fixture().join("snap_0000.hdf5");
    let mut engine = Engine::builder().threads(1).build().expect("an engine");
    let particles = engine.open_particles(&[snapshot]).expect("a snapshot");
    let params = PhewParams::new(60.0).saddle(200.0);
    let found = engine.phew_particles(&particles, &ParticleMeshParams::default(), &params).expect("clumps");
    let mean = found.attributes().iter().find(|(name, _)| name == "mean_density");
    let Some((_, Attribute::Real(mean))) = mean else { panic!("no mean density") };
    let mut new = params.clone();
    for saddle in ["500mean".to_string(), format!("{}code", 500.0 * mean)] {
        new.set("saddle_threshold", &saddle).expect("a density");
        let cut = found.recut(&new).expect("a new cut");
        assert!(close(cut.params().saddle.expect("a saddle"), 500.0), "{saddle}");
    }
}

#[test]
fn what_cannot_be_converted_is_one_line() {
    let (room, cells) = (Room::new(), cells());
    let to = room.path("c.hdf5");
    for (option, value, expected) in [
        ("--saddle-threshold", "200kpc", "expected a density without unit"),
        ("--saddle-threshold", "200 furlongs", "expected a number, or one with a unit"),
        ("--saddle-threshold", "20mean", "expected at least the density threshold 80"),
        ("--region", "sphere:0.5,0.5,0.5,3g", "expected a length without unit"),
    ] {
        let given = ["phew", &cells, "-o", &to, "--density-threshold", "80", option, value];
        room.refuses(&given, &[expected]);
    }
    let config = room.path("bad.toml");
    std::fs::write(&config, "[phew]\nsaddle_threshold = \"many\"\n").expect("a file");
    room.refuses(&["phew", &cells, "-o", &to, "--config", &config], &["many", "expected a number"]);
}

#[test]
fn cells_of_a_program_have_the_units_of_their_geometry() {
    let rho: Vec<f64> = (0..512).map(|i| if i % 3 == 0 { 10.0 } else { 1.0 }).collect();
    let places: Vec<[u32; 3]> = (0..512).map(|i| [i & 7, i >> 3 & 7, i >> 6]).collect();
    let mut engine = Engine::builder().threads(1).build().expect("an engine");
    let mut params = PhewParams::default();
    params.set("density_threshold", "5e-24 g/cm3").expect("a density");
    assert_eq!(params.get("density_threshold").as_deref(), Some("5e-24 g/cm3"));
    let units = inselberg_io::Units { length: 1.0, density: 1e-24, time: 1.0 };
    let geometry = Geometry::cube(1.0).units(units);
    let cells = Cells::from_leaves(geometry, &[3; 512], &places).expect("cells");
    let found = engine.phew(&cells, Column::from(&rho), &params).expect("clumps");
    assert_eq!(found.params().density.map(|density| (density * 1e6).round()), Some(5e6));
    let cells = Cells::from_leaves(Geometry::cube(1.0), &[3; 512], &places).expect("cells");
    let error = engine.phew(&cells, Column::from(&rho), &params).expect_err("no units");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.to_string().contains("the input states no units"), "{error}");
}
