//! What unbinding starts from.

use crate::partition::LocalField;
use crate::phew::hierarchy::Structures;
use crate::phew::segment::Segmentation;
use crate::phew::tables::PatchIds;
use inselberg_io::Snapshot;

/// A field of the cells that decides which leaves are test cells.
#[derive(Debug, Clone, Copy)]
pub struct TestField<'a> {
    /// Its name.
    pub name: &'a str,
    /// Leaves with a greater value are test cells.
    pub threshold: f64,
}

/// What the steps before have found.
pub struct BoundInput<'a> {
    /// The input.
    pub snapshot: &'a dyn Snapshot,
    /// By which field leaves are test cells; `None` if the density is deposited from particles.
    pub test_field: Option<TestField<'a>>,
    /// The cells of this rank.
    pub part: &'a LocalField,
    /// The patch of every test cell.
    pub segmentation: &'a Segmentation<'a>,
    /// The clump of every patch.
    pub ids: &'a PatchIds,
    /// Clumps and haloes.
    pub structures: &'a Structures,
}
