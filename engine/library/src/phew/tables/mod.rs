//! From clumps, haloes and peaks to the tables of a catalogue, and back for the tree.

mod cells;
mod clumps;
mod error;
mod header;
mod particles;
mod parts;
mod stored;
mod ties;
mod tree;

pub use cells::{PEAK, cells_table};
pub use clumps::{clumps_table, haloes_table, known_properties, property_columns};
pub use error::RecutError;
pub use header::{
    HALO_RELEVANCE, MIN_CELLS, PhewProvenance, RecutHeader, SADDLE_THRESHOLD, attributes,
    threshold_attributes,
};
pub use particles::particles_table;
pub use parts::{PatchIds, level_runs, tree_part};
pub use ties::ties_table;
pub use tree::{read_tree, tree_table};
