//! Why a call failed: the error of the library, and the errors of PHEW and of a mesh from particles.

use crate::bound::BoundError;
use crate::particles::BoxError;
use inselberg_comm::CommError;
use inselberg_io::ReadError;
use inselberg_io::params::ParamError;
use inselberg_io::reserve::OutOfMemory;
use inselberg_kernels::bound::MemberError;
use inselberg_kernels::graph::MOST_NEIGHBOURS;
use inselberg_kernels::mesh::MeshError;
use inselberg_kernels::particle_mesh::{DEEPEST, DEEPEST_COARSE};
use std::sync::Arc;

/// Why a call failed: a kind to act on, and one line for a person. All ranks have the same error.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Error {
    kind: ErrorKind,
    message: String,
    /// The error of the part that failed, on the rank that failed.
    cause: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, &self.message) == (other.kind, &other.message)
    }
}

impl Eq for Error {}

/// Kinds of errors. Codes of C and exceptions of Python follow them, so their numbers never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum ErrorKind {
    /// An argument is out of range, or two arguments contradict each other.
    InvalidArgument = 1,
    /// Cells overlap, lie outside the box, or do not form an octree.
    InvalidCells = 2,
    /// A value is not finite, or negative although it may not be.
    InvalidValue = 3,
    /// A file cannot be read.
    Read = 4,
    /// A file cannot be written.
    Write = 5,
    /// There are not enough memory or indices.
    OutOfMemory = 6,
    /// The caller's hook ended the call.
    Cancelled = 7,
    /// Ranks waited too long for another one. The engine can no longer be used.
    TimedOut = 8,
    /// Ranks could not exchange messages, or made different calls.
    Communication = 9,
    /// A fault of this library: please report it.
    Internal = 10,
}

impl ErrorKind {
    const ALL: [Self; 10] = [
        Self::InvalidArgument,
        Self::InvalidCells,
        Self::InvalidValue,
        Self::Read,
        Self::Write,
        Self::OutOfMemory,
        Self::Cancelled,
        Self::TimedOut,
        Self::Communication,
        Self::Internal,
    ];

    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == number)
    }
}

