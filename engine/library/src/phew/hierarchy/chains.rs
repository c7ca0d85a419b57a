//! The chains of peaks, followed over the ranks to their clumps and on to their haloes.
//!
//! A noise peak points to the patch at which it ends (`noise`). The chain of these pointers ends at a peak
//! that is not noise: the peak of a clump. A clump that merges into a halo has a peak
//! that points to the patch at the other end of that saddle. The chain through both kinds of pointers ends at
//! the highest peak of the halo ([why](../README.md)). One rank cuts a halo: the owner of that peak.

use crate::exchange::chains::{ChainStep, Lead, Target, lead_of, resolve};
use crate::phew::hierarchy::noise::{Noise, NoiseTarget};
use crate::phew::peaks::Peaks;
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError};
use inselberg_kernels::ids::{ClumpSlot, PeakIdx, PeakName};
use inselberg_kernels::phew::hierarchy::Cut;
use inselberg_kernels::union_find::root;
use rayon::prelude::*;
use std::sync::atomic::AtomicU32;

/// A clump and the rank that cuts it. In the order of these ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClumpAt {
    /// The rank that cuts its halo.
    pub cutter: u32,
    /// The name of its peak.
    pub clump: PeakName,
}

impl ClumpAt {
    /// No clump: for a peak that never dies.
    pub const NONE: Self = Self { cutter: u32::MAX, clump: PeakName::NONE };
}

/// The clumps of the peaks of a rank.
pub struct Followed {
    /// The own peaks that are not noise: one per clump.
    pub clump_peaks: Vec<PeakIdx>,
    /// For each of these the rank that cuts its halo.
    pub cutters: Vec<u32>,
    /// For each of these the clumps of the two patches at whose contact it dies; `NONE` if it never does.
    pub ends: Vec<[ClumpAt; 2]>,
    /// The clumps that own patches are in, ascending.
    pub clumps: Vec<ClumpAt>,
    /// The clump of each own patch, by its place in `clumps`.
    pub of_peak: Vec<ClumpSlot>,
}

/// Collective: follows the chains of all peaks through noise and through those at which clumps
/// merge into haloes; without `merging` no clump merges. One exchange, and one per doubling of the ranks that the longest chain passes
/// through.
///
/// # Errors
/// When another rank fails.
pub fn follow(noise: Noise, merging: Option<&Cut>, comm: &Comm) -> Result<Followed, CommError> {
    let mut chains = Chains::new(noise, merging);
    let ends = chains.follow_ends();
    resolve(comm, &mut chains.exits, |name| chains.local.step(PeakName::from_word(name)))?;
    let own = chains.own_clumps();
    let left: Vec<ClumpAt> = chains.left_clumps().collect();
    let mut clumps = [own.as_slice(), &left].concat();
    clumps.par_sort_unstable();
    clumps.dedup();
    let of_peak = chains.slots(&clumps, &own, &left);
    let cutters = own.iter().map(|at| at.cutter).collect();
    let end_clump = |end: Option<_>| end.map_or(ClumpAt::NONE, |end| chains.clump(end));
    let ends = ends.into_par_iter().map(|ends| ends.map(end_clump)).collect();
    Ok(Followed { cutters, ends, of_peak, clumps, clump_peaks: chains.local.clump_peaks })
}

/// The known part of a chain: the peak that it has reached towards its halo, and the first clump on the way.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct ClumpLead {
    /// The peak that it has reached.
    to: PeakName,
    /// `NONE` before the first clump.
    clump: PeakName,
    is_end: u64,
}

impl ClumpLead {
    /// A chain that continues at a patch of another rank.
    fn onward(to: PeakName, clump: PeakName) -> Self {
        Self { to, clump, is_end: 0 }
    }
}

impl Lead for ClumpLead {
    /// Items are the words of names.
    fn target(&self) -> Target {
        Target { rank: self.to.owner(), item: self.to.word() }
    }

    fn is_end(&self) -> bool {
        self.is_end == 1
    }

    fn then(self, next: Self) -> Self {
        Self { clump: if self.clump.is_none() { next.clump } else { self.clump }, ..next }
    }
}

