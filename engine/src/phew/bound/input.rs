//! What unbinding starts from.

use crate::partition::LocalField;
use crate::phew::hierarchy::Structures;
use crate::phew::segment::Segmentation;
use crate::phew::tables::PatchIds;
use inselberg_io::Snapshot;

/// What the steps before have found.
pub struct BoundInput<'a> {
    /// The input.
    pub snapshot: &'a dyn Snapshot,
    /// The cells of this rank.
    pub part: &'a LocalField,
    /// The patch of every test cell.
    pub segmentation: &'a Segmentation<'a>,
    /// The clump of every patch.
    pub ids: &'a PatchIds,
    /// Clumps and haloes.
    pub structures: &'a Structures,
}
