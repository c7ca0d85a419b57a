//! How a failure ends the program: one line on stderr and an exit code.

use inselberg_comm::{CommError, Rank};
use std::fmt::Display;
use std::io::Write;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why the program ends early.
#[derive(Debug)]
pub enum CommandError {
    /// Something that the user can mend: exit code 2.
    User(anyhow::Error),
    /// A fault of the program or the machine: exit code 1.
    Internal(anyhow::Error),
    /// The ranks ended together, perhaps by a failure of another one: exit code 1.
    Ranks(CommError),
    /// Another process says it and has the exit code: a launcher ends all others with the first that fails, so
    /// this one must not fail before that is said.
    Said,
}

impl CommandError {
    /// A fault of the program.
    pub fn internal(error: impl Into<anyhow::Error>) -> Self {
        Self::Internal(error.into())
    }

    /// What ended all ranks.
    pub fn ranks(error: CommError) -> Self {
        Self::Ranks(error)
    }

    /// Whether another rank may know better.
    pub fn is_elsewhere(&self) -> bool {
        matches!(self, Self::Ranks(_) | Self::Said)
    }

    /// The same, with the rank where it happened.
    pub fn on_rank(self, rank: Rank) -> Self {
        match self {
            Self::User(error) => Self::user(format!("{rank}: {error}")),
            Self::Internal(error) => Self::Internal(anyhow::anyhow!("{rank}: {error}")),
            other => other,
        }
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
impl<E: std::error::Error + Send + Sync + 'static> From<E> for CommandError {
    fn from(error: E) -> Self {
        Self::User(error.into())
    }
}

impl std::fmt::Display for CommandError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::User(error) | Self::Internal(error) => error.fmt(f),
            Self::Ranks(error) => error.fmt(f),
            Self::Said => Ok(()),
        }
    }
}

/// Runs `work`, says what went wrong, and gives the exit code.
pub fn caught(work: impl FnOnce() -> Result<(), CommandError>) -> ExitCode {
    set_hook(Box::new(say_panic));
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(CommandError::User(error))) => {
            say(&format!("inselberg: error: {error}"));
            ExitCode::from(2)
        }
        Ok(Err(CommandError::Internal(error))) => {
            say(&format!("inselberg: internal error: {error}"));
            ExitCode::from(1)
        }
        Ok(Err(CommandError::Ranks(error @ CommError::Panicked { .. }))) => {
            say(&bug(&format!("{error}{}", lock(&PLACE))));
            ExitCode::from(1)
        }
        Ok(Err(CommandError::Ranks(error))) => {
            say(&format!("inselberg: error: {error}"));
            ExitCode::from(1)
        }
        Ok(Err(CommandError::Said)) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(1),
    }
}

/// Where a rank panicked, for the message that its error becomes.
static PLACE: Mutex<String> = Mutex::new(String::new());
static HELD: AtomicBool = AtomicBool::new(false);

/// From now on a panic is an error of a rank, which names that rank, and is said when it comes back.
pub fn hold_panics() {
    HELD.store(true, Ordering::Relaxed);
}

fn lock(text: &Mutex<String>) -> MutexGuard<'_, String> {
    text.lock().unwrap_or_else(PoisonError::into_inner)
}

fn say_panic(info: &PanicHookInfo<'_>) {
    // A panic that is carried over threads would be told more than once.
    static SAID: AtomicBool = AtomicBool::new(false);
    if SAID.swap(true, Ordering::Relaxed) {
        return;
    }
    let place = info.location().map_or(String::new(), |l| format!(" at {l}"));
    if HELD.load(Ordering::Relaxed) {
        *lock(&PLACE) = place;
        return;
    }
    let payload = info.payload();
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let what = text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
    say(&bug(&format!("{what}{place}")));
}

/// Why this rank ends all others; `place` is where it stands.
#[cfg(feature = "mpi")]
pub fn report(error: &CommError, place: &str) {
    match error {
        CommError::Panicked { .. } => say(&bug(&format!("{error}{}", lock(&PLACE)))),
        error => say(&format!("inselberg: error: {error}{place}")),
    }
}

/// What the user should know although the run goes on.
pub fn warn(message: impl Display) {
    say(&format!("inselberg: warning: {message}"));
}

fn bug(what: &str) -> String {
    let ask = format!("please report it at {}/issues", env!("CARGO_PKG_REPOSITORY"));
    format!("inselberg: internal error: {what}; this is a bug, {ask}")
}

/// `text` with what would end its line, or steer a terminal, as Rust writes it: names in files may hold anything.
pub fn escaped(text: &str) -> String {
    const SEPARATORS: [char; 2] = ['\u{2028}', '\u{2029}'];
    // What sets the direction of a text.
    const DIRECTIONS: [std::ops::RangeInclusive<char>; 3] =
        ['\u{200e}'..='\u{200f}', '\u{202a}'..='\u{202e}', '\u{2066}'..='\u{2069}'];
    let steers = |c: char| {
        c.is_control() || SEPARATORS.contains(&c) || DIRECTIONS.iter().any(|range| range.contains(&c))
    };
    let one = |c: char| if steers(c) { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(one).collect()
}

/// One line on stderr, whatever is in the message and whoever listens.
fn say(message: &str) {
    let lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut line = escaped(&lines.collect::<Vec<_>>().join(" "));
    line.push('\n');
    // In one piece: a launcher mixes what processes say.
    let _ = std::io::stderr().write_all(line.as_bytes());
}
