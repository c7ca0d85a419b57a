//! The executor of a rank: its threads, the graphs of tasks that they run, and the observer of the run.

use crate::progress::{Observer, Silent};
use inselberg_tasks::{GraphBuilder, StageId, TaskFns, TaskGraph, ThreadPool};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::sync::{Arc, OnceLock};

/// The threads of a rank and the observer of their work.
pub struct Executor<'a> {
    pool: ThreadPool,
    observer: &'a dyn Observer,
    without_overlap: bool,
    plans: Arc<Plans>,
}

/// The last graph of each name.
pub(crate) type Plans = Mutex<FxHashMap<&'static str, Arc<Planned>>>;

/// A graph, the task sizes that it was built for, and its stages.
#[derive(Debug)]
pub(crate) struct Planned {
    sizes: Vec<usize>,
    plan: Arc<TaskGraph>,
    stages: Vec<StageId>,
}

impl Default for Executor<'_> {
    /// The threads of the rayon pool that this thread belongs to, or as many own threads as rayon would
    /// start. Nothing observes them.
    fn default() -> Self {
        let threads = match rayon::current_thread_index() {
            Some(_) => ThreadPool::from_current(),
            None => ThreadPool::with_threads(rayon::current_num_threads()),
        };
        Self::new(threads, &Silent)
    }
}

impl<'a> Executor<'a> {
    /// An executor on the threads of `pool`.
    pub fn new(pool: ThreadPool, observer: &'a dyn Observer) -> Self {
        Self::with_plans(pool, observer, Arc::default())
    }

    /// An executor that reuses the graphs of an earlier one.
    pub(crate) fn with_plans(pool: ThreadPool, observer: &'a dyn Observer, plans: Arc<Plans>) -> Self {
        Self { pool, observer, without_overlap: false, plans }
    }

    /// The default threads, with an observer.
    pub fn with_observer(observer: &'a dyn Observer) -> Self {
        Self { observer, ..Self::default() }
    }

    /// For comparisons: workers wait while the rank exchanges messages.
    #[must_use]
    pub fn without_overlap(self, without_overlap: bool) -> Self {
        Self { without_overlap, plans: Arc::default(), ..self }
    }

    /// Adds the stage in which the rank exchanges messages while workers are in `meanwhile`.
    pub fn call(&self, planner: &mut GraphBuilder, name: &'static str, meanwhile: StageId) -> StageId {
        let call = planner.caller_stage(name, 1);
        if self.without_overlap {
            planner.after(meanwhile, call);
        }
        call
    }

    /// The graph that `make` builds for tasks of these sizes, and its stages. The graph of the last call with
    /// this name is reused while the sizes are equal, as they are when a program calls at every step on an
    /// unchanged mesh.
    ///
    /// # Panics
    /// When tasks of `make` wait for each other.
    pub fn plan<const N: usize>(
        &self,
        name: &'static str,
        sizes: &[usize],
        make: impl FnOnce(&mut GraphBuilder) -> [StageId; N],
    ) -> (Arc<TaskGraph>, [StageId; N]) {
        let known = self.plans.lock().get(name).filter(|known| known.sizes == sizes).cloned();
        if let Some(known) = known
            && let Ok(stages) = <[StageId; N]>::try_from(known.stages.as_slice())
        {
            return (known.plan.clone(), stages);
        }
        let mut planner = GraphBuilder::default();
        let stages = make(&mut planner);
        let plan = Arc::new(planner.build().unwrap_or_else(|error| panic!("{error}")));
        let planned = Planned { sizes: sizes.into(), plan: plan.clone(), stages: stages.into() };
        self.plans.lock().insert(name, Arc::new(planned));
        (plan, stages)
    }

