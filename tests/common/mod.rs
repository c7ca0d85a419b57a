//! Code that several test files need: the fixture, unpacked, and an output as plain numbers.
#![allow(dead_code)]

pub mod case;
pub mod compare;
pub mod engines;
pub mod fits;
pub mod fly_through;
pub mod friends;
#[cfg(feature = "hdf5")]
pub mod gadget;
pub mod host_octs;
pub mod infall;
pub mod merger_tree;
#[cfg(feature = "hdf5")]
pub mod mesh_blocks;
pub mod npy;
pub mod plotfile;
pub mod python;
pub mod ramses_catalogue;
pub mod room;
pub mod tiny;
pub mod zip;

use inselberg_io::particles::{Columns, Positions};
use inselberg_io::ramses::write::{Dialect, Output, Split, write};
use inselberg_io::{Family, FieldInfo, Header, MONATOMIC, OctBlock, ParticleBlock, Snapshot};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// All columns of particles, without rows: what a reader is asked for.
pub fn every_column(is_double: bool) -> Columns {
    Columns {
        position: Positions::with_capacity(is_double, 0),
        mass: Some(Vec::new()),
        id: Some(Vec::new()),
        kind: Some(Vec::new()),
        velocity: Some(Vec::new()),
        density: Some(Vec::new()),
    }
}

/// The program, which reacts to signals even if the tests run in the background of a script, where interrupts
/// are ignored.
pub fn program() -> Command {
    let program = env!("CARGO_BIN_EXE_inselberg");
    if cfg!(not(target_os = "linux")) {
        return Command::new(program);
    }
    let mut command = Command::new("env");
    command.args(["--default-signal=HUP,INT,TERM", program]);
    command
}

/// The bundled RAMSES outputs, unpacked once a test process: `ramses_16/dm_1rank`, ...
pub fn fixture() -> &'static Path {
    static UNPACKED: OnceLock<tempfile::TempDir> = OnceLock::new();
    UNPACKED.get_or_init(|| unpacked(include_bytes!("../fixtures/ramses_16.tar.xz"))).path()
}

/// Further bundled RAMSES outputs with RAMSES's answers, unpacked once a test process: `ties`, `walls`,
/// `gas_and_dm`.
///
/// They are parts of larger ones: values that no test needs are zero, and in `gas_and_dm` gas densities and
/// positions of particles have 36 bits.
pub fn ramses_more() -> PathBuf {
    static UNPACKED: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = UNPACKED.get_or_init(|| unpacked(include_bytes!("../fixtures/ramses_more.tar.xz")));
    folder.path().join("ramses_more")
}

/// A bundled RAMSES output of 32³ particles and RAMSES's own unbinding of it by three sets of thresholds,
/// unpacked once a test process: `output_00002`, `ub2_<density>_<relevance>_<saddle>`. In this build of
/// RAMSES the search of borders is corrected.
///
/// Positions have 32 bits, velocities 20 significant bits and densities 26; values that no test needs are
/// zero.
pub fn ramses_32() -> PathBuf {
    static UNPACKED: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = UNPACKED.get_or_init(|| unpacked(include_bytes!("../fixtures/ramses_32.tar.xz")));
    folder.path().join("ramses_32")
}

/// The bundled snapshot of SWIFT with its own catalogue of groups, unpacked once a test process.
pub fn swift_fixture() -> PathBuf {
    static UNPACKED: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = UNPACKED.get_or_init(|| unpacked(include_bytes!("../fixtures/swift_fof_16.tar.xz")));
    folder.path().join("swift_fof_16")
}

/// An output of Gadget-4 with 64³ particles of dark matter at a = 0.6, and the table of its groups and of
/// SUBFIND, unpacked once a test process: `snapshot_004.hdf5`, `fof_subhalo_tab_004.hdf5`. Particles are in
/// the order of groups and subhaloes.
pub fn gadget4() -> PathBuf {
    static UNPACKED: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = UNPACKED.get_or_init(|| unpacked(include_bytes!("../fixtures/gadget4_64.tar.xz")));
    folder.path().join("gadget4_64")
}

