//! Why a catalogue cannot be read. Each message is one line: which file, where, what was expected.

use std::path::{Path, PathBuf};

/// Result of reading a catalogue back.
pub type CatalogueReadResult<T> = Result<T, CatalogueReadError>;

/// Why a file could not be read as a catalogue.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueReadError {
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
    /// No reader takes the name, or this build lacks it.
    #[error("{}: {problem}; expected {expected}", path.display())]
    Target {
        /// The requested name.
        path: PathBuf,
        /// The problem.
        problem: String,
        /// A valid name.
        expected: String,
    },
    /// The content of the file violates the format.
    #[error("{}: {place}: {problem}; expected {expected}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Table, column, attribute or line.
        place: String,
        /// The actual content.
        problem: String,
        /// The expected content.
        expected: String,
    },
}

impl CatalogueReadError {
    /// Wraps a system error.
    pub fn io(path: &Path, action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { path, action, source }
    }

    pub(crate) fn content(
        path: &Path,
        place: impl Into<String>,
        problem: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        let (place, problem, expected) = (place.into(), problem.into(), expected.into());
        Self::Content { path: path.into(), place, problem, expected }
    }
}
