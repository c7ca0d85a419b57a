//! NumPy arrays of three axes, x, y and z, in C or Fortran order.

use super::{ArrayValues, Uniform, three_sizes};
use crate::npy_header::{NpyText, bad, value_of};
use crate::stored_array::{NumberKind, RealFormat, StoredArray};
use crate::{FieldDefaults, ReadError, ReadResult, Reader, facts};
use std::path::Path;

/// The reader of .npy files of cells.
pub const READER: Reader = Reader {
    name: "NumPy array of cells",
    looks: "a .npy file of three axes",
    recognises,
    read_headers: |path, defaults| Ok(facts::encode(&open(path, defaults)?)),
    open: |known| Box::new(facts::decode::<Uniform>(known)),
};

/// Arrays of shape (N, 3) are positions of particles.
fn recognises(path: &Path) -> bool {
    let is_npy = path.extension().is_some_and(|e| e == "npy");
    let shape = || shape_of(&NpyText::read(path).ok()?.text);
    is_npy && shape().is_some_and(|shape| !matches!(shape[..], [_, 3]))
}

fn open(path: &Path, defaults: &FieldDefaults) -> ReadResult<Uniform> {
    let NpyText { text, data, size: file_size } = NpyText::read(path)?;
    let array = parse(path, &text, data)?;
    let expected = array.bytes().and_then(|bytes| bytes.checked_add(data));
    if expected != Some(file_size) {
        let problem = format!("{file_size} bytes for a header of {:?} cells", array.size);
        let expected = expected.map_or("fewer cells".into(), |bytes| format!("{bytes}"));
        return Err(ReadError::content(path, "size", problem, expected));
    }
    let shape = (array.size, array.order, 1);
    Uniform::new(path, READER.name, "density", shape, ArrayValues::Stored(array), defaults)
}

fn shape_of(text: &str) -> Option<Vec<u64>> {
    let shape = value_of(text, "shape")?;
    let words = shape.trim_matches(['(', ')']).split(',').map(str::trim).filter(|word| !word.is_empty());
    words.map(|word| word.parse().ok()).collect()
}

fn parse(path: &Path, text: &str, data: u64) -> ReadResult<StoredArray> {
    let shape = shape_of(text).ok_or_else(|| bad(path, "no sound shape", "three axes: x, y and z"))?;
    let size = three_sizes(path, &shape)?;
    let descr = value_of(text, "descr").map(|v| v.trim_matches(['\'', '"']).to_string()).unwrap_or_default();
    let order = value_of(text, "fortran_order").unwrap_or_default();
    let order = match order.as_str() {
        "False" => [2, 1, 0],
        "True" => [0, 1, 2],
        _ => return Err(bad(path, format!("fortran_order `{order}`"), "True or False")),
    };
    let real = real(&descr).ok_or_else(|| {
        bad(path, format!("elements of type {descr:?}"), "reals of 4 or 8 bytes, or integers")
    })?;
    Ok(StoredArray { at: data, size, order, real })
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
