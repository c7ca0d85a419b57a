//! Why catalogues cannot be linked.

use inselberg_comm::CommError;
use inselberg_comm::agree::AgreeError;
use inselberg_io::ReadError;

/// Why catalogues cannot be linked.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// A catalogue cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A catalogue is not fit for a tree, or does not fit the others.
    #[error("{name}: {problem}; expected {expected}")]
    Catalogue {
        /// The catalogue.
        name: String,
        /// What is wrong.
        problem: String,
        /// What would be right.
        expected: String,
    },
    /// A parameter is out of range.
    #[error("{name} {value}: expected {expected}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: u64,
        /// What would be right.
        expected: String,
    },
    /// Another rank has an error of its own.
    #[error("{0}")]
    Elsewhere(String),
    /// Another rank failed, or could not be reached.
    #[error(transparent)]
    Comm(#[from] CommError),
}

impl TreeError {
    /// What is wrong with a catalogue.
    pub fn of(name: &str, problem: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Catalogue { name: name.into(), problem: problem.into(), expected: expected.into() }
    }
}

impl From<AgreeError<TreeError>> for TreeError {
    fn from(error: AgreeError<TreeError>) -> Self {
        match error {
            AgreeError::Here(error) => error,
            AgreeError::Elsewhere { rank, message } => Self::Elsewhere(format!("{rank}: {message}")),
            AgreeError::Comm(error) => Self::Comm(error),
        }
    }
}
