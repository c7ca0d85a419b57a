//! The peak communicator: which peaks does a rank know, which ranks own them, and how do values get from
//! owners to ghost peaks and back?
//!
//! A rank knows its own peaks and its *ghost peaks*: those on other ranks to which its test cells or their
//! neighbours ascend. Each has a *slot* here. Slots are in the order of the names, so comparing slots gives
//! the result of comparing names. The communicator is built once the labels are known, and is valid as long
//! as the set of ghost peaks does not change. It keeps lists only for pairs of ranks that share a peak.

use crate::exchange::bundle::{Bundle, SendBuffers};
use crate::exchange::grouped;
use crate::phew::ghost_labels::{GhostAscent, Root};
use crate::phew::known_peaks::PeakColumns;
use crate::phew::test_links::TestLinks;
use bytemuck::Pod;
use dashmap::DashMap;
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_kernels::ids::{PeakIdx, PeakName, PeakSlot, RootIdx};
use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

/// See the module.
#[derive(Debug, Default)]
pub struct PeakComm {
    /// The slot of each own peak.
    pub own: Vec<PeakSlot>,
    /// Number of peaks on all ranks.
    pub n_global: u64,
    n_slots: usize,
    /// Slots of ghost peaks, by owner.
    ghosts: Vec<(Rank, Vec<PeakSlot>)>,
    /// The indices of the ghost peaks among the own peaks of their owners.
    indices: Vec<Vec<PeakIdx>>,
    /// Slots of own peaks that are ghost peaks elsewhere, by that rank, in the order of its list.
    mirrors: Vec<(Rank, Vec<PeakSlot>)>,
}

impl PeakComm {
    /// From the own peaks of `rank`, which have names, of `n_global` on all ranks, and the peaks of all
    /// ghosts. Also returns all known peaks, by slot. Local. Owners get the ghosts of their peaks from the
    /// first [`Self::announce`].
    pub fn new(rank: Rank, own: PeakColumns, n_global: u64, ghosts: &[GhostAscent]) -> (Self, PeakColumns) {
        let foreign = distinct(ghosts, rank.0);
        let n_own = own.len();
        if foreign.is_empty() {
            let slots = (0..n_own).into_par_iter().map(PeakSlot::new).collect();
            return (Self { own: slots, n_global, n_slots: n_own, ..Self::default() }, own);
        }
        let mut known = own;
        foreign.iter().for_each(|f| known.push(&f.peak));
        let mut order: Vec<PeakSlot> = (0..known.len()).map(PeakSlot::new).collect();
        order.par_sort_unstable_by_key(|i| known.name[i.at()]);
        let known = known.at(&order);
        let mut slots = vec![PeakSlot::NONE; order.len()];
        order.iter().enumerate().for_each(|(slot, i)| slots[i.at()] = PeakSlot::new(slot));
        let of_foreign: Vec<(&GhostAscent, PeakSlot)> =
            foreign.iter().zip(slots[n_own..].iter().copied()).collect();
        let ghosts = grouped(&of_foreign, |(f, slot)| (Rank(f.peak.name.owner()), *slot));
        let indices = grouped(&of_foreign, |(f, _)| (Rank(f.peak.name.owner()), PeakIdx(f.index)));
        slots.truncate(n_own);
        let indices = indices.into_iter().map(|(_, list)| list).collect();
        (Self { own: slots, n_global, n_slots: known.len(), ghosts, indices, mirrors: Vec::new() }, known)
    }

    /// Number of slots.
    pub fn n_slots(&self) -> usize {
        self.n_slots
    }

    /// The own ones of the known peaks, in the order of their cells. Not copied if all are own.
    pub fn own_of(&self, known: PeakColumns) -> PeakColumns {
        if self.own.len() == known.len() { known } else { known.at(&self.own) }
    }

