//! NumPy arrays by name, as `numpy.savez` and `numpy.savez_compressed` write them: positions, and velocities,
//! masses and identities where there are some.
//!
//! Which member is which column follows from its name ([`NAMES`]). [`member`] knows the zip file, [`column`]
//! the array. A packed member is unpacked from its beginning for each request, so that only the requested
//! rows are in memory.

mod column;
mod member;

use super::file_offsets::FileOffsets;
use super::{
    Columns, DARK_MATTER, EXPECTED_MASS, InputDefaults, MassOf, ParticleHeader, ParticleInput,
    ParticleReader, ROWS_AT_A_TIME, array,
};
use crate::open_files;
use crate::source_file::SourceFile;
use crate::stored_array::NumberKind;
use crate::{ReadError, ReadResult, facts};
use column::{MemberArray, place_in};
use member::{ZipMember, members};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The reader of .npz files.
pub const READER: ParticleReader = ParticleReader {
    name: "NumPy arrays by name",
    looks: "a .npz file with an array `positions` of shape (N, 3)",
    recognises: |path| path.extension().is_some_and(|e| e == "npz"),
    has_several_files: false,
    read_headers,
    open: |known| Box::new(NpzInput::new(facts::decode(known))),
};

/// The names of each column: positions, velocities, masses, identities. numpy adds `.npy`.
const NAMES: [&[&str]; 4] = [
    &["positions", "pos", "Coordinates"],
    &["velocities", "vel", "Velocities"],
    &["masses", "mass", "Masses"],
    &["ids", "ParticleIDs"],
];
/// Rows that are read at a time of packed members, which are unpacked from the beginning each time.
const ROWS_OF_PACKED: u64 = 1 << 26;

/// The arrays of one file.
#[derive(Serialize, Deserialize)]
struct NpzFile {
    #[serde(with = "facts::path")]
    path: PathBuf,
    n: u64,
    positions: MemberArray,
    velocities: Option<MemberArray>,
    masses: Option<MemberArray>,
    ids: Option<MemberArray>,
    /// The mass of all particles, where there is one.
    mass: Option<f64>,
}

fn read_headers(paths: &[PathBuf], defaults: &InputDefaults) -> ReadResult<Vec<u8>> {
    defaults.refuse_units(&paths[0])?;
    let files: Vec<NpzFile> = paths.iter().map(|path| NpzFile::open(path)).collect::<ReadResult<_>>()?;
    let kinds = |file: &NpzFile| {
        let has = [&file.velocities, &file.masses, &file.ids].map(Option::is_some);
        (has, file.mass.map(f64::to_bits))
    };
    match files.iter().find(|file| kinds(file) != kinds(&files[0])) {
        None => Ok(facts::encode(&files)),
        Some(other) => {
            let what = format!("other columns than {}", paths[0].display());
            Err(ReadError::absent(&other.path, format!("{what}; expected files of one kind")))
        }
    }
}

impl NpzFile {
    fn open(path: &Path) -> ReadResult<Self> {
        let _pass = open_files::pass();
        let all = members(path)?;
        let file = SourceFile::open(path)?;
        let array = |names: &[&str]| {
            let member = find(path, &all, names)?;
            member.map(|member| MemberArray::open(&file, member)).transpose()
        };
        let [positions, velocities, masses, ids] = NAMES.map(array);
        let positions = positions?.ok_or_else(|| no_positions(path, &all))?;
        let (velocities, mut masses, ids) = (velocities?, masses?, ids?);
        let n = match positions.shape[..] {
            [n, 3] => n,
            _ => return Err(wrong_shape(path, &positions, "(N, 3)")),
        };
        let single = masses.take_if(|masses| masses.shape.is_empty());
        let mass = single.map(|single| mass_of_all(path, &file, &single)).transpose()?;
        for (array, shape, is_whole) in [
            (Some(&positions), vec![n, 3], false),
            (velocities.as_ref(), vec![n, 3], false),
            (masses.as_ref(), vec![n], false),
            (ids.as_ref(), vec![n], true),
        ] {
            let Some(array) = array else { continue };
            if array.shape != shape {
                return Err(wrong_shape(path, array, &format!("{shape:?}")));
            }
            if array.is_whole() != is_whole {
                let expected = if is_whole { "integers" } else { "reals of 4 or 8 bytes" };
                let place = place_in(path, array.name());
                return Err(ReadError::content(&place, "header", "numbers of another type", expected));
            }
        }
        Ok(Self { path: path.into(), n, positions, velocities, masses, ids, mass })
    }

    /// Whether a column is packed.
    fn is_packed(&self) -> bool {
        let others = [&self.velocities, &self.masses, &self.ids].into_iter().flatten();
        others.chain([&self.positions]).any(MemberArray::is_packed)
    }

