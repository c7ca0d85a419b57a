//! Limits the files that are open at the same time, over all ranks and threads of the process.
//!
//! The limit is a static because the system limits open files per process: independent libraries, ranks and
//! readers share it. It holds no state of a run.

use std::sync::{Condvar, Mutex, OnceLock, PoisonError};

static OPEN: OpenLimit = OpenLimit { n: Mutex::new(0), gone: Condvar::new(), most: OnceLock::new() };

/// Files of one piece of a snapshot that are open together.
pub(crate) const A_PIECE: usize = 3;

#[derive(Debug)]
struct OpenLimit {
    n: Mutex<usize>,
    gone: Condvar,
    most: OnceLock<usize>,
}

/// The permission to have files open until it is dropped.
#[derive(Debug)]
pub(crate) struct OpenPermit {
    gate: &'static OpenLimit,
    n: usize,
}

/// Waits until a file may be opened. The holder must not take another pass or wait for other ranks.
pub(crate) fn pass() -> OpenPermit {
    OPEN.pass(1)
}

/// A pass for `n` files; `n` must be small.
pub(crate) fn pass_for(n: usize) -> OpenPermit {
    OPEN.pass(n)
}

/// The most files that are open at the same time: half the limit of this process.
fn most() -> usize {
    #[cfg(unix)]
    let allowed = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX);
    #[cfg(not(unix))]
    let allowed = 64;
    (allowed / 2).clamp(4, 512) as usize
}

impl OpenLimit {
    fn pass(&'static self, n: usize) -> OpenPermit {
        let most = *self.most.get_or_init(most);
        let mut open = self.n.lock().unwrap_or_else(PoisonError::into_inner);
        while *open + n > most {
            open = self.gone.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
        *open += n;
        OpenPermit { gate: self, n }
    }
}

impl Drop for OpenPermit {
    fn drop(&mut self) {
        *self.gate.n.lock().unwrap_or_else(PoisonError::into_inner) -= self.n;
        self.gate.gone.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    const MOST: usize = 32;
    static TRIED: OpenLimit = OpenLimit { n: Mutex::new(0), gone: Condvar::new(), most: OnceLock::new() };

    #[test]
    fn no_more_than_so_many_pass_at_once_and_all_do() {
        TRIED.most.set(MOST).expect("set once");
        let (inside, most, all) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for n in (1..=A_PIECE).cycle().take(3 * MOST) {
                let (inside, most, all) = (&inside, &most, &all);
                scope.spawn(move || {
                    let _pass = TRIED.pass(n);
                    most.fetch_max(inside.fetch_add(n, SeqCst) + n, SeqCst);
                    std::thread::sleep(std::time::Duration::from_millis(5));
                    inside.fetch_sub(n, SeqCst);
                    all.fetch_add(1, SeqCst);
                });
            }
        });
        assert_eq!(all.into_inner(), 3 * MOST);
        assert!(most.into_inner() <= MOST);
    }
}
