//! A member of an .npz file as a column of particles: its shape, the type of its numbers, and rows of it.

use super::member::{MemberBytes, ZipMember};
use crate::npy_header::{NpyText, bad, is_fortran, number_format, shape_of};
use crate::source_file::SourceFile;
use crate::stored_array::{NumberKind, RealFormat};
use crate::{ReadError, ReadResult, reserve};
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// An array in a member.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct MemberArray {
    member: ZipMember,
    /// Bytes before the values.
    data: u64,
    /// Values along each axis; none for a single value.
    pub shape: Vec<u64>,
    /// Their type.
    pub format: RealFormat,
    /// Whether the values of the first axis lie together.
    by_columns: bool,
}

impl MemberArray {
    /// Reads the header of a member.
    ///
    /// # Errors
    /// The member is no array of numbers, or has another size than its header says.
    pub fn open(file: &SourceFile, member: &ZipMember) -> ReadResult<Self> {
        // Messages name the member behind the file.
        let place = PathBuf::from(format!("{}[{}]", file.path().display(), member.name));
        let mut bytes = MemberHeader { bytes: MemberBytes::new(file, member), at: 0, left: member.size };
        let NpyText { text, data, .. } = NpyText::read_from(&place, &mut bytes, member.size)?;
        let shape = shape_of(&text).filter(|shape| shape.len() <= 2);
        let shape = shape.ok_or_else(|| bad(&place, "no sound shape", "(N, 3), (N,) or ()"))?;
        let (format, by_columns) = (number_format(&place, &text)?, is_fortran(&place, &text)?);
        let n = shape.iter().try_fold(format.kind.bytes(), |n, size| n.checked_mul(*size));
        if n.and_then(|n| n.checked_add(data)) != Some(member.size) {
            let problem = format!("{} bytes for a header of {shape:?} values", member.size);
            return Err(ReadError::content(&place, "size", problem, "as many as it says"));
        }
        Ok(Self { member: member.clone(), data, shape, format, by_columns })
    }

    /// Whether it is packed, so that rows are only reached through all rows before.
    pub fn is_packed(&self) -> bool {
        self.member.is_deflated
    }

    /// The name of the member.
    pub fn name(&self) -> &str {
        &self.member.name
    }

    /// Whether its values are integers.
    pub fn is_whole(&self) -> bool {
        matches!(self.format.kind, NumberKind::Integer { .. })
    }

    /// The values of some rows, row by row, as reals.
    ///
    /// # Errors
    /// Those of the system, or the member is not sound.
    pub fn reals(&self, file: &SourceFile, rows: Range<u64>) -> ReadResult<Vec<f64>> {
        self.numbers(file, rows, |bytes, to| self.format.decode(bytes, to))
    }

    /// The same as integers; negative ones with the same bits.
    ///
    /// # Errors
    /// As for [`Self::reals`].
    pub fn integers(&self, file: &SourceFile, rows: Range<u64>) -> ReadResult<Vec<u64>> {
        let each = self.format.kind.bytes() as usize;
        let NumberKind::Integer { signed, .. } = self.format.kind else {
            unreachable!("the column was checked to have integers")
        };
        self.numbers(file, rows, |bytes, to| {
            to.extend(bytes.chunks_exact(each).map(|number| whole(number, self.format.big_endian, signed)));
        })
    }

    fn numbers<T: Copy>(
        &self,
        file: &SourceFile,
        rows: Range<u64>,
        decode: impl Fn(&[u8], &mut Vec<T>),
    ) -> ReadResult<Vec<T>> {
        let n_rows = self.shape.first().copied().unwrap_or(1);
        let (width, n) = (self.shape.get(1).copied().unwrap_or(1), rows.end - rows.start);
        let each = self.format.kind.bytes();
        // Runs of values that lie together, in the order of the file.
        let runs: Vec<(u64, u64)> = match self.by_columns {
            true => (0..width).map(|column| (column * n_rows + rows.start, n)).collect(),
            false => vec![(rows.start * width, n * width)],
        };
        let (mut bytes, mut values) = (Vec::new(), Vec::new());
        reserve(&mut values, (n * width) as usize, file.path(), self.name().to_string())?;
        let mut source = MemberBytes::new(file, &self.member);
        for (first, n) in runs {
            reserve(&mut bytes, (n * each) as usize, file.path(), self.name().to_string())?;
            bytes.resize((n * each) as usize, 0);
            source.read_at(&mut bytes, self.data + first * each)?;
            decode(&bytes, &mut values);
            bytes.clear();
        }
        if !self.by_columns || width == 1 {
            return Ok(values);
        }
        let (n, width) = (n as usize, width as usize);
        Ok((0..n * width).map(|i| values[i % width * n + i / width]).collect())
    }
}

/// An integer of up to 8 bytes; a negative one as that of 8 bytes.
fn whole(bytes: &[u8], big_endian: bool, signed: bool) -> u64 {
    let ordered = |i: usize| if big_endian { bytes[i] } else { bytes[bytes.len() - 1 - i] };
    let is_negative = signed && ordered(0) & 0x80 != 0;
    let start = if is_negative { u64::MAX } else { 0 };
    (0..bytes.len()).fold(start, |number, i| number << 8 | u64::from(ordered(i)))
}

/// The beginning of a member, as a reader of headers takes it.
struct MemberHeader<'a> {
    bytes: MemberBytes<'a>,
    at: u64,
    left: u64,
}

impl Read for MemberHeader<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = to.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.bytes.read_at(&mut to[..n], self.at).map_err(io::Error::other)?;
        (self.at, self.left) = (self.at + n as u64, self.left - n as u64);
        Ok(n)
    }
}

/// The path of a member in messages that are about a whole file.
pub(super) fn place_in(path: &Path, name: &str) -> PathBuf {
    PathBuf::from(format!("{}[{name}]", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_keep_all_bits() {
        assert_eq!(whole(&(-2_i16).to_be_bytes(), true, true), (-2_i64).cast_unsigned());
        assert_eq!(whole(&(-2_i16).to_le_bytes(), false, false), 0xfffe);
        let large = (1_u64 << 53) + 1;
        assert_eq!(whole(&large.to_le_bytes(), false, false), large);
        assert_eq!(whole(&[7], false, true), 7);
    }
}
