//! The objects that a report lists: haloes with their clumps, or groups.

use inselberg_io::catalogue::{Catalogue, Table, Values};

/// A kind of object, and the columns of its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageKind {
    /// Its table.
    pub table: &'static str,
    /// One of them.
    pub one: &'static str,
    /// Several.
    pub many: &'static str,
    /// The identifier.
    pub id: &'static str,
    /// Its position.
    pub position: &'static str,
    /// Its mass.
    pub mass: &'static str,
    /// Further columns, as far as the table has them.
    pub further: &'static [&'static str],
}

/// Of `inselberg phew`.
const HALOES: PageKind = PageKind {
    table: "haloes",
    one: "halo",
    many: "haloes",
    id: "id",
    position: "peak_position",
    mass: "mass",
    further: &["n_cells", "volume", "density_peak", "density_mean", "relevance"],
};

/// Of `inselberg fof`.
const GROUPS: PageKind = PageKind {
    table: "Groups",
    one: "group",
    many: "groups",
    id: "GroupIDs",
    position: "Centres",
    mass: "Masses",
    further: &["Sizes", "LinkedSizes", "Radii", "VelocityDispersions"],
};

impl PageKind {
    /// The objects of a catalogue.
    pub fn of(catalogue: &Catalogue) -> Self {
        if catalogue.table(GROUPS.table).is_some() { GROUPS } else { HALOES }
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
