//! Workers, and their places on the machine.

use rayon_core::{ThreadPoolBuildError, ThreadPoolBuilder};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The place of a worker: workers that share a cache or a node have equal numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seat {
    /// The last-level cache.
    pub cache: u32,
    /// The NUMA node.
    pub node: u32,
}

/// The distance between two workers.
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
    /// The distance to another seat.
    pub fn to(self, other: Self) -> Distance {
        match other {
            Self { node, .. } if node != self.node => Distance::Far,
            Self { cache, .. } if cache != self.cache => Distance::Node,
            _ => Distance::Cache,
        }
    }
}

/// The workers of a rank. Clones are the same workers.
#[derive(Clone)]
pub struct ThreadPool {
    seats: Vec<Seat>,
    threads: WorkerThreads,
    /// Whether each worker has a place of its own on the machine.
    is_placed: bool,
    traced: bool,
}

/// The threads of the workers.
#[derive(Clone)]
enum WorkerThreads {
    /// Threads that only this pool has, started by the first graph that needs them. The calling thread runs
    /// only the caller's tasks.
    Own(Arc<Mutex<Option<Arc<rayon_core::ThreadPool>>>>),
    /// The rayon pool that the calling thread belongs to. The calling thread is the first worker, and does
    /// the caller's tasks as well.
    Current,
}

impl ThreadPool {
    /// Workers with threads of their own, one per seat and at least one.
    pub fn new(seats: Vec<Seat>) -> Self {
        let seats = if seats.is_empty() { vec![Seat::default()] } else { seats };
        Self { seats, threads: WorkerThreads::Own(Arc::default()), is_placed: false, traced: false }
    }

    /// `n_workers` workers with their own threads, at unknown places.
    pub fn with_threads(n_workers: usize) -> Self {
        Self::new(vec![Seat::default(); n_workers])
    }

    /// The threads of the rayon pool that the calling thread belongs to, the calling thread first. Plain
    /// parallel loops of the calling thread run on the same threads. A thread that belongs to no pool runs
    /// everything itself.
    pub fn from_current() -> Self {
        let n_workers = rayon_core::current_thread_index().map_or(1, |_| rayon_core::current_num_threads());
        Self { threads: WorkerThreads::Current, ..Self::with_threads(n_workers) }
    }

    /// As [`Self::from_current`], with a known place on the machine for each worker.
    pub fn from_current_placed(seats: Vec<Seat>) -> Self {
        Self { is_placed: true, threads: WorkerThreads::Current, ..Self::new(seats) }
    }

    /// Whether the calling thread is the first worker.
    pub(crate) fn is_current(&self) -> bool {
        matches!(self.threads, WorkerThreads::Current)
    }

    /// Also records when and where every task runs: 64 bytes per task.
    #[must_use]
    pub fn traced(mut self, traced: bool) -> Self {
        self.traced = traced;
        self
    }

    /// Number of workers.
    pub fn len(&self) -> usize {
        self.seats.len()
    }

    /// Always false: there is at least one worker.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Whether tasks are recorded.
    pub fn is_traced(&self) -> bool {
        self.traced
    }

    /// The seats, worker by worker.
    pub fn seats(&self) -> &[Seat] {
        &self.seats
    }

    /// The number of workers for `n_tasks` tasks: all of them if each has its own place on the machine.
    pub(crate) fn n_useful(&self, n_tasks: usize) -> usize {
        let n_threads = match self.threads {
            WorkerThreads::Own(_) => self.len(),
            WorkerThreads::Current => {
                rayon_core::current_thread_index().map_or(1, |_| rayon_core::current_num_threads())
            }
        };
        let n_useful = if self.is_placed { self.len() } else { self.len().min(n_tasks) };
        n_useful.clamp(1, n_threads)
    }

    /// The pool whose threads are the first `n` workers, or more; `None` for that of the calling thread.
    ///
    /// # Errors
    /// When the system has no threads left.
    pub(crate) fn own_threads(
        &self,
        n: usize,
    ) -> Result<Option<Arc<rayon_core::ThreadPool>>, ThreadPoolBuildError> {
        let WorkerThreads::Own(threads) = &self.threads else { return Ok(None) };
        let mut threads = threads.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(enough) = threads.as_ref().filter(|threads| threads.current_num_threads() >= n) {
            return Ok(Some(Arc::clone(enough)));
        }
        let n = n.next_power_of_two().min(self.len());
        let builder =
            ThreadPoolBuilder::new().num_threads(n).thread_name(|worker| format!("worker {worker}"));
        // A smaller set of threads ends first.
        *threads = None;
        Ok(Some(Arc::clone(threads.insert(Arc::new(builder.build()?)))))
    }

    /// The others of the first `n` workers, nearest to `worker` first, then by number after it.
    pub(crate) fn others(&self, worker: usize, n: usize) -> Vec<(usize, Distance)> {
        let around = (1..n).map(|step| (worker + step) % n);
        let mut others: Vec<_> = around.map(|w| (w, self.seats[worker].to(self.seats[w]))).collect();
        others.sort_by_key(|(_, distance)| *distance);
        others
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool")
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
        let pool = ThreadPool::new(vec![seat(0, 0), seat(2, 1), seat(1, 0), seat(0, 0), seat(1, 0)]);
        let others: Vec<usize> = pool.others(0, 5).into_iter().map(|(w, _)| w).collect();
        assert_eq!(others, [3, 2, 4, 1]);
        let others = pool.others(4, 5);
        assert_eq!(others[0], (2, Distance::Cache));
        assert_eq!(others[3], (1, Distance::Far));
    }
}
