//! Where in the box is an oct? From centres on the coarse grid to integer positions.
//!
//! A run with boundary regions has extra coarse cells beside the box, on one or both sides of an axis.
//! Centres count from the corner of the whole coarse grid. No header states which coarse cells form the box.
//! They are those with a level-1 oct that a CPU owns, since RAMSES refines every coarse cell of the box. An
//! axis with coarse cells outside the box is not periodic.

use super::amr::{Amr, Octs};
use crate::source_file::SourceFile;
use crate::{ReadError, ReadResult};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The tolerance of a centre, in octs. Centres are sums of powers of two, so they are exact down to any level
/// that their precision can resolve.
const CENTRE_ERROR: f64 = 1e-3;

/// The box within the coarse grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CoarseGrid {
    /// Coarse cells along each axis, boundary regions among them.
    all: [u32; 3],
    /// First coarse cell of the box along each axis.
    pub(super) first: [u32; 3],
    /// Coarse cells of the box along each axis.
    pub(super) coarse: [u32; 3],
    /// Axes without boundary regions.
    pub(super) periodic: [bool; 3],
}

impl CoarseGrid {
    /// Finds the box of an output from its amr files, or from the first one if there are no boundary regions.
    ///
    /// # Errors
    /// A file is broken, or there is no level-1 oct.
    pub(super) fn find(files: &[PathBuf], n_cpus: usize) -> ReadResult<Self> {
        let Some(first) = files.first() else {
            return Err(ReadError::absent(Path::new(""), "no amr files"));
        };
        let file = SourceFile::open(first)?;
        let header = Amr::open(&file, n_cpus)?.header;
        if header.n_boundaries == 0 {
            return Ok(Self::everything(header.coarse));
        }
        Self::within(files, n_cpus, header.coarse)
    }

    fn everything(all: [u32; 3]) -> Self {
        Self { all, first: [0; 3], coarse: all, periodic: [true; 3] }
    }

    fn within(files: &[PathBuf], n_cpus: usize, all: [u32; 3]) -> ReadResult<Self> {
        let (mut low, mut high) = (all, [0; 3]);
        for (piece, path) in files.iter().enumerate() {
            for cell in level_one_cells(path, n_cpus, piece, all)? {
                low = std::array::from_fn(|a| low[a].min(cell[a]));
                high = std::array::from_fn(|a| high[a].max(cell[a] + 1));
            }
        }
        if (0..3).any(|a| low[a] >= high[a]) {
            let expected = "one in every coarse cell of the box";
            return Err(ReadError::content(&files[0], "level 1", "no octs in any file", expected));
        }
        let coarse = std::array::from_fn(|a| high[a] - low[a]);
        Ok(Self { all, first: low, coarse, periodic: std::array::from_fn(|a| coarse[a] == all[a]) })
    }

    /// Checks that the amr file at `path` has the coarse grid of the others.
    ///
    /// # Errors
    /// It has another.
    pub(super) fn check(&self, amr: &Amr, path: &Path) -> ReadResult<()> {
        if amr.header.coarse == self.all {
            return Ok(());
        }
        let (problem, expected) = (format!("{:?}", amr.header.coarse), format!("{:?}", self.all));
        Err(ReadError::content(path, "record 3 (nx, ny, nz)", problem, expected + ", as in the first file"))
    }

    /// Position of the loaded oct `i` on the grid of level `level - 1`, if its centre is on that grid.
    pub(super) fn position(&self, octs: &Octs, i: usize, level: usize) -> Option<[u32; 3]> {
        let [x, y, z] = [0, 1, 2].map(|axis| {
            let n = f64::from(self.coarse[axis]) * scale(level);
            let low = (octs.centre[axis].get(i) - f64::from(self.first[axis])) * scale(level) - 0.5;
            let nearest = low.round();
            let there = (low - nearest).abs() < CENTRE_ERROR && nearest >= 0.0 && nearest < n;
            there.then_some(nearest as u32)
        });
        Some([x?, y?, z?])
    }
}

/// Cells along an axis of one coarse cell on the grid of level `level - 1`.
fn scale(level: usize) -> f64 {
    f64::from(1_u32 << (level - 1))
}

/// Coarse cells in which the CPU of `piece` owns a level-1 oct.
fn level_one_cells(path: &Path, n_cpus: usize, piece: usize, all: [u32; 3]) -> ReadResult<Vec<[u32; 3]>> {
    let file = SourceFile::open(path)?;
    let mut amr = Amr::open(&file, n_cpus)?;
    let everything = CoarseGrid::everything(all);
    let mut cells = Vec::new();
    for domain in 1..=piece + 1 {
        if let Some(mut octs) = amr.block(1, domain, domain == piece + 1)? {
            octs.load(0..octs.n)?;
            let found = (0..octs.n).map(|i| everything.position(&octs, i, 1));
            let found: Option<Vec<_>> = found.collect();
            cells = found.ok_or_else(|| outside(path, 1))?;
        }
    }
    Ok(cells)
}

/// The error of an oct whose centre is not on the grid of its level within the box.
pub(super) fn outside(path: &Path, level: usize) -> ReadError {
    ReadError::content(
        path,
        format!("xg, level {level}"),
        "the centre of an oct is not the centre of a cell in the box",
        format!("odd multiples of 2^-{level} coarse cells"),
    )
}
