//! The objects that a report lists: haloes with their clumps, groups, or voids.

use crate::report::plot::objects::{Objects, radii};
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
    /// Its mass, or its radius.
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
    further: &[
        "n_cells",
        "volume",
        "area",
        "density_peak",
        "density_mean",
        "relevance",
        "n_bound",
        "bound_mass",
        "mass_200_crit",
        "maximum_circular_velocity",
        "half_mass_radius",
        "spin_parameter",
        "spin_peebles",
    ],
};

/// Of `inselberg fof`.
const GROUPS: PageKind = PageKind {
    table: "Groups",
    one: "group",
    many: "groups",
    id: "GroupIDs",
    position: "Centres",
    mass: "Masses",
    further: &[
        "Sizes",
        "LinkedSizes",
        "Radii",
        "VelocityDispersions",
        "n_bound",
        "bound_mass",
        "mass_200_crit",
        "maximum_circular_velocity",
        "half_mass_radius",
        "spin_parameter",
        "spin_peebles",
    ],
};

/// Of `inselberg voids`.
const VOIDS: PageKind = PageKind {
    table: "voids",
    one: "void",
    many: "voids",
    id: "id",
    position: "centre",
    mass: "radius",
    further: &["n_zones", "n_particles", "volume", "mass", "density_min", "density_mean", "wall_density"],
};

impl PageKind {
    /// The objects of a catalogue.
    pub fn of(catalogue: &Catalogue) -> Self {
        [GROUPS, VOIDS].into_iter().find(|kind| catalogue.table(kind.table).is_some()).unwrap_or(HALOES)
    }

    /// The objects of a catalogue, the largest first.
    pub fn objects(&self, catalogue: &Catalogue) -> Objects {
        match self.table == VOIDS.table {
            true => Objects::with_radius(catalogue, self.table, [self.position, self.mass], self.mass),
            false => Objects::new(catalogue, self.table, self.position, self.mass),
        }
    }

    /// The radius of a row; NaN if it is not known.
    pub fn radius(&self, rows: &Table, row: usize) -> f64 {
        match self.table == VOIDS.table {
            true => rows.reals(self.mass).map_or(f64::NAN, |radii| radii[row]),
            false => radii(rows).map_or(f64::NAN, |radii| radii[row]),
        }
    }

    /// The word for the largest ones.
    pub fn largest(&self) -> &'static str {
        if self.table == VOIDS.table { "largest" } else { "most massive" }
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
