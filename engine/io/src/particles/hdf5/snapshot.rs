//! Snapshots in the layout of SWIFT and Gadget: `PartTypeN/{Coordinates, Masses, ParticleIDs, ...}`.
//!
//! One or several files. The first of several, `snap_080.0.hdf5`, stands for all of them.

use super::header::{FileHeader, WholeHeader, is_hdf5};
use super::names::{ColumnName, SnapshotDialect};
use super::part::RowReader;
use super::scales::{SnapshotUnits, dialect_of, scales};
use crate::facts::OnePath;
use crate::hdf5_file::Hdf5File;
use crate::particles::file_offsets::FileOffsets;
use crate::particles::{
    Columns, GAS, InputDefaults, MassOf, N_KINDS, NEUTRINO, ParticleHeader, ParticleInput, ParticleReader,
    ROWS_AT_A_TIME, STAR, Species,
};
use crate::{ReadError, ReadResult, facts};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The reader of Gadget-like snapshots.
pub const READER: ParticleReader = ParticleReader {
    name: "SWIFT or Gadget HDF5",
    looks: "a file such as snap_0000.hdf5, or snap_080.0.hdf5 for all of snap_080.*.hdf5",
    recognises: is_hdf5,
    has_several_files: true,
    read_headers: |paths, defaults| Ok(facts::encode(&GadgetSnapshot::find(paths, defaults)?)),
    open: |known| Box::new(facts::decode::<GadgetSnapshot>(known)),
};

#[derive(Serialize, Deserialize)]
struct GadgetSnapshot {
    about: ParticleHeader,
    files: Vec<OnePath>,
    /// By species.
    offsets_by_species: Vec<FileOffsets>,
    /// Factor from velocities in the files to peculiar velocities.
    velocity: f64,
    /// The most rows of a chunk of positions; 1 where none are in chunks.
    chunk: u64,
}

/// The note if densities of gas cannot be read.
const LOST_DENSITIES: &str = "the densities of the gas are no reals, one per particle: they are not read";

/// The particles of one kind in one file.
#[derive(Default)]
struct FileColumns {
    is_double: bool,
    /// Rows of a chunk of positions.
    chunk: Option<usize>,
    has_masses: bool,
    has_ids: bool,
    has_velocities: bool,
    has_densities: bool,
    /// Whether there are densities that cannot be read.
    has_lost_densities: bool,
    has_weights: bool,
    has_wind: bool,
    /// Why they cannot be read.
    problem: Option<String>,
}

impl GadgetSnapshot {
    /// Reads the headers of all files.
    fn find(paths: &[PathBuf], defaults: &InputDefaults) -> ReadResult<Self> {
        let first_source = Hdf5File::open(&paths[0])?;
        let first = FileHeader::read(&first_source)?;
        let files = all_files(paths, first.whole.n_files)?;
        let dialect = dialect_of(&first_source)?;
        let mut counts: [Vec<u64>; N_KINDS] = Default::default();
        let mut found: [Vec<FileColumns>; N_KINDS] = Default::default();
        for path in &files {
            let source = Hdf5File::open(path)?;
            let header = FileHeader::read(&source)?;
            agree(&source, &header.whole, &paths[0], &first.whole)?;
            for kind in 0..N_KINDS {
                counts[kind].push(header.here[kind]);
                if header.here[kind] > 0 {
                    found[kind].push(look(&source, kind, header.here[kind], dialect));
                }
            }
        }
        let chunks = found.iter().flatten().filter_map(|file| file.chunk);
        let chunk = chunks.max().map_or(1, |rows| rows.max(1) as u64);
        let has = |kind| counts[usize::from(kind)].iter().any(|n| *n > 0);
        let has_lost_densities = found[usize::from(GAS)].iter().any(|file| file.has_lost_densities);
        let scales = scales(&first_source, &first.whole, dialect, has, defaults)?;
        let mut species = Vec::new();
        let mut offsets_by_species = Vec::new();
        for (kind, counts) in counts.into_iter().enumerate() {
            let total = first.whole.total.map(|total| total[kind]);
            let wrong_total = wrong_total(&first_source, kind, total, &counts);
            let offsets = FileOffsets::from_counts(counts);
            if offsets.total() == 0 && wrong_total.is_none() {
                continue;
            }
            let table = first.whole.mass_table[kind];
            let mut found = describe(&first_source, kind, &found[kind], offsets.total(), table);
            found.problem = found.problem.or(wrong_total);
            species.push(found);
            offsets_by_species.push(offsets);
        }
        let about = ParticleHeader {
            format: scales.format,
            sides: scales.simulation_box.sides,
            periodic: scales.simulation_box.periodic,
            boundary_is_assumed: scales.simulation_box.is_assumed,
            time: first.whole.time,
            units: scales.units,
            assumed_units: scales.assumed_units,
            cosmology: scales.cosmology,
            matter: scales.matter,
            softening: scales.softening,
            notes: scales
                .notes
                .into_iter()
                .chain(has_lost_densities.then(|| LOST_DENSITIES.to_string()))
                .collect(),
            sampled: scales.sampled,
            species,
        };
        let files = files.into_iter().map(OnePath).collect();
        Ok(Self { about, files, offsets_by_species, velocity: scales.velocity, chunk })
    }
}

