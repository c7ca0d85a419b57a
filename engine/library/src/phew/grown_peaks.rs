//! The own peaks with their tree: from the peaks that a rank knows, their contacts and their sums to
//! [`Peaks`].

use crate::phew::forest::{self, CellPlaces, PlacedContacts, PlacedTree, RankForest};
use crate::phew::known_peaks::PeakColumns;
use crate::phew::peak_comm::PeakComm;
use crate::phew::peaks::{OwnTree, Peaks};
use crate::phew::sums::{OwnValues, PatchTotals};
use crate::phew::to_owners::send_to_owners;
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::ids::PeakName;
use inselberg_kernels::phew::ties::Tie;
use inselberg_kernels::props::combine::SizedBox;
use rayon::prelude::*;

/// The own peaks with their tree and their sums. Positions are in units of the level-0 cell.
pub struct GrownPeaks {
    /// Their names.
    pub name: Vec<PeakName>,
    /// Number of peaks on all ranks.
    pub n_global: u64,
    /// The box.
    pub space: SizedBox,
    level: Vec<u8>,
    ijk: Vec<[u32; 3]>,
    tree: PlacedTree,
    values: OwnValues,
}

impl GrownPeaks {
    /// Collective: completes the sums of the own peaks, and grows their tree. Sums are freed before the tree
    /// takes its memory. `peaks` are the peaks of `known`, by slot. The contacts are between slots.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn grow(
        peaks: PeakColumns,
        known: &mut PeakComm,
        contacts: &PlacedContacts<impl CellPlaces>,
        mut totals: PatchTotals,
        space: &SizedBox,
        comm: &Comm,
    ) -> Result<Self, CommError> {
        let sent = match comm.n_ranks() {
            1 => None,
            _ => Some(send_to_owners(comm, known, &peaks, contacts, &mut totals)?),
        };
        let values = totals.values(&known.own, space.side);
        let PeakColumns { rho, level, ijk, name } = known.own_of(peaks);
        let tree = match sent {
            None => forest::grow_alone(rho, contacts, &space.domain),
            Some(RankForest { deaths, edges }) => {
                let tree = forest::tree_of_rank(rho, &deaths, known, contacts, &space.domain);
                forest::grow(comm, tree, &name, edges, &space.domain)?
            }
        };
        Ok(Self { name, n_global: known.n_global, space: *space, level, ijk, tree, values })
    }

    /// Their tree.
    pub fn tree(&self) -> &OwnTree {
        &self.tree.tree
    }

    /// The own peaks in code units. `refined` are their refined positions in units of the level-0 cell,
    /// `ties` are in code units already.
    pub fn into_peaks(self, refined: Vec<[f64; 3]>, density_threshold: f64, ties: Vec<Tie>) -> Peaks {
        let space = self.space;
        let OwnValues { patches, momenta, pixels } = self.values;
        Peaks {
            name: self.name,
            n_global: self.n_global,
            space,
            density_threshold,
            level: self.level,
            ijk: self.ijk,
            tree: self.tree.tree,
            ties,
            refined: placed(refined, &space),
            saddle_position: placed(self.tree.saddle_position, &space),
            patches,
            momenta,
            pixels,
            prominence: None,
        }
    }
}

/// Positions in units of the level-0 cell, in code units.
fn placed(mut positions: Vec<[f64; 3]>, space: &SizedBox) -> Vec<[f64; 3]> {
    positions.par_iter_mut().for_each(|x| *x = space.place(*x));
    positions
}
