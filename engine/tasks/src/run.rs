//! A run of a graph: workers take tasks, run them, and release the tasks that waited for them.

use crate::graph::{By, TaskGraph};
use crate::queue::{HomeTasks, WorkerQueue};
use crate::sleep::Sleep;
use crate::sync::{AtomicBool, AtomicU32, AtomicUsize, Deque, Mutex, Ordering};
use crate::tally::{Tally, WorkerTally};
use crate::task_fns::{CallerBody, Cause, Hearing, TaskFailure, TaskFns, TaskStep, WorkerBody};
use crate::thread_pool::{Distance, ThreadPool, ends_of_shares, others};

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// The sleep of a worker whose only tasks returned [`TaskStep::NotYet`].
const NAP: Duration = Duration::from_micros(50);

/// How often a worker looks for work before it sleeps; it yields the core in between.
const LOOKS: u32 = 2;

/// The state that the threads of a run share.
pub(crate) struct GraphRun<'a> {
    graph: &'a TaskGraph,
    pool: &'a ThreadPool,
    fns: Vec<Option<WorkerBody<'a>>>,
    hearing: Option<Hearing<'a>>,
    traced: bool,
    /// Number of tasks that each task still waits for.
    needs: Vec<AtomicU32>,
    /// Tasks that are not done.
    left: AtomicUsize,
    queues: Vec<WorkerQueue>,
    /// The ends of the workers' parts of the cost.
    ends: Vec<u32>,
    /// Tasks of the caller.
    calls: HomeTasks,
    /// The workers, and after them the caller if it is not a worker.
    sleep: Sleep,
    /// The sleeper index of the caller.
    caller: usize,
    ended: AtomicBool,
    /// The first failure.
    pub failure: Mutex<Option<TaskFailure>>,
}

/// The result of a look for the caller's tasks.
enum Served {
    Task,
    NotYet,
    Nothing,
}

/// The deques of workers, each taken by the thread that works there, and what they did.
struct Seats(Vec<Mutex<(Option<Deque<u32>>, WorkerTally)>>);

impl Seats {
    fn new(deques: Vec<Deque<u32>>) -> Self {
        Self(deques.into_iter().map(|deque| Mutex::new((Some(deque), WorkerTally::default()))).collect())
    }

    /// Works as `worker`. A pool may have more threads, which an earlier run needed.
    fn work(&self, run: &GraphRun, worker: usize) {
        self.work_as(run, worker, worker);
    }

    fn work_as(&self, run: &GraphRun, seat: usize, worker: usize) {
        let Some(seat) = self.0.get(seat) else { return };
        let (deque, tally) = &mut *seat.lock();
        if let Some(deque) = deque.take() {
            *tally = run.work(worker, &deque);
        }
    }

    fn tallies(&self) -> Vec<WorkerTally> {
        self.0.iter().map(|seat| std::mem::take(&mut seat.lock().1)).collect()
    }
}

/// The state of a worker.
struct AtWork {
    /// Tasks that returned `NotYet`; the first one is tried next.
    waiting: VecDeque<u32>,
    /// Whether it is their turn.
    is_turn: bool,
    begin: Instant,
    tally: WorkerTally,
}

impl AtWork {
    fn new() -> Self {
        let tally = WorkerTally::default();
        Self { waiting: VecDeque::new(), is_turn: false, begin: Instant::now(), tally }
    }
}

impl TaskGraph {
    /// Runs every task on the workers of `pool`, and the caller's tasks in this thread.
    ///
    /// # Errors
    /// The first failure or panic of a task. Running tasks finish, others do not start.
    ///
    /// # Panics
    /// When a stage has no function.
    pub fn run(&self, pool: &ThreadPool, fns: TaskFns<'_>) -> Result<Tally, TaskFailure> {
        fns.check(self);
        let begin = Instant::now();
        let TaskFns { workers, mut caller, hearing } = fns;
        let n_workers = pool.n_useful(self.n_worker_tasks());
        let is_worker = pool.is_current() || n_workers == 1 && !self.has_caller_tasks();
        let (run, deques) = GraphRun::new(self, pool, (n_workers, is_worker), (workers, hearing));
        let mut tally = Tally::default();
        let threads = if is_worker { Ok(None) } else { pool.own_threads(n_workers) };
        (tally.workers, tally.caller) = match threads {
            Ok(Some(threads)) => run.beside(&threads, deques, &mut caller),
            Ok(None) if n_workers > 1 => run.among(deques, &mut caller),
            // Where the system starts no more threads, this one does all tasks; no result depends on that.
            Ok(None) | Err(_) => {
                let (worked, called) = run.work_and_serve(&deques[0], &mut caller);
                (vec![worked], called)
            }
        };
        // Workers that had nothing to do count as well.
        tally.workers.resize_with(pool.len(), WorkerTally::default);
        tally.wall = begin.elapsed();
        match run.failure.lock().take() {
            Some(failure) => Err(failure),
            None => Ok(tally),
        }
    }
}

