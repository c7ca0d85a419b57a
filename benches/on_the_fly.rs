//! PHEW called again and again on a field that changes slowly, as a simulation does:
//!
//!     cargo bench --bench on_the_fly -- [test cells, 2e6] [threads, 2] [calls, 20]
//!
//! The mesh stays, and the densities of all cells change by up to a percent from call to call. So some cells
//! become test cells and others cease to be. Two ways alternate: the library's façade on the octs of a
//! program, and its steps called one by one on a mesh that is ready. For each call its time from densities to
//! tables, that of the labels of all cells, and the memory that the process holds after it; then the first
//! call against the median of the others, and the façade against the steps.

mod common;

use common::{CUT, collect, median, synthetic, task_of};
use inselberg::density::domain;
use inselberg::executor::Executor;
use inselberg::field::test_cells;
use inselberg::field::{AmrField, LevelOcts};
use inselberg::phew::hierarchy::structures;
use inselberg::phew::segment::segment;
use inselberg::phew::tables::{PatchIds, clumps_table, haloes_table, known_properties, tree_table};
use inselberg::phew::test_fields::TestFields;
use inselberg::{Cells, Engine, Geometry, PhewParams, Rules};
use inselberg_cli::synth::THRESHOLD;
use inselberg_comm::Comm;
use inselberg_tasks::ThreadPool;
use rayon::prelude::*;
use std::time::Instant;

/// That of the command.
#[global_allocator]
static ALLOCATOR: inselberg_cli::huge_pages::HugePages = inselberg_cli::huge_pages::HugePages;

