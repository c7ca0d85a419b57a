//! The objects that a report lists: haloes with their clumps, groups, or voids.

use crate::report::plot::kinds::{self, ObjectKind};
use inselberg_io::catalogue::{Catalogue, Table, Values};

/// A kind of object that has a list: what pictures show of it, and more columns of its table.
#[derive(Debug, Clone, Copy)]
pub struct PageKind {
    /// The kind in pictures.
    pub drawn: &'static ObjectKind,
    /// One of them.
    pub one: &'static str,
    /// The column of identifiers.
    pub id: &'static str,
    /// Further columns, as far as the table has them.
    pub further: [&'static [&'static str]; 2],
}

/// Columns of bound parts.
const OF_BOUND: &[&str] = &[
    "n_bound",
    "bound_mass",
    "mass_200_crit",
    "maximum_circular_velocity",
    "half_mass_radius",
    "spin_parameter",
    "spin_peebles",
];

/// Of `inselberg phew`.
const HALOES: PageKind = PageKind {
    drawn: &kinds::HALOES,
    one: "halo",
    id: "id",
    further: [&["n_cells", "volume", "area", "density_peak", "density_mean", "relevance"], OF_BOUND],
};

/// Of `inselberg fof`.
const GROUPS: PageKind = PageKind {
    drawn: &kinds::GROUPS,
    one: "group",
    id: "GroupIDs",
    further: [&["Sizes", "LinkedSizes", "Radii", "VelocityDispersions"], OF_BOUND],
};

/// Of `inselberg voids`.
const VOIDS: PageKind = PageKind {
    drawn: &kinds::VOIDS,
    one: "void",
    id: "id",
    further: [
        &["n_zones", "n_particles", "volume", "mass", "density_min", "density_mean", "wall_density"],
        &[],
    ],
};

impl PageKind {
    /// The objects of a catalogue.
    pub fn of(catalogue: &Catalogue) -> Self {
        let is_there = |kind: &Self| catalogue.table(kind.drawn.table).is_some();
        [GROUPS, VOIDS].into_iter().find(is_there).unwrap_or(HALOES)
    }
}

/// A column as reals; `None` without such a column, or for vectors.
pub fn numbers(table: &Table, name: &str) -> Option<Vec<f64>> {
    match &table.column(name)?.values {
        Values::F64(values) => Some(values.clone()),
        Values::F32(values) => Some(values.iter().map(|value| f64::from(*value)).collect()),
        Values::U64(values) => Some(values.iter().map(|value| *value as f64).collect()),
        Values::I64(values) => Some(values.iter().map(|value| *value as f64).collect()),
        Values::U8(values) => Some(values.iter().map(|value| f64::from(*value)).collect()),
        Values::F64x3(_) | Values::U32x3(_) => None,
    }
}
