//! Properties of the gas of clumps, against plain sums over the cells of an output with a magnetic field.

use crate::bound::{counts, difference, reals, square, step, table, vectors};
use crate::common::case::{Case, DARK, GAS, config};
use crate::common::compare::assert_same;
use crate::common::{Octs, Whole, octs, open, output};
use inselberg::executor::Executor;
use inselberg::phew::Rules;
use inselberg::phew::params::{BoundRequest, PropertyChoice};
use inselberg::phew::run::run;
use inselberg::{Cells, Column, Engine, ErrorKind, Geometry, PhewParams};
use inselberg_comm::{Comm, run_threads};
use inselberg_io::catalogue::{Attribute, Catalogue, Table, Values};
use inselberg_io::ramses::write::Dialect;
use inselberg_io::{FieldInfo, NEWTON, Snapshot, Units};
use std::collections::BTreeMap;
use std::f64::consts::PI;

const HYDRO: [&str; 5] = ["density", "velocity_x", "velocity_y", "velocity_z", "pressure"];
const NEW: [&str; 6] = ["B_x_left", "B_y_left", "B_z_left", "B_x_right", "B_y_right", "B_z_right"];
const OLD: [&str; 6] = ["B_left_x", "B_left_y", "B_left_z", "B_right_x", "B_right_y", "B_right_z"];

/// Thresholds that give clumps in clumps.
pub const NESTED: Case = Case { field: "density", thresholds: [2.0, 1.1, 2.5] };

/// Values that the file states.
const GAMMA: f64 = 1.666_666_7;

/// The energy of a homogeneous cube, from the closed form.
fn cube() -> f64 {
    let root = f64::sqrt;
    let logarithm = ((1.0 + root(2.0)) * (2.0 + root(3.0))).ln();
    (1.0 + root(2.0) - 2.0 * root(3.0)) / 5.0 - PI / 3.0 + logarithm
}

fn gas() -> BoundRequest {
    BoundRequest { gas: true, ..BoundRequest::default() }
}

fn on_ranks(snapshot: &dyn Snapshot, bound: BoundRequest, n_ranks: usize) -> Catalogue {
    let config =
        config(snapshot, NESTED, Rules::Paper).with(|params| params.bound(bound).with_particles(false));
    let parts = run_threads(n_ranks, |comm| {
        let outcome = run(snapshot, &config, comm, &Executor::default());
        outcome.expect("clumps").catalogue.gather(comm).expect("gathered")
    });
    parts.expect("no panic").swap_remove(0).expect("rank 0")
}

/// The bundled output with gas, changed, over three files.
fn rewritten(change: impl FnOnce(&mut Whole)) -> (tempfile::TempDir, Box<dyn Snapshot>) {
    let mut whole = Whole::read(&*open(&output("gas_2ranks")));
    change(&mut whole);
    let folder = tempfile::tempdir().expect("a folder");
    let snapshot = open(&whole.write(folder.path(), 3, true, &Dialect::default()));
    (folder, snapshot)
}

/// Adds a magnetic field where RAMSES has it: between velocity and pressure.
fn magnetise(whole: &mut Whole, names: &[&str]) {
    let at = whole.fields.iter().position(|field| field.name == "pressure").expect("a pressure");
    for (i, name) in names.iter().enumerate() {
        whole.fields.insert(at + i, FieldInfo { family: "hydro", name: (*name).into() });
        for block in &mut whole.octs {
            let value = |place: [u32; 3], cell: usize| {
                let [x, y, z] = place.map(|x| x as usize);
                ((x * 7 + y * 5 + z * 3 + cell * 11 + i * 13) % 97) as f64 / 20.0 - 2.0
            };
            let column =
                block.position.iter().map(|place| std::array::from_fn(|cell| value(*place, cell))).collect();
            block.values.insert(at + i, column);
        }
    }
}

fn remove(whole: &mut Whole, is_gone: impl Fn(&FieldInfo) -> bool) {
    for column in (0..whole.fields.len()).rev().filter(|i| is_gone(&whole.fields[*i])).collect::<Vec<_>>() {
        whole.fields.remove(column);
        whole.octs.iter_mut().for_each(|block| drop(block.values.remove(column)));
    }
}

/// A leaf from a plain reader.
#[derive(Clone, Copy)]
struct Cell {
    position: [f64; 3],
    side: f64,
    mass: f64,
    velocity: [f64; 3],
    pressure: f64,
    magnetic: f64,
}

