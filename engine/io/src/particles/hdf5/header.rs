//! The header of one file of a Gadget-like snapshot.

use super::names::number_or_text;
use super::sampling::is_cutout;
use crate::ReadResult;
use crate::hdf5_file::Hdf5File;
use crate::input_file;
use crate::particles::N_KINDS;
use std::io::Read;
use std::path::Path;

/// Counts and constants of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileHeader {
    /// Particles in this file, by kind.
    pub here: [u64; N_KINDS],
    /// Particles in all files.
    pub whole: WholeHeader,
}

/// Values that must be equal in all files of a snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct WholeHeader {
    /// Particles in all files, by kind; `None` if the header does not state them.
    pub total: Option<[u64; N_KINDS]>,
    /// Files of the snapshot.
    pub n_files: u64,
    /// The common mass of all particles of a kind; 0 for none.
    pub mass_table: [f64; N_KINDS],
    /// Sides of the box; `None` for 0, which means no box.
    pub sides: Option<[f64; 3]>,
    /// Time, or the expansion factor.
    pub time: f64,
    /// The number of kinds that the header counts.
    pub n_types: usize,
}

impl FileHeader {
    /// Reads the group `Header`.
    pub fn read(source: &Hdf5File) -> ReadResult<Self> {
        let here = counts(source, "NumPart_ThisFile")?
            .ok_or_else(|| source.bad("Header/NumPart_ThisFile", "not there", "the header of a snapshot"))?;
        let high = counts(source, "NumPart_Total_HighWord")?.unwrap_or_default();
        let total = counts(source, "NumPart_Total")?
            .map(|low| std::array::from_fn(|kind| low[kind].saturating_add(high[kind] << 32)));
        let mass_table = by_kind(source, "MassTable", |m| m.is_finite() && *m >= 0.0, "masses, 0 or more")?;
        // Numbers of all files are those of the run from which it was cut out.
        let is_cutout = is_cutout(source);
        let total = total.filter(|_| !is_cutout);
        let n_files = source.number("Header", "NumFilesPerSnapshot")?.filter(|_| !is_cutout).unwrap_or(1.0);
        if !(1.0..=1e6).contains(&n_files) || n_files.fract() != 0.0 {
            let problem = n_files.to_string();
            return Err(source.bad("Header/NumFilesPerSnapshot", problem, "a number of files"));
        }
        let whole = WholeHeader {
            total,
            n_files: n_files as u64,
            mass_table: mass_table.unwrap_or_default(),
            sides: sides(source)?,
            time: source.number("Header", "Time")?.unwrap_or(0.0),
            n_types: source.numbers("Header", "NumPart_ThisFile")?.map_or(0, |counts| counts.len()),
        };
        Ok(Self { here, whole })
    }
}

impl WholeHeader {
    /// That of a catalogue of groups, which counts no particles.
    pub fn of_catalogue(source: &Hdf5File) -> ReadResult<Self> {
        Ok(Self {
            total: None,
            n_files: 1,
            mass_table: [0.0; N_KINDS],
            sides: sides(source)?,
            time: source.number("Header", "Time")?.unwrap_or(0.0),
            // The number that a snapshot would count.
            n_types: number_or_text(source, "Config", "NTYPES")?.unwrap_or(0.0) as usize,
        })
    }

    /// The first difference from another file, as name and values.
    pub fn difference(&self, other: &Self) -> Option<(&'static str, String, String)> {
        let pairs = [
            ("NumPart_Total", format!("{:?}", self.total), format!("{:?}", other.total)),
            ("NumFilesPerSnapshot", self.n_files.to_string(), other.n_files.to_string()),
            ("MassTable", format!("{:?}", self.mass_table), format!("{:?}", other.mass_table)),
            ("BoxSize", format!("{:?}", self.sides), format!("{:?}", other.sides)),
            ("Time", self.time.to_string(), other.time.to_string()),
        ];
        pairs.into_iter().find(|(_, a, b)| a != b)
    }
}

/// Whether a file is HDF5 by its content or its name.
pub fn is_hdf5(path: &Path) -> bool {
    const MAGIC: [u8; 8] = *b"\x89HDF\r\n\x1a\n";
    let mut start = [0; 8];
    let is_read = input_file::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok();
    let is_called_so = ["hdf5", "h5"].iter().any(|e| path.extension().is_some_and(|x| x == *e));
    is_called_so && path.is_file() || is_read && start == MAGIC
}

fn counts(source: &Hdf5File, name: &str) -> ReadResult<Option<[u64; N_KINDS]>> {
    let whole = |n: &f64| (0.0..=9.0e15).contains(n) && n.fract() == 0.0;
    Ok(by_kind(source, name, whole, "whole numbers, 0 or more")?.map(|counts| counts.map(|n| n as u64)))
}

fn by_kind(
    source: &Hdf5File,
    name: &str,
    fits: impl Fn(&f64) -> bool,
    expected: &str,
) -> ReadResult<Option<[f64; N_KINDS]>> {
    let Some(values) = source.numbers("Header", name)? else { return Ok(None) };
    let place = format!("Header/{name}");
    if values.len() > N_KINDS {
        let problem = format!("{} kinds of particles", values.len());
        return Err(source.bad(&place, problem, format!("at most {N_KINDS}")));
    }
    match values.iter().find(|v| !fits(v)) {
        Some(value) => Err(source.bad(&place, value.to_string(), expected)),
        None => Ok(Some(std::array::from_fn(|kind| values.get(kind).copied().unwrap_or(0.0)))),
    }
}

fn sides(source: &Hdf5File) -> ReadResult<Option<[f64; 3]>> {
    let values = source.numbers("Header", "BoxSize")?.unwrap_or_default();
    let sides = match values[..] {
        [] => return Ok(None),
        [side] => [side; 3],
        [x, y, z] => [x, y, z],
        _ => return Err(source.bad("Header/BoxSize", format!("{} sides", values.len()), "1 or 3")),
    };
    match sides.iter().find(|s| !(s.is_finite() && **s >= 0.0)) {
        Some(side) => Err(source.bad("Header/BoxSize", side.to_string(), "a side above 0, or 0 for no box")),
        None => Ok(sides.iter().all(|s| *s > 0.0).then_some(sides)),
    }
}
