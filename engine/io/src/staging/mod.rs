//! Complete files or none: written in the same folder under a hidden name, flushed to the disk, then renamed.
//!
//! An error, a full disk or a kill before the rename leaves the final name unchanged, including an older
//! file. An error leaves nothing else; a kill leaves at most a hidden `.name.*.part` file, which nothing
//! reads. A symbolic link stays a link: its target is replaced or created.
//!
//! Files that belong together are [`Staged`] one by one and get their names at the end.

mod background;
mod error;
pub mod hidden;
pub mod mark;

pub(crate) use background::BackgroundSync;
pub use error::{WriteError, WriteResult};

use crate::staging::hidden::{HiddenFile, NewFolders};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Complete files under hidden names, ready to take their final ones together.
///
/// Dropped without [`Staged::commit`], they disappear.
#[derive(Debug, Default)]
#[must_use]
pub struct Staged {
    // Go before their folders.
    files: Vec<Pending>,
    places: Vec<NewFolders>,
}

/// A file under a hidden name.
#[derive(Debug)]
pub(crate) struct Pending {
    file: HiddenFile,
    /// The requested name.
    path: PathBuf,
    /// The target of that name.
    target: PathBuf,
}

/// Whether `path` could be written now; checked before a long run.
///
/// # Errors
/// The folder does not exist or takes no new file, or `path` is something that is not a plain file.
pub fn check_writable(path: &Path) -> WriteResult<()> {
    let target = resolve(path)?;
    hidden::trial(folder_of(&target)).map_err(|error| {
        // tempfile adds its own random name to the message; the system's reason is enough.
        let reason = error.get_ref().and_then(|e| e.source()).map(ToString::to_string);
        let error = reason.map_or(error, std::io::Error::other);
        WriteError::io(path, "creating a file in its folder")(error)
    })
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
) -> WriteResult<Staged> {
    let pending = begin(path)?;
    let mut out = BufWriter::with_capacity(1 << 18, pending.file.as_file());
    fill(&mut out).and_then(|()| out.flush()).map_err(WriteError::io(path, "writing"))?;
    drop(out);
    Ok(pending.synced()?.into())
}

/// For libraries that open their file by name: `fill` gets the hidden name.
///
/// # Errors
/// As [`write_file`].
pub(crate) fn stage_path(path: &Path, fill: impl FnOnce(&Path) -> WriteResult<()>) -> WriteResult<Pending> {
    let pending = begin(path)?;
    fill(pending.file.path())?;
    pending.synced()
}

impl Staged {
    /// Adds files, which get their names after the present ones.
    pub fn extend(&mut self, other: Self) {
        self.files.extend(other.files);
        self.places.extend(other.places);
    }

    /// Adds a folder that was made for the files.
    pub fn in_place(mut self, place: NewFolders) -> Self {
        self.places.push(place);
        self
    }

    /// The names that the files will get, after all symbolic links.
    pub fn targets(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|file| file.target.as_path())
    }

    /// Gives each file its final name, in their order, replacing what was there.
    ///
    /// # Errors
    /// The system refuses a rename. The files before it have their names, which the error lists; the others
    /// are removed.
    pub fn commit(self) -> WriteResult<()> {
        let mut kept: Vec<PathBuf> = Vec::new();
        for pending in self.files {
            let path = pending.path.clone();
            match pending.commit() {
                Ok(()) => kept.push(path),
                Err(error) if kept.is_empty() => return Err(error),
                Err(error) => return Err(WriteError::Partly { kept, source: Box::new(error) }),
            }
        }
        Ok(())
    }
}

impl From<Pending> for Staged {
    fn from(file: Pending) -> Self {
        Self { files: vec![file], places: Vec::new() }
    }
}

impl Pending {
    fn commit(self) -> WriteResult<()> {
        let Self { file, path, target } = self;
        file.persist(&target).map_err(WriteError::io(&path, "renaming into place"))?;
        sync_folder(&target);
        Ok(())
    }

    /// The hidden name, beside the file that it becomes.
    pub fn hidden(&self) -> &Path {
        self.file.path()
    }

    /// Flushes all data written so far to the disk.
    pub fn synced(self) -> WriteResult<Self> {
        // Opened anew by name: a library may have replaced the content behind our handle.
        let file = File::options().write(true).open(self.file.path());
        file.and_then(|f| f.sync_all()).map_err(WriteError::io(&self.path, "flushing to disk"))?;
        Ok(self)
    }
}

fn begin(path: &Path) -> WriteResult<Pending> {
    let target = resolve(path)?;
    let prefix = format!(".{}.", target.file_name().expect("a resolved path names a file").to_string_lossy());
    let file = hidden::file(&prefix, folder_of(&target))
        .map_err(WriteError::io(path, "creating a file in its folder"))?;
    Ok(Pending { file, path: path.into(), target })
}

/// The file that `path` leads to, whose folder is there.
pub fn resolve(path: &Path) -> WriteResult<PathBuf> {
    let is_name = |path: &Path| path.file_name().map(OsStr::is_empty) == Some(false);
    let target = hidden::target_of(path).map_err(WriteError::io(path, "following it"))?;
    if !is_name(path) || !is_name(&target) {
        return Err(WriteError::target(path, "not a file name", "the name of a file to write"));
    }
    match fs::metadata(&target) {
        Ok(m) if m.is_dir() => return Err(WriteError::target(path, "is a folder", "the name of a file")),
        Ok(m) if !m.is_file() => {
            return Err(WriteError::target(path, "is not a plain file", "a new name or a plain file"));
        }
        _ => {}
    }
    let folder = folder_of(&target);
    if !folder.is_dir() {
        let problem = format!("there is no folder {}", folder.display());
        return Err(WriteError::target(path, problem, "a name in a folder that exists"));
    }
    Ok(target)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the rename itself durable, if folders can be flushed.
fn sync_folder(path: &Path) {
    if cfg!(unix)
        && let Ok(folder) = File::open(folder_of(path))
    {
        // Some network file systems refuse this on folders; the file is complete either way.
        let _ = folder.sync_all();
    }
}
