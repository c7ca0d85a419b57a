//! Every bundled input and a sample of every kind that tests make, with what other programs read of it.

use crate::common::fits::{FitsFile, encoded};
use crate::common::gadget::{Ids, Kind, MassesIn, Style, clumps, edit, write};
use crate::common::mesh_blocks::numbers;
use crate::common::room::Room;
use crate::common::{Whole, gadget4, output, ramses_32, ramses_more, swift_fixture};
use crate::dialects::{arepo, eagle, gizmo, swift};
use crate::gadget_binary::Variant;
use crate::{cell_checklist, particle_checklist};
use inselberg_io::ramses::write::{Descriptors, Dialect};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// An input.
pub struct Case {
    pub name: String,
    pub make: Box<dyn Fn(&Room) -> PathBuf>,
    pub has_particles: bool,
    /// The field of its cells.
    pub field: Option<&'static str>,
    /// Units that yt has to be given.
    pub units: Option<Value>,
    /// Whether yt has to be given the size of identities, 8 bytes.
    pub has_long_ids: bool,
}

impl Case {
    fn of_particles(name: &str, make: impl Fn(&Room) -> PathBuf + 'static) -> Self {
        let (name, make) = (name.into(), Box::new(make));
        Self { name, make, has_particles: true, field: None, units: None, has_long_ids: false }
    }

    fn with(self, field: &'static str) -> Self {
        Self { field: Some(field), ..self }
    }

    fn of_cells(name: &str, make: impl Fn(&Room) -> PathBuf + 'static, field: &'static str) -> Self {
        Self { has_particles: false, ..Self::of_particles(name, make).with(field) }
    }
}

fn bundled() -> Vec<Case> {
    let ramses = |name: &'static str| move |_: &Room| output(name);
    let more =
        |name: &'static str, number: &'static str| move |_: &Room| ramses_more().join(name).join(number);
    // Gadget-4 states them in the group Parameters.
    let units = json!({ "UnitLength_in_cm": 3.085678e24, "UnitMass_in_g": 1.989e43, "UnitVelocity_in_cm_per_s": 1e5 });
    vec![
        Case {
            units: Some(units),
            ..Case::of_particles("Gadget-4, bundled", |_| gadget4().join("snapshot_004.hdf5"))
        },
        Case::of_particles("SWIFT, bundled", |_| swift_fixture().join("snap_0000.hdf5")),
        Case::of_particles("SWIFT, bundled, in an expanding box", expanding_swift),
        Case::of_particles("RAMSES dm_1rank", ramses("dm_1rank")).with("rho"),
        Case::of_particles("RAMSES dm_3ranks", ramses("dm_3ranks")).with("rho"),
        Case::of_particles("RAMSES gas_2ranks", ramses("gas_2ranks")).with("density"),
        Case::of_particles("RAMSES gas_and_dm", more("gas_and_dm", "output_00003")).with("density"),
        Case::of_cells("RAMSES ties", more("ties", "output_00002"), "density"),
        Case::of_cells("RAMSES walls", more("walls", "output_00002"), "density"),
        Case::of_particles("RAMSES ramses_32", |_| ramses_32().join("output_00002")).with("rho"),
    ]
}

/// The bundled snapshot of SWIFT with a cosmology, and with the groups of a run with gas, which yt needs.
fn expanding_swift(room: &Room) -> PathBuf {
    let path = PathBuf::from(room.path("snap_0001.hdf5"));
    fs::copy(swift_fixture().join("snap_0000.hdf5"), &path).expect("copied");
    edit(&path, |file| {
        let cosmology = file.group("Cosmology")?;
        let of_run =
            [("Scale-factor", 0.5), ("Redshift", 1.0), ("h", 0.7), ("Omega_m", 0.3), ("Omega_lambda", 0.7)];
        for (name, value) in
            of_run.into_iter().chain([("Omega_cdm", 0.25), ("Omega_b", 0.05), ("w_0", -1.0), ("w", -1.0)])
        {
            numbers(&cosmology, name, &[value]);
        }
        numbers(&cosmology, "Cosmological run", &[1]);
        // 100 km/s/Mpc in the units of the run.
        numbers(&cosmology, "H0 [internal units]", &[70.0]);
        numbers(&cosmology, "H [internal units]", &[70.0 * 3.1f64.sqrt()]);
        let header = file.group("Header")?;
        numbers(&header, "Redshift", &[1.0]);
        numbers(&header, "Scale-factor", &[0.5]);
        let policy = file.group("Policy")?;
        numbers(&policy, "cosmological integration", &[1]);
        ["HydroScheme", "SubgridScheme"].into_iter().try_for_each(|name| file.create_group(name).map(drop))
    });
    path
}

fn of_checklists() -> Vec<Case> {
    let particles = particle_checklist::samples().into_iter().map(|sample| {
        let write = sample.write;
        let make = move |room: &Room| write(Path::new(&room.path("")), 60)[0].clone();
        Case::of_particles(&format!("particle checklist: {}", sample.reader), make)
    });
    let cells = cell_checklist::rows().into_iter().map(|row| {
        let make = row.make;
        let make = move |room: &Room| PathBuf::from(make(room));
        Case::of_cells(&format!("cell checklist: {}", row.name), make, row.field)
    });
    particles.chain(cells).collect()
}

