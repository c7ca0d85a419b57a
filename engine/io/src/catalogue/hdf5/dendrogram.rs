//! A dendrogram in the layout of the program astrodendro, whose `Dendrogram.load_from` reads it.

use super::make_file;
use super::write::scalar;
use crate::catalogue::viewers::DendrogramFile;
use crate::catalogue::{WriteError, WriteResult};
use crate::staging::{Staged, stage_path};
use ::hdf5::types::VarLenAscii;
use ::hdf5::{File, H5Type, Result};
use ndarray::{ArrayViewD, IxDyn};
use std::path::Path;

/// Stages the file at `path`.
///
/// # Errors
/// The content does not have this shape, or the file cannot be written.
pub fn stage_dendrogram(path: &Path, content: &DendrogramFile<'_>) -> WriteResult<Staged> {
    let n = content.shape.iter().product::<usize>();
    if n == 0 || content.data.len() != n || content.index_map.len() != n {
        let problem = format!("{} values and {} numbers", content.data.len(), content.index_map.len());
        let expected = format!("as many as the shape {:?} has, 1 or more", content.shape);
        return Err(WriteError::content(path, "dendrogram", problem, expected));
    }
    let staged =
        stage_path(path, |hidden| make_file(path, hidden, "the dendrogram", |file| fill(file, content)))?;
    Ok(staged.into())
}

fn fill(file: &File, content: &DendrogramFile<'_>) -> Result<()> {
    text(file, "newick", content.newick)?;
    content.wcs_header.map_or(Ok(()), |cards| text(file, "wcs_header", cards))?;
    put(file, "index_map", content.shape, content.index_map)?;
    put(file, "data", content.shape, content.data)?;
    let (value, delta, cells) = content.limits;
    scalar(file, "n_dim", &(content.shape.len() as i64))?;
    scalar(file, "min_value", &value)?;
    scalar(file, "min_delta", &delta)?;
    scalar(file, "min_npix", &(cells as i64))
}

fn text(file: &File, name: &str, text: &str) -> Result<()> {
    let text = VarLenAscii::from_ascii(text).expect("numbers, brackets and cards are ASCII");
    file.new_dataset::<VarLenAscii>().obj_track_times(false).create(name)?.write_scalar(&text)
}

fn put<T: H5Type>(file: &File, name: &str, shape: &[usize], values: &[T]) -> Result<()> {
    let array = ArrayViewD::from_shape(IxDyn(shape), values).expect("the shape was checked");
    file.new_dataset_builder().with_data(array).obj_track_times(false).create(name).map(drop)
}
