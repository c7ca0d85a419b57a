//! Subhaloes that are remembered: a satellite that passes the centre of its host, where it has no peak.
//!
//! Host and satellite are Plummer spheres in equilibrium, and the satellite moves through the host as a whole.
//! So its members are known in every output. The particles are in the memory of a program.

use crate::common::compare::{assert_same, assert_same_table};
use crate::common::output;
use crate::common::room::Room;
use crate::facade::over_ranks;
use crate::verify::random::Random;
use inselberg::bound::SpanRules;
use inselberg::{
    BoundRequest, Catalogue, Engine, ErrorKind, FieldChoice, Geometry, ParticleColumns, ParticleMeshParams,
    Persistence, PhewParams, Units,
};
use inselberg_comm::Comm;
use inselberg_io::NEWTON;
use inselberg_io::catalogue::{Table, TableColumn};

const N_HOST: usize = 5000;
const N_SATELLITE: usize = 250;

/// Distance of the satellite from the centre of the host in each output.
const PATH: [f64; 5] = [0.3, 0.12, 0.0, -0.07, -0.3];

/// The output in which the satellite is at the centre.
const CENTRE: usize = 2;

/// Offsets and velocities of a Plummer sphere of this mass and scale length, with G = 1.
fn plummer(n: usize, mass: f64, scale: f64, random: &mut Random) -> Vec<([f64; 3], [f64; 3])> {
    let direction = |random: &mut Random| {
        let (z, angle) = (2.0 * random.real() - 1.0, std::f64::consts::TAU * random.real());
        let across = (1.0 - z * z).sqrt();
        [across * angle.cos(), across * angle.sin(), z]
    };
    let member = |_| {
        let r = loop {
            let r = ((1.0 - random.real()).powf(-2.0 / 3.0) - 1.0).powf(-0.5);
            if r < 4.0 {
                break r;
            }
        };
        let escape = (2.0 / (1.0 + r * r).sqrt()).sqrt();
        let q = loop {
            let (q, height) = (random.real(), 0.1 * random.real());
            if height < q * q * (1.0 - q * q).powf(3.5) {
                break q;
            }
        };
        let (x, v) = (direction(random), direction(random));
        (x.map(|x| x * r * scale), v.map(|v| v * q * escape * (mass / scale).sqrt()))
    };
    (0..n).map(member).collect()
}

/// Positions and velocities of all particles in each output of a path. Those of the satellite come first.
fn series(path: &[f64], has_sunk: bool) -> Vec<Output> {
    let mut random = Random(61);
    let mass = N_SATELLITE as f64 / N_HOST as f64;
    let satellite = plummer(N_SATELLITE, mass, 0.012, &mut random);
    let host = plummer(N_HOST, 1.0, 0.03, &mut random);
    let output = |x: &f64| {
        let of = |members: &[([f64; 3], [f64; 3])], at: f64, speed: f64| -> Vec<([f64; 3], [f32; 3])> {
            let moved = |(d, v): &([f64; 3], [f64; 3])| {
                ([0.5 + at + d[0], 0.5 + d[1], 0.5 + d[2]], [v[0] + speed, v[1], v[2]].map(|v| v as f32))
            };
            members.iter().map(moved).collect()
        };
        // It falls freely, or has come to rest at the centre.
        let is_at_rest = has_sunk && *x == 0.0;
        let speed = if is_at_rest { 0.0 } else { -(2.0 / (x * x + 0.03 * 0.03).sqrt()).sqrt() };
        of(&satellite, *x, speed).into_iter().chain(of(&host, 0.0, 0.0)).unzip()
    };
    path.iter().map(output).collect()
}

fn params(tracks: bool, fewest: Option<u64>) -> PhewParams {
    let spanning = SpanRules { fewest: fewest.or(Some(u64::MAX)), block: 64 };
    let bound =
        BoundRequest { unbind: true, with_members: true, tracks, spanning, ..BoundRequest::default() };
    PhewParams::new(80.0).saddle(200.0).bound(bound)
}

/// The catalogues of outputs from `first` on, on rank 0. Each rank holds every third particle or so.
fn found(
    engine: &mut Engine,
    first: usize,
    series: &[Output],
    (rank, n_ranks): (usize, usize),
    params: &PhewParams,
) -> Vec<Catalogue> {
    let units = Units { length: 1.0, density: 1.0, time: NEWTON.powf(-0.5) };
    let mut catalogues = Vec::new();
    for (number, (position, velocity)) in series.iter().enumerate().skip(first) {
        let own = |row: &usize| (row / 7) % n_ranks == rank;
        let rows: Vec<usize> = (0..position.len()).filter(own).collect();
        let position: Vec<[f64; 3]> = rows.iter().map(|row| position[*row]).collect();
        let velocity: Vec<[f32; 3]> = rows.iter().map(|row| velocity[*row]).collect();
        // Not in the order of the rows.
        let id: Vec<u64> = rows.iter().map(|row| id_of(*row)).collect();
        let mass = vec![1.0 / N_HOST as f64; rows.len()];
        let geometry = Geometry::cube(1.0).units(units).time(number as f64);
        let columns = ParticleColumns::new(geometry, &position).masses(&mass).ids(&id).velocities(&velocity);
        let held = engine.hold_particles(&columns).expect("held");
        let mesh = ParticleMeshParams::default().level_min(3).level_max(9);
        let clumps = engine.phew_particles(&held, &mesh, params).expect("clumps");
        catalogues.extend(clumps.gather(0).expect("gathered"));
    }
    catalogues
}

