//! Signals by number: which ones this process ignores, and the one that it must.
#![allow(unsafe_code)]

/// Whether `signal` is ignored, as it is where whoever started this process asked for that.
#[cfg(unix)]
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: the struct is plain numbers and pointers that may be null, for which zero is a value.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: nothing is installed, and the place for the answer outlives the call.
    let answer = unsafe { libc::sigaction(signal, std::ptr::null(), &mut action) };
    answer == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// From now on a write beyond the limit of a file's size (`ulimit -f`) is an error, and no end of the process.
#[cfg(unix)]
pub fn make_file_limit_an_error() {
    // SAFETY: to ignore a signal installs no code.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

#[cfg(not(unix))]
pub fn make_file_limit_an_error() {}
