//! Inputs of particles: snapshots of particle codes, RAMSES's particle files, plain arrays.
//!
//! A [`ParticleInput`] describes its [`Species`] and reads any range of rows of a species into [`Columns`].
//! Rows are numbered through all files of an input, in the given order. A reader does not depend on the
//! number of threads or ranks, and holds only the requested rows.
//!
//! A new format is one file here and one line in [`PARTICLE_READERS`].

mod array;
mod columns;
mod defaults;
mod expansion;
mod file_offsets;
mod folder;
mod gadget;
mod gadget_units;
#[cfg(feature = "hdf5")]
mod hdf5;
mod held;
mod masses;
mod npy;
mod npz;
mod positions;
mod ramses;
mod write_npy;

pub use crate::dataset_path::file_of;
pub use columns::Columns;
pub use defaults::InputDefaults;
pub use gadget::BlockOrder;
#[cfg(feature = "hdf5")]
pub(crate) use hdf5::{all_files, gadget_catalogue};
pub use held::HeldParticles;
pub use masses::{EXPECTED_MASS, MissingMasses, mass_of_all};
pub use positions::Positions;
pub use write_npy::stage_positions;

use super::{Cosmology, ExtraCosmology, Header, InputFacts, ReadError, ReadResult, StaticName, Units, facts};
use crate::{foreign, input_file, nearest};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The number of particle kinds of Gadget and SWIFT.
pub const N_KINDS: usize = 7;

/// The names of the kinds, by number.
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
/// The number of neutrinos among the kinds.
pub const NEUTRINO: u8 = 6;

/// The header of an input; no particle is read for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParticleHeader {
    /// The format's name.
    #[serde(deserialize_with = "facts::name")]
    pub format: StaticName,
    /// Sides of the box in the units of the positions; `None` if the input does not state them.
    pub sides: Option<[f64; 3]>,
    /// Whether the box is periodic.
    pub periodic: bool,
    /// Whether the input does not state this, so that the box is assumed to be open.
    pub boundary_is_assumed: bool,
    /// Time in code units, or the expansion factor.
    pub time: f64,
    /// Physical scales. The code length is physical at the expansion factor of the output; length over time
    /// is the unit of the velocities in [`Columns`]. `None` for plain arrays.
    pub units: Option<Units>,
    /// Units that the input does not state, for which those of its format are assumed: length, mass,
    /// velocity.
    pub assumed_units: Vec<String>,
    /// Cosmology, where there is one.
    pub cosmology: Option<Cosmology>,
    /// Mean densities, where there is a cosmology.
    pub matter: Option<Matter>,
    /// Gravitational softening by kind in the units of the positions, as in a Plummer sphere: the potential
    /// at distance 0 is -G m / softening. `None` if the input does not state it.
    pub softening: [Option<f64>; N_KINDS],
    /// Notes for users about the input: assumptions, and stated omissions. One line each.
    pub notes: Vec<String>,
    /// The part of the particles of each kind that the input holds: below 1 in a subsample.
    pub sampled: [f64; N_KINDS],
    /// Its species: at most one per kind, or one of mixed kinds.
    pub species: Vec<Species>,
}

impl ParticleHeader {
    /// The assumed units, in one line; `None` without any.
    pub fn assumption(&self) -> Option<String> {
        let names = self.assumed_units.join(", ");
        (!names.is_empty()).then(|| format!("{names} assumed to be {}'s own", self.format))
    }

    /// The assumption about a boundary that the input does not state, in one line.
    pub fn boundary_note(&self, as_periodic: bool) -> Option<String> {
        let [x, ..] = self.sides.filter(|_| self.boundary_is_assumed)?;
        let reason = format!(
            "the run does not expand, and the input does not say that its side {x} is that of a periodic box"
        );
        Some(match as_periodic {
            true => format!("the mesh takes the box as periodic, although {reason}"),
            false => format!("the box is taken as open: {reason}; a given side of {x} makes it periodic"),
        })
    }
}

/// Mean densities of the universe in code masses per comoving code volume.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Matter {
    /// All matter.
    pub all: f64,
    /// Only dark matter; `None` if the input does not state the baryon fraction.
    pub dark: Option<f64>,
    /// Whether the run has gas.
    pub has_gas: bool,
}

