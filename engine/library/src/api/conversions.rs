//! From the errors of each part to the one of the library.

use crate::error::{Error, ErrorKind, RunError};
use crate::fof::{FofError, FofRunError};
use crate::particles::BoxError;
use crate::phew::tables::RecutError;
use crate::trees::TreeError;
use inselberg_comm::CommError;
use inselberg_comm::agree::AgreeError;
use inselberg_io::ReadError;
use inselberg_io::catalogue::{PartError, WriteError};
use inselberg_io::reserve::OutOfMemory;
use inselberg_kernels::mesh::MeshError;

/// An error of one of the crates below, with its kind.
macro_rules! from_errors {
    ($($error:ty: $kind:expr;)*) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                let kind: fn(&$error) -> ErrorKind = $kind;
                Self::from_cause(kind(&error), error)
            }
        })*
    };
}

from_errors! {
    MeshError: of_mesh;
    ReadError: of_read;
    CommError: of_comm;
    WriteError: |_| ErrorKind::Write;
    OutOfMemory: |_| ErrorKind::OutOfMemory;
    RecutError: |_| ErrorKind::InvalidArgument;
    BoxError: |_| ErrorKind::InvalidArgument;
    AgreeError<ReadError>: |error| match error {
        AgreeError::Here(error) => of_read(error),
        AgreeError::Elsewhere { .. } => ErrorKind::Read,
        AgreeError::Comm(error) => of_comm(error),
    };
    TreeError: |error| match error {
        TreeError::Read(error) => of_read(error),
        TreeError::Comm(error) => of_comm(error),
        TreeError::Catalogue { .. } | TreeError::Parameter { .. } | TreeError::Elsewhere(_) => {
            ErrorKind::InvalidArgument
        }
    };
    FofError: of_fof;
    RunError: |error| match error {
        RunError::Read(error) => of_read(error),
        RunError::NoField { .. }
        | RunError::NoParticles
        | RunError::NoOctree
        | RunError::Grow(_)
        | RunError::Graph(_)
        | RunError::NoDefaultThreshold { .. }
        | RunError::NegativeThreshold(_)
        | RunError::Parameter(_)
        | RunError::MassesBelowZero(_)
        | RunError::RegionOutside { .. }
        | RunError::NoUnits
        | RunError::Tracks(_)
        | RunError::NoVelocities { .. }
        | RunError::NoCosmology
        | RunError::NoGasField { .. }
        | RunError::UnclearGas { .. }
        | RunError::NoMagneticField { .. }
        | RunError::NoGas
        | RunError::GasOnParticleMesh
        | RunError::SignificanceOfCells { .. }
        | RunError::SubsamplesOfCells
        | RunError::UnbindingOnParticleMesh => ErrorKind::InvalidArgument,
        RunError::Memory(_) => ErrorKind::OutOfMemory,
        RunError::Mesh(error) => of_mesh(error),
        RunError::LostMass { .. } | RunError::SharedId { .. } | RunError::Members(_) => {
            ErrorKind::InvalidValue
        }
        RunError::Comm(error) => of_comm(error),
    };
    FofRunError: |error| match error {
        FofRunError::Read(error) => of_read(error),
        FofRunError::Fof(error) => of_fof(error),
        FofRunError::Memory(_) => ErrorKind::OutOfMemory,
        FofRunError::Comm(error) => of_comm(error),
        FofRunError::Members(_) => ErrorKind::InvalidValue,
        _ => ErrorKind::InvalidArgument,
    };
    PartError: |error| match error {
        PartError::Comm(error) => of_comm(error),
        PartError::Here(_) | PartError::Elsewhere { .. } => ErrorKind::Write,
    };
}

fn of_mesh(error: &MeshError) -> ErrorKind {
    match error {
        MeshError::TooManyCells(_) | MeshError::OutOfMemory(_) => ErrorKind::OutOfMemory,
        _ => ErrorKind::InvalidCells,
    }
}

fn of_read(error: &ReadError) -> ErrorKind {
    match error {
        ReadError::Value { .. } | ReadError::Particle { .. } => ErrorKind::InvalidValue,
        _ => ErrorKind::Read,
    }
}

fn of_comm(error: &CommError) -> ErrorKind {
    match error {
        CommError::Panicked { .. } => ErrorKind::Internal,
        CommError::Stalled { .. } | CommError::TimedOut { .. } => ErrorKind::TimedOut,
        CommError::WrongThread { .. } => ErrorKind::InvalidArgument,
        _ => ErrorKind::Communication,
    }
}

fn of_fof(error: &FofError) -> ErrorKind {
    match error {
        FofError::Comm(error) => of_comm(error),
        FofError::NotFinite { .. } | FofError::Outside { .. } | FofError::Value { .. } => {
            ErrorKind::InvalidValue
        }
        FofError::TooMany(_) => ErrorKind::OutOfMemory,
        _ => ErrorKind::InvalidArgument,
    }
}
