//! A run of a plan: workers take tasks, do them, and let go those that waited for them.

use crate::bodies::{Bodies, CallerBody, Cause, Failure, Step, WorkerBody};
use crate::plan::{By, Plan};
use crate::queue::{Desk, Inbox};
use crate::sleep::Sleep;
use crate::sync::{AtomicBool, AtomicU32, AtomicUsize, Deque, Mutex, Ordering};
use crate::tally::{Tally, WorkerTally};
use crate::team::{Distance, Team};
use rayon_core::ThreadPool;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// How long a worker with nothing but tasks that say [`Step::NotYet`] sleeps before it asks again.
const NAP: Duration = Duration::from_micros(50);

/// Looks for work this often, giving the core away between, before a worker goes to sleep.
const LOOKS: u32 = 2;

/// What the threads of a run share.
pub(crate) struct Run<'a> {
    plan: &'a Plan,
    bodies: Vec<Option<WorkerBody<'a>>>,
    traced: bool,
    /// Tasks that each still waits for.
    needs: Vec<AtomicU32>,
    /// Tasks that are not done.
    left: AtomicUsize,
    desks: Vec<Desk>,
    /// Tasks of the caller.
    calls: Inbox,
    /// The workers, and the caller after them.
    sleep: Sleep,
    ended: AtomicBool,
    /// The first.
    pub failure: Mutex<Option<Failure>>,
}

/// Where a worker stands.
struct AtWork {
    /// Tasks that were not ready, the one to be asked next in front.
    waiting: VecDeque<u32>,
    /// Whether its turn has come.
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

impl Plan {
    /// Runs every task: on the workers of `team`, and in this thread those that are the caller's. If there are
    /// none of these, or the team is that of the caller, a team of one is this thread.
    ///
    /// # Errors
    /// The first failure or panic of a task. Tasks that run by then are finished, others are not begun.
    ///
    /// # Panics
    /// When a stage has no body.
    pub fn run(&self, team: &Team, bodies: Bodies<'_>) -> Result<Tally, Failure> {
        bodies.check(self);
        let begin = Instant::now();
        let Bodies { workers, mut caller } = bodies;
        let n_workers = team.n_useful(self.n_worker_tasks());
        let (run, deques) = Run::new(self, team, n_workers, workers);
        let mut tally = Tally::default();
        match deques.as_slice() {
            [only] if !self.has_caller_tasks() => tally.workers.push(run.work(0, only)),
            [only] if team.is_caller() => {
                let (worked, called) = run.alone(only, &mut caller);
                tally.workers.push(worked);
                tally.caller = Some(called);
            }
            all => match team.threads(all.len()) {
                Ok(threads) => (tally.workers, tally.caller) = run.on_threads(&threads, deques, &mut caller),
                // The system starts no more threads. This one does all tasks; no result depends on that.
                Err(_) => {
                    let (worked, called) = run.alone(&all[0], &mut caller);
                    tally.workers.push(worked);
                    tally.caller = self.has_caller_tasks().then_some(called);
                }
            },
        }
        // Workers that had nothing to do are workers as well.
        tally.workers.resize_with(team.len(), WorkerTally::default);
        tally.wall = begin.elapsed();
        match run.failure.lock().take() {
            Some(failure) => Err(failure),
            None => Ok(tally),
        }
    }
}

impl<'a> Run<'a> {
    /// With all tasks in place that wait for nothing, and the deque of each worker.
    pub fn new(
        plan: &'a Plan,
        team: &Team,
        n_workers: usize,
        bodies: Vec<Option<WorkerBody<'a>>>,
    ) -> (Self, Vec<Deque<u32>>) {
        let deques: Vec<Deque<u32>> = (0..n_workers).map(|_| Deque::new_lifo()).collect();
        let desk = |(w, deque): (usize, &Deque<u32>)| Desk {
            inbox: Inbox::default(),
            stealer: deque.stealer(),
            others: team.others(w, n_workers),
        };
        let run = Self {
            plan,
            bodies,
            traced: team.is_traced(),
            needs: plan.needs.iter().map(|n| AtomicU32::new(*n)).collect(),
            left: AtomicUsize::new(plan.len()),
            desks: deques.iter().enumerate().map(desk).collect(),
            calls: Inbox::default(),
            sleep: Sleep::new(n_workers + 1),
            ended: AtomicBool::new(plan.is_empty()),
            failure: Mutex::new(None),
        };
        let ready: Vec<u32> = (0..plan.len() as u32).filter(|t| plan.needs[*t as usize] == 0).collect();
        run.hand_out(&ready, None);
        (run, deques)
    }

