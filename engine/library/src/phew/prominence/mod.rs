//! Prominence: how far does each peak stand out from shot noise? For densities made from particles.
//!
//! The [definition](inselberg_kernels::phew::significance) needs mass and volume above the saddle at which a
//! peak dies, in its patch and in those of all peaks that have died into it. A cell counts for the first of
//! the peak of its patch and of the elders of that peak whose saddle is below its density, and for all
//! further elders:
//!
//! ```text
//!     patch of p, elders p -> d -> E       cell of density 6      counts for d and E
//!     saddles            7    5    0       cell of density 9      counts for p, d and E
//! ```
//!
//! So one pass over the cells adds each to one peak (`parts`), and one over the peaks in the order of their
//! deaths adds each peak to its elder (`elders`). A second pass over the cells finds the part of the elder
//! above the saddle of each significant peak (`mergers`). The result does not depend on thresholds, so a
//! catalogue stores it in its tree. Sums are integers, so it does not depend on ranks or threads either.

mod elders;
mod mergers;
mod parts;

pub use elders::ElderTree;
pub use parts::{GraphParts, PartCells, PartSums, ParticleMass};

use crate::error::RunError;
use crate::executor::Executor;
use crate::partition::LocalField;
use crate::phew::peak_comm::PeakComm;
use crate::phew::peaks::{PeakProminence, Peaks};
use crate::phew::segment::Segmentation;
use bytemuck::{Pod, Zeroable};
use elders::ElderIdx;
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_io::{Family, Snapshot};
use inselberg_kernels::ids::{PeakIdx, PeakName, PeakSlot};
use inselberg_kernels::phew::significance::{PartAbove, Prominence};
use inselberg_kernels::sum::Quantum;
use mergers::Mergers;
use parts::MeshParts;
use rayon::prelude::*;

/// The quanta of the sums, the same on every rank. Lengths are in units of the level-0 cell.
#[derive(Debug, Clone, Copy)]
pub struct PartQuanta {
    /// Of masses.
    pub mass: Quantum,
    /// Of volumes.
    pub volume: Quantum,
}

/// The particles that make the density of cells.
pub struct DepositedParticles<'a> {
    /// They, and maybe others.
    pub snapshot: &'a dyn Snapshot,
    /// The mass of each, if all have the same and it is known; otherwise they are read once more and counted.
    pub mass: Option<f64>,
    /// The families that were deposited.
    pub is_deposited: fn(Family) -> bool,
}

impl DepositedParticles<'_> {
    /// Collective: the prominences of the own peaks. `own` has the mask of own cells of each brick; empty
    /// where all are own.
    ///
    /// # Errors
    /// When the particles cannot be read, or another rank fails.
    pub fn prominences(
        &self,
        part: &LocalField,
        own: &[u64],
        segmentation: &Segmentation,
        comm: &Comm,
        executor: &Executor,
    ) -> Result<Vec<PeakProminence>, RunError> {
        let peaks = &segmentation.peaks;
        let elders = PatchElders::new(peaks, &segmentation.known, comm)?;
        let cells = MeshParts::new(part, own, segmentation, comm, executor)?;
        let mut parts = cells.sums(&elders);
        let particles = match self.mass {
            Some(mass) => ParticleMass::Same(mass / peaks.space.side.powi(3)),
            None => {
                cells.count_particles(&elders, &mut parts, self.snapshot, self.is_deposited, comm)?;
                ParticleMass::Counted
            }
        };
        let scale = PartScale { quanta: cells.quanta, particles };
        Ok(elders.prominences(peaks, parts, &scale, &cells, comm)?)
    }
}

/// The units that turn sums into reals.
pub struct PartScale {
    /// The quanta of the sums.
    pub quanta: PartQuanta,
    /// The mass of particles.
    pub particles: ParticleMass,
}

/// The patches of a rank and the elders of their peaks.
pub struct PatchElders<'a> {
    /// The tree.
    pub tree: ElderTree<'a>,
    /// The peak of each slot.
    of_slot: Vec<ElderIdx>,
}

/// The sums of a peak, for its owner.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct ElderSums {
    sums: PartSums,
    name: PeakName,
    /// Always 0.
    unused: u64,
}

