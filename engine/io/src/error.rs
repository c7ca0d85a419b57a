//! What can be wrong with an input, each as one line: what, where, what was expected.

use crate::input_file;
use std::path::{Path, PathBuf};

/// Result of reading.
pub type ReadResult<T> = Result<T, ReadError>;

/// Why an input could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The operating system refused.
    #[error("{}: {action}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file is there but its content is not what the format asks for.
    #[error("{}: {place}: {problem}; expected {expected}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Record, line or field.
        place: String,
        /// What was found.
        problem: String,
        /// What should have been there.
        expected: String,
    },
    /// A cell's value that nothing can be made of.
    #[error(
        "{}: {field} of the cell {ijk:?} of level {level} is {value}; expected a finite value, not negative in a leaf",
        path.display()
    )]
    Value {
        /// The file.
        path: PathBuf,
        /// The field.
        field: String,
        /// The value.
        value: f64,
        /// Level of the cell.
        level: u8,
        /// Its position on the grid of that level.
        ijk: [u32; 3],
    },
    /// A particle that nothing can be made of.
    #[error(
        "{}: particle {id} at {position:?} has mass {mass}; expected finite numbers and no negative mass",
        path.display()
    )]
    Particle {
        /// The file.
        path: PathBuf,
        /// Its identity.
        id: i64,
        /// Its position.
        position: [f64; 3],
        /// Its mass.
        mass: f64,
    },
    /// There is no memory for what the file holds.
    #[error("{}: {place}: no memory for {bytes} bytes; expected more memory, or more ranks on more hosts", path.display())]
    Memory {
        /// The file.
        path: PathBuf,
        /// What of it.
        place: String,
        /// How much that is.
        bytes: usize,
    },
    /// The snapshot is sound but does not hold what was asked for.
    #[error("{}: {what}", path.display())]
    Absent {
        /// The snapshot.
        path: PathBuf,
        /// What is not there, and what is.
        what: String,
    },
}

impl ReadError {
    /// A bad value of `field` in a cell.
    pub fn bad_value(path: PathBuf, field: &str, value: f64, level: u8, ijk: [u32; 3]) -> Self {
        Self::Value { path, field: field.into(), value, level, ijk }
    }

    /// A particle with a bad mass or position.
    pub fn bad_particle(path: PathBuf, id: i64, position: [f64; 3], mass: f64) -> Self {
        Self::Particle { path, id, position, mass }
    }

    /// The content of `path` at `place` is not what the format asks for.
    pub fn content(
        path: &Path,
        place: impl Into<String>,
        problem: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self::Content {
            path: path.into(),
            place: place.into(),
            problem: problem.into(),
            expected: expected.into(),
        }
    }

    /// The operating system refused `action` on `path`.
    pub fn io(path: &Path, action: &'static str, source: std::io::Error) -> Self {
        Self::Io { path: path.into(), action, source }
    }

    /// The snapshot at `path` is sound but lacks `what`.
    pub fn absent(path: &Path, what: impl Into<String>) -> Self {
        Self::Absent { path: path.into(), what: what.into() }
    }

    /// `path` does not exist.
    pub fn missing(path: &Path) -> Self {
        let what = format!("there is no such file or folder; expected {}", known_formats());
        Self::Absent { path: path.into(), what }
    }

    /// No reader recognises `path`.
    pub fn unknown_format(path: &Path) -> Self {
        let problem = match input_file::other_kind(path) {
            Some(kind) => format!("it is {kind}"),
            None => "not an output of a known format".into(),
        };
        let what = format!("{problem}; expected {}", known_formats());
        Self::Absent { path: path.into(), what }
    }
}

/// Makes room for `more` values of an input, `place` of the file at `path`.
///
/// # Errors
/// There is no memory for them.
pub(crate) fn reserve<T>(
    list: &mut Vec<T>,
    more: usize,
    path: &Path,
    place: impl Into<String>,
) -> ReadResult<()> {
    crate::reserve::reserve(list, more).map_err(|_| ReadError::Memory {
        path: path.into(),
        place: place.into(),
        bytes: more.saturating_mul(size_of::<T>()),
    })
}

fn known_formats() -> String {
    let known: Vec<_> = super::READERS.iter().map(|r| format!("{} ({})", r.name, r.looks)).collect();
    known.join(" or ")
}
