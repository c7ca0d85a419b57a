//! SWIFT's own groups: the bundled snapshot searched again, and files that SWIFT's readers open.
//!
//! With `INSELBERG_PIP=1` swiftsimio reads our catalogues.

use crate::common::compare::assert_same;
use crate::common::gadget::{Style, clumps, edit, put, write};
use crate::common::python::python;
use inselberg_io::catalogue::units::cgs_factor;
use inselberg_io::catalogue::{Attribute, Catalogue, Dimension, Table, Values, read};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// SWIFT's ID for no group.
const NONE: i64 = 2_147_483_647;

fn run(args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_inselberg"));
    let out = command.args(args).stdin(Stdio::null()).output().expect("the program starts");
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("text")
}

/// The bundled snapshot searched into `folder`: catalogue and group IDs.
fn search(folder: &Path, name: &str, more: &[&str]) -> (Catalogue, Catalogue) {
    let [to, ids] = ["", "_ids"].map(|what| folder.join(format!("{name}{what}.hdf5")));
    let input = crate::common::swift_fixture().join("snap_0000.hdf5");
    let [input, to, ids] = [&input, &to, &ids].map(|p| p.to_string_lossy().into_owned());
    let args = ["fof", &input, "-o", &to, "--group-ids", &ids, "--linking-length", "0.2"];
    run(&[&args[..], more].concat());
    (read(Path::new(&to)).expect("a catalogue"), read(Path::new(&ids)).expect("group IDs"))
}

fn swift(file: &str) -> hdf5::File {
    hdf5::File::open(crate::common::swift_fixture().join(file)).expect("SWIFT's file")
}

fn integers<'a>(table: &'a Table, name: &str) -> &'a [i64] {
    match table.column(name).map(|c| &c.values) {
        Some(Values::I64(values)) => values,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn every_particle_is_in_the_group_that_swift_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let (found, ids) = search(folder.path(), "a", &[]);
    let ours = integers(ids.table("PartType1").expect("a table"), "GroupIDs");
    let theirs: Vec<i64> =
        swift("snap_0000.hdf5").dataset("PartType1/FOFGroupIDs").expect("IDs").read_raw().expect("read");
    assert_eq!(ours.len(), theirs.len());
    let (mut to_ours, mut to_theirs) = (BTreeMap::new(), BTreeMap::new());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(*ours == NONE, *theirs == NONE);
        assert_eq!(to_ours.entry(*theirs).or_insert(*ours), ours);
        assert_eq!(to_theirs.entry(*ours).or_insert(*theirs), theirs);
    }
    let groups = found.table("Groups").expect("groups");
    assert_eq!(to_ours.len(), groups.n_rows() + 1);
    catalogue_is_swifts(groups, &to_ours);
}

/// Sizes and masses equal, centres to 1e-12 of their size, radii to 1e-6.
fn catalogue_is_swifts(groups: &Table, to_ours: &BTreeMap<i64, i64>) {
    let file = swift("fof_output_0000.hdf5");
    let set = |name: &str| file.dataset(&format!("Groups/{name}")).expect("a dataset");
    let ids: Vec<i64> = set("GroupIDs").read_raw().expect("read");
    let sizes: Vec<i64> = set("Sizes").read_raw().expect("read");
    let [masses, centres, radii] =
        ["Masses", "Centres", "Radii"].map(|n| set(n).read_raw::<f64>().expect("read"));
    assert_eq!(ids.len(), groups.n_rows());
    let Some(Values::F32(our_radii)) = groups.column("Radii").map(|c| &c.values) else { panic!("Radii") };
    let (our_masses, our_centres) =
        (groups.reals("Masses").expect("M"), groups.vectors("Centres").expect("C"));
    let our_ids = integers(groups, "GroupIDs");
    assert_eq!(our_ids, (1..=ids.len() as i64).collect::<Vec<_>>());
    for (row, id) in ids.iter().enumerate() {
        let our = to_ours[id] as usize - 1;
        assert_eq!(integers(groups, "Sizes")[our], sizes[row]);
        assert_eq!(our_masses[our], masses[row]);
        for axis in 0..3 {
            let (ours, theirs) = (our_centres[our][axis], centres[3 * row + axis]);
            assert!(
                (ours - theirs).abs() <= 1e-12 * theirs.abs(),
                "centre of {id}: {ours} and SWIFT's {theirs}"
            );
        }
        let (ours, theirs) = (f64::from(our_radii[our]), radii[row]);
        assert!((ours - theirs).abs() <= 1e-6 * theirs, "radius of {id}: {ours} and SWIFT's {theirs}");
    }
    assert!(integers(groups, "Sizes").windows(2).all(|w| w[0] >= w[1]), "by falling size");
}