impl<'a> PatchElders<'a> {
    /// Collective: of the known peaks.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(peaks: &'a Peaks, known: &PeakComm, comm: &Comm) -> Result<Self, CommError> {
        let mut names = vec![PeakName::NONE; known.n_slots()];
        known.own.iter().zip(&peaks.name).for_each(|(slot, name)| names[slot.at()] = *name);
        known.push(comm, &mut names)?;
        let tree = ElderTree::new(peaks, &names, comm)?;
        let of_slot = names.iter().map(|name| tree.find(*name)).collect();
        Ok(Self { tree, of_slot })
    }

    /// The peak to which a cell of this density counts: the first of the patch's peak and its elders that
    /// dies at a lower density.
    #[inline]
    fn above(&self, patch: PeakSlot, rho: f64) -> ElderIdx {
        self.tree.first_below(self.of_slot[patch.at()], rho)
    }

    /// Collective: the prominences of the own peaks, from the sums of the `cells` of each rank for single
    /// peaks. Passes over the cells once more. Six exchanges.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn prominences(
        &self,
        peaks: &Peaks,
        mut parts: Vec<PartSums>,
        scale: &PartScale,
        cells: &impl PartCells,
        comm: &Comm,
    ) -> Result<Vec<PeakProminence>, CommError> {
        self.add_up(peaks, &mut parts, comm)?;
        parts.truncate(peaks.len());
        let dying: Vec<PartAbove> = parts.iter().map(|sums| sums.part(scale)).collect();
        let saddle = |i: usize| {
            let death = &peaks.tree.death[i];
            if death.is_never() { peaks.density_threshold } else { death.saddle }
        };
        let to_code_units = peaks.space.side.powi(3);
        let prominence = |i: usize, part: &PartAbove| Prominence {
            significance: part.significance(saddle(i)),
            mass: part.mass * to_code_units,
        };
        let mut all: Vec<PeakProminence> = dying
            .par_iter()
            .enumerate()
            .map(|(i, part)| PeakProminence {
                prominence: prominence(i, part),
                of_elder: Prominence::UNKNOWN,
                elder: self.tree.elder(PeakIdx::new(i)),
            })
            .collect();
        let mergers = Mergers::new(self, peaks, &all, comm)?;
        for (peak, sums) in mergers.elder_parts(&parts, cells, comm)? {
            let part = PartAbove { particle_mass: dying[peak.at()].particle_mass, ..sums.part(scale) };
            all[peak.at()].of_elder = prominence(peak.at(), &part);
        }
        Ok(all)
    }

    /// Collective: adds the sums of each peak to its elder. Complete for own peaks. One exchange.
    fn add_up(&self, peaks: &Peaks, parts: &mut [PartSums], comm: &Comm) -> Result<(), CommError> {
        self.tree.add_up(parts, |elder, dying| elder.merge(dying));
        let foreign = self.tree.of_foreign(parts);
        let mut sent: Vec<ElderSums> =
            foreign.map(|(name, sums)| ElderSums { sums: *sums, name, unused: 0 }).collect();
        sent.sort_unstable_by_key(|of| (of.name.owner(), of.name));
        let received = comm.exchange(crate::exchange::grouped(&sent, |of| (Rank(of.name.owner()), *of)))?;
        for of in received.into_iter().flat_map(|(_, list)| list) {
            let peak = peaks.own(of.name).expect("sums go to the owner of the peak");
            parts[peak.at()].merge(&of.sums);
        }
        Ok(())
    }
}

/// The elders of the peaks of a stored tree, which all belong to one rank, with the prominences that it has
/// stored.
pub fn of_stored(peaks: &Peaks, stored: &[[Prominence; 2]]) -> Vec<PeakProminence> {
    let tree = ElderTree::new(peaks, &[], &Comm::solo()).expect("a rank alone asks nobody");
    let of_peak = |(i, prominence): (usize, &[Prominence; 2])| PeakProminence {
        prominence: prominence[0],
        of_elder: prominence[1],
        elder: tree.elder(PeakIdx::new(i)),
    };
    stored.iter().enumerate().map(of_peak).collect()
}