/// The leaves of each clump, and of each halo.
fn cells_by(catalogue: &Catalogue, octs: &Octs, column: &str) -> BTreeMap<u64, Vec<Cell>> {
    let cells = table(catalogue, "cells");
    let Values::U8(levels) = &cells.columns[0].values else { panic!("levels") };
    let Values::U32x3(places) = &cells.columns[1].values else { panic!("places") };
    let mut of: BTreeMap<u64, Vec<Cell>> = BTreeMap::new();
    for ((level, ijk), owner) in levels.iter().zip(places).zip(counts(cells, column)) {
        let (_, values) = &octs[&(*level, ijk.map(|x| x / 2))];
        let cell = (0..3).map(|a| (ijk[a] as usize & 1) << a).sum::<usize>();
        let value = |field: usize| values[field][cell];
        let side = 0.5f64.powi((*level).into());
        let centre: [f64; 3] = std::array::from_fn(|a| 0.5 * (value(5 + a) + value(8 + a)));
        of.entry(owner).or_default().push(Cell {
            position: ijk.map(|i| (f64::from(i) + 0.5) * side),
            side,
            mass: value(0) * side.powi(3),
            velocity: std::array::from_fn(|a| value(1 + a)),
            pressure: value(4),
            magnetic: 0.5 * square(centre),
        });
    }
    of.remove(&0);
    of
}

fn assert_near(found: f64, expected: f64, part: f64, what: &str) {
    assert!((found - expected).abs() <= part * expected.abs(), "{what}: {found}, expected {expected}");
}

/// One row against sums over its cells, and formulae.
fn check_row(table: &Table, row: usize, suffix: &str, cells: &[Cell], newton: f64) {
    let what = |name: &str| format!("{name}{suffix} of row {row} of {} ({} cells)", table.name, cells.len());
    let found = |name: &str| reals(table, &format!("{name}{suffix}"))[row];
    let near = |name: &str, expected: f64, part: f64| assert_near(found(name), expected, part, &what(name));
    let sum = |of: &dyn Fn(&Cell) -> f64| cells.iter().map(of).sum::<f64>();
    let mass = sum(&|c| c.mass);
    let volume = sum(&|c| c.side.powi(3));
    let first = cells[0].position;
    let mean = |of: &dyn Fn(&Cell) -> [f64; 3]| -> [f64; 3] {
        std::array::from_fn(|a| sum(&|c| c.mass * of(c)[a]) / mass)
    };
    let shift = mean(&|c| step(first, c.position));
    let centre: [f64; 3] = std::array::from_fn(|a| first[a] + shift[a]);
    let velocity = mean(&|c| c.velocity);
    let kinetic = 0.5 * sum(&|c| c.mass * square(difference(c.velocity, velocity)));
    let pressure = sum(&|c| c.pressure * c.side.powi(3));
    let magnetic = sum(&|c| c.magnetic * c.side.powi(3));
    let mut potential = 0.0;
    for (i, a) in cells.iter().enumerate() {
        potential -= cube() * newton * a.mass * a.mass / a.side;
        let with = |b: &Cell| newton * a.mass * b.mass / square(step(a.position, b.position)).sqrt();
        potential -= cells[..i].iter().map(with).sum::<f64>();
    }
    let radius = (volume * 3.0 / (4.0 * PI)).cbrt();
    assert_eq!(counts(table, &format!("gas_n_cells{suffix}"))[row], cells.len() as u64);
    near("gas_mass", mass, 1e-12);
    near("gas_volume", volume, 1e-12);
    near("gas_radius", radius, 1e-12);
    near("gas_turbulent_energy", kinetic, 1e-9);
    near("gas_velocity_dispersion", (2.0 * kinetic / (3.0 * mass)).sqrt(), 1e-9);
    near("gas_thermal_energy", pressure / (GAMMA - 1.0), 1e-12);
    near("gas_sound_speed", (pressure / mass).sqrt(), 1e-12);
    near("gas_magnetic_energy", magnetic, 1e-12);
    // Masses have single precision in potentials, and from 64 cells on a tree sums them.
    let part = if cells.len() < 64 { 1e-6 } else { 5e-4 };
    near("gas_potential_energy", potential, part);
    near("gas_virial_parameter", 5.0 * 2.0 * kinetic / (3.0 * mass) * radius / (newton * mass), 1e-9);
    near("gas_virial_ratio", 2.0 * kinetic / -potential, part);
    near("gas_total_virial_ratio", (2.0 * kinetic + 3.0 * pressure + magnetic) / -potential, part);
    near("gas_free_fall_time", (3.0 * PI * volume / (32.0 * newton * mass)).sqrt(), 1e-12);
    let places = vectors(table, &format!("gas_centre_of_mass{suffix}"));
    assert!(square(step(places[row], centre)).sqrt() < 1e-12, "{}", what("gas_centre_of_mass"));
    let velocities = vectors(table, &format!("gas_velocity{suffix}"));
    let speed = square(velocity).sqrt();
    assert!(
        square(difference(velocities[row], velocity)).sqrt() <= 1e-12 * speed,
        "{}",
        what("gas_velocity")
    );
    check_shape(cells, centre, mass, [found("gas_axis_ratio_b_a"), found("gas_axis_ratio_c_a")], &what(""));
    let half = found("gas_half_mass_radius");
    let within = |r: f64| mass_within(cells, centre, r) / mass;
    assert!(within(0.9 * half) < 0.53 && within(1.1 * half) > 0.47, "{}: {half}", what("half-mass radius"));
}

