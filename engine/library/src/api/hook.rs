//! How a call reports its progress to the caller, and how the caller ends it.

use crate::progress::Observer;
use parking_lot::Mutex;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

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
/// threads.
/// [`ControlFlow::Break`] ends the call at the beginning of the next stage, on all ranks.
pub(crate) type Hook = Arc<dyn Fn(Progress) -> ControlFlow<()> + Send + Sync>;

/// The payload that unwinds the calling thread of a cancelled call.
pub(crate) struct Cancelled;

/// Passes stages on to a hook.
pub(crate) struct HookObserver {
    hook: Option<Hook>,
    stage: Mutex<(&'static str, u64)>,
    done: AtomicU64,
    is_cancelled: AtomicBool,
}

impl HookObserver {
    pub fn new(hook: Option<Hook>) -> Self {
        let stage = Mutex::new(("", 0));
        Self { hook, stage, done: AtomicU64::new(0), is_cancelled: AtomicBool::new(false) }
    }

    fn call(&self, done: u64) {
        let Some(hook) = &self.hook else { return };
        let (stage, work) = *self.stage.lock();
        if hook(Progress { stage, done, work }).is_break() {
            self.is_cancelled.store(true, Relaxed);
        }
    }
}

impl Observer for HookObserver {
    /// Unwinds when the caller has cancelled. The calling thread of a rank begins stages, so no worker is
    /// interrupted.
    fn begin(&self, stage: &'static str, work: u64) {
        *self.stage.lock() = (stage, work);
        self.done.store(0, Relaxed);
        self.call(0);
        if self.is_cancelled.load(Relaxed) {
            resume_unwind(Box::new(Cancelled));
        }
    }

    fn advance(&self, done: u64) {
        self.call(self.done.fetch_add(done, Relaxed) + done);
    }
}
