//! How does a call run while Python waits?
//!
//! ```text
//!   Python's thread    start ── wait 20 ms ── signals? progress? ── wait 20 ms ── ... ── result, or KeyboardInterrupt
//!   call's thread            └─ turn ── work on the threads of the engine ──────────┘
//! ```
//!
//! Ctrl-C asks the call to end, which it does at the begin of its next stage. If that takes longer than [`GRACE`], Python
//! goes on and the call ends behind it. It keeps its arrays alive until then. Calls of one engine take turns.

use crate::errors;
use inselberg::{Error, Progress};
use parking_lot::{Condvar, Mutex};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// How often Python's thread looks for signals.
const POLL: Duration = Duration::from_millis(20);
/// How long an interrupted call may take to end before Python goes on without it.
const GRACE: Duration = Duration::from_millis(500);

/// The process whose threads calls run on.
static PROCESS: OnceLock<u32> = OnceLock::new();

/// Refuses a forked child of a process that has made calls: the threads of that process do not exist here.
pub fn check_process() -> PyResult<()> {
    let own = std::process::id();
    if *PROCESS.get_or_init(|| own) == own { Ok(()) } else { Err(errors::forked()) }
}

/// One call, as both threads see it.
#[derive(Default)]
struct Call {
    is_cancelled: AtomicBool,
    progress: Mutex<Option<Progress>>,
}

/// The calls of an engine, one at a time.
#[derive(Default)]
pub struct Calls {
    turn: Mutex<()>,
    current: Mutex<Arc<Call>>,
}

impl Calls {
    /// What the engine's hook does.
    pub fn hear(&self, progress: Progress) -> ControlFlow<()> {
        let call = self.current.lock();
        *call.progress.lock() = Some(progress);
        if call.is_cancelled.load(Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Does `work` on a thread of its own, without the interpreter lock. `report`, if any, is called with stage, done and
    /// work now and then.
    ///
    /// Raises what a signal handler raises, and the exception of an error.
    pub fn run<T: Send + 'static>(
        self: &Arc<Self>,
        py: Python<'_>,
        report: Option<&Bound<'_, PyAny>>,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        check_process()?;
        let (calls, call, answer) =
            (Arc::clone(self), Arc::<Call>::default(), Arc::<CallAnswer<T>>::default());
        let (own_call, own_answer) = (Arc::clone(&call), Arc::clone(&answer));
        let thread = std::thread::Builder::new().name("inselberg call".into());
        thread.spawn(move || {
            // A panic leaves the answer empty and closed.
            let closed = Closing(&own_answer);
            let result = calls.take_turn(own_call, work);
            own_answer.state.lock().0 = result;
            drop(closed);
        })?;
        loop {
            if let Some(result) = py.detach(|| answer.wait(POLL)) {
                return errors::raised(py, result);
            }
            let signals = py.check_signals().and_then(|()| tell(report, &call));
            if let Err(error) = signals {
                call.is_cancelled.store(true, Relaxed);
                py.detach(|| answer.wait(GRACE));
                return Err(error);
            }
        }
    }

    /// `None` if the call was cancelled before its turn.
    fn take_turn<T>(&self, call: Arc<Call>, work: impl FnOnce() -> T) -> Option<T> {
        let _turn = self.turn.lock();
        if call.is_cancelled.load(Relaxed) {
            return None;
        }
        *self.current.lock() = call;
        Some(work())
    }
}

fn tell(report: Option<&Bound<'_, PyAny>>, call: &Call) -> PyResult<()> {
    let (Some(report), Some(progress)) = (report, *call.progress.lock()) else { return Ok(()) };
    report.call1((progress.stage, progress.done, progress.work)).map(|_| ())
}

/// The result of a call, and whether the call has ended.
struct CallAnswer<T> {
    state: Mutex<(Option<Result<T, Error>>, bool)>,
    ended: Condvar,
}

impl<T> Default for CallAnswer<T> {
    fn default() -> Self {
        Self { state: Mutex::new((None, false)), ended: Condvar::new() }
    }
}

impl<T> CallAnswer<T> {
    /// `None` while the call goes on. `Some(None)` for a call without a result.
    fn wait(&self, time: Duration) -> Option<Option<Result<T, Error>>> {
        let until = Instant::now() + time;
        let mut state = self.state.lock();
        while !state.1 && !self.ended.wait_until(&mut state, until).timed_out() {}
        state.1.then(|| state.0.take())
    }
}

/// Says that a call has ended, also when it panics.
struct Closing<'a, T>(&'a CallAnswer<T>);

impl<T> Drop for Closing<'_, T> {
    fn drop(&mut self) {
        self.0.state.lock().1 = true;
        self.0.ended.notify_all();
    }
}
