//! Bound members of a clump: their energies and potentials, and which of them is the centre.

use super::super::members::HaloMembers;
use super::super::slices::{BlockSums, Slices, ordered_bits};
use bytemuck::{Pod, Zeroable};
use std::cmp::Ordering;

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

    /// The places of the bound members, the most bound first; equals by identifier. Costs a sort.
    pub fn ranked(&self, members: &HaloMembers) -> Vec<u32> {
        let mut places: Vec<u32> = (0..self.len() as u32).collect();
        places.sort_unstable_by(|a, b| self.compare(members, *a, *b));
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
        for run in members.runs(&self.member) {
            sums.add([self.member[run].iter().map(|member| mass[*member as usize]).sum()]);
        }
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
    pub(super) fn retain(&mut self, keep: impl Fn(usize) -> bool) -> Vec<u32> {
        let (mut kept, mut removed) = (0, Vec::new());
        for place in 0..self.len() {
            if keep(place) {
                self.member[kept] = self.member[place];
                self.energy[kept] = self.energy[place];
                self.potential[kept] = self.potential[place];
                kept += 1;
            } else {
                removed.push(self.member[place]);
            }
        }
        self.member.truncate(kept);
        self.energy.truncate(kept);
        self.potential.truncate(kept);
        removed
    }
}
