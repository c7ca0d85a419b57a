//! How an engine reaches the other ranks.

use inselberg_comm::{Comm, CommBuilder};

/// One rank of an engine over several ranks. It may be sent to a thread, where the engine of that rank is
/// built ([`EngineBuilder::rank`](crate::EngineBuilder::rank)).
#[derive(Debug)]
pub struct RankBuilder(CommBuilder);

impl RankBuilder {
    /// `n_ranks` ranks (at least one) as threads of this process. Every engine must be built, each in the
    /// thread of its rank.
    pub fn threads(n_ranks: usize) -> Vec<Self> {
        Comm::threads(n_ranks).into_iter().map(Self).collect()
    }

    /// This process as one rank of an MPI job, or as the only rank if no launcher of this MPI library started
    /// it. Build its engine once in a process, in the thread that makes all its calls. From then on a panic
    /// anywhere in the process ends the whole job.
    #[cfg(feature = "mpi")]
    pub fn mpi() -> Self {
        Self(Comm::mpi())
    }

    /// This process as one rank of a communicator of a host program under MPI, which is duplicated. The
    /// engine neither initialises nor finalises MPI, nor ends the process.
    /// [`Engine::close`](crate::Engine::close) frees the duplicate.
    #[cfg(feature = "mpi")]
    pub fn guest(host: inselberg_comm::HostComm) -> Self {
        Self(Comm::guest(host))
    }

    pub(crate) fn build(self) -> inselberg_comm::Result<Comm> {
        self.0.build()
    }
}

/// With late messages, for tests.
impl From<CommBuilder> for RankBuilder {
    fn from(builder: CommBuilder) -> Self {
        Self(builder)
    }
}
