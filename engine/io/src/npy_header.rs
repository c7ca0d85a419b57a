//! The header of a .npy file: a dictionary of Python as text.

use crate::{ReadError, ReadResult, input_file};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// No header of a plain array is longer.
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
    /// The file cannot be read or is no NumPy file.
    pub fn read(path: &Path) -> ReadResult<Self> {
        let mut file = input_file::open(path).map_err(|e| ReadError::io(path, "opening", e))?;
        let size = file.metadata().map_err(|e| ReadError::io(path, "opening", e))?.len();
        let mut start = [0; 8];
        take(path, &mut file, &mut start)?;
        if start[..6] != MAGIC[..] {
            return Err(bad(path, "not a NumPy file", "one that starts with \\x93NUMPY"));
        }
        let length_bytes = match start[6] {
            1 => 2,
            2 | 3 => 4,
            version => return Err(bad(path, format!("format version {version}"), "1, 2 or 3")),
        };
        let mut length = [0; 4];
        take(path, &mut file, &mut length[..length_bytes])?;
        let length = u32::from_le_bytes(length) as usize;
        if length > LONGEST_HEADER {
            let problem = format!("the header claims {length} bytes");
            return Err(bad(path, problem, format!("at most {LONGEST_HEADER}")));
        }
        let mut text = vec![0; length];
        take(path, &mut file, &mut text)?;
        let data = (8 + length_bytes + length) as u64;
        Ok(Self { text: String::from_utf8_lossy(&text).into_owned(), data, size })
    }
}

fn take(path: &Path, file: &mut File, into: &mut [u8]) -> ReadResult<()> {
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

/// An error in the header.
pub(crate) fn bad(path: &Path, problem: impl Into<String>, expected: impl Into<String>) -> ReadError {
    ReadError::content(path, "header", problem, expected)
}
