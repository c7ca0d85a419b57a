//! Outputs for tests, with members in full, and their history by sums over all pairs of members.

use crate::trees::history::{History, HistoryParams, ObjectRow, OutputStep, Sighting};
use crate::trees::score::PairScore;
use crate::trees::table::{TreeNode, nodes};
use crate::trees::tracer::{TracerKey, weight};

/// An object: its identifier, and its members, the most bound first.
pub type TestObject = (u64, Vec<u64>);

/// The objects of an output by identifier.
pub type TestOutput = Vec<TestObject>;

pub fn key(id: u64) -> TracerKey {
    TracerKey { id, kind: 1 }
}

/// The first members of an object.
pub fn tracers(object: &TestObject, n: u32) -> &[u64] {
    &object.1[..object.1.len().min(n as usize)]
}

/// The weight of the tracers of `of` that are in `among`, and the least of them.
pub fn shared(of: &[u64], among: &[u64]) -> (u64, Option<u64>) {
    let found = of.iter().enumerate().filter(|(_, id)| among.contains(id));
    found.fold((0, None), |(sum, least), (rank, id)| {
        (sum + weight(rank as u32), Some(least.map_or(*id, |least: u64| least.min(*id))))
    })
}

/// The scores of a pair; `None` if it shares no tracer. Of a missing object only the tracers are known.
pub fn pair(from: &TestObject, to: &TestObject, n_tracers: u32, is_missing: bool) -> Option<(u64, u64, u64)> {
    let known = if is_missing { tracers(from, n_tracers) } else { &from.1 };
    let (forward, least) = shared(tracers(from, n_tracers), &to.1);
    let (backward, least_back) = shared(tracers(to, n_tracers), known);
    let least = [least, least_back].into_iter().flatten().min()?;
    Some((forward, backward, least))
}

/// The nodes of these outputs, by the history with scores from nested loops.
pub fn linked(outputs: &[TestOutput], params: HistoryParams) -> Vec<TreeNode> {
    recorded(outputs, params, &|_, _| 0)
}

/// The same, where `track` knows the track of an object by output and identifier; 0 where it does not.
pub fn recorded(
    outputs: &[TestOutput],
    params: HistoryParams,
    track: &dyn Fn(usize, u64) -> u64,
) -> Vec<TreeNode> {
    let mut history = History::new(params);
    for (number, output) in outputs.iter().enumerate() {
        advance(&mut history, outputs, (number, output), track);
    }
    nodes(&history)
}

fn advance(
    history: &mut History,
    outputs: &[TestOutput],
    (number, output): (usize, &TestOutput),
    track: &dyn Fn(usize, u64) -> u64,
) {
    let n = history.params().n_tracers;
    let objects: Vec<ObjectRow> = output
        .iter()
        .map(|object| ObjectRow {
            object: object.0,
            n_tracers: tracers(object, n).len() as u32,
            tracer: object.1.first().map(|id| key(*id)),
            mass: object.1.len() as f64,
            host: None,
            track: track(number, object.0),
        })
        .collect();
    let (mut pairs, mut sightings) = (Vec::new(), Vec::new());
    let mut see = |slot: usize, id: u64| {
        let holds = output.iter().position(|object| object.1.contains(&id));
        sightings.extend(holds.map(|object| Sighting {
            slot: slot as u32,
            object: object as u32,
            rank: tracers(&output[object], n).iter().position(|t| *t == id).map(|rank| rank as u32),
        }));
    };
    let sources = history.sources();
    for (slot, source) in sources.iter().enumerate() {
        let from = &outputs[source.output as usize][source.object as usize];
        let is_missing = source.output as usize + 1 < number;
        for (object, to) in output.iter().enumerate() {
            pairs.extend(pair(from, to, n, is_missing).map(|(forward, backward, least)| PairScore {
                source: slot as u32,
                object: object as u32,
                forward,
                backward,
                least: key(least),
            }));
        }
        from.1.first().into_iter().for_each(|id| see(slot, *id));
    }
    for (orphan, tracer) in history.orphan_tracers().into_iter().enumerate() {
        see(sources.len() + orphan, tracer.id);
    }
    let step = OutputStep { number: number as u64, objects: &objects, pairs: &pairs, sightings: &sightings };
    history.advance(&step);
}
