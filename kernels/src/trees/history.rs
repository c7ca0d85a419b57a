//! The history of objects, output by output: which ones continue, are missing for a while, become orphans, or
//! merge.
//!
//! ```text
//!   output     0      1      2      3      4
//!   host       A ──── A ──── A ──── A ──── A        matched with each other in every output
//!   subhalo    B ──────────────────────── B         missing in 1 to 3: a link over a gap of 3
//!   another    C ──── o ──── o ──┐                  missing for good: an orphan, until its tracer is among the tracers
//!                                └─ A               of A
//! ```
//!
//! Where catalogues know the tracks of their objects, these are recorded. Objects without a track are matched
//! by their scores.
//!
//! An object that is missing waits for up to `gap` outputs. If it does not come back, its fate follows from
//! the sightings recorded while it waited.

use crate::trees::matching::matched;
use crate::trees::score::PairScore;
use crate::trees::tracer::{TracerKey, weight, weight_sums};
use std::collections::BTreeMap;

/// Objects per output, at most.
pub const MOST_OBJECTS: u64 = 1 << 31;
/// Numbers of objects and of outputs that fit a track.
const OBJECT_BITS: u32 = 40;
/// At least one in this number of an object's weight must be in its match.
const SHARE: u64 = 4;

/// The parameters of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryParams {
    /// Number of outputs in which an object may be missing.
    pub gap: usize,
    /// Number of tracers of an object, at most.
    pub n_tracers: u32,
    /// Whether the most bound tracer of an object that is gone is followed.
    pub orphans: bool,
}

impl Default for HistoryParams {
    fn default() -> Self {
        Self { gap: 4, n_tracers: 40, orphans: true }
    }
}

/// An object of an output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObjectRow {
    /// Its identifier in the catalogue.
    pub object: u64,
    /// Its number of tracers, at most [`HistoryParams::n_tracers`].
    pub n_tracers: u32,
    /// The most bound one.
    pub tracer: Option<TracerKey>,
    /// Its mass, which orders progenitors of equal score.
    pub mass: f64,
    /// The place of the object that contains it.
    pub host: Option<u32>,
    /// Its track, where its catalogue knows it; 0 where it does not.
    pub track: u64,
}

/// Where the most bound tracer of a slot is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sighting {
    /// The slot: a source of [`History::sources`], or behind these an orphan.
    pub slot: u32,
    /// The place of the object.
    pub object: u32,
    /// The rank of the tracer there, if it is one of the object's tracers.
    pub rank: Option<u32>,
}

/// An output.
#[derive(Debug, Clone, Copy)]
pub struct OutputStep<'a> {
    /// Its number: part of the name of tracks that are born in it.
    pub number: u64,
    /// Its objects by ascending identifier.
    pub objects: &'a [ObjectRow],
    /// Pairs of sources and objects. Each pair once.
    pub pairs: &'a [PairScore],
    /// Where the most bound tracers were found. Each slot occurs at most once.
    pub sightings: &'a [Sighting],
}

/// An object to search for in the next output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceObject {
    /// Place of the output in which it was found last.
    pub output: u32,
    /// Its place there.
    pub object: u32,
}

/// The fate of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum NodeFate {
    /// It goes on as its descendant.
    GoesOn = 0,
    /// It merges into its descendant.
    Merges = 1,
    /// Its members are scattered; most of the weight that is left is in the descendant.
    Disrupted = 2,
    /// The series ends.
    End = 3,
    /// None of its tracers is found.
    Lost = 4,
}

/// A node while the history grows.
#[derive(Debug, Clone, Copy)]
pub(super) struct GrowingNode {
    pub output: u32,
    /// The place of the object; of an orphan `None`.
    pub place: Option<u32>,
    /// The identifier of the object, 0 for an orphan.
    pub object: u64,
    pub n_tracers: u32,
    pub tracer: Option<TracerKey>,
    pub mass: f64,
    pub host: Option<usize>,
    pub track: u64,
    /// Whether its catalogue knows the track.
    pub is_recorded: bool,
    pub descendant: Option<usize>,
    pub fate: NodeFate,
    /// The score of the link to the descendant.
    pub score: u64,
}

/// Where a tracer was seen while its object was missing.
#[derive(Debug, Clone, Copy)]
struct SeenTracer {
    output: u32,
    /// The node of the object that it is bound to, and its rank as a tracer there.
    host: Option<(usize, Option<u32>)>,
}

