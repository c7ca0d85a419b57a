//! Tasks: a graph of them, and a team of threads that runs it.
//!
//! A [`Plan`] is the graph: stages of numbered tasks, what must come before what, costs, homes. It is built
//! once and can be run many times, each time with other [`Bodies`]: what the tasks of each stage do. A [`Team`]
//! is a number of workers and where each of them sits on the machine.
//!
//! Architecture invariants: knows no physics, no cells, no ranks and no files. No `unsafe`. A task runs once
//! (or until it says [`Step::Done`]), after everything that it depends on, and sees what that wrote. Nothing
//! that a task computes may depend on which worker runs it. `README.md` in this crate describes the protocol.
#![forbid(unsafe_code)]

mod bodies;
mod dot;
mod plan;
mod queue;
mod run;
mod sleep;
mod sync;
mod tally;
mod team;

#[cfg(all(test, loom))]
mod model;

pub use bodies::{Bodies, Cause, Failure, Step};
pub use plan::{Plan, PlanError, Planner, Stage};
pub use tally::{Span, Tally, WorkerTally};
pub use team::{Distance, Seat, Team};
