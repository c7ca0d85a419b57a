//! Gadget's binary snapshots in every variant and with every damage, written from the description of the
//! format.

use crate::common::every_column;
use crate::common::room::{Room, done};
use inselberg_io::catalogue::{Values, read};
use inselberg_io::particles::{
    Columns, MassOf, ParticleInput, Positions, open_particles, read_particle_headers,
};
use std::fs;
use std::path::{Path, PathBuf};

const N_TYPES: usize = 6;

/// How a snapshot is written.
#[derive(Debug, Clone)]
pub(crate) struct Variant {
    pub is_big: bool,
    pub has_labels: bool,
    pub is_double: bool,
    pub has_wide_ids: bool,
    /// Particles by type, in each file.
    pub files: Vec<[u32; N_TYPES]>,
    /// A type whose mass is in the header.
    pub in_table: Option<usize>,
    /// The last block is the one with this number: 0 for positions.
    pub last: usize,
    pub time: f64,
    /// Whether the header is Gadget-4's own.
    pub is_gadget_4: bool,
    /// Whether two blocks of integers come before the masses, as in GIZMO.
    pub is_gizmo: bool,
}

impl Variant {
    /// One file of dark matter with one mass.
    pub fn of_dark_matter(n: u32) -> Self {
        Self { files: vec![[0, n, 0, 0, 0, 0]], ..Self::default() }
    }
}

impl Default for Variant {
    fn default() -> Self {
        Self {
            is_big: false,
            has_labels: false,
            is_double: false,
            has_wide_ids: false,
            files: vec![[3, 7, 0, 0, 2, 0]],
            in_table: Some(1),
            last: usize::MAX,
            time: 0.5,
            is_gadget_4: false,
            is_gizmo: false,
        }
    }
}

/// The values of a particle of a type, the `i`-th of all files.
fn position(kind: usize, i: u32) -> [f32; 3] {
    [0, 1, 2].map(|axis| ((kind as u32 * 1000 + i * 7 + axis * 13) % 997) as f32 / 100.0)
}

fn velocity(kind: usize, i: u32) -> [f32; 3] {
    position(kind, i).map(|x| 3.0 - x)
}

fn mass(kind: usize, i: u32) -> f32 {
    0.25 * (kind as f32 + 1.0) + i as f32 / 64.0
}

fn id(kind: usize, i: u32) -> u64 {
    (kind as u64 + 1) << 20 | u64::from(i)
}

fn density(i: u32) -> f32 {
    100.0 + i as f32
}

const TABLE_MASS: f64 = 0.125;

impl Variant {
    fn total(&self) -> [u32; N_TYPES] {
        std::array::from_fn(|kind| self.files.iter().map(|here| here[kind]).sum())
    }

    fn word(&self, word: u32) -> [u8; 4] {
        if self.is_big { word.to_be_bytes() } else { word.to_le_bytes() }
    }

    fn real(&self, x: f64) -> [u8; 8] {
        if self.is_big { x.to_be_bytes() } else { x.to_le_bytes() }
    }

    fn reals(&self, values: impl Iterator<Item = f32>) -> Vec<u8> {
        let one = |x: f32| match self.is_double {
            true => self.real(f64::from(x)).to_vec(),
            false => self.word(x.to_bits()).to_vec(),
        };
        values.flat_map(one).collect()
    }

    /// Whether it is one file as Gadget-2 writes it.
    fn is_plain(&self) -> bool {
        self.files.len() == 1 && !self.is_gizmo && !self.is_gadget_4
    }

    /// Counts of 8 bytes, masses, time, redshift, side, number of files, and two numbers of trees.
    fn gadget_4_header(&self, here: &[u32; N_TYPES]) -> Vec<u8> {
        let long = |n: u32| {
            let n = u64::from(n);
            if self.is_big { n.to_be_bytes() } else { n.to_le_bytes() }
        };
        let mut bytes: Vec<u8> = here.iter().chain(&self.total()).flat_map(|n| long(*n)).collect();
        let mass = |kind| if self.in_table == Some(kind) { TABLE_MASS } else { 0.0 };
        let reals = (0..N_TYPES).map(mass).chain([self.time, 1.0 / self.time - 1.0, 10.0]);
        bytes.extend(reals.flat_map(|x| self.real(x)));
        bytes.extend(self.word(self.files.len() as u32));
        bytes.resize(192, 0);
        bytes
    }

