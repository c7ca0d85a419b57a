//! What can go wrong with catalogues that are read, each as one line: which file, where, what was expected.

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
        /// What was being done.
        action: &'static str,
        /// The system's reason.
        source: std::io::Error,
    },
    /// No reader knows the name, or this build has none for it.
    #[error("{}: {problem}; expected {expected}", path.display())]
    Target {
        /// The name asked for.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What would do.
        expected: String,
    },
    /// The file is there but its content is not what the format asks for.
    #[error("{}: {place}: {problem}; expected {expected}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Table, column, attribute or line.
        place: String,
        /// What was found.
        problem: String,
        /// What should have been there.
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
