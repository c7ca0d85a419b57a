//! PHEW called again and again on a field that changes slowly, as a simulation does:
//!
//!     cargo bench --bench on_the_fly -- [test cells, 2e6] [threads, 2] [calls, 20]
//!
//! The mesh stays and the densities of all cells change by up to a percent from call to call, so that some cells
//! become test cells and others cease to be. One crew serves all calls. For each call its time from densities to haloes
//! and the memory that the process holds after it; then the first call against the median of the others.

mod common;

use common::{CUT, collect, median, synthetic, task_of};
use inselberg::density::domain;
use inselberg::executor::Executor;
use inselberg::field::AmrField;
use inselberg::field::test_cells;
use inselberg::phew::Rules;
use inselberg::phew::hierarchy::structures;
use inselberg::phew::properties::TestFields;
use inselberg::phew::segment::segment;
use inselberg_cli::synth::THRESHOLD;
use inselberg_comm::Comm;
use rayon::prelude::*;
use std::time::Instant;

/// That of the command.
#[global_allocator]
static ALLOCATOR: inselberg_cli::huge_pages::HugePages = inselberg_cli::huge_pages::HugePages;

fn main() {
    let numbers: Vec<f64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let number = |i: usize, default: f64| numbers.get(i).copied().unwrap_or(default);
    let (cells, threads, calls) = (number(0, 2e6), number(1, 2.0) as usize, number(2, 20.0) as usize);
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().expect("a thread pool");
    let snapshot = synthetic(cells);
    let mut field = AmrField::from_octs(domain(&snapshot), collect(&snapshot)).expect("a mesh");
    let executor = Executor::default();
    println!(
        "{threads} threads\n| call | s | test cells | haloes | MB held after it |\n|---|---|---|---|---|"
    );
    let mut seconds = Vec::new();
    for call in 0..calls {
        let start = Instant::now();
        let [n_tests, n_haloes] = once(&field, &executor);
        seconds.push(start.elapsed().as_secs_f64());
        println!("| {call} | {:.4} | {n_tests} | {n_haloes} | {:.1} |", seconds[call], held() / 1e6);
        change(&mut field.rho, call);
    }
    let first = seconds.remove(0);
    let others = median(&mut seconds);
    println!("first {first:.4} s, median of the others {others:.4} s: {:.3} of the first", others / first);
}

fn once(field: &AmrField, executor: &Executor) -> [usize; 2] {
    let (found, extra, comm) = (test_cells::find(field, THRESHOLD), TestFields::default(), Comm::solo());
    let n_tests = found.len();
    let done = segment(&task_of(field, &extra), found, &comm, executor).expect("one rank");
    let list = structures(&done.peaks, &CUT, 0.0, Rules::Paper, &comm).expect("one rank");
    [n_tests, list.haloes.len()]
}

/// Every density by up to a percent, up or down by its place and the call.
fn change(rho: &mut [f64], call: usize) {
    rho.par_iter_mut().enumerate().for_each(|(i, rho)| *rho *= 1.0 + 0.01 * ((i * (call + 3)) as f64).sin());
}

/// Bytes of memory that the process holds; 0 where the system does not say.
fn held() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let resident = pages.as_deref().and_then(|p| p.split(' ').nth(1)).and_then(|n| n.parse::<f64>().ok());
    resident.unwrap_or(0.0) * 4096.0
}
