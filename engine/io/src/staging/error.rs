//! What can go wrong with files that are written, each as one line: which file, where, what was expected.

use std::path::{Path, PathBuf};

/// Result of writing a file.
pub type WriteResult<T> = Result<T, WriteError>;

/// Why a file could not be written. The final name is untouched whenever one of these is returned, but for
/// [`WriteError::Partly`].
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The operating system refused.
    #[error("{}: {action}: {source}", path.display())]
    Io {
        /// The file asked for.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The name cannot be a file to write.
    #[error("{}: {problem}; expected {expected}", path.display())]
    Target {
        /// The name asked for.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What would do.
        expected: String,
    },
    /// What was to be written does not fit the format.
    #[error("{}: {place}: {problem}; expected {expected}", path.display())]
    Content {
        /// The file asked for.
        path: PathBuf,
        /// Table, column or attribute.
        place: String,
        /// What was found.
        problem: String,
        /// What should have been there.
        expected: String,
    },
    /// A format library refused.
    #[error("{}: {place}: {problem}", path.display())]
    Library {
        /// The file asked for.
        path: PathBuf,
        /// Table, column or attribute.
        place: String,
        /// The library's reason.
        problem: String,
    },
    /// One of several files could not get its name, and some have theirs: the only error that leaves something.
    #[error("{source}; already in place: {}", list(kept))]
    Partly {
        /// Files that have their names.
        kept: Vec<PathBuf>,
        /// Why the next one has not.
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

    /// `path` is no name under which a file can be written.
    pub fn target(path: &Path, problem: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Target { path: path.into(), problem: problem.into(), expected: expected.into() }
    }

    /// What would be written at `place` of `path` cannot be.
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
