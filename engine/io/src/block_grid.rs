//! The root grid of a block-structured code as the box of a mesh.

use crate::{Header, ReadError, ReadResult, StaticName, Units};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// How much the sides of a cell may differ, relative to each other. Some codes write the corners of boxes in
/// single precision.
const TOLERANCE: f64 = 1e-6;
/// No level is deeper.
const DEEPEST: u32 = 29;

/// A grid of cubic cells that finer cells divide.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct RootGrid {
    /// The lower corner.
    pub origin: [f64; 3],
    /// Cells along each axis.
    pub size: [u32; 3],
    /// Side of a cell.
    pub side: f64,
    /// The level of its cells in the mesh: the power of 2 that divides the numbers of cells along all axes.
    pub level: u8,
}

impl RootGrid {
    /// A grid with `cells` cells along each axis between two corners. `path` is for messages.
    ///
    /// # Errors
    /// The corners are out of order, or the cells are not cubes.
    pub fn new(path: &Path, size: [u32; 3], low: [f64; 3], high: [f64; 3]) -> ReadResult<Self> {
        let bad = |problem: String, expected: &str| ReadError::content(path, "box", problem, expected);
        let sides: [f64; 3] = std::array::from_fn(|a| (high[a] - low[a]) / f64::from(size[a]));
        if size.iter().any(|n| *n == 0 || *n > 1 << 31) {
            return Err(bad(format!("{size:?} cells"), "1 to 2^31 along each axis"));
        }
        if !sides.iter().all(|side| side.is_finite() && *side > 0.0) {
            return Err(bad(
                format!("from {low:?} to {high:?}"),
                "finite ends, the low one below the high one",
            ));
        }
        if sides.iter().any(|side| (side / sides[0] - 1.0).abs() > TOLERANCE) {
            return Err(bad(format!("cells of {sides:?}"), "cubes: sides of equal length"));
        }
        Ok(Self::of_cubes(size, low, sides[0]))
    }

    /// A grid of cubes of this side.
    pub fn of_cubes(size: [u32; 3], origin: [f64; 3], side: f64) -> Self {
        let level = size.iter().map(|n| n.trailing_zeros()).min().unwrap_or(0).min(DEEPEST) as u8;
        Self { origin, size, side, level }
    }

    /// Checks that cells may be `up` levels finer than those of the grid.
    ///
    /// # Errors
    /// They would be too deep.
    pub fn check_levels(&self, path: &Path, up: u32) -> ReadResult<()> {
        let deepest = u32::from(self.level) + up;
        let fits = self.size.iter().all(|n| u64::from(*n) << up.min(32) <= 1 << 31);
        if deepest <= DEEPEST && fits {
            return Ok(());
        }
        let problem = format!("{up} levels of refinement of {:?} cells", self.size);
        Err(ReadError::content(path, "levels", problem, "at most 2^31 cells along each axis, and 29 levels"))
    }

    /// The header of a snapshot whose cells are up to `up` levels above those of the grid.
    pub fn header(&self, format: StaticName, time: f64, periodic: [bool; 3], up: u8) -> Header {
        Header {
            format,
            number: None,
            time,
            boxlen: self.side * f64::from(1_u32 << self.level),
            origin: self.origin,
            coarse: self.size.map(|n| n >> self.level),
            periodic,
            levelmin: self.level,
            levelmax: self.level + up,
            units: Units { length: 1.0, density: 1.0, time: 1.0 },
            cosmology: None,
            n_pieces: 0,
        }
    }
}
