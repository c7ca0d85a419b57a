//! The density seen along the z axis, for pictures.

use crate::amr::AmrField;
use crate::domains::Part;
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::geom::cell_side;
use inselberg_kernels::mesh::local;

/// A projected density on square pixels, the lowest row first.
#[derive(Debug, Clone)]
pub struct Projection {
    /// Pixels a side.
    pub n: usize,
    /// Mean density along the line of sight.
    pub values: Vec<f32>,
    /// Side of the picture: in units of the level-0 cell, or of the positions of particles.
    pub side: f64,
    /// Its lower left corner in the same units.
    pub corner: [f64; 2],
}

/// Collective: projects the leaves of all ranks along z, on rank 0; `None` on the others. `level` is that of
/// a pixel: 2^level pixels a level-0 cell. Each rank sends its pixels to rank 0.
///
/// # Errors
/// When a rank fails.
pub fn project(part: &Part, level: u8, comm: &Comm) -> Result<Option<Projection>, CommError> {
    let field = &part.field;
    let came = comm.exchange(vec![(Rank(0), sums(part, level))])?;
    let mut parts = came.into_iter().map(|(_, sums)| sums);
    let Some(mut all) = parts.next() else { return Ok(None) };
    for part in parts {
        all.iter_mut().zip(part).for_each(|(a, b)| *a += b);
    }
    Ok(Some(finish(field, level, all)))
}

/// Columns through the box, pixel by pixel.
fn sums(part: &Part, level: u8) -> Vec<f64> {
    let (mesh, n) = (&part.field.mesh, pixels(&part.field, level));
    let mut sums = vec![0.0f64; n * n];
    for (s, super_brick) in mesh.supers().iter().enumerate() {
        let cell_level = mesh.level_of_super(s);
        for b in mesh.bricks_of(super_brick) {
            let brick = &mesh.bricks()[b];
            for bit in local::bits(brick.leaf & part.own[b]) {
                let rho = brick.cell(bit).map_or(0.0, |cell| part.field.rho[cell.at()]);
                add(&mut sums, n, level, cell_level, local::position_of(brick.position, bit), rho);
            }
        }
    }
    sums
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

fn add(sums: &mut [f64], n: usize, level: u8, cell_level: u8, position: [u32; 3], rho: f64) {
    let column = rho * cell_side(cell_level);
    if cell_level >= level {
        let down = cell_level - level;
        let part = cell_side(down) * cell_side(down);
        sums[(position[1] >> down) as usize * n + (position[0] >> down) as usize] += column * part;
        return;
    }
    let up = level - cell_level;
    let (x, y) = ((position[0] as usize) << up, (position[1] as usize) << up);
    for row in y..y + (1 << up) {
        for pixel in &mut sums[row * n + x..row * n + x + (1 << up)] {
            *pixel += column;
        }
    }
}
