//! Medians of repeated whole runs, stage by stage, as a table for benches/results/README.md.
//!
//!     cargo bench --bench table -- [field, synthetic] [test cells, 2e6] [threads, 1] [repeats, 5]
//!
//! The fields are those of [`fields`], made in memory and copied before the clock starts. `mesh` is the
//! sorting of octs into a mesh (nothing for `particles`, which come as a mesh). Everything after it is PHEW.
//! The speed of the machine is measured between the repeats: a copy in memory, and a chain of multiplications
//! that needs no memory at all.

mod common;
mod fields;

use common::{median, task_of};
use fields::{BenchField, FieldStatistics, NAMES};
use inselberg::executor::Executor;
use inselberg::field::test_cells;
use inselberg::phew::Rules;
use inselberg::phew::hierarchy::structures;
use inselberg::phew::segment::{Task, segment};
use inselberg::phew::test_fields::TestFields;
use inselberg::progress::Observer;
use inselberg_cli::report::{Recorder, peak_memory};
use inselberg_comm::Comm;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

/// That of the command.
#[global_allocator]
static ALLOCATOR: inselberg_cli::huge_pages::HugePages = inselberg_cli::huge_pages::HugePages;

fn main() {
    let arguments = || std::env::args().skip(1).filter(|a| !a.starts_with("--"));
    let numbers: Vec<f64> = arguments().filter_map(|a| a.parse().ok()).collect();
    let name = arguments().find(|a| a.parse::<f64>().is_err()).unwrap_or_else(|| NAMES[0].into());
    let number = |i: usize, default: f64| numbers.get(i).copied().unwrap_or(default);
    let (cells, threads, repeats) = (number(0, 2e6), number(1, 1.0) as usize, number(2, 5.0) as usize);
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().expect("a thread pool");
    let Some(field) = BenchField::new(&name, cells) else {
        eprintln!("no field `{name}`; expected one of {}", NAMES.join(", "));
        std::process::exit(2);
    };
    let made = peak_memory();
    let mut stages: BTreeMap<usize, (&'static str, Vec<f64>)> = BTreeMap::new();
    let mut found = None;
    let mut limits = [Vec::new(), Vec::new()];
    for _ in 0..repeats {
        let recorder = Recorder::new(None);
        found = Some(once(&field, &recorder));
        for (i, stage) in recorder.stages().iter().enumerate() {
            stages.entry(i).or_insert((stage.name, Vec::new())).1.push(stage.seconds);
        }
        limits[0].push(copied_bytes_a_second());
        limits[1].push(nanoseconds_a_multiplication());
    }
    let Some(RunCounts { leaves, test_cells, peaks, clumps }) = found else { return };
    println!(
        "{name}: {leaves} leaf cells, {test_cells} test cells, {peaks} peaks, {threads} threads, {repeats} repeats"
    );
    println!(
        "{}",
        FieldStatistics::new(&field.cells().into_field(), field.cut.density, [test_cells, peaks, clumps])
    );
    println!("| stage | median s | least | most | ns per test cell and core |\n|---|---|---|---|---|");
    let mut total = Vec::new();
    for (name, seconds) in stages.values_mut() {
        total.resize(seconds.len(), 0.0);
        total.iter_mut().zip(seconds.iter()).for_each(|(t, s)| *t += s);
        row(name, seconds, test_cells, threads);
    }
    row("whole", &mut total, test_cells, threads);
    println!("{:.3} M test cells per second", test_cells as f64 / median(&mut total) / 1e6);
    println!("memory copied at {:.2} GB/s, read and written", median(&mut limits[0]) / 1e9);
    println!("a dependent multiplication takes {:.3} ns", median(&mut limits[1]));
    println!("peak memory {:?} bytes, {:?} of it with the input and its copy alone", peak_memory(), made);
}

/// Bytes read and written by all threads copying 256 MiB.
fn copied_bytes_a_second() -> f64 {
    let from = vec![1u64; 1 << 25];
    let mut to = vec![0u64; 1 << 25];
    let mut copy = || {
        let start = Instant::now();
        to.par_chunks_mut(1 << 16)
            .zip(from.par_chunks(1 << 16))
            .for_each(|(to, from)| to.copy_from_slice(from));
        start.elapsed().as_secs_f64()
    };
    // The first time brings the pages in.
    let seconds = [copy(), copy()][1];
    (16 * black_box(&to).len()) as f64 / seconds
}

fn nanoseconds_a_multiplication() -> f64 {
    const N: u32 = 1 << 26;
    let start = Instant::now();
    let product = (0..N).fold(black_box(3u64), |x, i| x.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(i));
    black_box(product);
    start.elapsed().as_secs_f64() * 1e9 / f64::from(N)
}

struct RunCounts {
    leaves: usize,
    test_cells: usize,
    peaks: usize,
    clumps: usize,
}

fn once(of: &BenchField, recorder: &Recorder) -> RunCounts {
    let cells = of.cells();
    recorder.begin("mesh", 0);
    let field = cells.into_field();
    recorder.end("mesh", 0);
    recorder.begin("test cells", 0);
    let found = test_cells::find(&field, of.cut.density);
    recorder.end("test cells", 0);
    let extra = TestFields::default();
    let task = Task { density_threshold: of.cut.density, ..task_of(&field, &extra) };
    let n_tests = found.len();
    let done = segment(&task, found, &Comm::solo(), &Executor::with_observer(recorder)).expect("one rank");
    recorder.begin("hierarchy", 0);
    let list = structures(
        &done.peaks,
        &of.cut.into(),
        Rules::Paper,
        inselberg::CentralChoice::Heaviest,
        &Comm::solo(),
    )
    .expect("one rank");
    recorder.end("hierarchy", 0);
    assert!(!list.haloes.is_empty());
    RunCounts {
        leaves: field.mesh.n_leaves(),
        test_cells: n_tests,
        peaks: done.peaks.len(),
        clumps: list.clumps.len(),
    }
}

fn row(name: &str, seconds: &mut [f64], cells: usize, threads: usize) {
    let middle = median(seconds);
    let each = middle * threads as f64 / cells as f64 * 1e9;
    println!("| {name} | {middle:.4} | {:.4} | {:.4} | {each:.1} |", seconds[0], seconds[seconds.len() - 1]);
}
