//! Files in the layout of SOAP: against the catalogue, and opened by swiftsimio.

use crate::common::compare::real;
use crate::common::gadget::{self, Kind, Style};
use crate::common::python::python;
use crate::common::room::{Room, done};
use hdf5::types::{FixedAscii, VarLenUnicode};
use hdf5::{File, Location};
use inselberg::{BoundRequest, Engine, ErrorKind, FofParams, LinkingTypes, PropertyChoice, RankBuilder};
use inselberg_io::catalogue::{Catalogue, Table, Values, read};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The bundled cosmological output of RAMSES.
fn snapshot() -> PathBuf {
    crate::common::output("dm_1rank")
}

/// Groups of an input, or clumps of its mesh, with properties. Catalogue and SOAP file.
fn written(room: &Room, input: &Path, command: &str, properties: &str) -> (Catalogue, File) {
    let more: &[&str] = if command == "phew" { &["--mesh-from-particles"] } else { &[] };
    written_with(room, input, command, &[&["--properties", properties], more].concat(), "soap.hdf5")
}

/// The same with other options, into a file or a folder.
fn written_with(room: &Room, input: &Path, command: &str, more: &[&str], soap: &str) -> (Catalogue, File) {
    let input = input.to_string_lossy().into_owned();
    let [to, soap] = ["c.hdf5", soap].map(|name| room.path(name));
    let mut args = vec![command, &input, "-o", &to, "--soap", &soap];
    args.extend(more);
    if command == "phew" {
        args.extend(["--unbind", "--density-threshold", "80", "--saddle-threshold", "200"]);
    }
    done(&args);
    let file = if soap.ends_with(".hdf5") { soap } else { format!("{soap}/halo_properties.hdf5") };
    (read(Path::new(&to)).expect("a catalogue"), File::open(&file).expect("a SOAP file"))
}

fn number(at: &Location, name: &str) -> f64 {
    let attribute = at.attr(name).unwrap_or_else(|e| panic!("{name}: {e}"));
    attribute.read_raw::<f64>().expect("a number")[0]
}

fn values(file: &File, place: &str) -> Vec<f64> {
    file.dataset(place).unwrap_or_else(|e| panic!("{place}: {e}")).read_raw::<f64>().expect("numbers")
}

fn subhalo_types(file: &File) -> Vec<String> {
    let attribute = file.group("Header").and_then(|header| header.attr("SubhaloTypes")).expect("types");
    attribute.read_raw::<VarLenUnicode>().expect("texts").iter().map(ToString::to_string).collect()
}

/// Checks that every dataset has what readers need, and that its physical values in cgs are those of the
/// catalogue.
fn check_layout(catalogue: &Catalogue, file: &File, n: usize) {
    let header = file.group("Header").expect("Header");
    let text = header.attr("OutputType").and_then(|a| a.read_scalar::<FixedAscii<256>>()).expect("a text");
    assert_eq!(text.as_str(), "SOAP");
    assert_eq!(number(&header, "NumSubhalos_ThisFile"), n as f64);
    assert!(number(&header, "BoxSize") > 0.0);
    for name in subhalo_types(file) {
        let group = file.group(&name).expect("a group");
        let datasets = group.datasets().expect("datasets");
        assert!(!datasets.is_empty(), "{name}");
        for dataset in datasets {
            let place = dataset.name();
            assert_eq!(dataset.shape()[0], n, "{place}");
            let values = dataset.read_raw::<f64>().expect("numbers");
            assert!(values.iter().all(|x| x.is_finite()), "{place}: no NaN");
            let cgs = number(&dataset, "Conversion factor to CGS (not including cosmological corrections)");
            let [l, m, t] = ["L", "M", "t"].map(|unit| number(&dataset, &format!("U_{unit} exponent")));
            let units = file.group("Units").expect("Units");
            let unit = |what: &str| number(&units, &format!("Unit {what}"));
            let expected = unit("length in cgs (U_L)").powf(l)
                * unit("mass in cgs (U_M)").powf(m)
                * unit("time in cgs (U_t)").powf(t);
            assert!((cgs / expected - 1.0).abs() < 1e-9, "{place}");
            let is_physical = number(&dataset, "Value stored as physical") == 1.0;
            let is_length = (l, m, t) == (1.0, 0.0, 0.0);
            assert!(!is_length || !is_physical, "{place}: lengths are comoving");
            let a = catalogue.attribute("aexp").map_or(1.0, |_| real(catalogue, "aexp"));
            let power = number(&dataset, "a-scale exponent");
            assert_eq!(power, l + t, "{place}");
            let physical =
                number(&dataset, "Conversion factor to physical CGS (including cosmological corrections)");
            let expected = if is_physical { cgs } else { cgs * a.powf(power) };
            assert!((physical / expected - 1.0).abs() < 1e-9, "{place}");
            for name in ["h-scale exponent", "Property can be converted to comoving", "Masked"] {
                number(&dataset, name);
            }
        }
    }
}

