//! How a failure ends the program: one line on standard error and an exit code.

use super::escape::escaped;
use super::flags::NamesFlags;
use super::log;
use inselberg::ErrorKind;
use inselberg::error::RunError;
use inselberg::fof::FofRunError;
use inselberg::particles::BoxError;
use inselberg::trees::TreeError;
use inselberg_comm::{CommError, Rank};
use inselberg_io::ReadError;
use inselberg_io::catalogue::PartError;
use std::any::Any;
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
    /// A mistake that the user can correct: exit code 2.
    User(anyhow::Error),
    /// A fault of the program or the machine: exit code 1.
    Internal(anyhow::Error),
    /// All ranks ended, perhaps because of another one: exit code 1.
    Ranks(CommError),
    /// Snapshots of a series failed, each of which was reported: exit code 1 if one of them is a fault, else
    /// 2.
    Series {
        /// Which ones.
        message: String,
        /// Whether one of them is a fault of the program or the machine.
        is_fault: bool,
    },
    /// Another process reports the error and exits with its code. A launcher ends all processes after the
    /// first failure, so this process must not fail earlier.
    Elsewhere,
}

impl CommandError {
    /// A fault of the program.
    pub fn internal(error: impl Into<anyhow::Error>) -> Self {
        Self::Internal(error.into())
    }

    /// The failure that ended all ranks.
    pub fn ranks(error: CommError) -> Self {
        Self::Ranks(error)
    }

    /// Whether another rank may have caused it.
    pub fn is_elsewhere(&self) -> bool {
        matches!(self, Self::Ranks(_) | Self::Elsewhere)
    }

    /// Whether the program or the machine is at fault.
    pub fn is_fault(&self) -> bool {
        !matches!(self, Self::User(_) | Self::Series { is_fault: false, .. })
    }

    /// The reason as it is reported; a user's mistake without the word error.
    pub fn reason(&self) -> String {
        let line = line_of(self);
        line.strip_prefix("error: ").map_or(line.clone(), str::to_string)
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

    /// A mistake in the file or folder `path`, with the options that it is about.
    pub fn of_input(path: &Path, error: &impl NamesFlags) -> Self {
        if error.names_input() {
            Self::user(error.with_flags())
        } else {
            Self::about(path, error.with_flags())
        }
    }

    /// An error of a library call about the input at `path` on this rank. The message names options.
    pub fn of_call(path: &Path, error: &inselberg::Error) -> Self {
        let plain = || match error.kind() {
            // It names the file.
            ErrorKind::Read => Self::user(error),
            _ => Self::about(path, error),
        };
        let Some(cause) = error.cause() else { return plain() };
        if let Some(error) = cause.downcast_ref::<RunError>() {
            return match error {
                RunError::Comm(error) => Self::ranks(error.clone()),
                error => Self::of_input(path, error),
            };
        }
        if let Some(error) = cause.downcast_ref::<FofRunError>() {
            return match error {
                FofRunError::Comm(error) => Self::ranks(error.clone()),
                error => Self::of_input(path, error),
            };
        }
        if let Some(error) = cause.downcast_ref::<TreeError>() {
            return match error {
                TreeError::Comm(error) => Self::ranks(error.clone()),
                TreeError::Elsewhere(_) => Self::Elsewhere,
                // It names the catalogue.
                error => Self::user(error),
            };
        }
        if let Some(error) = cause.downcast_ref::<BoxError>() {
            return Self::of_input(path, error);
        }
        match (cause.downcast_ref::<CommError>(), cause.downcast_ref::<PartError>()) {
            (Some(error), _) | (_, Some(PartError::Comm(error))) => Self::ranks(error.clone()),
            (_, Some(PartError::Elsewhere { .. })) => Self::Elsewhere,
            // It names the file.
            (_, Some(PartError::Here(error))) => Self::user(error),
            (None, None) => plain(),
        }
    }

    /// A mistake, as a line of text.
    pub fn user(message: impl Display) -> Self {
        Self::User(anyhow::anyhow!("{message}"))
    }
}

/// Errors of the library are about its input or output, which the user chose.
impl<E: std::error::Error + Send + Sync + 'static> From<E> for CommandError {
    fn from(error: E) -> Self {
        let error = anyhow::Error::from(error);
        match error.downcast_ref::<ReadError>() {
            Some(read) => Self::user(read.with_flags()),
            None => Self::User(error),
        }
    }
}

