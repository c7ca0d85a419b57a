//! Properties: which values describe each clump and halo?
//!
//! Place in the flow: next to [`crate::phew`]. One pass over the test cells adds the first of [`sums::SUMS`]
//! to the [`PatchSums`] of each patch; if there are velocities, another adds its [`Momentum`]. Clumps and
//! haloes combine the values of their patches ([`combine`]), so their properties follow for any thresholds
//! without the cells. [`refine`] finds the position of a peak inside its cell. It uses patches as numbers,
//! and of the thresholds only the kind of persistence.
//!
//! A property is one file here and one line in [`properties`]; its column then appears in every catalogue.

pub mod combine;
mod density;
mod density_lookup;
mod extent;
mod mass;
mod membership;
mod newton;
pub mod pixels;
mod position;
pub mod refine;
mod saddle;
pub mod sums;
pub mod terms;
mod velocity;

pub use combine::{PatchValues, Structure};
pub use pixels::{PixelSums, PixelValues};
pub use sums::{Momentum, PatchSums, SumScales};
pub use terms::Gathered;

use crate::phew::persistence::Persistence;

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
    /// One sentence for readers of the catalogue.
    pub description: &'static str,
    /// From a structure, in code units.
    pub value: fn(&Structure) -> Value,
}

/// The facts that are known about clumps and haloes.
#[derive(Debug, Clone, Copy)]
pub struct KnownProperties {
    /// Their relevance is the persistence of this kind.
    pub persistence: Persistence,
    /// Whether cells have velocities.
    pub has_velocity: bool,
    /// Whether the density is made of particles, so that the significance of peaks is known.
    pub has_prominence: bool,
}

/// Every property that is known, in the order of the columns.
pub fn properties(known: KnownProperties) -> impl Iterator<Item = &'static Property> {
    let KnownProperties { persistence, has_velocity, has_prominence } = known;
    let families = [
        membership::PROPERTIES,
        extent::PROPERTIES,
        mass::PROPERTIES,
        density::PROPERTIES,
        position::PROPERTIES,
        if persistence.is_difference() { saddle::DIFFERENCE } else { saddle::RATIO },
        saddle::PROPERTIES,
        if has_prominence { saddle::PROMINENCE } else { &[] },
        if has_velocity { velocity::PROPERTIES } else { &[] },
    ];
    families.into_iter().flatten()
}

/// A property without a dimension.
const fn number(name: &'static str, description: &'static str, value: fn(&Structure) -> Value) -> Property {
    with_dimension(name, [0; 3], description, value)
}

const fn with_dimension(
    name: &'static str,
    dimension: [i8; 3],
    description: &'static str,
    value: fn(&Structure) -> Value,
) -> Property {
    Property { name, dimension, description, value }
}
