//! A simple version of the procedure, for small outputs: rounds of mutual best matches, and each track
//! followed from its birth to its end. The history must give the same result.

use crate::trees::history::{HistoryParams, NodeFate};
use crate::trees::join::{MemberEntry, first_twin, join};
use crate::trees::matching::matched;
use crate::trees::score::{PairScore, summed};
use crate::trees::table::TreeNode;
use crate::trees::test_outputs::{TestOutput, key, linked, pair, tracers};
use crate::trees::tracer::{weight, weight_sums};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A place in a history: an output, and an object there or the orphan of a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Object(usize, usize),
    Orphan(usize, u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// An object in the last output.
    Here,
    /// Missing for some outputs.
    Missing,
    /// Only its tracer is followed.
    Orphan,
    Ended,
}

#[derive(Debug, Clone)]
struct PlainTrack {
    name: u64,
    state: State,
    /// Its last object.
    last: (usize, usize),
    /// Its last place.
    place: Place,
    /// The output in which it was there last.
    seen: usize,
}

type Links = BTreeMap<Place, (u64, NodeFate, Option<Place>)>;

/// Score and least tracer of pairs of a track and an object.
type Scores = BTreeMap<(usize, usize), (u64, u64)>;

struct Brute<'a> {
    outputs: &'a [TestOutput],
    params: HistoryParams,
    tracks: Vec<PlainTrack>,
    links: Links,
}

