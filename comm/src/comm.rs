//! The handle of a rank.

use crate::backend::Backend;
use crate::backend::traced::MessageTrace;
use crate::endpoint::Endpoint;
use crate::settings::Settings;
use crate::{CommError, Pulse, Rank, Result, StageTraffic, ThreadLevel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The handle of one rank. It may move between threads as far as [`Comm::thread_level`] allows.
///
/// All ranks make the calls marked *collective*, in the same order. Such a call ends on no rank before every rank has begun
/// it.
///
/// Clones are handles of the same rank: a program that lends its rank to an engine keeps one. Dropping the last one does not
/// communicate, unless it is the rank of a program of its own (`Comm::mpi`).
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

    /// The rank, which nobody else has a handle of yet.
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

    /// Sets the stage of this rank: errors name it, and traffic is counted for it. Local; a sign of life for the watchdog.
    pub fn at(&self, stage: &'static str) {
        self.endpoint().enter(stage);
    }

    /// The current stage; empty before the first. Local.
    pub fn stage(&self) -> &'static str {
        self.endpoint().stage()
    }

    /// A handle by which any thread can give signs of life while this rank makes no call. Local. See [`crate::CommBuilder::stall_timeout`].
    pub fn pulse(&self) -> Pulse {
        self.endpoint().transport().pulse()
    }

    /// Traffic and times of this rank so far, by stage, in the order of their first use. Local.
    pub fn traffic(&self) -> Vec<StageTraffic> {
        let mut endpoint = self.endpoint();
        let lap = endpoint.traffic.lap();
        endpoint.traffic.now().work += lap;
        endpoint.traffic.stages().to_vec()
    }

    /// Messages that the watchdog of this rank sent so far ([`crate::CommBuilder::stall_timeout`]). They count nowhere else. Local.
    pub fn watch_messages(&self) -> u64 {
        self.endpoint().transport().watch_messages()
    }

    /// What this rank called, sent and received so far, if that is noted ([`crate::CommBuilder::traced`]). Local.
    pub fn notes(&self) -> Vec<MessageTrace> {
        self.endpoint().notes().to_vec()
    }

    /// From which threads calls may be made: what the MPI library allows; [`ThreadLevel::Multiple`] elsewhere. Below
    /// [`ThreadLevel::Serialized`] a call from another thread than the one that built the rank is
    /// [`CommError::WrongThread`]. Local.
    pub fn thread_level(&self) -> ThreadLevel {
        self.endpoint().transport().thread_level()
    }

    /// In a program of its own under MPI, `clean` is called before an abort, a stall or another error between ranks ends this
    /// process, where nothing is dropped; it replaces an earlier one. Elsewhere errors are handed back
    /// and it is never called. Local.
    pub fn before_end(&self, clean: impl FnOnce() + Send + 'static) {
        self.endpoint().transport().before_end(Box::new(clean));
    }

    /// Makes all ranks fail: all calls that this rank has not finished give [`CommError::Aborted`] with this rank, its stage
    /// and `message`; earlier ones succeed. Local. Hands back the error of this rank, an earlier one if there was one. Where
    /// several ranks do so at once, each may keep its own error.
    ///
    /// In a program of its own under MPI it prints the error, ends every process of the job and does not return; where
    /// several ranks do so at once, rank 0 speaks for all.
    pub fn abort(&self, message: impl Into<String>) -> CommError {
        self.endpoint().abort(message.into())
    }

    /// The error that calls of this rank give since a failure, until it [recovers](Self::recover). Local.
    pub fn failure(&self) -> Option<CommError> {
        self.endpoint().failure().cloned()
    }

    /// Collective, after a failure: makes all ranks ready for calls again. Every rank calls it, each after its own error.
    /// A rank that calls it without an error makes the others fail first, as [`Comm::abort`] does.
    ///
    /// All messages of earlier calls are received and discarded. Afterwards the numbers of calls are the same on all ranks.
    /// Traffic and stages stay. It costs one sum over the ranks, the rest of what was under way, and one barrier.
    ///
    /// # Errors
    /// When a rank has ended, does not come within [`crate::CommBuilder::recover_timeout`], or the MPI library refuses. The
    /// handle has then failed for good: all calls give the error, and messages that are under way are never freed.
    pub fn recover(&self) -> Result<()> {
        self.endpoint().recover()
    }

    /// Collective: waits for all ranks, after a failure as well, and frees what they hold together. A guest of an MPI
    /// program gives its communicator back here and nowhere else. It costs as much as [`Comm::recover`].
    ///
    /// # Errors
    /// When a rank does not come within [`crate::CommBuilder::recover_timeout`], has ended, or the MPI library refuses. What
    /// the ranks hold together is then never freed.
    pub fn close(self) -> Result<()> {
        self.endpoint().close()
    }
}
