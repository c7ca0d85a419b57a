//! The places of the blocks of a file.

use super::block_order::{self, BlockOrder};
use super::header::{BinaryHeader, ByteOrder, GADGET_4_HEADER_BYTES, HEADER_BYTES};
use super::walk::{FileBlocks, Walk, take};
use crate::input_file;
use crate::{ReadError, ReadResult};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// A file whose header was read.
pub struct BinaryFile {
    /// Its byte order.
    pub order: ByteOrder,
    /// Its header.
    pub header: BinaryHeader,
    /// Its blocks.
    pub blocks: FileBlocks,
}

/// The first bytes of a file of this format: its byte order, and whether it is of type 2,
/// where each block has a label.
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

/// Whether the file at `path` begins as this format does. A number as small as Gadget-4's length of a header
/// begins many files, so it must stand behind the header, too.
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
    read().unwrap_or(false) // A file that cannot be read has no format.
}

/// Reads header and places of the blocks of the file at `path`, not their values. `given` says which blocks
/// come before the masses if nothing else decides it.
pub fn look(path: &Path, given: Option<BlockOrder>) -> ReadResult<BinaryFile> {
    let mut file = input_file::open(path).map_err(|e| ReadError::io(path, "opening", e))?;
    let size = file.metadata().map_err(|e| ReadError::io(path, "opening", e))?.len();
    let mut start = [0; 8];
    take(path, &mut file, &mut start)?;
    let Some((order, is_labelled)) = recognise(&start) else {
        return Err(ReadError::content(path, "start", "no header of Gadget", "a block of 256 or 192 bytes"));
    };
    let mut walk = Walk::new(path, file, size, order, is_labelled);
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
        labelled(&mut walk, &header)?
    } else {
        block_order::in_order(&mut walk, &header, given)?
    };
    Ok(BinaryFile { order, header, blocks })
}

/// The places of the blocks that are read, in a file of type 2: each has a label, in any order. Other blocks
/// are passed over. Masses are needed only for particles without one in the header, densities only for gas.
///
/// # Errors
/// When a block occurs twice or has another length than its particles need, or there are no positions.
fn labelled(walk: &mut Walk, header: &BinaryHeader) -> ReadResult<FileBlocks> {
    let (n, own, gas) = (header.n(), header.n_own_masses(), header.here[0]);
    let mut blocks = FileBlocks::default();
    while walk.has_more() {
        let label = walk.next_label()?.expect("blocks of type 2 have labels");
        let (name, to, n, width) = match &label {
            b"POS " => ("positions", &mut blocks.positions, n, 3),
            b"VEL " => ("velocities", &mut blocks.velocities, n, 3),
            b"ID  " => ("identities", &mut blocks.ids, n, 1),
            b"MASS" if own > 0 => ("masses", &mut blocks.masses, own, 1),
            b"RHO " if gas > 0 => ("densities", &mut blocks.densities, gas, 1),
            _ => {
                walk.skip()?;
                continue;
            }
        };
        if to.is_some() {
            return Err(walk.bad(name, "two blocks", "one"));
        }
        *to = Some(walk.values(name, n, width)?);
    }
    match blocks.positions {
        Some(_) => Ok(blocks),
        None => Err(walk.bad("positions", "no block with the label POS", "one")),
    }
}
