//! Circular velocity: where is sqrt(G M(<= r) / r) largest?
//!
//! With softening no radius is less than the softening of its member. Without, members at the centre count only by their mass.

use super::super::Gravity;
use super::super::members::HaloMembers;
use super::super::radial::RadialOrder;

/// The maximum and its place; both 0 if no member is outside the centre.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MaximumCircularVelocity {
    /// The velocity.
    pub velocity: f64,
    /// The radius, no less than the softening there.
    pub radius: f64,
}

/// The maxima with and without softening. The first of equal ones counts.
pub fn maximum(
    members: &HaloMembers,
    list: &[u32],
    order: &RadialOrder,
    gravity: &Gravity,
) -> [MaximumCircularVelocity; 2] {
    let columns = members.columns();
    // Mass over radius, and radius.
    let mut most = [(0.0, 0.0); 2];
    let mut mass = 0.0;
    for (place, r) in order.place.iter().zip(&order.radius) {
        let member = list[*place as usize] as usize;
        mass += columns.mass[member];
        let softened = r.max(f64::from(columns.softening[member]));
        for (most, r) in most.iter_mut().zip([softened, *r]) {
            if mass > most.0 * r && r > 0.0 {
                *most = (mass / r, r);
            }
        }
    }
    most.map(|(ratio, radius)| MaximumCircularVelocity { velocity: (gravity.g * ratio).sqrt(), radius })
}
