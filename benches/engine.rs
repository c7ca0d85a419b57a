//! The efficiency of the task engine on whole fields, from paired runs:
//!
//!     cargo bench --bench engine -- [test cells, 2e6] [most workers, 2] [repeats, 9] [delay in ms, 5]
//!
//! - ascent and saddles on 1, 2, 4 ... workers, one after the other within each repeat: the median of the
//!   ratios is the parallel efficiency, with the least and the greatest;
//! - the share of the workers' time in which they had nothing to do;
//! - on two ranks whose messages take the delay each: the time of labels and saddles where the workers go on
//!   while the rank waits, and where they do not; and how much of the waiting is covered by their tasks.

mod common;

use common::{collect, pass, synthetic};
use inselberg::density::{DensitySource, LeafValues, domain};
use inselberg::executor::Executor;
use inselberg::field::AmrField;
use inselberg::field::test_cells;
use inselberg::partition::{LoadRequest, TestRule, Weights, load};
use inselberg::phew::Rules;
use inselberg::phew::region::cut_tasks;
use inselberg::phew::segment::{Task, segment};
use inselberg::phew::test_fields::TestFields;
use inselberg::phew::test_links::{ALONE, TestLinks};
use inselberg::phew::{ascent, label, saddle};
use inselberg_cli::report::{RecordedGraph, Recorder};
use inselberg_cli::synth::{SynthField, THRESHOLD};
use inselberg_comm::{Comm, CommBuilder, run_ranks};
use inselberg_tasks::ThreadPool;
use std::time::{Duration, Instant};

fn main() {
    let numbers: Vec<f64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let number = |i: usize, default: f64| numbers.get(i).copied().unwrap_or(default);
    let (cells, most, repeats) = (number(0, 2e6), number(1, 2.0) as usize, number(2, 9.0) as usize);
    let snapshot = synthetic(cells);
    efficiency(&snapshot, most, repeats);
    hiding(&snapshot, repeats.div_ceil(3), Duration::from_secs_f64(number(3, 5.0) / 1e3));
}

/// Seconds of ascent and of saddles on `n_workers` threads, and their idle share.
fn stages(field: &AmrField, n_workers: usize) -> [f64; 3] {
    let (mesh, found) = (&field.mesh, test_cells::find(field, THRESHOLD));
    let recorder = Recorder::new(None);
    let executor = Executor::new(ThreadPool::with_threads(n_workers), &recorder);
    let tasks = cut_tasks(mesh, &found);
    let climb = Instant::now();
    let up = ascent::run(mesh, &found, Rules::Paper, &ALONE, &tasks, &executor);
    let ascent = climb.elapsed().as_secs_f64();
    let (roots, labels) = label::run(up, &executor);
    let pass = pass(mesh, &found, &roots, &tasks);
    let meet = Instant::now();
    assert!(!saddle::run(pass, &labels, &executor).forests.is_empty());
    [ascent, meet.elapsed().as_secs_f64(), idle(&recorder.graphs())]
}

fn idle(graphs: &[RecordedGraph]) -> f64 {
    let whole = |g: &RecordedGraph| g.tally.wall.as_secs_f64() * g.tally.workers.len() as f64;
    let none = graphs.iter().map(|g| g.tally.idle() * whole(g)).sum::<f64>();
    none / graphs.iter().map(whole).sum::<f64>()
}

fn efficiency(snapshot: &SynthField, most: usize, repeats: usize) {
    let field = AmrField::from_octs(domain(snapshot), collect(snapshot)).expect("a mesh");
    let pools: Vec<usize> =
        std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|n| *n <= most).collect();
    let mut ran: Vec<Vec<[f64; 3]>> = vec![Vec::new(); pools.len()];
    for _ in 0..repeats {
        for (n, ran) in pools.iter().zip(&mut ran) {
            // Plain parallel loops have the same number of threads.
            let pool = rayon::ThreadPoolBuilder::new().num_threads(*n).build().expect("a thread pool");
            ran.push(pool.install(|| stages(&field, *n)));
        }
    }
    println!("{repeats} repeats: median, least, greatest");
    println!(
        "| workers | ascent s | efficiency | saddles s | efficiency | idle |\n|---|---|---|---|---|---|"
    );
    for (t, &n) in pools.iter().enumerate() {
        let seconds = |s: usize| spread(ran[t].iter().map(|r| r[s]), 4);
        let ratio = |s: usize| spread(ran[0].iter().zip(&ran[t]).map(|(a, b)| a[s] / (n as f64 * b[s])), 3);
        let idle = spread(ran[t].iter().map(|r| r[2]), 4);
        println!("| {n} | {} | {} | {} | {} | {idle} |", seconds(0), ratio(0), seconds(1), ratio(1));
    }
}

