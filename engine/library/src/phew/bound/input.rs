//! The input of unbinding.

use crate::phew::hierarchy::Structures;
use crate::phew::member_places::MemberPlaces;
use crate::phew::tables::PatchIds;
use crate::tracks::TrackParams;
use inselberg_io::Snapshot;

/// A field of the cells that decides which leaves are test cells.
#[derive(Debug, Clone, Copy)]
pub struct TestField<'a> {
    /// Its name.
    pub name: &'a str,
    /// Leaves with a greater value are test cells.
    pub threshold: f64,
}

/// The results of earlier steps.
pub struct BoundInput<'a> {
    /// The input.
    pub snapshot: &'a dyn Snapshot,
    /// The field that decides which leaves are test cells; `None` if the density is deposited from particles.
    pub test_field: Option<TestField<'a>>,
    /// The patches of particles.
    pub places: MemberPlaces<'a>,
    /// The clump and the halo of every patch.
    pub ids: &'a PatchIds,
    /// Clumps and haloes.
    pub structures: &'a Structures,
    /// The density threshold in code units.
    pub density_threshold: f64,
    /// Whether objects are remembered, and the tracks of the last output.
    pub tracks: &'a TrackParams,
}
