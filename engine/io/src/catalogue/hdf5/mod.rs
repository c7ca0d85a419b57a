//! Catalogues as HDF5: a group a table, a dataset a column, in the order of the catalogue.
//!
//! Root attributes: `inselberg_catalogue` (the version of this layout), then those of the
//! catalogue. Each dataset has `units` (code units by name), `cgs_factor` (where the catalogue
//! knows its units) and `description`. Vectors are `[N, 3]`. Large tables are chunked and
//! compressed; no times are stored, and one process writes in one order, so equal catalogues give equal files
//! for any number of ranks. After the HDF5 data stand checksums, which HDF5 itself ignores (`seal`). Catalogues of groups also have what SWIFT's have
//! (`swift`).

mod chunks;
mod name;
mod raw_chunk;
mod read;
mod seal;
mod swift;
mod write;

pub(super) use chunks::{CHUNK, packed, rows_a_chunk};
pub use read::read;
pub(super) use write::create;
pub use write::stage;

/// Name of the attribute that marks a file as ours.
const MARK: &str = "inselberg_catalogue";
/// Version of the layout.
const VERSION: i64 = 1;

/// The library's reason, on one line.
fn reason(error: &::hdf5::Error) -> String {
    let text = error.to_string();
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}
