//! The merge tree by regions: which deaths can be decided from the edges of a region of peaks?
//!
//! Place in the flow: between the edges of [`super::forest`] and the deaths of [`super::tree`]. One region
//! with all peaks decides everything. Several regions can work at the same time; afterwards one with all
//! peaks decides the edges that they left. It uses places of peaks and numbers of edges. *Places* are numbers
//! in which the peaks of a region are consecutive.
//!
//! A region goes through the edges of its peaks by falling saddle, as the whole tree does. From its first
//! edge that leads out of the region or to an open component, a component is *open*: its next mergers are
//! decided elsewhere. Its edges are left. A component that is not open has seen all its edges so far. So its
//! death is that of the whole tree. Peaks that may have edges unknown here are open from the beginning. An
//! edge between open components that greater edges connect merges nothing, so it is dropped.
//!
//! ```text
//!     peaks (densities)   a (9)   b (7)   c (8) | d (5)   e (6)       regions: {a, b, c} and {d, e}
//!     edges               a-b: 4   c-d: 3   d-e: 2   b-c: 1
//!
//!     left region         a-b: b dies     c-d leads out: c is open     b-c: left, and {a, b} is open
//!     right region        c-d leads out: d is open     d-e: left
//!     all peaks           c-d: d dies     d-e: e dies     b-c: c dies
//! ```

use crate::ids::PeakIdx;
use crate::union_find::{Parents, find};
use bytemuck::{Pod, Zeroable};

/// An edge between two places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegionEdge {
    /// The number of the edge. Numbers ascend as edges fall.
    pub edge: u32,
    /// The places of its two peaks, in their order, or of peaks that represent them.
    pub places: [u32; 2],
}

/// The edge at which a peak dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct DeathEdge {
    /// The number of the edge.
    edge: u32,
    /// Which of its two peaks is in the dying component.
    near: u32,
}

impl DeathEdge {
    /// That of a peak that never dies.
    pub const NEVER: Self = Self { edge: u32::MAX, near: 0 };

    /// The number of the edge, and which of its two peaks is in the dying component; `None` if the peak never
    /// dies.
    #[inline]
    pub fn edge(self) -> Option<(usize, usize)> {
        (self != Self::NEVER).then_some((self.edge as usize, self.near as usize))
    }
}

/// The peaks of a region, by place.
#[derive(Debug)]
pub struct PeakRegion<'a> {
    /// The place of its first peak.
    pub first: u32,
    /// Which peaks they are.
    pub peaks: &'a [PeakIdx],
    /// Their densities.
    pub rho: &'a [f64],
    /// Which of them are open from the beginning; empty if none is.
    pub open: &'a [bool],
    /// Union-find of the components, between places; at the beginning, each place is its own parent.
    pub parents: &'a mut [u32],
    /// Where they die.
    pub deaths: &'a mut [DeathEdge],
}

/// Paths are shortened this number of edges ahead, so that they are in the cache when the edge is processed.
const AHEAD: usize = 16;

impl PeakRegion<'_> {
    /// Decides the deaths that follow from the edges of the region. The edges come in `runs`, in falling
    /// order; each has a peak in the region. Returns the edges that it leaves, in falling order, with places
    /// of peaks that represent their peaks in the region. Of an edge between two regions, the region of the
    /// first place leaves it. Almost linear in the edges.
    pub fn decide<'e>(mut self, runs: impl Iterator<Item = &'e [RegionEdge]>) -> Vec<RegionEdge> {
        let (mut left, mut open) = (Vec::new(), OpenComponents::new(self.rho.len(), self.open));
        for run in runs {
            for (i, edge) in run.iter().enumerate() {
                if let Some(ahead) = run.get(i + AHEAD) {
                    ahead.places.into_iter().for_each(|place| self.shorten(place));
                }
                left.extend(self.leaves(edge, &mut open));
            }
        }
        left
    }

    /// Decides an edge, or opens its components. Returns it if this region leaves it.
    fn leaves(&mut self, edge: &RegionEdge, open: &mut OpenComponents) -> Option<RegionEdge> {
        let inside = edge.places.map(|place| self.has(place));
        if inside != [true; 2] {
            let own = usize::from(inside[1]);
            let root = self.root(edge.places[own]);
            open.open(self.at(root));
            return (own == 0).then_some(RegionEdge { places: [root, edge.places[1]], ..*edge });
        }
        let roots = edge.places.map(|place| self.root(place));
        if roots[0] == roots[1] {
            return None;
        }
        let [a, b] = roots.map(|root| self.at(root));
        if open.has(a) || open.has(b) {
            return open.join(a, b).then_some(RegionEdge { places: roots, ..*edge });
        }
        let near = usize::from(self.exceeds(a, b));
        let dying = roots[near];
        let at = self.at(dying);
        self.deaths[at] = DeathEdge { edge: edge.edge, near: near as u32 };
        self.parents[at] = roots[1 - near];
        None
    }

    fn has(&self, place: u32) -> bool {
        (place.wrapping_sub(self.first) as usize) < self.rho.len()
    }

    fn at(&self, place: u32) -> usize {
        (place - self.first) as usize
    }

    /// Whether a peak is greater than another in the total order: denser, or equally dense and the first of
    /// both.
    #[inline]
    fn exceeds(&self, a: usize, b: usize) -> bool {
        self.rho[a] > self.rho[b] || self.rho[a] == self.rho[b] && self.peaks[a] < self.peaks[b]
    }

    /// The greatest peak of a component.
    #[inline]
    fn root(&mut self, place: u32) -> u32 {
        find(&mut PlaceParents { first: self.first, parents: self.parents }, place)
    }

    /// Makes a place point to its grandparent.
    #[inline]
    fn shorten(&mut self, place: u32) {
        if self.has(place) {
            let parent = self.parents[self.at(place)];
            self.parents[self.at(place)] = self.parents[self.at(parent)];
        }
    }
}

