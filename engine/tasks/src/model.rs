//! The scheduler under every order in which two workers and the caller can meet (up to two preemptions):
//!
//!     RUSTFLAGS="--cfg loom" cargo test --release -p inselberg-tasks --lib
//!
//! The code is that of every run; only the lock-free deque is replaced by a model of its contract. The model
//! checks that a run ends (loom reports threads that wait forever), that every task runs once, and that it
//! sees the writes of its dependencies.

use crate::run::GraphRun;
use crate::sleep::Sleep;
use crate::task_fns::{TaskFns, TaskStep, WorkerBody};
use crate::{GraphBuilder, TaskGraph, ThreadPool};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed, Ordering::SeqCst};
use loom::thread;

fn model(check: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(check);
}

/// Runs `graph` on two workers; `body(task)` for the worker's stage 0 and on.
fn on_two_workers(graph: TaskGraph, body: impl Fn(u32, u32) -> TaskStep + Send + Sync + Clone + 'static) {
    let graph: &'static TaskGraph = Box::leak(Box::new(graph));
    let of_stage = |s: u32| {
        let body = body.clone();
        Some(Box::new(move |item| body(s, item)) as WorkerBody<'static>)
    };
    let fns = (0..graph.stages.len() as u32).map(of_stage).collect();
    let (run, deques) = GraphRun::new(graph, &ThreadPool::with_threads(2), (2, false), (fns, None));
    let run = Arc::new(run);
    let mut deques = deques.into_iter();
    let (first, second) = (deques.next().expect("one"), deques.next().expect("two"));
    let theirs = Arc::clone(&run);
    let other = thread::spawn(move || theirs.work(1, &second));
    let n_here = run.work(0, &first).n_tasks;
    let n_there = other.join().expect("no panic").n_tasks;
    assert!(run.failure.lock().is_none());
    assert_eq!((n_here + n_there) as usize, graph.len());
}

#[test]
fn a_diamond_runs_once_and_in_order() {
    model(|| {
        let mut builder = GraphBuilder::default();
        let (a, b, c) = (builder.stage("a", [1]), builder.stage("b", [1, 1]), builder.stage("c", [1]));
        builder.after(b, a);
        builder.after(c, b);
        let done: Arc<[[AtomicU32; 2]; 3]> = Arc::default();
        let body = move |stage: u32, item: u32| {
            // Relaxed: the scheduler must make them visible.
            let seen = |s: usize| done[s].iter().map(|d| d.load(Relaxed)).sum::<u32>();
            assert!(stage == 0 || seen(stage as usize - 1) == stage);
            done[stage as usize][item as usize].store(1, Relaxed);
            TaskStep::Done
        };
        on_two_workers(builder.build().expect("no cycle"), body);
    });
}

#[test]
fn a_failure_ends_both() {
    model(|| {
        let mut builder = GraphBuilder::default();
        let (a, b) = (builder.stage("a", [1, 1]), builder.stage("b", [1]));
        builder.after(b, a);
        let graph: &'static TaskGraph = Box::leak(Box::new(builder.build().expect("no cycle")));
        let body = |item| if item == 1 { TaskStep::Failed("no".into()) } else { TaskStep::Done };
        let fns = TaskFns::new(graph).on(a, body).on(b, |_| {}).workers;
        let (run, deques) = GraphRun::new(graph, &ThreadPool::with_threads(2), (2, false), (fns, None));
        let run = Arc::new(run);
        let mut deques = deques.into_iter();
        let (first, second) = (deques.next().expect("one"), deques.next().expect("two"));
        let theirs = Arc::clone(&run);
        let other = thread::spawn(move || theirs.work(1, &second));
        run.work(0, &first);
        other.join().expect("no panic");
        assert!(run.failure.lock().as_ref().is_some_and(|f| f.item == 1));
    });
}

/// Only the wake-up: a thread that finds nothing is woken by a thread that adds something.
#[test]
fn no_wake_up_is_lost() {
    model(|| {
        let shared = Arc::new((Sleep::new(2), AtomicBool::new(false)));
        let theirs = Arc::clone(&shared);
        let sleeper = thread::spawn(move || {
            while !theirs.1.load(SeqCst) {
                theirs.0.park(0, None, || theirs.1.load(SeqCst));
            }
        });
        shared.1.store(true, SeqCst);
        shared.0.wake_one(0..2);
        sleeper.join().expect("no panic");
    });
}

/// The caller is the first worker: its task waits for a task of the other worker, and releases another one.
#[test]
fn a_caller_that_works_sleeps_through_nothing() {
    model(|| {
        let mut builder = GraphBuilder::default();
        let (a, call, b) =
            (builder.stage("a", [1]), builder.caller_stage("call", 1), builder.stage("b", [1]));
        builder.after(call, a);
        builder.after(b, call);
        let graph: &'static TaskGraph = Box::leak(Box::new(builder.build().expect("no cycle")));
        let done: Arc<[AtomicU32; 3]> = Arc::default();
        let body = |s: usize| {
            let done = Arc::clone(&done);
            move |_| {
                assert!(done[..s].iter().all(|d| d.load(Relaxed) == 1));
                done[s].store(1, Relaxed);
            }
        };
        let fns = TaskFns::new(graph).on(a, body(0)).on_caller(call, body(1)).on(b, body(2));
        let TaskFns { workers, mut caller, .. } = fns;
        let (run, deques) = GraphRun::new(graph, &ThreadPool::with_threads(2), (2, true), (workers, None));
        let run = Arc::new(run);
        let mut deques = deques.into_iter();
        let (first, second) = (deques.next().expect("one"), deques.next().expect("two"));
        let theirs = Arc::clone(&run);
        let other = thread::spawn(move || theirs.work(1, &second));
        run.work_and_serve(&first, &mut caller);
        other.join().expect("no panic");
        assert!(done.iter().all(|d| d.load(Relaxed) == 1));
    });
}

/// Two sleepers and two tasks: both tasks are done.
#[test]
fn two_are_woken_for_two_things() {
    model(|| {
        let shared = Arc::new((Sleep::new(2), AtomicU32::new(0)));
        let sleepers = [0, 1].map(|who| {
            let theirs = Arc::clone(&shared);
            thread::spawn(move || {
                while theirs.1.load(SeqCst) < 2 {
                    theirs.0.park(who, None, || theirs.1.load(SeqCst) == 2);
                }
            })
        });
        shared.1.store(2, SeqCst);
        shared.0.wake_one(0..2);
        shared.0.wake_one(0..2);
        sleepers.into_iter().for_each(|s| s.join().expect("no panic"));
    });
}
