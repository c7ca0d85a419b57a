//! The cosmology of a run: stated by its snapshot or given, used for linking lengths and spheres, and written
//! into results.

use crate::common::gadget::{Kind, Style, clumps, edit, list, put, write};
use crate::common::room::{Room, done, done_json};
use inselberg_io::catalogue::{Catalogue, Values, read};
use std::f64::consts::PI;
use std::path::{Path, PathBuf};

const NEWTON: f64 = 6.6743e-8;
const HUBBLE_100: f64 = 3.240_779_29e-18;
const UNIT_LENGTH: f64 = 3e24;
const UNIT_MASS: f64 = 2e43;
const UNIT_TIME: f64 = 3e19;
const H: f64 = 0.7;
const A: f64 = 0.5;

/// A universe with everything in it.
const OMEGA_M: f64 = 0.3;
const OMEGA_L: f64 = 0.65;
const OMEGA_R: f64 = 0.002;
const OMEGA_NU: f64 = 0.02;
const W0: f64 = -0.7;
const WA: f64 = -1.0;

/// H² / H0² at the expansion factor.
fn expansion() -> f64 {
    let rest = 1.0 - OMEGA_M - OMEGA_L - OMEGA_R - OMEGA_NU;
    let dark = OMEGA_L * A.powf(-3.0 * (1.0 + W0 + WA)) * (-3.0 * WA * (1.0 - A)).exp();
    (OMEGA_M + OMEGA_NU) / A.powi(3) + rest / A.powi(2) + OMEGA_R / A.powi(4) + dark
}

/// The matter density over the critical one at the expansion factor.
fn matter() -> f64 {
    (OMEGA_M + OMEGA_NU) / A.powi(3) / expansion()
}

/// The critical density today in internal units.
fn critical_today() -> f64 {
    let hubble = H * HUBBLE_100 * UNIT_TIME;
    3.0 * hubble * hubble / (8.0 * PI * NEWTON * UNIT_MASS * UNIT_TIME.powi(2) / UNIT_LENGTH.powi(3))
}

fn alike(found: f64, expected: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < 1e-6, "{what}: {found}, expected {expected}");
}

/// Dark matter in dense clumps.
fn dark() -> Kind {
    let mut dark = clumps(600, 1);
    dark.mass.fill(50.0);
    dark
}

/// A snapshot of SWIFT that states rate and critical density at its expansion factor, each times a factor.
fn swift(room: &Room, kinds: &[(usize, &Kind)], times: f64) -> PathBuf {
    let path = write(Path::new(&room.path("")), kinds, &Style::default()).remove(0);
    let hubble_0 = H * HUBBLE_100 * UNIT_TIME;
    edit(&path, |file| {
        let cosmology = file.create_group("Cosmology")?;
        let numbers = [
            ("Cosmological run", 1.0),
            ("Scale-factor", A),
            ("h", H),
            ("Omega_m", OMEGA_M),
            ("Omega_cdm", OMEGA_M),
            ("Omega_b", 0.0),
            ("Omega_lambda", OMEGA_L),
            ("Omega_r", OMEGA_R),
            ("Omega_nu_0", OMEGA_NU),
            ("Omega_k", 1.0 - OMEGA_M - OMEGA_L - OMEGA_R - OMEGA_NU),
            ("w_0", W0),
            ("w_a", WA),
            ("H [internal units]", times * hubble_0 * expansion().sqrt()),
            ("Critical density [internal units]", times * times * critical_today() * expansion()),
            ("Critical density at redshift zero [internal units]", critical_today()),
        ];
        numbers.iter().try_for_each(|(name, value)| put(&cosmology, name, &[*value]))?;
        ["Units", "InternalCodeUnits"].iter().try_for_each(|group| {
            let units = file.create_group(group)?;
            put(&units, "Unit length in cgs (U_L)", &[UNIT_LENGTH])?;
            put(&units, "Unit mass in cgs (U_M)", &[UNIT_MASS])?;
            put(&units, "Unit time in cgs (U_t)", &[UNIT_TIME])
        })
    });
    path
}

/// A snapshot of Gadget, which states matter and a cosmological constant alone, in the same units.
fn gadget(room: &Room, kinds: &[(usize, &Kind)]) -> PathBuf {
    let header = vec![
        ("Time", A),
        ("Redshift", 1.0 / A - 1.0),
        ("Omega0", OMEGA_M),
        ("OmegaLambda", OMEGA_L),
        ("HubbleParam", H),
        ("UnitLength_in_cm", UNIT_LENGTH),
        ("UnitMass_in_g", UNIT_MASS),
        ("UnitVelocity_in_cm_per_s", UNIT_LENGTH / UNIT_TIME),
    ];
    write(Path::new(&room.path("")), kinds, &Style { header, ..Style::default() }).remove(0)
}

fn spheres(room: &Room, path: &Path, more: &[&str]) -> Catalogue {
    let (path, to) = (path.to_string_lossy().into_owned(), room.path("spheres.hdf5"));
    let args = ["fof", &path, "-o", &to, "--linking-length", "0.2", "--min-size", "20", "--properties", "so"];
    done(&[&args[..], more].concat());
    read(Path::new(&to)).expect("a catalogue")
}