/// The object with most of a missing object's weight.
#[derive(Debug, Clone, Copy)]
struct Remains {
    node: usize,
    forward: u64,
    is_most: bool,
}

/// An object that is missing.
#[derive(Debug, Clone)]
struct WaitingObject {
    node: usize,
    seen: Vec<SeenTracer>,
    remains: Option<Remains>,
}

/// An object that is gone, and whose most bound tracer is followed.
#[derive(Debug, Clone, Copy)]
struct OrphanTracer {
    node: usize,
    missed: usize,
}

/// The nodes of all outputs so far, and the objects to search for in the next one.
#[derive(Debug, Clone)]
pub struct History {
    params: HistoryParams,
    weight_sums: Vec<u64>,
    pub(super) nodes: Vec<GrowingNode>,
    /// The nodes of the last output.
    previous: std::ops::Range<usize>,
    waiting: Vec<WaitingObject>,
    orphans: Vec<OrphanTracer>,
    pub(super) n_outputs: u32,
}

impl History {
    /// An empty one.
    pub fn new(params: HistoryParams) -> Self {
        let weight_sums = weight_sums(params.n_tracers);
        let (nodes, waiting, orphans) = (Vec::new(), Vec::new(), Vec::new());
        Self { params, weight_sums, nodes, previous: 0..0, waiting, orphans, n_outputs: 0 }
    }

    /// Its parameters.
    pub fn params(&self) -> &HistoryParams {
        &self.params
    }

    /// Number of outputs so far.
    pub fn n_outputs(&self) -> usize {
        self.n_outputs as usize
    }

    /// The objects to search for in the next output: those of the last one in their order, then the missing
    /// ones.
    pub fn sources(&self) -> Vec<SourceObject> {
        let nodes = self.previous.clone().chain(self.waiting.iter().map(|waiting| waiting.node));
        let source = |node: usize| {
            let GrowingNode { output, place, .. } = self.nodes[node];
            SourceObject { output, object: place.expect("only objects are looked for") }
        };
        nodes.map(source).collect()
    }

    /// The tracers of orphans, whose slots follow those of the sources.
    pub fn orphan_tracers(&self) -> Vec<TracerKey> {
        let tracer = |orphan: &OrphanTracer| self.nodes[orphan.node].tracer;
        self.orphans.iter().map(|orphan| tracer(orphan).expect("an orphan has a tracer")).collect()
    }

    /// Adds an output. Returns the missing sources that are searched for again, in the order in which they
    /// follow the objects in the next [`Self::sources`].
    pub fn advance(&mut self, step: &OutputStep) -> Vec<u32> {
        let first = self.nodes.len();
        let (n_previous, n_sources) = (self.previous.len(), self.previous.len() + self.waiting.len());
        let sources: Vec<usize> =
            self.previous.clone().chain(self.waiting.iter().map(|waiting| waiting.node)).collect();
        let mut seen = vec![None; n_sources + self.orphans.len()];
        for sighting in step.sightings {
            seen[sighting.slot as usize] = Some((first + sighting.object as usize, sighting.rank));
        }
        self.add_objects(step, first);
        let (mut goes_on, mut has_progenitor) = (vec![false; n_sources], vec![false; step.objects.len()]);
        self.record(step, &sources, first, &mut goes_on, &mut has_progenitor);
        let fits = |pair: &&PairScore| {
            let source = pair.source as usize;
            let total = self.weight_sums[self.nodes[sources[source]].n_tracers as usize];
            // Members of a missing object are no longer known, so the backward score is not required.
            pair.forward.saturating_mul(SHARE) >= total
                && pair.forward > 0
                && (pair.backward > 0 || source >= n_previous)
        };
        let is_free =
            |pair: &&PairScore| !(goes_on[pair.source as usize] || has_progenitor[pair.object as usize]);
        let candidates: Vec<PairScore> = step.pairs.iter().filter(fits).filter(is_free).copied().collect();
        for pair in matched(&candidates, n_sources, step.objects.len()) {
            let (source, object) = (pair.source as usize, pair.object as usize);
            (goes_on[source], has_progenitor[object]) = (true, true);
            self.go_on(sources[source], first + object, pair.score());
        }
        self.take_up_orphans(&mut seen[n_sources..], first, &mut has_progenitor);
        let births = has_progenitor.iter().enumerate().filter(|(_, has)| !**has);
        for (object, _) in births.filter(|(object, _)| step.objects[*object].track == 0) {
            self.nodes[first + object].track = step.number << OBJECT_BITS | step.objects[object].object;
        }
        let remains = self.remains(step, &sources, first);
        self.follow_orphans(&seen[n_sources..]);
        let still = self.wait(&sources, &goes_on, &seen[..n_sources], &remains);
        self.previous = first..first + step.objects.len();
        self.n_outputs += 1;
        still
    }

