//! TrackPlacement: in which halo is each track, and which clump is it?
//!
//! ```text
//!     1. host    the halo with the greatest weight of its tracers, if that is a quarter of all at least
//!     2. root    of a halo: the heaviest former object among those with 0.8 of the greatest former mass,
//!                preferably one whose tracers are in the root clump
//!     3. pair    another track and the clump with most of its tracers; of several tracks that choose one
//!                clump, the one with most former members there
//!     4. merge   a track without a clump, whose core coincides with that of a heavier track in its halo
//!     5. rest    any other track is a clump without a peak: its parent is its former one, or the root of
//!                the halo
//! ```
//!
//! A track in no halo is a clump without a peak that is a halo of its own. Ranks share the comparison of cores
//! for step 4, whose number grows with the square of the tracks in a halo.

use super::{PeakedClump, Track, Vote};
use crate::loops::Loops;
use bytemuck::{Pod, Zeroable};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Tracks with this part of the greatest former mass of a halo may be its central.
const MAJOR: f64 = 0.8;

/// A track is in a halo that has this part of the weight of its tracers, in quarters.
const QUARTERS_INSIDE: u64 = 1;

/// Two cores coincide below this sum of their distances in position and velocity, each in units of the spread
/// of one of them: the limit of HBT-HERONS.
const COINCIDES: f64 = 2.0;

/// Where a track is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct TrackPlacement {
    /// Identifier of its halo; 0 if none of its particles was found.
    pub halo: u64,
    /// Identifier of its clump, with or without a peak; 0 likewise.
    pub clump: u64,
    /// Of a clump without a peak: the clump that gets what it loses. Its own identifier in a halo of its own.
    pub parent: u64,
    /// 1 for a clump without a peak.
    pub is_peakless: u64,
    /// 1 for the central of a halo, whose source claims nothing that lies in a patch.
    pub is_root: u64,
    /// Number of the track into which it merges; 0 for none.
    pub merged_into: u64,
}

/// The clumps of the listed haloes.
struct ListedHaloes<'a> {
    /// By halo and identifier.
    clumps: &'a [PeakedClump],
    /// The root of each halo.
    root: BTreeMap<u64, u64>,
}

impl<'a> ListedHaloes<'a> {
    /// Of clumps by halo and identifier. The root of a halo is its heaviest clump, the first of equals, or its
    /// main one.
    fn new(clumps: &'a [PeakedClump], follows_mass: bool) -> Self {
        let heavier =
            |best: &'a PeakedClump, clump: &'a PeakedClump| if clump.mass > best.mass { clump } else { best };
        let root = |of_halo: &'a [PeakedClump]| {
            let halo = of_halo[0].halo;
            let heaviest = of_halo.iter().reduce(heavier).expect("the halo has a clump");
            (halo, if follows_mass { heaviest.id } else { halo })
        };
        Self { clumps, root: clumps.chunk_by(|a, b| a.halo == b.halo).map(root).collect() }
    }

    /// Whether a clump is listed in a halo.
    fn has(&self, halo: u64, clump: u64) -> bool {
        self.clumps.binary_search_by_key(&(halo, clump), |clump| (clump.halo, clump.id)).is_ok()
    }

    /// The root of a listed halo.
    fn root(&self, halo: u64) -> u64 {
        *self.root.get(&halo).expect("hosts are listed")
    }
}

/// The tracers of a track.
#[derive(Clone, Copy)]
struct Ballot<'a>(&'a [Vote]);