impl Brute<'_> {
    fn link(&mut self, track: usize, fate: NodeFate, to: Option<Place>) {
        let PlainTrack { name, place, .. } = self.tracks[track];
        self.links.insert(place, (name, fate, to));
        if let (NodeFate::GoesOn, Some(place)) = (fate, to) {
            self.tracks[track].place = place;
            self.links.insert(place, (name, NodeFate::End, None));
        } else {
            self.tracks[track].state = State::Ended;
        }
    }

    /// Where a tracer is in an output: the object, and its rank among the tracers there.
    fn sight(&self, track: usize, output: usize) -> Option<(usize, Option<usize>)> {
        let (k, object) = self.tracks[track].last;
        let tracer = *self.outputs[k][object].1.first()?;
        let holder = self.outputs[output].iter().position(|object| object.1.contains(&tracer))?;
        let among = tracers(&self.outputs[output][holder], self.params.n_tracers);
        Some((holder, among.iter().position(|id| *id == tracer)))
    }

    fn follow_orphan(&mut self, track: usize, output: usize) {
        match self.sight(track, output) {
            Some((host, Some(_))) => self.link(track, NodeFate::Merges, Some(Place::Object(output, host))),
            Some((_, None)) => {
                let place = Place::Orphan(output, self.tracks[track].name);
                self.link(track, NodeFate::GoesOn, Some(place));
                self.tracks[track].seen = output;
            }
            None if output - self.tracks[track].seen > self.params.gap => {
                self.link(track, NodeFate::Lost, None)
            }
            None => {}
        }
    }

    /// The fate of an object that is missing in the outputs up to `until`.
    fn settle(&mut self, track: usize, until: usize) {
        let (k, object) = self.tracks[track].last;
        let later = k + 1..until + 1;
        self.tracks[track].state = State::Orphan;
        if self.params.orphans && later.clone().any(|output| self.sight(track, output).is_some()) {
            self.tracks[track].seen = k;
            for output in later {
                if self.tracks[track].state == State::Orphan {
                    self.follow_orphan(track, output);
                }
            }
            return;
        }
        let from = &self.outputs[k][object];
        let n = self.params.n_tracers;
        let total: u64 = (0..tracers(from, n).len()).map(|rank| weight(rank as u32)).sum();
        for output in later {
            let found = self.outputs[output].iter().enumerate().filter_map(|(i, to)| {
                let held: Vec<(usize, u64)> = tracers(from, n)
                    .iter()
                    .copied()
                    .enumerate()
                    .filter(|(_, id)| to.1.contains(id))
                    .collect();
                let weight: u64 = held.iter().map(|(rank, _)| weight(*rank as u32)).sum();
                let least = pair(from, to, n, output > k + 1)?.2;
                (weight > 0).then_some((std::cmp::Reverse(weight), least, i))
            });
            if let Some((std::cmp::Reverse(weight), _, i)) = found.min() {
                let fate = if 2 * weight >= total { NodeFate::Merges } else { NodeFate::Disrupted };
                return self.link(track, fate, Some(Place::Object(output, i)));
            }
        }
        self.link(track, NodeFate::Lost, None);
    }

    fn advance(&mut self, output: usize) {
        let mut free: BTreeSet<usize> = (0..self.outputs[output].len()).collect();
        let looked_for = |track: &usize| matches!(self.tracks[*track].state, State::Here | State::Missing);
        let mut left: BTreeSet<usize> = (0..self.tracks.len()).filter(looked_for).collect();
        self.match_rounds(output, &mut left, &mut free);
        self.follow_orphans(output, &mut free);
        for track in left {
            self.tracks[track].state = State::Missing;
            let (k, object) = self.tracks[track].last;
            if output - k > self.params.gap || self.outputs[k][object].1.is_empty() {
                self.settle(track, output);
            }
        }
        for object in free {
            let name = (output as u64) << 40 | self.outputs[output][object].0;
            let place = Place::Object(output, object);
            self.links.insert(place, (name, NodeFate::End, None));
            self.tracks.push(PlainTrack {
                name,
                state: State::Here,
                last: (output, object),
                place,
                seen: output,
            });
        }
        // Objects are looked for in the order of the last output.
        self.tracks.sort_by_key(|track| (track.last, track.name));
    }

    /// The scores of pairs that may match.
    fn scores(&self, output: usize, left: &BTreeSet<usize>) -> Scores {
        let n = self.params.n_tracers;
        let mut scores = Scores::new();
        for track in left {
            let PlainTrack { last: (k, place), state, .. } = self.tracks[*track];
            let from = &self.outputs[k][place];
            let total: u64 = (0..tracers(from, n).len()).map(|rank| weight(rank as u32)).sum();
            let is_missing = state == State::Missing;
            for (object, to) in self.outputs[output].iter().enumerate() {
                let Some((forward, backward, least)) = pair(from, to, n, is_missing) else { continue };
                if forward > 0 && 4 * forward >= total && (is_missing || backward > 0) {
                    scores.insert((*track, object), (forward + backward, least));
                }
            }
        }
        scores
    }

    /// Rounds: each pair in which each is the best of the other.
    fn match_rounds(&mut self, output: usize, left: &mut BTreeSet<usize>, free: &mut BTreeSet<usize>) {
        let scores = self.scores(output, left);
        loop {
            let order = |(track, object): (usize, usize)| {
                let (score, least) = scores[&(track, object)];
                // Between two tracks, the one that was seen later comes first, then that of the lower object.
                let (seen, place) = self.tracks[track].last;
                (std::cmp::Reverse(score), least, object, std::cmp::Reverse(seen), place)
            };
            let is_open = |(track, object): &(usize, usize)| left.contains(track) && free.contains(object);
            let open: Vec<(usize, usize)> = scores.keys().copied().filter(is_open).collect();
            let is_best = |pair: &(usize, usize)| {
                open.iter()
                    .all(|other| (other.0 != pair.0 && other.1 != pair.1) || order(*other) >= order(*pair))
            };
            let mutual: Vec<(usize, usize)> = open.iter().copied().filter(is_best).collect();
            if mutual.is_empty() {
                break;
            }
            for (track, object) in mutual {
                left.remove(&track);
                free.remove(&object);
                self.go_on(track, output, object);
            }
        }
    }

    fn go_on(&mut self, track: usize, output: usize, object: usize) {
        self.link(track, NodeFate::GoesOn, Some(Place::Object(output, object)));
        let of = &mut self.tracks[track];
        (of.state, of.last, of.seen) = (State::Here, (output, object), output);
    }

    /// Re-births, and the fates of the other orphans.
    fn follow_orphans(&mut self, output: usize, free: &mut BTreeSet<usize>) {
        let is_orphan = |track: &usize| self.tracks[*track].state == State::Orphan;
        let orphans: Vec<usize> = (0..self.tracks.len()).filter(is_orphan).collect();
        let mut reborn = BTreeSet::new();
        for object in free.clone() {
            let sunk = orphans.iter().filter(|track| !reborn.contains(*track)).filter_map(|track| {
                let (holder, rank) = self.sight(*track, output)?;
                (holder == object).then_some((rank?, self.tracks[*track].name, *track))
            });
            if let Some((_, _, track)) = sunk.min() {
                reborn.insert(track);
                free.remove(&object);
                self.go_on(track, output, object);
            }
        }
        for track in orphans.into_iter().filter(|track| !reborn.contains(track)) {
            self.follow_orphan(track, output);
        }
    }

    fn end(mut self) -> Links {
        let last = self.outputs.len() - 1;
        for track in 0..self.tracks.len() {
            if self.tracks[track].state == State::Missing {
                self.settle(track, last);
            }
            let is_here = match self.tracks[track].place {
                Place::Object(output, _) | Place::Orphan(output, _) => output == last,
            };
            if self.tracks[track].state == State::Orphan && !is_here {
                self.link(track, NodeFate::Lost, None);
            }
        }
        self.links
    }
}

