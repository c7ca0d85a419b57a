//! Ranks and bytes: what one rank can ask of all the others.
//!
//! One concrete type, [`Comm`], stands for every way in which ranks may be run: alone, as threads of
//! this process, or (feature `mpi`) as processes of an MPI job. A [`CommBuilder`] crosses to the
//! thread of a rank and builds its `Comm` there; [`run_threads`] does that for functions.
//!
//! Architecture invariants: knows no physics, no cells and no files. The backends are not visible
//! outside. Results never depend on the order in which messages arrive. No call panics because of
//! another rank: what goes wrong elsewhere is a [`CommError`] here, and after the first error a rank
//! makes no further calls. `unsafe` only in `backend/mpi.rs`. The protocols are in `comm/README.md`.
#![cfg_attr(not(feature = "mpi"), forbid(unsafe_code))]

pub mod agree;
mod backend;
mod builder;
mod collective;
mod endpoint;
mod error;
#[cfg(all(test, loom))]
mod model;
mod pulse;
mod records;
mod run;
mod sparse;
mod sync;
mod traffic;

/// What may cross between ranks: plain values without padding.
pub use bytemuck::Pod;

pub use backend::traced::MessageTrace;
pub use builder::{CommBuilder, Report, Settings};
pub use collective::Reduce;
pub use error::CommError;
pub use pulse::Pulse;
pub use run::{run_ranks, run_threads};
pub use sparse::SparseAlgorithm;
pub use traffic::{StageTraffic, ThreadClock};

use endpoint::Endpoint;
use std::cell::RefCell;

/// What a call of this crate gives.
pub type Result<T> = std::result::Result<T, CommError>;

/// The number of a rank, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rank(pub u32);

impl Rank {
    /// As an index.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

impl std::fmt::Display for Rank {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rank {}", self.0)
    }
}

/// This rank's end of the world. Stays in the thread that built it.
///
/// The calls marked *collective* are made by all ranks in the same order; each ends on no rank before
/// every rank has begun it.
#[derive(Debug)]
pub struct Comm {
    endpoint: RefCell<Endpoint>,
}

impl Comm {
    /// A world of one rank.
    pub fn solo() -> Self {
        Self::new(Endpoint::new(backend::Backend::solo(), Settings::default()))
    }

    pub(crate) fn new(endpoint: Endpoint) -> Self {
        Self { endpoint: RefCell::new(endpoint) }
    }

    /// Which rank this is. Local.
    pub fn rank(&self) -> Rank {
        self.endpoint.borrow().rank()
    }

    /// Number of ranks. Local.
    pub fn n_ranks(&self) -> usize {
        self.endpoint.borrow().n_ranks()
    }

    /// Says where this rank stands from now on: the stage that errors name and that traffic is
    /// counted for. Local, and counts as a sign of life for the watchdog.
    pub fn at(&self, stage: &'static str) {
        self.endpoint.borrow_mut().enter(stage);
    }

    /// The stage that was named last; empty before the first. Local.
    pub fn stage(&self) -> &'static str {
        self.endpoint.borrow().stage()
    }

    /// A handle with which any thread can say that this rank still works, for as long as it makes no
    /// call. Local. See [`CommBuilder::stall_timeout`].
    pub fn pulse(&self) -> Pulse {
        self.endpoint.borrow_mut().transport().pulse()
    }

    /// What this rank sent and worked so far, by stage in the order of their first use. Local.
    pub fn traffic(&self) -> Vec<StageTraffic> {
        let mut endpoint = self.endpoint.borrow_mut();
        let lap = endpoint.traffic.lap();
        endpoint.traffic.now().work += lap;
        endpoint.traffic.stages().to_vec()
    }

    /// Messages that the watchdog of this rank sent so far ([`CommBuilder::stall_timeout`]). They count nowhere else. Local.
    pub fn watch_messages(&self) -> u64 {
        self.endpoint.borrow_mut().transport().watch_messages()
    }

    /// What this rank called, sent and received so far, if that is noted ([`CommBuilder::traced`]). Local.
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
