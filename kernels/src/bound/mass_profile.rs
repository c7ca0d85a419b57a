//! Mass profile: the mass within each point around a centre, for points in slices.
//!
//! The mass within a point is that of the blocks before it, as an order-free sum, and a plain sum within its
//! block. So its bits do not depend on where slices begin.

use super::slices::{BlockSums, HaloBounds, Slices, SortOrder, block_starts};
use bytemuck::{Pod, Zeroable};
use std::ops::Range;

/// A particle, or a part of a gas cell, at its distance from a centre.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct ProfilePoint {
    /// Distance from the centre.
    pub radius: f64,
    /// Mass. That of a weighted neutrino may be below 0.
    pub mass: f64,
    /// Type, below 256.
    pub particle_type: u64,
}

/// Points by rising radius, some in each slice, and the mass within each.
pub struct MassProfile<'a, S> {
    pub(super) points: Vec<ProfilePoint>,
    /// The mass within each point.
    pub(super) enclosed: Vec<f64>,
    /// The first point of each block.
    blocks: Vec<u32>,
    pub(super) bounds: HaloBounds,
    /// The place of the first point among the points of all slices.
    pub(super) first: u64,
    /// The radius of the last point of the slices before this one, and the mass within; 0 if there is none.
    before: [f64; 2],
    /// The mass of all points.
    total: f64,
    pub(super) slices: &'a S,
}

impl<'a, S: Slices> MassProfile<'a, S> {
    /// The profile of the points of all slices, in any order, with `block` points per block of sums. Costs
    /// one sort.
    ///
    /// # Errors
    /// Those of the slices.
    pub fn new(points: Vec<ProfilePoint>, block: u64, slices: &'a S) -> Result<Self, S::Error> {
        let order = SortOrder {
            primary: &|point: &ProfilePoint| [point.radius.to_bits(), 0],
            // For a profile, points with equal values are the same.
            order: &|a, b| {
                let by_mass = || a.mass.total_cmp(&b.mass).then(a.particle_type.cmp(&b.particle_type));
                a.radius.total_cmp(&b.radius).then_with(by_mass)
            },
            block,
        };
        let sorted = order.sort(slices, points)?;
        let (points, first) = (sorted.records, sorted.first);
        let most =
            |of: fn(&ProfilePoint) -> f64| points.iter().fold(0.0f64, |most, point| most.max(of(point)));
        let (mass, reach) = (most(|point| point.mass.abs()), most(|point| point.radius));
        let bounds =
            HaloBounds { number: points.len() as u64, mass, reach, speed: 0.0, block }.over(slices)?;
        let blocks = block_starts(points.len(), |i| points[i].radius.to_bits(), first, block);
        let mut profile = Self {
            points,
            enclosed: Vec::new(),
            blocks,
            bounds,
            first,
            before: [0.0; 2],
            total: 0.0,
            slices,
        };
        profile.add_up()?;
        Ok(profile)
    }

    /// Finds the mass within each point.
    fn add_up(&mut self) -> Result<(), S::Error> {
        let mut own = BlockSums::new(&self.bounds, [self.bounds.mass]);
        if self.slices.number() > 1 {
            self.runs().for_each(|run| own.add([self.points[run].iter().map(|point| point.mass).sum()]));
        }
        let (mut before, all) = own.before_and_all(self.slices)?;
        let mut enclosed = Vec::with_capacity(self.points.len());
        for run in self.runs() {
            let ([base], mut block) = (before.values(), 0.0);
            for point in &self.points[run] {
                block += point.mass;
                enclosed.push(base + block);
            }
            before.add([block]);
        }
        self.enclosed = enclosed;
        [self.total] = if self.slices.number() > 1 { all.values() } else { before.values() };
        let last = self.points.last().zip(self.enclosed.last());
        let last: Vec<[f64; 2]> = last.map(|(point, mass)| [point.radius, *mass]).into_iter().collect();
        let all = self.slices.gather(&last)?;
        let of_slices = all[..self.slices.here()].iter().flatten();
        self.before = of_slices.last().copied().unwrap_or([0.0; 2]);
        Ok(())
    }

    /// The points of each block.
    pub(super) fn runs(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let end = |i: usize| self.blocks.get(i + 1).map_or(self.points.len(), |next| *next as usize);
        (0..self.blocks.len()).map(move |i| self.blocks[i] as usize..end(i))
    }

    /// The points of this slice with these places among those of all slices.
    pub(super) fn here(&self, places: Range<u64>) -> Range<usize> {
        let at = |place: u64| place.saturating_sub(self.first).min(self.points.len() as u64) as usize;
        at(places.start)..at(places.end)
    }

    /// The radius of the point before one of this slice, and the mass within it; both 0 before the first of
    /// all.
    pub(super) fn inner(&self, at: usize) -> [f64; 2] {
        match at {
            0 => self.before,
            _ => [self.points[at - 1].radius, self.enclosed[at - 1]],
        }
    }

    /// The radius with half of the mass, which is linear between points, and from 0 at the centre; 0 without
    /// points. One gathering.
    ///
    /// # Errors
    /// Those of the slices.
    pub fn half_mass_radius(&self) -> Result<f64, S::Error> {
        let half = 0.5 * self.total;
        let own = self.enclosed.iter().position(|mass| *mass >= half).map(|at| {
            let ([inner, mass], point) = (self.inner(at), &self.points[at]);
            inner + (point.radius - inner) * ((half - mass) / point.mass)
        });
        let own: Vec<f64> = own.into_iter().collect();
        // The innermost slice with a radius counts.
        Ok(self.slices.gather(&own)?.into_iter().flatten().next().unwrap_or(0.0))
    }
}