impl Ballot<'_> {
    /// The listed halo with the greatest weight; between equals the lower one.
    fn host(&self, haloes: &ListedHaloes) -> Option<u64> {
        let total: u64 = self.0.iter().map(|vote| vote.weight).sum();
        let by_halo = self.0.chunk_by(|a, b| a.halo == b.halo);
        let weights = by_halo.map(|votes| (votes[0].halo, votes.iter().map(|v| v.weight).sum::<u64>()));
        let listed = weights.filter(|(halo, _)| haloes.root.contains_key(halo));
        let best = listed.reduce(|best, other| if other.1 > best.1 { other } else { best });
        best.filter(|(_, weight)| 4 * weight >= QUARTERS_INSIDE * total && *weight > 0).map(|(halo, _)| halo)
    }

    /// The vote for the clump of a halo with the greatest weight; between equals the lower one.
    fn choice(&self, halo: u64, haloes: &ListedHaloes) -> Option<&Vote> {
        let of_halo = self.0.iter().filter(|vote| vote.halo == halo && vote.weight > 0);
        let inside = of_halo.filter(|vote| haloes.has(halo, vote.clump));
        inside.reduce(|best, vote| if vote.weight > best.weight { vote } else { best })
    }
}

/// The distance of the cores of two slots: the sum of those in position and velocity, each in units of the
/// spread of one of them; the smaller one by either core. Infinite where a core is unknown.
pub type CoreDistance<'a> = dyn Fn(usize, usize) -> f64 + Sync + 'a;

/// How tracks are placed.
pub struct PlacementRules {
    /// Identifiers of clumps without a peak begin here.
    pub first_peakless: u64,
    /// The heaviest clump of a halo is its root, else the main one.
    pub follows_mass: bool,
}

/// Tracks with their haloes and clumps, before those at the same place merge.
pub struct PairedTracks<'a> {
    tracks: &'a [Track],
    ballots: Vec<Ballot<'a>>,
    haloes: ListedHaloes<'a>,
    first_peakless: u64,
    found: Vec<TrackPlacement>,
}

/// A track without a clump, and a heavier one of its halo whose core coincides with its own.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Coincidence {
    /// Slot of the lighter track.
    pub slot: u64,
    /// Slot of the heavier one.
    pub heavier: u64,
    /// Distance of their cores.
    pub distance: f64,
}

impl<'a> PairedTracks<'a> {
    /// Steps 1 to 3. `votes` are summed, `clumps` are listed by halo and identifier.
    pub fn new(
        tracks: &'a [Track],
        votes: &'a [Vote],
        clumps: &'a [PeakedClump],
        rules: &PlacementRules,
    ) -> Self {
        let haloes = ListedHaloes::new(clumps, rules.follows_mass);
        let mut ballots = vec![Ballot(&[]); tracks.len()];
        for of_track in votes.chunk_by(|a, b| a.slot == b.slot) {
            ballots[of_track[0].slot as usize] = Ballot(of_track);
        }
        let mut found = vec![TrackPlacement::default(); tracks.len()];
        for (placement, ballot) in found.iter_mut().zip(&ballots) {
            placement.halo = ballot.host(&haloes).unwrap_or(0);
        }
        place_roots(tracks, &ballots, &haloes, &mut found);
        pair(&ballots, &haloes, &mut found);
        Self { tracks, ballots, haloes, first_peakless: rules.first_peakless, found }
    }

    /// The haloes and clumps so far, by slot.
    pub fn placements(&self) -> &[TrackPlacement] {
        &self.found
    }

    /// Steps 4 and 5, from the coincidences of all shares. Clumps without a peak are numbered by halo and slot.
    pub fn settle(mut self, coincidences: Vec<Coincidence>) -> Vec<TrackPlacement> {
        merge(self.tracks, coincidences, &mut self.found);
        number_peakless(&self.ballots, self.first_peakless, &mut self.found);
        set_parents(self.tracks, &self.haloes, &mut self.found);
        self.found
    }
}

/// The slots in each halo, ascending.
fn by_halo(found: &[TrackPlacement]) -> BTreeMap<u64, Vec<usize>> {
    let mut of_halo: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (slot, placement) in found.iter().enumerate().filter(|(_, placement)| placement.halo > 0) {
        of_halo.entry(placement.halo).or_default().push(slot);
    }
    of_halo
}