    /// Finds the index of an own peak by its slot. Logarithmic in the number of ghost peaks.
    pub fn own_index(&self) -> impl Fn(PeakSlot) -> PeakIdx + use<> {
        let mut ghosts: Vec<PeakSlot> = self.ghosts.iter().flat_map(|(_, slots)| slots).copied().collect();
        ghosts.sort_unstable();
        move |slot| PeakIdx::new(slot.at() - ghosts.partition_point(|ghost| *ghost < slot))
    }

    /// Which peaks, by slot, other ranks may know, from the slots of test cells. Empty on a single rank.
    ///
    /// These are the peaks of other ranks, and own ones with a mirror in their patch. An ascent from another
    /// rank reaches this one at a mirror. So another rank knows none of the other peaks.
    pub fn shared(&self, links: &TestLinks, labels: &[PeakSlot]) -> Vec<bool> {
        if links.shared.links().is_empty() {
            return Vec::new();
        }
        let mut shared = vec![false; self.n_slots];
        let foreign = self.ghosts.iter().flat_map(|(_, slots)| slots);
        let mirrors = links.shared.links().iter().flat_map(|link| &link.mirrors);
        foreign.chain(mirrors.map(|cell| &labels[*cell as usize])).for_each(|slot| shared[slot.at()] = true);
        shared
    }

    /// The slot of each of the roots of these `classes`, where `ghosts` are the peaks of the ghosts and
    /// `names` those of the slots.
    pub fn slots_of(&self, classes: &[Root], ghosts: &[GhostAscent], names: &[PeakName]) -> Vec<PeakSlot> {
        let slots = SlotMap::new(names);
        let slot = |root: &Root| match root {
            Root::Own(index) => self.own[index.at()],
            Root::Ghost(ghost) => slots.find(ghosts[*ghost as usize].peak.name),
        };
        classes.par_iter().map(slot).collect()
    }

    /// Sends the owners the list of their peaks that are ghost peaks here, for [`Self::receive`].
    pub fn announce<const KINDS: usize>(&self, buffers: &mut SendBuffers<KINDS>, kind: usize) {
        for ((owner, _), indices) in self.ghosts.iter().zip(&self.indices) {
            buffers.put(*owner, kind, indices);
        }
    }

    /// Writes the values of ghost peaks to their owners, for [`Self::merge_received`]. The same buffers must
    /// [announce](Self::announce) the ghost peaks. `values` has one entry per slot.
    pub fn send<T: Pod, const KINDS: usize>(
        &self,
        buffers: &mut SendBuffers<KINDS>,
        kind: usize,
        values: &[T],
    ) {
        for (owner, slots) in &self.ghosts {
            let of_ghosts: Vec<T> = slots.iter().map(|s| values[s.at()]).collect();
            buffers.put(*owner, kind, &of_ghosts);
        }
    }

    /// Stores which own peaks are ghost peaks on which ranks.
    pub fn receive<const KINDS: usize>(&mut self, received: &[Bundle<KINDS>], kind: usize) {
        let slots = |bundle: &Bundle<KINDS>| {
            let indices: Vec<PeakIdx> = bundle.records(kind);
            (bundle.from, indices.iter().map(|&i| self.own[i.at()]).collect())
        };
        // Ranks whose bundles have only other records announce nothing.
        self.mirrors =
            received.iter().map(slots).filter(|(_, slots): &(_, Vec<_>)| !slots.is_empty()).collect();
    }

    /// Joins the values of ghost peaks elsewhere into the values of own peaks, after [`Self::receive`] of the
    /// same bundles. `join` must not depend on the order.
    pub fn merge_received<T: Pod, const KINDS: usize>(
        &self,
        received: &[Bundle<KINDS>],
        kind: usize,
        values: &mut [T],
        join: impl Fn(&mut T, &T),
    ) {
        // Ranks that announce nothing send no values either.
        let lists =
            received.iter().map(|bundle| bundle.records(kind)).filter(|list: &Vec<T>| !list.is_empty());
        for ((_, slots), of_ghosts) in self.mirrors.iter().zip(lists) {
            debug_assert_eq!(slots.len(), of_ghosts.len(), "a value per ghost peak");
            slots.iter().zip(&of_ghosts).for_each(|(slot, value)| join(&mut values[slot.at()], value));
        }
    }

