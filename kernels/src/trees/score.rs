//! Scores of pairs: how much of an earlier object's core is in a later object, and the other way round.

use crate::trees::tracer::TracerKey;
use bytemuck::{Pod, Zeroable};
use std::cmp::Ordering;

/// An earlier object and a later one that share tracers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PairScore {
    /// Place of the earlier object.
    pub source: u32,
    /// Place of the later object.
    pub object: u32,
    /// Sum of the weights of the tracers of the earlier object that are members of the later one.
    pub forward: u64,
    /// Sum of the weights of the tracers of the later object that are members of the earlier one.
    pub backward: u64,
    /// The least of these tracers.
    pub least: TracerKey,
}

impl PairScore {
    /// The sum of both directions.
    pub fn score(&self) -> u64 {
        self.forward + self.backward
    }

    /// The better pair is less: the higher score, then the lower tracer, then the lower objects. No two pairs
    /// are equal.
    pub fn order(&self, other: &Self) -> Ordering {
        let key = |pair: &Self| (pair.least, pair.object, pair.source);
        other.score().cmp(&self.score()).then_with(|| key(self).cmp(&key(other)))
    }
}

/// Adds up the terms of each pair. Returns the pairs by source and object. The order of the terms does not
/// matter.
pub fn summed(mut terms: Vec<PairScore>) -> Vec<PairScore> {
    terms.sort_unstable_by_key(|term| (term.source, term.object));
    let is_same = |a: &PairScore, b: &PairScore| (a.source, a.object) == (b.source, b.object);
    terms.dedup_by(|term, sum| {
        let joins = is_same(term, sum);
        if joins {
            sum.forward += term.forward;
            sum.backward += term.backward;
            sum.least = sum.least.min(term.least);
        }
        joins
    });
    terms
}
