//! The graph: tasks, their order, and their homes.

use std::ops::Range;

/// A stage of a [`TaskGraph`]: tasks that do the same to different items, numbered from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StageId(pub(crate) u32);

/// Which threads run the tasks of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// Any worker.
    Workers,
    /// The thread that called [`TaskGraph::run`](crate::TaskGraph::run).
    Caller,
    /// No thread: a join of other tasks.
    Nobody,
}

#[derive(Debug, Clone)]
pub(crate) struct StageInfo {
    pub name: &'static str,
    pub tasks: Range<u32>,
    pub by: By,
}

/// A graph that cannot be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraphError {
    /// Tasks wait for each other.
    Cycle {
        /// The stage of one of them.
        stage: &'static str,
    },
}

impl std::fmt::Display for GraphError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cycle { stage } => write!(f, "tasks of stage `{stage}` wait for themselves"),
        }
    }
}

impl std::error::Error for GraphError {}

/// Builds a [`TaskGraph`].
#[derive(Debug, Default)]
pub struct GraphBuilder {
    stages: Vec<StageInfo>,
    cost: Vec<u64>,
    touched: Vec<(StageId, Vec<u64>)>,
    arrows: Vec<[u32; 2]>,
}

impl GraphBuilder {
    /// Adds a stage with one task per cost. All stages give costs in the same unit. Tasks with close numbers
    /// have the same home: the first worker is the home of the first tasks, up to its share of the cost.
    pub fn stage(&mut self, name: &'static str, costs: impl IntoIterator<Item = u64>) -> StageId {
        self.add(name, By::Workers, costs)
    }

    /// Adds a stage of one task that the thread which calls [`TaskGraph::run`] runs itself.
    pub fn caller_stage(&mut self, name: &'static str, cost: u64) -> StageId {
        self.add(name, By::Caller, [cost])
    }

    /// Sets how many bytes of memory each task of `stage` is the first to touch. Only for the tally.
    pub fn first_touch(&mut self, stage: StageId, bytes: impl IntoIterator<Item = u64>) {
        self.touched.push((stage, bytes.into_iter().collect()));
    }

    fn add(&mut self, name: &'static str, by: By, costs: impl IntoIterator<Item = u64>) -> StageId {
        let first = self.cost.len() as u32;
        self.cost.extend(costs);
        self.stages.push(StageInfo { name, tasks: first..self.cost.len() as u32, by });
        StageId(self.stages.len() as u32 - 1)
    }

    fn tasks(&self, stage: StageId) -> Range<u32> {
        self.stages[stage.0 as usize].tasks.clone()
    }

    /// Every task of `later` waits for every task of `earlier`.
    pub fn after(&mut self, later: StageId, earlier: StageId) {
        let (before, after) = (self.tasks(earlier), self.tasks(later));
        if before.len() <= 1 || after.len() <= 1 {
            let pairs = before.flat_map(|a| after.clone().map(move |b| [a, b]));
            self.arrows.extend(pairs);
            return;
        }
        let joint = self.add("joint", By::Nobody, [0]);
        self.after(joint, earlier);
        self.after(later, joint);
    }

    /// Task `item` of `later` waits for task `other` of `earlier`.
    ///
    /// # Panics
    /// When there is no such task.
    pub fn item_after(&mut self, (later, item): (StageId, u32), (earlier, other): (StageId, u32)) {
        let at = |tasks: Range<u32>, item: u32| {
            assert!(item < tasks.len() as u32, "task {item} of a stage of {}", tasks.len());
            tasks.start + item
        };
        self.arrows.push([at(self.tasks(earlier), other), at(self.tasks(later), item)]);
    }

    /// Each task of `later` waits for the task of `earlier` with the same number.
    pub fn pairwise(&mut self, later: StageId, earlier: StageId) {
        for item in 0..self.tasks(later).len() as u32 {
            self.item_after((later, item), (earlier, item));
        }
    }

