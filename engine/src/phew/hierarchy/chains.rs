//! The pointers of noise to the patches where it ends, followed over the ranks to the clumps.

use crate::exchange::chains::{Bare, ChainStep, Lead, RemoteIndex, lead_of, resolve};
use crate::phew::peaks::Peaks;
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::ids::PeakIdx;
use inselberg_kernels::phew::hierarchy::is_noise;
use inselberg_kernels::union_find::root;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The clumps of the peaks of a rank.
pub struct Followed {
    /// The own peaks that are no noise: one a clump.
    pub seeds: Vec<usize>,
    /// The clumps of the two patches at which each of these ends, by global index.
    pub end_clumps: Vec<[PeakIdx; 2]>,
    /// The clumps that patches of this rank are in or end at, by ascending global index.
    pub clumps: Vec<PeakIdx>,
    /// The clump of each own patch, by its place among these.
    pub of_peak: Vec<PeakIdx>,
}

/// Whether an own peak is no noise.
pub fn is_seed(peaks: &Peaks, i: usize, relevance: f64) -> bool {
    let death = &peaks.tree.death[i];
    death.is_never() || !is_noise(peaks.tree.rho[i], death.saddle, relevance)
}

/// Collective: follows the pointers of all peaks that are noise at `relevance`. Two exchanges a doubling of the ranks that
/// the longest chain passes through.
///
/// # Errors
/// When another rank fails.
pub fn follow(peaks: &Peaks, relevance: f64, comm: &Comm) -> Result<Followed, CommError> {
    let mut chains = Chains::new(peaks, relevance, comm.rank().0);
    let ends = chains.follow_seeds(peaks);
    resolve(comm, &mut chains.exits, |global| chains.ends.step(global))?;
    let clumps = chains.clumps(peaks);
    let places = ClumpIndex::new(&clumps, peaks);
    let place = |i: usize| places.find(chains.clump(chains.ends.chain_end(i)));
    let of_peak = (0..peaks.len()).into_par_iter().map(place).collect();
    let end_clumps = ends.into_iter().map(|ends| ends.map(|end| chains.clump(end))).collect();
    Ok(Followed { end_clumps, of_peak, seeds: chains.seeds, clumps })
}

/// The places of clumps in an ascending list.
struct ClumpIndex<'a> {
    clumps: &'a [PeakIdx],
    peaks: &'a Peaks,
    /// That of the clump of each own peak; `NONE` where there is none.
    of_own: Vec<PeakIdx>,
}

impl<'a> ClumpIndex<'a> {
    fn new(clumps: &'a [PeakIdx], peaks: &'a Peaks) -> Self {
        let mut of_own = vec![PeakIdx::NONE; peaks.len()];
        for (place, clump) in clumps.iter().enumerate() {
            if let Some(own) = peaks.own(*clump) {
                of_own[own] = PeakIdx::new(place);
            }
        }
        Self { clumps, peaks, of_own }
    }

    fn find(&self, clump: PeakIdx) -> PeakIdx {
        match self.peaks.own(clump) {
            Some(own) => self.of_own[own],
            None => self.clumps.binary_search(&clump).map_or(PeakIdx::NONE, PeakIdx::new),
        }
    }
}

/// What leads from the peaks of a rank to their clumps. Items are global indices.
struct Chains<'a> {
    ends: Ends<'a>,
    /// Chains that leave this rank, and those from the ends of seeds on other ranks.
    exits: Vec<Bare>,
    /// The own peaks that are no noise.
    seeds: Vec<usize>,
}

/// Where the chain from each own peak comes to on this rank.
struct Ends<'a> {
    peaks: &'a Peaks,
    rank: u32,
    /// An own peak further on, or behind these the exits; roots where chains come to.
    up: Vec<AtomicU32>,
}

impl Ends<'_> {
    fn chain_end(&self, peak: usize) -> ChainStep<Bare> {
        let end = root(&self.up, peak as u32) as usize;
        match end.checked_sub(self.peaks.len()) {
            Some(exit) => ChainStep::Exit(exit),
            None => {
                ChainStep::End(Bare::end(RemoteIndex { rank: self.rank, index: self.peaks.global[end].0 }))
            }
        }
    }

    /// For a peak of this rank by its global index.
    fn step(&self, global: u32) -> ChainStep<Bare> {
        match self.peaks.own(PeakIdx(global)) {
            Some(peak) => self.chain_end(peak),
            None => ChainStep::End(Bare::end(RemoteIndex { rank: self.rank, index: PeakIdx::NONE.0 })),
        }
    }
}

impl<'a> Chains<'a> {
    fn new(peaks: &'a Peaks, relevance: f64, rank: u32) -> Self {
        let n = peaks.len();
        let is_seed = |&i: &usize| is_seed(peaks, i, relevance);
        let leaves = |&i: &usize| peaks.end_owners[i][1] != rank && !is_seed(&i);
        let seeds = (0..n).into_par_iter().filter(is_seed).collect();
        let leaving: Vec<usize> = (0..n).into_par_iter().filter(leaves).collect();
        let onward = |i: &usize| {
            Bare::onward(RemoteIndex {
                rank: peaks.end_owners[*i][1],
                index: peaks.tree.death[*i].endpoint.0,
            })
        };
        let first = |i: usize| match i < n && !is_seed(&i) {
            true => peaks.own(peaks.tree.death[i].endpoint).unwrap_or(i),
            false => i,
        };
        let up: Vec<AtomicU32> =
            (0..n + leaving.len()).into_par_iter().map(|i| AtomicU32::new(first(i) as u32)).collect();
        leaving.iter().enumerate().for_each(|(exit, &i)| up[i].store((n + exit) as u32, Relaxed));
        Self { ends: Ends { peaks, rank, up }, exits: leaving.iter().map(onward).collect(), seeds }
    }

    /// Where the chains from the two patches come to at which each seed ends.
    fn follow_seeds(&mut self, peaks: &Peaks) -> Vec<[ChainStep<Bare>; 2]> {
        let nowhere = ChainStep::End(Bare::end(RemoteIndex { rank: 0, index: PeakIdx::NONE.0 }));
        let mut all = Vec::with_capacity(self.seeds.len());
        for &i in &self.seeds {
            let (death, owners) = (&peaks.tree.death[i], peaks.end_owners[i]);
            let patches = [death.near, death.endpoint];
            all.push([0, 1].map(|side| match (patches[side], owners[side]) {
                (PeakIdx::NONE, _) => nowhere,
                (patch, owner) if owner == self.ends.rank => self.ends.step(patch.0),
                (patch, rank) => {
                    self.exits.push(Bare::onward(RemoteIndex { rank, index: patch.0 }));
                    ChainStep::Exit(self.exits.len() - 1)
                }
            }));
        }
        all
    }

    /// The clumps that chains of this rank end at, once the exits are resolved, ascending.
    fn clumps(&self, peaks: &Peaks) -> Vec<PeakIdx> {
        let own = self.seeds.iter().map(|&i| peaks.global[i]);
        let others = self.exits.iter().map(|exit| PeakIdx(exit.target().index));
        let mut clumps: Vec<PeakIdx> = own.chain(others).filter(|clump| !clump.is_none()).collect();
        clumps.sort_unstable();
        clumps.dedup();
        clumps
    }

    /// The peak that a chain ends at, once the exits are resolved.
    fn clump(&self, step: ChainStep<Bare>) -> PeakIdx {
        PeakIdx(lead_of(step, &self.exits).target().index)
    }
}
