//! After the unbinding: the tracks that go on, and their sources for the next output.
//!
//! | particle | is in the source of |
//! |---|---|
//! | bound to a track | that track |
//! | of the source of a satellite, bound to nothing or to the central of its halo | that satellite, as a loser |
//! | of the source of a track that is missing now, bound to nothing or to a central | that track |
//! | of the source of a track that has merged | as if it was of the track into which it merged |
//!
//! A satellite keeps its bound particles, and losers up to [`SOURCE_FACTOR`] times their number: those that
//! were most bound when they were last bound.

use crate::bound::{BoundTables, HaloRows};
use crate::particles::MemberType;
use crate::partition::ranking::sort;
use crate::tracks::before::PlacedTracks;
use crate::tracks::sources::by_identity;
use crate::tracks::state::TrackState;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_kernels::tracks::{SOURCE_FACTOR, Track};
use inselberg_kernels::trees::join::MemberEntry;
use inselberg_kernels::trees::tracer::TracerKey;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A track may be missing in this many consecutive outputs. Then it ends.
const MOST_MISSED: u64 = 1;

/// A bound clump.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct BoundRow {
    id: u64,
    halo: u64,
    parent: u64,
    n_bound: u64,
    mass: f64,
    is_central: u64,
}

/// A particle on its way to its place in a source.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct SourceParticle {
    id: u64,
    slot: u32,
    kind: u32,
    /// 0 for bound particles, 1 for others.
    is_loser: u32,
    rank: u32,
}

impl SourceParticle {
    fn new(entry: &MemberEntry, slot: u32, is_loser: bool) -> Self {
        let TracerKey { id, kind } = entry.key();
        let rank = entry.rank().expect("particles of sources have ranks");
        Self { id, slot, kind: kind as u32, is_loser: is_loser.into(), rank }
    }

    fn key(&self) -> u128 {
        // Ranks in the sources of two tracks that have merged may be equal.
        let (of_loser, of_star) = (u128::from(self.is_loser), u128::from(self.kind == 4));
        u128::from(self.slot) << 97
            | of_loser << 96
            | u128::from(self.rank) << 65
            | of_star << 64
            | u128::from(self.id)
    }
}

/// The bound clumps of all ranks, by identifier.
struct AllBoundClumps(Vec<BoundRow>);

/// The tracks of an output once it is unbound.
pub struct TracksAfter {
    /// For the next output.
    pub state: TrackState,
    /// The number of the track of each bound clump, by identifier of the clump.
    pub track_of: BTreeMap<u64, u64>,
}

/// What became of the slots of the last output.
struct Slots {
    /// The halo of each new track; 0 for a missing one.
    halo: Vec<u64>,
    /// The new slot of each former one that goes on.
    of_former: Vec<Option<u32>>,
    /// The new slot of each clump.
    of_clump: BTreeMap<u64, u32>,
}

impl TracksAfter {
    /// Collective: `found` is the unbinding of `rows`, after the tracks of `last` were `placed`; `step` and
    /// `time` are those of the output.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(
        last: &TrackState,
        placed: Option<&PlacedTracks>,
        found: &BoundTables,
        rows: &HaloRows,
        (step, time): (u64, f64),
        comm: &Comm,
    ) -> Result<Self, CommError> {
        let bound = AllBoundClumps::new(found, rows, comm)?;
        let (mut tracks, slots) = advanced(&last.tracks, placed, &bound, step);
        let former = placed.map_or(&[][..], |placed| placed.index.0.as_slice());
        let particles = sources(former, found, &tracks, &slots, comm)?;
        let sources = ranked(particles, &mut tracks, comm)?;
        let track_of = slots.of_clump.iter().map(|(clump, slot)| (*clump, tracks[*slot as usize].number));
        let track_of = track_of.collect();
        Ok(Self { state: TrackState { step, time, tracks, sources }, track_of })
    }
}

impl AllBoundClumps {
    /// Collective: gathers them.
    fn new(found: &BoundTables, rows: &HaloRows, comm: &Comm) -> Result<Self, CommError> {
        let parents: BTreeMap<u64, u64> = rows.clumps.iter().map(|row| (row.id, row.parent)).collect();
        let bound = found.clumps().filter(|(clump, _)| clump.n_bound > 0);
        let row = bound.filter_map(|(clump, mass)| {
            let (id, halo) = (clump.id, clump.halo);
            let parent = *parents.get(&id)?;
            Some(BoundRow { id, halo, parent, n_bound: clump.n_bound, mass, is_central: clump.is_central })
        });
        let mut all = comm.all_gather(&row.collect::<Vec<_>>())?;
        all.sort_unstable_by_key(|row| row.id);
        Ok(Self(all))
    }

