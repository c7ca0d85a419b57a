//! Columns of particles.

use super::{ParticleInput, Positions};
use crate::{ReadResult, reserve};
use rayon::prelude::*;
use std::ops::Range;
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

    /// The same columns, without rows.
    #[must_use]
    pub fn without_rows(&self) -> Self {
        fn requested<A, B>(column: &Option<Vec<A>>) -> Option<Vec<B>> {
            column.is_some().then(Vec::new)
        }
        Self {
            position: Positions::with_capacity(self.position.is_double(), 0),
            mass: requested(&self.mass),
            id: requested(&self.id),
            kind: requested(&self.kind),
            velocity: requested(&self.velocity),
            density: requested(&self.density),
        }
    }

    /// The identities of these rows of a species.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn ids_of(input: &dyn ParticleInput, species: usize, rows: Range<u64>) -> ReadResult<Vec<u64>> {
        let mut columns = Self {
            position: Positions::with_capacity(false, 0),
            mass: None,
            id: Some(Vec::new()),
            kind: None,
            velocity: None,
            density: None,
        };
        input.read(species, rows, &mut columns)?;
        Ok(columns.id.expect("identities were requested"))
    }

    /// Appends the rows of the same columns; all threads copy.
    pub fn append(&mut self, more: &Self) {
        fn copy<T: Copy + Send + Sync>(to: &mut Option<Vec<T>>, from: &Option<Vec<T>>) {
            to.iter_mut().zip(from).for_each(|(to, from)| to.par_extend(from));
        }
        match (&mut self.position, &more.position) {
            (Positions::Single(to), Positions::Single(from)) => to.par_extend(from),
            (Positions::Double(to), Positions::Double(from)) => to.par_extend(from),
            (to, Positions::Double(from)) => to.extend_from_doubles(from),
            (to, Positions::Single(from)) => to.extend_from_singles(from),
        }
        copy(&mut self.mass, &more.mass);
        copy(&mut self.id, &more.id);
        copy(&mut self.kind, &more.kind);
        copy(&mut self.velocity, &more.velocity);
        copy(&mut self.density, &more.density);
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
