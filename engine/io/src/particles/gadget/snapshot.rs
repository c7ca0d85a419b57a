//! All files of a snapshot, and the requested rows.

use super::blocks::{BinaryFile, is_binary, look};
use super::header::{BinaryHeader, ByteOrder, N_TYPES, WholeBinaryHeader};
use super::walk::{BinaryBlock, FileBlocks};
use crate::particles::expansion::ExpansionStatements;
use crate::particles::file_offsets::FileOffsets;
use crate::particles::gadget_units::{GadgetRun, OwnUnits};
use crate::particles::{
    Columns, GAS, InputDefaults, MassOf, N_KINDS, ParticleHeader, ParticleInput, ParticleReader, Positions,
    STAR, Species,
};
use crate::{ReadError, ReadResult, facts, input_file, open_files, reserve};
use bytemuck::Pod;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The reader of Gadget's binary snapshots.
pub const READER: ParticleReader = ParticleReader {
    name: "Gadget binary",
    looks: "a file such as snapshot_080, or snapshot_080.0 for all of snapshot_080.*",
    recognises: is_binary,
    has_several_files: true,
    read_headers: |paths, defaults| Ok(facts::encode(&BinarySnapshot::find(paths, defaults)?)),
    open: |known| Box::new(facts::decode::<BinarySnapshot>(known)),
};

/// A note on what Gadget-4's own header leaves out.
const WITHOUT_COSMOLOGY: &str =
    "the header of the input has no h and no density parameters: units are taken without h";

#[derive(Serialize, Deserialize)]
struct BinarySnapshot {
    about: ParticleHeader,
    files: Vec<KnownFile>,
    /// By species.
    offsets_by_species: Vec<FileOffsets>,
    /// Factor from velocities in the files to peculiar velocities.
    velocity: f64,
}

/// A file and where its values are.
#[derive(Serialize, Deserialize)]
struct KnownFile {
    #[serde(with = "facts::path")]
    path: PathBuf,
    /// Whether the byte order is not that of this machine.
    is_swapped: bool,
    here: [u64; N_TYPES],
    has_own_masses: [bool; N_TYPES],
    blocks: FileBlocks,
}

impl BinarySnapshot {
    /// Reads the headers of all files and the places of their blocks.
    fn find(paths: &[PathBuf], defaults: &InputDefaults) -> ReadResult<Self> {
        let order = defaults.block_order;
        let first = look(&paths[0], order)?.header.whole;
        let mut files = Vec::new();
        for path in all_files(paths, first.n_files)? {
            let found = look(&path, order)?;
            agree(&path, &found.header.whole, &paths[0], &first)?;
            files.push(KnownFile::new(path, found));
        }
        check_totals(&paths[0], &first, &files)?;
        let n_of = |kind: usize| files.iter().map(|file| file.here[kind]).sum::<u64>();
        let is_of_gas = |kind: u8| n_of(usize::from(kind)) > 0;
        let omega_m = Some(first.omega_m).filter(|m| *m > 0.0);
        let expansion = ExpansionStatements {
            time: first.time,
            redshift: Some(first.redshift),
            omega_m,
            ..ExpansionStatements::default()
        }
        .resolve(&paths[0], defaults)?;
        let run = GadgetRun {
            aexp: expansion.factor,
            h: if first.h > 0.0 { first.h } else { 1.0 },
            omega_m,
            omega_l: first.omega_l,
            omega_b: None,
            omega_r: None,
            has_gas: is_of_gas(GAS) || is_of_gas(STAR),
            hubble: None,
            newton: None,
        };
        let mut units = OwnUnits::new(&paths[0], defaults);
        let in_cgs = [units.length(None)?, units.mass(None)?, units.velocity(None)?];
        let scales = run.scales(in_cgs, &paths[0], defaults)?;
        let kinds: Vec<usize> = (0..N_TYPES).filter(|kind| n_of(*kind) > 0).collect();
        let about = ParticleHeader {
            format: "Gadget",
            sides: (first.side > 0.0).then_some([first.side; 3]),
            periodic: first.side > 0.0 && expansion.factor.is_some(),
            boundary_is_assumed: first.side > 0.0 && expansion.factor.is_none(),
            time: first.time,
            units: Some(scales.units),
            assumed_units: units.assumed,
            cosmology: scales.cosmology,
            matter: scales.matter,
            softening: [None; N_KINDS],
            notes: (expansion.note.into_iter())
                .chain((!first.has_cosmology).then(|| WITHOUT_COSMOLOGY.to_string()))
                .collect(),
            sampled: [1.0; N_KINDS],
            species: kinds.iter().map(|kind| species(&files, *kind, &first)).collect::<ReadResult<_>>()?,
        };
        let offsets_by_species =
            kinds.iter().map(|kind| FileOffsets::from_counts(files.iter().map(|f| f.here[*kind]))).collect();
        Ok(Self { about, files, offsets_by_species, velocity: scales.a.sqrt() })
    }
}