/// A column of reals or vectors in physical cgs, for these rows.
fn in_cgs(catalogue: &Catalogue, table: &Table, name: &str, rows: &[usize]) -> Vec<f64> {
    let column = table.column(name).unwrap_or_else(|| panic!("{name}"));
    let cgs =
        inselberg_io::catalogue::units::cgs_factor(&catalogue.attributes, column.dimension).expect("units");
    let values: Vec<f64> = match &column.values {
        Values::F64(list) => rows.iter().map(|row| list[*row]).collect(),
        Values::F64x3(list) => rows.iter().flat_map(|row| list[*row]).collect(),
        other => panic!("{name}: {other:?}"),
    };
    values.iter().map(|x| x * cgs).collect()
}

fn check_values(file: &File, place: &str, expected: &[f64]) {
    let dataset = file.dataset(place).unwrap_or_else(|e| panic!("{place}: {e}"));
    let factor = number(&dataset, "Conversion factor to physical CGS (including cosmological corrections)");
    let found = dataset.read_raw::<f64>().expect("numbers");
    assert_eq!(found.len(), expected.len(), "{place}");
    for (found, expected) in found.iter().zip(expected) {
        let found = found * factor;
        assert!((found - expected).abs() <= 1e-6 * expected.abs(), "{place}: {found} {expected}");
    }
}

/// The cells list the rows in order, each those with their centre in it.
fn check_cells(file: &File, centres: &[f64]) {
    let [counts, offsets] =
        ["Counts", "OffsetsInFile"].map(|name| values(file, &format!("Cells/{name}/Subhalos")));
    let middle = values(file, "Cells/Centres");
    let size =
        file.group("Cells/Meta-data").expect("Meta-data").attr("size").expect("size").read_raw::<f64>();
    let size = size.expect("three sides");
    let mut next = 0.0;
    for (cell, (count, offset)) in counts.iter().zip(&offsets).enumerate() {
        assert_eq!(*offset, next);
        next += count;
        for row in *offset as usize..next as usize {
            for a in 0..3 {
                let apart = (centres[3 * row + a] - middle[3 * cell + a]).abs();
                assert!(apart <= 0.5 * size[a] * (1.0 + 1e-12), "row {row} is in cell {cell}");
            }
        }
    }
    assert_eq!(next as usize, centres.len() / 3);
}

/// An output that does not expand has no spheres, and an expansion factor of 1.
#[test]
fn groups_without_a_cosmology_make_a_file() {
    let room = Room::new();
    let input = crate::common::swift_fixture().join("snap_0000.hdf5");
    let (catalogue, file) = written(&room, &input, "fof", "bound");
    let n_bound = catalogue.table("Groups").and_then(|groups| groups.counts("n_bound")).expect("numbers");
    check_layout(&catalogue, &file, n_bound.iter().filter(|n| **n > 0).count());
    assert!(!file.link_exists("SO"));
}

