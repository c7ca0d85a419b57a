//! Positions of a structure.

use super::{Property, Value, with_dimension};

const LENGTH: [i8; 3] = [1, 0, 0];

pub(super) const PROPERTIES: &[Property] = &[
    with_dimension("peak_position", LENGTH, "centre of its peak cell", |s| Value::F64x3(s.peak)),
    with_dimension(
        "peak_position_refined",
        LENGTH,
        "peak of a quadratic through the 27 cells about the peak",
        |s| Value::F64x3(s.peak_refined),
    ),
    with_dimension("centre_of_mass", LENGTH, "centre of mass of its cells, within the box", |s| {
        Value::F64x3(s.centre_of_mass)
    }),
];