/// The chains from the peaks of a rank.
struct Chains<'a> {
    local: LocalChains<'a>,
    /// Chains that leave this rank: through noise, then through merging clumps. Then the chains from the ends
    /// of clump peaks on other ranks.
    exits: Vec<ClumpLead>,
    /// Number of those through noise.
    n_noise: usize,
}

/// The chains within this rank.
struct LocalChains<'a> {
    peaks: &'a Peaks,
    /// The own peaks that are not noise, ascending.
    clump_peaks: Vec<PeakIdx>,
    /// The place of each own peak among these; 0 for noise.
    place: Vec<u32>,
    /// For each own peak the next peak of its chain through noise, by its index, or the number of own peaks
    /// plus that of an exit. Where the chain ends, its own index.
    up: Vec<AtomicU32>,
    /// The same for the clump peaks, by their places, and the saddles above the threshold.
    merging: Vec<AtomicU32>,
}

/// The end of a chain through noise on a rank.
enum NoiseEnd {
    /// At an own clump peak.
    Own(PeakIdx),
    /// At the exit with this index.
    Exit(usize),
}

impl LocalChains<'_> {
    /// The end of the chain through noise from an own peak.
    fn noise_end(&self, peak: PeakIdx) -> NoiseEnd {
        let end = root(&self.up, peak.0) as usize;
        match end.checked_sub(self.peaks.len()) {
            Some(exit) => NoiseEnd::Exit(exit),
            None => NoiseEnd::Own(PeakIdx::new(end)),
        }
    }

    fn place(&self, clump_peak: PeakIdx) -> usize {
        self.place[clump_peak.at()] as usize
    }

    fn name(&self, place: usize) -> PeakName {
        self.peaks.name[self.clump_peaks[place].at()]
    }

    fn step_of(&self, peak: PeakIdx) -> ChainStep<ClumpLead> {
        let place = match self.noise_end(peak) {
            NoiseEnd::Own(end) => self.place(end),
            NoiseEnd::Exit(exit) => return ChainStep::Exit(exit),
        };
        let clump = self.name(place);
        let end = root(&self.merging, place as u32) as usize;
        match end.checked_sub(self.clump_peaks.len()) {
            Some(exit) => ChainStep::Through(ClumpLead::onward(clump, clump), exit),
            None => ChainStep::End(ClumpLead { to: self.name(end), clump, is_end: 1 }),
        }
    }

    /// From a peak of this rank.
    fn step(&self, name: PeakName) -> ChainStep<ClumpLead> {
        self.step_of(self.peaks.own(name).expect("a chain continues on the owner of its next peak"))
    }
}

impl<'a> Chains<'a> {
    fn new(noise: Noise<'a>, merging: Option<&Cut>) -> Self {
        let peaks = noise.peaks();
        let n = peaks.len();
        let target = |i: usize| noise.target(PeakIdx::new(i));
        let clump_peaks: Vec<PeakIdx> =
            (0..n).into_par_iter().map(PeakIdx::new).filter(|peak| noise.is_clump_peak(*peak)).collect();
        let mut place = vec![0; n];
        clump_peaks.iter().zip(0..).for_each(|(peak, at)| place[peak.at()] = at);
        let leaves = |i: usize| match target(i) {
            Some(NoiseTarget::Other(name)) => Some((i, name)),
            _ => None,
        };
        let leaving: Vec<(usize, PeakName)> = (0..n).into_par_iter().filter_map(leaves).collect();
        let next = |i: usize| match target(i) {
            Some(NoiseTarget::Own(next)) => next.at(),
            // An end, or a peak whose exit follows.
            _ => i,
        };
        let mut up: Vec<AtomicU32> = (0..n).into_par_iter().map(|i| AtomicU32::new(next(i) as u32)).collect();
        let ids = (n..n + leaving.len()).map(|i| i as u32);
        leaving.iter().zip(ids.clone()).for_each(|((i, _), exit)| up[*i] = AtomicU32::new(exit));
        up.extend(ids.map(AtomicU32::new));
        let exits = leaving.iter().map(|(_, name)| ClumpLead::onward(*name, PeakName::NONE)).collect();
        let local = LocalChains { peaks, clump_peaks, place, up, merging: Vec::new() };
        let mut chains = Self { local, exits, n_noise: leaving.len() };
        chains.merge(merging);
        chains
    }

