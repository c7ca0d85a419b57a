//! NumPy arrays `[N, 3]` of 4- or 8-byte reals, row by row or column by column (Fortran order), in one or
//! several files.
//!
//! The crate npyz could parse the header, with twenty further crates. It refuses `=f4`, does not state what
//! it expected, and converts values one by one; ranges of rows read straight into the array, in either order,
//! would stay here.

use super::array;
use super::array::Array;
use super::{InputDefaults, ParticleReader, Positions};
use crate::input_file;
use crate::npy_header::{NpyText, bad, value_of};
use crate::open_files;
use crate::{ReadError, ReadResult, facts, reserve};
use bytemuck::Pod;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The reader of .npy files.
pub const READER: ParticleReader = ParticleReader {
    name: "NumPy array",
    looks: "a .npy file of shape (N, 3)",
    recognises: |path| path.extension().is_some_and(|e| e == "npy"),
    has_several_files: false,
    read_headers,
    open: |known| array::input(READER.name, facts::decode::<Vec<Npy>>(known)),
};

#[derive(Serialize, Deserialize)]
struct Npy {
    #[serde(with = "facts::path")]
    path: PathBuf,
    layout: NpyLayout,
}

/// The place and type of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct NpyLayout {
    data: u64,
    n: u64,
    is_double: bool,
    /// Whether the byte order is not that of this machine.
    swapped: bool,
    /// Whether all x come first, then all y, then all z: numpy's Fortran order.
    by_columns: bool,
}

fn read_headers(paths: &[PathBuf], defaults: &InputDefaults) -> ReadResult<Vec<u8>> {
    defaults.refuse_units(&paths[0])?;
    let one = |path: &PathBuf| Ok(Npy { path: path.clone(), layout: layout(path)? });
    Ok(facts::encode(&paths.iter().map(one).collect::<ReadResult<Vec<_>>>()?))
}

impl Array for Npy {
    fn n(&self) -> u64 {
        self.layout.n
    }

    fn is_double(&self) -> bool {
        self.layout.is_double
    }

    fn read(&self, rows: Range<u64>, to: &mut Positions) -> ReadResult<()> {
        match (self.layout.is_double, to) {
            (false, Positions::Single(to)) => self.append(rows, to, swap_single)?,
            (true, Positions::Double(to)) => self.append(rows, to, swap_double)?,
            (false, to) => {
                let mut read = Vec::new();
                self.append(rows, &mut read, swap_single)?;
                to.reserve(read.len(), &self.path)?;
                to.extend_from_singles(&read);
            }
            (true, to) => {
                let mut read = Vec::new();
                self.append(rows, &mut read, swap_double)?;
                to.reserve(read.len(), &self.path)?;
                to.extend_from_doubles(&read);
            }
        }
        Ok(())
    }

    fn place_of(&self, row: u64) -> (PathBuf, String) {
        (self.path.clone(), format!("row {row}"))
    }
}

impl Npy {
    /// Appends `rows`, whose coordinates are of type `T`.
    fn append<T: Pod>(&self, rows: Range<u64>, to: &mut Vec<[T; 3]>, swap: fn(T) -> T) -> ReadResult<()> {
        let (size, n) = (size_of::<T>() as u64, (rows.end - rows.start) as usize);
        let before = to.len();
        let _pass = open_files::pass();
        let mut file = input_file::open(&self.path).map_err(|e| ReadError::io(&self.path, "opening", e))?;
        reserve(to, n, &self.path, "rows")?;
        to.resize(before + n, [T::zeroed(); 3]);
        let new = &mut to[before..];
        if self.layout.by_columns {
            let mut column = Vec::new();
            reserve(&mut column, n, &self.path, "rows")?;
            column.resize(n, T::zeroed());
            for axis in 0..3 {
                self.fill(&mut file, (axis as u64 * self.layout.n + rows.start) * size, &mut column)?;
                new.iter_mut().zip(&column).for_each(|(row, x)| row[axis] = *x);
            }
        } else {
            self.fill(&mut file, rows.start * 3 * size, new)?;
        }
        if self.layout.swapped {
            new.iter_mut().for_each(|row| *row = row.map(swap));
        }
        Ok(())
    }

    /// Reads values from `offset` bytes after the header.
    fn fill<T: Pod>(&self, file: &mut File, offset: u64, to: &mut [T]) -> ReadResult<()> {
        let failed = |doing| move |e| ReadError::io(&self.path, doing, e);
        file.seek(SeekFrom::Start(self.layout.data + offset)).map_err(failed("seeking"))?;
        file.read_exact(bytemuck::cast_slice_mut(to)).map_err(failed("reading"))
    }
}