/// The ratios of the eigenvalues of the second moments, by the invariants of the matrix.
fn check_shape(cells: &[Cell], centre: [f64; 3], mass: f64, [b, c]: [f64; 2], what: &str) {
    let moment = |p: usize, q: usize| {
        let of = |cell: &Cell| {
            let x = step(centre, cell.position);
            cell.mass * (x[p] * x[q] + if p == q { cell.side * cell.side / 12.0 } else { 0.0 })
        };
        cells.iter().map(of).sum::<f64>() / mass
    };
    let m: [[f64; 3]; 3] = std::array::from_fn(|p| std::array::from_fn(|q| moment(p, q)));
    let minor = |p: usize, q: usize| m[p][p] * m[q][q] - m[p][q] * m[q][p];
    let trace = m[0][0] + m[1][1] + m[2][2];
    let second = minor(0, 1) + minor(0, 2) + minor(1, 2);
    assert!(0.0 < c && c <= b && b <= 1.0, "{what}: {b} {c}");
    let largest = trace / (1.0 + b * b + c * c);
    let found = largest * largest * (b * b + c * c + b * b * c * c);
    assert_near(found, second, 1e-9, &format!("{what}, axes"));
    let determinant = m[0][0] * minor(1, 2) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    assert_near(largest.powi(3) * b * b * c * c, determinant, 1e-8, &format!("{what}, axes"));
}

/// The mass within a sphere, with cells cut into 16³ cubes.
fn mass_within(cells: &[Cell], centre: [f64; 3], radius: f64) -> f64 {
    const PARTS: usize = 16;
    let offset = |i: usize| (i as f64 + 0.5) / PARTS as f64 - 0.5;
    let of = |cell: &Cell| {
        let x = step(centre, cell.position);
        let reach = 0.87 * cell.side;
        match square(x).sqrt() {
            r if r + reach < radius => return cell.mass,
            r if r - reach > radius => return 0.0,
            _ => {}
        }
        let cubes = (0..PARTS.pow(3)).map(|i| [i % PARTS, i / PARTS % PARTS, i / PARTS / PARTS]);
        let is_inside = |place: &[usize; 3]| {
            square(std::array::from_fn(|a| x[a] + cell.side * offset(place[a]))) < radius * radius
        };
        cell.mass * cubes.filter(is_inside).count() as f64 / PARTS.pow(3) as f64
    };
    cells.iter().map(of).sum()
}

/// The cells of each clump and of all clumps in it.
fn with_descendants(own: &BTreeMap<u64, Vec<Cell>>, clumps: &Table) -> BTreeMap<u64, Vec<Cell>> {
    let parent: BTreeMap<u64, u64> = counts(clumps, "id").into_iter().zip(counts(clumps, "parent")).collect();
    let mut all: BTreeMap<u64, Vec<Cell>> = BTreeMap::new();
    for (clump, cells) in own {
        let above = std::iter::successors(Some(*clump), |at| Some(parent[at]).filter(|up| up != at));
        above.for_each(|at| all.entry(at).or_default().extend(cells));
    }
    all
}