    /// Runs on the threads of a team, and in this one what is the caller's.
    fn on_threads(
        &self,
        threads: &ThreadPool,
        deques: Vec<Deque<u32>>,
        caller: &mut [Option<CallerBody<'a>>],
    ) -> (Vec<WorkerTally>, Option<WorkerTally>) {
        let desks: Vec<_> =
            deques.into_iter().map(|deque| Mutex::new((Some(deque), WorkerTally::default()))).collect();
        let called = threads.in_place_scope(|scope| {
            scope.spawn_broadcast(|_, thread| {
                // There are more threads where an earlier run needed them.
                let Some(desk) = desks.get(thread.index()) else { return };
                let (deque, tally) = &mut *desk.lock();
                if let Some(deque) = deque.take() {
                    *tally = self.work(thread.index(), &deque);
                }
            });
            self.plan.has_caller_tasks().then(|| self.serve(caller))
        });
        (desks.iter().map(|desk| std::mem::take(&mut desk.lock().1)).collect(), called)
    }

    fn n_workers(&self) -> usize {
        self.desks.len()
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// Works as `worker` until the run has ended.
    pub fn work(&self, worker: usize, deque: &Deque<u32>) -> WorkerTally {
        let mut at_work = AtWork::new();
        while !self.has_ended() {
            if !self.work_once(worker, deque, &mut at_work) {
                self.rest(worker, (!at_work.waiting.is_empty()).then_some(NAP));
                at_work.begin = Instant::now();
            }
        }
        at_work.tally
    }

    /// Does the next task of a worker; whether there was one.
    fn work_once(&self, worker: usize, deque: &Deque<u32>, at_work: &mut AtWork) -> bool {
        let AtWork { waiting, is_turn, begin, tally } = at_work;
        let asked = if *is_turn { waiting.pop_front().map(|task| (task, None)) } else { None };
        *is_turn = asked.is_none();
        let Some((task, stolen)) = asked.or_else(|| self.find(worker, deque)) else { return false };
        let step = self.attempt(task, || match &self.bodies[self.plan.stage_of[task as usize] as usize] {
            Some(body) => body(self.plan.item(task)),
            None => Step::Done,
        });
        *begin = tally.ran(self.plan, task, *begin, stolen, self.traced);
        match step {
            Step::Done => self.complete(task, Some((worker, deque))),
            Step::Again => self.post(worker, [task]),
            Step::NotYet => waiting.push_back(task),
            Step::Failed(message) => self.fail(task, Cause::Failed(message)),
        }
        true
    }

    /// Does the caller's tasks until the run has ended.
    fn serve(&self, bodies: &mut [Option<CallerBody<'a>>]) -> WorkerTally {
        let mut tally = WorkerTally::default();
        while !self.has_ended() {
            if !self.serve_once(bodies, &mut tally) {
                let has_work = || !self.calls.is_empty() || self.has_ended();
                self.sleep.rest(self.n_workers(), None, has_work);
            }
        }
        tally
    }

    /// Does the next task of the caller; whether there was one.
    fn serve_once(&self, bodies: &mut [Option<CallerBody<'a>>], tally: &mut WorkerTally) -> bool {
        let Some(task) = self.calls.take() else { return false };
        let (stage, item) = (self.plan.stage_of[task as usize] as usize, self.plan.item(task));
        let begin = Instant::now();
        let step = self.attempt(task, || bodies[stage].as_mut().map_or(Step::Done, |body| body(item)));
        tally.ran(self.plan, task, begin, None, self.traced);
        match step {
            Step::Done => self.complete(task, None),
            Step::Again => self.calls.put([(self.plan.urgency(task), task)]),
            Step::NotYet => {
                self.calls.put([(0, task)]);
                self.sleep.rest(self.n_workers(), Some(NAP), || self.has_ended());
            }
            Step::Failed(message) => self.fail(task, Cause::Failed(message)),
        }
        true
    }

    /// Does everything in this thread, the caller's tasks and others by turns.
    fn alone(&self, deque: &Deque<u32>, bodies: &mut [Option<CallerBody<'a>>]) -> (WorkerTally, WorkerTally) {
        let (mut at_work, mut called) = (AtWork::new(), WorkerTally::default());
        while !self.has_ended() {
            let has_called = self.serve_once(bodies, &mut called);
            if !self.has_ended() {
                at_work.begin = Instant::now();
                let has_worked = self.work_once(0, deque, &mut at_work);
                if !has_called && !has_worked {
                    std::thread::sleep(NAP);
                }
            }
        }
        (at_work.tally, called)
    }

    /// Does a task; a panic is a failure.
    fn attempt(&self, task: u32, body: impl FnOnce() -> Step) -> Step {
        catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| {
            self.fail(task, Cause::Panicked(payload));
            Step::Failed(String::new())
        })
    }

    /// The next task for a worker: the one that it let go last, the most urgent of its own, another's.
    fn find(&self, worker: usize, deque: &Deque<u32>) -> Option<(u32, Option<Distance>)> {
        let own = deque.pop().or_else(|| self.desks[worker].inbox.take());
        own.map(|task| (task, None)).or_else(|| {
            let mut others = self.desks[worker].others.iter();
            others.find_map(|(other, distance)| Some((self.desks[*other].steal()?, Some(*distance))))
        })
    }

    fn has_work(&self) -> bool {
        self.has_ended() || self.desks.iter().any(Desk::has_work)
    }

    /// Waits for work, or for `at_most`.
    fn rest(&self, worker: usize, at_most: Option<Duration>) {
        for _ in 0..if cfg!(loom) { 0 } else { LOOKS } {
            if self.has_work() {
                return;
            }
            std::thread::yield_now();
        }
        self.sleep.rest(worker, at_most, || self.has_work());
    }

    /// Lets go what waited for a task that is done.
    fn complete(&self, task: u32, by: Option<(usize, &Deque<u32>)>) {
        let mut ready = Vec::new();
        let mut joints = vec![task];
        let mut n_done = 0;
        while let Some(task) = joints.pop() {
            n_done += 1;
            for &later in self.plan.successors(task) {
                // Release: what this task wrote is seen by whoever takes the count to 0; acquire: and by
                // what that one lets go.
                if self.needs[later as usize].fetch_sub(1, Ordering::AcqRel) == 1 {
                    let is_joint = self.plan.stage(later).by == By::Nobody;
                    if is_joint { joints.push(later) } else { ready.push(later) }
                }
            }
        }
        self.hand_out(&ready, by);
        if self.left.fetch_sub(n_done, Ordering::AcqRel) == n_done {
            self.end();
        }
    }

    /// Puts tasks where they are at home; those of the worker that let them go on its own deque.
    fn hand_out(&self, ready: &[u32], by: Option<(usize, &Deque<u32>)>) {
        let mut rest = ready;
        while let Some(&task) = rest.first() {
            let place = self.place(task);
            let n = rest.iter().take_while(|t| self.place(**t) == place).count();
            let (run, others) = rest.split_at(n);
            match (place, by) {
                (None, _) => {
                    self.calls.put(self.with_priority(run));
                    self.sleep.wake(self.n_workers());
                }
                // The caller of the first hand-out is no worker, and one task is sooner taken off a deque.
                (Some(home), Some((worker, deque))) if home == worker && n == 1 => {
                    deque.push(task);
                    self.sleep.wake_one(0..self.n_workers());
                }
                (Some(home), _) => self.post(home, run.iter().copied()),
            }
            rest = others;
        }
    }

    /// The worker at which a task is at home; none for tasks of the caller.
    fn place(&self, task: u32) -> Option<usize> {
        let is_callers = self.plan.stage(task).by == By::Caller;
        (!is_callers).then(|| self.plan.home(task, self.n_workers()))
    }

    fn with_priority(&self, tasks: &[u32]) -> impl Iterator<Item = (u64, u32)> {
        tasks.iter().map(|t| (self.plan.urgency(*t), *t))
    }

    /// Puts tasks into the inbox of a worker, and wakes as many as there are.
    fn post(&self, home: usize, tasks: impl IntoIterator<Item = u32>) {
        let mut n = 0;
        let counted = tasks.into_iter().inspect(|_| n += 1);
        self.desks[home].inbox.put(counted.map(|t| (self.plan.urgency(t), t)));
        for _ in 0..n.min(self.n_workers()) {
            self.sleep.wake_one(0..self.n_workers());
        }
    }

    fn fail(&self, task: u32, cause: Cause) {
        let (stage, item) = (self.plan.stage(task).name, self.plan.item(task));
        self.failure.lock().get_or_insert(Failure { stage, item, cause });
        self.end();
    }

    fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
        (0..=self.n_workers()).for_each(|who| self.sleep.wake(who));
    }
}
