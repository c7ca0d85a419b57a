//! Workers, and their places on the machine.

use rayon_core::{ThreadPoolBuildError, ThreadPoolBuilder};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The units of a graph's cost that are divided among workers.
const SHARES: u64 = 1 << 16;

/// The place of a worker: workers that share a cache or a node have equal numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seat {
    /// The last-level cache.
    pub cache: u32,
    /// The NUMA node.
    pub node: u32,
    /// The speed of its processor beside that of others, in any unit; 0 counts as 1.
    pub speed: u32,
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

/// The seats of workers.
#[derive(Clone)]
enum WorkerSeats {
    /// Each worker stays where it is.
    Fixed(Vec<Seat>),
    /// The system moves them. Each says where it is when a run begins.
    Seen(Arc<SeenSeats>),
}

/// Where workers were when they were last seen.
struct SeenSeats {
    locate: Box<dyn Fn() -> Seat + Send + Sync>,
    seats: Vec<Mutex<Seat>>,
}

impl SeenSeats {
    /// The calling thread is `worker`.
    fn note(&self, worker: usize) {
        if let Some(seat) = self.seats.get(worker) {
            *seat.lock().unwrap_or_else(PoisonError::into_inner) = (self.locate)();
        }
    }
}

/// The workers of a rank. Clones are the same workers.
#[derive(Clone)]
pub struct ThreadPool {
    seats: WorkerSeats,
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
        Self {
            seats: WorkerSeats::Fixed(seats),
            threads: WorkerThreads::Own(Arc::default()),
            is_placed: false,
            traced: false,
        }
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

    /// As [`Self::from_current`], for workers that the system may move. `locate` returns the seat of the
    /// thread that calls it. Workers call it here and at the begin of each run.
    pub fn from_current_located(locate: impl Fn() -> Seat + Send + Sync + 'static) -> Self {
        let pool = Self::from_current();
        let seats = (0..pool.len()).map(|_| Mutex::default()).collect();
        let seen = Arc::new(SeenSeats { locate: Box::new(locate), seats });
        match rayon_core::current_thread_index() {
            None => seen.note(0),
            Some(own) => drop(rayon_core::broadcast(|thread| {
                seen.note((thread.index() + thread.num_threads() - own) % thread.num_threads());
            })),
        }
        Self { seats: WorkerSeats::Seen(seen), ..pool }
    }

    /// The calling thread begins to work as `worker`.
    pub(crate) fn note(&self, worker: usize) {
        if let WorkerSeats::Seen(seen) = &self.seats {
            seen.note(worker);
        }
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
        match &self.seats {
            WorkerSeats::Fixed(seats) => seats.len(),
            WorkerSeats::Seen(seen) => seen.seats.len(),
        }
    }

    /// Always false: there is at least one worker.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Whether tasks are recorded.
    pub fn is_traced(&self) -> bool {
        self.traced
    }

    /// The seats, worker by worker. Workers that the system moves have those where they were last seen.
    pub fn seats(&self) -> Vec<Seat> {
        match &self.seats {
            WorkerSeats::Fixed(seats) => seats.clone(),
            WorkerSeats::Seen(seen) => {
                seen.seats.iter().map(|seat| *seat.lock().unwrap_or_else(PoisonError::into_inner)).collect()
            }
        }
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
}

/// The others of the workers on `seats`, nearest to `worker` first, then by number after it.
pub(crate) fn others(seats: &[Seat], worker: usize) -> Vec<(usize, Distance)> {
    let around = (1..seats.len()).map(|step| (worker + step) % seats.len());
    let mut others: Vec<_> = around.map(|w| (w, seats[worker].to(seats[w]))).collect();
    others.sort_by_key(|(_, distance)| *distance);
    others
}

/// The end of each worker's part of a graph's cost, of 65 536 in all. Parts are as the speeds of the seats.
pub(crate) fn ends_of_shares(seats: &[Seat]) -> Vec<u32> {
    let speed = |seat: &Seat| u64::from(seat.speed.max(1));
    let total: u64 = seats.iter().map(speed).sum();
    let mut sum = 0;
    seats
        .iter()
        .map(|seat| {
            sum += speed(seat);
            (SHARES * sum).div_ceil(total) as u32
        })
        .collect()
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool")
            .field("seats", &self.seats())
            .field("traced", &self.traced)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn nearest_first() {
        let seat = |cache, node| Seat { cache, node, speed: 1 };
        let seats = [seat(0, 0), seat(2, 1), seat(1, 0), seat(0, 0), seat(1, 0)];
        let of_first: Vec<usize> = others(&seats, 0).into_iter().map(|(w, _)| w).collect();
        assert_eq!(of_first, [3, 2, 4, 1]);
        let of_last = others(&seats, 4);
        assert_eq!(of_last[0], (2, Distance::Cache));
        assert_eq!(of_last[3], (1, Distance::Far));
    }

    #[test]
    fn a_fast_core_has_a_larger_part() {
        let seats = |speeds: &[u32]| -> Vec<Seat> {
            speeds.iter().map(|speed| Seat { speed: *speed, ..Seat::default() }).collect()
        };
        assert_eq!(ends_of_shares(&seats(&[1024, 512, 512])), [1 << 15, 3 << 14, 1 << 16]);
        assert_eq!(ends_of_shares(&seats(&[0, 0])), [1 << 15, 1 << 16]);
        // As without speeds: worker w has the shares s with s * n >> 16 == w.
        for n in 1..100_u32 {
            let ends = ends_of_shares(&vec![Seat::default(); n as usize]);
            let of = |share: u32| ends.partition_point(|end| *end <= share) as u32;
            assert!((0..1 << 16).step_by(7).all(|share| of(share) == (share * n) >> 16), "{n}");
        }
    }

    #[test]
    fn workers_that_move_are_seen_where_they_are() {
        let nodes = Arc::new(std::sync::atomic::AtomicU32::new(0));
        let threads = ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
        threads.install(|| {
            let counter = Arc::clone(&nodes);
            let locate = move || {
                let node = counter.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                Seat { node, ..Seat::default() }
            };
            let pool = ThreadPool::from_current_located(locate);
            let mut seen: Vec<u32> = pool.seats().iter().map(|seat| seat.node).collect();
            seen.sort_unstable();
            assert_eq!(seen, [0, 1, 2]);
            pool.note(1);
            assert_eq!(pool.seats()[1].node, 3);
        });
    }
}
