//! Inputs under the names that README.md and docs/ use: bundled outputs, and small files of other formats.

use crate::common::fits::{FitsFile, encoded};
use crate::common::mesh_blocks::{BlockMesh, patiently};
use crate::common::npy::npy_file;
use crate::common::plotfile::Plotfile;
use crate::common::{fixture, gadget4, ramses_more, rockstar, room, swift_fixture};
use std::f64::consts::TAU;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder with all of them.
pub struct Inputs(tempfile::TempDir);

impl Inputs {
    pub fn new() -> Self {
        let inputs = Self(tempfile::tempdir().expect("a folder"));
        inputs.outputs();
        inputs.snapshots();
        inputs.arrays();
        inputs.meshes();
        inputs.images();
        inputs.catalogues();
        inputs.links();
        inputs
    }

    pub fn folder(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, bytes: Vec<u8>) {
        fs::write(self.0.path().join(name), bytes).expect("an input");
    }

    /// Of RAMSES: two of one run, the earlier one first, and one with gas.
    fn outputs(&self) {
        let run = fixture().join("ramses_16");
        self.output(&run.join("dm_3ranks/output_00002"), "00001");
        self.output(&run.join("dm_1rank/output_00002"), "00002");
        self.output(&ramses_more().join("gas_and_dm/output_00003"), "00080");
    }

    /// Copies an output under another number, which its files have in their names.
    fn output(&self, from: &Path, number: &str) {
        let to = self.0.path().join(format!("output_{number}"));
        fs::create_dir(&to).expect("a folder");
        let old = from.to_str().and_then(|path| path.rsplit_once('_')).expect("a number").1;
        let (old, new) = (format!("_{old}."), format!("_{number}."));
        for entry in fs::read_dir(from).expect("an output") {
            let file = entry.expect("a file").path();
            let name = file.file_name().and_then(|name| name.to_str()).expect("a name");
            fs::copy(&file, to.join(name.replace(&old, &new))).expect("a copy");
        }
    }

    /// Of Gadget-4, in a box that expands, and of SWIFT.
    fn snapshots(&self) {
        let copy = |from: PathBuf, name: &str| fs::copy(from, self.0.path().join(name)).expect("a copy");
        copy(gadget4().join("snapshot_004.hdf5"), "snap_004.hdf5");
        for name in ["fof_subhalo_tab_003.hdf5", "rockstar_003.ascii"] {
            copy(rockstar().join(name), name);
        }
        copy(gadget4().join("fof_subhalo_tab_004.hdf5"), "fof_subhalo_tab_004.hdf5");
        copy(gadget4().join("snapshot_004.hdf5"), "snapshot_004.hdf5");
        copy(swift_fixture().join("snap_0000.hdf5"), "snap_0000.hdf5");
        copy(swift_fixture().join("snap_0000.hdf5"), "snap_080.0.hdf5");
    }

    /// Densities of cells and positions of particles.
    fn arrays(&self) {
        let cube = |value: fn(&[usize]) -> f64| npy_file(&[16, 16, 16], false, "<f8", value);
        self.write("rho.npy", cube(density));
        self.write("cube.npy", cube(density));
        self.write("noise.npy", cube(|at| 3.0 * (scatter(at) - 0.5)));
        self.write("map.npy", npy_file(&[32, 32], false, "<f8", density));
        self.write("box.npy", npy_file(&[4096, 3], false, "<f4", |at| 50.0 * clustered(at)));
        self.write("galaxies.npy", npy_file(&[4096, 3], false, "<f4", |at| 500.0 * clustered(at)));
        let file = self.0.path().join("box.h5");
        let file = patiently(|| hdf5::File::create(&file));
        let values: Vec<f64> = cells(16).map(|at| density(&at)).collect();
        let dataset = file.create_group("fields").expect("a group").new_dataset::<f64>().shape([16, 16, 16]);
        dataset.create("rho").expect("a dataset").write_raw(&values).expect("values");
    }

    /// Of AMReX and Athena++.
    fn meshes(&self) {
        Plotfile::sample().write(&self.0.path().join("plt00100"));
        let athdf = self.0.path().join("turb.out1.00005.athdf");
        BlockMesh::sample().write_athdf(athdf.to_str().expect("text"), |value| value as f32);
    }