fn agree(source: &Hdf5File, header: &WholeHeader, first: &Path, expected: &WholeHeader) -> ReadResult<()> {
    match header.difference(expected) {
        None => Ok(()),
        Some((name, here, there)) => {
            Err(source.bad(&format!("Header/{name}"), here, format!("{there} as in {}", first.display())))
        }
    }
}

/// Units, cosmology and box of a catalogue of Gadget-4, which states them as a snapshot does.
///
/// # Errors
/// The statements contradict each other.
pub fn gadget_catalogue(source: &Hdf5File) -> ReadResult<SnapshotUnits> {
    let header = WholeHeader::of_catalogue(source)?;
    scales(source, &header, SnapshotDialect::Gadget, |_| false, &InputDefaults::default())
}

/// All files of the snapshot: `paths`, or all siblings of a single path.
pub fn all_files(paths: &[PathBuf], n_files: u64) -> ReadResult<Vec<PathBuf>> {
    if paths.len() as u64 == n_files {
        return Ok(paths.to_vec());
    }
    if paths.len() > 1 {
        let problem = format!("{} files given", paths.len());
        let expected = format!("all {n_files} of the snapshot");
        return Err(ReadError::content(&paths[0], "Header/NumFilesPerSnapshot", problem, expected));
    }
    let Some(sibling) = siblings(&paths[0]) else {
        let problem = format!("one of {n_files} files, and its name has no number");
        return Err(ReadError::content(&paths[0], "Header/NumFilesPerSnapshot", problem, "all of them"));
    };
    let all: Vec<_> = (0..n_files).map(sibling).collect();
    match all.iter().find(|path| !path.exists()) {
        Some(path) => {
            let what = format!("not there; expected all {n_files} files of the snapshot");
            Err(ReadError::absent(path, what))
        }
        None => Ok(all),
    }
}

/// The name of any file of a snapshot from that of one: `snap.3.hdf5` to `snap.N.hdf5`.
fn siblings(path: &Path) -> Option<impl Fn(u64) -> PathBuf> {
    let (ending, stem) = (path.extension()?.to_os_string(), Path::new(path.file_stem()?));
    let (base, number) = (stem.file_stem()?.to_os_string(), stem.extension()?.as_encoded_bytes());
    let is_number = !number.is_empty() && number.iter().all(u8::is_ascii_digit);
    let path = path.to_path_buf();
    is_number.then_some(move |n: u64| {
        let mut name = base.clone();
        name.push(format!(".{n}."));
        name.push(&ending);
        path.with_file_name(name)
    })
}

/// The particles of a kind in a file. A problem is kept: it counts only if they take part.
fn look(source: &Hdf5File, kind: usize, n: u64, dialect: SnapshotDialect) -> FileColumns {
    columns_of(source, kind, n, dialect)
        .unwrap_or_else(|error| FileColumns { problem: Some(error.to_string()), ..FileColumns::default() })
}

/// Whether an optional column exists and is valid.
fn has_reals(source: &Hdf5File, kind: usize, n: u64, column: ColumnName) -> bool {
    let reals = || -> ReadResult<bool> {
        let Some(found) = column.find(source, kind)? else { return Ok(false) };
        source.is_double(&source.fits(found, n, 1)?).map(|_| true)
    };
    reals().unwrap_or(false) // Without densities, the densest particle of gas is not known.
}