    /// Appends rows to the requested columns. `first`: the number of the first of them among those of all
    /// files.
    fn read(&self, rows: Range<u64>, first: u64, into: &mut Columns) -> ReadResult<()> {
        let _pass = open_files::pass();
        let file = SourceFile::open(&self.path)?;
        let n = (rows.end - rows.start) as usize;
        into.reserve(n, &self.path)?;
        into.pad(first, n, DARK_MATTER);
        let positions = triples(self.positions.reals(&file, rows.clone())?);
        into.position.extend_from_doubles(&positions);
        if let (Some(to), Some(masses)) = (&mut into.mass, &self.masses) {
            last(to, n).copy_from_slice(&masses.reals(&file, rows.clone())?);
        }
        if let (Some(to), Some(mass)) = (&mut into.mass, self.mass) {
            last(to, n).fill(mass);
        }
        if let (Some(to), Some(ids)) = (&mut into.id, &self.ids) {
            last(to, n).copy_from_slice(&ids.integers(&file, rows.clone())?);
        }
        if let (Some(to), Some(velocities)) = (&mut into.velocity, &self.velocities) {
            let read = triples(velocities.reals(&file, rows)?);
            last(to, n).iter_mut().zip(read).for_each(|(to, velocity)| *to = velocity.map(|v| v as f32));
        }
        Ok(())
    }
}

/// The last `n` rows of a column.
fn last<T>(column: &mut [T], n: usize) -> &mut [T] {
    let first = column.len() - n;
    &mut column[first..]
}

fn triples(numbers: Vec<f64>) -> Vec<[f64; 3]> {
    numbers.as_chunks().0.to_vec()
}

/// The member with one of these names.
fn find<'a>(path: &Path, all: &'a [ZipMember], names: &[&str]) -> ReadResult<Option<&'a ZipMember>> {
    let is_named = |member: &&ZipMember| {
        names.iter().any(|name| member.name.strip_suffix(".npy").is_some_and(|plain| plain == *name))
    };
    let mut found = all.iter().filter(is_named);
    match (found.next(), found.next()) {
        (Some(first), Some(second)) => {
            let problem = format!("both {} and {}", first.name, second.name);
            Err(ReadError::absent(path, format!("{problem}; expected one of them")))
        }
        (found, _) => Ok(found),
    }
}

fn no_positions(path: &Path, all: &[ZipMember]) -> ReadError {
    /// Names in a message.
    const MOST: usize = 20;
    let known: Vec<&str> = all.iter().take(MOST).map(|member| member.name.as_str()).collect();
    let problem = format!("no positions among the arrays {known:?}");
    ReadError::absent(path, format!("{problem}; expected one with the name {}", NAMES[0].join(", ")))
}

fn wrong_shape(path: &Path, array: &MemberArray, expected: &str) -> ReadError {
    ReadError::content(&place_in(path, array.name()), "shape", format!("{:?}", array.shape), expected)
}

/// The value of an array without axes.
fn mass_of_all(path: &Path, file: &SourceFile, single: &MemberArray) -> ReadResult<f64> {
    let mass = single.reals(file, 0..1)?[0];
    if mass.is_finite() && mass > 0.0 {
        return Ok(mass);
    }
    let place = place_in(path, single.name());
    Err(ReadError::content(&place, "value", format!("{mass}"), EXPECTED_MASS))
}

/// Consecutive files as one input.
struct NpzInput {
    about: ParticleHeader,
    files: Vec<NpzFile>,
    offsets: FileOffsets,
}

impl NpzInput {
    fn new(files: Vec<NpzFile>) -> Self {
        let offsets = FileOffsets::from_counts(files.iter().map(|file| file.n));
        let is_double = files.iter().any(|file| file.positions.format.kind == NumberKind::F64);
        let mut about = array::about(READER.name, offsets.total(), is_double);
        let (first, species) = (&files[0], &mut about.species[0]);
        species.has_ids = first.ids.is_some();
        species.has_velocities = first.velocities.is_some();
        species.mass = match (first.mass, &first.masses) {
            (Some(mass), _) => MassOf::Same(mass),
            (None, Some(_)) => MassOf::Each,
            (None, None) => MassOf::Unknown,
        };
        Self { about, files, offsets }
    }
}

impl ParticleInput for NpzInput {
    fn about(&self) -> &ParticleHeader {
        &self.about
    }

    fn read(&self, _species: usize, rows: Range<u64>, into: &mut Columns) -> ReadResult<()> {
        let mut first = rows.start;
        for (file, rows) in self.offsets.parts(rows) {
            let n = rows.end - rows.start;
            if n > 0 {
                self.files[file].read(rows, first, into)?;
            }
            first += n;
        }
        Ok(())
    }

    fn rows_at_a_time(&self) -> u64 {
        if self.files.iter().any(NpzFile::is_packed) { ROWS_OF_PACKED } else { ROWS_AT_A_TIME }
    }

    fn place_of(&self, _species: usize, row: u64) -> (PathBuf, String) {
        let (file, row) = self.offsets.find(row);
        (self.files[file].path.clone(), format!("row {row}"))
    }
}