fn column(found: &Catalogue, name: &str) -> Vec<f64> {
    found.table("Groups").and_then(|groups| groups.reals(name)).expect(name).to_vec()
}

/// The mean densities of all spheres of a definition.
fn mean_densities(found: &Catalogue, name: &str) -> Vec<f64> {
    let (mass, radius) = (column(found, &format!("mass_{name}")), column(found, &format!("radius_{name}")));
    let density = |(mass, radius): (&f64, &f64)| mass / (4.0 / 3.0 * PI * radius.powi(3));
    let all: Vec<f64> = mass.iter().zip(&radius).filter(|(mass, _)| **mass > 0.0).map(density).collect();
    assert!(!all.is_empty(), "no sphere {name}");
    all
}

/// `critical` is the comoving critical density at the expansion factor, in code units.
fn check_densities(found: &Catalogue, critical: f64, matter: f64) {
    let x = matter - 1.0;
    let virial = 18.0 * PI * PI + 82.0 * x - 39.0 * x * x;
    let all = [("200_crit", 200.0), ("200_mean", 200.0 * matter), ("500_crit", 500.0), ("bn98", virial)];
    for (name, times) in all {
        mean_densities(found, name).iter().for_each(|density| alike(*density, times * critical, name));
    }
}

#[test]
fn a_swift_snapshot_states_its_expansion_and_catalogues_pass_it_on() {
    let room = Room::new();
    let path = swift(&room, &[(1, &dark())], 1.0);
    let found = spheres(&room, &path, &[]);
    let critical = critical_today() * expansion();
    check_densities(&found, critical * A.powi(3), matter());
    let file = hdf5::File::open(room.path("spheres.hdf5")).expect("a catalogue");
    let cosmology = file.group("Cosmology").expect("Cosmology");
    let number = |name: &str| cosmology.attr(name).and_then(|a| a.read_raw::<f64>()).expect(name)[0];
    for (name, expected) in [
        ("Omega_r", OMEGA_R),
        ("Omega_nu_0", OMEGA_NU),
        ("w_0", W0),
        ("w_a", WA),
        ("w", W0 + WA * (1.0 - A)),
        ("H [internal units]", H * HUBBLE_100 * UNIT_TIME * expansion().sqrt()),
        ("Critical density [internal units]", critical),
        ("Critical density at redshift zero [internal units]", critical_today()),
    ] {
        alike(number(name), expected, name);
    }
    assert!(found.attribute("assumed_cosmology").is_none());
    let args =
        ["fof", &path.to_string_lossy(), "-o", &room.path("f.hdf5"), "--w0", "-0.9"].map(str::to_string);
    room.refuses(&args.each_ref().map(String::as_str), &["w0 -0.9: the snapshot states -0.7", "--w0"]);
}

#[test]
fn a_rate_against_the_density_parameters_counts_and_is_said() {
    let room = Room::new();
    let path = swift(&room, &[(1, &dark())], 1.1);
    check_densities(
        &spheres(&room, &path, &[]),
        1.21 * critical_today() * expansion() * A.powi(3),
        matter() / 1.21,
    );
    let said = done(&["fof", &path.to_string_lossy(), "-o", &room.path("f.hdf5"), "--linking-length", "0.2"]);
    assert!(said.contains("note") && said.contains("the stated rate counts"), "{said}");
}

#[test]
fn options_state_the_rest_of_a_gadget_cosmology() {
    let room = Room::new();
    let path = gadget(&room, &[(1, &dark())]);
    let given = ["--w0", "-0.7", "--wa", "-1", "--omega-r", "0.002", "--omega-nu", "0.02"];
    let found = spheres(&room, &path, &given);
    // Lengths and masses have a factor of h.
    check_densities(&found, critical_today() / H.powi(2) * expansion() * A.powi(3), matter());
    assert!(found.attribute("assumed_cosmology").is_none());
    let path = path.to_string_lossy();
    let (to, line) =
        (room.path("f.hdf5"), "w0 = -1, wa = 0, omega_r = 0, omega_nu = 0 assumed; set them with --w0");
    let args = ["fof", &path, "-o", &to, "--linking-length", "0.2"];
    assert!(!done(&args).contains("assumed"));
    assert!(done(&[&args[..], &["--properties", "so"]].concat()).contains(line));
    assert!(done(&["info", &path]).contains(line));
    assert!(read(Path::new(&to)).expect("a catalogue").attribute("assumed_cosmology").is_some());
}

#[test]
fn parameters_of_a_cosmology_need_one() {
    let room = Room::new();
    let path = write(Path::new(&room.path("")), &[(1, &dark())], &Style::default()).remove(0);
    let path = path.to_string_lossy();
    let to = room.path("f.hdf5");
    room.refuses(
        &["fof", &path, "-o", &to, "--omega-nu", "0.01"],
        &["the input states no cosmology", "--omega-nu"],
    );
    room.refuses(&["fof", &path, "-o", &to, "--omega-r=-1"], &["omega-r", "0 or more"]);
}

