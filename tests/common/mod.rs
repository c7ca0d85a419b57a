//! What several test files need: the fixture, unpacked, and an output as plain numbers.
#![allow(dead_code)]

use inselberg::io::{self, Family, OctBlock, ParticleBlock, Snapshot};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The bundled RAMSES outputs, unpacked once a test process: `ramses_16/dm_1rank`, ...
pub fn fixture() -> &'static Path {
    static UNPACKED: OnceLock<tempfile::TempDir> = OnceLock::new();
    UNPACKED
        .get_or_init(|| {
            let packed: &[u8] = include_bytes!("../fixtures/ramses_16.tar.xz");
            let folder = tempfile::tempdir().expect("a temporary folder");
            let plain = liblzma::read::XzDecoder::new(packed);
            tar::Archive::new(plain).unpack(folder.path()).expect("unpacking the fixture");
            folder
        })
        .path()
}

/// Folder `output_00002` of one of the fixture's runs.
pub fn output(run: &str) -> PathBuf {
    fixture().join("ramses_16").join(run).join("output_00002")
}

/// Opens a snapshot that must be sound.
pub fn open(path: &Path) -> Box<dyn Snapshot> {
    io::open(path).unwrap_or_else(|e| panic!("{e}"))
}

/// A cell by level and integer position.
pub type Place = (u8, [u32; 3]);

/// Split mask and requested values of every oct, by place of its cells' level and its position.
pub type Octs = BTreeMap<Place, (u8, Vec<[f64; 8]>)>;

/// Every oct of a snapshot; panics where one comes twice.
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

/// Every particle by identity; panics where one comes twice.
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
