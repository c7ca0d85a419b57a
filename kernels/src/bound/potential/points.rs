//! Points: the members of a list as the potentials take them, with lengths and masses near 1.
//!
//! Both scales are powers of two, so scaling loses no bits, and single precision neither overflows nor underflows whatever
//! the caller's units are.

use super::super::members::{HaloMembers, power_of_two_above};
use super::super::{Gravity, SourceTypes};
use super::softening::inverse_reach;

/// Members as points. Positions are in units of `length`, masses in units of `mass_unit`.
#[derive(Debug, Clone, Default)]
pub struct Points {
    pub(super) key: Vec<u64>,
    pub(super) position: Vec<[f64; 3]>,
    pub(super) mass: Vec<f32>,
    pub(super) inverse_reach: Vec<f32>,
    length: f64,
    mass_unit: f64,
}

impl Points {
    /// The points of members, which are listed by rising number. Members of other types than the sources have no mass.
    pub fn gather(&mut self, members: &HaloMembers, list: &[u32], sources: SourceTypes) {
        debug_assert!(list.is_sorted());
        let columns = members.columns();
        let mass_of = |i: u32| match sources.holds(columns.particle_type[i as usize]) {
            true => columns.mass[i as usize],
            false => 0.0,
        };
        let total: f64 = list.iter().map(|i| mass_of(*i)).sum();
        self.length = members.scale();
        self.mass_unit = power_of_two_above(total);
        fill(&mut self.key, list, |i| members.keys()[i as usize]);
        let per_length = 1.0 / self.length;
        fill(&mut self.position, list, |i| columns.position[i as usize].map(|x| x * per_length));
        let per_mass = 1.0 / self.mass_unit;
        fill(&mut self.mass, list, |i| (mass_of(i) * per_mass) as f32);
        let scale = self.length;
        fill(&mut self.inverse_reach, list, |i| inverse_reach(columns.softening[i as usize], scale));
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.key.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.key.is_empty()
    }

    /// By what a sum of mass over distance becomes a potential.
    pub(super) fn to_potential(&self, gravity: &Gravity) -> f64 {
        -gravity.g * (self.mass_unit / self.length)
    }
}

fn fill<T>(column: &mut Vec<T>, list: &[u32], value: impl Fn(u32) -> T) {
    column.clear();
    column.extend(list.iter().map(|i| value(*i)));
}