    fn header(&self, here: &[u32; N_TYPES]) -> Vec<u8> {
        if self.is_gadget_4 {
            return self.gadget_4_header(here);
        }
        let mut bytes = Vec::new();
        here.iter().for_each(|n| bytes.extend(self.word(*n)));
        (0..N_TYPES).for_each(|kind| {
            bytes.extend(self.real(if self.in_table == Some(kind) { TABLE_MASS } else { 0.0 }))
        });
        bytes.extend([self.time, 1.0 / self.time - 1.0].into_iter().flat_map(|x| self.real(x)));
        [0, 0]
            .into_iter()
            .chain(self.total())
            .chain([0, self.files.len() as u32])
            .for_each(|n| bytes.extend(self.word(n)));
        bytes.extend([10.0, 0.3, 0.7, 0.5].into_iter().flat_map(|x| self.real(x)));
        bytes.resize(256, 0);
        bytes
    }

    /// A file; `before` are the particles of earlier files.
    fn bytes(&self, here: &[u32; N_TYPES], before: &[u32; N_TYPES]) -> Vec<u8> {
        let all = || (0..N_TYPES).flat_map(|kind| (0..here[kind]).map(move |i| (kind, before[kind] + i)));
        let own = |kind: &usize| self.in_table != Some(*kind);
        let ids = |(kind, i)| match self.has_wide_ids {
            true if self.is_big => id(kind, i).to_be_bytes().to_vec(),
            true => id(kind, i).to_le_bytes().to_vec(),
            false => self.word(id(kind, i) as u32).to_vec(),
        };
        let gas = || before[0]..before[0] + here[0];
        let mut blocks = vec![
            ("POS ", self.reals(all().flat_map(|(kind, i)| position(kind, i)))),
            ("VEL ", self.reals(all().flat_map(|(kind, i)| velocity(kind, i)))),
            ("ID  ", all().flat_map(ids).collect()),
            ("MASS", self.reals(all().filter(|(kind, _)| own(kind)).map(|(kind, i)| mass(kind, i)))),
            ("U   ", self.reals(gas().map(|i| i as f32))),
            ("RHO ", self.reals(gas().map(density))),
            ("HSML", self.reals(gas().map(|_| 1.0))),
        ];
        if self.is_gizmo {
            let small = |i: u32| match self.has_wide_ids {
                true => u64::from(i % 3).to_le_bytes().to_vec(),
                false => self.word(i % 3).to_vec(),
            };
            for _ in 0..2 {
                blocks.insert(3, ("GEN ", all().flat_map(|(_, i)| small(i)).collect()));
            }
        }
        blocks.truncate(self.last.saturating_add(1));
        let mut bytes = Vec::new();
        let mut put = |label: &str, block: &[u8]| {
            let mut record = |content: &[u8]| {
                let marker = self.word(content.len() as u32);
                [&marker[..], content, &marker[..]].into_iter().for_each(|part| bytes.extend(part));
            };
            if self.has_labels {
                let next = self.word(block.len() as u32 + 8);
                record(&[label.as_bytes(), &next].concat());
            }
            record(block);
        };
        put("HEAD", &self.header(here));
        blocks.iter().filter(|(_, block)| !block.is_empty()).for_each(|(label, block)| put(label, block));
        bytes
    }

    pub fn write(&self, folder: &Path) -> Vec<PathBuf> {
        let mut before = [0; N_TYPES];
        let mut paths = Vec::new();
        for (i, here) in self.files.iter().enumerate() {
            let name =
                if self.files.len() == 1 { "snapshot_003".into() } else { format!("snapshot_003.{i}") };
            let path = folder.join(name);
            fs::write(&path, self.bytes(here, &before)).expect("written");
            (0..N_TYPES).for_each(|kind| before[kind] += here[kind]);
            paths.push(path);
        }
        paths
    }
}

fn read_all(input: &dyn ParticleInput, species: usize) -> Columns {
    let of = &input.about().species[species];
    let mut columns = every_column(of.is_double);
    input.read(species, 0..of.n, &mut columns).expect("sound");
    columns
}

