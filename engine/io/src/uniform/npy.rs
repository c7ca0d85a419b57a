//! NumPy arrays of three axes, x, y and z, or of two if they are said to be images, in C or Fortran order.

use super::{ArrayShape, ArrayValues, Uniform};
use crate::npy_header::{NpyText, bad, is_fortran, number_format, shape_of};
use crate::stored_array::{RealFormat, StoredArray};
use crate::{FieldDefaults, ReadError, ReadResult, Reader, facts};
use std::path::Path;

/// The reader of .npy files of cells.
pub const READER: Reader = Reader {
    name: "NumPy array of cells",
    looks: "a .npy file of three axes, or an image of two",
    recognises,
    read_headers: |path, defaults| Ok(facts::encode(&open(path, defaults)?)),
    open: |known| Box::new(facts::decode::<Uniform>(known)),
};

/// Arrays of shape (N, 3) are positions of particles, unless they are said to be images.
fn recognises(path: &Path, defaults: &FieldDefaults) -> bool {
    let is_npy = path.extension().is_some_and(|e| e == "npy");
    let shape = || shape_of(&NpyText::read(path).ok()?.text);
    is_npy && shape().is_some_and(|shape| defaults.is_image || !matches!(shape[..], [_, 3]))
}

fn open(path: &Path, defaults: &FieldDefaults) -> ReadResult<Uniform> {
    let NpyText { text, data, size: file_size } = NpyText::read(path)?;
    let (shape, real) = parse(path, &text, defaults)?;
    let array = StoredArray::dense(data, shape.size, shape.order, real);
    let expected = array.bytes().and_then(|bytes| bytes.checked_add(data));
    if expected != Some(file_size) {
        let problem = format!("{file_size} bytes for a header of {:?} cells", array.size);
        let expected = expected.map_or("fewer cells".into(), |bytes| format!("{bytes}"));
        return Err(ReadError::content(path, "size", problem, expected));
    }
    Uniform::new(path, READER.name, "density", shape, ArrayValues::Stored(array), defaults)
}

fn parse(path: &Path, text: &str, defaults: &FieldDefaults) -> ReadResult<(ArrayShape, RealFormat)> {
    let shape = shape_of(text).ok_or_else(|| bad(path, "no sound shape", "three axes: x, y and z"))?;
    let (is_fortran, real) = (is_fortran(path, text)?, number_format(path, text)?);
    // They may also be positions of particles, though not of three numbers each.
    if shape.len() == 2 && !defaults.is_image {
        return Err(ReadError::TwoAxes { path: path.into(), shape });
    }
    Ok((ArrayShape::new(path, &shape, is_fortran, defaults)?, real))
}