#[test]
fn ranks_and_threads_change_no_bit() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, ids) = search(folder.path(), "first", &["--threads", "1"]);
    for (ranks, threads) in [("1", "2"), ("2", "1"), ("3", "2"), ("8", "2")] {
        let (again, again_ids) = search(folder.path(), "again", &["--ranks", ranks, "--threads", threads]);
        assert_same(&first, &again, &format!("{ranks} ranks, {threads} threads"));
        assert_same(&ids, &again_ids, &format!("{ranks} ranks, {threads} threads"));
    }
}

#[test]
fn attributes_are_those_of_swift() {
    let folder = tempfile::tempdir().expect("a folder");
    search(folder.path(), "a", &[]);
    let (ours, theirs) =
        (hdf5::File::open(folder.path().join("a.hdf5")).expect("ours"), swift("fof_output_0000.hdf5"));
    let number = |at: &hdf5::Location, name: &str| at.attr(name).and_then(|a| a.read_raw::<f64>()).ok();
    for name in ["Centres", "GroupIDs", "Masses", "Radii", "Sizes"] {
        let [ours, theirs] = [&ours, &theirs].map(|f| f.dataset(&format!("Groups/{name}")).expect(name));
        assert_eq!(ours.shape(), theirs.shape());
        assert_eq!(ours.dtype().expect("a type"), theirs.dtype().expect("a type"), "{name}");
        for attribute in theirs.attr_names().expect("names") {
            let Some(value) = number(&theirs, &attribute) else { continue };
            let ours = number(&ours, &attribute).unwrap_or_else(|| panic!("{name} has no {attribute}"));
            assert_eq!(ours.len(), value.len(), "{name}: {attribute}");
            assert!(
                (ours[0] - value[0]).abs() <= 1e-12 * value[0].abs(),
                "{name}, {attribute}: {ours:?} {value:?}"
            );
        }
    }
    let lists = [
        (
            "Header",
            &[
                "BoxSize",
                "NumGroups_Total",
                "NumGroups_ThisFile",
                "NumFilesPerSnapshot",
                "Redshift",
                "Scale-factor",
            ][..],
        ),
        ("Cosmology", &["Cosmological run", "H0 [internal units]", "Omega_m", "w_0", "Scale-factor", "h"]),
        ("Units", &["Unit length in cgs (U_L)", "Unit mass in cgs (U_M)", "Unit time in cgs (U_t)"]),
    ];
    for (group, names) in lists {
        let [ours, theirs] = [&ours, &theirs].map(|f| f.group(group).expect(group));
        for name in names {
            let (ours, theirs) = (number(&ours, name).expect(name), number(&theirs, name).expect(name));
            let alike = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-14 * b.abs();
            assert!(
                ours.len() == theirs.len() && ours.iter().zip(&theirs).all(alike),
                "{name}: {ours:?} {theirs:?}"
            );
        }
    }
    let text = |f: &hdf5::File, group: &str, name: &str| {
        let attribute = f.group(group).expect(group).attr(name).expect(name);
        attribute.read_scalar::<hdf5::types::FixedAscii<256>>().expect(name).to_string()
    };
    assert_eq!(text(&ours, "Header", "OutputType"), "FOF");
    for name in
        ["min_group_size", "linking_types", "absolute_linking_length", "group_id_default", "group_id_offset"]
    {
        let name = format!("FOF:{name}");
        assert_eq!(text(&ours, "Parameters", &name), text(&theirs, "Parameters", &name), "{name}");
    }
}

const READ_BACK: &str = "
import sys, numpy, swiftsimio
ours, theirs = (swiftsimio.load(path) for path in sys.argv[1:3])
assert ours.metadata.output_type == 'FOF'
a, b = ours.fof_groups, theirs.fof_groups
# Groups of one size stand in another order.
i, j = (numpy.lexsort((g.centres.value[:, 0], -g.sizes.value)) for g in (a, b))
assert numpy.array_equal(a.sizes.value, b.sizes.value) and numpy.array_equal(a.masses.value, b.masses.value)
assert numpy.allclose(a.centres.to('cm').value[i], b.centres.to('cm').value[j], rtol=1e-12)
assert numpy.allclose(a.masses.to('g').value[i], b.masses.to('g').value[j], rtol=1e-12)
assert numpy.allclose(a.radii.to('cm').value[i], b.radii.to('cm').value[j], rtol=1e-6)
assert a.centres.comoving and a.masses.comoving and a.group_ids.value[0] == 1
assert a.velocity_dispersions.to('km/s').value.shape == a.velocities.to('km/s').value[:, 0].shape
assert numpy.array_equal(ours.metadata.boxsize.value, theirs.metadata.boxsize.value)
print('read', len(a.sizes))
";

#[test]
fn swiftsimio_opens_it() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (found, _) = search(folder.path(), "a", &[]);
    let [ours, theirs] =
        [folder.path().join("a.hdf5"), crate::common::swift_fixture().join("fof_output_0000.hdf5")];
    let out = Command::new(python).arg("-c").arg(READ_BACK).args([&ours, &theirs]).output().expect("Python");
    let said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    let n = found.table("Groups").expect("groups").n_rows();
    assert!(out.status.success() && said.contains(&format!("read {n}")), "{said}");
}

