//! A file as a slice of bytes, read by the system where it is touched.
#![allow(unsafe_code)]

use crate::io::{ReadError, ReadResult};
use memmap2::Mmap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A file mapped for reading; its pages are in memory only while something looks at them.
pub(super) struct Mapped {
    path: PathBuf,
    map: Mmap,
}

impl Mapped {
    /// Maps `path`.
    ///
    /// # Errors
    /// When the system cannot open or map it.
    pub(super) fn open(path: &Path) -> ReadResult<Self> {
        let file = File::open(path).map_err(|e| ReadError::io(path, "opening", e))?;
        // SAFETY: the map is read-only and only this struct holds it; a finished output is not
        // rewritten while it is read, which is the guard every reader of mapped files relies on.
        let map = unsafe { Mmap::map(&file) }.map_err(|e| ReadError::io(path, "mapping", e))?;
        Ok(Self { path: path.into(), map })
    }

    /// The whole content.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Where it is, for messages.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}
