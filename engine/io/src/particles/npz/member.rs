//! Members of a zip file: where are their bytes, and what are they once they are unpacked?
//!
//! The crate zip brings a dozen further crates and hands out no places in the file. rawzip finds the places,
//! also in files beyond 4 GiB; flate2 unpacks.

use crate::source_file::SourceFile;
use crate::{ReadError, ReadResult, input_file};
use flate2::CrcReader;
use flate2::bufread::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive};
use serde::{Deserialize, Serialize};
use std::io::{self, BufReader, Read};
use std::path::Path;

/// No file of arrays has more members.
const MOST_MEMBERS: usize = 1 << 12;
/// Deflate unpacks a byte to at most this number of bytes.
const MOST_FROM_ONE: u64 = 1032;

/// A member of a zip file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ZipMember {
    /// Its name.
    pub name: String,
    /// Its first byte in the file.
    at: u64,
    /// Its bytes in the file.
    packed: u64,
    /// Its bytes once they are unpacked.
    pub size: u64,
    /// Whether it is packed by deflate; else its bytes are in the file as they are.
    pub is_deflated: bool,
    /// The sum of its bytes (CRC-32).
    sum: u32,
}

/// The members of the zip file at `path`.
///
/// # Errors
/// It is no zip file, or has too many members, or one that is encrypted, beyond the end, larger than it can
/// be, or packed in another way.
pub(super) fn members(path: &Path) -> ReadResult<Vec<ZipMember>> {
    let file = input_file::open(path).map_err(|e| ReadError::io(path, "opening", e))?;
    let length = file.metadata().map_err(|e| ReadError::io(path, "opening", e))?.len();
    let bad = |e: rawzip::Error| {
        // A message of the crate is one line of words.
        ReadError::content(path, "directory", e.to_string(), "a sound .npz file, as numpy.savez writes it")
    };
    let mut buffer = vec![0; rawzip::RECOMMENDED_BUFFER_SIZE];
    let archive = ZipArchive::from_file(file, &mut buffer).map_err(bad)?;
    let mut entries = archive.entries(&mut buffer);
    let mut members = Vec::new();
    while let Some(entry) = entries.next_entry().map_err(bad)? {
        let name = String::from_utf8_lossy(entry.file_path().as_bytes()).into_owned();
        let wrong =
            |problem: String, expected: &str| ReadError::content(path, name.clone(), problem, expected);
        let is_deflated = match entry.compression_method() {
            CompressionMethod::STORE => false,
            CompressionMethod::DEFLATE => true,
            other => {
                let problem = format!("packed by method {}", other.as_u16());
                return Err(wrong(problem, "a stored or deflated member, as numpy writes it"));
            }
        };
        if entry.flags().is_encrypted() {
            return Err(wrong("an encrypted member".into(), "one that is not"));
        }
        let size = entry.uncompressed_size_hint();
        let sum = entry.crc32();
        let (at, end) = archive.get_entry(entry.wayfinder()).map_err(bad)?.compressed_data_range();
        let packed = end.saturating_sub(at);
        if at > end || end > length {
            return Err(wrong(format!("bytes {at} to {end} of {length}"), "a member in the file"));
        }
        let is_sized = if is_deflated { size / MOST_FROM_ONE <= packed } else { size == packed };
        if !is_sized {
            return Err(wrong(format!("{size} bytes out of {packed}"), "a size that they can have"));
        }
        if members.len() == MOST_MEMBERS {
            return Err(wrong(format!("more than {MOST_MEMBERS} members"), "fewer"));
        }
        members.push(ZipMember { name, at, packed, size, is_deflated, sum });
    }
    Ok(members)
}

/// The unpacked bytes of a member, read from low to high offsets. Whoever reads the last byte of a deflated
/// member has unpacked all of it, and checks its sum. Stored members are read at any place, as .npy files
/// are, which have no sums.
pub(super) struct MemberBytes<'a> {
    file: &'a SourceFile,
    member: &'a ZipMember,
    /// Where the next byte of the unpacker is.
    next: u64,
    unpacker: Option<CrcReader<DeflateDecoder<BufReader<PackedBytes<'a>>>>>,
}

impl<'a> MemberBytes<'a> {
    pub fn new(file: &'a SourceFile, member: &'a ZipMember) -> Self {
        Self { file, member, next: 0, unpacker: None }
    }

    /// Fills `bytes` from offset `at`. Bytes before it are unpacked and forgotten.
    ///
    /// # Errors
    /// Those of the system, or the member ends before, or is not sound.
    pub fn read_at(&mut self, bytes: &mut [u8], at: u64) -> ReadResult<()> {
        let end = at.checked_add(bytes.len() as u64);
        if end.is_none_or(|end| end > self.member.size) {
            let problem = format!("{} bytes from {at} on, of {}", bytes.len(), self.member.size);
            return Err(self.wrong(problem, "fewer"));
        }
        if !self.member.is_deflated {
            return self.file.read_at(bytes, (self.member.at + at) as usize);
        }
        if self.unpacker.is_none() || at < self.next {
            let packed = PackedBytes { file: self.file, at: self.member.at, left: self.member.packed };
            let packed = BufReader::with_capacity(1 << 16, packed);
            self.unpacker = Some(CrcReader::new(DeflateDecoder::new(packed)));
            self.next = 0;
        }
        let unpacker = self.unpacker.as_mut().expect("it was made");
        let before = at - self.next;
        let skipped = io::copy(&mut unpacker.by_ref().take(before), &mut io::sink());
        let filled = match skipped {
            Ok(n) if n == before => unpacker.read_exact(bytes),
            Ok(_) => Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) => Err(error),
        };
        self.next = at + bytes.len() as u64;
        let is_damaged = self.next == self.member.size && unpacker.crc().sum() != self.member.sum;
        filled.map_err(|e| self.wrong(format!("unpacking fails: {e}"), "a sound deflated member"))?;
        if is_damaged {
            return Err(self.wrong("bytes that do not add up to its CRC-32".into(), "an undamaged file"));
        }
        Ok(())
    }

    fn wrong(&self, problem: String, expected: &str) -> ReadError {
        ReadError::content(self.file.path(), self.member.name.clone(), problem, expected)
    }
}

/// The bytes of a member in the file.
struct PackedBytes<'a> {
    file: &'a SourceFile,
    at: u64,
    left: u64,
}

impl Read for PackedBytes<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = to.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.file.read_at(&mut to[..n], self.at as usize).map_err(io::Error::other)?;
        (self.at, self.left) = (self.at + n as u64, self.left - n as u64);
        Ok(n)
    }
}
