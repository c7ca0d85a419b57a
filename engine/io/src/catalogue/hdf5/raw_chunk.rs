//! Stores a compressed chunk unchanged: calls of HDF5 for which the binding has no safe form.
#![allow(unsafe_code)]

use ::hdf5::{Dataset, Result, h5check};
use hdf5_metno_sys::h5d::{H5Dget_chunk_info_by_coord, H5Dwrite_chunk};
use hdf5_metno_sys::h5p::H5P_DEFAULT;

/// Stores `bytes`, the output of all filters of `dataset`, as the chunk that begins at row `first`. Returns
/// their offset in the file.
///
/// # Errors
/// There is no such chunk, or it cannot be written.
pub fn write_chunk(dataset: &Dataset, first: usize, bytes: &[u8]) -> Result<u64> {
    let mut corner = vec![0; dataset.ndim()];
    corner[0] = first as u64;
    let (mut filters, mut at, mut length) = (0, 0, 0);
    let _library = hdf5_metno_sys::LOCK.lock();
    // SAFETY: the lock keeps other threads out of the library; the dataset is open, the corner has one number
    // per dimension, the library reads exactly these bytes and writes to locals of the right types.
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
