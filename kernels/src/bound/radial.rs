//! Radial order: members sorted by their distance from a centre, in the slices of a halo.
//!
//! Sums along the radius have blocks of this order: the sums before a block are order-free, those within it
//! plain.

use super::members::HaloMembers;
use super::slices::{HaloBounds, Slices, SortOrder, Whole, block_starts};
use crate::loops::values;
use crate::packed_key;
use bytemuck::{Pod, Zeroable};
use std::ops::Range;

/// The places of a list of members by (radius, identifier).
struct RadialOrder {
    /// The place in the list, by rising radius.
    place: Vec<u32>,
    /// The radius at each place of the order.
    radius: Vec<f64>,
}

impl RadialOrder {
    /// Costs one sort.
    fn sorted<S: Slices>(
        members: &HaloMembers,
        list: &[u32],
        radius_of: impl Fn(usize) -> f64 + Sync,
        slices: &S,
    ) -> Self {
        let id = &members.columns().id;
        let radius = values(slices, list.len(), |at| radius_of(list[at] as usize));
        let mut words: Vec<u64> =
            radius.iter().zip(0..).map(|(r, i)| packed_key::word(bits_of(*r), i)).collect();
        slices.sort(&mut words, u64::cmp);
        packed_key::settle(&mut words, |a, b| {
            let identifier = |at: usize| id[list[at] as usize];
            radius[a]
                .total_cmp(&radius[b])
                .then_with(|| (identifier(a), list[a]).cmp(&(identifier(b), list[b])))
        });
        let place: Vec<u32> = words.iter().map(|word| packed_key::place_of(*word) as u32).collect();
        Self { radius: values(slices, place.len(), |at| radius[place[at] as usize]), place }
    }
}

/// Listed members by (radius, identifier), with the columns for sums along the radius.
#[derive(Debug, Clone, PartialEq)]
pub struct RadialMembers {
    /// Radii.
    pub radius: Vec<f64>,
    /// Masses.
    pub mass: Vec<f64>,
    /// Softening lengths.
    pub softening: Vec<f32>,
    /// Types.
    pub particle_type: Vec<u8>,
    /// The place of each in the list of its slice.
    pub place: Vec<u32>,
    /// That slice; empty if there is only one.
    pub slice: Vec<u32>,
    /// The first of each block.
    blocks: Vec<u32>,
    bounds: HaloBounds,
}

/// A listed member on its way to the slice of its radius.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct RadialRecord {
    radius: f64,
    id: u64,
    mass: f64,
    softening: f32,
    particle_type: u32,
    place: u32,
    slice: u32,
}

impl RadialMembers {
    /// The order of all listed members, by distance from `centre`. Costs one sort.
    pub fn new(members: &HaloMembers, list: &[u32], centre: [f64; 3]) -> Self {
        let Ok(all) = Self::of_slice(members, list, centre, &Whole);
        all
    }

    /// The order of the listed members of all slices, by distance from `centre`: each slice gets some.
    ///
    /// # Errors
    /// Those of the slices.
    pub fn of_slice<S: Slices>(
        members: &HaloMembers,
        list: &[u32],
        centre: [f64; 3],
        slices: &S,
    ) -> Result<Self, S::Error> {
        let radius_of = |member: usize| distance(members.columns().position[member], centre);
        match slices.number() {
            1 => Ok(Self::in_order(
                members,
                list,
                RadialOrder::sorted(members, list, radius_of, slices),
                slices,
            )),
            _ => Self::over(members, list, radius_of, slices),
        }
    }

    /// The same, but no radius is less than the softening of its member.
    pub(super) fn softened<S: Slices>(
        members: &HaloMembers,
        list: &[u32],
        centre: [f64; 3],
        slices: &S,
    ) -> Result<Self, S::Error> {
        let columns = members.columns();
        let radius_of = |member: usize| {
            distance(columns.position[member], centre).max(f64::from(columns.softening[member]))
        };
        match slices.number() {
            1 => Ok(Self::in_order(
                members,
                list,
                RadialOrder::sorted(members, list, radius_of, slices),
                slices,
            )),
            _ => Self::over(members, list, radius_of, slices),
        }
    }

    fn in_order<S: Slices>(members: &HaloMembers, list: &[u32], order: RadialOrder, slices: &S) -> Self {
        let (columns, bounds) = (members.columns(), *members.bounds());
        let RadialOrder { place, radius } = order;
        let (n, member) = (place.len(), |at: usize| list[place[at] as usize] as usize);
        Self {
            mass: values(slices, n, |at| columns.mass[member(at)]),
            softening: values(slices, n, |at| columns.softening[member(at)]),
            particle_type: values(slices, n, |at| columns.particle_type[member(at)]),
            blocks: block_starts(radius.len(), |i| radius[i].to_bits(), 0, bounds.block),
            slice: Vec::new(),
            place,
            radius,
            bounds,
        }
    }

    fn over<S: Slices>(
        members: &HaloMembers,
        list: &[u32],
        radius_of: impl Fn(usize) -> f64,
        slices: &S,
    ) -> Result<Self, S::Error> {
        let (columns, bounds) = (members.columns(), *members.bounds());
        let record = |(place, member): (u32, &u32)| {
            let member = *member as usize;
            RadialRecord {
                radius: radius_of(member),
                id: columns.id[member],
                mass: columns.mass[member],
                softening: columns.softening[member],
                particle_type: columns.particle_type[member].into(),
                place,
                slice: slices.here() as u32,
            }
        };
        let records: Vec<RadialRecord> = (0..).zip(list).map(record).collect();
        let order = SortOrder {
            primary: &|record: &RadialRecord| [record.radius.to_bits(), 0],
            order: &|a, b| (a.radius.to_bits(), a.id).cmp(&(b.radius.to_bits(), b.id)),
            block: bounds.block,
        };
        let sorted = order.sort(slices, records)?;
        let records = sorted.records;
        Ok(Self {
            radius: records.iter().map(|record| record.radius).collect(),
            mass: records.iter().map(|record| record.mass).collect(),
            softening: records.iter().map(|record| record.softening).collect(),
            particle_type: records.iter().map(|record| record.particle_type as u8).collect(),
            place: records.iter().map(|record| record.place).collect(),
            slice: records.iter().map(|record| record.slice).collect(),
            blocks: block_starts(records.len(), |i| records[i].radius.to_bits(), sorted.first, bounds.block),
            bounds,
        })
    }

    /// Number of members here.
    pub fn len(&self) -> usize {
        self.radius.len()
    }

    /// Whether there are none here.
    pub fn is_empty(&self) -> bool {
        self.radius.is_empty()
    }

    /// The bounds of the whole halo that sums need.
    pub(super) fn bounds(&self) -> &HaloBounds {
        &self.bounds
    }

    /// The places of each block.
    pub(super) fn runs(&self) -> impl DoubleEndedIterator<Item = Range<usize>> + Clone + '_ {
        let end = move |i: usize| self.blocks.get(i + 1).map_or(self.len(), |next| *next as usize);
        (0..self.blocks.len()).map(move |i| self.blocks[i] as usize..end(i))
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
