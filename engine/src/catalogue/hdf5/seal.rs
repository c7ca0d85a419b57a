//! A checksum after the end of the HDF5 data.
//!
//! The HDF5 library may crash on a file with damaged bytes, so those are found before it sees the
//! file. It ignores what follows its own data, and cuts it off when another program edits the
//! file: an edited file has no seal, and is read without this check.

use std::fs::File;
use std::io::{BufReader, Read, Result, Seek, SeekFrom, Write};
use std::path::Path;

const MAGIC: &[u8; 16] = b"inselberg seal 2";
const LENGTH: u64 = 24;

/// Appends the seal to a complete file.
pub fn seal(path: &Path) -> Result<()> {
    let mut file = File::options().read(true).append(true).open(path)?;
    let sum = checksum(&mut file, u64::MAX)?;
    file.write_all(MAGIC)?;
    file.write_all(&sum.to_le_bytes())
}

/// False if there is a seal that does not fit the bytes before it.
pub fn is_intact(path: &Path) -> Result<bool> {
    let mut file = File::open(path)?;
    let Some(body) = file.metadata()?.len().checked_sub(LENGTH) else { return Ok(true) };
    let mut end = [0; LENGTH as usize];
    file.seek(SeekFrom::Start(body))?;
    file.read_exact(&mut end)?;
    let (magic, sum) = end.split_at(MAGIC.len());
    if magic != MAGIC {
        return Ok(true);
    }
    file.rewind()?;
    Ok(checksum(&mut file, body)?.to_le_bytes() == sum)
}

/// FNV-1a over words of eight bytes, of the first `length` bytes or to the end, and over their number: zeros at
/// the end change nothing else.
fn checksum(file: &mut File, length: u64) -> Result<u64> {
    let mut input = BufReader::with_capacity(1 << 18, file).take(length);
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
    let (mut hash, mut n_bytes) = (0xcbf2_9ce4_8422_2325_u64, 0);
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
            return Ok(mix(hash, n_bytes));
        }
        n_bytes += filled as u64;
        hash = mix(hash, u64::from_le_bytes(word));
    }
}