    /// The observer of the run.
    pub fn observer(&self) -> &'a dyn Observer {
        self.observer
    }

    /// Runs a graph of tasks that cannot fail, under `name` for the observer. Local, except for exchanges in
    /// the caller's tasks.
    ///
    /// # Panics
    /// When a task panics: in this thread, with the name of the task.
    pub fn run(&self, name: &'static str, plan: &TaskGraph, bodies: TaskFns<'_>) {
        let bodies = match self.observer.begin_tasks(name, plan.total_cost()) {
            true => bodies.heard_by(|cost| self.observer.advance_tasks(cost)),
            false => bodies,
        };
        let tally = plan.run(&self.pool, bodies).unwrap_or_else(|failure| failure.raise());
        self.observer.ran(name, plan, &tally);
    }

    /// Calls `work` with every number below `sizes.len()`, one task per number, whose cost is its size.
    ///
    /// # Panics
    /// When `work` does.
    pub fn each(&self, name: &'static str, sizes: &[usize], work: impl Fn(u32) + Sync) {
        let (plan, [stage]) = self.plan(name, sizes, |planner| [cell_stage(planner, name, sizes, 1)]);
        self.run(name, &plan, TaskFns::new(&plan).on(stage, work));
    }

    /// Calls `work` with every item, one task per item. Returns the results in order.
    ///
    /// # Panics
    /// When `work` does.
    pub fn map<T: Send, R: Send + Sync>(
        &self,
        name: &'static str,
        items: Vec<T>,
        size: impl Fn(&T) -> usize,
        work: impl Fn(T) -> R + Sync,
    ) -> Vec<R> {
        let sizes: Vec<usize> = items.iter().map(size).collect();
        let items: Vec<Mutex<Option<T>>> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
        let results = TaskResults::new(items.len());
        self.each(name, &sizes, |i| {
            let item = items[i as usize].lock().take().expect("a task runs once");
            results.put(i, work(item));
        });
        results.all()
    }
}

impl std::fmt::Debug for Executor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Executor").field("pool", &self.pool).finish_non_exhaustive()
    }
}

/// The results of the tasks of a stage, one per task.
#[derive(Debug)]
pub struct TaskResults<T>(Vec<OnceLock<T>>);

impl<T> TaskResults<T> {
    /// Room for the results of `n` tasks.
    pub fn new(n: usize) -> Self {
        Self((0..n).map(|_| OnceLock::new()).collect())
    }

    /// Stores the result of task `i`.
    pub fn put(&self, i: u32, result: T) {
        assert!(self.0[i as usize].set(result).is_ok(), "a task runs once");
    }

    /// The result of task `i`, if it has run.
    pub fn get(&self, i: u32) -> Option<&T> {
        self.0[i as usize].get()
    }

    /// All results, in order.
    ///
    /// # Panics
    /// When a task has not run.
    pub fn all(self) -> Vec<T> {
        self.0.into_iter().map(|result| result.into_inner().expect("every task has run")).collect()
    }
}

/// Scratch memory that tasks borrow: one per running task.
#[derive(Debug, Default)]
pub struct ScratchPool<T>(Mutex<Vec<T>>);

impl<T: Default> ScratchPool<T> {
    /// Calls `work` with scratch memory.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let free = self.0.lock().pop();
        let mut scratch = free.unwrap_or_default();
        let result = work(&mut scratch);
        self.0.lock().push(scratch);
        result
    }
}

/// A stage whose tasks are runs of test cells; `each` is the cost of a cell in nanoseconds.
pub fn cell_stage(planner: &mut GraphBuilder, name: &'static str, n_cells: &[usize], each: u64) -> StageId {
    planner.stage(name, n_cells.iter().map(|n| *n as u64 * each))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_made_again_only_for_other_tasks() {
        let executor = Executor::default();
        let made = |sizes: &[usize]| {
            let mut is_new = false;
            let (plan, [stage]) = executor.plan("stage", sizes, |planner| {
                is_new = true;
                [cell_stage(planner, "stage", sizes, 1)]
            });
            let done = TaskResults::new(sizes.len());
            executor.run("stage", &plan, TaskFns::new(&plan).on(stage, |i| done.put(i, sizes[i as usize])));
            (is_new, done.all() == sizes)
        };
        assert_eq!(made(&[1, 2, 3]), (true, true));
        assert_eq!(made(&[1, 2, 3]), (false, true));
        assert_eq!(made(&[1, 2]), (true, true));
        assert_eq!(made(&[1, 2, 3]), (true, true));
    }
}
