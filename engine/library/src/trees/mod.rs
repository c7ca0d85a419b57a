//! Which object of one catalogue is which of the next? Merger trees from a series of catalogues, over ranks
//! and threads.
//!
//! Place in the flow: catalogues with members come in one by one, a catalogue of the history goes out. The
//! files in the order of the steps:
//!
//! | step | file |
//! |---|---|
//! | the attributes of a catalogue, and whether a series fits together | [`facts`], [`series`] |
//! | its objects and members, in a file or in the memory of a program | [`input`], `memory` |
//! | members to the ranks given by their identities, sorted there | `members` |
//! | members of two outputs side by side: terms of scores | `pairs` |
//! | one output after another | [`linker`] |
//! | the history as a catalogue | `tables` |
//!
//! ```text
//!   every rank:   its share of the members of an output ──► by hash of identity ──► sorted list, 16 bytes per member
//!                 sorted lists of two outputs side by side ──► sums of scores per pair of objects ──► rank 0
//!   rank 0:       pairs ──► matches, gaps, orphans, fates (`kernels/src/trees`) ──► which objects wait ──► every rank
//! ```
//!
//! Members never come together on one rank. The history does: it has one node per object and output. Scores
//! are sums of integers, so the history is the same on any number of ranks and threads.
//!
//! This folder does not know formats of files or options. `docs/trees.md` explains the definitions of the
//! history.

mod error;
pub mod facts;
pub mod input;
pub mod linker;
pub mod members;
mod memory;
mod pairs;
pub mod series;
mod tables;

pub use error::TreeError;
pub use memory::memory_output;
