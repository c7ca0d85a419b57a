//! Tracks of subhaloes through the centre of their host, against known members: two of equal mass that meet there,
//! at several resolutions.

use crate::common::infall::{Infall, InfallOrbit, SOFTENING};
use crate::verify::random::Random;
use inselberg::{
    BoundRequest, Catalogue, Engine, FofParams, Geometry, Linking, LinkingTypes, OpenParticles,
    ParticleColumns, ParticleMeshParams, PhewParams, SofteningLengths, TrackParams, Units,
};
use inselberg_io::NEWTON;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Two subhaloes fall from opposite sides, and a third one passes the host at a distance. The first two are at
/// the centre at the time of the fourth output.
const ORBITS: [InfallOrbit; 3] = [
    InfallOrbit { at: [0.2, 0.0, 0.0], velocity: [-1.78, 0.0, 0.0] },
    InfallOrbit { at: [-0.2, 0.0, 0.0], velocity: [1.78, 0.0, 0.0] },
    InfallOrbit { at: [0.0, 0.2, 0.0], velocity: [1.4, 0.0, 0.4] },
];

/// Time from output to output.
const INTERVAL: f64 = 0.02;

/// An object in an output.
#[derive(Debug, Clone, Copy)]
struct Sighting {
    output: usize,
    sub: usize,
    /// Number of its members by truth, and of those that are found; 0 if it is not found.
    n_true: usize,
    n_found: usize,
    track: u64,
    /// Distance from the centre of the host.
    radius: f64,
}

impl fmt::Display for Sighting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { output, sub, n_true, n_found, track, radius } = self;
        write!(
            f,
            "output {output}, object {sub}: {n_found} of {n_true}, track {track}, {radius:.3} from the centre"
        )
    }
}

fn hold(engine: &mut Engine, output: usize, infall: &Infall) -> OpenParticles {
    let units = Units { length: 1.0, density: 1.0, time: NEWTON.powf(-0.5) };
    let position: Vec<[f64; 3]> =
        infall.position.iter().map(|x| x.map(|x| (x + 0.5).rem_euclid(1.0))).collect();
    let velocity: Vec<[f32; 3]> = infall.velocity.iter().map(|v| v.map(|v| v as f32)).collect();
    let id: Vec<u64> = (1..=position.len() as u64).collect();
    let mass = vec![infall.mass; position.len()];
    let geometry = Geometry::cube(1.0).units(units).time(output as f64);
    let columns = ParticleColumns::new(geometry, &position).masses(&mass).ids(&id).velocities(&velocity);
    engine.hold_particles(&columns).expect("held")
}

/// The clump with most of the most bound tenth of an object, if at least half of its members are of it. The
/// number of its members and its track.
fn found(catalogue: &Catalogue, infall: &Infall, truth: &[usize]) -> Option<(usize, u64)> {
    let members = catalogue.table("members").expect("members");
    let ids = members.identities("id").expect("identities");
    let owners = members.counts("clump").expect("clumps");
    let owner: BTreeMap<u64, u64> = ids.iter().copied().zip(owners.iter().copied()).collect();
    let core = &truth[..(truth.len() / 10).max(10)];
    let mut counts = BTreeMap::<u64, usize>::new();
    core.iter()
        .filter_map(|row| owner.get(&(*row as u64 + 1)))
        .for_each(|clump| *counts.entry(*clump).or_default() += 1);
    let (clump, n) = counts.into_iter().max_by_key(|(_, n)| *n)?;
    let sub = truth[0] / infall.n_sub;
    let of_clump: Vec<u64> =
        ids.iter().zip(owners).filter(|(_, of)| **of == clump).map(|(id, _)| *id).collect();
    let own = of_clump.iter().filter(|id| (**id as usize - 1) / infall.n_sub == sub).count();
    let table = catalogue.table("clumps").expect("clumps");
    let row = table.counts("id").expect("identifiers").iter().position(|id| *id == clump).expect("listed");
    let track = table.counts("track").expect("tracks")[row];
    (2 * n >= core.len() && 2 * own >= of_clump.len()).then_some((of_clump.len(), track))
}

/// How a search finds the clumps of an output.
type SearchStep<'a> = dyn FnMut(&mut Engine, &OpenParticles) -> Catalogue + 'a;