/// Gives the root of each halo to a track.
fn place_roots(tracks: &[Track], ballots: &[Ballot], haloes: &ListedHaloes, found: &mut [TrackPlacement]) {
    for (halo, slots) in by_halo(found) {
        let root = haloes.root(halo);
        let greatest = slots.iter().fold(0.0f64, |most, slot| most.max(tracks[*slot].mass));
        let chooses = |slot: usize| ballots[slot].choice(halo, haloes).is_some_and(|vote| vote.clump == root);
        let major = slots.into_iter().filter(|slot| tracks[*slot].mass >= MAJOR * greatest);
        let rank = |slot: usize| (chooses(slot), tracks[slot].mass);
        let best = major.reduce(|best, slot| if rank(slot) > rank(best) { slot } else { best });
        let best = best.expect("the heaviest one is among them");
        (found[best].clump, found[best].is_root) = (root, 1);
    }
}

/// Gives clumps that are no roots to tracks.
fn pair(ballots: &[Ballot], haloes: &ListedHaloes, found: &mut [TrackPlacement]) {
    // The winner of each clump: most former members there, then the greater weight, then the lower slot.
    let mut winners: BTreeMap<u64, (u64, u64, usize)> = BTreeMap::new();
    for (slot, placement) in found.iter().enumerate() {
        if placement.halo == 0 || placement.is_root > 0 {
            continue;
        }
        let root = haloes.root(placement.halo);
        let choice = ballots[slot].choice(placement.halo, haloes);
        let Some(vote) = choice.filter(|vote| vote.clump != root) else { continue };
        let own = (vote.n_bound, vote.weight, slot);
        let best = winners.entry(vote.clump).or_insert(own);
        if (own.0, own.1) > (best.0, best.1) {
            *best = own;
        }
    }
    for (clump, (.., slot)) in winners {
        found[slot].clump = clump;
    }
}

/// The heavier slot first, of equals the lower one.
fn heavier_first(tracks: &[Track]) -> impl Fn(&usize, &usize) -> Ordering + '_ {
    |a, b| tracks[*b].mass.total_cmp(&tracks[*a].mass).then(a.cmp(b))
}

/// The coincidences of a share of the tracks without a clump: of every `n`-th one, for `(i, n)` from the `i`-th
/// on. `found` are placements before the merging. Compares the core of each with those of all heavier tracks in
/// its halo; the threads of `loops` share this. For each track, heavier ones come first.
pub fn coincidences<L: Loops>(
    tracks: &[Track],
    found: &[TrackPlacement],
    (first, n_shares): (usize, usize),
    core_distance: &CoreDistance,
    loops: &L,
) -> Vec<Coincidence> {
    let mut of_halo = by_halo(found);
    of_halo.values_mut().for_each(|slots| slots.sort_by(heavier_first(tracks)));
    let with_heavier =
        of_halo.values().flat_map(|slots| slots.iter().enumerate().map(|(at, slot)| (*slot, &slots[..at])));
    let without_clump = with_heavier.filter(|(slot, _)| found[*slot].clump == 0);
    let own: Vec<(usize, &[usize])> = without_clump.skip(first).step_by(n_shares).collect();
    let of_track = loops.each(own.len(), |i| -> Vec<Coincidence> {
        let (slot, heavier) = own[i];
        let near = heavier.iter().map(|other| Coincidence {
            slot: slot as u64,
            heavier: *other as u64,
            distance: core_distance(slot, *other),
        });
        near.filter(|found| found.distance < COINCIDES).collect()
    });
    of_track.concat()
}

