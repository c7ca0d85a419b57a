//! Properties of density.

use super::{Property, Value, with_dimension};

const DENSITY: [i8; 3] = [-3, 1, 0];

pub(super) const PROPERTIES: &[Property] = &[
    with_dimension("density_peak", DENSITY, "density of its peak cell", |s| Value::F64(s.rho_peak)),
    with_dimension("density_min", DENSITY, "least density of its cells", |s| Value::F64(s.rho_min)),
    with_dimension("density_mean", DENSITY, "mass over volume", |s| Value::F64(s.mass / s.volume)),
];
