//! SWIFT's own groups: the bundled snapshot searched again, and files that SWIFT's readers open.
//!
//! `INSELBERG_PIP=1` also installs swiftsimio into an environment of its own and lets it read our catalogue: that
//! needs Python and the network.

#![cfg(feature = "hdf5")]

mod common;

use common::compare::assert_same;
use inselberg::catalogue::{Catalogue, Table, Values, read};
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
    let input = common::swift_fixture().join("snap_0000.hdf5");
    let [input, to, ids] = [&input, &to, &ids].map(|p| p.to_string_lossy().into_owned());
    let args = ["fof", &input, "-o", &to, "--group-ids", &ids, "--linking-length", "0.2"];
    run(&[&args[..], more].concat());
    (read(Path::new(&to)).expect("a catalogue"), read(Path::new(&ids)).expect("group IDs"))
}

fn swift(file: &str) -> hdf5::File {
    hdf5::File::open(common::swift_fixture().join(file)).expect("SWIFT's file")
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

/// An environment of Python with swiftsimio, if such tests were asked for.
fn python(folder: &Path) -> Option<PathBuf> {
    if std::env::var("INSELBERG_PIP").ok()? != "1" {
        return None;
    }
    let done = |program: &Path, args: &[&str]| {
        let out = Command::new(program).args(args).output().expect("Python");
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    };
    let place = folder.join("python");
    done(Path::new("python3"), &["-m", "venv", &place.to_string_lossy()]);
    let python = place.join("bin/python");
    done(&python, &["-m", "pip", "install", "--quiet", "swiftsimio>=12"]);
    Some(python)
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
    let folder = tempfile::tempdir().expect("a folder");
    let Some(python) = python(folder.path()) else {
        eprintln!("not asked for: INSELBERG_PIP=1 installs swiftsimio and reads a catalogue with it");
        return;
    };
    let (found, _) = search(folder.path(), "a", &[]);
    let [ours, theirs] = [folder.path().join("a.hdf5"), common::swift_fixture().join("fof_output_0000.hdf5")];
    let out = Command::new(python).arg("-c").arg(READ_BACK).args([&ours, &theirs]).output().expect("Python");
    let said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    let n = found.table("Groups").expect("groups").n_rows();
    assert!(out.status.success() && said.contains(&format!("read {n}")), "{said}");
}
