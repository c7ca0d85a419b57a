//! What does a call ask for? Each parameter is declared once, for all doors ([`inselberg_io::params`]).
//!
//! | struct | declared in |
//! |---|---|
//! | [`PhewParams`], [`FofParams`], [`TreeParams`] | `phew`, `fof`, `trees` |
//! | [`LinkingTypes`], [`ParticleMeshParams`], [`ParticleGraphParams`] | `particles` |
//! | [`BoundRequest`](crate::BoundRequest), [`VoidParams`](crate::VoidParams) | `bound`, `voids` |
//! | [`NewThresholds`], [`NewVoidThresholds`] | where trees are cut: `phew`, `voids` |
//! | [`InputDefaults`](crate::InputDefaults), [`FieldDefaults`] | with the readers: `inselberg-io` |
//!
//! To add a parameter: a field with its documentation and its key. The command line, configuration files, C,
//! Fortran, Python and docs/parameters.md then have it. Rules between parameters stand in `check` of their
//! struct.

mod fof;
mod particles;
mod phew;
mod trees;

pub use crate::phew::recut::NewThresholds;
pub use crate::voids::NewVoidThresholds;
pub use fof::{FofParams, Linking};
pub use inselberg_io::FieldDefaults;
pub use inselberg_io::params::{Measure, ParamError, ParamKind, Parameter, Params, Topic};
pub use particles::{LinkingTypes, ParticleGraphParams, ParticleMeshParams};
pub use phew::PhewParams;
pub use trees::TreeParams;

use crate::error::{Error, ErrorKind};

impl From<ParamError> for Error {
    fn from(error: ParamError) -> Self {
        Self::new(ErrorKind::InvalidArgument, error.to_string())
    }
}
