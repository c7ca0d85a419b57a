//! The peak communicator: which peaks does this rank have to do with, who owns them, and how do values get
//! from owners to ghosts and back?
//!
//! A rank knows its own peaks and those, on other ranks, to which its test cells or their neighbours
//! ascend: its ghost peaks. All of them have a *slot* here, in the order of their global indices, so that
//! whatever compares slots compares as one rank would. It is built once the labels are known, and holds as
//! long as the set of ghost peaks does: lists are kept for pairs of ranks that share a peak only.

use crate::exchange::bundle::{Bundle, SendBuffers};
use crate::exchange::{firsts_by_level, grouped};
use crate::phew::ghost_labels::{Ascent, End};
use bytemuck::{Pod, Zeroable};
use dashmap::DashMap;
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::ids::PeakIdx;
use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

/// A peak as any rank may know it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct KnownPeak {
    /// Density.
    pub rho: f64,
    /// Level of its cell.
    pub level: u32,
    /// Position of its cell on the grid of that level.
    pub ijk: [u32; 3],
    /// Global index.
    pub global: PeakIdx,
    /// The rank that owns it.
    pub owner: u32,
}

/// See the module.
#[derive(Debug, Default)]
pub struct PeakComm {
    /// Every peak known here, by slot.
    pub known: Vec<KnownPeak>,
    /// The slot of each own peak.
    pub own: Vec<PeakIdx>,
    /// Number of peaks on all ranks.
    pub n_global: u64,
    /// Slots of ghost peaks, by owner.
    ghosts: Vec<(Rank, Vec<PeakIdx>)>,
    /// The numbers of those among their owners' peaks.
    indices: Vec<Vec<u32>>,
    /// Slots of own peaks that are ghosts elsewhere, by that rank, in the order of the list there.
    mirrors: Vec<(Rank, Vec<PeakIdx>)>,
}

/// Collective: gives own peaks, which are in the order of their cells, their global indices and owner.
/// Hands back the number of all peaks.
///
/// # Errors
/// When another rank fails, or there are more peaks than 32-bit indices can name.
pub fn number(comm: &Comm, own: &mut [KnownPeak]) -> Result<u64, CommError> {
    let n_levels = own.last().map_or(0, |p| p.level as usize + 1);
    let starts: Vec<usize> =
        (0..=n_levels).map(|level| own.partition_point(|p| (p.level as usize) < level)).collect();
    let counts: Vec<u64> = starts.windows(2).map(|pair| (pair[1] - pair[0]) as u64).collect();
    let (firsts, n_global) = firsts_by_level(comm, &counts)?;
    if n_global >= u64::from(u32::MAX) {
        return Err(comm.abort(format!("{n_global} peaks; at most {} can be named", u32::MAX - 1)));
    }
    let owner = comm.rank().0;
    own.par_iter_mut().enumerate().for_each(|(i, peak)| {
        let level = peak.level as usize;
        peak.global = PeakIdx::new(firsts[level] as usize + i - starts[level]);
        peak.owner = owner;
    });
    Ok(n_global)
}

impl PeakComm {
    /// From the own peaks of `rank`, numbered, of `n_global` on all ranks, and the peaks of all ghosts. Owners do not
    /// know yet who has ghosts of their peaks: the first [`Self::announce`] tells them. Local.
    pub fn new(rank: Rank, own: Vec<KnownPeak>, n_global: u64, ghosts: &[Ascent]) -> Self {
        let foreign = distinct(ghosts, rank.0);
        let mut known = own;
        let n_own = known.len();
        if foreign.is_empty() {
            let own = (0..n_own).into_par_iter().map(PeakIdx::new).collect();
            return Self { known, own, n_global, ..Self::default() };
        }
        known.extend(foreign.iter().map(|f| f.peak));
        let mut order: Vec<u32> = (0..known.len() as u32).collect();
        order.par_sort_unstable_by_key(|&i| known[i as usize].global);
        known = order.par_iter().map(|&i| known[i as usize]).collect();
        let mut slot = vec![PeakIdx::NONE; order.len()];
        order.iter().enumerate().for_each(|(place, &i)| slot[i as usize] = PeakIdx::new(place));
        let of_foreign: Vec<(&Ascent, PeakIdx)> = foreign.iter().zip(slot[n_own..].iter().copied()).collect();
        let ghosts = grouped(&of_foreign, |(f, slot)| (Rank(f.peak.owner), *slot));
        let indices = grouped(&of_foreign, |(f, _)| (Rank(f.peak.owner), f.index));
        slot.truncate(n_own);
        let indices = indices.into_iter().map(|(_, list)| list).collect();
        Self { known, own: slot, n_global, ghosts, indices, mirrors: Vec::new() }
    }