fn id_of(row: usize) -> u64 {
    (row as u64 * 7919) % (N_HOST + N_SATELLITE) as u64 + 1
}

/// Positions and velocities of the particles of an output.
type Output = (Vec<[f64; 3]>, Vec<[f32; 3]>);

fn fly_through() -> Vec<Output> {
    series(&PATH, false)
}

fn found_alone(series: &[Output], tracks: bool) -> Vec<Catalogue> {
    let mut engine = Engine::builder().threads(1).build().expect("an engine");
    found(&mut engine, 0, series, (0, 1), &params(tracks, None))
}

fn alone(tracks: bool) -> Vec<Catalogue> {
    found_alone(&fly_through(), tracks)
}

/// The row of the clump with most members of the satellite and few others; and whether it has a peak.
fn satellite(catalogue: &Catalogue) -> Option<usize> {
    let (clumps, members) = (catalogue.table("clumps").expect("clumps"), catalogue.table("members"));
    let of_clump = members.expect("members").counts("clump").expect("clumps").iter();
    let ids = members.expect("members").identities("id").expect("identities");
    let own: std::collections::BTreeSet<u64> = (0..N_SATELLITE).map(id_of).collect();
    let mut counts = std::collections::BTreeMap::<u64, [usize; 2]>::new();
    of_clump
        .zip(ids)
        .for_each(|(clump, id)| counts.entry(*clump).or_default()[usize::from(own.contains(id))] += 1);
    let is_satellite = |n: &[usize; 2]| n[1] > N_SATELLITE * 8 / 10 && n[0] < N_SATELLITE / 5;
    let clump = counts.iter().find(|(_, n)| is_satellite(n)).map(|(clump, _)| *clump)?;
    clumps.counts("id").expect("identifiers").iter().position(|id| *id == clump)
}

fn counts<'a>(table: &'a Table, name: &str) -> &'a [u64] {
    table.counts(name).expect("a column of counts")
}

