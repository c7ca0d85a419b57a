//! Combination: the properties of clumps and haloes from those of their patches.

use super::sums::{MASS, MOMENT, MOMENTUM, Momentum, N_OF_PATCH, N_SUMS, PatchSums};
use super::terms::{Gathered, MOST, Terms};
use crate::geom::{Domain, cell_centre};
use crate::sum::Quantum;
use bytemuck::{Pod, Zeroable};
use std::ops::Range;

/// The values of a patch after its sums are complete, in code units. With the momenta, they are enough to
/// combine patches into clumps at any later time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PatchValues {
    /// Number of cells.
    pub n_cells: u64,
    /// Least density.
    pub rho_min: f64,
    /// Volume, mass, mass moment from the peak (3).
    pub sums: [f64; N_OF_PATCH],
}

/// The box with its size in code units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizedBox {
    /// Extent and topology.
    pub domain: Domain,
    /// Side of a level-0 cell in code units.
    pub side: f64,
    /// The lower corner in the coordinates of positions, in code units.
    pub origin: [f64; 3],
}

impl SizedBox {
    /// A point in units of the level-0 cell, in code units and coordinates.
    pub fn place(&self, x: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|a| self.origin[a] + x[a] * self.side)
    }
}

impl PatchValues {
    /// Rounds complete sums, which are in units of the level-0 cell, to code units.
    pub fn new(sums: &PatchSums, quanta: &[Quantum; N_SUMS], side: f64) -> Self {
        let volume = side.powi(3);
        let unit = |i: usize| if i < MOMENT { volume } else { volume * side };
        let value = std::array::from_fn(|i| quanta[i].value(sums.sums[i]) * unit(i));
        Self { n_cells: sums.n_cells, rho_min: sums.rho_min, sums: value }
    }
}

impl Momentum {
    /// Rounded to code units, as [`PatchValues::new`] does.
    pub fn value(&self, quanta: &[Quantum; N_SUMS], side: f64) -> [f64; 3] {
        std::array::from_fn(|a| quanta[MOMENTUM + a].value(self.0[a]) * side.powi(3))
    }
}

/// Patches and the groups into which they are combined. The mass moments of a group are relative to the
/// centre of its highest peak.
#[derive(Debug, Clone, Copy)]
pub struct PatchGroups<'a> {
    /// The box.
    pub space: &'a SizedBox,
    /// The patches, all or those of one rank.
    pub patches: &'a [PatchValues],
    /// Their momenta, if there are velocities.
    pub momenta: Option<&'a [[f64; 3]]>,
    /// Level of the cell of each patch's peak.
    pub level: &'a [u8],
    /// Position of that cell, on the grid of its level.
    pub ijk: &'a [[u32; 3]],
    /// The group of each; `u32::MAX` for none.
    pub group: &'a [u32],
    /// Centre of the highest peak of each group, in units of the level-0 cell.
    pub head: &'a [[f64; 3]],
}

impl PatchGroups<'_> {
    /// Bounds on the magnitudes of the terms of a range of patches, for the quanta of [`Self::add`].
    pub fn bounds(&self, patches: Range<usize>) -> [f64; N_SUMS] {
        let mut bounds = [0.0f64; N_SUMS];
        let (of_patch, of_momentum) = bounds.split_at_mut(N_OF_PATCH);
        for patch in patches {
            let Some(&head) = self.head.get(self.group[patch] as usize) else { continue };
            raise(of_patch, &self.seen_from(head, patch));
            if let Some(momenta) = self.momenta {
                raise(of_momentum, &momenta[patch]);
            }
        }
        bounds
    }

    /// Adds the patches of the groups from `first` on to their `totals`. The result does not depend on the
    /// order or the number of ranks. Goes through all patches.
    pub fn add(&self, quanta: &[Quantum; N_SUMS], first: usize, totals: &mut [GroupSums]) {
        let (mut terms, mut momenta) = (Terms::default(), Terms::<3>::default());
        for run in (0..self.group.len()).step_by(MOST) {
            let (mut which, mut n) = ([0; MOST], 0);
            for patch in run..(run + MOST).min(self.group.len()) {
                which[n] = patch;
                n += usize::from(self.place(patch, first) < totals.len());
            }
            let which = &which[..n];
            terms.set(n, quanta, |k| self.seen_from(self.head[self.group[which[k]] as usize], which[k]));
            if let Some(of_patch) = self.momenta {
                momenta.set(n, &quanta[MOMENTUM..], |k| of_patch[which[k]]);
            }
            for (k, patch) in which.iter().enumerate() {
                let PatchValues { n_cells, rho_min, .. } = self.patches[*patch];
                let total = &mut totals[self.place(*patch, first)];
                total.patch.merge(&PatchSums { n_cells, rho_min, sums: terms.sums(k) });
                if self.momenta.is_some() {
                    total.momentum.merge(&Momentum(momenta.sums(k)));
                }
            }
        }
    }

    /// The place of the group of a patch among the groups from `first` on; past all places for earlier
    /// groups.
    #[inline(always)]
    fn place(&self, patch: usize, first: usize) -> usize {
        (self.group[patch] as usize).wrapping_sub(first)
    }

    /// The sums of a patch, with mass moments relative to `centre` instead of its own peak.
    #[inline(always)]
    fn seen_from(&self, centre: [f64; 3], patch: usize) -> [f64; N_OF_PATCH] {
        let peak = cell_centre(self.level[patch], self.ijk[patch]);
        let shift = self.space.domain.displacement(centre, peak);
        let mut sums = self.patches[patch].sums;
        for a in 0..3 {
            sums[MOMENT + a] += sums[MASS] * (shift[a] * self.space.side);
        }
        sums
    }
}