#[test]
fn groups_are_laid_out_as_in_soap() {
    let room = Room::new();
    let (catalogue, file) = written(&room, &snapshot(), "fof", "so,bound");
    let groups = catalogue.table("Groups").expect("groups");
    let ids = values(&file, "InputHalos/HaloCatalogueIndex");
    let n_bound = groups.counts("n_bound").expect("n_bound");
    assert_eq!(ids.len(), n_bound.iter().filter(|n| **n > 0).count());
    let rows: Vec<usize> = ids.iter().map(|id| *id as usize - 1).collect();
    check_layout(&catalogue, &file, rows.len());
    let all = [
        "BoundSubhalo",
        "InputHalos",
        "InputHalos/FOF",
        "SO/200_crit",
        "SO/200_mean",
        "SO/500_crit",
        "SO/BN98",
        "SOAP",
    ];
    let types = subhalo_types(&file);
    assert!(all.iter().all(|name| types.iter().any(|found| found == name)), "{types:?}");
    let cgs = |name: &str| in_cgs(&catalogue, groups, name, &rows);
    check_values(&file, "BoundSubhalo/TotalMass", &cgs("bound_mass"));
    check_values(&file, "BoundSubhalo/CentreOfMass", &cgs("bound_centre_of_mass"));
    check_values(&file, "BoundSubhalo/CentreOfMassVelocity", &cgs("bound_velocity"));
    check_values(&file, "BoundSubhalo/AngularMomentumDarkMatter", &cgs("angular_momentum_dark_matter"));
    check_values(
        &file,
        "BoundSubhalo/MaximumCircularVelocityRadius",
        &cgs("maximum_circular_velocity_radius"),
    );
    check_values(&file, "BoundSubhalo/KineticEnergyTotal", &cgs("bound_kinetic_energy"));
    check_values(&file, "SO/200_crit/TotalMass", &cgs("mass_200_crit"));
    check_values(&file, "SO/BN98/SORadius", &cgs("radius_bn98"));
    check_values(&file, "InputHalos/FOF/Centres", &cgs("Centres"));
    let (on, off) = (cgs("inertia_tensor_diagonal"), cgs("inertia_tensor_off_diagonal"));
    let six: Vec<f64> = on.chunks(3).zip(off.chunks(3)).flat_map(|(on, off)| [on, off].concat()).collect();
    check_values(&file, "BoundSubhalo/TotalInertiaTensor", &six);
    let centres = values(&file, "InputHalos/HaloCentre");
    let expected = groups.vectors("most_bound_position").expect("centres");
    let expected: Vec<f64> = rows.iter().flat_map(|row| expected[*row]).collect();
    assert_eq!(centres, expected);
    check_cells(&file, &centres);
    let own_rows: Vec<f64> = (0..rows.len()).map(|row| row as f64).collect();
    assert_eq!(values(&file, "SOAP/HostHaloIndex"), own_rows);
    let concentration = "SO/200_crit/ConcentrationUnsoftened";
    check_values(&file, concentration, &cgs("concentration_200_crit"));
    assert!(!file.link_exists("SO/200_crit/Concentration"), "SOAP's is softened");
    assert!(values(&file, "InputHalos/IsCentral").iter().all(|is| *is == 1.0));
}

#[test]
fn spheres_alone_make_a_file() {
    let room = Room::new();
    let (catalogue, file) = written(&room, &snapshot(), "fof", "so");
    let n = catalogue.table("Groups").expect("groups").n_rows();
    check_layout(&catalogue, &file, n);
    assert!(!file.link_exists("BoundSubhalo") && values(&file, "SO/200_crit/SORadius").len() == n);
    check_cells(&file, &values(&file, "InputHalos/HaloCentre"));
}