/// Checks that an input has what was written.
fn check(input: &dyn ParticleInput, variant: &Variant) {
    let total = variant.total();
    let kinds: Vec<usize> = (0..N_TYPES).filter(|kind| total[*kind] > 0).collect();
    let about = input.about();
    assert_eq!(
        about.species.iter().map(|s| s.kind.map(usize::from)).collect::<Vec<_>>(),
        kinds.iter().map(|k| Some(*k)).collect::<Vec<_>>()
    );
    assert_eq!((about.sides, about.periodic, about.time), (Some([10.0; 3]), true, variant.time));
    for (species, &kind) in kinds.iter().enumerate() {
        let (of, n) = (&about.species[species], total[kind]);
        assert_eq!((of.n, of.is_double), (u64::from(n), variant.is_double), "{variant:?}");
        let found = read_all(input, species);
        let has = |block: usize| variant.last >= block;
        let expected = Columns {
            position: match variant.is_double {
                true => Positions::Double((0..n).map(|i| position(kind, i).map(f64::from)).collect()),
                false => Positions::Single((0..n).map(|i| position(kind, i)).collect()),
            },
            mass: Some(
                (0..n)
                    .map(|i| match variant.in_table {
                        Some(table) if table == kind => TABLE_MASS,
                        _ if has(3) => f64::from(mass(kind, i)),
                        _ => 1.0,
                    })
                    .collect(),
            ),
            id: Some((0..n).map(|i| if has(2) { id(kind, i) } else { u64::from(i) }).collect()),
            kind: Some(vec![kind as u8; n as usize]),
            velocity: Some(
                (0..n)
                    .map(|i| match has(1) {
                        true => velocity(kind, i).map(|v| v * variant.time.sqrt() as f32),
                        false => [0.0; 3],
                    })
                    .collect(),
            ),
            density: Some((0..n).map(|i| if kind == 0 && has(5) { density(i) } else { f32::NAN }).collect()),
        };
        // NaN is not equal to itself.
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{variant:?}");
        // Any rows, in parts.
        let mut parts = every_column(of.is_double);
        for rows in [0..of.n / 3, of.n / 3..of.n] {
            input.read(species, rows, &mut parts).expect("sound");
        }
        assert_eq!(format!("{parts:?}"), format!("{found:?}"));
    }
}

