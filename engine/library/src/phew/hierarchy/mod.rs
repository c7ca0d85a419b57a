//! Hierarchy: the clumps and haloes of given thresholds, from the peaks alone.
//!
//! Most peaks are noise (`noise`, and in densities of particles `bumps`). Each noise peak points to the patch
//! at which it ends, and the chain of pointers leads, over any number of ranks, to its clump and on to the
//! highest peak of its halo (`chains`). The owner of that peak gets the clumps of the halo (`clumps`), cuts
//! their tree (`cut_tree`), and answers each rank. Under RAMSES's rules, where saddles are equal, one rank
//! cuts all haloes (`ties`). The ranks that hold the rows of the clumps add up the sums over patches
//! (`rows`).

mod bumps;
mod chains;
mod clump_peaks;
mod clumps;
mod cut_tree;
mod noise;
mod rows;
mod ties;

pub use noise::Noise;

use crate::bound::CentralChoice;
use crate::phew::params::Thresholds;
use crate::phew::peaks::Peaks;
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::ids::{ClumpSlot, PeakIdx};
use inselberg_kernels::phew::Rules;
use inselberg_kernels::props::Structure;
use inselberg_kernels::props::pixels::PixelShape;
use rayon::prelude::*;

/// Clumps and haloes, and the clump and halo of each patch.
///
/// Over several ranks each holds a range of the rows, by ascending rank, and the patches of its own peaks.
#[derive(Debug, Clone, PartialEq)]
pub struct Structures {
    /// The listed clumps by identifier.
    pub clumps: Vec<Structure>,
    /// The listed haloes by identifier.
    pub haloes: Vec<Structure>,
    /// The shape of each of these clumps and haloes, of an image.
    pub pixels: Option<[Vec<PixelShape>; 2]>,
    /// Identifier of the clump of each patch; 0 for discarded ones.
    pub clump_of_patch: Vec<u64>,
    /// Identifier of the halo of each patch; 0 for discarded ones.
    pub halo_of_patch: Vec<u64>,
    /// The own peaks that are not noise: one per clump, discarded ones among them.
    pub clump_peaks: Vec<PeakIdx>,
    /// Place of each peak by falling density, from 1.
    pub peak_rank: Vec<u64>,
    /// Highest level of a saddle that merged clumps.
    pub max_level: u64,
    /// Number of clumps on all ranks, those of small haloes among them.
    pub n_cut: usize,
}

impl Structures {
    /// The rank that holds the row of an identifier, if that is listed.
    pub fn holder(&self, id: u64, comm: &Comm) -> Rank {
        clumps::row_holder(id, self.n_cut, comm)
    }
}

/// Collective: cuts the tree. `thresholds` are in code units; their `mass` and `min_cells` say which haloes
/// are so small that their clumps are not listed. `central` chooses the central clump of a halo.
///
/// # Errors
/// When another rank fails.
pub fn structures(
    peaks: &Peaks,
    thresholds: &Thresholds,
    rules: Rules,
    central: CentralChoice,
    comm: &Comm,
) -> Result<Structures, CommError> {
    let cut = clumps::cut(peaks, thresholds, rules, comm)?;
    let rows = rows::RowTotals::sum(peaks, &cut, rules, central.by(rules), comm)?;
    let (clumps, haloes, pixels) = rows.list(thresholds, rules);
    let of_patch = |kind: usize| {
        let id = |clump: &ClumpSlot| cut.identities[clump.at()].ids[kind];
        cut.of_peak.par_iter().map(id).collect()
    };
    let (clump_of_patch, halo_of_patch) = (of_patch(0), of_patch(1));
    Ok(Structures {
        clumps,
        haloes,
        pixels,
        clump_of_patch,
        halo_of_patch,
        clump_peaks: cut.clump_peaks,
        peak_rank: cut.peak_rank,
        max_level: cut.max_level,
        n_cut: cut.n_clumps,
    })
}
