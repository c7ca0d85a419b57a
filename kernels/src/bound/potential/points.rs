//! Points: the members of a list as the potentials take them, with lengths and masses near 1.
//!
//! Both scales are powers of two, so scaling loses no bits, and single precision neither overflows nor
//! underflows whatever the caller's units are.

use super::super::members::{HaloMembers, power_of_two_above};
use super::super::slices::{BlockSums, Slices, Whole};
use super::super::{Gravity, SourceTypes};
use super::softening::inverse_reach;
use bytemuck::{Pod, Zeroable};
use std::ops::Range;

/// Members as points. Positions are in units of `length`, masses in units of `mass_unit`.
#[derive(Debug, Clone, Default)]
pub struct Points {
    pub(super) key: Vec<u64>,
    pub(super) position: Vec<[f64; 3]>,
    pub(super) mass: Vec<f32>,
    pub(super) inverse_reach: Vec<f32>,
    length: f64,
    mass_unit: f64,
    total: f64,
}

/// A point, as slices exchange it.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct PointRecord {
    key: u64,
    position: [f64; 3],
    mass: f32,
    inverse_reach: f32,
}

impl Points {
    /// The points of members, which are listed by rising number. Members of types that are not sources have
    /// no mass.
    pub fn gather(&mut self, members: &HaloMembers, list: &[u32], sources: SourceTypes) {
        let Ok(()) = self.gather_slice(members, list, sources, &Whole);
    }

    /// The same of a slice of the list. Masses are in the unit of the whole list.
    pub(in super::super) fn gather_slice<S: Slices>(
        &mut self,
        members: &HaloMembers,
        list: &[u32],
        sources: SourceTypes,
        slices: &S,
    ) -> Result<(), S::Error> {
        debug_assert!(list.is_sorted());
        let columns = members.columns();
        let mass_of = |i: u32| match sources.holds(columns.particle_type[i as usize]) {
            true => columns.mass[i as usize],
            false => 0.0,
        };
        let mut total = BlockSums::new(members.bounds(), [members.bounds().mass]);
        let of_block = |run: Range<usize>| [list[run].iter().map(|i| mass_of(*i)).sum()];
        total.add_blocks(slices, members.runs(list), of_block);
        self.length = members.scale();
        [self.total] = total.over(slices)?;
        self.mass_unit = power_of_two_above(self.total);
        let (per_length, per_mass, scale) = (1.0 / self.length, 1.0 / self.mass_unit, self.length);
        let n = list.len();
        slices.fill(&mut self.key, n, |i| members.keys()[list[i] as usize]);
        slices.fill(&mut self.position, n, |i| columns.position[list[i] as usize].map(|x| x * per_length));
        slices.fill(&mut self.mass, n, |i| (mass_of(list[i]) * per_mass) as f32);
        slices
            .fill(&mut self.inverse_reach, n, |i| inverse_reach(columns.softening[list[i] as usize], scale));
        Ok(())
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.key.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.key.is_empty()
    }

    /// The mass of the points of all slices, in the units of the members.
    pub(in super::super) fn mass(&self) -> f64 {
        self.total
    }

    /// A point, as slices exchange it.
    pub(super) fn record(&self, i: usize) -> PointRecord {
        PointRecord {
            key: self.key[i],
            position: self.position[i],
            mass: self.mass[i],
            inverse_reach: self.inverse_reach[i],
        }
    }

    /// Adds a point.
    pub(super) fn push(&mut self, record: &PointRecord) {
        self.key.push(record.key);
        self.position.push(record.position);
        self.mass.push(record.mass);
        self.inverse_reach.push(record.inverse_reach);
    }

    /// Removes the first points.
    pub(super) fn drop_first(&mut self, n: usize) {
        self.key.drain(..n);
        self.position.drain(..n);
        self.mass.drain(..n);
        self.inverse_reach.drain(..n);
    }

    /// No points, in the same units.
    pub(super) fn without_points(&self) -> Self {
        Self { length: self.length, mass_unit: self.mass_unit, total: self.total, ..Self::default() }
    }

    /// The factor from a sum of mass over distance to a potential.
    pub(super) fn to_potential(&self, gravity: &Gravity) -> f64 {
        -gravity.g * (self.mass_unit / self.length)
    }
}
