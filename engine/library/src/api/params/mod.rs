//! What does a call ask for? Each parameter is declared once, for all doors ([`inselberg_io::params`]).
//!
//! | struct | declared in |
//! |---|---|
//! | [`PhewParams`], [`FofParams`] | with their algorithms: `phew`, `fof` |
//! | [`ImageParams`] | with images: `phew::image` |
//! | [`TreeParams`] | `trees` |
//! | [`TrackParams`](crate::TrackParams), for both searches | `tracks` |
//! | [`TimeLimits`] | `limits` |
//! | [`LinkingTypes`], [`ParticleMeshParams`], [`ParticleGraphParams`] | `particles` |
//! | [`BoundRequest`](crate::BoundRequest), [`VoidParams`](crate::VoidParams) | `bound`, `voids` |
//! | [`NewThresholds`], [`NewVoidThresholds`] | where trees are cut: `phew`, `voids` |
//! | [`AtlasParams`](crate::AtlasParams), [`CompareParams`](crate::CompareParams) | `atlas`, `compare` |
//! | [`InputDefaults`](crate::InputDefaults), [`FieldDefaults`] | with the readers: `inselberg-io` |
//!
//! To add a parameter: a field with its documentation and its key. The command line, configuration files, C,
//! Fortran, Python and docs/parameters.md then have it. Rules between parameters stand in `check` of their
//! struct.

mod limits;
mod particles;
mod trees;

pub use crate::fof::{FofParams, Linking};
pub use crate::phew::PhewParams;
pub use crate::phew::image::{Beam, GivenNoise, ImageParams};
pub use crate::phew::recut::NewThresholds;
pub use crate::voids::NewVoidThresholds;
pub use inselberg_io::FieldDefaults;
pub use inselberg_io::params::{Measure, ParamError, ParamKind, Parameter, Params, Topic};
pub use limits::TimeLimits;
pub use particles::{LinkingTypes, ParticleGraphParams, ParticleMeshParams};
pub use trees::TreeParams;

use crate::error::{Error, ErrorKind};

impl From<ParamError> for Error {
    fn from(error: ParamError) -> Self {
        Self::new(ErrorKind::InvalidArgument, error.to_string())
    }
}
