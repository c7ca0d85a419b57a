//! Potential: how deep does each member sit in the field of all others?
//!
//! | method | file | error | time |
//! |---|---|---|---|
//! | all pairs | [`direct`] | rounding | n² |
//! | monopoles and quadrupoles of an octree | [`tree`], with [`octree`] and `lists` | rms below 5e-4 | n log n |
//! | the same of a halo in slices | `sliced_tree`, with `group_cuts`, `slice_roots` and `essential_tree` | the same bits | n log n over slices |
//! | shells about a centre | [`spherical`] | of the assumption | n log n |
//! | 50 bins about a centre | [`ramses`] | of RAMSES | n |
//!
//! [`listed`] chooses between the first three. All but the last leave out what a member would add to its own
//! potential. [`softening`] is about close members.

pub mod direct;
mod essential_tree;
mod group_cuts;
pub mod listed;
mod lists;
pub mod octree;
pub mod points;
pub mod ramses;
mod slice_roots;
pub(super) mod sliced_tree;
pub mod softening;
pub mod spherical;
pub mod tree;

/// From this number of members on, the tree is faster than all pairs.
pub const FEWEST_OF_TREE: usize = 64;
