//! Measurements of a run.

use crate::graph::TaskGraph;
use crate::thread_pool::Distance;
use std::time::{Duration, Instant};

/// One task on one worker.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// The name of its stage.
    pub stage: &'static str,
    /// Its number there.
    pub item: u32,
    /// When it began.
    pub begin: Instant,
    /// Its duration.
    pub took: Duration,
    /// The distance over which it was stolen; `None` if it was not.
    pub stolen: Option<Distance>,
}

/// Measurements of one worker.
#[derive(Debug, Clone, Default)]
pub struct WorkerTally {
    /// Tasks that it ran.
    pub n_tasks: u64,
    /// The time in which tasks ran on it.
    pub busy: Duration,
    /// Tasks that it stole: on its cache, on its node, from another node.
    pub stolen: [u64; 3],
    /// Bytes of memory that its tasks were the first to touch.
    pub touched: u64,
    /// Every task, if the pool is traced.
    pub spans: Vec<Span>,
}

/// Measurements of a run.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// From its begin to its end.
    pub wall: Duration,
    /// Per worker.
    pub workers: Vec<WorkerTally>,
    /// The calling thread, if the graph has tasks for it.
    pub caller: Option<WorkerTally>,
}

impl Tally {
    /// The share of the workers' time in which they ran no task.
    pub fn idle(&self) -> f64 {
        let whole = self.wall.as_secs_f64() * self.workers.len() as f64;
        let busy: f64 = self.workers.iter().map(|w| w.busy.as_secs_f64()).sum();
        if whole > 0.0 { 1.0 - busy / whole } else { 0.0 }
    }
}

impl WorkerTally {
    /// Records a task that began at `begin` and has just ended. Returns the time now.
    pub(crate) fn ran(
        &mut self,
        graph: &TaskGraph,
        task: u32,
        begin: Instant,
        stolen: Option<Distance>,
        traced: bool,
    ) -> Instant {
        let now = Instant::now();
        let took = now - begin;
        self.n_tasks += 1;
        self.busy += took;
        self.touched += graph.touched(task);
        if let Some(distance) = stolen {
            self.stolen[distance as usize] += 1;
        }
        if traced {
            let (stage, item) = (graph.stage(task).name, graph.item(task));
            self.spans.push(Span { stage, item, begin, took, stolen });
        }
        now
    }
}
