//! A checksum after the end of the HDF5 data.
//!
//! The HDF5 library may crash on damaged bytes, so the seal is checked before the library opens the file. The
//! library ignores bytes after its own data, and cuts them off when another program edits the file. An edited
//! file thus has no seal, and is read without this check.
//!
//! Seal 2: the CRC-32 of all bytes before it, then that of the content
//! ([`crate::catalogue::Catalogue::checksum`]). Checksums of chunks are computed on their ranks and combined
//! by offset, so no rank reads the file again. Seal 1, of older catalogues, is one sum over words of the
//! file.

use crate::input_file;
use crc32fast::Hasher;
use std::fs::File;
use std::io::{BufReader, Error, Read, Result, Seek, SeekFrom, Write};
use std::path::Path;

const MAGIC_1: &[u8; 16] = b"inselberg seal 1";
const MAGIC_2: &[u8; 16] = b"inselberg seal 2";
const LENGTH: u64 = 24;
/// Bytes that are read at a time.
const BUFFER: usize = 1 << 18;

/// Bytes of a file whose checksum is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent {
    /// Their offset in the file.
    pub at: u64,
    /// Their number.
    pub length: u64,
    /// Their CRC-32.
    pub sum: u32,
}

/// The state of a seal.
#[derive(Debug, PartialEq, Eq)]
pub enum Seal {
    /// There is none.
    Absent,
    /// The bytes before it have changed.
    Broken,
    /// The bytes are unchanged; with the checksum of the content, if the seal has it.
    Intact(Option<u32>),
}

/// Appends the seal to a complete file. Reads only the bytes between the extents.
pub fn seal(path: &Path, mut extents: Vec<Extent>, content: u32) -> Result<()> {
    extents.sort_unstable();
    let mut file = File::options().read(true).append(true).open(path)?;
    let length = file.metadata()?.len();
    let mut sum = Hasher::new();
    let mut at = 0;
    for extent in extents.into_iter().chain([Extent { at: length, length: 0, sum: 0 }]) {
        let gap = extent.at.checked_sub(at).ok_or_else(|| Error::other("chunks overlap in the file"))?;
        file.seek(SeekFrom::Start(at))?;
        sum_up(&mut sum, &mut (&mut file).take(gap))?;
        sum.combine(&Hasher::new_with_initial_len(extent.sum, extent.length));
        at = extent.at + extent.length;
    }
    if at != length {
        return Err(Error::other("a chunk is beyond the end of the file"));
    }
    file.write_all(MAGIC_2)?;
    file.write_all(&sum.finalize().to_le_bytes())?;
    file.write_all(&content.to_le_bytes())
}

/// Reads the file and compares it with its seal.
pub fn check(path: &Path) -> Result<Seal> {
    let mut file = input_file::open(path)?;
    let Some(body) = file.metadata()?.len().checked_sub(LENGTH) else { return Ok(Seal::Absent) };
    let mut end = [0; LENGTH as usize];
    file.seek(SeekFrom::Start(body))?;
    file.read_exact(&mut end)?;
    file.rewind()?;
    let [_, _, _, _, stored, content] = std::array::from_fn(|i| word(&end[4 * i..]));
    if end.starts_with(MAGIC_2) {
        let mut sum = Hasher::new();
        sum_up(&mut sum, &mut file.take(body))?;
        return Ok(if sum.finalize() == stored { Seal::Intact(Some(content)) } else { Seal::Broken });
    }
    if !end.starts_with(MAGIC_1) {
        return Ok(Seal::Absent);
    }
    let is_intact = older_sum(&mut file, body)?.to_le_bytes() == end[16..];
    Ok(if is_intact { Seal::Intact(None) } else { Seal::Broken })
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(*bytes.first_chunk().expect("a seal is six words"))
}

fn sum_up(sum: &mut Hasher, input: &mut dyn Read) -> Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        match input.read(&mut buffer)? {
            0 => return Ok(()),
            n => sum.update(&buffer[..n]),
        }
    }
}

/// The checksum of seal 1: FNV-1a over the first `length` bytes, in words of eight bytes.
fn older_sum(file: &mut File, length: u64) -> Result<u64> {
    let mut input = BufReader::with_capacity(BUFFER, file).take(length);
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    loop {
        let mut word = [0; 8];
        let mut filled = 0;
        while filled < word.len() {
            match input.read(&mut word[filled..])? {
                0 => break,
                n => filled += n,
            }
        }
        if filled == 0 {
            return Ok(hash);
        }
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
    }
}