impl Error {
    /// An error of a caller, for [`crate::Engine::agree`].
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), cause: None }
    }

    /// From the error of a part, with its message.
    pub(crate) fn from_cause(kind: ErrorKind, cause: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self { kind, message: cause.to_string(), cause: Some(Arc::new(cause)) }
    }

    /// The error of the part that failed, on the rank that failed, for the command line.
    #[doc(hidden)]
    pub fn cause(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }

    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The input could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A field that the input does not have.
    #[error("the input has no field `{name}`; expected one of {known}")]
    NoField {
        /// The field.
        name: String,
        /// The existing fields.
        known: String,
    },
    /// Particles are requested, but there are none.
    #[error("the input has no particles; expected particles, or a field of its cells")]
    NoParticles,
    /// Particles cannot be deposited.
    #[error(
        "the input has leaves without an octree, on which particles are not deposited; expected a field of its cells"
    )]
    NoOctree,
    /// No mesh can be made from the particles.
    #[error(transparent)]
    Grow(#[from] ParticleMeshError),
    /// No graph can be made from the particles.
    #[error(transparent)]
    Graph(#[from] ParticleGraphError),
    /// The input does not fit into memory.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// No density threshold is given, and there is no default.
    #[error("no density threshold is given, and no default is known {why}")]
    NoDefaultThreshold {
        /// For which input there is none.
        why: String,
    },
    /// A parameter that is out of range or does not go with another one.
    #[error(transparent)]
    Parameter(#[from] ParamError),
    /// A density threshold below 0, without a difference or for something else than a field of cells.
    #[error("density threshold {0}: expected 0 or more, or a relevance by difference in a field of cells")]
    NegativeThreshold(f64),
    /// Bound members are requested for a field that is not a density.
    #[error("density threshold {0}: properties of particles and gas need densities; expected 0 or more")]
    MassesBelowZero(f64),
    /// A region outside the box.
    #[error(
        "region {region}: its middle is not in the box from {low:?} to {high:?} in code units; expected a region around a point \
         of the box"
    )]
    RegionOutside {
        /// The region.
        region: String,
        /// The lower corner of the box.
        low: [f64; 3],
        /// The upper corner.
        high: [f64; 3],
    },
    /// A significance threshold for a density that has no shot noise.
    #[error(
        "a significance threshold for `{field}`; expected a density that is made of particles, or no such threshold"
    )]
    SignificanceOfCells {
        /// The density.
        field: String,
    },
    /// Halves of particles for a density that is not made of them.
    #[error(
        "subsamples of the cells of an input; expected particles, of which a mesh or a graph is made, or no subsamples"
    )]
    SubsamplesOfCells,
    /// RAMSES's unbinding needs its cells and code units.
    #[error(
        "RAMSES's unbinding on a mesh that particles make; expected the cells of an output, or another potential"
    )]
    UnbindingOnParticleMesh,
    /// The cells of the input are not an octree.
    #[error("the mesh of the input is broken: {0}")]
    Mesh(MeshError),
    /// Some patches are so much lighter than others that their masses would be zero.
    #[error(
        "densities above the threshold {threshold:e} reach to {densest:e}: beside the heaviest patch {n} others would \
         have no mass; expected a higher density threshold"
    )]
    LostMass {
        /// Density threshold in code units.
        threshold: f64,
        /// Greatest density.
        densest: f64,
        /// Number of such patches.
        n: u64,
    },
    /// Gravity needs units.
    #[error(
        "the input does not state its units, which the energies of particles need; expected an input with units"
    )]
    NoUnits,
    /// Tracks do not go on.
    #[error(transparent)]
    Tracks(TrackError),
    /// Energies need velocities.
    #[error("{kind} particles have no velocities, which their energies need; expected velocities")]
    NoVelocities {
        /// The kind of particles.
        kind: String,
    },
    /// Mean densities need a cosmology.
    #[error(
        "the input states no cosmology, which spheres of given mean density need; expected a cosmological output, or \
         properties without spheres"
    )]
    NoCosmology,
    /// The energies of gas need a field.
    #[error(
        "the gas of the input has no field {field}, which its energy needs; expected density and velocities"
    )]
    NoGasField {
        /// The field.
        field: &'static str,
    },
    /// It is not known which variable of the gas is its pressure.
    #[error(
        "the pressure and the magnetic field of the gas are not known: {why}; expected names of its variables"
    )]
    UnclearGas {
        /// The reason, from the input.
        why: String,
    },
    /// A magnetic field lacks a component.
    #[error(
        "the magnetic field of the input has no field {field}; expected all components at left and right faces"
    )]
    NoMagneticField {
        /// The field.
        field: &'static str,
    },
    /// Properties of gas need gas.
    #[error(
        "the input has no gas in cells, whose properties are asked for; expected an output with density and velocities of gas"
    )]
    NoGas,
    /// Particles have no hydro variables.
    #[error("properties of gas on a mesh that particles make; expected the gas cells of an output")]
    GasOnParticleMesh,
    /// Two particles have one identity.
    #[error(
        "two particles of halo {halo} have the ID {id}; expected a different ID for each particle of a type"
    )]
    SharedId {
        /// The halo.
        halo: u64,
        /// The identity.
        id: i64,
    },
    /// A particle has a value that is not allowed.
    #[error("particles of a clump: {0}")]
    Members(MemberError),
    /// Another rank failed, or could not be reached.
    #[error(transparent)]
    Comm(#[from] CommError),
}

