//! Hidden names, under which results are written before they get their own.

use parking_lot::RwLock;
use std::io;
use std::path::Path;
use tempfile::{Builder, NamedTempFile, TempDir};

/// Held by whoever makes something under a hidden name, or gives it its own; taken for good when the program ends
/// early.
static GATE: RwLock<()> = RwLock::new(());

/// From now on whoever asks for a hidden name, or is [`making`] something, waits, for good: the process is about to
/// end, and what it leaves is being taken away.
pub fn close() {
    std::mem::forget(GATE.write());
}

/// A new file `PREFIX*.part` in a folder, which disappears if it is not given its final name.
///
/// # Errors
/// Those of the system.
pub fn file(prefix: &str, folder: &Path) -> io::Result<NamedTempFile> {
    making(|| new_file(prefix, folder))
}

/// A new folder `PREFIX*.part` in a folder, which disappears with all that is in it.
///
/// # Errors
/// Those of the system.
pub fn folder(prefix: &str, folder: &Path) -> io::Result<TempDir> {
    making(|| Builder::new().prefix(prefix).suffix(".part").tempdir_in(folder))
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
