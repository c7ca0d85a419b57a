//! Which particles form friends-of-friends groups? Those that chains of links shorter than the linking length
//! connect.
//!
//! In the flow: particle input → **fof** → catalogue of groups. Each rank hands over the particles that it
//! read. They move to the owners of their positions, are linked there, components are joined over ranks, and
//! the group of every particle returns to its reader. `engine/library/src/fof/README.md` lists the exchanges and
//! shows why the result does not depend on the number of ranks; `kernels/src/fof` links the particles of one
//! rank.
//!
//! This folder does not know meshes, densities of cells or clumps, nor how tables are written to files.
//!
//! Invariant: groups, IDs and properties are the same bit for bit for any number of ranks and threads.

mod attach;
mod block_owners;
mod borders;
mod bound;
mod check;
mod components;
mod error;
mod groups;
mod labels;
mod length;
mod load;
mod local;
mod merge;
mod migrate;
mod params;
mod plan;
mod request;
mod rows;
pub mod run;
mod run_error;
mod search;
mod sums;
pub mod tables;
mod types;

pub use error::FofError;
pub use groups::find_groups;
pub use params::{FofParams, Linking};
pub use plan::ParticleCounts;
pub use request::FofRequest;
pub use run::{FofOutcome, run_fof};
pub use run_error::FofRunError;
pub use types::{FoundGroups, GroupIds, Groups, LinkingRules, Particles, Role, SeedRule};
