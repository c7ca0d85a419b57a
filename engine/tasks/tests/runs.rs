//! Every task runs once, after its dependencies, for any graph and any results of tasks.

use inselberg_tasks::{GraphBuilder, Seat, StageId, TaskFns, TaskGraph, TaskStep, ThreadPool};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};

/// A random graph: stages of tasks, some of them the caller's, that wait for tasks of earlier stages.
struct Random {
    graph: TaskGraph,
    stages: Vec<(StageId, Vec<u64>, bool)>,
    /// The dependencies, by stage and item.
    waits: Vec<Vec<Vec<(usize, u32)>>>,
}

fn below(random: &mut Pcg64Mcg, n: usize) -> usize {
    (random.next_u64() % n.max(1) as u64) as usize
}

fn graph(seed: u64) -> Random {
    let random = &mut Pcg64Mcg::seed_from_u64(seed);
    let mut builder = GraphBuilder::default();
    let (mut stages, mut waits) = (Vec::<(StageId, Vec<u64>, bool)>::new(), Vec::new());
    for s in 0..1 + below(random, 6) {
        let is_callers = below(random, 5) == 0;
        let n = if is_callers { 1 } else { below(random, 12) };
        let costs: Vec<u64> = (0..n).map(|_| random.next_u64() % 100).collect();
        let stage = match is_callers {
            true => builder.caller_stage("call", costs[0]),
            false => builder.stage("work", costs.iter().copied()),
        };
        let mut of_stage = vec![Vec::new(); n];
        for _ in 0..below(random, 3) {
            if s == 0 {
                break;
            }
            let other = below(random, s);
            let (earlier, n_earlier) = (stages[other].0, stages[other].1.len());
            if below(random, 2) == 0 {
                builder.after(stage, earlier);
                of_stage
                    .iter_mut()
                    .for_each(|w: &mut Vec<_>| w.extend((0..n_earlier as u32).map(|i| (other, i))));
            } else if n > 0 && n_earlier > 0 {
                let (item, before) = (below(random, n), below(random, n_earlier) as u32);
                builder.item_after((stage, item as u32), (earlier, before));
                of_stage[item].push((other, before));
            }
        }
        stages.push((stage, costs, is_callers));
        waits.push(of_stage);
    }
    Random { graph: builder.build().expect("no cycle"), stages, waits }
}

fn pool(n: usize) -> ThreadPool {
    ThreadPool::new((0..n as u32).map(|w| Seat { cache: w / 2, node: w / 4, speed: 1 }).collect())
}

/// Runs a graph whose tasks answer `NotYet` and `Again` at random, and checks the order.
fn check(seed: u64, n_workers: usize) {
    check_on(seed, &pool(n_workers));
}

fn check_on(seed: u64, pool: &ThreadPool) {
    let n_workers = pool.len();
    let of = graph(seed);
    let done: Vec<Vec<AtomicU32>> =
        of.stages.iter().map(|(_, costs, _)| costs.iter().map(|_| AtomicU32::new(0)).collect()).collect();
    let asked = AtomicUsize::new(seed as usize);
    let body = |s: usize, item: u32| {
        for (other, before) in &of.waits[s][item as usize] {
            assert_eq!(done[*other][*before as usize].load(SeqCst), 1, "seed {seed}: {s} {item}");
        }
        match asked.fetch_add(7919, SeqCst) % 11 {
            0 => TaskStep::NotYet,
            1 => TaskStep::Again,
            2 => {
                (0..of.stages[s].1[item as usize]).for_each(|_| std::hint::spin_loop());
                done[s][item as usize].fetch_add(1, SeqCst);
                TaskStep::Done
            }
            _ => {
                done[s][item as usize].fetch_add(1, SeqCst);
                TaskStep::Done
            }
        }
    };
    let mut fns = TaskFns::new(&of.graph);
    // What the caller alone may touch.
    let calls = Cell::new(0);
    for (s, (stage, _, is_callers)) in of.stages.iter().enumerate() {
        let body = &body;
        let calls = &calls;
        fns = match is_callers {
            true => fns.on_caller(*stage, move |item| {
                calls.set(calls.get() + 1);
                body(s, item)
            }),
            false => fns.on(*stage, move |item| body(s, item)),
        };
    }
    let tally = of.graph.run(pool, fns).expect("no failure");
    assert!(done.iter().flatten().all(|d| d.load(SeqCst) == 1), "seed {seed}, {n_workers} workers");
    assert_eq!(tally.workers.len(), n_workers);
}

