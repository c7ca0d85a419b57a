//! Subhaloes of groups that history alone knows: a satellite that flies through its host is in one group with it.

use crate::common::compare::{assert_same, assert_same_table};
use crate::common::engines::assert_found_over_ranks;
use crate::common::fly_through::{CENTRE, Output, PATH, hold, satellite, series};
use crate::common::room::Room;
use crate::fof_oracle::random::Random;
use inselberg::bound::SpanRules;
use inselberg::{
    BoundRequest, Catalogue, Engine, FofParams, Geometry, Linking, LinkingTypes, ParticleColumns,
    PotentialChoice, Table, TrackParams,
};

fn fly_through() -> Vec<Output> {
    let mut random = Random(61);
    series(&PATH, false, &mut || random.real())
}

fn params(tracks: bool, fewest: Option<u64>) -> FofParams {
    let spanning = SpanRules { fewest: fewest.or(Some(u64::MAX)), block: 64 };
    let bound = BoundRequest { unbind: true, with_members: true, spanning, ..BoundRequest::default() };
    let tracks = TrackParams::default().on(tracks);
    FofParams::default().linking(Linking::Length(0.012)).bound(bound).tracks(tracks)
}

/// The catalogues of outputs from `first` on, on rank 0.
fn found(
    engine: &mut Engine,
    first: usize,
    series: &[Output],
    ranks: (usize, usize),
    params: &FofParams,
) -> Vec<Catalogue> {
    let of_output = |(number, output): (usize, &Output)| {
        let held = hold(engine, number, output, ranks);
        let types = LinkingTypes::default();
        engine.fof_particles(&held, &types, params).expect("groups").gather(0).expect("gathered")
    };
    series.iter().enumerate().skip(first).filter_map(of_output).collect()
}

fn alone(params: &FofParams) -> Vec<Catalogue> {
    let mut engine = Engine::builder().threads(1).build().expect("an engine");
    found(&mut engine, 0, &fly_through(), (0, 1), params)
}

fn clumps(catalogue: &Catalogue) -> &Table {
    catalogue.table("clumps").expect("clumps")
}

fn counts<'a>(table: &'a Table, name: &str) -> &'a [u64] {
    table.counts(name).expect("a column of counts")
}

#[test]
fn a_subhalo_that_fell_into_a_group_keeps_its_track() {
    for potential in [PotentialChoice::Tree, PotentialChoice::Spherical] {
        let mut params = params(true, None);
        params.bound.potential = potential;
        let found = alone(&params);
        let mut tracks = Vec::new();
        for (output, catalogue) in found.iter().enumerate() {
            let row =
                satellite(catalogue).unwrap_or_else(|| panic!("output {output} lacks it, {potential:?}"));
            let table = clumps(catalogue);
            tracks.push(counts(table, "track")[row]);
            let has_group = table.bytes("has_group").expect("flags")[row] == 1;
            let is_central = table.bytes("is_central").expect("flags")[row] == 1;
            // In the outputs beside the centre it has just touched its host.
            let is_apart = [0, PATH.len() - 1].contains(&output);
            assert_eq!((has_group, is_central), (is_apart, is_apart), "output {output}");
            let groups = catalogue.table("Groups").expect("groups").n_rows();
            let n_peakless = table.bytes("has_group").expect("flags").iter().filter(|has| **has == 0).count();
            assert_eq!(table.n_rows(), groups + n_peakless, "output {output}");
        }
        assert!(tracks.iter().all(|track| *track == tracks[0] && *track > 0), "{tracks:?}");
    }
}

/// The first output has one track for each group with bound members, and its other tables are as without.
#[test]
fn the_first_output_has_a_track_per_group() {
    let (with, without) = (&alone(&params(true, None))[0], &alone(&params(false, None))[0]);
    let groups = without.table("Groups").expect("groups");
    let mut found = with.table("Groups").expect("groups").clone();
    found.columns.retain(|column| groups.column(&column.name).is_some());
    let mut expected = groups.clone();
    // Members are those of clumps.
    expected.columns.retain(|column| column.name != "members_offset");
    assert_same_table(&found, &expected, "the first output");
    let bound = counts(groups, "n_bound").iter().filter(|n| **n > 0).count();
    assert_eq!(with.table("tracks").expect("tracks").n_rows(), bound);
    assert_eq!(counts(clumps(with), "n_bound"), counts(groups, "n_bound"));
    let members = |catalogue: &Catalogue, owner: &str| {
        let table = catalogue.table("members").expect("members");
        (table.identities("id").expect("identities").to_vec(), table.integers(owner).expect("owners"))
    };
    assert_eq!(members(with, "clump"), members(without, "group"));
}

