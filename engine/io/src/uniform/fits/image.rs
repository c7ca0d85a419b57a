//! The values of an image: their type, their scale, and the axes that they span.

use super::parts::FoundPart;
use crate::ReadResult;
use crate::source_file::SourceFile;
use crate::stored_array::{NumberKind, RealFormat, StoredArray};
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

/// An image as cells.
#[derive(Debug)]
pub(super) struct ImageCells {
    pub array: StoredArray,
    /// `None` where values are the numbers in the file.
    pub scaling: Option<Scaling>,
    /// The numbers, from 1, of the axes in the file that are x, y and z; two for an image.
    pub axes: Vec<usize>,
}

/// The cells of a part. Axes of length 1 are left out.
///
/// # Errors
/// The image has no values, one axis or more than three that are longer, or is longer than the file.
pub(super) fn cells_of(file: &SourceFile, part: &FoundPart) -> ReadResult<ImageCells> {
    let cards = &part.cards;
    let axes: Vec<usize> = (1..=part.axes.len()).filter(|axis| part.axes[axis - 1] != 1).collect();
    let sizes: Option<Vec<u32>> = axes.iter().map(|axis| part.axes[axis - 1].try_into().ok()).collect();
    let bad = |problem: String| cards.bad(file, "NAXIS", problem, "two or three axes longer than 1");
    let (size, order) = match sizes.as_deref() {
        Some(&[x, y]) => ([x, y, 1], [0, 2, 1]),
        Some(&[x, y, z]) => ([x, y, z], [0, 1, 2]),
        _ => return Err(bad(format!("{:?} values: {}-D", part.axes, axes.len()))),
    };
    if size.contains(&0) {
        return Err(bad(format!("{:?} values", part.axes)));
    }
    let kind = match cards.whole(file, "BITPIX")? {
        Some(-32) => NumberKind::F32,
        Some(-64) => NumberKind::F64,
        Some(bits) => NumberKind::Integer { bytes: (bits / 8) as u8, signed: bits > 8 },
        None => unreachable!("the part has a checked BITPIX"),
    };
    let array = StoredArray { at: part.at, size, order, real: RealFormat { kind, big_endian: true } };
    array.check(file, cards.place())?;
    Ok(ImageCells { array, scaling: scaling(file, part, kind)?, axes })
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
