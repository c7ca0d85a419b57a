//! The tables of a catalogue of groups.

mod clumps;
mod groups;
mod header;

pub use clumps::clumps_of_groups;
pub use groups::{Numbering, group_ids_tables, groups_table};
pub use header::{GroupsProvenance, group_attributes};