#[test]
fn tracks_of_groups_have_the_same_bits_on_any_ranks() {
    let (expected, series) = (alone(&params(true, None)), fly_through());
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

/// A new engine goes on from the catalogue of an output.
#[test]
fn a_series_of_groups_goes_on_after_an_interruption() {
    let (expected, series) = (alone(&params(true, None)), fly_through());
    let room = Room::new();
    for first in [1, CENTRE, CENTRE + 1] {
        let path = room.path(&format!("groups_{first}.hdf5"));
        inselberg_io::catalogue::write(path.as_ref(), &expected[first - 1]).expect("written");
        let tracks = TrackParams::default().on(true).last_catalogue(path.into());
        let params = params(true, None).tracks(tracks);
        let what = format!("from output {first}");
        assert_found_over_ranks(2, &expected[first..], &what, |engine, ranks| {
            found(engine, first, &series, ranks, &params)
        });
    }
}

/// An engine that searches for clumps and groups at each step does not mix their tracks.
#[test]
fn tracks_of_clumps_and_groups_are_apart() {
    let (expected, series) = (alone(&params(true, None)), fly_through());
    let mut engine = Engine::builder().threads(2).build().expect("an engine");
    let tracks = TrackParams::default().on(true);
    let bound = BoundRequest { unbind: true, ..BoundRequest::default() };
    let clumps = inselberg::PhewParams::new(80.0).saddle(200.0).bound(bound).tracks(tracks);
    let mesh = inselberg::ParticleMeshParams::default().level_min(3).level_max(6);
    for output in 0..2 {
        let held = hold(&mut engine, output, &series[output], (0, 1));
        engine.phew_particles(&held, &mesh, &clumps).expect("clumps");
        let groups = engine.fof_particles(&held, &LinkingTypes::default(), &params(true, None));
        let found = groups.expect("groups").gather(0).expect("gathered").expect("rank 0");
        assert_same(&found, &expected[output], "beside clumps");
    }
}

#[test]
fn tracks_of_groups_need_identities_unbinding_and_time() {
    let mut engine = Engine::builder().threads(1).build().expect("an engine");
    let series = fly_through();
    let types = LinkingTypes::default();
    let without = params(true, None).bound(BoundRequest::default());
    let late = hold(&mut engine, 3, &series[0], (0, 1));
    let refused = engine.fof_particles(&late, &types, &without).expect_err("refused").to_string();
    assert!(refused.contains("tracks is true; expected `properties` basic, bound or all"), "{refused}");
    let params = params(true, None);
    engine.fof_particles(&late, &types, &params).expect("groups");
    let early = hold(&mut engine, 2, &series[1], (0, 1));
    let refused = engine.fof_particles(&early, &types, &params).expect_err("refused").to_string();
    assert!(refused.contains("in the order of time"), "{refused}");
    let (position, velocity) = &series[0];
    let mass = vec![1.0; position.len()];
    let units = inselberg::Units { length: 1.0, density: 1.0, time: 1.0 };
    let geometry = Geometry::cube(1.0).units(units).time(5.0);
    let columns = ParticleColumns::new(geometry, position).masses(&mass).velocities(velocity);
    let plain = engine.hold_particles(&columns).expect("held");
    let refused = engine.fof_particles(&plain, &types, &params).expect_err("refused").to_string();
    assert!(refused.contains("has no ParticleIDs, by which tracks find"), "{refused}");
}

/// Its core is at rest in that of the host: it merges, and does not come back.
#[test]
fn a_subhalo_that_has_sunk_merges_into_its_group() {
    let mut random = Random(61);
    let series = series(&[0.3, 0.12, 0.0, 0.0], true, &mut || random.real());
    let mut engine = Engine::builder().threads(2).build().expect("an engine");
    let alone = found(&mut engine, 0, &series, (0, 1), &params(true, None));
    assert_found_over_ranks(3, &alone, "sunk", |engine, ranks| {
        found(engine, 0, &series, ranks, &params(true, None))
    });
    let found = alone;
    let row = satellite(&found[1]).expect("it is there before");
    let number = counts(clumps(&found[1]), "track")[row];
    let tracks = |output: usize| found[output].table("tracks").expect("tracks");
    let row_of = |output: usize| counts(tracks(output), "track").iter().position(|track| *track == number);
    let host = counts(tracks(2), "is_central").iter().position(|flag| *flag == 1).expect("a central");
    let merged_into = counts(tracks(2), "merged_into")[row_of(2).expect("its last row")];
    assert_eq!(merged_into, counts(tracks(2), "track")[host]);
    assert!(row_of(3).is_none() && satellite(&found[2]).is_none() && satellite(&found[3]).is_none());
}
