//! The chains of noise peaks, followed over the ranks to their clumps.
//!
//! A noise peak points to the patch at which it ends. The chain of these pointers ends at a peak that is not noise: the
//! peak of a clump.

use crate::exchange::chains::{Bare, ChainStep, Lead, RemoteIndex, lead_of, resolve};
use crate::phew::peaks::Peaks;
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::ids::{ClumpSlot, PeakIdx, PeakNumber};
use inselberg_kernels::phew::persistence::Persistence;
use inselberg_kernels::union_find::root;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The clumps of the peaks of a rank. A clump is known by the number of its peak.
pub struct Followed {
    /// The own peaks that are not noise: one per clump.
    pub clump_peaks: Vec<PeakIdx>,
    /// For each of these the clumps of the two patches at whose contact it dies; `NONE` if it never does.
    pub end_clumps: Vec<[PeakNumber; 2]>,
    /// The clumps that own patches are in or end at, ascending.
    pub clumps: Vec<PeakNumber>,
    /// The clump of each own patch, by its place in `clumps`.
    pub of_peak: Vec<ClumpSlot>,
}

/// Whether an own peak is not noise.
pub fn is_clump_peak(peaks: &Peaks, peak: PeakIdx, persistence: Persistence) -> bool {
    let death = &peaks.tree.death[peak.at()];
    death.is_never() || !persistence.is_noise(peaks.tree.rho[peak.at()], death.saddle)
}

/// Collective: follows the chains of all peaks that are noise by `persistence`. Two exchanges per doubling of the ranks that
/// the longest chain passes through.
///
/// # Errors
/// When another rank fails.
pub fn follow(peaks: &Peaks, persistence: Persistence, comm: &Comm) -> Result<Followed, CommError> {
    let mut chains = Chains::new(peaks, persistence, comm.rank().0);
    let ends = chains.follow_ends();
    resolve(comm, &mut chains.exits, |number| chains.local.step(PeakNumber(number)))?;
    let clumps = chains.clumps();
    let slots = SlotsOfClumps::new(&clumps, peaks);
    let slot = |i: usize| slots.find(chains.clump(chains.local.chain_end(PeakIdx::new(i))));
    let of_peak = (0..peaks.len()).into_par_iter().map(slot).collect();
    let end_clumps = ends.into_iter().map(|ends| ends.map(|end| chains.clump(end))).collect();
    Ok(Followed { end_clumps, of_peak, clump_peaks: chains.clump_peaks, clumps })
}

/// Finds clumps in an ascending list.
struct SlotsOfClumps<'a> {
    clumps: &'a [PeakNumber],
    peaks: &'a Peaks,
    /// For each own peak the slot of the clump that is known by it; `NONE` for noise.
    of_own: Vec<ClumpSlot>,
}

impl<'a> SlotsOfClumps<'a> {
    fn new(clumps: &'a [PeakNumber], peaks: &'a Peaks) -> Self {
        let mut of_own = vec![ClumpSlot::NONE; peaks.len()];
        for (slot, clump) in clumps.iter().enumerate() {
            if let Some(own) = peaks.own(*clump) {
                of_own[own.at()] = ClumpSlot::new(slot);
            }
        }
        Self { clumps, peaks, of_own }
    }

    fn find(&self, clump: PeakNumber) -> ClumpSlot {
        match self.peaks.own(clump) {
            Some(own) => self.of_own[own.at()],
            None => {
                ClumpSlot::new(self.clumps.binary_search(&clump).expect("every end of a chain is listed"))
            }
        }
    }
}

/// The chains from the peaks of a rank to their clumps. Over ranks, items are peak numbers.
struct Chains<'a> {
    local: LocalChains<'a>,
    /// Chains that leave this rank, and chains from the ends of clump peaks on other ranks.
    exits: Vec<Bare>,
    /// The own peaks that are not noise.
    clump_peaks: Vec<PeakIdx>,
}