#[test]
fn clumps_of_particles_are_laid_out_as_in_soap() {
    let room = Room::new();
    let (catalogue, file) = written(&room, &snapshot(), "phew", "all");
    let (clumps, haloes) =
        (catalogue.table("clumps").expect("clumps"), catalogue.table("haloes").expect("haloes"));
    let ids = clumps.counts("id").expect("ids");
    let found: Vec<u64> =
        values(&file, "InputHalos/HaloCatalogueIndex").iter().map(|id| *id as u64).collect();
    let rows: Vec<usize> = found.iter().map(|id| ids.binary_search(id).expect("a clump")).collect();
    let n_bound = clumps.counts("n_bound").expect("n_bound");
    assert_eq!(rows.len(), n_bound.iter().filter(|n| **n > 0).count());
    check_layout(&catalogue, &file, rows.len());
    check_values(&file, "BoundSubhalo/TotalMass", &in_cgs(&catalogue, clumps, "bound_mass", &rows));
    check_values(&file, "InputHalos/PHEW/PeakDensity", &in_cgs(&catalogue, clumps, "density_peak", &rows));
    check_cells(&file, &values(&file, "InputHalos/HaloCentre"));
    // Spheres are those of haloes, at their centrals.
    let is_central = clumps.integers("is_central").expect("centrals");
    let halo_of = clumps.counts("halo").expect("haloes");
    let spheres = in_cgs(&catalogue, haloes, "mass_200_crit", &(0..haloes.n_rows()).collect::<Vec<_>>());
    let halo_ids = haloes.counts("id").expect("ids");
    let halo_row = |row: usize| halo_ids.binary_search(&halo_of[row]).expect("a halo");
    let sphere = |row: &usize| if is_central[*row] == 1 { spheres[halo_row(*row)] } else { 0.0 };
    check_values(&file, "SO/200_crit/TotalMass", &rows.iter().map(sphere).collect::<Vec<_>>());
    let (host, rank) = (values(&file, "SOAP/HostHaloIndex"), values(&file, "SOAP/SubhaloRankByBoundMass"));
    let (central, mass) =
        (values(&file, "InputHalos/IsCentral"), clumps.reals("bound_mass").expect("masses"));
    for (i, row) in rows.iter().enumerate() {
        let is_main = is_central[*row] == 1;
        assert_eq!((central[i] == 1.0, host[i] == i as f64), (is_main, is_main));
        let host = ids.binary_search(&found[host[i] as usize]).expect("a clump");
        assert_eq!((halo_of[host], is_central[host]), (halo_of[*row], 1));
        let heavier = |other: &&usize| halo_of[**other] == halo_of[*row] && mass[**other] > mass[*row];
        assert_eq!(rank[i] as usize, rows.iter().filter(heavier).count());
    }
}

/// Gas of bound haloes and of spheres, by formula from the catalogue; and where shapes are not computed.
#[test]
fn gas_is_laid_out_and_shapes_of_few_particles_are_masked() {
    let room = Room::new();
    let (catalogue, file) = written_with(
        &room,
        &crate::common::output("gas_2ranks"),
        "phew",
        &["--properties", "all", "--field", "density"],
        "soap.hdf5",
    );
    let clumps = catalogue.table("clumps").expect("clumps");
    let ids = clumps.counts("id").expect("ids");
    let found = values(&file, "InputHalos/HaloCatalogueIndex");
    let rows: Vec<usize> =
        found.iter().map(|id| ids.binary_search(&(*id as u64)).expect("a clump")).collect();
    check_layout(&catalogue, &file, rows.len());
    for (name, column) in [
        ("GasMass", "bound_gas_mass"),
        ("GasCentreOfMass", "bound_gas_centre_of_mass"),
        ("GasCentreOfMassVelocity", "bound_gas_velocity"),
        ("KineticEnergyGas", "bound_gas_kinetic_energy"),
        ("ThermalEnergyGas", "bound_gas_thermal_energy"),
        ("HalfMassRadiusGas", "half_mass_radius_gas"),
    ] {
        let expected = in_cgs(&catalogue, clumps, column, &rows);
        assert!(expected.iter().any(|x| *x != 0.0), "{column}");
        check_values(&file, &format!("BoundSubhalo/{name}"), &expected);
    }
    let (on, off) = (
        in_cgs(&catalogue, clumps, "velocity_dispersion_gas_diagonal", &rows),
        in_cgs(&catalogue, clumps, "velocity_dispersion_gas_off_diagonal", &rows),
    );
    let six: Vec<f64> = on.chunks(3).zip(off.chunks(3)).flat_map(|(on, off)| [on, off].concat()).collect();
    check_values(&file, "BoundSubhalo/GasVelocityDispersionMatrix", &six);
    let gas = values(&file, "SO/200_crit/GasMass");
    let all = values(&file, "SO/200_crit/TotalMass");
    assert!(gas.iter().any(|gas| *gas > 0.0) && gas.iter().zip(&all).all(|(gas, all)| gas <= all));
    for name in ["Total", "Gas", "DarkMatter", "Stellar"] {
        let tensor = file.dataset(&format!("BoundSubhalo/{name}InertiaTensor")).expect("a tensor");
        let mask = tensor.attr("Mask Datasets").and_then(|names| names.read_raw::<VarLenUnicode>());
        let (of, least) = (mask.expect("a name")[0].to_string(), number(&tensor, "Mask Threshold"));
        assert_eq!((number(&tensor, "Masked"), least), (1.0, 20.0));
        let shapes = tensor.read_raw::<f64>().expect("numbers");
        for (n, shape) in values(&file, &of).iter().zip(shapes.chunks(6)) {
            assert!(*n >= least || shape.iter().all(|x| *x == 0.0), "{name} of {n}: {shape:?}");
        }
    }
    assert_eq!(number(&file.dataset("BoundSubhalo/TotalMass").expect("masses"), "Masked"), 0.0);
    // Particles that do not count are left out, as in SOAP.
    let without = ["--properties", "all", "--no-thermal-energy"];
    let cold = Room::new();
    let (_, file) = written_with(&cold, &crate::common::output("gas_2ranks"), "phew", &without, "soap.hdf5");
    assert!(!file.link_exists("BoundSubhalo/ThermalEnergyGas") && file.link_exists("BoundSubhalo/GasMass"));
}