/// The open components, by their roots in a region, and which of them edges that are left connect.
struct OpenComponents(Vec<u32>);

impl OpenComponents {
    /// The entry of a component that is not open; the others are a union-find.
    const CLOSED: u32 = u32::MAX;

    /// Of `n` peaks, those that are `open` from the beginning.
    fn new(n: usize, open: &[bool]) -> Self {
        let mut components = Self(vec![Self::CLOSED; n]);
        (0..n).zip(open).filter(|(_, open)| **open).for_each(|(root, _)| components.open(root));
        components
    }

    #[inline]
    fn has(&self, root: usize) -> bool {
        self.0[root] != Self::CLOSED
    }

    fn open(&mut self, root: usize) {
        if !self.has(root) {
            self.0[root] = root as u32;
        }
    }

    /// Opens two components and connects them. Whether they were not connected before.
    fn join(&mut self, a: usize, b: usize) -> bool {
        let [a, b] = [a, b].map(|root| {
            self.open(root);
            find(self.0.as_mut_slice(), root as u32)
        });
        self.0[a.max(b) as usize] = a.min(b);
        a != b
    }
}

/// The parents of places from a first one on.
struct PlaceParents<'a> {
    first: u32,
    parents: &'a mut [u32],
}

impl Parents for PlaceParents<'_> {
    #[inline(always)]
    fn parent(&self, place: u32) -> u32 {
        self.parents[(place - self.first) as usize]
    }

    #[inline(always)]
    fn set_parent(&mut self, place: u32, parent: u32) {
        self.parents[(place - self.first) as usize] = parent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked example of the module, with a to e at places 0 to 4.
    #[test]
    fn the_worked_example() {
        let (peaks, rho) = ([0, 1, 2, 3, 4].map(PeakIdx), [9.0, 7.0, 8.0, 5.0, 6.0]);
        let edges = [[0, 1], [2, 3], [3, 4], [1, 2]];
        let edges = [0, 1, 2, 3].map(|i| RegionEdge { edge: i as u32, places: edges[i] });
        let (mut parents, mut deaths) = ([0, 1, 2, 3, 4], [DeathEdge::NEVER; 5]);
        let mut decide = |places: std::ops::Range<usize>, which: &[usize]| {
            let region = PeakRegion {
                first: places.start as u32,
                peaks: &peaks[places.clone()],
                rho: &rho[places.clone()],
                open: &[],
                parents: &mut parents[places.clone()],
                deaths: &mut deaths[places],
            };
            let run: Vec<RegionEdge> = which.iter().map(|i| edges[*i]).collect();
            let left = region.decide([run.as_slice()].into_iter());
            (left.iter().map(|edge| edge.edge).collect::<Vec<_>>(), deaths)
        };
        let never = DeathEdge::NEVER;
        let dead = |edge, near| DeathEdge { edge, near };
        assert_eq!(decide(0..3, &[0, 1, 3]), (vec![1, 3], [never, dead(0, 1), never, never, never]));
        assert_eq!(decide(3..5, &[1, 2]), (vec![2], [never, dead(0, 1), never, never, never]));
        let all = [never, dead(0, 1), dead(3, 1), dead(1, 1), dead(2, 1)];
        assert_eq!(decide(0..5, &[1, 2, 3]), (vec![], all));
    }
}
