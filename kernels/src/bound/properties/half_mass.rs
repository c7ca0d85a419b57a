//! Half-mass radii: within which distance of the centre is half the mass of each component?
//!
//! The mass within r is taken as linear between members, and from 0 at the centre to the first one.

use super::super::members::HaloMembers;
use super::super::radial::RadialOrder;
use super::{ByComponent, Component};

/// The half-mass radius of each component of the listed members; 0 of one without mass.
pub fn half_mass_radii(members: &HaloMembers, list: &[u32], order: &RadialOrder) -> ByComponent<f64> {
    let columns = members.columns();
    // Total mass by type first, so that the search passes the order only once.
    let mut half = [0.0; 5];
    let member_at = |at: usize| list[order.place[at] as usize] as usize;
    for at in 0..list.len() {
        let member = member_at(at);
        for (component, half) in Component::ALL.into_iter().zip(&mut half) {
            if component.holds(columns.particle_type[member]) {
                *half += 0.5 * columns.mass[member];
            }
        }
    }
    let mut found = [None; 5];
    let mut inner = [(0.0, 0.0); 5];
    for at in 0..list.len() {
        let (member, r) = (member_at(at), order.radius[at]);
        for (i, component) in Component::ALL.into_iter().enumerate() {
            if found[i].is_none() && component.holds(columns.particle_type[member]) {
                let (radius, mass) = inner[i];
                let outer = mass + columns.mass[member];
                if outer >= half[i] && outer > mass {
                    found[i] = Some(radius + (r - radius) * ((half[i] - mass) / (outer - mass)));
                }
                inner[i] = (r, outer);
            }
        }
        if found.iter().all(Option::is_some) {
            break;
        }
    }
    // A component without mass has no half-mass radius.
    ByComponent(found.map(|radius| radius.unwrap_or(0.0)))
}
