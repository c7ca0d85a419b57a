//! Snapshots in Gadget's own binary format, types 1 and 2 of its SnapFormat.
//!
//! A file is a sequence of blocks between two markers, as Fortran writes records: the header, positions, velocities, identities,
//! masses where particles of one type differ, then quantities of gas. In type 2 a record with a label of four letters stands before
//! each block. Source: the user guide of Gadget-2, section 6.
//!
//! | file | question |
//! |---|---|
//! | `header` | What does the header of a file say? |
//! | `blocks` | Where in a file are which values? |
//! | `snapshot` | Which rows of all files are asked for? |

mod blocks;
mod header;
mod snapshot;

pub use snapshot::READER;