/// All objects in each of these outputs.
fn sightings(n_host: usize, n_outputs: usize, search: &mut SearchStep) -> Vec<Sighting> {
    let mut random = Random(17);
    let mut infall = Infall::new(n_host, &ORBITS, &mut || random.real());
    let mut engine = Engine::builder().threads(2).build().expect("an engine");
    let mut all = Vec::new();
    for output in 0..n_outputs {
        if output > 0 {
            infall.advance(INTERVAL);
        }
        let held = hold(&mut engine, output, &infall);
        let catalogue = search(&mut engine, &held);
        for sub in 0..ORBITS.len() {
            let truth = infall.truth(sub);
            let place =
                |a: usize| truth.iter().map(|i| infall.position[*i][a]).sum::<f64>() / truth.len() as f64;
            let radius = [0, 1, 2].map(place).iter().map(|x| x * x).sum::<f64>().sqrt();
            let (n_found, track) = found(&catalogue, &infall, &truth).unwrap_or((0, 0));
            all.push(Sighting { output, sub, n_true: truth.len(), n_found, track, radius });
        }
    }
    all
}

/// Each object with `least` members by truth or more is found, with its mass and with one track for life.
fn assert_followed(all: &[Sighting], least: usize, what: &str) {
    let table = || all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    for sub in 0..ORBITS.len() {
        let of_sub = || all.iter().filter(|s| s.sub == sub && s.n_true >= least);
        let lost: Vec<&Sighting> = of_sub().filter(|s| s.n_found == 0).collect();
        assert!(lost.is_empty(), "{what}: lost {lost:?} of\n{}", table());
        let tracks: BTreeSet<u64> = of_sub().map(|s| s.track).collect();
        assert_eq!(tracks.len(), 1, "{what}: object {sub} in\n{}", table());
        let mut ratios: Vec<f64> = of_sub().map(|s| s.n_found as f64 / s.n_true as f64).collect();
        ratios.sort_by(f64::total_cmp);
        let median = ratios[ratios.len() / 2];
        assert!((0.9..1.1).contains(&median), "{what}: {median} of the mass of {sub} in\n{}", table());
    }
    let nearest = all.iter().map(|s| s.radius).fold(f64::INFINITY, f64::min);
    assert!(nearest < 0.008, "{what}: nobody passes the centre, {nearest}: this tests nothing");
}

fn bound() -> BoundRequest {
    let softening = SofteningLengths::same(SOFTENING);
    BoundRequest { unbind: true, with_members: true, softening, ..BoundRequest::default() }
}

fn clumps(engine: &mut Engine, held: &OpenParticles) -> Catalogue {
    let params = PhewParams::new(80.0).saddle(200.0).bound(bound()).tracks(TrackParams::default().on(true));
    let mesh = ParticleMeshParams::default().level_min(3).level_max(9);
    engine.phew_particles(held, &mesh, &params).expect("clumps").gather(0).expect("gathered").expect("rank 0")
}

/// Groups with a linking length that suits so many particles.
fn groups(n_host: usize, engine: &mut Engine, held: &OpenParticles) -> Catalogue {
    let length = 0.012 * (5000.0 / n_host as f64).cbrt();
    let params = FofParams::default().linking(Linking::Length(length)).bound(bound()).softening(SOFTENING);
    let params = params.tracks(TrackParams::default().on(true));
    let found = engine.fof_particles(held, &LinkingTypes::default(), &params).expect("groups");
    found.gather(0).expect("gathered").expect("rank 0")
}

#[test]
fn two_subhaloes_that_meet_at_the_centre_keep_their_tracks() {
    let all = sightings(5000, 7, &mut clumps);
    assert_followed(&all, 20, "clumps");
}

#[test]
#[ignore = "minutes; part of the long share"]
fn subhaloes_keep_their_tracks_at_any_resolution() {
    for n_host in [2000, 5000, 20_000] {
        let all = sightings(n_host, 19, &mut clumps);
        all.iter().for_each(|s| println!("{n_host}, clumps: {s}"));
        assert_followed(&all, 20, &format!("clumps, {n_host}"));
        let all = sightings(n_host, 19, &mut |engine, held| groups(n_host, engine, held));
        all.iter().for_each(|s| println!("{n_host}, groups: {s}"));
        assert_followed(&all, 20, &format!("groups, {n_host}"));
    }
}
