//! How does a call run while Python waits?
//!
//! ```text
//!   Python's thread    start ── wait 20 ms ── signals? progress? ── wait 20 ms ── ... ── result, or KeyboardInterrupt
//!   call's thread            └─ turn ── work on the threads of the engine ──────────┘
//! ```
//!
//! Ctrl-C asks the call to end, which it does at the beginning of its next stage. If that takes longer than
//! [`GRACE`], Python goes on and the call ends in the background. The call keeps its arrays alive until then.
//! Calls of one engine take turns.
//!
//! Over ranks a call ends with a value on all ranks, or with an exception on all. So each rank decides at the
//! end whether it was interrupted, and the ranks agree ([`Call::decide`]). From then on Python's thread looks
//! for no signals. A later signal interrupts what follows the call:
//!
//! ```text
//!   rank 0   work ── decide: no  ──┐         ┌── a signal waits ── the value, then KeyboardInterrupt
//!                                  ├─ agree ─┤
//!   rank 1   work ── decide: no  ──┘         └── the value
//! ```

use crate::errors;
use inselberg::{Error, ErrorKind, Progress};
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

/// Calls over ranks that run in this process, also those that Python no longer waits for.
static OVER_RANKS: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

/// Waits until no call over ranks runs, but at most `seconds`: MPI must not end during a call. Returns
/// whether none runs.
#[pyfunction]
pub fn wait_for_ranks(py: Python<'_>, seconds: f64) -> bool {
    let until = Instant::now() + Duration::from_secs_f64(seconds);
    py.detach(|| {
        let mut n_running = OVER_RANKS.0.lock();
        while *n_running > 0 && !OVER_RANKS.1.wait_until(&mut n_running, until).timed_out() {}
        *n_running == 0
    })
}

/// A running call over ranks.
struct RunningOverRanks;

impl RunningOverRanks {
    fn begin() -> Self {
        *OVER_RANKS.0.lock() += 1;
        Self
    }
}

impl Drop for RunningOverRanks {
    fn drop(&mut self) {
        *OVER_RANKS.0.lock() -= 1;
        OVER_RANKS.1.notify_all();
    }
}

/// The process whose threads calls run on.
static PROCESS: OnceLock<u32> = OnceLock::new();

/// Refuses a forked child of a process that has made calls: the threads of that process do not exist here.
pub fn check_process() -> PyResult<()> {
    let own = std::process::id();
    if *PROCESS.get_or_init(|| own) == own { Ok(()) } else { Err(errors::forked()) }
}

/// One call, as both threads see it.
#[derive(Default)]
pub struct Call {
    is_cancelled: AtomicBool,
    /// Whether it is too late to cancel the call. Locked while Python's thread looks for signals.
    is_decided: Mutex<bool>,
    progress: Mutex<Option<Progress>>,
}

impl Call {
    /// An error if the call was interrupted. If not, signals wait from now on until it has ended.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`].
    pub fn decide(&self) -> Result<(), Error> {
        *self.is_decided.lock() = true;
        match self.is_cancelled.load(Relaxed) {
            true => Err(Error::new(ErrorKind::Cancelled, "the caller cancelled the call")),
            false => Ok(()),
        }
    }
}

/// The calls of an engine, one at a time.
#[derive(Default)]
pub struct Calls {
    turn: Mutex<()>,
    current: Mutex<Arc<Call>>,
    /// Over ranks: whether Python may go on before an interrupted call has ended.
    over_ranks: Option<bool>,
}

impl Calls {
    /// For an engine over ranks. `is_multiple`: MPI takes calls from several threads at once. If not, Python
    /// waits for the end of every call.
    pub fn over_ranks(is_multiple: bool) -> Self {
        Self { over_ranks: Some(is_multiple), ..Self::default() }
    }

    pub fn is_over_ranks(&self) -> bool {
        self.over_ranks.is_some()
    }

    /// What the engine's hook does.
    pub fn hear(&self, progress: Progress) -> ControlFlow<()> {
        let call = self.current.lock();
        *call.progress.lock() = Some(progress);
        if call.is_cancelled.load(Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Does `work` on a new thread, without the interpreter lock. `report`, if any, is called now and then
    /// with the stage, the work done and all work.
    ///
    /// Raises what a signal handler raises, and the exception of an error.
    pub fn run<T: Send + 'static>(
        self: &Arc<Self>,
        py: Python<'_>,
        report: Option<&Bound<'_, PyAny>>,
        work: impl FnOnce(&Call) -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        check_process()?;
        let (calls, call, answer) =
            (Arc::clone(self), Arc::<Call>::default(), Arc::<CallAnswer<T>>::default());
        let (own_call, own_answer) = (Arc::clone(&call), Arc::clone(&answer));
        let thread = std::thread::Builder::new().name("inselberg call".into());
        let running = self.is_over_ranks().then(RunningOverRanks::begin);
        thread.spawn(move || {
            let _running = running;
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
            let is_decided = call.is_decided.lock();
            let signals = match *is_decided {
                true => Ok(()),
                false => py.check_signals().and_then(|()| tell(report, &call)),
            };
            if let Err(error) = signals {
                call.is_cancelled.store(true, Relaxed);
                drop(is_decided);
                py.detach(|| self.leave(&answer));
                return Err(error);
            }
        }
    }

    /// Waits for an interrupted call as long as Python must.
    fn leave<T>(&self, answer: &CallAnswer<T>) {
        match self.over_ranks {
            Some(false) => while answer.wait(GRACE).is_none() {},
            _ => drop(answer.wait(GRACE)),
        }
    }

    /// `None` if the call was cancelled before its turn. Over ranks a cancelled call is made nevertheless,
    /// because the other ranks wait for it.
    fn take_turn<T>(&self, call: Arc<Call>, work: impl FnOnce(&Call) -> T) -> Option<T> {
        let _turn = self.turn.lock();
        if call.is_cancelled.load(Relaxed) && !self.is_over_ranks() {
            return None;
        }
        *self.current.lock() = Arc::clone(&call);
        Some(work(&call))
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
