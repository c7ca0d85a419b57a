//! Spherical: the potential of the shells on which the members lie. One sort, then two sums.
//!
//! ```text
//!     phi_i = -G [ M(members before i) / r_i  +  sum over members j after i of m_j / r_j ]
//! ```
//!
//! The order is that of (radius, identifier). The radius of a member is no less than its softening. A member
//! at the centre without softening adds nothing to its own potential, nor to that of later members at the
//! centre.

use super::super::members::HaloMembers;
use super::super::radial::RadialMembers;
use super::super::slices::{BlockSums, SlicePart, Slices, Whole, greatest};
use super::super::{Gravity, SourceTypes};
use bytemuck::{Pod, Zeroable};

/// The potential of each listed member about a centre, in the order of the list. Time n log n.
pub fn spherical(
    members: &HaloMembers,
    list: &[u32],
    centre: [f64; 3],
    sources: SourceTypes,
    gravity: &Gravity,
    potential: &mut Vec<f64>,
) {
    let shells = SlicedShells { members, list, centre, sources, gravity, slices: &Whole };
    let Ok(()) = shells.potential(potential);
}

/// Members on shells, in slices.
pub(in super::super) struct SlicedShells<'a, S> {
    /// The members of this slice.
    pub members: &'a HaloMembers,
    /// The members that make shells and get potentials.
    pub list: &'a [u32],
    /// The centre.
    pub centre: [f64; 3],
    /// The types with a mass.
    pub sources: SourceTypes,
    /// Gravity.
    pub gravity: &'a Gravity,
    /// What joins the slices.
    pub slices: &'a S,
}

/// A potential on its way to the slice of its member.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct PlacedPotential {
    potential: f64,
    place: u64,
}

impl<S: Slices> SlicedShells<'_, S> {
    /// The potential of each listed member, in the order of the list.
    pub fn potential(&self, potential: &mut Vec<f64>) -> Result<(), S::Error> {
        let shells = RadialMembers::softened(self.members, self.list, self.centre, self.slices)?;
        let found = self.of_shells(&shells)?;
        potential.clear();
        potential.resize(self.list.len(), 0.0);
        if self.slices.number() == 1 {
            shells.place.iter().zip(found).for_each(|(place, found)| potential[*place as usize] = found);
            return Ok(());
        }
        let mut parts: Vec<SlicePart<PlacedPotential>> =
            (0..self.slices.number()).map(|slice| (slice, Vec::new())).collect();
        for ((place, slice), potential) in shells.place.iter().zip(&shells.slice).zip(found) {
            parts[*slice as usize].1.push(PlacedPotential { potential, place: u64::from(*place) });
        }
        let received = self.slices.exchange(parts)?;
        received.iter().flat_map(|(_, part)| part).for_each(|of| potential[of.place as usize] = of.potential);
        Ok(())
    }

    /// The potential of each shell.
    fn of_shells(&self, shells: &RadialMembers) -> Result<Vec<f64>, S::Error> {
        let mass = |at: usize| match self.sources.holds(shells.particle_type[at]) {
            true => shells.mass[at],
            false => 0.0,
        };
        let inverse = |at: usize| if shells.radius[at] > 0.0 { 1.0 / shells.radius[at] } else { 0.0 };
        // The first radius above 0 has the greatest inverse.
        let own = shells.radius.partition_point(|radius| *radius == 0.0);
        let most = if own < shells.len() { inverse(own) } else { 0.0 };
        let bounds = shells.bounds();
        let most = [bounds.mass, bounds.mass * greatest(self.slices, [most])?[0]];
        let mut own = BlockSums::new(bounds, most);
        for run in shells.runs() {
            let sums = run.map(|at| [mass(at), mass(at) * inverse(at)]);
            own.add(sums.fold([0.0; 2], |sum, term| [sum[0] + term[0], sum[1] + term[1]]));
        }
        let (mut before, all) = own.before_and_all(self.slices)?;
        let mut potential = vec![0.0; shells.len()];
        for run in shells.runs() {
            let mut sums = [0.0; 2];
            let [base, _] = before.values();
            for at in run.clone() {
                potential[at] = -self.gravity.g * (base + sums[0]) * inverse(at);
                sums = [sums[0] + mass(at), sums[1] + mass(at) * inverse(at)];
            }
            before.add(sums);
            let [_, base] = all.without(&before).values();
            let mut outside = 0.0;
            for at in run.rev() {
                potential[at] -= self.gravity.g * (base + outside);
                outside += mass(at) * inverse(at);
            }
        }
        Ok(potential)
    }
}
