//! Before the unbinding: where is each track, and of which clump is each particle a candidate?
//!
//! | particle | is a candidate of |
//! |---|---|
//! | of the source of a satellite, in the halo of the satellite | that satellite, in whatever patch it lies |
//! | of the source of a central or satellite, in no halo | that track |
//! | any other one | the clump of its patch |

use crate::bound::{ClumpParticle, HaloClump, HaloRows};
use crate::thread_loops::ThreadLoops;
use crate::tracks::cores::TrackCores;
use crate::tracks::sources::{FormerPlace, SourceIndex};
use crate::tracks::state::TrackState;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::props::combine::SizedBox;
use inselberg_kernels::tracks::placement::{PairedTracks, PlacementRules, TrackPlacement, coincidences};
use inselberg_kernels::tracks::{N_TRACERS, PeakedClump, Track, Vote, summed};
use inselberg_kernels::trees::tracer::weight;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Particles of one piece of work.
const CHUNK: usize = 1 << 15;

/// How tracks are placed, and what they claim.
pub struct TrackRules {
    /// Identifiers of clumps without a peak begin here.
    pub first_peakless: u64,
    /// Whether the heaviest clump of a halo is its central.
    pub follows_mass: bool,
    /// The box.
    pub space: SizedBox,
    /// The density at which a particle without a softening length is as large as its cube: the density
    /// threshold. `None`: all have one.
    pub density: Option<f64>,
}

/// The places of all tracks in an output.
pub struct PlacedTracks {
    /// By slot.
    pub placements: Vec<TrackPlacement>,
    /// By slot: the position of the most bound tracer that was found.
    peaks: Vec<[f64; 3]>,
    /// The former sources.
    pub index: SourceIndex,
}

/// A tracer of a track and its position.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct FoundTracer {
    slot: u64,
    rank: u64,
    position: [f64; 3],
}

impl PlacedTracks {
    /// Collective: places the tracks of `state` among the clumps of `rows`, and gives particles to the tracks
    /// that claim them. `particles` are all of the output, also those in no halo; those that remain in none
    /// are left out.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(
        state: &TrackState,
        particles: &mut Vec<ClumpParticle>,
        rows: &HaloRows,
        rules: &TrackRules,
        comm: &Comm,
    ) -> Result<Self, CommError> {
        let index = SourceIndex::new(&state.sources, comm)?;
        let former = index.of(particles, comm)?;
        let votes = votes(&state.tracks, particles, &former);
        let seen = seen(particles, &former);
        let peaks = peaks(state.tracks.len(), seen, comm)?;
        let cores = TrackCores::new(particles, &former, &peaks, rules.space, comm)?;
        let placements = placed(state, votes, &cores, rows, rules, comm)?;
        let placed = Self { placements, peaks, index };
        particles.par_iter_mut().zip(&former).for_each(|(particle, former)| {
            placed.claim(particle, *former, rules);
        });
        *particles = crate::chunks::kept(particles, |particle| particle.halo > 0);
        Ok(placed)
    }

    /// Makes a particle a candidate of its track, if that claims it.
    fn claim(&self, particle: &mut ClumpParticle, former: FormerPlace, rules: &TrackRules) {
        let Some(slot) = former.slot() else { return };
        let TrackPlacement { halo, clump, is_root, is_peakless, .. } = self.placements[slot];
        let is_outside = particle.halo == 0;
        if clump == 0 || !(is_outside || particle.halo == halo && is_root == 0) {
            return;
        }
        (particle.halo, particle.clump) = (halo, clump);
        // A central takes them as candidates like all others.
        if is_root == 0 || is_peakless > 0 {
            particle.former_rank = former.rank;
        }
        if let Some(density) = rules.density.filter(|_| is_outside && particle.softening == 0.0) {
            particle.softening = (particle.mass / density).cbrt() as f32;
        }
    }

    /// The rows of clumps without a peak, by identifier, and of the haloes that some of them are.
    pub fn peakless(&self) -> HaloRows {
        let row = |(placement, peak): (&TrackPlacement, &[f64; 3])| HaloClump {
            halo: placement.halo,
            id: placement.clump,
            parent: placement.parent,
            mass: 0.0,
            peak: *peak,
            peak_refined: *peak,
            border: f64::INFINITY,
            is_peakless: 1,
        };
        let of_slot = self.placements.iter().zip(&self.peaks);
        let mut clumps: Vec<HaloClump> =
            of_slot.filter(|(found, _)| found.is_peakless > 0).map(row).collect();
        clumps.sort_unstable_by_key(|row| row.id);
        let haloes = clumps.iter().filter(|row| row.id == row.halo).copied().collect();
        HaloRows { clumps, haloes }
    }
}

