//! Everything that is known once the mesh is left behind: peaks, their tree and their patches.
//!
//! Any thresholds can be answered from it ([`crate::structures`]); a catalogue stores it as its
//! `tree` table.

use inselberg_kernels::phew::tree::MergeTree;
use inselberg_kernels::props::PatchValues;
use inselberg_kernels::props::combine::SizedBox;

/// The peaks of a field in the order of their cells: (level, Morton key).
#[derive(Debug, Clone, PartialEq)]
pub struct Peaks {
    /// The box.
    pub space: SizedBox,
    /// Threshold of the test cells.
    pub density_threshold: f64,
    /// Level of each peak's cell.
    pub level: Vec<u8>,
    /// Position of each peak's cell on the grid of its level.
    pub ijk: Vec<[u32; 3]>,
    /// Which peak dies where.
    pub tree: MergeTree,
    /// Refined positions, in code units.
    pub refined: Vec<[f64; 3]>,
    /// Where each peak dies, in code units; NaN for those that never do.
    pub saddle_position: Vec<[f64; 3]>,
    /// Sums over each patch.
    pub patches: Vec<PatchValues>,
    /// Whether the sums hold momenta.
    pub has_velocity: bool,
}

impl Peaks {
    /// Number of peaks.
    pub fn len(&self) -> usize {
        self.tree.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tree.is_empty()
    }
}
