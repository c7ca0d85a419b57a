//! Properties of mass.

use super::{Property, Value, with_dimension};

pub(super) const PROPERTIES: &[Property] = &[
    with_dimension("mass", [0, 1, 0], "mass of its cells", |s| Value::F64(s.mass)),
    with_dimension("halo_mass", [0, 1, 0], "mass of the halo that it belongs to", |s| {
        Value::F64(s.halo_mass)
    }),
];
