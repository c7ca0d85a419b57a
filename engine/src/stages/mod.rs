//! The stages of PHEW, where physics meets threads: each lays a kernel over tasks.
//!
//! A task is a [`Region`] of the box. Results never depend on how the tasks are cut: they are maxima in total
//! orders, unique forests or order-free sums.

pub mod ascent;
pub mod density;
pub mod label;
pub mod load;
pub mod properties;
pub mod region;
pub mod saddle;
pub mod sums;
pub mod tests;
pub mod walls;

pub use region::{Region, cut_by, cut_tasks};
