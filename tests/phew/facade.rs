//! The façade: labels and catalogues equal those of the command, in any order and decomposition of the cells.

use crate::common::case::{Case, DARK, GAS, SYNTH, config};
use crate::common::compare::{assert_same_table, bits};
pub use crate::common::engines::over_ranks;
use crate::common::host_octs::HostOcts;
use crate::common::{Place, open, output};
use crate::verify::meshes::{Field, any_field, threshold_for};
use crate::verify::random::Random;
use inselberg::executor::Executor;
use inselberg::phew::run::run;
use inselberg::{
    BoundRequest, Catalogue, CellFields, Cells, ClumpId, Clumps, Column, Cosmology, Dimension, Engine, Error,
    ErrorKind, Geometry, LabelsOf, Persistence, PhewParams, Progress, RankBuilder, Rules, TableColumn,
    TimeLimits, Values, VectorColumn,
};
use inselberg_cli::synth::{FieldKind, FieldParams, SynthField};
use inselberg_comm::{Comm, CommBuilder};
use inselberg_io::Snapshot;
use proptest::prelude::*;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How a host divides its octs among its ranks: not as the engine does.
#[derive(Debug, Clone, Copy)]
enum Division {
    /// Slabs along x, in random order within.
    Stripes,
    Random,
    /// All on the last rank, the others have nothing.
    One,
}

impl Division {
    const ALL: [Self; 3] = [Self::Stripes, Self::Random, Self::One];

    fn parts(self, octs: &HostOcts, n_ranks: usize, seed: u64) -> Vec<Vec<usize>> {
        let mut random = Random(seed);
        let mut order: Vec<usize> = (0..octs.level.len()).collect();
        random.shuffle(&mut order);
        let mut parts = vec![Vec::new(); n_ranks];
        for i in order {
            let along = f64::from(octs.position[i][0]) / 0.5_f64.powi(1 - i32::from(octs.level[i]));
            let rank = match self {
                Self::Stripes => ((along * n_ranks as f64) as usize).min(n_ranks - 1),
                Self::Random => random.below(n_ranks),
                Self::One => n_ranks - 1,
            };
            parts[rank].push(i);
        }
        parts
    }
}

fn geometry_of(snapshot: &dyn Snapshot) -> Geometry {
    let header = snapshot.header();
    let geometry = Geometry::cube(header.boxlen).coarse(header.coarse).periodic(header.periodic);
    geometry.time(header.time).units(header.units)
}

pub fn params_of(case: Case, rules: Rules) -> PhewParams {
    let [density, relevance, saddle] = case.thresholds;
    let params = PhewParams::new(density).persistence(Persistence::Ratio(relevance)).saddle(saddle);
    params.rules(rules).with_cells(true)
}

/// The catalogue of the command's own path, and the clump and halo of each leaf.
fn expected(snapshot: &dyn Snapshot, case: Case, rules: Rules) -> (Catalogue, BTreeMap<Place, [u64; 2]>) {
    let mut config = config(snapshot, case, rules);
    config.params.with_particles = false;
    config.params.bound = BoundRequest::default();
    let comm = Comm::solo();
    let outcome = run(snapshot, &config, &comm, &Executor::default()).expect("a run");
    let catalogue = outcome.catalogue.gather(&comm).expect("alone").expect("rank 0");
    let cells = catalogue.table("cells").expect("cells");
    let column = |name: &str| bits(&cells.column(name).expect("a column").values);
    let (level, ijk) = (column("level"), column("ijk"));
    let (clump, halo) = (column("clump"), column("halo"));
    let place = |i: usize| (level[i] as u8, std::array::from_fn(|a| ijk[3 * i + a] as u32));
    let labels = (0..level.len()).map(|i| (place(i), [clump[i], halo[i]])).collect();
    (catalogue, labels)
}

