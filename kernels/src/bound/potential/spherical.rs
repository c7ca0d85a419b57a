//! Spherical: the potential of the shells on which the members lie. One sort, then two sums.
//!
//! ```text
//!     phi_i = -G [ M(members before i) / r_i  +  sum over members j after i of m_j / r_j ]
//! ```
//!
//! The order is that of (radius, identifier). The radius of a member is no less than its softening. A member at the
//! centre without softening adds nothing to its own potential or to that of members after it at the centre.

use super::super::members::HaloMembers;
use super::super::radial::RadialOrder;
use super::super::{Gravity, SourceTypes};

/// The potential of each listed member about a centre, in the order of the list. Time n log n.
pub fn spherical(
    members: &HaloMembers,
    list: &[u32],
    centre: [f64; 3],
    sources: SourceTypes,
    gravity: &Gravity,
    potential: &mut Vec<f64>,
) {
    let columns = members.columns();
    let shells = RadialOrder::softened(members, list, centre);
    let mass = |at: usize| {
        let member = list[shells.place[at] as usize] as usize;
        if sources.holds(columns.particle_type[member]) { columns.mass[member] } else { 0.0 }
    };
    let inverse = |at: usize| if shells.radius[at] > 0.0 { 1.0 / shells.radius[at] } else { 0.0 };
    potential.clear();
    potential.resize(list.len(), 0.0);
    let mut within = 0.0;
    for at in 0..list.len() {
        potential[shells.place[at] as usize] = -gravity.g * within * inverse(at);
        within += mass(at);
    }
    let mut outside = 0.0;
    for at in (0..list.len()).rev() {
        potential[shells.place[at] as usize] -= gravity.g * outside;
        outside += mass(at) * inverse(at);
    }
}
