//! Bound members of a clump: their energies and potentials, and which of them is the centre.

use super::super::members::HaloMembers;
use super::super::slices::{BlockSums, Slices, ordered_bits};
use crate::loops::{chosen, values};
use bytemuck::{Pod, Zeroable};
use std::cmp::Ordering;
use std::ops::Range;

/// The bound members of a clump, by rising number. Columns have one entry each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BoundMembers {
    /// Their numbers.
    pub member: Vec<u32>,
    /// Energy per mass, below 0. With RAMSES's rules it is relative to a member at rest at the border, and
    /// may have any value in a main clump.
    pub energy: Vec<f64>,
    /// Potential.
    pub potential: Vec<f64>,
}

/// The member of a slice with the lowest potential.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(in super::super) struct DeepestMember {
    potential: f64,
    id: u64,
    /// Its position.
    pub position: [f64; 3],
    /// Its velocity.
    pub velocity: [f64; 3],
}

impl BoundMembers {
    /// Number of bound members.
    pub fn len(&self) -> usize {
        self.member.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.member.is_empty()
    }

    /// The places of the bound members of this slice, the most bound first; equals by identifier. Costs a
    /// sort.
    pub fn ranked<S: Slices>(&self, members: &HaloMembers, slices: &S) -> Vec<u32> {
        let mut places: Vec<u32> = (0..self.len() as u32).collect();
        slices.sort(&mut places, |a, b| self.compare(members, *a, *b));
        places
    }

    /// The place of the member with the lowest potential, the centre of the bound members; equals by
    /// identifier. `None` if there are none.
    pub fn deepest(&self, members: &HaloMembers) -> Option<usize> {
        let id = |place: usize| members.columns().id[self.member[place] as usize];
        let order = |a: &usize, b: &usize| {
            let by_depth = self.potential[*a].total_cmp(&self.potential[*b]);
            by_depth.then_with(|| (id(*a), *a).cmp(&(id(*b), *b)))
        };
        (0..self.len()).min_by(order)
    }

    /// The mass of the bound members of all slices.
    ///
    /// # Errors
    /// Those of the slices.
    pub fn mass<S: Slices>(&self, members: &HaloMembers, slices: &S) -> Result<f64, S::Error> {
        let mass = &members.columns().mass;
        let mut sums = BlockSums::new(members.bounds(), [members.bounds().mass]);
        let of_block = |run: Range<usize>| [self.member[run].iter().map(|i| mass[*i as usize]).sum()];
        sums.add_blocks(slices, members.runs(&self.member), of_block);
        Ok(sums.over(slices)?[0])
    }

    /// The member of all slices with the lowest potential; equals by identifier.
    pub(in super::super) fn deepest_of_slices<S: Slices>(
        &self,
        members: &HaloMembers,
        slices: &S,
    ) -> Result<Option<DeepestMember>, S::Error> {
        let columns = members.columns();
        let own = self.deepest(members).map(|place| {
            let member = self.member[place] as usize;
            let (position, velocity) = (columns.position[member], columns.velocity[member]);
            DeepestMember { potential: self.potential[place], id: columns.id[member], position, velocity }
        });
        let own: Vec<DeepestMember> = own.into_iter().collect();
        let all = slices.gather(&own)?;
        let order = |of: &DeepestMember| (ordered_bits(of.potential), of.id);
        Ok(all.into_iter().flatten().min_by_key(order))
    }

    pub(super) fn compare(&self, members: &HaloMembers, a: u32, b: u32) -> Ordering {
        let id = |place: u32| members.columns().id[self.member[place as usize] as usize];
        self.energy[a as usize].total_cmp(&self.energy[b as usize]).then_with(|| (id(a), a).cmp(&(id(b), b)))
    }

    /// Keeps the members whose places a closure accepts. Returns the others.
    pub(super) fn retain<S: Slices>(&mut self, slices: &S, keep: impl Fn(usize) -> bool + Sync) -> Vec<u32> {
        let is_kept = values(slices, self.len(), keep);
        let removed = chosen(slices, self.len(), |place| !is_kept[place]);
        if removed.is_empty() {
            return removed;
        }
        let kept = chosen(slices, self.len(), |place| is_kept[place]);
        let at = |i: usize| kept[i] as usize;
        let Self { member, energy, potential } = std::mem::take(self);
        let removed = values(slices, removed.len(), |i| member[removed[i] as usize]);
        *self = Self {
            member: values(slices, kept.len(), |i| member[at(i)]),
            energy: values(slices, kept.len(), |i| energy[at(i)]),
            potential: values(slices, kept.len(), |i| potential[at(i)]),
        };
        removed
    }
}
