//! Subhaloes that are remembered: a satellite that passes the centre of its host, where it has no peak.

use crate::common::compare::{assert_same, assert_same_table};
use crate::common::engines::{assert_found_over_ranks, over_ranks};
use crate::common::fly_through::{self, CENTRE, Output, PATH, hold, satellite};
use crate::common::output;
use crate::common::room::Room;
use crate::verify::random::Random;
use inselberg::bound::SpanRules;
use inselberg::{
    BoundRequest, Catalogue, Engine, ErrorKind, FieldChoice, ParticleMeshParams, Persistence, PhewParams,
    TrackParams,
};
use inselberg_comm::Comm;
use inselberg_io::catalogue::{Table, TableColumn};

fn params(tracks: bool, fewest: Option<u64>) -> PhewParams {
    let spanning = SpanRules { fewest: fewest.or(Some(u64::MAX)), block: 64 };
    let bound = BoundRequest { unbind: true, with_members: true, spanning, ..BoundRequest::default() };
    PhewParams::new(80.0).saddle(200.0).bound(bound).tracks(TrackParams::default().on(tracks))
}

/// The catalogues of outputs from `first` on, on rank 0.
fn found(
    engine: &mut Engine,
    first: usize,
    series: &[Output],
    ranks: (usize, usize),
    params: &PhewParams,
) -> Vec<Catalogue> {
    let of_output = |(number, output): (usize, &Output)| {
        let held = hold(engine, number, output, ranks);
        let mesh = ParticleMeshParams::default().level_min(3).level_max(9);
        engine.phew_particles(&held, &mesh, params).expect("clumps").gather(0).expect("gathered")
    };
    series.iter().enumerate().skip(first).filter_map(of_output).collect()
}

/// The outputs of a path.
fn series(path: &[f64], has_sunk: bool) -> Vec<Output> {
    let mut random = Random(61);
    fly_through::series(path, has_sunk, &mut || random.real())
}

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
    let bound = BoundRequest { unbind: true, gas: true, ..BoundRequest::default() };
    let lax = PhewParams::new(2.0).persistence(Persistence::Ratio(1.1)).saddle(2.5).bound(bound);
    let lax = lax.tracks(TrackParams::default().on(true));
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
            let what = format!("spanning from {fewest:?}");
            assert_found_over_ranks(n_ranks, &expected, &what, |engine, ranks| {
                found(engine, 0, &series, ranks, &params)
            });
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
            let what = format!("from output {first}");
            assert_found_over_ranks(n_ranks, &expected[first..], &what, |engine, ranks| {
                let tracks = TrackParams::default().on(true).last_catalogue(path.clone().into());
                found(engine, first, &series, ranks, &params(true, None).tracks(tracks))
            });
        }
    }
}

#[test]
fn catalogues_without_sound_tracks_are_refused() {
    let (room, mut engine) = (Room::new(), Engine::builder().threads(1).build().expect("an engine"));
    let held = hold(&mut engine, 1, &fly_through()[1], (0, 1));
    let mut search = |path: &str| {
        let tracks = TrackParams::default().on(true).last_catalogue(path.into());
        let mesh = ParticleMeshParams::default().level_min(3).level_max(9);
        engine.phew_particles(&held, &mesh, &params(true, None).tracks(tracks)).expect_err("refused")
    };
    let mut refused = |name: &str, catalogue: &Catalogue| {
        let path = room.path(name);
        inselberg_io::catalogue::write(path.as_ref(), catalogue).expect("written");
        search(&path).to_string()
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
    let absent = search(&room.path("absent.hdf5"));
    assert_eq!(absent.kind(), ErrorKind::Read, "{absent}");
}
