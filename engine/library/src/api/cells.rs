//! The cells of a program: their levels and positions.

use crate::chunks::chunks;
use crate::column::{Column, VectorColumn};
use crate::error::{Error, ErrorKind};
use crate::partition::GivenCells;
use inselberg_io::{Cosmology, Header, Units};
use inselberg_kernels::geom::{Domain, MAX_LEVEL};
use inselberg_kernels::mesh::MeshError;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// The box that contains cells or particles.
///
/// A cell of level l has the side `side / 2^l`; the box holds `coarse[a] * 2^l` of them along axis a.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Geometry {
    /// Length of a level-0 cell, in the caller's units. The side of the box where `coarse` is 1.
    pub side: f64,
    /// Cells of level 0 along each axis.
    pub coarse: [u32; 3],
    /// Which axes wrap around.
    pub periodic: [bool; 3],
    /// Time, for catalogues.
    pub time: f64,
    /// The caller's units in cgs, for catalogues.
    pub units: Option<Units>,
    /// Cosmology, for catalogues.
    pub cosmology: Option<Cosmology>,
}

impl Geometry {
    /// A periodic cube of this side. Without units or cosmology, at time 0.
    pub fn cube(side: f64) -> Self {
        Self { side, coarse: [1; 3], periodic: [true; 3], time: 0.0, units: None, cosmology: None }
    }

    /// Sets the number of level-0 cells along each axis.
    #[must_use]
    pub fn coarse(self, coarse: [u32; 3]) -> Self {
        Self { coarse, ..self }
    }

    /// Makes these axes periodic. The others end at walls, with nothing beyond.
    #[must_use]
    pub fn periodic(self, periodic: [bool; 3]) -> Self {
        Self { periodic, ..self }
    }

    /// Sets the time, for catalogues.
    #[must_use]
    pub fn time(self, time: f64) -> Self {
        Self { time, ..self }
    }

    /// Sets the units, for catalogues.
    #[must_use]
    pub fn units(self, units: Units) -> Self {
        Self { units: Some(units), ..self }
    }

    /// Sets the cosmology, for catalogues.
    #[must_use]
    pub fn cosmology(self, cosmology: Cosmology) -> Self {
        Self { cosmology: Some(cosmology), ..self }
    }

    /// Lengths of the box along the axes.
    pub fn sides(&self) -> [f64; 3] {
        self.coarse.map(|n| self.side * f64::from(n))
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        let refused = |message| Err(Error::new(ErrorKind::InvalidArgument, message));
        if !(self.side.is_finite() && self.side > 0.0) {
            return refused(format!(
                "the side of a level-0 cell is {}; expected a positive number",
                self.side
            ));
        }
        if !self.domain().holds_level(0) {
            return refused(format!("{:?} level-0 cells along the axes; expected 1 to 2^31", self.coarse));
        }
        if !self.time.is_finite() {
            return refused(format!("the time is {}; expected a finite number", self.time));
        }
        Ok(())
    }

    /// The part of the box that leaves cover, from their number on each level. Exactly 1 if they cover all of
    /// it.
    pub(crate) fn coverage(&self, leaves_by_level: &[u64]) -> f64 {
        // In cells of the deepest level, which are integers.
        let deepest = leaves_by_level.iter().rposition(|n| *n > 0).map_or(0, |level| level as u32);
        let volume = |(level, n): (u32, &u64)| u128::from(*n) << (3 * deepest.saturating_sub(level));
        let covered: u128 = (0..).zip(leaves_by_level).map(volume).sum();
        let whole = self.coarse.iter().map(|n| u128::from(*n)).product::<u128>() << (3 * deepest);
        if covered == whole { 1.0 } else { covered as f64 / whole as f64 }
    }

    pub(crate) fn domain(&self) -> Domain {
        Domain { coarse: self.coarse, periodic: self.periodic }
    }

    /// From the header of a snapshot. A snapshot without known units has none here.
    pub(crate) fn of_header(header: &Header, has_units: bool) -> Self {
        Self {
            side: header.boxlen,
            coarse: header.coarse,
            periodic: header.periodic,
            time: header.time,
            units: has_units.then_some(header.units),
            cosmology: header.cosmology.clone(),
        }
    }

    /// As the header of a snapshot, for the attributes of a catalogue.
    pub(crate) fn header(&self) -> Header {
        let unknown = Units { length: 1.0, density: 1.0, time: 1.0 };
        Header {
            format: "memory",
            number: None,
            time: self.time,
            boxlen: self.side,
            origin: [0.0; 3],
            coarse: self.coarse,
            periodic: self.periodic,
            levelmin: 0,
            levelmax: 0,
            units: self.units.unwrap_or(unknown),
            cosmology: self.cosmology.clone(),
            n_pieces: 1,
        }
    }
}

/// The cells that a program owns: levels and integer positions, in any order. Immutable; clones share their
/// memory.
///
/// Over several ranks each rank has the cells that it owns in the decomposition of the program, and none
/// twice. An engine builds the mesh at the first call with these cells and keeps it for the next ones.
///
/// Takes 13 bytes per leaf, or 14 bytes per oct.
#[derive(Debug, Clone)]
pub struct Cells {
    pub(crate) geometry: Arc<Geometry>,
    pub(crate) given: Arc<GivenCells>,
}