/// One rank's labels and saddles.
struct Shared {
    seconds: f64,
    /// Seconds that the rank waited for others, and how many of them its workers worked.
    waited: f64,
    covered: f64,
}

fn hiding(snapshot: &SynthField, repeats: usize, delay: Duration) {
    let late = |(rank, seed): (CommBuilder, u64)| rank.chaos(seed).delay(delay);
    let ranks = |of: u64| Comm::threads(2).into_iter().zip(2 * of..).map(late).collect::<Vec<_>>();
    let mut rows: Vec<[f64; 3]> = Vec::new();
    for repeat in 0..repeats as u64 {
        let both = [0, 1].map(|workers_wait| {
            let ran = run_ranks(ranks(repeat), |comm| on_rank(snapshot, comm, workers_wait == 1));
            ran.expect("no rank fails")
        });
        let slowest = |ran: &[Shared]| ran.iter().map(|r| r.seconds).fold(0.0, f64::max);
        let share =
            both[0].iter().map(|r| r.covered).sum::<f64>() / both[0].iter().map(|r| r.waited).sum::<f64>();
        rows.push([slowest(&both[0]), slowest(&both[1]) / slowest(&both[0]), share]);
    }
    println!("\ntwo ranks, messages of {} ms: ascent to saddles", delay.as_millis());
    println!(
        "| seconds | if the workers wait as well, times longer | waiting covered by tasks |\n|---|---|---|"
    );
    let column = |i: usize| spread(rows.iter().map(|r| r[i]), 3);
    println!("| {} | {} | {} |", column(0), column(1), column(2));
}

fn on_rank(snapshot: &SynthField, comm: &Comm, workers_wait: bool) -> Shared {
    let (source, weights) = (DensitySource::Cells("density"), Weights::default());
    let request = LoadRequest {
        source,
        values: LeafValues::NotNegative,
        tests: TestRule::above(THRESHOLD),
        extra_fields: &[],
        weights,
    };
    let part = load(snapshot, &request, comm, &Executor::default()).expect("a part");
    let found = test_cells::find(&part.field, THRESHOLD);
    let (links, extra) = (TestLinks::new(&part, &found), TestFields::default());
    let task = Task {
        field: &part.field,
        links: &links,
        extra: &extra,
        density_threshold: THRESHOLD,
        side: 1.0,
        origin: [0.0; 3],
        rules: Rules::Paper,
    };
    let recorder = Recorder::new(None);
    let executor =
        Executor::new(ThreadPool::with_threads(1).traced(true), &recorder).without_overlap(workers_wait);
    comm.barrier().expect("all there");
    segment(&task, found, comm, &executor).expect("no rank fails");
    let of = |name: &str| recorder.stages().iter().filter(|s| s.name == name).map(|s| s.seconds).sum::<f64>();
    let (mut waited, mut covered) = (0.0, 0.0);
    for graph in recorder.graphs() {
        for call in graph.tally.caller.iter().flat_map(|caller| &caller.spans) {
            let (begin, end) = (call.begin, call.begin + call.took);
            waited += call.took.as_secs_f64();
            for task in graph.tally.workers.iter().flat_map(|w| &w.spans) {
                let overlap =
                    (task.begin + task.took).min(end).saturating_duration_since(task.begin.max(begin));
                covered += overlap.as_secs_f64();
            }
        }
    }
    Shared { seconds: of("ascent") + of("labels") + of("saddles"), waited, covered }
}

fn spread(values: impl Iterator<Item = f64>, digits: usize) -> String {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let [middle, least, most] = [values.len() / 2, 0, values.len() - 1].map(|i| values[i]);
    format!("{middle:.digits$} ({least:.digits$} to {most:.digits$})")
}