/// Members of each row, as the catalogue lists them.
#[test]
fn members_are_listed_row_by_row() {
    let room = Room::new();
    let more = ["--mesh-from-particles", "--with-members"];
    let (catalogue, file) = written_with(&room, &snapshot(), "phew", &more, "soap.hdf5");
    let (clumps, members) =
        (catalogue.table("clumps").expect("clumps"), catalogue.table("members").expect("members"));
    let (ids, own) = (clumps.counts("id").expect("ids"), members.integers("id").expect("identities"));
    let first = clumps.counts("members_offset").expect("offsets");
    let [owner, offset, n] = ["HaloCatalogueIndex", "MembersOffset", "NumberOfBoundParticles"]
        .map(|name| values(&file, &format!("InputHalos/{name}")));
    let [listed, group, rank] =
        ["ParticleIDs", "GroupNr_bound", "Rank_bound"].map(|name| values(&file, &format!("Members/{name}")));
    assert_eq!(listed.len(), members.n_rows());
    for row in 0..owner.len() {
        let place = ids.binary_search(&(owner[row] as u64)).expect("a clump");
        for i in 0..n[row] as usize {
            let at = offset[row] as usize + i;
            assert_eq!(listed[at], own[first[place] as usize + i] as f64);
            assert_eq!((group[at], rank[at]), (owner[row], i as f64));
        }
    }
    let potential = values(&file, "Members/SpecificPotentialEnergies");
    assert!(potential.iter().all(|phi| *phi < 0.0));
}

