//! Files that gzip has packed: they cannot be read in parts, so they are unpacked as a whole.

use crate::source_file::SourceFile;
use crate::{ReadError, ReadResult, input_file};
use flate2::read::MultiGzDecoder;
use std::io::{Read, Write};
use std::path::Path;

/// Bytes that are unpacked at a time.
const AT_ONCE: usize = 1 << 20;

/// Whether the file at `path` is packed, by its name and its beginning.
pub(super) fn is_packed(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    let is_named = [".fits.gz", ".fit.gz", ".fts.gz", ".fz.gz"].iter().any(|ending| name.ends_with(ending));
    let mut start = [0; 2];
    let read = input_file::open(path).and_then(|mut file| file.read_exact(&mut start));
    is_named && read.is_ok() && start == *b"\x1f\x8b"
}

/// The file at `path`, unpacked into a temporary file without a name, which vanishes with the value.
///
/// # Errors
/// The file is damaged or ends early, or there is no space for it.
pub(in crate::uniform) fn unpacked(path: &Path) -> ReadResult<SourceFile> {
    let failed = |what: &'static str| move |e: std::io::Error| ReadError::io(path, what, e);
    let file = input_file::open(path).map_err(failed("opening"))?;
    let mut to = tempfile::tempfile().map_err(failed("making a temporary file to unpack it"))?;
    let (mut packed, mut bytes) = (MultiGzDecoder::new(std::io::BufReader::new(file)), vec![0; AT_ONCE]);
    loop {
        let n = packed.read(&mut bytes).map_err(|e| {
            ReadError::content(path, "packed bytes", e.to_string(), "a complete file, as gzip writes it")
        })?;
        match n {
            0 => return SourceFile::of_open(path, to),
            n => to.write_all(&bytes[..n]).map_err(failed("unpacking it into a temporary file"))?,
        }
    }
}
