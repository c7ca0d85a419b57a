//! The formats a catalogue can be written in and read from: one row each.

use super::{Attribute, Catalogue, CatalogueReadError, CatalogueReadResult, Table, WriteError, WriteResult};
use crate::staging::{Staged, check_writable};
use std::path::Path;

/// A format. To add one: a file in this folder and a row in [`WRITERS`].
#[derive(Debug, Clone, Copy)]
pub struct Writer {
    /// Name for people.
    pub name: &'static str,
    /// Endings of file names that choose it, without the dot.
    pub extensions: &'static [&'static str],
    /// Writes a whole catalogue, which then only lacks its name.
    pub stage: fn(&Path, &Catalogue) -> WriteResult<Staged>,
    /// Reads it back.
    pub read: fn(&Path) -> CatalogueReadResult<Catalogue>,
    /// How several writers make one file, where the format can do that.
    pub in_parts: Option<PartFormat>,
}

impl Writer {
    /// Writes a whole catalogue, or nothing.
    ///
    /// # Errors
    /// As [`write()`].
    pub fn write(&self, path: &Path, catalogue: &Catalogue) -> WriteResult<()> {
        (self.stage)(path, catalogue)?.commit()
    }
}

/// A format that several writers fill, one after the other. The first path is the final one, for
/// messages, and the second the file that is written.
#[derive(Debug, Clone, Copy)]
pub struct PartFormat {
    /// Rows that only one writer should touch; shares of writers are multiples of it.
    pub chunk: usize,
    /// Makes the file, given attributes and tables with their whole numbers of rows.
    #[allow(clippy::type_complexity, reason = "it is written once")]
    pub begin: fn(&Path, &Path, &[(String, Attribute)], &[(&Table, u64)]) -> WriteResult<()>,
    /// Makes rows ready, given the place of the first and the number of all, with all threads: what need not wait for
    /// other writers.
    pub ready: fn(&Table, u64, u64) -> ReadyRows<'_>,
    /// Completes the file, after all rows.
    pub finish: fn(&Path, &Path) -> WriteResult<()>,
}

/// Writes the rows that were made ready.
pub type ReadyRows<'a> = Box<dyn FnOnce(&Path, &Path) -> WriteResult<()> + 'a>;

/// All formats of this build, the preferred one first.
pub const WRITERS: &[Writer] = &[
    #[cfg(feature = "hdf5")]
    Writer {
        name: "HDF5",
        extensions: HDF5_EXTENSIONS,
        stage: super::hdf5::stage,
        read: super::hdf5::read,
        in_parts: Some(PartFormat {
            chunk: super::hdf5::CHUNK,
            begin: super::hdf5::begin,
            ready: super::hdf5::ready,
            finish: super::hdf5::finish,
        }),
    },
    Writer {
        name: "CSV",
        extensions: &["csv"],
        stage: super::csv::stage,
        read: super::csv::read,
        in_parts: None,
    },
];

const HDF5_EXTENSIONS: &[&str] = &["hdf5", "h5"];

/// The format that the ending of `path` asks for.
///
/// # Errors
/// No format has that ending, or this build lacks it; the message says what would do.
pub fn writer_for(path: &Path) -> WriteResult<&'static Writer> {
    find(path).map_err(|(problem, expected)| WriteError::target(path, problem, expected))
}

/// Whether a catalogue could be written to `path` now: asked before a long run.
///
/// # Errors
/// Those of [`writer_for`] and of [`check_writable`].
pub fn check_output(path: &Path) -> WriteResult<()> {
    writer_for(path)?;
    check_writable(path)
}

/// Writes `catalogue` in the format that the ending of `path` asks for, whole or not at all.
///
/// # Errors
/// The place cannot be written or the catalogue does not fit the format; `path` is then as before.
pub fn write(path: &Path, catalogue: &Catalogue) -> WriteResult<()> {
    stage(path, catalogue)?.commit()
}

/// As [`write()`], but leaves the last step to the caller: for files that belong together.
///
/// # Errors
/// As [`write()`].
pub fn stage(path: &Path, catalogue: &Catalogue) -> WriteResult<Staged> {
    (writer_for(path)?.stage)(path, catalogue)
}

/// Reads a catalogue that [`write()`] wrote.
///
/// # Errors
/// The file is absent, of no known format, damaged, or not a catalogue.
pub fn read(path: &Path) -> CatalogueReadResult<Catalogue> {
    let writer = find(path).map_err(|(problem, expected)| {
        let path: std::path::PathBuf = path.into();
        let (problem, expected) = match path.is_dir() {
            true => ("is a folder".into(), "a catalogue that `inselberg phew` wrote".into()),
            false => (problem, expected),
        };
        CatalogueReadError::Target { path, problem, expected }
    })?;
    (writer.read)(path)
}

/// The row for `path`, or what is wrong and what was expected.
fn find(path: &Path) -> Result<&'static Writer, (String, String)> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let found = WRITERS.iter().find(|w| w.extensions.contains(&ending.as_str()));
    found.ok_or_else(|| {
        if HDF5_EXTENSIONS.contains(&ending.as_str()) {
            let problem = "this build has no HDF5";
            let expected = "a name that ends in .csv, or a build with the feature hdf5";
            return (problem.into(), expected.into());
        }
        let known: Vec<_> = WRITERS.iter().flat_map(|w| w.extensions).map(|e| format!(".{e}")).collect();
        let problem =
            if ending.is_empty() { "no ending".into() } else { format!("unknown ending .{ending}") };
        (problem, format!("one of {}", known.join(", ")))
    })
}