/// Merges tracks without a clump into the nearest of the heavier ones at the same place. The heaviest come
/// first, so that a track merges into one that goes on.
fn merge(tracks: &[Track], mut coincidences: Vec<Coincidence>, found: &mut [TrackPlacement]) {
    // Those of a track stay in their order.
    coincidences.sort_by_key(|found| found.slot);
    let mut of_track: Vec<&[Coincidence]> = coincidences.chunk_by(|a, b| a.slot == b.slot).collect();
    let order = heavier_first(tracks);
    of_track.sort_by(|a, b| order(&(a[0].slot as usize), &(b[0].slot as usize)));
    for near in of_track {
        let going_on = near.iter().filter(|near| found[near.heavier as usize].merged_into == 0);
        let nearest = going_on.reduce(|best, near| if near.distance < best.distance { near } else { best });
        found[near[0].slot as usize].merged_into =
            nearest.map_or(0, |near| tracks[near.heavier as usize].number);
    }
}

/// Gives identifiers to the tracks without a clump that have tracers and do not merge.
fn number_peakless(ballots: &[Ballot], first: u64, found: &mut [TrackPlacement]) {
    let has_tracers = |slot: usize| ballots[slot].0.iter().any(|vote| vote.weight > 0);
    let goes_on = |placement: &TrackPlacement| placement.clump == 0 && placement.merged_into == 0;
    let mut peakless: Vec<usize> =
        (0..found.len()).filter(|slot| goes_on(&found[*slot]) && has_tracers(*slot)).collect();
    peakless.sort_by_key(|slot| (found[*slot].halo, *slot));
    for (id, slot) in (first..).zip(peakless) {
        let halo = if found[slot].halo == 0 { id } else { found[slot].halo };
        let is_root = u64::from(halo == id);
        found[slot] = TrackPlacement { halo, clump: id, parent: id, is_peakless: 1, is_root, merged_into: 0 };
    }
}

/// Sets the parents of clumps without a peak. A parent was heavier, so there are no circles.
fn set_parents(tracks: &[Track], haloes: &ListedHaloes, found: &mut [TrackPlacement]) {
    let is_above = |parent: usize, slot: usize| {
        let key = |slot: usize| (tracks[slot].mass, std::cmp::Reverse(tracks[slot].number));
        key(parent) > key(slot)
    };
    for slot in 0..found.len() {
        if found[slot].is_peakless == 0 || found[slot].is_root > 0 {
            continue;
        }
        let halo = found[slot].halo;
        let former = tracks.binary_search_by_key(&tracks[slot].parent, |track| track.number).ok();
        let former = former.filter(|parent| found[*parent].halo == halo && found[*parent].clump > 0);
        let former = former.filter(|parent| is_above(*parent, slot)).map(|parent| found[parent].clump);
        found[slot].parent = former.unwrap_or_else(|| haloes.root(halo));
    }
}

#[cfg(test)]
mod tests {
    use super::super::summed;
    use super::*;
    use crate::loops::InTurn;

    fn track(number: u64, mass: f64) -> Track {
        Track { number, mass, n_bound: mass as u64, ..Track::default() }
    }

    fn vote(slot: u64, halo: u64, clump: u64, weight: u64, n_bound: u64) -> Vote {
        Vote { slot, halo, clump, weight, n_bound }
    }

    /// Halo 1 with its root 1 and the clump 2; halo 3 alone.
    fn clumps() -> Vec<PeakedClump> {
        [(1, 1, 50.0), (1, 2, 5.0), (3, 3, 9.0)]
            .map(|(halo, id, mass)| PeakedClump { halo, id, mass })
            .to_vec()
    }

    /// With clumps without a peak from 4 on; so many shares compare cores.
    fn placed_by(
        n_shares: usize,
        tracks: &[Track],
        votes: &[Vote],
        core_distance: &CoreDistance,
    ) -> Vec<TrackPlacement> {
        let (rules, clumps) = (PlacementRules { first_peakless: 4, follows_mass: true }, clumps());
        let paired = PairedTracks::new(tracks, votes, &clumps, &rules);
        let of_share = |i| coincidences(tracks, paired.placements(), (i, n_shares), core_distance, &InTurn);
        let all: Vec<Coincidence> = (0..n_shares).rev().flat_map(of_share).collect();
        paired.settle(all)
    }

