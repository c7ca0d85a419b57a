//! Which particles of an input does a rank read, and what are they?
//!
//! In the flow: particle input → **particles** → groups (`fof`), mesh (`particle_mesh`), graph (`graph`) and
//! unbinding (`bound`). Each rank reads a range of the rows of every species that takes part. Every row is
//! checked; a message about one names its place in the input.
//!
//! | file | content |
//! |---|---|
//! | `taken` | the species that take part, and the identities of their rows |
//! | `rows` | the rows of a rank, and how they are read |
//! | `check` | whether values are sound; particles beside a periodic box are brought into it |
//! | `columns` | masses and identities of particles |
//! | `in_box` | the particles in a cubic box, of which meshes and graphs are made |
//! | `density_unit` | the unit of density thresholds |
//! | `halves` | halves of the particles, by a hash of their identities |
//! | `bounds` | the least box around particles |
//! | `member_type` | types of particles and gas cells |
//!
//! This folder does not know owners of positions, groups, meshes, graphs or clumps.
//!
//! Invariant: what a row becomes does not depend on the rank that reads it.

mod bounds;
mod box_error;
pub(crate) mod check;
mod columns;
mod density_unit;
mod halves;
mod in_box;
mod member_type;
mod rows;
mod taken;

pub use bounds::Bounds;
pub use box_error::BoxError;
pub use columns::{Ids, MassRange, Masses};
pub use density_unit::DensityUnit;
pub(crate) use density_unit::{mean_matter, threshold_unit};
pub(crate) use halves::{HalfChoice, SEED as HALVES_SEED, half_of};
pub(crate) use in_box::{BoxParticles, BoxPlan, FurtherColumns, no_particles};
pub use inselberg_io::particles::Positions;
pub use member_type::{MemberType, family_of, source_types, text_of};
pub use rows::RowRange;
pub(crate) use rows::{n_rows, read_rows, rows_of_rank};
pub(crate) use taken::{TakenSpecies, contents};
