//! Inputs of known content and any size, for tests, benches and scaling studies.
//!
//! Everything is a function of the parameters and a counter: an oct's values depend on its level,
//! its place and the seed, a particle on its index and the seed. So any piece can be made by
//! anyone, in any order, on any number of threads or ranks, with the same bits on one machine.
//!
//! Architecture invariant: no global pass over cells or particles, and no state but small tables.

mod density;
mod field;
mod mesh;
mod noise;
mod npy;
mod particles;
mod peaks;
mod stream;

pub use density::THRESHOLD;
pub use field::{CellCounts, FieldKind, FieldParams, SynthError, SynthField};
pub use npy::{ParticleMeta, stage_particles, write_particles};
pub use particles::{ParticleBox, ParticleParams};
pub use peaks::Clump;