fn check_labels(octs: &HostOcts, found: &Clumps, expected: &BTreeMap<Place, [u64; 2]>, what: &str) {
    let number = |id: Option<ClumpId>| id.map_or(0, ClumpId::get);
    assert_eq!((found.labels().len(), found.halo_labels().len()), (octs.rho.len(), octs.rho.len()));
    for cell in 0..octs.rho.len() {
        let labels = [number(found.labels()[cell]), number(found.halo_labels()[cell])];
        // Split cells have no label.
        let wanted = expected.get(&octs.place(cell)).copied().unwrap_or_default();
        assert_eq!(labels, wanted, "{what}: cell {cell} at {:?}", octs.place(cell));
    }
}

/// Checks that every table of the command is here, dataset by dataset.
pub fn check_tables(found: &Catalogue, expected: &Catalogue, what: &str) {
    assert_eq!(found.tables.len(), expected.tables.len(), "{what}");
    found.tables.iter().zip(&expected.tables).for_each(|(a, b)| assert_same_table(a, b, what));
}

/// Checks that the façade finds on `n_ranks` ranks what the command finds.
fn check(
    snapshot: &dyn Snapshot,
    case: Case,
    rules: Rules,
    n_ranks: usize,
    division: Division,
    seed: Option<u64>,
) {
    let what = format!("{}, {rules:?}, {n_ranks} ranks, {division:?}", case.field);
    let (catalogue, labels) = expected(snapshot, case, rules);
    let (octs, has_velocity) = HostOcts::read(snapshot, case.field);
    let parts = division.parts(&octs, n_ranks, 17 + n_ranks as u64);
    let chaotic = |(builder, rank): (CommBuilder, u64)| match seed {
        Some(seed) => builder.chaos(seed << 8 | rank),
        None => builder,
    };
    let ranks = Comm::threads(n_ranks).into_iter().zip(0..).map(chaotic).collect();
    let gatherer = n_ranks as u32 / 2;
    over_ranks(ranks, |rank, mut engine| {
        let own = octs.some(&parts[rank]);
        let cells = own.cells(geometry_of(snapshot));
        let fields = CellFields::density(&own.rho).name(case.field);
        let fields = if has_velocity { fields.velocity(&own.velocity) } else { fields };
        let found = engine.phew(&cells, fields, &params_of(case, rules)).expect("clumps");
        check_labels(&own, &found, &labels, &what);
        let whole = found.gather(gatherer).expect("gathered");
        assert_eq!(whole.is_some(), rank as u32 == gatherer, "{what}");
        if let Some(whole) = whole {
            check_tables(&whole, &catalogue, &what);
        }
        engine.close().expect("closed");
    });
}

#[test]
fn octs_of_the_outputs_give_what_the_command_gives() {
    let dark = open(&output("dm_1rank"));
    let gas = open(&output("gas_2ranks"));
    for (snapshot, case) in [(&dark, DARK), (&gas, GAS)] {
        for n_ranks in [1, 2, 4] {
            for division in Division::ALL {
                check(&**snapshot, case, Rules::Paper, n_ranks, division, None);
            }
        }
        check(&**snapshot, case, Rules::Ramses, 1, Division::Random, None);
        check(&**snapshot, case, Rules::Ramses, 3, Division::Random, Some(5));
    }
}

/// A value of a cell, of either sign and any size, by its place alone.
fn value_of(place: Place) -> f64 {
    let (level, [x, y, z]) = place;
    let mut random = Random(u64::from(level) << 60 ^ u64::from(x) << 40 ^ u64::from(y) << 20 ^ u64::from(z));
    let size = 2.0_f64.powi(random.below(80) as i32 - 40);
    (random.below(2_000_001) as f64 - 1e6) * size
}

