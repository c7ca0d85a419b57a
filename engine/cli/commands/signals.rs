//! Signals by number: ignored signals, the limit of file sizes, and crashes.
#![allow(unsafe_code)]

#[cfg(unix)]
use super::{allocator, interrupt};

/// Whether `signal` is ignored, which the parent process may have set.
#[cfg(unix)]
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: the struct consists of plain numbers and nullable pointers, for which zero is a value.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: nothing is installed, and the place for the answer outlives the call.
    let answer = unsafe { libc::sigaction(signal, std::ptr::null(), &mut action) };
    answer == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// From now on a write beyond the limit of file sizes (`ulimit -f`) is an error and does not end the process.
#[cfg(unix)]
pub fn make_file_limit_an_error() {
    // SAFETY: to ignore a signal installs no code.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

#[cfg(not(unix))]
pub fn make_file_limit_an_error() {}

/// From now on a crash prints one line, removes unfinished files, and ends the process with exit code 1.
///
/// The HDF5 library (1.10) crashes on some damaged files and on some refused requests for memory. This
/// process cannot prevent that.
#[cfg(unix)]
pub fn report_crashes() {
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT] {
        // SAFETY: the struct consists of plain numbers and nullable pointers, for which zero is a value.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = end_after_crash as extern "C" fn(i32) as usize;
        // A second crash during the report ends the process by its signal.
        action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND | libc::SA_NODEFER;
        // SAFETY: the installed function has the signature that these flags require, and never returns.
        unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) };
    }
}

#[cfg(not(unix))]
pub fn report_crashes() {}

#[cfg(unix)]
extern "C" fn end_after_crash(signal: i32) {
    allocator::be_the_one_that_ends(1);
    let line: &[u8] = match signal {
        libc::SIGSEGV => b"inselberg: internal error: crash (SIGSEGV); ",
        libc::SIGBUS => b"inselberg: internal error: crash (SIGBUS); ",
        _ => b"inselberg: internal error: crash (SIGABRT); ",
    };
    let advice = b"the HDF5 library crashes on some damaged files, and where memory ends; check the input and the memory\n";
    let _ = rustix::io::writev(rustix::stdio::stderr(), &[line, advice].map(std::io::IoSlice::new));
    interrupt::wipe_soon();
    allocator::exit(1)
}