    /// Collective: sets every ghost peak to its owner's value, after the first [`Self::receive`].
    /// `values` has one entry per slot. One exchange.
    ///
    /// # Errors
    /// When another rank fails.
    pub fn push<T: Pod>(&self, comm: &Comm, values: &mut [T]) -> Result<(), CommError> {
        let mut neighbours: Vec<Rank> = self.ghosts.iter().chain(&self.mirrors).map(|list| list.0).collect();
        neighbours.sort_unstable();
        neighbours.dedup();
        let part = |slots: &Vec<PeakSlot>| slots.iter().map(|s| values[s.at()]).collect();
        let parts = self.mirrors.iter().map(|(to, slots)| (*to, part(slots))).collect();
        let received = comm.exchange_with(&neighbours, parts)?;
        for ((_, slots), (_, pushed)) in self.ghosts.iter().zip(received) {
            slots.iter().zip(pushed).for_each(|(slot, value)| values[slot.at()] = value);
        }
        Ok(())
    }
}

/// The slots of the roots.
#[derive(Debug, Default)]
pub struct RootSlots {
    /// The slot of each root; empty if every root is its own slot.
    slots: Vec<PeakSlot>,
    /// For each root the number of slots before the first own peak at or after it, and at last the number of
    /// slots; empty as well where every root is its own slot.
    before: Vec<u32>,
}

impl RootSlots {
    /// On a single rank: every root is an own peak, and its index is its slot.
    pub const SAME: Self = Self { slots: Vec::new(), before: Vec::new() };

    /// From the slot and the class of each root.
    pub fn new(slots: Vec<PeakSlot>, classes: &[Root], known: &PeakComm) -> Self {
        let mut next = known.n_slots() as u32;
        let mut before = vec![next; classes.len() + 1];
        for (before, root) in before.iter_mut().zip(classes).rev() {
            if let Root::Own(index) = root {
                next = known.own[index.at()].0;
            }
            *before = next;
        }
        Self { slots, before }
    }

    /// The label of each test cell as a slot, in the memory of the roots.
    pub fn relabel(&self, labels: Vec<RootIdx>) -> Vec<PeakSlot> {
        let mut labels: Vec<u32> = bytemuck::cast_vec(labels);
        if !self.slots.is_empty() {
            labels.par_iter_mut().for_each(|label| *label = self.slots[*label as usize].0);
        }
        bytemuck::cast_vec(labels)
    }

    /// The number of slots before the first own peak at or after the n-th root.
    pub fn slots_before(&self, n_roots: usize) -> usize {
        if self.before.is_empty() { n_roots } else { self.before[n_roots] as usize }
    }
}

/// The peaks of other ranks, by owner and index there, each once.
fn distinct(ghosts: &[GhostAscent], rank: u32) -> Vec<GhostAscent> {
    let mut all: Vec<GhostAscent> = ghosts.iter().filter(|g| g.peak.name.owner() != rank).copied().collect();
    all.par_sort_unstable_by_key(|g| (g.peak.name.owner(), g.index));
    all.dedup_by_key(|g| (g.peak.name.owner(), g.index));
    all
}

/// Names to slots; filled and read by all threads.
struct SlotMap(DashMap<PeakName, PeakSlot, FxBuildHasher>);

impl SlotMap {
    fn new(names: &[PeakName]) -> Self {
        let map = DashMap::with_capacity_and_hasher(names.len(), FxBuildHasher);
        names.par_iter().enumerate().for_each(|(slot, name)| {
            map.insert(*name, PeakSlot::new(slot));
        });
        Self(map)
    }

    fn find(&self, name: PeakName) -> PeakSlot {
        *self.0.get(&name).expect("the peak of a ghost is known here")
    }
}
