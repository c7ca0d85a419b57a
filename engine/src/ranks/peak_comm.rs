//! The peak communicator: which peaks does this rank have to do with, who owns them, and how do values get
//! from owners to ghosts and back?
//!
//! A rank knows its own peaks and those, on other ranks, to which its test cells or their neighbours
//! ascend: its ghost peaks. All of them have a *slot* here, in the order of their global indices, so that
//! whatever compares slots compares as one rank would. It is built once the labels are known, and holds as
//! long as the set of ghost peaks does: lists are kept for pairs of ranks that share a peak only.

use super::labels::Ends;
use super::pointers::Target;
use super::{firsts_by_level, grouped};
use bytemuck::{Pod, Zeroable};
use dashmap::DashMap;
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::geom::cell_centre;
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

impl KnownPeak {
    /// Centre of its cell in units of the level-0 cell.
    #[inline]
    pub fn centre(&self) -> [f64; 3] {
        cell_centre(self.level as u8, self.ijk)
    }
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
    neighbours: Vec<Rank>,
    /// Slots of ghost peaks, by owner.
    ghosts: Vec<(Rank, Vec<PeakIdx>)>,
    /// Slots of own peaks that are ghosts elsewhere, by that rank; in the order of the list there.
    mirrors: Vec<(Rank, Vec<PeakIdx>)>,
}

impl PeakComm {
    /// Collective: from the own peaks (density, level, position; global index and owner are filled in) and
    /// the ends of all ascents. Also gives the slot of each end. One exchange of indices, one of peaks.
    ///
    /// # Errors
    /// When another rank fails, or there are more peaks than 32-bit indices can name.
    pub fn build(
        comm: &Comm,
        mut own: Vec<KnownPeak>,
        ends: &Ends,
    ) -> Result<(Self, Vec<PeakIdx>), CommError> {
        let rank = comm.rank().0;
        let n_global = number(comm, &mut own)?;
        if comm.n_ranks() == 1 {
            let slots: Vec<_> = (0..own.len()).map(PeakIdx::new).collect();
            let alone = Self { own: slots.clone(), known: own, n_global, ..Self::default() };
            return Ok((alone, slots));
        }
        let foreign = distinct(ends.peaks(rank).filter(|t| t.rank != rank));
        let served = comm.exchange(grouped(&foreign, |t| (Rank(t.rank), t.index)))?;
        let neighbours = joined(&foreign, &served);
        let peaks_for = |asked: &Vec<u32>| asked.iter().map(|&i| own[i as usize]).collect();
        let parts = served.iter().map(|(to, asked)| (*to, peaks_for(asked))).collect();
        let came: Vec<(Rank, Vec<KnownPeak>)> = comm.exchange_with(&neighbours, parts)?;
        let mut known = own.clone();
        known.extend(came.into_iter().flat_map(|(_, peaks)| peaks));
        let names: Vec<Target> =
            (0..own.len() as u32).map(|index| Target { rank, index }).chain(foreign).collect();
        let slots = Slots::sort(&mut known, &names);
        let slot = |target: Target| slots.0.get(&target).map_or(PeakIdx::NONE, |s| *s);
        let own = (0..own.len() as u32).map(|index| slot(Target { rank, index })).collect::<Vec<_>>();
        let ghosts = grouped(&names[own.len()..], |t| (Rank(t.rank), slot(*t)));
        let mirrors =
            served.iter().map(|(to, asked)| (*to, asked.iter().map(|&i| own[i as usize]).collect()));
        let slot_of_end = ends.peaks(rank).map(slot).collect();
        let mirrors = mirrors.collect();
        Ok((Self { known, own, n_global, neighbours, ghosts, mirrors }, slot_of_end))
    }

    /// Number of slots.
    pub fn n_slots(&self) -> usize {
        self.known.len()
    }

