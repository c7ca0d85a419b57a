//! Why a file cannot be written. Each message is one line: which file, where, what was expected.

use crate::ReadError;
use std::path::{Path, PathBuf};

/// Result of writing a file.
pub type WriteResult<T> = Result<T, WriteError>;

/// Why a file could not be written. The file under the final name is unchanged, except after
/// [`WriteError::Partly`].
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The operating system refused.
    #[error("{}: {action}: {source}", path.display())]
    Io {
        /// The requested file.
        path: PathBuf,
        /// The refused action.
        action: &'static str,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The name cannot be a file to write.
    #[error("{}: {problem}; expected {expected}", path.display())]
    Target {
        /// The requested name.
        path: PathBuf,
        /// The problem.
        problem: String,
        /// A valid name.
        expected: String,
    },
    /// The content does not fit the format.
    #[error("{}: {place}: {problem}; expected {expected}", path.display())]
    Content {
        /// The requested file.
        path: PathBuf,
        /// Table, column or attribute.
        place: String,
        /// The actual content.
        problem: String,
        /// The expected content.
        expected: String,
    },
    /// A format library refused.
    #[error("{}: {place}: {problem}", path.display())]
    Library {
        /// The requested file.
        path: PathBuf,
        /// Table, column or attribute.
        place: String,
        /// The library's reason.
        problem: String,
    },
    /// An input that the content comes from could not be read.
    #[error(transparent)]
    Input(Box<ReadError>),
    /// One of several files could not get its name after others did. Only this error leaves results.
    #[error("{source}; already in place: {}", list(kept))]
    Partly {
        /// Files that have their names.
        kept: Vec<PathBuf>,
        /// The error of the next file.
        source: Box<WriteError>,
    },
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

impl WriteError {
    /// Wraps a system error: `map_err(WriteError::io(path, "renaming"))`.
    pub fn io(path: &Path, action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { path, action, source }
    }

    /// No file can be written under the name `path`.
    pub fn target(path: &Path, problem: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Target { path: path.into(), problem: problem.into(), expected: expected.into() }
    }

    /// The content at `place` of `path` does not fit the format.
    pub fn content(
        path: &Path,
        place: impl Into<String>,
        problem: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        let (place, problem, expected) = (place.into(), problem.into(), expected.into());
        Self::Content { path: path.into(), place, problem, expected }
    }
}
