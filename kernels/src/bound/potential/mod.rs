//! Potential: how deep does each member sit in the field of all others?
//!
//! | method | file | error | time |
//! |---|---|---|---|
//! | all pairs | [`direct`] | rounding | n² |
//! | monopoles and quadrupoles of an octree | [`tree`], with [`octree`] and `lists` | rms below 5e-4 | n log n |
//! | shells about a centre | [`spherical`] | of the assumption | n log n |
//! | 50 bins about a centre | [`ramses`] | of RAMSES | n |
//!
//! All but the last leave out what a member would add to its own potential. [`softening`] tells what close members do.

pub mod direct;
mod lists;
pub mod octree;
pub mod points;
pub mod ramses;
pub mod softening;
pub mod spherical;
pub mod tree;

/// From this number of members on, the tree is faster than all pairs.
pub const FEWEST_OF_TREE: usize = 64;