    /// Builds the graph. Linear in tasks and dependencies.
    ///
    /// # Errors
    /// When tasks wait for each other.
    pub fn build(self) -> Result<TaskGraph, GraphError> {
        let n = self.cost.len();
        let mut first = vec![0_u32; n + 1];
        let mut needs = vec![0_u32; n];
        for [before, after] in &self.arrows {
            first[*before as usize + 1] += 1;
            needs[*after as usize] += 1;
        }
        for i in 0..n {
            first[i + 1] += first[i];
        }
        let (mut next, mut to) = (first.clone(), vec![0; self.arrows.len()]);
        for [before, after] in &self.arrows {
            to[next[*before as usize] as usize] = *after;
            next[*before as usize] += 1;
        }
        let stage_of = self
            .stages
            .iter()
            .enumerate()
            .flat_map(|(s, stage)| std::iter::repeat_n(s as u32, stage.tasks.len()));
        let mut touched = vec![0; if self.touched.is_empty() { 0 } else { n }];
        for (stage, bytes) in &self.touched {
            let tasks = self.tasks(*stage);
            let of_stage = &mut touched[tasks.start as usize..tasks.end as usize];
            of_stage.iter_mut().zip(bytes).for_each(|(of, bytes)| *of = *bytes);
        }
        let mut plan = TaskGraph {
            touched,
            stage_of: stage_of.collect(),
            share: shares(&self.stages, &self.cost),
            priority: self.cost.clone(),
            cost: self.cost,
            stages: self.stages,
            needs,
            first,
            to,
        };
        plan.prioritise()?;
        Ok(plan)
    }
}

/// The position of each task in its stage by cost: 0 to 65535.
fn shares(stages: &[StageInfo], cost: &[u64]) -> Vec<u16> {
    let mut shares = Vec::with_capacity(cost.len());
    for stage in stages {
        let costs = &cost[stage.tasks.start as usize..stage.tasks.end as usize];
        let total = costs.iter().map(|c| u128::from(*c) + 1).sum::<u128>();
        let mut before = 0;
        for cost in costs {
            let middle = before + u128::from(*cost).div_ceil(2);
            shares.push((65535 * middle / total) as u16);
            before += u128::from(*cost) + 1;
        }
    }
    shares
}

/// A graph of tasks. It holds no state of a run, so it can run any number of times.
#[derive(Debug)]
pub struct TaskGraph {
    pub(crate) stages: Vec<StageInfo>,
    pub(crate) stage_of: Vec<u32>,
    /// Number of tasks that each task waits for.
    pub(crate) needs: Vec<u32>,
    /// Cost of each task.
    cost: Vec<u64>,
    /// Cost of the most expensive path from each task to the end, its own included.
    pub(crate) priority: Vec<u64>,
    /// Bytes that each task is the first to touch; empty if not set.
    touched: Vec<u64>,
    share: Vec<u16>,
    first: Vec<u32>,
    to: Vec<u32>,
}

impl TaskGraph {
    /// Number of tasks, joins included.
    pub fn len(&self) -> usize {
        self.needs.len()
    }

    /// Whether there are no tasks.
    pub fn is_empty(&self) -> bool {
        self.needs.is_empty()
    }

    /// The cost of all tasks, each increased by 1, so that stages without costs show progress.
    pub fn total_cost(&self) -> u64 {
        (0..self.len() as u32).map(|task| self.cost(task)).sum()
    }

    /// The share of a task in [`TaskGraph::total_cost`].
    pub(crate) fn cost(&self, task: u32) -> u64 {
        self.cost[task as usize] + 1
    }

    /// The tasks that wait for `task`.
    pub(crate) fn successors(&self, task: u32) -> &[u32] {
        &self.to[self.first[task as usize] as usize..self.first[task as usize + 1] as usize]
    }

    pub(crate) fn stage(&self, task: u32) -> &StageInfo {
        &self.stages[self.stage_of[task as usize] as usize]
    }

    /// The key by which tasks are taken, the greatest first: the two leading binary digits of the path to the
    /// end. Tasks of similar urgency stay in the order of their numbers, which is the order of their memory.
    pub(crate) fn urgency(&self, task: u32) -> u64 {
        let path = self.priority[task as usize];
        let top = path.checked_ilog2().unwrap_or(0);
        2 * u64::from(top) + (path >> top.saturating_sub(1) & 1)
    }

    /// The number of a task in its stage.
    pub(crate) fn item(&self, task: u32) -> u32 {
        task - self.stage(task).tasks.start
    }

