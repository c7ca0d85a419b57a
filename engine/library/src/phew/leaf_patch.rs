//! The leaf around a point, and its patch.

use crate::phew::segment::Segmentation;
use inselberg_kernels::geom::cell_side;
use inselberg_kernels::ids::PeakSlot;
use inselberg_kernels::mesh::Mesh;

/// A leaf that is a test cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeafPatch {
    /// Its level.
    pub level: u8,
    /// The slot of the peak of its patch.
    pub patch: PeakSlot,
    /// Its density.
    pub rho: f64,
}

/// The leaf around a point, in units of the level-0 cell. `None` if the leaf is not a test cell, and for
/// points that are outside the box or not finite.
pub fn leaf_patch(mesh: &Mesh, segmentation: &Segmentation, x: [f64; 3]) -> Option<LeafPatch> {
    if !x.iter().all(|x| x.is_finite()) {
        return None;
    }
    let deepest = mesh.n_levels().checked_sub(1)?;
    let at = x.map(|x| (x / cell_side(deepest)).floor() as i64);
    let position = mesh.domain().wrap(deepest, at)?;
    (0..=deepest).rev().find_map(|level| {
        let (brick, bit) = mesh.find_brick(level, position.map(|x| x >> (deepest - level)))?;
        let test = segmentation.test_cells.at(brick.at(), bit)?;
        let rho = segmentation.test_cells.density(mesh, test);
        Some(LeafPatch { level, patch: segmentation.labels[test.at()], rho })
    })
}
