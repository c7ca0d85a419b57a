//! The formats a catalogue can be written in and read from: one row each.

use super::finders::finder_of;
use super::outline::{CatalogueOutline, select};
use super::{Attribute, Catalogue, Table, Values, WriteError, WriteResult};
use crate::staging::{Staged, check_writable};
use crate::{ReadError, ReadResult, input_file, nearest};
use std::ops::Range;
use std::path::Path;

/// The attributes of a catalogue, in their order.
pub type Attributes = Vec<(String, Attribute)>;

/// A format. To add one: a file in this folder and a row in [`FORMATS`].
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// Name for messages.
    pub name: &'static str,
    /// Endings of its file names, without the dot.
    pub extensions: &'static [&'static str],
    /// The description of its files.
    pub mark: &'static str,
    /// Stages a whole catalogue.
    pub stage: fn(&Path, &Catalogue) -> WriteResult<Staged>,
    /// Reads it back.
    pub read: fn(&Path) -> ReadResult<Catalogue>,
    /// Reads the attributes of an undamaged file; see [`attributes_if_whole`].
    pub attributes: fn(&Path) -> ReadResult<Attributes>,
    /// See [`outline`].
    pub outline: fn(&Path) -> ReadResult<CatalogueOutline>,
    /// See [`read_rows`].
    pub read_rows: fn(&Path, &str, &[&str], Range<u64>) -> ReadResult<Table>,
    /// How several ranks write one file, if the format can.
    pub in_parts: Option<PartFormat>,
}

impl Format {
    /// Writes a whole catalogue, or nothing.
    ///
    /// # Errors
    /// As [`write()`].
    pub fn write(&self, path: &Path, catalogue: &Catalogue) -> WriteResult<()> {
        (self.stage)(path, catalogue)?.commit()
    }
}

/// A function that is called with the number of further bytes that are ready to be written.
pub type Advance<'a> = &'a (dyn Fn(u64) + Sync);

/// A format whose file several ranks produce. One rank writes it; all prepare their rows.
#[derive(Debug, Clone, Copy)]
pub struct PartFormat {
    /// Rows that one rank must prepare together; shares of ranks are multiples of it.
    pub chunk: usize,
    /// Rows per chunk for a table of this many rows; `None` if its rows are written unchanged, all at once.
    pub rows_a_chunk: fn(usize) -> Option<usize>,
    /// Prepares a chunk of a column: its first row, and the rows of a chunk. The column may end before the
    /// chunk.
    pub pack: fn(&Values, usize, usize) -> PackedRows,
    /// Creates the file for these attributes and tables with their total numbers of rows. The first path is
    /// the final one, for messages; the second is the file to write.
    #[allow(clippy::type_complexity, reason = "it is written once")]
    pub create:
        fn(&Path, &Path, &[(String, Attribute)], &[(&Table, u64)]) -> WriteResult<Box<dyn PartWriter>>,
}

/// Rows of one column in stored form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedRows {
    /// The stored bytes.
    pub bytes: Vec<u8>,
    /// Their CRC-32.
    pub sum: u32,
    /// The CRC-32 of the plain values.
    pub values_sum: u32,
    /// The number of bytes of the plain values.
    pub values_bytes: u64,
}

/// A file that is being written. Tables and columns are identified by index. Equal content in equal order
/// gives an equal file.
pub trait PartWriter: Send {
    /// Writes a table that is not stored in chunks.
    ///
    /// # Errors
    /// The file cannot be written.
    fn put_table(&mut self, table: usize, rows: &Table) -> WriteResult<()>;

    /// Writes the rows of a column from row `first` on.
    ///
    /// # Errors
    /// The file cannot be written.
    fn put_rows(&mut self, table: usize, column: usize, first: u64, rows: &PackedRows) -> WriteResult<()>;

    /// Completes the file, after all rows.
    ///
    /// # Errors
    /// The file cannot be written.
    fn finish(self: Box<Self>) -> WriteResult<()>;
}

/// All formats of this build, the preferred one first.
pub const FORMATS: &[Format] = &[
    #[cfg(feature = "hdf5")]
    Format {
        name: "HDF5",
        extensions: HDF5_EXTENSIONS,
        mark: super::hdf5::MARK,
        stage: super::hdf5::stage,
        read: super::hdf5::read,
        attributes: super::hdf5::attributes_if_whole,
        outline: super::hdf5::outline,
        read_rows: super::hdf5::read_rows,
        in_parts: Some(PartFormat {
            chunk: super::hdf5::CHUNK,
            rows_a_chunk: super::hdf5::rows_a_chunk,
            pack: super::hdf5::packed_chunk,
            create: super::hdf5::create,
        }),
    },
    Format {
        name: "CSV",
        extensions: &["csv"],
        mark: super::csv::MARK,
        stage: super::csv::stage,
        read: super::csv::read,
        attributes: |path| super::csv::read(path).map(|catalogue| catalogue.attributes),
        outline: |path| super::csv::read(path).map(|catalogue| CatalogueOutline::new(&catalogue)),
        read_rows: |path, table, columns, rows| select(path, &super::csv::read(path)?, table, columns, rows),
        in_parts: None,
    },
];

