//! Spin: how much of its support against gravity is rotation? Three definitions under three names.
//!
//! | name | definition | source |
//! |---|---|---|
//! | [`spin_parameter`] | L / (√2 M V_max R), inside R | SOAP; R is R_max for bound members, else the radius of the sphere |
//! | [`spin_bullock`] | L / (√2 M V R), V² = G M / R | Bullock et al. 2001; as in Rockstar |
//! | [`spin_peebles`] | L √abs(E) / (G M^2.5) | Peebles 1969 |

use super::super::Gravity;
use super::super::members::HaloMembers;
use super::super::radial::distance;
use super::super::slices::{BlockSums, Slices, Whole};
use super::sums::{cross, dot, minus};
use std::ops::Range;

/// Mass and angular momentum inside a radius.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RotatingMass {
    /// Mass.
    pub mass: f64,
    /// Angular momentum about the centre.
    pub angular_momentum: [f64; 3],
}

/// Mass and angular momentum of listed members inside `radius` about `centre`, in the frame of `velocity`.
pub fn inside(
    members: &HaloMembers,
    list: &[u32],
    radius: f64,
    centre: [f64; 3],
    velocity: [f64; 3],
) -> RotatingMass {
    let sphere = SpinSphere { radius, centre, velocity };
    let Ok(found) = sphere.inside(members, list, &Whole);
    found
}

/// A sphere and a frame.
pub(super) struct SpinSphere {
    /// Its radius.
    pub radius: f64,
    /// Its centre.
    pub centre: [f64; 3],
    /// The velocity of the frame.
    pub velocity: [f64; 3],
}

impl SpinSphere {
    /// The content, of a slice and of all slices.
    pub fn inside<S: Slices>(
        &self,
        members: &HaloMembers,
        list: &[u32],
        slices: &S,
    ) -> Result<RotatingMass, S::Error> {
        let (columns, bounds) = (members.columns(), members.bounds());
        let speed = bounds.speed + self.velocity.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let most = bounds.mass * (8.0 * bounds.reach * speed);
        let mut sums = BlockSums::new(bounds, [bounds.mass, most, most, most]);
        let of_block = |run: Range<usize>| {
            let mut block = [0.0; 4];
            for member in list[run].iter().map(|member| *member as usize) {
                if distance(columns.position[member], self.centre) <= self.radius {
                    let d = minus(columns.position[member], self.centre);
                    let spin = cross(d, minus(columns.velocity[member], self.velocity));
                    block[0] += columns.mass[member];
                    (0..3).for_each(|a| block[1 + a] += columns.mass[member] * spin[a]);
                }
            }
            block
        };
        sums.add_blocks(slices, members.runs(list), of_block);
        let [mass, angular_momentum @ ..] = sums.over(slices)?;
        Ok(RotatingMass { mass, angular_momentum })
    }
}

/// SOAP's `SpinParameter` from the content of `radius`; 0 without mass or extent.
pub fn spin_parameter(inside: &RotatingMass, maximum_circular_velocity: f64, radius: f64) -> f64 {
    ratio(length(inside.angular_momentum), 2f64.sqrt() * inside.mass * maximum_circular_velocity * radius)
}

/// The spin of Bullock et al. 2001 from the content of `radius`; 0 without mass or extent.
pub fn spin_bullock(inside: &RotatingMass, radius: f64, gravity: &Gravity) -> f64 {
    // M V R with V = sqrt(G M / R).
    let support = 2f64.sqrt() * inside.mass * (gravity.g * inside.mass * radius).sqrt();
    ratio(length(inside.angular_momentum), support)
}

/// The spin of Peebles 1969; 0 without mass. `energy` is the sum of kinetic and potential energy.
pub fn spin_peebles(angular_momentum: [f64; 3], mass: f64, energy: f64, gravity: &Gravity) -> f64 {
    ratio(length(angular_momentum) * energy.abs().sqrt(), gravity.g * (mass * mass) * mass.sqrt())
}

fn ratio(above: f64, below: f64) -> f64 {
    if below > 0.0 { above / below } else { 0.0 }
}

fn length(x: [f64; 3]) -> f64 {
    dot(x, x).sqrt()
}
