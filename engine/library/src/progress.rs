//! Reports of progress to the caller; the library itself prints nothing.

use inselberg_tasks::{Tally, TaskGraph};

/// Observes a run. Every method may be called from any thread; all are optional.
pub trait Observer: Sync {
    /// A stage begins; `work` is its size in its own units (files, cells, tasks).
    fn begin(&self, stage: &'static str, work: u64) {
        let _ = (stage, work);
    }

    /// `done` more units of the current stage are finished.
    fn advance(&self, done: u64) {
        let _ = done;
    }

    /// Within the current stage a graph of tasks begins, whose costs add up to `cost`. Returns whether its
    /// tasks report their costs.
    fn begin_tasks(&self, name: &'static str, cost: u64) -> bool {
        let _ = (name, cost);
        false
    }

    /// Tasks of this cost are finished, of the graph that began last.
    fn advance_tasks(&self, cost: u64) {
        let _ = cost;
    }

    /// The stage ended; `cells` is the number of cells that it went through.
    fn end(&self, stage: &'static str, cells: u64) {
        let _ = (stage, cells);
    }

    /// A graph of tasks was run.
    fn ran(&self, name: &'static str, plan: &TaskGraph, tally: &Tally) {
        let _ = (name, plan, tally);
    }
}

/// An observer that ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}