impl<'a> GraphRun<'a> {
    /// A run with every task that waits for nothing in its queue, and the deque of each worker.
    pub fn new(
        graph: &'a TaskGraph,
        pool: &'a ThreadPool,
        (n_workers, is_caller_worker): (usize, bool),
        (fns, hearing): (Vec<Option<WorkerBody<'a>>>, Option<Hearing<'a>>),
    ) -> (Self, Vec<Deque<u32>>) {
        let deques: Vec<Deque<u32>> = (0..n_workers).map(|_| Deque::new_lifo()).collect();
        let seats = &pool.seats()[..n_workers];
        let queue = |(w, deque): (usize, &Deque<u32>)| WorkerQueue {
            inbox: HomeTasks::default(),
            stealer: deque.stealer(),
            others: others(seats, w),
        };
        let run = Self {
            graph,
            pool,
            fns,
            hearing,
            traced: pool.is_traced(),
            needs: graph.needs.iter().map(|n| AtomicU32::new(*n)).collect(),
            left: AtomicUsize::new(graph.len()),
            queues: deques.iter().enumerate().map(queue).collect(),
            ends: ends_of_shares(seats),
            calls: HomeTasks::default(),
            sleep: Sleep::new(n_workers + 1),
            caller: if is_caller_worker { 0 } else { n_workers },
            ended: AtomicBool::new(graph.is_empty()),
            failure: Mutex::new(None),
        };
        let ready: Vec<u32> = (0..graph.len() as u32).filter(|t| graph.needs[*t as usize] == 0).collect();
        run.hand_out(&ready, None);
        (run, deques)
    }

