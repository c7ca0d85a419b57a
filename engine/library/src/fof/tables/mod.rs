//! The tables of a catalogue of groups.

mod groups;
mod header;

pub use groups::{Numbering, group_ids_tables, groups_table};
pub use header::{GroupsProvenance, group_attributes};