const HDF5_EXTENSIONS: &[&str] = &["hdf5", "h5"];

/// The format for the ending of `path`.
///
/// # Errors
/// No format has that ending, or this build lacks it; the message names the valid endings.
pub fn writer_for(path: &Path) -> WriteResult<&'static Format> {
    find(path).map_err(|(problem, expected)| WriteError::target(path, problem, expected))
}

/// Whether a catalogue could be written to `path` now; checked before a long run.
///
/// # Errors
/// Those of [`writer_for`] and of [`check_writable`].
pub fn check_output(path: &Path) -> WriteResult<()> {
    writer_for(path)?;
    check_writable(path)
}

/// Writes `catalogue` in the format for the ending of `path`, completely or not at all.
///
/// # Errors
/// The place cannot be written or the catalogue does not fit the format; `path` is then unchanged.
pub fn write(path: &Path, catalogue: &Catalogue) -> WriteResult<()> {
    stage(path, catalogue)?.commit()
}

/// As [`write()`], but the caller commits the files: for files that belong together.
///
/// # Errors
/// As [`write()`].
pub fn stage(path: &Path, catalogue: &Catalogue) -> WriteResult<Staged> {
    (writer_for(path)?.stage)(path, catalogue)
}

/// Reads a catalogue of [`write()`], or one of another finder.
///
/// # Errors
/// The file is absent, of an unknown format, damaged, or not a catalogue.
pub fn read(path: &Path) -> ReadResult<Catalogue> {
    if let Some(finder) = finder_of(path) {
        return finder.open(path)?.whole();
    }
    (reader_for(path)?.read)(path)
}

/// The marks of all formats: texts at the beginning or the end of a catalogue.
pub(crate) fn marks() -> Vec<&'static str> {
    FORMATS.iter().map(|format| format.mark).collect()
}

/// Whether the file at `path` is marked as a catalogue, though it may be damaged. Reads its beginning and
/// end.
pub fn is_marked(path: &Path) -> bool {
    input_file::has_text_at_an_end(path, &marks())
}

/// The attributes of a catalogue whose bytes are those that were written. All bytes are read once; HDF5
/// tables take no memory.
///
/// # Errors
/// As [`read()`], and for an HDF5 file that another program edited.
pub fn attributes_if_whole(path: &Path) -> ReadResult<Attributes> {
    (reader_for(path)?.attributes)(path)
}

/// The catalogue at `path` without its values. All bytes are read once and compared with their checksum.
///
/// # Errors
/// As [`read()`].
pub fn outline(path: &Path) -> ReadResult<CatalogueOutline> {
    if let Some(finder) = finder_of(path) {
        return Ok(finder.open(path)?.outline());
    }
    (reader_for(path)?.outline)(path)
}

/// Some columns and rows of a table of the catalogue at `path`. Of an HDF5 file nothing else is read, and
/// nothing is compared with a checksum; see [`outline`].
///
/// # Errors
/// As [`read()`], and if there is no such column or row.
pub fn read_rows(path: &Path, table: &str, columns: &[&str], rows: Range<u64>) -> ReadResult<Table> {
    if let Some(finder) = finder_of(path) {
        return finder.open(path)?.rows(table, columns, rows);
    }
    (reader_for(path)?.read_rows)(path, table, columns, rows)
}

fn reader_for(path: &Path) -> ReadResult<&'static Format> {
    if !path.exists() {
        return Err(ReadError::absent(path, nearest::absent(path, "a catalogue")));
    }
    find(path).map_err(|(problem, expected)| {
        let (problem, expected) = match path.is_dir() {
            true => ("is a folder".into(), "a catalogue that `inselberg phew` wrote".into()),
            false => (problem, expected),
        };
        ReadError::absent(path, format!("{problem}; expected {expected}"))
    })
}

/// The format for `path`, or the problem and the expectation.
fn find(path: &Path) -> Result<&'static Format, (String, String)> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let found = FORMATS.iter().find(|w| w.extensions.contains(&ending.as_str()));
    found.ok_or_else(|| {
        if HDF5_EXTENSIONS.contains(&ending.as_str()) {
            let problem = "this build has no HDF5";
            let expected = "a name that ends in .csv, or a build with the feature hdf5";
            return (problem.into(), expected.into());
        }
        let known: Vec<_> = FORMATS.iter().flat_map(|w| w.extensions).map(|e| format!(".{e}")).collect();
        let problem =
            if ending.is_empty() { "no ending".into() } else { format!("unknown ending .{ending}") };
        (problem, format!("one of {}", known.join(", ")))
    })
}