fn swap_single(x: f32) -> f32 {
    f32::from_bits(x.to_bits().swap_bytes())
}

fn swap_double(x: f64) -> f64 {
    f64::from_bits(x.to_bits().swap_bytes())
}

/// Reads the header of `path` and compares it with the size of the file.
fn layout(path: &Path) -> ReadResult<NpyLayout> {
    let NpyText { text, data, size } = NpyText::read(path)?;
    let layout = parse(path, &text, data)?;
    let row = if layout.is_double { 24 } else { 12 };
    match layout.n.checked_mul(row).and_then(|bytes| bytes.checked_add(data)) {
        Some(expected) if expected == size => Ok(layout),
        expected => {
            let expected = expected.map_or("fewer rows".into(), |bytes| format!("{bytes}"));
            let problem = format!("{size} bytes for a header of {} rows", layout.n);
            Err(ReadError::content(path, "size", problem, expected))
        }
    }
}

/// The dictionary of the header: `{'descr': '<f4', 'fortran_order': False, 'shape': (5, 3), }`.
fn parse(path: &Path, text: &str, data: u64) -> ReadResult<NpyLayout> {
    // An absent entry is refused like an empty one.
    let descr = value_of(text, "descr").map(|v| v.trim_matches(['\'', '"']).to_string()).unwrap_or_default();
    let (order, kind) = descr.split_at_checked(1).unwrap_or(("", ""));
    let is_double = match kind {
        "f4" => false,
        "f8" => true,
        _ => return Err(bad(path, format!("elements of type {descr:?}"), "f4 or f8")),
    };
    let is_big = match order {
        "<" => false,
        ">" => true,
        "=" => cfg!(target_endian = "big"),
        _ => return Err(bad(path, format!("elements of type {descr:?}"), "'<f4', '<f8', '>f4' or '>f8'")),
    };
    let order = value_of(text, "fortran_order").unwrap_or_default();
    let by_columns = match order.as_str() {
        "False" => false,
        "True" => true,
        _ => return Err(bad(path, format!("fortran_order `{order}`"), "True or False")),
    };
    let shape = value_of(text, "shape").unwrap_or_default();
    let sizes: Vec<Option<u64>> = shape
        .trim_matches(['(', ')'])
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .map(|word| word.parse().ok())
        .collect();
    let [Some(n), Some(3)] = sizes[..] else {
        return Err(bad(path, format!("shape {shape}"), "(N, 3)"));
    };
    Ok(NpyLayout { data, n, is_double, swapped: is_big != cfg!(target_endian = "big"), by_columns })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result_of(text: &str) -> String {
        match parse(Path::new("a.npy"), text, 128) {
            Ok(layout) => format!("{layout:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn headers_of_all_kinds() {
        let sound = "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 3), }   \n";
        let layout = NpyLayout {
            data: 128,
            n: 5,
            is_double: false,
            swapped: cfg!(target_endian = "big"),
            by_columns: false,
        };
        assert_eq!(result_of(sound), format!("{layout:?}"));
        let other = "{\"shape\":(7,3),\"fortran_order\":True,\"descr\":\">f8\"}";
        let layout = NpyLayout {
            data: 128,
            n: 7,
            is_double: true,
            swapped: cfg!(target_endian = "little"),
            by_columns: true,
        };
        assert_eq!(result_of(other), format!("{layout:?}"));
        for (from, to, part) in [
            ("'<f4'", "'<i4'", "elements of type \"<i4\"; expected f4 or f8"),
            ("'<f4'", "'|f4'", "elements of type \"|f4\""),
            ("'<f4'", "[('x', '<f4')]", "elements of type"),
            ("False", "Maybe", "fortran_order `Maybe`; expected True or False"),
            ("(5, 3)", "(5, 2)", "shape (5, 2); expected (N, 3)"),
            ("(5, 3)", "(15,)", "shape (15,)"),
            ("(5, 3)", "(-5, 3)", "shape (-5, 3)"),
            ("shape", "size", "shape ;"),
            ("descr", "dtype", "elements of type \"\""),
        ] {
            let text = result_of(&sound.replace(from, to));
            assert!(text.starts_with("a.npy: header: ") && text.contains(part), "{to}: {text}");
        }
    }
}