impl Matter {
    /// That of a snapshot whose masses and lengths are physical, at the time of the output. The own constants
    /// of RAMSES are in its unit of density: in its cosmological units the mean density of matter is 1.
    /// `None` without matter.
    pub fn of(header: &Header, has_gas: bool) -> Option<Self> {
        let c = header.cosmology.as_ref().filter(|c| c.aexp > 0.0 && c.omega_m > 0.0)?;
        let critical = match header.is_in_mean_densities() {
            true => 1.0 / c.omega_m,
            false => c.critical_density_today() / c.aexp.powi(3) / header.units.density,
        };
        let dark = (c.omega_b > 0.0 || !has_gas).then_some((c.omega_m - c.omega_b) * critical);
        Some(Self { all: c.omega_m * critical, dark, has_gas })
    }
}

/// Particles that an input stores together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Species {
    /// Their name in the input, such as `PartType1`; the table of their group IDs gets this name.
    pub name: String,
    /// Their kind; `None` if each row has its own.
    pub kind: Option<u8>,
    /// How many.
    pub n: u64,
    /// The form of their masses.
    pub mass: MassOf,
    /// Whether positions are in double precision.
    pub is_double: bool,
    /// Whether they have identities.
    pub has_ids: bool,
    /// Whether they have velocities.
    pub has_velocities: bool,
    /// Whether they have gas densities.
    pub has_densities: bool,
    /// Whether their masses are multiplied by weights: those of neutrinos are deviations from the mean
    /// density and may be below 0.
    pub has_weights: bool,
    /// Whether some of them may be gas: AREPO keeps wind cells among its stars. Each row then has its own
    /// kind.
    pub has_wind: bool,
    /// The reason why they cannot be read. It is an error only if they take part.
    pub problem: Option<String>,
}

impl Species {
    /// Whether any of them may be of a requested kind.
    pub fn may_be(&self, is_taken: impl Fn(u8) -> bool) -> bool {
        self.kind.is_none_or(|kind| is_taken(kind) || self.has_wind && is_taken(GAS))
    }

    /// Whether the kind of each row must be read.
    pub fn is_mixed(&self) -> bool {
        self.kind.is_none() || self.has_wind
    }
}

/// Checks that species that take part can be read.
///
/// # Errors
/// The problem that was found in their headers.
pub fn check_readable(species: &[&Species]) -> ReadResult<()> {
    match species.iter().find_map(|s| s.problem.clone()) {
        Some(problem) => Err(ReadError::Deferred { problem }),
        None => Ok(()),
    }
}

/// The form of the masses of a species.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum MassOf {
    /// All have this mass.
    Same(f64),
    /// Each particle has its own.
    Each,
    /// They are not given.
    Unknown,
}

/// Rows of a read, where nothing is packed.
const ROWS_AT_A_TIME: u64 = 1 << 17;

/// An open input with checked headers. Every method may be called from several threads.
pub trait ParticleInput: Send + Sync {
    /// Its header.
    fn about(&self) -> &ParticleHeader;

    /// Appends the rows of `species` to the requested columns of `into`, at the cost of reading them.
    ///
    /// # Errors
    /// A file is gone, truncated or contradicts its header. `into` may then hold some of the rows.
    ///
    /// # Panics
    /// There is no such species or no such row.
    fn read(&self, species: usize, rows: Range<u64>, into: &mut Columns) -> ReadResult<()>;

    /// The number of rows that a read should take, from a multiple of it on: several threads then read at
    /// the same time, and none unpacks what another one needs.
    fn rows_at_a_time(&self) -> u64 {
        ROWS_AT_A_TIME
    }

    /// The rows as runs that are best read one by one, in any order or in parallel.
    fn runs(&self, _species: usize, rows: Range<u64>) -> Vec<Range<u64>> {
        let (step, end) = (self.rows_at_a_time(), rows.end);
        let next = |run: &Range<u64>| {
            let start = run.end;
            (start < end).then(|| start..(start / step + 1).saturating_mul(step).min(end))
        };
        std::iter::successors(next(&(rows.start..rows.start)), next).collect()
    }

    /// Where rows are in the memory of ranks: the first row of each rank, and the number of all. Each rank
    /// then reads only its own. `None` where any rank reads any row.
    fn first_rows(&self) -> Option<&[u64]> {
        None
    }

    /// The file of a row and its name there, for messages.
    fn place_of(&self, species: usize, row: u64) -> (PathBuf, String);
}

