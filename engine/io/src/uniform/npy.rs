//! NumPy arrays of three axes, x, y and z, or of two if they are said to be images, in C or Fortran order.

use super::{ArrayShape, ArrayValues, Uniform};
use crate::npy_header::{NpyText, bad, value_of};
use crate::stored_array::{NumberKind, RealFormat, StoredArray};
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
    let array = StoredArray { at: data, size: shape.size, order: shape.order, real };
    let expected = array.bytes().and_then(|bytes| bytes.checked_add(data));
    if expected != Some(file_size) {
        let problem = format!("{file_size} bytes for a header of {:?} cells", array.size);
        let expected = expected.map_or("fewer cells".into(), |bytes| format!("{bytes}"));
        return Err(ReadError::content(path, "size", problem, expected));
    }
    Uniform::new(path, READER.name, "density", shape, ArrayValues::Stored(array), defaults)
}

fn shape_of(text: &str) -> Option<Vec<u64>> {
    let shape = value_of(text, "shape")?;
    let words = shape.trim_matches(['(', ')']).split(',').map(str::trim).filter(|word| !word.is_empty());
    words.map(|word| word.parse().ok()).collect()
}

fn parse(path: &Path, text: &str, defaults: &FieldDefaults) -> ReadResult<(ArrayShape, RealFormat)> {
    let shape = shape_of(text).ok_or_else(|| bad(path, "no sound shape", "three axes: x, y and z"))?;
    let descr = value_of(text, "descr").map(|v| v.trim_matches(['\'', '"']).to_string()).unwrap_or_default();
    let order = value_of(text, "fortran_order").unwrap_or_default();
    let is_fortran = match order.as_str() {
        "False" => false,
        "True" => true,
        _ => return Err(bad(path, format!("fortran_order `{order}`"), "True or False")),
    };
    let real = real(&descr).ok_or_else(|| {
        bad(path, format!("elements of type {descr:?}"), "reals of 4 or 8 bytes, or integers")
    })?;
    // They may also be positions of particles, though not of three numbers each.
    if shape.len() == 2 && !defaults.is_image {
        return Err(ReadError::TwoAxes { path: path.into(), shape });
    }
    Ok((ArrayShape::new(path, &shape, is_fortran, defaults)?, real))
}

/// `<f4`, `>i2`, `|u1`, ...
fn real(descr: &str) -> Option<RealFormat> {
    let (order, kind) = descr.split_at_checked(1)?;
    let integer = |signed| Some(NumberKind::Integer { bytes: kind[1..].parse().ok()?, signed });
    let kind = match kind {
        "f4" => NumberKind::F32,
        "f8" => NumberKind::F64,
        "i1" | "i2" | "i4" | "i8" => integer(true)?,
        "u1" | "u2" | "u4" | "u8" => integer(false)?,
        _ => return None,
    };
    let big_endian = match order {
        "<" => false,
        ">" => true,
        "=" => cfg!(target_endian = "big"),
        "|" if kind.bytes() == 1 => false,
        _ => return None,
    };
    Some(RealFormat { kind, big_endian })
}
