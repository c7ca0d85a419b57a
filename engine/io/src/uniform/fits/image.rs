//! The values of an image: their type, their scale, and the axes that they span.

use super::packed::PackedTiles;
use super::parts::FoundPart;
use super::stokes;
use crate::source_file::SourceFile;
use crate::stored_array::{NumberKind, RealFormat, StoredArray};
use crate::{ReadError, ReadResult};
use serde::{Deserialize, Serialize};

/// From the numbers in the file to values: `zero + scale * number`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(in crate::uniform) struct Scaling {
    zero: f64,
    scale: f64,
    /// The number that stands for no value.
    blank: Option<f64>,
}

impl Scaling {
    /// Scales numbers in place. A missing value becomes NaN.
    pub fn apply(self, numbers: &mut [f64]) {
        for number in numbers {
            let is_blank = self.blank == Some(*number);
            *number = if is_blank { f64::NAN } else { self.zero + self.scale * *number };
        }
    }
}

/// The numbers of an image in its file.
#[derive(Debug)]
pub(super) enum ImageNumbers {
    /// At regular places.
    Stored(StoredArray),
    /// In compressed tiles.
    Packed(Box<PackedTiles>),
}

/// An image as cells.
#[derive(Debug)]
pub(super) struct ImageCells {
    pub numbers: ImageNumbers,
    /// Cells along x, y and z, and the axes by the distance of neighbours in the file.
    pub size: [u32; 3],
    pub order: [usize; 3],
    /// `None` where values are the numbers in the file.
    pub scaling: Option<Scaling>,
    /// The numbers, from 1, of the axes in the file that are x, y and z; two for an image.
    pub axes: Vec<usize>,
    /// The plane of a Stokes axis that is taken, in words.
    pub stokes: Option<String>,
}

/// The cells of a part. Axes of length 1 are left out, and of a Stokes axis one plane is taken: `wanted`, or
/// Stokes I.
///
/// # Errors
/// The image has no values, one axis or more than three that are longer, or is longer than the file. It has
/// no such plane.
pub(super) fn cells_of(file: &SourceFile, part: &FoundPart, wanted: Option<&str>) -> ReadResult<ImageCells> {
    let cards = &part.cards;
    let stokes = stokes::plane(file, part, wanted)?;
    let is_taken =
        |axis: &usize| part.axes[axis - 1] != 1 && stokes.as_ref().is_none_or(|plane| plane.axis != *axis);
    let axes: Vec<usize> = (1..=part.axes.len()).filter(is_taken).collect();
    let sizes: Option<Vec<u32>> = axes.iter().map(|axis| part.axes[axis - 1].try_into().ok()).collect();
    let bad = |problem: String| cards.bad(file, "NAXIS", problem, "two or three axes longer than 1");
    let (size, order) = match sizes.as_deref() {
        Some(&[x, y]) => ([x, y, 1], [0, 2, 1]),
        Some(&[x, y, z]) => ([x, y, z], [0, 1, 2]),
        _ => return Err(bad(format!("{:?} values: {}-D", part.axes, axes.len()))),
    };
    if part.axes.contains(&0) {
        return Err(bad(format!("{:?} values", part.axes)));
    }
    let bits = if part.is_packed { "ZBITPIX" } else { "BITPIX" };
    let kind = match cards.whole(file, bits)? {
        Some(-32) => NumberKind::F32,
        Some(-64) => NumberKind::F64,
        Some(bits @ (8 | 16 | 32 | 64)) => NumberKind::Integer { bytes: (bits / 8) as u8, signed: bits > 8 },
        other => {
            return Err(cards.bad(file, bits, format!("{other:?}"), "8, 16, 32, 64, -32 or -64"));
        }
    };
    let mut place = vec![0; part.axes.len()];
    stokes.iter().for_each(|plane| place[plane.axis - 1] = plane.index);
    let scaling = scaling(file, part, kind)?;
    let numbers = if part.is_packed {
        let axes = axes.iter().map(|axis| axis - 1).collect();
        ImageNumbers::Packed(Box::new(PackedTiles::new(file, part, kind, axes, place)?))
    } else {
        ImageNumbers::Stored(stored(file, part, (size, order), (&axes, &place), kind)?)
    };
    Ok(ImageCells { numbers, size, order, scaling, axes, stokes: stokes.map(|plane| plane.name) })
}

/// The numbers of a plain image, at regular places of the file.
fn stored(
    file: &SourceFile,
    part: &FoundPart,
    (size, order): ([u32; 3], [usize; 3]),
    (axes, place): (&[usize], &[u64]),
    kind: NumberKind,
) -> ReadResult<StoredArray> {
    let each = kind.bytes();
    let all = part.axes.iter().try_fold(each, |n, size| n.checked_mul(*size));
    if all.and_then(|all| all.checked_add(part.at)).is_none_or(|end| end > file.len() as u64) {
        let problem =
            format!("{:?} values from byte {} on, in a file of {} bytes", part.axes, part.at, file.len());
        return Err(ReadError::content(file.path(), part.cards.place(), problem, "a file that holds them"));
    }
    // Numbers between neighbours along each axis of the file.
    let steps: Vec<u64> = (0..part.axes.len()).map(|axis| part.axes[..axis].iter().product()).collect();
    let before: u64 = steps.iter().zip(place).map(|(step, at)| step * at).sum();
    let mut array =
        StoredArray::dense(part.at + before * each, size, order, RealFormat { kind, big_endian: true });
    for (a, axis) in axes.iter().enumerate() {
        array.step[a] = steps[axis - 1];
    }
    if array.step[order[0]] != 1 {
        let problem = format!("axis 1 of {:?} is not along the sky", part.axes);
        return Err(part.cards.bad(file, "CTYPE1", problem, "the Stokes axis behind another one"));
    }
    Ok(array)
}

fn scaling(file: &SourceFile, part: &FoundPart, kind: NumberKind) -> ReadResult<Option<Scaling>> {
    let cards = &part.cards;
    let scale = cards.real(file, "BSCALE")?.unwrap_or(1.0);
    let zero = cards.real(file, "BZERO")?.unwrap_or(0.0);
    if scale == 0.0 {
        return Err(cards.bad(file, "BSCALE", "0", "another number"));
    }
    // Reals have NaN for missing values.
    let blank = match kind {
        NumberKind::Integer { .. } => cards.whole(file, "BLANK")?.map(|blank| blank as f64),
        NumberKind::F32 | NumberKind::F64 => None,
    };
    let is_plain = scale == 1.0 && zero == 0.0 && blank.is_none();
    Ok((!is_plain).then_some(Scaling { zero, scale, blank }))
}
