//! Catalogues in the layout of SOAP, which exists only for HDF5.

#[cfg(not(feature = "hdf5"))]
use super::Catalogue;
use super::{WriteError, WriteResult, check_output};
#[cfg(not(feature = "hdf5"))]
use crate::particles::ParticleInput;
#[cfg(not(feature = "hdf5"))]
use crate::staging::Staged;
use std::path::{Path, PathBuf};

/// The place of files in the layout of SOAP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SoapPlace {
    /// One file, of properties and members.
    File(PathBuf),
    /// A folder with the file of properties and, if possible, that of memberships.
    Folder(PathBuf),
}

impl SoapPlace {
    /// A folder if it exists, or if the name has no extension.
    pub fn new(path: &Path) -> Self {
        match path.is_dir() || path.extension().is_none() {
            true => Self::Folder(path.into()),
            false => Self::File(path.into()),
        }
    }

    /// The file of properties.
    pub fn properties(&self) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Folder(folder) => folder.join("halo_properties.hdf5"),
        }
    }

    /// The file of memberships; `None` for a single file.
    pub fn membership(&self) -> Option<PathBuf> {
        self.folder().map(|folder| folder.join("membership.hdf5"))
    }

    /// The folder.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::File(_) => None,
            Self::Folder(folder) => Some(folder),
        }
    }
}

/// Whether the file of a place could be written now; checked before a long run. A folder may be absent.
///
/// # Errors
/// The name does not end in .hdf5 or .h5, the build has no HDF5, or the place cannot be written.
pub fn check_soap(place: &SoapPlace) -> WriteResult<()> {
    let path = &place.properties();
    if place.folder().is_none_or(Path::is_dir) {
        check_output(path)?;
    }
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    match ending.is_some_and(|ending| ending == "hdf5" || ending == "h5") {
        true if cfg!(feature = "hdf5") => Ok(()),
        true => Err(no_hdf5(path)),
        false => {
            let expected = "a name that ends in .hdf5, or a folder";
            Err(WriteError::target(path, "SOAP's layout is one of HDF5", expected))
        }
    }
}

fn no_hdf5(path: &Path) -> WriteError {
    WriteError::target(path, "this build has no HDF5", "a build with the feature hdf5")
}

#[cfg(feature = "hdf5")]
pub use super::hdf5::stage_soap;

/// The error of a build without HDF5.
///
/// # Errors
/// Always.
#[cfg(not(feature = "hdf5"))]
pub fn stage_soap(place: &SoapPlace, _: &Catalogue, _: Option<&dyn ParticleInput>) -> WriteResult<Staged> {
    Err(no_hdf5(&place.properties()))
}