/// The memberships of a snapshot in its own order, in a folder.
#[test]
fn a_folder_has_the_memberships_in_the_order_of_the_snapshot() {
    let input = crate::common::swift_fixture().join("snap_0000.hdf5");
    for (command, more) in [
        ("fof", &["--properties", "bound", "--with-members"][..]),
        ("phew", &["--mesh-from-particles", "--with-members"]),
    ] {
        let room = Room::new();
        let (catalogue, properties) = written_with(&room, &input, command, more, "soap");
        let members = catalogue.table("members").expect("members");
        let membership = File::open(format!("{}/membership.hdf5", room.path("soap"))).expect("memberships");
        let snapshot = File::open(&input).expect("the snapshot");
        let ids = snapshot.dataset("PartType1/ParticleIDs").and_then(|ids| ids.read_raw::<i64>());
        let ids = ids.expect("identities");
        let [owner, rank] =
            ["GroupNr_bound", "Rank_bound"].map(|name| values(&membership, &format!("PartType1/{name}")));
        assert_eq!((owner.len(), rank.len()), (ids.len(), ids.len()));
        assert_eq!(owner.iter().filter(|owner| **owner >= 0.0).count(), members.n_rows());
        let listed = values(&properties, "Members/ParticleIDs");
        let [of, ranks] =
            ["GroupNr_bound", "Rank_bound"].map(|name| values(&properties, &format!("Members/{name}")));
        let bound: std::collections::BTreeMap<i64, usize> =
            listed.iter().map(|id| *id as i64).zip(0..).collect();
        for (row, id) in ids.iter().enumerate() {
            let expected = bound.get(id).map_or((-1.0, -1.0), |i| (of[*i], ranks[*i]));
            assert_eq!((owner[row], rank[row]), expected, "particle {id}");
        }
        let header = membership.group("Header").expect("Header");
        assert_eq!(number(&header, "Redshift"), 0.0);
    }
    // RAMSES keeps no particles by type, so there is nothing to follow.
    let room = Room::new();
    let more = ["--properties", "bound", "--with-members"];
    let (_, properties) = written_with(&room, &snapshot(), "fof", &more, "soap");
    assert!(properties.link_exists("Members"));
    assert!(!Path::new(&room.path("soap")).join("membership.hdf5").exists());
}

/// A Gadget snapshot with these units of length and mass in cgs.
fn gadget_snapshot(room: &Room, kind: &Kind, [length, mass]: [f64; 2]) -> PathBuf {
    let units = [("UnitLength_in_cm", length), ("UnitMass_in_g", mass), ("UnitVelocity_in_cm_per_s", 1e5)];
    let style = Style { header: [&[("Time", 0.0)], &units[..]].concat(), ..Style::default() };
    gadget::write(Path::new(&room.path("")), &[(1, kind)], &style).remove(0)
}

/// Masses in grams are beyond single precision. Identities have 64 bits without a sign.
#[test]
fn large_numbers_and_identities_are_kept() {
    let more = ["--properties", "bound", "--with-members", "--linking-length", "0.3"];
    for (unit, n_bytes) in [(1e5, 8), (1e43, 4)] {
        let room = Room::new();
        let mut kind = gadget::clumps(300, 5);
        kind.mass.fill(1e43 / unit);
        kind.velocity.iter_mut().flatten().for_each(|v| *v *= 0.02);
        kind.id = (0..300).map(|i| u64::MAX - i * 1000).collect();
        let input = gadget_snapshot(&room, &kind, [3e24, unit]);
        let (catalogue, file) = written_with(&room, &input, "fof", &more, "soap");
        let groups = catalogue.table("Groups").expect("groups");
        let rows: Vec<usize> =
            values(&file, "InputHalos/HaloCatalogueIndex").iter().map(|id| *id as usize - 1).collect();
        assert!(!rows.is_empty());
        check_layout(&catalogue, &file, rows.len());
        for (name, column) in [
            ("TotalMass", "bound_mass"),
            ("KineticEnergyTotal", "bound_kinetic_energy"),
            ("AngularMomentumDarkMatter", "angular_momentum_dark_matter"),
        ] {
            let place = format!("BoundSubhalo/{name}");
            check_values(&file, &place, &in_cgs(&catalogue, groups, column, &rows));
            let stored = file.dataset(&place).and_then(|dataset| dataset.dtype()).expect("a type");
            assert_eq!(stored.size(), n_bytes, "{name}");
        }
        let listed = file.dataset("Members/ParticleIDs").expect("identities");
        assert!(listed.dtype().expect("a type").is::<u64>());
        let listed = listed.read_raw::<u64>().expect("identities");
        let members = catalogue.table("members").and_then(|members| members.counts("id"));
        let sorted = |ids: &[u64]| ids.iter().copied().collect::<std::collections::BTreeSet<_>>();
        assert_eq!(sorted(&listed), sorted(members.expect("identities")));
        assert!(!listed.is_empty() && listed.iter().all(|id| kind.id.contains(id)));
        let membership = File::open(format!("{}/membership.hdf5", room.path("soap"))).expect("memberships");
        let owners = values(&membership, "PartType1/GroupNr_bound");
        assert_eq!(owners.iter().filter(|owner| **owner >= 0.0).count(), listed.len());
    }
}

