//! Standard output, which may be a closed pipe.

use super::escape::escaped;
use super::fault::CommandError;
use super::preflight;
use inselberg_io::staging::Staged;
use std::fmt::Write as _;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Prints `text` with a newline at its end. A closed pipe is not an error.
pub fn print(text: &str) -> Result<(), CommandError> {
    let mut out = std::io::stdout().lock();
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    let written = out.write_all(text.as_bytes()).and_then(|()| out.write_all(newline.as_bytes()));
    match written.and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(CommandError::user(format!("standard output: {e}")))
        }
        _ => Ok(()),
    }
}

/// Prints the summary in the requested form, if any.
pub fn report(
    common: crate::config::Common,
    text: impl FnOnce() -> String,
    json: impl FnOnce() -> serde_json::Value,
) -> Result<(), CommandError> {
    match (common.json, common.quiet) {
        (true, _) => print(&format!("{:#}", json())),
        (false, true) => Ok(()),
        (false, false) => print(&text().lines().map(escaped).collect::<Vec<_>>().join("\n")),
    }
}

/// Ends a command: prints the summary and the names of the results, then gives them these names. A failure
/// before that leaves no results.
pub fn finish(
    common: crate::config::Common,
    staged: Staged,
    text: impl FnOnce() -> String,
    json: impl FnOnce() -> serde_json::Value,
) -> Result<(), CommandError> {
    let written = Written::new(&staged);
    report(common, || text().trim_end().to_string() + "\n" + &written.text(), || written.in_json(json()))?;
    commit(staged, common)
}

/// The files that a command writes.
pub struct Written(Vec<String>);

/// Files that a summary names one by one.
const N_NAMED: usize = 8;

impl Written {
    /// Those that are staged.
    pub fn new(staged: &Staged) -> Self {
        let here = std::env::current_dir().ok();
        let name = |path: &Path| {
            let path = here.as_ref().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path);
            path.display().to_string()
        };
        Self(staged.targets().map(name).collect())
    }

    /// Their names, one a line; empty without files.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (i, name) in self.0.iter().take(N_NAMED).enumerate() {
            let _ = writeln!(text, "{:<18}{name}", if i == 0 { "written" } else { "" });
        }
        let further = self.0.len().saturating_sub(N_NAMED);
        if further > 0 {
            let _ = writeln!(text, "{:<18}and {further} more", "");
        }
        if text.is_empty() { text } else { format!("\n{text}") }
    }

    /// Their names in a line.
    pub fn line(&self) -> String {
        let further = self.0.len().saturating_sub(N_NAMED);
        let more = if further > 0 { format!(" and {further} more") } else { String::new() };
        self.0.iter().take(N_NAMED).cloned().collect::<Vec<_>>().join(", ") + &more
    }

    /// The same summary with all names.
    pub fn in_json(&self, mut summary: serde_json::Value) -> serde_json::Value {
        if let Some(summary) = summary.as_object_mut() {
            summary.insert("written".into(), self.0.clone().into());
        }
        summary
    }
}

/// Gives results their names. A file of another program that is there stays, and nothing is written, unless
/// the user forces it.
pub fn commit(staged: Staged, common: crate::config::Common) -> Result<(), CommandError> {
    staged.targets().try_for_each(|path| preflight::replaceable(path, common.force))?;
    Ok(staged.commit()?)
}
