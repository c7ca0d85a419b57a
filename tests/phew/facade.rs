//! The façade: labels and catalogues equal those of the command, in any order and decomposition of the cells.

use crate::common::case::{Case, DARK, GAS, SYNTH, config};
use crate::common::compare::{assert_same_table, bits};
use crate::common::{Whole, open, output};
use crate::verify::meshes::{Field, any_field, threshold_for};
use crate::verify::random::Random;
use inselberg::executor::Executor;
use inselberg::phew::run::run;
use inselberg::{
    Catalogue, CellFields, Cells, ClumpId, Clumps, Column, Comm, CommBuilder, Engine, Error, ErrorKind,
    Geometry, Persistence, PhewParams, Rules, VectorColumn,
};
use inselberg_cli::synth::{FieldKind, FieldParams, SynthField};
use inselberg_io::Snapshot;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

type Place = (u8, [u32; 3]);

/// Octs as a simulation holds them.
#[derive(Debug, Clone, Default)]
struct HostOcts {
    level: Vec<u8>,
    position: Vec<[u32; 3]>,
    split: Vec<u8>,
    /// Eight per oct.
    rho: Vec<f64>,
    velocity: Vec<[f64; 3]>,
}

impl HostOcts {
    /// Every oct of an output with a field and the velocities of its gas, if it has any.
    fn read(snapshot: &dyn Snapshot, field: &str) -> (Self, bool) {
        let whole = Whole::read(snapshot);
        let column = |name: &str| whole.fields.iter().position(|f| f.name == name);
        let rho = column(field).expect("the field");
        let is_hydro = whole.fields[rho].family == "hydro";
        let velocity = ["velocity_x", "velocity_y", "velocity_z"].map(column);
        let mut octs = Self::default();
        for block in &whole.octs {
            for i in 0..block.position.len() {
                octs.level.push(block.level);
                octs.position.push(block.position[i]);
                octs.split.push(block.split[i]);
                octs.rho.extend(block.values[rho][i]);
                let of = |c: usize| velocity.map(|axis| axis.map_or(0.0, |axis| block.values[axis][i][c]));
                octs.velocity.extend((0..8).map(of));
            }
        }
        (octs, is_hydro && velocity.iter().all(Option::is_some))
    }

    /// Some of the octs, in this order.
    fn some(&self, order: &[usize]) -> Self {
        let mut octs = Self::default();
        for &i in order {
            octs.level.push(self.level[i]);
            octs.position.push(self.position[i]);
            octs.split.push(self.split[i]);
            octs.rho.extend(&self.rho[8 * i..8 * i + 8]);
            octs.velocity.extend(&self.velocity[8 * i..8 * i + 8]);
        }
        octs
    }

    fn cells(&self, geometry: Geometry) -> Cells {
        Cells::from_octs(geometry, &self.level, &self.position, &self.split).expect("octs")
    }

    fn place(&self, cell: usize) -> Place {
        let (oct, c) = (cell / 8, cell as u32 % 8);
        let at = self.position[oct];
        (self.level[oct], std::array::from_fn(|a| 2 * at[a] + (c >> a & 1)))
    }
}

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

