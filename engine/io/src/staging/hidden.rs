//! Hidden names, under which results are written before they get their final ones.
//!
//! A list has all unfinished files of this process, so a process that ends early removes these and nothing
//! else. The list is a static because signal handlers and the allocator, which end the process, can receive
//! no argument. A host that never calls [`wipe`] only pays one entry per unfinished file.

use inselberg_comm::{Comm, CommError, Rank};
use parking_lot::{Mutex, RwLock};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::{Builder, NamedTempFile, TempDir};

/// Read-locked while a file is created under a hidden name or renamed; write-locked permanently when the
/// program ends early.
static GATE: RwLock<()> = RwLock::new(());

/// The unfinished files and folders of this process, in the order of their creation.
static MADE: Mutex<Vec<HiddenEntry>> = Mutex::new(Vec::new());

/// The most links to follow from one name; more are a loop.
const MOST_LINKS: usize = 40;

#[derive(Debug)]
struct HiddenEntry {
    path: PathBuf,
    kind: EntryKind,
}

#[derive(Debug, Clone, Copy)]
enum EntryKind {
    /// A hidden file.
    File,
    /// A hidden folder with all that is in it.
    Folder,
    /// A new folder for results, which stays unless it is empty.
    NewFolders,
}

/// From now on every call for a hidden name, and [`making`], blocks forever: the process is about to end, and
/// its unfinished files are being removed.
pub fn close() {
    std::mem::forget(GATE.write());
}

/// Removes the unfinished files of this process and nothing else. For a process that is about to end, after
/// [`close`].
pub fn wipe() {
    // The list is locked only briefly, unless its holder waits for memory.
    let Some(made) = MADE.try_lock_for(Duration::from_secs(1)) else { return };
    for HiddenEntry { path, kind } in made.iter().rev() {
        let _ = match kind {
            EntryKind::File => fs::remove_file(path),
            EntryKind::NewFolders => fs::remove_dir(path),
            // A thread that still writes may add files while the folder is emptied.
            EntryKind::Folder => {
                (0..100).map(|_| fs::remove_dir_all(path)).find(Result::is_ok).unwrap_or(Ok(()))
            }
        };
    }
}

/// As [`close`], but waits at most one second for files that are being created: without memory their thread
/// may be stuck.
pub fn close_soon() {
    if let Some(closed) = GATE.try_write_for(Duration::from_secs(1)) {
        std::mem::forget(closed);
    }
}

/// A new file `PREFIX*.part` in a folder, which disappears if it is not given its final name.
///
/// # Errors
/// Those of the system.
pub fn file(prefix: &str, folder: &Path) -> io::Result<HiddenFile> {
    making(|| {
        let file = new_file(prefix, folder)?;
        Ok(HiddenFile { entry: Registration::new(file.path(), EntryKind::File), file })
    })
}

/// A new folder `PREFIX*.part` in a folder, which disappears with its content. It is not created if no file
/// can be opened, since removing it needs one.
///
/// # Errors
/// Those of the system.
pub fn folder(prefix: &str, folder: &Path) -> io::Result<HiddenFolder> {
    making(|| {
        trial(folder)?;
        let folder = Builder::new().prefix(prefix).suffix(".part").tempdir_in(folder)?;
        Ok(HiddenFolder { _entry: Registration::new(folder.path(), EntryKind::Folder), folder })
    })
}

/// Creates a folder for results and its missing parents; follows symbolic links.
///
/// # Errors
/// Those of the system.
pub fn place(path: &Path) -> io::Result<NewFolders> {
    let path = &target_of(path)?;
    making(|| {
        let absent = path.ancestors().take_while(|p| !p.as_os_str().is_empty() && !p.exists());
        let absent: Vec<&Path> = absent.collect();
        let mut place = NewFolders { made: Vec::new() };
        for path in absent.into_iter().rev() {
            match fs::create_dir(path) {
                Ok(()) => place.made.push(Registration::new(path, EntryKind::NewFolders)),
                // Another process created it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(place)
    })
}

/// Collective: the path of rank 0's hidden file on this rank, beside `path`.
///
/// # Errors
/// A rank is lost.
pub fn shared_name(path: &Path, made: Option<&Path>, comm: &Comm) -> Result<PathBuf, CommError> {
    // Only what rank 0 sends counts.
    let name = match made {
        Some(made) => made.file_name().expect("a hidden file has a name"),
        None => std::ffi::OsStr::new(""),
    };
    let name = comm.broadcast(Rank(0), name.to_string_lossy().as_bytes())?;
    Ok(path.with_file_name(String::from_utf8_lossy(&name).as_ref()))
}

/// Whether new files can be created in a folder. Tried with a nameless file if the system has these, so that
/// nothing remains.
///
/// # Errors
/// Those of the system.
pub fn trial(folder: &Path) -> io::Result<()> {
    tempfile::tempfile_in(folder).map(drop)
}

/// Runs `work`, which creates or renames a file or folder. It must be short and must not call itself.
pub fn making<T>(work: impl FnOnce() -> T) -> T {
    let _open = GATE.read();
    work()
}

/// The target of a name after all symbolic links; it need not exist.
///
/// # Errors
/// The links form a loop.
pub fn target_of(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&target) {
            Ok(link) => target = target.parent().unwrap_or(Path::new("")).join(link),
            // Not a link, or nothing there.
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("its symbolic links lead to each other; expected a name that leads to a file"))
}

/// A file under a hidden name. Dropping it removes the file.
#[derive(Debug)]
pub struct HiddenFile {
    // Dropped before its entry.
    file: NamedTempFile,
    entry: Registration,
}

impl HiddenFile {
    /// Its hidden name.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The open file.
    pub fn as_file(&self) -> &File {
        self.file.as_file()
    }

    /// Gives the file its final name, replacing any file there.
    ///
    /// # Errors
    /// Those of the system; the file is then removed.
    pub fn persist(self, path: &Path) -> io::Result<()> {
        let Self { file, entry } = self;
        let done = making(|| file.persist(path).map(drop).map_err(|failed| failed.error));
        drop(entry);
        done
    }
}

/// A folder under a hidden name. Dropping it removes the folder and its content.
#[derive(Debug)]
pub struct HiddenFolder {
    // Dropped before its entry.
    folder: TempDir,
    _entry: Registration,
}

impl HiddenFolder {
    /// Its hidden name.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// New folders for results. Dropping them removes the empty ones.
#[derive(Debug)]
#[must_use]
pub struct NewFolders {
    /// The outermost first.
    made: Vec<Registration>,
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        while let Some(entry) = self.made.pop() {
            // A folder with results stays.
            let _ = fs::remove_dir(&entry.0);
        }
    }
}

/// An entry of [`MADE`] while this value lives.
#[derive(Debug)]
struct Registration(PathBuf);

impl Registration {
    fn new(path: &Path, kind: EntryKind) -> Self {
        MADE.lock().push(HiddenEntry { path: path.into(), kind });
        Self(path.into())
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        MADE.lock().retain(|made| made.path != self.0);
    }
}

fn new_file(prefix: &str, folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(prefix).suffix(".part");
    #[cfg(unix)]
    {
        // The umask applies, as for any new file.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}
