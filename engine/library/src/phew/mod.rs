//! PHEW: from a density field to clumps, haloes and their hierarchy.
//!
//! The steps, in the order of the paper. Each file runs the kernel of the same name over tasks and ranks.
//!
//! | step | file | question |
//! |---|---|---|
//! | | `run` | the whole procedure: from a source to a catalogue |
//! | | `segmented_leaves`, `segment` | from leaves to peaks |
//! | | `particle_graph` | from particles and their neighbours to peaks, without cells |
//! | | `from_peaks` | from peaks to a catalogue, whatever the source |
//! | density | `input` | which density is segmented, by which thresholds? |
//! | | `below_zero` | which cells are denser than a threshold below 0? |
//! | | `selection`, `contamination` | which leaves take part, and are heavy particles among those of their region? |
//! | ascent | `ascent` | which neighbour of a test cell is densest? |
//! | labels | `label`, `ghost_labels` | at which root does each ascent end, and which peak is it, here or on another rank? |
//! | saddles | `saddle`, `contacts` | which contacts between patches can merge anything, and where in their cells are the peaks? |
//! | forest | `forest`, `region_trees`, `leaders`, `grown_peaks`, `ties` | where does each peak merge? |
//! | hierarchy | `hierarchy` | which clumps and haloes follow from given thresholds? |
//! | | `prominence` | which peaks stand out from the shot noise of particles? |
//! | properties | `sums`, `test_fields` | what do patches sum up to? |
//! | bound particles | `bound` | which particles does gravity bind to each clump? |
//! | | `dendrogram` | which structures have cells of one size, as astrodendro finds them? |
//! | | `image` | what are the sky coordinates of the clumps of an image or a cube? |
//! | tables | `tables`, `recut` | the tables of a catalogue, and new thresholds for a stored one |
//!
//! Shared by the steps: `region` and `pass` cut the test cells into tasks, `test_links` has the ghosts among
//! them, `known_peaks`, `peak_comm` and `to_owners` carry peaks over ranks, `peaks` has the results without
//! the mesh. `member_places` finds the patch of a particle. `changed_snapshot` changes a field as it is read.
//!
//! A peak has three indices ([`inselberg_kernels::ids`]): a root until labels are known on all ranks, then a
//! slot on this rank, and its name over all ranks.
//!
//! Results never depend on how tasks are cut: they are maxima in total orders, unique forests or exact sums.

pub mod ascent;
pub mod balance;
pub mod below_zero;
pub(crate) mod bound;
mod changed_snapshot;
mod contacts;
mod contamination;
pub mod defaults;
pub mod dendrogram;
pub mod distribution;
pub mod forest;
mod found_again;
pub(crate) mod from_peaks;
pub mod ghost_labels;
pub mod grown_peaks;
pub mod hierarchy;
pub mod image;
mod input;
pub mod known_peaks;
pub mod label;
pub mod leaders;
mod leaf_patch;
pub mod member_places;
mod min_particles;
pub mod params;
pub mod particle_graph;
pub mod pass;
pub mod peak_comm;
pub mod peaks;
mod phew_params;
mod plateaus;
pub mod prominence;
pub mod recut;
pub mod region;
pub mod region_trees;
pub mod run;
pub mod saddle;
pub mod segment;
pub(crate) mod segmented_leaves;
pub mod selection;
pub mod stability;
pub mod sums;
pub mod tables;
pub mod test_fields;
pub mod test_links;
pub mod ties;
mod to_owners;

pub use inselberg_kernels::phew::Rules;
pub use phew_params::{PhewParams, PhewRequest};
