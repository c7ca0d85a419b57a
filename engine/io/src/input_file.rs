//! Input files: only regular ones, so that no read waits for another program.

use std::fs::{self, File, FileType};
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Opens the regular file at `path`.
///
/// # Errors
/// It does not exist, is not a regular file, or the system refuses.
pub fn open(path: &Path) -> Result<File> {
    let kind = fs::metadata(path)?.file_type();
    if !kind.is_file() {
        let problem = format!("it is {}; expected a regular file", name_of(kind));
        return Err(Error::new(ErrorKind::InvalidInput, problem));
    }
    File::open(path)
}

/// All bytes of the regular file at `path`.
///
/// # Errors
/// Those of [`open`], or memory does not suffice.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The kind of a file that is neither regular nor a folder.
pub fn other_kind(path: &Path) -> Option<&'static str> {
    let kind = fs::metadata(path).ok()?.file_type();
    (!kind.is_file() && !kind.is_dir()).then(|| name_of(kind))
}

/// The number at the end of the name of a folder or file, before its endings: 100 of `plt00100`.
pub(crate) fn number_of(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    let digits = |part: &str| part.len() - part.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let part = name.split('.').rev().find(|part| digits(part) > 0)?;
    part[part.len() - digits(part)..].parse().ok()
}

fn name_of(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a FIFO";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_block_device() || kind.is_char_device() {
            return "a device";
        }
    }
    if kind.is_dir() { "a folder" } else { "something else" }
}