/// Sums of values over clumps and haloes, row by row, over all ranks.
fn sums_of_values(snapshot: &dyn Snapshot, case: Case, n_ranks: usize, division: Division) -> [Vec<f64>; 2] {
    let (octs, _) = HostOcts::read(snapshot, case.field);
    let parts = division.parts(&octs, n_ranks, 3);
    let of_ranks = over_ranks(Comm::threads(n_ranks), |rank, mut engine| {
        let own = octs.some(&parts[rank]);
        let cells = own.cells(geometry_of(snapshot));
        let fields = CellFields::density(&own.rho).name(case.field);
        let mut found = engine.phew(&cells, fields, &params_of(case, Rules::Paper)).expect("clumps");
        let is_in = |cell: usize| found.labels()[cell].is_some();
        let values = (0..own.rho.len()).map(|i| if is_in(i) { value_of(own.place(i)) } else { f64::NAN });
        let values: Vec<f64> = values.collect();
        let sums = [LabelsOf::Clumps, LabelsOf::Haloes].map(|of| {
            let columns = [("volume", Column::from(&own.rho)), ("values", Column::from(&values))];
            found.sums(of, &columns).expect("sums").pop().expect("two columns")
        });
        let column = TableColumn {
            name: "values".into(),
            dimension: Dimension::NONE,
            description: String::new(),
            values: Values::F64(sums[0].clone()),
        };
        found.add_column("clumps", column.clone()).expect("a column");
        assert!(found.add_column("clumps", column).is_err(), "the same name");
        let whole = found.gather(0).expect("gathered");
        let has_column = |whole: Catalogue| whole.table("clumps").expect("clumps").reals("values").is_some();
        assert!(whole.is_none_or(has_column));
        engine.close().expect("closed");
        sums
    });
    [0, 1].map(|i| of_ranks.iter().flat_map(|sums| sums[i].iter().copied()).collect())
}

#[test]
fn sums_over_labels_are_those_of_their_cells_on_any_ranks() {
    let gas = open(&output("gas_2ranks"));
    let (catalogue, labels) = expected(&*gas, GAS, Rules::Paper);
    let one = sums_of_values(&*gas, GAS, 1, Division::One);
    for (i, (table, sums)) in ["clumps", "haloes"].into_iter().zip(&one).enumerate() {
        let ids = catalogue.table(table).expect("a table").counts("id").expect("identifiers");
        assert!(ids.len() > 1 && ids.len() == sums.len());
        for (id, sum) in ids.iter().zip(sums) {
            let own = labels.iter().filter(|(_, label)| label[i] == *id).map(|(place, _)| value_of(*place));
            let (plain, size) = own.fold((0.0, 0.0), |(sum, size), value| (sum + value, size + value.abs()));
            assert!((plain - sum).abs() <= 1e-10 * size && size > 0.0, "{table} {id}: {sum}, {plain}");
        }
    }
    let bits =
        |sums: &[Vec<f64>; 2]| sums.each_ref().map(|of| of.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
    for (n_ranks, division) in [(2, Division::Random), (3, Division::Stripes), (4, Division::One)] {
        assert_eq!(bits(&sums_of_values(&*gas, GAS, n_ranks, division)), bits(&one), "{n_ranks} ranks");
    }
}

#[test]
fn a_synthetic_field_in_disorder_gives_what_the_command_gives() {
    let params = FieldParams { kind: FieldKind::Clumps, test_cells: 20_000, ..FieldParams::default() };
    let snapshot = SynthField::new(&params).expect("a field");
    for seed in 0..3 {
        check(&snapshot, SYNTH, Rules::Paper, 3, Division::Random, Some(seed));
    }
}

/// Leaves of a random mesh.
struct HostLeaves {
    level: Vec<u8>,
    position: Vec<[u32; 3]>,
    rho: Vec<f64>,
}

impl HostLeaves {
    fn new(field: &Field, order: &[usize]) -> Self {
        let of = |i: &usize| &field.leaves[*i];
        Self {
            level: order.iter().map(|i| of(i).level).collect(),
            position: order.iter().map(|i| of(i).ijk).collect(),
            rho: order.iter().map(|i| of(i).rho).collect(),
        }
    }

    fn cells(&self, geometry: &Geometry) -> Result<Cells, Error> {
        Cells::from_leaves(geometry.clone(), &self.level, &self.position)
    }
}

pub fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    Random(seed).shuffle(&mut order);
    order
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    /// Graded or not, whole or with gaps below the threshold.
    #[test]
    fn leaves_give_the_same_in_any_order_and_over_ranks(
        field in any_field(), seed in any::<u64>(), n_ranks in 2..5_usize, has_gaps in any::<bool>(),
    ) {
        let mut random = Random(seed);
        let threshold = threshold_for(&field, &mut random);
        let field = if has_gaps { field.only(|leaf| leaf.rho > threshold) } else { field };
        let geometry = Geometry::cube(1.5).coarse(field.domain.coarse).periodic(field.domain.periodic);
        let params = PhewParams::new(threshold).persistence(Persistence::Ratio(1.1)).saddle((threshold * 1.5).max(1e-9)).with_cells(true);
        let alone = HostLeaves::new(&field, &shuffled(field.leaves.len(), 0));
        let mut engine = Engine::builder().threads(2).build().expect("an engine");
        let found = engine.phew(&alone.cells(&geometry).expect("leaves"), &alone.rho, &params).expect("clumps");
        let whole = found.gather(0).expect("alone").expect("rank 0");
        let label_of: BTreeMap<Place, Option<ClumpId>> =
            (0..alone.rho.len()).map(|i| ((alone.level[i], alone.position[i]), found.labels()[i])).collect();
        let order = shuffled(field.leaves.len(), seed);
        let ranks = Comm::threads(n_ranks).into_iter().zip(0..).map(|(b, r)| b.chaos(seed << 3 | r)).collect();
        over_ranks(ranks, |rank, mut engine| {
            let own: Vec<usize> = order.iter().copied().filter(|i| (i * 7 + seed as usize % 5) % n_ranks == rank).collect();
            let own = HostLeaves::new(&field, &own);
            let found = engine.phew(&own.cells(&geometry).expect("leaves"), &own.rho, &params).expect("clumps");
            for i in 0..own.rho.len() {
                assert_eq!(found.labels()[i], label_of[&(own.level[i], own.position[i])]);
            }
            if let Some(gathered) = found.gather(1).expect("gathered") {
                check_tables(&gathered, &whole, "leaves over ranks");
            }
        });
    }
}

