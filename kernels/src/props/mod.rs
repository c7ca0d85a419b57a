//! What is a structure like? Sums over the cells of a patch, and what follows from them.
//!
//! Each patch carries [`PatchSums`]: one pass over the test cells adds the first of [`sums::SUMS`]. Where there
//! are velocities, another adds its [`Momentum`]. A clump or halo combines its patches' values ([`combine`]), so its properties follow for any
//! thresholds without the cells. A property is one file here and one line in [`PROPERTIES`]; its
//! column appears in every catalogue by itself.

pub mod combine;
mod density;
mod extent;
mod mass;
mod membership;
mod newton;
mod position;
pub mod refine;
mod saddle;
pub mod sums;
pub mod terms;
mod velocity;

pub use combine::{PatchValues, Structure};
pub use sums::{Gathered, Momentum, PatchSums, SumScales};

/// The value of a property for one structure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// A count or an identifier.
    U64(u64),
    /// A real.
    F64(f64),
    /// A vector.
    F64x3([f64; 3]),
}

/// A column of the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct Property {
    /// Its name.
    pub name: &'static str,
    /// Powers of length, mass and time.
    pub dimension: [i8; 3],
    /// One sentence for a person.
    pub description: &'static str,
    /// Whether it needs cell velocities.
    pub needs_velocity: bool,
    /// From a structure, in code units.
    pub value: fn(&Structure) -> Value,
}

/// Every property, in the order of the columns.
pub const PROPERTIES: &[&[Property]] = &[
    membership::PROPERTIES,
    extent::PROPERTIES,
    mass::PROPERTIES,
    density::PROPERTIES,
    position::PROPERTIES,
    saddle::PROPERTIES,
    velocity::PROPERTIES,
];

/// A property of pure numbers.
const fn number(name: &'static str, description: &'static str, value: fn(&Structure) -> Value) -> Property {
    with_dimension(name, [0; 3], description, value)
}

const fn with_dimension(
    name: &'static str,
    dimension: [i8; 3],
    description: &'static str,
    value: fn(&Structure) -> Value,
) -> Property {
    Property { name, dimension, description, needs_velocity: false, value }
}
