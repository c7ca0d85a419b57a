//! The sums that every patch carries.

use super::terms::{BrickCells, Terms};
use crate::sum::{FixedSum, Quantum};
use bytemuck::{Pod, Zeroable};

/// What a sum sees of one cell. Lengths are in units of the level-0 cell.
#[derive(Debug, Clone, Copy)]
pub struct CellView {
    /// Volume.
    pub volume: f64,
    /// Mass: gas density times volume where the segmented field is not a density itself.
    pub mass: f64,
    /// Centre, seen from the centre of the patch's peak cell over the nearest image.
    pub from_peak: [f64; 3],
    /// Velocity in code units; 0 without one.
    pub velocity: [f64; 3],
}

/// Largest magnitudes over all test cells, which fix the quanta.
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
pub const N_SUMS: usize = N_OF_PATCH + 3;
/// Number of those that every run has; the others are the momenta.
pub const N_OF_PATCH: usize = 5;

/// Offset of the volume.
pub const VOLUME: usize = 0;
/// Offset of the mass.
pub const MASS: usize = 1;
/// First offset of the mass moments.
pub const MOMENT: usize = 2;
/// First offset of the momenta.
pub const MOMENTUM: usize = N_OF_PATCH;

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
];

impl SumScales {
    /// The quantum of each sum over at most `n_cells` cells.
    pub fn quanta(&self, n_cells: u64) -> [Quantum; N_SUMS] {
        std::array::from_fn(|i| Quantum::for_terms((SUMS[i].bound)(self), n_cells))
    }
}

/// `N` of the sums of a patch, from `FIRST` on, and what goes with them. Merging two is associative and
/// commutative, bit for bit.
pub trait Gathered<const N: usize>: Pod + Default + Send + Sync {
    /// Offset of the first sum.
    const FIRST: usize;

    /// Adds cell `n` of a brick.
    fn add(&mut self, cells: &BrickCells, terms: &Terms<N>, n: usize);

    /// Adds what another part of the patch has gathered.
    fn merge(&mut self, other: &Self);
}

/// What a patch has gathered so far, but for its momentum.
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

impl Gathered<N_OF_PATCH> for PatchSums {
    const FIRST: usize = 0;

    #[inline(always)]
    fn add(&mut self, cells: &BrickCells, terms: &Terms<N_OF_PATCH>, n: usize) {
        self.n_cells += 1;
        self.rho_min = smaller(self.rho_min, cells.rho[n]);
        merge(&mut self.sums, &terms.sums(n));
    }

    fn merge(&mut self, other: &Self) {
        self.n_cells += other.n_cells;
        self.rho_min = smaller(self.rho_min, other.rho_min);
        merge(&mut self.sums, &other.sums);
    }
}

impl Gathered<3> for Momentum {
    const FIRST: usize = MOMENTUM;

    #[inline(always)]
    fn add(&mut self, _: &BrickCells, terms: &Terms<3>, n: usize) {
        merge(&mut self.0, &terms.sums(n));
    }

    fn merge(&mut self, other: &Self) {
        merge(&mut self.0, &other.0);
    }
}

#[inline(always)]
fn merge<const N: usize>(sums: &mut [FixedSum; N], others: &[FixedSum; N]) {
    sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += *other);
}

#[inline(always)]
fn smaller(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}
