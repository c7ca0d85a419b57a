//! Coordinates in either precision.

use crate::{ReadResult, reserve};
use std::path::Path;

/// Coordinates as given in the input, in its units.
#[derive(Debug, Clone, PartialEq)]
pub enum Positions {
    /// 32-bit reals, exact as doubles.
    Single(Vec<[f32; 3]>),
    /// 64-bit reals.
    Double(Vec<[f64; 3]>),
}

impl Positions {
    /// An empty list with room for `n`.
    pub fn with_capacity(is_double: bool, n: usize) -> Self {
        if is_double { Self::Double(Vec::with_capacity(n)) } else { Self::Single(Vec::with_capacity(n)) }
    }

    /// Reserves room for `more` positions of the file at `path`.
    ///
    /// # Errors
    /// Memory does not suffice.
    pub(crate) fn reserve(&mut self, more: usize, path: &Path) -> ReadResult<()> {
        match self {
            Self::Single(list) => reserve(list, more, path, "positions"),
            Self::Double(list) => reserve(list, more, path, "positions"),
        }
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        match self {
            Self::Single(list) => list.len(),
            Self::Double(list) => list.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether they are in double precision.
    pub fn is_double(&self) -> bool {
        matches!(self, Self::Double(_))
    }

    /// Position of particle `i`.
    #[inline]
    pub fn get(&self, i: usize) -> [f64; 3] {
        match self {
            Self::Single(list) => list[i].map(f64::from),
            Self::Double(list) => list[i],
        }
    }

    /// Appends positions in double precision, rounded to single precision in a single-precision list.
    pub fn extend_from_doubles(&mut self, more: &[[f64; 3]]) {
        match self {
            Self::Single(list) => list.extend(more.iter().map(|x| x.map(|x| x as f32))),
            Self::Double(list) => list.extend_from_slice(more),
        }
    }

    /// Appends positions in single precision.
    pub fn extend_from_singles(&mut self, more: &[[f32; 3]]) {
        match self {
            Self::Single(list) => list.extend_from_slice(more),
            Self::Double(list) => list.extend(more.iter().map(|x| x.map(f64::from))),
        }
    }
}
