//! How a failure ends the program: one line on stderr and an exit code.

use std::fmt::Display;
use std::io::Write;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why the program ends early.
#[derive(Debug)]
pub enum Failure {
    /// Something that the user can mend: exit code 2.
    User(anyhow::Error),
    /// A fault of the program or the machine: exit code 1.
    Internal(anyhow::Error),
}

impl Failure {
    /// A fault of the program.
    pub fn internal(error: impl Into<anyhow::Error>) -> Self {
        Self::Internal(error.into())
    }

    /// A mistake in the file or folder `path`.
    pub fn about(path: &Path, error: impl Display) -> Self {
        Self::user(format!("{}: {error}", path.display()))
    }

    /// A mistake that is a line of text.
    pub fn user(message: impl Display) -> Self {
        Self::User(anyhow::anyhow!("{message}"))
    }
}

/// Every error of the library is about its input or output, which the user chose.
impl<E: std::error::Error + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::User(error.into())
    }
}

/// Runs `work`, says what went wrong, and gives the exit code.
pub fn caught(work: impl FnOnce() -> Result<(), Failure>) -> ExitCode {
    set_hook(Box::new(say_panic));
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(Failure::User(error))) => {
            say(&format!("inselberg: error: {error}"));
            ExitCode::from(2)
        }
        Ok(Err(Failure::Internal(error))) => {
            say(&format!("inselberg: internal error: {error}"));
            ExitCode::from(1)
        }
        Err(_) => ExitCode::from(1),
    }
}

fn say_panic(info: &PanicHookInfo<'_>) {
    // A panic that is carried over threads would be told more than once.
    static SAID: AtomicBool = AtomicBool::new(false);
    if SAID.swap(true, Ordering::Relaxed) {
        return;
    }
    let payload = info.payload();
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let what = text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
    let place = info.location().map_or(String::new(), |l| format!(" at {l}"));
    let ask = format!("please report it at {}/issues", env!("CARGO_PKG_REPOSITORY"));
    say(&format!("inselberg: internal error: {what}{place}; this is a bug, {ask}"));
}

/// One line on stderr, whatever is in the message and whoever listens.
fn say(message: &str) {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let _ = writeln!(std::io::stderr(), "{line}");
}
