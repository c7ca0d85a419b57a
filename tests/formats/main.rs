//! Files that come in and go out: every format, every damage.

#[path = "../common/mod.rs"]
mod common;
#[path = "../verify/cuts.rs"]
mod cuts;
#[allow(dead_code)]
#[path = "../verify/random.rs"]
mod random;

mod catalogue;
mod catalogue_parts;
mod cell_checklist;
#[cfg(feature = "hdf5")]
mod dendrogram;
#[cfg(feature = "hdf5")]
mod dialects;
mod fields;
mod fits;
mod foreign;
mod gadget_binary;
mod hostile_input;
mod images;
#[cfg(feature = "hdf5")]
mod merger_trees;
#[cfg(feature = "hdf5")]
mod mesh_blocks;
mod npz;
#[cfg(feature = "hdf5")]
mod observers;
mod odd_cuts;
#[cfg(feature = "hdf5")]
mod particle_checklist;
#[cfg(feature = "plot")]
mod picture;
mod ramses_reader;
mod ramses_variants;
#[cfg(feature = "hdf5")]
mod second_opinions;
#[cfg(feature = "hdf5")]
mod viewers;
