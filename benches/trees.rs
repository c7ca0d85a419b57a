//! Time and memory of a merger tree, stage by stage.
//!
//!     cargo bench -p inselberg --features hdf5 --bench trees -- [outputs, 20] [members per output, 1e6] [threads, 1] [ranks, 1]
//!
//! Catalogues are made first, in files. Objects have 20 to 20000 members, more small than large ones; in each
//! output one object in 50 is missing, one member in 100 is bound to nothing, and the order of energies
//! changes. The bench prints the seconds of each stage on rank 0, members per second and thread, and the
//! memory of the process, as Linux counts it:
//!
//! - what is kept after the last output: the tree, which grows by each output, and the members of that
//!   output, 16 bytes each;
//! - the peak while the last output was added, without the tree, and without the members of two outputs;
//! - the peak of all, with the tables of the tree.
//!
//! What an allocator keeps of freed memory counts as the tree's. With glibc these variables give it back:
//!
//!     MALLOC_MMAP_THRESHOLD_=65536 MALLOC_TRIM_THRESHOLD_=0 MALLOC_TOP_PAD_=0 MALLOC_ARENA_MAX=1

#[path = "common/memory.rs"]
mod memory;

use inselberg::progress::Observer;
use inselberg::trees::linker::TreeLinker;
use inselberg_comm::run_threads;
use inselberg_io::catalogue::{self, Attribute, Catalogue, Dimension, Table, TableColumn, Values};
use inselberg_kernels::trees::history::HistoryParams;
use memory::memory;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

fn main() {
    let numbers: Vec<f64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let number = |i: usize, default: f64| numbers.get(i).copied().unwrap_or(default);
    let (n_outputs, n_members) = (number(0, 20.0) as u64, number(1, 1e6) as u64);
    let (n_threads, n_ranks) = (number(2, 1.0) as usize, number(3, 1.0) as usize);
    let folder = tempfile::tempdir().expect("a folder");
    let begin = Instant::now();
    let paths: Vec<PathBuf> = (0..n_outputs).map(|k| written(folder.path(), k, n_members)).collect();
    println!("{n_outputs} catalogues of {n_members} members made in {:.1} s", begin.elapsed().as_secs_f64());
    let before = reset_memory();
    let begin = Instant::now();
    let ran = run_threads(n_ranks, |comm| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads");
        let stages = Stages::default();
        let mut linker = TreeLinker::new(HistoryParams::default(), comm).expect("parameters");
        pool.install(|| linker.add_files(&paths, comm, &stages)).expect("linked");
        let linked = begin.elapsed().as_secs_f64();
        if let (Some(before), true) = (before, linker.is_first()) {
            print_linking(before, n_members);
        }
        let tree = linker.is_first().then(|| linker.catalogue());
        let n_nodes = tree.map_or(0, |tree| tree.tables[1].n_rows());
        (stages.seconds.into_inner().expect("no panic"), linked, n_nodes)
    });
    let ran = ran.expect("no rank failed");
    let (stages, linked, n_nodes) = &ran[0];
    let seconds = begin.elapsed().as_secs_f64();
    let total = (n_outputs * n_members) as f64;
    for (stage, seconds) in stages {
        println!("{stage:<12}{seconds:>10.3} s{:>10.2} M members/s", total / seconds / 1e6);
    }
    let threads = (n_threads * n_ranks) as f64;
    println!("linked      {linked:>10.3} s{:>10.2} M members/s and thread", total / linked / 1e6 / threads);
    println!("with tables {seconds:>10.3} s, {n_nodes} nodes");
    if let (Some(before), Some(peak)) = (before, memory("VmHWM:")) {
        println!("peak with tables {:.1} MiB", (peak - before) as f64 / MIB);
    }
}

const MIB: f64 = 1048576.0;
/// Bytes of a member in the sorted list of an output.
const MEMBER: u64 = 16;

/// Memory beside the `before` bytes, once the last output is added.
fn print_linking(before: u64, n_members: u64) {
    let (Some(now), Some(peak)) = (memory("VmRSS:"), memory("VmHWM:")) else { return };
    let members = MEMBER * n_members;
    let tree = (now - before).saturating_sub(members);
    let beside = (peak - before).saturating_sub(tree + 2 * members);
    let each = beside as f64 / n_members as f64;
    let of = |bytes: u64| bytes as f64 / MIB;
    println!("kept        {:>10.1} MiB of the tree, {:.1} MiB of members", of(tree), of(members));
    println!("peak        {:>10.1} MiB while linking", of(peak - before));
    println!("beside tree and members {:.1} MiB, {each:.1} bytes per member", of(beside));
}

/// Seconds by stage.
#[derive(Default)]
struct Stages {
    seconds: Mutex<BTreeMap<&'static str, f64>>,
    begun: Mutex<Vec<Instant>>,
}

impl Observer for Stages {
    fn begin(&self, _: &'static str, _: u64) {
        self.begun.lock().expect("no panic").push(Instant::now());
    }

    fn end(&self, stage: &'static str, _: u64) {
        let begun = self.begun.lock().expect("no panic").pop().expect("it began");
        *self.seconds.lock().expect("no panic").entry(stage).or_default() += begun.elapsed().as_secs_f64();
    }
}

/// Resident memory in bytes, after its peak was reset to it.
fn reset_memory() -> Option<u64> {
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    memory("VmRSS:")
}

/// A pseudo-random number from a seed.
fn mixed(seed: u64) -> u64 {
    let x = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 5
}

/// Writes output `k`.
fn written(folder: &Path, k: u64, n_members: u64) -> PathBuf {
    let (mut ids, mut offsets, mut counts, mut objects) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut first, mut object) = (0, 0);
    while first < n_members {
        let draw = (mixed(object) % 1000 + 1) as f64 / 1000.0;
        let size = ((20.0 / draw) as u64).min(n_members - first);
        object += 1;
        let range = first..first + size;
        first += size;
        if mixed((object << 20) | k).is_multiple_of(50) {
            continue;
        }
        let mut members: Vec<(u64, i64)> = Vec::new();
        for id in range {
            let draw = mixed(id << 8 | k);
            if !draw.is_multiple_of(100) {
                members.push((id + draw / 100 % (size / 4 + 1), (mixed(id) << 20 | id).cast_signed() >> 1));
            }
        }
        members.sort_unstable();
        offsets.push(ids.len() as u64);
        counts.push(members.len() as u64);
        objects.push(object);
        ids.extend(members.into_iter().map(|(_, id)| id));
    }
    let column = |name: &str, values| TableColumn {
        name: name.into(),
        dimension: Dimension::NONE,
        description: String::new(),
        values,
    };
    let clumps = vec![
        column("id", Values::U64(objects)),
        column("n_bound", Values::U64(counts)),
        column("members_offset", Values::U64(offsets)),
    ];
    let types = vec![1; ids.len()];
    let members = vec![column("id", Values::I64(ids)), column("type", Values::U8(types))];
    let made = Catalogue {
        attributes: vec![
            ("time".into(), Attribute::Real(k as f64)),
            ("input_number".into(), Attribute::Int(k as i64)),
        ],
        tables: vec![
            Table { name: "clumps".into(), columns: clumps },
            Table { name: "members".into(), columns: members },
        ],
    };
    let path = folder.join(format!("c_{k}.hdf5"));
    catalogue::write(&path, &made).expect("written");
    path
}
