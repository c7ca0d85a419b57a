//! How a call reports its progress to the caller, and how the caller ends it.

use crate::progress::Observer;
use parking_lot::Mutex;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

/// The progress of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The stage: `ascent`, `labels`, `saddles`, ...
    pub stage: &'static str,
    /// The finished part of it, in its own units.
    pub done: u64,
    /// Its total size in these units; 0 if unknown.
    pub work: u64,
}

/// A function that an engine calls at the beginning of each stage and sometimes within it, from any of its
/// threads but from one at a time.
/// [`ControlFlow::Break`] ends the call at the beginning of the next stage, on all ranks.
pub(crate) type Hook = Arc<dyn Fn(Progress) -> ControlFlow<()> + Send + Sync>;

/// The payload that unwinds the calling thread of a cancelled call.
pub(crate) struct Cancelled;

/// Passes stages on to a hook.
pub(crate) struct HookObserver {
    hook: Option<Hook>,
    /// The stage and its work. Locked while the hook runs, so that it runs once at a time.
    stage: Mutex<(&'static str, u64)>,
    done: AtomicU64,
    is_cancelled: AtomicBool,
}

impl HookObserver {
    pub fn new(hook: Option<Hook>) -> Self {
        let stage = Mutex::new(("", 0));
        Self { hook, stage, done: AtomicU64::new(0), is_cancelled: AtomicBool::new(false) }
    }

    /// Calls the hook with the work done so far. The stage is locked.
    fn call(&self, (stage, work): (&'static str, u64)) {
        let Some(hook) = &self.hook else { return };
        let done = self.done.load(SeqCst);
        if hook(Progress { stage, done, work }).is_break() {
            self.is_cancelled.store(true, Relaxed);
        }
    }
}

impl Observer for HookObserver {
    /// Unwinds when the caller has cancelled. The calling thread of a rank begins stages, so no worker is
    /// interrupted.
    fn begin(&self, stage: &'static str, work: u64) {
        let mut current = self.stage.lock();
        *current = (stage, work);
        self.done.store(0, SeqCst);
        self.call(*current);
        drop(current);
        if self.is_cancelled.load(Relaxed) {
            resume_unwind(Box::new(Cancelled));
        }
    }

    /// No worker waits for a hook that runs: the thread that runs it then reports the work of the others.
    fn advance(&self, done: u64) {
        let mut total = self.done.fetch_add(done, SeqCst) + done;
        while let Some(current) = self.stage.try_lock() {
            self.call(*current);
            drop(current);
            let now = self.done.load(SeqCst);
            if now == total {
                break;
            }
            total = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn a_hook_runs_once_at_a_time_and_hears_of_all_work() {
        let (running, last) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicU64::new(0)));
        let (inside, heard) = (Arc::clone(&running), Arc::clone(&last));
        let hook = move |progress: Progress| {
            assert_eq!(inside.fetch_add(1, SeqCst), 0, "two calls at once");
            std::thread::yield_now();
            assert!(heard.swap(progress.done, SeqCst) <= progress.done, "work that is undone");
            inside.fetch_sub(1, SeqCst);
            ControlFlow::Continue(())
        };
        let observer = HookObserver::new(Some(Arc::new(hook)));
        observer.begin("ascent", 400);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..100).for_each(|_| observer.advance(1)));
            }
        });
        assert_eq!((running.load(SeqCst), last.load(SeqCst)), (0, 400));
    }
}