/// A format: how to recognise and open it.
pub struct ParticleReader {
    /// Name for messages.
    pub name: &'static str,
    /// A description of its paths for messages.
    pub looks: &'static str,
    /// Whether `path` looks like this format; cheap, and never fails.
    pub recognises: fn(&Path) -> bool,
    /// Whether a snapshot may have several files. Then one of them, or their folder, stands for all.
    pub has_several_files: bool,
    /// Reads and checks the headers of one input, which these paths form.
    pub read_headers: fn(&[PathBuf], &InputDefaults) -> ReadResult<Vec<u8>>,
    /// Opens the input from these headers. Reads nothing.
    pub open: fn(&[u8]) -> Box<dyn ParticleInput>,
}

/// Every format that [`open_particles`] tries, in this order.
pub const PARTICLE_READERS: &[ParticleReader] = &[
    ramses::READER,
    npy::READER,
    npz::READER,
    #[cfg(feature = "hdf5")]
    hdf5::ARRAY_READER,
    #[cfg(feature = "hdf5")]
    hdf5::SNAPSHOT_READER,
    gadget::READER,
];

/// Opens the files of one input in any known format. The order of the files is that of the particles.
///
/// # Errors
/// A path does not exist or is given twice, no reader recognises it, the files have different formats, or a
/// header is broken.
pub fn open_particles(paths: &[PathBuf]) -> ReadResult<Box<dyn ParticleInput>> {
    read_particle_headers(paths).map(|facts| open_particles_from(&facts))
}

/// Opens the input from the result of [`read_particle_headers`], here or on another rank. Reads nothing.
///
/// # Panics
/// The facts come from another program.
pub fn open_particles_from(facts: &InputFacts) -> Box<dyn ParticleInput> {
    let (mass, known): (Option<f64>, Vec<u8>) = facts::decode(&facts.known);
    let input = (PARTICLE_READERS[facts.reader].open)(&known);
    match mass {
        Some(mass) => defaults::with_masses(input, mass),
        None => input,
    }
}

/// [`read_particle_headers_with`] without defaults.
///
/// # Errors
/// As there.
pub fn read_particle_headers(paths: &[PathBuf]) -> ReadResult<InputFacts> {
    read_particle_headers_with(paths, &InputDefaults::default())
}

/// Reads everything that opening an input needs, so that other ranks need not read it. `defaults` apply if
/// the input states nothing.
///
/// # Errors
/// Those of [`open_particles`], or the input states a value for which there is a default.
pub fn read_particle_headers_with(paths: &[PathBuf], defaults: &InputDefaults) -> ReadResult<InputFacts> {
    let of_folder = match paths {
        [folder] => folder::snapshot_in(folder)?,
        _ => None,
    };
    let paths = of_folder.as_ref().map_or(paths, std::slice::from_ref);
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
    let known = (PARTICLE_READERS[reader].read_headers)(paths, defaults)?;
    if defaults.cosmology != ExtraCosmology::NONE {
        let input = (PARTICLE_READERS[reader].open)(&known);
        defaults.cosmology.check(first, input.about().cosmology.as_ref())?;
    }
    if let Some(mass) = defaults.particle_mass {
        defaults::check_mass((PARTICLE_READERS[reader].open)(&known).about(), first, mass)?;
    }
    Ok(InputFacts { of_particles: true, reader, known: facts::encode(&(defaults.particle_mass, known)) })
}

/// Whether a reader of particles recognises `path`, or the folder holds a snapshot.
pub fn recognises_particles(path: &Path) -> bool {
    PARTICLE_READERS.iter().any(|reader| (reader.recognises)(path))
        || !matches!(folder::snapshot_in(path), Ok(None))
}

/// The index of the reader of `path` in the list.
fn reader_for(path: &Path) -> ReadResult<usize> {
    let known = || {
        let known: Vec<_> = PARTICLE_READERS.iter().map(|r| format!("{} ({})", r.name, r.looks)).collect();
        known.join(" or ")
    };
    if !file_of(path).exists() {
        return Err(ReadError::absent(path, nearest::absent(file_of(path), "a snapshot or an array")));
    }
    // Any HDF5 file would be recognised as a snapshot.
    if let Some(refusal) = foreign::refusal(file_of(path), known) {
        return Err(refusal);
    }
    let reader = PARTICLE_READERS.iter().position(|r| (r.recognises)(path));
    reader.ok_or_else(|| {
        if let Some(refusal) = foreign::own_refusal(file_of(path)) {
            return refusal;
        }
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
