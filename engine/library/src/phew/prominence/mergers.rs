//! Mergers: how significant is the other side of each saddle, the component into which a peak dies?
//!
//! The densest peak of a flat core is often a bump of a few particles. The core itself then dies into that
//! bump, and its own significance is high. So the part of the elder above the same saddle counts as well:
//!
//! ```text
//!              E                   E: the elder, a bump        its part above s: the few cells that it has above s
//!             /\     ____ d        d: a core, which dies       its part above s: the core
//!       s -- /  \___/    \___        into E at s
//! ```
//!
//! Peaks with a significance below 1 are noise anyway. The others are few. The owner of an elder lists those
//! that die into it, by their deaths, and each rank with cells of the elder gets the list. A cell counts from
//! the first of these deaths below its density. A peak that has died into the elder counts from the first of
//! them after its own death. The sums up to a death are the part of the elder above it.

use super::elders::{DeathTime, ElderIdx};
use super::parts::{PartCells, PartSums, Parts};
use super::{ElderSums, PatchElders};
use crate::exchange::grouped;
use crate::phew::peaks::{PeakProminence, Peaks};
use bytemuck::{Pod, Zeroable};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::ids::{PeakIdx, PeakName, PeakSlot};
use inselberg_kernels::phew::significance::ONE_DEVIATION;
use std::ops::Range;

/// The death of a significant peak.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Merger {
    /// The time of death.
    dies: DeathTime,
    /// The peak.
    dying: PeakName,
    /// The peak into whose component it dies.
    elder: PeakName,
}

/// Sums of a rank for one merger, for the owner of the elder.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct MergerSums {
    sums: PartSums,
    elder: PeakName,
    /// The place among the mergers of the elder.
    at: u64,
}

/// The mergers of the peaks that a rank knows.
pub struct Mergers<'a> {
    elders: &'a PatchElders<'a>,
    own: &'a Peaks,
    /// By elder, then by death.
    list: Vec<Merger>,
    /// For each peak of the tree its first merger as an elder, and the end.
    first: Vec<u32>,
}

