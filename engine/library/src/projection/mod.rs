//! What does the density look like along an axis?
//!
//! In the flow: parallel to the segmentation, for pictures. This folder computes pixels; it knows no colours
//! and no file formats.
//!
//! | file | content |
//! |---|---|
//! | `mod` | a square map of the whole box along z |
//! | `view` | one map of any region along any axis, from cuboids |
//! | `maps` | maps over all ranks |
//! | `leaves` | the leaves of a mesh, kept for maps |
//! | `particles` | particles, kept for maps, and the map of all of them along z |
//! | `pixels` | sums of pixels over all ranks |
//!
//! Invariant: pixels are sums of integer quanta, so they are the same bits for any number of ranks.

mod leaves;
mod maps;
mod particles;
mod pixels;
mod view;

pub use leaves::{KeptLeaves, ListedLeaves, RootLeaves};
pub(crate) use maps::{KeptForMaps, check_views, maps};
pub use particles::{KeptParticles, project_particles};
pub use view::{DensityMap, MapBox, View};

use crate::partition::LocalField;
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::geom::cell_side;

/// A projected density on square pixels, the lowest row first.
#[derive(Debug, Clone)]
pub struct Projection {
    /// Pixels per side.
    pub n: usize,
    /// Mean density along the line of sight; of particles, mass per area.
    pub values: Vec<f32>,
    /// Side of the square: in units of the level-0 cell, or of the positions of particles.
    pub side: f64,
    /// Its lower left corner in the same units.
    pub corner: [f64; 2],
}

/// Collective: projects the leaves of all ranks along z; the result is on rank 0, and `None` elsewhere. A
/// pixel is as large as a cell of `level`: 2^level pixels per side of a level-0 cell.
///
/// # Errors
/// When a rank fails.
pub fn project(part: &LocalField, level: u8, comm: &Comm) -> Result<Option<Projection>, CommError> {
    let [x, y, depth] = part.field.mesh.domain().coarse;
    let n = (x.max(y) as usize) << level;
    let side = n as f64 * cell_side(level);
    // A square: nothing repeats beyond a box that is not.
    let space = MapBox { low: [0.0; 3], sides: [side, side, depth.into()], periodic: [false; 3] };
    let view = View { low: space.low, sides: space.sides, along: 2, pixels: [n; 2] };
    let map = maps(part, &space, &[view], comm)?.and_then(|mut maps| maps.pop());
    Ok(map.map(|map| Projection { n, values: map.values, side, corner: [0.0; 2] }))
}