    /// Collective: gives every ghost peak its owner's value. `values` has one entry a slot. One exchange.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn push<T: Pod>(&self, comm: &Comm, values: &mut [T]) -> Result<(), CommError> {
        if comm.n_ranks() == 1 {
            return Ok(());
        }
        let came = self.send(comm, &self.mirrors, values)?;
        Self::take_in(&self.ghosts, came, |slot, value| values[slot.at()] = value);
        Ok(())
    }

    /// Collective: joins what ghosts have gathered into their owners' values; `join` must not care for
    /// the order. `values` has one entry a slot; those of ghosts are then used up. One exchange.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn reduce<T: Pod>(
        &self,
        comm: &Comm,
        values: &mut [T],
        join: impl Fn(&mut T, &T),
    ) -> Result<(), CommError> {
        if comm.n_ranks() == 1 {
            return Ok(());
        }
        let came = self.send(comm, &self.ghosts, values)?;
        Self::take_in(&self.mirrors, came, |slot, value| join(&mut values[slot.at()], &value));
        Ok(())
    }

    fn send<T: Pod>(
        &self,
        comm: &Comm,
        lists: &[(Rank, Vec<PeakIdx>)],
        values: &[T],
    ) -> Result<Vec<(Rank, Vec<T>)>, CommError> {
        let part = |slots: &Vec<PeakIdx>| slots.iter().map(|s| values[s.at()]).collect();
        comm.exchange_with(&self.neighbours, lists.iter().map(|(to, slots)| (*to, part(slots))).collect())
    }

    fn take_in<T: Pod>(
        lists: &[(Rank, Vec<PeakIdx>)],
        came: Vec<(Rank, Vec<T>)>,
        mut take: impl FnMut(PeakIdx, T),
    ) {
        for (from, values) in came {
            let Ok(place) = lists.binary_search_by_key(&from, |list| list.0) else { continue };
            for (&slot, value) in lists[place].1.iter().zip(values) {
                take(slot, value);
            }
        }
    }
}

/// Collective: gives own peaks, which are in the order of their cells, their global indices and owner.
/// Hands back the number of all peaks.
fn number(comm: &Comm, own: &mut [KnownPeak]) -> Result<u64, CommError> {
    let n_levels = own.last().map_or(0, |p| p.level as usize + 1);
    let mut counts = vec![0; n_levels];
    own.iter().for_each(|p| counts[p.level as usize] += 1);
    let (mut next, n_global) = firsts_by_level(comm, &counts)?;
    if n_global >= u64::from(u32::MAX) {
        return Err(comm.abort(format!("{n_global} peaks; at most {} can be named", u32::MAX - 1)));
    }
    for peak in own.iter_mut() {
        let next = &mut next[peak.level as usize];
        (peak.global, peak.owner) = (PeakIdx::new(*next as usize), comm.rank().0);
        *next += 1;
    }
    Ok(n_global)
}

/// Ascending, none twice.
fn distinct(targets: impl Iterator<Item = Target>) -> Vec<Target> {
    let mut all: Vec<Target> = targets.collect();
    all.par_sort_unstable();
    all.dedup();
    all
}

/// The ranks whose peaks are asked for here and those that ask for peaks of this one.
fn joined(foreign: &[Target], served: &[(Rank, Vec<u32>)]) -> Vec<Rank> {
    let mut ranks: Vec<Rank> =
        foreign.iter().map(|t| Rank(t.rank)).chain(served.iter().map(|s| s.0)).collect();
    ranks.sort_unstable();
    ranks.dedup();
    ranks
}

/// The slot of every peak known here by its name; filled and asked by all threads.
struct Slots(DashMap<Target, PeakIdx, FxBuildHasher>);

impl Slots {
    /// Puts `known` in the order of the global indices; `names` are its names in the order it has now.
    fn sort(known: &mut Vec<KnownPeak>, names: &[Target]) -> Self {
        let mut order: Vec<u32> = (0..known.len() as u32).collect();
        order.par_sort_unstable_by_key(|&i| known[i as usize].global);
        *known = order.par_iter().map(|&i| known[i as usize]).collect();
        let map = DashMap::with_capacity_and_hasher(order.len(), FxBuildHasher);
        order.par_iter().enumerate().for_each(|(slot, &i)| {
            map.insert(names[i as usize], PeakIdx::new(slot));
        });
        Self(map)
    }
}