    fn add_objects(&mut self, step: &OutputStep, first: usize) {
        let output = self.n_outputs;
        let node = |(place, row): (usize, &ObjectRow)| GrowingNode {
            output,
            place: Some(place as u32),
            object: row.object,
            n_tracers: row.n_tracers,
            tracer: row.tracer,
            mass: row.mass,
            host: row.host.map(|host| first + host as usize),
            track: row.track,
            is_recorded: row.track > 0,
            descendant: None,
            fate: NodeFate::End,
            score: 0,
        };
        self.nodes.extend(step.objects.iter().enumerate().map(node));
    }

    /// Links the objects whose tracks are known to those of the same track. An object that begins a known
    /// track has no progenitor of that track, and is matched with none.
    fn record(
        &mut self,
        step: &OutputStep,
        sources: &[usize],
        first: usize,
        goes_on: &mut [bool],
        has_progenitor: &mut [bool],
    ) {
        let of_track: BTreeMap<u64, usize> = sources
            .iter()
            .enumerate()
            .filter(|(_, node)| self.nodes[**node].is_recorded)
            .map(|(source, node)| (self.nodes[*node].track, source))
            .collect();
        let scores: BTreeMap<(u32, u32), u64> =
            step.pairs.iter().map(|pair| ((pair.source, pair.object), pair.score())).collect();
        for (object, row) in step.objects.iter().enumerate().filter(|(_, row)| row.track > 0) {
            has_progenitor[object] = true;
            let Some(source) = of_track.get(&row.track).copied() else { continue };
            goes_on[source] = true;
            let score = scores.get(&(source as u32, object as u32)).copied().unwrap_or(0);
            self.go_on(sources[source], first + object, score);
        }
    }

    fn go_on(&mut self, from: usize, to: usize, score: u64) {
        self.link(from, to, NodeFate::GoesOn, score);
        self.nodes[to].track = self.nodes[from].track;
    }

    fn link(&mut self, from: usize, to: usize, fate: NodeFate, score: u64) {
        let node = &mut self.nodes[from];
        (node.descendant, node.fate, node.score) = (Some(to), fate, score);
    }

    /// Re-births: an object without a progenitor takes up the track of the orphan whose tracer is most bound
    /// in it.
    fn take_up_orphans(
        &mut self,
        seen: &mut [Option<(usize, Option<u32>)>],
        first: usize,
        has_progenitor: &mut [bool],
    ) {
        let track = |orphan: &OrphanTracer| self.nodes[orphan.node].track;
        let mut sunk: Vec<(usize, u32, u64, usize)> = Vec::new();
        for (i, seen) in seen.iter().enumerate() {
            if let Some((object, Some(rank))) = seen
                && !has_progenitor[object - first]
            {
                sunk.push((*object, *rank, track(&self.orphans[i]), i));
            }
        }
        sunk.sort_unstable();
        sunk.dedup_by_key(|(object, ..)| *object);
        for (object, rank, _, orphan) in sunk {
            self.go_on(self.orphans[orphan].node, object, weight(rank));
            has_progenitor[object - first] = true;
            // It is followed no longer.
            seen[orphan] = None;
            self.orphans[orphan].missed = usize::MAX;
        }
        // Orphans that go on as objects leave with those that are lost, in `follow_orphans`.
    }

    /// For each source: the object with most of its weight; between equals, the one with the lower tracer.
    fn remains(&self, step: &OutputStep, sources: &[usize], first: usize) -> Vec<Option<Remains>> {
        let mut best: Vec<Option<&PairScore>> = vec![None; sources.len()];
        for pair in step.pairs.iter().filter(|pair| pair.forward > 0) {
            let best = &mut best[pair.source as usize];
            let key = |pair: &PairScore| (std::cmp::Reverse(pair.forward), pair.least, pair.object);
            if best.is_none_or(|other| key(pair) < key(other)) {
                *best = Some(pair);
            }
        }
        let remains = |(pair, source): (Option<&PairScore>, &usize)| {
            let total = self.weight_sums[self.nodes[*source].n_tracers as usize];
            pair.map(|pair| Remains {
                node: first + pair.object as usize,
                forward: pair.forward,
                is_most: 2 * pair.forward >= total,
            })
        };
        best.into_iter().zip(sources).map(remains).collect()
    }

