//! Synthetic inputs are what they claim to be: tiled, graded, of about the size asked for, with the
//! peaks they name, and the same whoever makes which piece.

use inselberg_cli::synth::{
    FieldKind, FieldParams, ParticleBox, ParticleParams, SynthField, THRESHOLD, write_particles,
};
use inselberg_comm::agree::AgreeError;
use inselberg_comm::{Comm, Rank, run_threads};
use inselberg_io::{OctBlock, Snapshot};
use std::collections::HashMap;
use std::path::Path;

type Key = (u8, [u32; 3]);

/// Leaves with their densities, and the split cells.
#[derive(Default)]
struct Cells {
    leaves: HashMap<Key, f64>,
    split: HashMap<Key, f64>,
    octs: HashMap<Key, usize>,
}

fn cells_of(field: &SynthField) -> Cells {
    let mut cells = Cells::default();
    for piece in 0..field.header().n_pieces {
        let mut counts = vec![0; usize::from(field.header().levelmax) + 1];
        let mut sink = |block: &OctBlock| {
            counts[usize::from(block.level)] += block.position.len() as u64;
            cells.add(block);
            Ok(())
        };
        field.octs(piece, &["density"], &mut sink).expect("a formula does not fail");
        assert_eq!(counts, field.count_octs(piece).expect("nor does counting"));
    }
    cells
}

impl Cells {
    fn add(&mut self, block: &OctBlock) {
        for (k, position) in block.position.iter().enumerate() {
            *self.octs.entry((block.level, *position)).or_default() += 1;
            for i in 0..8 {
                let key = (block.level, [0, 1, 2].map(|a| 2 * position[a] + (i >> a & 1) as u32));
                let value = block.values[0][k][i];
                let map = if block.split[k] >> i & 1 == 1 { &mut self.split } else { &mut self.leaves };
                map.insert(key, value);
            }
        }
    }

