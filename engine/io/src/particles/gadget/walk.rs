//! From block to block of a file.
//!
//! A marker holds the bytes of its block modulo 2^32, so the length of a block follows from the number of its
//! values, and both markers must agree with it.

use super::header::ByteOrder;
use crate::{ReadError, ReadResult};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Values of one kind, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BinaryBlock {
    /// The byte of the file at which they begin.
    pub offset: u64,
    /// Whether a value has 8 bytes and not 4.
    pub is_wide: bool,
}

/// The blocks of a file that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileBlocks {
    /// Positions of all particles. In a file without particles `None`.
    pub positions: Option<BinaryBlock>,
    /// Velocities of all particles.
    pub velocities: Option<BinaryBlock>,
    /// Identities of all particles.
    pub ids: Option<BinaryBlock>,
    /// Masses of the particles whose type has none in the header.
    pub masses: Option<BinaryBlock>,
    /// Densities of gas.
    pub densities: Option<BinaryBlock>,
}

/// Goes from block to block.
pub struct Walk<'a> {
    /// The file.
    pub path: &'a Path,
    file: File,
    size: u64,
    /// Its byte order.
    pub order: ByteOrder,
    is_labelled: bool,
    /// Where the next marker is.
    pub at: u64,
}

impl<'a> Walk<'a> {
    /// From the beginning of a file with this number of bytes.
    pub fn new(path: &'a Path, file: File, size: u64, order: ByteOrder, is_labelled: bool) -> Self {
        Self { path, file, size, order, is_labelled, at: 0 }
    }

    /// An error at a place of the file.
    pub fn bad(&self, place: &str, problem: impl Into<String>, expected: impl Into<String>) -> ReadError {
        ReadError::content(self.path, place, problem, expected)
    }

    /// Reads the bytes from `offset` on.
    pub fn read_at(&mut self, offset: u64, into: &mut [u8]) -> ReadResult<()> {
        self.file.seek(SeekFrom::Start(offset)).map_err(|e| ReadError::io(self.path, "seeking", e))?;
        take(self.path, &mut self.file, into)
    }

    /// The number of 4 bytes at `offset`.
    pub fn word_at(&mut self, offset: u64) -> ReadResult<u32> {
        let mut bytes = [0; 4];
        self.read_at(offset, &mut bytes)?;
        Ok(match self.order {
            ByteOrder::Little => u32::from_le_bytes(bytes),
            ByteOrder::Big => u32::from_be_bytes(bytes),
        })
    }

    /// Whether a block follows.
    pub fn has_more(&self) -> bool {
        self.at < self.size
    }

    /// Passes the record with the label of the next block; `None` in type 1.
    pub fn next_label(&mut self) -> ReadResult<Option<[u8; 4]>> {
        if !self.is_labelled {
            return Ok(None);
        }
        let offset = self.block("label", 1, 8)?;
        let mut label = [0; 4];
        self.read_at(offset, &mut label)?;
        Ok(Some(label))
    }

    /// Passes a block of `n` values of `bytes` each. Returns where they begin.
    pub fn block(&mut self, name: &str, n: u64, bytes: u64) -> ReadResult<u64> {
        let marker = self.word_at(self.at)?;
        match self.end_of(n, bytes) {
            Some(end) if marker == length_marker(n * bytes) && self.word_at(end)? == marker => {
                let offset = self.at + 4;
                self.at = end + 4;
                Ok(offset)
            }
            _ => Err(self.bad(
                name,
                self.problem(marker),
                format!("{n} values of {bytes} bytes between equal markers"),
            )),
        }
    }

    fn problem(&self, marker: u32) -> String {
        format!("a block of {marker} bytes at byte {} of {}", self.at, self.size)
    }

    /// Where the marker behind a block is, if the file goes on that far.
    fn end_of(&self, n: u64, bytes: u64) -> Option<u64> {
        let end = n.checked_mul(bytes)?.checked_add(self.at + 4)?;
        (end.checked_add(4)? <= self.size).then_some(end)
    }

    /// Passes a block of `n` times `width` values of 4 or 8 bytes.
    pub fn values(&mut self, name: &str, n: u64, width: u64) -> ReadResult<BinaryBlock> {
        let marker = self.word_at(self.at)?;
        for (bytes, is_wide) in [(4, false), (8, true)] {
            let length = n.checked_mul(width * bytes);
            if length.is_some_and(|length| length_marker(length) == marker)
                && let Some(end) = self.end_of(n, width * bytes)
                && self.word_at(end)? == marker
            {
                let offset = self.at + 4;
                self.at = end + 4;
                return Ok(BinaryBlock { offset, is_wide });
            }
        }
        let expected =
            format!("{} values of 4 or 8 bytes between equal markers, in a complete file", n * width);
        Err(self.bad(name, self.problem(marker), expected))
    }

    /// Passes a block that is not read, by its own marker.
    pub fn skip(&mut self) -> ReadResult<()> {
        let marker = self.word_at(self.at)?;
        self.block("a block that is not read", 1, u64::from(marker)).map(drop)
    }
}

/// The markers of a block with this number of bytes.
fn length_marker(bytes: u64) -> u32 {
    (bytes & u64::from(u32::MAX)) as u32
}

/// Reads exactly these bytes.
///
/// # Errors
/// The file ends, or the system refuses.
pub fn take(path: &Path, file: &mut File, into: &mut [u8]) -> ReadResult<()> {
    file.read_exact(into).map_err(|e| match e.kind() {
        std::io::ErrorKind::UnexpectedEof => {
            ReadError::content(path, "size", "the file ends", "a complete snapshot")
        }
        _ => ReadError::io(path, "reading", e),
    })
}
