//! A task that fails or panics ends the run, and the failure names it.

use inselberg_tasks::{Cause, GraphBuilder, StageId, TaskFailure, TaskFns, TaskGraph, TaskStep, ThreadPool};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

fn chain() -> (TaskGraph, [StageId; 3]) {
    let mut builder = GraphBuilder::default();
    let ascent = builder.stage("ascent", vec![1; 50]);
    let ghosts = builder.caller_stage("ghosts", 1);
    let saddles = builder.stage("saddles", vec![1; 50]);
    builder.after(ghosts, ascent);
    builder.after(saddles, ghosts);
    (builder.build().expect("no cycle"), [ascent, ghosts, saddles])
}

/// Runs the chain with the given functions of `ascent` and `ghosts`. Returns the tasks of the last stage that
/// ran.
fn run(
    n_workers: usize,
    ascent: impl Fn(u32) -> TaskStep + Sync,
    ghosts: impl Fn(u32) -> TaskStep,
) -> (Result<(), TaskFailure>, u32) {
    let (graph, [first, call, last]) = chain();
    let after = AtomicU32::new(0);
    let count = |_| {
        after.fetch_add(1, SeqCst);
    };
    let fns = TaskFns::new(&graph).on(first, ascent).on_caller(call, ghosts).on(last, count);
    let ran = graph.run(&ThreadPool::with_threads(n_workers), fns).map(|_| ());
    (ran, after.load(SeqCst))
}

#[test]
fn a_failing_task_is_named() {
    for n_workers in [1, 2, 4] {
        let fails = |item| if item == 17 { TaskStep::Failed("no such cell".into()) } else { TaskStep::Done };
        let (ran, after) = run(n_workers, fails, |_| TaskStep::Done);
        let failure = ran.expect_err("a failure");
        assert_eq!(failure.to_string(), "task 17 of ascent failed: no such cell");
        assert_eq!((failure.stage, failure.item, after), ("ascent", 17, 0));
        assert!(matches!(failure.cause, Cause::Failed(_)));
    }
}

#[test]
fn a_panicking_task_is_named_and_its_panic_carried() {
    std::panic::set_hook(Box::new(|_| {}));
    for n_workers in [1, 2, 4] {
        let panics = |item| {
            assert!(item != 3, "index {item} out of bounds");
            TaskStep::Done
        };
        let (ran, after) = run(n_workers, panics, |_| TaskStep::Done);
        let failure = ran.expect_err("a panic");
        assert_eq!(failure.to_string(), "task 3 of ascent panicked: index 3 out of bounds");
        assert_eq!(after, 0);
        let raised =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| failure.raise())).expect_err("a panic");
        let text = raised.downcast_ref::<String>().expect("a text");
        assert_eq!(text, "task 3 of ascent panicked: index 3 out of bounds");
    }
}

#[test]
fn a_failing_task_of_the_caller_is_named() {
    let (ran, after) = run(2, |_| TaskStep::Done, |_| Err::<(), _>("rank 1 is gone").into());
    assert_eq!(ran.expect_err("a failure").to_string(), "task 0 of ghosts failed: rank 1 is gone");
    assert_eq!(after, 0);
}

#[test]
#[should_panic(expected = "no body for the tasks of stage `saddles`")]
fn a_stage_without_a_body_is_a_mistake_of_the_caller() {
    let (graph, [first, call, _]) = chain();
    let _ = graph
        .run(&ThreadPool::with_threads(1), TaskFns::new(&graph).on(first, |_| {}).on_caller(call, |_| {}));
}