/// Threads without a task cost more than a small run.
#[test]
fn a_run_of_few_tasks_takes_few_threads_of_a_large_team() {
    let mut builder = GraphBuilder::default();
    let stage = builder.stage("together", [1; 3]);
    let graph = builder.build().expect("no cycle");
    let (pool, together) = (ThreadPool::with_threads(1000), std::sync::Barrier::new(3));
    let names = std::sync::Mutex::new(Vec::new());
    let fns = TaskFns::new(&graph).on(stage, |_| {
        together.wait();
        names.lock().expect("no panic").push(std::thread::current().name().map(String::from));
    });
    let tally = graph.run(&pool, fns).expect("no failure");
    let of_few = |name: &Option<String>| (0..4).any(|w| *name == Some(format!("worker {w}")));
    let names = names.into_inner().expect("no panic");
    assert!(names.len() == 3 && names.iter().all(of_few), "{names:?}");
    assert_eq!(tally.workers.len(), 1000);
}

#[test]
fn random_graphs_run_in_order() {
    for seed in 0..3000 {
        check(seed, [1, 2, 3, 5, 8][seed as usize % 5]);
    }
}

#[test]
fn the_caller_alone_runs_them_in_order_too() {
    (0..1000).for_each(|seed| check_on(seed, &ThreadPool::from_current()));
}

#[test]
fn the_caller_alone_works_in_its_own_thread() {
    let here = std::thread::current().id();
    let mut builder = GraphBuilder::default();
    let (work, call) = (builder.stage("work", vec![1; 8]), builder.caller_stage("call", 1));
    let graph = builder.build().expect("no cycle");
    let n_done = AtomicU32::new(0);
    let body = |_| {
        assert_eq!(std::thread::current().id(), here);
        n_done.fetch_add(1, SeqCst);
    };
    let fns = TaskFns::new(&graph).on(work, body).on_caller(call, body);
    let tally = graph.run(&ThreadPool::from_current(), fns).expect("no failure");
    assert_eq!((n_done.load(SeqCst), tally.caller.map(|c| c.n_tasks)), (9, Some(1)));
}

fn all_end(n_runs: u64) {
    for seed in 0..n_runs {
        check(seed % 500, [2, 1, 3][seed as usize % 3]);
    }
}

#[test]
fn five_thousand_runs_end() {
    all_end(5_000);
}

#[test]
#[ignore = "minutes: run by .ci/run --long"]
fn a_hundred_thousand_runs_end() {
    all_end(100_000);
}

#[test]
fn a_plan_runs_again_with_other_bodies() {
    let mut builder = GraphBuilder::default();
    let (a, b) = (builder.stage("a", vec![1; 40]), builder.stage("b", vec![1; 40]));
    builder.after(b, a);
    let graph = builder.build().expect("no cycle");
    for round in 0..10 {
        let (first, second) = (AtomicU32::new(0), AtomicU32::new(0));
        let fns = TaskFns::new(&graph)
            .on(a, |item| {
                first.fetch_add(item + round, SeqCst);
            })
            .on(b, |_| {
                second.fetch_add(first.load(SeqCst), SeqCst);
            });
        graph.run(&pool(3), fns).expect("no failure");
        assert_eq!(second.load(SeqCst), 40 * (780 + 40 * round));
    }
}

#[test]
fn the_most_urgent_task_is_first() {
    let mut builder = GraphBuilder::default();
    let stage = builder.stage("work", [1, 50, 2, 100]);
    let graph = builder.build().expect("no cycle");
    let order = std::sync::Mutex::new(Vec::new());
    let push = |item| order.lock().expect("no panic").push(item);
    graph.run(&ThreadPool::with_threads(1), TaskFns::new(&graph).on(stage, push)).expect("no failure");
    assert_eq!(*order.lock().expect("no panic"), [3, 1, 2, 0]);
}