#[test]
fn steps_reuse_the_mesh_and_a_new_cut_is_a_run() {
    let snapshot = open(&output("dm_1rank"));
    let (octs, _) = HostOcts::read(&*snapshot, "rho");
    let parts = Division::Random.parts(&octs, 3, 1);
    over_ranks(Comm::threads(3), |rank, mut engine| {
        let own = octs.some(&parts[rank]);
        let cells = own.cells(geometry_of(&*snapshot));
        for step in 0..4 {
            let rho: Vec<f32> = (0..)
                .zip(&own.rho)
                .map(|(i, rho)| (rho * (1.0 + 0.1 * f64::from(i * step % 7))) as f32)
                .collect();
            let params = params_of(DARK, Rules::Paper);
            let found = engine.phew(&cells, &rho, &params).expect("a step");
            // Other cells of the same content: nothing can be reused.
            let fresh =
                engine.phew(&own.cells(geometry_of(&*snapshot)), &rho, &params).expect("a fresh mesh");
            assert_eq!(found.labels(), fresh.labels(), "step {step}");
            let other = params.clone().persistence(Persistence::Ratio(1.5)).saddle(80.0).mass(1e-3);
            let run = engine.phew(&cells, &rho, &other).expect("a run");
            let cut = found.recut(&other).expect("a cut");
            assert_eq!((cut.labels(), cut.halo_labels()), (run.labels(), run.halo_labels()), "step {step}");
            assert_eq!((cut.n_clumps(), cut.n_haloes()), (run.n_clumps(), run.n_haloes()));
            let tables = [&cut, &run].map(|clumps| clumps.gather(0).expect("gathered"));
            if let [Some(cut), Some(mut run)] = tables {
                run.tables.retain(|table| table.name != "cells");
                check_tables(&cut, &run, "a new cut");
            }
            assert!(found.recut(&params.clone().rules(Rules::Ramses)).is_err());
        }
    });
}

