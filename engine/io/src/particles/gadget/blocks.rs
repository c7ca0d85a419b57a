//! Where the blocks of a file are.
//!
//! A marker holds the bytes of its block modulo 2^32, so the length of a block follows from the number of its values, and both
//! markers must agree with it.

use super::block_order::{self, BlockOrder};
use super::header::{BinaryHeader, ByteOrder, GADGET_4_HEADER_BYTES, HEADER_BYTES};
use crate::input_file;
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

/// A file whose header was read.
pub struct BinaryFile {
    /// Its byte order.
    pub order: ByteOrder,
    /// Its header.
    pub header: BinaryHeader,
    /// Its blocks.
    pub blocks: FileBlocks,
}

/// The first bytes of a file of this format: its byte order, and whether it is of type 2.
pub fn recognise(start: &[u8]) -> Option<(ByteOrder, bool)> {
    let first: [u8; 4] = start.get(..4)?.try_into().ok()?;
    let is = |n: u32| match (first == n.to_le_bytes(), first == n.to_be_bytes()) {
        (true, _) => Some(ByteOrder::Little),
        (_, true) => Some(ByteOrder::Big),
        _ => None,
    };
    let is_labelled = start.get(4..8).is_some_and(|label| label == b"HEAD");
    match (is(HEADER_BYTES as u32).or_else(|| is(GADGET_4_HEADER_BYTES as u32)), is(8)) {
        (Some(order), _) => Some((order, false)),
        (None, Some(order)) if is_labelled => Some((order, true)),
        _ => None,
    }
}

/// Whether the file at `path` begins as this format does. A number as small as Gadget-4's length of a header begins many
/// files, so it must stand behind the header, too.
pub fn is_binary(path: &Path) -> bool {
    let read = || -> std::io::Result<bool> {
        let mut file = input_file::open(path)?;
        let mut start = [0; 8];
        file.read_exact(&mut start)?;
        let marker: [u8; 4] = [start[0], start[1], start[2], start[3]];
        let header = GADGET_4_HEADER_BYTES as u32;
        if marker != header.to_le_bytes() && marker != header.to_be_bytes() {
            return Ok(recognise(&start).is_some());
        }
        let mut end = [0; 4];
        file.seek(SeekFrom::Start(4 + u64::from(header)))?;
        file.read_exact(&mut end)?;
        Ok(end == marker)
    };
    read().unwrap_or(false) // a file that cannot be read is of no format
}

/// Reads header and places of the blocks of the file at `path`, not their values. `given` says which blocks come before the masses
/// where nothing else does.
pub fn look(path: &Path, given: Option<BlockOrder>) -> ReadResult<BinaryFile> {
    let mut file = input_file::open(path).map_err(|e| ReadError::io(path, "opening", e))?;
    let size = file.metadata().map_err(|e| ReadError::io(path, "opening", e))?.len();
    let mut start = [0; 8];
    take(path, &mut file, &mut start)?;
    let Some((order, is_labelled)) = recognise(&start) else {
        return Err(ReadError::content(path, "start", "no header of Gadget", "a block of 256 or 192 bytes"));
    };
    let mut walk = Walk { path, file, size, order, is_labelled, at: 0 };
    if walk.next_label()?.is_some_and(|label| &label != b"HEAD") {
        return Err(walk.bad("first block", "not a header", "the label HEAD"));
    }
    let n_bytes = match walk.word_at(walk.at)? as usize {
        GADGET_4_HEADER_BYTES => GADGET_4_HEADER_BYTES,
        _ => HEADER_BYTES,
    };
    let offset = walk.block("header", 1, n_bytes as u64)?;
    let mut bytes = vec![0; n_bytes];
    walk.read_at(offset, &mut bytes)?;
    let header = BinaryHeader::from_bytes(path, &bytes, order)?;
    let blocks = if header.n() == 0 {
        FileBlocks::default()
    } else if is_labelled {
        if given.is_some() {
            return Err(walk.bad("blocks", "they have labels", "no order of blocks"));
        }
        walk.labelled(&header)?
    } else {
        block_order::in_order(&mut walk, &header, given)?
    };
    Ok(BinaryFile { order, header, blocks })
}

fn take(path: &Path, file: &mut File, into: &mut [u8]) -> ReadResult<()> {
    file.read_exact(into).map_err(|e| match e.kind() {
        std::io::ErrorKind::UnexpectedEof => {
            ReadError::content(path, "size", "the file ends", "a complete snapshot")
        }
        _ => ReadError::io(path, "reading", e),
    })
}

/// Goes from block to block.
pub(super) struct Walk<'a> {
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

impl Walk<'_> {
    fn bad(&self, place: &str, problem: impl Into<String>, expected: impl Into<String>) -> ReadError {
        ReadError::content(self.path, place, problem, expected)
    }

    /// Reads the bytes from `offset` on.
    pub fn read_at(&mut self, offset: u64, into: &mut [u8]) -> ReadResult<()> {
        self.file.seek(SeekFrom::Start(offset)).map_err(|e| ReadError::io(self.path, "seeking", e))?;
        take(self.path, &mut self.file, into)
    }

    fn word_at(&mut self, offset: u64) -> ReadResult<u32> {
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
    fn next_label(&mut self) -> ReadResult<Option<[u8; 4]>> {
        if !self.is_labelled {
            return Ok(None);
        }
        let offset = self.block("label", 1, 8)?;
        let mut label = [0; 4];
        self.read_at(offset, &mut label)?;
        Ok(Some(label))
    }

    /// Passes a block of `n` values of `bytes` each. Returns where they begin.
    fn block(&mut self, name: &str, n: u64, bytes: u64) -> ReadResult<u64> {
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

    /// The blocks of type 2, by their labels.
    fn labelled(&mut self, header: &BinaryHeader) -> ReadResult<FileBlocks> {
        let (n, own, gas) = (header.n(), header.n_own_masses(), header.here[0]);
        let mut blocks = FileBlocks::default();
        while self.has_more() {
            let label = self.next_label()?.expect("blocks of type 2 have labels");
            let (name, to, n, width) = match &label {
                b"POS " => ("positions", &mut blocks.positions, n, 3),
                b"VEL " => ("velocities", &mut blocks.velocities, n, 3),
                b"ID  " => ("identities", &mut blocks.ids, n, 1),
                b"MASS" if own > 0 => ("masses", &mut blocks.masses, own, 1),
                b"RHO " if gas > 0 => ("densities", &mut blocks.densities, gas, 1),
                _ => {
                    self.skip()?;
                    continue;
                }
            };
            if to.is_some() {
                return Err(self.bad(name, "two blocks", "one"));
            }
            *to = Some(self.values(name, n, width)?);
        }
        match blocks.positions {
            Some(_) => Ok(blocks),
            None => Err(self.bad("positions", "no block with the label POS", "one")),
        }
    }

    /// Passes a block that is not read, by its own marker.
    fn skip(&mut self) -> ReadResult<()> {
        let marker = self.word_at(self.at)?;
        self.block("a block that is not read", 1, u64::from(marker)).map(drop)
    }
}

/// What the markers of a block of so many bytes hold.
fn length_marker(bytes: u64) -> u32 {
    (bytes & u64::from(u32::MAX)) as u32
}
