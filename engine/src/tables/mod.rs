//! From results to the tables of a catalogue, and back for the tree.

mod cells;
mod group_header;
mod groups;
mod header;
mod particles;
mod parts;
mod structures;
mod ties;
mod tree;

pub use cells::cells_table;
pub use group_header::{ASSUMED_UNITS, GroupsProvenance, group_attributes};
pub use groups::{Numbering, group_ids_tables, groups_table};
pub use header::{Provenance, RecutHeader, attributes};
pub use particles::particles_table;
pub use parts::{PatchIds, in_order, level_runs, tree_part};
pub use structures::{clumps_table, haloes_table};
pub use ties::ties_table;
pub use tree::{read_tree, tree_table};

use crate::catalogue::{Column, Dimension, Values};

/// A column, in one line.
fn column(name: &str, dimension: Dimension, description: &str, values: Values) -> Column {
    Column { name: name.into(), dimension, description: description.into(), values }
}