    /// Runs on the threads of a pool, and the caller's tasks in this thread.
    fn beside(
        &self,
        threads: &rayon_core::ThreadPool,
        deques: Vec<Deque<u32>>,
        caller: &mut [Option<CallerBody<'a>>],
    ) -> (Vec<WorkerTally>, Option<WorkerTally>) {
        let seats = Seats::new(deques);
        let called = threads.in_place_scope(|scope| {
            scope.spawn_broadcast(|_, thread| seats.work(self, thread.index()));
            self.graph.has_caller_tasks().then(|| self.serve(caller))
        });
        (seats.tallies(), called)
    }

    /// Runs on the threads of the pool that this thread belongs to. This thread is the first worker.
    fn among(
        &self,
        mut deques: Vec<Deque<u32>>,
        caller: &mut [Option<CallerBody<'a>>],
    ) -> (Vec<WorkerTally>, Option<WorkerTally>) {
        let own =
            rayon_core::current_thread_index().expect("a thread with more than one worker is in a pool");
        let first = deques.remove(0);
        let seats = Seats::new(deques);
        let (worked, called) = rayon_core::in_place_scope(|scope| {
            scope.spawn_broadcast(|_, thread| {
                let n_threads = thread.num_threads();
                let worker = (thread.index() + n_threads - own) % n_threads;
                // This thread gets the broadcast as well, when its work is done.
                if let Some(seat) = worker.checked_sub(1) {
                    seats.work_as(self, seat, worker);
                }
            });
            self.work_and_serve(&first, caller)
        });
        let others = seats.tallies();
        (std::iter::once(worked).chain(others).collect(), called)
    }

    fn n_workers(&self) -> usize {
        self.queues.len()
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// Works as `worker` until the run has ended.
    pub fn work(&self, worker: usize, deque: &Deque<u32>) -> WorkerTally {
        self.pool.note(worker);
        let mut at_work = AtWork::new();
        while !self.has_ended() {
            self.help();
            if !self.work_once(worker, deque, &mut at_work) {
                self.park(worker, (!at_work.waiting.is_empty()).then_some(NAP));
                at_work.begin = Instant::now();
            }
        }
        at_work.tally
    }

    /// Runs the next task of a worker. Returns whether there was one.
    fn work_once(&self, worker: usize, deque: &Deque<u32>, at_work: &mut AtWork) -> bool {
        let AtWork { waiting, is_turn, begin, tally } = at_work;
        let asked = if *is_turn { waiting.pop_front().map(|task| (task, None)) } else { None };
        *is_turn = asked.is_none();
        let Some((task, stolen)) = asked.or_else(|| self.find(worker, deque)) else { return false };
        let step = self.attempt(task, || match &self.fns[self.graph.stage_of[task as usize] as usize] {
            Some(body) => body(self.graph.item(task)),
            None => TaskStep::Done,
        });
        *begin = tally.ran(self.graph, task, *begin, stolen, self.traced);
        match step {
            TaskStep::Done => self.complete(task, Some((worker, deque))),
            TaskStep::Again => self.post(worker, [task]),
            TaskStep::NotYet => waiting.push_back(task),
            TaskStep::Failed(message) => self.fail(task, Cause::Failed(message)),
        }
        true
    }

    /// Takes part in a plain parallel loop of the caller's tasks, if one runs on these threads.
    fn help(&self) {
        if self.graph.has_caller_tasks() && !cfg!(loom) {
            rayon_core::yield_now();
        }
    }

    /// Runs the caller's tasks until the run has ended.
    fn serve(&self, fns: &mut [Option<CallerBody<'a>>]) -> WorkerTally {
        let mut tally = WorkerTally::default();
        while !self.has_ended() {
            match self.serve_once(fns, &mut tally) {
                Served::Task => {}
                Served::NotYet => self.sleep.park(self.caller, Some(NAP), || self.has_ended()),
                Served::Nothing => {
                    let has_work = || !self.calls.is_empty() || self.has_ended();
                    self.sleep.park(self.caller, None, has_work);
                }
            }
        }
        tally
    }

    /// Runs the next task of the caller, if there is one.
    fn serve_once(&self, fns: &mut [Option<CallerBody<'a>>], tally: &mut WorkerTally) -> Served {
        let Some(task) = self.calls.take() else { return Served::Nothing };
        let (stage, item) = (self.graph.stage_of[task as usize] as usize, self.graph.item(task));
        let begin = Instant::now();
        let step = self.attempt(task, || fns[stage].as_mut().map_or(TaskStep::Done, |body| body(item)));
        tally.ran(self.graph, task, begin, None, self.traced);
        match step {
            TaskStep::Done => self.complete(task, None),
            TaskStep::Again => self.calls.put([(self.graph.urgency(task), task)]),
            TaskStep::NotYet => {
                self.calls.put([(0, task)]);
                return Served::NotYet;
            }
            TaskStep::Failed(message) => self.fail(task, Cause::Failed(message)),
        }
        Served::Task
    }

    /// Works as the first worker and runs the caller's tasks, in turn, until the run has ended.
    pub fn work_and_serve(
        &self,
        deque: &Deque<u32>,
        fns: &mut [Option<CallerBody<'a>>],
    ) -> (WorkerTally, Option<WorkerTally>) {
        self.pool.note(0);
        let (mut at_work, mut called) = (AtWork::new(), WorkerTally::default());
        while !self.has_ended() {
            let served = self.serve_once(fns, &mut called);
            if self.has_ended() {
                break;
            }
            at_work.begin = Instant::now();
            if self.work_once(0, deque, &mut at_work) {
                continue;
            }
            match served {
                Served::Task => {}
                Served::NotYet => self.sleep.park(0, Some(NAP), || self.has_ended()),
                Served::Nothing => {
                    let nap = (!at_work.waiting.is_empty()).then_some(NAP);
                    self.sleep.park(0, nap, || self.has_work() || !self.calls.is_empty());
                }
            }
        }
        (at_work.tally, self.graph.has_caller_tasks().then_some(called))
    }

    /// Runs a task; a panic is a failure.
    fn attempt(&self, task: u32, body: impl FnOnce() -> TaskStep) -> TaskStep {
        catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| {
            self.fail(task, Cause::Panicked(payload));
            TaskStep::Failed(String::new())
        })
    }

    /// The next task of a worker: the one that it released last, its most urgent, or one of another worker.
    fn find(&self, worker: usize, deque: &Deque<u32>) -> Option<(u32, Option<Distance>)> {
        let own = deque.pop().or_else(|| self.queues[worker].inbox.take());
        own.map(|task| (task, None)).or_else(|| {
            let mut others = self.queues[worker].others.iter();
            others.find_map(|(other, distance)| Some((self.queues[*other].steal()?, Some(*distance))))
        })
    }

    fn has_work(&self) -> bool {
        self.has_ended() || self.queues.iter().any(WorkerQueue::has_work)
    }

    /// Waits for work, or for `at_most`.
    fn park(&self, worker: usize, at_most: Option<Duration>) {
        for _ in 0..if cfg!(loom) { 0 } else { LOOKS } {
            if self.has_work() {
                return;
            }
            std::thread::yield_now();
        }
        self.sleep.park(worker, at_most, || self.has_work());
    }

    /// Releases the tasks that waited for a finished one.
    fn complete(&self, task: u32, by: Option<(usize, &Deque<u32>)>) {
        let mut ready = Vec::new();
        let mut finished = vec![task];
        let mut n_done = 0;
        while let Some(task) = finished.pop() {
            n_done += 1;
            if let Some(hear) = &self.hearing {
                hear(self.graph.cost(task));
            }
            for &later in self.graph.successors(task) {
                // Release: the thread that takes the count to 0 sees the writes of this task. Acquire: so do
                // the tasks that it releases.
                if self.needs[later as usize].fetch_sub(1, Ordering::AcqRel) == 1 {
                    let is_join = self.graph.stage(later).by == By::Nobody;
                    if is_join { finished.push(later) } else { ready.push(later) }
                }
            }
        }
        self.hand_out(&ready, by);
        if self.left.fetch_sub(n_done, Ordering::AcqRel) == n_done {
            self.end();
        }
    }

    /// Puts tasks into the queues of their homes; a worker puts its own onto its deque.
    fn hand_out(&self, ready: &[u32], by: Option<(usize, &Deque<u32>)>) {
        let mut park = ready;
        while let Some(&task) = park.first() {
            let place = self.place(task);
            let n = park.iter().take_while(|t| self.place(**t) == place).count();
            let (run, others) = park.split_at(n);
            match (place, by) {
                (None, _) => {
                    self.calls.put(self.with_priority(run));
                    self.sleep.wake(self.caller);
                }
                // No worker releases the first tasks. A single task is taken sooner from a deque.
                (Some(home), Some((worker, deque))) if home == worker && n == 1 => {
                    deque.push(task);
                    self.sleep.wake_one(0..self.n_workers());
                }
                (Some(home), _) => self.post(home, run.iter().copied()),
            }
            park = others;
        }
    }

    /// The home of a task; `None` for tasks of the caller.
    fn place(&self, task: u32) -> Option<usize> {
        let is_callers = self.graph.stage(task).by == By::Caller;
        (!is_callers).then(|| self.graph.home(task, &self.ends))
    }

    fn with_priority(&self, tasks: &[u32]) -> impl Iterator<Item = (u64, u32)> {
        tasks.iter().map(|t| (self.graph.urgency(*t), *t))
    }

    /// Puts tasks into the queue of a worker, and wakes as many workers as there are tasks.
    fn post(&self, home: usize, tasks: impl IntoIterator<Item = u32>) {
        let mut n = 0;
        let counted = tasks.into_iter().inspect(|_| n += 1);
        self.queues[home].inbox.put(counted.map(|t| (self.graph.urgency(t), t)));
        for _ in 0..n.min(self.n_workers()) {
            self.sleep.wake_one(0..self.n_workers());
        }
    }

    fn fail(&self, task: u32, cause: Cause) {
        let (stage, item) = (self.graph.stage(task).name, self.graph.item(task));
        self.failure.lock().get_or_insert(TaskFailure { stage, item, cause });
        self.end();
    }

    fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
        (0..=self.n_workers()).for_each(|who| self.sleep.wake(who));
    }
}
