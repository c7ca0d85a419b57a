//! A compressed chunk as it is into a file: the calls that the binding of HDF5 has no safe form of.
#![allow(unsafe_code)]

use ::hdf5::{Dataset, Result, h5check};
use hdf5_metno_sys::h5d::{H5Dget_chunk_info_by_coord, H5Dwrite_chunk};
use hdf5_metno_sys::h5p::H5P_DEFAULT;

/// Stores `bytes`, which have been through all filters of `dataset`, as the chunk that begins at row `first`. Hands back
/// where in the file they lie.
///
/// # Errors
/// There is no such chunk, or it cannot be written.
pub fn write_chunk(dataset: &Dataset, first: usize, bytes: &[u8]) -> Result<u64> {
    let mut corner = vec![0; dataset.ndim()];
    corner[0] = first as u64;
    let (mut filters, mut at, mut length) = (0, 0, 0);
    let _library = hdf5_metno_sys::LOCK.lock();
    // SAFETY: nobody else is in the library; the dataset is open, the corner has a number for each of its dimensions,
    // the library reads no more than the bytes that there are, and writes to locals of the right types.
    unsafe {
        let (id, corner) = (dataset.id(), corner.as_ptr());
        h5check(H5Dwrite_chunk(id, H5P_DEFAULT, 0, corner, bytes.len(), bytes.as_ptr().cast()))?;
        h5check(H5Dget_chunk_info_by_coord(id, corner, &mut filters, &mut at, &mut length))?;
    }
    match length == bytes.len() as u64 {
        true => Ok(at),
        false => Err(format!("a chunk of {} bytes takes {length} in the file", bytes.len()).into()),
    }
}
