//! The place where a value was given.

use std::fmt;
use std::path::PathBuf;

/// The place of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// On the command line, under this name.
    Flag(String),
    /// In a file, on this line.
    File(PathBuf, usize),
    /// Nowhere: the default of this option.
    Default(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(label) => f.write_str(label),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Default(name) => write!(f, "default of --{name}"),
        }
    }
}