/// Cosmological inputs of each kind, searched in `folder`: the names of the catalogues.
fn cosmological(folder: &Path) -> Vec<PathBuf> {
    let dark = clumps(600, 1);
    let numbers =
        [("Time", 0.5), ("Redshift", 1.0), ("Omega0", 0.3), ("OmegaLambda", 0.7), ("HubbleParam", 0.7)];
    let gadget =
        write(folder, &[(1, &dark)], &Style { header: numbers.to_vec(), ..Style::default() }).remove(0);
    let swift = folder.join("swift.hdf5");
    std::fs::copy(&gadget, &swift).expect("copied");
    edit(&swift, |file| {
        let cosmology = file.create_group("Cosmology")?;
        let numbers = [("Cosmological run", 1.0), ("Scale-factor", 0.5), ("h", 0.7), ("Omega_m", 0.3)];
        let more = [("Omega_b", 0.05), ("Omega_lambda", 0.7)];
        numbers.iter().chain(&more).try_for_each(|(name, value)| put(&cosmology, name, &[*value]))?;
        let units = file.create_group("Units")?;
        let numbers = [("length (U_L)", 3e24), ("mass (U_M)", 2e43), ("time (U_t)", 3e19)];
        numbers.iter().try_for_each(|(name, value)| {
            let (what, letter) = name.split_once(' ').expect("two words");
            put(&units, &format!("Unit {what} in cgs {letter}"), &[*value])
        })
    });
    let inputs = [
        ("ramses", crate::common::output("dm_1rank"), "0.02"),
        ("gadget", gadget, "0.2"),
        ("swift", swift, "0.2"),
    ];
    let search = |(name, input, length): (&str, PathBuf, &str)| {
        let to = folder.join(format!("{name}_fof.hdf5"));
        let [input, out] = [&input, &to].map(|path| path.to_string_lossy().into_owned());
        run(&["fof", &input, "-o", &out, "--linking-length", length, "--min-size", "4"]);
        to
    };
    inputs.into_iter().map(search).collect()
}

/// Readers take the number of all neutrinos only with that of the massless ones.
#[test]
fn cosmological_catalogues_say_all_of_their_neutrinos() {
    let folder = tempfile::tempdir().expect("a folder");
    for path in cosmological(folder.path()) {
        let file = hdf5::File::open(&path).expect("a catalogue");
        let cosmology = file.group("Cosmology").expect("Cosmology");
        let number = |name: &str| cosmology.attr(name).and_then(|a| a.read_raw::<f64>()).expect(name)[0];
        assert_eq!(
            (number("Cosmological run"), number("N_eff"), number("N_ur")),
            (1.0, 0.0, 0.0),
            "{path:?}"
        );
    }
}

const READ_COSMOLOGY: &str = "
import sys, numpy, swiftsimio
found = swiftsimio.load(sys.argv[1])
a, h0, omega_m, mass, centre, speed = map(float, sys.argv[2:])
groups, meta = found.fof_groups, found.metadata
assert numpy.isclose(meta.cosmology.H0.value, h0, rtol=1e-4), meta.cosmology
assert numpy.isclose(meta.cosmology.Om0, omega_m, rtol=1e-12), meta.cosmology
assert numpy.isclose(meta.scale_factor, a, rtol=1e-12), meta.scale_factor
# It goes by way of solar masses and megaparsecs, of which there are several.
assert numpy.isclose(groups.masses.to('g').value[0], mass, rtol=1e-4)
assert groups.centres.comoving
assert numpy.isclose(groups.centres.to_physical().to('cm').value[0, 0], centre, rtol=1e-4)
assert numpy.isclose(groups.velocities.to_physical().to('cm/s').value[0, 0], speed, rtol=1e-4)
print('read', len(groups.sizes))
";

#[test]
fn swiftsimio_opens_cosmological_ones() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    for path in cosmological(folder.path()) {
        let found = read(&path).expect("a catalogue");
        let groups = found.table("Groups").expect("groups");
        let real = |name: &str| match found.attribute(name) {
            Some(Attribute::Real(value)) => *value,
            other => panic!("{name}: {other:?}"),
        };
        let first = |name: &str| groups.vectors(name).expect("vectors")[0][0];
        let cgs = |dimension| cgs_factor(&found.attributes, dimension).expect("units");
        let expected = [
            real("aexp"),
            real("h0"),
            real("omega_m"),
            groups.reals("Masses").expect("masses")[0] * cgs(Dimension::MASS),
            first("Centres") * cgs(Dimension::LENGTH),
            first("Velocities") * cgs(Dimension::VELOCITY),
        ];
        let words = expected.map(|x| format!("{x:e}"));
        let out = Command::new(&python).arg("-c").arg(READ_COSMOLOGY).arg(&path).args(words).output();
        let out = out.expect("Python");
        let said =
            format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        assert!(
            out.status.success() && said.contains(&format!("read {}", groups.n_rows())),
            "{path:?}: {said}"
        );
    }
}
