//! Peaks, edges and ends that other ranks have to hear of: plain records that name their owners.
//!
//! Peaks have global indices, in the order of the cells of the whole mesh, and each belongs to one
//! rank. Nothing here sends anything; the records are such that they can be sent as they lie.

use super::forest::low_first;
use crate::geom::{Domain, cell_centre, cell_side};
use crate::sfc::morton;
use bytemuck::{Pod, Zeroable};
use std::cmp::Ordering;

/// A cell by its place, which is the same on every rank.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct CellAt {
    /// Its level.
    pub level: u32,
    /// Its position in cells of that level.
    pub ijk: [u32; 3],
}

impl CellAt {
    /// Where it touches another: the middle of what their surfaces share, folded into the box, in units of the
    /// level-0 cell.
    pub fn touches(&self, other: &Self, domain: &Domain) -> [f64; 3] {
        let [level, level_other] = [self.level as u8, other.level as u8];
        let from = cell_centre(level, self.ijk);
        let apart = domain.displacement(from, cell_centre(level_other, other.ijk));
        let (half, half_other) = (0.5 * cell_side(level), 0.5 * cell_side(level_other));
        domain.fold(std::array::from_fn(|a| {
            let low = (-half).max(apart[a] - half_other);
            let high = half.min(apart[a] + half_other);
            from[a] + 0.5 * (low + high)
        }))
    }
}

impl Ord for CellAt {
    /// By level, then by Morton key: the order of the cells of a mesh.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_key = || morton(self.ijk).cmp(&morton(other.ijk));
        self.level.cmp(&other.level).then_with(by_key)
    }
}

impl PartialOrd for CellAt {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A peak and what others must know of it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct GlobalPeak {
    /// Its density.
    pub rho: f64,
    /// Its global index.
    pub peak: u32,
    /// The rank that owns it.
    pub owner: u32,
}

impl GlobalPeak {
    /// Whether it is greater in the total order: denser, or as dense with a smaller index.
    #[inline]
    pub fn exceeds(&self, other: &Self) -> bool {
        self.rho > other.rho || self.rho == other.rho && self.peak < other.peak
    }
}

/// A contact between two patches, with the peaks that its ends count for by now.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct GlobalEdge {
    /// Mean density of the two cells.
    pub saddle: f64,
    /// The two peaks, smaller index first.
    pub peaks: [u32; 2],
    /// The ranks that own them.
    pub owners: [u32; 2],
    /// What each end stands for: its peak, or the one that this was absorbed by.
    pub nodes: [GlobalPeak; 2],
    /// The two cells, each in the patch of the peak at the same place.
    pub cells: [CellAt; 2],
}

impl GlobalEdge {
    /// An edge between two different patches, each end of which is its own peak still; `cells` belong
    /// to `peaks` in the given order.
    pub fn new(saddle: f64, peaks: [GlobalPeak; 2], cells: [CellAt; 2]) -> Self {
        let first = usize::from(peaks[0].peak > peaks[1].peak);
        let nodes = [peaks[first], peaks[1 - first]];
        let cells = [cells[first], cells[1 - first]];
        Self { saddle, peaks: nodes.map(|p| p.peak), owners: nodes.map(|p| p.owner), nodes, cells }
    }

    /// The total order of edges, the very one of [`Edge::order`](super::forest::Edge::order): `Less`
    /// stands first, and the first is the greatest saddle.
    #[inline]
    pub fn order(&self, other: &Self) -> Ordering {
        let place = |edge: &Self| (edge.peaks, low_first(edge.cells));
        let by_place = || place(self).cmp(&place(other));
        other.saddle.total_cmp(&self.saddle).then_with(by_place)
    }
}

/// Where a peak ends, for the rank that owns it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct GlobalDeath {
    /// Density of the saddle.
    pub saddle: f64,
    /// The peak that ends.
    pub dying: u32,
    /// The rank that owns it.
    pub dying_owner: u32,
    /// The patch on the side of the dying peak that the edge starts from.
    pub near: u32,
    /// The rank that owns its peak.
    pub near_owner: u32,
    /// The patch on the other side that it leads to.
    pub endpoint: u32,
    /// The rank that owns its peak.
    pub endpoint_owner: u32,
    /// The two cells of the edge, near side first.
    pub cells: [CellAt; 2],
}

impl GlobalDeath {
    /// The end of `dying` at an edge, whose end number `near` is on its side.
    pub fn new(dying: &GlobalPeak, edge: &GlobalEdge, near: usize) -> Self {
        let far = 1 - near;
        Self {
            saddle: edge.saddle,
            dying: dying.peak,
            dying_owner: dying.owner,
            near: edge.peaks[near],
            near_owner: edge.owners[near],
            endpoint: edge.peaks[far],
            endpoint_owner: edge.owners[far],
            cells: [edge.cells[near], edge.cells[far]],
        }
    }
}

/// What a peak stands for by now, kept for one rank that may still name it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct Stand {
    /// The peak.
    pub peak: u32,
    /// The rank with an edge to it.
    pub asked_by: u32,
    /// Itself, or what it was absorbed by, which may be a peak of any rank.
    pub node: GlobalPeak,
}
