//! Positions, masses and sizes of the objects in a picture: clumps and haloes, or groups.

use crate::report::least_drawn::LeastDrawn;
use inselberg_io::catalogue::{Catalogue, Table, Values};
use std::f64::consts::PI;

/// The objects of a table, the largest mass first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Objects {
    /// Rows of the table.
    pub n_rows: usize,
    /// The row of each object.
    pub rows: Vec<usize>,
    /// Places, in code lengths.
    pub positions: Vec<[f64; 3]>,
    /// Masses, in code masses.
    pub masses: Vec<f64>,
    /// Radii, in code lengths: of the sphere with the volume of a clump or halo, of the circle with its area
    /// in an image, half the greatest extent of a group.
    pub radii: Option<Vec<f64>>,
}

/// The objects that get a circle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawnObjects {
    /// Their places, the largest mass first.
    pub places: Vec<usize>,
    /// Number of objects that are large enough.
    pub n_large: usize,
}

impl Objects {
    /// The rows of table `name` with a positive mass; positions and masses are in these columns.
    pub fn new(
        catalogue: &Catalogue,
        name: &str,
        [position, mass]: [&str; 2],
        radii: impl Fn(&Table) -> Option<Vec<f64>>,
    ) -> Self {
        let table = catalogue.table(name);
        let column = |name: &str| table.and_then(|t| t.column(name)).map(|c| &c.values);
        let (Some(Values::F64(masses)), Some(Values::F64x3(positions))) = (column(mass), column(position))
        else {
            return Self { n_rows: table.map_or(0, Table::n_rows), ..Self::default() };
        };
        let is_valid = |row: &usize| masses[*row].is_finite() && masses[*row] > 0.0;
        let mut rows: Vec<usize> = (0..masses.len()).filter(is_valid).collect();
        rows.sort_by(|a, b| masses[*b].total_cmp(&masses[*a]));
        let radii = table.and_then(radii);
        Self {
            n_rows: masses.len(),
            positions: rows.iter().map(|row| positions[*row]).collect(),
            masses: rows.iter().map(|row| masses[*row]).collect(),
            radii: radii.map(|radii| rows.iter().map(|row| radii[*row]).collect()),
            rows,
        }
    }

    /// The objects that get a circle, by their places here: those that are large enough, the `most` of
    /// largest mass.
    pub fn with_circles(&self, table: Option<&Table>, least: LeastDrawn, most: usize) -> DrawnObjects {
        let is_large = table.map(|table| least.rows(table)).unwrap_or_default();
        let large = || (0..self.rows.len()).filter(|i| is_large[self.rows[*i]]);
        DrawnObjects { places: large().take(most).collect(), n_large: large().count() }
    }

    /// The largest mass, or the smallest positive number.
    pub fn largest(&self) -> f64 {
        self.masses.first().copied().unwrap_or(f64::MIN_POSITIVE)
    }
}

/// The radius of each row, if the table states the sizes of its objects.
pub fn radii(table: &Table) -> Option<Vec<f64>> {
    let column = |name: &str, radius: fn(f64) -> f64| {
        Some(table.reals(name)?.iter().map(|value| radius(*value)).collect::<Vec<_>>())
    };
    let of_volume = column("volume", |volume| (volume * 3.0 / (4.0 * PI)).cbrt());
    let of_area = || column("area", |area| (area / PI).sqrt());
    let of_extent = |sides: &[f64; 3]| sides.iter().copied().fold(0.0, f64::max) / 2.0;
    let of_extents = || Some(table.vectors("Extents")?.iter().map(of_extent).collect());
    of_volume.or_else(of_area).or_else(of_extents)
}