    /// The row of a clump, if anything is bound to it.
    fn of(&self, clump: u64) -> Option<&BoundRow> {
        self.0.binary_search_by_key(&clump, |row| row.id).ok().map(|at| &self.0[at])
    }
}

/// The tracks after an output by number, without their sources.
fn advanced(
    last: &[Track],
    placed: Option<&PlacedTracks>,
    bound: &AllBoundClumps,
    step: u64,
) -> (Vec<Track>, Slots) {
    let placements = placed.map_or(&[][..], |placed| placed.placements.as_slice());
    let clump_of = |slot: usize| placements.get(slot).map_or(0, |placement| placement.clump);
    let merged_into = |slot: usize| placements.get(slot).map_or(0, |placement| placement.merged_into);
    let mut has_track: BTreeSet<u64> = BTreeSet::new();
    let mut next: Vec<(Track, Option<usize>)> = Vec::new();
    for (slot, track) in last.iter().enumerate().filter(|(_, track)| track.merged_into == 0) {
        if merged_into(slot) > 0 {
            let merged_into = merged_into(slot);
            next.push((Track { clump: 0, parent: 0, is_central: 0, merged_into, ..*track }, None));
        } else if let Some(row) = bound.of(clump_of(slot)) {
            has_track.insert(row.id);
            next.push((seen_again(track, row), Some(slot)));
        } else if track.n_missed < MOST_MISSED {
            let n_missed = track.n_missed + 1;
            next.push((Track { clump: 0, is_central: 0, n_missed, ..*track }, Some(slot)));
        }
    }
    for row in bound.0.iter().filter(|row| !has_track.contains(&row.id)) {
        next.push((seen_again(&Track { number: step << 40 | row.id, ..Track::default() }, row), None));
    }
    next.sort_unstable_by_key(|(track, _)| track.number);
    let mut of_former = vec![None; last.len()];
    for (new, (_, slot)) in (0..).zip(&next) {
        slot.iter().for_each(|slot| of_former[*slot] = Some(new));
    }
    let mut tracks: Vec<Track> = next.into_iter().map(|(track, _)| track).collect();
    for slot in (0..last.len()).filter(|slot| merged_into(*slot) > 0) {
        let heavier = last.binary_search_by_key(&merged_into(slot), |track| track.number);
        of_former[slot] = heavier.ok().and_then(|heavier| of_former[heavier]);
    }
    let of_slot = (0..).zip(&tracks).filter(|(_, track)| track.clump > 0);
    let of_clump: BTreeMap<u64, u32> = of_slot.map(|(slot, track)| (track.clump, slot)).collect();
    let halo = tracks.iter().map(|track| bound.of(track.clump).map_or(0, |row| row.halo)).collect();
    set_parents(&mut tracks, bound, &of_clump);
    (tracks, Slots { halo, of_former, of_clump })
}

fn seen_again(track: &Track, row: &BoundRow) -> Track {
    Track {
        clump: row.id,
        n_bound: row.n_bound,
        mass: row.mass,
        greatest_mass: track.greatest_mass.max(row.mass),
        is_central: row.is_central,
        n_missed: 0,
        parent: 0,
        ..*track
    }
}

/// The parent of each satellite: the track of the nearest bound clump above it, in the tree whose root is the
/// central.
fn set_parents(tracks: &mut [Track], bound: &AllBoundClumps, of_clump: &BTreeMap<u64, u32>) {
    let centrals = bound.0.iter().filter(|row| row.is_central > 0);
    let central_of: BTreeMap<u64, u64> = centrals.map(|row| (row.halo, row.id)).collect();
    let numbers: Vec<u64> = tracks.iter().map(|track| track.number).collect();
    for track in tracks.iter_mut().filter(|track| track.clump > 0 && track.is_central == 0) {
        let row = bound.of(track.clump).expect("a track with a clump is bound");
        // Between the central and the former root, the tree is turned: there the central is next enough.
        let central = central_of.get(&row.halo).copied();
        let above = bound.of(row.parent).filter(|above| above.id != row.id && above.halo == row.halo);
        let above = above.map(|above| above.id).or(central);
        let above = above.filter(|above| *above != track.clump);
        track.parent = above.and_then(|above| of_clump.get(&above)).map_or(0, |slot| numbers[*slot as usize]);
    }
}

