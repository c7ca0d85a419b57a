//! Files in the layout of SOAP: against the catalogue, and opened by swiftsimio.

use crate::common::python::python;
use crate::common::room::{Room, done};
use hdf5::types::{FixedAscii, VarLenUnicode};
use hdf5::{File, Location};
use inselberg_io::catalogue::{Attribute, Catalogue, Table, Values, read};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The bundled cosmological output of RAMSES.
fn snapshot() -> PathBuf {
    crate::common::output("dm_1rank")
}

/// Groups of an input, or clumps of its mesh, with properties. Catalogue and SOAP file.
fn written(room: &Room, input: &Path, command: &str, properties: &str) -> (Catalogue, File) {
    let input = input.to_string_lossy().into_owned();
    let [to, soap] = ["c.hdf5", "soap.hdf5"].map(|name| room.path(name));
    let mut args = vec![command, &input, "-o", &to, "--soap", &soap, "--properties", properties];
    if command == "phew" {
        args.extend(["--mesh-from-particles", "--unbind"]);
        args.extend(["--density-threshold", "80", "--saddle-threshold", "200"]);
    }
    done(&args);
    (read(Path::new(&to)).expect("a catalogue"), File::open(&soap).expect("a SOAP file"))
}

fn real(catalogue: &Catalogue, name: &str) -> f64 {
    match catalogue.attribute(name) {
        Some(Attribute::Real(value)) => *value,
        other => panic!("{name}: {other:?}"),
    }
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

/// That every dataset has what readers need, and that the physical values in cgs are those of the catalogue.
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

/// The cells hold the rows in order, each with the centres in it.
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
    assert!(values(&file, "SOAP/HostHaloIndex").iter().all(|host| *host == -1.0));
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
    // Spheres are those of haloes, at their main clumps.
    let halo_of = clumps.counts("halo").expect("haloes");
    let spheres = in_cgs(&catalogue, haloes, "mass_200_crit", &(0..haloes.n_rows()).collect::<Vec<_>>());
    let halo_ids = haloes.counts("id").expect("ids");
    let sphere = |row: &usize| halo_ids.binary_search(&ids[*row]).map_or(0.0, |halo| spheres[halo]);
    check_values(&file, "SO/200_crit/TotalMass", &rows.iter().map(sphere).collect::<Vec<_>>());
    let (host, rank) = (values(&file, "SOAP/HostHaloIndex"), values(&file, "SOAP/SubhaloRankByBoundMass"));
    let (central, mass) =
        (values(&file, "InputHalos/IsCentral"), clumps.reals("bound_mass").expect("masses"));
    for (i, row) in rows.iter().enumerate() {
        let is_main = halo_of[*row] == ids[*row];
        assert_eq!((central[i] == 1.0, host[i] == -1.0), (is_main, is_main));
        assert!(is_main || found[host[i] as usize] == halo_of[*row]);
        let heavier = |other: &&usize| halo_of[**other] == halo_of[*row] && mass[**other] > mass[*row];
        assert_eq!(rank[i] as usize, rows.iter().filter(heavier).count());
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
    fof(&["--properties", "so", "--soap", &csv], &["SOAP's layout is one of HDF5", "ends in .hdf5"]);
    fof(&["--soap", &soap], &["--soap", "expected --properties beside it"]);
    let phew = ["phew", &input, "--mesh-from-particles", "--density-threshold", "80", "--soap", &soap];
    room.refuses(&phew, &["--soap", "expected --unbind beside it"]);
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
assert (found.input_halos_fof.sizes.value > 0).all() and (found.soap.host_halo_index.value == -1).all()
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
