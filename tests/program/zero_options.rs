//! PHEW without thresholds, by the command line: the values taken, the messages, and where it is refused.

use crate::common::compare::assert_same_table;
use crate::common::npy::npy_file;
use crate::common::room::{Room, command, done, done_json};
use crate::common::{output, program};
use inselberg::phew::defaults;
use inselberg_io::catalogue::{Attribute, Catalogue, read};
use std::path::Path;

fn found(to: &str) -> Catalogue {
    read(Path::new(to)).expect("a catalogue")
}

fn text(catalogue: &Catalogue, name: &str) -> String {
    match catalogue.attribute(name) {
        Some(Attribute::Text(text)) => text.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

fn haloes(catalogue: &Catalogue) -> usize {
    catalogue.table("haloes").expect("haloes").n_rows()
}

fn gas() -> String {
    output("gas_2ranks").to_string_lossy().into_owned()
}

/// A snapshot alone takes the mesh and the defaults: the tables of a run that states them.
#[test]
#[cfg(feature = "hdf5")]
fn a_snapshot_of_particles_needs_nothing_else() {
    let room = Room::new();
    let swift = crate::common::swift_fixture().join("snap_0000.hdf5").to_string_lossy().into_owned();
    let [to, given] = ["c.hdf5", "given.hdf5"].map(|name| room.path(name));
    let said = done(&["phew", &swift, "-o", &to, "--unbind"]);
    for line in [
        format!(
            "density threshold {} times the mean density of the particles, default: ",
            defaults::DENSITY.text
        ),
        format!(
            "saddle threshold  {} times the mean density of the particles, default: ",
            defaults::SADDLE.text
        ),
        format!("relevance         {}, default\n", defaults::RELEVANCE_ON_MESH.text),
    ] {
        assert!(said.contains(&line), "{said}");
    }
    let thresholds =
        ["--density-threshold", defaults::DENSITY.text, "--saddle-threshold", defaults::SADDLE.text];
    done(&[&["phew", &swift, "-o", &given, "--unbind", "--mesh-from-particles"], &thresholds[..]].concat());
    let (all, stated) = (found(&to), found(&given));
    assert_same_table(
        all.table("clumps").expect("clumps"),
        stated.table("clumps").expect("clumps"),
        "stated",
    );
    assert!(haloes(&all) > 20, "{}", haloes(&all));
    for name in ["density_threshold_origin", "saddle_threshold_origin"] {
        assert_eq!((text(&all, name), text(&stated, name)), ("default".into(), "given".into()), "{name}");
    }
    done(&["recut", &to, "-o", &given, "--saddle-threshold", "300", "--quiet"]);
    assert_eq!(text(&found(&given), "saddle_threshold_origin"), "given");
    assert_eq!(text(&found(&given), "relevance_threshold_origin"), "default");
}

/// The unit of an array, and of a snapshot whose units are assumed, is the mean of its particles.
#[test]
fn particles_without_a_cosmology_have_a_mean_of_their_own() {
    let room = Room::new();
    let (npy, to) = (room.path("box.npy"), room.path("c.csv"));
    done(&["synth", "particles", "-o", &npy, "--number", "20000"]);
    let side = 20_000f64.cbrt().next_up().to_string();
    let json = done_json(&["phew", &npy, "--box", &side, "-o", &to]);
    let thresholds = &json["thresholds"];
    assert_eq!(thresholds["unit"], "mean density of the particles");
    assert_eq!(thresholds["density"]["value"], defaults::DENSITY.value);
    assert_eq!(thresholds["saddle"]["origin"], "default");
    let given = done_json(&["phew", &npy, "--box", &side, "-o", &to, "--density-threshold", "80"]);
    assert_eq!(given["thresholds"]["density"]["origin"], "given");
    assert!(given["thresholds"]["saddle"].is_null());
}

/// Dark matter in a run with gas: the unit is the mean density of all matter, once the units are known.
#[test]
#[cfg(feature = "hdf5")]
fn the_unit_is_all_matter_where_the_cosmology_and_the_units_are_known() {
    use crate::common::gadget::{Style, clumps, write};
    let (room, omega) = (Room::new(), 0.3);
    let cosmology =
        [("Time", 0.5), ("Redshift", 1.0), ("Omega0", omega), ("OmegaLambda", 0.7), ("HubbleParam", 0.7)];
    let style = Style { header: cosmology.to_vec(), ..Style::default() };
    let kinds = [clumps(300, 1), clumps(900, 2)];
    let paths = write(Path::new(&room.path("")), &[(0, &kinds[0]), (1, &kinds[1])], &style);
    let (input, to) = (paths[0].to_string_lossy().into_owned(), room.path("c.csv"));
    let guessed = done_json(&["phew", &input, "-o", &to]);
    assert_eq!(guessed["thresholds"]["unit"], "mean density of the particles");
    let units = ["--unit-length", "3.085678e24", "--unit-mass", "1.989e43", "--unit-velocity", "1e5"];
    for made in ["--mesh-from-particles", "--particle-graph"] {
        let known = done_json(&[&["phew", &input, "-o", &to, made], &units[..]].concat());
        assert_eq!(known["thresholds"]["unit"], "mean matter density");
        let Some(Attribute::Real(mean)) = found(&to).attribute("mean_density").cloned() else {
            panic!("a mean")
        };
        // The critical density is 27.75 x 10^10 solar masses h² / Mpc³.
        assert!((mean / (27.75 * omega) - 1.0).abs() < 0.01, "{mean}");
    }
}

/// Gas and dark matter together. The gas alone is taken only on request, or by RAMSES's rules.
#[test]
fn a_cosmological_output_is_segmented_by_its_matter() {
    let (room, input) = (Room::new(), gas());
    let [to, of_gas] = ["c.csv", "gas.csv"].map(|name| room.path(name));
    let said = done(&["phew", &input, "-o", &to, "--unbind"]);
    assert!(said.starts_with("field             matter (particles), chosen by auto from density"), "{said}");
    assert!(said.contains("times the mean matter density, default"), "{said}");
    let thresholds =
        ["--density-threshold", defaults::DENSITY.text, "--saddle-threshold", defaults::SADDLE.text];
    done(&[&["phew", &input, "-o", &of_gas, "--field", "density"], &thresholds[..]].concat());
    let n = [&to, &of_gas].map(|to| haloes(&found(to)));
    assert!(n[0] > 3 * n[1] && n[1] > 0, "{n:?} haloes");
    done(&[&["phew", &input, "-o", &of_gas, "--compat", "ramses"], &thresholds[..]].concat());
    assert_eq!(text(&found(&of_gas), "field"), "density");
}

/// All matter has the mean density of the universe, on any number of ranks; dark matter alone lacks the
/// baryons.
#[test]
fn matter_is_gas_and_particles() {
    let (room, input) = (Room::new(), gas());
    let mean = |field: &str| {
        let json = done_json(&["info", &input, "--thresholds", "--field", field]);
        json["thresholds"]["mean"].as_f64().expect("a mean")
    };
    assert!((mean("matter") - 1.0).abs() < 0.03, "{}", mean("matter"));
    assert!((mean("cic") - 0.85).abs() < 0.03, "{}", mean("cic"));
    let of = |ranks: &str| {
        let to = room.path(&format!("{ranks}.csv"));
        done(&["phew", &input, "-o", &to, "--field", "matter", "--ranks", ranks]);
        found(&to)
    };
    let (one, three) = (of("1"), of("3"));
    for table in ["clumps", "haloes", "tree"] {
        assert_same_table(one.table(table).expect(table), three.table(table).expect(table), table);
    }
}

/// Where no default is known, the message names values that the data have.
#[test]
fn a_missing_threshold_is_explained_by_the_data() {
    let room = Room::new();
    let (npy, to) = (room.path("cells.npy"), room.path("c.csv"));
    let cells = npy_file(&[4, 4, 4], false, "<f8", |at| 1.0 + (at[0] + 4 * at[1] + 16 * at[2]) as f64);
    std::fs::write(&npy, cells).expect("written");
    let mesh = ["phew", &npy, "-o", &to];
    let parts = ["cells.npy", "no density threshold", "info", "--thresholds", "half of the mass is denser"];
    room.refuses(&mesh, &[&parts[..], &["expected --density-threshold"]].concat());
    let (gas, by) = (gas(), ["--compat", "ramses"]);
    room.refuses(&[&["phew", &gas, "-o", &to], &by[..]].concat(), &["RAMSES's rules", "--thresholds"]);
    room.refuses(&["phew", &gas, "-o", &to, "--field", "density"], &["field `density`", "--thresholds"]);
    let over_ranks = command(&[&mesh[..], &["--ranks", "2"]].concat()).output().expect("starts");
    assert_eq!(over_ranks.status.code(), Some(2));
    assert!(!program().arg("phew").arg(&npy).output().expect("starts").status.success());
}

/// The numbers in the documentation are those of the library.
#[test]
fn the_documentation_has_the_default_thresholds() {
    let using = include_str!("../../docs/using.md");
    let (relevance, on_mesh) = (defaults::RELEVANCE.text, defaults::RELEVANCE_ON_MESH.text);
    let relevance = format!("{relevance}; {on_mesh} on a mesh of particles");
    for (option, default) in
        [("density", defaults::DENSITY.text), ("saddle", defaults::SADDLE.text), ("relevance", &relevance)]
    {
        let row = format!("| `--{option}-threshold` | {default} |");
        assert!(using.contains(&row), "docs/using.md lacks {row}");
    }
}
