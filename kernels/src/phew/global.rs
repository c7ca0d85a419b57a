//! Global records: peaks, edges and deaths that other ranks must know.
//!
//! Place in the flow: [`super::pending_merges`] works on them, and the engine sends them as bytes. The name
//! of a peak contains its number, in the order of the cells of the whole mesh, and the rank that owns it.
//! Nothing here communicates.

use super::forest::low_first;
use crate::geom::{Domain, cell_centre, cell_side};
use crate::ids::PeakName;
use crate::sfc::morton;
use bytemuck::{Pod, Zeroable};
use std::cmp::Ordering;

/// A cell by its level and position, which are the same on every rank.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct CellAt {
    /// Its level.
    pub level: u32,
    /// Its position in cells of that level.
    pub ijk: [u32; 3],
}

impl CellAt {
    /// The point at which it touches another cell: the middle of the part of the surface that both share,
    /// wrapped into the box, in units of the level-0 cell.
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

/// A peak with its density.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct GlobalPeak {
    /// Its density.
    pub rho: f64,
    /// Its name.
    pub peak: PeakName,
}

impl GlobalPeak {
    /// Whether it is greater in the total order: denser, or equally dense with a smaller name.
    #[inline]
    pub fn exceeds(&self, other: &Self) -> bool {
        self.rho > other.rho || self.rho == other.rho && self.peak < other.peak
    }
}

/// A contact between two patches, with the nodes that represent its peaks by now.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct GlobalEdge {
    /// Mean density of the two cells.
    pub saddle: f64,
    /// The two peaks, smaller name first.
    pub peaks: [PeakName; 2],
    /// The node that represents each peak: the peak itself, or one that absorbed it.
    pub nodes: [GlobalPeak; 2],
    /// The two cells, each in the patch of the peak at the same place.
    pub cells: [CellAt; 2],
}

impl GlobalEdge {
    /// An edge between two different patches whose peaks represent themselves; `cells` belong to `peaks` in
    /// the given order.
    pub fn new(saddle: f64, peaks: [GlobalPeak; 2], cells: [CellAt; 2]) -> Self {
        let first = usize::from(peaks[0].peak > peaks[1].peak);
        let nodes = [peaks[first], peaks[1 - first]];
        let cells = [cells[first], cells[1 - first]];
        Self { saddle, peaks: nodes.map(|p| p.peak), nodes, cells }
    }

    /// The total order of edges, the same as [`ContactEdge::order`](super::forest::ContactEdge::order): the
    /// greatest saddle comes first.
    #[inline]
    pub fn order(&self, other: &Self) -> Ordering {
        let by_cells = || low_first(self.cells).cmp(&low_first(other.cells));
        let by_place = || self.peaks.cmp(&other.peaks).then_with(by_cells);
        other.saddle.total_cmp(&self.saddle).then_with(by_place)
    }
}

/// The death of a peak, for the rank that owns the peak.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct GlobalDeath {
    /// Density of the saddle.
    pub saddle: f64,
    /// The peak that dies.
    pub dying: PeakName,
    /// The patch at the end of the edge that is in the component of the dying peak.
    pub near: PeakName,
    /// The patch at the other end of the edge.
    pub endpoint: PeakName,
    /// The two cells of the edge, that of the dying component first.
    pub cells: [CellAt; 2],
}

impl GlobalDeath {
    /// The death of `dying` at an edge whose end `near` (0 or 1) is in its component.
    pub fn new(dying: &GlobalPeak, edge: &GlobalEdge, near: usize) -> Self {
        let other = 1 - near;
        Self {
            saddle: edge.saddle,
            dying: dying.peak,
            near: edge.peaks[near],
            endpoint: edge.peaks[other],
            cells: [edge.cells[near], edge.cells[other]],
        }
    }
}

/// A new name: the node that now represents another one.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct NewName {
    /// The node as it was known.
    pub old: PeakName,
    /// The node that represents it.
    pub node: GlobalPeak,
}