    /// Number of slots.
    pub fn n_slots(&self) -> usize {
        self.known.len()
    }

    /// The slots of the ends of ascents, of these `kinds`, where `ghosts` are the peaks of ghosts.
    pub fn slots_of(&self, kinds: &[End], ghosts: &[Ascent]) -> Vec<PeakIdx> {
        let slots = Slots::new(&self.known);
        let slot = |end: &End| match end {
            End::Own(index) => self.own[*index as usize],
            End::Ghost(ghost) => slots.find(ghosts[*ghost as usize].peak.global),
        };
        kinds.par_iter().map(slot).collect()
    }

    /// Puts into an outbox, for the owners to [hear](Self::hear), of which of their peaks there are ghosts here.
    pub fn announce<const KINDS: usize>(&self, buffers: &mut SendBuffers<KINDS>, kind: usize) {
        for ((owner, _), indices) in self.ghosts.iter().zip(&self.indices) {
            buffers.put(*owner, kind, indices);
        }
    }

    /// Puts what ghosts have gathered into an outbox that [announces](Self::announce) them, for the owners to
    /// [take in](Self::take_in). `values` has one entry a slot.
    pub fn send<T: Pod, const KINDS: usize>(
        &self,
        buffers: &mut SendBuffers<KINDS>,
        kind: usize,
        values: &[T],
    ) {
        for (owner, slots) in &self.ghosts {
            let gathered: Vec<T> = slots.iter().map(|s| values[s.at()]).collect();
            buffers.put(*owner, kind, &gathered);
        }
    }

    /// Remembers who has ghosts of own peaks.
    pub fn receive<const KINDS: usize>(&mut self, received: &[Bundle<KINDS>], kind: usize) {
        let slots = |bundle: &Bundle<KINDS>| {
            let indices: Vec<u32> = bundle.records(kind);
            (bundle.from, indices.iter().map(|&i| self.own[i as usize]).collect())
        };
        self.mirrors =
            received.iter().map(slots).filter(|(_, slots): &(_, Vec<_>)| !slots.is_empty()).collect();
    }

    /// Joins what ghosts elsewhere have gathered into the values of own peaks, once they are
    /// [heard](Self::hear) of; `join` must not care for the order.
    pub fn merge_received<T: Pod, const KINDS: usize>(
        &self,
        received: &[Bundle<KINDS>],
        kind: usize,
        values: &mut [T],
        join: impl Fn(&mut T, &T),
    ) {
        let lists =
            received.iter().map(|bundle| bundle.records(kind)).filter(|list: &Vec<T>| !list.is_empty());
        for ((_, slots), gathered) in self.mirrors.iter().zip(lists) {
            slots.iter().zip(&gathered).for_each(|(slot, value)| join(&mut values[slot.at()], value));
        }
    }

    /// Collective: gives every ghost peak its owner's value; not before the first [`Self::receive`].
    /// `values` has one entry a slot. One exchange.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn push<T: Pod>(&self, comm: &Comm, values: &mut [T]) -> Result<(), CommError> {
        let mut neighbours: Vec<Rank> = self.ghosts.iter().chain(&self.mirrors).map(|list| list.0).collect();
        neighbours.sort_unstable();
        neighbours.dedup();
        let part = |slots: &Vec<PeakIdx>| slots.iter().map(|s| values[s.at()]).collect();
        let parts = self.mirrors.iter().map(|(to, slots)| (*to, part(slots))).collect();
        let received = comm.exchange_with(&neighbours, parts)?;
        for ((_, slots), (_, pushed)) in self.ghosts.iter().zip(received) {
            slots.iter().zip(pushed).for_each(|(slot, value)| values[slot.at()] = value);
        }
        Ok(())
    }
}

/// The peaks of other ranks, by owner and number, none twice.
fn distinct(ghosts: &[Ascent], rank: u32) -> Vec<Ascent> {
    let mut all: Vec<Ascent> = ghosts.iter().filter(|g| g.peak.owner != rank).copied().collect();
    all.par_sort_unstable_by_key(|g| (g.peak.owner, g.index));
    all.dedup_by_key(|g| (g.peak.owner, g.index));
    all
}

/// Global indices to slots; filled and asked by all threads.
struct Slots(DashMap<PeakIdx, PeakIdx, FxBuildHasher>);

impl Slots {
    fn new(known: &[KnownPeak]) -> Self {
        let map = DashMap::with_capacity_and_hasher(known.len(), FxBuildHasher);
        known.par_iter().enumerate().for_each(|(slot, peak)| {
            map.insert(peak.global, PeakIdx::new(slot));
        });
        Self(map)
    }

    fn find(&self, global: PeakIdx) -> PeakIdx {
        self.0.get(&global).map_or(PeakIdx::NONE, |slot| *slot)
    }
}
