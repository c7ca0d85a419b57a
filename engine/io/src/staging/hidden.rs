//! Hidden names, under which results are written before they get their own.
//!
//! What this process made under such names stands in a list, so that a process which ends early takes away that and
//! nothing else. The list is of the whole process, as its end is.

use inselberg_comm::{Comm, CommError, Rank};
use parking_lot::{Mutex, RwLock};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::{Builder, NamedTempFile, TempDir};

/// Held by whoever makes something under a hidden name, or gives it its own; taken for good when the program ends
/// early.
static GATE: RwLock<()> = RwLock::new(());

/// What this process made and neither finished nor took away, in the order in which it was made.
static MADE: Mutex<Vec<HiddenEntry>> = Mutex::new(Vec::new());

/// Links that are followed from one name; more are a loop.
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
    /// A folder for results, which stays if anything is in it.
    NewFolders,
}

/// From now on whoever asks for a hidden name, or is [`making`] something, waits, for good: the process is about to
/// end, and what it leaves is being taken away.
pub fn close() {
    std::mem::forget(GATE.write());
}

/// Takes away what this process made and did not finish, and nothing else. For a process that is about to end, after
/// [`close`].
pub fn wipe() {
    // Who holds the list holds it for a moment, unless it waits for memory that there is not.
    let Some(made) = MADE.try_lock_for(Duration::from_secs(1)) else { return };
    for HiddenEntry { path, kind } in made.iter().rev() {
        let _ = match kind {
            EntryKind::File => fs::remove_file(path),
            EntryKind::NewFolders => fs::remove_dir(path),
            // Whoever still writes into a folder may add to it while it is emptied.
            EntryKind::Folder => {
                (0..100).map(|_| fs::remove_dir_all(path)).find(Result::is_ok).unwrap_or(Ok(()))
            }
        };
    }
}

/// The same, but waits for what is being made a second at most: for an end without memory, in which whoever makes it may be
/// stuck.
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

/// A new folder `PREFIX*.part` in a folder, which disappears with all that is in it. Not made where no file could
/// be opened: removing it again takes one.
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

/// Makes a folder for results and those above it, as far as they are not there; over symbolic links.
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
                // Somebody else made it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(place)
    })
}

/// Collective: the hidden file that rank 0 made, as this rank calls it: beside `path`.
///
/// # Errors
/// A rank is lost.
pub fn shared_name(path: &Path, made: Option<&Path>, comm: &Comm) -> Result<PathBuf, CommError> {
    let name = made.and_then(Path::file_name).unwrap_or_default();
    let name = comm.broadcast(Rank(0), name.to_string_lossy().as_bytes())?;
    Ok(path.with_file_name(String::from_utf8_lossy(&name).as_ref()))
}

/// Whether a folder takes new files: tried with one that has no name, where the system has such, so that nothing is
/// left whenever the program ends.
///
/// # Errors
/// Those of the system.
pub fn trial(folder: &Path) -> io::Result<()> {
    tempfile::tempfile_in(folder).map(drop)
}

/// Does what makes a file or folder in a hidden place, or gives it its name: something short, and not within
/// itself.
pub fn making<T>(work: impl FnOnce() -> T) -> T {
    let _open = GATE.read();
    work()
}

/// The file that a name leads to over symbolic links; it need not be there.
///
/// # Errors
/// The links lead nowhere but to each other.
pub fn target_of(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&target) {
            Ok(link) => target = target.parent().unwrap_or(Path::new("")).join(link),
            // No link, or nothing at all.
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("its symbolic links lead to each other; expected a name that leads to a file"))
}

/// A file under a hidden name. Dropped, it disappears.
#[derive(Debug)]
pub struct HiddenFile {
    // Goes before its entry.
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

    /// Gives it its name, replacing what was there.
    ///
    /// # Errors
    /// Those of the system; then it is gone.
    pub fn persist(self, path: &Path) -> io::Result<()> {
        let Self { file, entry } = self;
        let done = making(|| file.persist(path).map(drop).map_err(|failed| failed.error));
        drop(entry);
        done
    }
}

/// A folder under a hidden name. Dropped, it disappears with all that is in it.
#[derive(Debug)]
pub struct HiddenFolder {
    // Goes before its entry.
    folder: TempDir,
    _entry: Registration,
}

impl HiddenFolder {
    /// Its hidden name.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Folders that were made for results. Dropped, those that are empty disappear.
#[derive(Debug)]
#[must_use]
pub struct NewFolders {
    /// The outermost first.
    made: Vec<Registration>,
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        while let Some(entry) = self.made.pop() {
            // One with results in it stays.
            let _ = fs::remove_dir(&entry.0);
        }
    }
}

/// A line of [`MADE`] while it is held.
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
        // The umask takes its bits away, as for any new file.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}