fn linking_length(room: &Room, path: &Path) -> (f64, serde_json::Value) {
    let json = done_json(&["fof", &path.to_string_lossy(), "-o", &room.path("f.hdf5")]);
    (json["linking_length"].as_f64().expect("a length"), json["notes"].clone())
}

#[test]
fn a_gadget_run_has_its_own_constants_in_the_linking_length() {
    let room = Room::new();
    let path = gadget(&room, &[(1, &dark())]);
    let expected = |hubble: f64, newton: f64, omega: f64| {
        0.2 * (50.0 / (omega * 3.0 * hubble * hubble / (8.0 * PI * newton))).cbrt()
    };
    let alike =
        |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-12, "{found}, {expected}");
    let own = [3.240_778_9e-18 * UNIT_TIME, 6.6738e-8 * UNIT_MASS * UNIT_TIME.powi(2) / UNIT_LENGTH.powi(3)];
    alike(linking_length(&room, &path).0, expected(own[0], own[1], OMEGA_M));
    edit(&path, |file| {
        let parameters = file.create_group("Parameters")?;
        put(&parameters, "Hubble", &[100.0])?;
        put(&parameters, "GravityConstantInternal", &[43.0])?;
        put(&parameters, "OmegaBaryon", &[0.05])
    });
    // Without gas all matter is in the particles.
    alike(linking_length(&room, &path).0, expected(100.0, 43.0, OMEGA_M));
    // 0 stands for the constant of the code.
    edit(&path, |file| file.group("Parameters")?.attr("GravityConstantInternal")?.write_raw(&[0.0]));
    alike(linking_length(&room, &path).0, expected(100.0, own[1], OMEGA_M));
}

#[test]
fn the_lightest_particles_of_a_zoom_decide_the_linking_length() {
    let mut zoom = dark();
    zoom.mass[400..].fill(400.0);
    let room = Room::new();
    let (length, notes) = linking_length(&room, &gadget(&room, &[(1, &zoom)]));
    let fine = linking_length(&room, &gadget(&room, &[(1, &dark())])).0;
    assert!((length / fine - 1.0).abs() < 1e-12, "{length}, {fine}");
    let note = notes.to_string();
    assert!(note.contains("200 dark-matter particles") && note.contains("400 others"), "{note}");
    // Without a cosmology the box holds the mean density.
    let path = write(Path::new(&room.path("")), &[(1, &zoom)], &Style::default()).remove(0);
    let (length, _) = linking_length(&room, &path);
    let mean = (400.0 * 50.0 + 200.0 * 400.0) / 1000.0;
    assert!((length / (0.2 * (50.0f64 / mean).cbrt()) - 1.0).abs() < 1e-12, "{length}");
    // Masses that differ a little are of one class.
    zoom.mass[400..].fill(60.0);
    let (_, notes) = linking_length(&room, &gadget(&room, &[(1, &zoom)]));
    assert!(!notes.to_string().contains("least mass"), "{notes}");
}

/// Neutrinos whose weights are the deviation from their mean density. That density then fills all spheres.
#[test]
fn weighted_neutrinos_add_to_their_mean_density() {
    let (room, dark, mut neutrinos) = (Room::new(), dark(), clumps(500, 7));
    neutrinos.mass.fill(40.0);
    neutrinos.id.iter_mut().for_each(|id| *id += 2_000_000);
    let path = swift(&room, &[(1, &dark), (6, &neutrinos)], 1.0);
    let weights: Vec<f64> = (0..500).map(|i| if i % 3 == 0 { -0.3 } else { 0.2 }).collect();
    edit(&path, |file| list(&file.group("PartType6")?, "Weights", &weights));
    let found = spheres(&room, &path, &[]);
    check_densities(&found, critical_today() * expansion() * A.powi(3), matter());
    let centres = match found.table("Groups").and_then(|groups| groups.column("Centres")).map(|c| &c.values) {
        Some(Values::F64x3(centres)) => centres,
        other => panic!("{other:?}"),
    };
    let (mass, radius) = (column(&found, "mass_200_crit"), column(&found, "radius_200_crit"));
    let smooth = OMEGA_NU * critical_today();
    for (row, centre) in centres.iter().enumerate().filter(|(row, _)| mass[*row] > 0.0) {
        let is_inside = |x: &[f64; 3]| {
            let offset = |a: usize| (x[a] - centre[a] + 15.0).rem_euclid(10.0) - 5.0;
            (0..3).map(|a| offset(a).powi(2)).sum::<f64>().sqrt() <= radius[row]
        };
        let of_dark = dark.position.iter().filter(|x| is_inside(x)).count() as f64 * 50.0;
        let pairs = neutrinos.position.iter().zip(&weights).filter(|(x, _)| is_inside(x));
        let of_neutrinos: f64 = pairs.map(|(_, weight)| 40.0 * weight).sum();
        let all = of_dark + of_neutrinos + smooth * 4.0 / 3.0 * PI * radius[row].powi(3);
        // Mass is linear between particles.
        assert!((mass[row] - all).abs() <= 51.0, "{row}: {} and {all}", mass[row]);
    }
}
