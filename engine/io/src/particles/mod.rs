//! Particles as they come in: snapshots of particle codes, RAMSES's particle files, plain arrays.
//!
//! A [`ParticleInput`] says what it holds, as [`Species`], and reads any stretch of rows of a species into
//! [`Columns`]. Rows are numbered through all files of an input, in the order in which these were given.
//! A reader never knows how many threads or ranks there are, and never holds more than what was asked for.
//!
//! A new format is one file here and one line in [`PARTICLE_READERS`].

mod array;
mod columns;
mod defaults;
mod file_offsets;
#[cfg(feature = "hdf5")]
mod hdf5;
mod masses;
mod npy;
mod positions;
mod ramses;
mod write_npy;

pub use columns::Columns;
pub use defaults::InputDefaults;
pub use masses::{MissingMasses, mass_of_all};
pub use positions::Positions;
pub use write_npy::stage_positions;

use super::{Cosmology, InputFacts, ReadError, ReadResult, StaticName, Units, facts};
use crate::input_file;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// How many kinds of particles there are: those of Gadget and SWIFT.
pub const N_KINDS: usize = 7;

/// What a person calls them, by their number.
pub const KIND_NAMES: [&str; N_KINDS] =
    ["gas", "dark matter", "background dark matter", "sinks", "stars", "black holes", "neutrinos"];

/// The number of gas among the kinds.
pub const GAS: u8 = 0;
/// The number of dark matter among the kinds.
pub const DARK_MATTER: u8 = 1;
/// The number of sinks among the kinds.
pub const SINK: u8 = 3;
/// The number of stars among the kinds.
pub const STAR: u8 = 4;
/// The number of black holes among the kinds.
pub const BLACK_HOLE: u8 = 5;

/// What an input says of itself; cheap to have, no particle is read for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParticleHeader {
    /// The format's name.
    #[serde(deserialize_with = "facts::name")]
    pub format: StaticName,
    /// Sides of the box in the units of the positions; `None` where the input does not say.
    pub sides: Option<[f64; 3]>,
    /// Whether the box wraps around, as far as the input says.
    pub periodic: bool,
    /// Time in code units, or the expansion factor.
    pub time: f64,
    /// Physical scales: a code length at the expansion factor of the output, and so that length over time is
    /// the unit of the velocities that [`Columns`] has. `None` for plain arrays.
    pub units: Option<Units>,
    /// Which units are not in the input but those that its format is known for: length, mass, velocity.
    pub assumed_units: Vec<String>,
    /// Cosmology, where there is one.
    pub cosmology: Option<Cosmology>,
    /// Mean densities, where there is a cosmology.
    pub matter: Option<Matter>,
    /// What it holds, at most one species a kind, or one of mixed kinds.
    pub species: Vec<Species>,
}

impl ParticleHeader {
    /// What is assumed of the units and how to set them, in one line; `None` where nothing is.
    pub fn assumption(&self) -> Option<String> {
        let (first, more) = self.assumed_units.split_first()?;
        let all = |format: fn(&str) -> String| {
            more.iter().fold(format(first), |a, b| a + ", " + &format(b.as_str()))
        };
        let (names, options) = (all(|name| name.into()), all(|name| format!("--unit-{name}")));
        Some(format!("{names} assumed to be {}'s own; set them with {options}", self.format))
    }
}

/// Mean densities of the universe in code masses a comoving code volume.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Matter {
    /// All matter.
    pub all: f64,
    /// Dark matter alone; `None` where the input does not say what baryons are.
    pub dark: Option<f64>,
    /// Whether baryons are followed.
    pub has_gas: bool,
}

/// Particles that stand together in an input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Species {
    /// What the input calls them: `PartType1`; the table of their group IDs gets this name.
    pub name: String,
    /// Their kind; `None` where each row has its own.
    pub kind: Option<u8>,
    /// How many.
    pub n: u64,
    /// How their masses are given.
    pub mass: MassOf,
    /// Whether positions are in double precision.
    pub is_double: bool,
    /// Whether they have identities.
    pub has_ids: bool,
    /// Whether they have velocities.
    pub has_velocities: bool,
    /// Whether they have gas densities.
    pub has_densities: bool,
}

/// How the masses of a species are given.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum MassOf {
    /// All have this one.
    Same(f64),
    /// Each has its own.
    Each,
    /// Not at all.
    Unknown,
}

/// An opened input, checked as far as its headers go. Every method may be called from several threads.
pub trait ParticleInput: Send + Sync {
    /// What it says of itself.
    fn about(&self) -> &ParticleHeader;

    /// Appends the rows of `species` to the columns that `into` has. Cost: that of reading them.
    ///
    /// # Errors
    /// A file is gone, torn or not what its header says. `into` may then hold some of the rows.
    ///
    /// # Panics
    /// When there is no such species or no such row.
    fn read(&self, species: usize, rows: Range<u64>, into: &mut Columns) -> ReadResult<()>;

    /// How many rows are best read at a time.
    fn rows_at_a_time(&self) -> u64 {
        1 << 22
    }

    /// The file of a row, and what messages call it there.
    fn place_of(&self, species: usize, row: u64) -> (PathBuf, String);
}

