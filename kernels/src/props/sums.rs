//! The sums that every patch carries.

use crate::sum::{FixedSum, Quantum};

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
pub struct Scales {
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
pub struct Sum {
    /// The term of a cell.
    pub term: fn(&CellView) -> f64,
    /// A bound on the magnitude of terms.
    pub bound: fn(&Scales) -> f64,
}

/// Number of sums.
pub const N_SUMS: usize = 8;

/// Offset of the volume.
pub const VOLUME: usize = 0;
/// Offset of the mass.
pub const MASS: usize = 1;
/// First offset of the mass moments.
pub const MOMENT: usize = 2;
/// First offset of the momenta.
pub const MOMENTUM: usize = 5;

/// Every sum.
pub const SUMS: [Sum; N_SUMS] = [
    Sum { term: |c| c.volume, bound: |s| s.volume },
    Sum { term: |c| c.mass, bound: |s| s.mass },
    Sum { term: |c| c.mass * c.from_peak[0], bound: |s| s.mass * s.length },
    Sum { term: |c| c.mass * c.from_peak[1], bound: |s| s.mass * s.length },
    Sum { term: |c| c.mass * c.from_peak[2], bound: |s| s.mass * s.length },
    Sum { term: |c| c.mass * c.velocity[0], bound: |s| s.mass * s.velocity },
    Sum { term: |c| c.mass * c.velocity[1], bound: |s| s.mass * s.velocity },
    Sum { term: |c| c.mass * c.velocity[2], bound: |s| s.mass * s.velocity },
];

impl Scales {
    /// The quantum of each sum over at most `n_cells` cells.
    pub fn quanta(&self, n_cells: u64) -> [Quantum; N_SUMS] {
        std::array::from_fn(|i| Quantum::for_terms((SUMS[i].bound)(self), n_cells))
    }

    /// The larger of each.
    pub fn max(self, other: Self) -> Self {
        Self {
            volume: self.volume.max(other.volume),
            mass: self.mass.max(other.mass),
            length: self.length.max(other.length),
            velocity: self.velocity.max(other.velocity),
        }
    }
}

/// What a patch has gathered so far. Merging two is associative and commutative, bit for bit.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct PatchSums {
    /// Number of cells.
    pub n_cells: u64,
    /// Least density.
    pub rho_min: f64,
    /// The sums, in quanta.
    pub sums: [FixedSum; N_SUMS],
}

impl Default for PatchSums {
    fn default() -> Self {
        Self { n_cells: 0, rho_min: f64::INFINITY, sums: [FixedSum::default(); N_SUMS] }
    }
}

impl PatchSums {
    /// Adds one cell to the first `N` sums: without velocities the momenta stay 0.
    #[inline(always)]
    pub fn add<const N: usize>(&mut self, quanta: &[Quantum; N_SUMS], rho: f64, cell: &CellView) {
        self.n_cells += 1;
        self.rho_min = if rho < self.rho_min { rho } else { self.rho_min };
        for i in 0..N {
            self.sums[i] += quanta[i].of((SUMS[i].term)(cell));
        }
    }

    /// Adds what another part of the patch has gathered.
    pub fn merge(&mut self, other: &Self) {
        self.n_cells += other.n_cells;
        self.rho_min = self.rho_min.min(other.rho_min);
        for (a, b) in self.sums.iter_mut().zip(other.sums) {
            *a += b;
        }
    }
}
