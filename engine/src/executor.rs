//! Who works on a rank: the team that runs graphs of tasks, and who hears of it.

use crate::chunks::{carve, zeros};
use crate::progress::{Observer, Silent};
use bytemuck::Pod;
use inselberg_tasks::{GraphBuilder, StageId, TaskFns, TaskGraph, ThreadPool};
use parking_lot::Mutex;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::{Arc, OnceLock};

/// The workers of a rank, and the observer of what they do.
pub struct Executor<'a> {
    pool: ThreadPool,
    observer: &'a dyn Observer,
    without_overlap: bool,
    balance: Weights,
    plans: Plans,
}

/// By what weights of its cells a mesh is divided among ranks. Never changes a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Weights {
    /// Each rank gets as many test cells.
    #[default]
    TestCells,
    /// Each rank gets as many leaves, as simulations divide their mesh.
    Leaves,
    /// Each rank gets as much work: test cells, and what those next to other ranks cost on top.
    Work,
}

/// The last plan of each chain of stages, by its name.
type Plans = Mutex<FxHashMap<&'static str, Arc<Planned>>>;

/// A plan, the sizes of the tasks that it was made for, and its stages.
#[derive(Debug)]
struct Planned {
    sizes: Vec<usize>,
    plan: Arc<TaskGraph>,
    stages: Vec<StageId>,
}

impl Default for Executor<'_> {
    /// The threads of the rayon pool that this thread belongs to, or threads of its own, as many as rayon would start.
    /// Nothing observes them.
    fn default() -> Self {
        let threads = match rayon::current_thread_index() {
            Some(_) => ThreadPool::from_current(),
            None => ThreadPool::with_threads(rayon::current_num_threads()),
        };
        Self::new(threads, &Silent)
    }
}

impl<'a> Executor<'a> {
    /// A crew of that team.
    pub fn new(pool: ThreadPool, observer: &'a dyn Observer) -> Self {
        Self { pool, observer, without_overlap: false, balance: Weights::default(), plans: Plans::default() }
    }

    /// As many workers as the current rayon pool has threads.
    pub fn with_observer(observer: &'a dyn Observer) -> Self {
        Self { observer, ..Self::default() }
    }

    /// For comparisons: the workers wait while the rank calls others, as they do where calls are no tasks.
    #[must_use]
    pub fn without_overlap(self, without_overlap: bool) -> Self {
        Self { without_overlap, plans: Plans::default(), ..self }
    }

    /// The same, whose rank shares the mesh with others by these weights.
    #[must_use]
    pub fn balanced(self, balance: Weights) -> Self {
        Self { balance, ..self }
    }

    /// By what the mesh is divided among ranks.
    pub fn balance(&self) -> Weights {
        self.balance
    }

    /// Adds the stage in which the rank calls others, while workers are in `meanwhile`.
    pub fn call(&self, planner: &mut GraphBuilder, name: &'static str, meanwhile: StageId) -> StageId {
        let call = planner.caller_stage(name, 1);
        if self.without_overlap {
            planner.after(meanwhile, call);
        }
        call
    }

    /// The plan that `make` makes for tasks of these sizes, and the stages that it returns. As long as the sizes
    /// stay, as they do where a program calls at every step and its mesh has not changed, the plan of the last
    /// call with this name is used again.
    ///
    /// # Panics
    /// When tasks wait for each other, which is a mistake in `make`.
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

    /// Who hears of the work.
    pub fn observer(&self) -> &'a dyn Observer {
        self.observer
    }

    /// Runs a graph of tasks that cannot fail; `name` is what the observer calls it. Local, but for what the
    /// caller's tasks do.
    ///
    /// # Panics
    /// When a task does: in this thread, with the name of the task.
    pub fn run(&self, name: &'static str, plan: &TaskGraph, bodies: TaskFns<'_>) {
        let tally = plan.run(&self.pool, bodies).unwrap_or_else(|failure| failure.raise());
        self.observer.ran(name, plan, &tally);
    }

    /// Does `work` with every number below `sizes.len()`, each in a task of a stage by itself, whose cost is its
    /// size.
    ///
    /// # Panics
    /// When `work` does.
    pub fn each(&self, name: &'static str, sizes: &[usize], work: impl Fn(u32) + Sync) {
        let (plan, [stage]) = self.plan(name, sizes, |planner| [cell_stage(planner, name, sizes, 1)]);
        self.run(name, &plan, TaskFns::new(&plan).on(stage, work));
    }

    /// Does `work` with every item, the items in tasks of a stage by itself; what it makes of each, in
    /// order.
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
        let made = TaskResults::new(items.len());
        self.each(name, &sizes, |i| {
            if let Some(item) = items[i as usize].lock().take() {
                made.put(i, work(item));
            }
        });
        made.all()
    }
}

impl std::fmt::Debug for Executor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Executor").field("team", &self.pool).finish_non_exhaustive()
    }
}

/// What the tasks of a stage make, each once.
#[derive(Debug)]
pub struct TaskResults<T>(Vec<OnceLock<T>>);

impl<T> TaskResults<T> {
    /// Of so many tasks.
    pub fn new(n: usize) -> Self {
        Self((0..n).map(|_| OnceLock::new()).collect())
    }

    /// Task `i` made it.
    pub fn put(&self, i: u32, made: T) {
        // A task is done once; were it not, the first would hold.
        let _ = self.0[i as usize].set(made);
    }

    /// What task `i` made, if it has.
    pub fn get(&self, i: u32) -> Option<&T> {
        self.0[i as usize].get()
    }

    /// Everything, in order; what was not made is left out.
    pub fn all(self) -> Vec<T> {
        self.0.into_iter().filter_map(OnceLock::into_inner).collect()
    }
}

impl<T: Pod + Send + Sync> TaskResults<Vec<T>> {
    /// All lists as one, in order.
    pub fn joined(self) -> Vec<T> {
        let parts = self.all();
        let mut whole: Vec<T> = zeros(parts.iter().map(Vec::len).sum());
        let places = carve(&mut whole, parts.iter().map(Vec::len));
        places.into_par_iter().zip(parts).for_each(|(place, part)| place.copy_from_slice(&part));
        whole
    }
}

/// Scratch that a task takes and gives back, for as many as work at a time.
#[derive(Debug, Default)]
pub struct ScratchPool<T>(Mutex<Vec<T>>);

impl<T: Default> ScratchPool<T> {
    /// Does `work` with a room.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let free = self.0.lock().pop();
        let mut room = free.unwrap_or_default();
        let result = work(&mut room);
        self.0.lock().push(room);
        result
    }
}

/// A stage whose tasks are runs of test cells, of which each takes so many nanoseconds.
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