/// Collective: the particles of all sources whose identities belong to this rank.
fn sources(
    former: &[MemberEntry],
    found: &BoundTables,
    tracks: &[Track],
    slots: &Slots,
    comm: &Comm,
) -> Result<Vec<SourceParticle>, CommError> {
    let is_remembered = |kind: u8| [MemberType::DarkMatter as u8, MemberType::Stars as u8].contains(&kind);
    let held = found.ranked().filter_map(|(particle, rank)| {
        let slot = *slots.of_clump.get(&particle.clump)?;
        let key = TracerKey { id: particle.id, kind: particle.particle_type.into() };
        is_remembered(particle.particle_type).then(|| MemberEntry::new(key, slot, Some(rank)))
    });
    let held = by_identity(held.collect(), comm)?;
    let key = |entry: &MemberEntry| (entry.id, entry.key().kind);
    let mut particles = Vec::with_capacity(held.len());
    let (mut held, mut former) = (held.as_slice(), former);
    while !(held.is_empty() && former.is_empty()) {
        let next = held.iter().take(1).chain(former.iter().take(1)).map(key).min().expect("one is left");
        let of = |list: &[MemberEntry]| list.first().copied().filter(|entry| key(entry) == next);
        let (here, before) = (of(held), of(former));
        held = &held[usize::from(here.is_some())..];
        former = &former[usize::from(before.is_some())..];
        particles.extend(slots.place(here.as_ref(), before.as_ref(), tracks));
    }
    Ok(particles)
}

impl Slots {
    /// The place of a particle that is held by a track now, was in a source before, or both.
    fn place(
        &self,
        held: Option<&MemberEntry>,
        former: Option<&MemberEntry>,
        tracks: &[Track],
    ) -> Option<SourceParticle> {
        let slot = former.and_then(|entry| self.of_former[entry.object as usize]);
        let keeps = slot.filter(|slot| tracks[*slot as usize].is_central == 0);
        let as_loser = |slot: u32| SourceParticle::new(former.expect("it was in a source"), slot, true);
        match (held, keeps) {
            (Some(held), Some(slot)) if held.object != slot && self.may_keep(slot, held.object, tracks) => {
                Some(as_loser(slot))
            }
            (Some(held), _) => Some(SourceParticle::new(held, held.object, false)),
            (None, keeps) => keeps.map(as_loser),
        }
    }

    /// Whether a satellite or missing track keeps a particle that `holder` holds now.
    fn may_keep(&self, slot: u32, holder: u32, tracks: &[Track]) -> bool {
        let (own, other) = (self.halo[slot as usize], self.halo[holder as usize]);
        tracks[holder as usize].is_central > 0 && (own == 0 || own == other)
    }
}

/// Collective: the sources in the order of tracks and ranks, cut to their lengths, which the tracks get.
fn ranked(
    mut particles: Vec<SourceParticle>,
    tracks: &mut [Track],
    comm: &Comm,
) -> Result<Vec<MemberEntry>, CommError> {
    if comm.n_ranks() == 1 {
        particles.par_sort_unstable_by_key(SourceParticle::key);
    } else {
        particles =
            sort(comm, particles, SourceParticle::key)?.into_iter().map(|(_, particle)| particle).collect();
    }
    let mut counts = vec![0u64; tracks.len()];
    particles.iter().for_each(|particle| counts[particle.slot as usize] += 1);
    let counts = comm.all_reduce_counts(&counts, Reduce::Sum)?;
    let mut first = 0;
    let mut firsts = Vec::with_capacity(tracks.len());
    for (track, n) in tracks.iter_mut().zip(&counts) {
        firsts.push(first);
        first += n;
        track.n_sources = (*n).min(most_sources(track));
    }
    let row = comm.sum_before(particles.len() as u64)?;
    let entry = |(row, particle): (u64, &SourceParticle)| {
        let (slot, key) = (particle.slot, TracerKey { id: particle.id, kind: particle.kind.into() });
        let rank = row - firsts[slot as usize];
        let is_kept = rank < tracks[slot as usize].n_sources;
        is_kept.then(|| MemberEntry::new(key, slot, Some(rank as u32)))
    };
    Ok((row..).zip(&particles).filter_map(entry).collect())
}

/// The greatest number of particles in the source of a track.
fn most_sources(track: &Track) -> u64 {
    match (track.is_central, track.n_missed) {
        (0, 0) => SOURCE_FACTOR * track.n_bound,
        // Only bound particles.
        (1, _) => u64::MAX,
        _ => track.n_sources,
    }
}