fn agree(
    path: &Path,
    header: &WholeBinaryHeader,
    first: &Path,
    expected: &WholeBinaryHeader,
) -> ReadResult<()> {
    match header.difference(expected) {
        None => Ok(()),
        Some((name, here, there)) => {
            let expected = format!("{there} as in {}", first.display());
            Err(ReadError::content(path, format!("header, {name}"), here, expected))
        }
    }
}

fn check_totals(path: &Path, header: &WholeBinaryHeader, files: &[KnownFile]) -> ReadResult<()> {
    for (kind, total) in header.total.iter().enumerate() {
        let sum: u64 = files.iter().map(|file| file.here[kind]).sum();
        if sum != *total {
            let problem = format!("{total} particles of type {kind} in all files");
            let expected = format!("{sum}, the sum over {} files", files.len());
            return Err(ReadError::content(path, "header, numbers of all files", problem, expected));
        }
    }
    Ok(())
}

/// All files of the snapshot: `paths`, or all siblings of a single path.
fn all_files(paths: &[PathBuf], n_files: u64) -> ReadResult<Vec<PathBuf>> {
    if paths.len() as u64 == n_files {
        return Ok(paths.to_vec());
    }
    let wrong = |problem: String, expected: String| {
        Err(ReadError::content(&paths[0], "header, number of files", problem, expected))
    };
    if paths.len() > 1 {
        return wrong(format!("{} files given", paths.len()), format!("all {n_files} of the snapshot"));
    }
    let is_number = |ending: &&std::ffi::OsStr| {
        let bytes = ending.as_encoded_bytes();
        !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit)
    };
    if paths[0].extension().filter(is_number).is_none() {
        let problem = format!("one of {n_files} files, and its name does not end in a number");
        return wrong(problem, "all of them".into());
    }
    let name = |n: u64| paths[0].with_extension(n.to_string());
    // The first that is absent ends the list, however many a damaged header claims.
    let found: Vec<PathBuf> = (0..n_files).map(name).take_while(|path| path.exists()).collect();
    if found.len() as u64 == n_files {
        return Ok(found);
    }
    let what = format!("not there; expected all {n_files} files of the snapshot");
    Err(ReadError::absent(&name(found.len() as u64), what))
}

