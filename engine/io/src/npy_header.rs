//! The header of a .npy file: a dictionary of Python as text.

use crate::stored_array::{NumberKind, RealFormat};
use crate::{ReadError, ReadResult, input_file};
use std::io::Read;
use std::path::Path;

/// The greatest length of a header of a plain array.
const LONGEST_HEADER: usize = 1 << 16;
const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// A header that is not parsed yet.
pub(crate) struct NpyText {
    /// The dictionary.
    pub text: String,
    /// Bytes before the values.
    pub data: u64,
    /// Bytes of the file.
    pub size: u64,
}

impl NpyText {
    /// Reads the header of `path`.
    ///
    /// # Errors
    /// The file cannot be read or is not a NumPy file.
    pub fn read(path: &Path) -> ReadResult<Self> {
        let mut file = input_file::open(path).map_err(|e| ReadError::io(path, "opening", e))?;
        let size = file.metadata().map_err(|e| ReadError::io(path, "opening", e))?.len();
        Self::read_from(path, &mut file, size)
    }

    /// Reads the header at the beginning of `size` bytes. `path` is for messages.
    ///
    /// # Errors
    /// The bytes cannot be read or are not a NumPy file.
    pub fn read_from(path: &Path, file: &mut impl Read, size: u64) -> ReadResult<Self> {
        let mut start = [0; 8];
        take(path, file, &mut start)?;
        if start[..6] != MAGIC[..] {
            return Err(bad(path, "not a NumPy file", "one that starts with \\x93NUMPY"));
        }
        let length_bytes = match start[6] {
            1 => 2,
            2 | 3 => 4,
            version => return Err(bad(path, format!("format version {version}"), "1, 2 or 3")),
        };
        let mut length = [0; 4];
        take(path, file, &mut length[..length_bytes])?;
        let length = u32::from_le_bytes(length) as usize;
        if length > LONGEST_HEADER {
            let problem = format!("the header claims {length} bytes");
            return Err(bad(path, problem, format!("at most {LONGEST_HEADER}")));
        }
        let mut text = vec![0; length];
        take(path, file, &mut text)?;
        let data = (8 + length_bytes + length) as u64;
        Ok(Self { text: String::from_utf8_lossy(&text).into_owned(), data, size })
    }
}

fn take(path: &Path, file: &mut impl Read, into: &mut [u8]) -> ReadResult<()> {
    file.read_exact(into).map_err(|e| match e.kind() {
        std::io::ErrorKind::UnexpectedEof => bad(path, "the file ends", "a complete NumPy header"),
        _ => ReadError::io(path, "reading", e),
    })
}

/// The text of a value in a Python dictionary of plain values.
pub(crate) fn value_of(text: &str, key: &str) -> Option<String> {
    let after = ['\'', '"'].iter().find_map(|quote| {
        let quoted = format!("{quote}{key}{quote}");
        text.find(&quoted).map(|at| &text[at + quoted.len()..])
    })?;
    let value = after.trim_start().strip_prefix(':')?.trim_start();
    let end = if value.starts_with('(') { value.find(')')? + 1 } else { value.find([',', '}'])? };
    Some(value[..end].trim().into())
}

/// The sizes of the array along its axes, by the text of a header; `None` if they are invalid.
pub(crate) fn shape_of(text: &str) -> Option<Vec<u64>> {
    let shape = value_of(text, "shape")?;
    let words = shape.trim_matches(['(', ')']).split(',').map(str::trim).filter(|word| !word.is_empty());
    words.map(|word| word.parse().ok()).collect()
}

/// Whether values of the first axis lie together.
///
/// # Errors
/// The header does not say.
pub(crate) fn is_fortran(path: &Path, text: &str) -> ReadResult<bool> {
    match value_of(text, "fortran_order").unwrap_or_default().as_str() {
        "False" => Ok(false),
        "True" => Ok(true),
        order => Err(bad(path, format!("fortran_order `{order}`"), "True or False")),
    }
}

/// The type of the values.
///
/// # Errors
/// They are neither reals of 4 or 8 bytes nor integers of 1 to 8.
pub(crate) fn number_format(path: &Path, text: &str) -> ReadResult<RealFormat> {
    let descr = value_of(text, "descr").map(|v| v.trim_matches(['\'', '"']).to_string()).unwrap_or_default();
    format_of(&descr)
        .ok_or_else(|| bad(path, format!("elements of type {descr:?}"), "reals of 4 or 8 bytes, or integers"))
}

/// `<f4`, `>i2`, `|u1`, ...
fn format_of(descr: &str) -> Option<RealFormat> {
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

/// An error in the header.
pub(crate) fn bad(path: &Path, problem: impl Into<String>, expected: impl Into<String>) -> ReadError {
    ReadError::content(path, "header", problem, expected)
}
