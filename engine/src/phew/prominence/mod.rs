//! Prominence: how far does each peak stand out from the shot noise of particles? For densities that are made of them.
//!
//! The [definition](inselberg_kernels::phew::significance) needs mass and volume above the saddle at which a peak dies, in its patch
//! and in those of all peaks that have died into it. A cell counts for the first of the peak of its patch and of the elders of
//! that peak whose saddle is below its density, and for all further elders:
//!
//! ```text
//!     patch of p, elders p -> d -> E       cell of density 6      counts for d and E
//!     saddles            7    5    0       cell of density 9      counts for p, d and E
//! ```
//!
//! So one pass over the cells adds each to one peak (`parts`), and one over the peaks in the order of their deaths adds each peak to
//! its elder (`elders`). The result depends on no threshold: a catalogue stores it in its tree. Sums are integers, so it depends
//! neither on ranks nor on threads.

mod elders;
mod parts;

pub use elders::ElderTree;
pub use parts::{GraphParts, PartSums, ParticleMass};

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
use inselberg_kernels::ids::{PeakIdx, PeakName};
use inselberg_kernels::phew::significance::Prominence;
use inselberg_kernels::sum::Quantum;
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

/// The particles of which the density of cells is made.
pub struct DepositedParticles<'a> {
    /// They, and maybe others.
    pub snapshot: &'a dyn Snapshot,
    /// The mass of each, if all have the same and it is known; otherwise they are read once more and counted.
    pub mass: Option<f64>,
    /// Which families were deposited.
    pub is_deposited: fn(Family) -> bool,
}

impl DepositedParticles<'_> {
    /// Collective: the prominences of the own peaks. `own` has the mask of own cells of each brick; empty where all are own.
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
        let elders = &PatchElders::new(peaks, &segmentation.known, comm)?;
        let cells = MeshParts { part, own, segmentation, elders };
        let quanta = cells.quanta(comm)?;
        let mut parts = cells.of_cells(&quanta, executor);
        let particles = match self.mass {
            Some(mass) => ParticleMass::Same(mass / peaks.space.side.powi(3)),
            None => {
                cells.count_particles(&mut parts, self.snapshot, self.is_deposited, comm)?;
                ParticleMass::Counted
            }
        };
        Ok(elders.prominences(peaks, parts, &quanta, particles, comm)?)
    }
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

    /// Collective: the prominences of the own peaks, from what the cells of each rank add to single peaks. One exchange.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn prominences(
        &self,
        peaks: &Peaks,
        mut parts: Vec<PartSums>,
        quanta: &PartQuanta,
        particles: ParticleMass,
        comm: &Comm,
    ) -> Result<Vec<PeakProminence>, CommError> {
        self.tree.add_up(&mut parts, |elder, dying| elder.merge(dying));
        let foreign = self.tree.of_foreign(&parts);
        let mut sent: Vec<ElderSums> =
            foreign.map(|(name, sums)| ElderSums { sums: *sums, name, unused: 0 }).collect();
        sent.sort_unstable_by_key(|of| (of.name.owner(), of.name));
        let received = comm.exchange(crate::exchange::grouped(&sent, |of| (Rank(of.name.owner()), *of)))?;
        for of in received.into_iter().flat_map(|(_, list)| list) {
            let peak = peaks.own(of.name).expect("sums go to the owner of the peak");
            parts[peak.at()].merge(&of.sums);
        }
        let of_peak = |(i, sums): (usize, &PartSums)| {
            let death = &peaks.tree.death[i];
            let saddle = if death.is_never() { peaks.density_threshold } else { death.saddle };
            let part = sums.part(quanta, particles);
            let mass = part.mass * peaks.space.side.powi(3);
            let prominence = Prominence { significance: part.significance(saddle), mass };
            PeakProminence { prominence, elder: self.tree.elder(PeakIdx::new(i)) }
        };
        Ok(parts[..peaks.len()].par_iter().enumerate().map(of_peak).collect())
    }
}

/// The elders of the peaks of a stored tree, which all belong to one rank, with the prominences that it has stored.
pub fn of_stored(peaks: &Peaks, stored: &[Prominence]) -> Vec<PeakProminence> {
    let tree = ElderTree::new(peaks, &[], &Comm::solo()).expect("a rank alone asks nobody");
    let of_peak = |(i, prominence): (usize, &Prominence)| PeakProminence {
        prominence: *prominence,
        elder: tree.elder(PeakIdx::new(i)),
    };
    stored.iter().enumerate().map(of_peak).collect()
}