/// The particles of a type.
fn species(files: &[KnownFile], kind: usize, header: &WholeBinaryHeader) -> ReadResult<Species> {
    let with: Vec<&KnownFile> = files.iter().filter(|file| file.here[kind] > 0).collect();
    let has =
        |block: fn(&FileBlocks) -> Option<BinaryBlock>| with.iter().all(|file| block(&file.blocks).is_some());
    let table = header.mass_table[kind];
    let n_masses = with.iter().filter(|file| file.blocks.masses.is_some()).count();
    let mass = match (table > 0.0, n_masses) {
        (true, _) => MassOf::Same(table),
        (false, 0) => MassOf::Unknown,
        (false, n) if n == with.len() => MassOf::Each,
        (false, n) => {
            let problem = format!("in {n} of {} files", with.len());
            return Err(ReadError::content(&with[0].path, "masses", problem, "in all or in none"));
        }
    };
    let is_wide = |file: &&KnownFile| file.blocks.positions.is_some_and(|block| block.is_wide);
    Ok(Species {
        name: format!("PartType{kind}"),
        kind: Some(kind as u8),
        n: with.iter().map(|file| file.here[kind]).sum(),
        mass,
        is_double: with.iter().any(is_wide),
        has_ids: has(|blocks| blocks.ids),
        has_velocities: has(|blocks| blocks.velocities),
        has_densities: kind == usize::from(GAS) && has(|blocks| blocks.densities),
        has_weights: false,
        has_wind: false,
        problem: None,
    })
}

impl ParticleInput for BinarySnapshot {
    fn about(&self) -> &ParticleHeader {
        &self.about
    }

    fn read(&self, species: usize, rows: Range<u64>, into: &mut Columns) -> ReadResult<()> {
        let mut before = rows.start;
        for (file, rows) in self.offsets_by_species[species].parts(rows) {
            let n = rows.end - rows.start;
            if n > 0 {
                let what = &self.about.species[species];
                OpenRows::open(&self.files[file], what, rows)?.read(before, self.velocity, into)?;
            }
            before += n;
        }
        Ok(())
    }

    fn place_of(&self, species: usize, row: u64) -> (PathBuf, String) {
        let (file, row) = self.offsets_by_species[species].find(row);
        (self.files[file].path.clone(), format!("{} row {row}", self.about.species[species].name))
    }
}

impl KnownFile {
    fn new(path: PathBuf, found: BinaryFile) -> Self {
        let BinaryFile { order, header, blocks } = found;
        let BinaryHeader { here, .. } = header;
        Self {
            path,
            is_swapped: (order == ByteOrder::Big) != cfg!(target_endian = "big"),
            here,
            has_own_masses: std::array::from_fn(|kind| header.has_own_masses(kind)),
            blocks,
        }
    }
}

/// A range of rows of one type in an open file.
struct OpenRows<'a> {
    known: &'a KnownFile,
    species: &'a Species,
    kind: usize,
    rows: Range<u64>,
    file: File,
    // Dropped after the file.
    _pass: open_files::OpenPermit,
}

impl<'a> OpenRows<'a> {
    fn open(known: &'a KnownFile, species: &'a Species, rows: Range<u64>) -> ReadResult<Self> {
        let pass = open_files::pass();
        let file = input_file::open(&known.path).map_err(|e| ReadError::io(&known.path, "opening", e))?;
        let kind = usize::from(species.kind.expect("a species of this format has one type"));
        Ok(Self { known, species, kind, rows, file, _pass: pass })
    }

