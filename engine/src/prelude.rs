//! What a program that calls the library needs, in one `use`.

pub use crate::executor::Executor;
pub use crate::field::AmrField;
pub use crate::field::test_cells;
pub use crate::fof::{FofConfig, FofOutcome, LinkingLength, run_fof};
pub use crate::partition::Weights;
pub use crate::phew::Rules;
pub use crate::phew::hierarchy::{Structures, structures};
pub use crate::phew::params::{FieldChoice, PhewConfig, Thresholds};
pub use crate::phew::properties::TestFields;
pub use crate::phew::recut::{NewThresholds, recut};
pub use crate::phew::run::{PhewOutcome, run};
pub use crate::phew::segment::{Segmentation, Task, segment};
pub use crate::phew::test_links::{ALONE, TestLinks};
pub use crate::progress::{Observer, Silent};
pub use inselberg_comm::Comm;
pub use inselberg_io::Snapshot;
pub use inselberg_io::catalogue::{Catalogue, CataloguePart, Table};
pub use inselberg_io::particles::{ParticleInput, open_particles};
pub use inselberg_kernels::geom::Domain;
pub use inselberg_kernels::phew::hierarchy::Cut;
pub use inselberg_kernels::phew::persistence::Persistence;