/// Cells that are set once, and a box that is stated at each step: catalogues have the box of their step, and
/// the mesh is made once.
#[test]
fn cells_at_a_later_time_keep_their_mesh() {
    let snapshot = open(&output("dm_1rank"));
    let (octs, _) = HostOcts::read(&*snapshot, "rho");
    let n_meshes = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&n_meshes);
    let count = move |progress: Progress| {
        seen.fetch_add(usize::from(progress.stage == "mesh" && progress.done == 0), Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    let mut engine = Engine::builder().threads(2).hook(count).build().expect("an engine");
    let first = geometry_of(&*snapshot);
    let cells = octs.cells(first.clone());
    let params = params_of(DARK, Rules::Paper);
    let mut catalogue = |cells: &Cells| {
        let found = engine.phew(cells, &octs.rho, &params).expect("clumps");
        found.gather(0).expect("gathered").expect("rank 0")
    };
    let mut later = first.clone().time(first.time + 1.0);
    later.side *= 2.0;
    later.cosmology = Some(Cosmology { aexp: 0.5, ..Cosmology::default() });
    let wanted = catalogue(&octs.cells(later.clone()));
    catalogue(&cells);
    assert_eq!(n_meshes.load(Ordering::Relaxed), 2);
    let found = catalogue(&cells.at(later.clone()).expect("a later time"));
    assert_eq!(n_meshes.load(Ordering::Relaxed), 2, "a mesh for the same cells");
    assert_eq!(found.attributes, wanted.attributes);
    check_tables(&found, &wanted, "a later time");
    let error = cells.at(later.periodic([true, true, false])).expect_err("other cells").to_string();
    assert!(error.contains("expected [1, 1, 1], periodic [true, true, true]"), "{error}");
}

#[test]
fn columns_of_any_type_order_and_stride_are_read() {
    let snapshot = open(&output("dm_1rank"));
    let (octs, _) = HostOcts::read(&*snapshot, "rho");
    let mut engine = Engine::builder().threads(2).build().expect("an engine");
    let params = params_of(DARK, Rules::Paper);
    let cells = octs.cells(geometry_of(&*snapshot));
    let plain = engine.phew(&cells, &octs.rho, &params).expect("clumps");
    // As a Fortran code has it: 32-bit integers, one array per axis, densities of cell 1 of all octs first.
    let n = octs.level.len();
    let level: Vec<i32> = octs.level.iter().map(|l| i32::from(*l)).collect();
    let split: Vec<i64> = octs.split.iter().map(|s| i64::from(*s)).collect();
    let axis = |a: usize| octs.position.iter().map(|p| p[a] as i32).collect::<Vec<_>>();
    let [x, y, z] = [0, 1, 2].map(axis);
    let by_cell: Vec<f64> =
        (0..8).flat_map(|c| (0..n).map(move |oct| (c, oct))).map(|(c, oct)| octs.rho[8 * oct + c]).collect();
    let order: Vec<u32> = (0..8 * n).map(|i| (i % 8 * n + i / 8) as u32).collect();
    let position = VectorColumn::from([(&x).into(), (&y).into(), (&z).into()]);
    let cells = Cells::from_octs(geometry_of(&*snapshot), &level, position, &split).expect("octs");
    let density = Column::from(&by_cell).gathered((&order).into()).expect("an order");
    let found = engine.phew(&cells, density, &params).expect("clumps");
    assert_eq!(found.labels(), plain.labels());
}

/// Results of one engine are written from all threads of a pool of the caller, of which one is enough to meet
/// a call within a call.
#[test]
fn results_are_written_from_a_pool_of_the_caller() {
    let (says, hears) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let folder = tempfile::tempdir().expect("a folder");
        let snapshot = open(&output("dm_1rank"));
        let (octs, _) = HostOcts::read(&*snapshot, "rho");
        let mut engine = Engine::builder().threads(2).build().expect("an engine");
        let cells = octs.cells(geometry_of(&*snapshot));
        let params = params_of(DARK, Rules::Paper);
        let found: Vec<Clumps> =
            (0..8).map(|_| engine.phew(&cells, &octs.rho, &params).expect("clumps")).collect();
        for n_threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads");
            pool.install(|| {
                found.par_iter().enumerate().for_each(|(i, clumps)| {
                    clumps.write(folder.path().join(format!("{i}.csv"))).expect("a catalogue");
                });
            });
        }
        let n_written = (0..8).filter(|i| folder.path().join(format!("{i}.csv")).exists()).count();
        says.send(n_written).expect("the test waits");
    });
    assert_eq!(hears.recv_timeout(Duration::from_secs(100)), Ok(8));
}

