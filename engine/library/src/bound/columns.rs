//! A property of bound particles, as a column of the table of clumps or groups. `chosen_columns` and
//! `type_columns` list them.
//!
//! Definitions are those of `inselberg_kernels::bound::properties`, which follow SOAP. A matrix fills two
//! columns: its diagonal xx, yy, zz, and xy, xz, yz.

use inselberg_io::catalogue::{Dimension, TableColumn, Values};
use inselberg_kernels::bound::properties::inertia::InertiaTensors;
use inselberg_kernels::bound::properties::sums::Motions;
use inselberg_kernels::bound::properties::{BoundProperties, Component};

/// A property of the bound particles of a clump or group.
pub struct BoundColumn {
    name: &'static str,
    /// Powers of length, mass and time.
    dimension: [i8; 3],
    description: &'static str,
    value: BoundValue,
}

/// How a value follows from the properties.
#[derive(Clone, Copy)]
enum BoundValue {
    Count(fn(&BoundProperties) -> u64),
    Real(fn(&BoundProperties) -> f64),
    Vector(fn(&BoundProperties) -> [f64; 3]),
    /// A position relative to the reference point of the halo; 0 if there is none.
    Place(fn(&BoundProperties) -> Option<[f64; 3]>),
}

impl BoundColumn {
    /// Numbers per clump.
    pub fn n_parts(&self) -> usize {
        match self.value {
            BoundValue::Count(_) | BoundValue::Real(_) => 1,
            BoundValue::Vector(_) | BoundValue::Place(_) => 3,
        }
    }

    /// Appends the numbers of a clump. `in_box` turns a position relative to the reference point of the halo
    /// into one in the box.
    pub fn append(
        &self,
        properties: &BoundProperties,
        in_box: impl Fn([f64; 3]) -> [f64; 3],
        to: &mut Vec<f64>,
    ) {
        match self.value {
            BoundValue::Count(of) => to.push(of(properties) as f64),
            BoundValue::Real(of) => to.push(of(properties)),
            BoundValue::Vector(of) => to.extend(of(properties)),
            BoundValue::Place(of) => to.extend(of(properties).map_or([0.0; 3], in_box)),
        }
    }

    /// The column, from the numbers of all properties of each row, of which its own begin at `first`.
    pub fn column(&self, rows: &[&[f64]], first: usize) -> TableColumn {
        let values = match self.value {
            BoundValue::Count(_) => Values::U64(rows.iter().map(|row| row[first] as u64).collect()),
            BoundValue::Real(_) => Values::F64(rows.iter().map(|row| row[first]).collect()),
            BoundValue::Vector(_) | BoundValue::Place(_) => {
                Values::F64x3(rows.iter().map(|row| std::array::from_fn(|a| row[first + a])).collect())
            }
        };
        let [length, mass, time] = self.dimension;
        crate::tables::column(self.name, Dimension::new(length, mass, time), self.description, values)
    }
}

pub(super) const fn count(
    name: &'static str,
    description: &'static str,
    of: fn(&BoundProperties) -> u64,
) -> BoundColumn {
    BoundColumn { name, dimension: [0; 3], description, value: BoundValue::Count(of) }
}

pub(super) const fn real(
    name: &'static str,
    dimension: [i8; 3],
    description: &'static str,
    of: fn(&BoundProperties) -> f64,
) -> BoundColumn {
    BoundColumn { name, dimension, description, value: BoundValue::Real(of) }
}

pub(super) const fn vector(
    name: &'static str,
    dimension: [i8; 3],
    description: &'static str,
    of: fn(&BoundProperties) -> [f64; 3],
) -> BoundColumn {
    BoundColumn { name, dimension, description, value: BoundValue::Vector(of) }
}

pub(super) const fn place(
    name: &'static str,
    description: &'static str,
    of: fn(&BoundProperties) -> Option<[f64; 3]>,
) -> BoundColumn {
    BoundColumn { name, dimension: LENGTH, description, value: BoundValue::Place(of) }
}

pub(super) const LENGTH: [i8; 3] = [1, 0, 0];
pub(super) const AREA: [i8; 3] = [2, 0, 0];
pub(super) const MASS: [i8; 3] = [0, 1, 0];
pub(super) const VELOCITY: [i8; 3] = [1, 0, -1];
pub(super) const VELOCITY_SQUARED: [i8; 3] = [2, 0, -2];
pub(super) const ENERGY: [i8; 3] = [2, 1, -2];
pub(super) const ANGULAR_MOMENTUM: [i8; 3] = [2, 1, -1];

pub(super) fn total(properties: &BoundProperties) -> Motions {
    properties.motion.of(Component::Total)
}

pub(super) fn dark_matter(properties: &BoundProperties) -> Motions {
    properties.motion.of(Component::DarkMatter)
}

pub(super) fn gas(properties: &BoundProperties) -> Motions {
    properties.motion.of(Component::Gas)
}

pub(super) fn stars(properties: &BoundProperties) -> Motions {
    properties.motion.of(Component::Stars)
}

pub(super) fn diagonal(matrix: [f64; 6]) -> [f64; 3] {
    [matrix[0], matrix[1], matrix[2]]
}

pub(super) fn off_diagonal(matrix: [f64; 6]) -> [f64; 3] {
    [matrix[3], matrix[4], matrix[5]]
}

/// A tensor of the bound particles of a component; 0 for fewer than 20 particles.
pub(super) fn tensor(
    properties: &BoundProperties,
    of: Component,
    which: fn(&InertiaTensors) -> Option<[f64; 6]>,
) -> [f64; 6] {
    which(&properties.inertia.of(of)).unwrap_or([0.0; 6])
}
