//! Merge tree: which peak dies where?
//!
//! Place in the flow: from the edges of [`super::forest`] to the tree that [`super::hierarchy`] cuts. It uses
//! only the numbers of cells, and no thresholds. The result serves all thresholds, so a stored tree can be
//! cut again without the mesh.
//!
//! Go through the forest by falling saddle. At each edge two components meet, and the one whose greatest peak
//! is lower dies there (the elder rule).

use super::forest::ContactEdge;
use super::region_tree::{DeathEdge, PeakRegion, RegionEdge};
use crate::ids::{CellIdx, PeakIdx};
use crate::union_find::find;
use bytemuck::{Pod, Zeroable};

/// Where a peak dies.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Death {
    /// Density of the saddle; 0 for a peak that never dies.
    pub saddle: f64,
    /// The patch at the end of the edge that is in the component of the dying peak.
    pub near: PeakIdx,
    /// The patch at the other end of the edge.
    pub endpoint: PeakIdx,
}

impl Death {
    /// The death of a peak that never dies.
    pub const NEVER: Self = Self { saddle: 0.0, near: PeakIdx::NONE, endpoint: PeakIdx::NONE };

    /// The death at an edge of `edges`, and the two cells of this edge, that of the dying component first.
    pub fn at(found: DeathEdge, edges: &[ContactEdge]) -> (Self, [CellIdx; 2]) {
        let Some((edge, near)) = found.edge() else { return (Self::NEVER, [CellIdx::NONE; 2]) };
        let edge = &edges[edge];
        let death = Self { saddle: edge.saddle, near: edge.peaks[near], endpoint: edge.peaks[1 - near] };
        (death, [edge.cells[near], edge.cells[1 - near]])
    }

    /// Whether the peak never dies.
    #[inline]
    pub fn is_never(&self) -> bool {
        self.endpoint.is_none()
    }
}

/// The merge tree of all peaks. Arrays are indexed by [`PeakIdx`], that is in the order of the cells.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MergeTree {
    /// Density of each peak.
    pub rho: Vec<f64>,
    /// Death of each peak.
    pub death: Vec<Death>,
}

impl MergeTree {
    /// Grows the tree from edges in falling order; edges outside the forest are skipped. Also returns the two
    /// cells of the edge at which each peak dies, that of the dying component first. Almost linear in the
    /// edges.
    pub fn grow(rho: Vec<f64>, edges: &[ContactEdge]) -> (Self, Vec<[CellIdx; 2]>) {
        let peaks: Vec<PeakIdx> = (0..rho.len()).map(PeakIdx::new).collect();
        let mut parents: Vec<u32> = (0..rho.len() as u32).collect();
        let mut deaths = vec![DeathEdge::NEVER; rho.len()];
        let all: Vec<RegionEdge> =
            (0..).zip(edges).map(|(i, e)| RegionEdge { edge: i, places: e.peaks.map(|p| p.0) }).collect();
        let region = PeakRegion {
            first: 0,
            peaks: &peaks,
            rho: &rho,
            open: &[],
            parents: &mut parents,
            deaths: &mut deaths,
        };
        let left = region.decide([all.as_slice()].into_iter());
        debug_assert!(left.is_empty(), "a region of all peaks decides everything");
        let (death, cells) = deaths.into_iter().map(|found| Death::at(found, edges)).unzip();
        (Self { rho, death }, cells)
    }

    /// The first peak that makes the tree invalid, if any. In a valid tree each death, in falling order, ends
    /// the component of the dying peak in that of a greater peak. For trees that were not grown here. Costs a
    /// sort.
    pub fn first_fault(&self) -> Option<PeakIdx> {
        let n = self.len();
        let is_valid = |p: PeakIdx| {
            let death = &self.death[p.at()];
            let ends = [death.near, death.endpoint];
            match ends.map(|e| e.is_none()) {
                [true, true] => death.saddle == 0.0,
                [false, false] => {
                    ends.iter().all(|e| e.at() < n) && death.saddle > 0.0 && death.saddle.is_finite()
                }
                _ => false,
            }
        };
        if let Some(fault) = (0..n).map(PeakIdx::new).find(|&p| !is_valid(p)) {
            return Some(fault);
        }
        let mut components = PeakUnionFind::new(n);
        self.by_death().into_iter().find(|&dying| {
            let death = &self.death[dying.at()];
            let [near, other] = [death.near, death.endpoint].map(|p| components.root(p));
            let fits = near == dying && self.exceeds(other, dying);
            if fits {
                components.end(dying, other);
            }
            !fits
        })
    }

    /// Number of peaks.
    pub fn len(&self) -> usize {
        self.rho.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rho.is_empty()
    }

    /// Whether `a` is greater than `b` in the total order: denser, or equally dense with a smaller index.
    #[inline]
    pub fn exceeds(&self, a: PeakIdx, b: PeakIdx) -> bool {
        let (rho_a, rho_b) = (self.rho[a.at()], self.rho[b.at()]);
        rho_a > rho_b || rho_a == rho_b && a < b
    }

    /// All peaks, the greatest first.
    pub fn by_falling_density(&self) -> Vec<PeakIdx> {
        let mut peaks: Vec<_> = (0..self.len()).map(PeakIdx::new).collect();
        peaks.sort_unstable_by(|a, b| self.rho[b.at()].total_cmp(&self.rho[a.at()]).then(a.cmp(b)));
        peaks
    }

    /// The peaks that die, in the order of their deaths: the falling order of the edges of the forest.
    pub fn by_death(&self) -> Vec<PeakIdx> {
        // Words and not places are sorted, because a comparison of places waits for both deaths.
        let dying = (0..self.len()).filter(|p| !self.death[*p].is_never());
        let mut words: Vec<(u64, u64, u32)> = dying
            .map(|p| {
                let Death { saddle, near, endpoint } = self.death[p];
                let patches = u64::from(near.min(endpoint).0) << 32 | u64::from(near.max(endpoint).0);
                (!saddle.to_bits(), patches, p as u32)
            })
            .collect();
        words.sort_unstable();
        words.into_iter().map(|(_, _, p)| PeakIdx(p)).collect()
    }
}

/// Union-find of peaks. The root of a component is its greatest peak, because callers end lower roots in
/// higher ones.
#[derive(Debug, Clone)]
pub(super) struct PeakUnionFind(Vec<u32>);

impl PeakUnionFind {
    pub fn new(n: usize) -> Self {
        Self((0..n as u32).collect())
    }

    #[inline]
    pub fn root(&mut self, peak: PeakIdx) -> PeakIdx {
        PeakIdx(find(self.0.as_mut_slice(), peak.0))
    }

    /// Joins the component of the root `dying` to that of `elder`.
    #[inline]
    pub fn end(&mut self, dying: PeakIdx, elder: PeakIdx) {
        self.0[dying.at()] = elder.0;
    }
}
