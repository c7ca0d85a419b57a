//! Plain records as bytes and back, and messages of bytes.

use crate::{CommError, Rank, Result};
use bytemuck::Pod;

/// A message as bytes, with its destination or source.
pub(crate) type Message = (Rank, Vec<u8>);
/// Messages that one rank sends or receives.
pub(crate) type Messages = Vec<Message>;

/// The bytes of records, in the byte order of this machine.
pub(crate) fn to_bytes<T: Pod>(records: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(records).to_vec()
}

/// Adds the records in `bytes` to `to`.
pub(crate) fn append<T: Pod>(to: &mut Vec<T>, bytes: &[u8]) -> Result<()> {
    let size = size_of::<T>().max(1);
    if !bytes.len().is_multiple_of(size) {
        let what = format!("{} bytes are not a whole number of records of {size} bytes", bytes.len());
        return Err(CommError::Mismatch { what });
    }
    let start = to.len();
    to.resize(start + bytes.len() / size, T::zeroed());
    bytemuck::cast_slice_mut(&mut to[start..]).copy_from_slice(bytes);
    Ok(())
}

/// The records in `bytes`.
pub(crate) fn from_bytes<T: Pod>(bytes: &[u8]) -> Result<Vec<T>> {
    let mut records = Vec::new();
    append(&mut records, bytes)?;
    Ok(records)
}

/// [`to_bytes`] of a list, which is not copied if its records are bytes.
pub(crate) fn into_bytes<T: Pod>(records: Vec<T>) -> Vec<u8> {
    bytemuck::try_cast_vec(records).unwrap_or_else(|(_, records)| to_bytes(&records))
}

/// [`from_bytes`] of a message, which is not copied if its records are bytes.
pub(crate) fn into_records<T: Pod>(bytes: Vec<u8>) -> Result<Vec<T>> {
    bytemuck::try_cast_vec(bytes).or_else(|(_, bytes)| from_bytes(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_from_bytes_at_any_address() {
        let records = [1u64, u64::MAX, 3];
        let mut bytes = vec![0u8];
        bytes.extend(to_bytes(&records));
        assert_eq!(from_bytes::<u64>(&bytes[1..]), Ok(records.to_vec()));
        assert!(matches!(from_bytes::<u64>(&bytes), Err(CommError::Mismatch { .. })));
        assert!(matches!(into_records::<u64>(bytes.clone()), Err(CommError::Mismatch { .. })));
        assert_eq!(into_records::<u64>(into_bytes(records.to_vec())), Ok(records.to_vec()));
        let (at, copy) = (bytes.as_ptr(), bytes.clone());
        let same = into_records::<u8>(into_bytes(bytes)).expect("bytes are bytes");
        assert_eq!((same.as_ptr(), &same), (at, &copy), "they are not copied");
    }
}