/// The chains within this rank.
struct LocalChains<'a> {
    peaks: &'a Peaks,
    rank: u32,
    /// For each own peak the next peak of its chain, by its index, or the number of own peaks plus that of an exit.
    /// Where a chain ends, its own index.
    up: Vec<AtomicU32>,
}

impl LocalChains<'_> {
    fn chain_end(&self, peak: PeakIdx) -> ChainStep<Bare> {
        let end = root(&self.up, peak.0) as usize;
        match end.checked_sub(self.peaks.len()) {
            Some(exit) => ChainStep::Exit(exit),
            None => ChainStep::End(Bare::end(remote(self.rank, self.peaks.number[end]))),
        }
    }

    /// From a peak of this rank.
    fn step(&self, number: PeakNumber) -> ChainStep<Bare> {
        self.chain_end(self.peaks.own(number).expect("a chain continues on the owner of its next peak"))
    }
}

fn remote(rank: u32, number: PeakNumber) -> RemoteIndex {
    RemoteIndex { rank, index: number.0 }
}

impl<'a> Chains<'a> {
    fn new(peaks: &'a Peaks, persistence: Persistence, rank: u32) -> Self {
        let n = peaks.len();
        let (death, owners) = (&peaks.tree.death, &peaks.tree.owners);
        let is_clump_peak = |i: usize| is_clump_peak(peaks, PeakIdx::new(i), persistence);
        let leaves = |i: &usize| owners[*i][1] != rank && !is_clump_peak(*i);
        let clump_peaks = (0..n).into_par_iter().filter(|i| is_clump_peak(*i)).map(PeakIdx::new).collect();
        let leaving: Vec<usize> = (0..n).into_par_iter().filter(leaves).collect();
        let next = |i: usize| match i < n && owners[i][1] == rank && !is_clump_peak(i) {
            true => peaks.own(death[i].endpoint).expect("the owner of a patch has its peak").at(),
            // An end, an exit, or a peak whose exit follows.
            false => i,
        };
        let up: Vec<AtomicU32> =
            (0..n + leaving.len()).into_par_iter().map(|i| AtomicU32::new(next(i) as u32)).collect();
        leaving.iter().enumerate().for_each(|(exit, &i)| up[i].store((n + exit) as u32, Relaxed));
        let exit = |&i: &usize| Bare::onward(remote(owners[i][1], death[i].endpoint));
        let exits = leaving.iter().map(exit).collect();
        Self { local: LocalChains { peaks, rank, up }, exits, clump_peaks }
    }

    /// The chains from the two patches at whose contact each clump peak dies.
    fn follow_ends(&mut self) -> Vec<[ChainStep<Bare>; 2]> {
        let never = ChainStep::End(Bare::end(remote(0, PeakNumber::NONE)));
        let LocalChains { peaks, rank, .. } = self.local;
        let mut all = Vec::with_capacity(self.clump_peaks.len());
        for &peak in &self.clump_peaks {
            let (death, owners) = (&peaks.tree.death[peak.at()], peaks.tree.owners[peak.at()]);
            let patches = [death.near, death.endpoint];
            all.push([0, 1].map(|side| match (patches[side], owners[side]) {
                (PeakNumber::NONE, _) => never,
                (patch, owner) if owner == rank => self.local.step(patch),
                (patch, owner) => {
                    self.exits.push(Bare::onward(remote(owner, patch)));
                    ChainStep::Exit(self.exits.len() - 1)
                }
            }));
        }
        all
    }

    /// The clumps at which chains of this rank end, ascending. The exits must be resolved.
    fn clumps(&self) -> Vec<PeakNumber> {
        let own = self.clump_peaks.iter().map(|peak| self.local.peaks.number[peak.at()]);
        let others = self.exits.iter().map(|exit| PeakNumber(exit.target().index));
        let mut clumps: Vec<PeakNumber> = own.chain(others).collect();
        clumps.sort_unstable();
        clumps.dedup();
        clumps
    }

    /// The clump at which a chain ends. The exits must be resolved.
    fn clump(&self, step: ChainStep<Bare>) -> PeakNumber {
        PeakNumber(lead_of(step, &self.exits).target().index)
    }
}
