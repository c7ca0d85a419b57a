//! Snapshots in Gadget's own binary format, types 1 and 2 of its SnapFormat.
//!
//! A file is a sequence of blocks between two markers, as Fortran writes records: the header, positions,
//! velocities, identities, masses where particles of one type differ, then quantities of gas. In type 2 a
//! record with a label of four letters stands before each block. Sources: the user guide of Gadget-2, section
//! 6; Gadget-4's own header has 192 bytes, with counts of 8 bytes and without a cosmology.
//!
//! | file | question |
//! |---|---|
//! | `header` | What does the header of a file state? |
//! | `walk` | What is the next block? |
//! | `blocks` | Where are the values in a file? |
//! | `block_order` | What is the meaning of blocks without labels? |
//! | `snapshot` | Which rows of all files are requested? |

mod block_order;
mod blocks;
mod header;
mod snapshot;
mod walk;

pub use block_order::BlockOrder;
pub use snapshot::READER;
