//! A dendrogram in the layout of the program astrodendro, whose `Dendrogram.load_from` reads it.

use super::write::{Hdf5Target, put_table, scalar};
use crate::catalogue::WriteResult;
use crate::catalogue::viewers::{DendrogramFile, DendrogramPart, NextPart};
use crate::staging::{Staged, stage_path};
use ::hdf5::types::VarLenAscii;
use ::hdf5::{Dataset, Error, File, H5Type, Result};
use ndarray::{ArrayView2, ArrayView3, s};
use std::path::Path;

/// The datasets of the root, which are no tables of a catalogue.
const DATASETS: [&str; 4] = ["newick", "wcs_header", "index_map", "data"];

/// Whether a member of the root is one of a dendrogram, and no table.
pub fn is_of_dendrogram(file: &File, name: &str) -> bool {
    DATASETS.contains(&name) && file.dataset(name).is_ok()
}

/// Stages the file at `path`, part by part: a catalogue with the table of structures, and astrodendro's
/// datasets beside it. It has no checksum. `next` is called to its end, whatever happens.
///
/// # Errors
/// The content does not have this shape, or the file cannot be written.
pub fn stage_dendrogram(
    path: &Path,
    content: &DendrogramFile<'_>,
    next: NextPart<'_>,
) -> WriteResult<Staged> {
    let staged = stage_path(path, |hidden| {
        let (target, rows) = (Hdf5Target { path }, content.structures.n_rows() as u64);
        let file = target.make(hidden, content.attributes, &[(content.structures, rows)])?;
        fill(&file, content, next).map_err(target.failed("the dendrogram"))?;
        target.close(file)
    });
    // The other ranks send their parts, whatever happened here.
    while let Ok(Some(_)) = next() {}
    Ok(staged?.into())
}

fn fill(file: &File, content: &DendrogramFile<'_>, next: NextPart<'_>) -> Result<()> {
    let (index_map, data) = begin(file, content)?;
    while let Some(part) = next().map_err(Error::from)? {
        put(&index_map, content.shape, &part, &part.index_map)?;
        put(&data, content.shape, &part, &part.data)?;
    }
    Ok(())
}

/// All but the arrays: the structures, and the datasets of the tree and of coordinates.
fn begin(file: &File, content: &DendrogramFile<'_>) -> Result<(Dataset, Dataset)> {
    put_table(file, content.structures)?;
    text(file, "newick", content.newick)?;
    content.wcs_header.map_or(Ok(()), |cards| text(file, "wcs_header", cards))?;
    let (value, delta, cells) = content.limits;
    scalar(file, "n_dim", &(content.shape.len() as i64))?;
    scalar(file, "min_value", &value)?;
    scalar(file, "min_delta", &delta)?;
    scalar(file, "min_npix", &(cells as i64))?;
    Ok((array::<i32>(file, "index_map", content.shape)?, array::<f64>(file, "data", content.shape)?))
}

fn text(file: &File, name: &str, text: &str) -> Result<()> {
    let text = VarLenAscii::from_ascii(text).expect("numbers, brackets and cards are ASCII");
    file.new_dataset::<VarLenAscii>().obj_track_times(false).create(name)?.write_scalar(&text)
}

fn array<T: H5Type>(file: &File, name: &str, shape: &[usize]) -> Result<Dataset> {
    file.new_dataset::<T>().obj_track_times(false).shape(shape).create(name)
}

/// Writes the planes of a part.
fn put<T: H5Type>(to: &Dataset, shape: &[usize], part: &DendrogramPart, values: &[T]) -> Result<()> {
    let planes = part.first..part.first + part.n;
    match *shape {
        [_, b] => {
            let view = ArrayView2::from_shape((part.n, b), values).map_err(|e| Error::from(e.to_string()))?;
            to.write_slice(view, s![planes, ..])
        }
        [_, b, c] => {
            let view =
                ArrayView3::from_shape((part.n, b, c), values).map_err(|e| Error::from(e.to_string()))?;
            to.write_slice(view, s![planes, .., ..])
        }
        _ => Err(Error::from(format!("an array of {} axes; expected two or three", shape.len()))),
    }
}
