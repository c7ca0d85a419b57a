//! Graphs of tasks, and the threads that run them.
//!
//! A [`TaskGraph`] has stages of numbered tasks with dependencies, costs and homes. It is built once and runs
//! many times, each time with other [`TaskFns`]: the functions of its stages. A [`ThreadPool`] is a number of
//! workers and their places on the machine.
//!
//! This crate contains no physics, cells, ranks or files, and no `unsafe`. A task runs once (or until it
//! returns [`TaskStep::Done`]), after every task that it depends on, and sees their writes. No result of a
//! task may depend on the worker that runs it. `README.md` describes the protocol.
#![cfg_attr(
    not(test),
    deny(clippy::disallowed_methods, clippy::exit, clippy::print_stderr, clippy::print_stdout)
)]
#![forbid(unsafe_code)]

mod dot;
mod graph;
mod queue;
mod run;
mod sleep;
mod sync;
mod tally;
mod task_fns;
mod thread_pool;

#[cfg(all(test, loom))]
mod model;

pub use graph::{GraphBuilder, GraphError, StageId, TaskGraph};
pub use tally::{Span, Tally, WorkerTally};
pub use task_fns::{Cause, TaskFailure, TaskFns, TaskStep};
pub use thread_pool::{Distance, Seat, ThreadPool};
