//! The merge tree: which peak dies where?
//!
//! Along the forest in falling order, two components meet at each edge and the one with the lower
//! peak ends there (the elder rule). What every relevance or saddle threshold gives can be read off
//! the result ([`super::hierarchy`]), so a stored tree can be cut again without the mesh.

use super::forest::ContactEdge;
use crate::ids::{CellIdx, PeakIdx};

/// Where a peak ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Death {
    /// Density of the saddle; 0 for a peak that never ends.
    pub saddle: f64,
    /// The patch on the side of the dying peak that the edge starts from.
    pub near: PeakIdx,
    /// The patch on the other side that it leads to.
    pub endpoint: PeakIdx,
}

impl Death {
    /// Of a peak that never ends.
    pub const NEVER: Self = Self { saddle: 0.0, near: PeakIdx::NONE, endpoint: PeakIdx::NONE };

    /// Whether it never comes.
    #[inline]
    pub fn is_never(&self) -> bool {
        self.endpoint.is_none()
    }
}

/// The merge tree of all peaks, indexed by [`PeakIdx`], that is in the order of the cells.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MergeTree {
    /// Density of each peak.
    pub rho: Vec<f64>,
    /// End of each peak.
    pub death: Vec<Death>,
}

impl MergeTree {
    /// Grows the tree along edges in falling order; those not of the forest are passed over. Also gives the two cells of the edge at which
    /// each peak dies, near side first.
    pub fn grow(rho: Vec<f64>, edges: &[ContactEdge]) -> (Self, Vec<[CellIdx; 2]>) {
        let mut tree = Self { death: vec![Death::NEVER; rho.len()], rho };
        let mut cells = vec![[CellIdx::NONE; 2]; tree.rho.len()];
        let mut elders = PeakUnionFind::new(tree.rho.len());
        for (i, edge) in edges.iter().enumerate() {
            if let Some(ahead) = edges.get(i + AHEAD) {
                ahead.peaks.into_iter().for_each(|p| elders.shorten(p));
            }
            let roots = edge.peaks.map(|p| elders.root(p));
            if roots[0] == roots[1] {
                continue;
            }
            let near = usize::from(tree.exceeds(roots[0], roots[1]));
            let dying = roots[near];
            tree.death[dying.at()] =
                Death { saddle: edge.saddle, near: edge.peaks[near], endpoint: edge.peaks[1 - near] };
            cells[dying.at()] = [edge.cells[near], edge.cells[1 - near]];
            elders.end(dying, roots[1 - near]);
        }
        (tree, cells)
    }

    /// Whether deaths make a tree that can be cut: going through them as they come, each ends its own
    /// component in that of a greater peak. Hands back the first peak that breaks it. For trees from
    /// elsewhere; those that are grown are sound. Costs a sort.
    pub fn first_fault(&self) -> Option<PeakIdx> {
        let n = self.len();
        let is_sound = |p: PeakIdx| {
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
        if let Some(fault) = (0..n).map(PeakIdx::new).find(|&p| !is_sound(p)) {
            return Some(fault);
        }
        let mut elders = PeakUnionFind::new(n);
        self.by_death().into_iter().find(|&dying| {
            let death = &self.death[dying.at()];
            let [near, other] = [death.near, death.endpoint].map(|p| elders.root(p));
            let fits = near == dying && self.exceeds(other, dying);
            if fits {
                elders.end(dying, other);
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

    /// Whether `a` is greater than `b` in the total order: denser, or as dense with a smaller key.
    #[inline]
    pub fn exceeds(&self, a: PeakIdx, b: PeakIdx) -> bool {
        let (rho_a, rho_b) = (self.rho[a.at()], self.rho[b.at()]);
        rho_a > rho_b || rho_a == rho_b && a < b
    }

    /// Every peak, greatest first.
    pub fn by_falling_density(&self) -> Vec<PeakIdx> {
        let mut peaks: Vec<_> = (0..self.len()).map(PeakIdx::new).collect();
        peaks.sort_unstable_by(|a, b| self.rho[b.at()].total_cmp(&self.rho[a.at()]).then(a.cmp(b)));
        peaks
    }

    /// The peaks that die, in the order in which they do: the falling order of the forest's edges.
    pub fn by_death(&self) -> Vec<PeakIdx> {
        let mut dying: Vec<_> =
            (0..self.len()).map(PeakIdx::new).filter(|p| !self.death[p.at()].is_never()).collect();
        let key = |p: &PeakIdx| {
            let death = &self.death[p.at()];
            (death.near.min(death.endpoint), death.near.max(death.endpoint))
        };
        dying.sort_unstable_by(|a, b| {
            let saddles = self.death[b.at()].saddle.total_cmp(&self.death[a.at()].saddle);
            saddles.then_with(|| key(a).cmp(&key(b)))
        });
        dying
    }
}

/// How many edges ahead paths are shortened, so that they are in the cache by the time they are asked for.
const AHEAD: usize = 16;

/// Components, each known by its greatest peak.
#[derive(Debug, Clone)]
pub(super) struct PeakUnionFind(Vec<PeakIdx>);

impl PeakUnionFind {
    pub fn new(n: usize) -> Self {
        Self((0..n).map(PeakIdx::new).collect())
    }

    #[inline]
    pub fn root(&mut self, mut peak: PeakIdx) -> PeakIdx {
        while self.0[peak.at()] != peak {
            let over = self.0[self.0[peak.at()].at()];
            self.0[peak.at()] = over;
            peak = over;
        }
        peak
    }

    /// Takes a step of the path from `peak` out.
    #[inline]
    fn shorten(&mut self, peak: PeakIdx) {
        let over = self.0[peak.at()];
        self.0[peak.at()] = self.0[over.at()];
    }

    /// Ends the component of the root `dying` in that of `elder`.
    #[inline]
    pub fn end(&mut self, dying: PeakIdx, elder: PeakIdx) {
        self.0[dying.at()] = elder;
    }
}