fn variants() -> Vec<Variant> {
    let mut all = Vec::new();
    for is_big in [false, true] {
        for has_labels in [false, true] {
            for is_double in [false, true] {
                let has_wide_ids = is_double != has_labels;
                all.push(Variant { is_big, has_labels, is_double, has_wide_ids, ..Variant::default() });
            }
        }
    }
    let files = vec![[1, 5, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [2, 2, 0, 0, 2, 1]];
    for has_labels in [false, true] {
        let plain = Variant { has_labels, ..Variant::default() };
        all.push(Variant { files: files.clone(), ..plain.clone() });
        all.push(Variant { in_table: None, ..plain.clone() });
        all.push(Variant { is_gadget_4: true, ..plain.clone() });
        all.push(Variant {
            is_gadget_4: true,
            files: files.clone(),
            is_double: true,
            is_big: true,
            ..plain.clone()
        });
        all.extend((0..6).map(|last| Variant { last, ..plain.clone() }));
    }
    // With and without gas, and with masses of all particles and of some.
    for here in [[3, 7, 0, 0, 2, 0], [0, 9, 0, 0, 0, 0], [4, 0, 0, 0, 0, 0]] {
        for in_table in [None, Some(1)] {
            for has_wide_ids in [false, true] {
                let files = vec![here];
                all.push(Variant { is_gizmo: true, in_table, has_wide_ids, files, ..Variant::default() });
            }
        }
    }
    all
}

#[test]
fn every_variant_reads_as_it_was_written() {
    for variant in variants() {
        let room = Room::new();
        let paths = variant.write(Path::new(&room.path("")));
        for given in [&paths[..], &paths[paths.len() - 1..]] {
            check(&*open_particles(given).expect("sound"), &variant);
        }
    }
}

#[test]
fn blocks_that_may_be_two_things_need_a_decision() {
    use inselberg_io::particles::{
        BlockOrder, InputDefaults, open_particles_from, read_particle_headers_with,
    };
    let files = vec![[0, 9, 0, 0, 0, 0]];
    let variant = Variant { is_gizmo: true, in_table: None, files, ..Variant::default() };
    let room = Room::new();
    let path = variant.write(Path::new(&room.path(""))).remove(0);
    // The last three blocks hold nothing but zeros.
    let mut bytes = fs::read(&path).expect("the file");
    let n = bytes.len();
    (0..3).for_each(|block| bytes[n - 44 * block - 40..n - 44 * block - 4].fill(0));
    fs::write(&path, &bytes).expect("written");
    let text = path.to_str().expect("plain");
    let to = room.path("f.csv");
    let args = ["fof", text, "-o", &to, "--linking-length", "3"];
    room.refuses(&args, &["may be masses or two blocks of integers", "(--gadget-blocks)"]);
    let of = |order| {
        let defaults = InputDefaults { block_order: Some(order), ..InputDefaults::default() };
        let facts = read_particle_headers_with(std::slice::from_ref(&path), &defaults).expect("decided");
        open_particles_from(&facts).about().species[0].mass
    };
    assert_eq!([of(BlockOrder::Gadget), of(BlockOrder::Gizmo)], [MassOf::Each; 2]);
    done(&[&args[..], &["--gadget-blocks", "gizmo", "--open"]].concat());
    // One block that has the length of masses, and nothing but zeros.
    let files = vec![[0, 9, 0, 0, 0, 0]];
    let zeros = Variant { in_table: None, files, ..Variant::default() };
    let zeros = zeros.write(Path::new(&room.path(""))).remove(0);
    let mut bytes = fs::read(&zeros).expect("the file");
    let n = bytes.len();
    bytes[n - 40..n - 4].fill(0);
    fs::write(&zeros, &bytes).expect("written");
    let error = open_particles(&[zeros]).map(drop).expect_err("no masses").to_string();
    assert!(error.contains("may be masses or two blocks of integers"), "{error}");
    let labelled =
        Variant { has_labels: true, ..Variant::default() }.write(Path::new(&room.path(""))).remove(0);
    let text = labelled.to_str().expect("plain");
    let other = room.path("g.csv");
    let args = ["fof", text, "-o", &other, "--linking-length", "3", "--gadget-blocks", "gadget"];
    room.refuses(&args, &["they have labels; expected no order of blocks"]);
}

#[test]
fn a_header_without_a_cosmology_says_so() {
    let room = Room::new();
    let variant = Variant { is_gadget_4: true, ..Variant::default() };
    let path = variant.write(Path::new(&room.path(""))).remove(0);
    let input = open_particles(&[path]).expect("sound");
    assert!(input.about().cosmology.is_none());
    let notes = input.about().notes.join("; ");
    assert!(notes.contains("at the factor 0.5") && notes.contains("units are taken without h"), "{notes}");
}

#[test]
fn a_cosmology_comes_from_the_header() {
    let room = Room::new();
    let path = Variant::default().write(Path::new(&room.path(""))).remove(0);
    let input = open_particles(&[path]).expect("sound");
    let about = input.about();
    let cosmology = about.cosmology.as_ref().expect("a cosmology");
    assert_eq!((cosmology.aexp, cosmology.h0, cosmology.omega_m, cosmology.omega_l), (0.5, 50.0, 0.3, 0.7));
    assert_eq!(about.assumed_units, ["length", "mass", "velocity"]);
    let units = about.units.as_ref().expect("units");
    // kpc/h comoving at a = 0.5 and h = 0.5.
    assert!((units.length / 3.085_678e21 - 1.0).abs() < 1e-12, "{units:?}");
    assert_eq!(about.species[0].mass, MassOf::Each);
    assert_eq!(about.species[1].mass, MassOf::Same(TABLE_MASS));
}

#[test]
fn groups_are_those_of_the_same_particles_in_any_variant() {
    let mut expected = None;
    for variant in
        variants().into_iter().filter(|v| v.last == usize::MAX && v.in_table.is_some() && v.is_plain())
    {
        let room = Room::new();
        let path = variant.write(Path::new(&room.path(""))).remove(0);
        let to = room.path("f.hdf5");
        done(&["fof", path.to_str().expect("plain"), "-o", &to, "--linking-length", "3", "--min-size", "2"]);
        let found = read(Path::new(&to)).expect("a catalogue");
        let sizes = match found.table("Groups").and_then(|t| t.column("Sizes")).map(|c| &c.values) {
            Some(Values::I64(sizes)) => sizes.clone(),
            other => panic!("{other:?}"),
        };
        assert!(!sizes.is_empty());
        assert_eq!(*expected.get_or_insert(sizes.clone()), sizes, "{variant:?}");
    }
}

/// Whatever a damaged file does, it ends in one line or in particles that its header announces.
fn survives(path: &Path) -> Option<String> {
    match open_particles(&[path.to_path_buf()]) {
        Err(error) => {
            let text = error.to_string();
            assert!(!text.contains('\n') && text.contains("expected"), "{text}");
            Some(text)
        }
        Ok(input) => {
            for species in 0..input.about().species.len() {
                let n = input.about().species[species].n;
                let mut columns = every_column(true);
                input.read(species, 0..n, &mut columns).expect("blocks that were found can be read");
                assert_eq!(columns.position.len() as u64, n);
            }
            None
        }
    }
}

#[test]
fn a_truncated_file_is_refused_or_lacks_only_what_is_not_read() {
    for (has_labels, is_gadget_4) in [(false, false), (true, false), (false, true)] {
        let variant = Variant { has_labels, is_gadget_4, ..Variant::default() };
        let room = Room::new();
        let path = variant.write(Path::new(&room.path(""))).remove(0);
        let whole = fs::read(&path).expect("the file");
        let mut n_refused = 0;
        for end in 0..whole.len() {
            fs::write(&path, &whole[..end]).expect("written");
            match survives(&path) {
                Some(_) => n_refused += 1,
                // It ends between two blocks, and all blocks in it are right.
                None => {
                    let input = open_particles(std::slice::from_ref(&path)).expect("sound");
                    let found = read_all(&*input, 0);
                    assert_eq!(found.position, Positions::Single((0..3).map(|i| position(0, i)).collect()));
                }
            }
        }
        assert!(n_refused + 20 > whole.len() - 100, "{n_refused} of {}", whole.len());
    }
}

#[test]
fn a_flipped_bit_of_header_or_marker_is_refused_or_changes_only_what_it_says() {
    for has_labels in [false, true] {
        let variant = Variant { has_labels, ..Variant::default() };
        let room = Room::new();
        let path = variant.write(Path::new(&room.path(""))).remove(0);
        let whole = fs::read(&path).expect("the file");
        for at in 0..whole.len() {
            for bit in [0, 3, 7] {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                fs::write(&path, &damaged).expect("written");
                survives(&path);
            }
        }
        // Each marker of each block that is read.
        let (head, n) = (if has_labels { 16 + 264 + 16 } else { 264 }, 12);
        for at in [head, head + 4 + 12 * n] {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, &damaged).expect("written");
            assert!(survives(&path).is_some_and(|text| text.contains("positions: ")), "byte {at}");
        }
    }
}

