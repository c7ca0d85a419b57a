//! Which particles are linked, which is the densest neighbour, and where do patches touch?
//!
//! Only *test particles*, denser than the threshold, take part. Links are symmetric, but a link is stored
//! once: with the particle that has the other as a neighbour. So a link raises the pointer of its less dense
//! end, which may be either one.

use crate::ids::{CellIdx, PeakIdx, TestIdx};
use crate::phew::forest::{ContactEdge, ForestScratch, reduce};
use crate::sync::{AtomicU32, Ordering::Relaxed};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// The neighbours of a run of test particles.
#[derive(Debug, Clone, Copy)]
pub struct Neighbours<'a> {
    /// The test particles of the run, ascending.
    pub of: &'a [TestIdx],
    /// Number of neighbours of each.
    pub k: usize,
    /// The neighbours of one after the other; [`TestIdx::NONE`] for those that are no test particles.
    pub list: &'a [TestIdx],
}

impl Neighbours<'_> {
    /// Every test particle with its neighbours among the test particles.
    fn each(&self) -> impl Iterator<Item = (TestIdx, impl Iterator<Item = TestIdx>)> {
        let lists = self.list.chunks_exact(self.k);
        self.of.iter().zip(lists).map(|(of, list)| (*of, list.iter().copied().filter(|to| !to.is_none())))
    }
}

/// Whether `a` is greater in the total order: denser, or equally dense with a smaller index.
#[inline(always)]
fn exceeds(rho: &[f64], a: TestIdx, b: TestIdx) -> bool {
    let (rho_a, rho_b) = (rho[a.at()], rho[b.at()]);
    rho_a > rho_b || rho_a == rho_b && a < b
}

/// For every link of the run: makes its less dense end point to the other one, unless it points to a greater
/// particle already. Pointers start at their own particles.
///
/// Any number of threads may raise pointers at the same time. A pointer only rises in the total order, so it
/// ends at the greatest particle for any order of the calls (`tests/loom.rs`).
pub fn raise_neighbours(links: &Neighbours, rho: &[f64], up: &[AtomicU32]) {
    for (particle, neighbours) in links.each() {
        let mut greatest = particle;
        for neighbour in neighbours {
            if exceeds(rho, particle, neighbour) {
                raise_to(up, rho, neighbour, particle);
            } else if exceeds(rho, neighbour, greatest) {
                greatest = neighbour;
            }
        }
        raise_to(up, rho, particle, greatest);
    }
}

/// Makes `particle` point to `to`, unless it points to a greater particle or to `to` already.
#[inline]
fn raise_to(up: &[AtomicU32], rho: &[f64], particle: TestIdx, to: TestIdx) {
    let pointer = &up[particle.at()];
    let mut seen = pointer.load(Relaxed);
    while exceeds(rho, to, TestIdx(seen)) {
        match pointer.compare_exchange_weak(seen, to.0, Relaxed, Relaxed) {
            Ok(_) => return,
            Err(now) => seen = now,
        }
    }
}

/// The contacts along the links of the run: their maximum spanning forest, in falling order. `label` is the
/// patch of each test particle.
pub fn contacts(
    links: &Neighbours,
    rho: &[f64],
    label: &[PeakIdx],
    scratch: &mut ForestScratch,
) -> Vec<ContactEdge> {
    let mut greatest: FxHashMap<[PeakIdx; 2], ContactEdge> = FxHashMap::default();
    for (particle, neighbours) in links.each() {
        let patch = label[particle.at()];
        for neighbour in neighbours {
            let other = label[neighbour.at()];
            if other == patch {
                continue;
            }
            let saddle = 0.5 * (rho[particle.at()] + rho[neighbour.at()]);
            let edge = ContactEdge::new(saddle, [patch, other], [particle, neighbour].map(|p| CellIdx(p.0)));
            match greatest.entry(edge.peaks) {
                Entry::Vacant(place) => _ = place.insert(edge),
                Entry::Occupied(mut kept) if edge.order(kept.get()).is_lt() => _ = kept.insert(edge),
                Entry::Occupied(_) => {}
            }
        }
    }
    let edges: Vec<ContactEdge> = greatest.into_values().collect();
    reduce(&edges, scratch)
}
