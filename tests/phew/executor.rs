//! Graphs whose tasks exchange messages with other ranks: they end, in order, whatever messages and workers
//! do.

use inselberg_comm::{Comm, Rank, Reduce, run_ranks};
use inselberg_tasks::{GraphBuilder, StageId, TaskFns, TaskGraph, ThreadPool};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

/// Work, meanwhile an exchange, then work that needs both.
fn chain() -> (TaskGraph, [StageId; 3]) {
    let mut planner = GraphBuilder::default();
    let inner = planner.stage("inner", [1, 5, 2]);
    let ghosts = planner.caller_stage("ghosts", 3);
    let outer = planner.stage("outer", [1, 1]);
    planner.after(outer, inner);
    planner.after(outer, ghosts);
    (planner.build().expect("no cycle"), [inner, ghosts, outer])
}

/// Runs the chain `n` times on two ranks with two workers each, and checks what each run adds up to.
fn check(n: u64, seed: u64, delay: Duration) {
    let ranks = Comm::threads(2).into_iter().zip(0..);
    let ranks = ranks.map(|(rank, i)| rank.chaos(seed << 1 | i).delay(delay)).collect();
    let ran = run_ranks(ranks, |comm| {
        let (plan, [inner, ghosts, outer]) = chain();
        let other = Rank(1 - comm.rank().0);
        for round in 0..n {
            let (own, theirs, sum) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
            let spin =
                |item: u32| (0..(seed + round) * 7919 % 400 * u64::from(item)).for_each(|_| spin_loop());
            let bodies = TaskFns::new(&plan)
                .on(inner, |item| {
                    spin(item);
                    own.fetch_add(1, SeqCst);
                })
                .on_caller(ghosts, |_| {
                    let received = comm.exchange(vec![(other, vec![round])]).map(|received| received[0].1[0]);
                    received.map(|value| theirs.store(value + 1, SeqCst))
                })
                .on(outer, |_| {
                    sum.fetch_add(own.load(SeqCst) * theirs.load(SeqCst), SeqCst);
                });
            plan.run(&ThreadPool::with_threads(2), bodies).expect("no failure");
            assert_eq!(sum.into_inner(), 2 * 3 * (round + 1), "seed {seed}, round {round}");
        }
        comm.all_reduce_counts(&[1], Reduce::Sum)
    });
    assert_eq!(ran.expect("no panic"), vec![Ok(vec![2]); 2]);
}

#[test]
fn ten_thousand_graphs_under_chaos_end() {
    // Two ranks each.
    (0..50).for_each(|seed| check(100, seed, Duration::ZERO));
}

#[test]
#[ignore = "minutes: run by .ci/run --long"]
fn a_hundred_thousand_graphs_under_chaos_end() {
    (0..50).for_each(|seed| check(1_000, seed, Duration::ZERO));
}

#[test]
fn late_messages_change_nothing() {
    check(30, 7, Duration::from_millis(2));
}

/// A task that panics on one rank ends both, and the error of the other rank says which one it was.
#[test]
fn a_panicking_task_ends_all_ranks_with_its_name() {
    std::panic::set_hook(Box::new(|_| {}));
    let ran = run_ranks(Comm::threads(2), |comm| {
        let (plan, [inner, ghosts, outer]) = chain();
        let is_bad = comm.rank() == Rank(1);
        let bodies = TaskFns::new(&plan)
            .on(inner, |item| assert!(!(is_bad && item == 1), "a cell without a level"))
            .on_caller(ghosts, |_| comm.barrier())
            .on(outer, |_| {});
        plan.run(&ThreadPool::with_threads(2), bodies)
            .map_or_else(|failure| failure.raise(), |_| comm.barrier())
    });
    let error = ran.expect_err("a panic").to_string();
    assert!(error.contains("task 1 of inner panicked: a cell without a level"), "{error}");
    assert!(error.contains("rank 1"), "{error}");
}