#[test]
fn a_satellite_without_a_peak_keeps_its_track() {
    let (with, without) = (alone(true), alone(false));
    assert!(satellite(&without[CENTRE]).is_none(), "it has a peak at the centre: this tests nothing");
    let mut tracks = Vec::new();
    for (output, catalogue) in with.iter().enumerate() {
        let row = satellite(catalogue).unwrap_or_else(|| panic!("output {output} lacks it"));
        let clumps = catalogue.table("clumps").expect("clumps");
        tracks.push(counts(clumps, "track")[row]);
        let has_peak = clumps.bytes("has_peak").expect("flags")[row] == 1;
        assert_eq!(has_peak, output != CENTRE, "output {output}");
        let density = clumps.reals("density_peak").expect("densities")[row];
        assert_eq!(density.is_nan(), !has_peak, "a clump without a peak has no density");
        let number = |name: &str| match catalogue.attribute(name) {
            Some(inselberg_io::catalogue::Attribute::Int(n)) => *n as usize,
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(number("n_clumps"), clumps.n_rows(), "output {output}");
        assert_eq!(
            number("n_haloes"),
            catalogue.table("haloes").expect("haloes").n_rows(),
            "output {output}"
        );
    }
    assert!(tracks.iter().all(|track| *track == tracks[0] && *track > 0), "{tracks:?}");
    let host = with.iter().map(|catalogue| counts(catalogue.table("tracks").expect("tracks"), "is_central"));
    assert!(host.into_iter().all(|flags| flags.contains(&1)), "each output has a central");
}

/// Its core is at rest in that of the host: it merges, and does not come back.
#[test]
fn a_satellite_that_has_sunk_merges_into_its_host() {
    let found = found_alone(&series(&[0.3, 0.12, 0.0, 0.0], true), true);
    let tracks = |output: usize| found[output].table("tracks").expect("tracks");
    let row = satellite(&found[1]).expect("it is there before");
    let number = counts(found[1].table("clumps").expect("clumps"), "track")[row];
    let row_of = |output: usize| counts(tracks(output), "track").iter().position(|track| *track == number);
    let row = row_of(2).expect("its last row");
    let merged_into = counts(tracks(2), "merged_into")[row];
    let host = counts(tracks(2), "is_central").iter().position(|flag| *flag == 1).expect("a central");
    assert_eq!(merged_into, counts(tracks(2), "track")[host]);
    assert_eq!((counts(tracks(2), "clump")[row], counts(tracks(2), "n_sources")[row]), (0, 0));
    assert!(row_of(3).is_none() && satellite(&found[2]).is_none() && satellite(&found[3]).is_none());
}

/// Under higher thresholds some objects have no peak, and so no cells.
#[test]
fn clumps_without_a_peak_have_no_gas() {
    let bound = BoundRequest { unbind: true, tracks: true, gas: true, ..BoundRequest::default() };
    let lax = PhewParams::new(2.0).persistence(Persistence::Ratio(1.1)).saddle(2.5).bound(bound);
    let strict = lax.clone().persistence(Persistence::Ratio(4.0)).saddle(200.0);
    let of_ranks = |n_ranks: usize| {
        let found = over_ranks(Comm::threads(n_ranks), |_, mut engine| {
            let snapshot = engine.open(output("gas_2ranks")).expect("opened");
            let field = FieldChoice::Named("density".into());
            let mut phew = |params| engine.phew_snapshot(&snapshot, &field, params).expect("clumps");
            phew(&lax);
            phew(&strict).gather(0).expect("gathered")
        });
        found.into_iter().flatten().next().expect("rank 0")
    };
    let alone = of_ranks(1);
    let clumps = alone.table("clumps").expect("clumps");
    let peakless: Vec<usize> =
        (0..clumps.n_rows()).filter(|row| clumps.bytes("has_peak").expect("flags")[*row] == 0).collect();
    assert!(!peakless.is_empty(), "all have peaks: this tests nothing");
    for table in ["clumps", "haloes"].map(|name| alone.table(name).expect("a table")) {
        let n_rows = |column: &TableColumn| column.values.len();
        assert!(table.columns.iter().all(|column| n_rows(column) == table.n_rows()), "{}", table.name);
    }
    let gas = clumps.reals("gas_mass").expect("masses");
    assert!(peakless.iter().all(|row| gas[*row] == 0.0) && gas.iter().any(|mass| *mass > 0.0));
    assert_same(&of_ranks(3), &alone, "3 ranks");
}

/// The first output has nothing to remember, so it is as without tracks.
#[test]
fn the_first_output_is_that_without_tracks() {
    let (with, without) = (&alone(true)[0], &alone(false)[0]);
    for table in &without.tables {
        let mut found = with.table(&table.name).expect("the same tables").clone();
        found.columns.retain(|column| table.column(&column.name).is_some());
        assert_same_table(&found, table, "the first output");
    }
}

#[test]
fn tracks_have_the_same_bits_on_any_ranks() {
    let (expected, series) = (alone(true), fly_through());
    // Ranks have one thread and two by turns.
    for n_ranks in [2, 3] {
        for fewest in [None, Some(0), Some(300)] {
            let params = params(true, fewest);
            let of_ranks = over_ranks(Comm::threads(n_ranks), |rank, mut engine| {
                found(&mut engine, 0, &series, (rank, n_ranks), &params)
            });
            assert_eq!(of_ranks[0].len(), expected.len());
            for (output, (found, expected)) in of_ranks[0].iter().zip(&expected).enumerate() {
                let what = format!("output {output}, {n_ranks} ranks, spanning from {fewest:?}");
                assert_same(found, expected, &what);
            }
        }
    }
}

/// A new engine goes on from the catalogue of any output.
#[test]
fn a_series_goes_on_after_an_interruption() {
    let (expected, series) = (alone(true), fly_through());
    let room = Room::new();
    for first in 1..PATH.len() {
        let path = room.path(&format!("tracks_{first}.hdf5"));
        inselberg_io::catalogue::write(path.as_ref(), &expected[first - 1]).expect("written");
        for n_ranks in [1, 2] {
            let of_ranks = over_ranks(Comm::threads(n_ranks), |rank, mut engine| {
                engine.read_tracks(&path).expect("tracks");
                found(&mut engine, first, &series, (rank, n_ranks), &params(true, None))
            });
            for (found, expected) in of_ranks[0].iter().zip(&expected[first..]) {
                assert_same(found, expected, &format!("from output {first}, {n_ranks} ranks"));
            }
        }
    }
}

#[test]
fn catalogues_without_sound_tracks_are_refused() {
    let (room, mut engine) = (Room::new(), Engine::builder().threads(1).build().expect("an engine"));
    let mut refused = |name: &str, catalogue: &Catalogue| {
        let path = room.path(name);
        inselberg_io::catalogue::write(path.as_ref(), catalogue).expect("written");
        engine.read_tracks(&path).expect_err("refused").to_string()
    };
    let found = refused("plain.hdf5", &alone(false)[0]);
    assert!(found.contains("no tracks; expected"), "{found}");
    let mut broken = alone(true).swap_remove(0);
    let tracks = broken.tables.iter_mut().find(|table| table.name == "tracks").expect("tracks");
    let column = tracks.columns.iter_mut().find(|column| column.name == "n_sources").expect("numbers");
    let inselberg_io::catalogue::Values::U64(values) = &mut column.values else { panic!("counts") };
    values[0] += 1;
    let found = refused("broken.hdf5", &broken);
    assert!(found.contains("rows of sources"), "{found}");
    let absent = engine.read_tracks(room.path("absent.hdf5")).expect_err("refused");
    assert_eq!(absent.kind(), ErrorKind::Read, "{absent}");
}
