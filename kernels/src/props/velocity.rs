//! The velocity of a structure.

use super::{Property, Value};

pub(super) const PROPERTIES: &[Property] = &[Property {
    name: "bulk_velocity",
    dimension: [1, 0, -1],
    description: "mass-weighted velocity of its gas",
    value: |s| Value::F64x3(s.velocity),
}];