#[test]
fn an_engine_works_within_a_pool_and_is_cancelled() {
    let snapshot = open(&output("dm_1rank"));
    let (octs, _) = HostOcts::read(&*snapshot, "rho");
    let cells = octs.cells(geometry_of(&*snapshot));
    let params = params_of(DARK, Rules::Paper);
    let mut engine = Engine::builder().threads(2).build().expect("an engine");
    let plain = engine.phew(&cells, &octs.rho, &params).expect("clumps");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
    let within = pool.install(|| engine.phew(&cells, &octs.rho, &params).expect("clumps"));
    assert_eq!(within.labels(), plain.labels());

    let stages = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let heard = std::sync::Arc::clone(&stages);
    let hook = move |progress: inselberg::Progress| {
        let mut stages = heard.lock().expect("no panic");
        stages.push(progress.stage);
        if stages.contains(&"labels") && stages.len() < 1000 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let mut engine = Engine::builder().threads(2).hook(hook).build().expect("an engine");
    let cancelled = engine.phew(&cells, &octs.rho, &params).expect_err("cancelled");
    assert_eq!(cancelled.kind(), ErrorKind::Cancelled);
    stages.lock().expect("no panic").resize(1000, "full");
    let again = engine.phew(&cells, &octs.rho, &params).expect("the engine lives");
    assert_eq!(again.labels(), plain.labels());
}

/// Bad input on one rank: the same error on all, and the next call is right.
#[test]
fn bad_input_on_one_rank_is_the_error_of_all() {
    let snapshot = open(&output("dm_1rank"));
    let (octs, _) = HostOcts::read(&*snapshot, "rho");
    let geometry = geometry_of(&*snapshot);
    let parts = Division::Random.parts(&octs, 3, 2);
    let params = params_of(DARK, Rules::Paper);
    let bad_rho = |value: f64| move |octs: &mut HostOcts| octs.rho[0] = value;
    let repeated = |octs: &mut HostOcts| {
        *octs = octs.some(&[&(0..octs.level.len()).collect::<Vec<_>>()[..], &[0]].concat())
    };
    let missing = |octs: &mut HostOcts| *octs = octs.some(&(1..octs.level.len()).collect::<Vec<_>>());
    let short = |octs: &mut HostOcts| octs.rho.truncate(3);
    type Damage<'a> = (&'a (dyn Fn(&mut HostOcts) + Sync), ErrorKind);
    let damages: [Damage; 5] = [
        (&bad_rho(f64::NAN), ErrorKind::InvalidValue),
        (&bad_rho(f64::INFINITY), ErrorKind::InvalidValue),
        (&repeated, ErrorKind::InvalidCells),
        (&missing, ErrorKind::InvalidCells),
        (&short, ErrorKind::InvalidArgument),
    ];
    let said = over_ranks(Comm::threads(3), |rank, mut engine| {
        let own = octs.some(&parts[rank]);
        let good = engine.phew(&own.cells(geometry.clone()), &own.rho, &params).expect("clumps");
        let mut said = Vec::new();
        for (n, (damage, kind)) in damages.iter().enumerate() {
            let mut damaged = own.clone();
            if rank == n % 3 {
                damage(&mut damaged);
            }
            let cells = damaged.cells(geometry.clone());
            let error = engine.phew(&cells, &damaged.rho, &params).expect_err("damaged");
            assert_eq!(error.kind(), *kind, "{error}");
            said.push(error);
            let again = engine.phew(&own.cells(geometry.clone()), &own.rho, &params).expect("clumps");
            assert_eq!(again.labels(), good.labels());
        }
        said
    });
    assert!(said.iter().all(|errors| *errors == said[0]), "{said:?}");
}

