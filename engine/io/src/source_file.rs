//! A file with reads at any offset.
//!
//! Files are not mapped into memory: reading a mapped file that was truncated ends the process.

use crate::input_file;
use crate::{ReadError, ReadResult};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A file that is open for reading.
#[derive(Debug)]
pub(crate) struct SourceFile {
    path: PathBuf,
    file: File,
    len: usize,
}

impl SourceFile {
    /// Opens `path`. The reader of a piece holds one pass of the [limit](crate::open_files) for all its
    /// files.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn open(path: &Path) -> ReadResult<Self> {
        let file = input_file::open(path).map_err(|e| ReadError::io(path, "opening", e))?;
        Self::of_open(path, file)
    }

    /// An open file with the content of `path`, which messages name.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn of_open(path: &Path, file: File) -> ReadResult<Self> {
        let meta = file.metadata().map_err(|e| ReadError::io(path, "opening", e))?;
        Ok(Self { path: path.into(), file, len: meta.len() as usize })
    }

    /// Its length in bytes when it was opened.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Its path, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Fills `bytes` from offset `at`.
    ///
    /// # Errors
    /// Those of the system, or the file ends before.
    pub(crate) fn read_at(&self, bytes: &mut [u8], at: usize) -> ReadResult<()> {
        read_exact_at(&self.file, bytes, at as u64).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => {
                let place = format!("bytes {at} to {}", at + bytes.len());
                let problem = format!("the file ends before, but had {} bytes when it was opened", self.len);
                ReadError::content(&self.path, place, problem, "a file that stays as it is while it is read")
            }
            _ => ReadError::io(&self.path, "reading", error),
        })
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, at)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            n => (bytes, at) = (&mut bytes[n..], at + n as u64),
        }
    }
    Ok(())
}