/// Why no graph can be made from particles.
#[derive(Debug, thiserror::Error)]
pub enum ParticleGraphError {
    /// More neighbours than particles, or more than exact sums allow.
    #[error("{k} neighbours for each of {n} particles; expected 1 to {most}, and fewer than there are particles", most = MOST_NEIGHBOURS)]
    Neighbours {
        /// Neighbours of each particle.
        k: usize,
        /// Number of particles.
        n: u64,
    },
    /// A particle without any volume.
    #[error(
        "particle {id}: its {k} nearest neighbours are all at its place, so its density is infinite; expected distinct positions, or more neighbours"
    )]
    Crowded {
        /// Its identity.
        id: u64,
        /// Neighbours of each particle.
        k: usize,
    },
    /// A particle without any mass around it.
    #[error(
        "particle {id}: it and its {k} nearest neighbours have no mass, so its specific volume is infinite; expected positive masses"
    )]
    WithoutMass {
        /// Its identity.
        id: u64,
        /// Neighbours of each particle.
        k: usize,
    },
    /// Densities of the input are requested, but its particles have none.
    #[error(
        "{species} of the input have no densities; expected gas of an SPH code, or densities from neighbours"
    )]
    NoDensities {
        /// The species.
        species: String,
    },
    /// A density of the input that is not positive.
    #[error("particle {id}: its density in the input is {density}; expected a positive number")]
    BadDensity {
        /// Its identity.
        id: u64,
        /// The density.
        density: f64,
    },
    /// A request that needs cells.
    #[error("{what} needs cells, which a graph of particles does not have; expected a mesh")]
    NeedsCells {
        /// The request.
        what: &'static str,
    },
}

/// Why no mesh can be made from particles.
#[derive(Debug, thiserror::Error)]
pub enum ParticleMeshError {
    /// The input has no particles in a cubic box.
    #[error(transparent)]
    Box(#[from] BoxError),
    /// More than 32-bit numbers can name.
    #[error(
        "{n} particles on one rank; expected at most {most}, or more ranks",
        most = u32::MAX
    )]
    TooMany {
        /// Number of particles.
        n: u64,
    },
    /// A coarse level with far more cells than particles.
    #[error("coarse level {level_min}: {n_cells} cells for {n} particles; expected at most {most} cells")]
    TooFine {
        /// The coarse level.
        level_min: u8,
        /// Its cells.
        n_cells: u64,
        /// The particles.
        n: u64,
        /// The limit.
        most: u64,
    },
    /// Levels that no mesh can have.
    #[error(
        "coarse level {least}, deepest level {most}: expected 2 to {DEEPEST_COARSE} and 2 to {DEEPEST}, the first at most the second"
    )]
    Levels {
        /// The coarse level.
        least: u8,
        /// The deepest level.
        most: u8,
    },
}

impl From<BoxError> for RunError {
    fn from(error: BoxError) -> Self {
        Self::Grow(error.into())
    }
}

impl From<BoundError> for RunError {
    fn from(error: BoundError) -> Self {
        match error {
            BoundError::Members(error) => Self::Members(error),
            BoundError::SharedId { halo, id } => Self::SharedId { halo, id },
            BoundError::Comm(error) => Self::Comm(error),
        }
    }
}

/// Why tracks do not go on.
#[derive(Debug, thiserror::Error)]
pub enum TrackError {
    /// They go on from an output that is later than this one.
    #[error(
        "the output has the time {now}, and its tracks begin at {last}; expected outputs in the order of time"
    )]
    LaterOutput {
        /// Time of the output of the tracks.
        last: f64,
        /// Time of this output.
        now: f64,
    },
    /// The ranks lost each other.
    #[error(transparent)]
    Comm(#[from] CommError),
}

impl From<TrackError> for RunError {
    fn from(error: TrackError) -> Self {
        match error {
            TrackError::Comm(error) => Self::Comm(error),
            error => Self::Tracks(error),
        }
    }
}

impl From<MemberError> for RunError {
    fn from(error: MemberError) -> Self {
        Self::Members(error)
    }
}

impl From<MeshError> for RunError {
    fn from(error: MeshError) -> Self {
        match error {
            MeshError::OutOfMemory(n) => Self::Memory(OutOfMemory { n: n as usize, each: size_of::<f64>() }),
            error => Self::Mesh(error),
        }
    }
}
