//! Ctrl-C and SIGTERM: results are written under hidden names first, and those are taken away.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A folder and the beginning of the hidden names that this run may leave in it.
struct Trace {
    folder: PathBuf,
    prefix: String,
    before: BTreeSet<OsString>,
}

/// From now on a signal to end removes the half-written forms of these files, and of any file in
/// these folders, before the program ends as the signal would have ended it.
pub fn guard(files: &[&Path], folders: &[&Path]) {
    let of_file = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Trace::new(super::preflight::parent(path), format!(".{name}."))
    };
    let traces = files.iter().map(|f| of_file(f)).chain(folders.iter().map(|f| Trace::new(f, ".".into())));
    listen(traces.collect());
}

impl Trace {
    fn new(folder: &Path, prefix: String) -> Self {
        let mut trace = Self { folder: folder.into(), prefix, before: BTreeSet::new() };
        trace.before = trace.hidden().collect();
        trace
    }

    fn hidden(&self) -> impl Iterator<Item = OsString> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.map(|e| e.file_name()).filter(|name| {
            let name = name.to_string_lossy();
            name.starts_with(&self.prefix) && name.ends_with(".part")
        })
    }

    fn wipe(&self) {
        for name in self.hidden().filter(|n| !self.before.contains(n)) {
            let _ = std::fs::remove_file(self.folder.join(name));
        }
    }
}

#[cfg(unix)]
fn listen(traces: Vec<Trace>) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            traces.iter().for_each(Trace::wipe);
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

#[cfg(not(unix))]
fn listen(_traces: Vec<Trace>) {}