/// A format: how to tell it and how to open it.
pub struct ParticleReader {
    /// Name for messages.
    pub name: &'static str,
    /// What an input looks like, for messages.
    pub looks: &'static str,
    /// Whether `path` looks like this format; cheap, and never fails.
    pub recognises: fn(&Path) -> bool,
    /// Reads and checks the headers of one input of so many paths: all that opening it takes.
    pub look: fn(&[PathBuf], &InputDefaults) -> ReadResult<Vec<u8>>,
    /// Opens the input of which a look found that. Reads nothing.
    pub open: fn(&[u8]) -> Box<dyn ParticleInput>,
}

/// Every format that [`open_particles`] tries, in this order.
pub const PARTICLE_READERS: &[ParticleReader] = &[
    ramses::READER,
    npy::READER,
    #[cfg(feature = "hdf5")]
    hdf5::ARRAY_READER,
    #[cfg(feature = "hdf5")]
    hdf5::SNAPSHOT_READER,
];

/// Opens the files of one input, in whichever known format they are. The order of the files is that of the
/// particles.
///
/// # Errors
/// A path is not there or given twice, no reader recognises it, the files are of different formats, or a header
/// is broken.
pub fn open_particles(paths: &[PathBuf]) -> ReadResult<Box<dyn ParticleInput>> {
    look_at_particles(paths).map(|facts| open_particles_from(&facts))
}

/// Opens the input of which [`look_at_particles`] found that, here or on another rank. Reads nothing.
///
/// # Panics
/// When another program made the facts.
pub fn open_particles_from(facts: &InputFacts) -> Box<dyn ParticleInput> {
    let (mass, known): (Option<f64>, Vec<u8>) = facts::decode(&facts.known);
    let input = (PARTICLE_READERS[facts.reader].open)(&known);
    match mass {
        Some(mass) => defaults::with_masses(input, mass),
        None => input,
    }
}

/// [`look_at_particles_with`] no defaults.
///
/// # Errors
/// As there.
pub fn look_at_particles(paths: &[PathBuf]) -> ReadResult<InputFacts> {
    look_at_particles_with(paths, &InputDefaults::default())
}

/// Reads all that opening an input takes, so that others need not. `defaults` hold where the input says nothing.
///
/// # Errors
/// As for [`open_particles`], and when the input says itself what `defaults` say.
pub fn look_at_particles_with(paths: &[PathBuf], defaults: &InputDefaults) -> ReadResult<InputFacts> {
    let Some(first) = paths.first() else {
        return Err(ReadError::absent(Path::new("input"), "no path; expected at least one"));
    };
    let reader = reader_for(first)?;
    for (i, path) in paths.iter().enumerate() {
        if reader_for(path)? != reader {
            let format = PARTICLE_READERS[reader].name;
            let what = format!("not of the format of {} ({format})", first.display());
            return Err(ReadError::absent(path, format!("{what}; expected files of one snapshot")));
        }
        if paths[..i].contains(path) {
            return Err(ReadError::absent(path, "given twice; expected each file once"));
        }
    }
    let known = (PARTICLE_READERS[reader].look)(paths, defaults)?;
    if let Some(mass) = defaults.particle_mass {
        defaults::check_mass((PARTICLE_READERS[reader].open)(&known).about(), first, mass)?;
    }
    Ok(InputFacts { reader, known: facts::encode(&(defaults.particle_mass, known)) })
}

/// The place of the reader of `path` in the list.
fn reader_for(path: &Path) -> ReadResult<usize> {
    let known = || {
        let known: Vec<_> = PARTICLE_READERS.iter().map(|r| format!("{} ({})", r.name, r.looks)).collect();
        known.join(" or ")
    };
    if !file_of(path).exists() {
        let what = format!("there is no such file or folder; expected {}", known());
        return Err(ReadError::absent(path, what));
    }
    let reader = PARTICLE_READERS.iter().position(|r| (r.recognises)(path));
    reader.ok_or_else(|| {
        let is_hdf5 = ["hdf5", "h5"].iter().any(|e| file_of(path).extension().is_some_and(|x| x == *e));
        let what = if let Some(kind) = input_file::other_kind(file_of(path)) {
            format!("it is {kind}; expected")
        } else if is_hdf5 && cfg!(not(feature = "hdf5")) {
            "this build has no HDF5; build it with the feature `hdf5`, or give".into()
        } else {
            "not particles of a known format; expected".to_string()
        };
        ReadError::absent(path, format!("{what} {}", known()))
    })
}

/// The file of an input, without the place of a dataset in it.
pub fn file_of(path: &Path) -> &Path {
    split_dataset(path).map_or(path, |(file, _)| file)
}

/// `box.hdf5:/a/b` as the file and the place in it.
fn split_dataset(path: &Path) -> Option<(&Path, &str)> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let at = bytes.windows(2).position(|pair| pair == b":/")?;
    let place = std::str::from_utf8(&bytes[at + 2..]).ok()?;
    let file = prefix(path, at)?;
    (at > 0).then_some((file, place))
}

/// The first bytes of a path.
#[cfg(unix)]
fn prefix(path: &Path, n: usize) -> Option<&Path> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = path.as_os_str().as_bytes().get(..n)?;
    Some(Path::new(std::ffi::OsStr::from_bytes(bytes)))
}

/// The first bytes of a path.
#[cfg(not(unix))]
fn prefix(path: &Path, n: usize) -> Option<&Path> {
    path.to_str()?.get(..n).map(Path::new)
}
