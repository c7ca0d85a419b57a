//! Which leaves are test cells.

use crate::amr::AmrField;
use crate::pieces::{carve, chunks, zeros};
use inselberg_kernels::phew::tests::{TestCells, compact, test_masks};
use inselberg_kernels::wide::largest;
use rayon::prelude::*;

/// Bricks handled at once.
const RUN: usize = 4096;

/// The leaves with a density above `threshold`.
pub fn find(field: &AmrField, threshold: f64) -> TestCells {
    let bricks = field.mesh.bricks();
    let mut mask = vec![0; bricks.len()];
    mask.par_chunks_mut(RUN)
        .zip(bricks.par_chunks(RUN))
        .for_each(|(masks, bricks)| test_masks(bricks, &field.rho, threshold, masks));
    let mut first = Vec::with_capacity(mask.len() + 1);
    let mut n = 0;
    for m in &mask {
        first.push(n);
        n += m.count_ones();
    }
    first.push(n);
    let mut rho = zeros(n as usize);
    let runs = chunks(mask.len(), RUN);
    let places = carve(&mut rho, runs.iter().map(|run| (first[run.end] - first[run.start]) as usize));
    let greatest = |(run, out): (_, &mut [f64])| {
        compact(&field.mesh, &mask, run, &field.rho, out);
        largest(out)
    };
    let greatest = runs.into_par_iter().zip(places).map(greatest).reduce(|| 0.0, f64::max);
    TestCells::new(mask, first, rho, greatest)
}