    fn images(&self) {
        let cube = encoded(-64, cells(8).map(|at| density(&at)));
        self.write("cube.fits", FitsFile::default().image(-64, &[8, 8, 8], &[], &cube).bytes);
        let cloud = |at: &[usize]| {
            let r2: f64 = at.iter().map(|x| (*x as f64 - 8.0).powi(2)).sum();
            scatter(at) - 0.5 + 9.0 * (-r2 / 6.0).exp()
        };
        let sky = [
            "CTYPE1 = 'RA---TAN'",
            "CTYPE2 = 'DEC--TAN'",
            "CTYPE3 = 'VRAD'",
            "BUNIT = 'K'",
            "RESTFRQ = 1.15E11",
        ];
        let steps = ["CDELT1 = -0.001", "CDELT2 = 0.001", "CDELT3 = 200.0", "BMAJ = 0.002", "BMIN = 0.002"];
        let clouds = encoded(-64, cells(16).map(|at| cloud(&at)));
        let clouds = FitsFile::default().image(-64, &[16, 16, 16], &[sky, steps].concat(), &clouds);
        self.write("gas.fits", clouds.bytes);
        let sci: Vec<u8> = encoded(-64, cells(8).take(64).map(|at| density(&at[1..])));
        let image = FitsFile::default().part(&["BITPIX = 8", "NAXIS = 0"], &[]);
        self.write("image.fits", image.image(-64, &[8, 8], &["EXTNAME = 'SCI'"], &sci).bytes);
    }

    /// A merger tree.
    fn catalogues(&self) {
        let room = room::Room::new();
        let series = room.path("series");
        room::done(&["synth", "series", "-o", &series, "--outputs", "4", "--members", "4000"]);
        let tree = self.0.path().join("tree.hdf5");
        let catalogues = format!("{series}/clumps_*.hdf5");
        room::done(&["tree", &catalogues, "-o", tree.to_str().expect("text")]);
    }

    /// Files of the repository that pages name.
    fn links(&self) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for name in ["phew.toml", "fof.toml"] {
            fs::copy(root.join("configs").join(name), self.0.path().join(name)).expect("a copy");
        }
        let fixtures = self.0.path().join("tests/fixtures");
        fs::create_dir_all(&fixtures).expect("a folder");
        fs::copy(root.join("tests/fixtures/gadget4_64.tar.xz"), fixtures.join("gadget4_64.tar.xz"))
            .expect("a copy");
    }
}

/// Copies a folder with all that is in it.
pub fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder") {
        let (from, name) = entry.map(|entry| (entry.path(), entry.file_name())).expect("an entry");
        let to = to.join(name);
        if from.is_dir() {
            fs::create_dir(&to).expect("a folder");
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).expect("a copy");
        }
    }
}

fn cells(side: usize) -> impl Iterator<Item = [usize; 3]> {
    (0..side.pow(3)).map(move |i| [i / side / side, i / side % side, i % side])
}

/// A number from 0 to 1 that looks random.
fn scatter(at: &[usize]) -> f64 {
    let sum: f64 = (1..).zip(at).map(|(axis, &n)| (n + 1) as f64 * (axis as f64 + 0.618).sqrt()).sum();
    (43_758.545_3 * sum.sin()).rem_euclid(1.0)
}

/// Two smooth peaks per axis above 10, and noise.
fn density(at: &[usize]) -> f64 {
    let waves: f64 = at.iter().map(|&n| 1.0 + (TAU * n as f64 / 8.0).cos()).product();
    0.1 + 4.0 * waves + scatter(at)
}

/// Coordinates from 0 to 1 of particles, half of them in 16 clusters.
fn clustered(at: &[usize]) -> f64 {
    let [row, axis] = at else { unreachable!("rows of three coordinates") };
    let cluster = scatter(&[row % 16, *axis, 7]);
    let offset = scatter(&[*row, *axis]);
    if row % 2 == 0 { offset } else { (cluster + 0.01 * (offset - 0.5)).rem_euclid(1.0) }
}