/// Checks that the shape of the positions agrees with the header.
fn columns_of(source: &Hdf5File, kind: usize, n: u64, dialect: SnapshotDialect) -> ReadResult<FileColumns> {
    for column in [ColumnName::Positions, ColumnName::Velocities, ColumnName::Masses] {
        column.check_powers(source, kind, dialect)?;
    }
    let positions = ColumnName::Positions.need(source, kind, n, 3)?;
    let has = |column: ColumnName| Ok(column.find(source, kind)?.is_some());
    let is_gas = kind == usize::from(GAS);
    let has_densities = is_gas && has_reals(source, kind, n, ColumnName::Densities);
    Ok(FileColumns {
        is_double: source.is_double(&positions)?,
        chunk: positions.chunk_planes(),
        has_masses: has(ColumnName::Masses)?,
        has_ids: has(ColumnName::Identities)?,
        has_velocities: has(ColumnName::Velocities)?,
        has_densities,
        has_lost_densities: is_gas
            && !has_densities
            && !matches!(ColumnName::Densities.find(source, kind), Ok(None)),
        has_weights: kind == usize::from(NEUTRINO) && has(ColumnName::Weights)?,
        has_wind: kind == usize::from(STAR) && has(ColumnName::FormationTimes)?,
        problem: None,
    })
}

/// A note if the counts of all files do not add up to the total of the header.
fn wrong_total(source: &Hdf5File, kind: usize, total: Option<u64>, counts: &[u64]) -> Option<String> {
    let sum: u64 = counts.iter().sum();
    let total = total.filter(|total| *total != sum)?;
    let problem = format!("{total} particles of PartType{kind} in all files");
    let expected = format!("{sum}, the sum of NumPart_ThisFile over {} files", counts.len());
    Some(source.bad("Header/NumPart_Total", problem, expected).to_string())
}

fn describe(source: &Hdf5File, kind: usize, found: &[FileColumns], n: u64, table: f64) -> Species {
    let count = |has: fn(&FileColumns) -> bool| found.iter().filter(|file| has(file)).count();
    let (with_masses, with_weights) = (count(|f| f.has_masses), count(|f| f.has_weights));
    let with_wind = count(|f| f.has_wind);
    let in_some = |n: usize, column: ColumnName| {
        (n != 0 && n != found.len()).then(|| {
            let problem = format!("in {n} of {} files", found.len());
            let place = format!("PartType{kind}/{}", column.usual());
            source.bad(&place, problem, "in all or in none").to_string()
        })
    };
    let problem = (found.iter().find_map(|file| file.problem.clone()))
        .or_else(|| in_some(if table == 0.0 { with_masses } else { 0 }, ColumnName::Masses))
        .or_else(|| in_some(with_weights, ColumnName::Weights))
        .or_else(|| in_some(with_wind, ColumnName::FormationTimes));
    let mass = match (with_masses, table) {
        (_, table) if with_weights > 0 && (with_masses > 0 || table > 0.0) => MassOf::Each,
        (0, 0.0) => MassOf::Unknown,
        (0, table) => MassOf::Same(table),
        _ => MassOf::Each,
    };
    Species {
        name: format!("PartType{kind}"),
        kind: Some(kind as u8),
        n,
        mass,
        is_double: found.iter().any(|f| f.is_double),
        has_ids: found.iter().all(|f| f.has_ids),
        has_velocities: found.iter().all(|f| f.has_velocities),
        has_densities: found.iter().all(|f| f.has_densities),
        has_weights: with_weights > 0,
        has_wind: with_wind > 0,
        problem,
    }
}

impl ParticleInput for GadgetSnapshot {
    fn about(&self) -> &ParticleHeader {
        &self.about
    }

    fn read(&self, species: usize, rows: Range<u64>, into: &mut Columns) -> ReadResult<()> {
        let mut before = rows.start;
        for (file, rows) in self.offsets_by_species[species].parts(rows) {
            if !rows.is_empty() {
                let what = &self.about.species[species];
                RowReader::open(&self.files[file].0, what, rows.clone(), before)?
                    .read(self.velocity, into)?;
            }
            before += rows.end - rows.start;
        }
        Ok(())
    }

    /// Whole chunks, which are unpacked as a whole.
    fn rows_at_a_time(&self) -> u64 {
        ROWS_AT_A_TIME.next_multiple_of(self.chunk)
    }

    fn place_of(&self, species: usize, row: u64) -> (PathBuf, String) {
        let (file, row) = self.offsets_by_species[species].find(row);
        (self.files[file].0.clone(), format!("{} row {row}", self.about.species[species].name))
    }
}
