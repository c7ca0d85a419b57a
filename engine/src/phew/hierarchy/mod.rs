//! Clumps and haloes of given thresholds, from the peaks alone.
//!
//! Most peaks are noise. Each of these points to the patch at which it ends, and so, over any number of
//! ranks, to its clump. The peaks that are left, one a clump, are few: one rank gets all of them, cuts their
//! tree and tells every other what concerns it. What the patches sum up to is added where the clumps' rows are.

mod chains;
mod clumps;
mod rows;
mod ties;

use crate::partition::ranking::places;
use crate::phew::peaks::Peaks;
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::ids::PeakIdx;
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
    let mut peak_rank = places(comm, peaks.tree.len(), by_falling_density(peaks))?;
    peak_rank.par_iter_mut().for_each(|place| *place += 1);
    let cut = clumps::cut(peaks, &peak_rank, thresholds, rules, comm)?;
    let rows = rows::RowTotals::sum(peaks, &cut, comm)?;
    let listing = rows::Listing { rules, relevance: thresholds.relevance, mass: mass_threshold };
    let (clumps, haloes) = rows.list(peaks, &listing);
    let of_patch = |kind: usize| {
        let id = |name: &PeakIdx| cut.names.get(name.at()).map_or(0, |name| name.ids[kind]);
        cut.of_peak.par_iter().map(id).collect()
    };
    let (clump_of_patch, halo_of_patch) = (of_patch(0), of_patch(1));
    Ok(Structures { clumps, haloes, clump_of_patch, halo_of_patch, peak_rank, max_level: cut.max_level })
}

/// Keys that ascend from the greatest peak to the lowest: densities are above 0, so their bits ascend as
/// they do, and of equal ones the smaller index is the greater.
fn by_falling_density(peaks: &Peaks) -> impl Fn(usize) -> u128 + Sync + '_ {
    |i| u128::from(!peaks.tree.rho[i].to_bits()) << 32 | u128::from(peaks.global[i].0)
}
