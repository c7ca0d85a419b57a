//! The formats a catalogue can be written in and read from: one row each.

use super::atomic::check_writable;
use super::{Catalogue, CatalogueReadError, CatalogueReadResult, WriteError, WriteResult};
use std::path::Path;

/// A format. To add one: a file in this folder and a row in [`WRITERS`].
#[derive(Debug, Clone, Copy)]
pub struct Writer {
    /// Name for people.
    pub name: &'static str,
    /// Endings of file names that choose it, without the dot.
    pub extensions: &'static [&'static str],
    /// Writes a whole catalogue, or nothing.
    pub write: fn(&Path, &Catalogue) -> WriteResult<()>,
    /// Reads it back.
    pub read: fn(&Path) -> CatalogueReadResult<Catalogue>,
}

/// All formats of this build, the preferred one first.
pub const WRITERS: &[Writer] = &[
    #[cfg(feature = "hdf5")]
    Writer { name: "HDF5", extensions: HDF5_EXTENSIONS, write: super::hdf5::write, read: super::hdf5::read },
    Writer { name: "CSV", extensions: &["csv"], write: super::csv::write, read: super::csv::read },
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
    (writer_for(path)?.write)(path, catalogue)
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
