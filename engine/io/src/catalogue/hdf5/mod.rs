//! Catalogues as HDF5: one group per table, one dataset per column, in the order of the catalogue.
//!
//! Root attributes: `inselberg_catalogue` (the version of this layout), then those of the catalogue. Each dataset has `units`
//! (code units by name), `cgs_factor` (if the catalogue has units) and `description`. Vectors are `[N, 3]`. Large tables are
//! chunked and compressed. No times are stored and one process writes in a fixed order, so equal catalogues give equal files
//! on any number of ranks. Checksums follow after the HDF5 data, which HDF5 ignores (`seal`). Group catalogues also have the
//! groups and attributes of SWIFT's (`swift`). `soap` writes another layout.

mod chunks;
mod raw_chunk;
mod read;
mod seal;
mod soap;
mod swift;
mod write;

pub(super) use chunks::{CHUNK, packed, rows_a_chunk};
pub use read::read;
pub use soap::stage_soap;
pub(super) use write::create;
pub use write::stage;

/// The attribute that marks our catalogues.
const MARK: &str = "inselberg_catalogue";
/// Version of the layout.
const VERSION: i64 = 1;

/// The library's reason, on one line.
fn reason(error: &::hdf5::Error) -> String {
    let text = error.to_string();
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}