#[test]
fn columns_are_plain_sums_over_cells() {
    for names in [NEW, OLD] {
        let (_folder, snapshot) = rewritten(|whole| magnetise(whole, &names));
        let catalogue = on_ranks(&*snapshot, gas(), 1);
        assert!(catalogue.table("members").is_none(), "nothing is unbound");
        let units = &snapshot.header().units;
        let newton = NEWTON * units.density * units.time * units.time;
        let octs = octs(&*snapshot, &[&HYDRO[..], &names].concat());
        let own = cells_by(&catalogue, &octs, "clump");
        let (clumps, haloes) = (table(&catalogue, "clumps"), table(&catalogue, "haloes"));
        let inclusive = with_descendants(&own, clumps);
        let mut n_nested = 0;
        for (row, id) in counts(clumps, "id").iter().enumerate() {
            check_row(clumps, row, "", &own[id], newton);
            check_row(clumps, row, "_inclusive", &inclusive[id], newton);
            n_nested += usize::from(inclusive[id].len() > own[id].len());
        }
        assert!(n_nested > 0, "no clump has clumps in it");
        assert!(own.values().any(|cells| cells.len() > 200), "the tree is used");
        let of_haloes = cells_by(&catalogue, &octs, "halo");
        for (row, id) in counts(haloes, "id").iter().enumerate() {
            check_row(haloes, row, "", &of_haloes[id], newton);
        }
        let is = |name: &str, expected: Attribute| {
            assert_eq!(catalogue.attribute(name), Some(&expected), "{name}");
        };
        is("gas_masked", Attribute::Text("none".into()));
        is("gas_adiabatic_index", Attribute::Real(GAMMA));
        is("gas_adiabatic_index_source", Attribute::Text("input".into()));
        is("gas_gravity_constant", Attribute::Real(newton));
        is("gas_gravity_constant_source", Attribute::Text("units".into()));
    }
}

#[test]
fn one_catalogue_on_any_ranks_and_threads() {
    let (_folder, snapshot) = rewritten(|whole| magnetise(whole, &NEW));
    let both = BoundRequest { unbind: true, properties: PropertyChoice::All, with_members: true, ..gas() };
    for request in [gas(), both] {
        let one = on_ranks(&*snapshot, request, 1);
        for (n_ranks, n_threads) in [(1, 2), (2, 1), (2, 2), (3, 1), (3, 2)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("a pool");
            let other = pool.install(|| on_ranks(&*snapshot, request, n_ranks));
            assert_same(&one, &other, &format!("{n_ranks} ranks, {n_threads} threads"));
        }
        if request == both {
            let mut without = on_ranks(&*snapshot, BoundRequest { gas: false, ..both }, 1);
            let mut with = one.clone();
            for catalogue in [&mut with, &mut without] {
                catalogue.attributes.retain(|(name, _)| !name.starts_with("gas_"));
                for table in &mut catalogue.tables {
                    table.columns.retain(|column| !column.name.starts_with("gas_"));
                }
            }
            assert_same(&with, &without, "unbinding with gas beside it");
        }
        let cut = inselberg::phew::recut::recut(&one, &Default::default()).expect("a cut");
        assert!(cut.attributes.iter().all(|(name, _)| !name.starts_with("gas_")));
        let columns = cut.tables.iter().flat_map(|table| &table.columns);
        assert!(
            columns.clone().count() > 20 && columns.clone().all(|column| !column.name.starts_with("gas_"))
        );
    }
}

/// Asserts that these columns alone are masked: 0 throughout, and listed.
fn assert_masked(catalogue: &Catalogue, names: &[&str]) {
    assert_eq!(catalogue.attribute("gas_masked"), Some(&Attribute::Text(names.join(", "))));
    for name in ["clumps", "haloes"] {
        let columns = &table(catalogue, name).columns;
        for column in columns.iter().filter(|column| column.name.starts_with("gas_")) {
            let Values::F64(values) = &column.values else { continue };
            let name = column.name.strip_suffix("_inclusive").unwrap_or(&column.name);
            let is_masked = names.contains(&name);
            assert_eq!(values.iter().all(|value| *value == 0.0), is_masked, "{}", column.name);
            assert_eq!(column.description.contains("masked"), is_masked, "{}", column.description);
        }
    }
}

