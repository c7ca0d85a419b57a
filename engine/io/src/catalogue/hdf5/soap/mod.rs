//! Catalogues in the layout of SOAP (McGibbon et al. 2025), for programs that read SOAP's: swiftsimio among
//! them.
//!
//! One row per clump or group, by top-level cell and then by row of the table. `columns` makes datasets from
//! columns, `datasets` lists them, `rows` orders the rows, and `file` writes. `members` lists bound
//! particles, and `membership` writes them in the order of a snapshot. Lengths are comoving, everything else
//! physical, as in SOAP's files. The files have no checksum and are not read back.

mod columns;
mod datasets;
mod file;
mod members;
mod membership;
mod rows;

use crate::catalogue::hdf5::swift::{SwiftAttributes, SwiftUnits};
use crate::catalogue::soap::SoapPlace;
use crate::catalogue::{Catalogue, WriteError, WriteResult, check_shape};
use crate::particles::ParticleInput;
use crate::staging::{Staged, hidden, stage_path};
use file::SoapFile;
use members::SoapMembers;
use membership::Membership;
use rows::Subhaloes;
use std::path::Path;

/// Stages the files of a catalogue of clumps or groups with the properties of bound particles, or of groups
/// with spheres. After unbinding, clumps and groups without bound particles are left out. `input` is the
/// source of the particles. A folder also gets their memberships, if the catalogue lists members and the
/// input stores particles by type and with identities.
///
/// # Errors
/// The catalogue has neither, a member is bound twice or not in the input, or the place cannot be written;
/// nothing is written then.
pub fn stage_soap(
    place: &SoapPlace,
    catalogue: &Catalogue,
    input: Option<&dyn ParticleInput>,
) -> WriteResult<Staged> {
    let path = &place.properties();
    check_shape(path, catalogue)?;
    let values = SwiftAttributes(&catalogue.attributes);
    let subhaloes = Subhaloes::new(catalogue).ok_or_else(|| {
        let expected = "clumps or groups with properties of bound particles or spheres";
        WriteError::content(path, "SOAP", "no such properties in the catalogue", expected)
    })?;
    let units = SwiftUnits::from_attributes(&values);
    let members = SoapMembers::new(catalogue, &subhaloes);
    let folder = place
        .folder()
        .map(|folder| hidden::place(folder).map_err(WriteError::io(folder, "creating the folder")));
    let folder = folder.transpose()?;
    let file = SoapFile { values: &values, units: &units, subhaloes: &subhaloes, members: members.as_ref() };
    let mut staged = Staged::from(stage_path(path, |hidden: &Path| file.write(path, hidden))?);
    let ordered = input.filter(|input| membership::has_order(input.about()));
    if let (Some(path), Some(members), Some(input)) = (place.membership(), &members, ordered) {
        staged.extend(Membership { catalogue, members, units: &units, input }.stage(&path)?);
    }
    Ok(match folder {
        Some(folder) => staged.in_place(folder),
        None => staged,
    })
}
