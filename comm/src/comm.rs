//! The handle of a rank.

use crate::backend::Backend;
use crate::backend::traced::MessageTrace;
use crate::endpoint::Endpoint;
use crate::settings::Settings;
use crate::{CommError, Pulse, Rank, Result, StageTraffic, ThreadLevel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The handle of one rank. It may move between threads if [`Comm::thread_level`] allows it.
///
/// All ranks make the calls marked *collective*, in the same order. No rank returns from such a call before
/// every rank has begun it.
///
/// Clones are handles of the same rank: a program that lends its rank to an engine keeps one. Dropping the
/// last one does not communicate, unless it is the rank of a program of its own (`Comm::mpi`).
#[derive(Debug, Clone)]
pub struct Comm {
    endpoint: Arc<Mutex<Endpoint>>,
}

impl Comm {
    /// One rank alone.
    pub fn solo() -> Self {
        Self::new(Endpoint::new(Backend::solo(), Settings::default()))
    }

    pub(crate) fn new(endpoint: Endpoint) -> Self {
        Self { endpoint: Arc::new(Mutex::new(endpoint)) }
    }

    /// The rank itself, for one call. A panic within a call is reported elsewhere.
    pub(crate) fn endpoint(&self) -> MutexGuard<'_, Endpoint> {
        self.endpoint.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rank, while there is no other handle of it.
    pub(crate) fn into_endpoint(self) -> Endpoint {
        let endpoint = Arc::into_inner(self.endpoint).expect("no clone of a rank that is being set up");
        endpoint.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of this rank. Local.
    pub fn rank(&self) -> Rank {
        self.endpoint().rank()
    }

    /// Number of ranks. Local.
    pub fn n_ranks(&self) -> usize {
        self.endpoint().n_ranks()
    }

    /// Sets the stage of this rank: errors name it, and traffic is counted for it. Local; a sign of life for
    /// the watchdog.
    pub fn at(&self, stage: &'static str) {
        self.endpoint().enter(stage);
    }

    /// The current stage; empty before the first. Local.
    pub fn stage(&self) -> &'static str {
        self.endpoint().stage()
    }

    /// A handle with which any thread can give signs of life while this rank makes no call. Local. See
    /// [`crate::CommBuilder::stall_timeout`].
    pub fn pulse(&self) -> Pulse {
        self.endpoint().transport().pulse()
    }

    /// Sets how long this rank waits in later calls, as [`crate::CommBuilder::stall_timeout`] and
    /// [`crate::CommBuilder::recover_timeout`] do. Local, on all ranks.
    pub fn set_time_limits(&self, stall: Option<Duration>, recover: Duration) {
        self.endpoint().set_time_limits(stall, recover);
    }

    /// Traffic and times of this rank so far, by stage, in the order of their first use. Local.
    pub fn traffic(&self) -> Vec<StageTraffic> {
        let mut endpoint = self.endpoint();
        let lap = endpoint.traffic.lap();
        endpoint.traffic.now().work += lap;
        endpoint.traffic.stages().to_vec()
    }

    /// Messages that the watchdog of this rank sent so far ([`crate::CommBuilder::stall_timeout`]). They are
    /// not counted elsewhere. Local.
    pub fn watch_messages(&self) -> u64 {
        self.endpoint().transport().watch_messages()
    }

    /// The calls and messages of this rank so far, if they are recorded ([`crate::CommBuilder::traced`]).
    /// Local.
    pub fn notes(&self) -> Vec<MessageTrace> {
        self.endpoint().notes().to_vec()
    }

    /// The threads that may make calls: as the MPI library allows; [`ThreadLevel::Multiple`] for other
    /// backends. Below [`ThreadLevel::Serialized`], a call from any thread but the one that built the rank is
    /// [`CommError::WrongThread`]. Local.
    pub fn thread_level(&self) -> ThreadLevel {
        self.endpoint().transport().thread_level()
    }

    /// Whether calls can be made now, by this thread. Local.
    ///
    /// # Errors
    /// [`CommError::WrongThread`]; [`CommError::Mpi`] if the host of a guest has finalised MPI. A call would
    /// then end the process.
    pub fn check_callable(&self) -> Result<()> {
        self.endpoint().transport().check_callable()
    }

    /// For a program under MPI: calls `clean` before an abort, a stall or another error between ranks ends
    /// this process, because nothing is dropped then. It replaces an earlier `clean`. Other backends return
    /// errors and never call it. Local.
    pub fn before_end(&self, clean: impl FnOnce() + Send + 'static) {
        self.endpoint().transport().before_end(Box::new(clean));
    }

    /// Makes all ranks fail: all calls that this rank has not finished give [`CommError::Aborted`] with this
    /// rank, its stage and `message`; earlier ones succeed. Local. Returns the error of this rank, or an
    /// earlier one if there was one. If several ranks abort at once, each may keep its own error.
    ///
    /// In a program under MPI, it prints the error, ends every process of the job and does not return. If
    /// several ranks abort at once, only rank 0 prints.
    pub fn abort(&self, message: impl Into<String>) -> CommError {
        self.endpoint().abort(message.into())
    }

    /// The error that calls of this rank return after a failure, until it [recovers](Self::recover). Local.
    pub fn failure(&self) -> Option<CommError> {
        self.endpoint().failure().cloned()
    }

    /// Collective, after a failure: makes all ranks ready for calls again. Every rank calls it, each after
    /// its own error. A rank that calls it without an error makes the others fail first, as [`Comm::abort`]
    /// does.
    ///
    /// All messages of earlier calls are received and discarded. Afterwards the numbers of calls are the same
    /// on all ranks. Traffic and stages stay. It costs one sum over the ranks, the messages in flight, and
    /// one barrier.
    ///
    /// # Errors
    /// When a rank has ended, does not call it within [`crate::CommBuilder::recover_timeout`], or the MPI
    /// library refuses. The handle has then failed for good: all calls return the error, and messages in
    /// flight are never freed.
    pub fn recover(&self) -> Result<()> {
        self.endpoint().recover()
    }

    /// Collective: waits for all ranks, also after a failure, and frees their shared resources. Only this
    /// call frees the communicator of a guest of an MPI program. It costs as much as [`Comm::recover`].
    ///
    /// # Errors
    /// When a rank does not call it within [`crate::CommBuilder::recover_timeout`], has ended, or the MPI
    /// library refuses. The shared resources are then never freed.
    pub fn close(self) -> Result<()> {
        self.endpoint().close()
    }
}
