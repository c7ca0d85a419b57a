//! Catalogues in the layout of SOAP (McGibbon et al. 2025), for programs that read SOAP's: swiftsimio among them.
//!
//! One row per clump or group, by top-level cell and then by row of the table. `columns` says which dataset comes from which
//! column, `rows` which row is where, and `file` writes. Lengths are comoving, everything else physical, as in SOAP's files.
//! The file has no checksum and is not read back.

mod columns;
mod file;
mod rows;

use crate::catalogue::hdf5::swift::{SwiftAttributes, SwiftUnits};
use crate::catalogue::{Catalogue, WriteError, WriteResult, check_shape};
use crate::staging::{Staged, stage_path};
use file::SoapFile;
use rows::Subhaloes;
use std::path::Path;

/// Stages a file in the layout of SOAP for `path`: of a catalogue of clumps or groups with the properties of bound particles,
/// or of groups with spheres. Clumps and groups without bound particles are left out, where particles are unbound.
///
/// # Errors
/// The catalogue has neither, or the place cannot be written; `path` is then unchanged.
pub fn stage_soap(path: &Path, catalogue: &Catalogue) -> WriteResult<Staged> {
    check_shape(path, catalogue)?;
    let values = SwiftAttributes(&catalogue.attributes);
    let subhaloes = Subhaloes::new(catalogue).ok_or_else(|| {
        let expected = "clumps or groups with properties of bound particles or spheres";
        WriteError::content(path, "SOAP", "no such properties in the catalogue", expected)
    })?;
    let units = SwiftUnits::from_attributes(&values);
    let fill = |hidden: &Path| {
        SoapFile { values: &values, units: &units, subhaloes: &subhaloes }.write(path, hidden)
    };
    Ok(stage_path(path, fill)?.into())
}
