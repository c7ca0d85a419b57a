//! Pairs that match each other best.
//!
//! A pair matches if each is the best remaining candidate of the other. Matched objects are removed, and this
//! is repeated with the rest.
//! Pairs have one total order, so this gives the same pairs as taking the best pair of all again and again.

use crate::trees::score::PairScore;

/// The matched pairs among `pairs`, the best first. No object is in two of them. O(n log n).
pub fn matched(pairs: &[PairScore], n_sources: usize, n_objects: usize) -> Vec<PairScore> {
    let mut best_first = pairs.to_vec();
    best_first.sort_unstable_by(PairScore::order);
    let (mut sources, mut objects) = (vec![false; n_sources], vec![false; n_objects]);
    best_first.retain(|pair| {
        let (source, object) = (&mut sources[pair.source as usize], &mut objects[pair.object as usize]);
        let is_free = !*source && !*object;
        if is_free {
            (*source, *object) = (true, true);
        }
        is_free
    });
    best_first
}
