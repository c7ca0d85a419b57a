//! Catalogues in the layout of SOAP, which is one of HDF5 alone.

#[cfg(not(feature = "hdf5"))]
use super::Catalogue;
use super::{WriteError, WriteResult, check_output};
#[cfg(not(feature = "hdf5"))]
use crate::staging::Staged;
use std::path::Path;

/// Whether a file in the layout of SOAP could be written to `path` now; checked before a long run.
///
/// # Errors
/// The name does not end in .hdf5 or .h5, the build has no HDF5, or the place cannot be written.
pub fn check_soap(path: &Path) -> WriteResult<()> {
    check_output(path)?;
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    match ending.is_some_and(|ending| ending == "hdf5" || ending == "h5") {
        true => Ok(()),
        false => Err(WriteError::target(path, "SOAP's layout is one of HDF5", "a name that ends in .hdf5")),
    }
}

#[cfg(feature = "hdf5")]
pub use super::hdf5::stage_soap;

/// The error of a build without HDF5.
///
/// # Errors
/// Always.
#[cfg(not(feature = "hdf5"))]
pub fn stage_soap(path: &Path, _: &Catalogue) -> WriteResult<Staged> {
    Err(WriteError::target(path, "this build has no HDF5", "a build with the feature hdf5"))
}
