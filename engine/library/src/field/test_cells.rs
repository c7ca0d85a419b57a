//! Which leaves are test cells?

use crate::chunks::zeros;
use crate::field::AmrField;
use inselberg_kernels::mesh::Mesh;
use inselberg_kernels::phew::test_cells::{TestCells, test_masks};
use rayon::prelude::*;
use std::ops::Range;

/// Bricks per task.
const RUN: usize = 4096;

/// The leaves with a density above `threshold`.
pub fn find(field: &AmrField, threshold: f64) -> TestCells<'_> {
    let bricks = field.mesh.bricks();
    let mut mask = zeros(bricks.len());
    let mut find = |run: Range<usize>| {
        let masks = mask[run.clone()].par_chunks_mut(RUN).zip(bricks[run].par_chunks(RUN));
        let greatest = masks.map(|(masks, bricks)| test_masks(bricks, &field.rho, threshold, masks));
        greatest.reduce(|| 0.0, f64::max)
    };
    let greatest =
        (0..field.mesh.n_levels()).map(|level| find(bricks_of_level(&field.mesh, level))).collect();
    TestCells::new(mask, &field.rho, greatest)
}

fn bricks_of_level(mesh: &Mesh, level: u8) -> Range<usize> {
    let of = |s: usize| mesh.bricks_of(&mesh.supers()[s]);
    let supers = mesh.supers_of(level);
    match supers.is_empty() {
        true => 0..0,
        false => of(supers.start).start..of(supers.end - 1).end,
    }
}
