//! The files that a virtual dataset names. The binding reads them together with selections, of which it
//! refuses those that are one block, as SWIFT's are.
#![allow(unsafe_code)]

use ::hdf5::plist::DatasetCreate;
use ::hdf5::{Result, h5check};
use hdf5_metno_sys::h5p::{H5Pget_virtual_count, H5Pget_virtual_filename};
use std::collections::BTreeSet;
use std::ptr::null_mut;

/// Their names as they stand in the dataset.
///
/// # Errors
/// The dataset is not virtual, or damaged.
pub fn names(of: &DatasetCreate) -> Result<BTreeSet<String>> {
    let _library = hdf5_metno_sys::LOCK.lock();
    let (list, mut n) = (of.id(), 0);
    // SAFETY: no other thread is in the library, the list is open, and the number has room for a count.
    h5check(unsafe { H5Pget_virtual_count(list, &raw mut n) })?;
    let name = |i| {
        // SAFETY: as above; without room for a name, the library only returns its length.
        let length = h5check(unsafe { H5Pget_virtual_filename(list, i, null_mut(), 0) })?;
        let mut bytes = vec![0u8; length as usize + 1];
        // SAFETY: as above; the bytes have room for the name and the zero at its end.
        h5check(unsafe { H5Pget_virtual_filename(list, i, bytes.as_mut_ptr().cast(), bytes.len()) })?;
        bytes.pop();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    (0..n).map(name).collect()
}
