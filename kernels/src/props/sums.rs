//! Sums: the additive quantities of every patch.

use crate::sum::{FixedSum, Quantum};
use bytemuck::{Pod, Zeroable};

/// The input of the terms of one cell. Lengths are in units of the level-0 cell.
#[derive(Debug, Clone, Copy)]
pub struct CellView {
    /// Volume.
    pub volume: f64,
    /// Mass: gas density times volume, where the segmented field is not a density itself.
    pub mass: f64,
    /// Displacement of the centre from the centre of the patch's peak cell, to the nearest image.
    pub from_peak: [f64; 3],
    /// Velocity in code units; 0 if there is none.
    pub velocity: [f64; 3],
}

/// Largest magnitudes over all test cells. They determine the quanta.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SumScales {
    /// Volume of a cell.
    pub volume: f64,
    /// Mass of a cell.
    pub mass: f64,
    /// Half the longest side of the box.
    pub length: f64,
    /// Component of a velocity.
    pub velocity: f64,
}

/// One additive quantity.
pub struct SumKind {
    /// The term of a cell.
    pub term: fn(&CellView) -> f64,
    /// A bound on the magnitude of terms.
    pub bound: fn(&SumScales) -> f64,
}

/// Number of sums.
pub const N_SUMS: usize = PIXELS + N_OF_PIXELS;
/// Number of sums that every run has; the others are the momenta, and the sums over pixels of images.
pub const N_OF_PATCH: usize = 5;
/// Number of sums over pixels of images.
pub const N_OF_PIXELS: usize = 12;

/// Offset of the volume.
pub const VOLUME: usize = 0;
/// Offset of the mass.
pub const MASS: usize = 1;
/// First offset of the mass moments.
pub const MOMENT: usize = 2;
/// First offset of the momenta.
pub const MOMENTUM: usize = N_OF_PATCH;
/// First offset of the sums over pixels.
pub const PIXELS: usize = MOMENTUM + 3;

/// Every sum.
pub const SUMS: [SumKind; N_SUMS] = [
    SumKind { term: |c| c.volume, bound: |s| s.volume },
    SumKind { term: |c| c.mass, bound: |s| s.mass },
    SumKind { term: |c| c.mass * c.from_peak[0], bound: |s| s.mass * s.length },
    SumKind { term: |c| c.mass * c.from_peak[1], bound: |s| s.mass * s.length },
    SumKind { term: |c| c.mass * c.from_peak[2], bound: |s| s.mass * s.length },
    SumKind { term: |c| c.mass * c.velocity[0], bound: |s| s.mass * s.velocity },
    SumKind { term: |c| c.mass * c.velocity[1], bound: |s| s.mass * s.velocity },
    SumKind { term: |c| c.mass * c.velocity[2], bound: |s| s.mass * s.velocity },
    SumKind { term: |c| c.mass * c.from_peak[0] * c.from_peak[0], bound: |s| s.mass * s.length * s.length },
    SumKind { term: |c| c.mass * c.from_peak[1] * c.from_peak[1], bound: |s| s.mass * s.length * s.length },
    SumKind { term: |c| c.mass * c.from_peak[2] * c.from_peak[2], bound: |s| s.mass * s.length * s.length },
    SumKind { term: |c| c.mass * c.from_peak[1] * c.from_peak[2], bound: |s| s.mass * s.length * s.length },
    SumKind { term: |c| c.mass * c.from_peak[2] * c.from_peak[0], bound: |s| s.mass * s.length * s.length },
    SumKind { term: |c| c.mass * c.from_peak[0] * c.from_peak[1], bound: |s| s.mass * s.length * s.length },
    SumKind { term: |c| c.from_peak[0], bound: |s| s.length },
    SumKind { term: |c| c.from_peak[1], bound: |s| s.length },
    SumKind { term: |c| c.from_peak[2], bound: |s| s.length },
    SumKind { term: |c| c.from_peak[0] * c.from_peak[0], bound: |s| s.length * s.length },
    SumKind { term: |c| c.from_peak[1] * c.from_peak[1], bound: |s| s.length * s.length },
    SumKind { term: |c| c.from_peak[2] * c.from_peak[2], bound: |s| s.length * s.length },
];

impl SumScales {
    /// The quantum of each sum over at most `n_cells` cells.
    pub fn quanta(&self, n_cells: u64) -> [Quantum; N_SUMS] {
        std::array::from_fn(|i| Quantum::for_terms((SUMS[i].bound)(self), n_cells))
    }
}

/// The sums of a patch so far, without its momentum.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct PatchSums {
    /// Number of cells.
    pub n_cells: u64,
    /// Least density.
    pub rho_min: f64,
    /// The sums, in quanta.
    pub sums: [FixedSum; N_OF_PATCH],
}

/// The momentum of a patch so far, in quanta.
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct Momentum(pub [FixedSum; 3]);

impl Default for PatchSums {
    fn default() -> Self {
        Self { n_cells: 0, rho_min: f64::INFINITY, sums: [FixedSum::default(); N_OF_PATCH] }
    }
}
