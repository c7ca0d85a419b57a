//! Placement: in which halo is each track, and which clump is it?
//!
//! ```text
//!     1. host    the halo with the greatest weight of its tracers, if that is a quarter of all at least
//!     2. root    of a halo: the heaviest former object among those with 0.8 of the greatest former mass,
//!                preferably one whose tracers are in the root clump
//!     3. pair    another track and the clump with most of its tracers; of several tracks that choose one
//!                clump, the one with most former members there
//!     4. merge   a track without a clump, whose core coincides with that of a heavier track in its halo
//!     5. ghost   any other track without a clump: its parent is its former one, or the root of the halo
//! ```
//!
//! A track in no halo is a ghost that is a halo of its own.

use super::{PeakedClump, Track, Vote};
use bytemuck::{Pod, Zeroable};
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
pub struct Placement {
    /// Identifier of its halo; 0 if none of its particles was found.
    pub halo: u64,
    /// Identifier of its clump, with or without a peak; 0 likewise.
    pub clump: u64,
    /// Of a ghost: the clump that gets what has no patch of its own. Its own identifier in a halo of its own.
    pub parent: u64,
    /// 1 for a ghost.
    pub is_ghost: u64,
    /// 1 for the central of a halo, whose source claims nothing that lies in a patch.
    pub is_root: u64,
    /// Number of the track into which it merges; 0 for none.
    pub merged_into: u64,
}

/// The clumps of the haloes.
struct Haloes<'a> {
    /// By halo and identifier.
    clumps: &'a [PeakedClump],
    follows_mass: bool,
}

impl Haloes<'_> {
    fn of(&self, halo: u64) -> &[PeakedClump] {
        let first = self.clumps.partition_point(|clump| clump.halo < halo);
        let n = self.clumps[first..].partition_point(|clump| clump.halo == halo);
        &self.clumps[first..first + n]
    }

    /// The root of a halo; `None` if the halo is not listed.
    fn root(&self, halo: u64) -> Option<u64> {
        let clumps = self.of(halo);
        let heavier = |best: &PeakedClump, clump: &PeakedClump| clump.mass > best.mass;
        let heaviest = clumps.iter().reduce(|best, clump| if heavier(best, clump) { clump } else { best });
        match self.follows_mass {
            true => heaviest.map(|clump| clump.id),
            false => clumps.first().map(|_| halo),
        }
    }
}

/// The tracers of a track.
#[derive(Clone, Copy)]
struct Ballot<'a>(&'a [Vote]);

impl Ballot<'_> {
    /// The listed halo with the greatest weight; between equals the lower one.
    fn host(&self, haloes: &Haloes) -> Option<u64> {
        let total: u64 = self.0.iter().map(|vote| vote.weight).sum();
        let by_halo = self.0.chunk_by(|a, b| a.halo == b.halo);
        let weights = by_halo.map(|votes| (votes[0].halo, votes.iter().map(|v| v.weight).sum::<u64>()));
        let listed = weights.filter(|(halo, _)| *halo > 0 && haloes.root(*halo).is_some());
        let best = listed.reduce(|best, other| if other.1 > best.1 { other } else { best });
        best.filter(|(_, weight)| 4 * weight >= QUARTERS_INSIDE * total && *weight > 0).map(|(halo, _)| halo)
    }

    /// The vote for the clump of a halo with the greatest weight; between equals the lower one.
    fn choice(&self, halo: u64, haloes: &Haloes) -> Option<&Vote> {
        let is_listed =
            |vote: &&Vote| haloes.of(halo).binary_search_by_key(&vote.clump, |clump| clump.id).is_ok();
        let of_halo = self.0.iter().filter(|vote| vote.halo == halo && vote.weight > 0);
        let inside = of_halo.filter(is_listed);
        inside.reduce(|best, vote| if vote.weight > best.weight { vote } else { best })
    }
}

/// How tracks are placed.
pub struct Rules<'a> {
    /// Identifiers of ghosts begin here.
    pub first_ghost: u64,
    /// The heaviest clump of a halo is its root, else the main one.
    pub follows_mass: bool,
    /// The distance of the cores of two slots: the sum of those in position and velocity, each in units of the
    /// spread of one of them; the smaller one by either core. Infinite where a core is unknown.
    pub core_distance: &'a dyn Fn(usize, usize) -> f64,
}

/// Places all tracks. `votes` are summed, `clumps` are listed by halo and identifier; identifiers of ghosts
/// begin at `first_ghost`, by halo and slot.
pub fn place(tracks: &[Track], votes: &[Vote], clumps: &[PeakedClump], rules: &Rules) -> Vec<Placement> {
    let haloes = Haloes { clumps, follows_mass: rules.follows_mass };
    let mut ballots = vec![Ballot(&[]); tracks.len()];
    for of_track in votes.chunk_by(|a, b| a.slot == b.slot) {
        ballots[of_track[0].slot as usize] = Ballot(of_track);
    }
    let mut found = vec![Placement::default(); tracks.len()];
    for (placement, ballot) in found.iter_mut().zip(&ballots) {
        placement.halo = ballot.host(&haloes).unwrap_or(0);
    }
    place_roots(tracks, &ballots, &haloes, &mut found);
    pair(&ballots, &haloes, &mut found);
    merge(tracks, rules.core_distance, &mut found);
    number_ghosts(&ballots, rules.first_ghost, &mut found);
    set_parents(tracks, &haloes, &mut found);
    found
}

