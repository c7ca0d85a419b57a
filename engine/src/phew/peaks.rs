//! Everything that is known once the mesh is left behind: peaks, their tree and their patches.
//!
//! Any thresholds can be answered from it ([`crate::phew::hierarchy`]); a catalogue stores it as its
//! `tree` table.

use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::phew::ties::Tie;
use inselberg_kernels::phew::tree::MergeTree;
use inselberg_kernels::props::PatchValues;
use inselberg_kernels::props::combine::SizedBox;

/// The peaks of a field that this rank owns, in the order of their cells: (level, Morton key).
#[derive(Debug, Clone, PartialEq)]
pub struct Peaks {
    /// Global index of each; ascending. Those of one rank alone are 0, 1, 2, ...
    pub global: Vec<PeakIdx>,
    /// Number of peaks on all ranks.
    pub n_global: u64,
    /// The ranks that own the two patches at whose contact each peak dies.
    pub end_owners: Vec<[u32; 2]>,
    /// The box.
    pub space: SizedBox,
    /// Threshold of the test cells.
    pub density_threshold: f64,
    /// Level of each peak's cell.
    pub level: Vec<u8>,
    /// Position of each peak's cell on the grid of its level.
    pub ijk: Vec<[u32; 3]>,
    /// Which peak dies where; the patches at its end by global index.
    pub tree: MergeTree,
    /// Under RAMSES's rules the edges that tie with those of the tree, in the order of edges; all on the first rank.
    pub ties: Vec<Tie>,
    /// Refined positions, in code units.
    pub refined: Vec<[f64; 3]>,
    /// Where each peak dies, in code units; NaN for those that never do.
    pub saddle_position: Vec<[f64; 3]>,
    /// Sums over each patch.
    pub patches: Vec<PatchValues>,
    /// Momentum of each, in code units; without velocities none.
    pub momenta: Option<Vec<[f64; 3]>>,
}

impl Peaks {
    /// Number of peaks here.
    pub fn len(&self) -> usize {
        self.tree.len()
    }

    /// The place here of a peak by its global index, if it is an own one. One look-up on a rank alone, otherwise a
    /// search.
    #[inline]
    pub fn own(&self, global: PeakIdx) -> Option<usize> {
        if self.global.get(global.at()) == Some(&global) {
            return Some(global.at());
        }
        self.global.binary_search(&global).ok()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tree.is_empty()
    }
}
