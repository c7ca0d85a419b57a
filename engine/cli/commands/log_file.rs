//! The file of `--log`, which must not overwrite another file.

use super::fault::CommandError;
use super::log::MARK;
use inselberg_io::staging;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::path::Path;

/// Opens the file for a log: new, empty, or a log, which is continued.
pub fn opened(path: &Path) -> Result<File, CommandError> {
    staging::check_writable(path)?;
    let failed = |error| CommandError::about(path, error);
    let mut first = Vec::new();
    if path.exists() {
        let file = File::open(path).map_err(failed)?;
        file.take(MARK.len() as u64).read_to_end(&mut first).map_err(failed)?;
    }
    if !first.is_empty() && first != MARK.as_bytes() {
        let problem = "is not a log of inselberg; expected a new name, or a log to continue";
        return Err(CommandError::about(path, problem));
    }
    OpenOptions::new().create(true).append(true).open(path).map_err(failed)
}
