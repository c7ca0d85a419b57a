//! How many files ranks that are threads of one process open at the same time.

use std::sync::{Condvar, Mutex, PoisonError};

/// Files that are open at the same time at most: fewer than any system allows a process.
const MOST: usize = 32;

static OPEN: Gate = Gate { n: Mutex::new(0), gone: Condvar::new() };

#[derive(Debug)]
struct Gate {
    n: Mutex<usize>,
    gone: Condvar,
}

/// The right to have a file open, until it is dropped.
#[derive(Debug)]
pub(crate) struct Pass(());

/// Waits until fewer files are open. Who holds a pass must not take another, nor wait for other ranks.
pub(crate) fn pass() -> Pass {
    let mut n = OPEN.n.lock().unwrap_or_else(PoisonError::into_inner);
    while *n >= MOST {
        n = OPEN.gone.wait(n).unwrap_or_else(PoisonError::into_inner);
    }
    *n += 1;
    Pass(())
}

impl Drop for Pass {
    fn drop(&mut self) {
        *OPEN.n.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        OPEN.gone.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    #[test]
    fn no_more_than_so_many_pass_at_once_and_all_do() {
        let (inside, most, all) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..3 * MOST {
                scope.spawn(|| {
                    let _pass = pass();
                    most.fetch_max(inside.fetch_add(1, SeqCst) + 1, SeqCst);
                    std::thread::sleep(std::time::Duration::from_millis(5));
                    inside.fetch_sub(1, SeqCst);
                    all.fetch_add(1, SeqCst);
                });
            }
        });
        assert_eq!(all.into_inner(), 3 * MOST);
        assert!(most.into_inner() <= MOST);
    }
}
