//! Names of files for the binding of HDF5, which takes UTF-8 alone.

use std::fs::{File, OpenOptions};
use std::io::Result;
use std::path::{Path, PathBuf};

/// A file by a name in UTF-8, for as long as this is held.
pub struct Utf8Name {
    name: PathBuf,
    _open: Option<File>,
}

impl Utf8Name {
    /// Of a file that is there, opened as `options` say where its own name does not do.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new(path: &Path, options: &OpenOptions) -> Result<Self> {
        if path.to_str().is_some() {
            return Ok(Self { name: path.into(), _open: None });
        }
        let open = options.open(path)?;
        Ok(Self { name: by_number(&open).unwrap_or_else(|| path.into()), _open: Some(open) })
    }

    /// The name.
    pub fn path(&self) -> &Path {
        &self.name
    }
}

#[cfg(target_os = "linux")]
fn by_number(open: &File) -> Option<PathBuf> {
    use std::os::fd::AsRawFd;
    Some(format!("/proc/self/fd/{}", open.as_raw_fd()).into())
}

/// Elsewhere HDF5 says that it cannot.
#[cfg(not(target_os = "linux"))]
fn by_number(_: &File) -> Option<PathBuf> {
    None
}
