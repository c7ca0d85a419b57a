//! From patches to clumps and haloes.

use super::sums::{MASS, MOMENT, MOMENTUM, N_SUMS, PatchSums, VOLUME};
use crate::geom::Domain;
use crate::sum::{FixedSum, Quantum};
use std::ops::Range;

/// What is known of a patch once its sums are complete; enough to combine patches into clumps at
/// any time later. In code units, but for the peak.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PatchValues {
    /// Number of cells.
    pub n_cells: u64,
    /// Least density.
    pub rho_min: f64,
    /// Volume, mass, mass moment from the peak (3), momentum (3).
    pub sums: [f64; N_SUMS],
    /// Centre of the peak cell in units of the level-0 cell.
    pub peak: [f64; 3],
}

/// The box with its size in code units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizedBox {
    /// Extent and topology.
    pub domain: Domain,
    /// Side of a level-0 cell in code units.
    pub side: f64,
}

impl PatchValues {
    /// Rounds complete sums, which are in units of the level-0 cell, to code units.
    pub fn new(sums: &PatchSums, quanta: &[Quantum; N_SUMS], side: f64, peak: [f64; 3]) -> Self {
        let volume = side.powi(3);
        let unit = |i: usize| if (MOMENT..MOMENTUM).contains(&i) { volume * side } else { volume };
        let value = std::array::from_fn(|i| quanta[i].value(sums.sums[i]) * unit(i));
        Self { n_cells: sums.n_cells, rho_min: sums.rho_min, sums: value, peak }
    }

    /// Its sums with the moment taken from `centre` instead of its own peak.
    fn seen_from(&self, space: &SizedBox, centre: [f64; 3]) -> [f64; N_SUMS] {
        let shift = space.domain.displacement(centre, self.peak);
        let mut sums = self.sums;
        for a in 0..3 {
            sums[MOMENT + a] += sums[MASS] * (shift[a] * space.side);
        }
        sums
    }
}

/// Patches and the groups that they are combined into, each of which takes its moment from the centre of
/// its highest peak.
#[derive(Debug, Clone, Copy)]
pub struct Groups<'a> {
    /// The box.
    pub space: &'a SizedBox,
    /// The patches, all or those of one rank.
    pub patches: &'a [PatchValues],
    /// The group of each; `u32::MAX` for none.
    pub group: &'a [u32],
    /// Centre of the highest peak of each group, in units of the level-0 cell.
    pub head: &'a [[f64; 3]],
}

impl Groups<'_> {
    /// Bounds on the magnitude of what a run of the patches adds, for the quanta of [`Self::add`].
    pub fn bounds(&self, patches: Range<usize>) -> [f64; N_SUMS] {
        let mut bounds = [0.0f64; N_SUMS];
        for (patch, &group) in self.patches[patches.clone()].iter().zip(&self.group[patches]) {
            let Some(&head) = self.head.get(group as usize) else { continue };
            for (bound, sum) in bounds.iter_mut().zip(patch.seen_from(self.space, head)) {
                *bound = bound.max(sum.abs());
            }
        }
        bounds
    }

    /// Adds the patches of a run of groups from `first` to their `totals`; in any order, over any number of ranks,
    /// with the same result. Passes over the groups of all patches.
    pub fn add(&self, quanta: &[Quantum; N_SUMS], first: usize, totals: &mut [PatchSums]) {
        for (patch, &group) in self.patches.iter().zip(self.group) {
            let Some(total) = totals.get_mut((group as usize).wrapping_sub(first)) else { continue };
            let sums = patch.seen_from(self.space, self.head[group as usize]);
            let sums: [FixedSum; N_SUMS] = std::array::from_fn(|i| quanta[i].of(sums[i]));
            total.merge(&PatchSums { n_cells: patch.n_cells, rho_min: patch.rho_min, sums });
        }
    }
}

/// A clump or a halo with everything a property may ask for, in code units.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Structure {
    /// Identifier.
    pub id: u64,
    /// Place of its peak among all peaks of the run by falling density, from 1.
    pub peak_rank: u64,
    /// Identifier of its halo.
    pub halo: u64,
    /// Identifier of the clump it merges into.
    pub parent: u64,
    /// Level of the saddle through which it merges; 0 for a main clump.
    pub level: u64,
    /// Mass of its halo.
    pub halo_mass: f64,
    /// Number of cells.
    pub n_cells: u64,
    /// Volume.
    pub volume: f64,
    /// Mass.
    pub mass: f64,
    /// Peak density.
    pub rho_peak: f64,
    /// Least density.
    pub rho_min: f64,
    /// Centre of the peak cell.
    pub peak: [f64; 3],
    /// Refined position of the peak.
    pub peak_refined: [f64; 3],
    /// Centre of mass, within the box.
    pub centre_of_mass: [f64; 3],
    /// Mass-weighted velocity.
    pub velocity: [f64; 3],
    /// Peak density over key saddle, or over the density threshold.
    pub relevance: f64,
    /// Density of the key saddle; 0 without one.
    pub saddle: f64,
    /// Where the key saddle is; NaN without one.
    pub saddle_position: [f64; 3],
    /// Clump on the other side of it; 0 without one.
    pub saddle_neighbour: u64,
}

/// What the sums of a group amount to, in code units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Totals {
    /// Volume.
    pub volume: f64,
    /// Mass.
    pub mass: f64,
    /// Centre of mass, within the box.
    pub centre_of_mass: [f64; 3],
    /// Mass-weighted velocity.
    pub velocity: [f64; 3],
}

impl PatchValues {
    /// What the sums amount to.
    pub fn totals(&self, space: &SizedBox) -> Totals {
        let mass = self.sums[MASS];
        let mean = |first: usize| {
            std::array::from_fn(|a| if mass > 0.0 { self.sums[first + a] / mass } else { 0.0 })
        };
        let shift: [f64; 3] = mean(MOMENT);
        let centre = space.domain.fold(std::array::from_fn(|a| self.peak[a] + shift[a] / space.side));
        Totals {
            volume: self.sums[VOLUME],
            mass,
            centre_of_mass: centre.map(|x| x * space.side),
            velocity: mean(MOMENTUM),
        }
    }
}