#[test]
fn every_task_is_in_the_tally_of_a_traced_team() {
    let mut builder = GraphBuilder::default();
    let stage = builder.stage("work", vec![1; 100]);
    let call = builder.caller_stage("call", 1);
    let graph = builder.build().expect("no cycle");
    let fns = TaskFns::new(&graph).on(stage, |_| {}).on_caller(call, |_| {});
    let tally = graph.run(&pool(4).traced(true), fns).expect("no failure");
    let mut items: Vec<u32> = tally.workers.iter().flat_map(|w| &w.spans).map(|span| span.item).collect();
    items.sort_unstable();
    assert_eq!(items, (0..100).collect::<Vec<_>>());
    let stolen: u64 = tally.workers.iter().flat_map(|w| w.stolen).sum();
    let marked = tally.workers.iter().flat_map(|w| &w.spans).filter(|span| span.stolen.is_some()).count();
    assert_eq!(stolen, marked as u64);
    assert_eq!(tally.caller.map(|c| c.n_tasks), Some(1));
}

#[test]
fn nothing_to_do_is_done() {
    let graph = GraphBuilder::default().build().expect("no cycle");
    assert!(graph.is_empty());
    graph.run(&pool(3), TaskFns::new(&graph)).expect("no failure");
    let mut builder = GraphBuilder::default();
    let (a, b, c) = (builder.stage("a", [1, 1]), builder.stage("empty", []), builder.stage("c", [1, 1]));
    builder.after(b, a);
    builder.after(c, b);
    let graph = builder.build().expect("no cycle");
    graph.run(&pool(2), TaskFns::new(&graph).on(a, |_| {}).on(c, |_| {})).expect("no failure");
}

/// Each task waits until the other has begun. This ends only if workers work while the caller waits.
#[test]
fn workers_work_while_the_caller_waits() {
    let mut builder = GraphBuilder::default();
    let (work, call) = (builder.stage("work", vec![1; 8]), builder.caller_stage("call", 1));
    let graph = builder.build().expect("no cycle");
    for n_workers in [1, 2, 4] {
        let (n_done, calls) = (AtomicU32::new(0), AtomicU32::new(0));
        let wait_for = |count: &AtomicU32, n: u32| {
            while count.load(SeqCst) < n {
                std::thread::yield_now();
            }
        };
        let fns = TaskFns::new(&graph)
            .on(work, |_| {
                wait_for(&calls, 1);
                n_done.fetch_add(1, SeqCst);
            })
            .on_caller(call, |_| {
                calls.store(1, SeqCst);
                wait_for(&n_done, 8);
            });
        graph.run(&pool(n_workers), fns).expect("no failure");
    }
}

/// Runs `work` in a thread of a rayon pool of `n`.
fn in_pool<T: Send>(n: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon_core::ThreadPoolBuilder::new().num_threads(n).build().expect("threads").install(work)
}

#[test]
fn the_pool_of_the_calling_thread_runs_them_in_order_too() {
    for n in [1, 2, 3, 8] {
        in_pool(n, || (0..500).for_each(|seed| check_on(seed, &ThreadPool::from_current())));
    }
}

#[test]
fn a_loop_of_the_caller_and_the_workers_share_the_threads() {
    let mut builder = GraphBuilder::default();
    let (work, call) = (builder.stage("work", vec![1; 400]), builder.caller_stage("call", 1));
    let graph = builder.build().expect("no cycle");
    for n in [1, 2, 5] {
        let threads: Mutex<BTreeSet<Option<usize>>> = Mutex::default();
        let n_done = AtomicU32::new(0);
        let note = || {
            threads.lock().expect("no panic").insert(rayon_core::current_thread_index());
            n_done.fetch_add(1, SeqCst);
        };
        in_pool(n, || {
            let fns = TaskFns::new(&graph).on(work, |_| note()).on_caller(call, |_| {
                rayon_core::scope(|scope| (0..50).for_each(|_| scope.spawn(|_| note())));
            });
            graph.run(&ThreadPool::from_current(), fns).expect("no failure");
        });
        assert_eq!(n_done.into_inner(), 400 + 50);
        let threads = threads.into_inner().expect("no panic");
        assert!(threads.iter().all(|thread| thread.is_some_and(|thread| thread < n)), "{threads:?}");
    }
}