#[inline(always)]
fn raise(bounds: &mut [f64], sums: &[f64]) {
    bounds.iter_mut().zip(sums).for_each(|(bound, sum)| *bound = bound.max(sum.abs()));
}

/// The sums of a group so far. Merging is associative and commutative, bit for bit.
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GroupSums {
    /// As a patch.
    pub patch: PatchSums,
    /// Momentum; 0 without velocities.
    pub momentum: Momentum,
}

impl GroupSums {
    /// Adds the sums of another part of the group.
    pub fn merge(&mut self, other: &Self) {
        self.patch.merge(&other.patch);
        self.momentum.merge(&other.momentum);
    }
}

/// The values of a group after its sums are complete.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupValues {
    /// As a patch.
    pub patch: PatchValues,
    /// Momentum; 0 without velocities.
    pub momentum: [f64; 3],
    /// Centre of the cell of the highest peak, in units of the level-0 cell.
    pub head: [f64; 3],
}

/// A clump or a halo with everything that a property may need, in code units.
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
    /// Identifier of the central clump of its halo.
    pub central: u64,
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
    /// Mass of only the clump with this identifier, even in a row of a halo.
    pub patch_mass: f64,
    /// Peak density.
    pub rho_peak: f64,
    /// Least density.
    pub rho_min: f64,
    /// Centre of the peak cell.
    pub peak: [f64; 3],
    /// Refined position of the peak.
    pub peak_refined: [f64; 3],
    /// Centre of mass, within the box; NaN if cells below 0 leave no mass or move the centre out of the box.
    pub centre_of_mass: [f64; 3],
    /// Mass-weighted velocity.
    pub velocity: [f64; 3],
    /// Persistence above the key saddle, or above the density threshold.
    pub relevance: f64,
    /// Significance above the saddle at which its peak dies, or above the density threshold; NaN where it is
    /// not known.
    pub significance: f64,
    /// Mass above this saddle, or above the density threshold, of its peak and all peaks that die into it;
    /// NaN where it is not known.
    pub mass_above_saddle: f64,
    /// Density of the key saddle; 0 without one.
    pub saddle: f64,
    /// Position of the key saddle; NaN without one.
    pub saddle_position: [f64; 3],
    /// Clump on the other side of the key saddle; 0 without one.
    pub saddle_neighbour: u64,
}

/// The results of the sums of a group, in code units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupTotals {
    /// Volume.
    pub volume: f64,
    /// Mass.
    pub mass: f64,
    /// Centre of mass, within the box; NaN if cells below 0 leave no mass or move the centre out of the box.
    pub centre_of_mass: [f64; 3],
    /// Mass-weighted velocity.
    pub velocity: [f64; 3],
}

impl GroupValues {
    /// Rounds complete sums, which are in code units.
    pub fn new(sums: &GroupSums, quanta: &[Quantum; N_SUMS], head: [f64; 3]) -> Self {
        let patch = PatchValues::new(&sums.patch, quanta, 1.0);
        Self { patch, momentum: sums.momentum.value(quanta, 1.0), head }
    }

    /// The results of the sums.
    pub fn totals(&self, space: &SizedBox) -> GroupTotals {
        let [volume, mass, x, y, z] = self.patch.sums;
        // Cells below 0 may outweigh the others: then there is no centre. Without any mass it is the peak.
        let mean = |sums: [f64; 3]| match mass {
            _ if mass > 0.0 => sums.map(|sum| sum / mass),
            0.0 if sums == [0.0; 3] => sums,
            _ => [f64::NAN; 3],
        };
        let shift = mean([x, y, z]);
        let place: [f64; 3] = std::array::from_fn(|a| self.head[a] + shift[a] / space.side);
        let is_inside = |a: usize| {
            space.domain.periodic[a] || (0.0..=f64::from(space.domain.coarse[a])).contains(&place[a])
        };
        let is_place = place.iter().all(|x| x.is_finite()) && (0..3).all(is_inside);
        let centre = if is_place { space.place(space.domain.fold(place)) } else { [f64::NAN; 3] };
        GroupTotals { volume, mass, centre_of_mass: centre, velocity: mean(self.momentum) }
    }
}
