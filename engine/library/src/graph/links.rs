//! Test particles, and the links between those of different ranks.
//!
//! A rank has found the neighbours of its own particles, but not the particles of other ranks that have one
//! of these as a neighbour. So each rank sends the links to its ghosts to their owners. Then both ranks have
//! a ghost of the other end.

use super::GraphField;
use super::ghosts::NearParticles;
use super::neighbours::{DenseParticles, NeighbourRun};
use super::particles::{GraphParticle, OwnParticles};
use crate::chunks::joined;
use crate::exchange::bundle::SendBuffers;
use crate::exchange::chains::RemoteIndex;
use crate::partition::{GhostLink, Ghosts};
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::graph::Neighbours;
use inselberg_kernels::ids::TestIdx;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The test particles known on a rank, own ones and ghosts, in their order.
#[derive(Debug)]
pub struct LinkGraph {
    /// The particles.
    pub particles: Vec<GraphParticle>,
    /// The field.
    pub field: GraphField,
    /// The value of each.
    pub rho: Vec<f64>,
    /// Which of them are owned by other ranks, and which own ones are ghosts there.
    pub shared: Ghosts,
    /// The own ones with their neighbours.
    pub runs: Vec<LinkRun>,
    /// Number of neighbours of each.
    pub k: usize,
    /// Own ones that are neighbours of ghosts, each with that ghost.
    pub from_ghosts: Vec<[TestIdx; 2]>,
    /// The test particle of each own particle; [`TestIdx::NONE`] for those that are none.
    pub of_own: Vec<TestIdx>,
}

/// Own test particles and their neighbours.
#[derive(Debug, Default)]
pub struct LinkRun {
    /// The test particles, ascending.
    pub of: Vec<TestIdx>,
    /// Their neighbours; [`TestIdx::NONE`] for those that are no test particles.
    pub list: Vec<TestIdx>,
}

impl LinkRun {
    /// In the form that the kernels take.
    pub fn neighbours(&self, k: usize) -> Neighbours<'_> {
        Neighbours { of: &self.of, k, list: &self.list }
    }
}

/// An own test particle with a link to a ghost, for the owner of the ghost.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct LinkedParticle {
    particle: GraphParticle,
    rho: f64,
    place: u64,
}

/// A link by the places of both ends on their owners.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct RemoteLink {
    /// The particle whose neighbour the other is.
    from: u32,
    to: u32,
}

const GHOSTS: usize = 0;
const LINKED: usize = 1;
const LINKS: usize = 2;

/// Linked test particles of this rank and one other: places on their owners, ascending.
#[derive(Debug, Default)]
struct SharedEnds {
    /// Particles of the other rank that are linked to own ones.
    ghosts: Vec<u32>,
    /// Own particles that are linked to particles of the other rank.
    mirrors: Vec<u32>,
}

/// Collective: the test particles and their links. One exchange; none on a single rank.
///
/// # Errors
/// When another rank fails.
pub fn find(
    own: &OwnParticles,
    near: &NearParticles,
    dense: DenseParticles,
    k: usize,
    comm: &Comm,
) -> Result<LinkGraph, CommError> {
    let rank = comm.rank().0;
    let DenseParticles { rho, runs, field, .. } = dense;
    let threshold = field.threshold(&own.units);
    let is_test = |i: u32| rho[i as usize] > threshold;
    let test = |i: &u32| KnownTest {
        particle: near.particles[*i as usize],
        rho: rho[*i as usize],
        origin: near.origin(*i as usize),
    };
    let of_run = |run: &NeighbourRun| run.of.iter().map(test).collect::<Vec<_>>();
    let mut known: Vec<KnownTest> = joined(runs.par_iter().map(of_run).collect());
    let CrossLinks { shared, ghosts, remote } = match comm.n_ranks() {
        1 => CrossLinks::default(),
        _ => CrossLinks::exchange(own, near, &rho, links_to_ghosts(near, &runs, k, is_test), comm)?,
    };
    known.extend(ghosts);
    known.par_sort_by(|a, b| a.particle.order(&b.particle));
    let places = TestPlaces::new(&known, own.particles.len(), rank);
    let of_shared = |(other, with): (u32, SharedEnds)| GhostLink {
        rank: Rank(other),
        ghosts: with.ghosts.iter().map(|i| places.of(RemoteIndex { rank: other, index: *i }).0).collect(),
        mirrors: with.mirrors.iter().map(|i| places.of(RemoteIndex { rank, index: *i }).0).collect(),
    };
    let run = |run: NeighbourRun| {
        let test = |i: &u32| match is_test(*i) {
            true => places.of(near.origin(*i as usize)),
            false => TestIdx::NONE,
        };
        LinkRun { of: run.of.iter().map(test).collect(), list: run.list.iter().map(test).collect() }
    };
    let link = |(other, link): &(u32, RemoteLink)| {
        [RemoteIndex { rank, index: link.to }, RemoteIndex { rank: *other, index: link.from }]
            .map(|end| places.of(end))
    };
    Ok(LinkGraph {
        shared: Ghosts::new(shared.into_iter().map(of_shared).collect()),
        from_ghosts: remote.iter().map(link).collect(),
        k,
        field,
        runs: runs.into_par_iter().map(run).collect(),
        particles: known.par_iter().map(|test| test.particle).collect(),
        rho: known.par_iter().map(|test| test.rho).collect(),
        of_own: places.of_own,
    })
}

/// A test particle with its density and its place on its owner.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct KnownTest {
    particle: GraphParticle,
    rho: f64,
    origin: RemoteIndex,
}

