//! Radial order: members sorted by their distance from a centre.

use super::members::HaloMembers;
use crate::packed_key;

/// The places of a list of members by (radius, identifier).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RadialOrder {
    /// The place in the list, by rising radius.
    pub place: Vec<u32>,
    /// The radius at each place of the order.
    pub radius: Vec<f64>,
}

impl RadialOrder {
    /// By distance from `centre`. Costs one sort.
    pub fn new(members: &HaloMembers, list: &[u32], centre: [f64; 3]) -> Self {
        Self::sorted(members, list, |member| distance(members.columns().position[member], centre))
    }

    /// By distance from `centre`, but no radius is less than the softening of its member.
    pub(super) fn softened(members: &HaloMembers, list: &[u32], centre: [f64; 3]) -> Self {
        let columns = members.columns();
        Self::sorted(members, list, |member| {
            distance(columns.position[member], centre).max(f64::from(columns.softening[member]))
        })
    }

    fn sorted(members: &HaloMembers, list: &[u32], radius_of: impl Fn(usize) -> f64) -> Self {
        let id = &members.columns().id;
        let radius: Vec<f64> = list.iter().map(|member| radius_of(*member as usize)).collect();
        let mut words: Vec<u64> =
            radius.iter().zip(0..).map(|(r, i)| packed_key::word(bits_of(*r), i)).collect();
        words.sort_unstable();
        packed_key::settle(&mut words, |a, b| {
            let identifier = |at: usize| id[list[at] as usize];
            radius[a]
                .total_cmp(&radius[b])
                .then_with(|| (identifier(a), list[a]).cmp(&(identifier(b), list[b])))
        });
        let place: Vec<u32> = words.iter().map(|word| packed_key::place_of(*word) as u32).collect();
        Self { radius: place.iter().map(|at| radius[*at as usize]).collect(), place }
    }
}

/// The distance of two points.
#[inline]
pub(super) fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    let d: [f64; 3] = std::array::from_fn(|axis| a[axis] - b[axis]);
    (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt()
}

/// The 32 bits after the sign of a radius, which is not negative. They have the order of the radii.
fn bits_of(radius: f64) -> u32 {
    (radius.to_bits() >> 31) as u32
}