/// Centres very close below the upper walls stay in the box, in every file.
#[test]
fn centres_at_the_upper_walls_are_in_the_box() {
    let room = Room::new();
    let side = gadget::side();
    let n = 40;
    let mut kind = Kind { mass: vec![1.0; n], id: (1..=n as u64).collect(), ..Kind::default() };
    for i in 0..n {
        let turn = 0.61 * i as f64;
        kind.position.push([side.next_down(), 1e-3 * turn.sin(), side - 1e-3 * turn.cos().abs()]);
        kind.velocity.push([0.0; 3]);
        kind.density.push(0.0);
    }
    kind.position.iter_mut().flatten().for_each(|x| *x = x.rem_euclid(side));
    // A unit in which the last place below the wall rounds to the wall.
    let unit = (0..1000).map(|i| 3e24 * (1.0 + 1e-3 * f64::from(i)));
    let unit = unit.clone().find(|unit| side.next_down() * unit >= side * unit).expect("one rounds");
    let input = gadget_snapshot(&room, &kind, [unit, 1e43]);
    let yt = room.path("yt");
    let more = ["--properties", "bound", "--linking-length", "0.3", "--yt", &yt];
    let (catalogue, file) = written_with(&room, &input, "fof", &more, "soap.hdf5");
    let is_inside = |x: &f64| (0.0..side).contains(x);
    let groups = catalogue.table("Groups").expect("groups");
    for name in ["Centres", "bound_centre_of_mass", "most_bound_position"] {
        let places = groups.vectors(name).expect("places");
        assert!(places.len() == 1 && places[0].iter().all(is_inside), "{name}: {places:?}");
    }
    for place in ["InputHalos/HaloCentre", "InputHalos/FOF/Centres", "BoundSubhalo/CentreOfMass"] {
        assert!(values(&file, place).iter().all(is_inside), "{place}");
    }
    let yt = File::open(Path::new(&yt).join("groups.0.h5")).expect("yt's file");
    let edge = yt.attr("domain_right_edge").and_then(|edge| edge.read_raw::<f64>()).expect("an edge");
    for (axis, edge) in ["x", "y", "z"].iter().zip(edge) {
        let places = values(&yt, &format!("particle_position_{axis}"));
        assert!(places.iter().all(|x| (0.0..edge).contains(x)), "{axis}: {places:?} {edge}");
    }
}

/// From the library the files have the bytes of the command's, on any number of ranks.
#[test]
fn the_library_writes_what_the_command_writes() {
    let input = crate::common::swift_fixture().join("snap_0000.hdf5");
    let room = Room::new();
    drop(written_with(&room, &input, "fof", &["--properties", "bound", "--with-members"], "soap"));
    let bound = BoundRequest {
        unbind: true,
        properties: PropertyChoice::Bound,
        with_members: true,
        ..BoundRequest::default()
    };
    for n_ranks in [1, 3] {
        let folder = room.path(&format!("soap_of_{n_ranks}"));
        std::thread::scope(|scope| {
            for builder in RankBuilder::threads(n_ranks) {
                let (input, folder) = (&input, &folder);
                scope.spawn(move || {
                    let mut engine = Engine::builder().threads(1).rank(builder).build().expect("an engine");
                    let particles = engine.open_particles(&[input]).expect("particles");
                    // The command's number for no group, and the types that it attaches.
                    let params = FofParams::default().numbering(2_147_483_647, 1).bound(bound);
                    let types = LinkingTypes::default().attaching(vec![0, 4, 5]);
                    let groups = engine.fof_particles(&particles, &types, &params);
                    let groups = groups.expect("groups");
                    groups.write_soap(folder, Some(&particles)).expect("files");
                    let plain = FofParams::default();
                    let without = engine.fof_particles(&particles, &LinkingTypes::default(), &plain);
                    let refused =
                        without.expect("groups").write_soap(folder, None).expect_err("no properties");
                    assert_eq!(refused.kind(), ErrorKind::Write);
                });
            }
        });
        for name in ["halo_properties.hdf5", "membership.hdf5"] {
            let bytes = |of: &str| std::fs::read(Path::new(of).join(name)).expect("a file");
            assert!(bytes(&room.path("soap")) == bytes(&folder), "{name} of {n_ranks} ranks");
        }
    }
}