    /// Makes each merging clump point to the clump at the other end of its saddle, or to an exit.
    fn merge(&mut self, merging: Option<&Cut>) {
        let LocalChains { peaks, ref clump_peaks, .. } = self.local;
        let n = clump_peaks.len();
        // The patch at the other end, if the clump merges.
        let endpoint = |peak: &PeakIdx| {
            let death = &peaks.tree.death[peak.at()];
            let merges = |cut: &Cut| cut.merges(peaks.tree.rho[peak.at()], death.saddle);
            (!death.is_never() && merging.is_some_and(merges)).then_some(death.endpoint)
        };
        let next = |place: usize| match endpoint(&clump_peaks[place]) {
            Some(patch) if peaks.tree.is_own(patch) => match self.local.noise_end(patch) {
                NoiseEnd::Own(end) => self.local.place(end),
                NoiseEnd::Exit(exit) => n + exit,
            },
            // An end, or a clump whose exit follows.
            _ => place,
        };
        let mut next: Vec<usize> = (0..n).into_par_iter().map(next).collect();
        if !peaks.tree.foreign.is_empty() {
            for (next, peak) in next.iter_mut().zip(clump_peaks) {
                if let Some(patch) = endpoint(peak).filter(|patch| !peaks.tree.is_own(*patch)) {
                    *next = n + self.exits.len();
                    self.exits.push(ClumpLead::onward(peaks.name_of(patch), PeakName::NONE));
                }
            }
        }
        next.extend(n..n + self.exits.len());
        self.local.merging = next.into_par_iter().map(|next| AtomicU32::new(next as u32)).collect();
    }

    /// The chains from the two patches at whose contact each clump peak dies; `None` if it never does.
    fn follow_ends(&mut self) -> Vec<[Option<ChainStep<ClumpLead>>; 2]> {
        let LocalChains { peaks, ref clump_peaks, .. } = self.local;
        let patches = |peak: &PeakIdx| {
            let death = &peaks.tree.death[peak.at()];
            [death.near, death.endpoint]
        };
        let within = |patch| peaks.tree.is_own(patch).then(|| self.local.step_of(patch));
        let mut all: Vec<_> = clump_peaks.par_iter().map(|peak| patches(peak).map(within)).collect();
        if peaks.tree.foreign.is_empty() {
            return all;
        }
        for (ends, peak) in all.iter_mut().zip(clump_peaks) {
            for (end, patch) in ends.iter_mut().zip(patches(peak)) {
                if end.is_none() && !patch.is_none() {
                    *end = Some(ChainStep::Exit(self.exits.len()));
                    self.exits.push(ClumpLead::onward(peaks.name_of(patch), PeakName::NONE));
                }
            }
        }
        all
    }

    /// The clump of each own clump peak. The exits must be resolved.
    fn own_clumps(&self) -> Vec<ClumpAt> {
        self.local.clump_peaks.par_iter().map(|peak| self.clump(self.local.step_of(*peak))).collect()
    }

    /// The clump of each chain that leaves through noise. The exits must be resolved.
    fn left_clumps(&self) -> impl Iterator<Item = ClumpAt> + '_ {
        (0..self.n_noise).map(|exit| self.clump(ChainStep::Exit(exit)))
    }

    /// The place of the clump of each own patch in `clumps`. `own` are the clumps of own clump peaks, `left`
    /// those of the chains that leave through noise.
    fn slots(&self, clumps: &[ClumpAt], own: &[ClumpAt], left: &[ClumpAt]) -> Vec<ClumpSlot> {
        let find = |at| ClumpSlot::new(clumps.binary_search(at).expect("every end of a chain is listed"));
        let of_own: Vec<ClumpSlot> = own.par_iter().map(find).collect();
        let of_exit: Vec<ClumpSlot> = left.par_iter().map(find).collect();
        let slot = |i: usize| match self.local.noise_end(PeakIdx::new(i)) {
            NoiseEnd::Own(end) => of_own[self.local.place(end)],
            NoiseEnd::Exit(exit) => of_exit[exit],
        };
        (0..self.local.peaks.len()).into_par_iter().map(slot).collect()
    }

    /// The clump of a chain. The exits must be resolved.
    fn clump(&self, step: ChainStep<ClumpLead>) -> ClumpAt {
        let lead = lead_of(step, &self.exits);
        ClumpAt { cutter: lead.to.owner(), clump: lead.clump }
    }
}