    /// The home of a task among workers whose parts of the cost end there; see
    /// [`ends_of_shares`](crate::thread_pool::ends_of_shares).
    pub(crate) fn home(&self, task: u32, ends: &[u32]) -> usize {
        ends.partition_point(|end| *end <= u32::from(self.share[task as usize]))
    }

    /// Number of tasks that workers run.
    pub(crate) fn n_worker_tasks(&self) -> usize {
        (0..self.len() as u32).filter(|task| self.stage(*task).by == By::Workers).count()
    }

    pub(crate) fn touched(&self, task: u32) -> u64 {
        self.touched.get(task as usize).copied().unwrap_or(0)
    }

    pub(crate) fn has_caller_tasks(&self) -> bool {
        self.stages.iter().any(|stage| stage.by == By::Caller)
    }

    /// Turns costs into priorities, from the end of the graph back.
    fn prioritise(&mut self) -> Result<(), GraphError> {
        let mut needs = self.needs.clone();
        let mut order: Vec<u32> = (0..self.len() as u32).filter(|t| needs[*t as usize] == 0).collect();
        let mut done = 0;
        while let Some(&task) = order.get(done) {
            done += 1;
            for &later in self.successors(task) {
                needs[later as usize] -= 1;
                if needs[later as usize] == 0 {
                    order.push(later);
                }
            }
        }
        if let Some(task) = needs.iter().position(|n| *n > 0) {
            return Err(GraphError::Cycle { stage: self.stage(task as u32).name });
        }
        for task in order.into_iter().rev() {
            let longest = self.successors(task).iter().map(|t| self.priority[*t as usize]).max();
            self.priority[task as usize] += longest.unwrap_or(0);
        }
        Ok(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::thread_pool::{Seat, ends_of_shares};

    #[test]
    fn priorities_are_the_dearest_paths() {
        let mut builder = GraphBuilder::default();
        let a = builder.stage("a", [5, 1]);
        let b = builder.stage("b", [10, 100]);
        builder.pairwise(b, a);
        let c = builder.stage("c", [7]);
        builder.after(c, b);
        let plan = builder.build().expect("no cycle");
        assert_eq!(plan.priority[..5], [22, 108, 17, 107, 7]);
        assert_eq!(plan.needs[..5], [0, 0, 1, 1, 2]);
    }

    #[test]
    fn about_as_urgent_is_as_urgent() {
        let mut builder = GraphBuilder::default();
        builder.stage("a", [0, 1, 2, 3, 1024, 1100, 1535, 1536, 2047, 2048]);
        let plan = builder.build().expect("no cycle");
        let urgency: Vec<u64> = (0..10).map(|t| plan.urgency(t)).collect();
        assert_eq!(urgency[3..], [3, 20, 20, 20, 21, 21, 22]);
        assert!(urgency.is_sorted());
    }

    #[test]
    fn many_to_many_is_linear() {
        let mut builder = GraphBuilder::default();
        let a = builder.stage("a", vec![1; 1000]);
        let b = builder.stage("b", vec![1; 1000]);
        builder.after(b, a);
        let plan = builder.build().expect("no cycle");
        assert_eq!((plan.len(), plan.to.len()), (2001, 2000));
    }

    #[test]
    fn homes_divide_the_cost() {
        let mut builder = GraphBuilder::default();
        builder.stage("a", [30, 10, 10, 10, 20, 20, 20]);
        let plan = builder.build().expect("no cycle");
        let of = |n: usize| ends_of_shares(&vec![Seat::default(); n]);
        let homes: Vec<usize> = (0..7).map(|t| plan.home(t, &of(2))).collect();
        assert_eq!(homes, [0, 0, 0, 0, 1, 1, 1]);
        assert!((0..7).all(|t| plan.home(t, &of(1)) == 0 && plan.home(t, &of(64)) < 64));
    }

    #[test]
    fn a_cycle_is_refused_by_name() {
        let mut builder = GraphBuilder::default();
        let (a, b) = (builder.stage("first", [1]), builder.stage("second", [1]));
        builder.after(b, a);
        builder.after(a, b);
        let error = builder.build().expect_err("a cycle");
        assert_eq!(error, GraphError::Cycle { stage: "first" });
        assert_eq!(error.to_string(), "tasks of stage `first` wait for themselves");
    }
}