    /// Follows the tracers of orphans into the output that is added.
    fn follow_orphans(&mut self, seen: &[Option<(usize, Option<u32>)>]) {
        let output = self.n_outputs;
        for (orphan, seen) in std::mem::take(&mut self.orphans).into_iter().zip(seen) {
            if orphan.missed < usize::MAX {
                let followed = self.followed(orphan, SeenTracer { output, host: *seen });
                self.orphans.extend(followed);
            }
        }
    }

    /// One output of an orphan; `None` if it ends there.
    fn followed(&mut self, orphan: OrphanTracer, seen: SeenTracer) -> Option<OrphanTracer> {
        let node = orphan.node;
        match seen.host {
            Some((host, Some(rank))) => {
                self.link(node, host, NodeFate::Merges, weight(rank));
                None
            }
            Some((host, None)) => {
                let last = self.nodes[node];
                let next = self.nodes.len();
                self.nodes.push(GrowingNode {
                    output: seen.output,
                    place: None,
                    object: 0,
                    n_tracers: 0,
                    mass: 0.0,
                    host: Some(host),
                    descendant: None,
                    fate: NodeFate::End,
                    score: 0,
                    ..last
                });
                self.link(node, next, NodeFate::GoesOn, weight(0));
                Some(OrphanTracer { node: next, missed: 0 })
            }
            None if orphan.missed >= self.params.gap => {
                self.nodes[node].fate = NodeFate::Lost;
                None
            }
            None => Some(OrphanTracer { missed: orphan.missed + 1, ..orphan }),
        }
    }

    /// Records sightings of the sources that do not continue. Settles the fate of those that have waited long
    /// enough. Returns the others.
    fn wait(
        &mut self,
        sources: &[usize],
        goes_on: &[bool],
        seen: &[Option<(usize, Option<u32>)>],
        remains: &[Option<Remains>],
    ) -> Vec<u32> {
        let output = self.n_outputs;
        let n_previous = self.previous.len();
        let mut waiting = std::mem::take(&mut self.waiting).into_iter();
        let (mut still, mut slots) = (Vec::new(), Vec::new());
        for (i, node) in sources.iter().enumerate() {
            let known = if i < n_previous { None } else { waiting.next() };
            if goes_on[i] {
                continue;
            }
            let new = || WaitingObject { node: *node, seen: Vec::new(), remains: None };
            let mut object = known.unwrap_or_else(new);
            object.remains = object.remains.or(remains[i]);
            object.seen.push(SeenTracer { output, host: seen[i] });
            // Without tracers nothing can come back.
            if object.seen.len() > self.params.gap || self.nodes[*node].n_tracers == 0 {
                let orphan = self.settle(&object);
                self.orphans.extend(orphan);
            } else {
                still.push(object);
                slots.push(i as u32);
            }
        }
        self.waiting = still;
        slots
    }

    /// Decides the fate of an object that did not come back. Returns its orphan, if any.
    fn settle(&mut self, object: &WaitingObject) -> Option<OrphanTracer> {
        if self.params.orphans && object.seen.iter().any(|seen| seen.host.is_some()) {
            let mut orphan = OrphanTracer { node: object.node, missed: 0 };
            for seen in &object.seen {
                orphan = self.followed(orphan, *seen)?;
            }
            return Some(orphan);
        }
        match object.remains {
            None => self.nodes[object.node].fate = NodeFate::Lost,
            Some(Remains { node, forward, is_most }) => {
                let fate = if is_most { NodeFate::Merges } else { NodeFate::Disrupted };
                self.link(object.node, node, fate, forward);
            }
        }
        None
    }

    /// This history as if the series ended here: nothing waits.
    pub(super) fn ended(&self) -> Self {
        let mut ended = self.clone();
        for object in std::mem::take(&mut ended.waiting) {
            let orphan = ended.settle(&object);
            ended.orphans.extend(orphan);
        }
        for orphan in std::mem::take(&mut ended.orphans) {
            let node = &mut ended.nodes[orphan.node];
            let is_last = node.output + 1 == ended.n_outputs;
            node.fate = if is_last { NodeFate::End } else { NodeFate::Lost };
        }
        ended
    }
}
