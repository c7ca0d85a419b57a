//! What does the density look like along an axis?
//!
//! In the flow: beside the segmentation, for pictures. This folder computes pixels; it knows no colours and no file formats.
//!
//! | file | content |
//! |---|---|
//! | `mod` | the whole box along z |
//! | `view` | one map of any region along any axis, from cuboids |
//! | `maps` | maps over all ranks |
//! | `leaves` | the leaves of a mesh, kept for maps |
//! | `pixels` | sums of pixels over all ranks |
//!
//! Invariant: pixels are sums of integer quanta, so they are the same bits for any number of ranks.

mod leaves;
mod maps;
pub(crate) mod pixels;
mod view;

pub use leaves::{KeptLeaves, ListedLeaves, RootLeaves};
pub(crate) use maps::{Mappable, check_views, maps};
pub(crate) use view::Exposure;
pub use view::{DensityMap, MapBox, View};

use crate::field::AmrField;
use crate::partition::LocalField;
use crate::projection::pixels::add_up;
use inselberg_comm::{Comm, CommError, Reduce};
use inselberg_kernels::geom::cell_side;
use inselberg_kernels::mesh::local;
use inselberg_kernels::sum::{FixedSum, Quantum};

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

/// Collective: projects the leaves of all ranks along z; the result is on rank 0, and `None` elsewhere. A pixel is as large
/// as a cell of `level`: 2^level pixels per side of a level-0 cell.
///
/// # Errors
/// When a rank fails.
pub fn project(part: &LocalField, level: u8, comm: &Comm) -> Result<Option<Projection>, CommError> {
    let field = &part.field;
    let n_leaves = comm.all_reduce_counts(&[part.n_own_leaves() as u64], Reduce::Sum)?[0];
    let mut greatest = 0.0f64;
    for_each_leaf(part, |_, _, rho| greatest = greatest.max(rho.abs()));
    // A leaf adds at most its density to a pixel, once.
    let quantum = Quantum::for_terms(comm.all_max(&[greatest])?[0], n_leaves);
    let all = add_up(sums(part, level, quantum), |a, b| *a += b, comm)?;
    Ok(all.map(|all| finish(field, level, all.into_iter().map(|sum| quantum.value(sum)).collect())))
}

/// The column density of the own leaves, per pixel.
fn sums(part: &LocalField, level: u8, quantum: Quantum) -> Vec<FixedSum> {
    let n = pixels(&part.field, level);
    let mut image = Image { sums: vec![FixedSum::default(); n * n], n, level, quantum };
    for_each_leaf(part, |cell_level, position, rho| image.add(cell_level, position, rho));
    image.sums
}

/// Calls `with` with level, position and density of each own leaf.
fn for_each_leaf(part: &LocalField, mut with: impl FnMut(u8, [u32; 3], f64)) {
    let mesh = &part.field.mesh;
    for (s, super_brick) in mesh.supers().iter().enumerate() {
        let level = mesh.level_of_super(s);
        for b in mesh.bricks_of(super_brick) {
            let brick = &mesh.bricks()[b];
            for bit in local::bits(brick.leaf & part.own[b]) {
                let cell = brick.cell(bit).expect("a leaf is a cell");
                with(level, local::position_of(brick.position, bit), part.field.rho[cell.at()]);
            }
        }
    }
}

fn pixels(field: &AmrField, level: u8) -> usize {
    let coarse = field.mesh.domain().coarse;
    (coarse[0].max(coarse[1]) as usize) << level
}

fn finish(field: &AmrField, level: u8, sums: Vec<f64>) -> Projection {
    let n = pixels(field, level);
    let (side, depth) = (n as f64 * cell_side(level), f64::from(field.mesh.domain().coarse[2]));
    Projection { n, values: sums.into_iter().map(|v| (v / depth) as f32).collect(), side, corner: [0.0; 2] }
}

/// Sums by pixel.
struct Image {
    sums: Vec<FixedSum>,
    /// Pixels per side.
    n: usize,
    /// The level of cells that are as large as a pixel.
    level: u8,
    quantum: Quantum,
}

impl Image {
    fn add(&mut self, cell_level: u8, position: [u32; 3], rho: f64) {
        let Self { sums, n, level, quantum } = self;
        let column = rho * cell_side(cell_level);
        if cell_level >= *level {
            let down = cell_level - *level;
            let part = cell_side(down) * cell_side(down);
            sums[(position[1] >> down) as usize * *n + (position[0] >> down) as usize] +=
                quantum.quantize(column * part);
            return;
        }
        let up = *level - cell_level;
        let (x, y) = ((position[0] as usize) << up, (position[1] as usize) << up);
        let column = quantum.quantize(column);
        for row in y..y + (1 << up) {
            for pixel in &mut sums[row * *n + x..row * *n + x + (1 << up)] {
                *pixel += column;
            }
        }
    }
}