/// A cube with what yt needs in addition.
fn fits() -> Vec<Case> {
    let make = |room: &Room| {
        let path = PathBuf::from(room.path("cube.fits"));
        let data = encoded(-32, (0..60).map(f64::from));
        fs::write(&path, FitsFile::default().image(-32, &[5, 4, 3], &["BUNIT = 'K'"], &data).bytes)
            .expect("written");
        path
    };
    vec![Case::of_cells("FITS with a unit", make, "image")]
}

fn binary() -> Vec<Case> {
    let several = vec![[1, 5, 0, 0, 0, 0], [2, 2, 0, 0, 2, 1]];
    let mut all = Vec::new();
    for is_big in [false, true] {
        for has_labels in [false, true] {
            for is_double in [false, true] {
                let order = if is_big { "big-endian" } else { "little-endian" };
                let reals = if is_double { "double" } else { "single" };
                let name = format!("Gadget binary type {}, {order}, {reals}", 1 + usize::from(has_labels));
                all.push((name, Variant { is_big, has_labels, is_double, ..Variant::default() }));
            }
        }
    }
    let further = [
        (
            "Gadget binary type 1, several files",
            Variant { files: several, in_table: None, ..Variant::default() },
        ),
        ("Gadget binary type 1, identities of 8 bytes", Variant { has_wide_ids: true, ..Variant::default() }),
        ("Gadget binary type 1, masses of each", Variant { in_table: None, ..Variant::default() }),
        (
            "Gadget binary type 2, masses of each",
            Variant { in_table: None, has_labels: true, ..Variant::default() },
        ),
        ("Gadget binary type 1, GADGET-4's header", Variant { is_gadget_4: true, ..Variant::default() }),
        (
            "Gadget binary type 2, GADGET-4's header",
            Variant { is_gadget_4: true, has_labels: true, ..Variant::default() },
        ),
        ("Gadget binary type 1, GIZMO's blocks", Variant { is_gizmo: true, ..Variant::default() }),
    ];
    all.extend(further.map(|(name, variant)| (name.to_string(), variant)));
    let made = |(name, variant): (String, Variant)| {
        let has_long_ids = variant.has_wide_ids;
        let make = move |room: &Room| variant.write(Path::new(&room.path(""))).remove(0);
        Case { has_long_ids, ..Case::of_particles(&name, make) }
    };
    all.into_iter().map(made).collect()
}

fn styled(name: &str, style: Style) -> Case {
    let make = move |room: &Room| {
        let (dark, mut gas): (Kind, Kind) = (clumps(60, 1), clumps(20, 2));
        gas.id.iter_mut().for_each(|id| *id += 2_000_000);
        write(Path::new(&room.path("")), &[(0, &gas), (1, &dark)], &style).remove(0)
    };
    Case::of_particles(name, make)
}

fn hdf5() -> Vec<Case> {
    let header =
        vec![("Time", 0.5), ("Redshift", 1.0), ("Omega0", 0.3), ("OmegaLambda", 0.7), ("HubbleParam", 0.7)];
    let plain = || Style { header: header.clone(), six_kinds: true, ..Style::default() };
    vec![
        Case::of_particles("GIZMO's names", gizmo),
        Case::of_particles("EAGLE's names", eagle),
        Case::of_particles("AREPO's long box", arepo),
        Case::of_particles("SWIFT, generated", swift),
        styled("Gadget HDF5 of several files", Style { files: 3, ..plain() }),
        styled(
            "Gadget HDF5 with packed single reals and a table of masses",
            Style { single: true, gzip: true, ids: Ids::U32, masses: MassesIn::Table, ..plain() },
        ),
        styled("Gadget HDF5 of seven types", Style { six_kinds: false, ..plain() }),
        styled(
            "Gadget HDF5 without expansion",
            Style { six_kinds: true, header: vec![("Time", 0.5)], ..Style::default() },
        ),
    ]
}

fn ramses() -> Vec<Case> {
    let tiny = |name: &str, n_cpus: usize, dialect: Dialect| {
        let make =
            move |room: &Room| Whole::tiny([1; 3]).write(Path::new(&room.path("")), n_cpus, true, &dialect);
        Case::of_particles(name, make).with("density")
    };
    let current = Dialect::default;
    vec![
        tiny("RAMSES, generated", 1, current()),
        tiny("RAMSES, generated, 2 files", 2, current()),
        tiny("RAMSES, generated, single precision", 2, Dialect { single_precision: true, ..current() }),
        tiny("RAMSES, generated, wide identities", 2, Dialect { wide_ids: true, ..current() }),
        tiny("RAMSES, generated, groups of files", 2, Dialect { group_size: Some(1), ..current() }),
        tiny("RAMSES, generated, no families", 2, Dialect { families: false, ..current() }),
        tiny("RAMSES, generated, old descriptors", 2, Dialect { descriptors: Descriptors::Old, ..current() }),
        tiny(
            "RAMSES, generated, no descriptors",
            2,
            Dialect { descriptors: Descriptors::Missing, ..current() },
        ),
    ]
}

/// All of them.
pub fn cases() -> Vec<Case> {
    [bundled(), of_checklists(), fits(), binary(), hdf5(), ramses()].into_iter().flatten().collect()
}
