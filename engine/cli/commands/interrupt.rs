//! Ctrl-C and SIGTERM: results are written under hidden names first, and those that this process made are taken away.

use super::fault::CommandError;

/// Takes away what this process made and did not finish, because it is about to end.
pub fn wipe() {
    inselberg_io::staging::hidden::close();
    inselberg_io::staging::hidden::wipe();
}

/// The same for an end without memory: waits a second at most for locks, whose holders may be waiting for memory.
pub fn wipe_soon() {
    inselberg_io::staging::hidden::close_soon();
    inselberg_io::staging::hidden::wipe();
}

/// From now on a signal to end takes away what is half written, before the program ends as the signal would have
/// ended it.
pub fn guard() -> Result<(), CommandError> {
    guard_with(|| ())
}

/// The same, and does `first` before.
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
    // What was ignored when this process started stays so: nohup and shells in the background ask for that.
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
