//! Catalogues in files: read, cut again, written.

use crate::api::recut_cells::recut_cells;
use crate::error::Error;
use crate::phew::image::{LabelsOf, stage_labels_of_catalogue};
use crate::phew::recut::NewThresholds;
use crate::voids::NewVoidThresholds;
use inselberg_io::catalogue::{self, Catalogue};
use std::path::Path;

/// Reads a catalogue that the command or a result wrote.
///
/// # Errors
/// [`ErrorKind::Read`](crate::ErrorKind::Read) if the file is absent, of an unknown format, damaged, or not a
/// catalogue.
pub fn read_catalogue(path: impl AsRef<Path>) -> Result<Catalogue, Error> {
    Ok(catalogue::read(path.as_ref())?)
}

/// Writes a catalogue in the format for the ending of `path`, completely or not at all.
///
/// # Errors
/// [`ErrorKind::Write`](crate::ErrorKind::Write) if the place cannot be written or the catalogue does not fit
/// the format; `path` is then unchanged.
pub fn write_catalogue(path: impl AsRef<Path>, stored: &Catalogue) -> Result<(), Error> {
    Ok(catalogue::write(path.as_ref(), stored)?)
}

/// Writes the labels of a catalogue of clumps, as
/// [`FoundCatalogue::write_labels`](crate::FoundCatalogue::write_labels).
///
/// # Errors
/// When the name has another ending, the catalogue lacks what the format needs, or the file cannot be
/// written.
pub fn write_labels(path: impl AsRef<Path>, stored: &Catalogue, of: LabelsOf) -> Result<(), Error> {
    Ok(stage_labels_of_catalogue(path.as_ref(), stored, of)?.commit()?)
}

/// Whether a catalogue has voids, so that [`recut_voids`] cuts it and not [`recut`].
pub fn is_void_catalogue(stored: &Catalogue) -> bool {
    crate::voids::is_void_catalogue(stored)
}

/// The catalogue of clumps that a run with these thresholds writes, bit for bit, without the tables of cells
/// and particles. No snapshot is read: it costs a sort of the peaks. A higher density threshold segments the
/// cells of the catalogue again, and the result has them.
///
/// ```
/// use inselberg::{Cells, Engine, Geometry, NewThresholds, Persistence, PhewParams, read_catalogue, recut};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("clumps.csv");
/// # let positions: Vec<[u32; 3]> = (0..6).map(|x| [x, 4, 4]).collect();
/// # let density = [2.0, 9.0, 4.0, 7.0, 3.0, 0.5];
/// # let mut engine = Engine::builder().threads(2).build()?;
/// # let cells = Cells::from_leaves(Geometry::cube(1.0), &[3_u8; 6], &positions)?;
/// let params = PhewParams::new(1.0).persistence(Persistence::Ratio(1.2));
/// engine.phew(&cells, &density, &params)?.write(&path)?;
///
/// let thresholds = NewThresholds::default().persistence(Persistence::Ratio(2.0));
/// let robust = recut(&read_catalogue(&path)?, &thresholds)?;
/// assert_eq!(robust.table("clumps").map(|clumps| clumps.n_rows()), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the catalogue's tree is missing or broken, or a threshold does not fit it.
pub fn recut(stored: &Catalogue, thresholds: &NewThresholds) -> Result<Catalogue, Error> {
    match thresholds.density {
        None => Ok(crate::phew::recut::recut(stored, thresholds)?),
        Some(_) => recut_cells(stored, thresholds),
    }
}

/// As [`recut`], of voids. Densities of cores and walls are left out as well.
///
/// # Errors
/// As [`recut`].
pub fn recut_voids(stored: &Catalogue, thresholds: &NewVoidThresholds) -> Result<Catalogue, Error> {
    Ok(crate::voids::recut_voids(stored, thresholds)?)
}
