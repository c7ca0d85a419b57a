//! Medians of repeated searches for groups, stage by stage, as a table for benches/results/README.md.
//!
//!     cargo bench --bench fof -- [particles, 2e6, or a file.npy of float32] [threads, 1] [repeats, 5] [order, as-is or morton]
//!
//! Without a file the particles are those of `inselberg synth particles`. The linking length is 0.2 mean
//! distances, groups have 20 members at least, the box is periodic. The clock runs from the particles in
//! memory, which are used up, to the group of each and the table of groups. CPU seconds are those of all
//! threads: on a shared machine they are more reliable.

mod common;

use common::median;
use inselberg::executor::Executor;
use inselberg::fof::{FoundGroups, LinkingRules, Particles, find_groups};
use inselberg::particles::Positions;
use inselberg_cli::report::{Recorder, peak_memory};
use inselberg_cli::synth::{ParticleBox, ParticleParams};
use inselberg_comm::Comm;
use inselberg_kernels::sfc::morton63;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::time::Instant;

/// That of the command.
#[global_allocator]
static ALLOCATOR: inselberg_cli::huge_pages::HugePages = inselberg_cli::huge_pages::HugePages;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let arg = |i: usize, default: &str| args.get(i).cloned().unwrap_or(default.into());
    let (source, threads, repeats) = (arg(0, "2e6"), arg(1, "1"), arg(2, "5"));
    let threads: usize = threads.parse().expect("a number of threads");
    let repeats: usize = repeats.parse().expect("a number of repeats");
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().expect("a thread pool");
    let mut list = particles(&source);
    let side = side_of(list.len());
    if arg(3, "as-is") == "morton" {
        list.par_sort_by_key(|p| morton63(p.map(|x| (f64::from(x) / side * 2_097_151.0) as u32)));
    }
    let rules = LinkingRules {
        linking_length: 0.2,
        min_size: 20,
        sides: Some([side; 3]),
        seeds: None,
        allow_duplicate_ids: false,
    };
    let n = list.len();
    let mut stages: BTreeMap<usize, (&'static str, Vec<f64>)> = BTreeMap::new();
    let (mut whole, mut cpu) = (Vec::new(), Vec::new());
    let mut last = None;
    for repeat in 0..repeats {
        // The last one uses up the only copy, so that the peak memory is that of a search.
        let own = if repeat + 1 == repeats { std::mem::take(&mut list) } else { list.clone() };
        let particles = Particles::plain(Positions::Single(own));
        let recorder = Recorder::new(None);
        let (start, cpu_before) = (Instant::now(), cpu_seconds());
        last = Some(
            find_groups(particles, &rules, &Comm::solo(), &Executor::with_observer(&recorder))
                .expect("groups"),
        );
        whole.push(start.elapsed().as_secs_f64());
        cpu.push(cpu_seconds() - cpu_before);
        for (i, stage) in recorder.stages().iter().enumerate() {
            stages.entry(i).or_insert((stage.name, Vec::new())).1.push(stage.seconds);
        }
    }
    print(n, threads, last.as_ref(), stages, [&mut whole, &mut cpu]);
}

fn print(
    n: usize,
    threads: usize,
    found: Option<&FoundGroups>,
    mut stages: BTreeMap<usize, (&'static str, Vec<f64>)>,
    [whole, cpu]: [&mut Vec<f64>; 2],
) {
    if let Some(FoundGroups { groups, .. }) = found {
        let (most, sum) = (groups.size.iter().max().unwrap_or(&0), groups.size.iter().sum::<u64>());
        println!(
            "{n} particles, {} groups, the largest of {most}, {sum} particles in groups",
            groups.n_total
        );
    }
    println!("{threads} threads, {} repeats", whole.len());
    println!("| stage | median s | least | most | ns per particle and core |\n|---|---|---|---|---|");
    for (name, seconds) in stages.values_mut() {
        row(name, seconds, n, threads);
    }
    row("whole", whole, n, threads);
    row("cpu", cpu, n, 1);
    println!("{:.3} M particles per second", n as f64 / median(whole) / 1e6);
    println!("{:.3} M particles per CPU second", n as f64 / median(cpu) / 1e6);
    let bytes = peak_memory().unwrap_or(0) as f64 / n as f64;
    println!("peak memory {bytes:.1} bytes per particle, 12 of them input; with repeats another 12");
}

fn row(name: &str, seconds: &mut [f64], n: usize, threads: usize) {
    let middle = median(seconds);
    let each = middle * threads as f64 / n as f64 * 1e9;
    println!("| {name} | {middle:.4} | {:.4} | {:.4} | {each:.1} |", seconds[0], seconds[seconds.len() - 1]);
}

/// Of this process so far, by all threads; 0 where the system does not say.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> =
        text.rsplit(')').next().unwrap_or("").split(' ').filter_map(|f| f.parse().ok()).collect();
    // The state is no number, so user and system time are the 11th and 12th of them.
    fields.get(10).zip(fields.get(11)).map_or(0.0, |(user, system)| (user + system) / 100.0)
}

/// Side of the box whose mean distance of particles is 1: the smallest f32 that is not below it.
fn side_of(n: usize) -> f64 {
    let exact = (n as f64).cbrt();
    let side = exact as f32;
    f64::from(if f64::from(side) < exact { side.next_up() } else { side })
}

fn particles(source: &str) -> Vec<[f32; 3]> {
    match source.parse::<f64>() {
        Ok(number) => {
            let made = ParticleBox::new(ParticleParams { number: number as u64, seed: 1 });
            (0..number as u64).into_par_iter().map(|i| made.position(i)).collect()
        }
        Err(_) => {
            let bytes = std::fs::read(source).unwrap_or_else(|e| panic!("{source}: {e}"));
            let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
            let real = |b: &[u8]| f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
            let point = |b: &[u8]| [real(b), real(&b[4..]), real(&b[8..])];
            bytes[header..].chunks_exact(12).map(point).collect()
        }
    }
}