impl Cells {
    /// Leaves: of each its level, and its position on the grid of that level. Coarser and finer leaves may
    /// touch at any difference of levels.
    ///
    /// Leaves that are not denser than the density threshold may be left out. If a missing leaf touches a
    /// peak, refined positions use the threshold as its density.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if the columns differ in length or hold other numbers than integers;
    /// [`ErrorKind::InvalidCells`] if a leaf is outside the box or deeper than level 29. Leaves that overlap
    /// are found when an engine builds the mesh.
    pub fn from_leaves<'a>(
        geometry: Geometry,
        levels: impl Into<Column<'a>>,
        positions: impl Into<VectorColumn<'a>>,
    ) -> Result<Self, Error> {
        let (level, position) = levels_and_positions(&geometry, levels.into(), positions.into(), 0)?;
        Ok(Self { geometry: Arc::new(geometry), given: Arc::new(GivenCells::Leaves { level, position }) })
    }

    /// Octs: blocks of 2x2x2 cells, as RAMSES keeps them. Each oct has the level of its cells (1 or more),
    /// its position on the grid of the level above, and a mask: bit c is set if cell c is split into an oct
    /// of the next level. Cell c of an oct is at `2 * position + (c & 1, c >> 1 & 1, c >> 2 & 1)`. Over all
    /// ranks, octs are those of a whole octree.
    ///
    /// Values and labels have eight entries per oct, in the order of c. Split cells have values as well;
    /// refined positions use them.
    ///
    /// # Errors
    /// As [`Self::from_leaves`]. Octs that do not form an octree are found when an engine builds the mesh.
    pub fn from_octs<'a>(
        geometry: Geometry,
        levels: impl Into<Column<'a>>,
        positions: impl Into<VectorColumn<'a>>,
        splits: impl Into<Column<'a>>,
    ) -> Result<Self, Error> {
        let (level, position) = levels_and_positions(&geometry, levels.into(), positions.into(), 1)?;
        let split: Vec<u8> = splits.into().to_integers("split mask")?;
        if split.len() != level.len() {
            return Err(uneven("split masks", split.len(), level.len()));
        }
        Ok(Self {
            geometry: Arc::new(geometry),
            given: Arc::new(GivenCells::Octs { level, position, split }),
        })
    }

    /// Blocks of `size` leaves along each axis, as AMReX, Athena++ or Parthenon keep them. Of each block its
    /// level and the position of its lowest cell on the grid of that level. Sizes and positions are even;
    /// levels are 1 or more.
    ///
    /// Values and labels are stored block by block, with x fastest within a block. In `covered`, as long as
    /// these, flags other than 0 mark cells that finer blocks replace: their values are not used, and they
    /// get no label. Cells are covered by whole octs of 2x2x2. With an empty column, no cell is covered.
    ///
    /// # Errors
    /// As [`Self::from_leaves`].
    pub fn from_blocks<'a>(
        geometry: Geometry,
        levels: impl Into<Column<'a>>,
        positions: impl Into<VectorColumn<'a>>,
        size: [u32; 3],
        covered: impl Into<Column<'a>>,
    ) -> Result<Self, Error> {
        let (level, corner) = levels_and_positions(&geometry, levels.into(), positions.into(), 0)?;
        let domain = geometry.domain();
        let fits = |(level, corner): (&u8, &[u32; 3])| {
            let extent = domain.extent(*level);
            (0..3).all(|a| corner[a] % 2 == 0 && i64::from(corner[a]) + i64::from(size[a]) <= extent[a])
        };
        if size.iter().any(|n| *n == 0 || n % 2 != 0) {
            let message = format!("blocks of {size:?} cells; expected even numbers from 2");
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        if let Some(i) =
            level.iter().zip(&corner).position(|(level, corner)| *level == 0 || !fits((level, corner)))
        {
            let message = format!(
                "block {i} of {size:?} cells at {:?} of level {}; expected an even place, in the box, of level 1 or more",
                corner[i], level[i]
            );
            return Err(Error::new(ErrorKind::InvalidCells, message));
        }
        let n_cells = size.iter().try_fold(level.len() as u128, |n, side| n.checked_mul(u128::from(*side)));
        if n_cells.is_none_or(|n| n >= u128::from(u32::MAX)) {
            let n = level.len();
            let message = format!("{n} blocks of {size:?} cells on one rank; expected less than 2^32 cells");
            return Err(Error::new(ErrorKind::OutOfMemory, message));
        }
        let mut given = GivenCells::Blocks { level, corner, size, covered: Vec::new() };
        let flags = covered.into();
        if !flags.is_empty() {
            if flags.len() != given.n_cells() {
                return Err(uneven("covered cells", flags.len(), given.n_cells()));
            }
            let octs = given.covered_octs(|i| flags.real(i) != 0.0).map_err(|i| {
                let (level, ijk) = given.cell(i);
                let message =
                    format!("only a part of the 2x2x2 cells at {ijk:?} of level {level} is covered");
                Error::new(ErrorKind::InvalidCells, message)
            })?;
            given.set_covered(octs);
        }
        Ok(Self { geometry: Arc::new(geometry), given: Arc::new(given) })
    }

    /// The whole box as a grid of one level: an array with `coarse * 2^level` cells along each axis, x
    /// fastest. On one rank.
    ///
    /// # Errors
    /// When the geometry is not valid, or the level is 0 or too deep.
    pub fn uniform(geometry: Geometry, level: u8) -> Result<Self, Error> {
        geometry.check()?;
        if !geometry.domain().holds_level(level) {
            return Err(Error::new(ErrorKind::InvalidCells, MeshError::TooDeep(level).to_string()));
        }
        let size = geometry.coarse.map(|n| n << level);
        Self::from_blocks(geometry, &[level], &[[0_u32; 3]], size, &[0_u8; 0])
    }

    /// The same cells at another time: catalogues of the next calls have the time, side, units and cosmology
    /// of `geometry`. An engine keeps their mesh.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if `geometry` is not valid, or has other level-0 cells or periodic
    /// axes.
    pub fn at(&self, geometry: Geometry) -> Result<Self, Error> {
        geometry.check()?;
        let old = &self.geometry;
        if geometry.domain() != old.domain() {
            let message = format!(
                "a box of {:?} level-0 cells, periodic {:?}; expected {:?}, periodic {:?}, as the cells have",
                geometry.coarse, geometry.periodic, old.coarse, old.periodic
            );
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        Ok(Self { geometry: Arc::new(geometry), given: Arc::clone(&self.given) })
    }

    /// Number of cells on this rank; eight per oct. One value and one label belong to each.
    pub fn len(&self) -> usize {
        self.given.n_cells()
    }

    /// Whether there are none on this rank.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The box.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Checks values of the cells: finite, and in leaves not below `least`.
    pub(crate) fn check_values(&self, what: &str, values: &Column, least: f64) -> Result<(), Error> {
        self.check_length(what, values.len())?;
        // The usual case, without a look at which cells are leaves.
        if values.all(|value| value.is_finite() && value >= least) {
            return Ok(());
        }
        let is_bad = |i: &usize| {
            let value = values.real(*i);
            !(value.is_finite() && (value >= least || !self.given.is_leaf(*i)))
        };
        match (0..values.len()).into_par_iter().with_min_len(1 << 14).find_first(is_bad) {
            None => Ok(()),
            Some(i) => {
                let ((level, ijk), value) = (self.given.cell(i), values.real(i));
                let expected = if value.is_finite() { "0 or more in a leaf" } else { "a finite value" };
                let place = match *self.given {
                    GivenCells::Octs { .. } => {
                        let (oct, cell) = values.place_of(i, 8);
                        format!("cell {cell} of oct {oct}")
                    }
                    _ => format!("cell {}", values.index_of(i)),
                };
                let message =
                    format!("{what} of {place}, {ijk:?} of level {level}, is {value}; expected {expected}");
                Err(Error::new(ErrorKind::InvalidValue, message))
            }
        }
    }

    pub(crate) fn check_length(&self, what: &str, n: usize) -> Result<(), Error> {
        if n == self.len() { Ok(()) } else { Err(uneven(what, n, self.len())) }
    }
}

fn uneven(what: &str, n: usize, expected: usize) -> Error {
    Error::new(ErrorKind::InvalidArgument, format!("{what} has {n} entries; expected {expected}"))
}

/// Checked levels, and positions on the grid `up` levels above.
fn levels_and_positions(
    geometry: &Geometry,
    levels: Column,
    positions: VectorColumn,
    up: u8,
) -> Result<(Vec<u8>, Vec<[u32; 3]>), Error> {
    geometry.check()?;
    let level: Vec<u8> = levels.to_integers("level")?;
    let n = positions.len("positions")?;
    if n != level.len() {
        return Err(uneven("positions", n, level.len()));
    }
    let position: Vec<[u32; 3]> = positions.to_integers("position")?;
    let domain = geometry.domain();
    // Of each level the extent of the grid on which positions lie, if cells may have this level.
    let extents: Vec<Option<[i64; 3]>> = (0..=MAX_LEVEL)
        .map(|level| (level >= up && domain.holds_level(level)).then(|| domain.extent(level - up)))
        .collect();
    let is_good = |i: usize| match extents.get(usize::from(level[i])) {
        Some(Some(extent)) => (0..3).all(|a| i64::from(position[i][a]) < extent[a]),
        _ => false,
    };
    let is_good_run = |mut run: Range<usize>| run.all(is_good);
    if chunks(n, 1 << 14).into_par_iter().all(is_good_run) {
        return Ok((level, position));
    }
    let i = (0..n).find(|i| !is_good(*i)).expect("a run has a bad one");
    let message = format!(
        "position {} is {:?} at level {}; expected a place in the box, and a level from {up} to {MAX_LEVEL}",
        positions.0[0].index_of(i),
        position[i],
        level[i]
    );
    Err(Error::new(ErrorKind::InvalidCells, message))
}
