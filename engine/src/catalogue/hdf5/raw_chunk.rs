//! A compressed chunk as it is into a file: the one call that the binding of HDF5 has no safe form of.
#![allow(unsafe_code)]

use ::hdf5::{Dataset, Result, h5check};
use hdf5_metno_sys::h5d::H5Dwrite_chunk;
use hdf5_metno_sys::h5p::H5P_DEFAULT;

/// Stores `bytes`, which have been through all filters of `dataset`, as the chunk that begins at row `first`.
///
/// # Errors
/// There is no such chunk, or it cannot be written.
pub fn write_chunk(dataset: &Dataset, first: usize, bytes: &[u8]) -> Result<()> {
    let mut corner = vec![0; dataset.ndim()];
    corner[0] = first as u64;
    let _library = hdf5_metno_sys::LOCK.lock();
    // SAFETY: nobody else is in the library; the dataset is open, the corner has a number for each of its dimensions,
    // and the library reads no more than the bytes that there are.
    h5check(unsafe {
        H5Dwrite_chunk(dataset.id(), H5P_DEFAULT, 0, corner.as_ptr(), bytes.len(), bytes.as_ptr().cast())
    })?;
    Ok(())
}
