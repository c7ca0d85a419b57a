//! Rows of one kind of particles in one file of a snapshot.

use super::array::{append, read_positions, triples};
use super::header::FileHeader;
use super::names::ColumnName;
use crate::ReadResult;
use crate::hdf5_file::{DatasetRows, Hdf5File};
use crate::open_files;
use crate::open_files::OpenPermit;
use crate::particles::{Columns, GAS, Species};
use std::ops::Range;
use std::path::Path;

/// A range of rows of one file.
pub struct RowReader<'a> {
    source: Hdf5File<'a>,
    species: &'a Species,
    kind: usize,
    /// Particles of the kind in the file.
    n_here: u64,
    /// Their common mass, if the header states it.
    mass: Option<f64>,
    /// The rows within the file.
    rows: Range<u64>,
    /// The number of the first row among those of all files.
    first: u64,
    // Dropped after the file.
    _pass: OpenPermit,
}

impl<'a> RowReader<'a> {
    /// Opens the file; `first` is the number of the first row among those of all files.
    pub fn open(path: &'a Path, species: &'a Species, rows: Range<u64>, first: u64) -> ReadResult<Self> {
        let pass = open_files::pass();
        let source = Hdf5File::open(path)?;
        let kind = usize::from(species.kind.expect("a species of a snapshot file has one kind"));
        let header = FileHeader::read(&source)?;
        let mass = Some(header.whole.mass_table[kind]).filter(|mass| *mass > 0.0);
        Ok(Self { source, species, kind, n_here: header.here[kind], mass, rows, first, _pass: pass })
    }

    /// Appends the rows to the requested columns; `velocity` converts to peculiar velocities.
    pub fn read(&self, velocity: f64, into: &mut Columns) -> ReadResult<()> {
        read_positions(
            &self.source,
            &self.column(ColumnName::Positions, 3)?,
            self.rows.clone(),
            &mut into.position,
        )?;
        if let Some(to) = &mut into.mass {
            append(to, self.masses()?);
        }
        if let Some(to) = &mut into.id {
            append(to, self.ids()?);
        }
        if let Some(to) = &mut into.kind {
            append(to, self.kinds()?);
        }
        if let Some(to) = &mut into.velocity {
            append(to, self.velocities(velocity as f32)?);
        }
        if let Some(to) = &mut into.density {
            append(to, self.densities()?);
        }
        Ok(())
    }

    fn n(&self) -> usize {
        (self.rows.end - self.rows.start) as usize
    }

    fn column(&self, name: ColumnName, width: usize) -> ReadResult<DatasetRows> {
        name.need(&self.source, self.kind, self.n_here, width)
    }

    /// Wind cells among the stars are gas.
    fn kinds(&self) -> ReadResult<Vec<u8>> {
        if !self.species.has_wind {
            return Ok(vec![self.kind as u8; self.n()]);
        }
        let formed: Vec<f32> =
            self.source.reals(&self.column(ColumnName::FormationTimes, 1)?, self.rows.clone())?;
        Ok(formed.into_iter().map(|time| if time <= 0.0 { GAS } else { self.kind as u8 }).collect())
    }

    /// With weights where the species has them.
    fn masses(&self) -> ReadResult<Vec<f64>> {
        let mut masses = self.plain_masses()?;
        if self.species.has_weights {
            let weights: Vec<f64> =
                self.source.reals(&self.column(ColumnName::Weights, 1)?, self.rows.clone())?;
            masses.iter_mut().zip(weights).for_each(|(mass, weight)| *mass *= weight);
        }
        Ok(masses)
    }

    fn plain_masses(&self) -> ReadResult<Vec<f64>> {
        match ColumnName::Masses.find(&self.source, self.kind)? {
            Some(column) => self.source.reals(&self.source.fits(column, self.n_here, 1)?, self.rows.clone()),
            // Without masses in the input, particles count as 1.
            None => Ok(vec![self.mass.unwrap_or(1.0); self.n()]),
        }
    }

    fn ids(&self) -> ReadResult<Vec<u64>> {
        if !self.species.has_ids {
            return Ok((self.first..self.first + self.n() as u64).collect());
        }
        self.source.integers(&self.column(ColumnName::Identities, 1)?, self.rows.clone())
    }

    fn velocities(&self, factor: f32) -> ReadResult<Vec<[f32; 3]>> {
        if !self.species.has_velocities {
            return Ok(vec![[0.0; 3]; self.n()]);
        }
        let mut read: Vec<f32> =
            self.source.reals(&self.column(ColumnName::Velocities, 3)?, self.rows.clone())?;
        read.iter_mut().for_each(|v| *v *= factor);
        Ok(triples(read))
    }

    fn densities(&self) -> ReadResult<Vec<f32>> {
        match ColumnName::Densities.find(&self.source, self.kind)?.filter(|_| self.species.has_densities) {
            Some(column) => self.source.reals(&self.source.fits(column, self.n_here, 1)?, self.rows.clone()),
            None => Ok(vec![f32::NAN; self.n()]),
        }
    }
}
