//! The program as a person uses it: options, summaries, exit codes, files.
// Some tests are left out of a build with fewer features, but not what they share.
#![cfg_attr(not(all(feature = "hdf5", feature = "plot", feature = "numa")), allow(dead_code, unused_imports))]

#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "hdf5")]
#[path = "../verify/cuts.rs"]
mod cuts;
#[cfg(feature = "hdf5")]
#[path = "../verify/merger_truth.rs"]
mod merger_truth;
#[cfg(feature = "hdf5")]
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../verify/random.rs"]
mod random;

#[cfg(feature = "hdf5")]
mod atlas;
mod cli;
#[cfg(feature = "hdf5")]
mod compare;
mod config;
#[cfg(feature = "hdf5")]
mod cosmology;
#[cfg(feature = "hdf5")]
mod differential;
mod documented_code;
#[cfg(all(feature = "hdf5", feature = "plot", unix))]
mod documented_commands;
#[cfg(all(feature = "hdf5", feature = "plot", unix))]
mod documented_inputs;
mod dry_run;
mod first_hour;
mod fof;
#[cfg(feature = "hdf5")]
mod fof_snapshots;
mod foreign_files;
mod help;
mod info;
mod log;
#[cfg(target_os = "linux")]
mod memory;
#[cfg_attr(not(feature = "hdf5"), allow(dead_code, unused_imports))]
mod mesh_from_particles;
mod pages;
mod particle_graph;
mod phew;
#[cfg(feature = "plot")]
mod picture_elements;
#[cfg(feature = "plot")]
mod pictures;
mod quantities;
mod ranks;
mod region;
#[cfg(feature = "plot")]
mod report;
mod results;
mod scaling;
mod series;
#[cfg(unix)]
mod strange_inputs;
#[cfg(feature = "hdf5")]
mod subfind;
mod tasks;
#[cfg(feature = "numa")]
mod topology;
#[cfg(feature = "hdf5")]
mod tree;
#[cfg(feature = "hdf5")]
mod trees_truth;
mod view;
mod voids;
#[cfg(not(feature = "numa"))]
mod without_numa;
mod zero_options;
