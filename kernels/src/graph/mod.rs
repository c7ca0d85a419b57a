//! Particle graphs: which particles are neighbours, how dense is each, and which is the densest neighbour?
//!
//! Place in the flow: particles in the order of their keys come in. The forest, the hierarchy and the
//! properties of [`crate::phew`] follow unchanged, because they hold for any graph with a total order (paper,
//! section 6).
//!
//! | file | question |
//! |---|---|
//! | `points` | which particles are there, and how far apart are two of them? |
//! | `groups`, `boxes` | which particles lie together, and how far are eight boxes? |
//! | `nearest` | which are the k nearest of each particle? |
//! | `density` | how dense is a particle with these neighbours? |
//! | `links` | which particles are linked, which is the densest neighbour, and where do patches touch? |
//!
//! **Definitions.** The neighbours of a particle are the k nearest others. At equal distances, the one with
//! the lower index is nearer. Two particles are *linked* if either is a neighbour of the other. So links are
//! symmetric. A particle ascends to the densest particle that it is linked to, if that one is denser than
//! itself. The density of a saddle is the mean density of the two linked particles, as for cells.
//!
//! **Keys.** A particle lies in a cell of level [`KEY_LEVEL`]. Particles are in the order of the Morton keys
//! of these cells, then of identities. So indices compare as they would on one rank, and a cell identifies a
//! peak.
//!
//! No result depends on the tree of groups: the set of the k nearest is unique, and sums over neighbours are
//! exact.

mod boxes;
mod density;
mod groups;
mod links;
mod nearest;
mod points;
#[cfg(test)]
mod tests;

pub use boxes::PointBox;
pub use density::{MOST_NEIGHBOURS, SplineSum};
pub use groups::GroupTree;
pub use links::{Neighbours, contacts, raise_neighbours};
pub use nearest::{NearestScratch, NearestSearch, Neighbour};
pub use points::{GraphPoints, KEY_LEVEL, cell_of, key_of};
