//! Input and output: snapshots, particles and catalogues, one folder per format.
//!
//! A [`Snapshot`] describes an output and streams its octs and particles, one independent piece (a RAMSES
//! per-CPU file) at a time. So any number of threads or ranks can share the reading, and no file is held
//! whole. A reader does not build a mesh, filter by density, or depend on the number of threads or ranks.
//!
//! A new format is one folder here and one line in [`READERS`].

#![cfg_attr(
    not(test),
    deny(clippy::disallowed_methods, clippy::exit, clippy::print_stderr, clippy::print_stdout)
)]

mod amrex;
mod attribute;
mod block_grid;
pub mod catalogue;
pub mod collective;
mod cosmology;
mod dataset_path;
mod dimension;
mod error;
mod facts;
mod field_defaults;
pub mod fits_cards;
pub mod foreign;
#[cfg(feature = "hdf5")]
mod hdf5_file;
mod identity;
pub mod input_file;
pub mod label_image;
mod leaf_block;
mod leaf_snapshot;
mod leaf_stream;
#[cfg(feature = "hdf5")]
mod mesh_blocks;
mod nearest;
mod npy_header;
pub mod open_files;
pub mod params;
pub mod particles;
pub mod ramses;
mod readers;
pub mod reserve;
mod snapshot;
mod source_file;
pub mod staging;
mod stored_array;
mod tiles;
mod uniform;
pub mod written;

pub use cosmology::{Cosmology, ExtraCosmology, HUBBLE_100, NEWTON};
pub(crate) use error::reserve;
pub use error::{ReadError, ReadResult};
pub use facts::{InputFacts, StaticName};
pub use field_defaults::FieldDefaults;
pub use identity::{base_of, input_identity, input_paths};
pub use leaf_block::{LeafBlock, oct_of_block, value_of_block};
pub use nearest::nearest;
pub use readers::{READERS, open, open_from, read_headers, read_headers_with, recognises};
pub use snapshot::{
    Counted, Every, Family, FieldInfo, Header, MONATOMIC, OctBlock, ParticleBlock, Reader, Snapshot, Units,
};