/// Gives the root of each halo to a track.
fn place_roots(tracks: &[Track], ballots: &[Ballot], haloes: &Haloes, found: &mut [Placement]) {
    let mut of_halo: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (slot, placement) in found.iter().enumerate().filter(|(_, placement)| placement.halo > 0) {
        of_halo.entry(placement.halo).or_default().push(slot);
    }
    for (halo, slots) in of_halo {
        let root = haloes.root(halo).expect("hosts are listed");
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
fn pair(ballots: &[Ballot], haloes: &Haloes, found: &mut [Placement]) {
    // The winner of each clump: most former members there, then the greater weight, then the lower slot.
    let mut winners: BTreeMap<u64, (u64, u64, usize)> = BTreeMap::new();
    for (slot, placement) in found.iter().enumerate() {
        if placement.halo == 0 || placement.is_root > 0 {
            continue;
        }
        let root = haloes.root(placement.halo).expect("hosts are listed");
        let Some(vote) = ballots[slot].choice(placement.halo, haloes).filter(|vote| vote.clump != root)
        else {
            continue;
        };
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

/// Merges tracks without a clump into heavier ones at the same place. The heaviest come first, so that a track
/// merges into one that goes on.
fn merge(tracks: &[Track], core_distance: &dyn Fn(usize, usize) -> f64, found: &mut [Placement]) {
    let mut of_halo: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (slot, placement) in found.iter().enumerate().filter(|(_, placement)| placement.halo > 0) {
        of_halo.entry(placement.halo).or_default().push(slot);
    }
    for slots in of_halo.values_mut() {
        slots.sort_by(|a, b| tracks[*b].mass.total_cmp(&tracks[*a].mass).then(a.cmp(b)));
        for (at, slot) in
            slots.iter().enumerate().filter(|(_, slot)| found[**slot].clump == 0).collect::<Vec<_>>()
        {
            let heavier = slots[..at].iter().filter(|other| found[**other].merged_into == 0);
            let distances = heavier.map(|other| (core_distance(*slot, *other), *other));
            let nearest = distances.reduce(|best, other| if other.0 < best.0 { other } else { best });
            if let Some((_, other)) = nearest.filter(|(distance, _)| *distance < COINCIDES) {
                found[*slot].merged_into = tracks[other].number;
            }
        }
    }
}

/// Gives identifiers to the tracks without a clump that have tracers and do not merge.
fn number_ghosts(ballots: &[Ballot], first: u64, found: &mut [Placement]) {
    let has_tracers = |slot: usize| ballots[slot].0.iter().any(|vote| vote.weight > 0);
    let mut ghosts: Vec<usize> =
        (0..found.len()).filter(|slot| found[*slot].clump == 0 && has_tracers(*slot)).collect();
    ghosts.retain(|slot| found[*slot].merged_into == 0);
    ghosts.sort_by_key(|slot| (found[*slot].halo, *slot));
    for (id, slot) in (first..).zip(ghosts) {
        let halo = if found[slot].halo == 0 { id } else { found[slot].halo };
        let is_root = u64::from(halo == id);
        found[slot] = Placement { halo, clump: id, parent: id, is_ghost: 1, is_root, merged_into: 0 };
    }
}

/// Sets the parents of ghosts. A parent was heavier, so there are no circles.
fn set_parents(tracks: &[Track], haloes: &Haloes, found: &mut [Placement]) {
    let is_above = |parent: usize, slot: usize| {
        let key = |slot: usize| (tracks[slot].mass, std::cmp::Reverse(tracks[slot].number));
        key(parent) > key(slot)
    };
    for slot in 0..found.len() {
        if found[slot].is_ghost == 0 || found[slot].is_root > 0 {
            continue;
        }
        let halo = found[slot].halo;
        let former = tracks.binary_search_by_key(&tracks[slot].parent, |track| track.number).ok();
        let former = former.filter(|parent| found[*parent].halo == halo && found[*parent].clump > 0);
        let former = former.filter(|parent| is_above(*parent, slot)).map(|parent| found[parent].clump);
        found[slot].parent = former.unwrap_or_else(|| haloes.root(halo).expect("hosts are listed"));
    }
}

#[cfg(test)]
mod tests {
    use super::super::summed;
    use super::*;

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

    /// With ghosts from 4 on, and cores far from each other.
    fn placed(tracks: &[Track], votes: &[Vote]) -> Vec<Placement> {
        let core_distance = &|_, _| f64::INFINITY;
        place(tracks, votes, &clumps(), &Rules { first_ghost: 4, follows_mass: true, core_distance })
    }

    fn shown(placement: &Placement) -> (u64, u64, u64, bool, bool) {
        let Placement { halo, clump, parent, is_ghost, is_root, .. } = *placement;
        (halo, clump, parent, is_ghost > 0, is_root > 0)
    }

    #[test]
    fn tracks_are_paired_or_become_ghosts() {
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
    fn ghosts_stay_with_their_former_parent() {
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
        assert_eq!(found, [Placement::default()]);
    }

    /// A chain of coinciding cores ends in the heaviest one; a track with a peak never merges.
    #[test]
    fn ghosts_merge_into_heavier_tracks_at_the_same_place() {
        let tracks = [track(10, 3.0), track(11, 100.0), track(12, 20.0), track(13, 5.0), track(14, 2.0)];
        let mut votes: Vec<Vote> = (0..5).map(|slot| vote(slot, 1, 1, 50, 2)).collect();
        votes[4].clump = 2;
        let near = [[1, 2], [2, 3], [1, 4]];
        let core_distance =
            &|a: usize, b: usize| if near.contains(&[a.min(b), a.max(b)]) { 1.9 } else { 2.0 };
        let rules = Rules { first_ghost: 4, follows_mass: true, core_distance };
        let found = place(&tracks, &votes, &clumps(), &rules);
        let shown: Vec<_> = found.iter().map(|found| (found.clump, found.merged_into)).collect();
        assert_eq!(shown, [(4, 0), (1, 0), (0, 11), (5, 0), (2, 0)]);
    }
}
