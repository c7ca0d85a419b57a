//! How does a program call the library?
//!
//! An [`Engine`](engine::Engine) has the threads and the ranks. [`Cells`](cells::Cells) and
//! [`Particles`](particles::Particles) are owned by the program, [`Column`](crate::Column) borrows its
//! numbers, and the parameters are plain structs with builders. Results are independent of the engine. Every
//! failure is an [`Error`](crate::Error), the same on all ranks.
//!
//! In the flow: above everything else; no other module uses this folder.

mod atlas;
mod call;
pub mod cell_fields;
pub mod cells;
pub mod clumps;
pub(crate) mod compare;
mod conversions;
mod default_threads;
pub mod engine;
pub mod found;
pub mod groups;
mod guard;
pub mod hook;
mod meshes;
pub mod opened;
pub mod params;
pub mod particles;
mod phew;
mod program;
mod quantities;
pub mod rank_builder;
mod recut_cells;
mod session;
mod slips;
mod snapshots;
pub mod stored;
mod sums;
mod tracks;
pub mod tree_objects;
pub mod trees;
pub mod voids;