/// The links from own test particles to ghosts, with the owners of the ghosts, in order.
fn links_to_ghosts(
    near: &NearParticles,
    runs: &[NeighbourRun],
    k: usize,
    is_test: impl Fn(u32) -> bool,
) -> Vec<(u32, RemoteLink)> {
    let mut links = Vec::new();
    for (of, list) in runs.iter().flat_map(|run| run.of.iter().zip(run.list.chunks_exact(k))) {
        let from = near.origin(*of as usize).index;
        let ghosts = list.iter().filter(|i| is_test(**i) && near.own(**i as usize).is_none());
        let to = ghosts.map(|i| near.origin(*i as usize));
        links.extend(to.map(|to| (to.rank, RemoteLink { from, to: to.index })));
    }
    links.sort_unstable();
    links
}

/// The links between particles of this rank and of others.
#[derive(Default)]
struct CrossLinks {
    /// Their ends, by the other rank.
    shared: BTreeMap<u32, SharedEnds>,
    /// The ends on other ranks, each once.
    ghosts: Vec<KnownTest>,
    /// Links to own particles, with the rank of the other end.
    remote: Vec<(u32, RemoteLink)>,
}

impl CrossLinks {
    /// Collective: sends the `links` to ghosts to their owners, and receives the links to own particles. One
    /// exchange.
    fn exchange(
        own: &OwnParticles,
        near: &NearParticles,
        rho: &[f64],
        links: Vec<(u32, RemoteLink)>,
        comm: &Comm,
    ) -> Result<Self, CommError> {
        let mut found = Self::default();
        let mut buffers = SendBuffers::<3>::default();
        for part in links.chunk_by(|a, b| a.0 == b.0) {
            let to = part[0].0;
            let part: Vec<RemoteLink> = part.iter().map(|(_, link)| *link).collect();
            let ends = |end: fn(&RemoteLink) -> u32| ascending(part.iter().map(end).collect());
            let with = SharedEnds { ghosts: ends(|l| l.to), mirrors: ends(|l| l.from) };
            let linked: Vec<LinkedParticle> =
                with.mirrors.iter().map(|place| linked(own, near, rho, *place)).collect();
            buffers.put(Rank(to), GHOSTS, &with.ghosts);
            buffers.put(Rank(to), LINKED, &linked);
            buffers.put(Rank(to), LINKS, &part);
            found.shared.insert(to, with);
        }
        for (i, (particle, rho)) in near.particles.iter().zip(rho).enumerate() {
            let origin = near.origin(i);
            if found.has_ghost(origin) {
                found.ghosts.push(KnownTest { particle: *particle, rho: *rho, origin });
            }
        }
        for bundle in buffers.exchange(comm)? {
            let rank = bundle.from.0;
            let linked: Vec<LinkedParticle> = bundle.records(LINKED);
            for of in &linked {
                let origin = RemoteIndex { rank, index: of.place as u32 };
                if !found.has_ghost(origin) {
                    found.ghosts.push(KnownTest { particle: of.particle, rho: of.rho, origin });
                }
            }
            let with = found.shared.entry(rank).or_default();
            with.ghosts = ascending(
                [&*with.ghosts, &linked.iter().map(|of| of.place as u32).collect::<Vec<_>>()].concat(),
            );
            with.mirrors = ascending([with.mirrors.as_slice(), &bundle.records::<u32>(GHOSTS)].concat());
            found.remote.extend(bundle.records::<RemoteLink>(LINKS).into_iter().map(|link| (rank, link)));
        }
        Ok(found)
    }

    /// Whether a particle is among the ends of links.
    fn has_ghost(&self, origin: RemoteIndex) -> bool {
        let with = self.shared.get(&origin.rank);
        with.is_some_and(|with| with.ghosts.binary_search(&origin.index).is_ok())
    }
}

fn linked(own: &OwnParticles, near: &NearParticles, rho: &[f64], place: u32) -> LinkedParticle {
    let particle = own.particles[place as usize];
    let at = near.particles.binary_search_by(|near| near.order(&particle)).expect("own particles are near");
    LinkedParticle { particle, rho: rho[at], place: u64::from(place) }
}

/// Sorted, each once.
fn ascending(mut list: Vec<u32>) -> Vec<u32> {
    list.sort_unstable();
    list.dedup();
    list
}

/// Finds test particles by their places on their owners.
struct TestPlaces {
    of_own: Vec<TestIdx>,
    ghosts: Vec<(RemoteIndex, TestIdx)>,
    rank: u32,
}

impl TestPlaces {
    fn new(known: &[KnownTest], n_own: usize, rank: u32) -> Self {
        let unknown = || AtomicU32::new(TestIdx::NONE.0);
        let of_own: Vec<AtomicU32> = (0..n_own).into_par_iter().map(|_| unknown()).collect();
        let of_rank = |(_, test): &(usize, &KnownTest)| test.origin.rank == rank;
        known.par_iter().enumerate().filter(of_rank).for_each(|(i, test)| {
            of_own[test.origin.index as usize].store(TestIdx::new(i).0, Relaxed);
        });
        let others = known.par_iter().enumerate().filter(|test| !of_rank(test));
        let mut ghosts: Vec<(RemoteIndex, TestIdx)> =
            others.map(|(i, test)| (test.origin, TestIdx::new(i))).collect();
        ghosts.par_sort_unstable_by_key(|(origin, _)| *origin);
        let of_own = of_own.into_par_iter().map(|test| TestIdx(test.into_inner())).collect();
        Self { of_own, ghosts, rank }
    }

    /// The test particle with this origin; [`TestIdx::NONE`] for particles of other ranks that are not known
    /// here.
    fn of(&self, origin: RemoteIndex) -> TestIdx {
        if origin.rank == self.rank {
            return self.of_own[origin.index as usize];
        }
        let place = self.ghosts.binary_search_by_key(&origin, |(origin, _)| *origin);
        self.ghosts[place.expect("linked particles are known on both ranks")].1
    }
}
