//! Standard output, which may be a closed pipe.

use super::escape::escaped;
use super::fault::CommandError;
use super::preflight;
use inselberg_io::staging::Staged;
use std::io::{ErrorKind, Write};

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

/// Ends a command: prints the summary, then gives all results their names. A failure before that leaves no
/// results.
pub fn finish(
    common: crate::config::Common,
    staged: Staged,
    text: impl FnOnce() -> String,
    json: impl FnOnce() -> serde_json::Value,
) -> Result<(), CommandError> {
    report(common, text, json)?;
    commit(staged, common)
}

/// Gives results their names. A file of another program that is there stays, and nothing is written, unless
/// the user forces it.
pub fn commit(staged: Staged, common: crate::config::Common) -> Result<(), CommandError> {
    staged.targets().try_for_each(|path| preflight::replaceable(path, common.force))?;
    Ok(staged.commit()?)
}
