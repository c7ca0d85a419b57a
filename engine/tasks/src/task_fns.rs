//! The functions of tasks, and how tasks end.

use crate::graph::{By, StageId, TaskGraph};
use std::any::Any;

/// The result of one call of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskStep {
    /// It is done.
    Done,
    /// It waits for something outside the graph and is tried again after other work.
    NotYet,
    /// A part is done; it runs again in its turn.
    Again,
    /// It cannot be done, for this reason; the run ends.
    Failed(String),
}

impl From<()> for TaskStep {
    fn from((): ()) -> Self {
        Self::Done
    }
}

impl<E: std::fmt::Display> From<Result<(), E>> for TaskStep {
    fn from(result: Result<(), E>) -> Self {
        result.map_or_else(|error| Self::Failed(error.to_string()), |()| Self::Done)
    }
}

/// Why a run ended early: the first task that failed or panicked.
#[derive(Debug)]
pub struct TaskFailure {
    /// Its stage.
    pub stage: &'static str,
    /// Its number there.
    pub item: u32,
    /// What happened.
    pub cause: Cause,
}

/// How a task went wrong.
#[derive(Debug)]
pub enum Cause {
    /// It returned [`TaskStep::Failed`].
    Failed(String),
    /// It panicked, with this payload.
    Panicked(Box<dyn Any + Send>),
}

impl TaskFailure {
    /// The reason that the task gave.
    pub fn message(&self) -> &str {
        match &self.cause {
            Cause::Failed(message) => message,
            Cause::Panicked(payload) => {
                let text = payload.downcast_ref::<String>().map(String::as_str);
                text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("no message")
            }
        }
    }

    /// Panics in this thread, with the message of the task and its name.
    pub fn raise(self) -> ! {
        std::panic::resume_unwind(Box::new(self.to_string()))
    }
}

impl std::fmt::Display for TaskFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let how = if matches!(self.cause, Cause::Panicked(_)) { "panicked" } else { "failed" };
        write!(f, "task {} of {} {how}: {}", self.item, self.stage, self.message())
    }
}

impl std::error::Error for TaskFailure {}

pub(crate) type WorkerBody<'a> = Box<dyn Fn(u32) -> TaskStep + Sync + 'a>;
pub(crate) type Hearing<'a> = Box<dyn Fn(u64) + Sync + 'a>;
pub(crate) type CallerBody<'a> = Box<dyn FnMut(u32) -> TaskStep + 'a>;

/// The function of each stage of a graph; its argument is the number of the task.
pub struct TaskFns<'a> {
    pub(crate) workers: Vec<Option<WorkerBody<'a>>>,
    pub(crate) caller: Vec<Option<CallerBody<'a>>>,
    pub(crate) hearing: Option<Hearing<'a>>,
}

impl<'a> TaskFns<'a> {
    /// No functions yet.
    pub fn new(graph: &TaskGraph) -> Self {
        let n = graph.stages.len();
        Self {
            workers: (0..n).map(|_| None).collect(),
            caller: (0..n).map(|_| None).collect(),
            hearing: None,
        }
    }

    /// Sets the function of `stage`, which workers call.
    #[must_use]
    pub fn on<S: Into<TaskStep>>(mut self, stage: StageId, body: impl Fn(u32) -> S + Sync + 'a) -> Self {
        self.workers[stage.0 as usize] = Some(Box::new(move |item| body(item).into()));
        self
    }

    /// Sets the function of `stage`, which the calling thread calls.
    #[must_use]
    pub fn on_caller<S: Into<TaskStep>>(
        mut self,
        stage: StageId,
        mut body: impl FnMut(u32) -> S + 'a,
    ) -> Self {
        self.caller[stage.0 as usize] = Some(Box::new(move |item| body(item).into()));
        self
    }

    /// Sets a function that is called after every task, with its share in [`TaskGraph::total_cost`], by the
    /// thread that ran it.
    #[must_use]
    pub fn heard_by(self, hearing: impl Fn(u64) + Sync + 'a) -> Self {
        Self { hearing: Some(Box::new(hearing)), ..self }
    }

    /// # Panics
    /// When a stage with tasks has no function, or one for the wrong threads.
    pub(crate) fn check(&self, graph: &TaskGraph) {
        for (s, stage) in graph.stages.iter().enumerate().filter(|(_, stage)| !stage.tasks.is_empty()) {
            let has = match stage.by {
                By::Workers => self.workers[s].is_some(),
                By::Caller => self.caller[s].is_some(),
                By::Nobody => true,
            };
            assert!(has, "no body for the tasks of stage `{}`", stage.name);
        }
    }
}

impl std::fmt::Debug for TaskFns<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let n = self.workers.iter().flatten().count() + self.caller.iter().flatten().count();
        write!(f, "TaskFns of {n} stages")
    }
}
