//! Ctrl-C and SIGTERM: results are written under hidden names first, and those that this process made are taken away.

/// Takes away what this process made and did not finish, because it is about to end.
pub fn wipe() {
    inselberg::hidden::close();
    inselberg::hidden::wipe();
}

/// From now on a signal to end takes away what is half written, before the program ends as the signal would have
/// ended it.
pub fn guard() {
    guard_with(|| ());
}

/// The same, and does `first` before.
pub fn guard_with(first: fn()) {
    listen(first);
}

#[cfg(unix)]
fn listen(first: fn()) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    // What was ignored when this process started stays so: nohup and shells in the background ask for that.
    let heeded = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !super::signals::is_ignored(*signal));
    let Ok(mut signals) = signal_hook::iterator::Signals::new(heeded) else { return };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            first();
            wipe();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

#[cfg(not(unix))]
fn listen(_first: fn()) {}
