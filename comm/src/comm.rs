//! The handle of a rank.

use crate::backend::Backend;
use crate::backend::traced::MessageTrace;
use crate::endpoint::Endpoint;
use crate::settings::Settings;
use crate::{CommError, Pulse, Rank, StageTraffic};
use std::cell::RefCell;

/// The handle of one rank. It stays in the thread that built it.
///
/// All ranks make the calls marked *collective*, in the same order. Such a call ends on no rank before every rank has begun
/// it.
#[derive(Debug)]
pub struct Comm {
    pub(crate) endpoint: RefCell<Endpoint>,
}

impl Comm {
    /// One rank alone.
    pub fn solo() -> Self {
        Self::new(Endpoint::new(Backend::solo(), Settings::default()))
    }

    pub(crate) fn new(endpoint: Endpoint) -> Self {
        Self { endpoint: RefCell::new(endpoint) }
    }

    /// The number of this rank. Local.
    pub fn rank(&self) -> Rank {
        self.endpoint.borrow().rank()
    }

    /// Number of ranks. Local.
    pub fn n_ranks(&self) -> usize {
        self.endpoint.borrow().n_ranks()
    }

    /// Sets the stage of this rank: errors name it, and traffic is counted for it. Local; a sign of life for the watchdog.
    pub fn at(&self, stage: &'static str) {
        self.endpoint.borrow_mut().enter(stage);
    }

    /// The current stage; empty before the first. Local.
    pub fn stage(&self) -> &'static str {
        self.endpoint.borrow().stage()
    }

    /// A handle by which any thread can give signs of life while this rank makes no call. Local. See [`crate::CommBuilder::stall_timeout`].
    pub fn pulse(&self) -> Pulse {
        self.endpoint.borrow_mut().transport().pulse()
    }

    /// Traffic and times of this rank so far, by stage, in the order of their first use. Local.
    pub fn traffic(&self) -> Vec<StageTraffic> {
        let mut endpoint = self.endpoint.borrow_mut();
        let lap = endpoint.traffic.lap();
        endpoint.traffic.now().work += lap;
        endpoint.traffic.stages().to_vec()
    }

    /// Messages that the watchdog of this rank sent so far ([`crate::CommBuilder::stall_timeout`]). They count nowhere else. Local.
    pub fn watch_messages(&self) -> u64 {
        self.endpoint.borrow_mut().transport().watch_messages()
    }

    /// What this rank called, sent and received so far, if that is noted ([`crate::CommBuilder::traced`]). Local.
    pub fn notes(&self) -> Vec<MessageTrace> {
        self.endpoint.borrow().notes().to_vec()
    }

    /// Under MPI, `clean` is called before an abort, a stall or another error between ranks ends this
    /// process, where nothing is dropped; it replaces an earlier one. Elsewhere errors are handed back
    /// and it is never called. Local.
    pub fn before_end(&self, clean: impl FnOnce() + Send + 'static) {
        self.endpoint.borrow_mut().transport().before_end(Box::new(clean));
    }

    /// Ends the job for all ranks: their pending and later calls give [`CommError::Aborted`] with this
    /// rank, its stage and `message`. Local. Hands back the error that ended the job, an earlier one if
    /// there was one; under MPI it prints the error, ends every process of the job and does not return.
    /// Where several ranks do so at once, rank 0 speaks for all.
    pub fn abort(&self, message: impl Into<String>) -> CommError {
        self.endpoint.borrow_mut().abort(message.into())
    }
}