impl<'a> Mergers<'a> {
    /// Collective: the mergers at which significant peaks die. Three exchanges.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn new(
        elders: &'a PatchElders<'a>,
        own: &'a Peaks,
        of_peaks: &[PeakProminence],
        comm: &Comm,
    ) -> Result<Self, CommError> {
        let place = |merger: &Merger| elders.tree.find(merger.elder).at();
        let mut list = at_owners(elders, own, of_peaks, comm)?;
        list.sort_unstable_by(|a, b| place(a).cmp(&place(b)).then_with(|| a.dies.order(&b.dies)));
        let mut mergers = Self { elders, own, list, first: Vec::new() };
        mergers.index();
        let foreign = mergers.fetch(comm)?;
        mergers.list.extend(foreign);
        mergers.list.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| a.dies.order(&b.dies)));
        mergers.index();
        Ok(mergers)
    }

    /// Finds the range of each elder in the sorted list.
    fn index(&mut self) {
        self.first = vec![0; self.elders.tree.n_peaks() + 1];
        for merger in &self.list {
            self.first[self.elders.tree.find(merger.elder).at() + 1] += 1;
        }
        let mut before = 0;
        for first in &mut self.first {
            before += *first;
            *first = before;
        }
    }

    /// The mergers of an elder.
    fn range(&self, elder: ElderIdx) -> Range<usize> {
        self.first[elder.at()] as usize..self.first[elder.at() + 1] as usize
    }

    /// Collective: the mergers of elders on other ranks. Two exchanges.
    fn fetch(&self, comm: &Comm) -> Result<Vec<Merger>, CommError> {
        let mut asked = self.elders.tree.foreign().to_vec();
        asked.sort_unstable_by_key(|name| (name.owner(), *name));
        let questions = comm.exchange(grouped(&asked, |name| (Rank(name.owner()), *name)))?;
        let of_name = |name: &PeakName| &self.list[self.range(self.elders.tree.find(*name))];
        let answer = |names: Vec<PeakName>| names.iter().flat_map(of_name).copied().collect();
        let answers = questions.into_iter().map(|(from, names)| (from, answer(names))).collect();
        Ok(comm.exchange::<Merger>(answers)?.into_iter().flat_map(|(_, list)| list).collect())
    }

    /// Collective: the sums over the part of the elder above the saddle, for each significant own peak.
    /// `totals` are the sums over the parts of the own peaks. Two exchanges.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn elder_parts(
        &self,
        totals: &[PartSums],
        cells: &impl PartCells,
        comm: &Comm,
    ) -> Result<Vec<(PeakIdx, PartSums)>, CommError> {
        let mut sums = cells.sums(self);
        for (i, total) in totals.iter().enumerate() {
            if let Some(part) = self.after_death(PeakIdx::new(i)) {
                sums[part].merge(total);
            }
        }
        self.add_foreign(&mut sums, comm)?;
        let mut found = self.up_to_deaths(&sums);
        found.sort_unstable_by_key(|of| (of.name.owner(), of.name));
        let received = comm.exchange(grouped(&found, |of| (Rank(of.name.owner()), *of)))?;
        let own =
            |of: ElderSums| (self.own.own(of.name).expect("parts go to the owner of the peak"), of.sums);
        Ok(received.into_iter().flat_map(|(_, list)| list).map(own).collect())
    }

    /// The first merger of the elder of an own peak after the death of that peak.
    fn after_death(&self, peak: PeakIdx) -> Option<usize> {
        let (dies, elder) = self.elders.tree.death_of(peak)?;
        let range = self.range(elder);
        let at = self.list[range.clone()].partition_point(|merger| merger.dies.order(&dies).is_le());
        (at < range.len()).then_some(range.start + at)
    }

    /// Collective: adds the sums for elders of other ranks to those of their owners. One exchange.
    fn add_foreign(&self, sums: &mut [PartSums], comm: &Comm) -> Result<(), CommError> {
        let n_own = self.first[self.own.len()] as usize;
        let record = |(merger, sums): (usize, &PartSums)| {
            let elder = self.list[merger].elder;
            let at = merger - self.range(self.elders.tree.find(elder)).start;
            MergerSums { sums: *sums, elder, at: at as u64 }
        };
        let foreign = sums.iter().enumerate().skip(n_own).filter(|(_, sums)| **sums != PartSums::default());
        let mut sent: Vec<MergerSums> = foreign.map(record).collect();
        sent.sort_unstable_by_key(|of| (of.elder.owner(), of.elder, of.at));
        for of in
            comm.exchange(grouped(&sent, |of| (Rank(of.elder.owner()), *of)))?.into_iter().flat_map(|r| r.1)
        {
            let elder = self.elders.tree.find(of.elder);
            sums[self.range(elder).start + of.at as usize].merge(&of.sums);
        }
        Ok(())
    }

    /// For each merger of an own elder the sums up to it, with the name of the peak that dies.
    fn up_to_deaths(&self, sums: &[PartSums]) -> Vec<ElderSums> {
        let n_own = self.first[self.own.len()] as usize;
        let mut found: Vec<ElderSums> = Vec::with_capacity(n_own);
        for (i, (merger, sums)) in self.list[..n_own].iter().zip(sums).enumerate() {
            let mut all = *sums;
            if i > 0 && self.list[i - 1].elder == merger.elder {
                all.merge(&found[i - 1].sums);
            }
            found.push(ElderSums { sums: all, name: merger.dying, unused: 0 });
        }
        found
    }
}

/// Collective: the mergers of which this rank owns the elder. One exchange.
fn at_owners(
    elders: &PatchElders,
    own: &Peaks,
    of_peaks: &[PeakProminence],
    comm: &Comm,
) -> Result<Vec<Merger>, CommError> {
    let stands_out = |i: &usize| of_peaks[*i].prominence.significance >= ONE_DEVIATION;
    let merger = |i: usize| {
        let (dies, _) = elders.tree.death_of(PeakIdx::new(i))?;
        Some(Merger { dies, dying: own.name[i], elder: of_peaks[i].elder })
    };
    let mut sent: Vec<Merger> = (0..own.len()).filter(stands_out).filter_map(merger).collect();
    sent.sort_unstable_by_key(|merger| (merger.elder.owner(), merger.dying));
    let received = comm.exchange(grouped(&sent, |merger| (Rank(merger.elder.owner()), *merger)))?;
    Ok(received.into_iter().flat_map(|(_, list)| list).collect())
}

/// A cell counts from the first merger below it, of the peak for whose part it counts.
impl Parts for Mergers<'_> {
    fn n_parts(&self) -> usize {
        self.list.len()
    }

    #[inline]
    fn part_of(&self, patch: PeakSlot, rho: f64) -> Option<u32> {
        let range = self.range(self.elders.above(patch, rho));
        let at = self.list[range.clone()].partition_point(|merger| merger.dies.saddle >= rho);
        (at < range.len()).then_some((range.start + at) as u32)
    }
}
