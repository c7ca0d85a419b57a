//! Why an input cannot be read. Each message is one line: where, what, and what was expected.

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
        /// The refused action.
        action: &'static str,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The content of the file violates the format.
    #[error("{}: {place}: {problem}; expected {expected}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Record, line or field.
        place: String,
        /// The actual content.
        problem: String,
        /// The expected content.
        expected: String,
    },
    /// A cell has an invalid value.
    #[error(
        "{}: {field} of the cell {ijk:?} of level {level} is {value}; expected {}",
        path.display(),
        if value.is_finite() { "0 or more in a leaf" } else { "a finite value" }
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
    /// A particle has an invalid position or mass.
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
    /// The content does not fit into memory.
    #[error("{}: {place}: no memory for {bytes} bytes; expected more memory, or more ranks on more hosts", path.display())]
    Memory {
        /// The file.
        path: PathBuf,
        /// The part of its content.
        place: String,
        /// Its size.
        bytes: usize,
    },
    /// A plain array of two axes that is not marked as an image.
    #[error("{}: shape {shape:?}: two axes; expected three, positions of shape (N, 3), or pixels of an image", path.display())]
    TwoAxes {
        /// The file.
        path: PathBuf,
        /// Values along both.
        shape: Vec<u64>,
    },
    /// A default for something that the input states, or that its format fixes.
    #[error("{}: {name} {value}: {problem}; expected no {name}", path.display())]
    UnusedDefault {
        /// The file.
        path: PathBuf,
        /// The default: `particle mass`, `unit length`, `unit mass`, `unit velocity`, `expansion factor`.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Why it cannot be used.
        problem: String,
    },
    /// A problem of a part of the input, found with its headers. It is an error because that part is needed.
    #[error("{problem}")]
    Deferred {
        /// The message: where, what, and what was expected.
        problem: String,
    },
    /// Blocks without labels whose meaning is not unique.
    #[error(
        "{}: the blocks from byte {offset} on may be masses or two blocks of integers and then masses, by lengths and values; expected the order of the blocks",
        path.display()
    )]
    TwoOrders {
        /// The file.
        path: PathBuf,
        /// Where they begin.
        offset: u64,
    },
    /// A snapshot whose time and redshift do not agree.
    #[error(
        "{}: header: redshift {redshift}, and its time {time} is not the expansion factor {}; expected that time, a second \
         statement of the factor, or a given expansion factor",
        path.display(),
        1.0 / (1.0 + redshift)
    )]
    NoExpansion {
        /// The snapshot.
        path: PathBuf,
        /// Its time.
        time: f64,
        /// Its redshift.
        redshift: f64,
    },
    /// The snapshot is valid but lacks the requested content.
    #[error("{}: {what}", path.display())]
    Absent {
        /// The snapshot.
        path: PathBuf,
        /// The missing content, and the available one.
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

    /// The default `name` is not needed.
    pub fn unused_default(path: &Path, name: &'static str, value: f64, problem: impl Into<String>) -> Self {
        Self::UnusedDefault { path: path.into(), name, value, problem: problem.into() }
    }

    /// The content of `path` at `place` violates the format.
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

    /// The snapshot at `path` is valid but lacks `what`.
    pub fn absent(path: &Path, what: impl Into<String>) -> Self {
        Self::Absent { path: path.into(), what: what.into() }
    }
}

/// Reserves room for `more` values of an input, `place` of the file at `path`.
///
/// # Errors
/// Memory does not suffice.
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