impl std::fmt::Display for CommandError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::User(error) | Self::Internal(error) => error.fmt(f),
            Self::Ranks(error) => error.fmt(f),
            Self::Series { message, .. } => f.write_str(message),
            Self::Elsewhere => Ok(()),
        }
    }
}

/// Runs `work`, reports its error, and returns the exit code.
pub fn caught(work: impl FnOnce() -> Result<(), CommandError>) -> ExitCode {
    set_hook(Box::new(report_panic));
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(()) | Err(CommandError::Elsewhere)) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            print_line(&format!("inselberg: {}", line_of(&error)));
            ExitCode::from(if error.is_fault() { 1 } else { 2 })
        }
        Err(_) => ExitCode::from(1),
    }
}

/// The error as it is reported, after the name of the program.
fn line_of(error: &CommandError) -> String {
    match error {
        CommandError::Internal(error) => format!("internal error: {error}"),
        CommandError::Ranks(error @ CommError::Panicked { .. }) => bug(&format!("{error}{}", lock(&PLACE))),
        error => format!("error: {error}"),
    }
}

/// Runs `work`. Panics become errors.
pub fn without_panic(work: impl FnOnce() -> Result<(), CommandError>) -> Result<(), CommandError> {
    hold_panics();
    REPORTED.store(false, Ordering::Relaxed);
    lock(&PLACE).clear();
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let message = message_of(&*payload);
        Err(CommandError::Ranks(CommError::Panicked { rank: Rank(0), stage: String::new(), message }))
    })
}

/// Reports an error about `what`; the program continues. Returns the report without the name of the program.
pub fn tell(what: &str, error: &str) -> String {
    let line = if error.contains(what) { error.to_string() } else { format!("{what}: {error}") };
    print_line(&format!("inselberg: error: {line}"));
    line
}

/// The place of a rank's panic, for the message of its error.
static PLACE: Mutex<String> = Mutex::new(String::new());
static IS_HELD: AtomicBool = AtomicBool::new(false);

/// From now on a panic becomes an error of its rank, reported when the rank returns.
pub fn hold_panics() {
    IS_HELD.store(true, Ordering::Relaxed);
}

fn lock(text: &Mutex<String>) -> MutexGuard<'_, String> {
    text.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A panic that crosses threads would be reported more than once.
static REPORTED: AtomicBool = AtomicBool::new(false);

fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("no message").to_string()
}

fn report_panic(info: &PanicHookInfo<'_>) {
    if REPORTED.swap(true, Ordering::Relaxed) {
        return;
    }
    let place = info.location().map_or(String::new(), |l| format!(" at {l}"));
    if IS_HELD.load(Ordering::Relaxed) {
        *lock(&PLACE) = place;
        return;
    }
    print_line(&format!("inselberg: {}", bug(&format!("{}{place}", message_of(info.payload())))));
}

/// Reports the reason why this rank ends all others; `place` names its stage.
#[cfg(feature = "mpi")]
pub fn report(error: &CommError, place: &str) {
    match error {
        CommError::Panicked { .. } => {
            print_line(&format!("inselberg: {}", bug(&format!("{error}{}", lock(&PLACE)))));
        }
        error => print_line(&format!("inselberg: error: {error}{place}")),
    }
}

/// Prints a warning.
pub fn warn(message: impl Display) {
    print_line(&format!("inselberg: warning: {message}"));
}

fn bug(what: &str) -> String {
    format!("internal error: {what}; this is a bug, please report it with the command and its input")
}

/// Prints one line on standard error. A closed pipe is not an error.
fn print_line(message: &str) {
    let lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut line = escaped(&lines.collect::<Vec<_>>().join(" "));
    log::keep(line.strip_prefix("inselberg: ").unwrap_or(&line));
    line.push('\n');
    // In one write: a launcher interleaves the output of processes.
    let _ = std::io::stderr().write_all(line.as_bytes());
}
