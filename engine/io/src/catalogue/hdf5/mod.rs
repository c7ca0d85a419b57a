//! Catalogues as HDF5: one group per table, one dataset per column, in the order of the catalogue.
//!
//! Root attributes: `inselberg_catalogue` (the version of this layout), then those of the catalogue. Each
//! dataset has `units` (code units by name), `cgs_factor` (if the catalogue has units) and `description`.
//! Vectors are `[N, 3]`. Large tables are chunked and compressed. No times are stored and one process writes
//! in a fixed order, so equal catalogues give equal files on any number of ranks. Checksums follow after the
//! HDF5 data, which HDF5 ignores (`seal`). Group catalogues also have the groups and attributes of SWIFT's
//! (`swift`). `soap`, `yt`, `ytree`, `vtk` and `dendrogram` write other layouts.

mod chunks;
mod dendrogram;
mod raw_chunk;
mod read;
mod seal;
mod soap;
mod swift;
mod vtk;
mod write;
mod yt;
mod ytree;

pub(super) use chunks::{CHUNK, packed_chunk, rows_a_chunk};
pub use dendrogram::stage_dendrogram;
pub use read::{attributes_if_whole, outline, read, read_rows};
pub use soap::stage_soap;
pub use vtk::stage_vtk;
pub(super) use write::create;
pub use write::stage;
pub use yt::stage_yt;
pub use ytree::stage_ytree;

use super::{WriteError, WriteResult};
use crate::hdf5_file::Utf8Name;
use crate::staging::mark;
use ::hdf5::File;
use std::path::Path;

/// The attribute that marks catalogues of this program.
pub(super) const MARK: &str = "inselberg_catalogue";
/// Version of the layout.
const VERSION: i64 = 1;

/// Makes the file `hidden`, which becomes `path`, and fills it. `what` is for the message.
fn make_file(
    path: &Path,
    hidden: &Path,
    what: &str,
    fill: impl FnOnce(&File) -> ::hdf5::Result<()>,
) -> WriteResult<()> {
    let name = Utf8Name::new(hidden, std::fs::File::options().write(true))
        .map_err(WriteError::io(path, "opening"))?;
    // Without times of creation, equal catalogues are equal files.
    let mut options = File::with_options();
    options.with_fcpl(|p| p.obj_track_times(false));
    let made = crate::staging::hidden::making(|| options.create(name.path()));
    made.and_then(|file| {
        swift::put_text(&file, mark::ATTRIBUTE, mark::MARK)?;
        fill(&file)?;
        file.flush()?;
        file.close()
    })
    .map_err(|error| WriteError::Library {
        path: path.into(),
        place: what.into(),
        problem: reason(&error),
    })
}

/// The library's reason, on one line.
fn reason(error: &::hdf5::Error) -> String {
    let text = error.to_string();
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}
