//! Columns of particles.

use super::Positions;
use crate::{ReadResult, reserve};
use std::path::Path;

/// Columns to which rows are appended. An empty vector requests a column, `None` leaves it out.
#[derive(Debug, Clone, PartialEq)]
pub struct Columns {
    /// Positions, in the requested precision.
    pub position: Positions,
    /// Masses in code units; 1 if the input has none.
    pub mass: Option<Vec<f64>>,
    /// Identities; row numbers if the input has none. Negative ones are above all others.
    pub id: Option<Vec<u64>>,
    /// Kinds.
    pub kind: Option<Vec<u8>>,
    /// Peculiar velocities in code units; zeros if the input has none.
    pub velocity: Option<Vec<[f32; 3]>>,
    /// Gas densities in code units; NaN for other particles.
    pub density: Option<Vec<f32>>,
}

impl Columns {
    /// Reserves room for `more` rows of the file at `path` in the requested columns.
    ///
    /// # Errors
    /// Memory does not suffice.
    pub fn reserve(&mut self, more: usize, path: &Path) -> ReadResult<()> {
        fn room<T>(column: &mut Option<Vec<T>>, more: usize, path: &Path, name: &str) -> ReadResult<()> {
            column.as_mut().map_or(Ok(()), |list| reserve(list, more, path, name))
        }
        self.position.reserve(more, path)?;
        room(&mut self.mass, more, path, "masses")?;
        room(&mut self.id, more, path, "identities")?;
        room(&mut self.kind, more, path, "kinds")?;
        room(&mut self.velocity, more, path, "velocities")?;
        room(&mut self.density, more, path, "densities")
    }

    /// Fills the columns that a plain array lacks, for the rows `first` to `first + n`: dark matter of mass
    /// 1.
    pub(super) fn pad(&mut self, first: u64, n: usize, kind: u8) {
        if let Some(mass) = &mut self.mass {
            mass.extend(std::iter::repeat_n(1.0, n));
        }
        if let Some(id) = &mut self.id {
            id.extend(first..first + n as u64);
        }
        if let Some(kinds) = &mut self.kind {
            kinds.extend(std::iter::repeat_n(kind, n));
        }
        if let Some(velocity) = &mut self.velocity {
            velocity.extend(std::iter::repeat_n([0.0; 3], n));
        }
        if let Some(density) = &mut self.density {
            density.extend(std::iter::repeat_n(f32::NAN, n));
        }
    }
}
