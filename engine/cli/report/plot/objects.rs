//! Positions and masses of the objects in a picture: clumps and haloes, or groups.

use inselberg_io::catalogue::{Catalogue, Values};

/// Peaks and masses of a table, the largest mass first.
pub struct Objects {
    /// Rows of the table.
    pub n_rows: usize,
    /// Places, in code lengths.
    pub positions: Vec<[f64; 3]>,
    /// Masses, in code masses.
    pub masses: Vec<f64>,
}

impl Objects {
    /// The rows of table `name` with a positive mass; positions and masses are in these columns.
    pub fn new(catalogue: &Catalogue, name: &str, position: &str, mass: &str) -> Self {
        let table = catalogue.table(name);
        let column = |name: &str| table.and_then(|t| t.column(name)).map(|c| &c.values);
        let (Some(Values::F64(masses)), Some(Values::F64x3(positions))) = (column(mass), column(position))
        else {
            return Self { n_rows: table.map_or(0, |t| t.n_rows()), positions: vec![], masses: vec![] };
        };
        let sound = |row: &usize| masses[*row].is_finite() && masses[*row] > 0.0;
        let mut rows: Vec<usize> = (0..masses.len()).filter(sound).collect();
        rows.sort_by(|a, b| masses[*b].total_cmp(&masses[*a]));
        Self {
            n_rows: masses.len(),
            positions: rows.iter().map(|row| positions[*row]).collect(),
            masses: rows.iter().map(|row| masses[*row]).collect(),
        }
    }

    /// The largest mass, or the smallest positive number.
    pub fn largest(&self) -> f64 {
        self.masses.first().copied().unwrap_or(f64::MIN_POSITIVE)
    }
}