/// The table of groups and SUBFIND of an earlier output of the same run, at a = 0.4955, and Rockstar's list of
/// it: `fof_subhalo_tab_003.hdf5`, `rockstar_003.ascii`. Rockstar ran on a copy of the box with a margin of
/// 1 Mpc/h, so its positions are 1 too large.
pub fn rockstar() -> PathBuf {
    static UNPACKED: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = UNPACKED.get_or_init(|| unpacked(include_bytes!("../fixtures/rockstar_64.tar.xz")));
    folder.path().join("rockstar_64")
}

fn unpacked(packed: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let plain = liblzma::read::XzDecoder::new(packed);
    tar::Archive::new(plain).unpack(folder.path()).expect("unpacking the fixture");
    folder
}

/// Folder `output_00002` of one of the fixture's runs.
pub fn output(run: &str) -> PathBuf {
    fixture().join("ramses_16").join(run).join("output_00002")
}

/// Opens a snapshot that must be sound.
pub fn open(path: &Path) -> Box<dyn Snapshot> {
    inselberg_io::open(path).unwrap_or_else(|e| panic!("{e}"))
}

/// A cell by level and integer position.
pub type Place = (u8, [u32; 3]);

/// Split mask and requested values of every oct, by place of its cells' level and its position.
pub type Octs = BTreeMap<Place, (u8, Vec<[f64; 8]>)>;

/// Every oct of a snapshot; panics if one occurs twice.
pub fn octs(snapshot: &dyn Snapshot, fields: &[&str]) -> Octs {
    let mut all = Octs::new();
    for piece in 0..snapshot.header().n_pieces {
        let mut counts = vec![0; snapshot.count_octs(piece).expect("counts").len()];
        let mut sink = |block: &OctBlock| {
            counts[usize::from(block.level)] += block.position.len() as u64;
            insert(&mut all, block);
            Ok(())
        };
        snapshot.octs(piece, fields, &mut sink).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(counts, snapshot.count_octs(piece).expect("counts"));
    }
    all
}

fn insert(all: &mut Octs, block: &OctBlock) {
    assert!(block.position.len() <= 4096 && block.split.len() == block.position.len());
    for (i, position) in block.position.iter().enumerate() {
        let values = block.values.iter().map(|column| column[i]).collect();
        let before = all.insert((block.level, *position), (block.split[i], values));
        assert!(before.is_none(), "oct {position:?} of level {} came twice", block.level);
    }
}

/// The leaves among the cells of `octs`, with the first field's value.
pub fn leaves(octs: &Octs) -> BTreeMap<Place, f64> {
    let mut leaves = BTreeMap::new();
    for (&(level, position), (split, values)) in octs {
        for cell in (0..8_u32).filter(|c| split >> c & 1 == 0) {
            let offset = [cell & 1, cell >> 1 & 1, cell >> 2 & 1];
            let place = std::array::from_fn(|a| 2 * position[a] + offset[a]);
            leaves.insert((level, place), values.first().map_or(0.0, |v| v[cell as usize]));
        }
    }
    leaves
}

/// Volume of `leaves` in coarse cells.
pub fn volume(leaves: &BTreeMap<Place, f64>) -> f64 {
    leaves.keys().map(|(level, _)| 0.125_f64.powi(i32::from(*level))).sum()
}

/// One particle as the reader gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct Particle {
    pub position: [f64; 3],
    pub velocity: [f64; 3],
    pub mass: f64,
    pub family: Family,
}

