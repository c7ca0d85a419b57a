//! Why a search cannot be done, each as one line.

use crate::bound::BoundError;
use crate::error::TrackError;
use crate::fof::FofError;
use inselberg_comm::CommError;
use inselberg_io::ReadError;
use inselberg_io::particles::MissingMasses;
use inselberg_io::reserve::OutOfMemory;
use inselberg_kernels::bound::MemberError;

/// Why friends-of-friends could not be run on an input.
#[derive(Debug, thiserror::Error)]
pub enum FofRunError {
    /// The input cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Its particles do not fit into memory.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// The ranks lost each other.
    #[error(transparent)]
    Comm(CommError),
    /// The search refused.
    #[error(transparent)]
    Fof(FofError),
    /// A plain array, and nobody said in which box.
    #[error("the input does not state the side of its box; expected one, or an open box")]
    NoBox,
    /// A snapshot and another box.
    #[error(
        "box side {given}: the input states its own box, {sides:?}; expected no other side, or an open box"
    )]
    TwoBoxes {
        /// What was given.
        given: f64,
        /// What the input says.
        sides: [f64; 3],
    },
    /// Nothing at all.
    #[error("the input holds no particles; expected at least one")]
    Empty,
    /// Nothing that links.
    #[error("no particle links: the input holds {what}; expected linking types that are among them")]
    NothingLinks {
        /// What there is.
        what: String,
    },
    /// Particles have no masses.
    #[error(transparent)]
    NoMasses(#[from] MissingMasses),
    /// Some species have identities and some have none.
    #[error("{without} has no ParticleIDs, and {with} has; expected identities for all or none")]
    SomeIds {
        /// A species with identities.
        with: String,
        /// One without.
        without: String,
    },
    /// The linking length is a ratio, and what it is a ratio of is not known.
    #[error(
        "the linking length is a ratio of the mean separation, but {what}; expected an absolute linking length"
    )]
    NoSeparation {
        /// What is not known.
        what: &'static str,
    },
    /// Solar masses without units.
    #[error(
        "the seed mass of black holes is in solar masses, but the input has no units; expected a snapshot with units"
    )]
    NoUnits,
    /// Properties of groups without units.
    #[error(
        "the input does not state its units, which properties of groups need; expected a snapshot with units"
    )]
    UnitsOfProperties,
    /// Energies need velocities.
    #[error("{name} has no velocities, which the energies of its particles need; expected velocities")]
    NoVelocities {
        /// The species.
        name: String,
    },
    /// Mean densities need a cosmology.
    #[error(
        "the input states no expanding cosmology, which spheres of given mean density need; expected a cosmological \
         snapshot"
    )]
    NoCosmology,
    /// Two particles share type and identity.
    #[error("two particles of group {group} have the ID {id}; expected unique ones")]
    SharedId {
        /// The group.
        group: u64,
        /// Their identity.
        id: i64,
    },
    /// RAMSES's unbinding belongs to its clumps.
    #[error("RAMSES's unbinding of groups; it needs clumps in cells; expected another potential")]
    PotentialOfRamses,
    /// Particles have no hydro variables.
    #[error(
        "properties of gas cells of groups; expected other properties, or clumps in the gas cells of an output"
    )]
    GasOfGroups,
    /// Tracks do not go on.
    #[error(transparent)]
    Tracks(TrackError),
    /// Tracks are found by identities.
    #[error("{name} has no ParticleIDs, by which tracks find their particles; expected identities")]
    NoIdentities {
        /// The species.
        name: String,
    },
    /// A box that is not made of cubes.
    #[error(
        "the box is {sides:?}; for properties of groups expected sides that are multiples of the shortest one"
    )]
    BoxShape {
        /// The sides.
        sides: [f64; 3],
    },
    /// A particle has a value that is not allowed.
    #[error("particles of a group: {0}")]
    Members(MemberError),
    /// The ID that stands for none is that of a group.
    #[error(
        "the ID {default} of particles in no group is also the ID of a group; expected one outside {first} to {last}"
    )]
    IdsClash {
        /// That of none.
        default: u64,
        /// The first group's.
        first: u64,
        /// The last group's.
        last: u64,
    },
}

impl From<FofError> for FofRunError {
    fn from(error: FofError) -> Self {
        match error {
            FofError::Comm(error) => Self::Comm(error),
            error => Self::Fof(error),
        }
    }
}

impl From<BoundError> for FofRunError {
    fn from(error: BoundError) -> Self {
        match error {
            BoundError::Members(error) => Self::Members(error),
            BoundError::SharedId { halo: group, id } => Self::SharedId { group, id },
            BoundError::Comm(error) => Self::Comm(error),
        }
    }
}

impl From<TrackError> for FofRunError {
    fn from(error: TrackError) -> Self {
        match error {
            TrackError::Comm(error) => Self::Comm(error),
            error => Self::Tracks(error),
        }
    }
}

impl From<CommError> for FofRunError {
    fn from(error: CommError) -> Self {
        Self::Comm(error)
    }
}
