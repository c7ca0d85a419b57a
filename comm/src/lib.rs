//! How do ranks exchange bytes?
//!
//! One type, [`Comm`], stands for every way to run ranks: alone, as threads of this process, or (feature
//! `mpi`) as processes of an MPI job, which is the program's own or that of a host. A [`CommBuilder`] is sent
//! to the thread of a rank and builds its `Comm` there; [`run_threads`] does that for a function.
//! `comm/README.md` describes the protocols.
//!
//! This crate contains no physics, no cells and no files. Its backends are private.
//!
//! Invariants: results never depend on the order in which messages arrive. No call panics because of another
//! rank: a failure elsewhere is a [`CommError`] on every rank. After the first error, all calls return it
//! again, until [`Comm::recover`]. `unsafe` occurs only in `backend/mpi/`.

#![cfg_attr(
    not(test),
    deny(clippy::disallowed_methods, clippy::exit, clippy::print_stderr, clippy::print_stdout)
)]
#![cfg_attr(not(feature = "mpi"), forbid(unsafe_code))]

pub mod agree;
mod backend;
mod builder;
mod collective;
mod comm;
mod endpoint;
mod error;
#[cfg(all(test, loom))]
mod model;
mod pulse;
mod rank;
mod records;
mod run;
mod settings;
mod sparse;
mod sync;
mod thread_level;
mod traffic;
mod tree_shape;
mod watchdog;

/// Types that may be sent: plain values without padding.
pub use bytemuck::Pod;

#[cfg(feature = "mpi")]
pub use backend::mpi::HostComm;
pub use backend::traced::MessageTrace;
pub use builder::CommBuilder;
pub use collective::Reduce;
pub use comm::Comm;
pub use error::{CommError, Result};
pub use pulse::Pulse;
pub use rank::Rank;
pub use run::{run_ranks, run_threads};
pub use settings::{RECOVER_TIMEOUT, Report, Settings};
pub use sparse::SparseAlgorithm;
pub use thread_level::ThreadLevel;
pub use traffic::{StageTraffic, ThreadClock};