    /// The leaves that touch `key` by face, edge or corner, around the periodic box.
    fn touching(&self, (level, cell): Key) -> Vec<Key> {
        let n = 1i64 << level;
        let mut found = Vec::new();
        for d in (0..27).filter(|&d| d != 13) {
            let step = [d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1];
            let place = [0, 1, 2].map(|a| (i64::from(cell[a]) + step[a]).rem_euclid(n) as u32);
            self.leaves_at((level, place), step, &mut found);
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The leaf that holds the place, or the leaves within it on the side that faces back.
    fn leaves_at(&self, key: Key, step: [i64; 3], found: &mut Vec<Key>) {
        if self.split.contains_key(&key) {
            for i in 0..8usize {
                let faces = (0..3).all(|a| match step[a] {
                    1 => i >> a & 1 == 0,
                    -1 => i >> a & 1 == 1,
                    _ => true,
                });
                if faces {
                    let child = [0, 1, 2].map(|a| 2 * key.1[a] + (i >> a & 1) as u32);
                    self.leaves_at((key.0 + 1, child), step, found);
                }
            }
            return;
        }
        let (mut level, mut cell) = key;
        while !self.leaves.contains_key(&(level, cell)) {
            (level, cell) = (level - 1, cell.map(|x| x / 2));
        }
        found.push((level, cell));
    }
}

fn params(kind: FieldKind, test_cells: u64, seed: u64) -> FieldParams {
    FieldParams { kind, test_cells, seed, ..FieldParams::default() }
}

fn check_mesh(field: &SynthField) {
    let cells = cells_of(field);
    assert!(cells.octs.values().all(|&n| n == 1), "an oct comes once");
    for &(level, cell) in cells.split.keys() {
        assert!(cells.octs.contains_key(&(level + 1, cell)), "a split cell has its oct");
    }
    assert_eq!(cells.octs.len(), cells.split.len() + 1, "and nothing else has one");
    let volume: u128 = cells.leaves.keys().map(|(level, _)| 1u128 << (3 * (30 - level))).sum();
    assert_eq!(volume, 1 << 90, "the leaves fill the box");
    for &key in cells.leaves.keys() {
        for other in cells.touching(key) {
            assert!(key.0.abs_diff(other.0) <= 1, "{key:?} touches {other:?}");
        }
    }
}

#[test]
fn every_kind_tiles_the_box_and_is_graded() {
    for kind in [FieldKind::Clumps, FieldKind::Lattice, FieldKind::Giant, FieldKind::Chain] {
        check_mesh(&SynthField::new(&params(kind, 4000, 3)).expect("levels chosen by themselves fit"));
    }
    let deep = FieldParams { levels: Some((2, 11)), ..params(FieldKind::Clumps, 12_000, 5) };
    check_mesh(&SynthField::new(&deep).expect("these levels fit"));
}

#[test]
fn about_as_many_test_cells_as_asked() {
    for kind in [FieldKind::Clumps, FieldKind::Giant, FieldKind::Lattice, FieldKind::Chain] {
        for wanted in [10_000u64, 300_000] {
            let field = SynthField::new(&params(kind, wanted, 1)).expect("it fits");
            let census = field.census().expect("a formula does not fail");
            let ratio = census.test_cells as f64 / wanted as f64;
            eprintln!("{kind:?} {wanted}: {ratio:.2} of {census:?} levels {:?}", field.header().levelmin);
            assert!((0.35..3.0).contains(&ratio), "{kind:?} {wanted}: {}", census.test_cells);
        }
    }
}

/// Test cells for each cell that is denser than all it touches.
fn cells_a_peak(cells_per_peak: f64) -> f64 {
    let field = SynthField::new(&FieldParams { cells_per_peak, ..params(FieldKind::Clumps, 100_000, 2) })
        .expect("fits");
    let cells = cells_of(&field);
    let test = cells.leaves.iter().filter(|(_, v)| **v > THRESHOLD);
    let (mut n_test, mut n_peaks) = (0, 0);
    for (&key, value) in test {
        n_test += 1;
        n_peaks += u64::from(cells.touching(key).iter().all(|k| cells.leaves[k] < *value));
    }
    f64::from(n_test) / n_peaks as f64
}

#[test]
fn patches_have_about_the_cells_asked_for() {
    for wanted in [10.0, 15.0, 20.0, 25.0, 40.0, 100.0] {
        let got = cells_a_peak(wanted);
        eprintln!("{wanted} asked, {got:.1} got");
        assert!((0.8..1.25).contains(&(got / wanted)), "{wanted} asked, {got} got");
    }
    assert!(cells_a_peak(0.0) > 1000.0);
}

#[test]
fn the_seeded_centres_are_peaks() {
    let field = SynthField::new(&params(FieldKind::Clumps, 100_000, 4)).expect("it fits");
    let cells = cells_of(&field);
    let deepest = field.header().levelmax;
    assert!(!field.clumps().is_empty());
    for clump in field.clumps() {
        let key = (deepest, clump.centre.map(|x| (x * f64::from(1u32 << deepest)) as u32));
        let value = cells.leaves[&key];
        assert!(cells.touching(key).iter().all(|k| cells.leaves[k] < value), "{clump:?}");
    }
}

#[test]
fn a_seed_is_a_field() {
    let make =
        |seed| cells_of(&SynthField::new(&params(FieldKind::Clumps, 3000, seed)).expect("fits")).leaves;
    assert!(make(1) == make(1));
    assert!(make(1) != make(2));
}

#[test]
fn levels_that_cannot_hold_the_cells_are_refused() {
    let shallow = FieldParams { levels: Some((3, 5)), ..params(FieldKind::Clumps, 1_000_000, 1) };
    let error = SynthField::new(&shallow).expect_err("32768 cells at most");
    assert!(error.to_string().contains("deeper levels"), "{error}");
}

#[test]
fn lattice_cells_are_equal_but_for_the_peaks() {
    let field = SynthField::new(&params(FieldKind::Lattice, 5000, 1)).expect("it fits");
    let mut values: Vec<f64> = cells_of(&field).leaves.into_values().collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    assert_eq!(values, [1.5 * THRESHOLD, 6.0 * THRESHOLD]);
}

#[test]
fn particles_are_clustered_inside_the_box_and_written_as_numpy_reads_them() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("box.npy");
    let particles = ParticleBox::new(ParticleParams { number: 20_000, seed: 9 });
    let meta = write_particles(&path, &particles, &Comm::solo()).expect("written");
    let bytes = std::fs::read(&path).expect("there");
    let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    assert_eq!(header % 64, 0);
    let text = String::from_utf8_lossy(&bytes[10..header]);
    assert!(text.contains("'descr': '<f4'") && text.contains("'shape': (20000, 3)"), "{text}");
    assert_eq!(bytes.len() - header, 20_000 * 12);

    let n = 27usize;
    let mut counts = vec![0u32; n * n * n];
    for (i, row) in bytes[header..].chunks_exact(12).enumerate() {
        let x: [f32; 3] = std::array::from_fn(|a| f32::from_le_bytes([0, 1, 2, 3].map(|b| row[4 * a + b])));
        assert_eq!(x, particles.position(i as u64));
        assert!(x.iter().all(|&x| x >= 0.0 && f64::from(x) < meta.side));
        let cell = x.map(|x| (f64::from(x) / meta.side * n as f64) as usize);
        counts[cell[0] + n * (cell[1] + n * cell[2])] += 1;
    }
    let variance = counts.iter().map(|&c| f64::from(c).powi(2)).sum::<f64>() / counts.len() as f64;
    assert!(variance > 5.0, "clustered, not Poisson: {variance}");
    assert!((0.3..0.46).contains(&meta.frac_in_haloes), "{meta:?}");
    let json = std::fs::read_to_string(folder.path().join("box.json")).expect("there");
    assert!(json.contains("\"N\": 20000"), "{json}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 2);
}

/// Speed and memory at the size of the benches; `cargo test --release --test synth -- --ignored`.
#[test]
#[ignore = "takes a while"]
fn twenty_million_test_cells() {
    let start = std::time::Instant::now();
    let field = SynthField::new(&params(FieldKind::Clumps, 20_000_000, 1)).expect("it fits");
    let census = field.census().expect("a formula does not fail");
    eprintln!("{census:?} in {:?}", start.elapsed());
}

fn content(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry"));
    let one = |e: std::fs::DirEntry| {
        (e.file_name().to_string_lossy().into_owned(), std::fs::read(e.path()).expect("a file"))
    };
    let mut all: Vec<_> = entries.map(one).collect();
    all.sort();
    all
}

#[test]
fn particles_are_the_same_file_from_any_number_of_ranks() {
    for number in [1, 5, 30_011] {
        let particles = ParticleBox::new(ParticleParams { number, seed: 2 });
        let written = |n_ranks: usize| {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let path = folder.path().join("box.npy");
            let write = |comm: &Comm| write_particles(&path, &particles, comm).expect("written");
            let meta = run_threads(n_ranks, write).expect("no panic");
            assert!(meta.iter().all(|other| *other == meta[0] && other.number == number));
            content(folder.path())
        };
        let alone = written(1);
        for n_ranks in [2, 3, 8] {
            assert!(written(n_ranks) == alone, "{number}: {n_ranks} ranks");
        }
    }
}

#[test]
fn particles_that_one_rank_cannot_write_leave_nothing() {
    let particles = ParticleBox::new(ParticleParams { number: 1000, seed: 2 });
    for failing in 0..3 {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let there = folder.path().join("box.npy");
        std::fs::write(&there, "older").expect("written");
        let before = content(folder.path());
        let ran = run_threads(3, |comm| {
            let path =
                if comm.rank() == Rank(failing) { folder.path().join("no/box.npy") } else { there.clone() };
            write_particles(&path, &particles, comm)
        });
        for (rank, result) in ran.expect("no panic").into_iter().enumerate() {
            match result {
                Err(AgreeError::Here(_)) => assert_eq!(rank, failing as usize),
                Err(AgreeError::Elsewhere { rank, .. }) => assert_eq!(rank, Rank(failing)),
                other => panic!("{other:?}"),
            }
        }
        assert!(content(folder.path()) == before, "rank {failing} failed");
    }
}
