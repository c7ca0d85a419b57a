//! The clump or halo of each pixel as an image of its own, with the axes and coordinates of the input.
//!
//! Rank 0 writes the image slab by slab. For each slab the ranks send it the labels of their cells there, so
//! no rank holds the whole image.

use super::array::{axes_of, coordinates, sides_of_cells};
use crate::error::{Error, ErrorKind};
use inselberg_comm::agree::{AgreeError, agree};
use inselberg_comm::{Comm, CommError, Rank};
use inselberg_io::catalogue::{Attribute, Table, WriteError};
use inselberg_io::fits_cards::Cards;
use inselberg_io::label_image::stage_label_image;
use inselberg_io::staging::Staged;
use rayon::prelude::*;
use std::io;
use std::path::Path;

/// What labels are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LabelsOf {
    /// Clumps.
    #[default]
    Clumps,
    /// Haloes.
    Haloes,
}

impl std::str::FromStr for LabelsOf {
    type Err = Error;

    /// From the name of the table: `clumps` or `haloes`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let known = [Self::Clumps, Self::Haloes].into_iter().find(|of| of.table() == text);
        known.ok_or_else(|| {
            let message = format!("labels of {text:?}; expected clumps or haloes");
            Error::new(ErrorKind::InvalidArgument, message)
        })
    }
}

impl LabelsOf {
    /// The column of cells.
    fn column(self) -> &'static str {
        if self == Self::Clumps { "clump" } else { "halo" }
    }

    /// The table with a row for each of them.
    pub fn table(self) -> &'static str {
        if self == Self::Clumps { "clumps" } else { "haloes" }
    }
}

/// Pixels of a slab, where planes allow it.
const SLAB: u64 = 1 << 23;

/// The pixel of a cell in the order of the file, and its label.
type LabelledPixel = (u64, i32);

/// Collective: the image of labels, on rank 0. `cells` are the cells of this rank, all of one level.
///
/// # Errors
/// The catalogue has no cells of one size, or more labels than the format has, the file cannot be written, or
/// another rank fails.
pub fn stage_labels(
    path: &Path,
    attributes: &[(String, Attribute)],
    cells: &Table,
    of: LabelsOf,
    comm: &Comm,
) -> Result<Staged, Error> {
    let wrong =
        |problem: &str, expected: &str| Error::from(WriteError::content(path, "labels", problem, expected));
    let sizes = sides_of_cells(attributes, cells.bytes("level").unwrap_or_default(), comm)?;
    let sizes = sizes.map_err(|(problem, expected)| wrong(&problem, expected))?;
    let unlabelled = "no labels of cells up to 2^31";
    let labelled = agree(comm, labelled(cells, of, sizes).ok_or(unlabelled));
    let mut labelled = labelled.map_err(|error| match error {
        AgreeError::Comm(error) => error.into(),
        AgreeError::Here(_) | AgreeError::Elsewhere { .. } => wrong(unlabelled, "a table of cells"),
    })?;
    labelled.par_sort_unstable();
    let [nx, ny, nz] = sizes.map(|n| n as u64);
    let (plane, n_planes) = if nz > 1 { (nx * ny, nz) } else { (nx, ny) };
    let slab = plane * (SLAB / plane).max(1);
    let mut slabs = LabelSlabs { labelled: &labelled, slab, n: plane * n_planes, first: 0, comm };
    if comm.rank() != Rank(0) {
        while slabs.next()?.is_some() {}
        return Ok(Staged::default());
    }
    let shape = axes_of(attributes, "shape");
    let (shape, cards) = match shape {
        Some(shape) => {
            let all: Vec<usize> = (1..=shape.len()).collect();
            let cards = coordinates(attributes, &all);
            (shape, cards)
        }
        None => (sizes.iter().copied().filter(|n| *n > 1).collect(), Cards::new()),
    };
    let what = format!("{} of inselberg", of.table());
    let mut next = || slabs.next().map_err(|error| io::Error::other(error.to_string()));
    Ok(stage_label_image(path, &shape, &cards, &what, &mut next)?)
}

/// The pixels in a clump; `None` if the cells have no labels, or too great ones.
fn labelled(cells: &Table, of: LabelsOf, [nx, ny, nz]: [usize; 3]) -> Option<Vec<LabelledPixel>> {
    let (ijk, labels) = (cells.positions("ijk")?, cells.counts(of.column())?);
    let one = |(at, label): (&[u32; 3], &u64)| {
        let [x, y, z] = at.map(|x| x as usize);
        let is_inside = x < nx && y < ny && z < nz;
        Some((((z * ny + y) * nx + x) as u64, i32::try_from(*label).ok().filter(|_| is_inside)?))
    };
    ijk.par_iter().zip(labels).filter(|(_, label)| **label > 0).map(one).collect()
}

/// The labels of an image, slab by slab.
struct LabelSlabs<'a> {
    /// Of this rank, in the order of the image.
    labelled: &'a [LabelledPixel],
    /// Pixels of a slab.
    slab: u64,
    /// Pixels of the image.
    n: u64,
    /// The first pixel of the next slab.
    first: u64,
    comm: &'a Comm,
}

impl LabelSlabs<'_> {
    /// Collective: the labels of the next slab on rank 0, nothing on the others; `None` past the last one.
    fn next(&mut self) -> Result<Option<Vec<i32>>, CommError> {
        if self.first >= self.n {
            return Ok(None);
        }
        let end = (self.first + self.slab).min(self.n);
        let n_here = self.labelled.partition_point(|(at, _)| *at < end);
        let (here, later) = self.labelled.split_at(n_here);
        let of_slab =
            here.iter().map(|(at, label)| [(at - self.first) as u32, label.cast_unsigned()]).collect();
        let received = self.comm.exchange(vec![(Rank(0), of_slab)])?;
        let mut labels = Vec::new();
        if self.comm.rank() == Rank(0) {
            labels = vec![0; (end - self.first) as usize];
            for [at, label] in received.into_iter().flat_map(|(_, list): (_, Vec<[u32; 2]>)| list) {
                labels[at as usize] = label.cast_signed();
            }
        }
        (self.labelled, self.first) = (later, end);
        Ok(Some(labels))
    }
}
