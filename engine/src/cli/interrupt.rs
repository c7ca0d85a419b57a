//! Ctrl-C and SIGTERM: results are written under hidden names first, and those are taken away.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder and the beginning of the hidden names that this run may leave in it.
struct Trace {
    folder: PathBuf,
    /// Whether the run makes the folder.
    is_new: bool,
    prefix: String,
    /// What its names have between that and the random part; empty for anything.
    ending: String,
    before: BTreeSet<OsString>,
}

/// What this run may leave half written.
#[derive(Clone)]
pub struct Traces(Arc<Vec<Trace>>);

impl Traces {
    /// Removes it.
    pub fn wipe(&self) {
        self.0.iter().for_each(Trace::wipe);
    }
}

/// From now on a signal to end removes the half-written forms of these files, and of any file in
/// these folders, before the program ends as the signal would have ended it.
pub fn guard(files: &[&Path], folders: &[&Path]) -> Traces {
    guard_with(files, folders, || ())
}

/// The same, and does `first` before.
pub fn guard_with(files: &[&Path], folders: &[&Path], first: fn()) -> Traces {
    let of_file = |path: &Path| {
        let part = |part: Option<&OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
        // `c.csv` is written with `c.tree.csv` and others beside it.
        let (start, ending) = (format!(".{}.", part(path.file_stem())), part(path.extension()));
        Trace::new(super::preflight::parent(path), start, format!("{ending}."))
    };
    let traces = files
        .iter()
        .map(|f| of_file(f))
        .chain(folders.iter().map(|f| Trace::new(f, ".".into(), String::new())));
    let traces = Traces(Arc::new(traces.collect()));
    listen(traces.clone(), first);
    traces
}

impl Trace {
    fn new(folder: &Path, prefix: String, ending: String) -> Self {
        let is_new = !folder.exists();
        let mut trace = Self { folder: folder.into(), is_new, prefix, ending, before: BTreeSet::new() };
        trace.before = trace.hidden().collect();
        trace
    }

    fn hidden(&self) -> impl Iterator<Item = OsString> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.map(|e| e.file_name()).filter(|name| {
            let name = name.to_string_lossy();
            let rest = name.strip_prefix(&self.prefix).and_then(|n| n.strip_suffix(".part"));
            rest.is_some_and(|rest| {
                rest.starts_with(&self.ending) || rest.contains(&format!(".{}", self.ending))
            })
        })
    }

    fn wipe(&self) {
        for name in self.hidden().filter(|n| !self.before.contains(n)) {
            let path = self.folder.join(name);
            // Whoever still writes into a folder may add to it while it is emptied.
            let is_gone = || !path.is_dir() || std::fs::remove_dir_all(&path).is_ok();
            let _ = (0..100).any(|_| is_gone()) && std::fs::remove_file(&path).is_ok();
        }
        if self.is_new {
            let _ = std::fs::remove_dir(&self.folder);
        }
    }
}

#[cfg(unix)]
fn listen(traces: Traces, first: fn()) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            first();
            inselberg::hidden::close();
            traces.wipe();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

#[cfg(not(unix))]
fn listen(_traces: Traces, _first: fn()) {}
