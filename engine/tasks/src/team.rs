//! Workers, and where they sit.

use rayon_core::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Where a worker sits: numbers that are equal for workers that share the thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seat {
    /// The last-level cache.
    pub cache: u32,
    /// The NUMA node.
    pub node: u32,
}

/// How far apart two workers sit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Distance {
    /// On one last-level cache.
    Cache,
    /// On one NUMA node.
    Node,
    /// On different nodes.
    Far,
}

impl Seat {
    /// How far the other seat is.
    pub fn to(self, other: Self) -> Distance {
        match other {
            Self { node, .. } if node != self.node => Distance::Far,
            Self { cache, .. } if cache != self.cache => Distance::Node,
            _ => Distance::Cache,
        }
    }
}

/// What a worker does before its first task; it is told its number.
type Settle = Arc<dyn Fn(usize) + Send + Sync>;

/// A number of workers, each a thread that waits between runs. Clones are the same workers.
#[derive(Clone)]
pub struct Team {
    seats: Vec<Seat>,
    settle: Option<Settle>,
    threads: Arc<Mutex<Option<Arc<ThreadPool>>>>,
    traced: bool,
    is_caller: bool,
}

impl Team {
    /// A team on seats of its own, at least one.
    pub fn new(seats: Vec<Seat>) -> Self {
        let seats = if seats.is_empty() { vec![Seat::default()] } else { seats };
        Self { seats, settle: None, threads: Arc::default(), traced: false, is_caller: false }
    }

    /// So many workers about whose seats nothing is known.
    pub fn of(n_workers: usize) -> Self {
        Self::new(vec![Seat::default(); n_workers])
    }

    /// One worker, which is the thread that calls: it also does the caller's tasks, each as soon as it may, and
    /// other tasks wait while one of these waits. So all work is in that thread, and its clock shows it.
    pub fn of_caller() -> Self {
        Self { is_caller: true, ..Self::of(1) }
    }

    /// Whether its one worker is the thread that calls.
    pub(crate) fn is_caller(&self) -> bool {
        self.is_caller
    }

    /// What each worker does in its thread before its first run, given its number: bind itself to its core.
    #[must_use]
    pub fn settle(mut self, settle: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.settle = Some(Arc::new(settle));
        self.threads = Arc::default();
        self
    }

    /// Also remembers when and where every task ran: 64 bytes a task.
    #[must_use]
    pub fn traced(mut self, traced: bool) -> Self {
        self.traced = traced;
        self
    }

    /// Number of workers.
    pub fn len(&self) -> usize {
        self.seats.len()
    }

    /// Never.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Whether tasks are remembered.
    pub fn is_traced(&self) -> bool {
        self.traced
    }

    /// The seats, worker by worker.
    pub fn seats(&self) -> &[Seat] {
        &self.seats
    }

    /// How many of the workers are of use for so many tasks. All of them where each has its place, near some memory.
    pub(crate) fn n_useful(&self, n_tasks: usize) -> usize {
        if self.settle.is_some() { self.len() } else { self.len().min(n_tasks).max(1) }
    }

    /// The threads of the first `n` workers, or of more, number for number; started by the first call that needs them.
    ///
    /// # Errors
    /// When the system has no threads left.
    pub(crate) fn threads(&self, n: usize) -> Result<Arc<ThreadPool>, ThreadPoolBuildError> {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(enough) = threads.as_ref().filter(|threads| threads.current_num_threads() >= n) {
            return Ok(Arc::clone(enough));
        }
        let n = n.next_power_of_two().min(self.len());
        let mut builder =
            ThreadPoolBuilder::new().num_threads(n).thread_name(|worker| format!("worker {worker}"));
        if let Some(settle) = self.settle.clone() {
            builder = builder.start_handler(move |worker| settle(worker));
        }
        // Those that were too few end first.
        *threads = None;
        Ok(Arc::clone(threads.insert(Arc::new(builder.build()?))))
    }

    /// The others of the first `n` workers as seen from one, nearest first, and among those as near the next in number.
    pub(crate) fn others(&self, worker: usize, n: usize) -> Vec<(usize, Distance)> {
        let around = (1..n).map(|step| (worker + step) % n);
        let mut others: Vec<_> = around.map(|w| (w, self.seats[worker].to(self.seats[w]))).collect();
        others.sort_by_key(|(_, distance)| *distance);
        others
    }
}

impl fmt::Debug for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Team")
            .field("seats", &self.seats)
            .field("traced", &self.traced)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn nearest_first() {
        let seat = |cache, node| Seat { cache, node };
        let team = Team::new(vec![seat(0, 0), seat(2, 1), seat(1, 0), seat(0, 0), seat(1, 0)]);
        let others: Vec<usize> = team.others(0, 5).into_iter().map(|(w, _)| w).collect();
        assert_eq!(others, [3, 2, 4, 1]);
        let others = team.others(4, 5);
        assert_eq!(others[0], (2, Distance::Cache));
        assert_eq!(others[3], (1, Distance::Far));
    }
}