const OF_GRAVITY: [&str; 5] = [
    "gas_potential_energy",
    "gas_virial_parameter",
    "gas_virial_ratio",
    "gas_total_virial_ratio",
    "gas_free_fall_time",
];

#[test]
fn what_an_output_does_not_state_is_masked() {
    let without_field = open(&output("gas_2ranks"));
    assert_masked(&on_ranks(&*without_field, gas(), 1), &["gas_magnetic_energy"]);
    let (_folder, cold) = rewritten(|whole| {
        magnetise(whole, &NEW);
        remove(whole, |field| field.name == "pressure");
    });
    let cold = on_ranks(&*cold, gas(), 1);
    assert_masked(&cold, &["gas_sound_speed", "gas_thermal_energy", "gas_total_virial_ratio"]);
    assert_eq!(cold.attribute("gas_adiabatic_index"), None);
    let plain = |whole: &mut Whole| {
        magnetise(whole, &NEW);
        whole.header.units = Units { length: 1.0, density: 1.0, time: 1.0 };
        whole.header.cosmology = None;
    };
    let (_folder, light) = rewritten(|whole| {
        plain(whole);
        remove(whole, |field| field.family == "grav");
    });
    let light = on_ranks(&*light, gas(), 1);
    assert_masked(&light, &OF_GRAVITY);
    assert_eq!(light.attribute("gas_gravity_constant"), None);
    // RAMSES itself takes 1 in code units.
    let (_folder, heavy) = rewritten(|whole| {
        plain(whole);
        if whole.fields.iter().all(|field| field.family != "grav") {
            whole.fields.push(FieldInfo { family: "grav", name: "potential".into() });
            whole.octs.iter_mut().for_each(|block| block.values.push(vec![[0.0; 8]; block.position.len()]));
        }
    });
    let heavy = on_ranks(&*heavy, gas(), 1);
    assert_eq!(heavy.attribute("gas_gravity_constant"), Some(&Attribute::Real(1.0)));
    let source = Attribute::Text("code units".into());
    assert_eq!(heavy.attribute("gas_gravity_constant_source"), Some(&source));
    let clumps = table(&heavy, "clumps");
    let (mass, volume) = (reals(clumps, "gas_mass")[0], reals(clumps, "gas_volume")[0]);
    let expected = (3.0 * PI * volume / (32.0 * mass)).sqrt();
    assert_near(reals(clumps, "gas_free_fall_time")[0], expected, 1e-12, "free-fall time");
}

#[test]
fn the_ratio_of_specific_heats_may_be_given() {
    let snapshot = open(&output("gas_2ranks"));
    let stated = on_ranks(&*snapshot, gas(), 1);
    let given = on_ranks(&*snapshot, BoundRequest { adiabatic_index: Some(1.4), ..gas() }, 1);
    assert_eq!(given.attribute("gas_adiabatic_index"), Some(&Attribute::Real(1.4)));
    assert_eq!(given.attribute("gas_adiabatic_index_source"), Some(&Attribute::Text("given".into())));
    let thermal = |catalogue: &Catalogue| reals(table(catalogue, "clumps"), "gas_thermal_energy")[0];
    assert_near(thermal(&given), thermal(&stated) * (GAMMA - 1.0) / 0.4, 1e-12, "thermal energy");
}

#[test]
fn inputs_without_gas_are_refused() {
    let refusal = |snapshot: &dyn Snapshot, case| {
        let config = config(snapshot, case, Rules::Paper).with(|params| params.bound(gas()));
        run(snapshot, &config, &Comm::solo(), &Executor::default()).expect_err("an error").to_string()
    };
    let message = refusal(&*open(&output("dm_1rank")), DARK);
    assert!(message.contains("no gas in cells") && message.contains("expected an output"), "{message}");
    let (_folder, torn) = rewritten(|whole| magnetise(whole, &NEW[..5]));
    let message = refusal(&*torn, GAS);
    assert!(message.contains("no field B_z_right") && message.contains("expected"), "{message}");
    let mut engine = Engine::builder().threads(1).build().expect("an engine");
    let cells = Cells::from_leaves(Geometry::cube(1.0), &[3_u8], &[[1_u32, 1, 1]]).expect("a cell");
    let params = PhewParams::new(0.5).bound(gas());
    let error = engine.phew(&cells, Column::from(&[1.0][..]), &params).expect_err("no gas in memory");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.to_string().contains("expected an output on disk"), "{error}");
}