fn main() {
    let numbers: Vec<f64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let number = |i: usize, default: f64| numbers.get(i).copied().unwrap_or(default);
    let (cells, threads, calls) = (number(0, 2e6), number(1, 2.0) as usize, number(2, 20.0) as usize);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
    let snapshot = synthetic(cells);
    let levels = collect(&snapshot);
    let (level, position, split, mut rho) = as_columns(&levels);
    let cells = Cells::from_octs(Geometry::cube(1.0), &level, &position, &split).expect("octs");
    let params = PhewParams::new(CUT.density).persistence(CUT.persistence).saddle(CUT.saddle.expect("one"));
    let mut engine = Engine::builder().threads(threads).build().expect("an engine");
    // The first one warms threads and memory.
    let leaves: Vec<[f64; 2]> = (0..6).map(|_| from_leaves(&levels, &params, &mut engine)).collect();
    let of_leaves =
        |what: usize| median(&mut leaves[1..].iter().map(|seconds| seconds[what]).collect::<Vec<_>>());
    println!("from leaves: check {:.4} s, a first call with labels {:.4} s", of_leaves(0), of_leaves(1));
    let begun = Instant::now();
    let mut field = pool.install(|| AmrField::from_octs(domain(&snapshot), levels)).expect("a mesh");
    let mesh_seconds = begun.elapsed().as_secs_f64();
    let executor = pool.install(|| Executor::new(ThreadPool::from_current(), &inselberg::progress::Silent));
    println!(
        "{threads} threads\n| call | façade, s | its labels, s | steps, s | test cells | haloes | MB held after it |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut seconds = [Vec::new(), Vec::new(), Vec::new()];
    for call in 0..calls {
        let start = Instant::now();
        let found = engine.phew(&cells, &rho, &params).expect("clumps");
        seconds[0].push(start.elapsed().as_secs_f64());
        let n_haloes = found.n_haloes();
        let start = Instant::now();
        assert_eq!(found.labels().len(), rho.len());
        seconds[2].push(start.elapsed().as_secs_f64());
        drop(found);
        let start = Instant::now();
        let [n_tests, n_listed] = pool.install(|| once(&field, &executor));
        seconds[1].push(start.elapsed().as_secs_f64());
        assert_eq!(n_listed as u64, n_haloes);
        let [facade, steps, labels] = [0, 1, 2].map(|what| seconds[what][call]);
        let held = held() / 1e6;
        println!("| {call} | {facade:.4} | {labels:.4} | {steps:.4} | {n_tests} | {n_haloes} | {held:.1} |");
        // The same changes in either order of the cells.
        rho.par_iter_mut().for_each(|rho| *rho = changed(*rho, call));
        field.rho.par_iter_mut().for_each(|rho| *rho = changed(*rho, call));
    }
    let [mut facade, mut steps, mut labels] = seconds;
    let (first, first_steps) = (facade.remove(0), steps.remove(0) + mesh_seconds);
    let (others, other_steps) = (median(&mut facade), median(&mut steps));
    println!(
        "façade: first {first:.4} s, median of the others {others:.4} s: {:.3} of the first",
        others / first
    );
    println!("steps: mesh and first {first_steps:.4} s, median of the others {other_steps:.4} s");
    println!("labels of all cells: median {:.4} s", median(&mut labels));
    println!("façade over steps: {:.3} first, {:.3} later", first / first_steps, others / other_steps);
}

/// The same cells as leaves: seconds of their check, and of a first call.
fn from_leaves(levels: &[LevelOcts], params: &PhewParams, engine: &mut Engine) -> [f64; 2] {
    let (mut level, mut position, mut rho) = (Vec::new(), Vec::new(), Vec::new());
    // Not sorted: all first cells of the octs of a level, then all second ones.
    for (l, octs) in (0_u8..).zip(levels) {
        for c in 0..8_u32 {
            let corner = [c & 1, c >> 1 & 1, c >> 2];
            for i in (0..octs.position.len()).filter(|i| octs.split[*i] >> c & 1 == 0) {
                level.push(l);
                position.push(std::array::from_fn::<u32, 3, _>(|a| 2 * octs.position[i][a] + corner[a]));
                rho.push(octs.values[i][c as usize]);
            }
        }
    }
    let begun = Instant::now();
    let cells = Cells::from_leaves(Geometry::cube(1.0), &level, &position).expect("leaves");
    let checked = begun.elapsed().as_secs_f64();
    let found = engine.phew(&cells, &rho, params).expect("clumps");
    assert_eq!(found.labels().len(), rho.len());
    [checked, begun.elapsed().as_secs_f64() - checked]
}

/// Octs as a program holds them.
fn as_columns(levels: &[LevelOcts]) -> (Vec<u8>, Vec<[u32; 3]>, Vec<u8>, Vec<f64>) {
    let level = (0..).zip(levels).flat_map(|(l, octs)| vec![l; octs.position.len()]).collect();
    let position = levels.iter().flat_map(|octs| octs.position.clone()).collect();
    let split = levels.iter().flat_map(|octs| octs.split.clone()).collect();
    let rho = levels.iter().flat_map(|octs| octs.values.as_flattened().to_vec()).collect();
    (level, position, split, rho)
}

/// From densities to tables and the identifiers of the patches.
fn once(field: &AmrField, executor: &Executor) -> [usize; 2] {
    let (found, extra, comm) = (test_cells::find(field, THRESHOLD), TestFields::default(), Comm::solo());
    let n_tests = found.len();
    let done = segment(&task_of(field, &extra), found, &comm, executor).expect("one rank");
    let known = known_properties(&done.peaks, CUT.persistence);
    let list = structures(&done.peaks, &CUT.into(), Rules::Paper, inselberg::CentralChoice::Heaviest, &comm)
        .expect("one rank");
    let tables = [
        clumps_table(&list.clumps, known),
        haloes_table(&list.haloes, known),
        tree_table(&done.peaks, &list.peak_rank),
    ];
    let ids = PatchIds::new(&done.known, &list, &comm).expect("one rank");
    assert!(tables.iter().all(|table| !table.columns.is_empty()) && ids.clump.len() == done.known.n_slots());
    [n_tests, list.haloes.len()]
}

/// A density, changed by up to a percent by its value and the call.
fn changed(rho: f64, call: usize) -> f64 {
    let noise = (rho.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64;
    rho * (1.0 + 0.01 * (noise * (call + 3) as f64).sin())
}

/// Bytes of memory that the process holds; 0 where the system does not say.
fn held() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let resident = pages.as_deref().and_then(|p| p.split(' ').nth(1)).and_then(|n| n.parse::<f64>().ok());
    resident.unwrap_or(0.0) * 4096.0
}