/// What `work` gives on each of several ranks as threads, by rank.
fn over_ranks<T: Send>(ranks: Vec<CommBuilder>, work: impl Fn(usize, Engine) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let start = |(rank, builder): (usize, CommBuilder)| {
            let work = &work;
            scope.spawn(move || {
                let engine =
                    Engine::builder().threads(1 + rank % 2).rank(builder).build().expect("an engine");
                work(rank, engine)
            })
        };
        let threads: Vec<_> = ranks.into_iter().enumerate().map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

fn geometry_of(snapshot: &dyn Snapshot) -> Geometry {
    let header = snapshot.header();
    let geometry = Geometry::cube(header.boxlen).coarse(header.coarse).periodic(header.periodic);
    geometry.time(header.time).units(header.units.clone())
}

fn params_of(case: Case, rules: Rules) -> PhewParams {
    let [density, relevance, saddle] = case.thresholds;
    let params = PhewParams::new(density).persistence(Persistence::Ratio(relevance)).saddle(saddle);
    params.rules(rules).with_cells()
}

/// The catalogue of the command's own path, and the clump and halo of each leaf.
fn expected(snapshot: &dyn Snapshot, case: Case, rules: Rules) -> (Catalogue, BTreeMap<Place, [u64; 2]>) {
    let mut config = config(snapshot, case, rules);
    config.with_particles = false;
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

/// That every table of the command is here, dataset by dataset.
fn check_tables(found: &Catalogue, expected: &Catalogue, what: &str) {
    assert_eq!(found.tables.len(), expected.tables.len(), "{what}");
    found.tables.iter().zip(&expected.tables).for_each(|(a, b)| assert_same_table(a, b, what));
}

/// That the façade finds on `n_ranks` ranks what the command finds.
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

fn shuffled(n: usize, seed: u64) -> Vec<usize> {
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
        let params = PhewParams::new(threshold).persistence(Persistence::Ratio(1.1)).saddle(threshold * 1.5).with_cells();
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

/// Blocks of the leaves of a field on a uniform grid with one refined half: level 3 where x is below the middle, level 4 above.
struct HostBlocks {
    level: Vec<u8>,
    corner: Vec<[u32; 3]>,
    covered: Vec<u8>,
    rho: Vec<f32>,
}

const BLOCK: [u32; 3] = [4, 8, 2];

impl HostBlocks {
    fn new() -> Self {
        let mut blocks = Self { level: Vec::new(), corner: Vec::new(), covered: Vec::new(), rho: Vec::new() };
        let wave = |x: f64| 1.0 + (std::f64::consts::TAU * x * 2.0).sin();
        for level in [3_u8, 4] {
            let n = 1_u32 << level;
            for corner in corners(n, BLOCK) {
                // The finer level exists in one half only. There it covers the coarser one.
                if level == 4 && corner[0] < n / 2 {
                    continue;
                }
                blocks.level.push(level);
                blocks.corner.push(corner);
                for [x, y, z] in cells_of(corner, BLOCK) {
                    blocks.covered.push(u8::from(level == 3 && x >= n / 2));
                    let centre = [x, y, z].map(|x| (f64::from(x) + 0.5) / f64::from(n));
                    let ripple = 1.0 + 0.01 * f64::from((7 * x + 3 * y + 5 * z) % 11);
                    blocks.rho.push((centre.map(wave).iter().product::<f64>() * ripple) as f32);
                }
            }
        }
        blocks
    }

    /// Some blocks, in this order.
    fn some(&self, order: &[usize]) -> Self {
        let n = BLOCK.iter().product::<u32>() as usize;
        let values = |i: &usize| n * i..n * (i + 1);
        Self {
            level: order.iter().map(|i| self.level[*i]).collect(),
            corner: order.iter().map(|i| self.corner[*i]).collect(),
            covered: order.iter().flat_map(|i| self.covered[values(i)].to_vec()).collect(),
            rho: order.iter().flat_map(|i| self.rho[values(i)].to_vec()).collect(),
        }
    }

    fn cells(&self) -> Cells {
        Cells::from_blocks(Geometry::cube(1.0), &self.level, &self.corner, BLOCK, &self.covered)
            .expect("blocks")
    }

    /// Level and position of each value.
    fn places(&self) -> Vec<Place> {
        let of_block = |(level, corner): (&u8, &[u32; 3])| {
            let level = *level;
            cells_of(*corner, BLOCK).map(move |cell| (level, cell)).collect::<Vec<_>>()
        };
        self.level.iter().zip(&self.corner).flat_map(of_block).collect()
    }
}

fn corners(n: u32, size: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    let counts = size.map(|s| n / s);
    let n_blocks: u32 = counts.iter().product();
    (0..n_blocks).map(move |i| {
        let at = [i % counts[0], i / counts[0] % counts[1], i / (counts[0] * counts[1])];
        std::array::from_fn(|a| at[a] * size[a])
    })
}

/// x fastest.
fn cells_of(corner: [u32; 3], [x, y, z]: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..x * y * z).map(move |i| [corner[0] + i % x, corner[1] + i / x % y, corner[2] + i / (x * y)])
}

#[test]
fn blocks_give_what_their_leaves_give() {
    let blocks = HostBlocks::new();
    let places = blocks.places();
    let leaves: Vec<usize> = (0..places.len()).filter(|i| blocks.covered[*i] == 0).collect();
    let level: Vec<u8> = leaves.iter().map(|i| places[*i].0).collect();
    let position: Vec<_> = leaves.iter().map(|i| places[*i].1).collect();
    let rho: Vec<f32> = leaves.iter().map(|i| blocks.rho[*i]).collect();
    let params = PhewParams::new(1.5).persistence(Persistence::Ratio(1.01)).saddle(2.0).with_cells();
    let mut engine = Engine::builder().threads(2).build().expect("an engine");
    let of_leaves = Cells::from_leaves(Geometry::cube(1.0), &level, &position).expect("leaves");
    let expected = engine.phew(&of_leaves, &rho, &params).expect("clumps");
    assert!(expected.n_clumps() > 7 && expected.coverage() == 1.0, "{expected:?}");
    let label_of: BTreeMap<Place, Option<ClumpId>> =
        leaves.iter().zip(expected.labels()).map(|(i, label)| (places[*i], *label)).collect();
    let whole = expected.gather(0).expect("alone").expect("rank 0");
    for n_ranks in [1, 3] {
        let order = shuffled(blocks.level.len(), n_ranks as u64);
        over_ranks(Comm::threads(n_ranks), |rank, mut engine| {
            let own: Vec<usize> = order.iter().copied().filter(|i| i % n_ranks == rank).collect();
            let own = blocks.some(&own);
            let cells = own.cells();
            for _ in 0..2 {
                let found = engine.phew(&cells, &own.rho, &params).expect("clumps");
                for (i, place) in own.places().into_iter().enumerate() {
                    // Covered cells have no label.
                    let wanted = if own.covered[i] == 0 { label_of[&place] } else { None };
                    assert_eq!(found.labels()[i], wanted, "{place:?} on {n_ranks} ranks");
                }
                assert_eq!(found.coverage(), 1.0);
                if let Some(found) = found.gather(0).expect("gathered") {
                    check_tables(&found, &whole, "blocks");
                }
            }
        });
    }
}

#[test]
fn a_grid_is_one_block_and_gaps_are_told() {
    let geometry = Geometry::cube(1.0).coarse([3, 1, 1]);
    let places: Vec<[u32; 3]> = cells_of([0; 3], [12, 4, 4]).collect();
    let rho: Vec<f64> = places.iter().map(|[x, y, z]| f64::from((5 * x + 3 * y + 7 * z) % 13)).collect();
    let params = PhewParams::new(4.0).persistence(Persistence::Ratio(1.2));
    let mut engine = Engine::builder().threads(1).build().expect("an engine");
    let grid =
        engine.phew(&Cells::uniform(geometry.clone(), 2).expect("a grid"), &rho, &params).expect("clumps");
    let leaves = Cells::from_leaves(geometry.clone(), &vec![2_u8; places.len()], &places).expect("leaves");
    let of_leaves = engine.phew(&leaves, &rho, &params).expect("clumps");
    assert_eq!((grid.labels(), grid.coverage()), (of_leaves.labels(), 1.0));
    // Leaves that are no test cells may be left out.
    let dense: Vec<usize> = (0..rho.len()).filter(|i| rho[*i] > 4.0).collect();
    let dense_places: Vec<_> = dense.iter().map(|i| places[*i]).collect();
    let dense_rho: Vec<f64> = dense.iter().map(|i| rho[*i]).collect();
    let some = Cells::from_leaves(geometry.clone(), &vec![2_u8; dense.len()], &dense_places).expect("leaves");
    let found = engine.phew(&some, &dense_rho, &params).expect("clumps");
    assert_eq!(found.coverage(), dense.len() as f64 / rho.len() as f64);
    let wanted: Vec<_> = dense.iter().map(|i| grid.labels()[*i]).collect();
    assert_eq!(found.labels(), wanted);

    let refused = |cells: Result<Cells, Error>| cells.expect_err("refused").kind();
    let none = [0_u8; 0];
    let odd = Cells::from_blocks(geometry.clone(), &[2_u8], &[[0_u32; 3]], [3, 2, 2], &none);
    assert_eq!(refused(odd), ErrorKind::InvalidArgument);
    let outside = Cells::from_blocks(geometry.clone(), &[2_u8], &[[0_u32, 0, 2]], [2, 2, 4], &none);
    assert_eq!(refused(outside), ErrorKind::InvalidCells);
    let too_many = Cells::uniform(geometry.clone(), 29);
    assert_eq!(refused(too_many), ErrorKind::OutOfMemory);
    let no_parent = Cells::from_octs(geometry.clone(), &[0_u8], &[[0_u32; 3]], &[0_u8]);
    assert_eq!(refused(no_parent), ErrorKind::InvalidCells);
    let part = Cells::from_blocks(geometry, &[2_u8], &[[0_u32; 3]], [2; 3], &[1_u8, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(refused(part), ErrorKind::InvalidCells);
}
