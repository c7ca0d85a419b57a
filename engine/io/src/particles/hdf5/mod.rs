//! Particles in HDF5: snapshots in the layout of SWIFT and Gadget, and plain arrays at a path in a file.

mod array;
mod header;
mod names;
mod part;
mod sampling;
mod scales;
mod simulation_box;
mod snapshot;
mod softening;

pub use array::READER as ARRAY_READER;
pub use snapshot::READER as SNAPSHOT_READER;
pub use snapshot::{all_files, gadget_catalogue};
