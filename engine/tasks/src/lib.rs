//! Tasks: a graph of them, and a team of threads that runs it.
//!
//! A [`TaskGraph`] is the graph: stages of numbered tasks, what must come before what, costs, homes. It is built
//! once and can be run many times, each time with other [`TaskFns`]: what the tasks of each stage do. A [`ThreadPool`]
//! is a number of workers and where each of them sits on the machine.
//!
//! Architecture invariants: knows no physics, no cells, no ranks and no files. No `unsafe`. A task runs once
//! (or until it says [`TaskStep::Done`]), after everything that it depends on, and sees what that wrote. Nothing
//! that a task computes may depend on which worker runs it. `README.md` in this crate describes the protocol.
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
