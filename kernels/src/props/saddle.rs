//! The prominence of a structure over its neighbours.

use super::{Property, Value, number, with_dimension};

/// The relevance where persistence is a ratio.
pub(super) const RATIO: &[Property] = &[number(
    "relevance",
    "peak density over its largest saddle to another clump, or over the density threshold",
    |s| Value::F64(s.relevance),
)];

/// The relevance where persistence is a difference.
pub(super) const DIFFERENCE: &[Property] = &[with_dimension(
    "relevance",
    [-3, 1, 0],
    "peak density minus its largest saddle to another clump, or minus the density threshold",
    |s| Value::F64(s.relevance),
)];

pub(super) const PROPERTIES: &[Property] = &[
    with_dimension("saddle_density", [-3, 1, 0], "density of that saddle; 0 without one", |s| {
        Value::F64(s.saddle)
    }),
    with_dimension("saddle_position", [1, 0, 0], "where that saddle is; NaN without one", |s| {
        Value::F64x3(s.saddle_position)
    }),
    number("saddle_neighbour", "identifier of the clump on the other side of it; 0 without one", |s| {
        Value::U64(s.saddle_neighbour)
    }),
];

/// Where the density is made of particles.
pub(super) const PROMINENCE: &[Property] = &[
    number(
        "significance",
        "excess of mass above the saddle where its peak dies, or the density threshold, over the shot noise of particles",
        |s| Value::F64(s.significance),
    ),
    with_dimension(
        "mass_above_saddle",
        [0, 1, 0],
        "mass above that saddle or threshold, with that of all peaks that die into its peak",
        |s| Value::F64(s.mass_above_saddle),
    ),
];