#[test]
fn what_soap_has_no_layout_for_is_refused() {
    let room = Room::new();
    let input = snapshot().to_string_lossy().into_owned();
    let [csv, soap] = ["soap.csv", "soap.hdf5"].map(|name| room.path(name));
    let fof = |more: &[&str], parts: &[&str]| {
        room.refuses(&[&["fof", &input[..]], more].concat(), parts);
    };
    fof(
        &["--properties", "so", "--soap", &csv],
        &["SOAP's layout is one of HDF5", "ends in .hdf5, or a folder"],
    );
    let absent = room.path("absent/soap");
    fof(&["--properties", "so", "--soap", &absent], &["there is no folder", "expected"]);
    fof(&["--soap", &soap], &["--soap", "expected --properties as well"]);
    let phew = ["phew", &input, "--mesh-from-particles", "--density-threshold", "80", "--soap", &soap];
    room.refuses(&phew, &["--soap", "expected --unbind as well"]);
}

const READ_BACK: &str = "
import sys, numpy, swiftsimio, unyt
found = swiftsimio.load(sys.argv[1])
mass, radius, centre, momentum, n = map(float, sys.argv[2:])
assert found.metadata.output_type == 'SOAP' and found.metadata.n_subhalos == n
a = found.metadata.scale_factor
bound = found.bound_subhalo
assert not bound.total_mass.comoving
assert numpy.isclose(bound.total_mass.to('g').value[0], mass, rtol=1e-4)
assert numpy.isclose(found.spherical_overdensity_200_crit.soradius.to_physical().to('cm').value[0], radius, rtol=1e-4)
assert found.input_halos.halo_centre.comoving
assert numpy.isclose(found.input_halos.halo_centre.to_physical().to('cm').value[0, 0], centre, rtol=1e-4)
found_momentum = bound.angular_momentum_dark_matter.to_physical().to('g*cm**2/s').value[0, 0]
assert numpy.isclose(found_momentum, momentum, rtol=1e-3), (found_momentum, momentum)
assert 'InputHalos/NumberOfBoundParticles >= [20]' in bound.total_inertia_tensor.name, bound.total_inertia_tensor.name
assert 'Not masked.' in bound.total_mass.name, bound.total_mass.name
assert (found.input_halos_fof.sizes.value > 0).all() and (found.soap.host_halo_index.value == numpy.arange(n)).all()
mask = swiftsimio.mask(sys.argv[1])
box = found.metadata.boxsize
mask.constrain_spatial([[0.0 * side, 0.5 * side] for side in box])
part = swiftsimio.load(sys.argv[1], mask=mask)
inside = (found.input_halos.halo_centre.value < 0.5 * box.value).all(axis=1)
ids = found.input_halos.halo_catalogue_index.value[inside]
assert numpy.isin(ids, part.input_halos.halo_catalogue_index.value).all()
print('read', len(bound.total_mass))
";

#[test]
fn swiftsimio_opens_files_like_soap() {
    let Some(python) = python() else { return };
    let room = Room::new();
    let (catalogue, file) = written(&room, &snapshot(), "fof", "all");
    let groups = catalogue.table("Groups").expect("groups");
    let ids = values(&file, "InputHalos/HaloCatalogueIndex");
    drop(file);
    let first = [ids[0] as usize - 1];
    let cgs = |name: &str| in_cgs(&catalogue, groups, name, &first)[0];
    let expected = [
        cgs("bound_mass"),
        cgs("radius_200_crit"),
        cgs("most_bound_position"),
        cgs("angular_momentum_dark_matter"),
        ids.len() as f64,
    ];
    let words = expected.map(|x| format!("{x:e}"));
    let out = Command::new(python).arg("-c").arg(READ_BACK).arg(room.path("soap.hdf5")).args(words).output();
    let out = out.expect("Python");
    let said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success() && said.contains(&format!("read {}", ids.len())), "{said}");
}
