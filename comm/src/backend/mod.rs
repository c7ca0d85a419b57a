//! How do ranks exchange messages? There is a closed set of backends, one file each.
//!
//! A backend only sends and receives bytes. Collectives and exchanges are written once, on top of
//! [`Transport`]. Two backends wrap another one: `chaos` delays messages, and `traced` records them.

pub(crate) mod chaos;
#[cfg(feature = "mpi")]
pub(crate) mod mpi;
mod rank_states;
pub(crate) mod solo;
pub(crate) mod threads;
pub(crate) mod traced;
mod transport;

pub(crate) use transport::{Channel, Finding, RankState, Tag, Transport};

/// The backend of a [`crate::Comm`].
#[derive(Debug)]
pub(crate) enum Backend {
    /// One rank.
    Solo(solo::Solo),
    /// Ranks as threads.
    Threads(Box<threads::Threads>),
    /// A backend that misbehaves on purpose.
    Chaos(chaos::Chaos),
    /// A backend that is traced.
    Traced(traced::Traced),
    /// Ranks as processes of a program that runs MPI itself.
    #[cfg(feature = "mpi")]
    Program(Box<mpi::Mpi<mpi::Program>>),
    /// Ranks as processes of a host.
    #[cfg(feature = "mpi")]
    Guest(Box<mpi::Mpi<mpi::Guest>>),
}

impl Backend {
    pub fn solo() -> Self {
        Self::Solo(solo::Solo::default())
    }

    /// The backend, for queries.
    pub fn look(&self) -> &dyn Transport {
        match self {
            Self::Solo(solo) => solo,
            Self::Threads(threads) => threads.as_ref(),
            Self::Chaos(chaos) => chaos,
            Self::Traced(traced) => traced,
            #[cfg(feature = "mpi")]
            Self::Program(mpi) => mpi.as_ref(),
            #[cfg(feature = "mpi")]
            Self::Guest(mpi) => mpi.as_ref(),
        }
    }

    pub fn transport(&mut self) -> &mut dyn Transport {
        match self {
            Self::Solo(solo) => solo,
            Self::Threads(threads) => threads.as_mut(),
            Self::Chaos(chaos) => chaos,
            Self::Traced(traced) => traced,
            #[cfg(feature = "mpi")]
            Self::Program(mpi) => mpi.as_mut(),
            #[cfg(feature = "mpi")]
            Self::Guest(mpi) => mpi.as_mut(),
        }
    }
}