/// Every particle by identity; panics if one occurs twice.
pub fn particles(snapshot: &dyn Snapshot) -> BTreeMap<i64, Particle> {
    let mut all = BTreeMap::new();
    for piece in 0..snapshot.header().n_pieces {
        let mut n = 0;
        let mut sink = |block: &ParticleBlock| {
            assert_eq!(block.first, n);
            n += block.id.len() as u64;
            for (i, id) in block.id.iter().enumerate() {
                let (position, velocity) = (block.position[i], block.velocity[i]);
                let (mass, family) = (block.mass[i], block.family[i]);
                let particle = Particle { position, velocity, mass, family };
                assert_eq!(all.insert(*id, particle), None, "particle {id} came twice");
            }
            Ok(())
        };
        snapshot.particles(piece, &mut sink).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(n, snapshot.count_particles(piece).expect("a count"));
    }
    all
}

/// An output in memory, as the writer takes it.
#[derive(Debug, Clone)]
pub struct Whole {
    pub header: Header,
    pub fields: Vec<FieldInfo>,
    pub octs: Vec<OctBlock>,
    pub particles: Option<ParticleBlock>,
    pub adiabatic_index: f64,
}

impl Whole {
    /// Everything that a snapshot holds.
    pub fn read(snapshot: &dyn Snapshot) -> Self {
        let (header, fields) = (snapshot.header().clone(), snapshot.fields().to_vec());
        let names: Vec<_> = fields.iter().map(|f| f.name.as_str()).collect();
        let (mut octs, mut particles) = (Vec::new(), ParticleBlock::default());
        for piece in 0..header.n_pieces {
            let mut keep = |block: &OctBlock| {
                octs.push(block.clone());
                Ok(())
            };
            snapshot.octs(piece, &names, &mut keep).unwrap_or_else(|e| panic!("{e}"));
            let mut append = |block: &ParticleBlock| {
                particles.position.extend(&block.position);
                particles.velocity.extend(&block.velocity);
                particles.mass.extend(&block.mass);
                particles.id.extend(&block.id);
                particles.family.extend(&block.family);
                Ok(())
            };
            snapshot.particles(piece, &mut append).unwrap_or_else(|e| panic!("{e}"));
        }
        let particles = snapshot.has_particles().then_some(particles);
        let adiabatic_index = snapshot.adiabatic_index().unwrap_or(MONATOMIC);
        Self { header, fields, octs, particles, adiabatic_index }
    }

    /// A small box: levels 1 and 2 everywhere on `coarse` cells, one cell of level 2 split.
    pub fn tiny(coarse: [u32; 3]) -> Self {
        let fields = tiny::fields();
        let octs = tiny::octs(coarse, fields.len());
        let (header, particles) = (tiny::header(coarse, [true; 3]), Some(tiny::particles(coarse)));
        Self { header, fields, octs, particles, adiabatic_index: MONATOMIC }
    }

    /// Writes it into `folder` over `n_cpus` files, octs and particles scattered over them.
    pub fn write(&self, folder: &Path, n_cpus: usize, ghosts: bool, dialect: &Dialect) -> PathBuf {
        let output = Output {
            header: &self.header,
            fields: &self.fields,
            octs: &self.octs,
            particles: self.particles.as_ref(),
            adiabatic_index: self.adiabatic_index,
        };
        let oct_owner = |level: u8, [x, y, z]: [u32; 3]| {
            (u32::from(level) * 5 + x / 2 * 7 + y * 3 + z / 4 * 11) as usize % n_cpus
        };
        let particle_owner = |i: usize| i / 3 % n_cpus;
        let split = Split { n_cpus, oct_owner: &oct_owner, particle_owner: &particle_owner, ghosts };
        write(folder, output, split, dialect).unwrap_or_else(|e| panic!("{e}"))
    }
}

/// Writes the output at `source` again, over `n_cpus` files with ghosts, into `folder`.
pub fn resplit(source: &Path, folder: &Path, n_cpus: usize) -> PathBuf {
    Whole::read(&*open(source)).write(folder, n_cpus, true, &Dialect::default())
}