#[test]
fn contradictions_are_named() {
    let room = Room::new();
    let files = vec![[1, 5, 0, 0, 0, 0], [2, 2, 0, 0, 2, 1]];
    let variant = Variant { files, ..Variant::default() };
    let paths = variant.write(Path::new(&room.path("")));
    let refused = |given: &[PathBuf], parts: &[&str]| {
        let error = read_particle_headers(given).expect_err("a contradiction").to_string();
        parts.iter().for_each(|part| assert!(error.contains(part), "{error}"));
    };
    let mut other = fs::read(&paths[1]).expect("the file");
    other[4 + 72] ^= 0x40;
    fs::write(&paths[1], &other).expect("written");
    refused(&paths, &["snapshot_003.1: header, ", "as in ", "snapshot_003.0"]);
    fs::remove_file(&paths[1]).expect("removed");
    refused(&paths[..1], &["snapshot_003.1: not there; expected all 2 files"]);
    // As many files as a header may claim.
    let mut many = fs::read(&paths[0]).expect("the file");
    many[4 + 124..4 + 128].copy_from_slice(&1_000_000u32.to_le_bytes());
    fs::write(&paths[0], &many).expect("written");
    refused(&paths[..1], &["snapshot_003.1: not there"]);
    let single = Variant::default().write(Path::new(&room.path("")));
    let mut totals = fs::read(&single[0]).expect("the file");
    totals[4 + 96] ^= 1;
    fs::write(&single[0], &totals).expect("written");
    refused(&single, &["particles of type 0 in all files; expected 3, the sum over 1 files"]);
}
