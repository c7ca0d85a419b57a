//! PHEW: from a density field to clumps, haloes and their hierarchy.
//!
//! The steps, in the order of the paper. Each file lays the kernel of the same name over tasks and ranks.
//!
//! | step | file | question |
//! |---|---|---|
//! | | `run`, `segment` | the whole procedure: from a snapshot, and from a field |
//! | ascent | `ascent` | which neighbour of a test cell is densest? |
//! | labels | `label`, `ghost_labels` | which peak does each ascent end at, on this rank and on others? |
//! | saddles | `saddle` | which contacts between patches can merge anything? |
//! | forest | `forest`, `peak_comm` | where does each peak merge? |
//! | hierarchy | `hierarchy` | which clumps and haloes follow from given thresholds? |
//! | properties | `sums`, `properties` | what do patches sum up to, and where are their peaks? |
//! | catalogue | `tables`, `recut` | the tables of a catalogue, and new thresholds for a stored one |
//!
//! Results never depend on how tasks are cut: they are maxima in total orders, unique forests or exact sums.

pub mod ascent;
pub mod balance;
pub mod forest;
pub mod ghost_labels;
pub mod hierarchy;
pub mod label;
pub mod params;
pub mod peak_comm;
pub mod peaks;
pub mod properties;
pub mod recut;
pub mod region;
pub mod run;
pub mod saddle;
pub mod segment;
pub mod sums;
pub mod tables;
pub mod test_links;
pub mod ties;

pub use inselberg_kernels::phew::Rules;
