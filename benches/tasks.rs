//! The task engine compared with rayon: the price of a task, and the same kernels on the same data.
//!
//!     cargo bench --bench tasks
//!
//! RAYON_NUM_THREADS chooses the threads of both.

mod common;

use common::{collect, pass, synthetic};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use inselberg::density::domain;
use inselberg::executor::Executor;
use inselberg::field::AmrField;
use inselberg::field::test_cells;
use inselberg::phew::Rules;
use inselberg::phew::pass::PassContext;
use inselberg::phew::region::cut_by;
use inselberg::phew::region::{TaskRegion, cut_tasks};
use inselberg::phew::test_links::ALONE;
use inselberg::phew::{ascent, label, saddle};
use inselberg_cli::synth::THRESHOLD;
use inselberg_kernels::ids::{CellIdx, PeakIdx, RootIdx};
use inselberg_kernels::phew::block::Block;
use inselberg_kernels::phew::contact_dedup::ContactDedup;
use inselberg_kernels::phew::forest::{ContactEdge, ForestScratch, reduce};
use inselberg_kernels::phew::raise::raise;
use inselberg_kernels::phew::{ascent as kernel, saddle as contacts};
use inselberg_kernels::props::refine::PatchRefiner;
use inselberg_tasks::{GraphBuilder, TaskFns, ThreadPool};
use rayon::prelude::*;
use std::hint::black_box;
use std::ops::Range;
use std::sync::atomic::AtomicU32;

/// Tasks that do nothing.
const EMPTY: u32 = 100_000;

fn overhead(criterion: &mut Criterion) {
    let pool = ThreadPool::with_threads(rayon::current_num_threads());
    let mut group = criterion.benchmark_group("empty tasks");
    group.throughput(Throughput::Elements(u64::from(EMPTY)));
    let mut planner = GraphBuilder::default();
    let free = planner.stage("free", vec![1; EMPTY as usize]);
    let plan = planner.build().expect("no cycle");
    group.bench_function("engine", |b| {
        b.iter(|| {
            plan.run(
                &pool,
                TaskFns::new(&plan).on(free, |i| {
                    black_box(i);
                }),
            )
            .expect("no failure")
        });
    });
    let mut planner = GraphBuilder::default();
    let stages: Vec<_> = (0..10).map(|_| planner.stage("chained", vec![1; EMPTY as usize / 10])).collect();
    stages.windows(2).for_each(|pair| planner.pairwise(pair[1], pair[0]));
    let plan = planner.build().expect("no cycle");
    group.bench_function("engine, chains of 10", |b| {
        b.iter(|| {
            let nothing = |bodies: TaskFns<'static>, stage| {
                bodies.on(stage, |i| {
                    black_box(i);
                })
            };
            let bodies = stages.iter().copied().fold(TaskFns::new(&plan), nothing);
            plan.run(&pool, bodies).expect("no failure")
        });
    });
    group.bench_function("rayon, spawned", |b| {
        b.iter(|| {
            rayon::scope(|scope| {
                (0..EMPTY).for_each(|i| {
                    scope.spawn(move |_| {
                        black_box(i);
                    })
                });
            });
        });
    });
    group.finish();
}

/// Ascent and saddles of a field, by about equal tasks, and by tasks of which the last has half of all cells.
fn stages(criterion: &mut Criterion) {
    let snapshot = synthetic(2e6);
    let field = AmrField::from_octs(domain(&snapshot), collect(&snapshot)).expect("a mesh");
    let (mesh, found, executor) = (&field.mesh, test_cells::find(&field, THRESHOLD), &Executor::default());
    let even = cut_tasks(mesh, &found);
    let up = ascent::run(mesh, &found, Rules::Paper, &ALONE, &even, executor);
    let (roots, labels) = label::run(up, executor);
    let (half, size) = (found.len() / 2, found.len() / even.len());
    let uneven = cut_by(mesh, &found, |before| if before < half { size } else { found.len() });
    for (name, tasks) in [("balanced", &even[..]), ("unbalanced", &uneven[..])] {
        let mut group = criterion.benchmark_group(name);
        group.sample_size(20).throughput(Throughput::Elements(found.len() as u64));
        compare(&mut group, pass(mesh, &found, &roots, tasks), &labels, executor);
        group.finish();
    }
}

fn compare(
    group: &mut BenchmarkGroup<'_, WallTime>,
    pass: PassContext,
    labels: &[RootIdx],
    executor: &Executor,
) {
    let (mesh, test_cells, tasks) = (pass.mesh, pass.test_cells, pass.tasks);
    group.bench_function("ascent, engine", |b| {
        b.iter(|| ascent::run(mesh, test_cells, Rules::Paper, &ALONE, tasks, executor));
    });
    group.bench_function("ascent, rayon", |b| b.iter(|| rayon_ascent(pass)));
    group.bench_function("saddles, engine", |b| b.iter(|| saddle::run(pass, labels, executor)));
    group.bench_function("saddles, rayon", |b| b.iter(|| rayon_saddles(pass, labels)));
}

fn rayon_ascent(pass: PassContext) -> Vec<AtomicU32> {
    let (mesh, test_cells, rules) = (pass.mesh, pass.test_cells, Rules::Paper);
    let up: Vec<AtomicU32> = bytemuck::zeroed_vec(test_cells.len());
    let tasks = pass.tasks.par_iter();
    let later: Vec<_> =
        tasks.map(|task| kernel::ascend(mesh, test_cells, rules, task.supers(), &up)).collect();
    later.par_iter().flatten_iter().for_each(|rise| raise(mesh, test_cells, rules, &up, *rise));
    up
}

fn rayon_saddles(pass: PassContext, labels: &[RootIdx]) -> Vec<ContactEdge> {
    let PassContext { mesh, test_cells, roots, tasks, rules, .. } = pass;
    let labels: &[PeakIdx] = bytemuck::cast_slice(labels);
    let of_run = |run| {
        let Range { start, end } = roots.indices(run);
        PeakIdx::from_root(start)..PeakIdx::from_root(end)
    };
    let local = |room: &mut (ContactDedup, ForestScratch), task: &TaskRegion| {
        let mut refined = Vec::new();
        let mut refiner = PatchRefiner::new(mesh, test_cells, roots, rules);
        let refine = |brick: usize, patch: &Block<CellIdx>| {
            refiner.for_each(brick, patch, |place| refined.push(place))
        };
        contacts::contacts(mesh, test_cells, labels, task.supers(), &mut room.0, refine);
        black_box(refined);
        room.1.expect(task.cells(mesh, test_cells).map(of_run));
        let edges = reduce(room.0.edges(), &mut room.1);
        room.0.clear();
        edges
    };
    let forests: Vec<Vec<ContactEdge>> = tasks.par_iter().map_init(Default::default, local).collect();
    let mut edges = forests.concat();
    edges.par_sort_unstable_by(ContactEdge::order);
    edges
}

criterion_group! {
    name = benches;
    config = Criterion::default().without_plots();
    targets = overhead, stages
}
criterion_main!(benches);
