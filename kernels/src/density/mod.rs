//! Density: which density do particles and gas give to the cells of a mesh?
//!
//! Place in the flow: after the mesh is built; [`crate::phew`] works on the result. It uses positions and
//! masses, and does not depend on later uses of the density.
//!
//! Masses are added atomically as whole numbers of a quantum. So any number of threads may deposit at the
//! same time, and the result does not depend on their order. Whether a sum overflows its counter does not
//! depend on it either; the deposit is then repeated with a coarser quantum.

mod cic;
mod gas;

pub(crate) use cic::{Cloud, child_at};
pub use cic::{cloud_cells, deposit_conserving, deposit_conserving_part, deposit_ramses, leaf_at};
pub use gas::{Body, deposit_bodies, gather_bodies, leaf_bodies};

use crate::geom::cell_volume;
use crate::ids::CellIdx;
use crate::mesh::{Mesh, local};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// The masses of all cells while particles are deposited.
#[derive(Debug)]
pub struct Deposit {
    /// Quanta per unit of mass, a power of two.
    per_mass: f64,
    quanta: Vec<AtomicU64>,
    overflow: AtomicBool,
}

impl Deposit {
    /// No mass in any cell. `quantum` is the unit of mass, a power of two.
    pub fn new(n_cells: usize, quantum: f64) -> Self {
        let quanta = (0..n_cells).map(|_| AtomicU64::new(0)).collect();
        Self { per_mass: 1.0 / quantum, quanta, overflow: false.into() }
    }

    #[inline]
    fn add(&self, cell: CellIdx, mass: f64) {
        let n = whole_quanta(mass, self.per_mass);
        // A mass that exceeds the counter is an overflow too; it is reported below.
        let before = self.quanta[cell.at()].fetch_add(n.unwrap_or(0), Relaxed);
        if n.and_then(|n| before.checked_add(n)).is_none() {
            self.overflow.store(true, Relaxed);
        }
    }

    /// The mass of every cell; `None` if a counter has overflowed.
    pub fn masses(self) -> Option<Vec<f64>> {
        let quantum = 1.0 / self.per_mass;
        self.quanta().map(|quanta| quanta.into_iter().map(|n| n as f64 * quantum).collect())
    }

    /// The mass of every cell in quanta; `None` if a counter has overflowed.
    pub fn quanta(self) -> Option<Vec<u64>> {
        let quanta = self.quanta.into_iter().map(AtomicU64::into_inner);
        (!self.overflow.into_inner()).then(|| quanta.collect())
    }
}

/// A mass in quanta, of which there are `per_mass` per unit, rounded to nearest; `None` if it exceeds a
/// counter.
#[inline(always)]
pub(crate) fn whole_quanta(mass: f64, per_mass: f64) -> Option<u64> {
    let quanta = mass * per_mass + 0.5;
    // The conversion saturates at the largest u64, and the nearest double exceeds that number.
    (quanta < u64::MAX as f64).then_some(quanta as u64)
}

/// Divides the masses of the cells of the given super-bricks by their volumes, in place. `out` begins at the
/// first cell of the first super-brick.
pub fn masses_to_densities(mesh: &Mesh, supers: Range<usize>, out: &mut [f64]) {
    let mut n = 0;
    mesh.for_each_cell(supers, |level, _, _, _| {
        out[n] /= cell_volume(level);
        n += 1;
    });
}

/// Sets every split cell to the mean of its children, from the deepest level on.
pub fn fill_split_cells(mesh: &Mesh, rho: &mut [f64]) {
    for level in (1..mesh.n_levels()).rev() {
        fill_from_level(mesh, level, rho);
    }
}

/// Sets every cell that contains a whole oct of `level` (1 or more) to the mean of that oct.
pub fn fill_from_level(mesh: &Mesh, level: u8, rho: &mut [f64]) {
    for s in mesh.supers_of(level) {
        for brick in &mesh.bricks()[mesh.bricks_of(&mesh.supers()[s])] {
            for oct in (0..64).step_by(8).filter(|o| brick.exists >> o & 0xff == 0xff) {
                let first = (brick.first + local::rank(brick.exists, oct)) as usize;
                let mean = rho[first..first + 8].iter().sum::<f64>() / 8.0;
                let parent = local::position_of(brick.position, oct).map(|x| x >> 1);
                if let Some(parent) = mesh.find(level - 1, parent) {
                    rho[parent.at()] = mean;
                }
            }
        }
    }
}
