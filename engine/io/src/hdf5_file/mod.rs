//! HDF5 files with any name, and checks of their claimed content.
//!
//! The binding of HDF5 takes names in UTF-8 only. On Linux a file with another name is opened first, and the
//! library gets the name of the open file under /proc.

mod checked;
mod claims;
mod virtual_files;

pub use checked::{DatasetRows, Hdf5File};
pub use claims::{check_attribute, check_claim};

use crate::input_file;
use ::hdf5::{Error, File, Result};
use std::fs::{File as SystemFile, OpenOptions};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// How often to try a locked file, and the pause between two tries.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(25);

/// Whether the regular file at `path` begins as HDF5.
pub fn is_hdf5(path: &Path) -> bool {
    const MAGIC: &[u8; 8] = b"\x89HDF\r\n\x1a\n";
    let mut start = [0; 8];
    let read = input_file::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut start));
    read.is_ok() && start == *MAGIC
}

/// Opens the regular file at `path` for reading.
///
/// The library locks files that it opens. A process that starts while a file is open keeps the lock until it
/// ends. So this function waits for a locked file, up to five seconds.
///
/// # Errors
/// It is not a regular file, the system refuses, it stays locked, or it is not HDF5.
pub fn open(path: &Path) -> Result<File> {
    let file = input_file::open(path).map_err(|e| Error::Internal(e.to_string()))?;
    let name = Utf8Name::from_open(path, file);
    for _ in 1..TRIES {
        match File::open(name.path()) {
            Err(error) if error.to_string().contains("unable to lock file") => sleep(PAUSE),
            opened => return opened,
        }
    }
    File::open(name.path())
}

/// A name in UTF-8 for a file, valid while this value lives.
pub struct Utf8Name {
    name: PathBuf,
    _open: Option<SystemFile>,
}

impl Utf8Name {
    /// For an existing file. It is opened with `options` only if its own name is not UTF-8.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new(path: &Path, options: &OpenOptions) -> std::io::Result<Self> {
        match path.to_str() {
            Some(_) => Ok(Self { name: path.into(), _open: None }),
            None => Ok(Self::from_open(path, options.open(path)?)),
        }
    }

    fn from_open(path: &Path, open: SystemFile) -> Self {
        let name = if path.to_str().is_some() { path.into() } else { name_of_open(path, &open) };
        Self { name, _open: Some(open) }
    }

    /// The name.
    pub fn path(&self) -> &Path {
        &self.name
    }
}

#[cfg(target_os = "linux")]
fn name_of_open(_: &Path, open: &SystemFile) -> PathBuf {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", open.as_raw_fd()).into()
}

/// Other systems have no such name: the binding then refuses the file's own name with an error.
#[cfg(not(target_os = "linux"))]
fn name_of_open(path: &Path, _: &SystemFile) -> PathBuf {
    path.into()
}