fn brute(outputs: &[TestOutput], params: HistoryParams) -> Links {
    let mut brute = Brute { outputs, params, tracks: Vec::new(), links: BTreeMap::new() };
    (0..outputs.len()).for_each(|output| brute.advance(output));
    brute.end()
}

fn place(node: &TreeNode) -> Place {
    match node.place {
        Some(place) => Place::Object(node.output as usize, place as usize),
        None => Place::Orphan(node.output as usize, node.track),
    }
}

/// A few identities on both sides of 2^63.
fn identity() -> impl Strategy<Value = u64> {
    (0_u64..18).prop_map(|i| (i % 2) << 63 | (i / 2))
}

/// Outputs with few particles, each in one object or none, whose order in energy changes.
fn outputs() -> impl Strategy<Value = Vec<TestOutput>> {
    let object_of = prop_oneof![4 => 0_usize..4, 1 => Just(9)];
    let particle = (prop::collection::vec((object_of, 0_u8..60), 1..8), 0_u8..4);
    prop::collection::vec(particle, 1..40).prop_map(|particles| {
        let n_outputs = particles.iter().map(|(path, _)| path.len()).max().unwrap_or(0);
        let output = |k: usize| {
            let mut objects: BTreeMap<usize, Vec<(u8, u64)>> = BTreeMap::new();
            for (i, (path, steadiness)) in particles.iter().enumerate() {
                // Steady particles keep the object and energy of their first step.
                let at = if *steadiness > 0 { k / 3 } else { k };
                let (object, energy) = path[at % path.len()];
                if object < 9 {
                    objects.entry(object).or_default().push((energy, (i as u64 * 7).wrapping_sub(30)));
                }
            }
            let listed = objects.into_iter().map(|(object, mut members)| {
                members.sort_unstable();
                (object as u64 + 1, members.into_iter().map(|(_, id)| id).collect())
            });
            listed.collect()
        };
        (0..n_outputs).map(output).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    fn the_history_is_that_of_the_plain_procedure(
        outputs in outputs(), gap in 0_usize..4, n_tracers in 1_u32..6, orphans: bool
    ) {
        let params = HistoryParams { gap, n_tracers, orphans };
        let nodes = linked(&outputs, params);
        let found: Links = nodes
            .iter()
            .map(|node| (place(node), (node.track, node.fate, node.descendant.map(|d| place(&nodes[d as usize])))))
            .collect();
        prop_assert_eq!(found.len(), nodes.len());
        prop_assert_eq!(found, brute(&outputs, params));
    }

    /// Each node has one descendant or a stated end, each object occurs once, and each progenitor is listed
    /// once.
    #[test]
    fn nothing_is_lost_or_counted_twice(outputs in outputs(), gap in 0_usize..4, orphans: bool) {
        let nodes = linked(&outputs, HistoryParams { gap, n_tracers: 3, orphans });
        let n_objects: usize = outputs.iter().map(Vec::len).sum();
        prop_assert_eq!(nodes.iter().filter(|node| node.place.is_some()).count(), n_objects);
        let mut listed = vec![0; nodes.len()];
        for (row, node) in nodes.iter().enumerate() {
            let ends = matches!(node.fate, NodeFate::End | NodeFate::Lost);
            prop_assert_eq!(node.descendant.is_none(), ends);
            if let Some(descendant) = node.descendant {
                let descendant = &nodes[descendant as usize];
                prop_assert!(descendant.output > node.output);
                prop_assert_eq!(descendant.track == node.track, node.fate == NodeFate::GoesOn);
                prop_assert_eq!(descendant.last_descendant, node.last_descendant);
            }
            let mut progenitor = node.main_progenitor;
            while let Some(p) = progenitor {
                listed[p as usize] += 1;
                prop_assert_eq!(nodes[p as usize].descendant, Some(row as u32));
                progenitor = nodes[p as usize].next_progenitor;
            }
        }
        for (node, n) in nodes.iter().zip(listed) {
            prop_assert_eq!(n, usize::from(node.descendant.is_some()));
        }
        // A track is a chain: no output has two nodes of it.
        let places: BTreeSet<_> = nodes.iter().map(|node| (node.track, node.output)).collect();
        prop_assert_eq!(places.len(), nodes.len());
    }

    #[test]
    fn joins_find_every_common_particle(a in prop::collection::vec((identity(), any::<bool>()), 0..30), b in prop::collection::btree_set((identity(), any::<bool>()), 0..30)) {
        let entry = |(i, (id, star)): (usize, &(u64, bool))| {
            let kind = if *star { 4 } else { 1 };
            MemberEntry::new(crate::trees::tracer::TracerKey { id: *id, kind }, i as u32, (i % 3 == 0).then_some(i as u32))
        };
        let mut tracers: Vec<_> = a.iter().enumerate().map(entry).collect();
        tracers.sort_by_key(|entry| entry.id);
        let members: Vec<_> = b.iter().enumerate().map(entry).collect();
        let mut found = Vec::new();
        join(&tracers, &members, |tracer, member| found.push((tracer.object, member.object)));
        let mut expected = Vec::new();
        for tracer in &tracers {
            let same = members.iter().filter(|member| member.key() == tracer.key());
            expected.extend(same.map(|member| (tracer.object, member.object)));
        }
        prop_assert_eq!(found, expected);
        prop_assert_eq!(first_twin(&members), None);
        let has_twin = a.iter().enumerate().any(|(i, x)| a[..i].contains(x));
        prop_assert_eq!(first_twin(&tracers).is_some(), has_twin);
    }

    #[test]
    fn sums_do_not_depend_on_the_order(terms in prop::collection::vec((0_u32..3, 0_u32..3, 0_u64..9, 0_u64..9, identity()), 0..20)) {
        let term = |(source, object, forward, backward, id): &(u32, u32, u64, u64, u64)| PairScore {
            source: *source, object: *object, forward: *forward, backward: *backward, least: key(*id),
        };
        let there: Vec<_> = terms.iter().map(term).collect();
        let back: Vec<_> = there.iter().rev().copied().collect();
        let sums = summed(there.clone());
        prop_assert_eq!(&sums, &summed(back));
        prop_assert_eq!(sums.iter().map(PairScore::score).sum::<u64>(), there.iter().map(PairScore::score).sum::<u64>());
        let pairs = matched(&sums, 3, 3);
        // Stable: no pair prefers each other to what they have.
        for pair in &sums {
            let has_better = |other: &PairScore| {
                (other.source == pair.source || other.object == pair.object) && other.order(pair).is_le()
            };
            prop_assert!(pairs.iter().any(has_better));
        }
    }
}

#[test]
fn sums_of_weights() {
    let sums = weight_sums(4);
    assert!((0..4).all(|n| sums[n + 1] - sums[n] == weight(n as u32)));
}