/// A rank that does not return: the other one gets an error instead of waiting for ever, and both engines are
/// unusable.
#[test]
fn a_rank_that_does_not_come_back_is_a_time_out() {
    let (tell, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    // Rank 1 stays in its first stage until rank 0 has given up.
    let asleep = move |_| {
        wait.lock().expect("no panic").iter().for_each(drop);
        ControlFlow::Continue(())
    };
    let [first, second] = <[RankBuilder; 2]>::try_from(RankBuilder::threads(2)).expect("two ranks");
    let builder = || Engine::builder().threads(1).time_limits(TimeLimits::default().recover_timeout(0.3));
    let find = |engine: &mut Engine, x: u32| {
        let cells = Cells::from_leaves(Geometry::cube(1.0), &[3_u8], &[[x, 1, 1]])?;
        engine.phew(&cells, &[2.0], &PhewParams::new(1.0)).map(drop)
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let engine = builder().rank(second).hook(asleep).build();
            let mut engine = engine.expect("an engine");
            find(&mut engine, 6).expect_err("rank 0 has given up");
            find(&mut engine, 6).expect_err("for good");
        });
        let engine = builder().rank(first).hook(|_| ControlFlow::Break(())).build();
        let mut engine = engine.expect("an engine");
        let error = find(&mut engine, 1).expect_err("cancelled, but rank 1 never answers");
        assert_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
        drop(tell);
        find(&mut engine, 1).expect_err("for good");
    });
}

#[test]
fn parameters_and_cells_out_of_range_are_refused() {
    let geometry = Geometry::cube(1.0);
    let cells =
        Cells::from_leaves(geometry.clone(), &[1_u8, 1], &[[0_u32, 0, 0], [1, 0, 0]]).expect("leaves");
    let mut engine = Engine::builder().threads(1).build().expect("an engine");
    let rho = [2.0, 3.0];
    let refused = |params: PhewParams, engine: &mut Engine| {
        engine.phew(&cells, &rho, &params).expect_err("refused").kind()
    };
    let argument = ErrorKind::InvalidArgument;
    assert_eq!(refused(PhewParams::new(-1.0), &mut engine), argument);
    assert_eq!(refused(PhewParams::new(f64::NAN), &mut engine), argument);
    assert_eq!(refused(PhewParams::new(1.0).saddle(0.5), &mut engine), argument);
    assert_eq!(refused(PhewParams::new(1.0).mass(f64::INFINITY), &mut engine), argument);
    let difference = PhewParams::new(1.0).persistence(Persistence::Difference(1.0));
    assert_eq!(refused(difference.clone().rules(Rules::Ramses), &mut engine), argument);
    // Negative values are legal with a difference only.
    let negative = [2.0, -3.0];
    let ratio = engine.phew(&cells, &negative, &PhewParams::new(1.0)).expect_err("negative");
    assert_eq!(ratio.kind(), ErrorKind::InvalidValue);
    assert!(ratio.to_string().contains("[1, 0, 0] of level 1"), "{ratio}");
    let found = engine.phew(&cells, &negative, &difference).expect("a difference");
    assert_eq!((found.n_clumps(), found.labels()), (1, &[ClumpId::new(1), None][..]));

    let kind = |cells: Result<Cells, Error>| cells.expect_err("refused").kind();
    assert_eq!(kind(Cells::from_leaves(Geometry::cube(0.0), &[1_u8], &[[0_u32; 3]])), argument);
    assert_eq!(
        kind(Cells::from_leaves(geometry.clone(), &[1_u8], &[[2_u32, 0, 0]])),
        ErrorKind::InvalidCells
    );
    assert_eq!(kind(Cells::from_leaves(geometry.clone(), &[30_u8], &[[0_u32; 3]])), ErrorKind::InvalidCells);
    assert_eq!(kind(Cells::from_leaves(geometry.clone(), &[-1_i32], &[[0_u32; 3]])), argument);
    assert_eq!(kind(Cells::from_leaves(geometry.clone(), &[0.5], &[[0_u32; 3]])), argument);
    assert_eq!(kind(Cells::from_leaves(geometry.clone(), &[1_u8, 1], &[[0_u32; 3]])), argument);
    let inside = Cells::from_leaves(geometry, &[0_u8, 1], &[[0_u32; 3], [1, 1, 1]])
        .expect("one by one they are valid");
    assert_eq!(
        engine.phew(&inside, &rho, &PhewParams::new(1.0)).expect_err("overlap").kind(),
        ErrorKind::InvalidCells
    );
    assert_eq!(Engine::builder().threads(0).build().expect_err("no threads").kind(), argument);
}