/// The votes of particles, summed.
fn votes(tracks: &[Track], particles: &[ClumpParticle], former: &[FormerPlace]) -> Vec<Vote> {
    let vote = |(particle, place): (&ClumpParticle, &FormerPlace)| {
        let slot = place.slot()?;
        let is_tracer = place.rank < N_TRACERS;
        let is_bound = u64::from(place.rank) < tracks[slot].n_bound;
        (is_tracer || is_bound).then(|| Vote {
            slot: slot as u64,
            halo: particle.halo,
            clump: particle.clump,
            weight: if is_tracer { weight(place.rank) } else { 0 },
            n_bound: u64::from(is_bound),
        })
    };
    let of_chunk = |(particles, former): (&[ClumpParticle], &[FormerPlace])| {
        summed(particles.iter().zip(former).filter_map(vote).collect())
    };
    let chunks = particles.par_chunks(CHUNK).zip(former.par_chunks(CHUNK));
    summed(chunks.map(of_chunk).collect::<Vec<_>>().concat())
}

/// The tracer of each track with the lowest rank.
fn seen(particles: &[ClumpParticle], former: &[FormerPlace]) -> Vec<FoundTracer> {
    let tracers = particles.iter().zip(former).filter(|(_, place)| place.rank < N_TRACERS);
    let seen = tracers.filter_map(|(particle, place)| {
        let (slot, position) = (place.slot()? as u64, particle.position);
        Some(FoundTracer { slot, rank: place.rank.into(), position })
    });
    lowest(seen)
}

/// The tracer of each track with the lowest rank. A rank is there once.
fn lowest(seen: impl Iterator<Item = FoundTracer>) -> Vec<FoundTracer> {
    let mut of_slot: BTreeMap<u64, FoundTracer> = BTreeMap::new();
    for tracer in seen {
        let best = of_slot.entry(tracer.slot).or_insert(tracer);
        if tracer.rank < best.rank {
            *best = tracer;
        }
    }
    of_slot.into_values().collect()
}

/// Collective: the position of the tracer of each track with the lowest rank, on all ranks.
fn peaks(n_tracks: usize, seen: Vec<FoundTracer>, comm: &Comm) -> Result<Vec<[f64; 3]>, CommError> {
    let seen = comm.exchange(vec![(Rank(0), seen)])?;
    let mut peaks = Vec::new();
    if comm.rank() == Rank(0) {
        peaks = vec![[0.0; 3]; n_tracks];
        lowest(seen.into_iter().flat_map(|(_, seen)| seen))
            .iter()
            .for_each(|tracer| peaks[tracer.slot as usize] = tracer.position);
    }
    comm.broadcast(Rank(0), &peaks)
}

/// Collective: the placements of all tracks. Rank 0 decides; the ranks share the comparison of cores.
fn placed(
    state: &TrackState,
    votes: Vec<Vote>,
    cores: &TrackCores,
    rows: &HaloRows,
    rules: &TrackRules,
    comm: &Comm,
) -> Result<Vec<TrackPlacement>, CommError> {
    let clump = |row: &HaloClump| PeakedClump { halo: row.halo, id: row.id, mass: row.mass };
    let clumps: Vec<PeakedClump> = rows.clumps.iter().map(clump).collect();
    let votes = comm.exchange(vec![(Rank(0), votes)])?;
    let clumps = comm.exchange(vec![(Rank(0), clumps)])?;
    let votes = summed(votes.into_iter().flat_map(|(_, votes)| votes).collect());
    let mut clumps: Vec<PeakedClump> = clumps.into_iter().flat_map(|(_, clumps)| clumps).collect();
    clumps.sort_unstable_by_key(|clump| (clump.halo, clump.id));
    let TrackRules { first_peakless, follows_mass, .. } = *rules;
    let is_first = comm.rank() == Rank(0);
    let rules = PlacementRules { first_peakless, follows_mass };
    let paired = is_first.then(|| PairedTracks::new(&state.tracks, &votes, &clumps, &rules));
    let found = comm.broadcast(Rank(0), paired.as_ref().map_or(&[], PairedTracks::placements))?;
    let (share, distance) = ((comm.rank().at(), comm.n_ranks()), |a, b| cores.distance(a, b));
    let own = coincidences(&state.tracks, &found, share, &distance, &ThreadLoops);
    let all = comm.exchange(vec![(Rank(0), own)])?.into_iter().flat_map(|(_, own)| own).collect();
    let placements = paired.map_or_else(Vec::new, |paired| paired.settle(all));
    comm.broadcast(Rank(0), &placements)
}
