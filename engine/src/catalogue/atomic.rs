//! Whole files or none: written beside the final name, flushed to the disk, then renamed.
//!
//! Whatever happens before the rename (an error, a full disk, a kill) leaves the final name as it
//! was, an older file included. After an error nothing else is left; after a kill at most a hidden
//! `.name.*.part` file is, which nothing ever reads.

use super::{WriteError, WriteResult};
use crate::hidden;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A complete file under a hidden name, ready to take its final one.
///
/// Dropped without [`Pending::commit`], it disappears.
#[derive(Debug)]
pub struct Pending {
    file: NamedTempFile,
    path: PathBuf,
}

/// Whether `path` could be written now, asked before a long run rather than after it.
///
/// # Errors
/// The folder does not exist or takes no new file, or `path` is something that is not a plain file.
pub fn check_writable(path: &Path) -> WriteResult<()> {
    hidden::trial(place(path)?.1).map_err(WriteError::io(path, "creating a file in its folder"))
}

/// Writes the whole of `path` through `fill`.
///
/// # Errors
/// Those of [`check_writable`], of `fill`, and of the system while flushing and renaming; the old
/// content of `path` is then still there.
pub fn write_file(path: &Path, fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> WriteResult<()> {
    stage_file(path, fill)?.commit()
}

/// As [`write_file`], but leaves the rename to the caller: for files that belong together.
///
/// # Errors
/// As [`write_file`].
pub fn stage_file(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> WriteResult<Pending> {
    let pending = begin(path)?;
    let mut out = BufWriter::with_capacity(1 << 18, pending.file.as_file());
    fill(&mut out).and_then(|()| out.flush()).map_err(WriteError::io(path, "writing"))?;
    drop(out);
    pending.synced()
}

/// As [`stage_file`] for libraries that open their file by name: `fill` gets the hidden name.
///
/// # Errors
/// As [`write_file`].
pub fn stage_path(path: &Path, fill: impl FnOnce(&Path) -> WriteResult<()>) -> WriteResult<Pending> {
    let pending = begin(path)?;
    fill(pending.file.path())?;
    pending.synced()
}

impl Pending {
    /// Gives the file its final name, replacing what was there.
    ///
    /// # Errors
    /// The system refuses the rename; the old file is then still there.
    pub fn commit(self) -> WriteResult<()> {
        let Self { file, path } = self;
        hidden::making(|| file.persist(&path))
            .map_err(|e| WriteError::io(&path, "renaming into place")(e.error))?;
        sync_folder(&path)
    }

    /// The hidden name, beside the final one.
    pub(super) fn hidden(&self) -> &Path {
        self.file.path()
    }

    /// With all that was written to it by now on the disk.
    pub(super) fn synced(self) -> WriteResult<Self> {
        // Opened anew by name: a library may have replaced the content behind our handle.
        let file = File::options().write(true).open(self.file.path());
        file.and_then(|f| f.sync_all()).map_err(WriteError::io(&self.path, "flushing to disk"))?;
        Ok(self)
    }
}

fn begin(path: &Path) -> WriteResult<Pending> {
    let (name, folder) = place(path)?;
    let prefix = format!(".{}.", name.to_string_lossy());
    let file =
        hidden::file(&prefix, folder).map_err(WriteError::io(path, "creating a file in its folder"))?;
    Ok(Pending { file, path: path.into() })
}

/// The name of a file to be and its folder, which is there.
fn place(path: &Path) -> WriteResult<(&OsStr, &Path)> {
    let name = path
        .file_name()
        .ok_or_else(|| WriteError::target(path, "not a file name", "the name of a file to write"))?;
    match fs::metadata(path) {
        Ok(m) if m.is_dir() => return Err(WriteError::target(path, "is a folder", "the name of a file")),
        Ok(m) if !m.is_file() => {
            return Err(WriteError::target(path, "is not a plain file", "a new name or a plain file"));
        }
        _ => {}
    }
    let folder = folder_of(path);
    if !folder.is_dir() {
        let problem = format!("there is no folder {}", folder.display());
        return Err(WriteError::target(path, problem, "a name in a folder that exists"));
    }
    Ok((name, folder))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the rename itself durable where folders can be flushed.
fn sync_folder(path: &Path) -> WriteResult<()> {
    if cfg!(unix)
        && let Ok(folder) = File::open(folder_of(path))
    {
        // Some network file systems refuse this on folders; the file is complete either way.
        let _ = folder.sync_all();
    }
    Ok(())
}
