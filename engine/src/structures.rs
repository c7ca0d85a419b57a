//! Clumps and haloes of given thresholds, from the peaks alone.
//!
//! Most peaks are noise. Each of these points to the patch at which it ends, and so, over any number of
//! ranks, to its clump. The peaks that are left, one a clump, are few: every rank gets all of them and
//! cuts their tree. What the patches sum up to is added where the clumps' rows are.

mod rows;
mod seeds;

use crate::peaks::Peaks;
use crate::ranks::order::places;
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::phew::hierarchy::Cut;
use inselberg_kernels::props::Structure;
use rayon::prelude::*;

/// Clumps and haloes, and which patch belongs to which.
///
/// Over several ranks each holds a run of the rows, by ascending rank, and the patches of its own peaks.
#[derive(Debug, Clone, PartialEq)]
pub struct Structures {
    /// The listed clumps by identifier.
    pub clumps: Vec<Structure>,
    /// The listed haloes by identifier.
    pub haloes: Vec<Structure>,
    /// Identifier of the clump of each patch; 0 for discarded ones.
    pub clump_of_patch: Vec<u64>,
    /// Identifier of the halo of each patch; 0 for discarded ones.
    pub halo_of_patch: Vec<u64>,
    /// Place of each peak by falling density, from 1.
    pub peak_rank: Vec<u64>,
    /// Highest level of a saddle that merged clumps.
    pub max_level: u64,
}

/// Collective: cuts the tree. Clumps of haloes of at most `mass_threshold` are not listed.
///
/// # Errors
/// When another rank fails.
pub fn structures(
    peaks: &Peaks,
    thresholds: &Cut,
    mass_threshold: f64,
    rules: Rules,
    comm: &Comm,
) -> Result<Structures, CommError> {
    let clumps = seeds::cut(peaks, thresholds, rules, comm)?;
    let clump_of_patch: Vec<u64> = clumps.of_peak.par_iter().map(|&c| clumps.id(c)).collect();
    let halo_of_patch: Vec<u64> = clumps.of_peak.par_iter().map(|&c| clumps.id(clumps.halo(c))).collect();
    let rows = rows::Rows::sum(peaks, &clumps, [&clump_of_patch, &halo_of_patch], comm)?;
    comm.at("ranking");
    let mut peak_rank = places(comm, &by_falling_density(peaks))?;
    peak_rank.par_iter_mut().for_each(|place| *place += 1);
    let ranks_of_seeds = clumps.gather(peaks, &peak_rank, comm)?;
    let listed = rows::Listing { rules, relevance: thresholds.relevance, mass: mass_threshold };
    let max_level = rows::max_level(&clumps, rules);
    let (clumps, haloes) = rows.list(peaks, &clumps, &ranks_of_seeds, &listed);
    Ok(Structures { clumps, haloes, clump_of_patch, halo_of_patch, peak_rank, max_level })
}

/// Keys that ascend from the greatest peak to the lowest: densities are above 0, so their bits ascend as
/// they do, and of equal ones the smaller index is the greater.
fn by_falling_density(peaks: &Peaks) -> Vec<u128> {
    let key = |(rho, global): (&f64, &inselberg_kernels::ids::PeakIdx)| {
        u128::from(!rho.to_bits()) << 32 | u128::from(global.0)
    };
    peaks.tree.rho.par_iter().zip(&peaks.global).map(key).collect()
}
