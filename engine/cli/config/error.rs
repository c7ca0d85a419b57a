//! Why a configuration cannot be used. Each message is one line.

use super::Origin;
use std::path::PathBuf;

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The configuration file cannot be read.
    #[error("{}: reading the configuration: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The path is not a configuration file.
    #[error("{}: reading the configuration: {problem}; expected a text file of at most 4 MiB", path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// The configuration file is not TOML.
    #[error("{}:{line}: not valid TOML: {problem}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The message of the parser.
        problem: String,
    },
    /// An unknown key.
    #[error("{}:{line}: unknown key `{key}`{place}{hint}", path.display())]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The key.
        key: String,
        /// ` in [table]`, or empty at the top.
        place: String,
        /// `; did you mean ...?`, or empty.
        hint: String,
    },
    /// An invalid value.
    #[error("{origin}: `{value}` for {option}; expected {expected}")]
    Value {
        /// Flag or file and line.
        origin: Origin,
        /// The option's long name.
        option: &'static str,
        /// The given text.
        value: String,
        /// A valid name.
        expected: String,
    },
    /// Two options of which only one can be given.
    #[error("{origin}: given together with --{other}; expected one of --{option} and --{other}")]
    Conflict {
        /// Flag or file and line.
        origin: Origin,
        /// The option's long name.
        option: &'static str,
        /// That of the other.
        other: String,
    },
    /// A required option is missing.
    #[error("{command} needs {what}; give {how}")]
    Missing {
        /// The command.
        command: String,
        /// The option.
        what: String,
        /// The flag and the key.
        how: String,
    },
}
