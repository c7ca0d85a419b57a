//! The density seen along the z axis, for pictures.

use crate::amr::AmrField;
use inselberg_kernels::geom::cell_side;
use inselberg_kernels::ids::CellIdx;

/// A projected density on square pixels, the lowest row first.
#[derive(Debug, Clone)]
pub struct Projection {
    /// Pixels a side.
    pub n: usize,
    /// Mean density along the line of sight.
    pub values: Vec<f32>,
    /// Side of the picture in units of the level-0 cell.
    pub side: f64,
}

/// Projects the leaves along z. `level` is that of a pixel: 2^level pixels a level-0 cell.
pub fn project(field: &AmrField, level: u8) -> Projection {
    let coarse = field.mesh.domain().coarse;
    let n = (coarse[0].max(coarse[1]) as usize) << level;
    let mut sums = vec![0.0f64; n * n];
    field.mesh.for_each_cell(0..field.mesh.supers().len(), |cell_level, position, cell, is_leaf| {
        if is_leaf {
            add(&mut sums, n, level, cell_level, position, field.rho[CellIdx::at(cell)]);
        }
    });
    let (side, depth) = (n as f64 * cell_side(level), f64::from(coarse[2]));
    Projection { n, values: sums.into_iter().map(|v| (v / depth) as f32).collect(), side }
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
