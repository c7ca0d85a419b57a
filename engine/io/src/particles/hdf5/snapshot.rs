//! Snapshots in the layout of SWIFT and Gadget: `PartTypeN/{Coordinates, Masses, ParticleIDs, ...}`.
//!
//! One or several files. The first of several, `snap_080.0.hdf5`, stands for all of them.

use super::header::{FileHeader, WholeHeader, is_hdf5};
use super::part::{DENSITIES, MASSES, RowReader, WEIGHTS, find_any};
use super::scales::scales;
use crate::facts::OnePath;
use crate::hdf5_file::Hdf5File;
use crate::particles::file_offsets::FileOffsets;
use crate::particles::{
    Columns, GAS, InputDefaults, MassOf, N_KINDS, NEUTRINO, ParticleHeader, ParticleInput, ParticleReader,
    Species,
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
}

/// The particles of one kind in one file.
struct FileColumns {
    is_double: bool,
    has_masses: bool,
    has_ids: bool,
    has_velocities: bool,
    has_densities: bool,
    has_weights: bool,
}

impl GadgetSnapshot {
    /// Reads the headers of all files.
    fn find(paths: &[PathBuf], defaults: &InputDefaults) -> ReadResult<Self> {
        let first_source = Hdf5File::open(&paths[0])?;
        let first = FileHeader::read(&first_source)?;
        let files = all_files(paths, first.whole.n_files)?;
        let mut counts: [Vec<u64>; N_KINDS] = Default::default();
        let mut found: [Vec<FileColumns>; N_KINDS] = Default::default();
        for path in &files {
            let source = Hdf5File::open(path)?;
            let header = FileHeader::read(&source)?;
            agree(&source, &header.whole, &paths[0], &first.whole)?;
            for kind in 0..N_KINDS {
                counts[kind].push(header.here[kind]);
                if header.here[kind] > 0 {
                    found[kind].push(look(&source, kind, header.here[kind])?);
                }
            }
        }
        check_totals(&first_source, &first.whole, &counts)?;
        let has = |kind| counts[usize::from(kind)].iter().any(|n| *n > 0);
        let scales = scales(&first_source, &first.whole, has, defaults)?;
        let mut species = Vec::new();
        let mut offsets_by_species = Vec::new();
        for (kind, counts) in
            counts.into_iter().enumerate().filter(|(_, counts)| counts.iter().any(|n| *n > 0))
        {
            let offsets = FileOffsets::from_counts(counts);
            species.push(describe(
                &first_source,
                kind,
                &found[kind],
                offsets.total(),
                first.whole.mass_table[kind],
            )?);
            offsets_by_species.push(offsets);
        }
        let about = ParticleHeader {
            format: scales.format,
            sides: first.whole.sides,
            periodic: scales.periodic,
            time: first.whole.time,
            units: scales.units,
            assumed_units: scales.assumed_units,
            cosmology: scales.cosmology,
            matter: scales.matter,
            softening: scales.softening,
            species,
        };
        let files = files.into_iter().map(OnePath).collect();
        Ok(Self { about, files, offsets_by_species, velocity: scales.velocity })
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

/// All files of the snapshot: `paths`, or all siblings of a single path.
fn all_files(paths: &[PathBuf], n_files: u64) -> ReadResult<Vec<PathBuf>> {
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

/// The particles of a kind in a file. Checks that the shape of the positions agrees with the header.
fn look(source: &Hdf5File, kind: usize, n: u64) -> ReadResult<FileColumns> {
    let place = |name: &str| format!("PartType{kind}/{name}");
    let positions = source.need(&place("Coordinates"), n, 3)?;
    let has = |names: &[&str]| Ok(find_any(source, kind, names)?.is_some());
    Ok(FileColumns {
        is_double: source.is_double(&positions)?,
        has_masses: has(&MASSES)?,
        has_ids: has(&["ParticleIDs"])?,
        has_velocities: has(&["Velocities"])?,
        has_densities: kind == usize::from(GAS) && has(&DENSITIES)?,
        has_weights: kind == usize::from(NEUTRINO) && has(&[WEIGHTS])?,
    })
}

fn check_totals(source: &Hdf5File, header: &WholeHeader, counts: &[Vec<u64>; N_KINDS]) -> ReadResult<()> {
    let Some(total) = header.total else { return Ok(()) };
    for (kind, (total, counts)) in total.iter().zip(counts).enumerate() {
        let sum: u64 = counts.iter().sum();
        if sum != *total {
            let problem = format!("{total} particles of PartType{kind} in all files");
            let expected = format!("{sum}, the sum of NumPart_ThisFile over {} files", counts.len());
            return Err(source.bad("Header/NumPart_Total", problem, expected));
        }
    }
    Ok(())
}

fn describe(
    source: &Hdf5File,
    kind: usize,
    found: &[FileColumns],
    n: u64,
    table: f64,
) -> ReadResult<Species> {
    let with_masses = found.iter().filter(|f| f.has_masses).count();
    if with_masses != 0 && with_masses != found.len() && table == 0.0 {
        let problem = format!("in {with_masses} of {} files", found.len());
        return Err(source.bad(&format!("PartType{kind}/Masses"), problem, "in all or in none"));
    }
    let with_weights = found.iter().filter(|f| f.has_weights).count();
    if with_weights != 0 && with_weights != found.len() {
        let problem = format!("in {with_weights} of {} files", found.len());
        return Err(source.bad(&format!("PartType{kind}/{WEIGHTS}"), problem, "in all or in none"));
    }
    let mass = match (with_masses, table) {
        (_, table) if with_weights > 0 && (with_masses > 0 || table > 0.0) => MassOf::Each,
        (0, 0.0) => MassOf::Unknown,
        (0, table) => MassOf::Same(table),
        _ => MassOf::Each,
    };
    Ok(Species {
        name: format!("PartType{kind}"),
        kind: Some(kind as u8),
        n,
        mass,
        is_double: found.iter().any(|f| f.is_double),
        has_ids: found.iter().all(|f| f.has_ids),
        has_velocities: found.iter().all(|f| f.has_velocities),
        has_densities: found.iter().all(|f| f.has_densities),
        has_weights: with_weights > 0,
    })
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

    fn place_of(&self, species: usize, row: u64) -> (PathBuf, String) {
        let (file, row) = self.offsets_by_species[species].find(row);
        (self.files[file].0.clone(), format!("{} row {row}", self.about.species[species].name))
    }
}
