//! The densest neighbour of every test cell.

use super::cells_of;
use crate::ranks::links::TestLinks;
use inselberg_kernels::ids::TestIdx;
use inselberg_kernels::mesh::{Mesh, local};
use inselberg_kernels::phew::tests::TestCells;
use inselberg_kernels::phew::{Rules, ascent, jumps};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Pointers to the densest neighbours; peaks point to themselves, and so do ghosts, whose neighbours are not
/// all here.
pub fn run(
    mesh: &Mesh,
    tests: &TestCells,
    rules: Rules,
    links: &TestLinks,
    tasks: &[Range<usize>],
) -> Vec<AtomicU32> {
    let up: Vec<AtomicU32> = (0..tests.len() as u32).into_par_iter().map(AtomicU32::new).collect();
    tasks.par_iter().for_each(|task| ascent::ascend(mesh, tests, rules, task.clone(), &up));
    tasks.par_iter().for_each(|task| settle_levels(mesh, tests, rules, task.clone(), &up));
    tasks.par_iter().for_each(|task| {
        ascent::demand_contrast(tests, rules, cells_of(mesh, tests, task), &up);
    });
    links.all_ghosts().for_each(|ghost| up[ghost.at()].store(ghost.0, Relaxed));
    up
}

/// Lets coarser cells know of the finer ones that touch them: the densest in each brick is enough.
fn settle_levels(mesh: &Mesh, tests: &TestCells, rules: Rules, task: Range<usize>, up: &[AtomicU32]) {
    jumps::for_each_contact(mesh, tests, task, |contact| {
        let (first, mask) = (tests.first[contact.brick], tests.mask[contact.brick]);
        let cell = |bit| TestIdx(first + local::rank(mask, bit));
        let densest = local::bits(contact.fine)
            .map(cell)
            .reduce(|a, b| if tests.rho[b.at()] > tests.rho[a.at()] { b } else { a });
        let Some(densest) = densest.filter(|d| tests.rho[d.at()] >= tests.rho[contact.coarse.at()]) else {
            return;
        };
        let rho = tests.rho[densest.at()];
        for fine in local::bits(contact.fine).map(cell).filter(|f| tests.rho[f.at()] == rho) {
            ascent::raise(mesh, tests, rules, up, contact.coarse, fine);
        }
    });
}
