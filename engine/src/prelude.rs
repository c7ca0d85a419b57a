//! What a program that calls the library needs, in one `use`.

pub use crate::amr::AmrField;
pub use crate::catalogue::{Catalogue, CataloguePart, Table};
pub use crate::crew::Crew;
pub use crate::groups::{FofConfig, FofOutcome, LinkingLength, run_fof};
pub use crate::io::Snapshot;
pub use crate::io::particles::{ParticleInput, open_particles};
pub use crate::observe::{Observer, Silent};
pub use crate::phew::{FieldChoice, PhewConfig, Rules, Segmentation, Task, Thresholds, segment};
pub use crate::ranks::links::{ALONE, TestLinks};
pub use crate::recut::{NewThresholds, recut};
pub use crate::run::{Outcome, run};
pub use crate::stages::properties::TestFields;
pub use crate::stages::tests;
pub use crate::structures::{Structures, structures};
pub use crate::synth::{FieldParams, SynthField};
pub use inselberg_comm::Comm;
pub use inselberg_kernels::geom::Domain;
pub use inselberg_kernels::phew::hierarchy::Cut;