    /// With cores far from each other.
    fn placed(tracks: &[Track], votes: &[Vote]) -> Vec<TrackPlacement> {
        placed_by(1, tracks, votes, &|_, _| f64::INFINITY)
    }

    fn shown(placement: &TrackPlacement) -> (u64, u64, u64, bool, bool) {
        let TrackPlacement { halo, clump, parent, is_peakless, is_root, .. } = *placement;
        (halo, clump, parent, is_peakless > 0, is_root > 0)
    }

    #[test]
    fn tracks_are_paired_or_have_no_peak() {
        let tracks = [track(10, 100.0), track(11, 20.0), track(12, 3.0), track(13, 30.0), track(14, 2.0)];
        let votes = summed(vec![
            vote(0, 1, 1, 90, 95),
            vote(0, 1, 2, 10, 5),
            // Chooses the clump 2, and so does the next one, which has fewer members there.
            vote(1, 1, 2, 60, 15),
            vote(1, 1, 1, 30, 3),
            vote(2, 1, 2, 99, 3),
            vote(3, 3, 3, 99, 30),
            // Outside all haloes.
            vote(4, 0, 0, 99, 2),
        ]);
        let found: Vec<_> = placed(&tracks, &votes).iter().map(shown).collect();
        let expected = [
            (1, 1, 0, false, true),
            (1, 2, 0, false, false),
            (1, 5, 1, true, false),
            (3, 3, 0, false, true),
            (4, 4, 4, true, true),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn clumps_without_a_peak_stay_with_their_former_parent() {
        let mut tracks = [track(10, 100.0), track(11, 20.0), track(12, 3.0), track(13, 1.0)];
        (tracks[2].parent, tracks[3].parent) = (11, 12);
        let votes: Vec<Vote> = (0..4).map(|slot| vote(slot, 1, 1, 50, 2)).collect();
        let parents = |tracks: &[Track]| -> Vec<_> {
            placed(tracks, &votes).iter().map(|found| found.parent).collect()
        };
        assert_eq!(parents(&tracks), [0, 1, 4, 5]);
        // The parent is lighter now.
        tracks[1].mass = 2.0;
        assert_eq!(parents(&tracks), [0, 1, 1, 5]);
    }

    #[test]
    fn the_root_goes_to_a_major_track_that_chooses_it() {
        let votes = [vote(0, 1, 2, 50, 2), vote(1, 1, 1, 50, 2)];
        let clump_of = |mass: f64| -> Vec<_> {
            let tracks = [track(10, 100.0), track(11, mass)];
            placed(&tracks, &votes).iter().map(|found| found.clump).collect()
        };
        assert_eq!(clump_of(90.0), [2, 1]);
        assert_eq!(clump_of(70.0), [1, 4]);
    }

    #[test]
    fn tracks_whose_particles_are_gone_are_nowhere() {
        let found = placed(&[track(10, 5.0)], &[]);
        assert_eq!(found, [TrackPlacement::default()]);
    }

    /// A chain of coinciding cores ends in the heaviest one; a track with a peak never merges.
    #[test]
    fn tracks_without_a_clump_merge_into_heavier_ones_at_the_same_place() {
        let tracks = [track(10, 3.0), track(11, 100.0), track(12, 20.0), track(13, 5.0), track(14, 2.0)];
        let mut votes: Vec<Vote> = (0..5).map(|slot| vote(slot, 1, 1, 50, 2)).collect();
        votes[4].clump = 2;
        let near = [[1, 2], [2, 3], [1, 4]];
        let core_distance =
            &|a: usize, b: usize| if near.contains(&[a.min(b), a.max(b)]) { 1.9 } else { 2.0 };
        for n_shares in 1..4 {
            let found = placed_by(n_shares, &tracks, &votes, core_distance);
            let shown: Vec<_> = found.iter().map(|found| (found.clump, found.merged_into)).collect();
            assert_eq!(shown, [(4, 0), (1, 0), (0, 11), (5, 0), (2, 0)], "{n_shares} shares");
        }
    }
}
