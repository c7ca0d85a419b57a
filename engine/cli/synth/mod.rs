//! Synthetic inputs of known content and any size, for tests, benchmarks and scaling studies.
//!
//! Everything is a function of the parameters and a counter: an oct's values depend on its level,
//! its place and the seed, a particle on its index and the seed. So any piece can be made by
//! itself, in any order, on any number of threads or ranks, with the same bits on one machine.
//!
//! There is no global pass over cells or particles, and no state except small tables.

mod density;
mod field;
mod mesh;
mod noise;
mod npy;
mod particles;
mod peaks;
mod series;
mod stream;

pub use density::THRESHOLD;
pub use field::{CellCounts, FieldKind, FieldParams, SynthError, SynthField};
pub use npy::{ParticleMeta, stage_particles, write_particles};
pub use particles::{ParticleBox, ParticleParams};
pub use peaks::Clump;
pub use series::{SeriesParams, SeriesRules, SynthSeries};
