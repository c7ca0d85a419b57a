//! Which leaves are test cells.

use crate::amr::AmrField;
use crate::pieces::{carve, chunks};
use inselberg_kernels::phew::tests::{TestCells, compact, test_mask};
use rayon::prelude::*;

/// Bricks handled at once.
const RUN: usize = 4096;

/// The leaves with a density above `threshold`.
pub fn find(field: &AmrField, threshold: f64) -> TestCells {
    let bricks = field.mesh.bricks();
    let mask: Vec<u64> = bricks.par_iter().map(|b| test_mask(b, &field.rho, threshold)).collect();
    let mut first = Vec::with_capacity(mask.len() + 1);
    let mut n = 0;
    for m in &mask {
        first.push(n);
        n += m.count_ones();
    }
    first.push(n);
    let mut rho = vec![0.0; n as usize];
    let runs = chunks(mask.len(), RUN);
    let places = carve(&mut rho, runs.iter().map(|run| (first[run.end] - first[run.start]) as usize));
    runs.into_par_iter().zip(places).for_each(|(run, out)| compact(&field.mesh, &mask, run, &field.rho, out));
    TestCells::new(mask, first, rho)
}
