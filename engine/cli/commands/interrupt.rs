//! Ctrl-C and SIGTERM: removes the hidden files of this process, to which results are written first.

use super::fault::CommandError;
use std::sync::{Mutex, PoisonError};

/// Removes the unfinished files of this process before it ends.
pub fn wipe() {
    inselberg_io::staging::hidden::close();
    inselberg_io::staging::hidden::wipe();
}

/// The same without memory: waits at most one second for locks, whose holders may be waiting for memory.
pub fn wipe_soon() {
    inselberg_io::staging::hidden::close_soon();
    inselberg_io::staging::hidden::wipe();
}

/// From now on, a signal to end removes unfinished files; then the program ends by the signal, as usual.
pub fn guard() -> Result<(), CommandError> {
    guard_with(|| ())
}

/// The same, once per process.
pub fn guard_once() -> Result<(), CommandError> {
    static IS_GUARDED: Mutex<bool> = Mutex::new(false);
    let mut is_guarded = IS_GUARDED.lock().unwrap_or_else(PoisonError::into_inner);
    if !*is_guarded {
        guard()?;
        *is_guarded = true;
    }
    Ok(())
}

/// The same, and calls `first` before.
pub fn guard_with(first: fn()) -> Result<(), CommandError> {
    listen(first).map_err(|error| {
        CommandError::user(format!(
            "starting a thread: {error}; expected higher limits of processes and memory"
        ))
    })
}

#[cfg(unix)]
fn listen(first: fn()) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    // Signals that were ignored at the start stay ignored, as nohup and background shells require.
    let heeded = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !super::signals::is_ignored(*signal));
    let Ok(mut signals) = signal_hook::iterator::Signals::new(heeded) else { return Ok(()) };
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            first();
            wipe();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(wait).map(drop)
}

#[cfg(not(unix))]
fn listen(_first: fn()) -> std::io::Result<()> {
    Ok(())
}
