//! The checklist of docs/contributing.md, run over every reader of particles: a reader without a sample here
//! fails.

use crate::common::every_column;
use crate::common::gadget::{Style, clumps, edit, list, write};
use crate::common::npy::npy_file;
use crate::common::room::Room;
use crate::common::zip::{Member, zip_file};
use crate::gadget_binary::Variant;
use inselberg_io::particles::{
    BlockOrder, Columns, InputDefaults, PARTICLE_READERS, ParticleHeader, open_particles,
    open_particles_from, read_particle_headers_with,
};
use std::fs;
use std::path::{Path, PathBuf};

/// A damage, and the two statements that then contradict each other.
type Contradiction = (fn(&Path), [&'static str; 2]);

/// A sample for the tests of a reader.
pub(crate) struct Sample {
    /// The name of the reader.
    pub reader: &'static str,
    /// Writes a sound input into a folder, with this number of particles where the format can have it. The
    /// path to open, and the file that holds the particles.
    pub write: fn(&Path, u32) -> [PathBuf; 2],
    /// The particles of a sound input, where the sample does not say.
    n: Option<u64>,
    /// Damages that contradict what an input states, with the two statements of each.
    contradictions: &'static [Contradiction],
    /// A damage of particles that do not take part.
    other_type: Option<fn(&Path)>,
    /// Whether units, expansion and the order of blocks may be left open, and so be given.
    may_leave_open: bool,
}

fn state(path: &Path, name: &str, value: f64) {
    edit(path, |file| file.group("Header")?.new_attr::<f64>().create(name)?.write_scalar(&value));
}

/// Changes 8 bytes of a binary file.
fn poke(path: &Path, at: usize, bytes: [u8; 8]) {
    let mut file = fs::read(path).expect("a file");
    file[at..at + 8].copy_from_slice(&bytes);
    fs::write(path, file).expect("written");
}

fn positions(n: u32) -> Vec<u8> {
    npy_file(&[n as usize, 3], false, "<f8", |at| (at[0] * 3 + at[1]) as f64)
}

fn plain(folder: &Path, name: &str, bytes: Vec<u8>) -> [PathBuf; 2] {
    let path = folder.join(name);
    fs::write(&path, bytes).expect("written");
    [path.clone(), path]
}

fn snapshot(folder: &Path, n: u32) -> [PathBuf; 2] {
    let header =
        vec![("Time", 0.5), ("Redshift", 1.0), ("Omega0", 0.3), ("OmegaLambda", 0.7), ("HubbleParam", 0.7)];
    let mut gas = clumps(20, 2);
    gas.id.iter_mut().for_each(|id| *id += 2_000_000);
    let style = Style { header, six_kinds: true, ..Style::default() };
    let path = write(folder, &[(0, &gas), (1, &clumps(n as usize, 1))], &style).remove(0);
    [path.clone(), path]
}

pub(crate) fn samples() -> Vec<Sample> {
    const PLAIN: Sample = Sample {
        reader: "",
        write: |_, _| unreachable!("each sample has its own"),
        n: None,
        contradictions: &[],
        other_type: None,
        may_leave_open: false,
    };
    vec![
        Sample {
            reader: "RAMSES",
            write: |folder, _| {
                let (from, to) = (crate::common::output("dm_1rank"), folder.join("output_00002"));
                fs::create_dir(&to).expect("a folder");
                for entry in fs::read_dir(from).expect("the output").flatten() {
                    fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
                }
                let part = to.join("part_00002.out00001");
                [to, part]
            },
            n: Some(4096),
            ..PLAIN
        },
        Sample { reader: "NumPy array", write: |folder, n| plain(folder, "box.npy", positions(n)), ..PLAIN },
        Sample {
            reader: "NumPy arrays by name",
            write: |folder, n| {
                let member = Member { name: "positions.npy", bytes: positions(n), is_deflated: false };
                plain(folder, "box.npz", zip_file(&[member]))
            },
            ..PLAIN
        },
        Sample {
            reader: "HDF5 array",
            write: |folder, n| {
                let [_, file] = snapshot(folder, n);
                [PathBuf::from(format!("{}:/PartType1/Coordinates", file.display())), file]
            },
            ..PLAIN
        },
        Sample {
            reader: "SWIFT or Gadget HDF5",
            write: snapshot,
            contradictions: &[
                (|path| state(path, "ExpansionFactor", 0.25), ["0.25", "0.5 as of the redshift 1"]),
                (|path| state(path, "Omega_Matter", 0.4), ["0.4", "0.3 as in Header/Omega0"]),
            ],
            other_type: Some(|path| {
                edit(path, |file| {
                    file.unlink("PartType0/Coordinates")?;
                    list(&file.group("PartType0")?, "Coordinates", &[1u8; 4])
                });
            }),
            may_leave_open: true,
            ..PLAIN
        },
        Sample {
            reader: "Gadget binary",
            write: |folder, n| {
                let path = Variant::of_dark_matter(n).write(folder).remove(0);
                [path.clone(), path]
            },
            contradictions: &[
                // The time at byte 76, the side at byte 132.
                (|path| poke(path, 76, 0.3f64.to_le_bytes()), ["time 0.3", "redshift 1"]),
                (|path| poke(path, 132, (-1.0f64).to_le_bytes()), ["-1", "a side above 0"]),
            ],
            may_leave_open: true,
            ..PLAIN
        },
    ]
}

fn header(path: &Path) -> Result<ParticleHeader, String> {
    let input = open_particles(&[path.to_path_buf()]).map_err(|error| error.to_string())?;
    Ok(input.about().clone())
}

/// All rows of all species, as one rank reads them.
fn rows(path: &Path) -> Result<u64, String> {
    let input = open_particles(&[path.to_path_buf()]).map_err(|error| error.to_string())?;
    let mut columns = Columns { density: None, ..every_column(true) };
    for (species, of) in input.about().species.iter().enumerate() {
        input.read(species, 0..of.n, &mut columns).map_err(|error| error.to_string())?;
    }
    Ok(columns.position.len() as u64)
}

fn is_one_line(error: &str) {
    assert!(!error.contains('\n') && error.len() > 20, "{error}");
}

/// A sample and its paths in a room of its own.
fn each(try_one: impl Fn(&Sample, &Path, &Path)) {
    for sample in samples() {
        let room = Room::new();
        let [path, file] = (sample.write)(Path::new(&room.path("")), 60);
        try_one(&sample, &path, &file);
    }
}

#[test]
fn every_reader_has_a_sample_that_no_other_reader_takes() {
    let names: Vec<&str> = samples().iter().map(|sample| sample.reader).collect();
    let readers: Vec<&str> = PARTICLE_READERS.iter().map(|reader| reader.name).collect();
    assert_eq!(names, readers);
    each(|sample, path, _| {
        let takes: Vec<&str> =
            PARTICLE_READERS.iter().filter(|r| (r.recognises)(path)).map(|r| r.name).collect();
        assert_eq!(takes, [sample.reader]);
        let about = header(path).unwrap_or_else(|error| panic!("{error}"));
        let n: u64 = about.species.iter().map(|species| species.n).sum();
        assert_eq!(rows(path), Ok(n), "{}", sample.reader);
        assert_eq!(about.species.last().map(|species| species.n), Some(sample.n.unwrap_or(60)));
    });
}

#[test]
fn truncated_and_empty_files_end_in_one_line() {
    each(|sample, path, file| {
        let whole = fs::read(file).expect("a file");
        for end in [0, 7, whole.len() / 4, whole.len() / 2] {
            fs::write(file, &whole[..end]).expect("written");
            let error = rows(path).expect_err(sample.reader);
            is_one_line(&error);
        }
        fs::remove_file(file).expect("removed");
        is_one_line(&rows(path).expect_err(sample.reader));
    });
}

#[test]
fn an_input_without_particles_is_empty_and_not_an_error() {
    for sample in samples().into_iter().filter(|sample| sample.n.is_none()) {
        let room = Room::new();
        let [path, _] = (sample.write)(Path::new(&room.path("")), 0);
        let about = header(&path).unwrap_or_else(|error| panic!("{}: {error}", sample.reader));
        assert!(about.species.iter().all(|species| species.kind != Some(1) || species.n == 0));
    }
}

#[test]
fn what_an_input_states_is_not_given_and_contradictions_name_both() {
    each(|sample, path, _| {
        let with = |defaults: InputDefaults| {
            let facts = read_particle_headers_with(&[path.to_path_buf()], &defaults);
            facts.map(|facts| open_particles_from(&facts).about().clone()).map_err(|error| error.to_string())
        };
        let none = InputDefaults::default();
        let length = with(InputDefaults { unit_length: Some(3e24), ..none });
        assert_eq!(length.is_ok(), sample.may_leave_open, "{}", sample.reader);
        // Every sample states these.
        for given in [
            InputDefaults { expansion_factor: Some(0.5), ..none },
            InputDefaults {
                block_order: (sample.reader != "Gadget binary").then_some(BlockOrder::Gizmo),
                ..none
            },
        ] {
            if given != none {
                is_one_line(&with(given).expect_err(sample.reader));
            }
        }
    });
    for sample in samples() {
        for (damage, statements) in sample.contradictions {
            let room = Room::new();
            let [path, file] = (sample.write)(Path::new(&room.path("")), 60);
            damage(&file);
            let error = header(&path).expect_err(sample.reader);
            is_one_line(&error);
            assert!(statements.iter().all(|part| error.contains(part)), "{statements:?}: {error}");
        }
    }
}

#[test]
fn what_does_not_take_part_is_not_needed() {
    each(|sample, path, file| {
        let Some(damage) = sample.other_type else { return };
        damage(file);
        let about = header(path).unwrap_or_else(|error| panic!("{error}"));
        assert!(about.species[0].problem.is_some(), "{}", sample.reader);
        assert_eq!((about.species[1].n, &about.species[1].problem), (60, &None));
    });
}

#[test]
fn what_is_assumed_can_be_seen() {
    each(|sample, path, _| {
        let about = header(path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(about.assumption().is_some(), !about.assumed_units.is_empty(), "{}", sample.reader);
        assert_eq!(about.boundary_note(false).is_some(), about.boundary_is_assumed && about.sides.is_some());
        // A plain array states nothing, so nothing may be assumed for it.
        if about.units.is_none() {
            assert_eq!((about.sides, about.cosmology), (None, None), "{}", sample.reader);
        }
        if sample.may_leave_open {
            assert_eq!(about.assumed_units, ["length", "mass", "velocity"], "{}", sample.reader);
        }
    });
}
