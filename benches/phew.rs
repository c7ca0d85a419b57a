//! Every stage by itself and the whole run, in test cells per second.
//!
//!     cargo bench --bench phew
//!     INSELBERG_BENCH_LARGE=1 cargo bench --bench phew -- whole     # also 2e7 test cells
//!
//! Each stage gets the results of the stages before it; RAYON_NUM_THREADS chooses the threads.

mod common;

use common::{CUT, collect, pass, synthetic, task_of};
use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use inselberg::CentralChoice;
use inselberg::density::LeafValues;
use inselberg::density::domain;
use inselberg::density::read::read_mesh;
use inselberg::executor::Executor;
use inselberg::field::AmrField;
use inselberg::field::test_cells;
use inselberg::phew::forest::{self, PlacedContacts};
use inselberg::phew::hierarchy::structures;
use inselberg::phew::known_peaks::PeakColumns;
use inselberg::phew::params::{FieldChoice, Thresholds};
use inselberg::phew::peak_comm::RootSlots;
use inselberg::phew::peaks::Peaks;
use inselberg::phew::region::cut_tasks;
use inselberg::phew::run::run;
use inselberg::phew::segment::segment;
use inselberg::phew::sums::{PatchSummation, Patches};
use inselberg::phew::test_fields::TestFields;
use inselberg::phew::test_links::ALONE;
use inselberg::phew::{PhewParams, PhewRequest, Rules};
use inselberg::phew::{ascent, label, saddle};
use inselberg::progress::Silent;
use inselberg_cli::synth::{SynthField, THRESHOLD};
use inselberg_comm::Comm;
use inselberg_io::ramses::write::{Dialect, Output, Split, write};
use inselberg_io::{MONATOMIC, OctBlock, Snapshot};
use inselberg_kernels::mesh::Locator;
use inselberg_kernels::props::PatchSums;
use std::path::PathBuf;

/// Files that the output to be read is in.
const N_FILES: usize = 4;

fn phew(criterion: &mut Criterion) {
    let is_large = std::env::var_os("INSELBERG_BENCH_LARGE").is_some();
    let sizes: &[f64] = if is_large { &[2e6, 2e7] } else { &[2e6] };
    for &size in sizes {
        let snapshot = synthetic(size);
        let n = snapshot.census().expect("counts").test_cells;
        let mut group = criterion.benchmark_group(format!("{size:e}"));
        group.sample_size(10).throughput(Throughput::Elements(n));
        from_files(&mut group, &snapshot);
        stages(&mut group, &snapshot);
        group.finish();
    }
}

/// Reading, and everything from the files to the catalogue.
fn from_files(group: &mut BenchmarkGroup<'_, WallTime>, snapshot: &SynthField) {
    let folder = tempfile::tempdir().expect("a folder");
    let output = inselberg_io::open(&write_files(folder.path().into(), snapshot)).expect("an output");
    group.bench_function("reading", |b| {
        b.iter(|| read_mesh(&*output, Some("density"), LeafValues::NotNegative, &Silent).expect("a mesh"));
    });
    let config = PhewRequest {
        field: FieldChoice::Auto,
        params: PhewParams::from(Thresholds {
            density: CUT.density,
            persistence: CUT.persistence,
            significance: None,
            saddle: CUT.saddle,
            halo_relevance: None,
            mass: 0.0,
            min_cells: 0,
        }),
    };
    group.bench_function("whole with reading", |b| {
        b.iter(|| run(&*output, &config, &Comm::solo(), &Executor::default()).expect("a run"));
    });
}

fn write_files(folder: PathBuf, snapshot: &SynthField) -> PathBuf {
    let mut octs: Vec<OctBlock> = Vec::new();
    for piece in 0..snapshot.header().n_pieces {
        let keep = &mut |block: &OctBlock| {
            octs.push(block.clone());
            Ok(())
        };
        snapshot.octs(piece, &["density"], keep).expect("octs");
    }
    let (header, fields) = (snapshot.header(), snapshot.fields());
    let output = Output { header, fields, octs: &octs, particles: None, adiabatic_index: MONATOMIC };
    let oct_owner = |level: u8, [_, _, z]: [u32; 3]| (z as usize * N_FILES) >> (level - 1);
    let split = Split { n_cpus: N_FILES, oct_owner: &oct_owner, particle_owner: &|_| 0, ghosts: false };
    write(&folder, output, split, &Dialect::default()).expect("written")
}

fn stages(group: &mut BenchmarkGroup<'_, WallTime>, snapshot: &SynthField) {
    let octs = collect(snapshot);
    let build = |octs| AmrField::from_octs(domain(snapshot), octs).expect("a mesh");
    group.bench_function("mesh", |b| b.iter_batched(|| octs.clone(), build, BatchSize::PerIteration));
    let field = build(octs);
    let (mesh, extra, rules) = (&field.mesh, TestFields::default(), Rules::Paper);
    group.bench_function("test cells", |b| b.iter(|| test_cells::find(&field, THRESHOLD)));
    let found = test_cells::find(&field, THRESHOLD);
    let tasks = cut_tasks(mesh, &found);
    let executor = &Executor::default();
    group.bench_function("ascent", |b| b.iter(|| ascent::run(mesh, &found, rules, &ALONE, &tasks, executor)));
    let climb = || ascent::run(mesh, &found, rules, &ALONE, &tasks, executor);
    group.bench_function("labels", |b| {
        b.iter_batched(climb, |up| label::run(up, executor), BatchSize::PerIteration);
    });
    let (roots, labels) = label::run(climb(), executor);
    let pass = pass(mesh, &found, &roots, &tasks);
    group.bench_function("saddles", |b| b.iter(|| saddle::run(pass, &labels, executor)));
    let met = saddle::run(pass, &labels, executor).forests.into_iter().flat_map(|found| found.edges);
    let edges = saddle::in_falling_order(met.collect());
    let (locator, comm) = (Locator::new(mesh), Comm::solo());
    let segmented = || {
        segment(&task_of(&field, &extra), test_cells::find(&field, THRESHOLD), &comm, &Executor::default())
            .expect("one rank")
    };
    let done = segmented();
    let Peaks { tree, level, ijk, name, .. } = &done.peaks;
    group.bench_function("forest", |b| {
        let regions = pass.peak_regions(|n_roots| n_roots);
        let contacts = PlacedContacts { edges: &edges, cells: &locator, regions: &regions, shared: &[] };
        let grow = |rho| forest::grow_alone(rho, &contacts, field.mesh.domain());
        b.iter_batched(|| tree.rho.clone(), grow, BatchSize::PerIteration);
    });
    let patches = Patches { pass, slots: &RootSlots::SAME, labels: &done.labels };
    let quanta = patches.quanta(&extra, &comm).expect("one rank");
    let peaks =
        PeakColumns { rho: tree.rho.clone(), level: level.clone(), ijk: ijk.clone(), name: name.clone() };
    let summation = PatchSummation { patches, peaks: &peaks, fields: &extra, quanta: &quanta };
    group.bench_function("sums", |b| b.iter(|| summation.run::<PatchSums, _>(executor)));
    group.bench_function("hierarchy", |b| {
        b.iter(|| structures(&done.peaks, &CUT.into(), rules, CentralChoice::Heaviest, &comm))
    });
    group.bench_function("whole", |b| {
        b.iter(|| structures(&segmented().peaks, &CUT.into(), rules, CentralChoice::Heaviest, &comm))
    });
}

// Plots would need a font of the system: the program's own pictures bring theirs.
criterion_group! {
    name = benches;
    config = Criterion::default().without_plots();
    targets = phew
}
criterion_main!(benches);
