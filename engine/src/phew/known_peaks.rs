//! What any rank may know of a peak: its density, its cell, its number over all ranks and its owner.

use crate::chunks::{carve, chunks, zeros};
use crate::exchange::firsts_by_level;
use crate::phew::pass::PassContext;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::ids::PeakNumber;
use inselberg_kernels::mesh::local;
use rayon::prelude::*;
use std::ops::Range;

/// A peak as any rank may know it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct KnownPeak {
    /// Density.
    pub rho: f64,
    /// Level of its cell.
    pub level: u32,
    /// Position of its cell on the grid of that level.
    pub ijk: [u32; 3],
    /// Its number over all ranks.
    pub number: PeakNumber,
    /// The rank that owns it.
    pub owner: u32,
}

/// Super-bricks whose roots are listed at once.
const SUPERS_AT_ONCE: usize = 1 << 6;

/// Density, level and position of every root, in the order of the cells. Numbers and owners are still to come.
pub fn at_roots(pass: &PassContext) -> Vec<KnownPeak> {
    let PassContext { mesh, test_cells, roots, .. } = *pass;
    let mut peaks: Vec<KnownPeak> = zeros(roots.len());
    let runs = chunks(mesh.supers().len(), SUPERS_AT_ONCE);
    let n_roots = |supers: &Range<usize>| {
        let cells = test_cells.of_supers(mesh, supers.clone());
        roots.before(cells.end) - roots.before(cells.start)
    };
    let parts = carve(&mut peaks, runs.iter().map(n_roots));
    runs.into_par_iter().zip(parts).for_each(|(run, part)| {
        let peaks = run.flat_map(|s| in_super(pass, s));
        part.iter_mut().zip(peaks).for_each(|(place, peak)| *place = peak);
    });
    peaks
}

/// The roots in a super-brick.
fn in_super<'a>(pass: &PassContext<'a>, s: usize) -> impl Iterator<Item = KnownPeak> + 'a {
    let PassContext { mesh, test_cells, roots, .. } = *pass;
    let level = u32::from(mesh.level_of_super(s));
    test_cells.bricks_of(mesh, &mesh.supers()[s]).flat_map(move |b| {
        let brick = &mesh.bricks()[b];
        roots.of_brick(test_cells, b).map(move |(_, bit)| {
            let cell = brick.cell(bit).expect("a root is a cell of its brick");
            let ijk = local::position_of(brick.position, bit);
            KnownPeak { rho: test_cells.rho[cell.at()], level, ijk, ..KnownPeak::default() }
        })
    })
}

/// Collective: gives own peaks, which are in the order of their cells, their numbers and owner.
/// Returns the number of all peaks.
///
/// # Errors
/// When another rank fails, or there are more peaks than 32-bit indices can name.
pub fn number(comm: &Comm, own: &mut [KnownPeak]) -> Result<u64, CommError> {
    let n_levels = own.last().map_or(0, |p| p.level as usize + 1);
    let starts: Vec<usize> =
        (0..=n_levels).map(|level| own.partition_point(|p| (p.level as usize) < level)).collect();
    let counts: Vec<u64> = starts.windows(2).map(|pair| (pair[1] - pair[0]) as u64).collect();
    let (firsts, n_global) = firsts_by_level(comm, &counts)?;
    if n_global >= u64::from(u32::MAX) {
        return Err(comm.abort(format!("{n_global} peaks; at most {} can be numbered", u32::MAX - 1)));
    }
    let owner = comm.rank().0;
    own.par_iter_mut().enumerate().for_each(|(i, peak)| {
        let level = peak.level as usize;
        peak.number = PeakNumber::new(firsts[level] as usize + i - starts[level]);
        peak.owner = owner;
    });
    Ok(n_global)
}
