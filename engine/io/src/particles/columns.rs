//! What is read of particles.

use super::Positions;
use crate::{ReadResult, reserve};
use std::path::Path;

/// Columns that rows are appended to. Who wants a column puts an empty vector there.
#[derive(Debug, Clone, PartialEq)]
pub struct Columns {
    /// Positions, in the precision that is wanted.
    pub position: Positions,
    /// Masses in code units; 1 where the input has none.
    pub mass: Option<Vec<f64>>,
    /// Identities; rows where the input has none. Negative ones come after all others.
    pub id: Option<Vec<u64>>,
    /// Kinds.
    pub kind: Option<Vec<u8>>,
    /// Peculiar velocities in code units; zeros where the input has none.
    pub velocity: Option<Vec<[f32; 3]>>,
    /// Gas densities in code units; NaN for what is not gas.
    pub density: Option<Vec<f32>>,
}

impl Columns {
    /// Makes room for `more` rows of the file at `path` in the columns that there are.
    ///
    /// # Errors
    /// There is no memory for them.
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

    /// Fills what a plain array cannot say of the rows `first` to `first + n`: they are dark matter of mass 1.
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
