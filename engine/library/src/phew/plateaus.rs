//! The edges of a rank, and of those that tie the few that can decide anything
//! (`kernels/src/phew/plateau.rs`): on plains of equal peaks nearly all edges are ties. All threads work on
//! them, before any rank gets ties of others.

use crate::chunks::joined;
use crate::phew::known_peaks::PeakColumns;
use crate::phew::saddle::in_falling_order;
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::phew::forest::{ContactEdge, TiedForest};
use inselberg_kernels::phew::plateau::{PlateauFinder, Plateaus, TieUse};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// The two peaks of an edge whose saddle is the density of both, smaller index first.
pub type FlatTie = [PeakIdx; 2];

/// All edges that can decide anything, and the first of the other ties: those that are not flat, then those
/// that are, each in falling order. `forests` are those of all tasks, between slots of `peaks`. `shared` are
/// the peaks that other ranks may know.
pub fn all_that_decide(
    forests: Vec<TiedForest>,
    peaks: &PeakColumns,
    shared: &[bool],
) -> (Vec<ContactEdge>, Vec<FlatTie>) {
    let (mut of_tasks, mut left) = (Vec::new(), Vec::new());
    for TiedForest { edges, ties, flat } in forests {
        of_tasks.push(edges);
        left.push((ties, flat));
    }
    let mut edges = in_falling_order(joined(of_tasks));
    left.retain(|(ties, flat)| !ties.is_empty() || !flat.is_empty());
    if left.is_empty() {
        return (edges, Vec::new());
    }
    let rho = &peaks.rho;
    let of_flat = |tie: &FlatTie| (rho[tie[0].at()], *tie);
    let order_of_flat = |a: &FlatTie, b: &FlatTie| of_flat(b).0.total_cmp(&of_flat(a).0).then(a.cmp(b));
    let finder = PlateauFinder::new(rho, shared);
    edges.par_iter().for_each(|edge| finder.note(edge.saddle, edge.peaks));
    edges.par_iter().for_each(|edge| finder.meet(edge.saddle, edge.peaks));
    left.par_iter().for_each(|(ties, flat)| {
        let all = ties.iter().map(ends).chain(flat.iter().map(of_flat));
        all.for_each(|(saddle, peaks)| finder.meet(saddle, peaks));
    });
    let by = Deciding { plateaus: finder.groups(), edges: &edges };
    let kept = left.into_par_iter().map(|(ties, flat)| {
        (by.among(ties, ends, ContactEdge::order), by.among(flat, of_flat, order_of_flat))
    });
    let (ties, flat): (Vec<_>, Vec<_>) = kept.unzip();
    let mut flat = flat.concat();
    flat.par_sort_unstable_by(order_of_flat);
    let mut ties = ties.concat();
    ties.par_sort_unstable_by(ContactEdge::order);
    edges.extend(ties);
    // Two lists in order are merged.
    edges.par_sort_by(ContactEdge::order);
    (edges, flat)
}

fn ends(edge: &ContactEdge) -> (f64, [PeakIdx; 2]) {
    (edge.saddle, edge.peaks)
}

/// Decides which ties are kept.
struct Deciding<'a> {
    plateaus: Plateaus<'a>,
    /// The forests of all tasks, in falling order.
    edges: &'a [ContactEdge],
}

impl Deciding<'_> {
    /// The ties of a task that can decide anything, and the first of the others. `ends` gives saddle and
    /// peaks of a tie.
    fn among<T: Copy>(
        &self,
        ties: Vec<T>,
        ends: impl Fn(&T) -> (f64, [PeakIdx; 2]),
        order: impl Fn(&T, &T) -> Ordering,
    ) -> Vec<T> {
        let best = self.best_beside_smooth(ties.iter().map(&ends));
        let is_best = |saddle: f64, peak, other| best.get(&(saddle.to_bits(), peak)) == Some(&other);
        let comes_first =
            |tie: &T, first: Option<T>| first.is_none_or(|first| order(tie, &first) == Ordering::Less);
        let (mut kept, mut within) = (Vec::new(), None::<T>);
        let mut between: FxHashMap<(u64, [PeakIdx; 2]), T> = FxHashMap::default();
        for tie in ties {
            let (saddle, [a, b]) = ends(&tie);
            match self.plateaus.use_of(saddle, [a, b]) {
                TieUse::Decides => kept.push(tie),
                _ if is_best(saddle, a, b) || is_best(saddle, b, a) => kept.push(tie),
                TieUse::Within if comes_first(&tie, within) => match self.has_edge(saddle, [a, b]) {
                    true => kept.push(tie),
                    false => within = Some(tie),
                },
                TieUse::Within => {}
                TieUse::Between(groups) => {
                    let key = (saddle.to_bits(), groups);
                    match comes_first(&tie, between.get(&key).copied()) {
                        true if self.has_edge(saddle, [a, b]) => kept.push(tie),
                        true => _ = between.insert(key, tie),
                        false => {}
                    }
                }
            }
        }
        kept.extend(within.into_iter().chain(between.into_values()));
        kept
    }

    /// For patches beside smooth peaks at a saddle, the best neighbour among some edges.
    fn best_beside_smooth(
        &self,
        edges: impl Iterator<Item = (f64, [PeakIdx; 2])>,
    ) -> FxHashMap<(u64, PeakIdx), PeakIdx> {
        let mut best: FxHashMap<(u64, PeakIdx), PeakIdx> = FxHashMap::default();
        for (saddle, [a, b]) in edges {
            for (peak, other) in [(a, b), (b, a)] {
                if self.plateaus.is_smooth(other, saddle) && !self.plateaus.is_smooth(peak, saddle) {
                    let best = best.entry((saddle.to_bits(), peak)).or_insert(other);
                    *best = if self.plateaus.exceeds(other, *best) { other } else { *best };
                }
            }
        }
        best
    }

    /// Whether another contact of the same patches is in the forest of a task. Then a tie may be none, or be
    /// the first of both contacts.
    fn has_edge(&self, saddle: f64, peaks: [PeakIdx; 2]) -> bool {
        let place = |edge: &ContactEdge| saddle.total_cmp(&edge.saddle).then(edge.peaks.cmp(&peaks));
        self.edges.binary_search_by(place).is_ok()
    }
}
