//! The frame of a clump: mean position and velocity of its core.

use super::super::members::HaloMembers;

/// Fewest members of a core.
const FEWEST: usize = 20;

/// Part of the members in a core: one in so many.
const PART: usize = 10;

/// A frame of rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CoreFrame {
    position: [f64; 3],
    velocity: [f64; 3],
}

impl CoreFrame {
    /// The frame of the tenth of the listed members with the least `depth`, but of 20 at least. Members at the limit count
    /// all. A member with more than half of all mass is the frame alone: it feels little of the potential that it makes.
    /// `values` is working memory.
    pub fn new(members: &HaloMembers, list: &[u32], depth: &[f64], values: &mut Vec<f64>) -> Self {
        if let Some(heaviest) = dominant(members, list) {
            return Self::mean(members, std::iter::once(heaviest));
        }
        let n_core = (list.len() / PART).max(FEWEST).min(list.len());
        values.clear();
        values.extend_from_slice(depth);
        let (_, limit, _) = values.select_nth_unstable_by(n_core - 1, f64::total_cmp);
        let limit = *limit;
        Self::mean(
            members,
            list.iter().zip(depth).filter(|(_, depth)| **depth <= limit).map(|(member, _)| *member),
        )
    }

    /// The mean over members, weighted by mass; if all masses are 0, every member counts the same.
    pub fn mean(members: &HaloMembers, list: impl Iterator<Item = u32> + Clone) -> Self {
        let columns = members.columns();
        let is_massive = list.clone().any(|member| columns.mass[member as usize] > 0.0);
        let weight = |member: u32| if is_massive { columns.mass[member as usize] } else { 1.0 };
        let average = |vectors: &[[f64; 3]]| {
            let (mut total, mut sums) = (0.0, [0.0; 3]);
            for member in list.clone() {
                let (weight, x) = (weight(member), vectors[member as usize]);
                total += weight;
                (0..3).for_each(|a| sums[a] += weight * x[a]);
            }
            sums.map(|sum| sum / total)
        };
        Self { position: average(&columns.position), velocity: average(&columns.velocity) }
    }

    /// The velocity of the frame.
    pub fn velocity(&self) -> [f64; 3] {
        self.velocity
    }

    /// The kinetic energy per mass of a member in this frame, with the Hubble flow.
    #[inline]
    pub fn kinetic(&self, members: &HaloMembers, member: u32, hubble_flow: f64) -> f64 {
        let (x, v) =
            (members.columns().position[member as usize], members.columns().velocity[member as usize]);
        let w: [f64; 3] =
            std::array::from_fn(|a| v[a] - self.velocity[a] + hubble_flow * (x[a] - self.position[a]));
        0.5 * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    }
}

/// The member with more than half of the mass of a list.
fn dominant(members: &HaloMembers, list: &[u32]) -> Option<u32> {
    let mass = |member: &u32| members.columns().mass[*member as usize];
    let total: f64 = list.iter().map(mass).sum();
    list.iter().copied().find(|member| mass(member) > 0.5 * total)
}
