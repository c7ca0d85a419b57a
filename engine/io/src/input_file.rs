//! Input files: only regular ones, so that no read waits for another program.

use std::fs::{self, File, FileType};
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom};
use std::path::Path;

/// Opens the regular file at `path`.
///
/// # Errors
/// It does not exist, is not a regular file, or the system refuses.
pub fn open(path: &Path) -> Result<File> {
    let kind = fs::metadata(path)?.file_type();
    if !kind.is_file() {
        let problem = format!("it is {}; expected a regular file", name_of(kind));
        return Err(Error::new(ErrorKind::InvalidInput, problem));
    }
    File::open(path)
}

/// All bytes of the regular file at `path`.
///
/// # Errors
/// Those of [`open`], or memory does not suffice.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether the regular file at `path` has one of these texts in its first or last megabyte.
pub fn has_text_at_an_end(path: &Path, texts: &[&str]) -> bool {
    const PART: u64 = 1 << 20;
    let part = |from: u64| -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut file = open(path)?;
        file.seek(SeekFrom::Start(from))?;
        file.take(PART).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let is_in = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    let has_text = |from| part(from).is_ok_and(|bytes| texts.iter().any(|text| is_in(&bytes, text)));
    let length = fs::metadata(path).map_or(0, |about| about.len());
    has_text(0) || has_text(length.saturating_sub(PART))
}

/// The kind of a file that is neither regular nor a folder.
pub fn other_kind(path: &Path) -> Option<&'static str> {
    let kind = fs::metadata(path).ok()?.file_type();
    (!kind.is_file() && !kind.is_dir()).then(|| name_of(kind))
}

/// The number at the end of the name of a folder or file, before its endings: 100 of `plt00100`.
pub(crate) fn number_of(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    let digits = |part: &str| part.len() - part.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let part = name.split('.').rev().find(|part| digits(part) > 0)?;
    part[part.len() - digits(part)..].parse().ok()
}

fn name_of(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a FIFO";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_block_device() || kind.is_char_device() {
            return "a device";
        }
    }
    if kind.is_dir() { "a folder" } else { "something else" }
}