    /// Appends the rows; the first of them is row `first` of all files.
    fn read(&mut self, first: u64, velocity: f64, into: &mut Columns) -> ReadResult<()> {
        let n = self.n();
        // Blocks of all types hold one type after the other.
        let of_all = self.known.here[..self.kind].iter().sum::<u64>() + self.rows.start;
        let blocks = self.known.blocks;
        self.positions(blocks.positions, of_all, &mut into.position)?;
        if let Some(to) = &mut into.mass {
            let is_own = |kind: &usize| self.known.has_own_masses[*kind];
            let before = (0..self.kind).filter(is_own).map(|kind| self.known.here[kind]).sum::<u64>();
            match (self.species.mass, blocks.masses) {
                (MassOf::Each, Some(block)) => to.extend(self.reals(block, before + self.rows.start)?),
                (MassOf::Same(mass), _) => to.extend(std::iter::repeat_n(mass, n)),
                // Without masses in the input, particles count as 1.
                _ => to.extend(std::iter::repeat_n(1.0, n)),
            }
        }
        if let Some(to) = &mut into.id {
            match blocks.ids.filter(|_| self.species.has_ids) {
                Some(block) if block.is_wide => to.extend(self.values(block, of_all, u64::swap_bytes)?),
                Some(block) => {
                    let ids: Vec<u32> = self.values(block, of_all, u32::swap_bytes)?;
                    to.extend(ids.into_iter().map(u64::from));
                }
                None => to.extend(first..first + n as u64),
            }
        }
        if let Some(to) = &mut into.kind {
            to.extend(std::iter::repeat_n(self.kind as u8, n));
        }
        if let Some(to) = &mut into.velocity {
            match blocks.velocities.filter(|_| self.species.has_velocities) {
                Some(block) => {
                    let triples = self.triples(block, of_all)?;
                    to.extend(triples.into_iter().map(|v| v.map(|v| v as f32 * velocity as f32)));
                }
                None => to.extend(std::iter::repeat_n([0.0; 3], n)),
            }
        }
        if let Some(to) = &mut into.density {
            match blocks.densities.filter(|_| self.species.has_densities) {
                Some(block) => to.extend(self.reals(block, self.rows.start)?.into_iter().map(|x| x as f32)),
                None => to.extend(std::iter::repeat_n(f32::NAN, n)),
            }
        }
        Ok(())
    }

    fn n(&self) -> usize {
        (self.rows.end - self.rows.start) as usize
    }

    fn positions(&mut self, block: Option<BinaryBlock>, first: u64, to: &mut Positions) -> ReadResult<()> {
        let block = block.expect("a file with particles has their positions");
        to.reserve(self.n(), &self.known.path)?;
        match block.is_wide {
            true => to.extend_from_doubles(&self.values::<[f64; 3]>(block, first, |x| x.map(swap_double))?),
            false => to.extend_from_singles(&self.values::<[f32; 3]>(block, first, |x| x.map(swap_single))?),
        }
        Ok(())
    }

    fn triples(&mut self, block: BinaryBlock, first: u64) -> ReadResult<Vec<[f64; 3]>> {
        if block.is_wide {
            return self.values(block, first, |x: [f64; 3]| x.map(swap_double));
        }
        let read: Vec<[f32; 3]> = self.values(block, first, |x: [f32; 3]| x.map(swap_single))?;
        Ok(read.into_iter().map(|x| x.map(f64::from)).collect())
    }

    fn reals(&mut self, block: BinaryBlock, first: u64) -> ReadResult<Vec<f64>> {
        if block.is_wide {
            return self.values(block, first, swap_double);
        }
        Ok(self.values(block, first, swap_single)?.into_iter().map(f64::from).collect())
    }

    /// One value of a block per row, from value `first` on.
    fn values<T: Pod>(&mut self, block: BinaryBlock, first: u64, swap: fn(T) -> T) -> ReadResult<Vec<T>> {
        let path = &self.known.path;
        let mut values = Vec::new();
        reserve(&mut values, self.n(), path, "values")?;
        values.resize(self.n(), T::zeroed());
        let offset = block.offset + first * size_of::<T>() as u64;
        self.file.seek(SeekFrom::Start(offset)).map_err(|e| ReadError::io(path, "seeking", e))?;
        let bytes = bytemuck::cast_slice_mut(&mut values);
        self.file.read_exact(bytes).map_err(|e| ReadError::io(path, "reading", e))?;
        if self.known.is_swapped {
            values.iter_mut().for_each(|value| *value = swap(*value));
        }
        Ok(values)
    }
}

fn swap_single(x: f32) -> f32 {
    f32::from_bits(x.to_bits().swap_bytes())
}

fn swap_double(x: f64) -> f64 {
    f64::from_bits(x.to_bits().swap_bytes())
}
